//! The memory that the KV cache takes for one token.

use serde::{Deserialize, Serialize};

use super::formatting::grouped;
use super::{ByteSize, Checkpoints};

/// The numbers that share one scale in a q8 cache.
const QUANTIZED_BLOCK: usize = 32;

/// The size of the keys and values of one token, and of what a text takes besides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheShape {
    /// Number of layers with keys and values.
    pub n_layers: usize,
    /// Key heads per layer. Each has as many value heads.
    pub n_kv_heads: usize,
    /// Numbers per head.
    pub head_dim: usize,
    /// Keys and values of one token in one head of one layer, in bytes.
    pub n_head_bytes: usize,
    /// The number format: "f32".
    pub format: String,
    /// The states of the layers without attention, in bytes for each text, whatever its length.
    pub n_state_bytes: u64,
}

impl CacheShape {
    /// Returns the keys and values of one token in all layers, in bytes.
    pub const fn n_bytes_per_token(&self) -> u64 {
        (self.n_layers * self.n_kv_heads * self.n_head_bytes) as u64
    }

    /// Returns the same, or `None` if it overflows, as it may with sizes from a damaged file.
    pub fn n_checked_bytes_per_token(&self) -> Option<u64> {
        let n_heads = self.n_layers.checked_mul(self.n_kv_heads)?;
        u64::try_from(n_heads.checked_mul(self.n_head_bytes)?).ok()
    }

    /// Returns how many numbers a head is stored as. Small heads are padded, so that they fill the
    /// CPU's registers.
    pub fn stored_dim(&self) -> usize {
        let n_bytes = match self.format.as_str() {
            "f32" => 4,
            "f16" | "bf16" => 2,
            // Scales are stored between the numbers.
            _ => return self.head_dim,
        };
        self.n_head_bytes / (2 * n_bytes)
    }

    /// Returns the bytes per stored number. Scales make it a fraction.
    pub fn bytes_per_number(&self) -> f64 {
        self.n_head_bytes as f64 / (2 * self.stored_dim()).max(1) as f64
    }

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

#[cfg(test)]
mod tests {
    use super::CacheShape;

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
}
