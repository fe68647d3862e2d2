//! Changes of a chain that settle a remark.

use crate::decoding::{ChainConfig, Filter};

/// A change of a chain that settles a remark. Stages are named by their places in the chain.
#[derive(Debug, Clone, PartialEq)]
pub enum Remedy {
    /// Switch stages off.
    Mute {
        /// Their places.
        stages: Vec<usize>,
    },
    /// Switch stages on.
    Unmute {
        /// Their places.
        stages: Vec<usize>,
    },
    /// Take stages away.
    Remove {
        /// Their places.
        stages: Vec<usize>,
    },
    /// Take away all stages of a kind but the first.
    KeepFirst {
        /// The places of the others.
        others: Vec<usize>,
    },
    /// Put a stage elsewhere.
    Move {
        /// Its place.
        from: usize,
        /// The place that it gets, before its own; the others keep their order.
        to: usize,
    },
    /// Set a stage to other values.
    Set {
        /// Its place.
        stage: usize,
        /// The rule with its values.
        filter: Filter,
        /// What that does, in the words of a button.
        label: &'static str,
    },
}

impl Remedy {
    /// The words of its button.
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

    /// The chain with the change made. Places that the chain does not have are passed over.
    pub fn apply(&self, chain: &ChainConfig) -> ChainConfig {
        let mut chain = chain.clone();
        match self {
            Self::Mute { stages } => switch(&mut chain, stages, false),
            Self::Unmute { stages } => switch(&mut chain, stages, true),
            Self::Remove { stages } | Self::KeepFirst { others: stages } => {
                let mut places = 0..;
                let stays = |place: Option<usize>| place.is_none_or(|at| !stages.contains(&at));
                chain.stages.retain(|_| stays(places.next()));
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
