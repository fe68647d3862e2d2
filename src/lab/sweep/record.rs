//! Sweeps as JSON, and as CSV tables: one row per cell, and one row per text.

use serde_json::{Map, Value, json};

use crate::analysis::sweep::{CellText, Metric, Summary, SweepResults};
use crate::decoding::TokenId;
use crate::export::csv::{as_text, push_row};
use crate::generation::{ModelInfo, PaneSettings, PromptText};

/// The version of the JSON.
const FORMAT_VERSION: u32 = 1;

/// A sweep, with its models and prompts.
#[derive(Debug, Clone, Copy)]
pub struct SweepRecord<'a> {
    pub results: &'a SweepResults,
    pub model: &'a ModelInfo,
    /// The model that guided, if the settings use one.
    pub second_model: Option<&'a ModelInfo>,
    pub prompts: &'a [PromptText],
    /// The tokens of each prompt. Empty if the sweep ended before they were known.
    pub prompt_tokens: &'a [Vec<TokenId>],
}

impl SweepRecord<'_> {
    /// Renders the whole record.
    pub fn json(&self) -> Vec<u8> {
        let setup = &self.results.setup;
        let axis = |axis: &crate::analysis::sweep::Axis| json!({ "setting": axis.parameter.key(), "values": axis.values() });
        let prompts = self.prompts.iter().enumerate().map(|(index, prompt)| {
            json!({ "text": prompt.text, "tokens": self.prompt_tokens.get(index) })
        });
        let cells = (0..setup.n_cells()).map(|cell| self.cell_json(cell));
        let document = json!({
            "format": "quartet sweep",
            "format_version": FORMAT_VERSION,
            "model": self.model,
            "second_model": self.second_model,
            "prompts": prompts.collect::<Vec<_>>(),
            "settings": self.base_words(),
            "rows": axis(&setup.rows),
            "columns": setup.columns.as_ref().map(axis),
            "first_seed": setup.seed,
            "n_seeds": setup.n_seeds,
            "limits": setup.limits,
            "word": self.results.word(),
            "complete": self.is_complete(),
            "cells": cells.collect::<Vec<_>>(),
        });
        let mut bytes = serde_json::to_vec_pretty(&document).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Renders one row per cell, with the mean and the quantiles of every metric.
    pub fn cells_csv(&self) -> Vec<u8> {
        let mut table = String::new();
        let mut header = self.axis_keys();
        header.extend(["settings".to_owned(), "n_texts".to_owned()]);
        for metric in Metric::ALL {
            let key = metric.key();
            header.extend(["", "_p10", "_p90"].map(|end| format!("{key}{end}")));
        }
        push_row(&mut table, header);
        for (index, cell) in self.results.cells().iter().enumerate() {
            let mut row = self.axis_values(index);
            row.push(as_text(&self.cell_settings(index)));
            row.push(cell.texts().len().to_string());
            for metric in Metric::ALL {
                let figures = |s: Summary| [s.mean, s.low, s.high].map(|value| value.to_string());
                let empty = || [const { String::new() }; 3];
                row.extend(cell.summary(metric).map_or_else(empty, figures));
            }
            push_row(&mut table, row);
        }
        table.into_bytes()
    }

    /// Renders one row per text. `seed` reproduces the text in a pane with these settings.
    pub fn texts_csv(&self) -> Vec<u8> {
        let mut table = String::new();
        let mut header = self.axis_keys();
        header.extend(["settings", "prompt", "seed", "finish"].map(str::to_owned));
        header.extend(per_text().map(|metric| metric.key().to_owned()));
        header.extend(["tokens", "text"].map(str::to_owned));
        push_row(&mut table, header);
        for (index, cell) in self.results.cells().iter().enumerate() {
            let settings = as_text(&self.cell_settings(index));
            for text in cell.texts() {
                let mut row = self.axis_values(index);
                row.push(settings.clone());
                row.push((text.prompt + 1).to_string());
                row.push(self.seed_of(text).to_string());
                row.push(text.finish.to_string());
                let number = |value: Option<f64>| value.map(|value| value.to_string());
                row.extend(
                    per_text()
                        .map(|metric| number(metric.of_text(&text.figures)).unwrap_or_default()),
                );
                let ids: Vec<String> = text.tokens.iter().map(ToString::to_string).collect();
                row.push(ids.join(" "));
                row.push(as_text(&text.text));
                push_row(&mut table, row);
            }
        }
        table.into_bytes()
    }

    fn cell_json(&self, index: usize) -> Value {
        let setup = &self.results.setup;
        let mut figures = Map::new();
        let cell = self.results.cells().get(index);
        for metric in Metric::ALL {
            if let Some(Summary { mean, low, high, n }) = cell.and_then(|c| c.summary(metric)) {
                let summary = json!({ "mean": mean, "p10": low, "p90": high, "n": n });
                figures.insert(metric.key().to_owned(), summary);
            }
        }
        let texts = cell.map_or(&[][..], |cell| cell.texts()).iter();
        json!({
            "values": setup.values_of(index).iter().map(|(_, value)| *value).collect::<Vec<_>>(),
            "settings": self.cell_settings(index),
            "figures": figures,
            "texts": texts.map(|text| self.text_json(text)).collect::<Vec<_>>(),
        })
    }

    fn text_json(&self, text: &CellText) -> Value {
        let figures = per_text().filter_map(|metric| {
            let value = metric.of_text(&text.figures)?;
            Some((metric.key().to_owned(), json!(value)))
        });
        let mut object = json!({
            "prompt": text.prompt,
            "seed": self.seed_of(text),
            "finish": text.finish,
            "figures": figures.collect::<Map<_, _>>(),
        });
        if let Value::Object(object) = &mut object {
            if !text.tokens.is_empty() {
                object.insert("tokens".to_owned(), json!(text.tokens));
                object.insert("text".to_owned(), json!(text.text));
            }
            if !text.measures.is_empty() {
                let bits = |value: fn(&crate::generation::TokenMeasures) -> f32| {
                    text.measures.iter().map(value).collect::<Vec<_>>()
                };
                object.insert("surprise_bits".to_owned(), json!(bits(|t| t.surprise_bits)));
                object.insert("entropy_bits".to_owned(), json!(bits(|t| t.entropy_bits)));
            }
        }
        object
    }

    /// Returns whether every text was generated.
    pub fn is_complete(&self) -> bool {
        self.results.n_complete_cells() == self.results.cells().len()
    }

    fn base_words(&self) -> String {
        PaneSettings::from(self.results.setup.base.clone()).to_string()
    }

    fn cell_settings(&self, cell: usize) -> String {
        PaneSettings::from(self.results.setup.chain_of(cell)).to_string()
    }

    const fn seed_of(&self, text: &CellText) -> u64 {
        self.results.setup.seed.wrapping_add(text.seed as u64)
    }

    fn axis_keys(&self) -> Vec<String> {
        let values = self.results.setup.values_of(0).into_iter();
        values.map(|(axis, _)| axis.parameter.key()).collect()
    }

    fn axis_values(&self, cell: usize) -> Vec<String> {
        let values = self.results.setup.values_of(cell).into_iter();
        values.map(|(_, value)| value.to_string()).collect()
    }
}

