//! The Generate button, and the limits and seed that all panes share.

use egui::{DragValue, Popup, RectAlign, Response, Ui};

use super::keys::{finish_typing, key_words};
use super::layout::Breakpoint;
use super::lessons::ring_ui;
use super::pace_menu::pace_menu_ui;
use super::seed_field::seed_field_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{
    Button, Chip, checkbox, editor_popup, field_frame, hint_ui, long_text, menu_item,
};
use crate::generation::formatting::counted;
use crate::generation::formatting::pane_letter;
use crate::generation::{EndOfText, Limits, escape, unescape};
use crate::lessons::Ring;
use crate::state::{Action, AppState, BranchCommand, Command, Pace, PaneId, RunSetting};

/// Draws the column.
pub(super) fn run_column_ui(
    ui: &mut Ui,
    breakpoint: Breakpoint,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    ui.spacing_mut().item_spacing.y = 8.0;
    let button = ui.scope(|ui| run_button_ui(ui, state, commands));
    ring_ui(ui, button.response.rect, state, Ring::Generate);
    ui.spacing_mut().interact_size.y = 24.0;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 1.0;
        if state.is_step_mode() {
            return step_chips_ui(ui, state, commands);
        }
        let opens = state.dialogs.run_setting_to_edit.take();
        let tokens = ui.scope(|ui| max_tokens_ui(ui, state, opens));
        let seed = ui.scope(|ui| seed_ui(ui, &mut state.seed, opens));
        let stops = ui.scope(|ui| stops_ui(ui, breakpoint, &mut state.limits, opens));
        // The chips are close together, so the rings are drawn last, over their neighbors.
        ring_ui(ui, tokens.response.rect, state, Ring::Tokens);
        ring_ui(ui, seed.response.rect, state, Ring::Seed);
        ring_ui(ui, stops.response.rect, state, Ring::Stop);
    });
}

fn run_button_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if state.is_step_mode() {
        return step_buttons_ui(ui, state, commands);
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let width = ui.available_width() - ICON_BUTTON;
        if state.is_running() {
            stop_button_ui(ui, width, commands);
        } else {
            generate_button_ui(ui, width, state, commands);
        }
        let pace = ui.scope(|ui| pace_menu_ui(ui, state.pace, commands));
        ring_ui(ui, pace.response.rect, state, Ring::Pace);
    });
}

fn stop_button_ui(ui: &mut Ui, width: f32, commands: &mut Vec<Command>) {
    let keys = key_words(ui, Action::Stop);
    let button = Button::run("Stop", false).icon(Icon::Stop).hint(&keys);
    if ui.add(button.width(width)).clicked() {
        commands.push(Command::StopAll);
    }
}

fn generate_button_ui(ui: &mut Ui, width: f32, state: &AppState, commands: &mut Vec<Command>) {
    let blocking_reason = state.blocking_reason();
    let is_primary = blocking_reason.is_none() && state.output_is_stale();
    let keys = key_words(ui, Action::Generate);
    let label = if state.is_replying() {
        "Reply"
    } else {
        "Generate"
    };
    let button = Button::run(label, is_primary)
        .icon(Icon::Play)
        .hint(&keys)
        .width(width);
    let response = ui.add_enabled(blocking_reason.is_none(), button);
    if response.clicked() {
        finish_typing(ui);
        commands.push(Command::GenerateAll);
    }
    if let Some(reason) = blocking_reason {
        response.on_disabled_hover_text(reason);
    }
}

/// The width of an icon button, with the gap before it, in points.
const ICON_BUTTON: f32 = 32.0;

/// Draws the buttons of step mode: step, step back, and leave.
fn step_buttons_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let has_text = state.generations().into_iter().flatten();
    let has_text = has_text.into_iter().any(|text| !text.steps.is_empty());
    let idle = !state.is_running();
    let mut command = None;
    let width = ui.available_width() - 2.0 * ICON_BUTTON;
    let keep_running = format!("Keep running ({})", key_words(ui, Action::Generate));
    let step_back = format!("Undo the step ({})", key_words(ui, Action::StepBack));
    let step = key_words(ui, Action::Step);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let button = Button::run("Step", true).hint(&step).width(width);
        let can_step = idle && state.blocking_reason().is_none();
        if ui.add_enabled(can_step, button).clicked() {
            command = Some(BranchCommand::Step);
        }
        let can_undo = idle && has_text;
        let undo = |ui: &mut Ui| icon_button(ui, Icon::Undo, &step_back).clicked();
        if ui.add_enabled_ui(can_undo, undo).inner {
            command = Some(BranchCommand::StepBack);
        }
        let run = |ui: &mut Ui| icon_button(ui, Icon::Play, &keep_running).clicked();
        if ui.add_enabled_ui(state.can_keep_running(), run).inner {
            command = Some(BranchCommand::KeepRunning);
        }
    });
    commands.extend(command.map(Command::Branch));
}

