//! Watermarks: traces that a key leaves in the choice of tokens, and how to find them in a text.
//!
//! Nothing here changes a distribution: the filters and the selector that leave a mark do, with the
//! same functions that find it.

mod green_list;
mod gumbel;
mod scorer;
mod synth_id;
mod torch_random;

pub use scorer::{MarkScorer, TokenMark};
pub use synth_id::LayerKeys;

pub(super) use green_list::GreenTokens;
pub(super) use gumbel::{GumbelKey, context_of, is_repeated};
pub(super) use synth_id::Tournament;

use super::filters::{GreenList, SynthId};
use super::selector::GumbelMark;
use super::{ChainConfig, Filter, Selector};

/// A watermark with everything that a detector needs to know.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "watermark", rename_all = "kebab-case")]
pub enum Watermark {
    /// The tokens on a list determined by the text before them were made likelier.
    GreenList(GreenList),
    /// The noise of each draw was determined by the text before it.
    GumbelMark(GumbelMark),
    /// The candidates competed in a tournament that the text before them determined.
    SynthId(SynthId),
}

impl Watermark {
    /// Returns the watermark that a chain leaves, or `None` if it leaves none. If there are several,
    /// this is the one of the draw.
    pub fn of(chain: &ChainConfig) -> Option<Self> {
        Self::all(chain).next()
    }

    /// Returns every watermark that a chain leaves, the one of the draw first.
    pub fn all(chain: &ChainConfig) -> impl Iterator<Item = Self> {
        let of_draw = match chain.selector {
            Selector::GumbelMark(mark) => Some(Self::GumbelMark(mark)),
            _ => None,
        };
        let of_stages = chain.active().filter_map(|filter| match filter {
            Filter::GreenList(list) => Some(Self::GreenList(*list)),
            Filter::SynthId(synth) => Some(Self::SynthId(*synth)),
            _ => None,
        });
        of_draw.into_iter().chain(of_stages)
    }

    /// The name of the kind.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::GreenList(_) => GreenList::NAME,
            Self::GumbelMark(_) => GumbelMark::NAME,
            Self::SynthId(_) => SynthId::NAME,
        }
    }

    /// The secret number, or the first if there are several.
    pub fn key(&self) -> u32 {
        match self {
            Self::GreenList(list) => list.key,
            Self::GumbelMark(mark) => mark.key,
            Self::SynthId(synth) => synth.keys.as_slice().first().copied().unwrap_or_default(),
        }
    }

    /// How many tokens of the text determine a token's score, besides the token.
    pub const fn n_before(&self) -> usize {
        match self {
            Self::GreenList(list) => list.n_before(),
            Self::GumbelMark(mark) => mark.window as usize,
            Self::SynthId(synth) => synth.window as usize,
        }
    }
}

impl std::fmt::Display for Watermark {
    /// "green list with key 42".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::GreenList(list) => write!(f, "green list with key {}", list.key),
            Self::GumbelMark(mark) => write!(f, "Gumbel watermark with key {}", mark.key),
            Self::SynthId(synth) => match synth.keys.len() {
                1 => write!(f, "SynthID-Text with key {}", self.key()),
                n => write!(f, "SynthID-Text with {n} keys"),
            },
        }
    }
}
