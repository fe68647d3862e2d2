//! A model's chat template: turns messages into the text that the model was trained to answer.
//!
//! Templates are small Jinja programs. They are rendered as transformers renders them, but within
//! limits on time and size, because model files are untrusted. This module knows nothing about
//! tokens.

mod error;
mod helper;
mod loops;
mod python;
mod source;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread;

use jiff::Zoned;
use jiff::fmt::strtime;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Value, context};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde::{Deserialize, Serialize};

use crate::generation::{ChatMessage, TemplateKwargs, TemplateSwitch};

pub use self::error::ChatError;
use self::helper::RenderRequest;
pub use self::helper::{RENDER_ARGUMENT, answer_render_request, render_templates_with};
pub(super) use self::source::{NamedTemplate, default_template, of_gguf};

/// The longest template that is parsed. Templates usually have a few thousand bytes. The parser
/// recurses at most once per byte, with less than a kilobyte of [`N_STACK_BYTES`] each time.
const N_MAX_SOURCE_BYTES: usize = 256 << 10;

/// The longest text that a template may print, including what it captures with `set` blocks.
const N_MAX_TEXT_BYTES: usize = 16 << 20;

/// How many instructions a template may run per rendering. Templates usually need a few thousand.
const N_MAX_INSTRUCTIONS: usize = 200_000;

/// A bound on (instructions × length of the template). Each instruction could print at most all of
/// the template's literal text, and literal text that is captured does not count towards
/// [`N_MAX_TEXT_BYTES`].
const N_MAX_RAW_BYTES: usize = 1 << 30;

/// How deeply macro calls may nest.
const N_MAX_DEPTH: usize = 100;

/// The stack of the thread that parses or renders. A template can nest an expression as deeply as
/// it has bytes, and a value as deeply as it has instructions; each level takes stack space, even
/// when it is freed. Only pages that are touched use memory.
const N_STACK_BYTES: usize = 256 << 20;

const NAME: &str = "chat";

/// One message of a chat: the system message, or another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    System(String),
    Other(ChatMessage),
}

impl Message {
    /// The message as templates see it. A template may print a whole message, and then the order of
    /// the fields matters.
    fn value(&self) -> Value {
        let message = match self {
            Self::System(content) => return context! { role => "system", content => content },
            Self::Other(message) => message,
        };
        let mut fields = vec![
            ("role", Value::from(message.role.name())),
            ("content", Value::from(message.content.as_str())),
        ];
        if let Some(thought) = &message.thinking {
            // The template of gpt-oss calls it `thinking`, most others `reasoning_content`.
            for name in ["reasoning_content", "thinking"] {
                fields.push((name, Value::from(thought.as_str())));
            }
        }
        if !message.tool_calls.is_empty() {
            let calls = message.tool_calls.iter().map(with_arguments);
            let calls: Vec<Value> = calls.map(|call| Value::from(Serde(&call))).collect();
            fields.push(("tool_calls", Value::from(calls)));
        }
        let call = &message.call;
        for (name, text) in [("tool_call_id", &call.tool_call_id), ("name", &call.name)] {
            fields.extend(text.as_ref().map(|text| (name, Value::from(text.as_str()))));
        }
        Value::from_pairs(fields)
    }

    /// Returns its content, if it is the system message.
    const fn system(&self) -> Option<&String> {
        match self {
            Self::System(content) => Some(content),
            Self::Other(_) => None,
        }
    }

    fn content(&self) -> &str {
        match self {
            Self::System(content) => content,
            Self::Other(message) => &message.content,
        }
    }
}

/// Returns a tool call whose arguments are an object, which is what templates expect. In OpenAI's API
/// they are the JSON of one, as a string.
fn with_arguments(call: &serde_json::Value) -> serde_json::Value {
    let mut call = call.clone();
    if let Some(arguments) = call.pointer_mut("/function/arguments")
        && let Some(json) = arguments.as_str()
        && let Ok(parsed) = serde_json::from_str(json)
    {
        *arguments = parsed;
    }
    call
}

