//! Thinking budgets: tokens and texts in Quartet; a number, and in llama.cpp texts, in other tools.
//!
//! Sources: llama.cpp's PR #20297 (March 2026), its `common/reasoning-budget.cpp` (commit 007d713)
//! and `tools/server/server-schema.cpp` (commit 0177c34), in which −1 is no limit; vLLM's
//! `vllm/v1/sample/thinking_budget_state.py` (2026, commit 0278c17).

use super::differences::Difference;
use super::fields::Fields;
use super::llama::Flavor;
use super::plan::Plan;
use super::value::{NamedValues, Value};
use crate::decoding::filters::{Phrase, ThinkingBudget};
use crate::decoding::{ChainConfig, Filter, FilterKind};
use crate::generation::Vocabulary;

/// llama-server's names of the budget, the usual one first. The second is that of chat requests.
const LLAMA: [&str; 2] = ["reasoning_budget_tokens", "thinking_budget_tokens"];
const MESSAGE: &str = "reasoning_budget_message";
const START: &str = "reasoning_budget_start_tag";

/// The names of the closing tag; a list of several begins with the one that is forced.
const END: [&str; 2] = ["reasoning_budget_end_tags", "reasoning_budget_end_tag"];

/// vLLM's name of the budget.
pub(super) const VLLM: &str = "thinking_token_budget";

/// llama-server's names, for telling it from other tools.
pub(super) const SERVER: [&str; 6] = [LLAMA[0], LLAMA[1], MESSAGE, START, END[0], END[1]];

/// Reads llama.cpp's budget.
pub(super) fn read_llama(fields: &mut Fields, chain: &mut ChainConfig) -> Result<(), String> {
    let mut first_text = |name| -> Result<Option<Phrase>, String> {
        let text = fields.texts(name)?.unwrap_or_default().into_iter().next();
        Ok(text.filter(|text| !text.is_empty()).map(Phrase::Text))
    };
    let message = first_text(MESSAGE)?;
    let opening = first_text(START)?;
    let [closing, other] = [first_text(END[0])?, first_text(END[1])?];
    let mut max_tokens = None;
    for name in LLAMA {
        max_tokens = max_tokens.or(read_tokens(name, fields)?);
    }
    let Some(max_tokens) = max_tokens else {
        if message.is_some() {
            let written = fields.as_written(MESSAGE);
            fields.report_as_in_tool(format!("{written} has no effect without a budget"));
        }
        return Ok(());
    };
    let budget = Filter::ThinkingBudget(ThinkingBudget {
        max_tokens,
        opening: opening.unwrap_or_default(),
        closing: closing.or(other).unwrap_or_default(),
        message: message.unwrap_or_default(),
        ..ThinkingBudget::default()
    });
    fields.add(budget, &[], &mut chain.stages)
}

/// Reads vLLM's budget.
pub(super) fn read_vllm(fields: &mut Fields, chain: &mut ChainConfig) -> Result<(), String> {
    let Some(max_tokens) = read_tokens(VLLM, fields)? else {
        return Ok(());
    };
    let budget = Filter::ThinkingBudget(ThinkingBudget {
        max_tokens,
        ..ThinkingBudget::default()
    });
    fields.add(budget, &[VLLM], &mut chain.stages)
}

/// Takes a number of tokens; returns `None` if there is no limit.
fn read_tokens(name: &str, fields: &mut Fields) -> Result<Option<u32>, String> {
    let Some(n_tokens) = fields.integer(name)? else {
        return Ok(None);
    };
    let limit = u32::try_from(n_tokens).ok();
    let limit = limit.filter(|limit| *limit < ThinkingBudget::NO_LIMIT);
    if limit.is_none() {
        let written = fields.as_written(name);
        fields.report_as_in_tool(format!("{written} does not affect sampling"));
    }
    Ok(limit)
}

/// Adds llama.cpp's budget.
pub(super) fn write_llama(
    flavor: Flavor,
    plan: &mut Plan,
    vocabulary: Option<&Vocabulary>,
    fields: &mut NamedValues,
) {
    let Some(Filter::ThinkingBudget(budget)) = plan.find(FilterKind::ThinkingBudget).cloned()
    else {
        return;
    };
    fields.push((LLAMA[0], Value::from(budget.max_tokens)));
    let name = plan.name;
    let mut texts = Vec::new();
    for (what, phrase) in [
        ("tag before a thought", &budget.opening),
        ("tag after a thought", &budget.closing),
        ("message at the end of a thought", &budget.message),
    ] {
        let text = text_of(phrase, vocabulary);
        if text.is_none() {
            plan.tell(format!(
                "{name} takes the {what} as a string: load a model to convert it from tokens"
            ));
            plan.differ(Difference::new(format!("the {what}")));
        }
        texts.push(text.unwrap_or_default());
    }
    let mut texts = texts.into_iter();
    let [opening, closing, message] = [(); 3].map(|()| texts.next().unwrap_or_default());
    match flavor {
        Flavor::Server if opening.is_empty() || closing.is_empty() => plan.tell(format!(
            "{name} knows the tags around a thought only in a chat; name them here for other requests"
        )),
        Flavor::Server => {
            fields.push((START, Value::text(opening)));
            fields.push((END[0], Value::texts([closing])));
        }
        _ => plan.tell(format!(
            "{name} takes the tags around a thought from the model’s chat template"
        )),
    }
    if !message.is_empty() {
        fields.push((MESSAGE, Value::text(message)));
    }
}

/// Adds vLLM's budget.
pub(super) fn write_vllm(plan: &mut Plan, fields: &mut NamedValues) {
    let Some(Filter::ThinkingBudget(budget)) = plan.find(FilterKind::ThinkingBudget).cloned()
    else {
        return;
    };
    fields.push((VLLM, Value::from(budget.max_tokens)));
    plan.tell("vLLM takes the tags around a thought from its --reasoning-config".to_owned());
    if !budget.message.is_empty() {
        plan.tell(
            "vLLM closes a thought without a message of the request; the message is left out"
                .to_owned(),
        );
        plan.differ(Difference::new(
            "the message at the end of a thought".to_owned(),
        ));
    }
}

/// Returns a phrase as text, or `None` if it is in tokens of an unknown vocabulary or no text.
fn text_of(phrase: &Phrase, vocabulary: Option<&Vocabulary>) -> Option<String> {
    match phrase {
        Phrase::Text(text) => Some(text.clone()),
        Phrase::Tokens(tokens) if tokens.is_empty() => Some(String::new()),
        Phrase::Tokens(tokens) => {
            let pieces = tokens
                .iter()
                .map(|token| vocabulary.map(|all| all.piece(*token).bytes));
            let bytes: Option<Vec<Vec<u8>>> = pieces.collect();
            String::from_utf8(bytes?.concat()).ok()
        }
    }
}
