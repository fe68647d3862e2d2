//! A pane: its settings and its generation.

use std::sync::Arc;

use super::grammar::PaneBreak;
use super::hand_picks::HandPicks;
use super::kinds::PaneKinds;
use super::lints::Lints;
use super::measures::Measures;
use super::solo::Solo;
use super::watermark::PaneScan;
use super::what_if::WhatIfs;
use crate::analysis::watermark::WatermarkScan;
use crate::analysis::{GivenConversation, Lint, TextMetrics};
use crate::generation::{
    FinishReason, Generation, GenerationConfig, Lineage, Origin, OriginChange, PaneModel,
    PaneSettings, PromptRecord, TextModels, Vocabulary,
};
use crate::state::ReadyModel;
use crate::state::branches::Upcoming;
use crate::state::conversation::NextPrompt;
use crate::state::pane_models::OwnModel;
use crate::state::read_along::RefusedReading;
use crate::worker::{GenerationId, Recorder};

/// Identifies a pane, independent of its place. Never reused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaneId(pub u32);

/// One of the panes side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Pane {
    pub id: PaneId,
    /// Its letter and color, counted from A.
    pub place: usize,
    /// The settings of its next generation.
    pub settings: PaneSettings,
    /// The state of its current generation.
    pub status: PaneStatus,
    /// The soloed stage, and which stages were enabled before.
    pub(in crate::state) solo: Option<Solo>,
    /// What its current settings would have changed in its text.
    pub(in crate::state) what_ifs: WhatIfs,
    pub(in crate::state) lints: Lints,
    pub(in crate::state) measures: Measures,
    /// Where its text breaks its grammar, or that of another pane.
    pub(in crate::state) grammar_break: PaneBreak,
    pub(in crate::state) hand_picks: HandPicks,
    pub(in crate::state) kinds: PaneKinds,
    /// The result of the search for a watermark.
    pub(in crate::state) watermark: PaneScan,
    /// The model of its last request, if it was not the main one.
    pub(in crate::state) running_model: Option<PaneModel>,
    /// How the sampler of its server deviates from its settings, one sentence each.
    pub server_notes: Vec<String>,
    /// The pane whose text it reads along with, instead of writing its own.
    pub reads: Option<PaneId>,
    /// The reading that the engine refused, or that the user stopped before it began.
    pub(in crate::state) refused_reading: Option<RefusedReading>,
    /// In step mode, the token that comes next.
    pub(in crate::state) upcoming: Option<Upcoming>,
    /// The tokens in which the tags and messages of its thinking budgets are spelled.
    pub(in crate::state) thoughts_in: Option<Arc<Vocabulary>>,
    /// The index of the turn that plots, X-ray and the other views show; `None` for the last one.
    pub(in crate::state) shown_turn: Option<usize>,
    /// Whether a message to all panes leaves it out.
    pub is_left_out: bool,
    /// How many of the oldest messages its model does not get with the next one, besides those left
    /// out before.
    pub(in crate::state) n_to_leave_out: usize,
    /// What its model reads next, if a message is typed that follows its last answer.
    pub(in crate::state) next_prompt: Option<NextPrompt>,
    /// The answers that it scores after the one that it is scoring.
    pub(in crate::state) given: GivenConversation,
}

/// The state of a pane's generation.
#[derive(Debug, Clone, PartialEq)]
pub enum PaneStatus {
    /// Nothing has been requested yet.
    Ready,
    /// Requested, but the engine has not started.
    Waiting { pending: PendingGeneration },
    /// The prompt is being processed (prefill).
    Reading {
        pending: PendingGeneration,
        /// The number of prompt tokens processed so far.
        n_read: usize,
        /// The number of prompt tokens in total.
        n_tokens: usize,
    },
    /// Tokens are being generated.
    Writing(Recorder),
    /// The generation ended; its finish reason says why.
    Finished(Generation),
    /// The generation ended before its first token.
    Refused {
        reason: FinishReason,
        /// The pane's previous text, which it still shows.
        before: Option<Generation>,
        /// The message that it was to answer after its own turns.
        message: Option<String>,
    },
}

/// A generation that was requested but has not started.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingGeneration {
    pub id: GenerationId,
    /// The pane's name at the time of the request.
    pub name: String,
    pub config: GenerationConfig,
    /// The pane's previous text, which it shows until the generation starts.
    pub previous: Option<Generation>,
    pub start: Start,
    /// The model that generates it, if it is not the main one.
    pub(in crate::state) own_model: Option<OwnModel>,
}

/// What a generation begins with.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// A prompt.
    Prompt(NewText),
    /// A text, which it continues.
    Text(Box<Kept>),
}

/// A text that is written from its prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewText {
    /// The message that it answers, if it is an answer.
    pub message: Option<String>,
    /// The answer before it in the conversation.
    pub previous_turn: Option<Arc<Generation>>,
    /// What makes it differ from the text that it replaces, if it answers again.
    pub origin: Option<Origin>,
}