/// A parsed chat template.
#[derive(Debug, Clone)]
pub struct ChatTemplate {
    source: String,
    environment: Environment<'static>,
    /// The texts of special tokens by the names that templates use, such as `bos_token`.
    special_tokens: BTreeMap<String, String>,
    switches: Vec<TemplateSwitch>,
}

impl ChatTemplate {
    /// Returns the template's source, unchanged.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Parses a template. `special_tokens` maps names such as `bos_token` to their texts.
    pub fn parse(
        source: &str,
        special_tokens: BTreeMap<String, String>,
    ) -> Result<Self, ChatError> {
        if source.len() > N_MAX_SOURCE_BYTES {
            return Err(ChatError::SourceTooLong {
                n_bytes: source.len(),
                n_max: N_MAX_SOURCE_BYTES,
            });
        }
        let (environment, switches) = on_large_stack(|| {
            let environment = environment_with(source)?;
            let switches = switches_of(&environment)?;
            Ok((environment, switches))
        })?;
        Ok(Self {
            source: source.to_owned(),
            environment,
            special_tokens,
            switches,
        })
    }

    /// Returns the switches that the template reads.
    pub(super) fn switches(&self) -> &[TemplateSwitch] {
        &self.switches
    }

    /// Renders a chat. With `add_generation_prompt`, the text ends with the beginning of the
    /// model's turn. The work is done in a helper process if the program has one (see
    /// [`render_templates_with`]).
    ///
    /// Fails if the template rejects or ignores a system message. A blank one may be ignored, and
    /// so may one that the template writes by default.
    pub fn render(
        &self,
        messages: &[Message],
        add_generation_prompt: bool,
        kwargs: &TemplateKwargs,
    ) -> Result<String, ChatError> {
        match helper::program() {
            Some(program) => {
                let request = RenderRequest {
                    source: self.source.clone(),
                    special_tokens: self.special_tokens.clone(),
                    messages: messages.to_vec(),
                    add_generation_prompt,
                    kwargs: kwargs.clone(),
                };
                helper::render(program, &request)
            }
            None => self.render_here(messages, add_generation_prompt, kwargs),
        }
    }

    /// Renders a chat in this process.
    fn render_here(
        &self,
        messages: &[Message],
        add_generation_prompt: bool,
        kwargs: &TemplateKwargs,
    ) -> Result<String, ChatError> {
        let rendered = self.render_all(messages, add_generation_prompt, kwargs);
        let (system, others): (Vec<_>, Vec<_>) = messages
            .iter()
            .cloned()
            .partition(|message| message.system().is_some());
        if system.is_empty() || others.is_empty() {
            return rendered;
        }
        let without = self.render_all(&others, add_generation_prompt, kwargs);
        match (rendered, without) {
            (Err(ChatError::Rejected { reason }), Ok(_)) => {
                Err(ChatError::SystemPromptRejected { reason })
            }
            (Ok(rendered), Ok(without))
                if rendered == without && !contains(&rendered, &system, &others) =>
            {
                Err(ChatError::SystemPromptIgnored)
            }
            (rendered, _) => rendered,
        }
    }

    /// Renders exactly these messages.
    fn render_all(
        &self,
        messages: &[Message],
        add_generation_prompt: bool,
        kwargs: &TemplateKwargs,
    ) -> Result<String, ChatError> {
        on_large_stack(|| self.run(messages, add_generation_prompt, kwargs))
    }

    fn run(
        &self,
        messages: &[Message],
        add_generation_prompt: bool,
        kwargs: &TemplateKwargs,
    ) -> Result<String, ChatError> {
        let template = self
            .environment
            .get_template(NAME)
            .map_err(|error| ChatError::parse_failed(&error))?;
        let messages: Vec<Value> = messages.iter().map(Message::value).collect();
        let special_tokens = self.special_tokens.iter();
        let special_tokens = special_tokens.map(|(name, text)| (name.clone(), Value::from(text)));
        let mut named: BTreeMap<String, Value> = special_tokens.collect();
        // As in transformers, variables replace special tokens of the same names.
        let kwargs = kwargs.iter();
        named.extend(kwargs.map(|(name, value)| (name.clone(), Value::from(Serde(value)))));
        // transformers defines it as None.
        named
            .entry("tools".to_owned())
            .or_insert_with(|| Value::from(()));
        let values = context! {
            messages,
            add_generation_prompt,
            // Likewise.
            documents => (),
            ..Value::from(named)
        };
        let mut text = BoundedBuffer::default();
        match template.render_captured_to(values, &mut text) {
            Ok(_) => Ok(String::from_utf8_lossy(&text.bytes).into_owned()),
            Err(_) if text.full => Err(ChatError::OutputTooLong {
                n_max: N_MAX_TEXT_BYTES,
            }),
            Err(error) => Err(ChatError::failed(&error)),
        }
    }
}

