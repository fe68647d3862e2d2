//! The notice in the corner: what happened somewhere that is not on the screen.

use egui::{Align, Align2, Area, Frame, Id, Layout, Margin, Order, Sense, Stroke, Ui, vec2};

use super::fonts::Face;
use super::icons::{Icon, icon_button};
use super::theme::Theme;
use super::widgets::Button;
use crate::state::{AppState, Command, Notice, NoticeKind};

/// How long a notice without an action stays.
const SECS: f64 = 6.0;

/// Draws the oldest notice.
pub(super) fn toast_ui(ui: &Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(notice) = state.notices.first() else {
        return;
    };
    Area::new(Id::unique("notice"))
        .order(Order::Foreground)
        .anchor(Align2::RIGHT_BOTTOM, vec2(-24.0, -24.0))
        .show(ui, |ui| {
            let theme = Theme::of(ui);
            Frame::new()
                .fill(theme.popup)
                .stroke(Stroke::new(1.0, theme.stroke_2))
                .corner_radius(10)
                .shadow(ui.visuals().popup_shadow)
                .inner_margin(Margin::same(14))
                .show(ui, |ui| {
                    ui.set_width(368.0);
                    notice_ui(ui, notice, commands);
                });
        });
    if notice.actions.is_empty() && expired(ui, notice) {
        commands.push(Command::CloseNotice);
    }
}

fn notice_ui(ui: &mut Ui, notice: &Notice, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let (icon, color) = match notice.kind {
        NoticeKind::Done => (Icon::Check, theme.success),
        NoticeKind::Error => (Icon::Warning, theme.warning),
    };
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let (rect, _) = ui.allocate_exact_size(vec2(16.0, 20.0), Sense::hover());
        icon.paint(ui.painter(), rect, color);
        ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
            if icon_button(ui, Icon::Close, "Close the notice").clicked() {
                commands.push(Command::CloseNotice);
            }
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                words_ui(ui, notice, commands);
            });
        });
    });
}

fn words_ui(ui: &mut Ui, notice: &Notice, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let title = Face::Medium.text(&notice.title).color(theme.text_1);
    ui.add(egui::Label::new(title).wrap().selectable(true));
    if !notice.body.is_empty() {
        let body = Face::Body.text(&notice.body).color(theme.text_2);
        ui.add(egui::Label::new(body).wrap().selectable(true));
    }
    if notice.actions.is_empty() {
        return;
    }
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        for action in &notice.actions {
            if ui.add(Button::new(action.label)).clicked() {
                commands.push(Command::CloseNotice);
                commands.push(action.command.clone());
            }
        }
    });
}

/// Whether the notice has been on the screen long enough.
fn expired(ui: &Ui, notice: &Notice) -> bool {
    let now = ui.input(|input| input.time);
    let id = Id::unique("notice since");
    let since = ui.data_mut(|data| {
        let shown = data.get_temp_mut_or_insert_with(id, || (notice.title.clone(), now));
        if shown.0 != notice.title {
            *shown = (notice.title.clone(), now);
        }
        shown.1
    });
    let left = since + SECS - now;
    if left > 0.0 {
        ui.request_repaint_after(std::time::Duration::from_secs_f64(left));
        return false;
    }
    ui.data_mut(|data| data.remove::<(String, f64)>(id));
    true
}