/// The beginning of a text that a generation continues.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The text so far, with the settings that continue it.
    pub text: Generation,
    /// Whether it branches off, so that the previous text must be kept.
    pub replaces: bool,
}

/// A text that begins.
pub(in crate::state) struct Begun {
    /// The text before its first new token.
    pub text: Generation,
    /// The text that it takes the place of, unless that stays a part of it.
    pub replaced: Option<Generation>,
}

impl PendingGeneration {
    /// Begins the text, with the prompt as this model has read it.
    pub(in crate::state) fn begin(self, prompt: &Arc<PromptRecord>, model: &ReadyModel) -> Begun {
        let models = TextModels {
            model: Arc::clone(&model.info),
            second_model: None,
            vocabulary: Arc::clone(&model.vocabulary),
        };
        match self.start {
            // The vocabulary of a text from a file has only the tokens that occur in it.
            Start::Text(kept) => Begun {
                text: Generation {
                    vocabulary: models.vocabulary,
                    beams: Arc::default(),
                    ..kept.text
                },
                replaced: self.previous.filter(|_| kept.replaces),
            },
            Start::Prompt(new) => {
                let lineage = Lineage {
                    id: self.id,
                    origin: new.origin,
                };
                let begun = Generation::begin(self.name, self.config, Arc::clone(prompt), models);
                let text = Generation { lineage, ..begun }.following(new.previous_turn);
                let replaced = self.previous.filter(|shown| !text.follows(shown));
                Begun { text, replaced }
            }
        }
    }

    /// Returns the text that it writes from its prompt.
    const fn new_text(&self) -> Option<&NewText> {
        match &self.start {
            Start::Prompt(new) => Some(new),
            Start::Text(_) => None,
        }
    }

    /// Returns the message that it answers after the pane's own turns.
    fn reply(&self) -> Option<&str> {
        let new = self.new_text().filter(|new| new.origin.is_none())?;
        new.message.as_deref()
    }

    /// Returns the edited message that it answers in place of a turn, with the index of the turn.
    pub(in crate::state) fn edited_message(&self) -> Option<(usize, &str)> {
        let new = self.new_text()?;
        let is_edited = new.origin?.change == OriginChange::Message;
        let before = new.previous_turn.as_deref();
        let turn = before.map_or(0, Generation::n_turns);
        Some((turn, new.message.as_deref()?)).filter(|_| is_edited)
    }

    /// Returns the text that it continues.
    #[cfg(test)]
    pub fn kept_text(&self) -> Option<&Generation> {
        match &self.start {
            Start::Prompt(_) => None,
            Start::Text(kept) => Some(&kept.text),
        }
    }
}

impl Pane {
    /// Creates a pane without a text. It gets its place when it is added to the others.
    pub fn new(id: PaneId, settings: PaneSettings) -> Self {
        Self {
            id,
            place: 0,
            settings,
            status: PaneStatus::Ready,
            solo: None,
            what_ifs: WhatIfs::default(),
            lints: Lints::default(),
            measures: Measures::default(),
            grammar_break: PaneBreak::default(),
            hand_picks: HandPicks::default(),
            kinds: PaneKinds::default(),
            watermark: PaneScan::default(),
            running_model: None,
            server_notes: Vec::new(),
            reads: None,
            refused_reading: None,
            upcoming: None,
            thoughts_in: None,
            shown_turn: None,
            is_left_out: false,
            n_to_leave_out: 0,
            next_prompt: None,
            given: GivenConversation::default(),
        }
    }

    /// Waits for a text that replaces the current one, follows it, or continues it. A text that is
    /// being generated is cancelled.
    pub(in crate::state) fn wait_for(
        &mut self,
        id: GenerationId,
        config: GenerationConfig,
        own: Option<OwnModel>,
        start: Start,
    ) {
        self.running_model = OwnModel::named(own.as_ref());
        self.upcoming = None;
        self.next_prompt = None;
        self.server_notes.clear();
        let mut status = std::mem::replace(&mut self.status, PaneStatus::Ready);
        status.finish(FinishReason::Cancelled);
        let pending = PendingGeneration {
            id,
            name: self.settings.name.clone(),
            config,
            previous: status.into_generation(),
            start,
            own_model: own,
        };
        self.status = PaneStatus::Waiting { pending };
    }

    /// Returns the index of the soloed stage.
    pub fn solo_stage(&self) -> Option<usize> {
        self.solo.as_ref()?.index(&self.settings.chain)
    }

    /// Returns the index of the first step that breaks the grammar of the text.
    pub fn breaks_grammar_at(&self) -> Option<usize> {
        self.grammar_break.own_broken_at()
    }

