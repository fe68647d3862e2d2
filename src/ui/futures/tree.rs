//! The tree of futures as blocks: the height of a block is its share of the texts, its width fits
//! its words, and what follows it stands to its right.

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align2, Color32, EventFilter, Galley, Id, Key, Modifiers, Painter, Pos2, Rect, Role, Sense,
    Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};
use std::sync::Arc;

use super::Shown;
use super::sentence::count_words;
use crate::analysis::futures::FutureBranch;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::state::FuturesRun;

/// The minimum height of one text. If the texts don't fit, the tree scrolls.
const MIN_UNIT: f32 = 3.75;

/// The minimum heights of a block with a fill, with words, and with a count below its words.
const FILLED: f32 = 16.0;
const WORDED: f32 = 11.0;
const COUNTED: f32 = 34.0;

/// The height of a line of words, without the space above and below its letters.
const LETTERS: f32 = 14.0;

/// The maximum width of a block's words, and the padding beside them.
const MAX_WORDS: f32 = 260.0;
const PADDING: f32 = 7.0;

/// The space between a block and what follows it.
const GAP: f32 = 3.0;

/// The length of the line of an unshared continuation.
const LINE: f32 = 26.0;

/// The minimum width for words.
const MIN_WORDS: f32 = 40.0;

/// What was painted for one branch, or for several unshared continuations.
pub(super) struct Block {
    pub rect: Rect,
    pub sentence: String,
}

/// Returns the height of the whole tree.
pub(super) fn tree_height(run: &FuturesRun, available: f32) -> f32 {
    available.max(MIN_UNIT * run.futures().len() as f32)
}

/// Draws the tree. The arrow keys move through its blocks while it has the focus.
pub(super) fn tree_ui(ui: &Ui, rect: Rect, shown: Shown<'_>) {
    let blocks = paint_tree(ui, rect, shown);
    let id = ui.scope_id().with("futures tree");
    let response = ui.interact(rect, id, Sense::click());
    if response.clicked() {
        response.request_focus();
    }
    let cursor = response
        .has_focus()
        .then(|| cursor_ui(ui, id, blocks.len()));
    let marked = cursor.and_then(|cursor| blocks.get(cursor));
    response.widget_info(|| {
        let quoted = shown.run.quoted();
        let mut name = format!("What could follow ‘{quoted}’: {}", count_words(shown.run));
        if let Some(block) = marked {
            name = format!("{name}; {}", block.sentence);
        }
        WidgetInfo::labeled(Role::Tree, true, name)
    });
    let pointer = response.hover_pos();
    for (index, block) in blocks.iter().enumerate() {
        let item = ui.interact(block.rect, id.with(index), Sense::hover());
        item.widget_info(|| WidgetInfo::labeled(Role::TreeItem, true, block.sentence.as_str()));
        if pointer.is_some_and(|pointer| block.rect.contains(pointer)) {
            item.on_hover_text_at_pointer(&block.sentence);
        }
    }
    if let Some(block) = marked {
        let ring = Stroke::new(2.0, Theme::of(ui).focus);
        let around = block.rect.expand(1.0);
        ui.painter()
            .rect_stroke(around, 4, ring, StrokeKind::Outside);
        ui.scroll_to_rect(block.rect, None);
        response.show_tooltip_text(&block.sentence);
    }
}

/// Returns the index of the block that the arrow keys selected.
fn cursor_ui(ui: &Ui, id: Id, n_blocks: usize) -> usize {
    let filter = EventFilter {
        vertical_arrows: true,
        horizontal_arrows: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    let mut cursor: usize = ui.data(|data| data.get_temp(id)).unwrap_or(0);
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if pressed(Key::ArrowDown) || pressed(Key::ArrowRight) {
        cursor += 1;
    }
    if pressed(Key::ArrowUp) || pressed(Key::ArrowLeft) {
        cursor = cursor.saturating_sub(1);
    }
    let cursor = cursor.min(n_blocks.saturating_sub(1));
    ui.data_mut(|data| data.insert_temp(id, cursor));
    cursor
}

/// Paints the tree. Returns its blocks in depth-first order.
pub(super) fn paint_tree(ui: &Ui, rect: Rect, shown: Shown<'_>) -> Vec<Block> {
    let n = shown.run.futures().len().max(1);
    let mut canvas = Canvas {
        painter: ui.painter(),
        theme: Theme::of(ui),
        shown,
        unit: rect.height() / n as f32,
        right: rect.right(),
        words: Vec::new(),
        blocks: Vec::new(),
    };
    canvas.branches(&shown.run.tree, rect.min, 1);
    canvas.blocks
}

/// Paints the blocks and collects them.
struct Canvas<'a> {
    painter: &'a Painter,
    theme: &'static Theme,
    shown: Shown<'a>,
    /// The height of one text.
    unit: f32,
    right: f32,
    /// Where words were painted.
    words: Vec<Rect>,
    blocks: Vec<Block>,
}

