//! Going back to texts that a pane no longer shows, and removing them.

use super::kept_texts::KeptText;
use crate::generation::{Generation, GenerationId};
use crate::state::{
    BranchCommand, Branches, Command, MemoryLimits, Notice, Notices, Pane, PaneId, PaneStatus,
    Panes, Pin,
};

impl Branches {
    /// Keeps a text that a pane no longer shows.
    pub(in crate::state) fn keep(&mut self, home: PaneId, text: Generation, memory: MemoryLimits) {
        if !text.steps.is_empty() {
            self.kept.keep(home, text, memory.kept_bytes());
        }
    }

    /// Keeps the text that a new run of a pane replaces, unless the run repeats it or continues
    /// another prompt. Of a conversation, everything is kept.
    pub(in crate::state) fn keep_replaced(
        &mut self,
        home: PaneId,
        old: Generation,
        panes: &Panes,
        memory: MemoryLimits,
    ) {
        let new = panes.pane(home).and_then(Pane::latest);
        let is_kept = new.is_some_and(|new| {
            are_answers(new, &old) || (new.shares_prompt_with(&old) && !is_rerun(new, &old))
        });
        if is_kept {
            self.keep(home, old, memory);
        }
        self.kept.retain(|kept| {
            let (mut shown, kept) = (panes.texts(), kept.head());
            shown.any(|text| are_answers(text, kept) || text.shares_prompt_with(kept))
        });
    }

    /// Drops kept texts that a run has generated again.
    pub(in crate::state) fn drop_repeated(&mut self, panes: &Panes) {
        self.kept.retain(|kept| {
            let mut shown = panes.texts();
            kept.head().lineage.origin.is_some() || !shown.any(|text| repeats(text, kept))
        });
    }

    /// Returns how many texts that this pane showed earlier can be shown again.
    pub fn n_earlier(&self, id: PaneId) -> usize {
        self.texts_of(id).count()
    }

    fn texts_of(&self, home: PaneId) -> impl Iterator<Item = GenerationId> {
        let texts = self.kept.texts().iter();
        texts
            .filter(move |text| text.home == home)
            .map(KeptText::id)
    }

    /// Returns the text that a pane showed before its current one, or else the last.
    pub(in crate::state) fn earlier(&self, id: PaneId, panes: &Panes) -> Option<GenerationId> {
        let current = panes.pane(id).and_then(Pane::latest);
        let current = current.map(|text| text.lineage.id);
        let before = self.texts_of(id).filter(|id| Some(*id) < current).max();
        before.or_else(|| self.texts_of(id).max())
    }

    /// Returns the pane in which a kept text can be shown: the one that showed it last, or else the
    /// selected one. `None` while that pane is running.
    pub(in crate::state) fn home_of(
        &self,
        id: GenerationId,
        panes: &Panes,
        selected: usize,
    ) -> Option<PaneId> {
        let home = self.kept.get(id)?.home;
        let pane = panes.pane(home).or_else(|| panes.get(selected))?;
        let is_idle = pane.status.running().is_none();
        is_idle.then_some(pane.id)
    }

    /// Shows a kept text in this pane exactly as it was, with its settings, and keeps the one that
    /// it replaces.
    pub(in crate::state) fn show(
        &mut self,
        kept: &KeptText,
        pane: &mut Pane,
        shared_seed: u64,
        memory: MemoryLimits,
    ) {
        let text = kept.generation();
        let seed = text.config.seed;
        if seed != pane.settings.seed.unwrap_or(shared_seed) {
            pane.settings.seed = (seed != shared_seed).then_some(seed);
        }
        if pane.settings.chain != text.config.chain {
            pane.settings.set_chain(text.config.chain.clone());
        }
        let status = std::mem::replace(&mut pane.status, PaneStatus::Finished(text));
        if let Some(replaced) = status.into_generation() {
            self.keep(pane.id, replaced, memory);
        }
    }

    /// Removes a text that no pane shows, and offers to undo it.
    pub(super) fn remove(&mut self, id: GenerationId, notices: &mut Notices) {
        if let Some(text) = self.kept.take(id) {
            self.removed = Some(text);
            let restore = Command::Branch(BranchCommand::RestoreText);
            let notice = Notice::done("Removed a text from the tree");
            notices.notify(notice.with_action("Undo", restore));
        }
    }

    /// Brings back the text that was removed last.
    pub(super) fn restore(&mut self, notices: &mut Notices) {
        if let Some(text) = self.removed.take() {
            self.kept.put(text);
        }
        notices.dismiss_offers(&Command::Branch(BranchCommand::RestoreText));
    }
}

impl Panes {
    /// Returns the pane that shows this text.
    pub(in crate::state) fn showing(&self, id: GenerationId) -> Option<PaneId> {
        let is_it = |text: &Generation| text.lineage.id == id;
        let pane = self.iter().find(|pane| pane.latest().is_some_and(is_it));
        pane.map(|pane| pane.id)
    }

    /// Returns the token at which a pane's text branches off, or else its first one.
    pub(in crate::state) fn pin_of_branch(&self, id: PaneId) -> Option<Pin> {
        let text = self.pane(id)?.generation()?;
        let fork = text.lineage.origin.map_or(0, |origin| origin.position);
        let last = text.steps.len().checked_sub(1)?;
        Some(Pin {
            pane: id,
            step: fork.min(last),
        })
    }
}

/// Returns whether both texts answer messages.
fn are_answers(one: &Generation, other: &Generation) -> bool {
    one.prompt.chat.is_some() && other.prompt.chat.is_some()
}

/// Returns whether a run only repeats the text that it replaces.
fn is_rerun(new: &Generation, old: &Generation) -> bool {
    old.lineage.origin.is_none() && new.config == old.config
}

/// Returns whether a kept text was generated again: same settings, coins and tokens.
fn repeats(text: &Generation, kept: &KeptText) -> bool {
    let (new, old) = (&text.config, &kept.head().config);
    let same_coins = new.seed == old.seed || !new.chain.needs_seed();
    let tokens = text.steps.iter().map(|step| step.token);
    new.chain == old.chain
        && same_coins
        && text.shares_prompt_with(kept.head())
        && kept.steps().map(|step| step.token).eq(tokens)
}
