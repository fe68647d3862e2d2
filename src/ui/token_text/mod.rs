//! A pane's text as tokens that can be hovered and clicked. The text is laid out once; tints, rings
//! and marks are painted under and over it.
//!
//! It knows one generation and the view options. It changes no state and returns the token under
//! the pointer.

mod card;
#[cfg(test)]
mod direction_tests;
mod edit;
#[cfg(test)]
mod edit_tests;
#[cfg(test)]
mod end_tests;
mod focus;
mod input;
mod jobs;
mod layout;
mod message;
mod paint;
mod pane_text;
#[cfg(test)]
mod press_tests;
mod rows;
mod slot;
#[cfg(test)]
mod tests;
mod thought;
#[cfg(test)]
mod thought_tests;
mod transcript;
mod turn_head;
mod turns;
mod typed_text;
mod visual_order;
mod what_if_lines;
mod word_breaks;
mod word_glyphs;

pub use card::CardChoice;
pub use edit::EditEnd;
pub use input::{KindMarks, TextEnd, TokenTextInput, TokenTextResponse};
pub use pane_text::PaneText;
pub use turns::{TurnAction, TurnInput};
pub(in crate::ui) use visual_order::{continues_right_to_left_word, is_right_to_left};

use egui::emath::Rangef;
use egui::style::ScrollAnimation;
use egui::{
    Align, Frame, PointerButton, Pos2, Rect, Role, ScrollArea, Sense, Ui, Vec2, WidgetInfo, vec2,
};

use self::edit::FieldFrame;
use self::focus::{claim_arrow_keys, is_entered};
use self::layout::Layout;
use self::paint::Painting;
use self::slot::slot_ui;
use self::transcript::{ShownThought, Transcript};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::state::InPlaceEdit;

/// What is at the top of the visible part of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TextTop {
    /// The first step of the row at the top; `None` in the prompt.
    step: Option<usize>,
    /// How far that row, or the whole text, is scrolled out of view, in points.
    offset: f32,
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
    /// The card, if it is shown.
    card: Option<card::OpenCard>,
    clicked: Option<usize>,
    was_writing: bool,
    /// The height of the visible part in the previous frame, in points.
    viewport_height: f32,
    /// How far the text was scrolled in the previous frame, in points.
    viewport_top: f32,
    /// For how many more frames the text moves because it follows another one.
    n_following: u8,
    /// Whether the user unfolded the text's thought.
    is_unfolded: bool,
    /// Whether the text takes the keyboard focus in this frame.
    takes_focus: bool,
}

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ScrollTarget {
    Top,
    Step(usize),
    End,
    /// This is at the top.
    Along(TextTop),
}

/// How much of a scroll area a text takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// At least all that is visible.
    Viewport,
    /// As much as it needs.
    Text,
}

impl Extent {
    /// Returns the height of a text that needs this much.
    fn height(self, needed: f32, viewport: Rect) -> f32 {
        match self {
            Self::Viewport => needed.max(viewport.height()),
            Self::Text => needed,
        }
    }
}

/// The pane's padding around the text.
const SIDE: f32 = 14.0;
const TOP: f32 = 2.0;
const BOTTOM: f32 = 8.0;

/// How many frames a scroll area takes to move.
const N_FOLLOWING: u8 = 3;

/// The maximum line width, in points; wider lines are hard to read.
const MAX_LINE_WIDTH: f32 = 680.0;

/// Returns the height of a text of this many lines, with the padding around it.
pub(super) fn text_height(n_lines: u8) -> f32 {
    TOP + f32::from(n_lines) * Face::Read.row() + BOTTOM
}

/// Returns where lines begin and end in a pane of this width.
pub(super) fn line_span(pane_width: f32) -> Rangef {
    let width = (pane_width - 2.0 * SIDE)
        .clamp(16.0, MAX_LINE_WIDTH)
        .floor();
    let left = ((pane_width - width) / 2.0).max(SIDE).floor();
    Rangef::new(left, left + width)
}

/// Returns the area in which texts scroll.
fn scroll_area(follows_end: bool) -> ScrollArea {
    ScrollArea::vertical()
        .id_salt("token text")
        .auto_shrink(false)
        // A pane above an open dock may be only one row high.
        .min_scrolled_height(0.0)
        .stick_to_bottom(follows_end)
}

impl TokenView {
    /// Creates a view that shows the text without its prompt.
    pub(super) fn without_prompt() -> Self {
        Self {
            transcript: Transcript::without_prompt(),
            ..Self::default()
        }
    }

    /// Shows the text in all available space.
    pub fn ui(&mut self, ui: &mut Ui, input: TokenTextInput<'_>) -> TokenTextResponse {
        self.editable_ui(ui, input, None)
    }

