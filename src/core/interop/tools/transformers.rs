//! The arguments of transformers' `generate`.
//!
//! Sources: `generation/configuration_utils.py` (transformers of 2025, commits 008f5c8 and 6120704)
//! and `generation/logits_process.py`. The order is that of `_get_logits_processor`, as in our
//! dialect. A model's `generation_config.json` supplies missing arguments, so everything that such
//! files usually set is always written. Temperature and repetition penalty must be floats.

use super::beams;
use super::biases;
use super::drafts;
use super::fields::{Fields, token, without_effect};
use super::grammar;
use super::guidance;
use super::plan::{Manner, Plan};
use super::value::{NamedValues, Value};
use super::watermark;
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{
    EpsilonCutoff, EtaCutoff, LogitBias, MinP, NoRepeatNgram, RepetitionPenalty, Temperature,
    TokenBias, TopH, TopK, TopP, TypicalP, Window,
};
use crate::decoding::{ChainConfig, Filter, FilterKind, Selector, TokenId};
use crate::generation::{GenerationConfig, in_sentence};

/// The arguments that are imported.
pub(super) const NAMES: [&str; 32] = [
    "do_sample",
    "temperature",
    "top_h",
    "top_k",
    "top_p",
    "min_p",
    "typical_p",
    "epsilon_cutoff",
    "eta_cutoff",
    "repetition_penalty",
    "no_repeat_ngram_size",
    guidance::SCALE,
    guidance::PROMPT,
    guidance::LAYERS,
    guidance::CODE,
    guidance::TRUST,
    drafts::TRANSFORMERS[0],
    drafts::TRANSFORMERS[1],
    drafts::TRANSFORMERS[2],
    drafts::TRANSFORMERS[3],
    drafts::TRANSFORMERS[4],
    "num_beams",
    "length_penalty",
    "early_stopping",
    "renormalize_logits",
    "sequence_bias",
    "bad_words_ids",
    "suppress_tokens",
    "watermarking_config",
    "max_new_tokens",
    "stop_strings",
    "seed",
];

/// Arguments and entries of `generation_config.json` that do not affect sampling.
pub(super) const UNRELATED: [&str; 25] = [
    "_from_model_config",
    "attention_mask",
    "bos_token_id",
    "cache_implementation",
    "decoder_start_token_id",
    "eos_token_id",
    "generation_config",
    "input_ids",
    "inputs",
    "max_length",
    "max_time",
    "model_type",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_logits",
    "output_scores",
    "pad_token_id",
    "remove_invalid_values",
    "return_dict_in_generate",
    "streamer",
    "synced_gpus",
    "tokenizer",
    "transformers_version",
    "use_cache",
];

/// The stages that are also applied in greedy decoding.
const WITHOUT_SAMPLING: [FilterKind; 5] = [
    FilterKind::LogitBias,
    FilterKind::RepetitionPenalty,
    FilterKind::NoRepeatNgram,
    FilterKind::GreenList,
    FilterKind::SynthId,
];

/// The largest seed that numpy accepts, which `set_seed` seeds too.
const MAX_SEED: u64 = 0xFFFF_FFFF;

