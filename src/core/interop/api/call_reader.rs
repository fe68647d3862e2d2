//! Finds the tool calls in what a model writes. What is no well-formed call stays text.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};

use super::json_end::JsonEnd;
use super::text_parts::TextPart;
use crate::generation::ToolCallForm;

/// A tool that the model calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolCall {
    /// The id that the model gave it. Most give none.
    id: Option<String>,
    name: String,
    /// A JSON object.
    arguments: String,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Read {
    Text(String),
    Call(ToolCall),
}

/// Reads a text as it is written. A possible call is held back until it is complete.
#[derive(Debug, Clone)]
pub(super) struct CallReader {
    form: ToolCallForm,
    only_first: bool,
    state: State,
    /// What has not been read yet.
    held: String,
    /// The white space with which the text outside of calls begins. It is dropped if nothing but calls
    /// follows.
    blank: String,
    has_text: bool,
    n_calls: usize,
}

#[derive(Debug, Clone)]
enum State {
    /// Outside of calls.
    Text,
    /// Where a call may begin without a tag: at the beginning, and after another call.
    MayBegin,
    /// After the beginning of a call, which the text shows as `written` if it turns out to be none.
    Call { written: String, end: JsonEnd },
}

impl CallReader {
    pub(super) fn new(form: ToolCallForm, only_first: bool) -> Self {
        let mut reader = Self {
            form,
            only_first,
            state: State::Text,
            held: String::new(),
            blank: String::new(),
            has_text: false,
            n_calls: 0,
        };
        reader.state = reader.outside();
        reader
    }

    /// Returns how many calls have been read.
    pub(super) const fn n_calls(&self) -> usize {
        self.n_calls
    }

    /// Appends a part of the text. Returns what is certain now.
    pub(super) fn push(&mut self, part: &TextPart) -> Vec<Read> {
        let mut read = Vec::new();
        let mut begin = 0;
        for (at, name) in &part.special {
            self.push_text(part.text.get(begin..*at).unwrap_or_default(), &mut read);
            self.push_tag(name, &mut read);
            begin = *at;
        }
        self.push_text(part.text.get(begin..).unwrap_or_default(), &mut read);
        read
    }

    /// Returns what is left at the end of the text.
    pub(super) fn finish(&mut self) -> Vec<Read> {
        let mut read = Vec::new();
        let held = std::mem::take(&mut self.held);
        match std::mem::replace(&mut self.state, State::Text) {
            // Some models end their text instead of the call.
            State::Call { written, .. } => self.end_call(&written, &held, &mut read),
            State::Text | State::MayBegin => self.text(&held, &mut read),
        }
        if self.n_calls == 0 && !self.blank.is_empty() {
            read.push(Read::Text(std::mem::take(&mut self.blank)));
        }
        read
    }

    /// The state in which a text begins, and in which it goes on after a call.
    fn outside(&self) -> State {
        match self.form {
            ToolCallForm::Llama => State::MayBegin,
            ToolCallForm::Hermes | ToolCallForm::Mistral => State::Text,
        }
    }

    fn push_text(&mut self, text: &str, read: &mut Vec<Read>) {
        self.held.push_str(text);
        while self.advance(read) {}
    }

    /// Reads a special token. It is not part of the text, but it may be a tag.
    fn push_tag(&mut self, name: &str, read: &mut Vec<Read>) {
        match &mut self.state {
            State::Call { written, .. } if Some(name) == self.form.end() => {
                let (written, held) = (std::mem::take(written), std::mem::take(&mut self.held));
                self.end_call(&written, &held, read);
                self.state = self.outside();
            }
            State::Text | State::MayBegin if name == self.form.begin() => {
                let held = std::mem::take(&mut self.held);
                self.text(&held, read);
                self.begin_call(String::new());
            }
            _ => {}
        }
    }

    fn begin_call(&mut self, written: String) {
        self.state = State::Call {
            written,
            end: JsonEnd::default(),
        };
    }

