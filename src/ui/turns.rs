//! The turns of a pane: what is drawn of each, and what the user does with them.

use egui::Ui;

use super::pane::{Edits, PaneFrame, text_input, text_response_ui};
use super::token_text::{
    PaneText, TextEnd, TokenTextInput, TokenTextResponse, TurnAction, TurnInput,
};
use crate::design::theme::Theme;
use crate::generation::formatting::pane_letter;
use crate::generation::{Generation, GenerationId};
use crate::state::{AppState, BranchCommand, Command, ConversationCommand, Pane, Pin, TurnAt};

/// A turn, with what must live while it is drawn.
struct Turn<'a> {
    name: String,
    message: &'a str,
    /// `None` before the first token of the answer.
    answer: Option<&'a Generation>,
    versions: Vec<GenerationId>,
    is_shown: bool,
    can_ask: bool,
    is_left_out: bool,
}

/// Draws the turns of a pane. Returns how the user interacted with the text that the views show.
pub(super) fn turns_ui(
    ui: &mut Ui,
    frame: PaneFrame,
    (pane, state): (&Pane, &AppState),
    (view, edits): (&mut PaneText, Edits<'_>),
    commands: &mut Vec<Command>,
) -> TokenTextResponse {
    let turns = turns_of(pane, frame.place, state);
    let inputs: Vec<TurnInput<'_>> = turns
        .iter()
        .enumerate()
        .map(|(index, turn)| turn.input(ui, frame, index, state))
        .collect();
    let response = view.turns_ui(ui, &inputs, edits);
    let is_shown = turns.get(response.turn).is_some_and(|turn| turn.is_shown);
    let text = response.text;
    let acts = text.clicked.is_some()
        || text.double_clicked.is_some()
        || text.secondary_clicked.is_some()
        || text.chosen.is_some();
    let moves_pin = |command: &Command| matches!(command, Command::Pin(_) | Command::MovePinIn(..));
    let has_key = text.focused && (text.entered || commands.iter().any(moves_pin));
    if (acts || has_key) && !is_shown {
        // The views go to the turn of a token before it is pinned.
        let show = ConversationCommand::ShowTurn(Some(response.turn));
        commands.push(Command::Conversation(show));
    }
    if acts || is_shown {
        text_response_ui(ui, frame, text, state, commands);
    }
    if let Some((turn, action)) = response.action {
        let pane = pane.id;
        commands.extend(commands_of(TurnAt { pane, turn }, action));
    }
    TokenTextResponse {
        // What is hovered in another turn says nothing about the plots.
        hovered: text.hovered.filter(|_| is_shown),
        ..text
    }
}

fn commands_of(at: TurnAt, action: TurnAction) -> Vec<Command> {
    let command = match action {
        TurnAction::Edit => ConversationCommand::Edit(Some(at)),
        TurnAction::CancelEdit => ConversationCommand::Edit(None),
        TurnAction::Again => ConversationCommand::Again(at),
        TurnAction::FinishEdit(scope) => ConversationCommand::FinishEdit(scope),
        TurnAction::ShowVersion(id) => ConversationCommand::ShowVersion(at.pane, id),
        TurnAction::Branch => {
            let from = Pin {
                pane: at.pane,
                step: 0,
            };
            return vec![
                Command::Conversation(ConversationCommand::ShowTurn(Some(at.turn))),
                Command::Branch(BranchCommand::Open(Some(from))),
            ];
        }
    };
    vec![Command::Conversation(command)]
}

/// Returns the turns of a pane, oldest first. One that is not begun yet comes last.
fn turns_of<'a>(pane: &'a Pane, place: usize, state: &AppState) -> Vec<Turn<'a>> {
    let pending = pane.pending_turn();
    let written = match &pending {
        Some(pending) => pending.before.map(Generation::turns).unwrap_or_default(),
        None => pane.latest().map(Generation::turns).unwrap_or_default(),
    };
    let n_left_out = match &pending {
        Some(_) => 0,
        None => pane.latest().map_or(0, Generation::n_left_out),
    };
    let n_turns = written.len() + usize::from(pending.is_some());
    let shown = state.panes.shown_turn().unwrap_or(n_turns - 1);
    let letter = pane_letter(place);
    let first = TurnAt {
        pane: pane.id,
        turn: 0,
    };
    let can_ask = state.can_ask_again(first);
    let mut turns: Vec<Turn<'a>> = written
        .into_iter()
        .enumerate()
        .map(|(index, answer)| {
            let mut turn = Turn {
                name: format!("Turn {} of pane {letter}", index + 1),
                message: &answer.prompt.text,
                answer: Some(answer),
                versions: match pending {
                    Some(_) => Vec::new(),
                    None => state.branches.versions(pane, index),
                },
                is_shown: index == shown,
                can_ask,
                is_left_out: index < n_left_out,
            };
            if let Some(version) = turn.version().filter(|_| turn.versions.len() > 1) {
                let n_versions = turn.versions.len();
                let seed = answer.config.seed;
                let words = format!(", seed {seed}, version {} of {n_versions}", version + 1);
                turn.name.push_str(&words);
            }
            turn
        })
        .collect();
    if let Some(pending) = pending {
        turns.push(Turn {
            name: format!("Turn {n_turns} of pane {letter}"),
            message: pending.message,
            answer: None,
            versions: Vec::new(),
            is_shown: shown + 1 == n_turns,
            can_ask: false,
            is_left_out: false,
        });
    }
    turns
}

impl Turn<'_> {
    /// Returns the index of its answer among its versions.
    fn version(&self) -> Option<usize> {
        let id = self.answer?.lineage.id;
        self.versions.iter().position(|version| *version == id)
    }

    fn input<'a>(
        &'a self,
        ui: &Ui,
        frame: PaneFrame,
        index: usize,
        state: &'a AppState,
    ) -> TurnInput<'a> {
        let answer = self.answer.map(|answer| {
            if self.is_shown {
                text_input(ui, frame, state, answer)
            } else {
                quiet_input(ui, frame, answer, state)
            }
        });
        TurnInput {
            name: &self.name,
            number: index + 1,
            message: self.message,
            answer,
            versions: &self.versions,
            version: self.version().unwrap_or(0),
            seed: self.answer.map_or(0, |answer| answer.config.seed),
            is_shown: self.is_shown,
            can_ask: self.can_ask,
            is_left_out: self.is_left_out,
        }
    }
}

/// Returns what is drawn of a turn that the views don't show: its tokens with their tint.
fn quiet_input<'a>(
    ui: &Ui,
    frame: PaneFrame,
    generation: &'a Generation,
    state: &AppState,
) -> TokenTextInput<'a> {
    TokenTextInput {
        generation,
        tint: state.view.tint,
        watermark: None,
        pinned: None,
        same_step: None,
        fork_step: None,
        breaks_at: None,
        breaks_other_at: None,
        contradicts_at: None,
        unjudged_from: None,
        n_dimmed: 0,
        looping: None,
        what_ifs: None,
        kind: None,
        show_marks: state.view.show_marks,
        has_cards: false,
        can_branch: false,
        end: TextEnd::Plain,
        pane_color: Theme::of(ui).pane(frame.place),
    }
}
