//! A pane's settings and why its text ended, as both formats write them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::{
    ChainConfig, Drafts, GrammarRule, Guidance, Rules, Selector, Stage, stages_from,
};
use crate::generation::{EndOfText, FinishReason, GenerationConfig, Limits};

/// The settings of a generation.
#[derive(Serialize, Deserialize)]
pub(super) struct Settings {
    #[serde(skip_deserializing)]
    summary: String,
    #[serde(deserialize_with = "stages_from")]
    stages: Vec<Stage>,
    #[serde(flatten)]
    selector: Selector,
    #[serde(default, skip_serializing_if = "is_default")]
    rules: Rules,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grammar: Option<Arc<GrammarRule>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drafts: Option<Drafts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guidance: Option<Guidance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dialect: Option<Dialect>,
    seed: u64,
    max_new_tokens: usize,
    stop_strings: Vec<String>,
    end_of_text: EndOfText,
}

/// Why a text ended, without its detail.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Finish {
    EndOfText,
    StopString,
    GrammarComplete,
    MaxTokens,
    ContextFull,
    Cancelled,
    Interrupted,
    Paused,
    Scored,
    ByServer,
    Error,
}

impl Settings {
    pub(super) fn of(config: &GenerationConfig) -> Self {
        Self {
            summary: config.chain.to_string(),
            stages: config.chain.stages.clone(),
            selector: config.chain.selector,
            rules: config.chain.rules,
            grammar: config.chain.grammar.clone(),
            drafts: config.chain.drafts,
            guidance: config.chain.guidance.clone(),
            dialect: config.chain.dialect,
            seed: config.seed,
            max_new_tokens: config.limits.max_new_tokens,
            stop_strings: config.limits.stop_strings.clone(),
            end_of_text: config.limits.end_of_text,
        }
    }

    pub(super) fn into_config(self) -> GenerationConfig {
        GenerationConfig {
            chain: ChainConfig {
                stages: self.stages,
                selector: self.selector,
                rules: self.rules,
                grammar: self.grammar,
                drafts: self.drafts,
                guidance: self.guidance,
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
    /// Splits a finish reason into its kind and its detail.
    pub(super) fn of(reason: Option<&FinishReason>) -> (Option<Self>, Option<String>) {
        let Some(reason) = reason else {
            return (None, None);
        };
        let (finish, detail) = match reason {
            FinishReason::EndOfText => (Self::EndOfText, None),
            FinishReason::StopString { stop } => (Self::StopString, Some(stop.clone())),
            FinishReason::GrammarComplete => (Self::GrammarComplete, None),
            FinishReason::MaxTokens => (Self::MaxTokens, None),
            FinishReason::ContextFull => (Self::ContextFull, None),
            FinishReason::Cancelled => (Self::Cancelled, None),
            FinishReason::Interrupted => (Self::Interrupted, None),
            FinishReason::Paused => (Self::Paused, None),
            FinishReason::Scored => (Self::Scored, None),
            FinishReason::ByServer { word } => (Self::ByServer, word.clone()),
            FinishReason::Failed { error } => (Self::Error, Some(error.clone())),
        };
        (Some(finish), detail)
    }

    pub(super) fn into_reason(self, detail: String) -> FinishReason {
        match self {
            Self::EndOfText => FinishReason::EndOfText,
            Self::StopString => FinishReason::StopString { stop: detail },
            Self::GrammarComplete => FinishReason::GrammarComplete,
            Self::MaxTokens => FinishReason::MaxTokens,
            Self::ContextFull => FinishReason::ContextFull,
            Self::Cancelled => FinishReason::Cancelled,
            Self::Interrupted => FinishReason::Interrupted,
            Self::Paused => FinishReason::Paused,
            Self::Scored => FinishReason::Scored,
            Self::ByServer => FinishReason::ByServer {
                word: Some(detail).filter(|word| !word.is_empty()),
            },
            Self::Error => FinishReason::Failed { error: detail },
        }
    }
}
