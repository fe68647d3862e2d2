//! The record of a generation: prompt, settings, and every step with its evidence.

use std::sync::Arc;

use super::{
    BeamPass, Beams, ChatRecord, EarlierSettings, FinishReason, GenerationConfig, Lineage,
    ModelInfo, Piece, PieceKind, Steps, Vocabulary, spell_thoughts,
};
use crate::decoding::{Draft, GrammarRule, LogitsHash, Picked, TokenId, Trace};

/// A prompt as the model read it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptRecord {
    /// The text that the user entered.
    pub text: String,
    /// For a chat message, what the model read instead of `text`.
    pub chat: Option<ChatRecord>,
    /// The prompt's tokens, including a beginning-of-text token if the model adds one.
    pub tokens: Vec<TokenId>,
    /// The text of each of `tokens`.
    pub pieces: Vec<Piece>,
    /// How many tokens this run prefilled; the tokens before them were already in the KV cache.
    pub n_prefilled: usize,
    pub prefill_secs: f64,
}

/// One generated token with its evidence. A step is complete when created and never changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub token: TokenId,
    pub piece: Piece,
    /// How the chain picked the token. Shared by all texts that branch off after it.
    pub trace: Arc<Trace>,
    pub time: StepTime,
    /// What was drafted for it, if decoding was speculative.
    pub draft: Option<Draft>,
    /// The hash of the model's whole row of logits, or of both rows under guidance. `None` if a
    /// server computed them.
    pub logits_hash: Option<LogitsHash>,
}

/// When a step was decoded, and in how large a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepTime {
    /// Seconds since the generation was requested.
    pub at_secs: f64,
    /// Duration of the forward pass that computed this step's logits.
    pub forward_secs: f64,
    /// The number of sequences in that forward pass.
    pub n_batch: usize,
    /// How long it took to find the legal tokens. `None` without a grammar.
    pub mask_secs: Option<f64>,
    /// How long a server's answer took beyond `forward_secs`, mostly on the network. `None` if no
    /// server was asked, or it does not report its own time.
    pub network_secs: Option<f64>,
}

/// One pane's run: what was requested and what happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Generation {
    /// The pane's name when the run started.
    pub name: String,
    pub config: GenerationConfig,
    /// The settings that wrote its first steps, oldest first, if they have changed since.
    pub earlier: Vec<EarlierSettings>,
    /// Where the file that it was read from contradicts itself, as a sentence. `None` for a text that
    /// was read from no file.
    pub contradiction: Option<Arc<str>>,
    pub model: Arc<ModelInfo>,
    /// The model that drafted for it or guided it, if its settings use one.
    pub second_model: Option<Arc<ModelInfo>>,
    pub vocabulary: Arc<Vocabulary>,
    pub prompt: Arc<PromptRecord>,
    /// The answer before it, if it continues a conversation. Its template got other messages too if
    /// the conversation began with given ones, and fewer if some were left out.
    pub previous_turn: Option<Arc<Self>>,
    pub steps: Steps,
    /// Why it ended, or `None` while it is running.
    pub finish: Option<FinishReason>,
    /// Whether the grammar of its settings accepts the text. `None` without a grammar, and while it
    /// is running.
    pub grammar_complete: Option<bool>,
    pub lineage: Lineage,
    /// The beams that were compared, if a beam search wrote the text.
    pub beams: Arc<Beams>,
    /// The settings that the server's own sampler lacks, so that the text ignores them, or applies
    /// otherwise: "eta 0.5", "temperature 3 (used: 2)".
    pub not_applied: Vec<String>,
}

/// The models that write a text.
#[derive(Debug, Clone, Default)]
pub struct TextModels {
    pub model: Arc<ModelInfo>,
    /// The model that drafts or guides, if the text's settings use one.
    pub second_model: Option<Arc<ModelInfo>>,
    pub vocabulary: Arc<Vocabulary>,
}

impl Generation {
    /// Returns the record of a text before its first token.
    pub fn begin(
        name: String,
        config: GenerationConfig,
        prompt: Arc<PromptRecord>,
        models: TextModels,
    ) -> Self {
        Self {
            name,
            config,
            earlier: Vec::new(),
            contradiction: None,
            model: models.model,
            second_model: models.second_model,
            vocabulary: models.vocabulary,
            prompt,
            previous_turn: None,
            steps: Steps::default(),
            finish: None,
            grammar_complete: None,
            lineage: Lineage::default(),
            beams: Arc::default(),
            not_applied: Vec::new(),
        }
    }

    /// Returns the record of a text before its first token, to be written on this computer: with its
    /// settings spelled as the engine spells them, and the second model only if they need it.
    pub fn begin_here(
        name: String,
        mut config: GenerationConfig,
        prompt: Arc<PromptRecord>,
        mut models: TextModels,
    ) -> Self {
        // The engine refuses what can't be spelled, with the reason.
        spell_thoughts(&mut config.chain, &models.vocabulary).ok();
        models
            .second_model
            .take_if(|_| !config.chain.needs_second_model());
        Self::begin(name, config, prompt, models)
    }

