//! The beam search of transformers' `generate`.
//!
//! Source: `_beam_search` in `generation/utils.py` (transformers 5.24.0), which takes the log-softmax
//! of the logits, applies the processors to these log-probs, and adds up what they leave. Only
//! `renormalize_logits=True` makes it normalize them again.

use super::fields::{Fields, needs};
use super::plan::Plan;
use super::transformers::{count, float};
use super::value::{NamedValues, Value};
use crate::decoding::rules::BeamScores;
use crate::decoding::selector::BeamSearch;
use crate::decoding::{ChainConfig, FilterKind, Selector};

/// Returns the arguments of a chain's beam search, if it has one.
pub(super) fn write(chain: &ChainConfig, plan: &mut Plan) -> NamedValues {
    let Some(search) = plan.selector.beam_search() else {
        return NamedValues::new();
    };
    let early_stopping = match search.early_stopping {
        0 => Value::Bool(false),
        1 => Value::Bool(true),
        _ => Value::text("never"),
    };
    let mut fields = vec![
        ("num_beams", Value::from(search.width)),
        ("length_penalty", float(search.length_penalty)),
        ("early_stopping", early_stopping),
    ];
    fields.extend(renormalized(chain.rules.beam_scores, plan));
    fields
}

/// Whether the search normalizes scores after the processors, as it does not by default. That they
/// see log-probs only makes a difference to the repetition penalty.
fn renormalized(scores: BeamScores, plan: &mut Plan) -> Option<(&'static str, Value)> {
    if scores == BeamScores::Logits
        && let Some(penalty) = plan.find(FilterKind::RepetitionPenalty)
    {
        let sentence = format!(
            "In a beam search, transformers applies {penalty} to log-probs instead of logits, so it \
             writes another text; \"dialect transformers\" does the same here"
        );
        plan.tell(sentence);
    }
    let renormalizes = scores != BeamScores::LogProbs;
    renormalizes.then_some(("renormalize_logits", Value::Bool(true)))
}

/// Returns the beam search that these arguments request, if any.
pub(super) fn read(fields: &mut Fields) -> Result<Option<BeamSearch>, String> {
    let width = count("num_beams", 1, fields)?;
    let length_penalty = fields.number("length_penalty")?.unwrap_or(1.0);
    let early_stopping = match fields.take("early_stopping") {
        None => 0,
        Some(field) => match &field.value {
            Value::Bool(early) => u32::from(*early),
            Value::Text(text) if text == "never" => 2,
            _ => return Err(needs(&field, "true, false or \"never\"")),
        },
    };
    let search = BeamSearch {
        width,
        length_penalty,
        early_stopping,
    };
    if width <= 1 {
        return Ok(None);
    }
    match Selector::BeamSearch(search).validate() {
        Ok(()) => Ok(Some(search)),
        Err(error) => {
            let names = ["num_beams", "length_penalty"];
            let written: Vec<String> = names
                .iter()
                .filter(|name| fields.names(name))
                .map(|name| fields.as_written(name))
                .collect();
            Err(format!("{} is invalid: {error}", written.join(", ")))
        }
    }
}

/// Reads whether a search normalizes its scores.
pub(super) fn read_scores(fields: &mut Fields, chain: &mut ChainConfig) -> Result<(), String> {
    if !fields.boolean("renormalize_logits")?.unwrap_or(false) {
        return Ok(());
    }
    if chain.selector.beam_search().is_some() {
        chain.rules.beam_scores = BeamScores::Renormalized;
        return Ok(());
    }
    let written = fields.as_written("renormalize_logits");
    let sentence = format!("{written} has no effect without a beam search");
    fields.ignored.push(sentence);
    Ok(())
}
