//! The passes of speculative decoding: one column per pass, one cell per token, and the drafts of
//! one pass.

use egui::{Align2, Color32, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2};

use super::{
    AROUND, PicturePlot, PlotFile, PlottedRun, RunPicture, Target, TextRun, count, paint_text,
    paint_text_within, title_ui,
};
use crate::analysis::{DraftPass, DraftPasses, Verdict, VerifiedToken};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::focus_ring;
use crate::generation::Generation;
use crate::generation::formatting::{grouped, quoted};

/// The height of a cell, and the widest column.
const CELL: f32 = 13.0;
const MAX_COLUMN: f32 = 13.0;

/// The space left of the columns and below them, and the distance between two labels.
const LEFT: f32 = 34.0;
const BELOW: f32 = 18.0;
const LABEL: f32 = 56.0;

/// The height of a row of the table below, and the width of a draft in it.
const ROW: f32 = 19.0;
const DRAFT: f32 = 92.0;

/// The passes of a pane's text.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftStrip<'a> {
    /// The index of the pane, which determines the color.
    pub pane: usize,
    pub generation: &'a Generation,
    pub passes: DraftPasses,
    /// The index of the pass whose drafts are listed.
    pub selected: usize,
}

impl<'a> DraftStrip<'a> {
    /// Returns the passes of a pane's text, or `None` if it was generated without drafts. The
    /// selected pass is the one that produced this step, otherwise the last.
    pub fn of(pane: usize, generation: &'a Generation, step: Option<usize>) -> Option<Self> {
        let passes = DraftPasses::of(generation)?;
        let last = passes.passes.len() - 1;
        let of_step = step.and_then(|step| passes.pass_of(step));
        Some(Self {
            pane,
            generation,
            selected: of_step.unwrap_or(last),
            passes,
        })
    }

    /// Returns the maximum number of tokens that a pass could have produced.
    fn n_rows(&self) -> usize {
        let passes = self.passes.passes.iter();
        passes.map(|pass| pass.n_drafts + 1).max().unwrap_or(1)
    }

    /// Returns the height of a picture, in points.
    pub fn height(&self) -> f32 {
        super::TITLE_ROW + self.n_rows() as f32 * CELL + BELOW + 5.0 * ROW
    }
}

/// Shows the passes in this rectangle. Returns the index of a pass that was clicked.
pub fn draft_strip_ui(
    ui: &mut Ui,
    rect: Rect,
    strip: &DraftStrip<'_>,
    target: Target,
) -> Option<usize> {
    let mut title = ui.new_child(egui::UiBuilder::new().max_rect(rect));
    let subtitles = [
        "one column per forward pass: filled accepted, hollow rejected and replaced, plain sampled"
            .to_owned(),
        "one column per forward pass".to_owned(),
    ];
    let badge = (target == Target::Picture).then_some(strip.pane);
    title_ui(&mut title, "Acceptance", badge, &subtitles);
    let top = rect.top() + super::TITLE_ROW;
    let room = (rect.height() - super::TITLE_ROW - BELOW - 5.0 * ROW).max(CELL);
    let cell = (room / strip.n_rows() as f32).min(CELL);
    let bottom = top + cell * strip.n_rows() as f32;
    let area = Rect::from_min_max(
        pos2(rect.left() + LEFT, top),
        pos2(rect.right() - 4.0, bottom),
    );
    let columns = Columns::of(area, strip.passes.passes.len());
    paint_rows(ui, area, strip.n_rows(), cell);
    paint_columns(ui, &columns, strip, cell);
    let table = Rect::from_min_max(pos2(rect.left(), bottom + BELOW + 4.0), rect.max);
    paint_pass(ui, table, strip);
    if target == Target::Picture {
        return None;
    }
    let response = ui.interact(area, ui.scope_id().with("drafts"), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Table, true, pass_words(strip)));
    focus_ring(ui, &response, 2);
    let at = |pointer: Option<Pos2>| columns.at(pointer?.x);
    let hovered = at(response.hover_pos());
    let clicked = at(response.interact_pointer_pos()).filter(|_| response.clicked());
    if let Some(pass) = hovered {
        let other = DraftStrip {
            selected: pass,
            ..strip.clone()
        };
        response.on_hover_text_at_pointer(pass_words(&other));
    }
    clicked
}

