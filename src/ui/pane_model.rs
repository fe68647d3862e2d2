//! A pane's model: the line that names it, the menu that chooses it, and what has to be decided or
//! waited for until it can write.

use egui::{Align, Color32, Layout, Popup, Rect, Sense, SetOpenCommand, Ui, vec2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{
    Button, Chip, Choice, menu_item, notice_frame, progress_bar, scrolled,
};
use crate::generation::ModelSource;
use crate::generation::formatting::pane_letter;
use crate::state::{
    AppState, Command, Pane, PaneModelCommand, PaneModelStatus, PathPurpose, capitalize,
};

/// The height of the line that names the model.
pub(super) const MODEL_LINE: f32 = 30.0;

const MENU_WIDTH: f32 = 300.0;

/// Draws the line that names the pane's model, if there is one, and the menu below it or below the
/// header.
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
    let opens = state.pane_models.menu_to_open == Some(pane.id);
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
        state.pane_models.menu_to_open = None;
    }
}

/// Draws the line. Returns where it is and whether it was clicked.
fn line_ui(
    ui: &mut Ui,
    line: Rect,
    (place, pane): (usize, &Pane),
    is_open: bool,
    state: &AppState,
) -> (Rect, bool) {
    let inside = Rect::from_min_max(line.min + vec2(12.0, 0.0), line.max - vec2(12.0, 6.0));
    let mut ui = child_ui(ui, inside, "model");
    let words = match status_of(pane, state) {
        Some((_, PaneModelStatus::Loading { fraction })) => {
            format!("Loading {:.0} %", fraction * 100.0)
        }
        _ => state.pane_model_words(pane),
    };
    let failed = matches!(
        status_of(pane, state),
        Some((_, PaneModelStatus::Failed { .. }))
    );
    let name = format!("Model of {}", pane_letter(place));
    let chip = Chip::new(&words)
        .label("Model")
        .name(&name)
        .chevron()
        .open(is_open)
        .invalid(failed)
        .max_width(inside.width());
    let response = ui
        .with_layout(Layout::left_to_right(Align::Center), |ui| ui.add(chip))
        .inner;
    let path = pane.settings.model.as_ref().and_then(ModelSource::path);
    let tip = path.map_or_else(|| words.clone(), |path| path.display().to_string());
    let response = response.on_hover_text(tip);
    (response.rect, response.clicked())
}

fn menu_ui(ui: &mut Ui, pane: &Pane, state: &AppState, commands: &mut Vec<Command>) {
    for row in state.pane_model_rows(pane) {
        let choice = Choice::new(&row.name).aside(&row.facts);
        if choice.selected(row.is_chosen).show(ui).clicked() {
            let choose = PaneModelCommand::Choose(pane.id, row.source);
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
}

/// Returns the status of a pane's own model.
fn status_of<'a>(
    pane: &'a Pane,
    state: &'a AppState,
) -> Option<(&'a ModelSource, &'a PaneModelStatus)> {
    let source = state.own_model_source(&pane.settings)?;
    Some((source, state.pane_models.status(source)?))
}

/// Draws what has to be decided or waited for at the bottom of a pane. Returns its height.
pub(super) fn model_notice_ui(
    ui: &mut Ui,
    body: Rect,
    pane: &Pane,
    state: &AppState,
    commands: &mut Vec<Command>,
) -> f32 {
    let inside = body.shrink2(vec2(14.0, 8.0));
    let mut child = ui.new_child(
        egui::UiBuilder::new()
            .id_salt("model notice")
            .max_rect(inside)
            .layout(Layout::bottom_up(Align::Min)),
    );
    let shown = child.vertical(|ui| notice_ui(ui, pane, state, commands));
    if shown.inner {
        child.min_rect().height() + 16.0
    } else {
        0.0
    }
}

/// Draws the notice, if there is one. Returns whether there is.
fn notice_ui(ui: &mut Ui, pane: &Pane, state: &AppState, commands: &mut Vec<Command>) -> bool {
    let Some((source, status)) = status_of(pane, state) else {
        return false;
    };
    let theme = Theme::of(ui);
    let decline = Command::PaneModel(PaneModelCommand::Decline(source.clone()));
    match status {
        PaneModelStatus::Inspecting { .. } => return false,
        PaneModelStatus::Offered { words, is_short } => {
            let load = Command::PaneModel(PaneModelCommand::Load(source.clone()));
            let look = if *is_short {
                Look::warning(theme)
            } else {
                Look::plain(theme)
            };
            let label = if *is_short { "Load anyway" } else { "Load" };
            let actions = [(label, load), ("Cancel", decline)];
            look.show(ui, words, None, &actions, commands);
        }
        PaneModelStatus::Loading { fraction } => {
            let words = format!(
                "Loading {}, {:.0} %. Running texts pause",
                state.pane_model_words(pane),
                fraction * 100.0
            );
            let actions = [("Cancel", decline)];
            Look::plain(theme).show(ui, &words, Some(*fraction), &actions, commands);
        }
        PaneModelStatus::Failed { error } => {
            let again = PaneModelCommand::Choose(pane.id, Some(source.clone()));
            let again = Command::PaneModel(again);
            let actions = [("Try again", again), ("Use the main model", decline)];
            Look::error(theme).show(ui, error, None, &actions, commands);
        }
        PaneModelStatus::Ready(_) => {
            let Some(reason) = state.own_model_blocking_reason(pane) else {
                return false;
            };
            let actions = [("Use the main model", decline)];
            Look::warning(theme).show(ui, &capitalize(&reason), None, &actions, commands);
        }
    }
    true
}

/// How a notice looks.
struct Look {
    fill: Color32,
    icon: (Icon, Color32),
}

impl Look {
    const fn plain(theme: &Theme) -> Self {
        Self {
            fill: theme.surface_2,
            icon: (Icon::Info, theme.text_2),
        }
    }

    const fn warning(theme: &Theme) -> Self {
        Self {
            fill: theme.warning_bg,
            icon: (Icon::Warning, theme.warning),
        }
    }

    const fn error(theme: &Theme) -> Self {
        Self {
            fill: theme.error_bg,
            icon: (Icon::Warning, theme.error),
        }
    }

    fn show(
        &self,
        ui: &mut Ui,
        words: &str,
        fraction: Option<f32>,
        actions: &[(&str, Command)],
        commands: &mut Vec<Command>,
    ) {
        notice_frame(ui, self.fill, self.icon, |ui| {
            let color = Theme::of(ui).text_1;
            ui.label(Face::Small.text(words).color(color));
            if let Some(fraction) = fraction {
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
