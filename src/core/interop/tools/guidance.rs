//! Guidance by a second prompt, as transformers' `guidance_scale` and `negative_prompt_ids`.

use super::fields::Fields;
use super::strings::Strings;
use super::transformers::float;
use super::value::{NamedValues, Value};
use crate::decoding::{Against, ChainConfig, Guidance};

pub(super) const SCALE: &str = "guidance_scale";
pub(super) const PROMPT: &str = "negative_prompt_ids";

/// Returns the text that guidance moves away from, if transformers has such guidance.
pub(super) fn second_prompt(guidance: &Guidance) -> Option<&str> {
    match &guidance.against {
        Against::Prompt(text) if guidance.cutoff <= 0.0 && guidance.scale.is_some() => Some(text),
        _ => None,
    }
}

/// Returns the arguments of a chain's guidance.
pub(super) fn write(chain: &ChainConfig) -> NamedValues {
    let guidance = chain.guidance.as_ref();
    let Some((scale, text)) = guidance.and_then(|it| Some((it.scale?, second_prompt(it)?))) else {
        return NamedValues::new();
    };
    let mut fields = vec![(SCALE, float(scale))];
    if !text.is_empty() {
        let text = Value::text(text).python();
        let ids = format!("tokenizer({text}, return_tensors=\"pt\").input_ids");
        fields.push((PROMPT, Value::Code(ids)));
    }
    fields
}

/// Adds the guidance that these arguments define to a chain.
pub(super) fn read(fields: &mut Fields, chain: &mut ChainConfig) -> Result<(), String> {
    let Some(scale) = fields.number(SCALE)? else {
        return Ok(());
    };
    let written = fields.as_written(SCALE);
    let text = match fields.take(PROMPT).map(|field| field.value) {
        None => String::new(),
        Some(Value::Code(code)) if tokenized(&code).is_some() => {
            tokenized(&code).unwrap_or_default()
        }
        Some(_) => {
            let why = "its text is unknown; choose guidance and type the second prompt instead";
            fields
                .ignored
                .push(format!("{PROMPT} is not supported: {why}"));
            return Ok(());
        }
    };
    let guidance = Guidance {
        scale: Some(scale),
        cutoff: 0.0,
        against: Against::Prompt(text),
    };
    if guidance.is_neutral() {
        return Ok(());
    }
    match guidance.validate(chain) {
        Ok(()) => chain.guidance = Some(guidance),
        Err(error) => fields
            .ignored
            .push(format!("{written} is not supported here: {error}")),
    }
    Ok(())
}

/// Returns the text that an expression tokenizes: `tokenizer("A sad story:", …)`.
fn tokenized(code: &str) -> Option<String> {
    let (callee, arguments) = code.split_once('(')?;
    let is_tokenizer = callee.contains("tok");
    let (text, _) = Strings::new().read(arguments.trim_start())?;
    is_tokenizer.then_some(text)
}