/// Returns the metrics that are defined for a single text.
fn per_text() -> impl Iterator<Item = Metric> {
    let of_several = [Metric::Similarity, Metric::Word];
    let metrics = Metric::ALL.into_iter();
    metrics.filter(move |metric| !of_several.contains(metric))
}

#[cfg(test)]
mod tests {
    use super::SweepRecord;
    use crate::analysis::sweep::testing::{setup, text};
    use crate::analysis::sweep::{Keep, SweepResults};
    use crate::decoding::TokenId;
    use crate::generation::PromptText;
    use crate::generation::testing::generation;

    fn results(keep: Keep) -> SweepResults {
        let vocabulary = generation(&[]).vocabulary;
        let mut results = SweepResults::new(setup(2, 2, 2), 1, keep);
        for cell in 0..3 {
            for seed in 0..2 {
                let ids = [1, 5, 2 + seed as u32];
                results.add(text(cell, seed, &ids), &vocabulary);
            }
        }
        results.set_word(Some("fox")).unwrap();
        results
    }

    fn record<'a>(
        results: &'a SweepResults,
        model: &'a crate::generation::ModelInfo,
        prompts: &'a [PromptText],
    ) -> SweepRecord<'a> {
        SweepRecord {
            results,
            model,
            second_model: None,
            prompts,
            prompt_tokens: &[],
        }
    }

    #[test]
    fn the_table_has_one_row_per_cell_with_every_metric() {
        let results = results(Keep::Texts);
        let model = generation(&[]).model;
        let prompts = [PromptText::raw("Once")];
        let table = record(&results, &model, &prompts).cells_csv();
        let table = String::from_utf8(table).unwrap();
        let rows: Vec<&str> = table.trim_end().split("\r\n").collect();
        assert_eq!(rows.len(), 5, "{table}");
        assert!(rows[0].starts_with("temp,top-p,settings,n_texts,surprise_bits,surprise_bits_p10"));
        assert!(
            rows[1].starts_with("0.5,0.8,\"T 0.5, top-p 0.8\",2,1,1,1,"),
            "{table}"
        );
        assert!(rows[1].ends_with(",1,1,1"), "both texts contain the word");
        assert!(rows[4].starts_with("1,1,\"T 1, top-p 1\",0,,"), "{table}");
        let n_fields = |row: &str| row.replace("\"T 0.5, top-p 0.8\"", "").matches(',').count();
        assert_eq!(n_fields(rows[0]), n_fields(rows[1]));
    }

    #[test]
    fn the_texts_have_the_seeds_that_reproduce_them() {
        let results = results(Keep::Texts);
        let model = generation(&[]).model;
        let prompts = [PromptText::raw("Once")];
        let table = record(&results, &model, &prompts).texts_csv();
        let table = String::from_utf8(table).unwrap();
        let rows: Vec<&str> = table.trim_end().split("\r\n").collect();
        assert_eq!(rows.len(), 7, "{table}");
        assert!(rows[2].contains(",1,43,Token limit,1,"), "{table}");
        assert!(rows[2].ends_with(",1 5 3,\" the fox little\""), "{table}");
    }

    #[test]
    fn the_json_says_what_was_asked_and_whether_it_is_complete() {
        let results = results(Keep::Tokens);
        let model = generation(&[]).model;
        let prompts = [PromptText::raw("Once")];
        let tokens = [vec![TokenId(3)]];
        let record = SweepRecord {
            prompt_tokens: &tokens,
            ..record(&results, &model, &prompts)
        };
        let json: serde_json::Value = serde_json::from_slice(&record.json()).unwrap();
        assert_eq!(json["complete"], false);
        assert_eq!(json["prompts"][0]["tokens"][0], 3);
        assert_eq!(json["rows"]["setting"], "temp");
        assert_eq!(json["columns"]["values"][1], 1.0);
        let cell = &json["cells"][1];
        assert_eq!(cell["settings"], "T 0.5, top-p 1");
        assert_eq!(cell["figures"]["surprise_bits"]["n"], 2);
        assert_eq!(cell["texts"][1]["seed"], 43);
        assert_eq!(cell["texts"][1]["tokens"][2], 3);
        assert_eq!(cell["texts"][0]["entropy_bits"][0], 2.0);
        assert_eq!(json["cells"][3]["texts"].as_array().unwrap().len(), 0);
    }

    #[test]
    fn only_what_is_kept_is_written() {
        let results = results(Keep::Figures);
        let model = generation(&[]).model;
        let json = record(&results, &model, &[]).json();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let text = &json["cells"][0]["texts"][0];
        assert!(text["tokens"].is_null() && text["text"].is_null(), "{text}");
        assert_eq!(text["figures"]["length"], 3.0);
        assert!(json["cells"][0]["figures"]["similarity"]["mean"].is_number());
    }
}
