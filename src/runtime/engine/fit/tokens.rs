//! The tokens of the texts of a fit.

use super::super::sweep::shared_guidance;
use super::super::{EngineError, LoadedModel};
use super::GuidedTexts;
use crate::decoding::TokenId;
use crate::generation::{FitPlan, FitText, FitTokens, PromptForm, PromptText};

impl LoadedModel {
    /// Tokenizes the texts of a fit. Fails if one of them has no token to score.
    pub(super) fn encode_texts(&self, plan: &FitPlan) -> Result<Vec<FitTokens>, EngineError> {
        let texts = plan.texts.iter().map(|text| self.encode_fit_text(text));
        let texts: Vec<FitTokens> = texts.collect::<Result<_, _>>()?;
        if texts.is_empty() {
            return Err(EngineError::NothingToScore);
        }
        Ok(texts)
    }

    /// Returns what guides the texts, if the chains are guided.
    pub(super) fn guided_texts(
        &self,
        plan: &FitPlan,
        texts: &[FitTokens],
    ) -> Result<Option<GuidedTexts>, EngineError> {
        let Some(guidance) = shared_guidance(&plan.chains)? else {
            return Ok(None);
        };
        let prompts = plan.texts.iter().zip(texts).map(|(text, tokens)| {
            let own = tokens.tokens.get(..tokens.n_prompt).unwrap_or_default();
            self.guiding_prompt(guidance, own, text.form())
        });
        Ok(Some(GuidedTexts {
            against: guidance.against.clone(),
            prompts: prompts.collect::<Result<_, _>>()?,
        }))
    }

    fn encode_fit_text(&self, text: &FitText) -> Result<FitTokens, EngineError> {
        let (mut tokens, n_prompt) = match text {
            FitText::Recorded {
                tokens, n_prompt, ..
            } => (tokens.clone(), *n_prompt),
            FitText::Typed { prompt: None, text } => {
                let tokens = self.encode_whole(text)?.tokens;
                (tokens, 1)
            }
            FitText::Typed {
                prompt: Some(prompt),
                text,
            } => self.continued(prompt, text)?,
        };
        let n_vocab = self.lm.n_vocab();
        if let Some(token) = tokens.iter().find(|token| token.index() >= n_vocab) {
            let token = token.0;
            return Err(EngineError::UnknownToken { token, n_vocab });
        }
        let n_max = self.lm.n_context();
        if n_prompt >= n_max {
            let n_tokens = n_prompt;
            return Err(EngineError::PromptTooLong { n_tokens, n_max });
        }
        let n_left_out = tokens.len().saturating_sub(n_max);
        tokens.truncate(n_max);
        if n_prompt == 0 || tokens.len() <= n_prompt {
            return Err(EngineError::NothingToScore);
        }
        Ok(FitTokens {
            tokens,
            n_prompt,
            n_left_out,
        })
    }

    /// Returns the tokens of a prompt followed by those of its continuation, and how many belong to
    /// the prompt.
    ///
    /// A raw prompt and its continuation are tokenized as one text, so that no token is split where
    /// the continuation begins. A token that also holds the end of the prompt, such as " there"
    /// after a prompt that ends with a space, counts as part of the text.
    pub fn continued(
        &self,
        prompt: &PromptText,
        text: &str,
    ) -> Result<(Vec<TokenId>, usize), EngineError> {
        let mut before = self.encode_prompt(prompt)?.tokens;
        if prompt.form == PromptForm::Raw && !text.is_empty() {
            let whole = format!("{}{text}", prompt.text);
            let whole = self.tokenizer.encode_turn(&whole)?;
            let pairs = before.iter().zip(&whole);
            let n_prompt = pairs.take_while(|(a, b)| a == b).count();
            if n_prompt > 0 {
                return Ok((whole, n_prompt));
            }
        }
        let n_prompt = before.len();
        before.extend(self.tokenizer.encode_continuation(text)?);
        Ok((before, n_prompt))
    }
}
