//! A pane's entry in a file of format 2, and the prompt that it continues.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::beams::BeamsEntry;
use super::grammar::rules_of;
use super::known::{Derived, Known};
use super::lineage::LineageEntry;
use super::step::{Shared, StepEntry, filters_of};
use super::vocabulary::{Entry, PieceEntry, vocabulary_of};
use crate::analysis::Metrics;
use crate::decoding::{Filter, GrammarRule, TokenId};
use crate::export::json::settings::{Finish, Settings};
use crate::export::json::{Form, N_VOCAB_MAX, ParseError};
use crate::generation::{
    ChatMessage, ChatRecord, ChatSettings, ChatTools, EarlierSettings, Generation, ModelInfo,
    Piece, PromptRecord, TemplateKwargs, Vocabulary, note_character_parts,
};

/// A generation's entry in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pane {
    /// `None` if the letters of all panes follow from their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    letter: Option<String>,
    name: String,
    /// The index of the turn before it in its conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<Known<ModelInfo>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    second_model: Option<Known<ModelInfo>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<Prompt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vocabulary: Option<Vec<Entry>>,
    settings: Known<Settings>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier_settings: Vec<Earlier>,
    finish_reason: Option<Finish>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish_detail: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grammar_complete: Option<bool>,
    text: Derived<String>,
    metrics: Derived<MetricsEntry>,
    timings: Timings,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lineage: Option<LineageEntry>,
    filters: Vec<Known<Arc<Filter>>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    grammars: Vec<Known<Arc<GrammarRule>>>,
    steps: Vec<StepEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beams: Option<BeamsEntry>,
    /// The settings that the server's own sampler lacks or applies otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_applied: Vec<String>,
}

/// Settings that wrote the first steps of a text, before it went on under others.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Earlier {
    n_steps: usize,
    settings: Known<Settings>,
}

/// What a text doesn't share with the file.
pub(super) enum Own {
    Nothing,
    Prompt,
    /// With its pieces.
    ModelAndPrompt(Vec<Entry>),
}

/// A text to write.
pub(super) struct PaneText<'a> {
    pub generation: &'a Generation,
    /// The letter of its pane, unless it follows from the order of the panes.
    pub letter: Option<String>,
    pub follows: Option<usize>,
    pub own: Own,
    pub lineage: Option<LineageEntry>,
    /// How many of its steps are already in the file.
    pub n_shared: usize,
}

/// A prompt's entry in the file.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prompt {
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chat: Option<Chat>,
    tokens: Vec<TokenId>,
    /// `None` if they are the pieces in the vocabulary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pieces: Option<Vec<PieceEntry>>,
}

/// The chat template's input and output.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chat {
    system: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    history: Vec<ChatMessage>,
    #[serde(default, skip_serializing_if = "ChatTools::is_empty")]
    tools: ChatTools,
    #[serde(default, skip_serializing_if = "TemplateKwargs::is_empty")]
    template_kwargs: TemplateKwargs,
    rendered: String,
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
#[serde(deny_unknown_fields)]
struct Timings {
    n_prefilled: usize,
    prefill_secs: f64,
}

impl Pane {
    /// Returns its letter, unless it follows from the order of the panes.
    pub(super) fn letter(&self) -> Option<&str> {
        self.letter.as_deref()
    }

    /// Creates a text's entry.
    pub(super) fn of(text: PaneText<'_>, form: Form) -> Self {
        let PaneText {
            generation,
            letter,
            follows,
            own,
            lineage,
            n_shared,
        } = text;
        let (finish_reason, finish_detail) = Finish::of(generation.finish.as_ref());
        let filters = filters_of(generation);
        let grammars = rules_of(generation);
        let guidance = generation.config.chain.guidance.clone().map(Arc::new);
        let shared = Shared {
            filters: &filters,
            grammars: &grammars,
            guidance: guidance.as_ref(),
            vocabulary: &generation.vocabulary,
            n_vocab: generation.model.n_vocab,
        };
        let steps = generation.steps.iter().skip(n_shared);
        let prompt = || Prompt::of(&generation.prompt, &generation.vocabulary);
        let (prompt, vocabulary) = match own {
            Own::Nothing => (None, None),
            Own::Prompt => (Some(prompt()), None),
            Own::ModelAndPrompt(entries) => (Some(prompt()), Some(entries)),
        };
        let model = vocabulary.as_ref().map(|_| (*generation.model).clone());
        Self {
            letter,
            name: generation.name.clone(),
            follows,
            model: model.map(Known),
            second_model: generation.second_model.as_deref().cloned().map(Known),
            prompt,
            vocabulary,
            settings: Known(Settings::of(&generation.config)),
            earlier_settings: generation.earlier.iter().map(Earlier::of).collect(),
            finish_reason,
            finish_detail,
            grammar_complete: generation.grammar_complete,
            text: Derived(generation.text()),
            metrics: Derived(MetricsEntry::of(&Metrics::of(generation))),
            timings: Timings {
                n_prefilled: generation.prompt.n_prefilled,
                prefill_secs: generation.prompt.prefill_secs,
            },
            lineage,
            steps: steps
                .map(|step| StepEntry::of(step, &shared, form))
                .collect(),
            filters: filters.into_iter().map(Known).collect(),
            grammars: grammars.into_iter().map(Known).collect(),
            beams: BeamsEntry::of(&generation.beams),
            not_applied: generation.not_applied.clone(),
        }
    }

