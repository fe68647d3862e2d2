//! A pane: how it is set, and what it has written.

use super::lints::Lints;
use super::solo::Solo;
use super::what_if::WhatIfs;
use crate::analysis::Lint;
use crate::generation::{FinishReason, Generation, GenerationConfig, PaneSettings};
use crate::worker::GenerationId;

/// A pane's name for the program. It stays the same when panes beside it come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaneId(pub u32);

/// One of the texts side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Pane {
    /// Its name for the program.
    pub id: PaneId,
    /// How its next text is to be written.
    pub settings: PaneSettings,
    /// What it has written, or is about to.
    pub status: PaneStatus,
    /// The stage that was left alone, with those that were on before.
    pub(in crate::state) solo: Option<Solo>,
    /// What its settings would have changed in its text.
    pub(in crate::state) what_ifs: WhatIfs,
    /// The remarks on its settings.
    pub(in crate::state) lints: Lints,
}

/// What a pane does, with what it needs for that.
#[derive(Debug, Clone, PartialEq)]
pub enum PaneStatus {
    /// Nothing was asked of it yet.
    Ready,
    /// The engine has not begun.
    Waiting {
        /// What was asked.
        asked: Asked,
    },
    /// The prompt is being read.
    Reading {
        /// What was asked.
        asked: Asked,
        /// How many of its tokens have been read.
        n_read: usize,
        /// How many there are.
        n_tokens: usize,
    },
    /// Tokens come.
    Writing {
        /// The name under which they come.
        id: GenerationId,
        /// What has come so far.
        generation: Generation,
    },
    /// The text is whole, or as much of it as there will be.
    Finished(Generation),
    /// It ended before its first token could be written.
    Refused {
        /// Why.
        reason: FinishReason,
        /// The text that was there before.
        before: Option<Generation>,
    },
}

/// A text that was asked for and has not begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The name under which its events come.
    pub id: GenerationId,
    /// The pane's name at that moment.
    pub name: String,
    /// How it is to be written.
    pub config: GenerationConfig,
    /// The text that was there before; it stays to be seen until the first token comes.
    pub before: Option<Generation>,
}

impl Pane {
    /// A pane that has written nothing.
    pub fn new(id: PaneId, settings: PaneSettings) -> Self {
        Self {
            id,
            settings,
            status: PaneStatus::Ready,
            solo: None,
            what_ifs: WhatIfs::default(),
            lints: Lints::default(),
        }
    }

    /// The index of the stage that was left alone, while it is.
    pub fn solo_stage(&self) -> Option<usize> {
        self.solo.as_ref()?.index(&self.settings.chain)
    }

    /// The text to be seen, with its record.
    pub const fn generation(&self) -> Option<&Generation> {
        self.status.generation()
    }

    /// What its settings would have changed in its text, where they are others than those that wrote
    /// it; as of the last [`AppState::review`](super::AppState::review).
    pub const fn what_ifs(&self) -> Option<&WhatIfs> {
        if self.what_ifs.is_asked() {
            Some(&self.what_ifs)
        } else {
            None
        }
    }

    /// The remarks on its settings, the most important first; as of the last
    /// [`AppState::review`](super::AppState::review).
    pub fn lints(&self) -> &[Lint] {
        self.lints.list()
    }
}

impl PaneStatus {
    /// The text to be seen, with its record.
    pub const fn generation(&self) -> Option<&Generation> {
        match self {
            Self::Ready => None,
            Self::Waiting { asked } | Self::Reading { asked, .. } => asked.before.as_ref(),
            Self::Writing { generation, .. } | Self::Finished(generation) => Some(generation),
            Self::Refused { before, .. } => before.as_ref(),
        }
    }

    /// The name under which events come, while any are to come.
    pub const fn running(&self) -> Option<GenerationId> {
        match self {
            Self::Waiting { asked } | Self::Reading { asked, .. } => Some(asked.id),
            Self::Writing { id, .. } => Some(*id),
            Self::Ready | Self::Finished(_) | Self::Refused { .. } => None,
        }
    }

    /// Whether tokens are coming.
    pub const fn is_writing(&self) -> bool {
        matches!(self, Self::Writing { .. })
    }

    /// Gives the record away.
    pub(in crate::state) fn into_generation(self) -> Option<Generation> {
        match self {
            Self::Ready => None,
            Self::Waiting { asked } | Self::Reading { asked, .. } => asked.before,
            Self::Writing { generation, .. } | Self::Finished(generation) => Some(generation),
            Self::Refused { before, .. } => before,
        }
    }

    /// Ends what runs, for this reason. A text that had begun is kept.
    pub(in crate::state) fn finish(&mut self, reason: FinishReason) {
        *self = match std::mem::replace(self, Self::Ready) {
            Self::Waiting { asked } | Self::Reading { asked, .. } => Self::Refused {
                reason,
                before: asked.before,
            },
            Self::Writing { mut generation, .. } => {
                generation.finish = Some(reason);
                Self::Finished(generation)
            }
            done => done,
        };
    }
}
