//! A row of the chain editor: one stage, its main parameter, and what it does at the step on
//! display.

use egui::{
    Align, CursorIcon, Id, Label, Layout, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2,
};

use super::arrival::arrive_ui;
use super::number_line::{BUTTONS, INDENT, NumberChange, NumberWords, error_ui, number_ui};
use super::stage_details::{details_id, details_ui, has_details};
use super::{Edit, Shown};
use crate::decoding::{Filter, Stage};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, focus_ring};
use crate::reference::Page;

const ROW: f32 = 52.0;

/// The width of a stage's name.
const NAME: f32 = 160.0;

/// The opacity of a muted stage's parameter.
const MUTED: f32 = 0.6;

/// Where a stage is in the list, and what it does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub index: usize,
    /// The id of its handle.
    pub handle: Id,
    /// What it does at the step on display.
    pub effect: Option<&'a str>,
    /// Whether it does nothing.
    pub is_idle: bool,
    pub is_removable: bool,
    pub is_solo: bool,
}

/// The result of drawing a row.
pub(super) struct Row {
    /// The response of the handle that moves the stage.
    pub handle: Response,
    /// Whether the user removed the stage.
    pub removed: bool,
}

/// Draws a stage and edits it.
pub(super) fn stage_row_ui(
    ui: &mut Ui,
    place: Place<'_>,
    shown: &Shown<'_>,
    stage: &mut Stage,
    edit: &mut Edit,
) -> Row {
    if ui.ctx().is_being_dragged(place.handle) {
        ui.multiply_opacity(0.5);
    }
    // Why a stage does nothing takes two lines.
    let more = if place.is_idle {
        Face::Micro.row()
    } else {
        0.0
    };
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), ROW + more));
    let split = |from: f32, to: f32| {
        Rect::from_min_max(pos2(from, rect.top() + 4.0), pos2(to, rect.bottom() - 4.0))
    };
    let (names, buttons) = (rect.left() + INDENT, rect.right() - BUTTONS);
    let handle = handle_ui(
        ui,
        split(rect.left() + 2.0, names - 4.0),
        place.handle,
        stage,
    );
    if stage.filter.spec().params.is_empty() {
        arrive_ui(ui, stage.filter.name(), &handle);
    }
    if names_ui(ui, split(names, names + NAME), place, shown, stage) {
        edit.asked = Some(Page::of_filter(stage.filter.kind()));
    }
    primary_ui(ui, split(names + NAME, buttons), stage, edit);
    let button = buttons_ui(ui, split(buttons, rect.right()), (rect, place), stage);
    match button {
        Some(RowButton::Mute) => {
            stage.enabled = !stage.enabled;
            edit.edited = true;
        }
        Some(RowButton::Solo) => edit.soloed = Some(place.index),
        Some(RowButton::Remove) | None => {}
    }
    let removed = button == Some(RowButton::Remove);
    if has_details(&stage.filter) && is_open(ui, shown, &stage.filter) {
        edit.edited |= details_ui(ui, shown, &mut stage.filter);
    }
    if let Err(error) = stage.filter.validate() {
        error_ui(ui, &error.to_string());
    }
    Row { handle, removed }
}

fn handle_ui(ui: &mut Ui, rect: Rect, id: Id, stage: &Stage) -> Response {
    let response = ui.interact(rect, id, Sense::click_and_drag());
    let name = format!("Move {}", stage.filter.name());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), &name));
    let theme = Theme::of(ui);
    let touched = response.hovered() || response.dragged();
    let color = if touched { theme.text_1 } else { theme.text_3 };
    let square = Rect::from_center_size(rect.center(), vec2(16.0, 16.0));
    Icon::Grip.paint(ui.painter(), square, color);
    focus_ring(ui, &response, 6);
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    let cursor = if response.dragged() {
        CursorIcon::Grabbing
    } else {
        CursorIcon::Grab
    };
    response.on_hover_and_drag_cursor(cursor).on_hover_text(
        "Drag, or press the up and down arrow keys, to apply this stage earlier or later",
    )
}

/// Draws the name of a stage and what it does. Returns whether its page was asked for.
fn names_ui(ui: &mut Ui, rect: Rect, place: Place<'_>, shown: &Shown<'_>, stage: &Stage) -> bool {
    let theme = Theme::of(ui);
    let mut ui = child_ui(ui, rect, "names");
    ui.spacing_mut().item_spacing = vec2(2.0, 0.0);
    let color = if stage.enabled {
        theme.text_1
    } else {
        theme.text_3
    };
    let mut is_asked = false;
    ui.horizontal(|ui| {
        ui.set_height(24.0);
        let name = Face::Medium.text(stage.filter.name()).color(color);
        let tip = stage.filter.spec().tooltip_with_source();
        is_asked = ui
            .add(Label::new(name).sense(Sense::click()))
            .on_hover_text(format!("{tip}\n\nPress for its page in the help"))
            .on_hover_cursor(CursorIcon::Help)
            .clicked();
        if has_details(&stage.filter) {
            fold_ui(ui, shown, &stage.filter);
        }
    });
    let window = stage.filter.window().and_then(|window| window.last_n);
    let below = match (stage.enabled, place.effect, window) {
        (false, _, Some(n)) => format!("Muted, last {n} tokens"),
        (false, _, None) => "Muted".to_owned(),
        (true, Some(effect), _) => effect.to_owned(),
        (true, None, _) => stage.filter.summary().to_owned(),
    };
    let below = Face::Micro.text(below).color(theme.text_3);
    let below = Label::new(below);
    ui.add(if place.is_idle {
        below.wrap()
    } else {
        below.truncate()
    });
    is_asked
}