/// Returns the Python code, and one sentence for each difference.
pub(super) fn write(config: &GenerationConfig) -> (String, Vec<String>) {
    let manner = Manner {
        guides: true,
        drafts: true,
        ..Manner::of("transformers", Dialect::Transformers)
    };
    let mut plan = Plan::new(&manner, config);
    let search = plan.selector.beam_search();
    if search.is_none() {
        plan.without_other_selectors();
    }
    plan.expect_window(&WITHOUT_SAMPLING, Window::ALL);
    let samples = !plan.selector.is_deterministic();
    plan.leave_out(|filter| unsupported(filter, samples));
    if plan.find(FilterKind::GreenList).is_some() {
        plan.leave_out(|filter| {
            matches!(filter, Filter::SynthId(_))
                .then(|| format!("transformers leaves one watermark; {filter} is left out"))
        });
    }
    let mut fields: NamedValues = vec![("do_sample", Value::Bool(samples))];
    if samples {
        fields.extend(sampling(&plan));
    }
    fields.extend(beams::write(&config.chain, &mut plan));
    fields.extend(guidance::write(&config.chain));
    fields.extend(drafts::write_transformers(config.chain.drafts, &mut plan));
    fields.extend(adjustments(&plan));
    let seed = plan.seed(config.seed, MAX_SEED);
    let limits = &config.limits;
    if limits.max_new_tokens > 0 {
        fields.push(("max_new_tokens", Value::from(limits.max_new_tokens)));
    } else {
        plan.tell("transformers requires a limit of at least 1 token; 0 is left out".to_owned());
    }
    let stop_strings = limits.stop_strings.iter();
    let stops: Vec<&String> = stop_strings.filter(|text| !text.is_empty()).collect();
    if !stops.is_empty() {
        fields.push(("stop_strings", Value::texts(stops)));
        fields.push(("tokenizer", Value::Code("tokenizer".to_owned())));
    }
    grammar::leave_out(config.chain.grammar.as_ref(), &mut plan);
    plan.tell_end_of_text(limits.end_of_text);
    (call(seed, &fields), plan.notes)
}

/// Returns why a stage must be left out, if so: transformers would ignore or reject it.
fn unsupported(filter: &Filter, samples: bool) -> Option<String> {
    let what = in_sentence(filter.name());
    if !samples && !WITHOUT_SAMPLING.contains(&filter.kind()) {
        return Some(format!(
            "transformers ignores {what} unless it samples; {filter} is left out"
        ));
    }
    let is_error = matches!(filter, Filter::TypicalP(typical) if typical.p <= 0.0);
    is_error.then(|| format!("transformers requires a {what} above 0; {filter} is left out"))
}

fn call(seed: Option<u64>, fields: &NamedValues) -> String {
    let seed = seed.map(|seed| format!("transformers.set_seed({seed})\n"));
    let arguments: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("    {name}={},\n", value.python()))
        .collect();
    let arguments = arguments.concat();
    let seed = seed.unwrap_or_default();
    let is_used = [&seed, &arguments]
        .iter()
        .any(|code| code.contains("transformers."));
    let import = if is_used {
        "import transformers\n\n"
    } else {
        ""
    };
    format!("{import}{seed}model.generate(\n    **inputs,\n{arguments})\n")
}

fn sampling(plan: &Plan) -> NamedValues {
    let (mut t, mut k, mut p) = (1.0, 0, 1.0);
    let mut others = NamedValues::new();
    for filter in &plan.filters {
        match filter {
            Filter::Temperature(filter) => t = filter.temperature,
            Filter::TopK(filter) => k = filter.k,
            Filter::TopP(filter) => p = filter.p,
            Filter::TopH(filter) => others.push(("top_h", float(filter.h))),
            Filter::MinP(filter) => others.push(("min_p", float(filter.p))),
            Filter::TypicalP(filter) => others.push(("typical_p", float(filter.p))),
            Filter::EpsilonCutoff(filter) => others.push(("epsilon_cutoff", float(filter.epsilon))),
            Filter::EtaCutoff(filter) => others.push(("eta_cutoff", float(filter.epsilon))),
            _ => {}
        }
    }
    let mut fields = vec![
        ("temperature", float(t)),
        ("top_k", Value::from(k)),
        ("top_p", float(p)),
    ];
    fields.extend(others);
    fields
}

fn adjustments(plan: &Plan) -> NamedValues {
    let (mut repetition, mut others) = (1.0, NamedValues::new());
    for filter in &plan.filters {
        match filter {
            Filter::RepetitionPenalty(filter) => repetition = filter.penalty,
            Filter::NoRepeatNgram(filter) => {
                others.push(("no_repeat_ngram_size", Value::from(filter.n)));
            }
            _ => {}
        }
    }
    let (mut sums, mut banned) = (Vec::new(), Vec::new());
    for (TokenId(id), bias) in biases::by_token(plan.find(FilterKind::LogitBias)) {
        match bias {
            Some(bias) => sums.push(Value::List(vec![
                Value::List(vec![Value::from(id)]),
                float(bias),
            ])),
            None => banned.push(Value::from(id)),
        }
    }
    for (name, values) in [("sequence_bias", sums), ("suppress_tokens", banned)] {
        if !values.is_empty() {
            others.push((name, Value::List(values)));
        }
    }
    if let Some(Filter::GreenList(list)) = plan.find(FilterKind::GreenList) {
        others.push((watermark::NAME, watermark::write_green_list(list)));
    } else if let Some(Filter::SynthId(synth)) = plan.find(FilterKind::SynthId) {
        others.push((watermark::NAME, watermark::write_synth_id(synth)));
    }
    let mut fields = vec![("repetition_penalty", float(repetition))];
    fields.extend(others);
    fields
}

