//! What leaving out each part of a text changes, as far as it has been measured, and in words.

use std::ops::Range;
use std::sync::Arc;

use crate::decoding::TokenId;
use crate::generation::formatting::{counted, percent};
use crate::generation::{Piece, Vocabulary};
use crate::lab::influence::plan::{AsItIs, Influence, InfluenceFacts, InfluenceUpdate, LeftOut};

/// What the numbers are.
pub(in crate::lab::influence) const WHAT_IT_IS: &str = "Bits are the Kullback-Leibler divergence of the distribution with \
    the part from the one without it. Both are the softmax of the model’s raw logits over the whole \
    vocabulary, before any setting.";

/// Below this many bits, a part hardly matters.
const LITTLE: f64 = 0.1;

/// What was found about the parts of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct InfluenceResults {
    pub facts: InfluenceFacts,
    pub unit: LeftOut,
    pub vocabulary: Arc<Vocabulary>,
    /// `None` until the whole text was read.
    pub whole: Option<AsItIs>,
    /// One for each part, as far as they are known.
    found: Vec<Option<Influence>>,
}

impl InfluenceResults {
    /// Returns results without any part.
    pub fn new(facts: InfluenceFacts, unit: LeftOut, vocabulary: Arc<Vocabulary>) -> Self {
        Self {
            found: vec![None; facts.parts.len()],
            facts,
            unit,
            vocabulary,
            whole: None,
        }
    }

    /// Adds what the job reports.
    pub fn add(&mut self, update: InfluenceUpdate) {
        match update {
            InfluenceUpdate::Read(whole) => self.whole = Some(whole),
            InfluenceUpdate::Found(found) => {
                for (index, influence) in found {
                    if let Some(place) = self.found.get_mut(index) {
                        *place = Some(influence);
                    }
                }
            }
            InfluenceUpdate::Started(_) | InfluenceUpdate::Advanced { .. } => {}
        }
    }

    /// Returns what leaving out a part changes, if it is known.
    pub fn influence(&self, part: usize) -> Option<&Influence> {
        self.found.get(part)?.as_ref()
    }

    /// Returns the parts that are known, with their indices, in order.
    pub fn known(&self) -> impl Iterator<Item = (usize, &Influence)> {
        let found = self.found.iter().enumerate();
        found.filter_map(|(index, influence)| Some((index, influence.as_ref()?)))
    }

    /// Returns whether every part is known.
    pub fn is_complete(&self) -> bool {
        self.found.iter().all(Option::is_some)
    }

    /// Returns the largest divergence so far, in bits.
    pub fn most_bits(&self) -> f64 {
        self.known()
            .map(|(_, influence)| influence.bits)
            .fold(0.0, f64::max)
    }

    /// Returns the index of the part that matters most so far. On a tie, the first one wins.
    pub fn strongest(&self) -> Option<usize> {
        self.ranked().first().map(|(index, _)| *index)
    }

    /// Returns the parts that are known, the one that matters most first.
    fn ranked(&self) -> Vec<(usize, f64)> {
        let known = self.known();
        let mut all: Vec<(usize, f64)> = known
            .map(|(index, influence)| (index, influence.bits))
            .collect();
        all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        all
    }

    /// Returns whether the predictions of several positions are compared.
    pub fn is_of_several(&self) -> bool {
        self.facts.targets.len() > 1
    }

    /// Returns the piece of a token.
    pub fn piece(&self, token: TokenId) -> Piece {
        self.vocabulary.piece(token)
    }

    /// Returns a part as text, without white space around it unless it has nothing else.
    pub fn part_text(&self, part: usize) -> String {
        let range = self.facts.parts.get(part).cloned().unwrap_or_default();
        let tokens = self.facts.tokens.get(range).unwrap_or_default();
        let text = self.vocabulary.visible_text(tokens);
        match text.trim() {
            "" => text.escape_debug().to_string(),
            trimmed => trimmed.to_owned(),
        }
    }

    /// Returns how many characters the text has, up to the last position that is compared.
    pub fn n_chars(&self) -> usize {
        let shown = self.facts.tokens.get(..self.facts.targets.end);
        let shown = shown.unwrap_or(&self.facts.tokens);
        self.vocabulary.visible_text(shown).chars().count()
    }

    /// Returns the token whose probability is compared at the last position, as text.
    pub fn chosen_text(&self) -> Option<String> {
        let whole = self.whole.as_ref()?;
        Some(self.token_text(whole.chosen))
    }

    /// Returns a token as text.
    pub fn token_text(&self, token: TokenId) -> String {
        let piece = self.piece(token).to_string();
        match piece.trim() {
            "" => piece.escape_debug().to_string(),
            trimmed => trimmed.to_owned(),
        }
    }

