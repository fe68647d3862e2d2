//! A list of prompts that a server answers, each with several texts under several settings.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::pane::{PaneJob, write_pane};
use super::refused::check_settings;
use super::{Connection, SampledBy, ServedPrompt, StopFlag, not_applied, sampler_notes};
use crate::decoding::ChainConfig;
use crate::engine::Progress;
use crate::generation::formatting::io_words;
use crate::generation::{
    Continuation, FinishReason, GenerationConfig, GenerationId, Limits, ModelInfo, Piece,
    PromptText, ServedText, Step, TokenMeasures,
};

/// How many prompts are answered at the same time, if the server has that many slots.
const N_AT_ONCE: usize = 4;

/// After how many failed texts in a row the rest of the list is not requested.
const N_MAX_FAILED: usize = 4;

/// A list of prompts, and the settings under which each is continued.
#[derive(Debug, Clone, PartialEq)]
pub struct ListPlan {
    pub prompts: Vec<ListedPrompt>,
    pub settings: Vec<ListedSettings>,
    pub limits: Limits,
}

/// A prompt of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPrompt {
    pub text: PromptText,
    /// The seed of its first text under each of the settings; the others follow it.
    pub seed: u64,
}

/// Settings under which the prompts of a list are continued.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedSettings {
    pub chain: ChainConfig,
    /// How many texts continue each prompt.
    pub n_texts: usize,
}

/// What is reported of a list.
#[derive(Debug, Clone, PartialEq)]
pub enum ListReport {
    /// The server answers with this model.
    Began { model: Arc<ModelInfo> },
    /// How the server's own sampler deviates from the settings at this index.
    Noted {
        settings: usize,
        /// One sentence each.
        notes: Vec<String>,
        /// The settings that it lacks or applies otherwise.
        not_applied: Vec<String>,
    },
    /// A text that continues the prompt at this index has ended.
    Written { prompt: usize, text: ServedText },
    /// No more texts continue the prompt at this index.
    Done {
        prompt: usize,
        /// Its share of the time: what it took, divided by how many are answered at once.
        secs: f64,
    },
}

/// Answers all prompts of a list, and reports the texts as they end. Fails, with a sentence, if the
/// server fails time after time. Raises `stop` when it gives up.
pub fn answer_list(
    connection: &Connection,
    plan: &ListPlan,
    stop: &StopFlag,
    report: &(dyn Fn(ListReport) + Sync),
) -> Result<(), String> {
    let n_slots = connection.info().n_slots.unwrap_or(N_AT_ONCE);
    let n_threads = n_slots.min(N_AT_ONCE).min(plan.prompts.len()).max(1);
    let list = List {
        connection,
        plan,
        stop,
        report,
        n_threads,
        next: AtomicUsize::new(0),
        failures: Mutex::default(),
    };
    let model = Arc::new(connection.info().model_info());
    report(ListReport::Began { model });
    list.report_notes();
    thread::scope(|scope| {
        for slot in 0..n_threads {
            let list = &list;
            let spawned = thread::Builder::new()
                .name("server-list-text".to_owned())
                .spawn_scoped(scope, move || list.answer_prompts(slot));
            if let Err(error) = spawned {
                let words = io_words(&error);
                list.give_up(&format!("the list’s thread could not be started: {words}"));
            }
        }
    });
    let given_up = list.failures().given_up.take();
    given_up.map_or(Ok(()), Err)
}

/// A list that is being answered.
struct List<'a> {
    connection: &'a Connection,
    plan: &'a ListPlan,
    stop: &'a StopFlag,
    report: &'a (dyn Fn(ListReport) + Sync),
    n_threads: usize,
    /// The index of the next prompt.
    next: AtomicUsize,
    failures: Mutex<Failures>,
}

#[derive(Debug, Default)]
struct Failures {
    n_in_a_row: usize,
    /// Why the rest of the list is not requested.
    given_up: Option<String>,
}

