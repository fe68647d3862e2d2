//! Measurements of influence as JSON, and as a CSV table: one row per part.

use serde_json::{Value, json};

use super::figures::{InfluenceResults, WHAT_IT_IS};
use super::plan::TopToken;
use crate::export::csv::{as_text, push_row};
use crate::generation::ModelInfo;

/// The version of the JSON.
const FORMAT_VERSION: u32 = 1;

/// A measurement, with the model that read the text.
#[derive(Debug, Clone, Copy)]
pub struct InfluenceRecord<'a> {
    pub results: &'a InfluenceResults,
    pub model: &'a ModelInfo,
    /// What is looked at: "the next token".
    pub target: &'a str,
}

impl InfluenceRecord<'_> {
    /// Renders everything that was measured.
    pub fn json(&self) -> Vec<u8> {
        let results = self.results;
        let facts = &results.facts;
        let parts = results.known().map(|(part, influence)| {
            let range = results.range(part).unwrap_or_default();
            let shifts = influence.candidates.iter().map(|shift| {
                json!({
                    "token": shift.token,
                    "text": results.piece(shift.token).to_string(),
                    "prob_with": shift.with,
                    "prob_without": shift.without,
                })
            });
            json!({
                "text": results.part_text(part),
                "first_token": range.start,
                "n_tokens": range.len(),
                "kl_bits": influence.bits,
                "chosen_ln_probs": influence.ln_probs,
                "top": self.top(influence.top),
                "candidates": shifts.collect::<Vec<_>>(),
            })
        });
        let whole = results.whole.as_ref().map(|whole| {
            json!({
                "chosen": self.token(whole.chosen),
                "chosen_ln_probs": whole.ln_probs,
                "top": self.top(whole.top),
            })
        });
        let document = json!({
            "format": "quartet influence",
            "format_version": FORMAT_VERSION,
            "measure": WHAT_IT_IS,
            "model": self.model,
            "choice_of": self.target,
            "left_out": results.unit.name(),
            "tokens": facts.tokens,
            "n_prompt_tokens": facts.n_prompt,
            "first_compared": facts.targets.start,
            "n_compared": facts.targets.len(),
            "as_it_is": whole,
            "parts": parts.collect::<Vec<_>>(),
        });
        let mut bytes = serde_json::to_vec_pretty(&document).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    fn token(&self, token: crate::decoding::TokenId) -> Value {
        json!({ "token": token, "text": self.results.piece(token).to_string() })
    }

    fn top(&self, top: TopToken) -> Value {
        let text = self.results.piece(top.token).to_string();
        json!({ "token": top.token, "text": text, "prob": top.prob })
    }

    /// Renders one row per part, in the order of the text. Logarithms are natural; of several
    /// positions, they are the sum.
    pub fn csv(&self) -> Vec<u8> {
        let mut table = String::new();
        let head = [
            "left_out",
            "first_token",
            "n_tokens",
            "kl_bits",
            "chosen_ln_prob_with",
            "chosen_ln_prob_without",
            "top",
            "top_prob",
        ];
        push_row(&mut table, head.map(str::to_owned));
        let results = self.results;
        for (part, influence) in results.known() {
            let range = results.range(part).unwrap_or_default();
            let [with, without] = results.ln_probs(part).unwrap_or_default();
            let row = [
                as_text(&results.part_text(part)),
                range.start.to_string(),
                range.len().to_string(),
                influence.bits.to_string(),
                with.to_string(),
                without.to_string(),
                as_text(&results.token_text(influence.top.token)),
                influence.top.prob.to_string(),
            ];
            push_row(&mut table, row);
        }
        table.into_bytes()
    }
}
