//! Speculative decoding in other tools' settings.
//!
//! Sources: llama.cpp's `common/arg.cpp` and `tools/server/README.md` (2026: `--spec-type`,
//! `--spec-draft-n-max`, which replaced `--draft-max`, and the field `speculative.n_max`),
//! transformers' `GenerationConfig` (5.23: `prompt_lookup_num_tokens`, `assistant_early_exit`), and
//! vLLM's `SpeculativeConfig` (0.26).

use super::fields::{Fields, integer, needs};
use super::llama::Flavor;
use super::plan::Plan;
use super::value::{NamedValues, Value};
use crate::decoding::{ChainConfig, DraftRule, Drafter, Drafts, ModelDrafts, PromptLookup};

/// llama.cpp's settings, by their names in requests if they have one there.
pub(super) const LLAMA: [&str; 7] = [
    "speculative.n_max",
    "speculative.n_min",
    "speculative.p_min",
    "speculative.type",
    "model_draft",
    "ngram_size_n",
    "ngram_size_m",
];

/// The argument of vLLM.
pub(super) const VLLM: &str = "speculative_config";

/// The arguments of transformers.
pub(super) const TRANSFORMERS: [&str; 6] = [
    "prompt_lookup_num_tokens",
    "max_matching_ngram_size",
    "assistant_model",
    "num_assistant_tokens",
    "assistant_early_exit",
    "use_mtp",
];

/// llama.cpp's and vLLM's names for drafts by the model's multi-token-prediction head.
const LLAMA_MTP: &str = "draft-mtp";
const VLLM_MTP: &str = "mtp";

/// llama.cpp's default lengths of the n-gram and of its draft, and of a draft by a model.
const LLAMA_NGRAM: [i64; 2] = [12, 48];
const LLAMA_DRAFT: i64 = 3;

/// vLLM's n-gram length if neither bound is set.
const VLLM_NGRAM: i64 = 5;

/// transformers' defaults.
const TRANSFORMERS_NGRAM: i64 = 2;
const TRANSFORMERS_DRAFT: i64 = 20;

/// Adds the drafts to llama.cpp's settings, and notes what they can't express.
pub(super) fn write_llama(
    flavor: Flavor,
    drafts: Option<Drafts>,
    plan: &mut Plan,
    fields: &mut NamedValues,
) {
    let (Some(drafts), name) = (drafts, flavor.name()) else {
        return;
    };
    match drafts {
        Drafts::Lookup(PromptLookup { n_drafts, n_gram }) => {
            if flavor == Flavor::Server {
                plan.tell(format!(
                    "{name} configures prompt lookup at startup: --spec-type ngram-simple \
                     --spec-ngram-simple-size-n {n_gram} --spec-ngram-simple-size-m {n_drafts}"
                ));
            } else {
                fields.push(("speculative.type", Value::text("ngram-simple")));
                fields.push(("ngram_size_n", Value::from(n_gram)));
                fields.push(("ngram_size_m", Value::from(n_drafts)));
            }
            if n_gram > 1 {
                plan.tell(format!(
                    "{name} looks up only {n_gram} tokens; here shorter n-grams are looked up too \
                     if those are new; the text is the same"
                ));
            }
        }
        Drafts::Model(ModelDrafts {
            drafter: Drafter::FirstLayers(_),
            ..
        }) => plan.tell(format!(
            "{name} has no drafts by the first layers; they are left out"
        )),
        Drafts::Model(drafts) => {
            match drafts.drafter {
                Drafter::MtpHead if flavor == Flavor::Server => plan.tell(format!(
                    "{name} chooses the MTP head when it starts: --spec-type {LLAMA_MTP}"
                )),
                Drafter::MtpHead => fields.push(("speculative.type", Value::text(LLAMA_MTP))),
                Drafter::SecondModel | Drafter::FirstLayers(_) => plan.tell(format!(
                    "{name} loads the second model when it starts: add --model-draft and its path"
                )),
            }
            fields.push(("speculative.n_max", Value::from(drafts.n_drafts)));
            if drafts.rule == DraftRule::Ratio {
                plan.tell(format!(
                    "{name} accepts a draft only if it draws the same token, not with probability \
                     min(1, p/q)"
                ));
            }
        }
    }
}

/// Returns the drafts as transformers' arguments, and notes what they need.
pub(super) fn write_transformers(drafts: Option<Drafts>, plan: &mut Plan) -> NamedValues {
    match drafts {
        None => NamedValues::new(),
        Some(Drafts::Lookup(lookup)) => vec![
            ("prompt_lookup_num_tokens", Value::from(lookup.n_drafts)),
            ("max_matching_ngram_size", Value::from(lookup.n_gram)),
        ],
        Some(Drafts::Model(drafts)) => {
            if drafts.rule == DraftRule::SameCoin && plan.draws() {
                plan.tell(
                    "transformers accepts drafts with probability min(1, p/q), not by the same coin"
                        .to_owned(),
                );
            }
            if drafts.drafter == Drafter::MtpHead {
                plan.tell(
                    "transformers drafts one token with each of the model’s MTP blocks".to_owned(),
                );
                return vec![("use_mtp", Value::Bool(true))];
            }
            let mut fields = vec![("num_assistant_tokens", Value::from(drafts.n_drafts))];
            if let Drafter::FirstLayers(n_layers) = drafts.drafter {
                fields.push(("assistant_early_exit", Value::from(n_layers)));
            } else {
                let model = Value::Code("assistant_model".to_owned());
                fields.push(("assistant_model", model));
                plan.tell(
                    "assistant_model stands for the second model, which must be loaded first"
                        .to_owned(),
                );
            }
            fields
        }
    }
}

