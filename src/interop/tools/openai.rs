//! The body of a request to a service with OpenAI's API.
//!
//! Read from copies of the reference of the chat completions in client libraries (2025):
//! `temperature` 0 to 2, `top_p` 0 to 1, penalties from -2 to 2, biases from -100, which bans, to 100,
//! and at most four stop texts. The order of the stages is not written there; it is that of our
//! dialect.

use super::biases;
use super::fields::Fields;
use super::plan::{Manner, Plan};
use super::value::{Said, Value};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{FrequencyPenalty, PresencePenalty, Temperature, TopP, Window};
use crate::decoding::{ChainConfig, Filter, FilterKind, Selector};
use crate::generation::GenerationConfig;

/// The fields that are read as settings.
pub(super) const NAMES: [&str; 9] = [
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "seed",
    "stop",
    "max_tokens",
    "max_completion_tokens",
];

/// Fields about other things.
pub(super) const OTHERS: [&str; 15] = [
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

/// The bias that bans.
const BAN: f32 = -100.0;

const MOST_STOPS: usize = 4;

/// The fields, and what is lost.
pub(super) fn write(config: &GenerationConfig) -> (Said, Vec<String>) {
    let mut plan = Plan::new(&Manner::of("OpenAI", Dialect::OpenAi), config);
    plan.without_other_selectors();
    plan.expect_window(
        &[FilterKind::FrequencyPenalty, FilterKind::PresencePenalty],
        Window::GENERATED,
    );
    let mut said = stages(&mut plan);
    let seed = plan.seed(config.seed, i64::MAX.unsigned_abs());
    said.extend(seed.map(|seed| ("seed", Value::from(seed))));
    said.push(("max_tokens", Value::from(config.limits.max_new_tokens)));
    let stops = config
        .limits
        .stop_strings
        .iter()
        .filter(|text| !text.is_empty());
    let mut stops: Vec<&String> = stops.collect();
    if stops.len() > MOST_STOPS {
        let n = stops.len();
        plan.tell(format!(
            "OpenAI takes at most {MOST_STOPS} stop texts; of the {n} here the others are left out"
        ));
        stops.truncate(MOST_STOPS);
    }
    if !stops.is_empty() {
        said.push(("stop", Value::texts(stops)));
    }
    plan.tell_end_of_text(config.limits.end_of_text);
    (said, plan.unsaid)
}

fn stages(plan: &mut Plan) -> Said {
    let greedy = plan.selector == Selector::Greedy;
    let (mut t, mut p, mut penalties) = (if greedy { 0.0 } else { 1.0 }, 1.0, Said::new());
    for filter in plan.filters.clone() {
        match filter {
            Filter::Temperature(filter) if !greedy => {
                t = within("temperature", filter.temperature, (0.0, 2.0), plan);
            }
            Filter::TopP(filter) if !greedy => p = filter.p,
            Filter::FrequencyPenalty(filter) => {
                let penalty = within("frequency_penalty", filter.penalty, (-2.0, 2.0), plan);
                penalties.push(("frequency_penalty", Value::from(penalty)));
            }
            Filter::PresencePenalty(filter) => {
                let penalty = within("presence_penalty", filter.penalty, (-2.0, 2.0), plan);
                penalties.push(("presence_penalty", Value::from(penalty)));
            }
            // Temperature and top-p before another stage, where the most likely token is taken.
            Filter::Temperature(_) | Filter::TopP(_) if greedy => {
                plan.tell(format!(
                    "OpenAI takes the most likely token at a temperature of 0; {filter} is left out"
                ));
            }
            _ => {}
        }
    }
    let mut said = vec![("temperature", Value::from(t)), ("top_p", Value::from(p))];
    said.extend(penalties);
    let mut biases = Vec::new();
    for (token, bias) in biases::by_token(plan.find(FilterKind::LogitBias)) {
        let bias = bias.map_or(BAN, |bias| within("logit_bias", bias, (BAN, -BAN), plan));
        biases.push((Value::text(token.to_string()), Value::from(bias)));
    }
    if !biases.is_empty() {
        said.push(("logit_bias", Value::Map(biases)));
    }
    said
}

/// The nearest value that is taken there.
fn within(name: &str, value: f32, (low, high): (f32, f32), plan: &mut Plan) -> f32 {
    let nearest = value.clamp(low, high);
    if (low..=high).contains(&value) {
        return value;
    }
    plan.tell(format!(
        "OpenAI takes a {name} from {low} to {high}; {nearest} is written for {value}"
    ));
    nearest
}

/// The chain that these fields mean.
pub(super) fn read(fields: &mut Fields) -> Result<ChainConfig, String> {
    let mut chain = ChainConfig {
        dialect: Some(Dialect::OpenAi),
        rules: Dialect::OpenAi.rules(),
        ..ChainConfig::sampled([])
    };
    let stages = &mut chain.stages;
    let bias = biases::read("logit_bias", BAN, fields)?;
    fields.add(Filter::LogitBias(bias), &["logit_bias"], stages)?;
    let window = Window::GENERATED;
    let penalty = number("frequency_penalty", 0.0, (-2.0, 2.0), fields)?;
    let frequency = Filter::FrequencyPenalty(FrequencyPenalty { penalty, window });
    fields.add(frequency, &["frequency_penalty"], stages)?;
    let penalty = number("presence_penalty", 0.0, (-2.0, 2.0), fields)?;
    let presence = Filter::PresencePenalty(PresencePenalty { penalty, window });
    fields.add(presence, &["presence_penalty"], stages)?;
    let temperature = number("temperature", 1.0, (0.0, 2.0), fields)?;
    let p = number("top_p", 1.0, (0.0, 1.0), fields)?;
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
    Ok(chain)
}

fn number(
    name: &str,
    default: f32,
    (low, high): (f32, f32),
    fields: &mut Fields,
) -> Result<f32, String> {
    let number = fields.number(name)?.unwrap_or(default);
    if (low..=high).contains(&number) {
        return Ok(number);
    }
    let written = fields.as_written(name);
    Err(format!(
        "{written} can't be: there it lies between {low} and {high}"
    ))
}
