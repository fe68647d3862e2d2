//! A pane's model: the line that names it, the menu that chooses it, and the notice that asks for a
//! decision or shows progress before it can write.

use egui::{Align, Color32, Label, Layout, Popup, Rect, Response, Sense, SetOpenCommand, Ui, vec2};

use super::pane_server::{has_server_failed, server_notice_ui};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{
    Button, Chip, Choice, menu_item, notice_frame, progress_bar, scrolled,
};
use crate::generation::formatting::pane_letter;
use crate::generation::{ModelSource, PaneModel};
use crate::state::{
    AppState, Command, Pane, PaneModelCommand, PaneModelStatus, PathPurpose, ServerCommand, Writer,
};

/// The height of the line that names the model.
pub(super) const MODEL_LINE: f32 = 30.0;

const MENU_WIDTH: f32 = 300.0;

/// The assumed height of a notice that hasn't been drawn yet.
const NOTICE: f32 = 88.0;

/// Draws the line that names the pane's model, if `line` is given, and the menu below it or else
/// below the header.
pub(super) fn pane_model_ui(
    ui: &mut Ui,
    (place, header): (usize, Rect),
    line: Option<Rect>,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let Some(pane) = state.panes.get(place) else {
        return;
    };
    let id = egui::Id::unique(("models of pane", pane.id.0));
    let opens = state.models.of_panes.menu_to_open == Some(pane.id);
    let (anchor, clicked) = match line {
        Some(line) => line_ui(ui, line, (place, pane), Popup::is_id_open(ui, id), state),
        None => (header, false),
    };
    let command = if opens {
        Some(SetOpenCommand::Bool(true))
    } else {
        clicked.then_some(SetOpenCommand::Toggle)
    };
    let anchor = ui.interact(anchor, id.with("anchor"), Sense::hover());
    Popup::menu(&anchor)
        .id(id)
        .open_memory(command)
        .width(MENU_WIDTH)
        .gap(4.0)
        .accessible_name(format!("Models of {}", pane_letter(place)))
        .show(|ui| scrolled(ui, |ui| menu_ui(ui, pane, state, commands)));
    if opens {
        state.models.of_panes.menu_to_open = None;
    }
}

/// Draws the line: the model that wrote the text, and a chip with the one that writes the next text
/// if that is another one. Returns the rectangle below which the menu opens, and whether it was
/// clicked.
fn line_ui(
    ui: &mut Ui,
    line: Rect,
    (place, pane): (usize, &Pane),
    is_open: bool,
    state: &AppState,
) -> (Rect, bool) {
    let inside = Rect::from_min_max(line.min + vec2(12.0, 0.0), line.max - vec2(12.0, 6.0));
    let mut ui = child_ui(ui, inside, "model");
    let authorship = state.authorship(pane);
    if state.runs.opened.is_some() {
        if let Some(writer) = &authorship.writer {
            writer_ui(&mut ui, place, writer);
        }
        return (inside, false);
    }
    let chip = |ui: &mut Ui, label: &str, words: &str| {
        chip_ui(ui, (place, pane), (label, words), is_open, state)
    };
    let is_served = matches!(pane.settings.model, Some(PaneModel::Server(_)));
    let label = if is_served { "Server" } else { "Model" };
    let response = match (&authorship.writer, &authorship.next) {
        (Some(writer), Some(next)) => {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.set_max_width(inside.width());
                let response = ui
                    .scope(|ui| {
                        ui.set_max_width(inside.width() * NEXT_SHARE);
                        chip(ui, "next", next)
                    })
                    .inner;
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    writer_ui(ui, place, writer);
                });
                response
            })
            .inner
        }
        (Some(writer), None) => chip(&mut ui, label, &writer.words()),
        (None, _) => chip(&mut ui, label, &state.models.words_of(pane)),
    };
    (response.rect, response.clicked())
}

/// The share of the line that the chip with the next model may take.
const NEXT_SHARE: f32 = 0.55;

