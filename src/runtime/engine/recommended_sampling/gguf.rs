//! Recommended settings in a GGUF file: `general.sampling.*`.
//!
//! Keys and meanings are those of llama.cpp's pull request 17120 (November 2025): each key replaces
//! one of llama.cpp's defaults, and `sequence` lists its samplers in order, separated by
//! semicolons.

use candle_core::quantized::gguf_file::{Content, Value};

use super::{Builder, NOT_A_NUMBER, NOT_WHOLE, count};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{
    DynamicTemperature, MinP, RepetitionPenalty, Temperature, TopK, TopP, Window, Xtc,
};
use crate::decoding::selector::{MirostatV1, MirostatV2};
use crate::decoding::{ChainConfig, Filter, Selector, Stage};
use crate::generation::RecommendedSampling;

/// Reads the recommended settings of a GGUF file. Returns `None` if it says nothing about sampling.
pub(crate) fn recommended_by_gguf(content: &Content) -> Option<RecommendedSampling> {
    read(&|key| content.metadata.get(&format!("{PREFIX}{key}")))
}

const PREFIX: &str = "general.sampling.";

/// Looks up a value by its key without the prefix.
type Find<'a> = dyn Fn(&str) -> Option<&'a Value> + 'a;

fn read(find: &Find<'_>) -> Option<RecommendedSampling> {
    let mut builder = Builder::new(llama_cpp_chain());
    if let Some(temperature) = number(find, "temp", &mut builder) {
        let temperature = temperature.max(0.0) as f32;
        let filter = Filter::Temperature(Temperature { temperature });
        builder.set("general.sampling.temp", filter);
    }
    if let Some(k) = whole_number(find, "top_k", &mut builder) {
        builder.set("general.sampling.top_k", Filter::TopK(TopK { k }));
    }
    if let Some(p) = number(find, "top_p", &mut builder) {
        let filter = Filter::TopP(TopP { p: p as f32 });
        builder.set("general.sampling.top_p", filter);
    }
    if let Some(p) = number(find, "min_p", &mut builder) {
        let filter = Filter::MinP(MinP {
            p: p.max(0.0) as f32,
        });
        builder.set("general.sampling.min_p", filter);
    }
    read_xtc(find, &mut builder);
    read_penalty(find, &mut builder);
    if !read_mirostat(find, &mut builder) {
        read_sequence(find, &mut builder);
    }
    builder.finish("the model file")
}

/// llama.cpp's default chain. These files cannot set a temperature range, so the dynamic
/// temperature is a plain one.
fn llama_cpp_chain() -> ChainConfig {
    let mut chain = Dialect::LlamaCpp.chain();
    for stage in &mut chain.stages {
        if let Filter::DynamicTemperature(DynamicTemperature { temperature, .. }) = stage.filter {
            stage.filter = Filter::Temperature(Temperature { temperature });
        }
    }
    chain
}

fn read_xtc(find: &Find<'_>, builder: &mut Builder) {
    let probability = number(find, "xtc_probability", builder);
    let threshold = number(find, "xtc_threshold", builder);
    // A threshold alone has no effect: llama.cpp's default probability is 0.
    if let Some(probability) = probability {
        let xtc = Xtc {
            probability: probability as f32,
            threshold: threshold.unwrap_or(0.1) as f32,
        };
        builder.set("general.sampling.xtc_probability", Filter::Xtc(xtc));
    }
}

fn read_penalty(find: &Find<'_>, builder: &mut Builder) {
    let last_n = number(find, "penalty_last_n", builder);
    let penalty = number(find, "penalty_repeat", builder);
    let window = match last_n.map(|last_n| (last_n, count(last_n))) {
        None => Window::LAST_64,
        Some((last_n, _)) if last_n < 0.0 => Window::ALL,
        Some((_, Some(last_n))) => Window {
            last_n: Some(last_n),
            ..Window::LAST_64
        },
        Some((_, None)) => {
            builder.refuse("general.sampling.penalty_last_n", NOT_WHOLE);
            Window::LAST_64
        }
    };
    if let Some(penalty) = penalty {
        let filter = RepetitionPenalty {
            penalty: penalty as f32,
            window,
        };
        let filter = Filter::RepetitionPenalty(filter);
        builder.set("general.sampling.penalty_repeat", filter);
    }
}

