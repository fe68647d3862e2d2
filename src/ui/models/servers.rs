//! The servers in the models dialog: the form that adds one, and a row for each.

use egui::{
    Align, DragValue, Frame, Label, Layout, Margin, Popup, RectAlign, RichText, TextEdit, Ui,
};

use super::row_frame::{row_frame_ui, sentence_ui};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{
    Button, Chip, editor_popup, field_frame, hint_ui, menu_item, scrolled,
};
use crate::generation::formatting::pane_letter;
use crate::state::{
    AppState, Command, ServerCommand, ServerForm, ServerKind, ServerRow, ServerStatus, ServerUse,
};

/// The shares of the row's width for the address, model and key fields.
const SHARES: [f32; 3] = [0.44, 0.26, 0.30];

/// The space between two fields, in points.
const GAP: f32 = 10.0;

const ABOUT: &str = "llama-server, vLLM, Ollama, and any server with OpenAI’s completions API. The \
                     prompts and texts of panes that use a server are sent there. A key is kept \
                     only in memory, until you close Quartet; $NAME reads an environment variable.";

/// Draws the form and the rows.
pub(super) fn servers_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    ui.add_space(10.0);
    form_ui(ui, &mut state.models.servers.form, commands);
    ui.add_space(8.0);
    let rows = state.models.servers.rows();
    let about = Face::Small.text(ABOUT).color(Theme::of(ui).text_3);
    ui.add(Label::new(about).wrap());
    ui.add_space(4.0);
    for row in &rows {
        row_ui(ui, row, state, commands);
    }
}

fn form_ui(ui: &mut Ui, form: &mut ServerForm, commands: &mut Vec<Command>) {
    let width = ui.available_width() - 2.0 * GAP;
    let [address, model, key] = SHARES.map(|share| share * width);
    let mut is_entered = false;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        let hint = "Such as http://127.0.0.1:8080";
        is_entered |= field_ui(ui, ("Address", address), &mut form.address, hint, false);
        is_entered |= field_ui(
            ui,
            ("Model", model),
            &mut form.model,
            "The first one",
            false,
        );
        let is_secret = !form.names_variable();
        is_entered |= field_ui(ui, ("Key", key), &mut form.key, "None, or $NAME", is_secret);
    });
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        kind_ui(ui, form);
        n_probs_ui(ui, form);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let add = Button::new("Add").name("Add the server").primary();
            is_entered |= ui.add(add).clicked();
            if let Some(error) = &form.error {
                let error = Face::Small.text(error).color(Theme::of(ui).error);
                ui.add(Label::new(error).truncate());
            }
        });
    });
    if is_entered {
        commands.push(Command::Server(ServerCommand::Add));
    }
}

/// Draws a labeled field. Returns whether Enter was pressed in it.
fn field_ui(
    ui: &mut Ui,
    (label, width): (&str, f32),
    text: &mut String,
    hint: &str,
    is_secret: bool,
) -> bool {
    ui.vertical(|ui| {
        ui.set_width(width);
        ui.spacing_mut().item_spacing.y = 4.0;
        ui.label(Face::Small.text(label).color(Theme::of(ui).text_2));
        let edit = TextEdit::singleline(text)
            .hint_text(RichText::new(hint).color(Theme::of(ui).text_3))
            .password(is_secret)
            .frame(field_frame(ui))
            .desired_width(f32::INFINITY);
        let field = ui.add(edit).accessible_name(label);
        super::entered(ui, &field)
    })
    .inner
}

fn kind_ui(ui: &mut Ui, form: &mut ServerForm) {
    let name = |kind: Option<ServerKind>| kind.map_or("Detect", ServerKind::name);
    let chip = Chip::new(name(form.kind))
        .label("Kind")
        .name("Kind of server");
    let response = ui.add(chip.chevron());
    Popup::menu(&response)
        .width(220.0)
        .gap(4.0)
        .accessible_name("Kinds of servers")
        .show(|ui| {
            let kinds = ServerKind::ALL.map(Some);
            for kind in std::iter::once(None).chain(kinds) {
                if menu_item(ui, name(kind), "", kind == form.kind).clicked() {
                    form.kind = kind;
                    ui.close();
                }
            }
        });
}

