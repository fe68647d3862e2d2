//! A model's chat template: from messages to the text that the model was trained to answer.
//!
//! Templates are small programs in Jinja. They are rendered as transformers renders them, within
//! limits, because they come with files that anybody may have written. This module knows no tokens.

mod error;
mod python;
mod source;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread;

use jiff::Zoned;
use jiff::fmt::strtime;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value, context};
use minijinja_contrib::pycompat::unknown_method_callback;

pub use self::error::ChatError;
pub(super) use self::source::{Named, of_gguf, standard};

/// The longest template. Those of models have some thousand bytes.
const N_MAX_SOURCE_BYTES: usize = 1 << 20;

/// The longest text that a template may print; what it keeps for later counts too.
const N_MAX_TEXT_BYTES: usize = 16 << 20;

/// How many instructions a template may run for one text. Those of models need some thousand.
const N_MAX_INSTRUCTIONS: usize = 200_000;

/// So much of its own text may come out of a template, were each instruction to print all of it. That
/// text goes by no limit of ours where a template keeps it for later.
const N_MAX_RAW_BYTES: usize = 1 << 30;

/// How deep macros may call each other.
const N_MAX_DEPTH: usize = 100;

/// A template may nest a value as deep as it has instructions, and each level takes stack when the
/// value is freed. Only what is used of it becomes memory.
const N_STACK_BYTES: usize = 256 << 20;

const NAME: &str = "chat";

/// Who says something in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Says how the others are to behave.
    System,
    /// Asks.
    User,
    /// Answers: the model.
    Assistant,
}

/// What somebody says in a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who.
    pub role: Role,
    /// What.
    pub content: String,
}

impl Message {
    /// As templates read it.
    fn value(&self) -> Value {
        let role = match self.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        context! { role => role, content => self.content.as_str() }
    }
}

/// A chat template that was understood.
#[derive(Debug, Clone)]
pub struct ChatTemplate {
    environment: Environment<'static>,
    /// "`bos_token`" and the like, and how they are written.
    special_tokens: BTreeMap<String, String>,
}

impl ChatTemplate {
    /// Understands a template. `special_tokens` are the texts that it may write by name, such as
    /// `bos_token`.
    pub fn parse(
        source: &str,
        special_tokens: BTreeMap<String, String>,
    ) -> Result<Self, ChatError> {
        if source.len() > N_MAX_SOURCE_BYTES {
            return Err(ChatError::TooLarge {
                n_bytes: source.len(),
                n_max: N_MAX_SOURCE_BYTES,
            });
        }
        let mut environment = environment().map_err(|error| ChatError::unreadable(&error))?;
        let n_instructions = N_MAX_RAW_BYTES / source.len().max(1);
        let n_instructions = n_instructions.min(N_MAX_INSTRUCTIONS);
        environment.set_fuel(Some(n_instructions as u64));
        environment
            .add_template_owned(NAME, without_generation_tags(source))
            .map_err(|error| ChatError::unreadable(&error))?;
        Ok(Self {
            environment,
            special_tokens,
        })
    }

    /// The text for these messages; where it `awaits_answer`, with the beginning of the model's turn.
    /// A system message that the template refuses or leaves out is an error that says so. One that it
    /// would write unasked is not left out, nor is one of white space.
    pub fn render(&self, messages: &[Message], awaits_answer: bool) -> Result<String, ChatError> {
        let rendered = self.write(messages, awaits_answer);
        let (system, others): (Vec<_>, Vec<_>) = messages
            .iter()
            .cloned()
            .partition(|message| message.role == Role::System);
        if system.is_empty() || others.is_empty() {
            return rendered;
        }
        let without = self.write(&others, awaits_answer);
        match (rendered, without) {
            (Err(ChatError::Refused { reason }), Ok(_)) => Err(ChatError::SystemRefused { reason }),
            (Ok(rendered), Ok(without))
                if rendered == without && !holds(&rendered, &system, &others) =>
            {
                Err(ChatError::SystemLeftOut)
            }
            (rendered, _) => rendered,
        }
    }

    /// Renders on a stack of its own, where a fault of the template can do no harm.
    fn write(&self, messages: &[Message], awaits_answer: bool) -> Result<String, ChatError> {
        let rendered = thread::scope(|scope| {
            thread::Builder::new()
                .name("chat template".to_owned())
                .stack_size(N_STACK_BYTES)
                .spawn_scoped(scope, || self.run(messages, awaits_answer))
                .map(|thread| thread.join().unwrap_or(Err(ChatError::Impossible)))
        });
        rendered.unwrap_or_else(|error| {
            let reason = error.to_string();
            Err(ChatError::NoThread { reason })
        })
    }

    fn run(&self, messages: &[Message], awaits_answer: bool) -> Result<String, ChatError> {
        let template = self
            .environment
            .get_template(NAME)
            .map_err(|error| ChatError::unreadable(&error))?;
        let said: Vec<Value> = messages.iter().map(Message::value).collect();
        let values = context! {
            messages => said,
            add_generation_prompt => awaits_answer,
            // transformers gives both, without a value.
            tools => (),
            documents => (),
            ..Value::from_pairs(self.special_tokens.clone())
        };
        let mut text = Bounded::default();
        match template.render_captured_to(values, &mut text) {
            Ok(_) => Ok(String::from_utf8_lossy(&text.bytes).into_owned()),
            Err(_) if text.full => Err(ChatError::TooLong {
                n_max: N_MAX_TEXT_BYTES,
            }),
            Err(error) => Err(ChatError::failed(&error)),
        }
    }
}

/// Whether a text holds these system messages, beside where the other messages say the same.
fn holds(rendered: &str, system: &[Message], others: &[Message]) -> bool {
    system.iter().all(|message| {
        let text = message.content.trim();
        let others = others.iter().map(|other| other.content.matches(text));
        text.is_empty() || rendered.matches(text).count() > others.map(Iterator::count).sum()
    })
}

/// What templates find around them: that of transformers.
fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.set_debug(false);
    environment.set_recursion_limit(N_MAX_DEPTH);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_unknown_method_callback(unknown_method_callback);
    environment.set_formatter(python::print);
    environment.add_filter("tojson", python::to_json);
    environment.add_test("sequence", python::is_sequence);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", strftime_now);
    Ok(environment)
}

fn raise_exception(reason: &str) -> Result<Value, Error> {
    let refusal = error::Refusal(reason.to_owned());
    Err(Error::new(ErrorKind::InvalidOperation, reason.to_owned()).with_source(refusal))
}

/// The time now, in the form that is asked for: "%d %b %Y".
fn strftime_now(form: &str) -> Result<String, Error> {
    let unknown = |error: jiff::Error| Error::new(ErrorKind::InvalidOperation, error.to_string());
    strtime::format(form, &Zoned::now()).map_err(unknown)
}

/// The template with its `generation` tags, which mark the model's own words for training, as tags
/// that do nothing.
fn without_generation_tags(source: &str) -> String {
    let tag = |part: &str| {
        let (tag, rest) = part.split_once("%}")?;
        let word = tag.trim_matches(|c: char| c.is_whitespace() || c == '-' || c == '+');
        let other = match word {
            "generation" => "with",
            "endgeneration" => "endwith",
            _ => return None,
        };
        Some(format!("{}%}}{rest}", tag.replace(word, other)))
    };
    let mut parts = source.split("{%");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("{%");
        match tag(part) {
            Some(replaced) => text.push_str(&replaced),
            None => text.push_str(part),
        }
    }
    text
}

/// Bytes up to a limit.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    full: bool,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > N_MAX_TEXT_BYTES {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
