//! The chip that names the chosen kind, and its menu with the counts of all kinds.

use egui::emath::Rangef;
use egui::{
    Color32, Frame, Margin, Popup, Rect, Response, Role, Sense, Separator, Stroke, Ui, WidgetInfo,
    pos2, vec2,
};

use super::{line, put};
use crate::analysis::token_kinds::TokenKind;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, ControlColors, SMALL_BADGE, badge, focus_ring, paint_fill};
use crate::generation::formatting::grouped;
use crate::state::{
    Action, AppState, Command, KindAction, KindCount, PaneKinds, ViewChange, capitalize, kind_name,
};
use crate::ui::keys::key_words;

const WIDTH: f32 = 340.0;
const ROW: f32 = 28.0;

/// The height of a key in the foot of the menu, in points.
const KEY: f32 = 18.0;

/// The space beside the chip, in points.
const GAP: f32 = 8.0;

/// Returns the name of a button that steps to the next token of the chosen kind, or back.
pub(in crate::ui) fn step_button_name(ui: &Ui, state: &AppState, action: KindAction) -> String {
    let action = Action::OfKind(action);
    match state.view.kind {
        Some(_) => format!("{} ({})", action.name(state), key_words(ui, action)),
        None => action.name(state),
    }
}

/// Draws the chip, as far as it fits, and its menu.
pub(in crate::ui) fn kind_chip_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some((place, _)) = state.shown_step() else {
        return;
    };
    let Some(pane) = state.panes.get(place) else {
        return;
    };
    let kind = state.view.kind;
    let name = kind_name(kind);
    let held = state.pin.filter(|pin| pin.pane == pane.id);
    let numbers = kind.map(|_| number_words(pane.kinds(), kind, held.map(|pin| pin.step)));
    let numbers = numbers.unwrap_or_default();
    let spoken = match kind {
        Some(_) => format!("{name}, {numbers}"),
        None => name.to_owned(),
    };
    let whole = Chip::new(name).aside(&numbers).name(&spoken).chevron();
    let few = if kind.is_some() { &numbers } else { "Every" };
    let short = Chip::new(few).name(&spoken).chevron();
    let room = ui.available_width() - GAP;
    let mut fitting = [whole, short].into_iter();
    let Some(chip) = fitting.find(|chip| chip.width(ui) <= room) else {
        return;
    };
    let chip = ui.add(chip);
    let chip = chip.on_hover_text("Which tokens ‹ › step to");
    Popup::menu(&chip)
        .width(WIDTH)
        .gap(4.0)
        .accessible_name("Step to the next")
        .show(|ui| menu_ui(ui, (place, pane.kinds()), kind, commands));
}

/// "8 of 13" if the held token is of the kind, or else "13".
fn number_words(kinds: &PaneKinds, kind: Option<TokenKind>, held: Option<usize>) -> String {
    let all = grouped(kinds.count(kind).n as f64);
    match held.filter(|step| kinds.contains(*step, kind)) {
        Some(held) => {
            let number = kinds.steps(kind).take_while(|step| *step <= held).count();
            format!("{} of {all}", grouped(number as f64))
        }
        None => all,
    }
}

fn menu_ui(
    ui: &mut Ui,
    (place, kinds): (usize, &PaneKinds),
    chosen: Option<TokenKind>,
    commands: &mut Vec<Command>,
) {
    ui.spacing_mut().item_spacing = vec2(6.0, 0.0);
    let quiet = |words: &str| Face::Micro.text(words).color(Theme::of(ui).text_3);
    let (before, after) = (quiet("Step in"), quiet("to the next"));
    ui.horizontal(|ui| {
        ui.set_height(22.0);
        ui.add_space(8.0);
        ui.label(before);
        badge(ui, place, SMALL_BADGE);
        ui.label(after);
    });
    for kind in [None].into_iter().chain(TokenKind::ALL.map(Some)) {
        let row = KindRow {
            kind,
            count: kinds.count(kind),
            n_tokens: kinds.n_tokens(),
        };
        if row.ui(ui, kind == chosen).clicked() {
            commands.push(Command::ChangeView(ViewChange::Kind(kind)));
            // Close the menu after a choice with the keyboard, too.
            ui.close();
        }
        if kind.is_none() {
            ui.add(Separator::default().spacing(9.0));
        }
    }
    ui.add(Separator::default().spacing(9.0));
    ui.spacing_mut().interact_size.y = KEY;
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        ui.add_space(8.0);
        for (action, words) in [
            (KindAction::Next, "next"),
            (KindAction::Previous, "back, from any tab"),
        ] {
            key_ui(ui, &key_words(ui, Action::OfKind(action)));
            ui.label(Face::Micro.text(words).color(Theme::of(ui).text_3));
        }
    });
    ui.add_space(2.0);
}