impl Canvas<'_> {
    /// Paints branches below one another: a block for each that several texts share, then all
    /// unshared ones together.
    fn branches(&mut self, branches: &[FutureBranch], at: Pos2, level: usize) {
        if self.right - at.x < MIN_WORDS {
            return;
        }
        let n_shared = branches.partition_point(|branch| branch.n > 1);
        let (shared, unshared) = branches.split_at(n_shared.min(branches.len()));
        let mut at = at;
        for branch in shared {
            self.block(branch, at, level);
            at.y += self.unit * branch.n as f32;
        }
        self.unshared(unshared, at, level);
    }

    fn block(&mut self, branch: &FutureBranch, at: Pos2, level: usize) {
        let height = self.unit * branch.n as f32;
        let theme = self.theme;
        let own = branch.is_own.then(|| theme.pane(self.shown.place));
        let n = self.shown.run.futures().len();
        let words = self.words(branch);
        let sentence = format!("{words}, {} of {n}, level {level}", branch.n);
        if height < WORDED {
            let rect = Rect::from_min_size(at, vec2(LINE + 14.0, height));
            self.line(rect, own.unwrap_or(theme.surface_4));
            self.blocks.push(Block { rect, sentence });
            return;
        }
        let face = if height >= FILLED {
            Face::Why
        } else {
            Face::Small
        };
        let ink = if own.is_some() {
            theme.pane_letter
        } else {
            theme.text_1
        };
        let room = (self.right - at.x - 2.0 * PADDING).min(MAX_WORDS);
        let galley = self.galley(&words, face, ink, room);
        let count = format!("{} of {n}", branch.n);
        let count = (height >= COUNTED).then(|| self.galley(&count, Face::Micro, ink, room));
        let width = count
            .iter()
            .map(|count| count.size().x)
            .fold(galley.size().x, f32::max);
        let rect = Rect::from_min_size(at, vec2(width + 2.0 * PADDING, height));
        let fill = own.or((height >= FILLED).then_some(theme.surface_3));
        let below = count.as_ref().map_or(0.0, |count| count.size().y);
        let left = rect.left() + PADDING;
        let top = rect.center().y - f32::midpoint(galley.size().y, below);
        let next = pos2(left, top + galley.size().y);
        let is_free = self.take_place(Rect::from_min_size(pos2(left, top), galley.size()));
        if !is_free && fill.is_none() {
            let rect = Rect::from_min_size(at, vec2(LINE + 14.0, height));
            self.line(rect, theme.surface_4);
            self.blocks.push(Block { rect, sentence });
            self.branches(&branch.children, pos2(rect.right() + GAP, at.y), level + 1);
            return;
        }
        let inner = rect.shrink2(vec2(0.0, 1.0));
        if let Some(fill) = fill {
            self.painter.rect_filled(inner, 3, fill);
        }
        self.painter.galley(pos2(left, top), galley, ink);
        if let Some(count) = count {
            let ink = if own.is_some() { ink } else { theme.text_3 };
            self.painter
                .galley_with_override_text_color(next, count, ink);
        }
        self.blocks.push(Block { rect, sentence });
        self.branches(&branch.children, pos2(rect.right() + GAP, at.y), level + 1);
    }

    /// Paints unshared continuations: a line for each, and as many of their words as fit.
    fn unshared(&mut self, texts: &[FutureBranch], at: Pos2, level: usize) {
        if texts.is_empty() {
            return;
        }
        let theme = self.theme;
        let height = self.unit * texts.len() as f32;
        let rect = Rect::from_min_max(at, pos2(self.right, at.y + height));
        let first_words: Vec<String> = texts.iter().map(|text| self.words(text)).collect();
        let (label, words) = unshared_words(&first_words, level);
        let separator = if label.is_empty() { "" } else { ": " };
        let sentence = format!("{label}{separator}{words}, level {level}");
        let mut x = at.x + 2.0;
        if texts.len() > 1 || height < WORDED {
            for (index, text) in (0_u16..).zip(texts) {
                let top = at.y + self.unit * f32::from(index);
                let line = Rect::from_min_size(pos2(x, top), vec2(LINE, self.unit));
                let own = text.is_own.then(|| theme.pane(self.shown.place));
                self.line(line, own.unwrap_or(theme.surface_4));
            }
            x += LINE + 6.0;
        }
        let room = self.right - x;
        if height < WORDED || room < MIN_WORDS {
            let rect = rect.with_max_x((x - 6.0).min(self.right));
            self.blocks.push(Block { rect, sentence });
            return;
        }
        let middle = rect.center().y;
        // The label and the words need the rest of the line.
        let line = Rect::from_min_max(pos2(x, rect.top()), rect.max);
        if !self.take_place(line) {
            let rect = rect.with_max_x((x - 6.0).min(self.right));
            self.blocks.push(Block { rect, sentence });
            return;
        }
        if !label.is_empty() {
            let galley = self.galley(&label, Face::Micro, theme.text_3, room);
            let at = Align2::LEFT_CENTER.anchor_size(pos2(x, middle), galley.size());
            x = at.right() + 8.0;
            self.painter.galley(at.min, galley, theme.text_3);
        }
        let ink = match texts {
            [one] if one.is_own => theme.pane(self.shown.place),
            [_] => theme.text_2,
            _ => theme.text_3,
        };
        let galley = self.galley(&words, Face::Candidate, ink, (self.right - x).max(0.0));
        let painted = Align2::LEFT_CENTER.anchor_size(pos2(x, middle), galley.size());
        self.painter.galley(painted.min, galley, ink);
        let rect = rect.with_max_x(painted.right().min(self.right));
        self.blocks.push(Block { rect, sentence });
    }

    /// Takes a place for a line of words. Returns whether it overlaps none that was taken before.
    fn take_place(&mut self, words: Rect) -> bool {
        let letters = Rect::from_center_size(words.center(), vec2(words.width(), LETTERS));
        let is_free = !self.words.iter().any(|taken| taken.intersects(letters));
        if is_free {
            self.words.push(letters);
        }
        is_free
    }

    /// Paints a line in the middle of a rectangle.
    fn line(&self, rect: Rect, color: Color32) {
        let thickness = (rect.height() - 1.0).clamp(0.75, 2.0);
        let line = Rect::from_center_size(rect.center(), vec2(rect.width(), thickness));
        self.painter.rect_filled(line, 0, color);
    }

    /// Returns the words of a branch on one line.
    fn words(&self, branch: &FutureBranch) -> String {
        let text = self.shown.run.text_of(&branch.tokens);
        let line = text.replace('\n', "↵").trim().to_owned();
        if line.is_empty() {
            "(end)".to_owned()
        } else {
            line
        }
    }

    /// Lays out a text on one line, truncated with "…".
    fn galley(&self, text: &str, face: Face, color: Color32, width: f32) -> Arc<Galley> {
        let font = match face {
            Face::Small => Face::Candidate.font(),
            face => face.font(),
        };
        let mut job = LayoutJob::simple_singleline(text.to_owned(), font, color);
        job.wrap = TextWrapping {
            max_rows: 1,
            break_anywhere: true,
            ..TextWrapping::wrap_at_width(width)
        };
        self.painter.layout_job(job)
    }
}

/// The maximum number of characters of each unshared continuation, if there are several.
const MAX_CHARS: usize = 28;

/// Returns a label with the number of unshared continuations, and their first words.
fn unshared_words(texts: &[String], level: usize) -> (String, String) {
    if let [one] = texts {
        return (String::new(), one.clone());
    }
    let n = texts.len();
    let label = if level == 1 {
        format!("{n} beginnings appear once")
    } else {
        format!("{n} diverge")
    };
    let short = |text: &String| match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => {
            let head = text.get(..end).unwrap_or_default();
            let head = head.rsplit_once(' ').map_or(head, |(head, _)| head);
            format!("{head} …")
        }
        None => text.clone(),
    };
    let words: Vec<String> = texts.iter().map(short).collect();
    (label, words.join("   "))
}