    /// Returns the record of the same text before its first token, to be written again by these
    /// models.
    #[must_use]
    pub fn begin_again(self, models: TextModels) -> Self {
        Self {
            earlier: self.earlier,
            contradiction: self.contradiction,
            lineage: self.lineage,
            previous_turn: self.previous_turn,
            ..Self::begin(self.name, self.config, self.prompt, models)
        }
    }

    /// Returns whether both generations continue the same prompt tokens with an equivalent model.
    pub fn shares_prompt_with(&self, other: &Self) -> bool {
        let same_prompt =
            Arc::ptr_eq(&self.prompt, &other.prompt) || self.prompt.tokens == other.prompt.tokens;
        same_prompt
            && (Arc::ptr_eq(&self.model, &other.model) || self.model.is_equivalent_to(&other.model))
    }

    /// Returns whether both models read text as the same tokens, so that figures per token can be
    /// compared: they read the same prompt alike, and no token near the beginning of one text has another
    /// piece in the other vocabulary.
    pub fn has_tokenizer_of(&self, other: &Self) -> bool {
        const N_COMPARED: usize = 256;
        let agrees = |one: &Self, other: &Self| {
            let mut steps = one.steps.iter().take(N_COMPARED);
            steps.all(|step| other.vocabulary.agrees(step.token, &step.piece) != Some(false))
        };
        let (prompt, other_prompt) = (&self.prompt, &other.prompt);
        let reads_alike = prompt.text != other_prompt.text
            || prompt.chat.is_some()
            || other_prompt.chat.is_some()
            || prompt.tokens == other_prompt.tokens;
        Arc::ptr_eq(&self.model, &other.model)
            || self.model.has_weights_of(&other.model)
            || Arc::ptr_eq(&self.vocabulary, &other.vocabulary)
            || (reads_alike && agrees(self, other) && agrees(other, self))
    }

    /// Returns the pane's name, and what the server did not apply of its settings: "Top-p (not applied:
    /// eta 0.5)".
    pub fn shown_name(&self) -> String {
        match self.not_applied_words() {
            Some(words) => format!("{} ({words})", self.name),
            None => self.name.clone(),
        }
    }

    /// Names the settings that the text ignores, if there are any: "not applied: eta 0.5".
    pub fn not_applied_words(&self) -> Option<String> {
        let lacking = self.not_applied.join(", ");
        (!lacking.is_empty()).then(|| format!("not applied: {lacking}"))
    }

    /// Names the tokens for which the server reported no probability, if there are any: "the server
    /// reported no probabilities for token 3".
    pub fn unreported_words(&self) -> Option<String> {
        let numbered = (1..).zip(&self.steps);
        let mut missing = numbered.filter(|(_, step)| step.trace.known_raw_prob().is_none());
        let (first, _) = missing.next()?;
        let n_missing = 1 + missing.count();
        Some(match (n_missing, self.steps.len()) {
            (1, _) => format!("the server reported no probability for token {first}"),
            (n, n_tokens) if n == n_tokens => "the server reported no probabilities".to_owned(),
            (n, n_tokens) => format!(
                "the server reported no probabilities for {n} of {n_tokens} tokens, first for token \
                 {first}"
            ),
        })
    }

    /// Returns whether this is a given text that was scored, and not a generated one.
    pub fn is_scored(&self) -> bool {
        let last = self.steps.last();
        last.is_some_and(|step| step.trace.draw.is_given())
    }

    /// Ends the text for this reason, and notes whether it is complete under its grammar.
    pub fn end(&mut self, reason: FinishReason) {
        self.finish = Some(reason);
        self.grammar_complete = self.check_grammar();
    }

    /// Returns whether the grammar of its settings accepts the text as it is, or `None` without a
    /// grammar. Compiles the grammar.
    pub fn check_grammar(&self) -> Option<bool> {
        let rule = self.config.chain.grammar.as_ref()?;
        rule.accepts(&self.bytes_from(0)).ok()
    }

    /// Returns the grammar if the text stopped in the middle of it.
    pub fn unfinished_grammar(&self) -> Option<&GrammarRule> {
        let rule = self.config.chain.grammar.as_deref();
        let is_unfinished = self.grammar_complete == Some(false) && !self.has_left_grammar();
        rule.filter(|_| is_unfinished)
    }

    /// Returns whether the last token was not written under the grammar: the text was given, or an
    /// earlier token broke the grammar, as one picked by hand can.
    fn has_left_grammar(&self) -> bool {
        let Some(step) = self.steps.last() else {
            return false;
        };
        match (step.trace.grammar.as_deref(), step.trace.draw.picked) {
            // A server follows the grammar itself.
            (None, picked) => picked != Picked::ByServer,
            (Some(report), _) => report.is_legal(step.token, &step.trace.raw) == Some(false),
        }
    }