/// The layout of the columns. If there are more than fit, the last ones are shown.
struct Columns {
    area: Rect,
    width: f32,
    first: usize,
    n: usize,
}

impl Columns {
    fn of(area: Rect, n: usize) -> Self {
        const MIN_COLUMN: f32 = 3.0;
        let width = (area.width() / n.max(1) as f32).clamp(MIN_COLUMN, MAX_COLUMN);
        let n_shown = count(f64::from(area.width() / width)).max(1);
        Self {
            area,
            width,
            first: n.saturating_sub(n_shown),
            n,
        }
    }

    fn shown(&self) -> std::ops::Range<usize> {
        self.first..self.n
    }

    fn left(&self, pass: usize) -> f32 {
        self.area.left() + (pass - self.first) as f32 * self.width
    }

    fn at(&self, x: f32) -> Option<usize> {
        let column = ((x - self.area.left()) / self.width).floor();
        let pass = self.first + count(f64::from(column));
        (column >= 0.0 && pass < self.n).then_some(pass)
    }
}

fn paint_rows(ui: &Ui, area: Rect, n_rows: usize, cell: f32) {
    let theme = Theme::of(ui);
    let step = if n_rows > 8 { 4 } else { 1 };
    for row in (0..n_rows).step_by(step) {
        let y = area.bottom() - (row as f32 + 0.5) * cell;
        let number = (row + 1).to_string();
        let run = TextRun::new(&number, Face::Micro, theme.text_3);
        let at = pos2(area.left() - 8.0, y);
        paint_text(ui, at, Align2::RIGHT_CENTER, run);
    }
}

fn paint_columns(ui: &Ui, columns: &Columns, strip: &DraftStrip<'_>, cell: f32) {
    let theme = Theme::of(ui);
    let color = theme.pane(strip.pane);
    let area = columns.area;
    let gap = if columns.width > 5.0 { 1.0 } else { 0.5 };
    let mut label_from = area.left();
    for pass in columns.shown() {
        let Some(content) = strip.passes.passes.get(pass) else {
            continue;
        };
        let left = columns.left(pass);
        for (row, token) in content.tokens.iter().enumerate() {
            let bottom = area.bottom() - row as f32 * cell;
            let rect = Rect::from_min_max(
                pos2(left + gap, bottom - cell + 1.0),
                pos2(left + columns.width - gap, bottom - 1.0),
            );
            match token.verdict {
                Verdict::Accepted => {
                    ui.painter().rect_filled(rect, 1, color);
                }
                Verdict::Sampled => {
                    ui.painter().rect_filled(rect, 1, theme.surface_3);
                }
                Verdict::Rejected { .. } => {
                    let edge = Stroke::new(1.0, color);
                    ui.painter().rect_stroke(rect, 1, edge, StrokeKind::Inside);
                }
            }
        }
        if left >= label_from && (pass == 0 || (pass + 1) % 5 == 0) {
            let number = grouped((pass + 1) as f64);
            let run = TextRun::new(&number, Face::Micro, theme.text_3);
            let at = pos2(left + columns.width / 2.0, area.bottom() + 3.0);
            paint_text(ui, at, Align2::CENTER_TOP, run);
            label_from = left + LABEL;
        }
    }
    if columns.shown().contains(&strip.selected) {
        let left = columns.left(strip.selected);
        let ring = Rect::from_min_max(
            pos2(left - 1.0, area.top() - 2.0),
            pos2(left + columns.width + 1.0, area.bottom() + 2.0),
        );
        let edge = Stroke::new(1.5, theme.text_1);
        ui.painter().rect_stroke(ring, 2, edge, StrokeKind::Inside);
    }
}

