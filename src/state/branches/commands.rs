//! What the user does with texts: continue, step, pick, branch, and go back to earlier ones.

use super::requests::{ContinueRequest, Extension};
use super::{BranchChange, BranchCommand, BranchTarget, InPlaceEdit};
use crate::decoding::TokenId;
use crate::generation::hosts::STEPS;
use crate::generation::{FinishReason, Generation, GenerationId, OriginChange, Step};
use crate::state::panes::undo::TextSwap;
use crate::state::{AppState, Effect, Pane, PaneId, Pin};

impl AppState {
    pub(in crate::state) fn apply_to_branches(&mut self, command: BranchCommand) -> Vec<Effect> {
        if command.writes() && self.lessons.question_reason().is_some() {
            return Vec::new();
        }
        match command {
            BranchCommand::Continue(id) => self.continue_text(id),
            BranchCommand::StepOnly(pane) => {
                self.branches.step_pane = pane;
                Vec::new()
            }
            BranchCommand::Step => self.step(),
            BranchCommand::Pick(id, tokens) => self.pick(id, tokens),
            BranchCommand::KeepRunning => self.keep_running(),
            BranchCommand::StepBack => {
                self.step_back();
                Vec::new()
            }
            BranchCommand::Open(from) => {
                self.branches.dialog = None;
                self.branches.edit = None;
                let from = from.filter(|from| self.can_branch(*from));
                let request = from
                    .and_then(|from| self.branches.open_dialog(from, &self.panes, &self.models));
                request.into_iter().collect()
            }
            BranchCommand::Edit(from) => {
                self.edit_from(from);
                Vec::new()
            }
            BranchCommand::FinishEdit(target) => self.finish_edit(target),
            BranchCommand::LimitCache => vec![self.memory.cache_limit()],
            BranchCommand::Branch {
                from,
                change,
                target,
            } => self.branch(from, change, target),
            BranchCommand::ShowEarlier(id) => self.show_earlier(id),
            BranchCommand::ShowText(id) => self.show_text(id),
            BranchCommand::RemoveText(id) => {
                self.branches.remove(id, &mut self.notices);
                Vec::new()
            }
            BranchCommand::RestoreText => {
                self.branches.restore(&mut self.notices);
                Vec::new()
            }
        }
    }

    /// Begins to edit a text in place from a token on, if it can branch there; or ends editing.
    fn edit_from(&mut self, from: Option<Pin>) {
        let from = from.filter(|from| self.can_branch(*from));
        self.branches.edit = from.and_then(|from| InPlaceEdit::begin(from, &self.panes));
        if let Some(edit) = &self.branches.edit {
            self.pin = Some(edit.from);
            self.branches.dialog = None;
        }
    }

    /// Continues after the typed text, whose tokens count as picked by hand. Editing goes on if that
    /// is not possible.
    fn finish_edit(&mut self, target: BranchTarget) -> Vec<Effect> {
        if target == BranchTarget::NewPane && !self.panes.has_room() {
            return Vec::new();
        }
        let edit = self.branches.edit.as_ref();
        let typed = edit.and_then(|edit| {
            let text = self.pane(edit.from.pane)?.generation()?;
            Some((edit.from, edit.tokens(text).ok()?))
        });
        let Some((from, tokens)) = typed else {
            return Vec::new();
        };
        self.branches.edit = None;
        self.branch(from, BranchChange::Tokens(tokens), target)
    }

    /// Shows the text that the pane showed before its current one. Repeating this cycles through
    /// all of them.
    fn show_earlier(&mut self, id: PaneId) -> Vec<Effect> {
        let pin = self.pin;
        let text = self.branches.earlier(id, &self.panes);
        let effects = text.map_or_else(Vec::new, |text| self.show_text(text));
        self.pin = pin.filter(|_| self.pinned().is_some());
        effects
    }

    /// Returns whether a text can be shown: a pane shows it already, or its pane is not running.
    pub fn can_show_text(&self, id: GenerationId) -> bool {
        self.panes.showing(id).is_some() || self.home_of_text(id).is_some()
    }

    fn home_of_text(&self, id: GenerationId) -> Option<PaneId> {
        let selected = self.shown_step().map_or(0, |(place, _)| place);
        self.branches.home_of(id, &self.panes, selected)
    }

    /// Shows a text in its pane exactly as it was, with its settings, and selects it.
    pub(in crate::state) fn show_text(&mut self, id: GenerationId) -> Vec<Effect> {
        if let Some(pane) = self.panes.showing(id) {
            self.pin = self.panes.pin_of_branch(pane);
            return Vec::new();
        }
        let Some(home) = self.home_of_text(id) else {
            return Vec::new();
        };
        let Some(kept) = self.branches.kept.take(id) else {
            return Vec::new();
        };
        let effects = self.runs.end_verification(&mut self.models);
        if let Some(pane) = self.panes.pane_mut(home) {
            self.branches.show(&kept, pane, self.seed, self.memory);
        }
        self.pin = self.panes.pin_of_branch(home);
        effects
    }

