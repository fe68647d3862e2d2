//! A pane's entry in the run file, and the prompt that it continues.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ParseError;
use super::step::{NamedPiece, Pieces, StepEntry};
use crate::analysis::Metrics;
use crate::decoding::dialect::Dialect;
use crate::decoding::{ChainConfig, Rules, Selector, Stage, TokenId};
use crate::generation::{
    ChatRecord, EndOfText, FinishReason, Generation, GenerationConfig, Limits, Lineage, ModelInfo,
    PromptRecord,
};

/// A generation's entry in the file.
#[derive(Serialize, Deserialize)]
pub(super) struct Pane {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<ModelInfo>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<Prompt>,
    settings: Settings,
    finish_reason: Option<Finish>,
    finish_detail: Option<String>,
    // Text and metrics are derived from the steps: written for readers of the file, never parsed.
    #[serde(skip_deserializing)]
    text: String,
    #[serde(skip_deserializing)]
    metrics: MetricsEntry,
    timings: Timings,
    steps: Vec<StepEntry>,
}

/// A prompt's entry in the file.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Prompt {
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chat: Option<Chat>,
    tokens: Vec<PromptToken>,
}

/// The chat template's input and output.
#[derive(Clone, Serialize, Deserialize)]
struct Chat {
    system: String,
    rendered: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct PromptToken {
    id: TokenId,
    #[serde(flatten)]
    piece: NamedPiece,
}

#[derive(Serialize, Deserialize)]
struct Settings {
    #[serde(skip_deserializing)]
    summary: String,
    stages: Vec<Stage>,
    #[serde(flatten)]
    selector: Selector,
    #[serde(default, skip_serializing_if = "is_default")]
    rules: Rules,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dialect: Option<Dialect>,
    seed: u64,
    max_new_tokens: usize,
    stop_strings: Vec<String>,
    end_of_text: EndOfText,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Finish {
    EndOfText,
    StopString,
    MaxTokens,
    ContextFull,
    Cancelled,
    Paused,
    Scored,
    Error,
}

#[derive(Default, Serialize)]
struct MetricsEntry {
    n_prompt_tokens: usize,
    n_generated: usize,
    first_token_secs: Option<f64>,
    prefill_tokens_per_sec: Option<f64>,
    decode_tokens_per_sec: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct Timings {
    n_prefilled: usize,
    prefill_secs: f64,
}

impl Pane {
    /// Creates a generation's entry. Model and prompt are omitted if they are shared with the file.
    pub(super) fn of(generation: &Generation, shared: bool) -> Self {
        let own = (!shared).then_some(generation);
        let (finish_reason, finish_detail) = Finish::of(generation.finish.as_ref());
        let vocabulary = &generation.vocabulary;
        Self {
            name: generation.name.clone(),
            model: own.map(|own| (*own.model).clone()),
            prompt: own.map(|own| Prompt::of(&own.prompt)),
            settings: Settings::of(&generation.config),
            finish_reason,
            finish_detail,
            text: generation.text(),
            metrics: MetricsEntry::of(&Metrics::of(generation)),
            timings: Timings {
                n_prefilled: generation.prompt.n_prefilled,
                prefill_secs: generation.prompt.prefill_secs,
            },
            steps: generation
                .steps
                .iter()
                .map(|step| StepEntry::of(step, vocabulary))
                .collect(),
        }
    }

