//! The settings that a text contains. They are consumed one by one, and the rest is reported.

use std::collections::BTreeSet;

use super::value::Value;
use crate::decoding::{Filter, Stage, TokenId};
use crate::generation::listed;

/// A setting in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// The normalized name: `top_p`.
    pub name: String,
    /// The name as the text spells it, for messages: `--top-p`.
    pub shown: String,
    pub value: Value,
}

impl Field {
    /// Creates a setting that the text spells by its normalized name.
    pub(super) fn new(name: &str, value: Value) -> Self {
        Self {
            name: name.to_owned(),
            shown: name.to_owned(),
            value,
        }
    }
}

/// All settings in a text. As in every tool, the last one with a given name wins, and null counts
/// as unset.
#[derive(Debug)]
pub(super) struct Fields {
    /// The settings that have not been taken yet, in the order of the text.
    left: Vec<Field>,
    /// The settings that were taken, kept for messages.
    taken: Vec<Field>,
    /// The settings that can't be imported, one sentence each.
    pub ignored: Vec<String>,
    /// Those of `ignored` that the tool itself ignores, or reads in the same way.
    pub as_in_tool: Vec<String>,
}

impl Fields {
    pub(super) fn new(mut fields: Vec<Field>) -> Self {
        fields.retain(|field| field.value != Value::Null);
        Self {
            left: fields,
            taken: Vec::new(),
            ignored: Vec::new(),
            as_in_tool: Vec::new(),
        }
    }

    /// Reports a setting that the tool itself ignores, or reads in the way that the sentence says.
    pub(super) fn report_as_in_tool(&mut self, sentence: String) {
        self.as_in_tool.push(sentence.clone());
        self.ignored.push(sentence);
    }

    /// Whether the text contains this setting, taken or not.
    pub(super) fn names(&self, name: &str) -> bool {
        self.written(name).is_some()
    }

    /// Returns a setting as the text spells it ("--top-p 0.9"), or the name if it is unset.
    pub(super) fn as_written(&self, name: &str) -> String {
        self.written(name).map_or_else(
            || name.to_owned(),
            |field| format!("{} {}", field.shown, field.value),
        )
    }

    /// Takes the last setting with this name.
    pub(super) fn take(&mut self, name: &str) -> Option<Field> {
        self.take_all(name).pop()
    }

    /// Takes all settings with this name.
    pub(super) fn take_all(&mut self, name: &str) -> Vec<Field> {
        let (found, left) = std::mem::take(&mut self.left)
            .into_iter()
            .partition(|field| field.name == name);
        self.left = left;
        self.taken.extend(found.iter().cloned());
        found
    }