    /// Returns whether a pane's text was interrupted and can be continued.
    pub fn can_continue(&self, pane: &Pane) -> bool {
        let interrupted = |generation: &Generation| {
            let finish = generation.finish.as_ref();
            !generation.steps.is_empty() && finish.is_some_and(FinishReason::can_continue)
        };
        self.can_extend(pane) && pane.latest().is_some_and(interrupted)
    }

    /// Returns whether a text can branch off before this token.
    pub fn can_branch(&self, from: Pin) -> bool {
        let step = |pane: &Pane| Some(from.step < pane.generation()?.steps.len());
        let pane = self.pane(from.pane);
        pane.is_some_and(|pane| self.can_extend(pane) && step(pane) == Some(true))
    }

    /// Returns whether the loaded model can extend a pane's text with the pane's settings.
    fn can_extend(&self, pane: &Pane) -> bool {
        let same_model = |generation: &Generation| {
            let model = self.models.of(pane);
            model.is_some_and(|model| model.info.is_equivalent_to(&generation.model))
        };
        self.runs.opened.is_none()
            && pane.reads.is_none()
            && pane.status.running().is_none()
            && pane.settings.chain.validate().is_ok()
            && self.limits.max_new_tokens > 0
            && pane.latest().is_some_and(same_model)
    }

    fn branch(&mut self, from: Pin, change: BranchChange, target: BranchTarget) -> Vec<Effect> {
        if !self.can_branch(from) {
            return Vec::new();
        }
        let Some(source) = self.pane(from.pane).cloned() else {
            return Vec::new();
        };
        let origin = match &change {
            BranchChange::Tokens(tokens) if tokens.is_empty() => return Vec::new(),
            BranchChange::Tokens(tokens) => OriginChange::ByHand {
                n_tokens: tokens.len(),
            },
            BranchChange::AnotherSeed => OriginChange::Seed,
            BranchChange::Settings => OriginChange::Settings,
        };
        let by_hand = match change {
            BranchChange::Tokens(tokens) => tokens,
            BranchChange::AnotherSeed | BranchChange::Settings => Vec::new(),
        };
        let seed = self.seed_of(&source).wrapping_add(1);
        let reseeds = origin == OriginChange::Seed;
        let pane = match target {
            BranchTarget::NewPane if !self.panes.has_room() => return Vec::new(),
            BranchTarget::NewPane => self.add_pane_like(&source),
            BranchTarget::InPlace => source.id,
        };
        if let Some(pane) = self.panes.pane_mut(pane)
            && reseeds
        {
            pane.settings.seed = Some(seed);
        }
        self.branches.dialog = None;
        let Some(text) = source.generation().cloned() else {
            return Vec::new();
        };
        let before = source.latest().map(|text| text.lineage.id);
        self.pin = Some(Pin { pane, ..from });
        let n_new = by_hand.len().max(1);
        let extension = Extension {
            n_kept: from.step,
            by_hand,
            pause_after: self.is_step_mode().then_some(n_new + 1),
            n_shown: self.is_step_mode().then_some(from.step + n_new),
            branches_by: Some(origin),
            ..Extension::default()
        };
        let effects = self.request_branch(pane, text, extension);
        let after = self.pane(pane).and_then(|pane| pane.status.running());
        if target == BranchTarget::InPlace && after.is_some() {
            self.undo.note_swaps(vec![TextSwap {
                pane,
                before,
                after,
            }]);
        }
        effects
    }

    /// Shows a text in the pane that showed it, in place of the one that is there or being written; or
    /// none. If the conversation has gone on after the text, shows all of it.
    pub(in crate::state) fn show_in_place(
        &mut self,
        pane: PaneId,
        text: Option<GenerationId>,
    ) -> Vec<Effect> {
        let was_running = self.is_running();
        let mut effects: Vec<Effect> = self.panes.stop(pane).into_iter().collect();
        if let Some(pane) = self.panes.pane_mut(pane) {
            // Its remaining events will be ignored, so the generation ends here.
            pane.status.finish(FinishReason::Cancelled);
        }
        match text {
            Some(text) => {
                let kept = self.branches.kept.last_with(pane, text);
                effects.extend(self.show_text(kept.unwrap_or(text)));
            }
            None => {
                self.set_text_aside(pane);
            }
        }
        if was_running {
            effects.extend(self.end_run());
        }
        effects
    }

    /// Adds an empty pane with the same settings. Returns its id.
    fn add_pane_like(&mut self, source: &Pane) -> PaneId {
        let id = self.next_pane_id();
        self.panes.duplicate(source.id, id);
        id
    }

    /// Returns the step that the chain would add next to a pane's text, in step mode.
    pub fn upcoming(&self, place: usize) -> Option<&Step> {
        let pane = self.panes.get(place).filter(|_| self.is_step_mode())?;
        pane.upcoming(self.seed)
    }

    /// Returns the place of the pane whose next token the user can pick: the one that steps alone,
    /// or else the selected one.
    pub fn sampler_place(&self) -> Option<usize> {
        if !self.is_step_mode() {
            return None;
        }
        let alone = self.branches.step_pane.and_then(|id| self.place_of(id));
        let selected = || self.shown_step().map(|(place, _)| place);
        alone.or_else(selected)
    }

