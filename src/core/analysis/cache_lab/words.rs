//! What a measurement of the KV cache shows, in sentences.

use super::{CacheLab, Line};
use crate::analysis::replay::logit_gap;
use crate::generation::formatting::grouped;
use crate::generation::{ByteSize, CacheShape, Checkpoints};

/// Formats milliseconds with two significant digits: "0.31 ms", "4.2 ms", "120 ms", "1.3 s".
pub fn milliseconds(ms: f64) -> String {
    let size = ms.abs();
    if size >= 1000.0 {
        format!("{:.1} s", ms / 1000.0)
    } else if size >= 9.95 {
        format!("{ms:.0} ms")
    } else if size >= 0.995 {
        format!("{ms:.1} ms")
    } else if size >= 0.0995 {
        format!("{ms:.2} ms")
    } else {
        format!("{ms:.3} ms")
    }
    .replace('-', "−")
}

/// Formats a ratio: "1.9", "18", "1,204".
fn ratio(value: f64) -> String {
    if value < 9.95 {
        format!("{value:.1}")
    } else {
        grouped(value)
    }
}

impl Line {
    /// Formats the line: "0.31 ms + 0.08 ms per 100 tokens".
    pub fn words(self) -> String {
        let per_100 = milliseconds(self.slope.abs() * 100.0);
        let sign = if self.slope < 0.0 { '−' } else { '+' };
        format!(
            "{} {sign} {per_100} per 100 tokens",
            milliseconds(self.constant)
        )
    }
}

/// The numbers that share one scale in a q8 cache.
const QUANTIZED_BLOCK: usize = 32;

impl CacheShape {
    /// The formula for the bytes per token, in words.
    pub const FORMULA: &'static str = "2 × layers × heads × size × bytes";

    /// The formula with the model's numbers filled in: "2 × 8 × 4 × 32 × 4 = 8,192".
    pub fn filled_in(&self) -> String {
        if self.n_layers == 0 {
            return "0: no layer keeps keys and values".to_owned();
        }
        let bytes = self.bytes_per_number();
        let bytes = format!("{bytes:.4}");
        let bytes = bytes.trim_end_matches('0').trim_end_matches('.');
        format!(
            "2 × {} × {} × {} × {bytes} = {}",
            self.n_layers,
            self.n_kv_heads,
            self.stored_dim(),
            grouped(self.n_bytes_per_token() as f64)
        )
    }

    /// Explains the factors of the formula.
    pub fn words(&self) -> String {
        let state = self.state_words();
        if self.n_layers == 0 {
            return state;
        }
        let is_quantized = self.format == "q8";
        let scale = if is_quantized { ", with its scale" } else { "" };
        let padded = if self.stored_dim() != self.head_dim {
            format!(" padded to {}", self.stored_dim())
        } else if is_quantized && !self.head_dim.is_multiple_of(QUANTIZED_BLOCK) {
            format!(" padded to whole blocks of {QUANTIZED_BLOCK}")
        } else {
            String::new()
        };
        format!(
            "Keys and values, {} layers, {} KV heads of {} numbers{padded}, each in {}{scale}.\
             {state}",
            self.n_layers, self.n_kv_heads, self.head_dim, self.format
        )
    }

    /// Explains the states that recurrent layers keep. Empty if there are none.
    fn state_words(&self) -> String {
        if self.n_state_bytes == 0 {
            return String::new();
        }
        let subject = if self.n_layers == 0 {
            "Instead of keys and values, the layers keep"
        } else {
            " The recurrent layers keep"
        };
        format!(
            "{subject} a state of {} for each text, whatever its length: every token changes the same \
             numbers. A state can’t be cut back, so earlier copies are kept, at the prompt’s end and \
             every {} tokens; going back restores the nearest and reads the tokens since.",
            ByteSize(self.n_state_bytes),
            Checkpoints::INTERVAL,
        )
    }
}