    /// Shows the text, which may be edited in place.
    pub fn editable_ui(
        &mut self,
        ui: &mut Ui,
        input: TokenTextInput<'_>,
        edit: Option<&mut InPlaceEdit>,
    ) -> TokenTextResponse {
        let follows_end = self.sync(ui, input);
        // The frame's fill is the color that the ends of the scroll area fade into.
        Frame::new()
            .fill(Theme::of(ui).surface_1)
            .show(ui, |ui| {
                scroll_area(follows_end)
                    .show_viewport(ui, |ui, viewport| {
                        self.text_ui(ui, viewport, (input, Extent::Viewport), edit)
                    })
                    .inner
            })
            .inner
    }

    /// Shows the text without its prompt, as tall as it is, in a scroll area that shows other things
    /// too. `viewport` is the part of the area that is visible, relative to the text's top. Call
    /// [`Self::sync`] first.
    pub(super) fn block_ui(
        &mut self,
        ui: &mut Ui,
        viewport: Rect,
        input: TokenTextInput<'_>,
        edit: Option<&mut InPlaceEdit>,
    ) -> TokenTextResponse {
        self.text_ui(ui, viewport, (input, Extent::Text), edit)
    }

    /// Follows the text. Returns whether the end stays in view.
    pub(super) fn sync(&mut self, ui: &Ui, input: TokenTextInput<'_>) -> bool {
        let n_known = self.transcript.n_steps();
        let shown = self.shown_thought(input.pinned);
        let restarted = self.transcript.sync(input.generation, shown);
        if restarted {
            self.layout.clear();
        }
        let has_grown = !restarted && self.transcript.n_steps() > n_known;
        if input.pinned != self.pinned {
            self.pinned = input.pinned;
            let pinned = input.pinned.map(ScrollTarget::Step);
            self.scroll_target = pinned.or(self.scroll_target);
        }
        // The last token may arrive together with the end of the text, so scroll for one more
        // frame. A pinned token stays in view.
        let writing = input.end == TextEnd::Writing;
        let follows_end =
            (writing || self.was_writing) && input.pinned.is_none() && self.scroll_target.is_none();
        if writing && !self.was_writing {
            // The previous text may have been scrolled elsewhere.
            self.scroll_target = Some(ScrollTarget::End);
        }
        let is_paused = matches!(input.end, TextEnd::Paused | TextEnd::Slot);
        if has_grown && is_paused && !self.was_writing && input.pinned.is_none() {
            // A single step may begin and end within a frame.
            self.scroll_target = Some(ScrollTarget::End);
        }
        if self.was_writing && !writing {
            ui.request_repaint();
        }
        self.was_writing = writing;
        follows_end
    }

    /// Scrolls a step into view in the next frame.
    pub const fn scroll_to(&mut self, step: usize) {
        self.scroll_target = Some(ScrollTarget::Step(step));
    }

    /// Scrolls to where another text was scrolled, in the next frame.
    pub const fn scroll_along(&mut self, top: TextTop) {
        self.scroll_target = Some(ScrollTarget::Along(top));
    }

    /// Scrolls to the top in the next frame.
    pub const fn scroll_to_top(&mut self) {
        self.scroll_target = Some(ScrollTarget::Top);
    }

    fn text_ui(
        &mut self,
        ui: &mut Ui,
        viewport: Rect,
        (input, extent): (TokenTextInput<'_>, Extent),
        edit: Option<&mut InPlaceEdit>,
    ) -> TokenTextResponse {
        // When the pane shrinks, for example because the dock grows, keep the pinned token in view.
        if viewport.height() < self.viewport_height {
            let pinned = input.pinned.map(ScrollTarget::Step);
            self.scroll_target = self.scroll_target.or(pinned);
        }
        self.viewport_height = viewport.height();
        let available = ui.available_width();
        let line = line_span(available);
        let width = line.span();
        self.layout.update(ui, &self.transcript, width);
        let slot = self.slot(width).filter(|_| input.end == TextEnd::Slot);
        let text_height = slot
            .map_or(0.0, |slot| slot.bottom())
            .max(self.layout.height());
        // What is typed in place may need more rows.
        let typed_height = edit.as_ref().map_or(0.0, |_| viewport.height());
        let height = extent.height(TOP + text_height + BOTTOM + typed_height, viewport);
        let (rect, response) = ui.allocate_exact_size(vec2(available, height), Sense::click());
        let scrolled = self.scrolled(viewport.top());
        let plain = self.transcript.plain();
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, plain));
        claim_arrow_keys(ui, &response);
        let is_visible = viewport.max.y > 0.0 && viewport.min.y < height;
        self.follow_focus(&response, input.pinned, is_visible);