/// Draws the menu of the panes to step, and the button that leaves step mode.
fn step_chips_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let pane_words = |place: usize| format!("Only {}", pane_letter(place));
    let alone = state.branches.step_pane.and_then(|id| state.place_of(id));
    let words = alone.map_or_else(|| "All panes".to_owned(), pane_words);
    let chip = ui.add(Chip::new(&words).name("Which panes step").chevron());
    let mut choose = |ui: &mut Ui, words: &str, pane: Option<PaneId>| {
        if menu_item(ui, words, "", pane == state.branches.step_pane).clicked() {
            commands.push(Command::Branch(BranchCommand::StepOnly(pane)));
        }
    };
    Popup::menu(&chip)
        .width(160.0)
        .gap(4.0)
        .accessible_name("Which panes step")
        .show(|ui| {
            choose(ui, "All panes", None);
            for (place, pane) in state.panes.placed() {
                choose(ui, &pane_words(place), Some(pane.id));
            }
        });
    ui.add_space(6.0);
    let leave = ui.add(Chip::new("Leave step mode"));
    if leave.clicked() {
        commands.push(Command::SetPace(Pace::FullSpeed));
    }
    ring_ui(ui, leave.rect, state, Ring::Pace);
}

/// The maximum width of the seed's chip in points, which leaves space for the chip beside it.
const MAX_SEED_WIDTH: f32 = 72.0;

/// A chip that opens the editor of a setting below it.
struct EditorChip<'a> {
    words: &'a str,
    title: &'a str,
    /// In points.
    max_width: f32,
    /// Whether the editor was asked for elsewhere, and opens now.
    opens: bool,
}

impl EditorChip<'_> {
    /// Draws it. `editor` returns its first field, which takes the focus if the editor was asked for
    /// elsewhere.
    fn ui(&self, ui: &mut Ui, editor: impl FnOnce(&mut Ui) -> Response) {
        let width = self.max_width.min(ui.available_width());
        let response = ui.add(Chip::new(self.words).max_width(width));
        if self.opens {
            Popup::open_id(ui, Popup::default_response_id(&response));
        }
        editor_popup(&response, RectAlign::BOTTOM_END, self.title, |ui| {
            let first = editor(ui);
            if self.opens {
                first.request_focus();
            }
        });
    }
}

/// Draws the token limit, or how many tokens the context has left if that is less.
fn max_tokens_ui(ui: &mut Ui, state: &mut AppState, opens: Option<RunSetting>) {
    let context_limit = state
        .prompt
        .context_limit(&state.models.main, state.limits.max_new_tokens);
    let words = match context_limit {
        Some(room) => format!("Context: {}", counted(room, "token")),
        None => format!("Up to {}", counted(state.limits.max_new_tokens, "token")),
    };
    let chip = EditorChip {
        words: &words,
        title: "Token limit",
        max_width: f32::INFINITY,
        opens: opens == Some(RunSetting::TokenLimit),
    };
    chip.ui(ui, |ui| {
        let limit = ui.horizontal(|ui| {
            ui.label("Up to");
            let field = DragValue::new(&mut state.limits.max_new_tokens)
                .range(1..=1_000_000)
                .speed(2.0);
            let field = ui.add(field).accessible_name("Token limit per pane");
            ui.label("tokens per pane");
            field
        });
        hint_ui(ui, "The end-of-text token counts too");
        if let Some(room) = context_limit {
            let left = counted(room, "token");
            let hint = format!("The model’s context has space for only {left} after the prompt");
            ui.label(Face::Small.text(hint).color(Theme::of(ui).warning));
        }
        ui.horizontal(|ui| {
            ui.label("Record up to");
            let field = DragValue::new(&mut state.memory.record_megabytes).range(0..=4_096);
            ui.add(field).accessible_name("Memory for the record");
            ui.label("MB for all panes");
        });
        hint_ui(ui, &state.recording_words());
        limit.inner
    });
}

fn seed_ui(ui: &mut Ui, seed: &mut u64, opens: Option<RunSetting>) {
    let words = format!("Seed {seed}");
    let chip = EditorChip {
        words: &words,
        title: "Seed",
        max_width: MAX_SEED_WIDTH,
        opens: opens == Some(RunSetting::Seed),
    };
    chip.ui(ui, |ui| {
        let field = seed_field_ui(ui, "Seed for all panes", seed);
        hint_ui(
            ui,
            "The same seed tosses the same coins. Panes that share a seed diverge because of their \
             settings, not by luck.",
        );
        field
    });
}

