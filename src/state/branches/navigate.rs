//! Going back to texts that a pane no longer shows, and removing them.

use super::kept_texts::KeptText;
use crate::generation::{Generation, GenerationId, needs_seed};
use crate::state::{
    AppState, BranchCommand, Command, Effect, Notice, NoticeKind, Pane, PaneId, PaneStatus, Pin,
};

impl AppState {
    /// Keeps a text that a pane no longer shows.
    pub(in crate::state) fn keep_text(&mut self, home: PaneId, text: Generation) {
        if !text.steps.is_empty() {
            let n_max_bytes = self.kept_bytes_limit();
            self.kept_texts.keep(home, text, n_max_bytes);
        }
    }

    /// Keeps the text that a new run of a pane replaces, unless the run repeats it or continues
    /// another prompt.
    pub(in crate::state) fn keep_replaced(&mut self, home: PaneId, old: Generation) {
        let new = self.pane(home).and_then(Pane::generation);
        let is_kept = new.is_some_and(|new| new.shares_prompt_with(&old) && !is_rerun(new, &old));
        if is_kept {
            self.keep_text(home, old);
        }
        let shown: Vec<&Generation> = self.panes.iter().filter_map(Pane::generation).collect();
        self.kept_texts.retain(|kept| {
            let mut shown = shown.iter();
            shown.any(|text| text.shares_prompt_with(kept.head()))
        });
    }

    /// Drops kept texts that a run has generated again.
    pub(in crate::state) fn drop_repeated_texts(&mut self) {
        let shown: Vec<&Generation> = self.panes.iter().filter_map(Pane::generation).collect();
        self.kept_texts.retain(|kept| {
            let repeats = |text: &&Generation| repeats(text, kept);
            kept.head().lineage.origin.is_some() || !shown.iter().any(repeats)
        });
    }

    /// Returns how many texts that this pane showed earlier can be shown again.
    pub fn n_earlier(&self, id: PaneId) -> usize {
        let texts = self.kept_texts.texts().iter();
        texts.filter(|text| text.home == id).count()
    }

    /// Shows the text that the pane showed before its current one. Repeating this cycles through
    /// all of them.
    pub(super) fn show_earlier(&mut self, id: PaneId) -> Vec<Effect> {
        let texts = self.kept_texts.texts().iter();
        let own: Vec<GenerationId> = texts
            .filter(|text| text.home == id)
            .map(KeptText::id)
            .collect();
        let current = self.pane(id).and_then(Pane::generation);
        let current = current.map(|text| text.lineage.id);
        let before = own.iter().filter(|id| Some(**id) < current).max();
        let pin = self.pin;
        let text = before.or(own.iter().max());
        let effects = text.map_or_else(Vec::new, |text| self.show_text(*text));
        self.pin = pin.filter(|_| self.pinned().is_some());
        effects
    }

    /// Returns whether a text can be shown: a pane shows it already, or its pane is not running.
    pub fn can_show_text(&self, id: GenerationId) -> bool {
        self.pane_of_text(id).is_some() || self.home_of(id).is_some()
    }

    /// Shows a text in its pane exactly as it was, with its settings, and selects it.
    pub(super) fn show_text(&mut self, id: GenerationId) -> Vec<Effect> {
        if let Some(pane) = self.pane_of_text(id) {
            self.select_text(pane);
            return Vec::new();
        }
        let Some(home) = self.home_of(id) else {
            return Vec::new();
        };
        let Some(kept) = self.kept_texts.take(id) else {
            return Vec::new();
        };
        let effects = self.end_verification();
        let text = kept.generation();
        let (seed, chain) = (text.config.seed, text.config.chain.clone());
        let mut replaced = None;
        if let Some(pane) = self.panes.iter_mut().find(|pane| pane.id == home) {
            if seed != pane.settings.seed.unwrap_or(self.seed) {
                pane.settings.seed = (seed != self.seed).then_some(seed);
            }
            if pane.settings.chain != chain {
                pane.settings.set_chain(chain);
            }
            let status = std::mem::replace(&mut pane.status, PaneStatus::Finished(text));
            replaced = status.into_generation();
        }
        if let Some(replaced) = replaced {
            self.keep_text(home, replaced);
        }
        self.select_text(home);
        effects
    }

    /// Removes a text that no pane shows, and offers to undo it.
    pub(super) fn remove_text(&mut self, id: GenerationId) -> Vec<Effect> {
        let Some(text) = self.kept_texts.take(id) else {
            return Vec::new();
        };
        self.removed_text = Some(text);
        let restore = Command::Branch(BranchCommand::RestoreText);
        let notice = Notice::done("Removed a text from the tree");
        self.notify(notice.with_action("Undo", restore))
    }

    /// Brings back the text that was removed last.
    pub(super) fn restore_text(&mut self) -> Vec<Effect> {
        if let Some(text) = self.removed_text.take() {
            self.kept_texts.put(text);
        }
        let restore = Command::Branch(BranchCommand::RestoreText);
        let offers = |notice: &Notice| {
            notice
                .actions
                .iter()
                .any(|action| action.command == restore)
        };
        self.notices
            .retain(|notice| notice.kind != NoticeKind::Done || !offers(notice));
        Vec::new()
    }

    fn pane_of_text(&self, id: GenerationId) -> Option<PaneId> {
        let is_shown = |pane: &&Pane| {
            let text = pane.generation();
            text.is_some_and(|text| text.lineage.id == id)
        };
        self.panes.iter().find(is_shown).map(|pane| pane.id)
    }

    /// Returns the pane in which a kept text can be shown: the one that showed it last, or else the
    /// selected one. `None` while that pane is running.
    fn home_of(&self, id: GenerationId) -> Option<PaneId> {
        let home = self.kept_texts.get(id)?.home;
        let selected = || {
            let place = self.shown_step().map_or(0, |(place, _)| place);
            self.panes.get(place)
        };
        let pane = self.pane(home).or_else(selected)?;
        let is_idle = pane.status.running().is_none();
        is_idle.then_some(pane.id)
    }

    /// Pins the token at which a pane's text branches off, or else its first one.
    fn select_text(&mut self, pane: PaneId) {
        let Some(text) = self.pane(pane).and_then(Pane::generation) else {
            return;
        };
        let fork = text.lineage.origin.map_or(0, |origin| origin.position);
        let last = text.steps.len().saturating_sub(1);
        let step = fork.min(last);
        self.pin = Some(Pin { pane, step }).filter(|_| !text.steps.is_empty());
    }
}

/// Returns whether a run only repeats the text that it replaces.
fn is_rerun(new: &Generation, old: &Generation) -> bool {
    old.lineage.origin.is_none() && new.config == old.config
}

/// Returns whether a kept text was generated again: same settings, coins and tokens.
fn repeats(text: &Generation, kept: &KeptText) -> bool {
    let (new, old) = (&text.config, &kept.head().config);
    let same_coins = new.seed == old.seed || !needs_seed(&new.chain);
    let tokens = text.steps.iter().map(|step| step.token);
    new.chain == old.chain
        && same_coins
        && text.shares_prompt_with(kept.head())
        && kept.steps().map(|step| step.token).eq(tokens)
}