        let origin = rect.min + vec2(line.min, TOP);
        self.thought_ui(ui, origin, width);
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
        let pointer = ui.input(|state| state.pointer.hover_pos());
        let held = self
            .card
            .filter(|card| pointer.is_some_and(|at| card.holds(at)));
        // Enter on a card takes what it offers.
        let is_offered = held.is_some_and(|card| card.offers);
        let shown = held.map(|card| card.step).or(pointed).or(pinned_by_keys);
        let shown = shown.filter(|_| input.has_cards && edit.is_none());
        let card = shown
            .zip(painting.token_rect(&chunks, shown))
            .and_then(|(step, rect)| card::show(ui, &response, rect, input, step));
        let (card, chosen) = card.unzip();
        let chosen = chosen.flatten();
        // What was chosen replaces the text.
        self.card = card.filter(|_| chosen.is_none());
        match input.end {
            TextEnd::Plain => {}
            TextEnd::Writing | TextEnd::Paused => painting.cursor(self.layout.chunks().last()),
            TextEnd::Slot => slot_ui(ui, slot.map(|slot| slot.translate(origin.to_vec2()))),
        }
        self.scroll_to_target(ui, rect);
        let field = FieldFrame { origin, width };
        let edited = edit.and_then(|edit| field.ui(ui, &self.layout, input.generation, edit));
        // The field is gone in the next frame.
        self.takes_focus |= edited.is_some();
        let is_pressed = self.press(&response, hovered);
        let leads = response.has_focus() || response.contains_pointer();
        TokenTextResponse {
            hovered,
            clicked: hovered.filter(|_| is_pressed),
            secondary_clicked: hovered.filter(|_| response.secondary_clicked()),
            double_clicked: hovered.filter(|_| response.double_clicked_by(PointerButton::Primary)),
            chosen,
            edited,
            entered: !is_offered && is_entered(ui, &response),
            scrolled: scrolled.filter(|_| leads),
            focused: response.has_focus(),
        }
    }

    /// Returns what is at the top if the text was scrolled since the previous frame, unless it only
    /// followed another text.
    fn scrolled(&mut self, viewport_top: f32) -> Option<TextTop> {
        let before = std::mem::replace(&mut self.viewport_top, viewport_top);
        let is_moved = (before - viewport_top).abs() > 0.5;
        if is_moved {
            // The card would stay with its token, and move under the pointer.
            self.card = None;
            self.hover = None;
        }
        let follows = self.n_following > 0;
        self.n_following = self.n_following.saturating_sub(1);
        let y = (viewport_top - TOP).max(0.0);
        (is_moved && !follows).then(|| self.top_at(y))
    }

    fn top_at(&self, y: f32) -> TextTop {
        let row = self.layout.row_at(y);
        let step = row.and_then(|row| row.spans.iter().filter_map(|span| span.step).min());
        let top = step.and_then(|step| self.row_of(step));
        match top {
            Some(row) => TextTop {
                step,
                offset: y - row.min,
            },
            None => TextTop {
                step: None,
                offset: y,
            },
        }
    }

    /// Returns the vertical range of the row where a step's token begins.
    fn row_of(&self, step: usize) -> Option<Rangef> {
        self.layout.row_of(self.transcript.step_start(step)?)
    }

    /// Returns the step whose token is at this point, relative to the text's top left corner.
    fn step_at(&self, at: Vec2) -> Option<usize> {
        self.layout.row_at(at.y)?.span_at(at.x)?.step
    }

    /// Scrolls to the target in a text that covers `rect`.
    fn scroll_to_target(&mut self, ui: &Ui, rect: Rect) {
        let mut animation = ui.style().scroll_animation;
        let mut align = None;
        let y = match self.scroll_target.take() {
            None => return,
            Some(ScrollTarget::Top) => Rangef::point(rect.top()),
            Some(ScrollTarget::End) => {
                // An animation would lag behind the end of a growing text.
                animation = ScrollAnimation::none();
                Rangef::point(rect.bottom())
            }
            Some(ScrollTarget::Step(step)) => {
                let Some(row) = self.row_of(step) else {
                    return;
                };
                let top = rect.top() + TOP;
                Rangef::new(top + row.min, top + row.max).expand(24.0)
            }
            Some(ScrollTarget::Along(top)) => {
                animation = ScrollAnimation::none();
                align = Some(Align::TOP);
                self.n_following = N_FOLLOWING;
                let row = match top.step {
                    None => 0.0,
                    Some(step) => self
                        .row_of(step)
                        .map_or(self.layout.height(), |row| row.min),
                };
                // A scroll area leaves this space before what it scrolls to the top.
                let before = ui.spacing().item_spacing.y;
                Rangef::point(rect.top() + TOP + row + top.offset + before)
            }
        };
        let target = Rect::from_x_y_ranges(Rangef::point(rect.left()), y);
        ui.scroll_to_rect_animation(target, align, animation);
    }
}

/// Paints a whole text from this top left corner, in lines of this width. Returns its height.
pub(super) fn paint_whole(ui: &Ui, corner: Pos2, width: f32, input: TokenTextInput<'_>) -> f32 {
    let (mut transcript, mut layout) = (Transcript::default(), Layout::default());
    transcript.sync(input.generation, ShownThought::AsText);
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
