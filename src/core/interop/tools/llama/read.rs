//! Converts llama.cpp's settings to a chain, with its sampler order and its defaults for whatever
//! is unset.

use super::{ADAPTIVE, Flavor};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{
    Dry, DynamicTemperature, FrequencyPenalty, MinP, PresencePenalty, RepetitionPenalty, TopK,
    TopNSigma, TopP, TypicalP, Window, Xtc,
};
use crate::decoding::selector::{AdaptiveP, MirostatV1, MirostatV2};
use crate::decoding::{ChainConfig, Filter, FilterKind, Selector, Stage, TokenId};
use crate::generation::Vocabulary;
use crate::interop::tools::fields::{Fields, without_effect};
use crate::interop::tools::value::Value;
use crate::interop::tools::{biases, breakers, drafts, grammar, thoughts};

/// A filter and the names of the settings that define it.
type NamedFilter = (Filter, &'static [&'static str]);

/// Returns the chain that these settings define.
pub(in super::super) fn read(
    flavor: Flavor,
    fields: &mut Fields,
    vocabulary: Option<&Vocabulary>,
) -> Result<ChainConfig, String> {
    let mut chain = ChainConfig {
        dialect: Some(flavor.dialect()),
        rules: flavor.dialect().rules(),
        ..ChainConfig::sampled([])
    };
    thoughts::read_llama(fields, &mut chain)?;
    let bias = biases::read("logit_bias", f32::NEG_INFINITY, fields)?;
    fields.add(Filter::LogitBias(bias), &["logit_bias"], &mut chain.stages)?;
    grammar::read_llama(fields, &mut chain)?;
    if let Some(min_keep) = fields.integer("min_keep")? {
        chain.rules.min_keep = clamped(min_keep);
    }
    let samplers = samplers(fields)?;
    let mut values = Values::read(flavor, fields, vocabulary)?;
    match mirostat(fields)? {
        Some(selector) => {
            chain.selector = selector;
            if values.temperature.range > 0.0 {
                let range = fields.as_written("dynatemp_range");
                fields.report_as_in_tool(format!("{range} has no effect with mirostat"));
                values.temperature.range = 0.0;
            }
            values.add("temperature", fields, &mut chain.stages)?;
            let is_used = |sampler: &str| sampler == "temperature";
            values.report_unused(fields, is_used, "with mirostat");
        }
        None => read_samplers(&samplers, &values, fields, &mut chain)?,
    }
    drafts::read_llama(fields, &mut chain)?;
    Ok(chain)
}

fn read_samplers(
    samplers: &[String],
    values: &Values,
    fields: &mut Fields,
    chain: &mut ChainConfig,
) -> Result<(), String> {
    let is_listed = |sampler: &str| samplers.iter().any(|listed| listed == sampler);
    if is_listed(ADAPTIVE) && values.adaptive.target >= 0.0 {
        chain.selector = Selector::AdaptiveP(values.adaptive);
        if let Err(error) = chain.selector.validate() {
            let [target, decay] =
                ["adaptive_target", "adaptive_decay"].map(|name| fields.as_written(name));
            return Err(format!("{target}, {decay} are invalid: {error}"));
        }
    } else if values.adaptive.target >= 0.0 {
        let target = fields.as_written("adaptive_target");
        fields.report_as_in_tool(format!(
            "{target} has no effect because {ADAPTIVE} is not among the samplers"
        ));
    }
    for sampler in samplers {
        if sampler == "temperature" && values.is_greedy() {
            // Only one token is left, so later samplers have no effect.
            chain.selector = Selector::Greedy;
            break;
        }
        values.add(sampler, fields, &mut chain.stages)?;
    }
    values.report_unused(fields, is_listed, "because its sampler is not listed");
    Ok(())
}

/// The longest list of samplers that is accepted. A usual one names each sampler once.
const N_MAX_SAMPLERS: usize = 100;

