//! Which sublayers a layer has.

use super::{Blueprint, KvSource, LayerPlan};

/// Which sublayers a layer has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Sublayers {
    /// Attention, or a recurrence instead, and then a feed-forward network.
    #[default]
    MixerAndFeedForward,
    /// Attention and a recurrence side by side, and then a feed-forward network.
    BothMixersAndFeedForward,
    /// Attention, or a recurrence instead.
    Mixer,
    /// A feed-forward network.
    FeedForward,
}

impl LayerPlan {
    /// Returns whether the layer has attention.
    pub(crate) const fn has_attention(&self) -> bool {
        match self.sublayers {
            Sublayers::MixerAndFeedForward | Sublayers::Mixer => self.recurrence.is_none(),
            Sublayers::BothMixersAndFeedForward => true,
            Sublayers::FeedForward => false,
        }
    }

    /// Returns whether the layer has attention or a recurrence.
    pub(crate) const fn has_mixer(&self) -> bool {
        !matches!(self.sublayers, Sublayers::FeedForward)
    }

    /// Returns whether the layer has a feed-forward network.
    pub(crate) const fn has_feed_forward(&self) -> bool {
        !matches!(self.sublayers, Sublayers::Mixer)
    }

    /// Returns whether the layer has keys and values of its own.
    const fn has_keys(&self) -> bool {
        self.has_attention() && !matches!(self.kv_source, KvSource::OfLayer(_))
    }
}

impl Blueprint {
    /// Returns how many layers have attention.
    pub(crate) fn n_attention_layers(&self) -> usize {
        let layers = self.layers.iter();
        layers.filter(|layer| layer.has_attention()).count()
    }

    /// Returns how many values a token's keys take in all layers that have keys of their own. Its
    /// values take as many.
    pub(crate) fn n_cached_values(&self) -> usize {
        let layers = self.layers.iter().enumerate();
        layers
            .filter(|(_, plan)| plan.has_keys())
            .map(|(layer, _)| self.heads(layer))
            .map(|heads| heads.n_kv_heads.saturating_mul(heads.head_dim))
            .fold(0, usize::saturating_add)
    }

    /// Returns the number of the layer among those with attention.
    pub(crate) fn attention_index(&self, layer: usize) -> usize {
        let before = self.layers.iter().take(layer);
        before.filter(|plan| plan.has_attention()).count()
    }
}
