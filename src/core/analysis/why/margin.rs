//! How close the model's first choice was to its second, compared with an estimate of how far
//! rounding moves log-probs.

use super::grammar::mask;
use crate::generation::formatting::quoted;
use crate::generation::{Generation, ModelInfo, Step};

/// The largest deviation of a log-prob among the ten most likely tokens, in nats, from an f32 pass
/// over the dequantized weights, by what is rounded. Measured on a story and on chat answers of two
/// small models; `assets/BENCHMARKS.md` has the figures. Other models may exceed them.
const INPUTS_24_BIT: f64 = 0.0001;
const INPUTS_16_BIT: f64 = 0.004;
const INPUTS_8_BIT: f64 = 0.6;
const CACHE_F16: f64 = 0.015;
const CACHE_Q8: f64 = 0.4;

/// How far the number formats of a model may move a log-prob.
#[derive(Debug, Clone, PartialEq)]
struct Rounding {
    /// "16-bit inputs and an f16 cache".
    formats: String,
    /// In nats.
    estimate: f64,
}

impl Rounding {
    /// Returns the estimate for a recorded model, or `None` if nothing was measured for its formats:
    /// they were not recorded, or the model did not run on our own kernels.
    fn of(model: &ModelInfo) -> Option<Self> {
        let (cache, of_cache) = match model.provenance.cache.as_str() {
            "f32" => ("an f32 cache", 0.0),
            "f16" => ("an f16 cache", CACHE_F16),
            "q8" => ("a q8 cache", CACHE_Q8),
            _ => return None,
        };
        // Only the inputs of quantized weights are rounded.
        let (inputs, of_inputs) = if model.quantization.starts_with('Q') {
            let bits = model.input_rounding();
            let estimate = match bits {
                "24-bit" => INPUTS_24_BIT,
                "8-bit" => INPUTS_8_BIT,
                _ => INPUTS_16_BIT,
            };
            (format!("{bits} inputs and "), estimate)
        } else {
            (String::new(), 0.0)
        };
        let estimate = of_inputs + of_cache;
        (estimate > 0.0).then(|| Self {
            formats: format!("{inputs}{cache}"),
            estimate,
        })
    }

    /// Judges the difference between two log-probs, each of which may have moved.
    fn words(&self, margin: f64) -> String {
        let Self { formats, estimate } = self;
        let verdict = if margin > 2.0 * estimate {
            "too little to swap them"
        } else {
            "enough to swap them"
        };
        format!(
            " Rounding with {formats} moves a log-probability by up to about {} nats (an estimate from \
             two small models): {verdict}.",
            nats(*estimate)
        )
    }
}

/// Compares the margin with the rounding: "The model put ‘the’ 0.288 nats ahead of ‘a’. Rounding
/// with 16-bit inputs …". Empty if the record has no second token, or if guidance mixed two runs,
/// whose rounding it amplifies. Under a grammar that masks, only the legal tokens are compared.
pub(super) fn margin_words(generation: &Generation, step: &Step) -> String {
    let (head, subject) = match mask(step) {
        Some(report) => (&report.legal.head, "Among the legal tokens, the model"),
        None => (&step.trace.raw.head, "The model"),
    };
    let [first, second, ..] = head.as_slice() else {
        return String::new();
    };
    let margin = f64::from(first.logit) - f64::from(second.logit);
    if !margin.is_finite() || step.trace.mixture.is_some() {
        return String::new();
    }
    let [first, second] = [first, second].map(|it| quoted(&generation.vocabulary.piece(it.token)));
    let rounding = Rounding::of(&generation.model);
    let rounding = rounding.map_or_else(String::new, |rounding| rounding.words(margin));
    format!(
        "{subject} put {first} {} nats ahead of {second}.{rounding}",
        nats(margin)
    )
}

/// Formats a difference between log-probs.
fn nats(difference: f64) -> String {
    if difference < 0.0995 {
        format!("{difference:.4}")
    } else {
        format!("{difference:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::Rounding;
    use crate::generation::{ModelInfo, Provenance};

    fn model(quantization: &str, device: &str, cache: &str) -> ModelInfo {
        ModelInfo {
            quantization: quantization.to_owned(),
            device: device.to_owned(),
            provenance: Provenance {
                cache: cache.to_owned(),
                ..Provenance::default()
            },
            ..ModelInfo::default()
        }
    }

    #[test]
    fn the_estimate_follows_from_the_recorded_formats() {
        for (quantization, device, cache, formats, estimate) in [
            (
                "Q8_0",
                "CPU",
                "f32",
                "16-bit inputs and an f32 cache",
                0.004,
            ),
            (
                "Q4_K",
                "CPU with an f16 cache",
                "f16",
                "16-bit inputs and an f16 cache",
                0.019,
            ),
            (
                "Q8_0",
                "CPU with a q8 cache and 8-bit inputs",
                "q8",
                "8-bit inputs and a q8 cache",
                1.0,
            ),
            (
                "Q8_0",
                "CPU with 24-bit inputs",
                "f32",
                "24-bit inputs and an f32 cache",
                0.0001,
            ),
            (
                "BF16",
                "CPU with an f16 cache",
                "f16",
                "an f16 cache",
                0.015,
            ),
        ] {
            let rounding = Rounding::of(&model(quantization, device, cache)).unwrap();
            assert_eq!(rounding.formats, formats);
            assert!((rounding.estimate - estimate).abs() < 1e-9, "{rounding:?}");
        }
    }

    #[test]
    fn what_was_not_measured_has_no_estimate() {
        for (quantization, device, cache) in [
            ("Q8_0", "CUDA 0 in bf16", ""),
            ("F32", "CPU", "f32"),
            ("", "", ""),
        ] {
            assert_eq!(Rounding::of(&model(quantization, device, cache)), None);
        }
    }

    #[test]
    fn a_margin_is_judged_by_twice_the_estimate() {
        let rounding = Rounding::of(&model("Q8_0", "CPU", "f32")).unwrap();
        assert_eq!(
            rounding.words(0.01),
            " Rounding with 16-bit inputs and an f32 cache moves a log-probability by up to about \
             0.0040 nats (an estimate from two small models): too little to swap them."
        );
        assert!(rounding.words(0.007).ends_with(": enough to swap them."));
    }
}
