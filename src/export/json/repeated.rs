//! Whether a run file repeats itself truthfully.
//!
//! Much of a file is written for its readers only: the text of a pane, its speed, a summary of its
//! settings. None of it is read. To find out whether it is true, the content that was read is
//! written again: Quartet writes the same content as the same file.

use serde_json::Value;

use super::{FORMAT_VERSION, Form, RunFile, write_run};
use crate::analysis::contradictions::{Contradiction, ContradictionKind, RunPlace, contradictions};
use crate::decoding::Detail;

/// The longest value that is quoted.
const N_QUOTED: usize = 60;

/// Returns where a run file contradicts itself, the first place first. `run` is what was read from
/// `bytes`.
pub fn contradictions_of(bytes: &[u8], run: &RunFile) -> Vec<Contradiction> {
    let branches = run.branches.iter().map(|branch| &branch.text);
    let mut found = contradictions(&run.panes, branches);
    found.extend(false_repetition(bytes, run));
    for contradiction in &mut found {
        contradiction.place = contradiction.place.with_panes(|pane| run.place(pane));
    }
    found.sort_by_key(|contradiction| (contradiction.place, contradiction.step));
    found
}

/// Finds the first value of a file that is not what its content is written as.
fn false_repetition(bytes: &[u8], run: &RunFile) -> Option<Contradiction> {
    let said: Value = serde_json::from_slice(bytes).ok()?;
    if said.get("format_version").and_then(Value::as_u64) != Some(u64::from(FORMAT_VERSION)) {
        return None;
    }
    let turns = run.turns();
    let earlier = turns.iter().map(|(_, turn)| &**turn.answer);
    let branches = run.branches.iter().map(|branch| &branch.text);
    let texts = run.panes.iter().chain(branches).chain(earlier);
    let mut steps = texts.flat_map(|text| &text.steps);
    let detail = steps.any(|step| step.trace.raw.detail != Detail::HeadOnly);
    let form = Form {
        pretty: false,
        detail,
    };
    let written: Value = serde_json::from_slice(&write_run(run, form)).ok()?;
    let mut path = Vec::new();
    let (said, written) = difference(&said, &written, &mut path)?;
    let [said, written] = [said, written].map(|value| value.map_or("nothing".to_owned(), quoted));
    let step = index_in(&path, "steps");
    let index = path.get(1).and_then(|index| index.parse().ok());
    let place = match (path.first().map(String::as_str), index) {
        (Some("turns"), Some(turn)) => turns.get(turn).map(|(place, _)| *place),
        (Some("panes"), Some(pane)) => Some(RunPlace::Pane(pane)),
        (Some("branches"), Some(branch)) => Some(RunPlace::Branch(branch)),
        _ => None,
    };
    let place = place.unwrap_or(RunPlace::File);
    let has_all_steps = matches!(place, RunPlace::File | RunPlace::Pane(_));
    let name = path.join(".");
    Some(Contradiction {
        place,
        // The steps of a branch or a turn are numbered after those that it shares.
        step: step.filter(|_| has_all_steps),
        kind: ContradictionKind::Repeated,
        words: format!("{name} is {said}, the rest of the file says {written}"),
    })
}

/// Returns the first two values that differ, and appends their path. A default may be missing.
fn difference<'a>(
    said: &'a Value,
    written: &'a Value,
    path: &mut Vec<String>,
) -> Option<(Option<&'a Value>, Option<&'a Value>)> {
    match (said, written) {
        (Value::Object(a), Value::Object(b)) => {
            let names = a
                .keys()
                .chain(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().find_map(|name| {
                path.push(name.clone());
                let found = difference_of(a.get(name), b.get(name), path);
                if found.is_none() {
                    path.pop();
                }
                found
            })
        }
        (Value::Array(a), Value::Array(b)) => (0..a.len().max(b.len())).find_map(|index| {
            path.push(index.to_string());
            let found = difference_of(a.get(index), b.get(index), path);
            if found.is_none() {
                path.pop();
            }
            found
        }),
        (a, b) => (a != b).then_some((Some(a), Some(b))),
    }
}

fn difference_of<'a>(
    said: Option<&'a Value>,
    written: Option<&'a Value>,
    path: &mut Vec<String>,
) -> Option<(Option<&'a Value>, Option<&'a Value>)> {
    match (said, written) {
        (Some(said), Some(written)) => difference(said, written, path),
        (None, None) => None,
        (Some(value), None) | (None, Some(value)) if is_default(value) => None,
        (said, written) => Some((said, written)),
    }
}

/// Whether a value may be left out.
fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

/// Returns the index that follows a name in a path.
fn index_in(path: &[String], name: &str) -> Option<usize> {
    let at = path.iter().position(|part| part == name)?;
    path.get(at + 1)?.parse().ok()
}

/// Quotes a value, shortened.
fn quoted(value: &Value) -> String {
    let text = match value {
        Value::String(text) => format!("‘{text}’"),
        value => value.to_string(),
    };
    if text.chars().count() <= N_QUOTED {
        return text;
    }
    let start: String = text.chars().take(N_QUOTED).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::contradictions_of;
    use crate::export::json::{Form, RunFile, read, write_run};
    use crate::generation::testing::generation;

    #[test]
    fn a_changed_repetition_is_named_with_what_the_rest_says() {
        let run = RunFile {
            panes: vec![generation(&[(" the", 0.5), (" fox", 0.2)])],
            ..RunFile::default()
        };
        let written = String::from_utf8(write_run(&run, Form::default())).unwrap();
        let repeated = |bytes: &str| {
            let run = read(bytes.as_bytes()).unwrap();
            let mut all = contradictions_of(bytes.as_bytes(), &run).into_iter();
            all.find(|found| found.words.contains("rest of the file"))
                .map(|found| found.to_string())
        };
        assert_eq!(repeated(&written), None);
        for (said, other, words) in [
            (
                r#""text":" the fox""#,
                r#""text":" the king""#,
                "pane A: panes.0.text is ‘ the king’, the rest of the file says ‘ the fox’",
            ),
            (
                r#""n_generated":2"#,
                r#""n_generated":3"#,
                "pane A: panes.0.metrics.n_generated is 3, the rest of the file says 2",
            ),
            (
                r#""summary":"T 0.7""#,
                r#""summary":"T 0.8""#,
                "pane A: panes.0.settings.summary is ‘T 0.8’, the rest of the file says ‘T 0.7’",
            ),
        ] {
            let changed = written.replacen(said, other, 1);
            assert_ne!(changed, written, "{said}");
            assert_eq!(repeated(&changed).as_deref(), Some(words));
        }
    }
}