/// Notes how to configure drafts in vLLM, which reads them at startup rather than from requests.
pub(super) fn write_openai(drafts: Option<Drafts>, plan: &mut Plan) {
    let text = Value::text;
    let entries = match drafts {
        None => return,
        Some(Drafts::Model(ModelDrafts {
            drafter: Drafter::FirstLayers(_),
            ..
        })) => {
            return plan.tell(
                "OpenAI and vLLM have no drafts by the first layers; they are left out".to_owned(),
            );
        }
        Some(Drafts::Lookup(lookup)) => vec![
            (text("method"), text("ngram")),
            (text("num_speculative_tokens"), lookup.n_drafts.into()),
            (text("prompt_lookup_max"), lookup.n_gram.into()),
            (text("prompt_lookup_min"), 1_u32.into()),
        ],
        Some(Drafts::Model(ModelDrafts {
            drafter: Drafter::MtpHead,
            n_drafts,
            ..
        })) => vec![
            (text("method"), text(VLLM_MTP)),
            (text("num_speculative_tokens"), n_drafts.into()),
        ],
        Some(Drafts::Model(drafts)) => vec![
            (text("method"), text("draft_model")),
            (text("model"), text("FOLDER")),
            (text("num_speculative_tokens"), drafts.n_drafts.into()),
        ],
    };
    let config = Value::Map(entries).json();
    plan.tell(format!(
        "Requests have no drafts; vLLM configures them at startup: --speculative-config '{config}'"
    ));
}

/// Notes that a tool has no drafts.
pub(super) fn leave_out(drafts: Option<Drafts>, plan: &mut Plan) {
    let changes_text = match drafts {
        None => return,
        Some(Drafts::Model(drafts)) => drafts.rule == DraftRule::Ratio && plan.draws(),
        Some(Drafts::Lookup(_)) => false,
    };
    plan.tell(if changes_text {
        "drafts accepted by the rule min(1, p/q) change the text as well as the speed; they are \
         left out"
            .to_owned()
    } else {
        "drafts change only the speed; they are left out".to_owned()
    });
}

/// Takes llama.cpp's settings.
pub(super) fn read_llama(fields: &mut Fields, chain: &mut ChainConfig) -> Result<(), String> {
    let n_max = fields.integer("speculative.n_max")?;
    let sizes = [
        fields.integer("ngram_size_n")?,
        fields.integer("ngram_size_m")?,
    ];
    let model = fields.take("model_draft");
    let kind = fields
        .take("speculative.type")
        .map(|field| field.value.to_string());
    let is_lookup = kind
        .as_deref()
        .is_some_and(|kind| kind.starts_with("ngram-"));
    let drafts = match kind.as_deref() {
        Some("none") => None,
        _ if is_lookup => {
            let [n_gram, n_drafts] = sizes;
            let [usual_ngram, usual_drafts] = LLAMA_NGRAM;
            Some(Drafts::Lookup(PromptLookup {
                n_gram: count(n_gram.unwrap_or(usual_ngram)),
                n_drafts: count(n_drafts.or(n_max).unwrap_or(usual_drafts)),
            }))
        }
        Some(LLAMA_MTP) => {
            let n_drafts = n_max.unwrap_or(LLAMA_DRAFT);
            Some(drafted_by(Drafter::MtpHead, n_drafts, DraftRule::SameCoin))
        }
        None | Some("draft-simple") if n_max.is_some() || model.is_some() => {
            let n_drafts = n_max.unwrap_or(LLAMA_DRAFT);
            Some(drafted_by(
                Drafter::SecondModel,
                n_drafts,
                DraftRule::SameCoin,
            ))
        }
        None | Some("draft-simple") => None,
        Some(_) => {
            let written = fields.as_written("speculative.type");
            fields.ignored.push(format!("{written} is not supported"));
            None
        }
    };
    for name in ["speculative.n_min", "speculative.p_min"] {
        if fields.take(name).is_some() {
            let written = fields.as_written(name);
            let sentence = "here each pass drafts as many tokens as it may";
            fields
                .ignored
                .push(format!("{written} is not supported: {sentence}"));
        }
    }
    set(drafts, fields, chain);
    Ok(())
}

