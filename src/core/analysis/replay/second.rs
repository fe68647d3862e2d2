//! Which second model is needed to generate the texts of a run again.

use std::sync::Arc;

use crate::generation::{Generation, ModelInfo};

/// The second model that a set of texts needs.
#[derive(Debug, Clone, PartialEq)]
pub enum SecondNeeded {
    None,
    One(Arc<ModelInfo>),
    /// A model that the run does not name, because it did not get as far as using it.
    Unnamed,
    /// More than one, and only one can be loaded.
    Several,
}

impl SecondNeeded {
    /// Returns what these texts need.
    pub fn by<'a>(texts: impl IntoIterator<Item = &'a Generation>) -> Self {
        let texts = texts.into_iter();
        let needing = texts.filter(|text| text.config.chain.needs_second_model());
        needing.fold(Self::None, |needed, text| {
            match (needed, &text.second_model) {
                (Self::Several, _) => Self::Several,
                (needed, None) => match needed {
                    Self::None => Self::Unnamed,
                    needed => needed,
                },
                (Self::One(one), Some(other)) if one.sha256 != other.sha256 => Self::Several,
                (_, Some(second)) => Self::One(Arc::clone(second)),
            }
        })
    }

    /// Returns the model if it is known.
    pub fn named(&self) -> Option<&ModelInfo> {
        match self {
            Self::One(second) => Some(second),
            Self::None | Self::Unnamed | Self::Several => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::SecondNeeded;
    use crate::decoding::{Against, Guidance};
    use crate::generation::testing::generation;
    use crate::generation::{Generation, ModelInfo};

    fn text(second: Option<&str>) -> Generation {
        let mut text = generation(&[(" fox", 0.5)]);
        text.config.chain.guidance = Some(Guidance::usual(Against::Model));
        text.second_model = second.map(|hash| {
            Arc::new(ModelInfo {
                sha256: hash.to_owned(),
                ..ModelInfo::default()
            })
        });
        text
    }

    #[test]
    fn texts_need_one_second_model_at_most() {
        let plain = generation(&[(" fox", 0.5)]);
        let (one, other, unnamed) = (text(Some("a")), text(Some("b")), text(None));
        assert_eq!(SecondNeeded::by([&plain]), SecondNeeded::None);
        let needed = SecondNeeded::by([&plain, &one, &unnamed, &one]);
        assert_eq!(needed.named().unwrap().sha256, "a");
        assert_eq!(SecondNeeded::by([&unnamed, &plain]), SecondNeeded::Unnamed);
        let needed = SecondNeeded::by([&unnamed, &one, &other]);
        assert_eq!(needed, SecondNeeded::Several);
    }
}