    /// Converts the entry to a generation, given the file's shared model and prompt.
    pub(super) fn into_generation(
        self,
        model: &Arc<ModelInfo>,
        prompt: &Prompt,
    ) -> Result<Generation, ParseError> {
        let mut pieces = Pieces::default();
        let prompt = self.prompt.as_ref().unwrap_or(prompt);
        for token in &prompt.tokens {
            pieces.learn(token.id, &token.piece)?;
        }
        let steps = self
            .steps
            .into_iter()
            .map(|step| step.into_step(&mut pieces))
            .collect::<Result<_, _>>()?;
        Ok(Generation {
            name: self.name,
            config: self.settings.into_config(),
            model: self.model.map_or_else(|| model.clone(), Arc::new),
            vocabulary: Arc::new(pieces.into_vocabulary()),
            prompt: Arc::new(prompt.record(&self.timings)),
            steps,
            finish: self
                .finish_reason
                .map(|reason| reason.into_reason(self.finish_detail.unwrap_or_default())),
            lineage: Lineage::default(),
        })
    }
}

impl Prompt {
    pub(super) fn of(prompt: &PromptRecord) -> Self {
        let tokens = prompt.tokens.iter().zip(&prompt.pieces);
        Self {
            text: prompt.text.clone(),
            chat: prompt.chat.clone().map(|chat| Chat {
                system: chat.system,
                rendered: chat.rendered,
            }),
            tokens: tokens
                .map(|(id, piece)| PromptToken {
                    id: *id,
                    piece: NamedPiece::of(piece),
                })
                .collect(),
        }
    }

    fn record(&self, timings: &Timings) -> PromptRecord {
        PromptRecord {
            text: self.text.clone(),
            chat: self.chat.clone().map(|chat| ChatRecord {
                system: chat.system,
                rendered: chat.rendered,
            }),
            tokens: self.tokens.iter().map(|token| token.id).collect(),
            pieces: self
                .tokens
                .iter()
                .map(|token| token.piece.piece())
                .collect(),
            n_prefilled: timings.n_prefilled,
            prefill_secs: timings.prefill_secs,
        }
    }
}

impl Settings {
    fn of(config: &GenerationConfig) -> Self {
        Self {
            summary: config.chain.to_string(),
            stages: config.chain.stages.clone(),
            selector: config.chain.selector,
            rules: config.chain.rules,
            dialect: config.chain.dialect,
            seed: config.seed,
            max_new_tokens: config.limits.max_new_tokens,
            stop_strings: config.limits.stop_strings.clone(),
            end_of_text: config.limits.end_of_text,
        }
    }

    fn into_config(self) -> GenerationConfig {
        GenerationConfig {
            chain: ChainConfig {
                stages: self.stages,
                selector: self.selector,
                rules: self.rules,
                dialect: self.dialect,
            },
            seed: self.seed,
            limits: Limits {
                max_new_tokens: self.max_new_tokens,
                stop_strings: self.stop_strings,
                end_of_text: self.end_of_text,
            },
        }
    }
}

fn is_default(rules: &Rules) -> bool {
    *rules == Rules::default()
}

impl Finish {
    fn of(reason: Option<&FinishReason>) -> (Option<Self>, Option<String>) {
        let Some(reason) = reason else {
            return (None, None);
        };
        let (finish, detail) = match reason {
            FinishReason::EndOfText => (Self::EndOfText, None),
            FinishReason::StopString { stop } => (Self::StopString, Some(stop.clone())),
            FinishReason::MaxTokens => (Self::MaxTokens, None),
            FinishReason::ContextFull => (Self::ContextFull, None),
            FinishReason::Cancelled => (Self::Cancelled, None),
            FinishReason::Paused => (Self::Paused, None),
            FinishReason::Scored => (Self::Scored, None),
            FinishReason::Failed { error } => (Self::Error, Some(error.clone())),
        };
        (Some(finish), detail)
    }

    fn into_reason(self, detail: String) -> FinishReason {
        match self {
            Self::EndOfText => FinishReason::EndOfText,
            Self::StopString => FinishReason::StopString { stop: detail },
            Self::MaxTokens => FinishReason::MaxTokens,
            Self::ContextFull => FinishReason::ContextFull,
            Self::Cancelled => FinishReason::Cancelled,
            Self::Paused => FinishReason::Paused,
            Self::Scored => FinishReason::Scored,
            Self::Error => FinishReason::Failed { error: detail },
        }
    }
}

impl MetricsEntry {
    fn of(metrics: &Metrics) -> Self {
        Self {
            n_prompt_tokens: metrics.n_prompt,
            n_generated: metrics.n_generated,
            first_token_secs: metrics.first_token_secs,
            prefill_tokens_per_sec: metrics.prefill_per_sec,
            decode_tokens_per_sec: metrics.decode_per_sec,
        }
    }
}
