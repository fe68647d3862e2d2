//! What answers a list: models on this computer, and servers.

use std::sync::Arc;

use super::Arguments;
use crate::cli::console;
use crate::cli::failure::Failure;
use crate::cli::job::{HostJobs, JobHost, run_jobs};
use crate::cli::pane_run::{Console, Engine};
use crate::cli::server::connected;
use crate::generation::formatting::grouped;
use crate::generation::{GenerationId, ModelInfo, ModelSource, PaneModel, ServedModel, Vocabulary};
use crate::lab::prompts::TasksPlan;
use crate::lab::prompts::figures::{JudgedPane, TaskResults};
use crate::lab::prompts::state::{RunPart, RunParts};
use crate::state::RunStatus;
use crate::worker::{
    JobUpdate, ListReport, Request, SampledBy, ServerConfig, ServerRequest, ServerWorker,
};

/// What answers a list.
pub(super) struct AnswerHosts {
    /// `None` if only servers answer.
    engine: Option<Engine>,
    /// The models of panes that could not be loaded, and why.
    failed: Vec<(ModelSource, String)>,
    servers: Vec<(ServedModel, ServerWorker)>,
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
    /// Connects to the servers, and loads the models that panes need. One of a pane that can't be
    /// loaded does not keep the other panes from answering.
    pub(super) fn open(
        arguments: &Arguments,
        configs: Vec<ServerConfig>,
        panes: &[JudgedPane],
        console: &mut Console,
    ) -> Result<Self, Failure> {
        let mut servers = Vec::new();
        for config in configs {
            let served = served_model(&config);
            let mut worker = ServerWorker::start(config, || {});
            connected(&mut worker, &console.interrupt)?;
            servers.push((served, worker));
        }
        let mut hosts = Self {
            engine: None,
            failed: Vec::new(),
            servers,
        };
        if panes.iter().any(|pane| pane.served().is_none()) {
            let source = arguments.model.source();
            let mut engine = Engine::open(source, arguments.compute, console)?;
            arguments.draft_model.load(&mut engine, console)?;
            let own = panes.iter().filter_map(|pane| pane.host.as_ref());
            for source in own.filter_map(PaneModel::local) {
                hosts.load(source, &mut engine, console)?;
            }
            hosts.engine = Some(engine);
        }
        Ok(hosts)
    }

    /// Loads the model of a pane, once, or notes why it can't be loaded.
    fn load(
        &mut self,
        source: &ModelSource,
        engine: &mut Engine,
        console: &mut Console,
    ) -> Result<(), Failure> {
        let has_failed = self.failed.iter().any(|(failed, _)| failed == source);
        if has_failed || engine.other(source).is_some() {
            return Ok(());
        }
        match engine.load_pane_model(source, console) {
            Err(Failure::Run(error)) => {
                self.failed.push((source.clone(), error));
                Ok(())
            }
            loaded => loaded,
        }
    }

    /// Returns the main model, if it is loaded.
    pub(super) fn main(&self) -> Option<&ModelInfo> {
        self.engine.as_ref().map(|engine| &*engine.info)
    }

    /// Returns the model of a pane, if it is loaded.
    pub(super) fn other(
        &self,
        source: &ModelSource,
    ) -> Option<(&Arc<ModelInfo>, &Arc<Vocabulary>)> {
        let other = self.engine.as_ref()?.other(source)?;
        Some((&other.info, &other.vocabulary))
    }

    /// Returns the vocabulary of the main model, which is empty if none is loaded.
    pub(super) fn vocabulary(&self) -> Arc<Vocabulary> {
        let engine = self.engine.as_ref();
        engine
            .map(|engine| Arc::clone(&engine.vocabulary))
            .unwrap_or_default()
    }

    /// Asks each host for its part of the answers. Returns the jobs, and the parts that no host can
    /// do, with the reasons.
    fn request(
        &mut self,
        parts: &[RunPart],
        plan: &TasksPlan,
    ) -> (Vec<HostJobs<'_>>, Vec<(GenerationId, String)>) {
        let mut local = Vec::new();
        let mut refused = Vec::new();
        let mut jobs = Vec::new();
        for part in parts {
            if part.server().is_some() {
                continue;
            }
            let source = part.host.as_ref().and_then(PaneModel::local);
            let mut failed = self.failed.iter();
            if let Some((_, error)) = failed.find(|(failed, _)| Some(failed) == source) {
                refused.push((part.id, error.clone()));
            } else if let Some(engine) = &mut self.engine {
                let request = Request::run_job_on(source.cloned(), part.id, part.plan(plan));
                engine.worker.send(request);
                local.push(part.id);
            }
        }
        if let Some(engine) = &mut self.engine {
            jobs.push(HostJobs {
                host: JobHost::Engine(&mut engine.worker),
                ids: local,
            });
        }
        for (served, worker) in &mut self.servers {
            let mut parts = parts.iter();
            if let Some(part) = parts.find(|part| part.server() == Some(&*served)) {
                let (id, list) = (part.id, Arc::new(part.list(plan)));
                worker.send(ServerRequest::AnswerList { id, plan: list });
                jobs.push(HostJobs {
                    host: JobHost::Server(worker),
                    ids: vec![id],
                });
            }
        }
        (jobs, refused)
    }

    /// Answers the tasks. Returns why it ended early, if it did.
    pub(super) fn answer(
        &mut self,
        plan: &TasksPlan,
        results: &mut TaskResults,
        console: &mut Console,
    ) -> Option<Failure> {
        let mut ids = (0..).map(GenerationId);
        let parts = RunPart::all(results, || ids.next().unwrap_or_default());
        let (jobs, refused) = self.request(&parts, plan);
        let mut running = RunParts::new(parts);
        let n_tasks = plan.tasks.len();
        let mut ended = None;
        for (id, error) in refused {
            let (missing, end) = running.end(id, RunStatus::Failed { error });
            for update in missing {
                results.add(update);
            }
            ended = end;
        }
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