    /// Reads on. Returns whether there may be more to read.
    fn advance(&mut self, read: &mut Vec<Read>) -> bool {
        match &mut self.state {
            State::Text => self.advance_text(read),
            State::MayBegin => {
                let separators = [' ', '\t', '\r', '\n', ';'];
                let rest = self.held.trim_start_matches(separators);
                if rest.starts_with('{') {
                    let n_separators = self.held.len() - rest.len();
                    let separators = self.held.drain(..n_separators).collect();
                    self.begin_call(separators);
                } else if rest.is_empty() {
                    return false;
                } else {
                    self.state = State::Text;
                }
                true
            }
            State::Call { written, end } => {
                let n_body = match self.form.end() {
                    Some(tag) => self.held.find(tag).map(|at| (at, tag.len())),
                    None => json_end(self.form, &self.held, end).map(|at| (at, 0)),
                };
                let Some((n_body, n_tag)) = n_body else {
                    return false;
                };
                let written = std::mem::take(written);
                let mut body: String = self.held.drain(..n_body + n_tag).collect();
                let is_call = self.call(body.get(..n_body).unwrap_or_default(), read);
                self.state = if is_call { self.outside() } else { State::Text };
                if !is_call {
                    body.insert_str(0, &written);
                    self.text(&body, read);
                }
                true
            }
        }
    }

    /// Sends the text before the next tag.
    fn advance_text(&mut self, read: &mut Vec<Read>) -> bool {
        let tag = self.form.begin();
        let found = self.held.find(tag);
        let n_text = found.unwrap_or_else(|| {
            let mut starts = (0..self.held.len()).rev().take(tag.len());
            let begins = |at: &usize| {
                let rest = self.held.get(*at..);
                rest.is_some_and(|rest| tag.starts_with(rest))
            };
            starts.find(begins).unwrap_or(self.held.len())
        });
        let text: String = self.held.drain(..n_text).collect();
        self.text(&text, read);
        if found.is_some() {
            self.held.drain(..tag.len());
            self.begin_call(tag.to_owned());
        }
        found.is_some()
    }

    /// Reads what follows the beginning of a call as a call, or as text if it is none.
    fn end_call(&mut self, written: &str, body: &str, read: &mut Vec<Read>) {
        if !self.call(body, read) {
            self.text(written, read);
            self.text(body, read);
        }
    }

    /// Reads one or more calls. Returns whether this is what the text is.
    fn call(&mut self, body: &str, read: &mut Vec<Read>) -> bool {
        let Some(calls) = calls(self.form, body) else {
            return false;
        };
        if self.only_first && self.n_calls + calls.len() > 1 {
            return false;
        }
        self.n_calls += calls.len();
        read.extend(calls.into_iter().map(Read::Call));
        true
    }

    fn text(&mut self, text: &str, read: &mut Vec<Read>) {
        if self.has_text {
            if !text.is_empty() {
                read.push(Read::Text(text.to_owned()));
            }
            return;
        }
        self.blank.push_str(text);
        if !self.blank.trim().is_empty() {
            self.has_text = true;
            read.push(Read::Text(std::mem::take(&mut self.blank)));
        }
    }
}

/// Returns where the JSON of a call ends, or where it turns out to be none.
fn json_end(form: ToolCallForm, held: &str, end: &mut JsonEnd) -> Option<usize> {
    let first = held.trim_start().chars().next()?;
    let expected = if form == ToolCallForm::Mistral {
        '['
    } else {
        '{'
    };
    if first == expected {
        end.read(held)
    } else {
        Some(held.len() - held.trim_start().len())
    }
}

/// Returns the calls that a text consists of, or `None` if it is something else.
fn calls(form: ToolCallForm, text: &str) -> Option<Vec<ToolCall>> {
    let json: Value = serde_json::from_str(text).ok()?;
    let calls = match (form, json) {
        (ToolCallForm::Mistral, Value::Array(calls)) => calls,
        (ToolCallForm::Hermes | ToolCallForm::Llama, call) => vec![call],
        (ToolCallForm::Mistral, _) => return None,
    };
    let calls: Option<Vec<ToolCall>> = calls.iter().map(|call| ToolCall::of(form, call)).collect();
    calls.filter(|calls| !calls.is_empty())
}