/// Draws the model that wrote a text. A long name is truncated, but never the details.
fn writer_ui(ui: &mut Ui, place: usize, writer: &Writer) {
    let theme = Theme::of(ui);
    let details = if writer.details.is_empty() {
        String::new()
    } else {
        format!(" · {}", writer.details)
    };
    ui.spacing_mut().item_spacing.x = 0.0;
    let reserved = Face::Small.width(ui, &details);
    let tip = format!(
        "The text of {} was written by {}",
        pane_letter(place),
        writer.words()
    );
    ui.scope(|ui| {
        ui.set_max_width((ui.available_width() - reserved).max(0.0));
        let name = Face::Small.text(&writer.name).color(theme.text_2);
        ui.add(Label::new(name).truncate()).on_hover_text(&tip);
    });
    let details = Face::Small.text(details).color(theme.text_2);
    ui.add(Label::new(details).truncate()).on_hover_text(tip);
}

/// Draws the chip that names a model and opens the menu.
fn chip_ui(
    ui: &mut Ui,
    (place, pane): (usize, &Pane),
    (label, words): (&str, &str),
    is_open: bool,
    state: &AppState,
) -> Response {
    let words = match status_of(pane, state) {
        Some((_, PaneModelStatus::Loading { fraction })) => {
            format!("Loading {:.0} %", fraction * 100.0)
        }
        _ => words.to_owned(),
    };
    let failed = matches!(
        status_of(pane, state),
        Some((_, PaneModelStatus::Failed { .. }))
    ) || has_server_failed(pane, state);
    let name = format!("Model of {}", pane_letter(place));
    let chip = Chip::new(&words)
        .label(label)
        .name(&name)
        .chevron()
        .open(is_open)
        .invalid(failed)
        .max_width(ui.available_width());
    let tip = match &pane.settings.model {
        Some(PaneModel::Server(served)) => {
            format!("The prompt and the text go to {}; {words}", served.address)
        }
        Some(PaneModel::Local(ModelSource::Path(path))) => path.display().to_string(),
        Some(PaneModel::Local(ModelSource::Embedded)) | None => words.clone(),
    };
    let response = if ui.layout().prefer_right_to_left() {
        ui.add(chip)
    } else {
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.add(chip))
            .inner
    };
    response.on_hover_text(tip)
}

fn menu_ui(ui: &mut Ui, pane: &Pane, state: &AppState, commands: &mut Vec<Command>) {
    for row in state.models.pane_rows(pane, &state.panes) {
        let choice = Choice::new(&row.name).aside(&row.facts);
        if choice.selected(row.is_chosen).show(ui).clicked() {
            let choose = PaneModelCommand::Choose(pane.id, row.model);
            commands.push(Command::PaneModel(choose));
            ui.close();
        }
    }
    ui.separator();
    for (label, purpose) in [
        ("Open another model…", PathPurpose::PaneModel(pane.id)),
        (
            "Open a model folder…",
            PathPurpose::PaneModelFolder(pane.id),
        ),
    ] {
        if menu_item(ui, label, "", false).clicked() {
            commands.push(Command::AskPath(purpose));
            ui.close();
        }
    }
    if menu_item(ui, "Add a server…", "", false).clicked() {
        commands.push(Command::Server(ServerCommand::Show));
        ui.close();
    }
    let rows = state.panes.read_along_rows(pane.id, &state.models);
    if !rows.is_empty() {
        ui.separator();
    }
    for (name, is_chosen, command) in rows {
        let item = menu_item(ui, &name, "", is_chosen);
        let item = item.on_hover_text(
            "Shows its text, with the probability of each token under this pane’s model",
        );
        if item.clicked() {
            commands.push(command);
            ui.close();
        }
    }
}

/// Returns the status of a pane's own model.
fn status_of<'a>(
    pane: &'a Pane,
    state: &'a AppState,
) -> Option<(&'a ModelSource, &'a PaneModelStatus)> {
    let source = state.models.chosen(&pane.settings)?.local()?;
    Some((source, state.models.of_panes.status(source)?))
}

/// Draws the notice about a pane's model or server at the bottom of the pane. Returns its height.
pub(super) fn model_notice_ui(
    ui: &mut Ui,
    body: Rect,
    pane: &Pane,
    state: &AppState,
    commands: &mut Vec<Command>,
) -> f32 {
    at_bottom_ui(ui, body, ("model notice", pane), |ui| {
        notice_ui(ui, pane, state, commands) || server_notice_ui(ui, pane, state, commands)
    })
}