/// Draws the chip that sets how many log-probs to request per token.
fn n_probs_ui(ui: &mut Ui, form: &mut ServerForm) {
    let words = match form.n_probs {
        Some(n_probs) => n_probs.to_string(),
        None => "Default".to_owned(),
    };
    let chip = Chip::new(&words)
        .label("Log-probs")
        .name("Log-probabilities per token");
    let response = ui.add(chip.chevron());
    let title = "Log-probabilities per token";
    editor_popup(&response, RectAlign::BOTTOM_START, title, |ui| {
        ui.horizontal(|ui| {
            let default = form.kind.map_or(20, ServerKind::default_n_probs);
            let mut n_probs = form.n_probs.unwrap_or(default);
            let field = DragValue::new(&mut n_probs).range(1..=1_000_000).speed(1.0);
            if ui.add(field).accessible_name(title).changed() {
                form.n_probs = Some(n_probs);
            }
            let default = Button::new("Default");
            if ui.add_enabled(form.n_probs.is_some(), default).clicked() {
                form.n_probs = None;
            }
        });
        hint_ui(
            ui,
            "Default: 128 for llama-server, 20 for vLLM and Ollama, 5 for others. A choice that \
             depends on less likely tokens is bounded instead of exact",
        );
    });
}

fn row_ui(ui: &mut Ui, row: &ServerRow, state: &AppState, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    row_frame_ui(
        ui,
        0.0,
        |ui| actions_ui(ui, row, state, commands),
        |ui| {
            let name = Face::Medium.text(&row.name).color(theme.text_1);
            ui.add(Label::new(name).truncate());
            let facts = Face::Small.text(&row.facts).color(theme.text_2);
            ui.add(Label::new(facts).truncate());
        },
    );
    if let Some(ServerStatus::Failed { error }) = &row.status {
        sentence_ui(ui, error, theme.error);
    }
    if !row.remarks.is_empty() {
        let remarks = format!("{}.", row.remarks.join(". "));
        sentence_ui(ui, &remarks, theme.text_3);
    }
}

/// Draws the row's actions from right to left.
fn actions_ui(ui: &mut Ui, row: &ServerRow, state: &AppState, commands: &mut Vec<Command>) {
    let mut action_ui = |ui: &mut Ui, label: &str, command: ServerCommand, is_quiet: bool| {
        let name = format!("{label} {}", row.name);
        let button = Button::new(label).name(&name);
        let button = if is_quiet { button.quiet() } else { button };
        if ui.add(button).clicked() {
            commands.push(Command::Server(command));
        }
    };
    action_ui(ui, "Remove", ServerCommand::Remove(row.added.clone()), true);
    action_ui(ui, "Edit", ServerCommand::Edit(row.added.clone()), true);
    let reconnect = ServerCommand::Reconnect(row.added.clone());
    match &row.status {
        Some(ServerStatus::Ready(_)) => use_ui(ui, row, state, commands),
        Some(ServerStatus::Connecting) => {
            let theme = Theme::of(ui);
            ui.label(Face::Small.text("Connecting").color(theme.text_2));
        }
        Some(ServerStatus::Failed { .. }) => action_ui(ui, "Try again", reconnect, false),
        None => action_ui(ui, "Connect", reconnect, false),
    }
}

/// Draws the menu of panes that can use the server.
fn use_ui(ui: &mut Ui, row: &ServerRow, state: &AppState, commands: &mut Vec<Command>) {
    let name = format!("Use {} in a pane", row.name);
    let response = ui.add(Button::new("Use in…").name(&name));
    Popup::menu(&response)
        .width(260.0)
        .gap(4.0)
        .accessible_name(&name)
        .show(|ui| scrolled(ui, |ui| panes_ui(ui, row, state, commands)));
}

fn panes_ui(ui: &mut Ui, row: &ServerRow, state: &AppState, commands: &mut Vec<Command>) {
    for way in ServerUse::ALL {
        if way != ServerUse::QuartetsChain {
            ui.separator();
        }
        way_ui(ui, way);
        let served = way.served(&row.added);
        for (place, pane) in state.panes.placed() {
            let chosen = state.models.chosen(&pane.settings);
            let is_used = chosen.and_then(|model| model.served()) == Some(&served);
            let label = format!("{} {}", pane_letter(place), pane.settings.name);
            if menu_item(ui, &label, "", is_used).clicked() {
                let use_it = ServerCommand::UseIn(pane.id, served.clone());
                commands.push(Command::Server(use_it));
            }
        }
    }
}

/// Draws the heading of one part of the menu: a way to use the server.
fn way_ui(ui: &mut Ui, way: ServerUse) {
    let theme = Theme::of(ui);
    let margin = Margin::symmetric(10, 6);
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.label(Face::SmallMedium.text(way.name()).color(theme.text_1));
            let help = Face::Small.text(way.help()).color(theme.text_2);
            ui.add(Label::new(help).wrap());
        });
    });
}