impl CacheLab {
    /// Describes the times with and without the cache.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if let Some(line) = self.on_line() {
            sentences.push(if line.slope > 0.0 {
                format!(
                    "With the cache, a token takes {} plus {} per 100 tokens of context.",
                    milliseconds(line.constant),
                    milliseconds(line.slope * 100.0)
                )
            } else {
                let middle = self.n_text() as f64 / 2.0;
                format!(
                    "With the cache, a token takes {}, whatever the length.",
                    milliseconds(line.at(middle))
                )
            });
        }
        if let Some(line) = self.off_line() {
            sentences.push(format!(
                "Without it, every token rereads the whole text: {} per 100 tokens.",
                milliseconds(line.slope * 100.0)
            ));
        }
        if let (Some(times), Some(last)) = (self.last_ratio(), self.off.last()) {
            sentences.push(format!(
                "At {} tokens that takes {} times as long.",
                grouped(last.length as f64),
                ratio(times)
            ));
        }
        sentences
    }

    /// Says whether both texts are the same: "Same tokens both ways; largest logit difference 4e−6."
    pub fn agreement_words(&self) -> Option<String> {
        let agreement = self.agreement()?;
        let gap = logit_gap(agreement.largest_difference);
        let n = agreement.n_compared;
        Some(match agreement.first_different {
            None => {
                let lengths = if n == 1 { "length" } else { "lengths" };
                format!("Same tokens both ways at {n} {lengths}; largest logit difference {gap}.")
            }
            Some(length) => format!(
                "Without the cache, a different token was picked at length {length}; largest logit \
                 difference {gap}."
            ),
        })
    }

    /// Says how much memory the cache takes at the end of the text.
    pub fn memory_words(&self) -> Option<String> {
        let last = self.on.last()?;
        let measured = last.n_bytes.map(ByteSize);
        let formula = self.n_formula_bytes(last.length).map(ByteSize);
        let length = grouped(last.length as f64);
        match (formula, measured) {
            (Some(formula), Some(measured)) => {
                let shape = self.facts.shape.as_ref();
                let reason = match shape.map(|shape| (shape.n_layers, shape.n_state_bytes)) {
                    Some((0, _)) => "earlier states are kept for going back",
                    Some((_, 1..)) => "the cache grows in blocks and keeps some earlier states",
                    Some((_, 0)) | None => "the cache grows in blocks",
                };
                Some(format!(
                    "{length} tokens take {formula}; {measured} is allocated, because {reason}."
                ))
            }
            (None, Some(measured)) => Some(format!("{length} tokens take {measured}.")),
            (Some(formula), None) => Some(format!("{length} tokens take {formula}.")),
            (None, None) => None,
        }
    }

    /// Says how much faster a prompt is read in parallel.
    pub fn read_words(&self) -> Option<String> {
        let last = self.reads.last()?;
        let times = last.one_by_one_secs / last.parallel_secs;
        times.is_finite().then(|| {
            format!(
                "A prompt goes through each layer in one pass. {} tokens are read {} times as fast \
                 as one by one.",
                grouped(last.length as f64),
                ratio(times)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, milliseconds};
    use crate::analysis::cache_lab::testing::lab;
    use crate::generation::CacheShape;

    #[test]
    fn times_have_two_digits() {
        for (ms, words) in [
            (0.0312, "0.031 ms"),
            (0.312, "0.31 ms"),
            (4.16, "4.2 ms"),
            (34.4, "34 ms"),
            (999.0, "999 ms"),
            (1340.0, "1.3 s"),
            (-0.5, "−0.50 ms"),
        ] {
            assert_eq!(milliseconds(ms), words);
        }
        let line = Line {
            constant: 0.3,
            slope: 0.0008,
        };
        assert_eq!(line.words(), "0.30 ms + 0.080 ms per 100 tokens");
    }

    #[test]
    fn the_formula_is_filled_in() {
        let mut shape = CacheShape {
            n_layers: 8,
            n_kv_heads: 4,
            head_dim: 32,
            n_head_bytes: 256,
            format: "f32".to_owned(),
            n_state_bytes: 0,
        };
        assert_eq!(shape.filled_in(), "2 × 8 × 4 × 32 × 4 = 8,192");
        assert!(shape.words().contains("each in f32."));
        shape.format = "q8".to_owned();
        shape.n_head_bytes = 68;
        assert_eq!(shape.filled_in(), "2 × 8 × 4 × 32 × 1.0625 = 2,176");
        assert!(
            shape
                .words()
                .ends_with("32 numbers, each in q8, with its scale.")
        );
    }

    #[test]
    fn layers_without_attention_are_described_by_their_state() {
        let shape = CacheShape {
            n_layers: 6,
            n_kv_heads: 8,
            head_dim: 64,
            n_head_bytes: 512,
            format: "f32".to_owned(),
            n_state_bytes: 163_840,
        };
        let words = shape.words();
        let state =
            ". The recurrent layers keep a state of 164 kB for each text, whatever its length";
        assert!(words.contains(state), "{words}");
    }

    #[test]
    fn a_model_without_attention_keeps_no_keys_and_values() {
        let shape = CacheShape {
            n_layers: 0,
            n_kv_heads: 0,
            head_dim: 0,
            n_head_bytes: 0,
            format: "f32".to_owned(),
            n_state_bytes: 163_840,
        };
        assert_eq!(shape.n_bytes_per_token(), 0);
        assert_eq!(shape.filled_in(), "0: no layer keeps keys and values");
        let words = shape.words();
        let state = "Instead of keys and values, the layers keep a state of 164 kB for each text";
        assert!(words.starts_with(state), "{words}");
        let mut lab = lab();
        lab.facts.shape = Some(shape);
        let words = lab.memory_words().unwrap();
        let reason = "because earlier states are kept for going back.";
        assert!(words.ends_with(reason), "{words}");
    }

    #[test]
    fn padding_is_part_of_the_formula() {
        let shape = |head_dim, format: &str, n_head_bytes| CacheShape {
            n_layers: 5,
            n_kv_heads: 4,
            head_dim,
            n_head_bytes,
            format: format.to_owned(),
            n_state_bytes: 0,
        };
        let small = shape(8, "f32", 128);
        assert_eq!(small.filled_in(), "2 × 5 × 4 × 16 × 4 = 2,560");
        assert!(
            small
                .words()
                .contains("of 8 numbers padded to 16, each in f32.")
        );
        let half = shape(20, "f16", 128);
        assert_eq!(half.filled_in(), "2 × 5 × 4 × 32 × 2 = 2,560");
        assert!(
            half.words()
                .contains("of 20 numbers padded to 32, each in f16.")
        );
        let words = shape(8, "q8", 54).words();
        assert!(
            words.contains("padded to whole blocks of 32, each in q8, with"),
            "{words}"
        );
        assert!(!shape(64, "f16", 256).words().contains("padded"));
    }

    #[test]
    fn sentences_say_what_was_measured() {
        let lab = lab();
        assert_eq!(
            lab.sentences(),
            [
                "With the cache, a token takes 0.30 ms plus 0.10 ms per 100 tokens of context.",
                "Without it, every token rereads the whole text: 30 ms per 100 tokens.",
                "At 109 tokens that takes 80 times as long.",
            ]
        );
        assert_eq!(
            lab.agreement_words().unwrap(),
            "Same tokens both ways at 10 lengths; largest logit difference 4e−6."
        );
        assert_eq!(
            lab.memory_words().unwrap(),
            "109 tokens take 893 kB; 918 kB is allocated, because the cache grows in blocks."
        );
        assert!(lab.read_words().unwrap().contains("read 3.0 times as fast"));
    }

    #[test]
    fn a_different_token_is_reported() {
        let mut lab = lab();
        lab.off[3].is_same_token = false;
        let words = lab.agreement_words().unwrap();
        assert!(
            words.contains("a different token was picked at length 50;"),
            "{words}"
        );
    }
}
