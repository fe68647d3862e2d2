//! What answers a list: the model on this computer, and servers.

use std::sync::Arc;

use super::Arguments;
use crate::cli::console;
use crate::cli::failure::Failure;
use crate::cli::job::{JobHost, run_jobs};
use crate::cli::pane_run::{Console, Engine};
use crate::cli::server::connected;
use crate::generation::formatting::grouped;
use crate::generation::{GenerationId, ModelInfo, ServedModel, Vocabulary};
use crate::lab::prompts::TasksPlan;
use crate::lab::prompts::figures::TaskResults;
use crate::lab::prompts::state::{RunPart, RunParts};
use crate::state::RunStatus;
use crate::worker::{
    JobUpdate, ListReport, Request, SampledBy, ServerConfig, ServerRequest, ServerWorker,
};

/// What answers a list.
pub(super) struct AnswerHosts {
    /// `None` if only servers answer.
    engine: Option<Engine>,
    servers: Vec<(ServedModel, ServerWorker)>,
    /// The model on this computer, or the first server's.
    pub model: Arc<ModelInfo>,
}

/// Returns how results name a server.
pub(super) fn served_model(config: &ServerConfig) -> ServedModel {
    ServedModel {
        address: config.address.clone(),
        model: config.model.clone(),
        own_sampler: config.sampled_by == SampledBy::Server,
    }
}

impl AnswerHosts {
    /// Loads the model if it is needed, and connects to the servers.
    pub(super) fn open(
        arguments: &Arguments,
        configs: Vec<ServerConfig>,
        is_local: bool,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        let mut servers = Vec::new();
        let mut model = None;
        for config in configs {
            let served = served_model(&config);
            let mut worker = ServerWorker::start(config, || {});
            let (_, info, _) = connected(&mut worker, &console.interrupt)?;
            model.get_or_insert(info);
            servers.push((served, worker));
        }
        let mut engine = None;
        if is_local {
            let source = arguments.model.source();
            let mut opened = Engine::open(source, arguments.compute, console)?;
            arguments.draft_model.load(&mut opened, console)?;
            model = Some(Arc::clone(&opened.info));
            engine = Some(opened);
        }
        let nothing = || Failure::usage("this run has no panes");
        Ok(Self {
            engine,
            servers,
            model: model.ok_or_else(nothing)?,
        })
    }

    /// Returns the vocabulary of the model on this computer, which is empty if none is loaded.
    pub(super) fn vocabulary(&self) -> Arc<Vocabulary> {
        let engine = self.engine.as_ref();
        engine
            .map(|engine| Arc::clone(&engine.vocabulary))
            .unwrap_or_default()
    }

    /// Answers the tasks. Returns why it ended early, if it did.
    pub(super) fn answer(
        &mut self,
        plan: &TasksPlan,
        results: &mut TaskResults,
        console: &mut Console,
    ) -> Option<Failure> {
        let mut ids = (0..).map(GenerationId);
        let parts = RunPart::all(plan, &results.panes, || ids.next().unwrap_or_default());
        let mut jobs = Vec::new();
        if let Some(engine) = &mut self.engine
            && let Some(part) = parts.iter().find(|part| part.server.is_none())
        {
            engine.worker.send(Request::run_job(part.id, plan.clone()));
            jobs.push((part.id, JobHost::Engine(&mut engine.worker)));
        }
        for (served, worker) in &mut self.servers {
            if let Some(part) = parts
                .iter()
                .find(|part| part.server.as_ref() == Some(served))
            {
                let (id, list) = (part.id, Arc::new(part.list(plan)));
                worker.send(ServerRequest::AnswerList { id, plan: list });
                jobs.push((part.id, JobHost::Server(worker)));
            }
        }
        let mut running = RunParts::new(parts);
        let n_tasks = plan.tasks.len();
        let mut ended = None;
        run_jobs(jobs, console, |id, update, progress| {
            let status = match update {
                JobUpdate::Loading { .. } => return,
                JobUpdate::Reported(report) => {
                    if let Some(ListReport::Noted { notes, .. }) = report.get() {
                        progress.clear();
                        for note in notes {
                            console::note(note);
                        }
                    }
                    if let Some(update) = running.read(id, report, results) {
                        let task = update.task;
                        results.add(update);
                        progress.update(|| {
                            let (done, all) = results.n_done();
                            let (done, all) = (grouped(done as f64), grouped(all as f64));
                            format!("Task {} of {n_tasks}, {done} of {all} answers", task + 1)
                        });
                    }
                    return;
                }
                JobUpdate::Finished => RunStatus::Complete,
                JobUpdate::Stopped => RunStatus::Stopped,
                JobUpdate::Failed { error } => RunStatus::Failed { error },
            };
            let (missing, end) = running.end(id, status);
            for update in missing {
                results.add(update);
            }
            ended = end.or(ended.take());
        });
        console.progress.clear();
        match ended {
            Some(RunStatus::Stopped) => Some(Failure::Interrupted),
            Some(RunStatus::Failed { error }) => Some(Failure::run(error)),
            _ => None,
        }
    }
}
