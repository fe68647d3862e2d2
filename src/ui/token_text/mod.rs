//! A pane's text as tokens that can be pointed at: tints, rings and marks over text that is laid
//! out once.
//!
//! It knows one generation and how it is looked at; it changes nothing, and answers with the token
//! under the pointer.

mod card;
mod layout;
mod paint;
mod rows;
mod script;
#[cfg(test)]
mod tests;
mod what_if_lines;

use egui::emath::Rangef;
use egui::{
    Color32, EventFilter, Frame, Rect, Response, Role, ScrollArea, Sense, Ui, Vec2, WidgetInfo,
    vec2,
};

use self::layout::Layout;
use self::paint::Painting;
use self::script::Script;
use super::theme::Theme;
use crate::generation::Generation;
use crate::state::{Tint, WhatIfs};

/// What is shown, and how it is looked at. Steps are counted from 0.
#[derive(Debug, Clone, Copy)]
pub struct TokenTextInput<'a> {
    /// What was written.
    pub generation: &'a Generation,
    /// What the fill behind a token tells.
    pub tint: Tint,
    /// The step that is pinned in this pane.
    pub pinned: Option<usize>,
    /// The step that is pinned in another pane, or pointed at in a plot.
    pub same_step: Option<usize>,
    /// The first step at which the panes part.
    pub fork_step: Option<usize>,
    /// What other settings would have changed.
    pub what_ifs: Option<&'a WhatIfs>,
    /// Whether white space is marked.
    pub show_marks: bool,
    /// Whether more is to come.
    pub writing: bool,
    /// The pane's color, for the block at the end while it writes.
    pub pane_color: Color32,
}

/// What the user did. Steps are counted from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenTextResponse {
    /// The step under the pointer.
    pub hovered: Option<usize>,
    /// The step that was clicked.
    pub clicked: Option<usize>,
    /// Whether the text has the keyboard, so that the arrows are for its tokens.
    pub focused: bool,
}

/// The token text of one pane. Keep one for each pane; it follows whatever generation it is given.
#[derive(Debug, Default)]
pub struct TokenView {
    script: Script,
    layout: Layout,
    pinned: Option<usize>,
    goal: Option<usize>,
    hover: Option<card::Hover>,
    clicked: Option<usize>,
    was_writing: bool,
    /// How much of the text showed in the frame before, in points.
    shown: f32,
}

/// Around the text: the pane's padding.
const SIDE: f32 = 14.0;
const TOP: f32 = 2.0;
const BOTTOM: f32 = 8.0;

/// Wider lines are hard to read.
const MAX_MEASURE: f32 = 680.0;

impl TokenView {
    /// Shows the text in all the room there is.
    pub fn ui(&mut self, ui: &mut Ui, input: TokenTextInput<'_>) -> TokenTextResponse {
        if self.script.follow(input.generation) {
            self.layout.clear();
        }
        if input.pinned != self.pinned {
            self.pinned = input.pinned;
            self.goal = input.pinned.or(self.goal);
        }
        // The last token comes with the news that the text has ended, and is followed like the others.
        // What is pinned stays in sight.
        let follows_end = (input.writing || self.was_writing) && input.pinned.is_none();
        if self.was_writing && !input.writing {
            ui.request_repaint();
        }
        self.was_writing = input.writing;
        // The frame tells the scroll area what color its ends fade into.
        Frame::new()
            .fill(Theme::of(ui).surface_1)
            .show(ui, |ui| {
                ScrollArea::vertical()
                    .id_salt("token text")
                    .auto_shrink(false)
                    // A pane beside an open dock may have room for one row.
                    .min_scrolled_height(0.0)
                    .stick_to_bottom(follows_end)
                    .show_viewport(ui, |ui, viewport| self.text_ui(ui, viewport, input))
                    .inner
            })
            .inner
    }

    /// Brings a step into view with the next frame.
    pub const fn scroll_to(&mut self, step: usize) {
        self.goal = Some(step);
    }

    fn text_ui(
        &mut self,
        ui: &mut Ui,
        viewport: Rect,
        input: TokenTextInput<'_>,
    ) -> TokenTextResponse {
        // Where a pane becomes lower, as when the dock grows, what is pinned stays in sight.
        if viewport.height() < self.shown {
            self.goal = self.goal.or(input.pinned);
        }
        self.shown = viewport.height();
        let room = ui.available_width();
        let width = (room - 2.0 * SIDE).clamp(16.0, MAX_MEASURE).floor();
        self.layout.update(ui, &self.script, width);
        let height = (TOP + self.layout.height() + BOTTOM).max(viewport.height());
        let (rect, response) = ui.allocate_exact_size(vec2(room, height), Sense::click());
        let plain = self.script.plain();
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, plain));
        hold_arrows(ui, &response);

        let left = ((room - width) / 2.0).max(SIDE).floor();
        let origin = rect.min + vec2(left, TOP);
        let hovered = response
            .hover_pos()
            .and_then(|pointer| self.step_at(pointer - origin));
        let visible = Rangef::new(viewport.min.y - TOP, viewport.max.y - TOP);
        let painting = Painting {
            input,
            hovered,
            origin,
            painter: ui.painter(),
            theme: Theme::of(ui),
        };
        let chunks = self.layout.visible(ui, &self.script, visible);
        painting.paint(&chunks);
        let pointed = card::due(ui, &mut self.hover, hovered);
        // Whoever clicked sees the token in the dock, and wants to read on; arrow keys show the card.
        let moved_by_keys = input.pinned != self.clicked;
        let kept = input
            .pinned
            .filter(|_| response.has_focus() && moved_by_keys);
        let shown = pointed.or(kept);
        if let Some((step, place)) = shown.zip(painting.place_of(&chunks, shown)) {
            card::show(ui, &response, place, input, step);
        }
        if input.writing {
            painting.cursor(self.layout.chunks().last());
        }
        self.scroll_to_goal(ui, origin);
        if response.clicked() {
            self.clicked = hovered;
            response.request_focus();
        }
        TokenTextResponse {
            hovered,
            clicked: hovered.filter(|_| response.clicked()),
            focused: response.has_focus(),
        }
    }

    /// The step whose token stands here, in points from the text's corner.
    fn step_at(&self, at: Vec2) -> Option<usize> {
        self.layout.row_at(at.y)?.span_at(at.x)?.step
    }

    fn scroll_to_goal(&mut self, ui: &Ui, origin: egui::Pos2) {
        let goal = self.goal.take();
        let row = goal
            .and_then(|step| self.script.step_start(step))
            .and_then(|byte| self.layout.row_of(byte));
        if let Some(row) = row {
            let y = Rangef::new(origin.y + row.min, origin.y + row.max).expand(24.0);
            let rect = Rect::from_x_y_ranges(Rangef::point(origin.x), y);
            ui.scroll_to_rect(rect, None);
        }
    }
}

/// The arrow keys move the pin, and not the focus, while the text has it.
fn hold_arrows(ui: &Ui, response: &Response) {
    if response.has_focus() {
        let filter = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    }
}