    /// Returns the index of the first step that would break the grammar of another pane's text.
    pub fn breaks_other_grammar_at(&self) -> Option<usize> {
        self.grammar_break.other_broken_at()
    }

    /// Returns its text: the last turn, if it is a conversation.
    pub const fn latest(&self) -> Option<&Generation> {
        self.status.generation()
    }

    /// Returns the text that plots, X-ray and the other views show: the chosen turn, or the last.
    pub fn generation(&self) -> Option<&Generation> {
        let latest = self.latest()?;
        self.shown_turn
            .map_or(Some(latest), |turn| latest.turn(turn))
    }

    /// Returns whether it has a text with at least one token.
    pub fn has_text(&self) -> bool {
        self.latest().is_some_and(|text| !text.steps.is_empty())
    }

    /// Returns whether it shows a text with a token that was picked by hand.
    pub(in crate::state) fn has_hand_picks(&self) -> bool {
        self.generation()
            .is_some_and(|text| self.hand_picks.any_in(text))
    }

    /// Returns the kinds of the tokens of its text, as of the last
    /// [`AppState::review`](crate::state::AppState::review).
    pub const fn kinds(&self) -> &PaneKinds {
        &self.kinds
    }

    /// Returns what the pane's settings would have changed in its text, as of the last
    /// [`AppState::review`](crate::state::AppState::review); `None` if they are the settings that
    /// generated it.
    pub const fn what_ifs(&self) -> Option<&WhatIfs> {
        if self.what_ifs.is_active() {
            Some(&self.what_ifs)
        } else {
            None
        }
    }

    /// Returns the metrics of the pane's text, as of the last
    /// [`AppState::review`](crate::state::AppState::review); `None` if it has no text.
    pub const fn text_metrics(&self) -> Option<&TextMetrics> {
        self.measures.metrics()
    }

    /// Returns the metrics of the pane's text like [`Self::text_metrics`], with or without its thought.
    pub fn measures(&self, counts_thinking: bool) -> Option<&TextMetrics> {
        let answer = self.measures.answer().filter(|_| !counts_thinking);
        answer.or(self.text_metrics())
    }

    /// Returns the result of the search for a watermark in the pane's text, as of the last
    /// [`AppState::review`](crate::state::AppState::review); `None` if the window does not show it.
    pub const fn watermark(&self) -> Option<&WatermarkScan> {
        self.watermark.found()
    }

    /// Returns the lints of the pane's settings, most important first, as of the last
    /// [`AppState::review`](crate::state::AppState::review).
    pub fn lints(&self) -> &[Lint] {
        self.lints.list()
    }
}

impl PaneStatus {
    /// Returns the generation to show: the current one, or the previous one until it starts.
    pub const fn generation(&self) -> Option<&Generation> {
        match self {
            Self::Ready => None,
            Self::Waiting { pending } | Self::Reading { pending, .. } => pending.previous.as_ref(),
            Self::Writing(Recorder { text, .. }) | Self::Finished(text) => Some(text),
            Self::Refused { before, .. } => before.as_ref(),
        }
    }

    /// Returns the id of the generation in progress.
    pub const fn running(&self) -> Option<GenerationId> {
        match self {
            Self::Waiting { pending } | Self::Reading { pending, .. } => Some(pending.id),
            Self::Writing(recorder) => Some(recorder.id),
            Self::Ready | Self::Finished(_) | Self::Refused { .. } => None,
        }
    }

    /// Returns whether tokens are being generated; false during prefill.
    pub const fn is_writing(&self) -> bool {
        matches!(self, Self::Writing(_))
    }

    /// Returns the error that ended the generation, if one did.
    pub fn failure(&self) -> Option<&str> {
        let reason = match self {
            Self::Finished(generation) => generation.finish.as_ref()?,
            Self::Refused { reason, .. } => reason,
            _ => return None,
        };
        match reason {
            FinishReason::Failed { error } => Some(error),
            _ => None,
        }
    }

    /// Returns the generation to show, by value.
    pub(in crate::state) fn into_generation(self) -> Option<Generation> {
        match self {
            Self::Ready => None,
            Self::Waiting { pending } | Self::Reading { pending, .. } => pending.previous,
            Self::Writing(Recorder { text, .. }) | Self::Finished(text) => Some(text),
            Self::Refused { before, .. } => before,
        }
    }

    /// Ends the generation in progress for this reason. A partial text is kept.
    pub(in crate::state) fn finish(&mut self, reason: FinishReason) {
        *self = match std::mem::replace(self, Self::Ready) {
            Self::Waiting { pending } | Self::Reading { pending, .. } => Self::Refused {
                reason,
                message: pending.reply().map(str::to_owned),
                before: pending.previous,
            },
            Self::Writing(Recorder { mut text, .. }) => {
                text.end(reason);
                Self::Finished(text)
            }
            done => done,
        };
    }
}