/// Takes transformers' arguments.
pub(super) fn read_transformers(
    fields: &mut Fields,
    chain: &mut ChainConfig,
) -> Result<(), String> {
    let lookup = fields.integer("prompt_lookup_num_tokens")?;
    let n_gram = fields.integer("max_matching_ngram_size")?;
    let n_layers = fields.integer("assistant_early_exit")?;
    let n_drafts = fields.integer("num_assistant_tokens")?;
    let has_model = fields.take("assistant_model").is_some();
    let uses_mtp = fields.boolean("use_mtp")?.unwrap_or(false);
    let drafts = match lookup {
        Some(n) => Some(Drafts::Lookup(PromptLookup {
            n_drafts: count(n),
            n_gram: count(n_gram.unwrap_or(TRANSFORMERS_NGRAM)),
        })),
        None if has_model || n_layers.is_some() => Some(Drafts::Model(ModelDrafts {
            n_drafts: count(n_drafts.unwrap_or(TRANSFORMERS_DRAFT)),
            drafter: n_layers.map_or(Drafter::SecondModel, |n| Drafter::FirstLayers(count(n))),
            rule: DraftRule::Ratio,
        })),
        None if uses_mtp => Some(drafted_by(Drafter::MtpHead, 1, DraftRule::Ratio)),
        None => None,
    };
    set(drafts, fields, chain);
    Ok(())
}

/// Takes vLLM's argument.
pub(super) fn read_vllm(fields: &mut Fields, chain: &mut ChainConfig) -> Result<(), String> {
    let Some(field) = fields.take(VLLM) else {
        return Ok(());
    };
    let Value::Map(entries) = &field.value else {
        return Err(needs(&field, "an object"));
    };
    let entry = |name: &str| {
        let mut found = entries.iter().filter(|(key, _)| key.to_string() == name);
        found.next_back().map(|(_, value)| value)
    };
    let number = |name: &str| entry(name).and_then(integer);
    let model = entry("model").map(ToString::to_string);
    let method = entry("method").map(ToString::to_string);
    let method = match (method.as_deref(), model.as_deref()) {
        (Some(method), _) => Some(method),
        (None, Some("ngram" | "[ngram]")) => Some("ngram"),
        (None, Some(_)) => Some("draft_model"),
        (None, None) => None,
    };
    let Some(n_drafts) = number("num_speculative_tokens") else {
        return Err(format!(
            "{VLLM} needs num_speculative_tokens, a whole number"
        ));
    };
    let drafts = match method {
        Some("ngram") => {
            let (least, most) = (number("prompt_lookup_min"), number("prompt_lookup_max"));
            let n_gram = most.or(least).unwrap_or(VLLM_NGRAM);
            if least.unwrap_or(n_gram) > 1 {
                let sentence = "here shorter n-grams are looked up too; the text is the same";
                fields
                    .ignored
                    .push(format!("prompt_lookup_min is not supported: {sentence}"));
            }
            Drafts::Lookup(PromptLookup {
                n_drafts: count(n_drafts),
                n_gram: count(n_gram),
            })
        }
        Some("draft_model") => drafted_by(Drafter::SecondModel, n_drafts, DraftRule::Ratio),
        // Some versions also have a name for each family.
        Some(method) if method == VLLM_MTP || method.ends_with("_mtp") => {
            drafted_by(Drafter::MtpHead, n_drafts, DraftRule::Ratio)
        }
        other => {
            let method = other.unwrap_or("without a method");
            fields
                .ignored
                .push(format!("{VLLM} {method} is not supported"));
            return Ok(());
        }
    };
    set(Some(drafts), fields, chain);
    Ok(())
}

fn drafted_by(drafter: Drafter, n_drafts: i64, rule: DraftRule) -> Drafts {
    Drafts::Model(ModelDrafts {
        n_drafts: count(n_drafts),
        drafter,
        rule,
    })
}

fn count(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

/// Sets the drafts, clamped to the limits here. A length of 0 means none.
fn set(drafts: Option<Drafts>, fields: &mut Fields, chain: &mut ChainConfig) {
    let Some(drafts) = drafts.filter(|drafts| drafts.n_drafts() > 0) else {
        return;
    };
    let possible = drafts.limited();
    if possible.n_drafts() != drafts.n_drafts() {
        let (given, most) = (drafts.n_drafts(), possible.n_drafts());
        fields.ignored.push(format!(
            "{given} drafts become {most}, the most per pass here"
        ));
    }
    if let (Drafts::Lookup(given), Drafts::Lookup(most)) = (drafts, possible)
        && given.n_gram != most.n_gram
    {
        let (given, most) = (given.n_gram, most.n_gram);
        fields.ignored.push(format!(
            "n-grams of {given} tokens become {most}, the longest here"
        ));
    }
    match possible.validate(chain) {
        Ok(()) if chain.guidance.is_none() => chain.drafts = Some(possible),
        Ok(()) => fields
            .ignored
            .push("Drafts are not supported together with guidance".to_owned()),
        Err(error) => fields
            .ignored
            .push(format!("Drafts are not supported here: {error}")),
    }
    if matches!(chain.drafts, Some(Drafts::Model(drafts)) if drafts.drafter == Drafter::SecondModel)
    {
        let sentence = "The second model is not imported; choose it in the settings of the pane";
        fields.ignored.push(sentence.to_owned());
    }
}