/// Reorders the stages and removes those that the sequence does not name.
fn read_sequence(find: &Find<'_>, builder: &mut Builder) {
    const KEY: &str = "general.sampling.sequence";
    let names = match find("sequence") {
        None => return,
        Some(Value::String(names)) => names,
        Some(_) => return builder.refuse(KEY, "It is not a string"),
    };
    // Works on a copy, because an unknown name must leave the chain unchanged.
    let mut unordered = builder.chain.stages.clone();
    let mut stages = Vec::new();
    let is_bias = |stage: &Stage| matches!(stage.filter, Filter::LogitBias(_));
    move_stages(&mut unordered, &mut stages, is_bias);
    for name in names.split(';').map(str::trim) {
        let is_named: fn(&Stage) -> bool = match name {
            "penalties" => |stage| is_penalty(&stage.filter),
            "dry" => |stage| matches!(stage.filter, Filter::Dry(_)),
            "top_n_sigma" => |stage| matches!(stage.filter, Filter::TopNSigma(_)),
            "top_k" => |stage| matches!(stage.filter, Filter::TopK(_)),
            "typ_p" | "typical_p" => |stage| matches!(stage.filter, Filter::TypicalP(_)),
            "top_p" => |stage| matches!(stage.filter, Filter::TopP(_)),
            "min_p" => |stage| matches!(stage.filter, Filter::MinP(_)),
            "xtc" => |stage| matches!(stage.filter, Filter::Xtc(_)),
            "temperature" | "temp" => |stage| matches!(stage.filter, Filter::Temperature(_)),
            unknown => {
                let why = format!("It names an unknown sampler, {unknown:?}");
                return builder.refuse(KEY, &why);
            }
        };
        move_stages(&mut unordered, &mut stages, is_named);
    }
    builder.chain.stages = stages;
    builder.has_settings = true;
}

const fn is_penalty(filter: &Filter) -> bool {
    matches!(
        filter,
        Filter::RepetitionPenalty(_) | Filter::FrequencyPenalty(_) | Filter::PresencePenalty(_)
    )
}

fn move_stages(from: &mut Vec<Stage>, to: &mut Vec<Stage>, matches: impl Fn(&Stage) -> bool) {
    to.extend(from.extract_if(.., |stage| matches(stage)));
}

/// Returns whether the file selects mirostat. llama.cpp then ignores the sequence and every stage
/// except bias and temperature.
fn read_mirostat(find: &Find<'_>, builder: &mut Builder) -> bool {
    let version = number(find, "mirostat", builder);
    let tau = number(find, "mirostat_tau", builder).unwrap_or(5.0) as f32;
    let eta = number(find, "mirostat_eta", builder).unwrap_or(0.1) as f32;
    let selector = match version.and_then(count) {
        None | Some(0) => return false,
        Some(1) => Selector::MirostatV1(MirostatV1 { tau, eta }),
        Some(2) => Selector::MirostatV2(MirostatV2 { tau, eta }),
        Some(n) => {
            let why = format!("There is no mirostat version {n}");
            builder.refuse("general.sampling.mirostat", &why);
            return false;
        }
    };
    if let Err(error) = selector.validate() {
        builder.refuse("general.sampling.mirostat", &error.to_string());
        return false;
    }
    builder.has_settings = true;
    builder.chain.selector = selector;
    builder
        .chain
        .stages
        .retain(|stage| matches!(stage.filter, Filter::Temperature(_)));
    true
}

fn whole_number(find: &Find<'_>, key: &str, builder: &mut Builder) -> Option<u32> {
    let number = number(find, key, builder)?;
    let count = count(number);
    if count.is_none() {
        builder.refuse(&format!("{PREFIX}{key}"), NOT_WHOLE);
    }
    count
}

