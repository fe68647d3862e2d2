//! Converts a chain to llama.cpp's settings. llama.cpp's defaults are switched off if the chain has
//! no such stage, and the sampler order is written if it is not the default.

use super::{ADAPTIVE, Flavor, PENALTIES};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{Dry, Window};
use crate::decoding::{Filter, FilterKind, Selector};
use crate::generation::{EndOfText, GenerationConfig, Vocabulary};
use crate::interop::tools::breakers::{self, Texts};
use crate::interop::tools::differences::{Difference, Written};
use crate::interop::tools::plan::{Plan, selector_name};
use crate::interop::tools::value::{NamedValues, Value};
use crate::interop::tools::{biases, drafts, grammar, modelfile, thoughts};

/// The largest seed; the next value requests a random one.
const MAX_SEED: u64 = 0xFFFF_FFFE;

/// The window to write for "all tokens", which llama.cpp can't express. A larger one costs memory.
const LONG_WINDOW: u32 = 32_768;

/// Where parameters of Ollama mean what they mean in its MLX runner.
const ONLY_MLX: &str = "Ollama applies these in this order to safetensors, in its MLX runner; a GGUF \
                        file runs in llama-server, in another order";

/// The largest count that llama.cpp accepts.
const MAX_COUNT: u32 = i32::MAX.unsigned_abs();

/// Returns the settings, and how they differ from the chain.
pub(in super::super) fn write(
    flavor: Flavor,
    config: &GenerationConfig,
    vocabulary: Option<&Vocabulary>,
) -> Written {
    let manner = flavor.manner(config.chain.dialect);
    let mut plan = Plan::new(&manner, config);
    if flavor == Flavor::Ollama && config.chain.dialect == Some(Dialect::OllamaMlx) {
        plan.tell(ONLY_MLX.to_owned());
    }
    let has_selector = matches!(
        plan.selector,
        Selector::MirostatV1(_) | Selector::MirostatV2(_) | Selector::AdaptiveP(_)
    );
    if flavor == Flavor::Ollama || !has_selector {
        plan.without_other_selectors();
    }
    let mut fields = NamedValues::new();
    match mirostat(plan.selector) {
        Some((version, tau, eta)) => {
            only_before_mirostat(&mut plan);
            fields.push(("mirostat", Value::from(version)));
            fields.push(("mirostat_tau", Value::from(tau)));
            fields.push(("mirostat_eta", Value::from(eta)));
            temperature(&plan, &mut fields);
        }
        None => samplers(flavor, &mut plan, vocabulary, &mut fields),
    }
    thoughts::write_llama(flavor, &mut plan, vocabulary, &mut fields);
    let biases = biases::by_token(plan.find(FilterKind::LogitBias));
    if !biases.is_empty() {
        fields.push(("logit_bias", biases::as_pairs(&biases)));
    }
    let rule = config.chain.grammar.as_ref();
    grammar::write_llama(flavor, rule, &mut plan, &mut fields);
    if flavor != Flavor::Ollama {
        drafts::write_llama(flavor, config.chain.drafts, &mut plan, &mut fields);
    }
    limits(flavor, config, &mut plan, &mut fields);
    plan.written(&manner, fields)
}

fn samplers(
    flavor: Flavor,
    plan: &mut Plan,
    vocabulary: Option<&Vocabulary>,
    fields: &mut NamedValues,
) {
    only_one_temperature(plan);
    only_counts(plan);
    if flavor != Flavor::Ollama {
        fields.extend(order(plan).map(|order| ("samplers", order)));
    }
    temperature(plan, fields);
    cuts(flavor, plan, fields);
    penalties(plan, fields);
    if let Some(Filter::Dry(dry)) = plan.find(FilterKind::Dry).cloned() {
        dry_fields(flavor, &dry, plan, vocabulary, fields);
    }
    if let Selector::AdaptiveP(adaptive) = plan.selector {
        fields.push(("adaptive_target", Value::from(adaptive.target)));
        fields.push(("adaptive_decay", Value::from(adaptive.decay)));
    }
}

const fn mirostat(selector: Selector) -> Option<(u32, f32, f32)> {
    match selector {
        Selector::MirostatV1(mirostat) => Some((1, mirostat.tau, mirostat.eta)),
        Selector::MirostatV2(mirostat) => Some((2, mirostat.tau, mirostat.eta)),
        _ => None,
    }
}

/// Mirostat replaces every sampler except logit bias and plain temperature.
fn only_before_mirostat(plan: &mut Plan) {
    let (name, selector) = (plan.name, selector_name(plan.selector));
    plan.leave_out(|filter| {
        let stays = matches!(
            filter.kind(),
            FilterKind::LogitBias | FilterKind::Temperature | FilterKind::ThinkingBudget
        );
        (!stays).then(|| {
            format!("{name} applies only logit bias and temperature before {selector}; {filter} is left out")
        })
    });
}

