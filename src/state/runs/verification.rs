//! Running an opened run again, to see whether it produces the same texts.

use std::sync::Arc;

use super::models_to_verify::LoadedSource;
use super::{RunContext, Runs};
use crate::analysis::contradictions::{Contradiction, RunPlace, turns_of_run};
use crate::analysis::replay::{
    Fact, Models as ModelPair, Replayed, SecondNeeded, TextPlaces, Verdict, WordsCheck,
    facts_of_all, likely_cause, replay_of,
};
use crate::generation::{
    FinishReason, Generation, GenerationId, ModelInfo, ModelSource, PromptCheck, PromptRecord,
    TextModels,
};
use crate::state::{
    Command, DockTab, Effect, Models, Notice, Panes, PathPurpose, SecondModel, SecondModelCommand,
    capitalize,
};
use crate::worker::{PaneRequest, Progress, Recorder, Request};

/// The rerun of an opened run.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// In the order of the panes, then those of the turns before them; empty if the file contradicts
    /// itself.
    texts: Vec<RepeatedText>,
    /// What identifies the run, then and now.
    facts: Vec<Fact>,
    verdict: Option<Verdict>,
    /// Whether the Compare tab shows it, instead of the panes side by side.
    pub shown: bool,
}

/// A text that is generated again.
#[derive(Debug, Clone, PartialEq)]
struct RepeatedText {
    now: Recorder,
    /// Its model, if it is not the main one.
    source: Option<ModelSource>,
    /// What the model makes of the prompt, once it has answered.
    prompt: Option<PromptCheck>,
}

impl Verification {
    /// A verification of a file that contradicts itself, which nothing is run for.
    fn contradicted(panes: &Panes, found: Contradiction) -> Self {
        let texts = VerifiedTexts::of(panes);
        Self {
            texts: Vec::new(),
            facts: Vec::new(),
            verdict: Some(Verdict::contradicted(&texts.all, texts.places(), found)),
            shown: true,
        }
    }

    /// Returns the text of each pane so far, then those of the turns before them.
    pub fn texts(&self) -> impl Iterator<Item = &Generation> {
        self.texts.iter().map(|repeated| &repeated.now.text)
    }

    /// Returns what identifies the run, then and now.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Returns the result, or `None` while it is running.
    pub const fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// Explains a difference, or returns `None` if there is none.
    pub fn cause(&self) -> Option<String> {
        let verdict = self.verdict.as_ref()?;
        verdict.is_unexplained().then(|| likely_cause(&self.facts))
    }

    fn n_steps(&self) -> usize {
        self.texts
            .iter()
            .map(|repeated| repeated.now.text.steps.len())
            .sum()
    }

    /// Records the progress of its texts. Returns whether the progress belongs to one.
    fn note(&mut self, progress: &Progress) -> bool {
        let mut is_known = false;
        for repeated in &mut self.texts {
            is_known |= repeated.now.note(progress);
        }
        is_known
    }

    /// Records what a model makes of a prompt.
    pub(in crate::state) fn note_prompt(
        &mut self,
        prompt: &PromptRecord,
        source: Option<&ModelSource>,
        check: &PromptCheck,
    ) {
        for repeated in &mut self.texts {
            if *repeated.now.text.prompt == *prompt && repeated.source.as_ref() == source {
                repeated.prompt = Some(check.clone());
            }
        }
    }

    /// Judges the texts once all have ended.
    fn judge(&mut self, panes: &Panes, has_branches: bool) {
        let now = self.texts.iter().map(|repeated| &repeated.now.text);
        let now: Vec<&Generation> = now.collect();
        if now.iter().any(|text| text.finish.is_none()) {
            return;
        }
        let then = VerifiedTexts::of(panes);
        let words = then.all.iter().zip(&self.texts).map(|(then, repeated)| {
            let vocabulary = &repeated.now.text.vocabulary;
            WordsCheck::of(then, vocabulary, repeated.prompt.as_ref())
        });
        self.verdict = Some(Verdict::of(Replayed {
            then: &then.all,
            now: &now,
            places: then.places(),
            words: &words.collect::<Vec<_>>(),
            allows_others: false,
            has_branches,
        }));
    }
}

/// The recorded texts that are generated again.
struct VerifiedTexts<'a> {
    /// The texts of the panes, then those of the turns before them.
    all: Vec<&'a Generation>,
    /// The places of the panes that show a text.
    panes: Vec<usize>,
    turns: Vec<RunPlace>,
}