/// Draws a key as a cap.
fn key_ui(ui: &mut Ui, key: &str) {
    let theme = Theme::of(ui);
    let text = Face::Micro.text(key).color(theme.text_2);
    Frame::new()
        .stroke(Stroke::new(1.0, theme.stroke_2))
        .corner_radius(4)
        .inner_margin(Margin::symmetric(5, 0))
        .show(ui, |ui| ui.label(text));
}

/// A row of the menu.
struct KindRow {
    /// `None` for every token.
    kind: Option<TokenKind>,
    count: KindCount,
    n_tokens: usize,
}

impl KindRow {
    /// Returns how many tokens are of the kind; "–" if the record tells of none of them.
    fn number(&self) -> String {
        if self.n_tokens > 0 && self.count.n_unknown == self.n_tokens {
            return "–".to_owned();
        }
        grouped(self.count.n as f64)
    }

    /// Returns what the name leaves open, or what is not known.
    fn aside(&self) -> String {
        match self.count.n_unknown {
            0 => self.kind.map_or("", TokenKind::aside).to_owned(),
            n if n == self.n_tokens => "can’t be known here".to_owned(),
            n => format!("{} can’t be known", grouped(n as f64)),
        }
    }

    fn ui(&self, ui: &mut Ui, selected: bool) -> Response {
        let (name, number, aside) = (kind_name(self.kind), self.number(), self.aside());
        let size = vec2(ui.available_width(), ROW);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let spoken = match self.count.n_unknown {
            0 => format!("{name}, {number}"),
            _ => format!("{name}, {number}, {aside}"),
        };
        response
            .widget_info(|| WidgetInfo::selected(Role::MenuItem, true, selected, spoken.as_str()));
        if ui.is_rect_visible(rect) {
            self.paint(ui, &response, (&number, &aside), selected);
        }
        let Some(kind) = self.kind else {
            return response;
        };
        let meaning = capitalize(kind.meaning());
        response.on_hover_ui(|ui| {
            ui.set_max_width(300.0);
            ui.label(meaning);
            if self.count.n_unknown > 0 {
                ui.label(kind.unknown_reason());
            }
        })
    }

    fn paint(&self, ui: &Ui, response: &Response, (number, aside): (&str, &str), selected: bool) {
        let theme = Theme::of(ui);
        let rect = response.rect;
        let fill = if selected {
            theme.surface_3
        } else {
            Color32::TRANSPARENT
        };
        let [text, quiet] = match self.count.n {
            0 => [theme.text_3; 2],
            _ => [theme.text_1, theme.text_2],
        };
        paint_fill(ui, response, ControlColors { fill, text }, 6);
        if selected {
            let center = pos2(rect.left() + 15.0, rect.center().y);
            Icon::Check.paint(
                ui.painter(),
                Rect::from_center_size(center, vec2(14.0, 14.0)),
                text,
            );
        }
        let cell =
            |left: f32, right: f32| Rect::from_x_y_ranges(Rangef::new(left, right), rect.y_range());
        let number = line(ui, number, Face::Small, f32::INFINITY);
        let end = rect.right() - 8.0;
        let number_left = end - number.size().x;
        put(ui, number, cell(number_left, end), quiet);
        let name = line(ui, kind_name(self.kind), Face::Body, f32::INFINITY);
        let name_left = rect.left() + 30.0;
        let aside_left = name_left + name.size().x + 8.0;
        put(ui, name, cell(name_left, aside_left), text);
        let aside_cell = cell(aside_left, (number_left - 8.0).max(aside_left));
        let aside = line(ui, aside, Face::Small, aside_cell.width());
        put(ui, aside, aside_cell, theme.text_3);
        focus_ring(ui, response, 6);
    }
}