impl List<'_> {
    fn report_notes(&self) {
        if self.connection.sampled_by() != SampledBy::Server {
            return;
        }
        for (settings, listed) in self.plan.settings.iter().enumerate() {
            let config = self.config(listed, 0);
            let notes = sampler_notes(self.connection, &config);
            let not_applied = not_applied(self.connection.info(), &config);
            if !notes.is_empty() || !not_applied.is_empty() {
                (self.report)(ListReport::Noted {
                    settings,
                    notes,
                    not_applied,
                });
            }
        }
    }

    fn config(&self, settings: &ListedSettings, seed: u64) -> GenerationConfig {
        GenerationConfig {
            chain: settings.chain.clone(),
            seed,
            limits: self.plan.limits.clone(),
        }
    }

    /// Answers prompts until none is left. The server's slot keeps the prompt from text to text.
    fn answer_prompts(&self, slot: usize) {
        while !self.stop.is_raised() {
            let prompt = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(listed) = self.plan.prompts.get(prompt) else {
                return;
            };
            let started_at = Instant::now();
            if self.answer(prompt, listed, slot).is_some() {
                let secs = started_at.elapsed().as_secs_f64() / self.n_threads as f64;
                (self.report)(ListReport::Done { prompt, secs });
            }
        }
    }

    /// Writes all texts that continue a prompt. Returns `None` if it was stopped.
    fn answer(&self, prompt: usize, listed: &ListedPrompt, slot: usize) -> Option<()> {
        let served = ServedPrompt::of(&listed.text, self.connection, self.stop);
        let served = match served {
            Ok(served) => Ok(served?),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = &served {
            self.note_outcome(Some(error));
        }
        for (settings, own) in self.plan.settings.iter().enumerate() {
            let refused = check_settings(self.connection, &own.chain);
            let refused = refused.map_err(|error| error.to_string());
            for seed in 0..own.n_texts {
                let text = match (&served, &refused) {
                    (Ok(served), Ok(())) => {
                        let config = self.config(own, listed.seed.wrapping_add(seed as u64));
                        let text = self.write(served, config, slot)?;
                        self.note_outcome(match &text.finish {
                            FinishReason::Failed { error } => Some(error),
                            _ => None,
                        });
                        text
                    }
                    (Err(error), _) | (_, Err(error)) => failed(error),
                };
                let text = ServedText {
                    settings,
                    seed,
                    ..text
                };
                (self.report)(ListReport::Written { prompt, text });
            }
        }
        Some(())
    }

    /// Writes one text. Returns `None` if it was stopped.
    fn write(
        &self,
        served: &ServedPrompt,
        config: GenerationConfig,
        slot: usize,
    ) -> Option<ServedText> {
        let started_at = Instant::now();
        let id = GenerationId(slot as u64);
        let has_slots = self.connection.info().n_slots.is_some();
        let job = PaneJob {
            id,
            config,
            continuation: Continuation::default(),
            slot: has_slots.then_some(slot),
        };
        let mut steps: Vec<(Piece, Option<TokenMeasures>)> = Vec::new();
        let mut finish = FinishReason::Cancelled;
        write_pane(
            self.connection,
            served,
            job,
            self.stop,
            &mut |progress| match progress {
                Progress::Stepped { step, .. } => {
                    let Step { piece, trace, .. } = *step;
                    steps.push((piece, TokenMeasures::of(&trace)));
                }
                Progress::Finished { reason, .. } => finish = reason,
                Progress::Prefilling { .. }
                | Progress::Started { .. }
                | Progress::Compared { .. } => {}
            },
        );
        if finish == FinishReason::Cancelled {
            return None;
        }
        let prompt = &served.0;
        let rendered = prompt
            .chat
            .as_ref()
            .map_or(&prompt.text, |chat| &chat.rendered);
        let measures: Option<Vec<TokenMeasures>> = steps.iter().map(|(_, known)| *known).collect();
        Some(ServedText {
            rendered: rendered.as_str().into(),
            pieces: steps.into_iter().map(|(piece, _)| piece).collect(),
            measures: measures.unwrap_or_default(),
            finish,
            secs: started_at.elapsed().as_secs_f64(),
            settings: 0,
            seed: 0,
        })
    }

    /// Counts the failures in a row, and gives up after too many.
    fn note_outcome(&self, error: Option<&String>) {
        let mut failures = self.failures();
        let Some(error) = error else {
            failures.n_in_a_row = 0;
            return;
        };
        failures.n_in_a_row += 1;
        let is_hopeless = failures.n_in_a_row >= N_MAX_FAILED;
        drop(failures);
        if is_hopeless {
            self.give_up(&format!(
                "{N_MAX_FAILED} texts in a row have failed: {error}"
            ));
        }
    }

    fn give_up(&self, error: &str) {
        self.failures()
            .given_up
            .get_or_insert_with(|| error.to_owned());
        self.stop.raise();
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        // What it holds is consistent after each change, so a panic elsewhere leaves it usable.
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a text that could not begin.
fn failed(error: &str) -> ServedText {
    ServedText {
        settings: 0,
        seed: 0,
        rendered: "".into(),
        pieces: Vec::new(),
        measures: Vec::new(),
        finish: FinishReason::failed(error),
        secs: 0.0,
    }
}
