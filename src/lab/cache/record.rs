//! Measurements of the KV cache as JSON, and as a CSV table: one row per measured time.

use serde_json::{Value, json};

use crate::export::csv::push_row;
use crate::generation::{ModelInfo, PromptText};
use crate::lab::cache::PaneCost;
use crate::lab::cache::figures::{CacheLab, Line};

/// The version of the JSON.
const FORMAT_VERSION: u32 = 1;

/// A measurement, with the model and prompt that it was made with.
#[derive(Debug, Clone, Copy)]
pub struct CacheRecord<'a> {
    pub lab: &'a CacheLab,
    pub model: &'a ModelInfo,
    pub prompt: &'a PromptText,
}

impl CacheRecord<'_> {
    /// Renders everything that was measured. Times are in seconds.
    pub fn json(&self) -> Vec<u8> {
        let lab = self.lab;
        let line = |line: Option<Line>| {
            line.map(|line| json!({ "constant_ms": line.constant, "ms_per_token": line.slope }))
        };
        let shape = lab.facts.shape.as_ref().map(|shape| {
            json!({
                "n_layers": shape.n_layers,
                "n_kv_heads": shape.n_kv_heads,
                "head_dim": shape.head_dim,
                "format": shape.format,
                "bytes_per_number": shape.bytes_per_number(),
                "bytes_per_token": shape.n_bytes_per_token(),
                "formula": shape.filled_in(),
            })
        });
        let on = lab.on.iter().map(
            |point| json!({ "length": point.length, "secs": point.secs, "bytes": point.n_bytes }),
        );
        let off = lab.off.iter().map(|point| {
            json!({
                "length": point.length,
                "secs": point.secs,
                "largest_logit_difference": point.largest_difference,
                "same_token": point.is_same_token,
            })
        });
        let reads = lab.reads.iter().map(|point| {
            json!({
                "length": point.length,
                "parallel_secs": point.parallel_secs,
                "one_by_one_secs": point.one_by_one_secs,
            })
        });
        let panes = lab.panes.map(|panes| {
            json!({
                "n_panes": lab.facts.n_panes,
                "shared": pane_cost(panes.shared),
                "apart": pane_cost(panes.apart),
            })
        });
        let document = json!({
            "format": "quartet cache",
            "format_version": FORMAT_VERSION,
            "model": self.model,
            "prompt": self.prompt.text,
            "n_prompt_tokens": lab.facts.n_prompt,
            "n_tokens": lab.facts.n_tokens,
            "tokens": lab.tokens,
            "cache": shape,
            "on_line": line(lab.on_line()),
            "off_line": line(lab.off_line()),
            "largest_logit_difference": lab.agreement().map(|a| a.largest_difference),
            "first_different_token": lab.agreement().and_then(|a| a.first_different),
            "on": on.collect::<Vec<_>>(),
            "off": off.collect::<Vec<_>>(),
            "reads": reads.collect::<Vec<_>>(),
            "panes": panes,
        });
        let mut bytes = serde_json::to_vec_pretty(&document).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Renders one row per measured time. Fields that a row does not have are empty.
    pub fn csv(&self) -> Vec<u8> {
        let mut table = String::new();
        let head = [
            "measured",
            "how",
            "tokens",
            "secs",
            "bytes",
            "largest_logit_difference",
            "same_token",
        ];
        push_row(&mut table, head.map(str::to_owned));
        let mut push = |measured: &str, how: &str, tokens: usize, rest: [String; 4]| {
            let first = [measured.to_owned(), how.to_owned(), tokens.to_string()];
            push_row(&mut table, first.into_iter().chain(rest));
        };
        let bytes = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
        let none = String::new;
        for point in &self.lab.on {
            let secs = point.secs.to_string();
            let rest = [secs, bytes(point.n_bytes), none(), none()];
            push("token", "cache_on", point.length, rest);
        }
        for point in &self.lab.off {
            let difference = point.largest_difference.to_string();
            let same = point.is_same_token.to_string();
            let rest = [point.secs.to_string(), none(), difference, same];
            push("token", "cache_off", point.length, rest);
        }
        for point in &self.lab.reads {
            let times = [
                ("parallel", point.parallel_secs),
                ("one_by_one", point.one_by_one_secs),
            ];
            for (how, secs) in times {
                let rest = [secs.to_string(), none(), none(), none()];
                push("prompt", how, point.length, rest);
            }
        }
        if let Some(panes) = self.lab.panes {
            for (how, cost) in [("shared", panes.shared), ("apart", panes.apart)] {
                let rest = [cost.secs.to_string(), bytes(cost.n_bytes), none(), none()];
                push("panes", how, self.lab.facts.n_prompt, rest);
            }
        }
        table.into_bytes()
    }
}

fn pane_cost(cost: PaneCost) -> Value {
    json!({ "n_reads": cost.n_reads, "secs": cost.secs, "bytes": cost.n_bytes })
}

#[cfg(test)]
mod tests {
    use super::CacheRecord;
    use crate::generation::PromptText;
    use crate::generation::testing::generation;
    use crate::lab::cache::figures::testing::lab;

    #[test]
    fn the_files_hold_everything_that_was_measured() {
        let text = generation(&[]);
        let (lab, prompt) = (lab(), PromptText::raw("Once"));
        let record = CacheRecord {
            lab: &lab,
            model: &text.model,
            prompt: &prompt,
        };
        let table = String::from_utf8(record.csv()).unwrap();
        let rows: Vec<&str> = table.trim_end().split("\r\n").collect();
        assert_eq!(rows.len(), 1 + 99 + 10 + 6 + 2);
        assert!(rows[1].starts_with("token,cache_on,11,0.000"), "{table}");
        assert!(rows[100].starts_with("token,cache_off,20,0.006,,0.000004,true"));
        assert_eq!(rows[117], "panes,apart,10,0.012,360000,,");
        let json: serde_json::Value = serde_json::from_slice(&record.json()).unwrap();
        assert_eq!(json["cache"]["formula"], "2 × 8 × 4 × 32 × 4 = 8,192");
        assert_eq!(json["tokens"].as_array().unwrap().len(), 99);
        assert_eq!(json["panes"]["apart"]["n_reads"], 4);
        assert!((json["off_line"]["ms_per_token"].as_f64().unwrap() - 0.3).abs() < 1e-9);
        assert!(json["first_different_token"].is_null());
    }
}
