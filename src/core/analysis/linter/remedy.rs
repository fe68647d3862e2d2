//! Changes to a chain that fix a finding.

use crate::decoding::{ChainConfig, Filter};

/// A change to a chain that fixes a finding. Stages are identified by their indices.
#[derive(Debug, Clone, PartialEq)]
pub enum Remedy {
    /// Switch stages off.
    Mute { stages: Vec<usize> },
    /// Switch stages on.
    Unmute { stages: Vec<usize> },
    /// Remove stages.
    Remove { stages: Vec<usize> },
    /// Remove all stages of a kind except the first.
    KeepFirst {
        /// All but the first.
        others: Vec<usize>,
    },
    /// Move a stage towards the beginning.
    Move {
        from: usize,
        /// Its new index, at most `from`.
        to: usize,
    },
    /// Change the values of a stage.
    Set {
        stage: usize,
        filter: Filter,
        /// The label of its button.
        label: &'static str,
    },
}

impl Remedy {
    /// The label of its button.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Mute { .. } => "Switch off",
            Self::Unmute { .. } => "Switch on",
            Self::Remove { .. } => "Remove",
            Self::KeepFirst { .. } => "Keep the first",
            Self::Move { .. } => "Move before the cuts",
            Self::Set { label, .. } => label,
        }
    }

    /// Returns the changed chain. Ignores indices beyond its end.
    pub fn apply(&self, chain: &ChainConfig) -> ChainConfig {
        let mut chain = chain.clone();
        match self {
            Self::Mute { stages } => switch(&mut chain, stages, false),
            Self::Unmute { stages } => switch(&mut chain, stages, true),
            Self::Remove { stages } | Self::KeepFirst { others: stages } => {
                let mut indices = 0..;
                let stays = |index: Option<usize>| index.is_none_or(|at| !stages.contains(&at));
                chain.stages.retain(|_| stays(indices.next()));
            }
            Self::Move { from, to } => {
                if *from < chain.stages.len() && *to <= *from {
                    let moved = chain.stages.remove(*from);
                    chain.stages.insert(*to, moved);
                }
            }
            Self::Set { stage, filter, .. } => {
                if let Some(stage) = chain.stages.get_mut(*stage) {
                    stage.filter = filter.clone();
                }
            }
        }
        chain
    }
}

fn switch(chain: &mut ChainConfig, stages: &[usize], on: bool) {
    for (index, stage) in chain.stages.iter_mut().enumerate() {
        if stages.contains(&index) {
            stage.enabled = on;
        }
    }
}
