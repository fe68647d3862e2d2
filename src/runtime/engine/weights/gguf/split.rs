//! A model split into several GGUF files: which part a file is, and what the others are called.
//!
//! llama.cpp's `gguf-split` names the parts `model-00001-of-00003.gguf` and repeats the numbers in
//! the metadata. Only the first part contains the other metadata.

use candle_core::quantized::gguf_file::Content;

use super::super::Source;
use crate::engine::EngineError;

/// Which part of a split model a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    /// Index of this part, counted from 0.
    pub part: usize,
    pub n_parts: usize,
    /// Number of tensors in all parts together, if the file specifies it.
    pub n_tensors: Option<usize>,
}

impl Split {
    /// The largest number with five digits.
    const N_MAX_PARTS: usize = 99_999;

    /// Reads the split from the metadata. Returns `None` for a model in one file.
    pub(super) fn of(content: &Content, source: &Source) -> Result<Option<Self>, EngineError> {
        let number = |key: &str| match content.metadata.get(key) {
            None => Ok(None),
            Some(value) => {
                let number = value
                    .to_u64()
                    .ok()
                    .and_then(|number| i32::try_from(number).ok())
                    .or_else(|| value.to_i32().ok());
                match number.and_then(|number| usize::try_from(number).ok()) {
                    Some(number) => Ok(Some(number)),
                    None => Err(source.malformed(format!("{key} is not a whole number"))),
                }
            }
        };
        let n_parts = number("split.count")?.unwrap_or(1);
        let part = number("split.no")?.unwrap_or(0);
        if n_parts <= 1 {
            return Ok(None);
        }
        if part >= n_parts || n_parts > Self::N_MAX_PARTS {
            let reason = format!("it can’t be part {} of {n_parts}", part + 1);
            return Err(source.malformed(reason));
        }
        Ok(Some(Self {
            part,
            n_parts,
            n_tensors: number("split.tensors.count")?,
        }))
    }

    /// Returns the model's name: "model" for the file "model-00001-of-00003.gguf". `None` if the
    /// file name does not end as its part number requires.
    pub(crate) fn stem<'a>(&self, file_name: &'a str) -> Option<&'a str> {
        file_name.strip_suffix(&self.ending(self.part))
    }

    /// Returns the file name of a part, counted from 0.
    pub(crate) fn file_name(&self, stem: &str, part: usize) -> String {
        stem.to_owned() + &self.ending(part)
    }

    /// Returns the end of a part's file name: "-00001-of-00003.gguf".
    pub(crate) fn ending(&self, part: usize) -> String {
        format!("-{:05}-of-{:05}.gguf", part + 1, self.n_parts)
    }
}
