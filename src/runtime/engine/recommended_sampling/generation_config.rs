//! Recommended settings in `generation_config.json`, which transformers saves next to a model.
//!
//! Names and defaults follow the transformers documentation of `GenerationConfig` (versions 4.49 to
//! 5).

use serde_json::{Map, Value};

use super::{Builder, NOT_A_NUMBER, NOT_WHOLE, count};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{
    EpsilonCutoff, EtaCutoff, MinP, NoRepeatNgram, RepetitionPenalty, Temperature, TopH, TopK,
    TopP, TypicalP, Window,
};
use crate::decoding::{Filter, Selector};
use crate::generation::RecommendedSampling;
use crate::json_words::json_words;

const FILE: &str = "generation_config.json";

/// Reads the content of a `generation_config.json`. Returns `None` if it says nothing about
/// sampling.
pub(crate) fn recommended_by_generation_config(json: &[u8]) -> Option<RecommendedSampling> {
    let mut builder = Builder::new(Dialect::Transformers.chain());
    match serde_json::from_slice::<Map<String, Value>>(json) {
        Ok(config) => read(&config, &mut builder),
        Err(error) => {
            let reason = json_words(&error);
            builder
                .remarks
                .push(format!("{FILE} could not be understood: {reason}"));
        }
    }
    builder.finish(FILE)
}

fn read(config: &Map<String, Value>, builder: &mut Builder) {
    for (key, filter) in PENALTIES {
        read_number(config, key, filter, builder);
    }
    let do_sample = config.get("do_sample").and_then(Value::as_bool);
    if do_sample == Some(false) {
        builder.chain.selector = Selector::Greedy;
        builder.has_settings = true;
        // Without sampling, transformers ignores these settings even if they are set.
        builder.chain.stages.retain(|stage| !stage.filter.cuts());
    } else {
        for (key, filter) in WARPERS {
            read_number(config, key, filter, builder);
        }
        builder.has_settings |= do_sample == Some(true);
        if do_sample.is_none() && builder.has_settings {
            builder.remarks.push(
                "do_sample is not set, so transformers would decode greedily. Quartet applies the \
                 other settings as if it were true"
                    .to_owned(),
            );
        }
    }
    remark_on_unsupported(config, builder);
}

/// Converts a number to a filter, or returns why it is not valid.
type FromNumber = fn(f64) -> Result<Filter, &'static str>;

/// The settings that apply with and without sampling.
const PENALTIES: [(&str, FromNumber); 2] = [
    ("repetition_penalty", |number| {
        Ok(Filter::RepetitionPenalty(RepetitionPenalty {
            penalty: number as f32,
            window: Window::ALL,
        }))
    }),
    ("no_repeat_ngram_size", |number| {
        let n = count(number).ok_or(NOT_WHOLE)?;
        let window = Window::ALL;
        Ok(Filter::NoRepeatNgram(NoRepeatNgram { n, window }))
    }),
];

/// The settings that apply only with sampling.
const WARPERS: [(&str, FromNumber); 8] = [
    ("temperature", |number| {
        let temperature = number as f32;
        Ok(Filter::Temperature(Temperature { temperature }))
    }),
    ("top_h", |number| {
        Ok(Filter::TopH(TopH { h: number as f32 }))
    }),
    ("top_k", |number| {
        let k = count(number).ok_or(NOT_WHOLE)?;
        Ok(Filter::TopK(TopK { k }))
    }),
    ("top_p", |number| {
        Ok(Filter::TopP(TopP { p: number as f32 }))
    }),
    ("min_p", |number| {
        Ok(Filter::MinP(MinP { p: number as f32 }))
    }),
    ("typical_p", |number| {
        Ok(Filter::TypicalP(TypicalP { p: number as f32 }))
    }),
    ("epsilon_cutoff", |number| {
        let epsilon = number as f32;
        Ok(Filter::EpsilonCutoff(EpsilonCutoff { epsilon }))
    }),
    ("eta_cutoff", |number| {
        let epsilon = number as f32;
        Ok(Filter::EtaCutoff(EtaCutoff { epsilon }))
    }),
];

fn read_number(config: &Map<String, Value>, key: &str, filter: FromNumber, builder: &mut Builder) {
    let number = match config.get(key) {
        None | Some(Value::Null) => return,
        Some(value) => value.as_f64(),
    };
    match number.ok_or(NOT_A_NUMBER).and_then(filter) {
        Ok(filter) => builder.set(key, filter),
        Err(why) => builder.refuse(key, why),
    }
}

