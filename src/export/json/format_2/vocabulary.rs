//! The part of a vocabulary that occurs in a file, and the texts of its tokens.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::decoding::{Detail, TokenId};
use crate::export::json::{Form, N_VOCAB_MAX, ParseError};
use crate::generation::{Generation, Piece, PieceKind, Step, Vocabulary};

/// A token and its text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    id: TokenId,
    piece: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Vec<u8>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    special: bool,
}

impl Entry {
    fn new(id: TokenId, text: &Piece) -> Self {
        let PieceEntry {
            piece,
            bytes,
            special,
        } = PieceEntry::of(text);
        Self {
            id,
            piece,
            bytes,
            special,
        }
    }

    fn into_piece(self) -> Piece {
        let entry = PieceEntry {
            piece: self.piece,
            bytes: self.bytes,
            special: self.special,
        };
        entry.into_piece()
    }
}

/// The text of a token. Invalid UTF-8 becomes U+FFFD, and then `bytes` has all bytes.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PieceEntry {
    piece: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Vec<u8>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    special: bool,
}

impl PieceEntry {
    pub(super) fn of(piece: &Piece) -> Self {
        Self {
            piece: String::from_utf8_lossy(&piece.bytes).into_owned(),
            bytes: piece.as_str().is_none().then(|| piece.bytes.clone()),
            special: piece.kind == PieceKind::Special,
        }
    }

    pub(super) fn into_piece(self) -> Piece {
        Piece {
            bytes: self.bytes.unwrap_or_else(|| self.piece.into_bytes()),
            kind: if self.special {
                PieceKind::Special
            } else {
                PieceKind::Text
            },
        }
    }
}

/// Lists the tokens that occur in these generations of one model, ordered by id, or the whole
/// vocabulary if a step recorded the logit of every token. The pieces are those of `vocabulary`, or of
/// another text: that of a text from a file knows only the tokens of the file.
pub(super) fn entries_of(
    vocabulary: &Vocabulary,
    generations: &[&Generation],
    form: Form,
) -> Vec<Entry> {
    let mut steps = generations.iter().flat_map(|generation| &generation.steps);
    let knows_all = |step: &Step| matches!(step.trace.raw.detail, Detail::Whole(_));
    let ids: BTreeSet<TokenId> = if form.detail && steps.any(knows_all) {
        vocabulary.iter().map(|(id, _)| id).collect()
    } else {
        generations.iter().flat_map(|one| named_by(one)).collect()
    };
    let mut vocabularies = vec![vocabulary];
    for text in generations {
        if !vocabularies
            .iter()
            .any(|known| std::ptr::eq(*known, Arc::as_ptr(&text.vocabulary)))
        {
            vocabularies.push(&text.vocabulary);
        }
    }
    let knows = |known: &&&Vocabulary, id| known.agrees(id, &known.piece(id)).is_some();
    let piece = |id| {
        let known = vocabularies.iter().find(|known| knows(known, id));
        known.unwrap_or(&vocabulary).piece(id)
    };
    let entry = |id| Entry::new(id, &piece(id));
    ids.into_iter().map(entry).collect()
}

/// Iterates over the tokens that occur in a generation.
fn named_by(generation: &Generation) -> impl Iterator<Item = TokenId> {
    let of_steps = generation.steps.iter().flat_map(|step| {
        let trace = &step.trace;
        let report = trace.grammar.as_deref();
        let legal = report.into_iter().flat_map(|report| &report.legal.head);
        let unconstrained = report.and_then(|report| report.unconstrained);
        let ranked = trace.raw.head.iter().chain(&trace.survivors).chain(legal);
        let named = std::iter::once(step.token).chain(unconstrained);
        named.chain(ranked.map(|candidate| candidate.token))
    });
    let passes = generation.beams.passes.iter();
    let of_beams = passes.flat_map(|pass| pass.nodes.iter().map(|node| node.token));
    let of_prompt = generation.prompt.tokens.iter().copied();
    of_steps.chain(of_beams).chain(of_prompt)
}

/// Returns whether two generations of a model have the same text for each token of the first. A server
/// names the tokens of one only while it writes it.
pub(super) fn has_pieces_of(generation: &Generation, other: &Generation) -> bool {
    let (own, known) = (&generation.vocabulary, &other.vocabulary);
    Arc::ptr_eq(own, known)
        || named_by(generation).all(|token| own.piece(token) == known.piece(token))
}

/// Converts to a vocabulary in which all other tokens count as unknown.
pub(super) fn vocabulary_of(entries: Vec<Entry>) -> Result<Vocabulary, ParseError> {
    let unknown = Vocabulary::default();
    let mut pieces = Vec::new();
    for entry in entries {
        if entry.id.0 >= N_VOCAB_MAX {
            return Err(ParseError::UnknownToken { id: entry.id.0 });
        }
        if entry.id.index() < pieces.len() {
            return Err(ParseError::damaged("its vocabulary is not in order"));
        }
        let missing = (pieces.len() as u32..entry.id.0).map(TokenId);
        pieces.extend(missing.map(|id| unknown.piece(id)));
        pieces.push(entry.into_piece());
    }
    Ok(Vocabulary::new(pieces))
}

#[cfg(test)]
mod tests {
    use crate::export::json::{Form, RunHeader, parse, write};
    use crate::generation::Generation;
    use crate::generation::testing::generation;

    fn written(texts: &[&Generation]) -> Vec<Generation> {
        parse(&write(&RunHeader::default(), texts, Form::default())).unwrap()
    }

    #[test]
    fn a_text_keeps_its_pieces_beside_one_from_a_file_with_fewer_tokens() {
        let from_file = written(&[&generation(&[(" the", 0.5)])]).remove(0);
        let beside = generation(&[(" zebra", 0.25)]);
        let token = beside.steps[0].token;
        assert_ne!(from_file.vocabulary.piece(token), beside.steps[0].piece);
        let read = written(&[&from_file, &beside]);
        assert_eq!(read[1].text(), " zebra");
        assert_eq!(read[1].steps[0].piece, beside.steps[0].piece);
    }
}
