//! A pane's text as tokens that can be hovered and clicked. The text is laid out once; tints, rings
//! and marks are painted under and over it.
//!
//! It knows one generation and the view options. It changes no state and returns the token under
//! the pointer.

mod card;
mod layout;
mod paint;
mod rows;
#[cfg(test)]
mod tests;
mod transcript;
mod what_if_lines;

use egui::emath::Rangef;
use egui::style::ScrollAnimation;
use egui::{
    Color32, EventFilter, Frame, Pos2, Rect, Response, Role, ScrollArea, Sense, Ui, Vec2,
    WidgetInfo, vec2,
};

use self::layout::Layout;
use self::paint::Painting;
use self::transcript::Transcript;
use super::theme::Theme;
use crate::generation::Generation;
use crate::state::{Tint, WhatIfs};

/// The text to show and how to show it. Steps are indices.
#[derive(Debug, Clone, Copy)]
pub struct TokenTextInput<'a> {
    pub generation: &'a Generation,
    /// What the fill behind a token shows.
    pub tint: Tint,
    /// The step pinned in this pane.
    pub pinned: Option<usize>,
    /// The step pinned in another pane, or hovered in a plot.
    pub same_step: Option<usize>,
    /// The first step at which the panes diverge.
    pub fork_step: Option<usize>,
    /// How many steps from the first are dimmed.
    pub n_dimmed: usize,
    /// The first and the last step of a loop, which is underlined.
    pub looping: Option<(usize, usize)>,
    /// What the current settings would have changed.
    pub what_ifs: Option<&'a WhatIfs>,
    /// Whether all whitespace has visible marks.
    pub show_marks: bool,
    /// Whether a token shows its card when it is pointed at.
    pub has_cards: bool,
    /// Whether the text is still being generated.
    pub writing: bool,
    /// The color of the cursor at the end of the text during generation.
    pub pane_color: Color32,
}

/// How the user interacted with the text. Steps are indices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenTextResponse {
    pub hovered: Option<usize>,
    pub clicked: Option<usize>,
    /// The token that was clicked with the secondary button.
    pub secondary_clicked: Option<usize>,
    /// Whether the text has keyboard focus, so that arrow keys move the pin.
    pub focused: bool,
}

/// The token text of one pane, with its layout and scroll state. It adapts when it is given another
/// generation.
#[derive(Debug, Default)]
pub struct TokenView {
    transcript: Transcript,
    layout: Layout,
    pinned: Option<usize>,
    /// Where to scroll in the next frame.
    scroll_target: Option<ScrollTarget>,
    hover: Option<card::Hover>,
    clicked: Option<usize>,
    was_writing: bool,
    /// The height of the visible part in the previous frame, in points.
    viewport_height: f32,
}

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScrollTarget {
    Top,
    Step(usize),
    End,
}

/// The pane's padding around the text.
const SIDE: f32 = 14.0;
const TOP: f32 = 2.0;
const BOTTOM: f32 = 8.0;

/// The maximum line width, in points; wider lines are hard to read.
const MAX_LINE_WIDTH: f32 = 680.0;

impl TokenView {
    /// Shows the text in all available space.
    pub fn ui(&mut self, ui: &mut Ui, input: TokenTextInput<'_>) -> TokenTextResponse {
        if self.transcript.sync(input.generation) {
            self.layout.clear();
        }
        if input.pinned != self.pinned {
            self.pinned = input.pinned;
            let pinned = input.pinned.map(ScrollTarget::Step);
            self.scroll_target = pinned.or(self.scroll_target);
        }
        // The last token may arrive together with the end of the text, so scroll for one more
        // frame. A pinned token stays in view.
        let follows_end = (input.writing || self.was_writing)
            && input.pinned.is_none()
            && self.scroll_target.is_none();
        if input.writing && !self.was_writing {
            // The previous text may have been scrolled elsewhere.
            self.scroll_target = Some(ScrollTarget::End);
        }
        if self.was_writing && !input.writing {
            ui.request_repaint();
        }
        self.was_writing = input.writing;
        // The frame's fill is the color that the ends of the scroll area fade into.
        Frame::new()
            .fill(Theme::of(ui).surface_1)
            .show(ui, |ui| {
                ScrollArea::vertical()
                    .id_salt("token text")
                    .auto_shrink(false)
                    // A pane above an open dock may be only one row high.
                    .min_scrolled_height(0.0)
                    .stick_to_bottom(follows_end)
                    .show_viewport(ui, |ui, viewport| self.text_ui(ui, viewport, input))
                    .inner
            })
            .inner
    }