    /// Takes a setting that must be a finite number.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<f32>, String> {
        let Some(field) = self.take(name) else {
            return Ok(None);
        };
        number(&field.value)
            .map(Some)
            .ok_or_else(|| needs(&field, "a number"))
    }

    /// Takes a setting that must be an integer.
    pub(super) fn integer(&mut self, name: &str) -> Result<Option<i64>, String> {
        let Some(field) = self.take(name) else {
            return Ok(None);
        };
        integer(&field.value).map(Some).ok_or_else(|| {
            let shown = field.value.to_string();
            let digits = shown.trim().trim_start_matches(['-', '+']);
            if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return format!("{} {shown} is too large", field.shown);
            }
            needs(&field, "an integer")
        })
    }

    /// Takes a setting that must be true or false.
    pub(super) fn boolean(&mut self, name: &str) -> Result<Option<bool>, String> {
        let Some(field) = self.take(name) else {
            return Ok(None);
        };
        match field.value {
            Value::Bool(boolean) => Ok(Some(boolean)),
            _ => Err(needs(&field, "true or false")),
        }
    }

    /// Takes strings: a single one, a list, or a repeated setting.
    pub(super) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, String> {
        let fields = self.take_all(name);
        let mut texts = Vec::new();
        for field in &fields {
            let found = match &field.value {
                Value::Text(text) => Some(vec![text.clone()]),
                Value::List(values) => values.iter().map(text).collect(),
                _ => None,
            };
            texts.extend(found.ok_or_else(|| needs(field, "a string or a list of strings"))?);
        }
        Ok((!fields.is_empty()).then_some(texts))
    }

    /// Appends a stage to a chain, if it has an effect or the text contains one of the `names` that
    /// set it. Returns an error if a value is invalid.
    pub(super) fn add(
        &self,
        filter: Filter,
        names: &[&str],
        stages: &mut Vec<Stage>,
    ) -> Result<(), String> {
        let named = names.iter().find(|name| self.names(name));
        if let Err(error) = filter.validate() {
            let written: Vec<String> = names
                .iter()
                .filter(|name| self.names(name))
                .map(|name| self.as_written(name))
                .collect();
            return Err(format!("{} is invalid: {error}", written.join(", ")));
        }
        if named.is_some() || !filter.is_neutral() {
            stages.push(filter.into());
        }
        Ok(())
    }

    /// Reports the settings that were not taken: unrelated ones in one sentence, unsupported ones
    /// one by one.
    pub(super) fn report_rest(&mut self, is_unrelated: impl Fn(&str) -> bool) {
        let rest = std::mem::take(&mut self.left);
        let (unrelated, unsupported): (Vec<Field>, Vec<Field>) = rest
            .into_iter()
            .partition(|field| is_unrelated(&field.name));
        self.ignored.extend(unrelated_sentence(&unrelated));
        let mut reported = BTreeSet::new();
        for Field { shown, .. } in &unsupported {
            if reported.insert(shown) {
                self.ignored.push(format!("{shown} is not supported"));
            }
        }
    }

    fn written(&self, name: &str) -> Option<&Field> {
        let is_it = |field: &&Field| field.name == name;
        let mut taken = self.taken.iter().rev();
        taken
            .find(is_it)
            .or_else(|| self.left.iter().rev().find(is_it))
    }
}

fn unrelated_sentence(fields: &[Field]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for field in fields {
        if !names.contains(&field.shown.as_str()) {
            names.push(&field.shown);
        }
    }
    match names.as_slice() {
        [] => None,
        [name] => Some(format!("{name} does not affect sampling")),
        names => Some(format!("{} do not affect sampling", listed(names))),
    }
}

/// Returns that settings have no effect: "--top-k 5 has no effect".
pub(super) fn without_effect(written: &[String]) -> String {
    let verb = if written.len() == 1 { "has" } else { "have" };
    format!("{} {verb} no effect", listed(written))
}

/// "llama.cpp’s", but "transformers’".
pub(super) fn possessive(name: &str) -> String {
    let s = if name.ends_with('s') { "" } else { "s" };
    format!("{name}’{s}")
}

/// The error message for a value of the wrong type.
pub(super) fn needs(field: &Field, kind: &str) -> String {
    format!("{} must be {kind}, not {}", field.shown, field.value.json())
}

/// Parses a finite number, which may also be given as a string.
pub(super) fn number(value: &Value) -> Option<f32> {
    let (Value::Number(written) | Value::Text(written)) = value else {
        return None;
    };
    let number: f32 = written.trim().parse().ok()?;
    number.is_finite().then_some(number)
}

/// Parses an integer, which may also be given as a string or end in ".0".
pub(super) fn integer(value: &Value) -> Option<i64> {
    let (Value::Number(written) | Value::Text(written)) = value else {
        return None;
    };
    let written = written.trim();
    let written = written.strip_suffix(".0").unwrap_or(written);
    written.parse().ok()
}

/// Parses a token id.
pub(super) fn token(value: &Value) -> Option<TokenId> {
    let id = u32::try_from(integer(value)?).ok()?;
    Some(TokenId(id))
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}