/// Paints what the selected pass drafted, the probability of each draft, and its verdict.
fn paint_pass(ui: &Ui, rect: Rect, strip: &DraftStrip<'_>) {
    let theme = Theme::of(ui);
    let Some(pass) = strip.passes.passes.get(strip.selected) else {
        return;
    };
    let row = |row: usize| rect.top() + row as f32 * ROW;
    let title = format!("Pass {}", grouped((strip.selected + 1) as f64));
    let run = TextRun::new(&title, Face::SmallMedium, theme.text_1);
    paint_text(ui, pos2(rect.left(), row(0)), Align2::LEFT_TOP, run);
    let has =
        |value: fn(&VerifiedToken) -> Option<f64>| pass.tokens.iter().any(|t| value(t).is_some());
    let probs = if has(|token| token.draft_prob) {
        "Chain p, draft q"
    } else {
        "Probability p"
    };
    let coin = if has(|token| token.coin) { "Coin" } else { "" };
    for (index, label) in ["Drafted", probs, "Written", coin].into_iter().enumerate() {
        let run = TextRun::new(label, Face::Small, theme.text_3);
        let at = pos2(rect.left(), row(index + 1));
        paint_text(ui, at, Align2::LEFT_TOP, run);
    }
    for (place, token) in pass.tokens.iter().enumerate() {
        let left = rect.left() + 92.0 + place as f32 * DRAFT;
        let room = DRAFT - 8.0;
        if left + room > rect.right() {
            break;
        }
        let [drafted, prob, verdict] = cells(strip, pass, place, *token);
        let coin = token.coin.map(|coin| format!("{coin:.3}"));
        let cells = [
            (drafted, Face::Candidate, theme.text_1),
            (prob, Face::Small, theme.text_2),
            (verdict, Face::Small, theme.text_1),
            (coin.unwrap_or_default(), Face::Small, theme.text_2),
        ];
        for (index, (words, face, color)) in cells.into_iter().enumerate() {
            let run = TextRun::new(&words, face, color);
            let at = pos2(left, row(index + 1));
            paint_text_within(ui, at, Align2::LEFT_TOP, run, room);
        }
    }
}

/// Returns what the table says about a token: the draft, its probabilities, and the verdict.
fn cells(
    strip: &DraftStrip<'_>,
    pass: &DraftPass,
    place: usize,
    token: VerifiedToken,
) -> [String; 3] {
    let step = strip.generation.steps.get(pass.first + place);
    let written = step.map(|step| quoted(&step.piece)).unwrap_or_default();
    let probs = [token.prob, token.draft_prob].into_iter().flatten();
    let prob = probs.map(percent).collect::<Vec<_>>().join(", ");
    match token.verdict {
        Verdict::Accepted => [written, prob, "accepted".to_owned()],
        Verdict::Rejected { draft } => {
            let draft = quoted(&strip.generation.vocabulary.piece(draft));
            [draft, prob, format!("no: {written}")]
        }
        Verdict::Sampled => ["–".to_owned(), String::new(), written],
    }
}

fn percent(prob: f64) -> String {
    match prob * 100.0 {
        0.0 => "cut".to_owned(),
        percent if percent >= 10.0 => format!("{percent:.0} %"),
        percent if percent >= 0.1 => format!("{percent:.1} %"),
        _ => "< 0.1 %".to_owned(),
    }
}