/// llama.cpp decodes greedily at temperature 0, so another temperature can't come before it.
fn only_one_temperature(plan: &mut Plan) {
    if plan.selector == Selector::Greedy {
        let name = plan.name;
        plan.leave_out(|filter| {
            let is_one = filter.kind().place() == FilterKind::Temperature;
            is_one.then(|| {
                format!("{name} has a single temperature, which is 0 for greedy decoding; {filter} is left out")
            })
        });
    }
}

/// llama.cpp rejects larger counts.
fn only_counts(plan: &mut Plan) {
    let name = plan.name;
    plan.leave_out(|filter| {
        let count = match filter {
            Filter::TopK(top_k) => top_k.k,
            Filter::Dry(dry) => dry.allowed_length,
            _ => 0,
        };
        (count > MAX_COUNT)
            .then(|| format!("{name} accepts integers up to {MAX_COUNT}; {filter} is left out"))
    });
}

/// Returns the names of the samplers in order, or `None` if it is the default order.
fn order(plan: &Plan) -> Option<Value> {
    let samplers = super::samplers();
    let mut order: Vec<usize> = Vec::new();
    for filter in &plan.filters {
        let kind = filter.kind();
        let sampler = samplers.iter().position(|(_, kinds)| kinds.contains(&kind));
        order.extend(sampler.filter(|sampler| !order.contains(sampler)));
    }
    let adaptive = matches!(plan.selector, Selector::AdaptiveP(_));
    if order.is_sorted() && !adaptive {
        return None;
    }
    let mut names: Vec<&str> = order
        .iter()
        .filter_map(|index| samplers.get(*index))
        .map(|(name, _)| *name)
        .collect();
    if plan.selector == Selector::Greedy {
        names.push("temperature");
    }
    if adaptive {
        names.push(ADAPTIVE);
    }
    Some(Value::texts(names))
}

fn temperature(plan: &Plan, fields: &mut NamedValues) {
    match (
        plan.find(FilterKind::Temperature),
        plan.find(FilterKind::DynamicTemperature),
    ) {
        _ if plan.selector == Selector::Greedy => fields.push(("temperature", Value::from(0.0))),
        (Some(Filter::Temperature(plain)), _) => {
            fields.push(("temperature", Value::from(plain.temperature)));
        }
        (_, Some(Filter::DynamicTemperature(dynamic))) => {
            fields.push(("temperature", Value::from(dynamic.temperature)));
            fields.push(("dynatemp_range", Value::from(dynamic.range)));
            fields.push(("dynatemp_exponent", Value::from(dynamic.exponent)));
        }
        _ => fields.push(("temperature", Value::from(1.0))),
    }
}

fn cuts(flavor: Flavor, plan: &Plan, fields: &mut NamedValues) {
    let (mut k, mut p, mut p_of_best) = (0, 1.0, 0.0);
    let mut others = NamedValues::new();
    for filter in &plan.filters {
        match filter {
            Filter::TopK(filter) => k = filter.k,
            Filter::TopP(filter) => p = filter.p,
            Filter::MinP(filter) => p_of_best = filter.p,
            Filter::TypicalP(filter) => others.push(("typical_p", Value::from(filter.p))),
            Filter::TopNSigma(filter) => others.push(("top_n_sigma", Value::from(filter.n))),
            Filter::Xtc(filter) => {
                others.push(("xtc_probability", Value::from(filter.probability)));
                others.push(("xtc_threshold", Value::from(filter.threshold)));
            }
            _ => {}
        }
    }
    fields.push(("top_k", Value::from(k)));
    fields.push(("top_p", Value::from(p)));
    fields.push(("min_p", Value::from(p_of_best)));
    fields.extend(others);
    if flavor == Flavor::Server && plan.min_keep > 1 {
        fields.push(("min_keep", Value::from(plan.min_keep.min(MAX_COUNT))));
    }
}

fn penalties(plan: &mut Plan, fields: &mut NamedValues) {
    let (mut repeat, mut others) = (1.0, NamedValues::new());
    for filter in &plan.filters {
        match filter {
            Filter::RepetitionPenalty(filter) => repeat = filter.penalty,
            Filter::FrequencyPenalty(filter) => {
                others.push(("frequency_penalty", Value::from(filter.penalty)));
            }
            Filter::PresencePenalty(filter) => {
                others.push(("presence_penalty", Value::from(filter.penalty)));
            }
            _ => {}
        }
    }
    fields.push(("repeat_penalty", Value::from(repeat)));
    fields.extend(others);
    let mut windows = PENALTIES
        .iter()
        .filter_map(|kind| plan.find(*kind)?.window());
    if let Some(first) = windows.next() {
        let last_n = plan_window(&PENALTIES, first, plan);
        fields.push(("repeat_last_n", last_n));
    }
}