    /// Returns the likelihood of the chosen tokens with a part and without it, at the positions that
    /// leaving it out can change.
    pub fn likelihoods(&self, part: usize) -> Option<[ChosenLikelihood; 2]> {
        let (with, influence) = (self.with_part(part)?, self.influence(part)?);
        Some([with, &influence.ln_probs].map(|ln_probs| self.likelihood_of(ln_probs)))
    }

    /// Returns the sums of the logarithms of the probabilities of the chosen tokens, with a part and
    /// without it, at the positions that leaving it out can change.
    pub fn ln_probs(&self, part: usize) -> Option<[f64; 2]> {
        let influence = self.influence(part)?;
        Some([self.with_part(part)?, &influence.ln_probs].map(|ln_probs| ln_probs.iter().sum()))
    }

    /// Returns the logarithms of the probabilities of the chosen tokens with a part, at the positions
    /// that leaving it out can change.
    fn with_part(&self, part: usize) -> Option<&[f64]> {
        let range = self.facts.parts.get(part)?;
        let first = self.facts.compared(range).start - self.facts.targets.start;
        self.whole.as_ref()?.ln_probs.get(first..)
    }

    /// Returns the likelihood of all chosen tokens of the text as it is.
    pub fn likelihood(&self) -> Option<ChosenLikelihood> {
        let whole = self.whole.as_ref()?;
        Some(self.likelihood_of(&whole.ln_probs))
    }

    fn likelihood_of(&self, ln_probs: &[f64]) -> ChosenLikelihood {
        let mean = ln_probs.iter().sum::<f64>() / ln_probs.len().max(1) as f64;
        if self.is_of_several() {
            ChosenLikelihood::BitsPerToken(-mean / std::f64::consts::LN_2)
        } else {
            ChosenLikelihood::Prob(mean.exp())
        }
    }

    /// Says what was found, most important first.
    pub fn sentences(&self) -> Vec<String> {
        let ranked = self.ranked();
        let Some((first, bits)) = ranked.first().copied() else {
            return Vec::new();
        };
        let mut sentences = vec![self.first_sentence(first, bits)];
        if let Some((second, bits)) = ranked.get(1).copied() {
            let text = self.part_text(second);
            sentences.push(format!(
                "‘{text}’ comes second, with {} bits.",
                bits_words(bits)
            ));
        }
        let n_little = ranked.iter().filter(|(_, bits)| *bits < LITTLE).count();
        if n_little > 0 {
            let all = counted(ranked.len(), self.unit.name());
            let verb = if n_little == 1 { "moves" } else { "move" };
            sentences.push(format!(
                "{n_little} of the {all} {verb} the distribution by less than {LITTLE} bits."
            ));
        }
        sentences
    }

    fn first_sentence(&self, part: usize, bits: f64) -> String {
        let (text, bits) = (self.part_text(part), bits_words(bits));
        let start =
            format!("‘{text}’ matters most: without it, the distribution moves by {bits} bits");
        let Some([with, without]) = self.likelihoods(part) else {
            return format!("{start}.");
        };
        match (with, without) {
            (ChosenLikelihood::Prob(from), ChosenLikelihood::Prob(to)) => {
                let chosen = self.chosen_text().unwrap_or_default();
                let verb = if to < from { "falls" } else { "rises" };
                let (from, to) = (percent(from), percent(to));
                format!("{start}, and ‘{chosen}’ {verb} from {from} to {to}.")
            }
            (with, without) => format!(
                "{start} per token, and the text takes {} instead of {} bits per token.",
                without.words(),
                with.words()
            ),
        }
    }

    /// Says what the numbers are, and what was left out.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![WHAT_IT_IS.to_owned()];
        if self.is_of_several() {
            notes.push(format!(
                "They are the mean over {}.",
                counted(self.facts.targets.len(), "token")
            ));
        }
        if self.facts.is_cut {
            notes.push(
                "Only so many tokens of the text were compared as fit into 256 MB.".to_owned(),
            );
        }
        notes
    }

    /// Returns the range of positions of a part.
    pub fn range(&self, part: usize) -> Option<Range<usize>> {
        self.facts.parts.get(part).cloned()
    }
}

/// How likely the chosen tokens are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChosenLikelihood {
    /// The probability of one token.
    Prob(f64),
    /// The mean surprise of several.
    BitsPerToken(f64),
}

impl ChosenLikelihood {
    /// "11 %", or "2.31" bits per token.
    pub fn words(self) -> String {
        match self {
            Self::Prob(prob) => percent(prob),
            Self::BitsPerToken(bits) => format!("{bits:.2}"),
        }
    }

    /// Returns the number.
    pub const fn value(self) -> f64 {
        match self {
            Self::Prob(value) | Self::BitsPerToken(value) => value,
        }
    }
}

/// "1.61", "0.07" or "< 0.01".
pub(in crate::lab::influence) fn bits_words(bits: f64) -> String {
    if bits < 0.01 {
        "< 0.01".to_owned()
    } else {
        format!("{bits:.2}")
    }
}