    /// Returns whether the user can pick the next token of this pane's text by hand.
    pub fn can_pick(&self, id: PaneId) -> bool {
        let pane = self.pane(id).filter(|_| self.is_step_mode());
        pane.is_some_and(|pane| self.can_continue(pane))
    }

    /// Adds one token to every text that steps. Starts with the prompt if it or the model changed
    /// since the last run.
    fn step(&mut self) -> Vec<Effect> {
        if self.is_running() {
            return Vec::new();
        }
        let places = self.step_places();
        if self.starts_with_prompt(&places) {
            // The second token is only previewed.
            return self.generate_in(&places, Some(2));
        }
        let panes = places.iter().filter_map(|place| self.panes.get(*place));
        let ids: Vec<PaneId> = panes.map(|pane| pane.id).collect();
        let mut any_revealed = false;
        let mut requests = Vec::new();
        for id in ids {
            let pane = self.panes.pane_mut(id);
            let is_revealed = pane.is_some_and(|pane| pane.reveal(self.seed));
            any_revealed |= is_revealed;
            let n_new = usize::from(!is_revealed);
            requests.extend(self.look_ahead(id, Vec::new(), n_new));
        }
        if requests.is_empty() && any_revealed {
            // The last texts have ended, and nothing is left to generate.
            return self.keep_run().into_iter().collect();
        }
        self.send_continuations(requests)
    }

    /// Adds tokens that the user picked to a text, whatever the chain would have drawn.
    fn pick(&mut self, id: PaneId, tokens: Vec<TokenId>) -> Vec<Effect> {
        if !self.can_pick(id) || tokens.is_empty() {
            return Vec::new();
        }
        let n_new = tokens.len();
        let request = self.look_ahead(id, tokens, n_new);
        self.send_continuations(request.into_iter().collect())
    }

    /// Returns whether any of these texts does not belong to the current prompt and model, so that
    /// all of them start over.
    fn starts_with_prompt(&self, places: &[usize]) -> bool {
        if self.is_replying() {
            return !self.prompt.text.is_empty();
        }
        let is_new = |pane: &Pane| {
            let model = self.models.of(pane).map(|model| &model.info);
            pane.generation().is_none_or(|generation| {
                !self.prompt.is_of(&generation.prompt)
                    || Some(&generation.model) != model
                    || generation.steps.is_empty()
            })
        };
        let mut panes = places.iter().filter_map(|place| self.panes.get(*place));
        panes.any(is_new)
    }

    /// Returns whether any text that steps can run to its end.
    pub fn can_keep_running(&self) -> bool {
        let places = self.step_places();
        if self.is_running() || self.lessons.question_reason().is_some() {
            return false;
        }
        if self.starts_with_prompt(&places) {
            return self.blocking_reason().is_none();
        }
        let mut panes = places.iter().filter_map(|place| self.panes.get(*place));
        panes.any(|pane| self.can_continue(pane))
    }

    /// Runs all texts that step to their ends, at full speed.
    fn keep_running(&mut self) -> Vec<Effect> {
        let places = self.step_places();
        if !self.can_keep_running() {
            return Vec::new();
        }
        if self.starts_with_prompt(&places) {
            return self.generate_in(&places, None);
        }
        let panes = places.iter().filter_map(|place| self.panes.get(*place));
        let ids: Vec<PaneId> = panes.map(|pane| pane.id).collect();
        let requests = ids
            .into_iter()
            .filter_map(|id| self.continuation_request(id));
        let requests = requests.collect();
        self.send_continuations(requests)
    }

    /// Removes the last token of every text that steps. It becomes the upcoming one again.
    fn step_back(&mut self) {
        if self.runs.opened.is_none() {
            for place in self.step_places() {
                if let Some(pane) = self.panes.get_mut(place) {
                    pane.step_back();
                }
            }
            self.pin = self.pin.filter(|_| self.pinned().is_some());
        }
    }

    /// Returns the places of the panes that step: one, or all whose settings are valid. Beam
    /// search produces its text as a whole, so it never steps.
    fn step_places(&self) -> Vec<usize> {
        let alone = self.branches.step_pane.and_then(|id| self.place_of(id));
        let mut places = alone.map_or_else(|| self.valid_places(), |place| vec![place]);
        places.retain(|place| {
            let pane = self.panes.get(*place);
            pane.is_some_and(|pane| STEPS.runs(&pane.settings.chain))
        });
        places
    }

    /// Requests `n_new` further tokens of a text, starting with those picked by hand, and one to
    /// preview.
    fn look_ahead(
        &mut self,
        id: PaneId,
        by_hand: Vec<TokenId>,
        n_new: usize,
    ) -> Option<ContinueRequest> {
        let pane = self.pane(id).filter(|pane| self.can_continue(pane))?;
        let text = pane.latest()?.clone();
        let n_kept = text.steps.len();
        let extension = Extension {
            n_kept,
            by_hand,
            pause_after: Some(n_new + 1),
            n_shown: Some(n_kept + n_new),
            ..Extension::default()
        };
        self.extension_request(id, text, extension)
    }
}