/// Returns the size to write for a window. In llama.cpp, every window includes the prompt. Ollama
/// documents −1 as the whole context, but passes it on to a llama-server that refuses it.
fn plan_window(kinds: &[FilterKind], window: Window, plan: &mut Plan) -> Value {
    let counted = window.last_n.filter(|n| *n <= MAX_COUNT);
    let last_n = counted.unwrap_or(LONG_WINDOW);
    let theirs = Window {
        last_n: Some(last_n),
        prompt_counted: true,
    };
    plan.expect_window(kinds, theirs);
    Value::from(last_n)
}

fn dry_fields(
    flavor: Flavor,
    dry: &Dry,
    plan: &mut Plan,
    vocabulary: Option<&Vocabulary>,
    fields: &mut NamedValues,
) {
    let last_n = plan_window(&[FilterKind::Dry], dry.window, plan);
    fields.push(("dry_multiplier", Value::from(dry.multiplier)));
    fields.push(("dry_base", Value::from(dry.base)));
    fields.push(("dry_allowed_length", Value::from(dry.allowed_length)));
    fields.push(("dry_penalty_last_n", last_n));
    let name = plan.name;
    let texts = match vocabulary {
        _ if dry.breakers.is_empty() => Vec::new(),
        None => {
            plan.tell(format!(
                "{name} takes DRY’s sequence breakers as strings: load a model to convert them from tokens"
            ));
            plan.differ(Difference::new("DRY’s sequence breakers".to_owned()));
            Vec::new()
        }
        Some(vocabulary) => match breakers::texts(&dry.breakers, vocabulary) {
            Texts::Defaults => return,
            Texts::Named { texts, exact } => {
                if !exact {
                    plan.tell(format!(
                        "{name}’s DRY breaks at every token that contains a breaker’s text; Quartet \
                         breaks only at the chosen tokens"
                    ));
                    let words = "DRY’s sequence breakers as tokens (used: their texts)";
                    plan.differ(Difference::new(words.to_owned()));
                }
                texts
            }
        },
    };
    fields.push(("dry_sequence_breakers", breaker_texts(flavor, texts)));
}

/// Formats the breakers. The flag uses "none" for no breakers. The JSON requires at least one
/// string, and an empty one is ignored.
fn breaker_texts(flavor: Flavor, texts: Vec<String>) -> Value {
    match flavor {
        Flavor::Flags if texts.is_empty() => Value::texts(["none"]),
        _ if texts.is_empty() => Value::texts([""]),
        _ => Value::texts(texts),
    }
}

fn limits(flavor: Flavor, config: &GenerationConfig, plan: &mut Plan, fields: &mut NamedValues) {
    let seed = plan.seed(config.seed, MAX_SEED);
    fields.extend(seed.map(|seed| ("seed", Value::from(seed))));
    let n_predict = if flavor == Flavor::Ollama {
        "num_predict"
    } else {
        "n_predict"
    };
    let n_tokens = config.limits.max_new_tokens;
    if n_tokens <= MAX_COUNT as usize {
        fields.push((n_predict, Value::from(n_tokens)));
    } else {
        let name = plan.name;
        plan.tell(format!(
            "{name} accepts integers up to {MAX_COUNT}; the limit of {n_tokens} tokens is left out"
        ));
    }
    let stops = config
        .limits
        .stop_strings
        .iter()
        .filter(|text| !text.is_empty());
    let (stops, lost): (Vec<&String>, Vec<&String>) =
        stops.partition(|text| flavor != Flavor::Ollama || modelfile::can_hold(text));
    for text in lost {
        plan.tell(format!(
            "A Modelfile can’t represent the stop sequence {text:?}"
        ));
    }
    if !stops.is_empty() {
        fields.push(("stop", Value::texts(stops)));
    }
    if flavor == Flavor::Ollama {
        plan.tell_end_of_text(config.limits.end_of_text);
    } else if config.limits.end_of_text == EndOfText::Ignored {
        fields.push(("ignore_eos", Value::Bool(true)));
        let name = plan.name;
        plan.tell(format!(
            "With ignore_eos, {name} never samples an end-of-text token; Quartet treats it like any \
             other token and continues"
        ));
        let words = format!("{} (used: no end of text)", EndOfText::IGNORED_WORDS);
        plan.differ(Difference::new(words));
    }
}