    /// Converts the entry to a generation, given what the panes of the file share.
    pub(super) fn into_generation(
        self,
        model: &Arc<ModelInfo>,
        vocabulary: &Arc<Vocabulary>,
        prompt: &Prompt,
    ) -> Result<Generation, ParseError> {
        let model = self
            .model
            .map_or_else(|| Arc::clone(model), |own| Arc::new(own.0));
        let vocabulary = match self.vocabulary {
            Some(entries) => Arc::new(vocabulary_of(entries)?),
            None => Arc::clone(vocabulary),
        };
        let prompt = self.prompt.as_ref().unwrap_or(prompt);
        let filters: Vec<Arc<Filter>> = self.filters.into_iter().map(|known| known.0).collect();
        let grammars: Vec<_> = self.grammars.into_iter().map(|known| known.0).collect();
        let mut config = self.settings.0.into_config();
        note_character_parts(&mut config.chain, &vocabulary);
        let guidance = config.chain.guidance.clone().map(Arc::new);
        let shared = Shared {
            filters: &filters,
            grammars: &grammars,
            guidance: guidance.as_ref(),
            vocabulary: &vocabulary,
            n_vocab: model.n_vocab,
        };
        let steps = self.steps.into_iter();
        let steps = steps.map(|step| step.into_step(&shared));
        Ok(Generation {
            name: self.name,
            config,
            earlier: self.earlier_settings.into_iter().map(Into::into).collect(),
            contradiction: None,
            second_model: self.second_model.map(|second| Arc::new(second.0)),
            prompt: Arc::new(prompt.record(&self.timings, &vocabulary)?),
            previous_turn: None,
            steps: steps.collect::<Result<_, _>>()?,
            finish: self
                .finish_reason
                .map(|reason| reason.into_reason(self.finish_detail.unwrap_or_default())),
            grammar_complete: self.grammar_complete,
            lineage: self
                .lineage
                .map(LineageEntry::into_lineage)
                .unwrap_or_default(),
            beams: match self.beams {
                Some(beams) => Arc::new(beams.into_beams(&vocabulary)?),
                None => Arc::default(),
            },
            not_applied: self.not_applied,
            model,
            vocabulary,
        })
    }
}

impl Earlier {
    fn of(earlier: &EarlierSettings) -> Self {
        Self {
            n_steps: earlier.n_steps,
            settings: Known(Settings::of(&earlier.config)),
        }
    }
}

impl From<Earlier> for EarlierSettings {
    fn from(earlier: Earlier) -> Self {
        Self {
            n_steps: earlier.n_steps,
            config: earlier.settings.0.into_config(),
        }
    }
}

impl Prompt {
    pub(super) fn of(prompt: &PromptRecord, vocabulary: &Vocabulary) -> Self {
        let follow = pieces_of(&prompt.tokens, vocabulary) == prompt.pieces;
        Self {
            text: prompt.text.clone(),
            chat: prompt.chat.clone().map(|chat| Chat {
                system: chat.settings.system,
                history: chat.settings.history,
                tools: chat.settings.tools,
                template_kwargs: chat.settings.kwargs,
                rendered: chat.rendered,
            }),
            tokens: prompt.tokens.clone(),
            pieces: (!follow).then(|| prompt.pieces.iter().map(PieceEntry::of).collect()),
        }
    }

    fn record(
        &self,
        timings: &Timings,
        vocabulary: &Vocabulary,
    ) -> Result<PromptRecord, ParseError> {
        if let Some(id) = self.tokens.iter().find(|token| token.0 >= N_VOCAB_MAX) {
            return Err(ParseError::UnknownToken { id: id.0 });
        }
        let own = self.pieces.clone();
        let own = own.map(|own| own.into_iter().map(PieceEntry::into_piece).collect());
        Ok(PromptRecord {
            text: self.text.clone(),
            chat: self.chat.clone().map(|chat| ChatRecord {
                settings: ChatSettings {
                    system: chat.system,
                    history: chat.history,
                    tools: chat.tools,
                    kwargs: chat.template_kwargs,
                },
                rendered: chat.rendered,
            }),
            tokens: self.tokens.clone(),
            pieces: own.unwrap_or_else(|| pieces_of(&self.tokens, vocabulary)),
            n_prefilled: timings.n_prefilled,
            prefill_secs: timings.prefill_secs,
        })
    }
}

fn pieces_of(tokens: &[TokenId], vocabulary: &Vocabulary) -> Vec<Piece> {
    let tokens = tokens.iter();
    tokens.map(|token| vocabulary.piece(*token)).collect()
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
