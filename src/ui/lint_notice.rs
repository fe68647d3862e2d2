//! The lints of a pane's settings: shown one at a time with a fix, and as an icon in the pane's
//! footer.

use egui::{Align, Layout, Rect, Role, Sense, Ui, Vec2, WidgetInfo};

use crate::analysis::Lint;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, notice_frame};
use crate::state::{Command, Pane};

const ICON: f32 = 14.0;

/// The rows reserved for a message if there are several lints, so that the buttons don't move.
const N_ROWS: f32 = 2.0;

/// Shows the most important lint of a pane's settings, or the one that the user stepped to.
pub(super) fn lint_notice_ui(ui: &mut Ui, pane: &Pane, commands: &mut Vec<Command>) {
    let lints = pane.lints();
    if lints.is_empty() {
        return;
    }
    let id = ui.scope_id().with(("lint", pane.id));
    let shown: usize = ui.data(|data| data.get_temp(id)).unwrap_or(0);
    let mut pager = Pager {
        shown: shown.min(lints.len() - 1),
        n_lints: lints.len(),
    };
    let Some(lint) = lints.get(pager.shown) else {
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
        fix_ui(ui, pane, lint, &mut pager, commands);
    });
    ui.data_mut(|data| data.insert_temp(id, pager.shown));
}

/// Which of a pane's lints is shown.
struct Pager {
    shown: usize,
    n_lints: usize,
}

/// Draws the button that applies the lint's fix, and the buttons that step through all lints.
fn fix_ui(ui: &mut Ui, pane: &Pane, lint: &Lint, pager: &mut Pager, commands: &mut Vec<Command>) {
    if lint.remedy.is_none() && pager.n_lints < 2 {
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
        if pager.n_lints > 1 {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                pager_ui(ui, pager);
            });
        }
    });
}

fn pager_ui(ui: &mut Ui, Pager { shown, n_lints }: &mut Pager) {
    ui.spacing_mut().item_spacing.x = 4.0;
    if icon_button(ui, Icon::Right, "Next hint").clicked() {
        *shown = (*shown + 1) % *n_lints;
    }
    let position = format!("{} of {n_lints}", *shown + 1);
    let position = Face::Small.text(position);
    ui.label(position.color(Theme::of(ui).text_3));
    if icon_button(ui, Icon::Left, "Previous hint").clicked() {
        *shown = (*shown + *n_lints - 1) % *n_lints;
    }
}

/// Draws an icon if a pane's settings have lints. Its tooltip shows the first one.
pub(super) fn lint_sign_ui(ui: &mut Ui, pane: &Pane) {
    let Some(lint) = pane.lints().first() else {
        return;
    };
    let message = &lint.message;
    let words = match pane.lints().len() - 1 {
        0 => message.clone(),
        1 => format!("{message}\n1 more hint in the settings editor"),
        n => format!("{message}\n{n} more hints in the settings editor"),
    };
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(24.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &words));
    let square = Rect::from_center_size(rect.center(), Vec2::splat(ICON));
    Icon::Info.paint(ui.painter(), square, Theme::of(ui).text_2);
    response.on_hover_text(words);
}