/// Formats a number as a Python float literal.
pub(super) fn float(number: f32) -> Value {
    Value::Number(if number.fract() == 0.0 {
        format!("{number:.1}")
    } else {
        number.to_string()
    })
}

/// Returns the chain that these arguments define.
pub(super) fn read(fields: &mut Fields) -> Result<ChainConfig, String> {
    let mut chain = ChainConfig {
        dialect: Some(Dialect::Transformers),
        rules: Dialect::Transformers.rules(),
        ..ChainConfig::sampled([])
    };
    let samples = fields.boolean("do_sample")?;
    let bias = bias(fields)?;
    let names = ["sequence_bias", "bad_words_ids", "suppress_tokens"];
    fields.add(Filter::LogitBias(bias), &names, &mut chain.stages)?;
    let window = Window::ALL;
    let penalty = fields.number("repetition_penalty")?.unwrap_or(1.0);
    let repetition = Filter::RepetitionPenalty(RepetitionPenalty { penalty, window });
    fields.add(repetition, &["repetition_penalty"], &mut chain.stages)?;
    let n = count("no_repeat_ngram_size", 0, fields)?;
    let ngram = Filter::NoRepeatNgram(NoRepeatNgram { n, window });
    fields.add(ngram, &["no_repeat_ngram_size"], &mut chain.stages)?;

    let warpers = warpers(fields)?;
    if samples == Some(true) {
        for (filter, name) in warpers {
            if matches!(&filter, Filter::TypicalP(typical) if typical.p <= 0.0) {
                let written = fields.as_written(name);
                return Err(format!("{written} is invalid: it must be above 0"));
            }
            fields.add(filter, &[name], &mut chain.stages)?;
        }
    } else {
        chain.selector = beams::read(fields)?.map_or(Selector::Greedy, Selector::BeamSearch);
        report_unused_warpers(samples, &warpers, fields);
    }
    beams::read_scores(fields, &mut chain)?;
    if let Some(mark) = watermark::read(fields)? {
        fields.add(mark, &[watermark::NAME], &mut chain.stages)?;
    }
    guidance::read(fields, &mut chain)?;
    drafts::read_transformers(fields, &mut chain)?;
    Ok(chain)
}

/// Returns the stages that are only applied when sampling, in order. In transformers, a top-p or
/// typical-p above 1 is off, and so is a cutoff outside 0 to 1.
fn warpers(fields: &mut Fields) -> Result<Vec<(Filter, &'static str)>, String> {
    let temperature = fields.number("temperature")?.unwrap_or(1.0);
    if temperature <= 0.0 {
        let written = fields.as_written("temperature");
        return Err(format!(
            "{written} is invalid: it must be above 0; use do_sample=False for greedy decoding"
        ));
    }
    let default = Dialect::Transformers.default_of(FilterKind::TopK);
    let k = match default {
        Some(Filter::TopK(default)) => count("top_k", default.k, fields)?,
        _ => count("top_k", 0, fields)?,
    };
    let mut number = |name: &str, default: f32| -> Result<f32, String> {
        Ok(fields.number(name)?.unwrap_or(default))
    };
    let off_outside = |cutoff: f32| if cutoff < 1.0 { cutoff.max(0.0) } else { 0.0 };
    Ok(vec![
        (
            Filter::Temperature(Temperature { temperature }),
            "temperature",
        ),
        (
            Filter::TopH(TopH {
                h: number("top_h", 0.0)?,
            }),
            "top_h",
        ),
        (Filter::TopK(TopK { k }), "top_k"),
        (
            Filter::TopP(TopP {
                p: number("top_p", 1.0)?.min(1.0),
            }),
            "top_p",
        ),
        (
            Filter::MinP(MinP {
                p: number("min_p", 0.0)?,
            }),
            "min_p",
        ),
        (
            Filter::TypicalP(TypicalP {
                p: number("typical_p", 1.0)?.min(1.0),
            }),
            "typical_p",
        ),
        (
            Filter::EpsilonCutoff(EpsilonCutoff {
                epsilon: off_outside(number("epsilon_cutoff", 0.0)?),
            }),
            "epsilon_cutoff",
        ),
        (
            Filter::EtaCutoff(EtaCutoff {
                epsilon: off_outside(number("eta_cutoff", 0.0)?),
            }),
            "eta_cutoff",
        ),
    ])
}

