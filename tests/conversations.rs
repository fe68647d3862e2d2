//! Random walks through conversations with the real worker: whatever the user does, what is on screen
//! is saved, read back and written again, token for token and number for number.

use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use quartet::export::json::{Form, read, write_run};
use quartet::generation::{Generation, turns_before};
use quartet::state::{
    AppState, BranchChange, BranchCommand, BranchTarget, Command, ConversationCommand, EditScope,
    Effect, Pin, PromptMode, Settings, TurnAt,
};
use quartet::worker::{ModelSource, Worker};

use crate::mutations::author::{Author, model};

/// How many walks there are, and how many steps each has.
const N_WALKS: u64 = 100;
const N_STEPS: usize = 14;

const MESSAGES: [&str; 5] = ["Hi", "Why?", "And now?", "Tell me more", "Who are you?"];

/// Returns numbers that a seed determines.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// The state of a window, and the worker that it talks to.
struct Window {
    state: AppState,
    worker: Worker,
    wakes: Receiver<()>,
}

impl Window {
    fn open() -> Self {
        let (wake, wakes) = sync_channel(100_000);
        let load =
            |_: &ModelSource, _: quartet::engine::LoadProgress<'_>| Ok(Some(model("Walker", 7)));
        let worker = Worker::with_loader(load, move || {
            wake.try_send(()).ok();
        });
        let mut settings = Settings::default();
        settings.limits.max_new_tokens = 6;
        let (state, effects) = AppState::new(settings, ModelSource::Embedded);
        let mut window = Self {
            state,
            worker,
            wakes,
        };
        window.run(effects);
        while window.state.models.main.ready().is_none() {
            window.next();
        }
        window.state.prompt.mode = PromptMode::Chat;
        window.state.prompt.text.clear();
        window
    }

    fn run(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::Send(request) = effect {
                self.worker.send(request);
            }
        }
    }

    /// Applies the next event.
    fn next(&mut self) {
        let woken = self.wakes.recv_timeout(Duration::from_mins(1));
        woken.expect("the worker reports within a minute");
        for event in self.worker.drain(1) {
            let effects = self.state.on_event(event);
            self.run(effects);
        }
    }

    fn settle(&mut self) {
        while self.state.is_running() {
            self.next();
        }
    }

    fn apply(&mut self, command: Command) {
        let effects = self.state.apply(command);
        self.run(effects);
    }

    fn converse(&mut self, command: ConversationCommand) {
        self.apply(Command::Conversation(command));
    }

    /// A random turn of a random pane that has one.
    fn any_turn(&self, dice: &mut Dice) -> Option<TurnAt> {
        let panes = self.state.panes.iter();
        let panes: Vec<_> = panes.filter(|pane| pane.answer().is_some()).collect();
        let pane = panes.get(dice.roll(panes.len().max(1)))?;
        Some(TurnAt {
            pane: pane.id,
            turn: dice.roll(pane.answer()?.n_turns()),
        })
    }

    /// Does one of the things that a user can do.
    fn step(&mut self, dice: &mut Dice) {
        let turn = self.any_turn(dice);
        match (dice.roll(12), turn) {
            (0..=3, _) | (_, None) => {
                MESSAGES[dice.roll(MESSAGES.len())].clone_into(&mut self.state.prompt.text);
                self.apply(Command::GenerateAll);
            }
            (4, Some(at)) => self.converse(ConversationCommand::Again(at)),
            (5, Some(at)) => {
                self.converse(ConversationCommand::Edit(Some(at)));
                if let Some(edit) = &mut self.state.branches.message {
                    MESSAGES[dice.roll(MESSAGES.len())].clone_into(&mut edit.text);
                }
                let scope = [EditScope::Pane, EditScope::AllPanes][dice.roll(2)];
                self.converse(ConversationCommand::FinishEdit(scope));
            }
            (6, Some(at)) => {
                let pane = self.state.panes.pane(at.pane);
                let versions = pane.map(|pane| self.state.branches.versions(pane, at.turn));
                let versions = versions.unwrap_or_default();
                if let Some(id) = versions.get(dice.roll(versions.len().max(1))) {
                    self.converse(ConversationCommand::ShowVersion(at.pane, *id));
                }
            }
            (7, Some(at)) => self.branch(at, dice),
            (8, _) => self.apply([Command::Undo, Command::Redo][dice.roll(2)].clone()),
            (9, Some(at)) if self.state.panes.len() > 2 => self.apply(Command::Remove(at.pane)),
            (10, Some(at)) => {
                MESSAGES[dice.roll(MESSAGES.len())].clone_into(&mut self.state.prompt.text);
                self.apply(Command::Generate(at.pane));
            }
            _ => self.apply(Command::AddPane),
        }
        match dice.roll(4) {
            // Stopped in the middle, or before it begins.
            0 => {
                for _ in 0..dice.roll(4) {
                    if self.state.is_running() {
                        self.next();
                    }
                }
                self.apply(Command::StopAll);
                self.settle();
            }
            _ => self.settle(),
        }
    }

    fn branch(&mut self, at: TurnAt, dice: &mut Dice) {
        self.converse(ConversationCommand::ShowTurn(Some(at.turn)));
        let text = self
            .state
            .panes
            .pane(at.pane)
            .and_then(|pane| pane.generation());
        let Some(text) = text.filter(|text| !text.steps.is_empty()) else {
            return;
        };
        let step = dice.roll(text.steps.len());
        let token = text.steps.first().map(|step| step.token);
        let change = match dice.roll(2) {
            0 => BranchChange::Tokens(token.into_iter().collect()),
            _ => BranchChange::AnotherSeed,
        };
        self.apply(Command::Branch(BranchCommand::Branch {
            from: Pin {
                pane: at.pane,
                step,
            },
            change,
            target: BranchTarget::InPlace,
        }));
    }
}

/// Checks that a text is written again as it was.
fn check_replay(author: &mut Author, text: &Generation, place: &str) {
    let again = author.replay(text);
    let written = |text: &Generation| -> Vec<_> {
        let steps = text.steps.iter();
        steps.map(|step| (step.token, step.logits_hash)).collect()
    };
    assert_eq!(written(&again), written(text), "{place}");
}

#[test]
fn what_random_walks_leave_is_saved_read_and_written_again() {
    let mut author = Author::new("Walker", 7);
    let (mut n_texts, mut longest) = (0, 0);
    for walk in 0..N_WALKS {
        let mut dice = Dice(walk);
        let mut window = Window::open();
        for _ in 0..N_STEPS {
            window.step(&mut dice);
        }
        let run = window.state.run_texts().into_run(window.state.run_header());
        let json = write_run(&run, Form::default());
        let read = read(&json).unwrap_or_else(|error| panic!("walk {walk}: {error}"));
        assert_eq!(read.contradiction, None, "walk {walk}");
        assert_eq!(write_run(&read, Form::default()), json, "walk {walk}");
        let kept = read.branches.iter().map(|branch| &branch.text);
        let texts: Vec<&Generation> = read.panes.iter().chain(kept).collect();
        let turns = turns_before(texts.iter().copied());
        let turns = turns.iter().map(|turn| &**turn.answer);
        for text in turns.chain(texts.iter().copied()) {
            check_replay(&mut author, text, &format!("walk {walk}"));
            n_texts += 1;
            longest = longest.max(text.n_turns());
        }
    }
    assert!(n_texts > 1_000, "only {n_texts} texts");
    assert!(longest > 4, "only {longest} turns");
}
