//! The settings of a request that a program sends, read strictly: what can't be honored is an error.

use serde_json::{Map, Value as Json};

use super::fields::{Field, Fields};
use super::llama::{self, Flavor};
use super::openai;
use super::value::Value;
use crate::decoding::ChainConfig;
use crate::generation::Vocabulary;

/// The chain that the settings of a request define.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestedChain {
    pub chain: ChainConfig,
    /// Settings that have no effect here and none in the tool either, one sentence each.
    pub notes: Vec<String>,
}

/// Reads the settings of a request: as `OpenAI`'s API defines them, or as llama-server reads them if one
/// of them is known to llama-server only. Either way, what the request leaves out is off, and
/// temperature and top-p are 1. Fields that do not affect the chain must have been taken out. An error
/// begins with the name of the setting, unless several are involved.
pub fn read_request(
    settings: Map<String, Json>,
    vocabulary: &Vocabulary,
) -> Result<RequestedChain, String> {
    let given = given(settings);
    let is_openai = |field: &Field| {
        let is_pairs = matches!(field.value, Value::List(_)) && field.name == "logit_bias";
        openai::NAMES.contains(&field.name.as_str()) && !is_pairs
    };
    if given.iter().all(is_openai) {
        let mut fields = Fields::new(given);
        let chain = openai::read(&mut fields)?;
        return finished(chain, fields);
    }
    // Of two settings with the same name, the last one counts.
    let neutral = NEUTRAL.map(|(name, value)| Field::new(name, Value::Number(value.to_owned())));
    read_llama(neutral.into_iter().chain(given).collect(), vocabulary)
}

/// Reads the settings of a request in llama-server's own form. Unlike in [`read_request`], what it
/// leaves out has llama-server's default.
pub fn read_llama_request(
    settings: Map<String, Json>,
    vocabulary: &Vocabulary,
) -> Result<RequestedChain, String> {
    read_llama(given(settings), vocabulary)
}

fn given(settings: Map<String, Json>) -> Vec<Field> {
    let settings = settings.into_iter();
    settings
        .map(|(name, value)| Field::new(&name, Value::from(value)))
        .filter(|field| field.value != Value::Null)
        .collect()
}

fn read_llama(fields: Vec<Field>, vocabulary: &Vocabulary) -> Result<RequestedChain, String> {
    let mut fields = Fields::new(fields);
    let mut chain = llama::read(Flavor::Server, &mut fields, Some(vocabulary))?;
    chain.stages.retain(|stage| !stage.filter.is_neutral());
    finished(chain, fields)
}

/// The values with which llama-server's default stages have no effect.
const NEUTRAL: [(&str, &str); 4] = [
    ("temperature", "1"),
    ("top_k", "0"),
    ("top_p", "1"),
    ("min_p", "0"),
];

/// Fails if a setting was not taken, or was ignored although the tool has it.
fn finished(chain: ChainConfig, mut fields: Fields) -> Result<RequestedChain, String> {
    fields.report_rest(|_| false);
    let is_refused = |sentence: &&String| !fields.as_in_tool.contains(sentence);
    match fields.ignored.iter().find(is_refused) {
        Some(refused) => Err(refused.clone()),
        None => Ok(RequestedChain {
            chain,
            notes: fields.as_in_tool,
        }),
    }
}