fn stops_ui(ui: &mut Ui, breakpoint: Breakpoint, limits: &mut Limits, opens: Option<RunSetting>) {
    let words = stops_words(breakpoint, limits);
    let chip = EditorChip {
        words: &words,
        title: "When to stop",
        max_width: f32::INFINITY,
        opens: opens == Some(RunSetting::Stops),
    };
    chip.ui(ui, |ui| {
        let mut stops = limits.end_of_text == EndOfText::Stops;
        let label = Face::Body.text("At the end-of-text token");
        let at_end = checkbox(ui, &mut stops, label);
        if at_end.changed() {
            limits.end_of_text = if stops {
                EndOfText::Stops
            } else {
                EndOfText::Ignored
            };
        }
        hint_ui(
            ui,
            "The model samples this token when it considers the text complete",
        );
        stop_strings_ui(ui, &mut limits.stop_strings);
        at_end
    });
}

/// Draws the editor of the stop sequences, one per line. "\n" in a line means a line break.
fn stop_strings_ui(ui: &mut Ui, stop_strings: &mut Vec<String>) {
    let label = ui.label("Stop sequences, one per line");
    // Formatting would rewrite a half-typed escape sequence, so the typed text is kept as long as
    // it parses to the current stop sequences.
    let typed: Option<String> = ui.data(|data| data.get_temp(label.id));
    let mut lines = typed
        .filter(|lines| parse_stops(lines) == *stop_strings)
        .unwrap_or_else(|| format_stops(stop_strings));
    let edit = long_text(&mut lines)
        .font(Face::Code.font())
        .frame(field_frame(ui))
        .desired_rows(3)
        .desired_width(f32::INFINITY);
    if ui.add(edit).labelled_by(label.id).changed() {
        *stop_strings = parse_stops(&lines);
        ui.data_mut(|data| data.insert_temp(label.id, lines));
    }
    hint_ui(ui, "Type \\n for a line break");
}

fn parse_stops(lines: &str) -> Vec<String> {
    match lines {
        "" => Vec::new(),
        lines => lines.split('\n').map(unescape).collect(),
    }
}

fn format_stops(stop_strings: &[String]) -> String {
    let lines: Vec<String> = stop_strings.iter().map(|stop| escape(stop)).collect();
    lines.join("\n")
}

fn stops_words(breakpoint: Breakpoint, limits: &Limits) -> String {
    let stops_at_end = limits.end_of_text == EndOfText::Stops;
    let stop_strings = limits.stop_strings.iter();
    let n_strings = stop_strings.filter(|stop| !stop.is_empty()).count();
    match (breakpoint, stops_at_end, n_strings) {
        (Breakpoint::Tight | Breakpoint::Small, _, _) => {
            match n_strings + usize::from(stops_at_end) {
                0 => "No stops".to_owned(),
                1 => "1 stop".to_owned(),
                n => format!("{n} stops"),
            }
        }
        (_, true, 0) => "Stop: end of text".to_owned(),
        (_, true, n) => format!("Stop: end + {n}"),
        (_, false, 0) => "Stop: none".to_owned(),
        (_, false, 1) => "Stop: 1 sequence".to_owned(),
        (_, false, n) => format!("Stop: {n} sequences"),
    }
}

#[cfg(test)]
mod tests {
    use egui::accesskit::Role;
    use egui::{Event, Key, Modifiers, vec2};
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::ready;
    use crate::state::{Command, RunSetting};
    use crate::ui::testing::{key, press, window_of};

    #[test]
    fn a_setting_that_the_palette_opens_takes_the_keys() {
        let mut window = window_of(vec2(1280.0, 800.0), ready());
        let edit = Command::EditRunSetting(RunSetting::TokenLimit);
        window.state_mut().apply(edit);
        window.run_steps(4);
        key(&mut window, Modifiers::COMMAND, Key::A);
        window.event(Event::Text("20".to_owned()));
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::Enter);
        assert_eq!(window.state().limits.max_new_tokens, 20);
    }

    #[test]
    fn an_escape_sequence_can_be_typed_letter_by_letter() {
        let mut window = window_of(vec2(1280.0, 800.0), ready());
        press(&mut window, "Stop: end of text");
        let label = "Stop sequences, one per line";
        window
            .get_by_role_and_label(Role::MultilineTextInput, label)
            .focus();
        window.run_steps(2);
        for letter in ["\\", "n", "e", "n", "d", "", "a", "\\", "\\"] {
            match letter {
                "" => key(&mut window, Modifiers::NONE, Key::Enter),
                letter => window.event(Event::Text(letter.to_owned())),
            }
            window.run_steps(2);
        }
        assert_eq!(window.state().limits.stop_strings, ["\nend", "a\\"]);
        window.state_mut().limits.stop_strings = vec!["\t".to_owned()];
        window.run_steps(2);
        let field = window.get_by_role_and_label(Role::MultilineTextInput, label);
        assert_eq!(field.value().as_deref(), Some("\\t"));
    }
}
