//! Comparisons of two models as JSON, and as a CSV table: one row per token, or per span if the
//! models split the text differently.

use serde_json::{Value, json};

use crate::export::csv::push_row;
use crate::generation::Piece;
use crate::lab::models::{ComparedModels, PredictedToken};

/// The version of the JSON.
const FORMAT_VERSION: u32 = 1;

/// A comparison, and the text that was read.
#[derive(Debug, Clone, Copy)]
pub struct ModelComparisonRecord<'a> {
    pub compared: &'a ComparedModels,
    pub text: &'a str,
}

impl ModelComparisonRecord<'_> {
    /// Renders everything that was compared. Divergences, margins and log-probs are in nats.
    /// Infinite values are null.
    pub fn json(&self) -> Vec<u8> {
        let compared = self.compared;
        let model = |index: usize| {
            json!({
                "model": compared.models.get(index),
                "n_tokens": compared.predicted.get(index).map(Vec::len),
                "bits": compared.bits(index),
                "perplexity": compared.perplexity(index),
                "bits_per_char": compared.bits_per_char(index),
                "share_ranked_first": compared.top_share(index),
            })
        };
        let divergences = compared.divergences().map(|all| {
            json!({
                "mean": all.mean,
                "median": all.median,
                "p99": all.p99,
                "largest": all.largest,
                "largest_at": all.largest_at,
            })
        });
        let settings = compared
            .settings
            .iter()
            .enumerate()
            .map(|(index, settings)| {
                let choices: Vec<_> = compared.other_choices(index).collect();
                json!({
                    "settings": settings,
                    "n_other_choices": choices.len(),
                    "first_other_choice": choices.first().map(|(place, [a, b])| {
                        json!({ "token": place, "a": a, "b": b })
                    }),
                })
            });
        let mut document = json!({
            "format": "quartet model comparison",
            "format_version": FORMAT_VERSION,
            "text": self.text,
            "same_tokens": compared.facts.has_same_tokens,
            "a": model(0),
            "b": model(1),
            "kl_nats": divergences,
            "n_flips": compared.flips().count(),
            "settings": settings.collect::<Vec<_>>(),
        });
        let (name, rows) = if compared.facts.has_same_tokens {
            ("tokens", self.token_values())
        } else {
            ("spans", self.span_values())
        };
        if let Some(document) = document.as_object_mut() {
            document.insert(name.to_owned(), rows);
        }
        let mut bytes = serde_json::to_vec_pretty(&document).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    fn token_values(&self) -> Value {
        let side = |token: &PredictedToken| {
            json!({
                "ln_prob": token.ln_prob,
                "rank": token.rank,
                "top": token.top,
                "top_piece": token.top_piece.to_string(),
                "margin": token.margin,
            })
        };
        let [of_a, of_b] = &self.compared.predicted;
        let pairs = self.compared.gaps.iter().zip(of_a.iter().zip(of_b));
        pairs
            .map(|(gap, (a, b))| {
                json!({
                    "token": a.token,
                    "piece": a.piece.to_string(),
                    "kl": gap.kl,
                    "noise": gap.noise,
                    "a": side(a),
                    "b": side(b),
                    "choices": gap.choices,
                })
            })
            .collect()
    }

    fn span_values(&self) -> Value {
        let spans = self.compared.spans().into_iter();
        spans
            .map(
                |span| json!({ "text": span.text(), "n_tokens": span.n_tokens, "bits": span.bits }),
            )
            .collect()
    }

    /// Renders one row per token or span.
    pub fn csv(&self) -> Vec<u8> {
        let mut table = String::new();
        if self.compared.facts.has_same_tokens {
            self.push_tokens(&mut table);
        } else {
            self.push_spans(&mut table);
        }
        table.into_bytes()
    }

    fn push_tokens(&self, table: &mut String) {
        let head = [
            "index",
            "token",
            "piece",
            "kl_nats",
            "noise_nats",
            "ln_prob_a",
            "ln_prob_b",
            "rank_a",
            "rank_b",
            "top_a",
            "top_b",
            "top_piece_a",
            "top_piece_b",
            "margin_a",
            "margin_b",
        ];
        let settings = self.compared.settings.iter();
        let choices = settings.flat_map(|settings| [("a", settings), ("b", settings)]);
        let choices = choices.map(|(model, settings)| format!("choice_{model}: {settings}"));
        push_row(table, head.map(str::to_owned).into_iter().chain(choices));
        let [of_a, of_b] = &self.compared.predicted;
        let pairs = self.compared.gaps.iter().zip(of_a.iter().zip(of_b));
        for (index, (gap, (a, b))) in (1..).zip(pairs) {
            let text = |piece: &Piece| piece.to_string();
            let index: usize = index;
            let row = [
                index.to_string(),
                a.token.to_string(),
                text(&a.piece),
                gap.kl.to_string(),
                gap.noise.to_string(),
                a.ln_prob.to_string(),
                b.ln_prob.to_string(),
                a.rank.to_string(),
                b.rank.to_string(),
                a.top.to_string(),
                b.top.to_string(),
                text(&a.top_piece),
                text(&b.top_piece),
                a.margin.to_string(),
                b.margin.to_string(),
            ];
            let choices = gap.choices.iter().flatten().map(ToString::to_string);
            push_row(table, row.into_iter().chain(choices));
        }
    }

    fn push_spans(&self, table: &mut String) {
        let head = [
            "index",
            "text",
            "n_tokens_a",
            "n_tokens_b",
            "bits_a",
            "bits_b",
        ];
        push_row(table, head.map(str::to_owned));
        for (index, span) in (1..).zip(self.compared.spans()) {
            let index: usize = index;
            let [n_a, n_b] = span.n_tokens.map(|n| n.to_string());
            let [a, b] = span.bits.map(|bits| bits.to_string());
            push_row(table, [index.to_string(), span.text(), n_a, n_b, a, b]);
        }
    }
}
