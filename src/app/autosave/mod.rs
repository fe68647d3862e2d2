//! Saves what is on screen about once per second, so that it survives a crash.
//!
//! Each window has a file and a lock for as long as it is open, and removes both when it is closed.
//! A file whose lock is free was left behind by a crash: the next window continues it. A marker
//! beside the file says that it is being restored. If the window crashes again before it has drawn
//! a few frames, the marker stays, and the next window sets the file aside instead.

mod held;
use std::io;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use eframe::egui;

pub(super) use self::held::{ASIDE, Crashed, SetAside, Unrestored, newest_first};
use self::held::{Held, remove_old, write};
use crate::export::remove_stale_temporaries;
use crate::generation::formatting::io_words;
use crate::state::{AppState, SessionKey};

/// The shortest time between two saves.
const MIN_PAUSE: Duration = Duration::from_secs(1);

/// The length of the pause after a save, in multiples of the time that the save took, so that
/// saving long texts does not slow down the model.
const PAUSES_PER_SAVE: u32 = 4;

/// How long the pause after a failed save lasts.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(10);

/// How many frames a window draws before a restored session counts as harmless.
const N_TRIAL_FRAMES: u32 = 5;

/// Saves the session of one window. Dropping it, as when the window closes, removes the file.
#[derive(Default)]
pub(super) struct Autosave {
    folder: Option<PathBuf>,
    held: Option<Held>,
    /// Whether the session may differ from what was saved last.
    pub changed: bool,
    saved: SessionKey,
    /// The save in progress.
    save: Option<JoinHandle<SaveOutcome>>,
    started_at: Option<Instant>,
    pause: Duration,
    /// Whether the last save failed; a repeated failure is not reported again.
    failed: bool,
    /// How many more frames a restored session is on trial.
    trial: Option<u32>,
    /// Whether the file stays when the window closes.
    stays: bool,
}

/// How a save went.
struct SaveOutcome {
    took: Duration,
    saved: io::Result<()>,
}

impl Autosave {
    /// Saves to this folder. Also returns the session of the window that crashed last, if one did,
    /// or why it was set aside.
    pub(super) fn open(folder: PathBuf) -> (Self, Option<Result<Crashed, SetAside>>) {
        remove_stale_temporaries(&folder);
        remove_old(&folder);
        let mut autosave = Self::default();
        let held = Held::crashed_in(&folder);
        autosave.folder = Some(folder);
        let crashed = held.map(|held| match held.begin_restoring() {
            Ok(crashed) => {
                autosave.held = Some(held);
                autosave.trial = Some(N_TRIAL_FRAMES);
                Ok(crashed)
            }
            Err(reason) => Err(SetAside {
                reason,
                path: held.set_aside(),
            }),
        });
        (autosave, crashed)
    }

    /// Counts a drawn frame, and ends the trial of a restored session after enough of them.
    fn end_trial(&mut self, ctx: &egui::Context) {
        let Some(n_left) = self.trial else {
            return;
        };
        if n_left > 0 {
            self.trial = Some(n_left - 1);
            return ctx.request_repaint();
        }
        self.trial = None;
        if let Some(held) = &self.held {
            held.end_restoring();
        }
    }

    /// Leaves the session behind when the window closes, so that the next one restores it.
    pub(super) const fn leave_behind(&mut self) {
        self.stays = true;
    }

    /// Treats the session at startup as saved.
    pub(super) fn begin(&mut self, state: &AppState) {
        self.saved = state.session_key();
    }

    /// Saves the session on a background thread if it has changed and a save is due. Call it after
    /// each frame. Returns why the last save failed, unless the one before it failed too.
    pub(super) fn update(&mut self, ctx: &egui::Context, state: &AppState) -> Option<String> {
        self.end_trial(ctx);
        let failure = self.save_outcome();
        if self.changed && !self.must_wait(ctx) {
            self.changed = false;
            let key = state.session_key();
            if key != self.saved {
                return failure.or(self.start_save(ctx, state, key));
            }
        }
        failure
    }

    /// Handles the outcome of a finished save. Returns why it failed, unless that was already
    /// reported.
    fn save_outcome(&mut self) -> Option<String> {
        let save = self.save.take_if(|save| save.is_finished())?;
        // A panic has already been printed by its thread.
        let SaveOutcome { took, saved } = save.join().ok()?;
        self.pause = MIN_PAUSE.max(took * PAUSES_PER_SAVE);
        match saved {
            Ok(()) => {
                self.failed = false;
                None
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Schedules another attempt after a failure. Returns why the save failed, unless that was
    /// already reported.
    fn fail(&mut self, error: &io::Error) -> Option<String> {
        self.saved = SessionKey::default();
        self.changed = true;
        self.pause = PAUSE_AFTER_FAILURE;
        let folder = self.folder.as_ref()?.display();
        let is_new = !std::mem::replace(&mut self.failed, true);
        is_new.then(|| format!("{}\n{folder}", io_words(error)))
    }

    /// Returns whether a save must wait. If so, requests a repaint for when the wait is over.
    fn must_wait(&self, ctx: &egui::Context) -> bool {
        let elapsed = self.started_at.map(|started_at| started_at.elapsed());
        let left = elapsed.map_or(Duration::ZERO, |elapsed| self.pause.saturating_sub(elapsed));
        let waits = self.save.is_some() || !left.is_zero();
        if waits {
            ctx.request_repaint_after(left.max(MIN_PAUSE / 10));
        }
        waits
    }

    /// Starts a save. Returns why its file can't be created, unless that was already reported.
    fn start_save(
        &mut self,
        ctx: &egui::Context,
        state: &AppState,
        key: SessionKey,
    ) -> Option<String> {
        self.started_at = Some(Instant::now());
        self.pause = MIN_PAUSE;
        let folder = self.folder.as_ref()?;
        if self.held.is_none() {
            match Held::new_in(folder) {
                Ok(held) => self.held = Some(held),
                Err(error) => return self.fail(&error),
            }
        }
        let path = self.held.as_ref()?.path.clone();
        let (ctx, session) = (ctx.clone(), state.session());
        self.saved = key;
        let work = move || {
            let started_at = Instant::now();
            let saved = write(&path, session);
            if saved.is_err() {
                ctx.request_repaint();
            }
            SaveOutcome {
                took: started_at.elapsed(),
                saved,
            }
        };
        let spawned = std::thread::Builder::new().name("autosave".to_owned());
        self.save = spawned.spawn(work).ok();
        None
    }
}

impl Drop for Autosave {
    fn drop(&mut self) {
        if let Some(save) = self.save.take() {
            // A panic has already been printed by its thread.
            save.join().ok();
        }
        if let Some(held) = &self.held
            && !self.stays
            && !std::thread::panicking()
        {
            held.remove();
        }
    }
}

#[cfg(test)]
mod tests;