impl ToolCall {
    fn of(form: ToolCallForm, call: &Value) -> Option<Self> {
        let name = call.get("name")?.as_str()?.to_owned();
        let arguments = match call.get(form.arguments())? {
            Value::Object(arguments) => json!(arguments).to_string(),
            // Some models write them as OpenAI's API does.
            Value::String(json) => {
                let parsed: Option<Value> = serde_json::from_str(json).ok();
                parsed?.as_object().map(|_| json.clone())?
            }
            _ => return None,
        };
        let id = call.get("id").and_then(Value::as_str);
        (!name.is_empty()).then_some(Self {
            id: id.map(str::to_owned),
            name,
            arguments,
        })
    }

    /// Returns the call as the API reports it. `place` is where it is: no other call has the same.
    pub(super) fn to_json(&self, place: impl Hash) -> Value {
        json!({
            "id": self.id.clone().unwrap_or_else(|| new_id(place)),
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        })
    }
}

/// Returns an id of nine letters and digits, the only form that Mistral's templates accept.
fn new_id(place: impl Hash) -> String {
    const N_CHARACTERS: usize = 9;
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    let mut rest = hasher.finish();
    let character = |_| {
        let digit = char::from_digit((rest % 36) as u32, 36);
        rest /= 36;
        digit.unwrap_or('0')
    };
    (0..N_CHARACTERS).map(character).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CallReader, Read, TextPart, ToolCallForm};

    const CALL: &str = "{\"name\": \"f\", \"arguments\": {\"a\": \"}]\"}}";
    const LLAMA: &str = "{\"name\": \"f\", \"parameters\": {\"a\": \"\\\"}\"}}";

    /// Returns the text outside of the calls, and their names.
    fn read(form: ToolCallForm, parts: &[TextPart]) -> (String, Vec<String>) {
        let mut reader = CallReader::new(form, false);
        let mut all: Vec<Read> = parts.iter().flat_map(|part| reader.push(part)).collect();
        all.extend(reader.finish());
        let (mut text, mut names) = (String::new(), Vec::new());
        for one in all {
            match one {
                Read::Text(part) => text.push_str(&part),
                Read::Call(call) => names.push(format!("{}({})", call.name, call.arguments)),
            }
        }
        (text, names)
    }

    fn part(text: &str) -> TextPart {
        TextPart {
            text: text.to_owned(),
            ..TextPart::default()
        }
    }

    fn tag(name: &str) -> TextPart {
        TextPart {
            special: vec![(0, name.to_owned())],
            ..TextPart::default()
        }
    }

    /// Splits a text into its characters.
    fn letters(text: &str) -> Vec<TextPart> {
        text.chars().map(|one| part(&one.to_string())).collect()
    }

    #[test]
    fn calls_are_read_and_everything_else_stays_text() {
        use ToolCallForm::{Hermes, Llama, Mistral};
        let hermes = format!("<tool_call>\n{CALL}\n</tool_call>");
        for (form, text, left, n_calls) in [
            (Hermes, hermes.clone(), String::new(), 1),
            (
                Hermes,
                format!("So:\n{hermes}\n{hermes}"),
                "So:\n\n".to_owned(),
                2,
            ),
            // The text ends instead of the call.
            (Hermes, format!("<tool_call>{CALL}"), String::new(), 1),
            (
                Hermes,
                "a < b <tool".to_owned(),
                "a < b <tool".to_owned(),
                0,
            ),
            (Hermes, "\n ".to_owned(), "\n ".to_owned(), 0),
            (
                Hermes,
                "<tool_call>{\"name\": 1}</tool_call>!".to_owned(),
                "<tool_call>{\"name\": 1}</tool_call>!".to_owned(),
                0,
            ),
            (Hermes, CALL.to_owned(), CALL.to_owned(), 0),
            (Llama, LLAMA.to_owned(), String::new(), 1),
            (Llama, format!("\n{LLAMA}; {LLAMA}\n"), String::new(), 2),
            (Llama, format!("<|python_tag|>{LLAMA}"), String::new(), 1),
            (Llama, format!("Sure. {LLAMA}"), format!("Sure. {LLAMA}"), 0),
            (Llama, format!("{LLAMA} done"), " done".to_owned(), 1),
            (
                Llama,
                "<|python_tag|>search.call(x)".to_owned(),
                "<|python_tag|>search.call(x)".to_owned(),
                0,
            ),
            (Llama, "{\"a\": 1}".to_owned(), "{\"a\": 1}".to_owned(), 0),
            (
                Mistral,
                format!("[TOOL_CALLS] [{CALL}, {CALL}]"),
                String::new(),
                2,
            ),
            (
                Mistral,
                "[TOOL_CALLS][]".to_owned(),
                "[TOOL_CALLS][]".to_owned(),
                0,
            ),
            (
                Mistral,
                format!("[TOOL_CALLS][{CALL}"),
                format!("[TOOL_CALLS][{CALL}"),
                0,
            ),
        ] {
            let expected = (left, n_calls);
            for parts in [vec![part(&text)], letters(&text)] {
                let (left, calls) = read(form, &parts);
                assert_eq!((left, calls.len()), expected, "{text}");
            }
        }
    }

    #[test]
    fn tags_may_be_special_tokens_which_the_text_leaves_out() {
        use ToolCallForm::{Hermes, Llama, Mistral};
        let parts = [
            tag("<tool_call>"),
            part(CALL),
            tag("</tool_call>"),
            part("!"),
        ];
        let arguments = "f({\"a\":\"}]\"})".to_owned();
        assert_eq!(
            read(Hermes, &parts),
            ("!".to_owned(), vec![arguments.clone()])
        );
        let parts = [
            part("Hm "),
            tag("[TOOL_CALLS]"),
            part(&format!("[{CALL}]")),
            tag("</s>"),
        ];
        assert_eq!(read(Mistral, &parts), ("Hm ".to_owned(), vec![arguments]));
        let parts = [tag("<|python_tag|>"), part(LLAMA), tag("<|eom_id|>")];
        assert_eq!(read(Llama, &parts).1.len(), 1);
        let parts = [tag("[TOOL_CALLS]"), part("[1]")];
        assert_eq!(read(Mistral, &parts), ("[1]".to_owned(), Vec::new()));
        // A tag inside a part.
        let parts = [TextPart {
            special: vec![(2, "[TOOL_CALLS]".to_owned())],
            ..part(&format!("a [{CALL}]"))
        }];
        assert_eq!(read(Mistral, &parts).0, "a ");
    }

    #[test]
    fn only_the_first_call_counts_if_the_request_says_so() {
        let mut reader = CallReader::new(ToolCallForm::Hermes, true);
        let call = format!("<tool_call>{CALL}</tool_call>");
        let mut all = reader.push(&part(&format!("{call}{call}")));
        all.extend(reader.finish());
        assert!(matches!(all.as_slice(), [Read::Call(_), Read::Text(text)] if *text == call));
    }

    #[test]
    fn ids_have_nine_letters_and_digits() {
        let id = super::new_id(("chatcmpl-1-2", 0, 0));
        assert_eq!(id.len(), 9);
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_ne!(id, super::new_id(("chatcmpl-1-2", 0, 1)));
    }

    proptest! {
        #[test]
        fn a_text_without_calls_stays_as_it_is_however_it_is_split(
            words in prop::collection::vec(prop::sample::select(vec![
                "<tool_call>", "</tool_call>", "<tool", "[TOOL_CALLS]", "[", "]", "{", "}", "\"",
                "\\", " ", ";", "€", "<|python_tag|>", "\"name\": ", "a",
            ]), 0..16),
            form in prop::sample::select(vec![
                ToolCallForm::Hermes, ToolCallForm::Llama, ToolCallForm::Mistral,
            ]),
        ) {
            let text = words.concat();
            let (whole, calls) = read(form, &[part(&text)]);
            prop_assert_eq!(calls.len(), 0);
            prop_assert_eq!(&whole, &text);
            prop_assert_eq!(read(form, &letters(&text)).0, text);
        }
    }
}
