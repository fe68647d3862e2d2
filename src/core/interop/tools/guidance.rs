//! Guidance by a second prompt, as transformers' `guidance_scale` and `negative_prompt_ids`, and by
//! early layers, as its `dola_layers`.

use super::fields::Fields;
use super::strings::Strings;
use super::transformers::float;
use super::value::{NamedValues, Value};
use crate::decoding::{Against, ChainConfig, EarlyLayers, Guidance};

pub(super) const SCALE: &str = "guidance_scale";
pub(super) const PROMPT: &str = "negative_prompt_ids";

/// The layers of DoLa, and where the current version of transformers finds its code.
pub(super) const LAYERS: &str = "dola_layers";
pub(super) const CODE: &str = "custom_generate";
pub(super) const TRUST: &str = "trust_remote_code";

/// The repository of that code.
const DOLA: &str = "transformers-community/dola";

/// The cutoff of transformers' DoLa, which can't be changed there.
const DOLA_CUTOFF: f32 = 0.1;

/// Returns whether transformers has such guidance.
pub(super) fn has(guidance: &Guidance) -> bool {
    second_prompt(guidance).is_some() || dola_layers(guidance).is_some()
}

/// Returns the layers of DoLa as transformers has it.
fn dola_layers(guidance: &Guidance) -> Option<&[u32]> {
    let is_dola = guidance.scale.is_none() && (guidance.cutoff - DOLA_CUTOFF).abs() < 1e-6;
    is_dola.then(|| guidance.against.layers())
}

/// Returns the text that guidance moves away from, if transformers has such guidance.
fn second_prompt(guidance: &Guidance) -> Option<&str> {
    match &guidance.against {
        Against::Prompt(text) if guidance.cutoff <= 0.0 && guidance.scale.is_some() => Some(text),
        _ => None,
    }
}

/// Returns the arguments of a chain's guidance.
pub(super) fn write(chain: &ChainConfig) -> NamedValues {
    let guidance = chain.guidance.as_ref();
    if let Some(layers) = guidance.and_then(dola_layers) {
        let layers = layers.iter().map(|layer| Value::from(*layer));
        return vec![
            (CODE, Value::text(DOLA)),
            (TRUST, Value::Bool(true)),
            (LAYERS, Value::List(layers.collect())),
        ];
    }
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
    if let Some(layers) = read_layers(fields) {
        let dola = Guidance::usual(Against::Layers(layers));
        add(dola, LAYERS, fields, chain);
        return Ok(());
    }
    let Some(scale) = fields.number(SCALE)? else {
        return Ok(());
    };
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
    add(guidance, SCALE, fields, chain);
    Ok(())
}

/// Adds guidance to a chain if it can be guided, and says otherwise why not.
fn add(guidance: Guidance, name: &'static str, fields: &mut Fields, chain: &mut ChainConfig) {
    match guidance.validate(chain) {
        Ok(()) => chain.guidance = Some(guidance),
        Err(error) => {
            let written = fields.as_written(name);
            let sentence = format!("{written} is not supported here: {error}");
            fields.ignored.push(sentence);
        }
    }
}

/// Returns the layers of DoLa if they are listed.
fn read_layers(fields: &mut Fields) -> Option<EarlyLayers> {
    fields.take(TRUST);
    let code = fields.take(CODE);
    let Some(layers) = fields.take(LAYERS).map(|field| field.value) else {
        if let Some(code) = code {
            let sentence = format!("{CODE} {} is not supported", code.value);
            fields.ignored.push(sentence);
        }
        return None;
    };
    let why = match &layers {
        Value::List(numbers) => {
            let numbers = numbers.iter().map(|number| number.to_string().parse().ok());
            match numbers.collect::<Option<Vec<u32>>>().map(EarlyLayers::new) {
                Some(Ok(layers)) => return Some(layers),
                Some(Err(error)) => error.to_string(),
                None => "layers are whole numbers".to_owned(),
            }
        }
        _ => "its layers depend on the model; list their numbers instead".to_owned(),
    };
    let sentence = format!("{LAYERS} {layers} is not supported: {why}");
    fields.ignored.push(sentence);
    None
}

/// Returns the text that an expression tokenizes: `tokenizer("A sad story:", …)`.
fn tokenized(code: &str) -> Option<String> {
    let (callee, arguments) = code.split_once('(')?;
    let is_tokenizer = callee.contains("tok");
    let (text, _) = Strings::new().read(arguments.trim_start())?;
    is_tokenizer.then_some(text)
}
