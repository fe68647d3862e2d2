//! The toasts in the corner, which show the newest notice and the newest error.

use egui::{Align, Align2, Area, Frame, Id, Layout, Margin, Order, Sense, Stroke, Ui, vec2};

use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::state::{AppState, Command, Notice, NoticeKind};

/// How long a notice without an action stays, in seconds.
const SECS: f64 = 6.0;

/// The distance of a notice from the dock, which keeps the buttons in the panes' footers in reach.
const ABOVE_DOCK: f32 = 44.0;

/// Draws the newest notice above `bottom`, where it covers no plot, and above it the newest error,
/// so that nothing hides it.
pub(super) fn toast_ui(ui: &Ui, bottom: f32, state: &AppState, commands: &mut Vec<Command>) {
    let visible = visible(&state.notices);
    // If the same notice appears again, its time starts over.
    let is_visible = |shown: &Shown| visible.iter().any(|(_, notice)| **notice == shown.notice);
    ui.data_mut(|data| {
        let shown = data.get_temp_mut_or_default::<Vec<Shown>>(shown_id());
        shown.retain(is_visible);
    });
    if visible.is_empty() {
        return;
    }
    let below = ui.content_rect().bottom() - bottom;
    Area::new(Id::unique("notice"))
        .order(Order::Foreground)
        .anchor(Align2::RIGHT_BOTTOM, vec2(-24.0, -ABOVE_DOCK - below))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            for (place, notice) in visible.iter().rev() {
                toast(ui, *place, notice, commands);
            }
        });
    // Only one at a time: closing one moves the others up.
    let mut all = visible.iter();
    let expired = all.find(|(_, notice)| !must_be_closed(notice) && expired(ui, notice));
    commands.extend(expired.map(|(place, _)| Command::CloseNotice(*place)));
}

/// Returns the notices to show, with their places: the newest one and the newest error.
fn visible(notices: &[Notice]) -> Vec<(usize, &Notice)> {
    let is_error = |(_, notice): &(usize, &Notice)| notice.kind == NoticeKind::Error;
    let all = || notices.iter().enumerate();
    let newest = all().next().filter(|newest| !is_error(newest));
    newest.into_iter().chain(all().find(is_error)).collect()
}

fn toast(ui: &mut Ui, place: usize, notice: &Notice, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    Frame::new()
        .fill(theme.popup)
        .stroke(Stroke::new(1.0, theme.stroke_2))
        .corner_radius(10)
        .shadow(ui.visuals().popup_shadow)
        .inner_margin(Margin::same(14))
        .show(ui, |ui| {
            ui.set_width(368.0);
            notice_ui(ui, place, notice, commands);
        });
}

/// Returns whether a notice stays until it is closed, because it holds an action that is offered
/// nowhere else. A saved file can also be found without the notice.
fn must_be_closed(notice: &Notice) -> bool {
    let mut actions = notice.actions.iter();
    actions.any(|action| !matches!(action.command, Command::ShowInFolder(_)))
}

fn notice_ui(ui: &mut Ui, place: usize, notice: &Notice, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let (icon, color) = match notice.kind {
        NoticeKind::Done => (Icon::Check, theme.success),
        NoticeKind::Hint => (Icon::Info, theme.text_2),
        NoticeKind::Error => (Icon::Warning, theme.warning),
    };
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        // As tall as the close button, so that the first line is centered beside it.
        let (rect, _) = ui.allocate_exact_size(vec2(16.0, 24.0), Sense::hover());
        icon.paint(ui.painter(), rect, color);
        ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
            if icon_button(ui, Icon::Close, "Close the notice").clicked() {
                commands.push(Command::CloseNotice(place));
            }
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                ui.add_space((24.0 - Face::Medium.row()) / 2.0);
                words_ui(ui, place, notice, commands);
            });
        });
    });
}

