//! The engine thread: serves requests between forward passes, and reports events.

mod generations;
mod jobs;
mod models;

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use self::jobs::JobModels;
use super::beside::Beside;
use super::event_sender::{Disconnected, EventSender};
use super::incoming::{IncomingRequests, TimedRequest};
use super::inspection;
use super::pacer::Pacer;
use super::pane_models::Sessions;
use super::{Event, ModelSource, Request};
use crate::engine::{
    Compute, ComputeChoice, DEFAULT_PREFIX_CACHE_BYTES, EngineError, LoadProgress, LoadedModel,
    Progress, Prompt, Session,
};

/// How often an idle thread asks whether a model has been loaded beside the one in use.
const BESIDE_INTERVAL: Duration = Duration::from_millis(10);

const NO_MODEL: &str = "no model is loaded; open one first";

/// The state of the engine thread.
pub(super) struct EngineThread<L> {
    loader: Arc<L>,
    sessions: Sessions,
    /// The model that is being loaded while the main one stays in use.
    beside: Option<Beside>,
    choice: ComputeChoice,
    /// The device of `choice` once it has been opened, with its threads and settings.
    compute: Option<Compute>,
    /// The memory limit of the prompts and texts that sessions keep for reuse.
    n_prefix_cache_bytes: u64,
    pacer: Pacer,
    incoming: IncomingRequests,
    events: EventSender<Event>,
}

impl<L> EngineThread<L>
where
    L: Fn(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
        + Send
        + Sync
        + 'static,
{
    pub(super) fn new(
        loader: L,
        requests: Receiver<TimedRequest>,
        events: EventSender<Event>,
    ) -> Self {
        Self {
            loader: Arc::new(loader),
            sessions: Sessions::default(),
            beside: None,
            choice: ComputeChoice::default(),
            compute: None,
            n_prefix_cache_bytes: DEFAULT_PREFIX_CACHE_BYTES,
            pacer: Pacer::default(),
            incoming: IncomingRequests::new(requests),
            events,
        }
    }

    /// Serves requests until the window disconnects. A panic is reported as an event.
    pub(super) fn run(mut self) {
        let events = self.events.clone();
        events.run_thread(|message| Event::Panicked { message }, || self.serve_all());
    }

    fn serve_all(&mut self) -> Result<(), Disconnected> {
        loop {
            self.follow_beside()?;
            if !self.has_work() {
                if self.beside.is_some() {
                    self.incoming.wait(BESIDE_INTERVAL)?;
                } else {
                    let request = self.incoming.recv()?;
                    self.serve(request)?;
                }
            }
            while let Some(request) = self.incoming.try_recv()? {
                self.serve(request)?;
            }
            if !self.wait_for_pace()? {
                self.advance()?;
            }
        }
    }

    fn has_work(&self) -> bool {
        self.sessions.any_busy() || self.sessions.iter().any(Session::has_jobs)
    }

    /// Waits until the next decode step is due or a request arrives. Returns whether it waited.
    ///
    /// Only decoding is paced: prompts are prefilled and texts scored at full speed.
    fn wait_for_pace(&mut self) -> Result<bool, Disconnected> {
        let begun_at = Instant::now();
        if !self.sessions.only_decodes_next() {
            return Ok(false);
        }
        let Some(left) = self.pacer.remaining(begun_at) else {
            return Ok(false);
        };
        self.incoming.wait(left)?;
        self.exclude_since(begun_at);
        Ok(true)
    }

    /// Excludes the time since this moment from the times of all steps.
    fn exclude_since(&mut self, begun_at: Instant) {
        let pause = begun_at.elapsed();
        let sessions = self.sessions.iter_mut();
        sessions.for_each(|session| session.exclude(pause));
    }

    fn advance(&mut self) -> Result<(), Disconnected> {
        let mut progress = Vec::new();
        if !self.sessions.advance(&mut progress) {
            return self.advance_job();
        }
        let steps = |progress: &Progress| matches!(progress, Progress::Stepped { .. });
        if progress.iter().any(steps) {
            self.pacer.on_step(Instant::now());
        }
        let mut progress = progress.into_iter();
        progress.try_for_each(|progress| self.events.send(progress.into()))
    }

    fn serve(
        &mut self,
        TimedRequest { request, sent_at }: TimedRequest,
    ) -> Result<(), Disconnected> {
        match request {
            Request::LoadModel(source) => self.load(&source),
            Request::LoadBeside(source) => self.load_beside(source),
            Request::LoadSecondModel(source) => self.load_second(source.as_ref()),
            Request::LoadPaneModel(source) => self.load_pane_model(source),
            Request::UnloadPaneModel(source) => self.unload_pane_model(source),
            // A load that holds up this thread takes the request itself, unless it has ended.
            Request::CancelLoading => self.cancel_beside(),
            Request::UnloadModel => self.unload(),
            Request::Inspect(source) => self.events.send(inspection::inspect_model(source)),
            Request::SetCompute(choice) => {
                (self.choice, self.compute) = (choice, None);
                Ok(())
            }
            Request::ListDevices => self.events.send(inspection::list_devices()),
            Request::Tokenize { prompt, model } => self.tokenize(prompt, model),
            Request::Render { id, chat } => self.render(id, &chat),
            Request::CheckPrompt { prompt, model } => self.check_prompt(prompt, model),
            Request::Generate {
                prompt,
                panes,
                n_detail_bytes,
            } => {
                self.set_detail(n_detail_bytes);
                self.generate(|session| session.prompt(prompt.clone()), panes, sent_at)
            }
            Request::Continue { prompt, panes } => {
                let prompt = Prompt {
                    text: prompt.text.clone(),
                    chat: prompt.chat.clone(),
                    tokens: prompt.tokens.clone(),
                };
                self.generate(|_| Ok(prompt.clone()), panes, sent_at)
            }
            Request::CountCached { tokens, model } => self.count_cached(&tokens, model.as_ref()),
            Request::LimitPrefixCache { n_max_bytes } => {
                self.n_prefix_cache_bytes = n_max_bytes;
                self.sessions.share_prefix_cache(n_max_bytes);
                Ok(())
            }
            Request::SetPace { interval } => {
                self.pacer.set_interval(interval);
                Ok(())
            }
            Request::RunJob {
                id,
                plan,
                model,
                other,
            } => {
                let (own, other) = (model.as_ref(), other.as_ref());
                self.run_job(id, &plan, JobModels { own, other })
            }
            Request::StopJob(id) => self.stop_job(id),
            Request::Score {
                text,
                n_first,
                panes,
                n_detail_bytes,
            } => {
                self.set_detail(n_detail_bytes);
                self.score_text(&text, n_first, panes, sent_at)
            }
            Request::ScoreAnswer {
                prompt,
                answer,
                panes,
                n_detail_bytes,
            } => {
                self.set_detail(n_detail_bytes);
                self.score_answer(&prompt, &answer, panes, sent_at)
            }
            Request::Stop(id) => self.stop(id),
            Request::StopAll => self.stop_all(),
            Request::StopAllExcept(kept) => self.stop_all_except(&kept),
        }
    }

    /// Stops everything that uses the model.
    fn stop_everything(&mut self) -> Result<(), Disconnected> {
        self.stop_all()?;
        let main = self.sessions.main.as_ref();
        let jobs = main.map(Session::job_ids).unwrap_or_default();
        jobs.into_iter().try_for_each(|id| self.stop_job(id))
    }
}
