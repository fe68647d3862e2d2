//! The remarks on a pane's settings: one at a time with what would settle it, and a quiet sign that
//! there are some.

use egui::{Align, Layout, Rect, Role, Sense, Ui, Vec2, WidgetInfo};

use super::fonts::Face;
use super::icons::{Icon, icon_button};
use super::theme::Theme;
use super::widgets::{Button, notice_frame};
use crate::analysis::Lint;
use crate::state::{Command, Pane};

const ICON: f32 = 14.0;

/// So many rows are kept for a sentence where there are several, so that the buttons stay in place.
const N_ROWS: f32 = 2.0;

/// Shows the most important remark on a pane's settings, or the one that was stepped to.
pub(super) fn lint_notice_ui(ui: &mut Ui, pane: &Pane, commands: &mut Vec<Command>) {
    let lints = pane.lints();
    if lints.is_empty() {
        return;
    }
    let id = ui.scope_id().with(("remark", pane.id));
    let shown: usize = ui.data(|data| data.get_temp(id)).unwrap_or(0);
    let mut shown = shown.min(lints.len() - 1);
    let Some(lint) = lints.get(shown) else {
        return;
    };
    ui.add_space(6.0);
    let theme = Theme::of(ui);
    notice_frame(ui, theme.surface_2, (Icon::Info, theme.text_2), |ui| {
        let words = Face::Small.text(&lint.message).color(theme.text_1);
        let n_rows = if lints.len() > 1 { N_ROWS } else { 1.0 };
        ui.scope(|ui| {
            ui.set_min_height(n_rows * Face::Small.row());
            ui.label(words);
        });
        actions_ui(ui, pane, lint, (&mut shown, lints.len()), commands);
    });
    ui.data_mut(|data| data.insert_temp(id, shown));
}

/// The button that settles a remark, and those that step through all of them.
fn actions_ui(
    ui: &mut Ui,
    pane: &Pane,
    lint: &Lint,
    (shown, n_lints): (&mut usize, usize),
    commands: &mut Vec<Command>,
) {
    if lint.remedy.is_none() && n_lints < 2 {
        return;
    }
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        if let Some(remedy) = &lint.remedy
            && ui.add(Button::new(remedy.label()).raised()).clicked()
        {
            let chain = remedy.apply(&pane.settings.chain);
            commands.push(Command::SetChain(pane.id, chain));
        }
        if n_lints > 1 {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                if icon_button(ui, Icon::Right, "Next remark").clicked() {
                    *shown = (*shown + 1) % n_lints;
                }
                let words = format!("{} of {n_lints}", *shown + 1);
                let words = Face::Small.text(words);
                ui.label(words.color(Theme::of(ui).text_3));
                if icon_button(ui, Icon::Left, "Remark before").clicked() {
                    *shown = (*shown + n_lints - 1) % n_lints;
                }
            });
        }
    });
}

/// A sign that there are remarks on a pane's settings; pointing at it shows the first.
pub(super) fn lint_sign_ui(ui: &mut Ui, pane: &Pane) {
    let Some(lint) = pane.lints().first() else {
        return;
    };
    let words = match pane.lints().len() - 1 {
        0 => lint.message.clone(),
        1 => format!(
            "{}\nOne more remark stands in the editor of these settings.",
            lint.message
        ),
        n => format!(
            "{}\n{n} more stand in the editor of these settings.",
            lint.message
        ),
    };
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(24.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &words));
    let square = Rect::from_center_size(rect.center(), Vec2::splat(ICON));
    Icon::Info.paint(ui.painter(), square, Theme::of(ui).text_2);
    response.on_hover_text(words);
}
