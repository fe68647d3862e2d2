//! The body of a request to an OpenAI-compatible service, or to vLLM, which takes more fields.
//!
//! Source: copies of the chat completions reference in client libraries (2025): `temperature` 0 to
//! 2, `top_p` 0 to 1, penalties -2 to 2, biases -100 (a ban) to 100, and at most four stop
//! sequences. It does not specify the order of the stages, so ours is used. For vLLM: `SamplingParams`
//! and `vllm/v1/sample/sampler.py` (2026).

use std::ops::RangeInclusive;

use super::differences::{Difference, Written};
use super::fields::Fields;
use super::plan::{Manner, Plan};
use super::value::{NamedValues, Value};
use super::vllm::COLDEST;
use super::{biases, drafts, grammar, thoughts};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{FrequencyPenalty, PresencePenalty, Temperature, TopP, Window};
use crate::decoding::{ChainConfig, Filter, FilterKind, Selector};
use crate::generation::{EndOfText, GenerationConfig};

/// The fields that are imported.
pub(super) const NAMES: [&str; 17] = [
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "seed",
    "stop",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "structured_outputs",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    drafts::VLLM,
    thoughts::VLLM,
];

/// Known fields that do not affect sampling.
pub(super) const UNRELATED: [&str; 15] = [
    "echo",
    "input",
    "logprobs",
    "messages",
    "metadata",
    "model",
    "n",
    "prompt",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "timeout",
    "top_logprobs",
    "user",
];

/// The bias that acts as a ban.
const BAN: f32 = -100.0;

const MAX_STOPS: usize = 4;

/// vLLM refuses others too (`SamplingParams._verify_args`, commit 00388f6).
const TEMPERATURES: RangeInclusive<f32> = 0.0..=2.0;

const PENALTIES: RangeInclusive<f32> = -2.0..=2.0;

/// Which service reads the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    OpenAi,
    Vllm,
}

impl Flavor {
    fn manner(self) -> Manner {
        let manner = match self {
            Self::OpenAi => Manner::of("OpenAI", Dialect::OpenAi),
            Self::Vllm => Manner {
                stages: Dialect::Vllm.kinds().collect(),
                ..Manner::of("vLLM", Dialect::Vllm)
            },
        };
        Manner {
            drafts: true,
            ..manner
        }
    }
}

/// Returns the fields, and how they differ from the chain.
pub(super) fn write(flavor: Flavor, config: &GenerationConfig) -> Written {
    let manner = flavor.manner();
    let mut plan = Plan::new(&manner, config);
    plan.without_other_selectors();
    plan.expect_window(
        &[FilterKind::FrequencyPenalty, FilterKind::PresencePenalty],
        Window::GENERATED,
    );
    plan.expect_window(&[FilterKind::RepetitionPenalty], Window::ALL);
    let mut fields = stages(&mut plan);
    if flavor == Flavor::Vllm {
        tell_coldest(&mut plan);
        fields.extend(beyond_openai(&plan));
        thoughts::write_vllm(&mut plan, &mut fields);
    }
    let seed = plan.seed(config.seed, i64::MAX.unsigned_abs());
    fields.extend(seed.map(|seed| ("seed", Value::from(seed))));
    fields.push(("max_tokens", Value::from(config.limits.max_new_tokens)));
    let stop_strings = config.limits.stop_strings.iter();
    let mut stops: Vec<&String> = stop_strings.filter(|text| !text.is_empty()).collect();
    if flavor == Flavor::OpenAi && stops.len() > MAX_STOPS {
        let n = stops.len();
        plan.tell(format!(
            "OpenAI accepts at most {MAX_STOPS} stop sequences; only the first {MAX_STOPS} of {n} \
             are written"
        ));
        stops.truncate(MAX_STOPS);
    }
    if !stops.is_empty() {
        fields.push(("stop", Value::texts(stops)));
    }
    grammar::write_openai(
        flavor,
        config.chain.grammar.as_ref(),
        &mut plan,
        &mut fields,
    );
    drafts::write_openai(config.chain.drafts, &mut plan);
    match (flavor, config.limits.end_of_text) {
        (Flavor::Vllm, EndOfText::Ignored) => fields.push(("ignore_eos", Value::Bool(true))),
        (_, end_of_text) => plan.tell_end_of_text(end_of_text),
    }
    plan.written(&manner, fields)
}

