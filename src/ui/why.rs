//! The why card: why the shown token was chosen, in words, beside the X-ray.

use egui::{
    Align, Color32, Label, Layout, Rect, Response, Role, ScrollArea, Stroke, Ui, WidgetInfo, pos2,
    vec2,
};

use super::step_draws::step_draws_ui;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::state::{AppState, BranchCommand, Command, Pin};

/// The minimum width of the body for the card to fit, in points.
const MIN_BODY: f32 = 800.0;

/// The room for the scroll bar beside the text, in points.
const SCROLL_BAR: f32 = 10.0;

/// Splits the body of the dock into the part for the table and the card, if both fit.
pub(super) fn split(body: Rect) -> (Rect, Option<Rect>) {
    if body.width() < MIN_BODY {
        return (body, None);
    }
    let width = match body.width() {
        1560.0.. => 400.0,
        900.0.. => 318.0,
        _ => 272.0,
    };
    let (left, right) = body.split_left_right_at_x(body.right() - width);
    (left, Some(right))
}

/// Draws the card, or nothing if no token is shown.
pub(super) fn why_ui(ui: &mut Ui, rect: Rect, state: &AppState, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter()
        .vline(rect.left(), rect.shrink(1.0).y_range(), edge);
    let inside = Rect::from_min_max(
        pos2(rect.left() + 14.0, rect.top() + 6.0),
        pos2(rect.right() - 4.0, rect.bottom() - 8.0),
    );
    let mut ui = child_ui(ui, inside, "why");
    ui.spacing_mut().item_spacing = vec2(8.0, 6.0);
    let width = inside.width() - SCROLL_BAR;
    let Some((why, change)) = state.why() else {
        let hint = "Click a token to see why it was chosen";
        let text = Face::Small.text(hint).color(theme.text_3);
        ui.add_space(4.0);
        ui.add(Label::new(text).wrap());
        return;
    };
    ui.allocate_ui(vec2(width, 24.0), |ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icon_button(ui, Icon::Copy, "Copy the explanation").clicked() {
                commands.push(Command::CopyWhy);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let title = Face::SmallMedium.text(&why.title).color(theme.text_1);
                ui.add(Label::new(title).truncate());
            });
        });
    });
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut ui, |ui| {
            ui.set_max_width(width);
            step_draws_ui(ui, state);
            let story = text_ui(ui, Face::Why, &why.story, theme.text_1);
            if !why.margin.is_empty() {
                story.on_hover_text(&why.margin);
            }
            change_ui(ui, &change);
            if !why.others.is_empty() {
                text_ui(ui, Face::Small, &why.others, theme.text_2);
            }
            continue_ui(ui, state, commands);
        });
}

/// Draws a text in which a number and its percent sign stay on one line.
fn text_ui(ui: &mut Ui, face: Face, words: &str, color: Color32) -> Response {
    let unbroken = words.replace(" %", "\u{a0}%");
    let label = ui.add(Label::new(face.text(unbroken).color(color)).wrap());
    label.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
    label
}

/// Draws the button that opens the popup to continue from the shown token.
fn continue_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some((place, step)) = state.shown_step() else {
        return;
    };
    let from = state.panes.get(place).map(|pane| Pin {
        pane: pane.id,
        step,
    });
    let Some(from) = from.filter(|from| state.can_branch(*from)) else {
        return;
    };
    let button = Button::new("Continue from here…").hint("C");
    if ui.add(button).clicked() {
        commands.push(Command::Branch(BranchCommand::Open(Some(from))));
    }
}

/// Draws the sentence about the smallest change beside its icon.
fn change_ui(ui: &mut Ui, change: &str) {
    let theme = Theme::of(ui);
    ui.horizontal_top(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(14.0, 16.0), egui::Sense::hover());
        let square = Rect::from_center_size(rect.center(), vec2(14.0, 14.0));
        Icon::Fork.paint(ui.painter(), square, theme.text_2);
        text_ui(ui, Face::Small, change, theme.text_1);
    });
}

#[cfg(test)]
mod tests {
    use egui::vec2;

    use crate::state::tests::written;
    use crate::state::{DockTab, Pin};
    use crate::ui::testing::{press, window_of};

    #[test]
    fn the_card_continues_from_the_shown_token() {
        let mut state = written();
        state.view.dock_tab = DockTab::Xray;
        let pane = state.panes[1].id;
        let pin = Pin { pane, step: 1 };
        state.pin = Some(pin);
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(3);
        press(&mut window, "Continue from here…");
        assert_eq!(window.state().branches.dialog.as_ref().unwrap().from, pin);
    }
}
