//! Fits as JSON, and as a CSV table: one row per setting.

use serde_json::{Value, json};

use crate::export::csv::{as_text, push_row};
use crate::generation::{FitPlace, FitTokens, ModelInfo, PaneSettings, Vocabulary};
use crate::lab::fit::{Fit, FitPoint};

/// The version of the JSON.
const FORMAT_VERSION: u32 = 1;

/// A fit, and the model that read the texts.
#[derive(Debug, Clone, Copy)]
pub struct FitRecord<'a> {
    pub fit: &'a Fit,
    pub model: &'a ModelInfo,
    pub vocabulary: &'a Vocabulary,
}

impl FitRecord<'_> {
    /// Renders the whole record.
    pub fn json(&self) -> Vec<u8> {
        let setup = &self.fit.setup;
        let axes = setup.axes().into_iter();
        let axes =
            axes.map(|axis| json!({ "setting": axis.parameter.key(), "values": axis.values() }));
        let intervals = self.fit.intervals().unwrap_or_default();
        let intervals = setup.axes().into_iter().zip(intervals);
        let intervals = intervals.enumerate().map(|(place, (axis, interval))| {
            json!({
                "setting": axis.parameter.key(),
                "nats": setup.interval_nats(place),
                "low": interval.low,
                "high": interval.high,
                "reaches_lowest": interval.is_open_below,
                "reaches_highest": interval.is_open_above,
            })
        });
        let limits = self.fit.limits().into_iter().map(|limit| {
            json!({
                "setting": self.fit.limited_axis().parameter.key(),
                "at": limit.row.map(|row| json!({ setup.rows.parameter.key(): row })),
                "possible": limit.possible,
                "impossible": limit.impossible,
                "ruled_out": self.place(limit.place),
            })
        });
        let base = self.fit.base().map(|likelihood| FitPoint {
            values: Vec::new(),
            likelihood,
        });
        let texts = self.fit.texts().iter().map(|text| self.text(text));
        let document = json!({
            "format": "quartet fit",
            "format_version": FORMAT_VERSION,
            "model": self.model,
            "texts": texts.collect::<Vec<_>>(),
            "n_tokens": self.fit.n_tokens(),
            "settings": PaneSettings::from(setup.base.clone()).to_string(),
            "settings_likelihood": base.map(|point| self.likelihood(&point)),
            "axes": axes.collect::<Vec<_>>(),
            "best": self.fit.best().map(|point| self.point(&point)),
            "region_nats": setup.region_nats(),
            "intervals": intervals.collect::<Vec<_>>(),
            "limits": limits.collect::<Vec<_>>(),
            "points": self.fit.known().map(|point| self.point(&point)).collect::<Vec<_>>(),
        });
        let mut bytes = serde_json::to_vec_pretty(&document).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Renders one row per setting. Settings between the cells come last.
    pub fn csv(&self) -> Vec<u8> {
        let mut table = String::new();
        let setup = &self.fit.setup;
        let keys = setup.axes().into_iter().map(|axis| axis.parameter.key());
        let figures = [
            "settings",
            "ln_prob",
            "bits_per_token",
            "possible",
            "ruled_out_text",
            "ruled_out_token",
            "ruled_out_piece",
        ];
        push_row(&mut table, keys.chain(figures.map(str::to_owned)));
        for point in self.fit.known() {
            let likelihood = point.likelihood;
            let settings = PaneSettings::from(setup.chain_at(&point.values)).to_string();
            let is_possible = likelihood.ruled_out.is_none();
            let number = |value: f64| {
                if is_possible {
                    value.to_string()
                } else {
                    String::new()
                }
            };
            let bits = self.fit.bits_per_token(likelihood).unwrap_or_default();
            let place = likelihood.ruled_out;
            let place = |of: fn(FitPlace) -> usize| {
                place.map_or_else(String::new, |place| (of(place) + 1).to_string())
            };
            let piece = likelihood.ruled_out.map(|place| self.piece(place));
            let figures = [
                as_text(&settings),
                number(likelihood.ln_prob),
                number(bits),
                is_possible.to_string(),
                place(|place| place.text),
                place(|place| place.step),
                as_text(&piece.unwrap_or_default()),
            ];
            let values = point.values.iter().map(ToString::to_string);
            push_row(&mut table, values.chain(figures));
        }
        table.into_bytes()
    }

    fn point(&self, point: &FitPoint) -> Value {
        let mut object = self.likelihood(point);
        if let Value::Object(object) = &mut object {
            let settings = self.fit.setup.chain_at(&point.values);
            object.insert("values".to_owned(), json!(point.values));
            let settings = PaneSettings::from(settings).to_string();
            object.insert("settings".to_owned(), json!(settings));
        }
        object
    }

    /// The log-probability of an impossible text is null, because JSON has no infinity.
    fn likelihood(&self, point: &FitPoint) -> Value {
        match point.likelihood.ruled_out {
            Some(place) => json!({ "ln_prob": null, "ruled_out": self.place(place) }),
            None => json!({
                "ln_prob": point.likelihood.ln_prob,
                "bits_per_token": self.fit.bits_per_token(point.likelihood),
            }),
        }
    }

    fn place(&self, place: FitPlace) -> Value {
        json!({ "text": place.text, "step": place.step, "piece": self.piece(place) })
    }

    fn piece(&self, place: FitPlace) -> String {
        let text = self.fit.texts().get(place.text);
        let token = text.and_then(|text| text.fitted().get(place.step));
        token.map_or_else(String::new, |token| {
            self.vocabulary.piece(*token).to_string()
        })
    }

    fn text(&self, text: &FitTokens) -> Value {
        let pieces = text.fitted().iter();
        let pieces = pieces.map(|token| self.vocabulary.piece(*token).to_string());
        json!({
            "prompt_tokens": text.tokens.get(..text.n_prompt),
            "tokens": text.fitted(),
            "text": pieces.collect::<String>(),
            "n_left_out": text.n_left_out,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::FitRecord;
    use crate::analysis::sweep::testing::setup;
    use crate::decoding::TokenId;
    use crate::generation::testing::generation;
    use crate::generation::{FitPlace, FitTokens, Likelihood};
    use crate::lab::fit::{Fit, FitSetup};

    fn fit() -> Fit {
        let sweep = setup(2, 2, 1);
        let mut fit = Fit::new(FitSetup {
            base: sweep.base,
            rows: sweep.rows,
            columns: sweep.columns,
        });
        fit.set_texts(vec![FitTokens {
            tokens: [3, 1, 2].map(TokenId).to_vec(),
            n_prompt: 1,
            n_left_out: 0,
        }]);
        fit.next_batch();
        for index in 0..5 {
            let place = FitPlace { text: 0, step: 1 };
            let ruled_out = (index == 1).then_some(place);
            let ln_prob = if index == 1 {
                f64::NEG_INFINITY
            } else {
                -2.0 * f64::from(index as u32 + 1) * std::f64::consts::LN_2
            };
            fit.add(index, Likelihood { ln_prob, ruled_out });
        }
        fit
    }

    #[test]
    fn the_table_has_one_row_per_setting() {
        let text = generation(&[]);
        let fit = fit();
        let record = FitRecord {
            fit: &fit,
            model: &text.model,
            vocabulary: &text.vocabulary,
        };
        let table = String::from_utf8(record.csv()).unwrap();
        let rows: Vec<&str> = table.trim_end().split("\r\n").collect();
        assert_eq!(rows.len(), 5, "{table}");
        assert!(rows[0].starts_with("temp,top-p,settings,ln_prob,bits_per_token,possible,"));
        let piece = text.vocabulary.piece(TokenId(2)).to_string();
        assert!(
            rows[1].starts_with("0.5,0.8,\"T 0.5, top-p 0.8\",,,false,1,2,")
                && rows[1].contains(&piece),
            "{table}"
        );
        assert!(rows[2].contains(",3,true,,,"), "{table}");
    }

    #[test]
    fn the_json_says_what_is_best_and_what_is_impossible() {
        let text = generation(&[]);
        let fit = fit();
        let record = FitRecord {
            fit: &fit,
            model: &text.model,
            vocabulary: &text.vocabulary,
        };
        let json: serde_json::Value = serde_json::from_slice(&record.json()).unwrap();
        assert_eq!(json["n_tokens"], 2);
        assert_eq!(json["best"]["bits_per_token"], 3.0);
        assert_eq!(json["settings_likelihood"]["bits_per_token"], 1.0);
        assert_eq!(json["points"][0]["ruled_out"]["step"], 1);
        assert!(json["points"][0]["ln_prob"].is_null());
        assert_eq!(json["texts"][0]["tokens"][0], 1);
        assert_eq!(json["axes"][1]["setting"], "top-p");
    }
}