impl<'a> VerifiedTexts<'a> {
    fn of(panes: &'a Panes) -> Self {
        let placed = panes.placed();
        let texts = placed.filter_map(|(place, pane)| Some((place, pane.generation()?)));
        let (panes, texts): (Vec<usize>, Vec<&Generation>) = texts.unzip();
        let turns = turns_of_run(&texts, &[]);
        let place = |pane: usize| panes.get(pane).copied().unwrap_or(pane);
        Self {
            turns: (turns.iter())
                .map(|(turn, _)| turn.with_panes(place))
                .collect(),
            all: (texts.into_iter())
                .chain(turns.iter().map(|(_, turn)| &**turn.answer))
                .collect(),
            panes,
        }
    }

    fn places(&self) -> TextPlaces<'_> {
        TextPlaces {
            panes: &self.panes,
            turns: &self.turns,
        }
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

impl Runs {
    /// Returns the first place at which the file of the opened run contradicts itself: as far as its
    /// record tells, or as its verification found.
    pub fn contradiction(&self) -> Option<&Contradiction> {
        let opened = self.opened.as_ref()?;
        let verdict = self.verification.as_ref().and_then(Verification::verdict);
        let found = verdict.and_then(|verdict| verdict.contradiction.as_ref());
        found.or(opened.contradiction.as_ref())
    }

    /// Returns the contradiction if it is in the text of this pane.
    pub fn contradiction_in(&self, place: usize) -> Option<&Contradiction> {
        let is_here = |found: &&Contradiction| found.place == RunPlace::Pane(place);
        self.contradiction().filter(is_here)
    }

    /// Returns the first step of a pane that is neither tinted nor judged, because the record
    /// contradicts itself before it.
    pub fn unjudged_from(&self, place: usize) -> Option<usize> {
        let found = self.contradiction_in(place)?;
        Some(found.step.map_or(0, |step| step + 1))
    }

    /// Describes the progress of the verification: "Verifying, 120 of 752 tokens".
    pub fn verifying_words(&self, panes: &Panes) -> Option<String> {
        if let Some(words) = self.trial_words() {
            return Some(words);
        }
        let verification = self.verification.as_ref()?;
        let n_done = verification.n_steps();
        let texts = VerifiedTexts::of(panes).all;
        let n_all: usize = texts.iter().map(|text| text.steps.len()).sum();
        let is_running = verification.verdict.is_none();
        is_running.then(|| format!("Verifying, {n_done} of {n_all} tokens"))
    }
}

impl Runs {
    /// Generates the opened run again.
    pub(in crate::state) fn verify(&mut self, context: &mut RunContext<'_>) -> Vec<Effect> {
        let (panes, models) = (context.panes, &*context.models);
        let texts = VerifiedTexts::of(panes).all.into_iter();
        let texts: Vec<Generation> = texts.cloned().collect();
        if texts.is_empty() || self.opened.is_none() {
            return Vec::new();
        }
        if self.verifying_words(panes).is_some() {
            return Vec::new();
        }
        let opened = self.opened.as_ref();
        if let Some(found) = opened.and_then(|opened| opened.contradiction.clone()) {
            self.verification = Some(Verification::contradicted(panes, found));
            context.view.dock_tab = DockTab::Compare;
            return Vec::new();
        }
        let sources = match models.to_verify(&texts, panes) {
            Ok(sources) => sources,
            Err(refusal) => return context.notices.notify(refusal),
        };
        if let Err(reason) = check_second(&texts, &models.second) {
            return context.refuse_without_second(&reason);
        }
        let second = models.second.info().map(|info| &**info);
        let mut verification = Verification {
            texts: Vec::new(),
            facts: facts_of_run(&texts, &sources, second),
            verdict: None,
            shown: true,
        };
        let mut requests = prompt_checks(&texts, &sources);
        for (text, (source, ready)) in texts.into_iter().zip(sources) {
            *context.last_id += 1;
            let id = GenerationId(*context.last_id);
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
            let second = models.second.used_by(&text.config.chain);
            let now = TextModels {
                model: Arc::clone(&ready.info),
                second_model: second.filter(|_| source.is_none()),
                vocabulary: Arc::clone(&ready.vocabulary),
            };
            let text = text.begin_again(now);
            verification.texts.push(RepeatedText {
                now: Recorder { id, text },
                source,
                prompt: None,
            });
        }
        self.verification = Some(verification);
        requests.into_iter().map(Effect::Send).collect()
    }

