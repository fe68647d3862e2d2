//! The settings that a text names, taken one by one: what nobody takes is told at the end.

use std::collections::BTreeSet;

use super::value::Value;
use crate::decoding::{Filter, Stage, TokenId};
use crate::generation::listed;

/// A setting that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// What it is called where all ways of writing it are one: `top_p`.
    pub name: String,
    /// How the text calls it: `--top-p`.
    pub shown: String,
    /// Its value.
    pub value: Value,
}

impl Field {
    /// A setting that the text calls by its usual name.
    pub fn new(name: &str, value: Value) -> Self {
        Self {
            name: name.to_owned(),
            shown: name.to_owned(),
            value,
        }
    }
}

/// All that a text names. As in every tool, of several with one name the last one counts, and one
/// whose value is null counts as not named.
#[derive(Debug)]
pub(super) struct Fields {
    left: Vec<Field>,
    taken: Vec<Field>,
    /// What was met and can't be taken over, each in a sentence.
    pub unread: Vec<String>,
}

impl Fields {
    /// These settings, none of them taken.
    pub fn new(mut fields: Vec<Field>) -> Self {
        fields.retain(|field| field.value != Value::Nothing);
        Self {
            left: fields,
            taken: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Whether the text names it, taken or not.
    pub fn names(&self, name: &str) -> bool {
        self.written(name).is_some()
    }

    /// How the text says it: "--top-p 0.9"; the name alone where it does not.
    pub fn as_written(&self, name: &str) -> String {
        self.written(name).map_or_else(
            || name.to_owned(),
            |field| format!("{} {}", field.shown, field.value),
        )
    }

    /// Takes a setting.
    pub fn take(&mut self, name: &str) -> Option<Field> {
        self.take_all(name).pop()
    }

    /// Takes a setting that may be named several times.
    pub fn take_all(&mut self, name: &str) -> Vec<Field> {
        let (found, left) = std::mem::take(&mut self.left)
            .into_iter()
            .partition(|field| field.name == name);
        self.left = left;
        self.taken.extend(found.iter().cloned());
        found
    }

    /// Takes a number.
    pub fn number(&mut self, name: &str) -> Result<Option<f32>, String> {
        let Some(field) = self.take(name) else {
            return Ok(None);
        };
        number(&field.value)
            .map(Some)
            .ok_or_else(|| needs(&field, "a number"))
    }

    /// Takes a whole number.
    pub fn whole(&mut self, name: &str) -> Result<Option<i64>, String> {
        let Some(field) = self.take(name) else {
            return Ok(None);
        };
        whole(&field.value)
            .map(Some)
            .ok_or_else(|| needs(&field, "a whole number"))
    }

    /// Takes true or false.
    pub fn truth(&mut self, name: &str) -> Result<Option<bool>, String> {
        let Some(field) = self.take(name) else {
            return Ok(None);
        };
        match field.value {
            Value::Truth(truth) => Ok(Some(truth)),
            _ => Err(needs(&field, "true or false")),
        }
    }

    /// Takes texts: one, a list, or one each time that it is named.
    pub fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, String> {
        let fields = self.take_all(name);
        let mut texts = Vec::new();
        for field in &fields {
            let found = match &field.value {
                Value::Text(text) => Some(vec![text.clone()]),
                Value::List(values) => values.iter().map(text).collect(),
                _ => None,
            };
            texts.extend(found.ok_or_else(|| needs(field, "a text or a list of texts"))?);
        }
        Ok((!fields.is_empty()).then_some(texts))
    }

    /// Puts a stage at the end of a chain, if it does something or the text names one of these; an
    /// impossible value is an error.
    pub fn add(
        &self,
        filter: Filter,
        names: &[&str],
        stages: &mut Vec<Stage>,
    ) -> Result<(), String> {
        let named = names.iter().find(|name| self.names(name));
        if let Err(complaint) = filter.validate() {
            let said: Vec<String> = names
                .iter()
                .filter(|name| self.names(name))
                .map(|name| self.as_written(name))
                .collect();
            return Err(format!("{} can't be: {complaint}", said.join(", ")));
        }
        if named.is_some() || !filter.is_neutral() {
            stages.push(filter.into());
        }
        Ok(())
    }

    /// Tells what nobody took: together what is about other things, and the rest one by one.
    pub fn tell_rest(&mut self, about_others: impl Fn(&str) -> bool) {
        let rest = std::mem::take(&mut self.left);
        let (others, unknown): (Vec<Field>, Vec<Field>) = rest
            .into_iter()
            .partition(|field| about_others(&field.name));
        self.unread.extend(in_one_sentence(&others));
        let mut told = BTreeSet::new();
        for Field { shown, .. } in &unknown {
            if told.insert(shown) {
                self.unread.push(format!("{shown} can't be taken over"));
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

fn in_one_sentence(fields: &[Field]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for field in fields {
        if !names.contains(&field.shown.as_str()) {
            names.push(&field.shown);
        }
    }
    match names.as_slice() {
        [] => None,
        [name] => Some(format!("{name} is not about choosing tokens")),
        names => Some(format!("{} are not about choosing tokens", listed(names))),
    }
}

/// The sentence about a value of the wrong kind.
pub(super) fn needs(field: &Field, kind: &str) -> String {
    format!("{} needs {kind}, not {}", field.shown, field.value.json())
}

/// A finite number, also where it stands in a text.
pub(super) fn number(value: &Value) -> Option<f32> {
    let (Value::Number(written) | Value::Text(written)) = value else {
        return None;
    };
    let number: f32 = written.trim().parse().ok()?;
    number.is_finite().then_some(number)
}

/// A whole number, also where it stands in a text or ends in ".0".
pub(super) fn whole(value: &Value) -> Option<i64> {
    let (Value::Number(written) | Value::Text(written)) = value else {
        return None;
    };
    let written = written.trim();
    let written = written.strip_suffix(".0").unwrap_or(written);
    written.parse().ok()
}

/// The number of a token.
pub(super) fn token(value: &Value) -> Option<TokenId> {
    let id = u32::try_from(whole(value)?).ok()?;
    Some(TokenId(id))
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}