/// Runs `work` on a separate thread with a large stack, so that a malicious template can neither
/// overflow the caller's stack nor panic its thread.
fn on_large_stack<T: Send>(
    work: impl FnOnce() -> Result<T, ChatError> + Send,
) -> Result<T, ChatError> {
    let worked = thread::scope(|scope| {
        thread::Builder::new()
            .name("chat template".to_owned())
            .stack_size(N_STACK_BYTES)
            .spawn_scoped(scope, work)
            .map(|thread| thread.join().unwrap_or(Err(ChatError::Panicked)))
    });
    worked.unwrap_or_else(|error| {
        let reason = error.to_string();
        Err(ChatError::Unavailable { reason })
    })
}

/// Returns whether a rendered chat contains all of these system messages, not counting occurrences
/// of the same text in other messages.
fn contains(rendered: &str, system: &[Message], others: &[Message]) -> bool {
    system.iter().all(|message| {
        let text = message.content().trim();
        let others = others.iter().map(|other| other.content().matches(text));
        text.is_empty() || rendered.matches(text).count() > others.map(Iterator::count).sum()
    })
}

/// Parses a template into its own environment, with an instruction limit to match.
fn environment_with(source: &str) -> Result<Environment<'static>, ChatError> {
    let mut environment = environment().map_err(|error| ChatError::parse_failed(&error))?;
    let n_instructions = N_MAX_RAW_BYTES / source.len().max(1);
    let n_instructions = n_instructions.min(N_MAX_INSTRUCTIONS);
    environment.set_fuel(Some(n_instructions as u64));
    environment
        .add_template_owned(
            NAME,
            loops::with_checked_loops(&without_generation_tags(source)),
        )
        .map_err(|error| ChatError::parse_failed(&error))?;
    Ok(environment)
}

/// Returns the switches that a template reads.
fn switches_of(environment: &Environment<'static>) -> Result<Vec<TemplateSwitch>, ChatError> {
    let template = environment.get_template(NAME);
    let template = template.map_err(|error| ChatError::parse_failed(&error))?;
    let variables = template.undeclared_variables(false);
    let switches = TemplateSwitch::ALL.into_iter();
    Ok(switches
        .filter(|switch| variables.contains(switch.variable()))
        .collect())
}

/// The environment in which templates run. It matches that of transformers.
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
    environment.add_filter(loops::FILTER, loops::not_none);
    environment.add_filter("tojson", python::to_json);
    environment.add_test("iterable", python::is_iterable);
    environment.add_test("sequence", python::is_sequence);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", strftime_now);
    Ok(environment)
}

fn raise_exception(reason: &str) -> Result<Value, Error> {
    let raised = error::RaisedException(reason.to_owned());
    Err(Error::new(ErrorKind::InvalidOperation, reason.to_owned()).with_source(raised))
}

/// Formats the current time, for example as "%d %b %Y".
fn strftime_now(format: &str) -> Result<String, Error> {
    let invalid = |error: jiff::Error| Error::new(ErrorKind::InvalidOperation, error.to_string());
    strtime::format(format, &Zoned::now()).map_err(invalid)
}

/// Replaces `generation` tags, which mark the assistant's text for training and are unknown to
/// minijinja, by `with` tags, which do nothing.
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

/// A buffer that fails to write beyond [`N_MAX_TEXT_BYTES`].
#[derive(Default)]
struct BoundedBuffer {
    bytes: Vec<u8>,
    full: bool,
}

impl Write for BoundedBuffer {
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
