//! What a sweep varies, as people write it: "temp 0.2..1.6/8", "top-k 1 10 40".

use super::stages::{Head, head};
use super::words::{PaneSpecError, Word, Words, split};
use crate::analysis::sweep::{Axis, AxisError, Parameter};
use crate::decoding::{Guidance, Need};

/// The help for what a sweep can vary.
pub const VARY_GRAMMAR: &str = "\
Name a numeric setting of a pane and the values to try:

  temp 0.2..1.6/8              From 0.2 to 1.6 in 8 steps.
  top-k 1 10 40                These values.
  xtc threshold 0.05..0.2/4    A second number of a stage goes by its own name.
  guide 1 1.5 2                The scale of the guidance that --pane describes.

The stage that --pane describes is varied, or a new one at its usual place.";

/// Reads a number to vary and its values, as [`VARY_GRAMMAR`] describes them.
pub fn parse_axis(description: &str) -> Result<Axis, PaneSpecError> {
    let mut parts = split(description)?.into_iter();
    let Some(mut words) = parts.next() else {
        return Err(empty(description));
    };
    if let Some(more) = parts.next() {
        return Err(more.last.wrong("vary one number at a time"));
    }
    let words = &mut words;
    let owner = head(words)?;
    let parameter = parameter(owner, words)?;
    let first = words.last.clone();
    let mut values = Vec::new();
    let mut axis = None;
    while let Some(word) = words.next() {
        match range(&word)? {
            Some((ends, n_steps)) if values.is_empty() && axis.is_none() => {
                check_count(parameter, &word, ends)?;
                axis = Some(Axis::range(parameter, ends, n_steps).map_err(|e| wrong(&word, &e))?);
            }
            Some(_) => return Err(word.wrong("a range can’t be combined with other values")),
            None if axis.is_some() => {
                return Err(word.wrong("a range can’t be combined with other values"));
            }
            None => values.push(number(parameter, &word)?),
        }
    }
    match axis {
        Some(axis) => Ok(axis),
        None if values.is_empty() => Err(first.wrong(format!(
            "{:?} needs values, as in \"0.2..1.6/8\" or \"0.5 1\"",
            parameter.key()
        ))),
        None => Axis::of(parameter, values).map_err(|error| wrong(&words.last, &error)),
    }
}

fn empty(description: &str) -> PaneSpecError {
    PaneSpecError {
        message: "a setting is missing here".to_owned(),
        span: 0..description.len(),
    }
}

fn wrong(word: &Word, error: &AxisError) -> PaneSpecError {
    word.wrong(error.to_string())
}

/// Returns the number to vary: the first of its stage, unless the words name another.
fn parameter(owner: Head, words: &mut Words) -> Result<Parameter, PaneSpecError> {
    let keys: Vec<&str> = match owner {
        Head::Filter(spec) => spec.params.iter().map(|param| param.key).collect(),
        // A beam search writes a single text.
        Head::Selector(spec) if spec.needs.contains(&Need::SeveralTexts) => Vec::new(),
        Head::Selector(spec) => spec.params.iter().map(|param| param.key).collect(),
        Head::Guide => Guidance::PARAMS.iter().map(|param| param.key).collect(),
        Head::Ban
        | Head::Dialect
        | Head::BeamScores
        | Head::MinKeep
        | Head::Drafts
        | Head::Grammar
        | Head::Seed
        | Head::Name => Vec::new(),
    };
    let named = (1..keys.len()).find(|index| {
        let key = keys.get(*index).copied().unwrap_or_default();
        words.take(key)
    });
    let index = named.unwrap_or(0);
    match owner {
        Head::Filter(spec) if !keys.is_empty() => Ok(Parameter::Filter(spec.kind, index)),
        Head::Selector(spec) if !keys.is_empty() => Ok(Parameter::Selector(spec, index)),
        Head::Guide => Ok(Parameter::Guidance(index)),
        _ => {
            let word = words.last.text.clone();
            Err(words.last.wrong(format!("{word:?} has no number to vary")))
        }
    }
}

/// Reads "0.2..1.6/8". `None` if the word is not a range.
fn range(word: &Word) -> Result<Option<([f64; 2], usize)>, PaneSpecError> {
    let Some((from, rest)) = word.text.split_once("..") else {
        return Ok(None);
    };
    let malformed = || {
        let text = &word.text;
        word.wrong(format!(
            "{text:?} is not a range with a number of steps, as in \"0.2..1.6/8\""
        ))
    };
    let (to, n_steps) = rest.split_once('/').ok_or_else(malformed)?;
    let end = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    let ends = end(from).zip(end(to)).ok_or_else(malformed)?;
    let n_steps = n_steps.parse().map_err(|_not_a_count| malformed())?;
    Ok(Some(([ends.0, ends.1], n_steps)))
}