fn report_unused_warpers(samples: Option<bool>, warpers: &[(Filter, &str)], fields: &mut Fields) {
    let is_unused = |(filter, name): &&(Filter, &str)| fields.names(name) && !filter.is_neutral();
    let unused: Vec<String> = warpers
        .iter()
        .filter(is_unused)
        .map(|(_, name)| fields.as_written(name))
        .collect();
    if !unused.is_empty() {
        let why = if samples.is_none() {
            "do_sample is not set"
        } else {
            "do_sample is False"
        };
        fields.ignored.push(format!(
            "{} because {why}, so transformers decodes greedily",
            without_effect(&unused)
        ));
    }
}

pub(super) fn count(name: &str, default: u32, fields: &mut Fields) -> Result<u32, String> {
    let Some(number) = fields.integer(name)? else {
        return Ok(default);
    };
    u32::try_from(number).map_err(|_out_of_range| {
        format!(
            "{} is invalid: it must be 0 or more",
            fields.as_written(name)
        )
    })
}

fn bias(fields: &mut Fields) -> Result<LogitBias, String> {
    let mut filter = LogitBias::default();
    if let Some(field) = fields.take("sequence_bias") {
        let wrong = || {
            format!(
                "sequence_bias must list tokens and biases, not {}",
                field.value.json()
            )
        };
        for (tokens, bias) in sequences(&field.value).ok_or_else(wrong)? {
            match (single(&tokens), super::fields::number(&bias)) {
                (Some(token), None) if is_ban(&bias) => filter.banned.push(token),
                (Some(token), Some(bias)) => filter.biases.push(TokenBias { token, bias }),
                (None, Some(_)) => fields.ignored.push(format!(
                    "The bias of the sequence {} is not supported: Quartet biases single tokens",
                    tokens.json()
                )),
                (_, None) => return Err(wrong()),
            }
        }
    }
    for name in ["bad_words_ids", "suppress_tokens"] {
        let Some(field) = fields.take(name) else {
            continue;
        };
        let Value::List(entries) = &field.value else {
            return Err(format!(
                "{name} must be a list of tokens, not {}",
                field.value.json()
            ));
        };
        for entry in entries {
            match token(entry).or_else(|| single(entry)) {
                Some(token) => filter.banned.push(token),
                None => fields.ignored.push(format!(
                    "{} in {name} is not supported: Quartet bans single tokens",
                    entry.json()
                )),
            }
        }
    }
    Ok(filter)
}

/// Whether a bias is `float("-inf")`.
fn is_ban(bias: &Value) -> bool {
    matches!(bias, Value::Number(written) if written.parse() == Ok(f32::NEG_INFINITY))
}

/// Parses a dict from token tuples to biases, or a list of pairs of tokens and bias.
fn sequences(value: &Value) -> Option<Vec<(Value, Value)>> {
    match value {
        Value::Map(entries) => Some(entries.clone()),
        Value::List(entries) => entries.iter().map(biases::pair).collect(),
        _ => None,
    }
}

fn single(tokens: &Value) -> Option<TokenId> {
    match tokens {
        Value::List(tokens) => match tokens.as_slice() {
            [only] => token(only),
            _ => None,
        },
        _ => None,
    }
}