    /// Says why it ended: "End of text", "Token limit; the JSON is unfinished". `None` while it is
    /// running.
    pub fn finish_words(&self) -> Option<String> {
        let reason = self.finish.as_ref()?;
        Some(reason.words(self.unfinished_grammar()))
    }

    /// Appends a pass of a beam search. The first one marks where the search begins.
    pub fn note_beams(&mut self, pass: BeamPass) {
        let n_before = self.steps.len();
        let beams = Arc::make_mut(&mut self.beams);
        if beams.passes.is_empty() {
            beams.n_before = n_before;
        }
        beams.passes.push(pass);
    }

    /// Returns the generated text without special tokens; invalid UTF-8 becomes U+FFFD. If a stop
    /// sequence ended the generation, the text ends before it.
    pub fn text(&self) -> String {
        self.text_from(0)
    }

    /// Returns the bytes of [`Self::text`], before invalid UTF-8 is replaced.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes_from(0)
    }

    /// Returns the text from this step on.
    pub fn text_from(&self, first: usize) -> String {
        String::from_utf8_lossy(&self.bytes_from(first)).into_owned()
    }

    /// Returns the bytes of [`Self::text_from`].
    fn bytes_from(&self, first: usize) -> Vec<u8> {
        let pieces = self.steps.iter().skip(first).map(|step| &step.piece);
        let (mut bytes, mut n_before_last) = (Vec::new(), 0);
        for piece in pieces.filter(|piece| piece.kind == PieceKind::Text) {
            n_before_last = bytes.len();
            bytes.extend_from_slice(&piece.bytes);
        }
        if let Some(FinishReason::StopString { stop }) = &self.finish {
            // The last piece completed it. Before that, it does not count: a text that goes on after
            // a stop sequence was added may contain it.
            let n_searched = n_before_last.saturating_sub(stop.len().saturating_sub(1));
            let is_at = |at: &usize| {
                let rest = bytes.get(*at..).unwrap_or_default();
                rest.starts_with(stop.as_bytes())
            };
            if let Some(at) = (n_searched..bytes.len()).find(is_at) {
                bytes.truncate(at);
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::decoding::{GrammarKind, GrammarRule, Picked};
    use crate::generation::FinishReason;
    use crate::generation::testing::generation;

    #[test]
    fn the_text_ends_before_the_stop_sequence_that_ended_it() {
        let cases: [(&[&str], &str, &str); 6] = [
            (&[" a", " fox", "."], ".", " a fox"),
            // It was added after the first sentence.
            (
                &[" a", " fox", ".", " It", " ran", "."],
                ".",
                " a fox. It ran",
            ),
            (&[" end", " of", " en", "d."], "end", " end of "),
            (&["a.", "b", ".b"], ".b", "a.b"),
            (&["a", "\n", "\n\n"], "\n\n", "a"),
            (&["€", "€"], "€", "€"),
        ];
        for (tokens, stop, expected) in cases {
            let tokens: Vec<(&str, f64)> = tokens.iter().map(|token| (*token, 0.5)).collect();
            let mut text = generation(&tokens);
            text.finish = Some(FinishReason::StopString {
                stop: stop.to_owned(),
            });
            assert_eq!(text.text(), expected);
        }
    }

    #[test]
    fn a_text_that_stops_inside_its_grammar_is_unfinished() {
        for (grammar, words, expected) in [
            (
                GrammarKind::Json,
                "[1, 2",
                "Token limit; the JSON is unfinished",
            ),
            (GrammarKind::Json, "[1, 2]", "Token limit"),
            (
                GrammarKind::Regex,
                "a",
                "Token limit; the regular expression is unfinished",
            ),
            (
                GrammarKind::Choices,
                "a",
                "Token limit; the choice is unfinished",
            ),
            (
                GrammarKind::Lark,
                "a",
                "Token limit; the grammar is unfinished",
            ),
        ] {
            let mut text = generation(&[(words, 0.5)]);
            assert_eq!(text.grammar_complete, None);
            let mut step = text.steps.pop().unwrap();
            Arc::make_mut(&mut step.trace).draw.picked = Picked::ByServer;
            text.steps.push(step);
            let rule = match grammar {
                GrammarKind::Lark => "start: \"ab\"",
                _ => "ab",
            };
            text.config.chain.grammar = Some(Arc::new(GrammarRule::new(grammar, rule)));
            text.end(FinishReason::MaxTokens);
            assert_eq!(text.finish_words().unwrap(), expected, "{words}");
            assert_eq!(text.grammar_complete, Some(expected == "Token limit"));
            // A text that was not written under the grammar is no part of one.
            let mut step = text.steps.pop().unwrap();
            Arc::make_mut(&mut step.trace).draw.picked = Picked::Given;
            text.steps.push(step);
            assert_eq!(text.finish_words().unwrap(), "Token limit");
        }
    }
}
