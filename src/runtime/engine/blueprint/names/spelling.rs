//! How a file spells the names of a naming scheme.

use super::{Naming, TensorRole};

/// How a file spells the names of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As the scheme does.
    Usual,
    /// Without this prefix.
    Without(&'static str),
    /// As the text part of a model that also reads images: `model.language_model.` stands for
    /// `model.`, and the output head has its usual name.
    Nested,
    /// As the text part of a model that also reads images, in the form that transformers wrote until
    /// version 4.51: all names follow `language_model.`.
    OlderNested,
}

const NESTED: &str = "model.language_model.";
const OLDER_NESTED: &str = "language_model.";

impl Spelling {
    /// Returns a tensor's name as the file spells it.
    pub(crate) fn of(self, name: &str) -> String {
        match self {
            Self::Usual => name.to_owned(),
            Self::Without(prefix) => name.strip_prefix(prefix).unwrap_or(name).to_owned(),
            Self::Nested => match name.strip_prefix("model.") {
                Some(rest) => format!("{NESTED}{rest}"),
                None => name.to_owned(),
            },
            Self::OlderNested => format!("{OLDER_NESTED}{name}"),
        }
    }

    /// Returns whether a tensor of the file belongs to the text model, not to an encoder of images
    /// or sound beside it.
    pub(crate) fn is_text(self, file_name: &str) -> bool {
        match self {
            Self::Usual | Self::Without(_) => true,
            Self::Nested => [NESTED, "lm_head.", "mtp."]
                .iter()
                .any(|prefix| file_name.starts_with(prefix)),
            Self::OlderNested => file_name.starts_with(OLDER_NESTED),
        }
    }
}

impl Naming {
    /// Returns how a file spells the names, given whether it has a tensor of some name. The usual
    /// spelling if its embedding table is missing.
    pub(crate) fn spelling(self, has_tensor: impl Fn(&str) -> bool) -> Spelling {
        let spellings: &[Spelling] = match self {
            Self::Gguf
            | Self::GgufFalconH1
            | Self::GgufLfm2
            | Self::GgufNemotronH
            | Self::GgufSeedOss
            | Self::Backbone => &[],
            Self::Gpt2 => &[Spelling::Usual, Spelling::Without("transformer.")],
            Self::Transformers
            | Self::TransformersWithNormsAfter
            | Self::Apertus
            | Self::FalconH1
            | Self::Glm4
            | Self::Glm4Moe
            | Self::GptOss
            | Self::GraniteHybrid
            | Self::Hunyuan
            | Self::Lfm2
            | Self::Mixtral => &[
                Spelling::Usual,
                Spelling::Without("model."),
                Spelling::Nested,
                Spelling::OlderNested,
            ],
        };
        let table = self.name(TensorRole::Embedding, 0);
        let mut spellings = spellings.iter().copied();
        let found = spellings.find(|spelling| has_tensor(&spelling.of(&table)));
        found.unwrap_or(Spelling::Usual)
    }
}