    /// Scrolls a step into view in the next frame.
    pub const fn scroll_to(&mut self, step: usize) {
        self.scroll_target = Some(ScrollTarget::Step(step));
    }

    /// Scrolls to the top in the next frame.
    pub const fn scroll_to_top(&mut self) {
        self.scroll_target = Some(ScrollTarget::Top);
    }

    fn text_ui(
        &mut self,
        ui: &mut Ui,
        viewport: Rect,
        input: TokenTextInput<'_>,
    ) -> TokenTextResponse {
        // When the pane shrinks, for example because the dock grows, keep the pinned token in view.
        if viewport.height() < self.viewport_height {
            let pinned = input.pinned.map(ScrollTarget::Step);
            self.scroll_target = self.scroll_target.or(pinned);
        }
        self.viewport_height = viewport.height();
        let available = ui.available_width();
        let width = (available - 2.0 * SIDE).clamp(16.0, MAX_LINE_WIDTH).floor();
        self.layout.update(ui, &self.transcript, width);
        let height = (TOP + self.layout.height() + BOTTOM).max(viewport.height());
        let (rect, response) = ui.allocate_exact_size(vec2(available, height), Sense::click());
        let plain = self.transcript.plain();
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, plain));
        claim_arrow_keys(ui, &response);

        let left = ((available - width) / 2.0).max(SIDE).floor();
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
        let chunks = self.layout.visible(ui, &self.transcript, visible);
        painting.paint(&chunks);
        let pointed = card::due(ui, &mut self.hover, hovered);
        // A pin moved by the arrow keys shows the token's card. After a click the dock shows the
        // token, and a card would only hide the text.
        let moved_by_keys = input.pinned != self.clicked;
        let pinned_by_keys = input
            .pinned
            .filter(|_| response.has_focus() && moved_by_keys);
        let shown = pointed.or(pinned_by_keys).filter(|_| input.has_cards);
        if let Some((step, rect)) = shown.zip(painting.token_rect(&chunks, shown)) {
            card::show(ui, &response, rect, input, step);
        }
        if input.writing {
            painting.cursor(self.layout.chunks().last());
        }
        self.scroll_to_target(ui, rect);
        if response.clicked() {
            self.clicked = hovered;
            response.request_focus();
        }
        TokenTextResponse {
            hovered,
            clicked: hovered.filter(|_| response.clicked()),
            secondary_clicked: hovered.filter(|_| response.secondary_clicked()),
            focused: response.has_focus(),
        }
    }

    /// Returns the step whose token is at this point, relative to the text's top left corner.
    fn step_at(&self, at: Vec2) -> Option<usize> {
        self.layout.row_at(at.y)?.span_at(at.x)?.step
    }

    /// Scrolls to the target in a text that covers `rect`.
    fn scroll_to_target(&mut self, ui: &Ui, rect: Rect) {
        let mut animation = ui.style().scroll_animation;
        let y = match self.scroll_target.take() {
            None => return,
            Some(ScrollTarget::Top) => Rangef::point(rect.top()),
            Some(ScrollTarget::End) => {
                // An animation would lag behind the end of a growing text.
                animation = ScrollAnimation::none();
                Rangef::point(rect.bottom())
            }
            Some(ScrollTarget::Step(step)) => {
                let byte = self.transcript.step_start(step);
                let Some(row) = byte.and_then(|byte| self.layout.row_of(byte)) else {
                    return;
                };
                let top = rect.top() + TOP;
                Rangef::new(top + row.min, top + row.max).expand(24.0)
            }
        };
        let target = Rect::from_x_y_ranges(Rangef::point(rect.left()), y);
        ui.scroll_to_rect_animation(target, None, animation);
    }
}

/// Paints a whole text from this top left corner, in lines of this width. Returns its height.
pub(super) fn paint_whole(ui: &Ui, corner: Pos2, width: f32, input: TokenTextInput<'_>) -> f32 {
    let (mut transcript, mut layout) = (Transcript::default(), Layout::default());
    transcript.sync(input.generation);
    layout.update(ui, &transcript, width);
    let painting = Painting {
        input,
        hovered: None,
        origin: corner,
        painter: ui.painter(),
        theme: Theme::of(ui),
    };
    painting.paint(&layout.visible(ui, &transcript, Rangef::EVERYTHING));
    layout.height()
}

/// Makes arrow keys move the pin rather than the focus while the text has it.
fn claim_arrow_keys(ui: &Ui, response: &Response) {
    if response.has_focus() {
        let filter = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    }
}
