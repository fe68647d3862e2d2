//! The head of a turn: its number, its versions, and what can be done with it.

use egui::emath::Rangef;
use egui::{
    Align, Label, Layout, Rect, Response, Role, Sense, Stroke, TextWrapMode, Ui, WidgetInfo, vec2,
};

use super::line_span;
use super::turns::{TurnAction, TurnInput};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;

/// The height of a turn's head, in points.
const HEAD: f32 = 22.0;

/// The space above a turn's head, which has a line on top unless it is the first, in points.
const ABOVE: f32 = 4.0;

impl TurnInput<'_> {
    /// Draws the turn's number, its version, and what can be done with it under the pointer or the
    /// focus. Returns its rectangle, and what was asked.
    pub(super) fn head_ui(&self, ui: &mut Ui) -> (Rect, Option<TurnAction>) {
        let theme = Theme::of(ui);
        let size = vec2(ui.available_width(), ABOVE + HEAD);
        let (rect, area) = ui.allocate_exact_size(size, Sense::hover());
        if self.number > 1 {
            let stroke = Stroke::new(1.0, theme.stroke_1);
            ui.painter().hline(rect.x_range(), rect.top(), stroke);
        }
        let line = line_span(rect.width());
        let x = Rangef::new(rect.left() + line.min, rect.left() + line.max);
        let inside = Rect::from_x_y_ranges(x, Rangef::new(rect.top() + ABOVE, rect.bottom()));
        area.widget_info(|| WidgetInfo::labeled(Role::Label, true, self.name));
        // The buttons cover the row.
        let is_pointed = ui.rect_contains_pointer(rect);
        let mut row = child_ui(ui, inside, "head");
        let mut action = None;
        row.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            action = self.buttons_ui(ui, is_pointed);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                let color = theme.text_2;
                let words = format!("Turn {}", self.number);
                ui.label(Face::Micro.text(words).color(color));
                if self.is_left_out {
                    let label = Face::Micro.text("· left out").color(theme.text_3);
                    ui.label(label)
                        .on_hover_text("The model no longer reads this turn, to make room");
                }
                action = self.versions_ui(ui).or(action);
            });
        });
        (rect, action)
    }

    fn versions_ui(&self, ui: &mut Ui) -> Option<TurnAction> {
        let TurnInput {
            versions, version, ..
        } = *self;
        if versions.len() < 2 {
            return None;
        }
        let theme = Theme::of(ui);
        let words = format!(
            "· seed {}, {} of {}",
            self.seed,
            version + 1,
            versions.len()
        );
        ui.add(
            Label::new(Face::Micro.text(words).color(theme.text_2))
                .wrap_mode(TextWrapMode::Truncate),
        );
        let others = [
            (
                Icon::Left,
                "Show the version before",
                version.checked_sub(1),
            ),
            (Icon::Right, "Show the version after", Some(version + 1)),
        ];
        let mut action = None;
        let buttons = others.map(|(icon, name, other)| {
            let id = other.and_then(|other| versions.get(other));
            let enabled = id.is_some() && self.can_ask;
            let button = ui.add_enabled_ui(enabled, |ui| icon_button(ui, icon, name));
            let button = scrolled_to(button.inner);
            if button.clicked() {
                action = id.map(|id| TurnAction::ShowVersion(*id));
            }
            button
        });
        let [before, after] = &buttons;
        // At the first and the last version, the focus goes to the arrow that leads back.
        if before.clicked() && before.has_focus() && version == 1 {
            after.request_focus();
        } else if after.clicked() && after.has_focus() && version + 2 == versions.len() {
            before.request_focus();
        }
        action
    }

    /// Draws the buttons, which are visible while the pointer is over the head or one has the focus.
    fn buttons_ui(&self, ui: &mut Ui, is_pointed: bool) -> Option<TurnAction> {
        if !self.can_ask {
            return None;
        }
        let id = ui.scope_id().with("turn buttons");
        let had_focus = ui.data(|data| data.get_temp::<bool>(id)).unwrap_or(false);
        let opacity = if is_pointed || had_focus { 1.0 } else { 0.0 };
        let buttons = [
            (
                Icon::Fork,
                "Continue differently from its first token",
                TurnAction::Branch,
            ),
            (Icon::Again, "Answer again (R)", TurnAction::Again),
            (Icon::Edit, "Edit the message", TurnAction::Edit),
        ];
        let (mut has_focus, mut pressed) = (false, None);
        ui.scope(|ui| {
            ui.multiply_opacity(opacity);
            for (icon, name, action) in buttons {
                if action == TurnAction::Branch && self.answer.is_none() {
                    continue;
                }
                let button = scrolled_to(icon_button(ui, icon, name));
                has_focus |= button.has_focus();
                if button.clicked() {
                    pressed = Some(action);
                }
            }
        });
        ui.data_mut(|data| data.insert_temp(id, has_focus));
        pressed
    }
}

/// Scrolls a button into view when it gains the focus.
fn scrolled_to(button: Response) -> Response {
    if button.gained_focus() {
        button.scroll_to_me(None);
    }
    button
}