fn stages(plan: &mut Plan) -> NamedValues {
    let greedy = plan.selector == Selector::Greedy;
    let (mut t, mut p, mut penalties) = (if greedy { 0.0 } else { 1.0 }, 1.0, NamedValues::new());
    for filter in plan.filters.clone() {
        match filter {
            Filter::Temperature(filter) if !greedy => {
                t = within("temperature", filter.temperature, TEMPERATURES, plan);
            }
            Filter::TopP(filter) if !greedy => p = filter.p,
            Filter::FrequencyPenalty(filter) => {
                let penalty = within("frequency_penalty", filter.penalty, PENALTIES, plan);
                penalties.push(("frequency_penalty", Value::from(penalty)));
            }
            Filter::PresencePenalty(filter) => {
                let penalty = within("presence_penalty", filter.penalty, PENALTIES, plan);
                penalties.push(("presence_penalty", Value::from(penalty)));
            }
            // A stage that keeps the top token, before another stage of a greedy chain.
            Filter::Temperature(_) | Filter::TopP(_) | Filter::TopK(_) | Filter::MinP(_)
                if greedy =>
            {
                let name = plan.name;
                plan.tell(format!(
                    "{name} decodes greedily at temperature 0; {filter} is left out"
                ));
            }
            _ => {}
        }
    }
    let mut fields = vec![("temperature", Value::from(t)), ("top_p", Value::from(p))];
    fields.extend(penalties);
    let mut biases = Vec::new();
    for (token, bias) in biases::by_token(plan.find(FilterKind::LogitBias)) {
        let bias = bias.map_or(BAN, |bias| within("logit_bias", bias, BAN..=-BAN, plan));
        biases.push((Value::text(token.to_string()), Value::from(bias)));
    }
    if !biases.is_empty() {
        fields.push(("logit_bias", Value::Map(biases)));
    }
    fields
}

/// Returns vLLM's other fields. A missing one would be replaced by what the model's
/// `generation_config.json` recommends.
fn beyond_openai(plan: &Plan) -> NamedValues {
    let greedy = plan.selector == Selector::Greedy;
    let (mut top_k, mut min_p, mut penalty) =
        (Value::Number("-1".to_owned()), Value::from(0.0), 1.0);
    for filter in &plan.filters {
        match filter {
            Filter::TopK(filter) if !greedy => top_k = Value::from(filter.k),
            Filter::MinP(filter) if !greedy => min_p = Value::from(filter.p),
            Filter::RepetitionPenalty(filter) => penalty = filter.penalty,
            _ => {}
        }
    }
    vec![
        ("top_k", top_k),
        ("min_p", min_p),
        ("repetition_penalty", Value::from(penalty)),
    ]
}

/// Notes that vLLM raises a low temperature.
fn tell_coldest(plan: &mut Plan) {
    let heat = plan.find(FilterKind::Temperature).cloned();
    if plan.selector != Selector::Greedy
        && let Some(Filter::Temperature(Temperature { temperature })) = heat
        && temperature < COLDEST
    {
        plan.tell(format!(
            "vLLM raises temperature {temperature} to {COLDEST}"
        ));
        let words = format!("temperature {temperature} (used: {COLDEST})");
        plan.differ(Difference::new(words));
    }
}

/// Clamps a value to the range that the service accepts.
fn within(name: &str, value: f32, range: RangeInclusive<f32>, plan: &mut Plan) -> f32 {
    if range.contains(&value) {
        return value;
    }
    let (low, high) = range.into_inner();
    let nearest = value.clamp(low, high);
    let service = plan.name;
    plan.tell(format!(
        "{service} accepts a {name} from {low} to {high}; {value} becomes {nearest}"
    ));
    let what = name.replace('_', " ");
    plan.differ(Difference::new(format!("{what} {value} (used: {nearest})")));
    nearest
}

/// Returns the chain that these fields define.
pub(super) fn read(fields: &mut Fields) -> Result<ChainConfig, String> {
    let mut chain = ChainConfig {
        dialect: Some(Dialect::OpenAi),
        rules: Dialect::OpenAi.rules(),
        ..ChainConfig::sampled([])
    };
    grammar::read_openai(Flavor::OpenAi, fields, &mut chain)?;
    let stages = &mut chain.stages;
    let bias = biases::read("logit_bias", BAN, fields)?;
    fields.add(Filter::LogitBias(bias), &["logit_bias"], stages)?;
    let window = Window::GENERATED;
    let penalty = number("frequency_penalty", 0.0, PENALTIES, fields)?;
    let frequency = Filter::FrequencyPenalty(FrequencyPenalty { penalty, window });
    fields.add(frequency, &["frequency_penalty"], stages)?;
    let penalty = number("presence_penalty", 0.0, PENALTIES, fields)?;
    let presence = Filter::PresencePenalty(PresencePenalty { penalty, window });
    fields.add(presence, &["presence_penalty"], stages)?;
    let temperature = number("temperature", 1.0, TEMPERATURES, fields)?;
    let p = number("top_p", 1.0, 0.0..=1.0, fields)?;
    if temperature > 0.0 {
        fields.add(
            Filter::Temperature(Temperature { temperature }),
            &["temperature"],
            stages,
        )?;
        fields.add(Filter::TopP(TopP { p }), &["top_p"], stages)?;
    } else {
        chain.selector = Selector::Greedy;
    }
    drafts::read_vllm(fields, &mut chain)?;
    Ok(chain)
}

fn number(
    name: &str,
    default: f32,
    range: RangeInclusive<f32>,
    fields: &mut Fields,
) -> Result<f32, String> {
    let number = fields.number(name)?.unwrap_or(default);
    if range.contains(&number) {
        return Ok(number);
    }
    let (low, high) = range.into_inner();
    let written = fields.as_written(name);
    Err(format!(
        "{written} is invalid: it must be between {low} and {high}"
    ))
}