/// Returns the samplers in order, by their primary names in llama.cpp.
fn samplers(fields: &mut Fields) -> Result<Vec<String>, String> {
    let Some(field) = fields.take("samplers") else {
        let samplers = super::samplers().into_iter();
        return Ok(samplers.map(|(name, _)| name.to_owned()).collect());
    };
    let listed: Vec<String> = match &field.value {
        Value::Text(letters) => letters.chars().map(String::from).collect(),
        Value::List(names) => names.iter().map(ToString::to_string).collect(),
        _ => return Err(format!("{} must be a list of samplers", field.shown)),
    };
    if listed.len() > N_MAX_SAMPLERS {
        let (name, n) = (&field.shown, listed.len());
        return Err(format!(
            "{name} lists {n} samplers, but at most {N_MAX_SAMPLERS} are read"
        ));
    }
    let mut samplers = Vec::new();
    for name in listed {
        match sampler(&name) {
            Some(sampler) => samplers.push(sampler.to_owned()),
            None => fields.ignored.push(format!("Unknown sampler {name:?}")),
        }
    }
    Ok(samplers)
}

fn sampler(name: &str) -> Option<&'static str> {
    let name = name.replace('-', "_");
    if [ADAPTIVE, "a"].contains(&name.as_str()) {
        return Some(ADAPTIVE);
    }
    let names = FilterKind::ALL
        .iter()
        .map(|kind| kind.spec().llama_samplers);
    let mut meant = names.filter(|names| names.contains(&name.as_str()));
    meant.next()?.first().copied()
}

fn mirostat(fields: &mut Fields) -> Result<Option<Selector>, String> {
    let version = fields.integer("mirostat")?.unwrap_or(0);
    let tau = fields.number("mirostat_tau")?.unwrap_or(5.0);
    let eta = fields.number("mirostat_eta")?.unwrap_or(0.1);
    let selector = match version {
        0 => return Ok(None),
        1 => Selector::MirostatV1(MirostatV1 { tau, eta }),
        2 => Selector::MirostatV2(MirostatV2 { tau, eta }),
        _ => {
            return Err(format!(
                "{} is invalid: mirostat must be 0, 1 or 2",
                fields.as_written("mirostat")
            ));
        }
    };
    match selector.validate() {
        Err(error) => Err(format!(
            "{} is invalid: {error}",
            fields.as_written("mirostat")
        )),
        Ok(()) => Ok(Some(selector)),
    }
}

/// The values of all samplers, whether set or defaults.
struct Values {
    temperature: DynamicTemperature,
    top_k: TopK,
    typical_p: TypicalP,
    top_p: TopP,
    min_p: MinP,
    top_n_sigma: TopNSigma,
    xtc: Xtc,
    repetition: RepetitionPenalty,
    frequency: FrequencyPenalty,
    presence: PresencePenalty,
    dry: Dry,
    adaptive: AdaptiveP,
}