fn number(parameter: Parameter, word: &Word) -> Result<f64, PaneSpecError> {
    let parsed = word.text.parse::<f64>().ok();
    let value = parsed.filter(|value| value.is_finite()).ok_or_else(|| {
        let text = &word.text;
        word.wrong(format!("{text:?} is not a number"))
    })?;
    check_count(parameter, word, [value])?;
    Ok(value)
}

/// Refuses a count that a setting can't hold.
fn check_count(
    parameter: Parameter,
    word: &Word,
    values: impl IntoIterator<Item = f64>,
) -> Result<(), PaneSpecError> {
    let most = u32::MAX;
    let is_too_large = |value: f64| parameter.is_count() && value > f64::from(most);
    if values.into_iter().any(is_too_large) {
        let text = &word.text;
        return Err(word.wrong(format!("{text:?} is too large; the maximum is {most}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{VARY_GRAMMAR, parse_axis};

    #[test]
    fn a_range_or_a_list_of_values_is_read() {
        for (description, expected) in [
            (
                "temp 0.2..1.6/8",
                "temp 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6",
            ),
            ("T=1..0.5/2", "temp 1, 0.5"),
            ("top-k 1 10 40", "top-k 1, 10, 40"),
            ("Top P 0.5..1/3", "top-p 0.5, 0.75, 1"),
            ("xtc threshold 0.1..0.3/3", "xtc threshold 0.1, 0.2, 0.3"),
            ("mirostat 3", "mirostat 3"),
            ("mirostat eta 0.1 0.2", "mirostat eta 0.1, 0.2"),
            ("frequency -0.5..0.5/3", "frequency -0.5, 0, 0.5"),
            ("guide 1..2/3", "guide 1, 1.5, 2"),
            ("guide cutoff 0 0.1", "guide cutoff 0, 0.1"),
        ] {
            let axis = parse_axis(description).unwrap_or_else(|e| panic!("{description}: {e}"));
            assert_eq!(axis.to_string(), expected);
        }
    }

    #[test]
    fn an_error_points_at_its_word() {
        for (description, word, message) in [
            (
                "tmp 1",
                "tmp",
                "\"tmp\" is not a setting; did you mean \"temp\"?",
            ),
            (
                "temp",
                "temp",
                "\"temp\" needs values, as in \"0.2..1.6/8\" or \"0.5 1\"",
            ),
            ("temp x", "x", "\"x\" is not a number"),
            (
                "temp 0..1",
                "0..1",
                "\"0..1\" is not a range with a number of steps, as in \"0.2..1.6/8\"",
            ),
            (
                "top-p 0.5..2/4",
                "0.5..2/4",
                "Top-p must be between 0 and 1",
            ),
            (
                "top-p 0.5..1/0",
                "0.5..1/0",
                "Top-p needs at least one value",
            ),
            (
                "temp 0.1..2/18446744073709551615",
                "0.1..2/18446744073709551615",
                "Temperature takes at most 64 values, but 18446744073709551615 were given",
            ),
            (
                "temp 0.1..2/18446744073709551616",
                "0.1..2/18446744073709551616",
                "\"0.1..2/18446744073709551616\" is not a range with a number of steps, as in \
                 \"0.2..1.6/8\"",
            ),
            (
                "top-k 1 99999999999999999999",
                "99999999999999999999",
                "\"99999999999999999999\" is too large; the maximum is 4294967295",
            ),
            (
                "top-k 1..99999999999999999999/2",
                "1..99999999999999999999/2",
                "\"1..99999999999999999999/2\" is too large; the maximum is 4294967295",
            ),
            ("top-p 0.5 1.5", "1.5", "Top-p must be between 0 and 1"),
            (
                "temp 1 0..1/2",
                "0..1/2",
                "a range can’t be combined with other values",
            ),
            (
                "temp 0..1/2 3",
                "3",
                "a range can’t be combined with other values",
            ),
            ("seed 1 2", "seed", "\"seed\" has no number to vary"),
            ("greedy 1", "greedy", "\"greedy\" has no number to vary"),
            ("temp 1, top-p 1", "top-p", "vary one number at a time"),
        ] {
            let error = parse_axis(description).unwrap_err();
            assert_eq!(error.message, message, "{description}");
            assert_eq!(&description[error.span], word, "{description}");
        }
        assert!(parse_axis("").is_err());
    }

    #[test]
    fn every_example_of_the_help_can_be_read() {
        let lines = VARY_GRAMMAR.lines().filter(|line| line.starts_with("  "));
        let examples: Vec<&str> = lines
            .map(|line| line.trim().split("  ").next().unwrap_or_default())
            .collect();
        assert_eq!(examples.len(), 4);
        for example in examples {
            parse_axis(example).unwrap();
        }
    }
}