/// Settings that change the output and that Quartet does not support, each with its neutral value.
/// Null, false, 0 and empty lists are neutral for all of them.
const UNSUPPORTED: [(&str, f64); 11] = [
    ("num_beams", 1.0),
    ("num_beam_groups", 1.0),
    ("penalty_alpha", 0.0),
    ("guidance_scale", 1.0),
    ("encoder_repetition_penalty", 1.0),
    ("min_length", 0.0),
    ("min_new_tokens", 0.0),
    ("bad_words_ids", 0.0),
    ("suppress_tokens", 0.0),
    ("begin_suppress_tokens", 0.0),
    ("sequence_bias", 0.0),
];

fn remark_on_unsupported(config: &Map<String, Value>, builder: &mut Builder) {
    for (key, neutral) in UNSUPPORTED {
        let is_neutral = match config.get(key) {
            None | Some(Value::Null | Value::Bool(false)) => true,
            Some(Value::Number(number)) => number
                .as_f64()
                .is_some_and(|number| number == 0.0 || (number - neutral).abs() < f64::EPSILON),
            Some(Value::Array(list)) => list.is_empty(),
            Some(Value::Object(map)) => map.is_empty(),
            Some(_) => false,
        };
        if !is_neutral {
            let why = match key {
                "bad_words_ids" | "sequence_bias" | "suppress_tokens" => {
                    "Quartet does not read it from this file yet"
                }
                _ => "Quartet does not support it yet",
            };
            builder.refuse(key, why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::recommended_by_generation_config;
    use crate::generation::PaneSettings;

    #[test]
    fn settings_follow_the_order_of_transformers() {
        for (json, expected) in [
            (
                r#"{"do_sample": true, "temperature": 0.6, "top_p": 0.9, "eos_token_id": 2}"#,
                "T 0.6, top-k 50, top-p 0.9, dialect transformers",
            ),
            (
                r#"{"do_sample": true, "temperature": 0.7, "top_k": 20, "top_p": 0.8, "repetition_penalty": 1.05, "min_p": null}"#,
                "repeat 1.05 last all, T 0.7, top-k 20, top-p 0.8, dialect transformers",
            ),
            (
                r#"{"do_sample": true, "top_k": 0, "eta_cutoff": 0.0003, "no_repeat_ngram_size": 4, "num_beams": 1}"#,
                "no-repeat 4 last all, eta 0.0003, dialect transformers",
            ),
            (
                r#"{"do_sample": false, "temperature": 0.7, "top_p": 0.9, "repetition_penalty": 1.1}"#,
                "repeat 1.1 last all, greedy, dialect transformers",
            ),
            (r#"{"do_sample": true}"#, "top-k 50, dialect transformers"),
        ] {
            let recommended = recommended_by_generation_config(json.as_bytes()).unwrap();
            assert_eq!(recommended.remarks, [] as [&str; 0], "{json}");
            assert_eq!(recommended.source, "generation_config.json");
            let settings = PaneSettings::from(recommended.chain.unwrap());
            assert_eq!(settings.to_string(), expected, "{json}");
        }
    }

    #[test]
    fn settings_without_do_sample_are_applied_as_sampling_settings() {
        let recommended = recommended_by_generation_config(br#"{"temperature": 0.6}"#).unwrap();
        assert_eq!(recommended.chain.unwrap().to_string(), "T 0.6 › top-k 50");
        assert!(recommended.remarks[0].starts_with("do_sample is not set"));
    }

    #[test]
    fn a_file_without_sampling_settings_recommends_nothing() {
        for json in [
            "{}",
            r#"{"_from_model_config": true, "bos_token_id": 1, "eos_token_id": [2, 3]}"#,
            r#"{"max_new_tokens": 512, "num_beams": 1, "temperature": null}"#,
        ] {
            assert_eq!(
                recommended_by_generation_config(json.as_bytes()),
                None,
                "{json}"
            );
        }
    }

    #[test]
    fn invalid_settings_are_left_out_with_a_remark() {
        for (json, remark) in [
            ("{", "generation_config.json could not be understood"),
            ("[]", "generation_config.json could not be understood"),
            (
                r#"{"temperature": "hot"}"#,
                "temperature was left out. It is not a number",
            ),
            (
                r#"{"top_p": 9}"#,
                "top_p was left out. Top-p must be between 0 and 1",
            ),
            (
                r#"{"temperature": 1e300}"#,
                "temperature was left out. Temperature must be 0 or more",
            ),
            (
                r#"{"top_k": 1.5}"#,
                "top_k was left out. It is not a whole number",
            ),
            (
                r#"{"num_beams": 4}"#,
                "num_beams was left out. Quartet does not support it yet",
            ),
        ] {
            let recommended = recommended_by_generation_config(json.as_bytes()).unwrap();
            assert_eq!(recommended.chain, None, "{json}");
            assert_eq!(recommended.remarks.len(), 1, "{json}");
            assert!(
                recommended.remarks[0].starts_with(remark),
                "{:?}",
                recommended.remarks
            );
        }
    }
}
