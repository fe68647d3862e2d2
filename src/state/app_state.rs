//! The state of the window, and the queries that the UI makes while drawing.

use super::{
    Authorship, BranchTree, Branches, ByHand, ComparedPair, Dialogs, DockTab, Effect, ExportChoice,
    FolderKind, Folders, Futures, HandDraws, Lessons, MAX_PANES, MemoryLimits, Models, Notices,
    Pace, Page, Pane, PaneId, Panes, Pin, Prompt, Runs, Settings, SystemFolders, ViewChoices,
};
use crate::analysis::by_hand::StepDraws;
use crate::analysis::{Divergence, Why};
use crate::generation::{
    Generation, GenerationConfig, GenerationId, Limits, PaneModel, PaneSettings, Step,
};
use crate::interop::api::RecordedRequest;
use crate::interop::presets::OwnPreset;
use crate::lab::{Lab, LabSettings};
use crate::state::folders::why_fixed;
use crate::state::pane_models::{common_writer_words, written_with_words};
use crate::state::panes::review::Review;
use crate::state::panes::step_draws::ShownDraws;
use crate::state::panes::undo::Undo;
use crate::state::panes::why::WhySearch;
use crate::state::words::change::Snapshot;
use crate::worker::ModelSource;

/// Everything the window shows.
///
/// Settings are edited in place (see the [module](super) for the reason); everything else changes
/// only through [`AppState::apply`] and [`AppState::on_event`].
#[derive(Debug, Clone, PartialEq)]
pub struct AppState {
    /// What the model continues or answers.
    pub prompt: Prompt,
    /// When generations stop; shared by all panes.
    pub limits: Limits,
    /// The shared seed, for panes without their own.
    pub seed: u64,
    /// How fast texts are generated.
    pub pace: Pace,
    pub memory: MemoryLimits,
    /// The panes from left to right; never empty, at most [`MAX_PANES`].
    pub panes: Panes,
    /// The pinned token.
    pub pin: Option<Pin>,
    /// The models that write, and those that could.
    pub models: Models,
    pub view: ViewChoices,
    /// The page that the window shows.
    pub page: Page,
    pub notices: Notices,
    pub dialogs: Dialogs,
    /// What is derived from the texts before each frame.
    pub(super) review: Review,
    /// The undo history of the panes’ settings.
    pub undo: Undo,
    /// The runs: the current one, the saved ones, and the one that is opened.
    pub runs: Runs,
    /// The texts that branch off from one another.
    pub branches: Branches,
    /// The futures on screen, and what to draw next.
    pub futures: Futures,
    /// The experiments.
    pub lab: Lab,
    /// The tokens and logits set by hand.
    pub by_hand: ByHand,
    /// The draws made from them.
    pub(super) hand_drawn: Option<HandDraws>,
    /// The lessons, and the one that is running.
    pub lessons: Lessons,
    /// The user's own presets.
    pub presets: Vec<OwnPreset>,
    /// What an export of everything leaves out, and whether its dialog is open.
    pub export: ExportChoice,
    /// Where files are kept.
    pub folders: Folders,
    /// The last id given to a pane or a generation; ids are never reused.
    pub(crate) last_id: u64,
}

impl AppState {
    /// Creates the state at startup, and returns the effects that load the first model.
    pub fn new(settings: Settings, model_source: ModelSource) -> (Self, Vec<Effect>) {
        let mut state = Self {
            prompt: Prompt::of(&settings),
            limits: settings.limits,
            seed: settings.seed,
            pace: settings.pace,
            memory: MemoryLimits {
                record_megabytes: settings.record_megabytes,
                kept_megabytes: settings.kept_megabytes,
                cache_megabytes: settings.cache_megabytes,
            },
            panes: Panes::default(),
            pin: None,
            models: Models::new(
                &model_source,
                settings.recent_models,
                settings.compute,
                settings.servers,
            ),
            view: settings.view,
            page: Page::default(),
            notices: Notices::default(),
            dialogs: Dialogs::default(),
            review: Review::default(),
            undo: Undo::new(Snapshot {
                seed: settings.seed,
                panes: Vec::new(),
            }),
            runs: Runs::new(settings.history, settings.listen),
            branches: Branches::default(),
            futures: Futures::default(),
            lab: settings.lab.lab(),
            by_hand: settings.by_hand,
            hand_drawn: None,
            lessons: Lessons::new(settings.lessons),
            presets: settings.presets,
            export: ExportChoice::default(),
            folders: Folders {
                system: SystemFolders::default(),
                chosen: settings.folders,
                aside: Vec::new(),
            },
            last_id: 0,
        };
        state.restore_panes(settings.panes, &settings.pane_places);
        state.undo = Undo::new(state.panes.snapshot(state.seed));
        let mut effects: Vec<Effect> = state.models.compute_request().into_iter().collect();
        effects.extend(state.memory.first_cache_limit());
        effects.extend(state.pace.first_request());
        effects.extend(state.runs.listening.first_request());
        effects.extend(state.open_first(model_source, settings.main_model));
        (state, effects)
    }