impl Values {
    fn read(
        flavor: Flavor,
        fields: &mut Fields,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Self, String> {
        let dialect = flavor.dialect();
        let default = |kind, index| default(dialect, kind, index);
        let window = window(
            "repeat_last_n",
            FilterKind::RepetitionPenalty,
            flavor,
            fields,
        )?;
        let min_p = min_p(default(FilterKind::MinP, 0), fields)?;
        let mut number = |name: &str, default: f32| -> Result<f32, String> {
            Ok(fields.number(name)?.unwrap_or(default))
        };
        let off_below_zero = |number: f32| number.max(0.0);
        let off_above_one = |number: f32| number.min(1.0);
        Ok(Self {
            temperature: DynamicTemperature {
                temperature: off_below_zero(number(
                    "temperature",
                    default(FilterKind::DynamicTemperature, 0),
                )?),
                range: off_below_zero(number(
                    "dynatemp_range",
                    default(FilterKind::DynamicTemperature, 1),
                )?),
                exponent: number(
                    "dynatemp_exponent",
                    default(FilterKind::DynamicTemperature, 2),
                )?,
            },
            typical_p: TypicalP {
                p: off_above_one(number("typical_p", default(FilterKind::TypicalP, 0))?),
            },
            top_p: TopP {
                p: off_above_one(number("top_p", default(FilterKind::TopP, 0))?),
            },
            min_p,
            top_n_sigma: TopNSigma {
                n: off_below_zero(number("top_n_sigma", default(FilterKind::TopNSigma, 0))?),
            },
            xtc: Xtc {
                probability: number("xtc_probability", default(FilterKind::Xtc, 0))?
                    .clamp(0.0, 1.0),
                threshold: off_above_one(number("xtc_threshold", default(FilterKind::Xtc, 1))?),
            },
            repetition: RepetitionPenalty {
                penalty: number("repeat_penalty", default(FilterKind::RepetitionPenalty, 0))?,
                window,
            },
            frequency: FrequencyPenalty {
                penalty: number(
                    "frequency_penalty",
                    default(FilterKind::FrequencyPenalty, 0),
                )?,
                window,
            },
            presence: PresencePenalty {
                penalty: number("presence_penalty", default(FilterKind::PresencePenalty, 0))?,
                window,
            },
            adaptive: AdaptiveP {
                target: number("adaptive_target", -1.0)?,
                decay: number("adaptive_decay", 0.9)?.clamp(0.0, 0.99),
            },
            top_k: TopK {
                k: match fields.integer("top_k")? {
                    Some(k) => {
                        report_overflow("top_k", k, fields);
                        clamped(k)
                    }
                    None => clamped(default(FilterKind::TopK, 0) as i64),
                },
            },
            dry: dry(flavor, fields, vocabulary)?,
        })
    }

    /// Whether the temperature makes decoding greedy.
    fn is_greedy(&self) -> bool {
        self.temperature.temperature <= 0.0 && self.temperature.range <= 0.0
    }

    /// Adds the stages of a sampler that have an effect or are set explicitly.
    fn add(&self, sampler: &str, fields: &Fields, stages: &mut Vec<Stage>) -> Result<(), String> {
        for (filter, names) in self.filters(sampler) {
            fields.add(filter, names, stages)?;
        }
        Ok(())
    }

    /// Reports settings that have no effect because their sampler is not used.
    fn report_unused(&self, fields: &mut Fields, is_used: impl Fn(&str) -> bool, why: &str) {
        let samplers = super::samplers().into_iter();
        for (sampler, _) in samplers.filter(|(sampler, _)| !is_used(sampler)) {
            for (filter, names) in self.filters(sampler) {
                let named: Vec<String> = names
                    .iter()
                    .filter(|name| fields.names(name))
                    .map(|name| fields.as_written(name))
                    .collect();
                if !named.is_empty() && !filter.is_neutral() {
                    fields.report_as_in_tool(format!("{} {why}", without_effect(&named)));
                }
            }
        }
    }

    fn filters(&self, sampler: &str) -> Vec<NamedFilter> {
        let filters = match sampler {
            "penalties" => vec![
                Filter::RepetitionPenalty(self.repetition),
                Filter::FrequencyPenalty(self.frequency),
                Filter::PresencePenalty(self.presence),
            ],
            "dry" => vec![Filter::Dry(self.dry.clone())],
            "top_n_sigma" => vec![Filter::TopNSigma(self.top_n_sigma)],
            "top_k" => vec![Filter::TopK(self.top_k)],
            "typ_p" => vec![Filter::TypicalP(self.typical_p)],
            "top_p" => vec![Filter::TopP(self.top_p)],
            "min_p" => vec![Filter::MinP(self.min_p)],
            "xtc" => vec![Filter::Xtc(self.xtc)],
            "temperature" if self.temperature.is_plain() => {
                vec![Filter::Temperature(self.temperature.middle())]
            }
            "temperature" => vec![Filter::DynamicTemperature(self.temperature)],
            _ => Vec::new(),
        };
        let named = filters.into_iter().map(|filter| {
            let names = filter.spec().keys_in(Dialect::LlamaCpp);
            (filter, names.unwrap_or_default())
        });
        named.collect()
    }
}

/// Returns a filter's default in a dialect, by the index of its parameter.
fn default(dialect: Dialect, kind: FilterKind, index: usize) -> f32 {
    let number = || {
        let filter = dialect.default_of(kind)?;
        filter.spec().params.get(index)?.get(&filter)
    };
    number().unwrap_or_default() as f32
}

/// Above 1, no token reaches the threshold, and llama.cpp keeps the top token.
fn min_p(default: f32, fields: &mut Fields) -> Result<MinP, String> {
    let p = fields.number("min_p")?.unwrap_or(default);
    if p > 1.0 {
        let written = fields.as_written("min_p");
        fields.ignored.push(format!(
            "{written} keeps one token in llama.cpp; min-p 1 is used instead, which also keeps ties"
        ));
    }
    Ok(MinP {
        p: p.clamp(0.0, 1.0),
    })
}

fn dry(
    flavor: Flavor,
    fields: &mut Fields,
    vocabulary: Option<&Vocabulary>,
) -> Result<Dry, String> {
    let default = |index| default(flavor.dialect(), FilterKind::Dry, index);
    let multiplier = fields.number("dry_multiplier")?.unwrap_or(default(0));
    let mut base = fields.number("dry_base")?.unwrap_or(default(1));
    if base < 1.0 {
        // `common/arg.cpp` (commit 145b628) does so as well as llama-server.
        let written = fields.as_written("dry_base");
        base = default(1);
        let name = flavor.name();
        let sentence = format!("{written} is below 1, so {name} uses its default {base}");
        fields.report_as_in_tool(sentence);
    }
    let allowed_length = fields.integer("dry_allowed_length")?;
    let allowed_length = clamped(allowed_length.unwrap_or(default(2) as i64));
    let window = window("dry_penalty_last_n", FilterKind::Dry, flavor, fields)?;
    let texts = fields.texts("dry_sequence_breakers")?;
    let mut filter = Dry {
        multiplier,
        base,
        allowed_length,
        window,
        breakers: Vec::new(),
    };
    if filter.multiplier != 0.0 {
        let mut texts = texts.unwrap_or_else(breakers::defaults);
        texts.retain(|text| !text.is_empty());
        filter.breakers = breaker_tokens(&texts, fields, vocabulary);
    }
    Ok(filter)
}

fn breaker_tokens(
    texts: &[String],
    fields: &mut Fields,
    vocabulary: Option<&Vocabulary>,
) -> Vec<Vec<TokenId>> {
    let shown: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    let Some(vocabulary) = vocabulary else {
        if !texts.is_empty() {
            let shown = shown.join(" ");
            fields.ignored.push(format!(
                "DRY’s sequence breakers {shown} are ignored: load a model to convert them to tokens"
            ));
        }
        return Vec::new();
    };
    let long: Vec<&str> = texts
        .iter()
        .zip(&shown)
        .filter(|(text, _)| text.chars().count() > 1)
        .map(|(_, shown)| shown.as_str())
        .collect();
    if !long.is_empty() {
        let long = long.join(" ");
        fields.ignored.push(format!(
            "DRY’s sequence breakers {long} only match single tokens that contain them; llama.cpp \
             also matches them across several tokens"
        ));
    }
    breakers::tokens(texts, vocabulary)
}

/// Reads a window, which includes the prompt. Old versions accept -1 for all tokens.
fn window(
    name: &str,
    kind: FilterKind,
    flavor: Flavor,
    fields: &mut Fields,
) -> Result<Window, String> {
    let Some(last_n) = fields.integer(name)? else {
        let default = flavor.dialect().default_of(kind);
        return Ok(default
            .and_then(|filter| filter.window())
            .unwrap_or(Window::ALL));
    };
    if last_n < 0 {
        let written = fields.as_written(name);
        let who = match flavor {
            Flavor::Ollama => "as Ollama documents it; its llama-server rejects negative numbers",
            Flavor::Flags | Flavor::Server => {
                "as in llama.cpp before 2026; newer versions reject negative numbers"
            }
        };
        fields.report_as_in_tool(format!("{written} is read as the whole text, {who}"));
        return Ok(Window::ALL);
    }
    Ok(Window {
        last_n: Some(clamped(last_n)),
        prompt_counted: true,
    })
}

/// Notes that a count is larger than any that a tool accepts.
fn report_overflow(name: &str, number: i64, fields: &mut Fields) {
    if number > i64::from(u32::MAX) {
        let written = fields.as_written(name);
        let most = u32::MAX;
        fields.report_as_in_tool(format!(
            "{written} is larger than any vocabulary; {most} is used instead"
        ));
    }
}

/// Clamps a count to the range of `u32`.
fn clamped(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}