/// Draws something at the bottom of a pane's body. `draw` returns whether it drew anything. Returns
/// the height.
pub(super) fn at_bottom_ui(
    ui: &mut Ui,
    body: Rect,
    (salt, pane): (&str, &Pane),
    draw: impl FnOnce(&mut Ui) -> bool,
) -> f32 {
    let inside = body.shrink2(vec2(14.0, 8.0));
    let id = egui::Id::unique(("height of a notice", salt, pane.id.0));
    // The height is known only once it has been drawn.
    let height: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(NOTICE);
    let rect = inside.with_min_y((inside.bottom() - height).max(inside.top()));
    let mut child = child_ui(ui, rect, salt);
    if !draw(&mut child) {
        return 0.0;
    }
    let drawn = child.min_rect().height();
    if (drawn - height).abs() > 0.5 {
        ui.data_mut(|data| data.insert_temp(id, drawn));
        ui.ctx().request_discard("the notice’s height changed");
    }
    drawn + 16.0
}

/// Draws the notice about a pane's own model, if there is one. Returns whether it drew one.
fn notice_ui(ui: &mut Ui, pane: &Pane, state: &AppState, commands: &mut Vec<Command>) -> bool {
    let Some((source, status)) = status_of(pane, state) else {
        return false;
    };
    let decline = Command::PaneModel(PaneModelCommand::Decline(source.clone().into()));
    match status {
        PaneModelStatus::Inspecting { .. } => return false,
        PaneModelStatus::Offered { words, is_short } => {
            let load = Command::PaneModel(PaneModelCommand::Load(source.clone()));
            let (kind, label) = if *is_short {
                (Kind::Warning, "Load anyway")
            } else {
                (Kind::Plain, "Load")
            };
            let actions = [(label, load), ("Cancel", decline)];
            ModelNotice::new(kind, words).show(ui, &actions, commands);
        }
        PaneModelStatus::Loading { fraction } => {
            let words = format!(
                "Loading {}, {:.0} %. Running texts pause",
                state.models.words_of(pane),
                fraction * 100.0
            );
            let notice = ModelNotice::new(Kind::Plain, &words);
            let notice = ModelNotice {
                fraction: Some(*fraction),
                ..notice
            };
            notice.show(ui, &[("Cancel", decline)], commands);
        }
        PaneModelStatus::Failed { error } => {
            let again = PaneModelCommand::Choose(pane.id, Some(source.clone().into()));
            let again = Command::PaneModel(again);
            let actions = [("Try again", again), ("Use the main model", decline)];
            ModelNotice::new(Kind::Error, error).show(ui, &actions, commands);
        }
        PaneModelStatus::Ready(_) => {
            let Some(reason) = state.models.own_blocking_reason(pane, state.prompt.mode) else {
                return false;
            };
            let actions = [("Use the main model", decline)];
            ModelNotice::new(Kind::Warning, &reason).show(ui, &actions, commands);
        }
    }
    true
}

/// How serious a notice is.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Plain,
    Warning,
    Error,
}

impl Kind {
    /// Returns the fill and the icon with its color.
    const fn look(self, theme: &Theme) -> (Color32, (Icon, Color32)) {
        match self {
            Self::Plain => (theme.surface_3, (Icon::Info, theme.text_2)),
            Self::Warning => (theme.warning_bg, (Icon::Warning, theme.warning)),
            Self::Error => (theme.error_bg, (Icon::Warning, theme.error)),
        }
    }
}

/// A notice that asks for a decision or shows progress.
pub(super) struct ModelNotice<'a> {
    kind: Kind,
    words: &'a str,
    /// The fraction loaded so far, from 0 to 1.
    fraction: Option<f32>,
}

impl<'a> ModelNotice<'a> {
    pub(super) const fn new(kind: Kind, words: &'a str) -> Self {
        let fraction = None;
        Self {
            kind,
            words,
            fraction,
        }
    }

    pub(super) fn show(
        &self,
        ui: &mut Ui,
        actions: &[(&str, Command)],
        commands: &mut Vec<Command>,
    ) {
        let theme = Theme::of(ui);
        let (fill, icon) = self.kind.look(theme);
        notice_frame(ui, fill, icon, |ui| {
            ui.label(Face::Small.text(self.words).color(theme.text_1));
            if let Some(fraction) = self.fraction {
                ui.add_space(4.0);
                progress_bar(ui, fraction);
            }
            ui.add_space(4.0);
            ui.horizontal_wrapped(|ui| {
                for (label, command) in actions {
                    if ui.add(Button::new(label)).clicked() {
                        commands.push(command.clone());
                    }
                }
            });
        });
    }
}
