//! The runs that answer requests of other programs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ENDING;
use crate::export::json::{self, Form, RunFile, RunHeader};
use crate::export::{read_run, summary_of, write_run};
use crate::generation::Generation;
use crate::interop::api::{RecordedRequest, prompt_fields};
use crate::lab::LabTab;
use crate::state::{KeptRun, RunCommand};

/// Returns the run that answers a program’s request, and a name for its file. The process id keeps two
/// windows apart.
fn answer_run(
    texts: Vec<Generation>,
    request: RecordedRequest,
    finished_at: u64,
) -> (String, RunFile) {
    static N_ANSWERS: AtomicU64 = AtomicU64::new(0);
    let number = N_ANSWERS.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    let file = format!("answer-{finished_at}-{process}-{number}{ENDING}");
    let header = RunHeader {
        finished_at: Some(finished_at),
        request: Some(request),
        ..RunHeader::default()
    };
    let run = RunFile {
        header,
        panes: texts,
        ..RunFile::default()
    };
    (file, run)
}

/// Writes the run that answers a program’s request. Returns its path, and whether that worked.
pub(super) fn keep_answer(
    folder: &Path,
    texts: Vec<Generation>,
    request: RecordedRequest,
    finished_at: u64,
) -> (PathBuf, io::Result<()>) {
    let (file, run) = answer_run(texts, request, finished_at);
    let path = folder.join(file);
    let written = fs::create_dir_all(folder).and_then(|()| write_run(&path, &run, Form::default()));
    (path, written)
}

/// Returns the run that answers a program’s request as it is held in memory.
pub(super) fn held(
    texts: Vec<Generation>,
    request: RecordedRequest,
    finished_at: u64,
) -> RunCommand {
    let (file, run) = answer_run(texts, request, finished_at);
    let content = json::write_run(&run, Form::default());
    RunCommand::Held {
        run: KeptRun {
            file,
            kept_at: finished_at,
            n_bytes: content.len() as u64,
            pinned: false,
            summary: summary_of(&content).map_err(|error| error.to_string()),
            held: Some(content.into()),
        },
    }
}

/// Reads the prompts of runs as tasks, in the order in which they were asked.
pub(super) fn read_tasks(
    folder: &Path,
    runs: Vec<(String, Option<Arc<[u8]>>)>,
    tab: LabTab,
) -> RunCommand {
    let mut tasks = String::new();
    let mut n_unread = 0;
    for (file, held) in runs.into_iter().rev() {
        let run = match held {
            Some(content) => json::read(&content).ok(),
            None => read_run(&folder.join(file)).ok(),
        };
        match run.as_ref().and_then(|run| run.panes.first()) {
            Some(text) => {
                let task = serde_json::Value::Object(prompt_fields(&text.prompt));
                tasks.push_str(&task.to_string());
                tasks.push('\n');
            }
            None => n_unread += 1,
        }
    }
    RunCommand::TasksRead {
        tasks,
        tab,
        n_unread,
    }
}

/// Reads a run to answer its request again, unless this is its content.
pub(super) fn read_to_ask(folder: &Path, file: String, content: Option<Arc<[u8]>>) -> RunCommand {
    let run = match content {
        Some(content) => json::read(&content).map_err(|error| error.to_string()),
        None => read_run(&folder.join(&file)).map_err(|error| error.to_string()),
    };
    let run = run.map(Box::new);
    RunCommand::ReadToAsk { file, run }
}
