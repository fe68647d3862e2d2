//! Generates panes over a stand-in server and collects what happened.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quartet::decoding::filters::{Temperature, TopK, TopP};
use quartet::decoding::{ChainConfig, Filter};
use quartet::engine::Progress;
use quartet::generation::{
    Continuation, FinishReason, GenerationConfig, GenerationId, Limits, PieceKind, PromptRecord,
    Step, Vocabulary,
};
use quartet::worker::{
    PaneRequest, SampledBy, ServerConfig, ServerEvent, ServerRequest, ServerWorker,
};

use crate::servers::stand_in::StandIn;

/// The prompt of most tests, four tokens.
pub(crate) const PROMPT: &str = " a b c d";

/// What one pane has generated.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub steps: Vec<Step>,
    pub finish: Option<FinishReason>,
    pub notes: Vec<String>,
}

impl Written {
    pub(crate) fn tokens(&self) -> Vec<u32> {
        self.steps.iter().map(|step| step.token.0).collect()
    }

    pub(crate) fn text(&self) -> String {
        let visible = self
            .steps
            .iter()
            .filter(|step| step.piece.kind == PieceKind::Text);
        let bytes: Vec<u8> = visible.flat_map(|step| step.piece.bytes.clone()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn error(&self) -> &str {
        match &self.finish {
            Some(FinishReason::Failed { error }) => error,
            other => panic!("{other:?}"),
        }
    }
}

/// A worker with everything that it has reported.
pub(crate) struct Bench {
    pub worker: ServerWorker,
    pub prompt: Option<Arc<PromptRecord>>,
    pub vocabulary: Arc<Vocabulary>,
    pub written: Vec<Written>,
}

pub(crate) fn config(server: &StandIn, sampled_by: SampledBy) -> ServerConfig {
    ServerConfig {
        sampled_by,
        timeout: Duration::from_secs(20),
        ..ServerConfig::at(server.address.clone())
    }
}

pub(crate) fn pane(id: u64, chain: ChainConfig, n_tokens: usize) -> PaneRequest {
    PaneRequest {
        id: GenerationId(id),
        config: GenerationConfig {
            chain,
            seed: 42,
            limits: Limits {
                max_new_tokens: n_tokens,
                ..Limits::default()
            },
        },
        model: None,
        continuation: Continuation::default(),
    }
}

/// Returns settings for which the head of the distribution decides the token, and some for which it
/// may not.
pub(crate) fn chains() -> [ChainConfig; 4] {
    [
        ChainConfig::greedy(),
        ChainConfig::sampled([Filter::TopK(TopK { k: 3 })]),
        ChainConfig::sampled([
            Filter::Temperature(Temperature { temperature: 0.7 }),
            Filter::TopP(TopP { p: 0.8 }),
        ]),
        ChainConfig::sampled([]),
    ]
}

impl Bench {
    pub(crate) fn new(config: ServerConfig) -> Self {
        Self {
            worker: ServerWorker::start(config, || {}),
            prompt: None,
            vocabulary: Arc::default(),
            written: Vec::new(),
        }
    }

    /// Generates these panes to their ends.
    pub(crate) fn write(config: ServerConfig, panes: Vec<PaneRequest>) -> Self {
        let mut bench = Self::new(config);
        bench.generate(panes);
        bench.finish();
        bench
    }

    pub(crate) fn generate(&mut self, panes: Vec<PaneRequest>) {
        self.written = panes.iter().map(|_| Written::default()).collect();
        let prompt = PROMPT.into();
        self.worker.send(ServerRequest::Generate { prompt, panes });
    }

    /// Collects events until all texts have ended.
    pub(crate) fn finish(&mut self) {
        self.collect_until(|bench| bench.written.iter().all(|text| text.finish.is_some()));
    }

    pub(crate) fn collect_until(&mut self, is_enough: impl Fn(&Self) -> bool) {
        let started_at = Instant::now();
        while !is_enough(self) {
            assert!(
                started_at.elapsed() < Duration::from_mins(1),
                "timed out waiting for events"
            );
            if let Some(event) = self.event() {
                self.note(event);
            }
        }
    }

    /// Waits for the next event.
    pub(crate) fn next(&mut self) -> ServerEvent {
        loop {
            if let Some(event) = self.event() {
                return event;
            }
        }
    }

    /// Returns the next event if it arrives soon.
    fn event(&mut self) -> Option<ServerEvent> {
        let event = self.worker.wait_at_most(Duration::from_millis(20));
        event.expect("the thread has ended")
    }

    fn note(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Progress(Progress::Started { prompt, .. }) => self.prompt = Some(prompt),
            ServerEvent::Progress(Progress::Stepped { id, step }) => {
                self.written[id.0 as usize].steps.push(*step);
            }
            ServerEvent::Progress(Progress::Finished { id, reason }) => {
                let text = &mut self.written[id.0 as usize];
                assert!(text.finish.is_none(), "a text finishes only once");
                text.finish = Some(reason);
            }
            ServerEvent::Vocabulary(vocabulary) => self.vocabulary = vocabulary,
            ServerEvent::Noted { id, notes, .. } => self.written[id.0 as usize].notes = notes,
            ServerEvent::Panicked { message } => panic!("{message}"),
            _ => {}
        }
    }
}