    /// Stops the verification and drops its result.
    pub(in crate::state) fn end_verification(&mut self, models: &mut Models) -> Vec<Effect> {
        let verification = self.verification.take();
        let texts = verification.into_iter().flat_map(|running| running.texts);
        let running = texts.filter(|repeated| repeated.now.text.finish.is_none());
        let mut effects: Vec<Effect> = running
            .map(|repeated| Effect::Send(Request::Stop(repeated.now.id)))
            .collect();
        effects.extend(self.end_trial(models));
        effects
    }

    /// Records the progress of the verification. Returns `None` if the progress does not belong to
    /// it.
    pub(in crate::state) fn note_verification(
        &mut self,
        progress: &Progress,
        has_branches: bool,
        context: &mut RunContext<'_>,
    ) -> Option<Vec<Effect>> {
        let verification = self.verification.as_mut()?;
        if !verification.note(progress) {
            return None;
        }
        let Progress::Finished { reason, .. } = progress else {
            return Some(Vec::new());
        };
        if is_cut_off(reason) {
            let effects = self.end_verification(context.models);
            if let FinishReason::Failed { error } = reason {
                let notice = Notice::error("This run could not be verified", capitalize(error));
                context.notices.notify(notice);
            }
            return Some(effects);
        }
        verification.judge(context.panes, has_branches);
        if verification.verdict.is_some() {
            context.view.dock_tab = DockTab::Compare;
        }
        Some(self.end_finished_trial(context.models))
    }
}

impl RunContext<'_> {
    /// Shows why the second model can't repeat the opened run.
    pub(super) fn refuse_without_second(&mut self, reason: &str) -> Vec<Effect> {
        let choose = Command::AskPath(PathPurpose::SecondModelToVerify);
        let notice = Notice::error("This run can’t be verified", reason);
        let own = match SecondNeeded::by(VerifiedTexts::of(self.panes).all) {
            SecondNeeded::One(then) => then.file == "embedded" && self.models.second.is_chosen(),
            _ => false,
        };
        let notice = if own {
            let unload = Command::SecondModel(SecondModelCommand::Unload);
            notice.with_action("Use the built-in one", unload)
        } else {
            notice.with_action("Choose the second model…", choose)
        };
        self.notices.notify(notice)
    }
}

/// Lists what can change the numbers of these texts, then and under the models that repeat them.
fn facts_of_run(
    texts: &[Generation],
    models: &[LoadedSource],
    second: Option<&ModelInfo>,
) -> Vec<Fact> {
    let needed = SecondNeeded::by(texts);
    let is_needed = needed != SecondNeeded::None;
    let second = second.filter(|_| is_needed);
    let pairs = texts.iter().zip(models).map(|(text, (_, ready))| {
        let then = ModelPair {
            model: &text.model,
            second: needed.named(),
        };
        let now = ModelPair {
            model: &ready.info,
            second,
        };
        (then, now)
    });
    facts_of_all(&pairs.collect::<Vec<_>>())
}

/// Checks that the second model can repeat these texts of the opened run, or returns why not.
pub(super) fn check_second<'a>(
    texts: impl IntoIterator<Item = &'a Generation>,
    second: &SecondModel,
) -> Result<(), String> {
    let now = second.info();
    match (SecondNeeded::by(texts), now) {
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
        (SecondNeeded::One(then), None) => Err(format!("it needs the second model {}", then.name)),
        (SecondNeeded::Unnamed, None) => {
            Err("it needs its second model, which its file does not name".to_owned())
        }
        (SecondNeeded::Several, _) => {
            Err("its texts used several second models, and only one can be loaded".to_owned())
        }
    }
}

/// Returns the requests to check each prompt with each model that continues it.
fn prompt_checks(texts: &[Generation], models: &[LoadedSource]) -> Vec<Request> {
    let mut checks: Vec<Request> = Vec::new();
    for (text, (source, _)) in texts.iter().zip(models) {
        let check = Request::CheckPrompt {
            prompt: Arc::clone(&text.prompt),
            model: source.clone(),
        };
        if !checks.contains(&check) {
            checks.push(check);
        }
    }
    checks
}
