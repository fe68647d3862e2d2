//! Renders templates in a helper process, whose memory and time the operating system limits.
//!
//! minijinja counts instructions, but a single instruction can take any amount of memory or time: a
//! filter such as `'%90000000000d'|format(1)`, `x ~ x` in a loop, a comparison of lists that
//! contain themselves many times. It has no hook to stop them, and a thread cannot be killed. A
//! process can.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use super::{ChatError, ChatTemplate, Message};
use crate::generation::TemplateKwargs;
use crate::generation::formatting::io_words;

/// A program that is started with this argument must call [`answer_render_request`] and exit.
pub const RENDER_ARGUMENT: &str = "--render-template";

/// How much memory the helper may use: enough for the program itself, the large stack, and
/// a text of 16 MiB.
const N_MAX_MEMORY_BYTES: u64 = 1 << 30;

/// How much CPU time the helper may use. Templates usually take a few milliseconds.
#[cfg(unix)]
const MAX_CPU_SECS: u64 = 2;

/// How long the helper may run. Longer than its CPU time, because the machine may be busy.
const MAX_SECS: u64 = 10;

/// How often the helper's memory and time are checked from outside.
const CHECK_PAUSE: Duration = Duration::from_millis(20);

/// The program that renders, or `None` to render in this process.
static HELPER: OnceLock<PathBuf> = OnceLock::new();

/// From now on, renders all templates in helper processes that run `program`. It must call
/// [`answer_render_request`] when its first argument is [`RENDER_ARGUMENT`].
pub fn render_templates_with(program: PathBuf) {
    // The first call wins.
    HELPER.set(program).ok();
}

/// Returns the program to render with, if templates are rendered in helper processes.
pub(super) fn program() -> Option<&'static PathBuf> {
    HELPER.get()
}

/// What the helper reads from its standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RenderRequest {
    pub source: String,
    pub special_tokens: BTreeMap<String, String>,
    pub messages: Vec<Message>,
    pub add_generation_prompt: bool,
    pub kwargs: TemplateKwargs,
}

/// Answers the request on standard input, within the limits. Called by the helper.
pub fn answer_render_request() -> io::Result<()> {
    limit_this_process()?;
    let request: RenderRequest = serde_json::from_reader(io::stdin().lock())?;
    let rendered =
        ChatTemplate::parse(&request.source, request.special_tokens).and_then(|template| {
            template.render_here(
                &request.messages,
                request.add_generation_prompt,
                &request.kwargs,
            )
        });
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, &rendered)?;
    stdout.flush()
}

#[cfg(unix)]
fn limit_this_process() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};

    for (resource, limit) in [
        (Resource::As, N_MAX_MEMORY_BYTES),
        (Resource::Cpu, MAX_CPU_SECS),
        (Resource::Core, 0),
    ] {
        let limit = Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn limit_this_process() -> io::Result<()> {
    Ok(())
}

/// Renders a template in a helper process that runs `program`.
pub(super) fn render(program: &PathBuf, request: &RenderRequest) -> Result<String, ChatError> {
    let unavailable = |error: io::Error| ChatError::Unavailable {
        reason: io_words(&error),
    };
    let request = serde_json::to_vec(request).map_err(|error| unavailable(error.into()))?;
    let mut child = spawn(program).map_err(unavailable)?;
    let answer = exchange(&mut child, &request);
    if answer.is_err() {
        // It may have exited already.
        child.kill().ok();
    }
    let status = child.wait().map_err(unavailable)?;
    let answer = answer?;
    serde_json::from_slice(&answer).unwrap_or_else(|_incomplete| Err(death_of(status)))
}

fn spawn(program: &PathBuf) -> io::Result<Child> {
    let mut command = Command::new(program);
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        command.creation_flags(CREATE_NO_WINDOW);
    }
    command
        .arg(RENDER_ARGUMENT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

/// Sends the request and returns the answer, which is incomplete if the helper died.
fn exchange(child: &mut Child, request: &[u8]) -> Result<Vec<u8>, ChatError> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (answered, answers) = sync_channel(1);
    let converse = move || {
        let mut answer = Vec::new();
        if let (Some(mut stdin), Some(mut stdout)) = (stdin, stdout) {
            // A helper that has died sends no answer.
            stdin.write_all(request).ok();
            drop(stdin);
            stdout.read_to_end(&mut answer).ok();
        }
        answered.send(answer).ok();
    };
    thread::scope(|scope| {
        let name = "chat template".to_owned();
        let thread = thread::Builder::new().name(name);
        let spawned = thread.spawn_scoped(scope, converse);
        spawned.map_err(|error| ChatError::Unavailable {
            reason: io_words(&error),
        })?;
        let started_at = Instant::now();
        let mut system = System::new();
        loop {
            match answers.recv_timeout(CHECK_PAUSE) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
                Err(RecvTimeoutError::Timeout) => {
                    let limit = excess(child, started_at, &mut system);
                    if let Some(limit) = limit {
                        // This also ends the thread, which the scope waits for.
                        child.kill().ok();
                        return Err(limit);
                    }
                }
            }
        }
    })
}

/// Returns which limit the helper has exceeded, if any.
fn excess(child: &Child, started_at: Instant, system: &mut System) -> Option<ChatError> {
    if started_at.elapsed() > Duration::from_secs(MAX_SECS) {
        return Some(ChatError::OutOfTime);
    }
    let pid = Pid::from_u32(child.id());
    let memory = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, memory);
    let n_bytes = system.process(pid)?.memory();
    (n_bytes > N_MAX_MEMORY_BYTES).then_some(ChatError::OutOfMemory)
}

/// Returns why a helper ended without answering.
fn death_of(status: ExitStatus) -> ChatError {
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        use std::os::unix::process::ExitStatusExt;

        // The limits on CPU time and memory end a process with these signals.
        let signal = status.signal();
        if signal == Some(Signal::XCPU.as_raw()) || signal == Some(Signal::KILL.as_raw()) {
            return ChatError::OutOfTime;
        }
        if signal == Some(Signal::ABORT.as_raw()) {
            return ChatError::OutOfMemory;
        }
    }
    ChatError::Unavailable {
        reason: format!("its process ended with {status}"),
    }
}
