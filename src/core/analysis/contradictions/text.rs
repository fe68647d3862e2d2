//! Whether the prompt, the ending and the origin of a text agree with its tokens.

use super::ContradictionKind::{Choice, Ending, Lineage, Prompt};
use super::found::Found;
use crate::generation::{
    EndOfText, FinishReason, Generation, Implementation, OriginChange, Piece, PieceKind, Step,
    StopMatcher,
};

/// Checks that the prompt's tokens spell its text.
///
/// Tokenizers may normalize spaces, and letters beyond ASCII, so only the others are compared. The
/// model's tokenizer decides the rest in a replay.
pub(super) fn check_prompt(text: &Generation, found: &mut Found) {
    let prompt = &*text.prompt;
    if prompt.tokens.len() != prompt.pieces.len() {
        found.text(Prompt, "its prompt has not as many pieces as tokens");
        return;
    }
    let read = prompt
        .chat
        .as_ref()
        .map_or(&prompt.text, |chat| &chat.rendered);
    if !prompt.tokens.is_empty() && !spells(&prompt.pieces, read) {
        found.text(Prompt, "its prompt is not what its tokens say");
    }
    let rendered = prompt.chat.as_ref().map(|chat| letters(&chat.rendered));
    let Some(rendered) = rendered.filter(|_| prompt.text.is_ascii()) else {
        return;
    };
    if !rendered.contains(&letters(&prompt.text)) {
        found.text(
            Prompt,
            "its message is not in the prompt that the model read",
        );
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn spells(pieces: &[Piece], text: &str) -> bool {
    let joined = |pieces: &[&Piece]| {
        let bytes: Vec<u8> = pieces
            .iter()
            .flat_map(|piece| &piece.bytes)
            .copied()
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let all: Vec<&Piece> = pieces.iter().collect();
    let is_special = |piece: &&Piece| piece.kind == PieceKind::Special;
    let n_before = all.iter().take_while(|piece| is_special(piece)).count();
    let n_after = all
        .iter()
        .rev()
        .take_while(|piece| is_special(piece))
        .count();
    let shown: Vec<&Piece> = all
        .iter()
        .copied()
        .filter(|piece| !is_special(piece))
        .collect();
    let inner = all
        .get(n_before..all.len().saturating_sub(n_after))
        .unwrap_or_default();
    let whole = joined(&all);
    if !text.is_ascii() || !whole.is_ascii() {
        return true;
    }
    let wanted = letters(text);
    [
        joined(&shown),
        joined(inner),
        joined(all.get(n_before..).unwrap_or_default()),
        whole,
    ]
    .iter()
    .any(|spelled| letters(spelled) == wanted)
}

/// Checks that the text ended where and why its settings end it.
pub(super) fn check_ending(text: &Generation, found: &mut Found) {
    if let Some(words) = fault_of_limits(text) {
        found.text(Ending, words);
    }
    if let Some(words) = fault_of_stops(text) {
        found.text(Ending, words);
    }
}

fn fault_of_limits(text: &Generation) -> Option<String> {
    let (n_steps, n_max) = (text.steps.len(), text.config.limits.max_new_tokens);
    let is_local = text.model.implementation != Implementation::Server;
    let n_all = text.prompt.tokens.len() + n_steps;
    let n_context = text.model.n_context;
    if n_steps > n_max && !text.is_scored() {
        return Some(format!("it has {n_steps} tokens, its limit is {n_max}"));
    }
    if is_local && n_context > 0 && n_all > n_context + 1 {
        return Some(format!(
            "it has {n_all} tokens, its model’s context {n_context}"
        ));
    }
    let last = text.steps.last();
    let reached = is_local && n_steps == n_max && n_steps > 0 && !text.is_scored();
    let otherwise = || format!("it reached its limit of {n_max} tokens and says otherwise");
    let Some(finish) = &text.finish else {
        return reached.then(otherwise);
    };
    match finish {
        FinishReason::MaxTokens if is_local && n_steps < n_max => Some(format!(
            "it ended at its limit of {n_max} tokens and has {n_steps}"
        )),
        FinishReason::ContextFull if is_local && n_all < n_context => Some(format!(
            "it ended because its context of {n_context} tokens is full and has {n_all}"
        )),
        FinishReason::EndOfText if is_local => {
            let is_end = last.is_some_and(|last| may_end(text, last));
            let stops = text.config.limits.end_of_text == EndOfText::Stops;
            (!(is_end && stops)).then(|| "it ended with no token that ends a text".to_owned())
        }
        FinishReason::GrammarComplete if text.config.chain.grammar.is_none() => {
            Some("its grammar is complete, and it has none".to_owned())
        }
        FinishReason::Scored => {
            let is_scored = last.is_none_or(|last| last.trace.draw.is_given());
            (!is_scored).then(|| "it was scored, and its last token was not given".to_owned())
        }
        FinishReason::Cancelled
        | FinishReason::Interrupted
        | FinishReason::Paused
        | FinishReason::Failed { .. } => reached.then(otherwise),
        _ => None,
    }
}

/// Returns whether a token may be one of those that end a text of its model.
fn may_end(text: &Generation, last: &Step) -> bool {
    let end_tokens = &text.model.provenance.end_tokens;
    if end_tokens.is_empty() {
        return last.piece.kind == PieceKind::Special;
    }
    end_tokens.contains(&last.token)
}

/// Searches the text for stop sequences again.
fn fault_of_stops(text: &Generation) -> Option<String> {
    let n_steps = text.steps.len();
    let n_earlier = text.n_under_earlier();
    let mut matcher = StopMatcher::new(&text.config.limits.stop_strings);
    let mut ended_by = None;
    for (index, step) in text.steps.iter().enumerate() {
        if step.piece.kind != PieceKind::Text {
            continue;
        }
        if index < n_earlier {
            matcher.skip(&step.piece.bytes);
            continue;
        }
        let stop = matcher.push(&step.piece.bytes).map(str::to_owned);
        let Some(stop) = stop else {
            continue;
        };
        let is_given = matches!(
            step.trace.draw.picked,
            crate::decoding::Picked::ByHand | crate::decoding::Picked::Given
        );
        if index + 1 == n_steps {
            ended_by = Some((stop, is_given));
        } else if !is_given {
            let n = index + 1;
            return Some(format!(
                "it went on after its stop sequence {stop:?} at token {n}"
            ));
        }
    }
    match (&text.finish, ended_by) {
        (Some(FinishReason::StopString { stop }), Some((found, _))) if *stop == found => None,
        (Some(FinishReason::StopString { stop }), _) => Some(format!(
            "it ended with the stop sequence {stop:?}, and its last token does not complete it"
        )),
        (
            Some(
                FinishReason::EndOfText
                | FinishReason::Failed { .. }
                | FinishReason::Cancelled
                | FinishReason::Interrupted,
            )
            | None,
            _,
        )
        | (_, None | Some((_, true))) => None,
        (Some(_), Some((stop, false))) => Some(format!(
            "its last token completes the stop sequence {stop:?}, and it says otherwise"
        )),
    }
}

/// Checks a text against the one that it branched off.
pub(super) fn check_lineage(text: &Generation, parent: Option<&Generation>, found: &mut Found) {
    let Some(origin) = text.lineage.origin else {
        return;
    };
    let n_steps = text.steps.len();
    if let Some(parent) = parent {
        let tokens = |text: &Generation| -> Vec<_> {
            let n_shared = origin.position.min(n_steps);
            let steps = text.steps.iter().take(n_shared);
            steps.map(|step| step.token).collect()
        };
        if tokens(text) != tokens(parent) {
            found.text(
                Lineage,
                "its first tokens are not those of the text that it branched off",
            );
        }
    }
    let has_changed = |n_steps| {
        text.earlier
            .iter()
            .any(|earlier| earlier.n_steps == n_steps)
    };
    if origin.change == OriginChange::Seed
        && (1..n_steps).contains(&origin.position)
        && !has_changed(origin.position)
    {
        let n = origin.position + 1;
        let words = format!("it branched by its seed at token {n}, and its seed is the same there");
        found.text(Lineage, words);
    }
    if let OriginChange::ByHand { n_tokens } = origin.change {
        let picked = text.steps.iter().skip(origin.position).take(n_tokens);
        let n_by_hand = picked.filter(|step| step.trace.draw.is_by_hand()).count();
        let n_there = n_steps.saturating_sub(origin.position).min(n_tokens);
        if n_by_hand < n_there || n_tokens == 0 {
            let words =
                format!("it branched by {n_tokens} tokens by hand, {n_by_hand} are marked so");
            found.text(Choice, words);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::decoding::TokenId;
    use crate::generation::testing::generation;

    /// Returns what is wrong with the ending of a text whose model ends texts with these tokens.
    fn fault(last: &str, end_tokens: &[TokenId]) -> Option<String> {
        let mut text = generation(&[(" little", 0.5), (last, 0.25)]);
        text.finish = Some(FinishReason::EndOfText);
        Arc::make_mut(&mut text.model).provenance.end_tokens = end_tokens.to_vec();
        fault_of_limits(&text)
    }

    #[test]
    fn a_text_ends_with_an_end_token_of_its_model() {
        let (end, house) = (TokenId(0), TokenId(4));
        for (last, end_tokens, is_right) in [
            ("</s>", &[end][..], true),
            // A tokenizer doesn't have to list its end tokens as special.
            (" house", &[end, house], true),
            (" house", &[end], false),
            ("</s>", &[house], false),
            // Unknown end tokens are special.
            ("</s>", &[], true),
            (" house", &[], false),
        ] {
            let fault = fault(last, end_tokens);
            assert_eq!(
                fault.is_none(),
                is_right,
                "{last} {end_tokens:?}: {fault:?}"
            );
        }
    }
}
