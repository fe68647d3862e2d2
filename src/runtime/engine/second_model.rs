//! A second model beside the first: it has the same vocabulary, and drafts for it or guides it.

use super::session::Prompt;
use super::{CausalLm, EngineError, LoadedModel};
use crate::decoding::{Against, ChainConfig, Drafter, Drafts, Guidance, TokenId};
use crate::generation::{PieceKind, PromptForm, PromptText, Vocabulary, spell_thoughts};

/// How many more entries one vocabulary may have than the other: embedding tables are padded
/// differently.
const N_MAX_PADDING: usize = 1024;

impl LoadedModel {
    /// Replaces the second model. Fails if it has a different vocabulary.
    pub(super) fn set_second(&mut self, second: Option<Self>) -> Result<(), EngineError> {
        if let Some(second) = &second
            && let Some(difference) = difference(&self.vocabulary, &second.vocabulary)
        {
            return Err(EngineError::OtherVocabulary {
                name: second.info.name.clone(),
                main: self.info.name.clone(),
                difference,
            });
        }
        self.second = second.map(Box::new);
        Ok(())
    }

    /// Returns the second model in use.
    pub fn second(&self) -> Option<&Self> {
        self.second.as_deref().or(self.own_second.as_deref())
    }

    /// Returns the second model, or an error that says how to get one.
    pub(super) fn second_lm(&mut self) -> Result<&mut dyn CausalLm, EngineError> {
        match self.second.as_mut().or(self.own_second.as_mut()) {
            Some(second) => Ok(&mut *second.lm),
            None => Err(EngineError::NoSecondModel),
        }
    }

    /// Returns a chain with the tags and messages of its thinking budgets in the tokens of this model.
    pub fn spelled(&self, chain: &ChainConfig) -> Result<ChainConfig, EngineError> {
        let mut chain = chain.clone();
        spell_thoughts(&mut chain, &self.vocabulary)?;
        Ok(chain)
    }

    /// Checks that the model can write a pane with these settings.
    pub(super) fn check_writer(
        &self,
        chain: &ChainConfig,
        prompt: &Prompt,
    ) -> Result<(), EngineError> {
        self.spelled(chain)?;
        if let Some(guidance) = &chain.guidance {
            let other = self.guiding_prompt(guidance, &prompt.tokens, prompt.form())?;
            let (n_tokens, n_max) = (other.len(), self.lm.n_context());
            if n_tokens > n_max {
                return Err(EngineError::PromptTooLong { n_tokens, n_max });
            }
        }
        let Some(Drafts::Model(drafts)) = chain.drafts else {
            return Ok(());
        };
        match (drafts.drafter, self.lm.n_layers()) {
            (Drafter::SecondModel, _) if self.second().is_none() => Err(EngineError::NoSecondModel),
            (Drafter::FirstLayers(_), None) => Err(EngineError::LayersUnavailable),
            (Drafter::FirstLayers(first), Some(n_layers)) if first as usize >= n_layers => {
                Err(EngineError::TooManyLayers { n_layers })
            }
            (Drafter::MtpHead, _) if !self.lm.has_mtp_head() => Err(EngineError::NoMtpHead),
            _ => Ok(()),
        }
    }

    /// Checks that the model can give the logits of a layer before its last.
    fn check_early_layer(&self, layer: usize) -> Result<(), EngineError> {
        match self.lm.n_exit_layers() {
            None => Err(EngineError::NoEarlyExits),
            Some(n_layers) if layer >= n_layers => {
                Err(EngineError::NoSuchLayer { layer, n_layers })
            }
            Some(_) => Ok(()),
        }
    }

    /// Returns what the guiding row reads in place of a prompt of this form. Nothing if early layers
    /// of the text's own pass guide it.
    pub(super) fn guiding_prompt(
        &self,
        guidance: &Guidance,
        prompt: &[TokenId],
        form: PromptForm,
    ) -> Result<Vec<TokenId>, EngineError> {
        if let Some(deepest) = guidance.against.layers().iter().max() {
            self.check_early_layer(*deepest as usize)?;
        }
        if guidance.against == Against::Model {
            if self.second().is_none() {
                return Err(EngineError::NoSecondModel);
            }
            return Ok(prompt.to_vec());
        }
        let text = match guidance.against.prompt() {
            None => return Ok(Vec::new()),
            Some("") => return Ok(prompt.last().copied().into_iter().collect()),
            Some(text) => text.to_owned(),
        };
        let other = self.encode_prompt(&PromptText { text, form })?;
        Ok(other.tokens)
    }
}

/// Describes how two vocabularies differ. Returns `None` if their tokens are the same.
pub fn difference(main: &Vocabulary, second: &Vocabulary) -> Option<String> {
    let (n_main, n_second) = (main.n_tokens(), second.n_tokens());
    if n_main.abs_diff(n_second) > N_MAX_PADDING {
        return Some(format!("{n_second} tokens instead of {n_main}"));
    }
    let shared = (0..n_main.min(n_second) as u32).map(TokenId);
    let mut pieces = shared.map(|token| (token, main.piece(token), second.piece(token)));
    let (token, own, other) = pieces.find(|(_, own, other)| {
        // Files disagree about which tokens are special; only their texts matter here.
        own.kind == PieceKind::Text && other.kind == PieceKind::Text && own.bytes != other.bytes
    })?;
    Some(format!("token {token} is ‘{other}’ instead of ‘{own}’"))
}
