//! Running an opened run again, to see whether it produces the same texts.

use std::sync::Arc;

use crate::analysis::replay::{
    Fact, Models, SecondNeeded, TextReplay, Verdict, facts_of_all, likely_cause, replay_of,
};
use crate::generation::{FinishReason, Generation, GenerationId, Steps};
use crate::state::{
    AppState, Command, DockTab, Effect, Notice, Pane, PathPurpose, SecondModelCommand, capitalize,
};
use crate::worker::{PaneRequest, Progress, Request};

/// The rerun of an opened run.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// The texts so far, with the ids of their generations. They are in the order of the panes.
    texts: Vec<(GenerationId, Generation)>,
    /// What identifies the run, then and now.
    facts: Vec<Fact>,
    outcome: Option<Outcome>,
    /// Whether the Compare tab shows it, instead of the panes side by side.
    pub shown: bool,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub verdict: Verdict,
    pub texts: Vec<TextReplay>,
}

impl Verification {
    /// Returns the text of a pane so far.
    pub fn text(&self, place: usize) -> Option<&Generation> {
        self.texts.get(place).map(|(_, text)| text)
    }

    /// Returns what identifies the run, then and now.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Returns the result, or `None` while it is running.
    pub const fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Explains a difference, or returns `None` if there is none.
    pub fn cause(&self) -> Option<String> {
        let outcome = self.outcome.as_ref()?;
        (outcome.verdict != Verdict::Identical).then(|| likely_cause(&self.facts))
    }

    fn n_steps(&self) -> usize {
        self.texts.iter().map(|(_, text)| text.steps.len()).sum()
    }

    fn text_of(&mut self, id: GenerationId) -> Option<&mut Generation> {
        let mut texts = self.texts.iter_mut();
        texts.find(|(known, _)| *known == id).map(|(_, text)| text)
    }

    /// Records the progress of one of its texts. Returns whether the progress belongs to one.
    fn note(&mut self, progress: &Progress) -> bool {
        match progress {
            Progress::Prefilling { ids, .. } => ids.iter().any(|id| self.text_of(*id).is_some()),
            Progress::Started { ids, prompt } => {
                let mut is_known = false;
                for id in ids {
                    if let Some(text) = self.text_of(*id) {
                        text.prompt = Arc::clone(prompt);
                        is_known = true;
                    }
                }
                is_known
            }
            Progress::Stepped { id, step } => {
                let text = self.text_of(*id);
                text.map(|text| text.steps.push((**step).clone())).is_some()
            }
            Progress::Compared { id, .. } => self.text_of(*id).is_some(),
            Progress::Finished { id, reason } => {
                let text = self.text_of(*id);
                text.map(|text| text.end(reason.clone())).is_some()
            }
        }
    }

    /// Judges the texts once all have ended.
    fn judge(&mut self, panes: &[Pane]) {
        if self.texts.iter().any(|(_, text)| text.finish.is_none()) {
            return;
        }
        let then = panes.iter().filter_map(Pane::generation);
        let pairs = then.zip(&self.texts);
        let texts: Vec<TextReplay> = pairs
            .map(|(then, (_, now))| TextReplay::of(then, now))
            .collect();
        self.outcome = Some(Outcome {
            verdict: Verdict::of(&texts),
            texts,
        });
    }
}

/// Returns whether a rerun that ended for this reason did not get as far as its record. The rerun of
/// a text that was cancelled pauses where that text ends.
const fn is_cut_off(reason: &FinishReason) -> bool {
    matches!(
        reason,
        FinishReason::Cancelled | FinishReason::Failed { .. }
    )
}

impl AppState {
    /// Describes the progress of the verification: "Verifying, 120 of 752 tokens".
    pub fn verifying_words(&self) -> Option<String> {
        if let Some(words) = self.trial_words() {
            return Some(words);
        }
        let verification = self.verification.as_ref()?;
        let n_done = verification.n_steps();
        let then = self.panes.iter().filter_map(Pane::generation);
        let n_all: usize = then.map(|text| text.steps.len()).sum();
        let is_running = verification.outcome.is_none();
        is_running.then(|| format!("Verifying, {n_done} of {n_all} tokens"))
    }

