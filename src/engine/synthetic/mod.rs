//! Models of a known shape with random weights, which stand in no file: to measure speed with.
//!
//! Behind a header like that of a real file the weights are made as they are read, so a synthetic model
//! goes the same way as any other, and there is never a second copy of it.

mod file_type;
mod header;
mod shape;

use self::file_type::{FILE_TYPES, FileType};
use self::header::header;
use self::shape::{Kind, SHAPES, Shape, Tensor};
use super::open::Gguf;
use super::weights::{Made, MadeTensor, Source};
use super::{Compute, EngineError, LoadProgress, LoadedModel};
use crate::generation::ModelOutline;

/// A model of a known shape with random weights.
#[derive(Debug, Clone, Copy)]
pub struct Synthetic {
    shape: &'static Shape,
    file_type: &'static FileType,
    seed: u64,
}

/// By how much logits deviate. Their perplexity is then about 33 over 49,152 tokens and 55 over 151,936, not far from
/// that of trained models on plain text; flatter ones let a chain keep many more tokens than it ever does.
const LOGIT_DEVIATION: f32 = 4.5;

impl Synthetic {
    /// The names of all shapes.
    pub fn shape_names() -> impl Iterator<Item = &'static str> {
        SHAPES.iter().map(|shape| shape.name)
    }

    /// The names of all ways to store weights.
    pub fn file_type_names() -> impl Iterator<Item = &'static str> {
        FILE_TYPES.iter().map(|file_type| file_type.name)
    }

    /// The model of these names, with weights made from a seed.
    pub fn find(shape: &str, file_type: &str, seed: u64) -> Option<Self> {
        Some(Self {
            shape: SHAPES.iter().find(|known| known.name == shape)?,
            file_type: FILE_TYPES.iter().find(|known| known.name == file_type)?,
            seed,
        })
    }

    /// What a file of it would say, and what it takes.
    pub fn inspect(self) -> Result<ModelOutline, EngineError> {
        Ok(self.gguf()?.find()?.outline())
    }

    /// Makes and loads it; nothing comes back where `progress` wants no more of it.
    pub fn open(
        self,
        compute: &Compute,
        progress: LoadProgress<'_>,
    ) -> Result<Option<LoadedModel>, EngineError> {
        self.gguf()?.find()?.load(compute, progress)
    }

    fn gguf(self) -> Result<Gguf, EngineError> {
        let n_layers = self.shape.n_layers;
        let tensors = self.shape.tensors().into_iter().map(|tensor| {
            let dtype = self.file_type.stored_as(&tensor, n_layers);
            (tensor, dtype)
        });
        let tensors: Vec<_> = tensors.collect();
        let (header, rooms) = header(self.shape, &tensors);
        let made = tensors.iter().zip(rooms).zip(self.seed..);
        let made = made.map(|(((tensor, dtype), room), seed)| {
            let (mean, deviation) = distribution(tensor);
            MadeTensor {
                start: room.start,
                n_bytes: room.n_bytes,
                dtype: *dtype,
                mean,
                deviation,
                seed: seed.wrapping_mul(0xA076_1D64_78BD_642F),
            }
        });
        let name = format!("Random {}", self.shape.name);
        let source = Source::made(Made::new(header, made.collect()), &name);
        Gguf::from_source(source, &name, None)
    }
}

/// The mean and the deviation of a tensor's values: what goes in at length 1 comes out near it.
fn distribution(tensor: &Tensor) -> (f32, f32) {
    let even = 1.0 / (tensor.width as f32).sqrt();
    match tensor.kind {
        Kind::Embedding => (0.0, LOGIT_DEVIATION * even),
        Kind::Value { .. } | Kind::FfnDown { .. } | Kind::Matrix => (0.0, even),
        Kind::Norm => (1.0, 0.1),
        Kind::Bias => (0.0, 0.1),
    }
}

#[cfg(test)]
mod tests {
    use super::Synthetic;
    use crate::engine::{Compute, Row};

    #[test]
    fn a_model_of_every_type_loads_and_gives_sane_logits() {
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