fn words_ui(ui: &mut Ui, place: usize, notice: &Notice, commands: &mut Vec<Command>) {
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
                commands.push(Command::CloseNotice(place));
                // Closing twice would also close the notice behind this one.
                if !matches!(action.command, Command::CloseNotice(_)) {
                    commands.push(action.command.clone());
                }
            }
        }
    });
}

/// A notice on screen, and the egui time in seconds at which it appeared.
#[derive(Debug, Clone)]
struct Shown {
    notice: Notice,
    since: f64,
}

fn shown_id() -> Id {
    Id::unique("notice since")
}

/// Returns whether the notice has been on screen long enough.
fn expired(ui: &Ui, notice: &Notice) -> bool {
    let now = ui.input(|input| input.time);
    let since = ui.data_mut(|data| {
        let shown = data.get_temp_mut_or_default::<Vec<Shown>>(shown_id());
        if let Some(shown) = shown.iter().find(|shown| shown.notice == *notice) {
            return shown.since;
        }
        let notice = notice.clone();
        shown.push(Shown { notice, since: now });
        now
    });
    let left = since + SECS - now;
    if left > 0.0 {
        ui.request_repaint_after(std::time::Duration::from_secs_f64(left));
    }
    left <= 0.0
}

#[cfg(test)]
mod tests {
    use egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::ready;
    use crate::state::{Command, Document, Notice, PresetsDocument};
    use crate::ui::testing::{Window, press, window_of};

    fn window_with(notices: Vec<Notice>) -> Window {
        let mut state = ready();
        *state.notices = notices;
        window_of(vec2(1280.0, 800.0), state)
    }

    #[test]
    fn closing_a_notice_leaves_the_next_one() {
        let first = Notice::done("First").with_action("Close", Command::CloseNotice(0));
        let mut window = window_with(vec![first, Notice::done("Second")]);
        window.run_steps(2);
        press(&mut window, "Close");
        window.get_by_label("Second");
    }

    #[test]
    fn an_error_stays_visible_behind_a_newer_notice() {
        let error = Notice::error("The disk is full", "nothing is saved");
        let mut window = window_with(vec![Notice::done("Saved"), Notice::hint("Look"), error]);
        window.run_steps(2);
        window.get_by_label("Saved");
        window.get_by_label("The disk is full");
        assert!(window.query_by_label("Look").is_none());
        window.run_steps(200);
        assert!(window.query_by_label("Saved").is_none());
        assert!(window.query_by_label("The disk is full").is_none());
        window.get_by_label("Look");
    }

    #[test]
    fn a_saved_file_can_be_shown_until_its_notice_disappears() {
        let path = std::path::PathBuf::from("/tmp/run.json");
        let mut window = window_with(Vec::new());
        let saved = Command::Saved {
            document: Document::new(PresetsDocument),
            path: path.clone(),
        };
        window.state_mut().apply(saved);
        window.run_steps(2);
        window.get_by_label("Show in folder");
        window.run_steps(200);
        assert!(window.query_by_label("Show in folder").is_none());
        let effects = window
            .state_mut()
            .apply(Command::ShowInFolder(path.clone()));
        assert_eq!(effects, [crate::state::Effect::ShowInFolder(path.clone())]);
        let error = Some("not found".to_owned());
        window
            .state_mut()
            .apply(Command::FolderShown { path, error });
        window.run_steps(2);
        window.get_by_label("No file manager could be opened");
    }

    #[test]
    fn a_repeated_notice_is_shown_for_the_full_time() {
        let mut window = window_with(vec![Notice::done("Saved")]);
        window.run_steps(2);
        press(&mut window, "Close the notice");
        assert!(window.query_by_label("Saved").is_none());
        window.run_steps(200);
        window.state_mut().notices.push(Notice::done("Saved"));
        window.run_steps(20);
        window.get_by_label("Saved");
        window.run_steps(200);
        assert!(window.query_by_label("Saved").is_none());
    }
}
