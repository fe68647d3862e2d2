//! vLLM's settings, as a call of `SamplingParams`.
//!
//! Source: `vllm/sampling_params.py` (2026, commit 00388f6): its defaults, ranges and special cases.
//! The order is that of our dialect.

use super::fields::Fields;
use super::{ImportedSettings, biases, drafts, grammar, openai, thoughts};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{
    FrequencyPenalty, MinP, PresencePenalty, RepetitionPenalty, Temperature, TopK, TopP, Window,
};
use crate::decoding::{ChainConfig, Filter, Selector};

/// The call whose arguments are read.
pub(super) const CALL: &str = "SamplingParams";

const MOST_BIAS: f32 = 100.0;

/// How many tokens are generated if the call does not say.
const MAX_TOKENS: usize = 16;

/// Arguments that do not affect sampling.
pub(super) const UNRELATED: [&str; 14] = [
    "detokenize",
    "flat_logprobs",
    "include_stop_str_in_output",
    "logprob_token_ids",
    "logprobs",
    "n",
    "output_kind",
    "prompt_logprobs",
    "skip_clone",
    "skip_reading_prefix_cache",
    "skip_special_tokens",
    "spaces_between_special_tokens",
    "stop_token_ids",
    "stream_interval",
];

/// The lowest temperature that vLLM samples at. Only 0 is greedy; anything between is raised.
pub(super) const COLDEST: f32 = 0.01;

/// Returns the chain that these arguments define.
pub(super) fn read(fields: &mut Fields) -> Result<ChainConfig, String> {
    let mut chain = ChainConfig {
        dialect: Some(Dialect::Vllm),
        rules: Dialect::Vllm.rules(),
        ..ChainConfig::sampled([])
    };
    grammar::read_openai(openai::Flavor::Vllm, fields, &mut chain)?;
    let stages = &mut chain.stages;
    // vLLM clamps a bias to ±100. As elsewhere, the lowest one counts as a ban.
    let mut bias = biases::read("logit_bias", -MOST_BIAS, fields)?;
    for entry in &mut bias.biases {
        entry.bias = entry.bias.min(MOST_BIAS);
    }
    fields.add(Filter::LogitBias(bias), &["logit_bias"], stages)?;
    let penalty = fields.number("repetition_penalty")?.unwrap_or(1.0);
    let window = Window::ALL;
    let repetition = Filter::RepetitionPenalty(RepetitionPenalty { penalty, window });
    fields.add(repetition, &["repetition_penalty"], stages)?;
    let window = Window::GENERATED;
    let penalty = within("frequency_penalty", 0.0, [-2.0, 2.0], fields)?;
    let frequency = Filter::FrequencyPenalty(FrequencyPenalty { penalty, window });
    fields.add(frequency, &["frequency_penalty"], stages)?;
    let penalty = within("presence_penalty", 0.0, [-2.0, 2.0], fields)?;
    let presence = Filter::PresencePenalty(PresencePenalty { penalty, window });
    fields.add(presence, &["presence_penalty"], stages)?;
    thoughts::read_vllm(fields, &mut chain)?;
    let stages = &mut chain.stages;
    let temperature = temperature(fields)?;
    let p = within("min_p", 0.0, [0.0, 1.0], fields)?;
    let min_p = Filter::MinP(MinP { p });
    let top_k = Filter::TopK(TopK { k: top_k(fields)? });
    let p = within("top_p", 1.0, [0.0, 1.0], fields)?;
    if p <= 0.0 {
        let written = fields.as_written("top_p");
        return Err(format!("{written} is invalid: it must be above 0"));
    }
    let top_p = Filter::TopP(TopP { p });
    match temperature {
        None => chain.selector = Selector::Greedy,
        Some(temperature) => {
            let heat = Filter::Temperature(Temperature { temperature });
            for (filter, name) in [
                (heat, "temperature"),
                (min_p, "min_p"),
                (top_k, "top_k"),
                (top_p, "top_p"),
            ] {
                fields.add(filter, &[name], stages)?;
            }
        }
    }
    drafts::read_vllm(fields, &mut chain)?;
    Ok(chain)
}

/// Adds what a call means by leaving out the token limit. A request without one has another limit,
/// and might not be vLLM's.
pub(super) fn complete(is_call: bool, read: &mut ImportedSettings) {
    if !is_call {
        read.ignored.push(AMBIGUOUS.to_owned());
    } else if read.max_new_tokens.is_none() {
        read.max_new_tokens = Some(MAX_TOKENS);
        read.ignored.push(format!(
            "{CALL} sets no max_tokens, for which vLLM uses {MAX_TOKENS}"
        ));
    }
}

/// text-generation-webui's API has the same names.
pub(super) const AMBIGUOUS: &str =
    "Read as settings of vLLM; text-generation-webui has the same names, but other rules";

/// `None` is greedy.
fn temperature(fields: &mut Fields) -> Result<Option<f32>, String> {
    let temperature = within("temperature", 1.0, [0.0, 2.0], fields)?;
    if temperature <= 0.0 {
        return Ok(None);
    }
    if temperature < COLDEST {
        let written = fields.as_written("temperature");
        let sentence = format!("{written} is raised to {COLDEST}, as in vLLM");
        fields.ignored.push(sentence);
    }
    Ok(Some(temperature.max(COLDEST)))
}

/// 0 and −1 are off.
fn top_k(fields: &mut Fields) -> Result<u32, String> {
    let k = fields.integer("top_k")?.unwrap_or(0);
    if k == -1 {
        return Ok(0);
    }
    u32::try_from(k).map_err(|_out_of_range| {
        let written = fields.as_written("top_k");
        format!("{written} is invalid: it must be 0 or -1 (off), or at least 1")
    })
}

fn within(
    name: &str,
    default: f32,
    [low, high]: [f32; 2],
    fields: &mut Fields,
) -> Result<f32, String> {
    let number = fields.number(name)?.unwrap_or(default);
    if (low..=high).contains(&number) {
        return Ok(number);
    }
    let written = fields.as_written(name);
    Err(format!(
        "{written} is invalid: it must be between {low} and {high}"
    ))
}