/// Describes the selected pass: "Pass 1: 3 of 4 drafts accepted, then ‘nest’".
fn pass_words(strip: &DraftStrip<'_>) -> String {
    let number = grouped((strip.selected + 1) as f64);
    let Some(pass) = strip.passes.passes.get(strip.selected) else {
        return String::new();
    };
    let tokens = pass.tokens.iter();
    let accepted = tokens.filter(|token| token.verdict == Verdict::Accepted);
    let n_accepted = accepted.count();
    let last = pass.first + pass.tokens.len() - 1;
    let last = strip.generation.steps.get(last);
    let word = last.map(|step| quoted(&step.piece)).unwrap_or_default();
    match (pass.n_drafts, pass.tokens.len() - n_accepted) {
        (0, _) => format!("Pass {number}: no drafts; {word} was sampled"),
        (n, 0) => format!("Pass {number}: {n_accepted} of {n} drafts accepted"),
        (n, _) => format!("Pass {number}: {n_accepted} of {n} drafts accepted, then {word}"),
    }
}

/// The passes of the first text of a run that was written with drafts.
pub(super) struct DraftsPicture;

impl RunPicture for DraftsPicture {
    fn files(&self) -> Vec<PlotFile> {
        Vec::new()
    }

    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        let mut texts = run.panes.iter().enumerate();
        let strip = texts.find_map(|(pane, text)| DraftStrip::of(pane, (*text)?, None))?;
        Some(Box::new(strip))
    }
}

impl PicturePlot for DraftStrip<'_> {
    fn title(&self) -> &'static str {
        "The drafts"
    }

    fn default_size(&self) -> [f32; 2] {
        [960.0, self.height() + AROUND]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [_, height] = self.default_size();
        [width.max(640.0), height]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        draft_strip_ui(ui, ui.max_rect(), self, Target::Picture);
    }
}

#[cfg(test)]
mod tests {
    use super::{Columns, DraftStrip, cells, pass_words};
    use crate::decoding::{Draft, PromptLookup};
    use crate::generation::Generation;
    use crate::generation::testing::generation;

    /// A pass that accepts a draft and replaces the next, after a pass without drafts.
    fn drafted() -> Generation {
        let mut text = generation(&[(" a", 0.5), (" fox", 0.5), (" ran", 0.5)]);
        text.config.chain.drafts = Some(PromptLookup::USUAL.into());
        let tokens = [None, Some(text.steps[1].token), Some(text.steps[0].token)];
        for (index, token) in tokens.into_iter().enumerate().skip(1) {
            text.steps[index].draft = Some(Draft {
                n_drafts: 2,
                place: index as u32 - 1,
                token,
                prob: Some(0.25),
                ..Draft::default()
            });
        }
        text
    }

    #[test]
    fn a_pass_is_described_by_its_drafts_and_by_what_replaced_them() {
        let text = drafted();
        let strip = |step| DraftStrip::of(0, &text, step).unwrap();
        assert_eq!(
            pass_words(&strip(None)),
            "Pass 2: 1 of 2 drafts accepted, then ‘ran’"
        );
        assert_eq!(
            pass_words(&strip(Some(0))),
            "Pass 1: no drafts; ‘a’ was sampled"
        );
        let strip = strip(Some(2));
        let pass = &strip.passes.passes[1];
        let rows = [0, 1].map(|place| cells(&strip, pass, place, pass.tokens[place]));
        assert_eq!(rows[0], ["‘fox’", "25 %", "accepted"]);
        assert_eq!(rows[1], ["‘a’", "25 %", "no: ‘ran’"]);
    }

    #[test]
    fn the_last_passes_are_shown_if_not_all_fit() {
        let area = egui::Rect::from_min_max(egui::pos2(10.0, 0.0), egui::pos2(310.0, 50.0));
        let all = Columns::of(area, 60);
        assert_eq!((all.shown(), all.at(10.5)), (0..60, Some(0)));
        assert_eq!(all.at(309.0), Some(59));
        let few = Columns::of(area, 3);
        assert_eq!((few.at(30.0), few.at(100.0)), (Some(1), None));
        let many = Columns::of(area, 250);
        assert_eq!((many.shown(), many.at(10.5)), (150..250, Some(150)));
    }
}