    /// Adds a pane for each of these settings, as long as there is room.
    pub(super) fn add_panes(&mut self, settings: impl IntoIterator<Item = PaneSettings>) {
        for settings in settings.into_iter().take(MAX_PANES) {
            let id = self.next_pane_id();
            self.panes.push(Pane::new(id, settings));
        }
    }

    /// Adds a pane for each of these settings at its place, as long as there is room. Without a valid
    /// place for each, they are A, B, C and so on.
    pub(super) fn restore_panes(&mut self, settings: Vec<PaneSettings>, places: &[usize]) {
        let is_valid = places.len() == settings.len()
            && places.is_sorted_by(|before, after| before < after)
            && places.iter().all(|place| *place < MAX_PANES);
        if !is_valid {
            return self.add_panes(settings);
        }
        for (settings, place) in settings.into_iter().zip(places) {
            let id = self.next_pane_id();
            let place = *place;
            self.panes.insert(Pane {
                place,
                ..Pane::new(id, settings)
            });
        }
    }

    /// Returns everything that persists across restarts.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings {
            prompt: self.prompt.text.clone(),
            prompt_mode: self.prompt.mode,
            system: self.prompt.system.clone(),
            sends_empty_system: self.prompt.sends_empty_system,
            chat_history: self.given_history(),
            chat_tools: self.prompt.tools.clone(),
            template_kwargs: self.prompt.template_kwargs.clone(),
            panes: Vec::new(),
            pane_places: Vec::new(),
            limits: self.limits.clone(),
            record_megabytes: self.memory.record_megabytes,
            kept_megabytes: self.memory.kept_megabytes,
            cache_megabytes: self.memory.cache_megabytes,
            seed: self.seed,
            pace: self.pace,
            view: self.view,
            by_hand: self.by_hand.clone(),
            lab: LabSettings::from(&self.lab),
            presets: self.presets.clone(),
            // JSON cannot represent a path that is not valid Unicode.
            recent_models: self
                .models
                .recent
                .iter()
                .filter(|recent| recent.path.to_str().is_some())
                .cloned()
                .collect(),
            // As above.
            main_model: self
                .models
                .remembered
                .clone()
                .filter(|path| path.to_str().is_some()),
            compute: self.models.compute,
            servers: self.models.servers.added.clone(),
            history: self.runs.limits,
            listen: self.runs.listening.settings,
            lessons: self.lessons.progress.clone(),
            folders: self.folders.chosen.clone(),
        };
        settings.set_panes(&self.panes);
        if let Some(hidden) = self.hidden() {
            hidden.restore_settings(&mut settings);
        }
        if let Some(run) = self.lessons.run() {
            run.restore_settings(&mut settings);
        }
        for pane in &mut settings.panes {
            // As above.
            let is_unicode = |model: &ModelSource| {
                let path = model.path();
                path.is_none_or(|path| path.to_str().is_some())
            };
            let is_lost =
                |model: &PaneModel| model.local().is_some_and(|source| !is_unicode(source));
            pane.model.take_if(|model| is_lost(model));
        }
        settings
    }

    /// Returns the pane with this id, or `None` if it was removed.
    pub fn pane(&self, id: PaneId) -> Option<&Pane> {
        self.panes.pane(id)
    }

    /// Returns the place of a pane, which determines its letter and color.
    pub fn place_of(&self, id: PaneId) -> Option<usize> {
        self.panes.place_of(id)
    }

    /// Returns whether any pane is waiting for tokens or generating.
    pub fn is_running(&self) -> bool {
        self.panes.is_running()
    }

    /// Returns the generation at each place: `None` if its pane shows none, or if there is no pane.
    pub fn generations(&self) -> Vec<Option<&Generation>> {
        self.panes.generations()
    }

    /// Returns where the panes' texts diverge.
    pub fn divergence(&self) -> Divergence {
        // Include the tokens that arrived since the last review.
        let mut comparison = self.review.comparison.clone();
        comparison.update(&self.panes);
        comparison.divergence(&self.panes)
    }

    /// Returns the seed of a pane's next generation: its own or the shared one.
    pub fn seed_of(&self, pane: &Pane) -> u64 {
        pane.settings.seed.unwrap_or(self.seed)
    }

    /// Returns the configuration of a pane's next generation.
    pub fn config_of(&self, pane: &Pane) -> GenerationConfig {
        GenerationConfig {
            chain: pane.settings.chain.clone(),
            seed: self.seed_of(pane),
            limits: self.limits.clone(),
        }
    }

    /// Returns whether texts are generated token by token, on request.
    pub fn is_step_mode(&self) -> bool {
        self.pace == Pace::Step
    }

    /// Returns why this folder can't be changed now, or `None` if it can.
    pub fn why_folder_is_fixed(&self, kind: FolderKind) -> Option<&'static str> {
        why_fixed(kind, &self.models.hub)
    }

    /// Returns the maximum number of steps that a text can have.
    pub(super) fn max_steps(&self) -> usize {
        let n_context = self.models.main.ready().map(|model| model.info.n_context);
        self.limits
            .max_new_tokens
            .min(n_context.unwrap_or(usize::MAX))
    }

    /// Describes what the record will hold: "All probabilities of every step take 20 MB: what-if is
    /// exact".
    pub fn recording_words(&self) -> String {
        let max_steps = self.max_steps();
        self.memory
            .recording_words(&self.panes, &self.models, max_steps)
    }

    /// Returns whether panes use several models, so that each pane should name its own.
    pub fn uses_several_models(&self) -> bool {
        self.models.first_with_own(&self.panes).is_some()
    }

    /// Returns which model wrote the text of a pane, and which writes its next text if that is
    /// another one.
    pub fn authorship(&self, pane: &Pane) -> Authorship {
        let authorship = self.models.authorship(pane);
        Authorship {
            next: authorship.next.filter(|_| self.runs.opened.is_none()),
            ..authorship
        }
    }

    /// Returns the settings that wrote a pane's text, if its next text will have others: "The text on
    /// screen was written with T 0.7 › top-p 0.9, seed 42".
    pub fn written_with_words(&self, pane: &Pane) -> Option<String> {
        written_with_words(pane.generation()?, &self.config_of(pane))
    }

    /// Returns whether each pane must name its model: panes use several, or a text on screen is not
    /// by the model that the top bar names. The bar of an opened run names the model of its texts if
    /// it is the same for all.
    pub fn panes_name_models(&self) -> bool {
        if self.runs.opened.is_some() {
            return self.opened_model_words().is_none();
        }
        let is_by_another =
            |pane: &Pane| pane.generation().is_some() && self.authorship(pane).next.is_some();
        self.uses_several_models() || self.panes.iter().any(is_by_another)
    }

    /// Returns the model that wrote all texts of the opened run, as "Quartet Stories · `Q8_0`"; `None` if
    /// they are by several models, or if no run is opened.
    pub fn opened_model_words(&self) -> Option<String> {
        self.runs.opened.as_ref()?;
        common_writer_words(self.panes.texts())
    }

    /// Returns the pinned step, with its pane's place and generation.
    pub fn pinned(&self) -> Option<(usize, &Generation, &Step)> {
        let pin = self.pin?;
        let place = self.place_of(pin.pane)?;
        let generation = self.panes.get(place)?.generation()?;
        Some((place, generation, generation.steps.get(pin.step)?))
    }

    /// Returns the place and the step index that the dock shows: the pinned step, or else the
    /// newest step of the last pane that has one.
    pub fn shown_step(&self) -> Option<(usize, usize)> {
        if let (Some(pin), Some((place, ..))) = (self.pin, self.pinned()) {
            return Some((place, pin.step));
        }
        let mut from_the_last = self.panes.placed().rev();
        from_the_last.find_map(|(place, pane)| {
            let newest = pane.generation()?.steps.len().checked_sub(1)?;
            Some((place, newest))
        })
    }

    /// Updates everything that is derived from the panes: the divergence, all lints and metrics.
    /// Evaluates what-ifs, comparisons and the smallest change while `has_time` returns true, and
    /// returns whether these are complete.
    ///
    /// Call it before each frame. It is cheap if nothing has changed.
    pub fn review(&mut self, mut has_time: impl FnMut() -> bool) -> bool {
        let watermark = self.view.watermark_in(&self.panes);
        let looked_for = watermark.filter(|_| self.view.shows_watermark());
        let panes = &mut self.panes;
        let complete = panes.update(&self.models, looked_for, self.seed, &mut has_time);
        let (tab, shown_step) = (self.view.dock_tab, self.shown_step());
        self.branches.kept.limit(self.memory.kept_bytes());
        if tab == DockTab::Branches {
            let selected = shown_step.map(|(place, _)| place);
            self.branches.update_tree(&self.panes, selected);
        }
        let review = &mut self.review;
        let lists_kind = tab == DockTab::Numbers && self.view.kind.is_some();
        let has_why = lists_kind || matches!(tab, DockTab::Xray | DockTab::Branches);
        let explained = shown_step.filter(|_| has_why);
        review.update(&self.panes, tab, explained, &mut has_time) && complete
    }

    /// Returns the tree of the texts with the selected text's prompt as it is now, even if it is not
    /// on screen.
    pub fn current_branch_tree(&self) -> BranchTree {
        let selected = self.shown_step().map(|(place, _)| place);
        self.branches.current_tree(&self.panes, selected)
    }

    /// Returns the comparisons of all panes that have a text, as of the last [`AppState::review`].
    pub fn compared_pairs(&self) -> &[ComparedPair] {
        self.review.pairs.all()
    }

    /// Explains the step that the dock shows. Returns the explanation, and the sentence about the
    /// smallest change as of the last [`AppState::review`].
    pub fn why(&self) -> Option<(Why, String)> {
        WhySearch::explain(self.review.why.as_ref(), &self.panes, self.shown_step()?)
    }

    /// Copies the explanation of the shown step as text, and finishes the search first.
    pub(super) fn copy_why(&mut self) -> Vec<Effect> {
        let shown_step = self.shown_step();
        WhySearch::update(&mut self.review.why, &self.panes, shown_step, &mut || true);
        let text = self.why().map(|(why, change)| why.text(&change));
        text.map(Effect::CopyText).into_iter().collect()
    }

    /// Returns the draws from the step that the dock shows, if the user asked for them.
    pub fn step_draws(&self) -> Option<&StepDraws> {
        let (place, step) = self.shown_step()?;
        self.review.draws.as_ref()?.of(self.panes.get(place)?, step)
    }

    /// Begins to draw from the shown step.
    pub(super) fn begin_step_draws(&mut self) {
        let shown = self.shown_step();
        self.review.draws =
            shown.and_then(|(place, step)| ShownDraws::begin(self.panes.get(place)?, step));
    }

    /// Returns the request of a program that the opened run answers.
    pub fn opened_request(&self) -> Option<&RecordedRequest> {
        self.runs.opened.as_ref()?.header.request.as_ref()
    }

    /// Returns an id that no text ever had.
    pub(crate) const fn next_text_id(&mut self) -> GenerationId {
        self.last_id += 1;
        GenerationId(self.last_id)
    }

    /// Returns a pane id that was never used before.
    pub(super) const fn next_pane_id(&mut self) -> PaneId {
        self.last_id += 1;
        PaneId(self.last_id as u32)
    }
}