    /// Generates the opened run again.
    pub(in crate::state) fn verify(&mut self) -> Vec<Effect> {
        let texts: Vec<Generation> = self.generations().into_iter().flatten().cloned().collect();
        if texts.is_empty() || self.opened.is_none() {
            return Vec::new();
        }
        if self.verifying_words().is_some() {
            return Vec::new();
        }
        let models = match self.models_to_verify(&texts) {
            Ok(models) => models,
            Err(refusal) => return self.notify(refusal),
        };
        if let Err(reason) = self.second_to_verify() {
            return self.refuse_without_second(&reason);
        }
        let needed = SecondNeeded::by(&texts);
        let is_needed = needed != SecondNeeded::None;
        let second = self.second_model.info().map(|info| &**info);
        let second = second.filter(|_| is_needed);
        let pairs = texts.iter().zip(&models).map(|(text, (_, ready))| {
            let then = Models {
                model: &text.model,
                second: needed.named(),
            };
            let now = Models {
                model: &ready.info,
                second,
            };
            (then, now)
        });
        let facts = facts_of_all(&pairs.collect::<Vec<_>>());
        let mut verification = Verification {
            texts: Vec::new(),
            facts,
            outcome: None,
            shown: true,
        };
        let mut requests: Vec<Request> = Vec::new();
        for (text, (source, ready)) in texts.into_iter().zip(models) {
            self.last_id += 1;
            let id = GenerationId(self.last_id);
            let request = PaneRequest {
                id,
                config: text.config.clone(),
                model: source.clone(),
                continuation: replay_of(&text),
            };
            let same = requests.iter_mut().find_map(|request| match request {
                Request::Continue { prompt, panes } if *prompt == text.prompt => Some(panes),
                _ => None,
            });
            match same {
                Some(panes) => panes.push(request),
                None => requests.push(Request::Continue {
                    prompt: Arc::clone(&text.prompt),
                    panes: vec![request],
                }),
            }
            let now = Generation {
                model: Arc::clone(&ready.info),
                second_model: self
                    .second_model
                    .used_by(&text.config.chain)
                    .filter(|_| source.is_none()),
                vocabulary: Arc::clone(&ready.vocabulary),
                steps: Steps::default(),
                finish: None,
                grammar_complete: None,
                beams: Arc::default(),
                ..text
            };
            verification.texts.push((id, now));
        }
        self.verification = Some(verification);
        requests.into_iter().map(Effect::Send).collect()
    }

    /// Checks that the second model can repeat the opened run, or returns why not.
    pub(super) fn second_to_verify(&self) -> Result<(), String> {
        let now = self.second_model.info();
        match (
            SecondNeeded::by(self.generations().into_iter().flatten()),
            now,
        ) {
            (SecondNeeded::None, _) | (SecondNeeded::Unnamed, Some(_)) => Ok(()),
            (SecondNeeded::One(then), Some(now)) if then.sha256 == now.sha256 => Ok(()),
            (SecondNeeded::One(then), Some(now)) if then.name == now.name => Err(format!(
                "it needs the second model {}; the one that is loaded is another file of the same \
                 name",
                then.name
            )),
            (SecondNeeded::One(then), Some(now)) => {
                let (then, now) = (&then.name, &now.name);
                Err(format!("it needs the second model {then}; {now} is loaded"))
            }
            (SecondNeeded::One(then), None) => {
                Err(format!("it needs the second model {}", then.name))
            }
            (SecondNeeded::Unnamed, None) => {
                Err("it needs its second model, which an early version did not record".to_owned())
            }
            (SecondNeeded::Several, _) => {
                Err("its texts used several second models, and only one can be loaded".to_owned())
            }
        }
    }

    pub(super) fn refuse_without_second(&mut self, reason: &str) -> Vec<Effect> {
        let choose = Command::AskPath(PathPurpose::SecondModelToVerify);
        let notice = Notice::error("This run can’t be verified", reason);
        let own = match SecondNeeded::by(self.generations().into_iter().flatten()) {
            SecondNeeded::One(then) => then.file == "embedded" && self.second_model.is_chosen(),
            _ => false,
        };
        let notice = if own {
            let unload = Command::SecondModel(SecondModelCommand::Unload);
            notice.with_action("Use the built-in one", unload)
        } else {
            notice.with_action("Choose the second model…", choose)
        };
        self.notify(notice)
    }

    /// Stops the verification and drops its result.
    pub(in crate::state) fn end_verification(&mut self) -> Vec<Effect> {
        let verification = self.verification.take();
        let texts = verification.into_iter().flat_map(|running| running.texts);
        let running = texts.filter(|(_, text)| text.finish.is_none());
        let mut effects: Vec<Effect> = running
            .map(|(id, _)| Effect::Send(Request::Stop(id)))
            .collect();
        effects.extend(self.end_trial());
        effects
    }

    /// Records the progress of the verification. Returns `None` if the progress does not belong to
    /// it.
    pub(in crate::state) fn note_verification(
        &mut self,
        progress: &Progress,
    ) -> Option<Vec<Effect>> {
        let verification = self.verification.as_mut()?;
        if !verification.note(progress) {
            return None;
        }
        let Progress::Finished { reason, .. } = progress else {
            return Some(Vec::new());
        };
        if is_cut_off(reason) {
            let mut effects = self.end_verification();
            if let FinishReason::Failed { error } = reason {
                let notice = Notice::error("This run could not be verified", capitalize(error));
                effects.extend(self.notify(notice));
            }
            return Some(effects);
        }
        verification.judge(&self.panes);
        if verification.outcome.is_some() {
            self.view.dock_tab = DockTab::Compare;
        }
        Some(self.end_finished_trial())
    }
}
