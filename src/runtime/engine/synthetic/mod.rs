//! Models of a known shape with random weights and without a file, for measuring speed.
//!
//! A synthetic model has the header of a real GGUF file, and its weights are generated as they are
//! read. So it loads like any other model, and there is never a second copy in memory.

mod file_type;
mod header;
mod shape;

use self::file_type::{FILE_TYPES, FileType};
use self::header::header;
use self::shape::{Kind, SHAPES, Shape, Tensor};
use super::open::Gguf;
use super::weights::{Source, SyntheticTensor, SyntheticWeights};
use super::{Compute, EngineError, LoadProgress, LoadedModel};
use crate::generation::ModelOutline;

/// A model of a known shape with random weights.
#[derive(Debug, Clone, Copy)]
pub struct Synthetic {
    shape: &'static Shape,
    file_type: &'static FileType,
    seed: u64,
}

/// The standard deviation of the logits. It results in a perplexity of about 33 for 49,152 tokens
/// and 55 for 151,936 tokens, close to that of trained models on plain text. With flatter logits, a
/// sampler chain would keep unrealistically many tokens.
const LOGIT_DEVIATION: f32 = 4.5;

/// The file name of a synthetic model in records.
const FILE: &str = "synthetic";

impl Synthetic {
    /// Iterates over the names of all shapes.
    pub fn shape_names() -> impl Iterator<Item = &'static str> {
        SHAPES.iter().map(|shape| shape.name)
    }

    /// Iterates over the names of all file types.
    pub fn file_type_names() -> impl Iterator<Item = &'static str> {
        FILE_TYPES.iter().map(|file_type| file_type.name)
    }

    /// Returns the model with these names and seed, or `None` if either name is unknown.
    pub fn find(shape: &str, file_type: &str, seed: u64) -> Option<Self> {
        Some(Self {
            shape: SHAPES.iter().find(|known| known.name == shape)?,
            file_type: FILE_TYPES.iter().find(|known| known.name == file_type)?,
            seed,
        })
    }

    /// Describes the model and what it would take to load it.
    pub fn inspect(self) -> Result<ModelOutline, EngineError> {
        Ok(self.gguf()?.locate()?.outline())
    }

    /// Loads the model. Returns `None` if `progress` cancels the load.
    pub fn open(
        self,
        compute: &Compute,
        progress: LoadProgress<'_>,
    ) -> Result<Option<LoadedModel>, EngineError> {
        self.gguf()?.locate()?.load(compute, progress)
    }

    fn gguf(self) -> Result<Gguf, EngineError> {
        let n_layers = self.shape.n_layers;
        let tensors = self.shape.tensors().into_iter().map(|tensor| {
            let dtype = self.file_type.stored_as(&tensor, n_layers);
            (tensor, dtype)
        });
        let tensors: Vec<_> = tensors.collect();
        let (header, ranges) = header(self.shape, &tensors);
        let seeded = tensors.iter().zip(ranges).zip(self.seed..);
        let weights = seeded.map(|(((tensor, dtype), range), seed)| {
            let (mean, deviation) = distribution(tensor);
            SyntheticTensor {
                start: range.start,
                n_bytes: range.n_bytes,
                dtype: *dtype,
                mean,
                deviation,
                seed: seed.wrapping_mul(0xA076_1D64_78BD_642F),
            }
        });
        let name = format!("Random {}", self.shape.name);
        let source = Source::synthetic(SyntheticWeights::new(header, weights.collect()), &name);
        Gguf::from_source(source, &name, FILE, None)
    }
}

/// Returns the mean and standard deviation of a tensor's values, chosen so that the norms of
/// activations stay near 1.
fn distribution(tensor: &Tensor) -> (f32, f32) {
    let unit_gain = 1.0 / (tensor.width as f32).sqrt();
    match tensor.kind {
        Kind::Embedding => (0.0, LOGIT_DEVIATION * unit_gain),
        Kind::Value { .. } | Kind::FfnDown { .. } | Kind::Matrix => (0.0, unit_gain),
        Kind::Norm => (1.0, 0.1),
        Kind::Bias => (0.0, 0.1),
    }
}

#[cfg(test)]
mod tests {
    use super::Synthetic;
    use crate::engine::{Compute, Row};

    #[test]
    fn a_model_of_every_file_type_loads_and_returns_plausible_logits() {
        for file_type in Synthetic::file_type_names() {
            let synthetic = Synthetic::find("tiny", file_type, 1).unwrap();
            let mut model = synthetic
                .open(&Compute::on_cpu(), &mut |_| {
                    std::ops::ControlFlow::Continue(())
                })
                .unwrap()
                .unwrap();
            let tokens = model.tokenizer.encode("A little fox").unwrap();
            assert_eq!(tokens.len(), 12);
            let sequence = model.lm.open();
            let rows = tokens.into_iter().map(|token| Row {
                sequence,
                token,
                logits_wanted: true,
            });
            let logits = model.lm.forward(&rows.collect::<Vec<_>>()).unwrap();
            let last = logits.row(11).unwrap();
            let square = last.iter().map(|x| x * x).sum::<f32>() / last.len() as f32;
            assert!((1.0..9.0).contains(&square.sqrt()), "{file_type}: {square}");
        }
    }

    #[test]
    fn the_outline_has_the_size_of_the_published_model() {
        for (shape, file_type, n_million, n_megabytes) in [
            ("smollm2-135m", "q8_0", 134.5, 145.0),
            ("qwen2.5-0.5b", "q8_0", 494.0, 531.0),
            ("qwen3-0.6b", "q4_k_m", 596.0, 397.0),
            ("llama-3.2-1b", "q8_0", 1235.8, 1321.0),
            ("llama-3.2-1b", "q4_k_m", 1235.8, 808.0),
        ] {
            let outline = Synthetic::find(shape, file_type, 1).unwrap();
            let outline = outline.inspect().unwrap();
            let n_params = outline.n_params as f64 / 1e6;
            let n_bytes = outline.n_file_bytes as f64 / 1e6;
            assert!(
                (n_params / n_million - 1.0).abs() < 0.002,
                "{shape}: {n_params}"
            );
            assert!(
                (n_bytes / n_megabytes - 1.0).abs() < 0.02,
                "{shape}: {n_bytes}"
            );
            assert!(outline.n_step_bytes <= outline.n_file_bytes);
        }
    }

    #[test]
    fn an_unknown_name_is_not_found() {
        assert!(Synthetic::find("tiny", "q9", 1).is_none());
        assert!(Synthetic::find("gpt-5", "q8_0", 1).is_none());
    }
}
