//! A dialog with a title, a close button, a row of tabs and a body that scrolls.

use egui::{Align, Id, Layout, Modal, ScrollArea, Sense, Ui, Vec2, vec2};

use super::dock::tab_ui;
use super::layout::TABS;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;

/// The dialog's inner margin in points.
const MARGIN: f32 = 22.0;

/// The padding on each side of a tab's label, in points.
const TAB_PADDING: f32 = 10.0;

/// The width reserved for the scroll bar, in points.
const SCROLL_BAR: f32 = 14.0;

/// The title, the size in points if the window is large enough, and the tabs.
pub(super) struct TabbedDialog<'a> {
    pub title: &'a str,
    pub size: Vec2,
    pub tabs: &'a [&'static str],
    /// The index of the open tab.
    pub selected: usize,
    /// Whether the dialog scrolls the body; otherwise, the body scrolls itself.
    pub scrolls: bool,
}

/// How the user interacted with the dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TabbedDialogResponse {
    /// The index of the tab to show in the next frame.
    pub selected: usize,
    pub closed: bool,
}

impl TabbedDialog<'_> {
    /// Shows the dialog.
    pub(super) fn show(self, ui: &Ui, body: impl FnOnce(&mut Ui)) -> TabbedDialogResponse {
        let mut response = TabbedDialogResponse {
            selected: self.selected,
            closed: false,
        };
        let theme = Theme::of(ui);
        let available = ui.content_rect().size() - vec2(24.0, 24.0);
        let size = self.size.min(available) - vec2(2.0 * MARGIN, 2.0 * MARGIN);
        let frame = egui::Frame::window(ui.style()).inner_margin(MARGIN);
        let modal = Modal::new(Id::unique(self.title))
            .frame(frame)
            .backdrop_color(theme.backdrop);
        let shown = modal.show(ui, |ui| {
            ui.set_width(size.x);
            ui.set_height(size.y);
            self.head_ui(ui, &mut response);
            self.tabs_ui(ui, &mut response);
            let mut rect = ui.max_rect().with_min_y(ui.cursor().top());
            rect.max.x += SCROLL_BAR;
            let mut inside = child_ui(ui, rect, "body");
            if !self.scrolls {
                return body(&mut inside);
            }
            ScrollArea::vertical()
                .id_salt(self.selected)
                .auto_shrink(false)
                .show(&mut inside, |ui| {
                    ui.set_max_width(ui.available_width() - SCROLL_BAR);
                    ui.add_space(10.0);
                    body(ui);
                });
        });
        response.closed |= shown.should_close();
        response
    }

    fn head_ui(&self, ui: &mut Ui, response: &mut TabbedDialogResponse) {
        ui.horizontal(|ui| {
            ui.set_min_height(28.0);
            ui.label(Face::Title.text(self.title).color(Theme::of(ui).text_1));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                response.closed = icon_button(ui, Icon::Close, "Close").clicked();
            });
        });
    }

    fn tabs_ui(&self, ui: &mut Ui, response: &mut TabbedDialogResponse) {
        let size = vec2(ui.available_width(), TABS);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        // Align the first tab's label, rather than its padding, with the title.
        let mut row = child_ui(ui, rect.translate(vec2(-TAB_PADDING, 0.0)), "tabs");
        row.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for (index, tab) in self.tabs.iter().enumerate() {
                if tab_ui(ui, tab, index == self.selected) {
                    response.selected = index;
                }
            }
        });
        let stroke = (1.0, Theme::of(ui).stroke_1);
        ui.painter().hline(rect.x_range(), rect.bottom(), stroke);
    }
}