/// Draws the button that folds and unfolds a stage's other settings.
fn fold_ui(ui: &mut Ui, shown: &Shown<'_>, filter: &Filter) {
    let open = is_open(ui, shown, filter);
    let (icon, words) = if open {
        (Icon::Up, "Fewer settings of")
    } else {
        (Icon::Down, "More settings of")
    };
    if icon_button(ui, icon, &format!("{words} {}", filter.name())).clicked() {
        let id = details_id(shown.pane, filter);
        ui.data_mut(|data| data.insert_temp(id, !open));
    }
}

fn is_open(ui: &Ui, shown: &Shown<'_>, filter: &Filter) -> bool {
    let id = details_id(shown.pane, filter);
    // A stage without parameters has only its details to show.
    let initially = filter.spec().params.is_empty();
    ui.data(|data| data.get_temp(id).unwrap_or(initially))
}

/// Draws the box and slider of the filter's first parameter, or a summary of a filter without one.
fn primary_ui(ui: &mut Ui, rect: Rect, stage: &mut Stage, edit: &mut Edit) {
    let spec = stage.filter.spec();
    let error = stage.filter.validate().err().filter(|_| stage.enabled);
    let error = error.map(|error| error.to_string());
    let words = NumberWords {
        name: spec.name,
        tooltip: &spec.tooltip(),
        error: error.as_deref(),
    };
    let list_words = if stage.filter.is_neutral() {
        "Changes no token yet".to_owned()
    } else {
        stage.filter.to_string()
    };
    let mut ui = child_ui(ui, rect, "primary");
    if !stage.enabled {
        ui.multiply_opacity(MUTED);
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let Some(param) = spec.params.first() else {
            ui.add_space(8.0);
            ui.label(Face::Small.text(list_words).color(Theme::of(ui).text_2));
            return;
        };
        let change = number_ui(ui, param, words, &mut stage.filter);
        edit.edited |= change.is_some();
        if change == Some(NumberChange::Neutralize) {
            stage.filter.neutralize();
        }
    });
}

/// A button at the end of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowButton {
    Mute,
    Solo,
    Remove,
}

/// Draws the button to mute a stage and, if its `row` has the pointer or the focus, those to solo
/// and remove it. Returns the one that was clicked.
fn buttons_ui(
    ui: &mut Ui,
    rect: Rect,
    (row, place): (Rect, Place<'_>),
    stage: &Stage,
) -> Option<RowButton> {
    let name = stage.filter.name();
    let is_solo = place.is_solo;
    let is_touched = is_solo || ui.rect_contains_pointer(row) || has_focus_in(ui, row);
    let middle = Rect::from_center_size(rect.center(), vec2(rect.width(), 24.0));
    let mut ui = child_ui(ui, middle, "buttons");
    ui.spacing_mut().interact_size.y = 24.0;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.set_height(24.0);
        ui.add_space(4.0);
        let mut clicked = None;
        let (icon, verb) = if stage.enabled {
            (Icon::Eye, "Mute")
        } else {
            (Icon::EyeOff, "Unmute")
        };
        if icon_button(ui, icon, &format!("{verb} {name}")).clicked() {
            clicked = Some(RowButton::Mute);
        }
        if !is_touched {
            // They can still be reached with Tab, which shows them.
            ui.set_opacity(0.0);
        }
        let (verb, tooltip) = if is_solo {
            (
                "Unsolo",
                "Switches the other stages back on, as they were before",
            )
        } else {
            (
                "Solo",
                "Switches off all other stages until this is pressed again",
            )
        };
        let label = format!("{verb} {name}");
        let chip = Chip::new("S").name(&label).quiet().open(is_solo);
        if ui.add(chip).on_hover_text(tooltip).clicked() {
            clicked = Some(RowButton::Solo);
        }
        let remove = format!("Remove {name}");
        if place.is_removable && icon_button(ui, Icon::Close, &remove).clicked() {
            clicked = Some(RowButton::Remove);
        }
        clicked
    })
    .inner
}

/// Returns whether a control in this rectangle of the layer has the focus.
fn has_focus_in(ui: &Ui, rect: Rect) -> bool {
    let focused = ui.memory(egui::Memory::focused);
    focused.is_some_and(|id| {
        ui.ctx().viewport(|viewport| {
            let widget = viewport.prev_pass.widgets.get(id);
            widget.is_some_and(|widget| {
                widget.layer_id == ui.layer_id() && rect.contains(widget.rect.center())
            })
        })
    })
}