/// Reads a number. Strings are parsed, too, because llama.cpp reads every value as a string.
fn number(find: &Find<'_>, key: &str, builder: &mut Builder) -> Option<f64> {
    let value = find(key)?;
    let number = match value {
        Value::U8(n) => Some(f64::from(*n)),
        Value::I8(n) => Some(f64::from(*n)),
        Value::U16(n) => Some(f64::from(*n)),
        Value::I16(n) => Some(f64::from(*n)),
        Value::U32(n) => Some(f64::from(*n)),
        Value::I32(n) => Some(f64::from(*n)),
        Value::U64(n) => Some(*n as f64),
        Value::I64(n) => Some(*n as f64),
        Value::F32(n) => Some(f64::from(*n)),
        Value::F64(n) => Some(*n),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(_) | Value::Array(_) => None,
    };
    let number = number.filter(|number| number.is_finite());
    if number.is_none() {
        builder.refuse(&format!("{PREFIX}{key}"), NOT_A_NUMBER);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::{Value, read};
    use crate::generation::PaneSettings;
    use crate::generation::RecommendedSampling;

    fn recommended(values: &[(&str, Value)]) -> Option<RecommendedSampling> {
        read(&|key| {
            let mut values = values.iter();
            values
                .find(|(name, _)| *name == key)
                .map(|(_, value)| value)
        })
    }

    #[test]
    fn a_file_without_sampling_settings_recommends_nothing() {
        assert_eq!(recommended(&[]), None);
    }

    #[test]
    fn settings_replace_the_defaults_of_llama_cpp() {
        for (values, expected) in [
            (
                &[
                    ("temp", Value::F32(0.7)),
                    ("top_k", Value::I32(20)),
                    ("top_p", Value::F32(0.8)),
                    ("penalty_repeat", Value::F32(1.05)),
                ][..],
                "repeat 1.05, top-k 20, top-p 0.8, min-p 0.05, T 0.7, dialect llama.cpp",
            ),
            (
                &[("min_p", Value::F32(0.0)), ("top_k", Value::I32(-1))],
                "top-p 0.95, T 0.8, dialect llama.cpp",
            ),
            (
                &[("temp", Value::String("0.6".to_owned()))],
                "top-k 40, top-p 0.95, min-p 0.05, T 0.6, dialect llama.cpp",
            ),
            (
                &[
                    ("penalty_repeat", Value::F64(1.1)),
                    ("penalty_last_n", Value::I64(-1)),
                    (
                        "sequence",
                        Value::String("penalties;temperature;top_p".to_owned()),
                    ),
                ],
                "repeat 1.1 last all, T 0.8, top-p 0.95, dialect llama.cpp",
            ),
            (
                &[
                    ("mirostat", Value::I32(2)),
                    ("mirostat_tau", Value::F32(3.0)),
                ],
                "T 0.8, mirostat 3 eta 0.1, dialect llama.cpp",
            ),
            (
                &[
                    ("mirostat", Value::I32(2)),
                    ("sequence", Value::String("top_k".to_owned())),
                ],
                "T 0.8, mirostat 5 eta 0.1, dialect llama.cpp",
            ),
            (
                &[
                    ("xtc_probability", Value::F32(0.5)),
                    ("top_p", Value::F32(1.0)),
                ],
                "top-k 40, min-p 0.05, xtc 0.5 threshold 0.1, \
                 T 0.8, dialect llama.cpp",
            ),
        ] {
            let recommended = recommended(values).unwrap();
            assert_eq!(recommended.remarks, [] as [&str; 0], "{expected}");
            let mut settings = PaneSettings::from(recommended.chain.unwrap());
            settings.name = PaneSettings::from(settings.chain.clone()).name;
            assert_eq!(settings.to_string(), expected);
        }
    }

    #[test]
    fn invalid_settings_are_left_out_with_a_remark() {
        for (key, value, remark) in [
            (
                "top_p",
                Value::F32(1.7),
                "general.sampling.top_p was left out. Top-p must be between 0 and 1",
            ),
            (
                "temp",
                Value::F32(f32::NAN),
                "general.sampling.temp was left out. It is not a number",
            ),
            (
                "temp",
                Value::Bool(true),
                "general.sampling.temp was left out. It is not a number",
            ),
            (
                "top_k",
                Value::F32(1.5),
                "general.sampling.top_k was left out. It is not a whole number",
            ),
            (
                "penalty_repeat",
                Value::F32(0.0),
                "general.sampling.penalty_repeat was left out. Repetition penalty must be greater than 0",
            ),
            (
                "sequence",
                Value::String("top_k;magic".to_owned()),
                "general.sampling.sequence was left out. It names an unknown sampler, \"magic\"",
            ),
            (
                "mirostat",
                Value::U32(3),
                "general.sampling.mirostat was left out. There is no mirostat version 3",
            ),
        ] {
            let recommended = recommended(&[(key, value)]).unwrap();
            assert_eq!(recommended.remarks, [remark]);
            assert_eq!(recommended.chain, None, "{key}");
        }
    }

    #[test]
    fn a_sequence_with_an_unknown_name_removes_no_stage() {
        let warm = ("temp", Value::F32(0.7));
        let order = Value::String("top_k;temperature;magic".to_owned());
        let without = recommended(std::slice::from_ref(&warm)).unwrap();
        let with = recommended(&[warm, ("sequence", order)]).unwrap();
        assert_eq!((without.remarks.len(), with.remarks.len()), (0, 1));
        assert_eq!(with.chain, without.chain);
    }
}
