//! The Loop tab: one step as the seven boxes of the generation loop, with its numbers and times. A
//! text from a beam search shows its tree instead, and a text with drafts its passes.

mod beams;
mod drafts;
mod pictures;
mod run_picture;
mod sampler;
#[cfg(test)]
mod tests;

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align2, Color32, Pos2, Rect, Role, Sense, Shape, Stroke, StrokeKind, Ui, Vec2, WidgetInfo,
    pos2, vec2,
};

pub(super) use self::beams::beam_tree;
use self::beams::beams_ui;
pub(super) use self::drafts::draft_strip;
use self::drafts::drafts_ui;
use self::pictures::{picture_ui, unknown_words};
pub(super) use self::run_picture::{LoopOfRun, LoopPicture};
use self::sampler::sampler_ui;
pub(super) use self::sampler::{N_PICKS, field_id, numbered_pick};
use super::why::split;
use super::xray::sentence_ui;
use crate::decoding::{Picked, Selector};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::{counted, grouped, quoted};
use crate::generation::{FinishReason, Generation, Step};
use crate::glossary::{Term, term};
use crate::state::{AppState, Command};

/// The space between two boxes, which holds the arrow.
const GAP: f32 = 14.0;

/// The height of the title, the figure and the line of a box, with their padding.
const HEAD: f32 = 72.0;

/// The height of the line that leads back to the first box.
const RETURN: f32 = 34.0;

/// One step of a text, and what its pictures need.
#[derive(Clone, Copy)]
struct LoopStep<'a> {
    /// The index of the pane, which determines the color.
    pane: usize,
    generation: &'a Generation,
    step: &'a Step,
    index: usize,
    /// Whether the token is not in the text yet: the chain would draw it next.
    is_upcoming: bool,
    is_step_mode: bool,
}

/// A box of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoopBox {
    Tokens,
    ForwardPass,
    Logits,
    Stages,
    Softmax,
    Coin,
    Append,
}

impl LoopBox {
    const ALL: [Self; 7] = [
        Self::Tokens,
        Self::ForwardPass,
        Self::Logits,
        Self::Stages,
        Self::Softmax,
        Self::Coin,
        Self::Append,
    ];

    const fn title(self) -> &'static str {
        match self {
            Self::Tokens => "Tokens",
            Self::ForwardPass => "Forward pass",
            Self::Logits => "Logits",
            Self::Stages => "Stages",
            Self::Softmax => "Softmax",
            Self::Coin => "Coin",
            Self::Append => "Append",
        }
    }

    /// Returns the box's figure and the line below it.
    fn words(self, at: LoopStep<'_>) -> [String; 2] {
        let trace = &at.step.trace;
        let n_prompt = at.generation.prompt.tokens.len();
        let position = n_prompt + at.index;
        match self {
            Self::Tokens => [
                format!("{} so far", grouped(position as f64)),
                format!("{} generated", grouped(at.index as f64)),
            ],
            Self::ForwardPass => [milliseconds(at.step.time.forward_secs), batch_words(at)],
            Self::Logits => [
                match trace.n_known_candidates() {
                    Some(n) => format!("{} logits", grouped(f64::from(n))),
                    None => format!("{} named", counted(trace.raw.head.len(), "token")),
                },
                match trace.n_known_candidates() {
                    Some(_) => "one for each token".to_owned(),
                    None => "by the server".to_owned(),
                },
            ],
            Self::Stages => [
                n_left(at).map_or_else(
                    || "number left unknown".to_owned(),
                    |n| format!("{} left", grouped(f64::from(n))),
                ),
                at.generation.config.chain.to_string(),
            ],
            Self::Softmax => [
                match trace.n_known_kept() {
                    Some(1) => "1 probability".to_owned(),
                    Some(n) => format!("{} probabilities", grouped(f64::from(n))),
                    None => "probabilities".to_owned(),
                },
                "add up to 100 %".to_owned(),
            ],
            Self::Coin => [coin_words(at), coin_address(at)],
            Self::Append if at.is_upcoming => [quoted(&at.step.piece), "if you let it".to_owned()],
            Self::Append => [
                quoted(&at.step.piece),
                format!(
                    "ID {}, token {}",
                    at.step.token,
                    grouped(at.index as f64 + 1.0)
                ),
            ],
        }
    }
}

/// Returns the number of candidates that the stages left.
fn n_left(at: LoopStep<'_>) -> Option<u32> {
    let trace = &at.step.trace;
    match trace.stages.len().checked_sub(1) {
        Some(last) => trace.known_stage(last).n_kept,
        None => trace.n_known_candidates(),
    }
}

fn batch_words(at: LoopStep<'_>) -> String {
    let prompt = &at.generation.prompt;
    if let Some(secs) = at.step.time.network_secs {
        return format!("and {} of network", milliseconds(secs));
    }
    match (at.index, at.step.time.n_batch) {
        (0, _) => format!(
            "prompt: {} tokens in {}",
            grouped(prompt.n_prefilled as f64),
            milliseconds(prompt.prefill_secs)
        ),
        (_, 0 | 1) => "1 sequence".to_owned(),
        (_, n) => format!("for {n} sequences"),
    }
}

fn coin_words(at: LoopStep<'_>) -> String {
    let draw = &at.step.trace.draw;
    let selector = at.generation.config.chain.selector;
    match draw.coin {
        Some(coin) => format!("{coin:.3}"),
        None if draw.picked == Picked::ByChain && selector.has_coin_per_token() => {
            "One per token".to_owned()
        }
        None => "No coin".to_owned(),
    }
}

fn coin_address(at: LoopStep<'_>) -> String {
    let seed = at.generation.config.seed;
    let position = at.generation.prompt.tokens.len() + at.index;
    let draw = &at.step.trace.draw;
    match draw.picked {
        Picked::ByHand => return "picked by hand".to_owned(),
        Picked::Given => return "the text was given".to_owned(),
        Picked::ByBeams => return "beam search".to_owned(),
        Picked::ByRatio => return "the rule min(1, p/q)".to_owned(),
        Picked::ByServer => return "the server’s sampler".to_owned(),
        Picked::ByChain => {}
    }
    match (draw.coin, at.generation.config.chain.selector) {
        (None, Selector::GumbelMark(mark)) => {
            format!("key {}, last {} tokens", mark.key, mark.window)
        }
        (None, selector) if !selector.has_coin_per_token() => "top token taken".to_owned(),
        _ => format!("seed {seed}, coin {}", grouped(position as f64)),
    }
}

fn milliseconds(secs: f64) -> String {
    match secs * 1e3 {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms => format!("{} ms", grouped(ms)),
    }
}

/// Draws the loop for the step that the dock shows; in step mode, for the next step unless another
/// one is pinned.
pub(super) fn loop_ui(ui: &mut Ui, body: Rect, state: &AppState, commands: &mut Vec<Command>) {
    let (body, sampler) = match split(body) {
        (left, Some(right)) if state.is_step_mode() => (left, Some(right)),
        _ => (body, None),
    };
    if let Some(sampler) = sampler {
        sampler_ui(ui, sampler, state, commands);
    }
    if let Some(tree) = beam_tree(state).filter(|_| !state.is_step_mode()) {
        return beams_ui(ui, body, state, &tree);
    }
    if let Some(strip) = draft_strip(state).filter(|_| !state.is_step_mode()) {
        return drafts_ui(ui, body, state, &strip, commands);
    }
    let inside = Rect::from_min_max(body.min + vec2(14.0, 8.0), body.max - vec2(14.0, 8.0));
    let Some(at) = shown_step(state) else {
        let hint = if state.is_step_mode() {
            "Press Step to write one token, or click a token to see how it was made"
        } else {
            "Generate text to see how its latest token was made, or click any token"
        };
        return sentence_ui(ui, inside, hint);
    };
    boxes_ui(ui, inside, at, LoopBox::ALL.len());
}

/// Draws the boxes, at most `n_in_row` in a row, and below them what follows this step.
fn boxes_ui(ui: &Ui, area: Rect, at: LoopStep<'_>, n_in_row: usize) {
    let (boxes, back) = area.split_top_bottom_at_y(area.bottom() - RETURN);
    let n_columns = n_in_row.clamp(1, LoopBox::ALL.len());
    let n_rows = LoopBox::ALL.len().div_ceil(n_columns);
    let side = |length: f32, n: usize| (length - GAP * (n as f32 - 1.0)) / n as f32;
    let size = vec2(
        side(boxes.width(), n_columns).floor(),
        side(boxes.height(), n_rows),
    );
    for (index, which) in LoopBox::ALL.into_iter().enumerate() {
        let (row, column) = (index / n_columns, index % n_columns);
        let offset = (size + Vec2::splat(GAP)) * vec2(column as f32, row as f32);
        let rect = Rect::from_min_size(boxes.min + offset, size);
        box_ui(ui, rect, index + 1, at, which);
        let is_last_in_row = column + 1 == n_columns || index + 1 == LoopBox::ALL.len();
        if !is_last_in_row {
            paint_arrow(ui, pos2(rect.right() + GAP / 2.0, rect.center().y));
        }
    }
    if n_rows == 1 {
        let last = (size.x + GAP) * (n_columns as f32 - 1.0);
        let first = boxes.left() + size.x / 2.0;
        paint_return(ui, back, [first, first + last], at);
    } else {
        let color = Theme::of(ui).text_2;
        let middle = back.left_center();
        row_text(
            ui,
            middle,
            back.width(),
            (return_words(at), Face::Small, color),
        );
    }
}

/// Returns the pane whose strategy the tab shows, and the strategy's name: "Beam search, 4 beams".
pub(super) fn strategy_label(state: &AppState) -> Option<(usize, String)> {
    let chain_of = |pane: usize| Some(&state.panes.get(pane)?.generation()?.config.chain);
    if state.is_step_mode() {
        return None;
    }
    if let Some(tree) = beam_tree(state) {
        let search = chain_of(tree.pane)?.selector.beam_search()?;
        let n_beams = grouped(f64::from(search.width));
        return Some((tree.pane, format!("Beam search, {n_beams} beams")));
    }
    let strip = draft_strip(state)?;
    let n_drafts = grouped(f64::from(chain_of(strip.pane)?.drafts?.n_drafts()));
    let label = format!("Speculative decoding, {n_drafts} drafts per pass");
    Some((strip.pane, label))
}

/// Returns the step to draw.
fn shown_step(state: &AppState) -> Option<LoopStep<'_>> {
    let upcoming = state.sampler_place().filter(|_| state.pin.is_none());
    let upcoming = upcoming.and_then(|pane| {
        let generation = state.panes.get(pane)?.generation()?;
        Some(LoopStep {
            pane,
            generation,
            step: state.upcoming(pane)?,
            index: generation.steps.len(),
            is_upcoming: true,
            is_step_mode: state.is_step_mode(),
        })
    });
    let past = || {
        let (pane, index) = state.shown_step()?;
        let generation = state.panes.get(pane)?.generation()?;
        Some(LoopStep {
            pane,
            generation,
            step: generation.steps.get(index)?,
            index,
            is_upcoming: false,
            is_step_mode: state.is_step_mode(),
        })
    };
    upcoming.or_else(past)
}

fn box_ui(ui: &Ui, rect: Rect, place: usize, at: LoopStep<'_>, which: LoopBox) {
    let theme = Theme::of(ui);
    let [figure, line] = which.words(at);
    let unknown = unknown_words(at, which).map(|words| format!("; the picture {words}"));
    let name = format!(
        "Box {place} of {}, {}: {figure}, {line}{}",
        LoopBox::ALL.len(),
        which.title(),
        unknown.unwrap_or_default()
    );
    let response = ui.interact(rect, ui.scope_id().with(("loop", place)), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, name.as_str()));
    ui.painter().rect_filled(rect, 8, theme.surface_2);
    paint_edge(ui, rect, at, which);
    let inside = rect.shrink2(vec2(9.0, 8.0));
    let rows = [
        (
            which.title().to_owned(),
            Face::SmallMedium,
            theme.text_1,
            0.0,
        ),
        (figure, Face::Body, theme.text_1, 17.0),
        (line, Face::Micro, theme.text_3, 37.0),
    ];
    let mut is_cut = false;
    for (text, face, color, top) in rows {
        let y = inside.top() + top;
        is_cut |= row_text(
            ui,
            pos2(inside.left(), y),
            inside.width(),
            (&text, face, color),
        );
    }
    picture_ui(ui, inside.with_min_y(rect.top() + HEAD), at, which);
    let cut = is_cut.then(|| which.words(at).join(", "));
    let meaning = term(which.title()).map(Term::explanation);
    let tips: Vec<String> = cut.into_iter().chain(meaning).collect();
    if !tips.is_empty() {
        response.on_hover_text(tips.join("\n\n"));
    }
}

/// Paints a box's edge. Before the draw, the Coin box stands out and the Append box is dashed.
fn paint_edge(ui: &Ui, rect: Rect, at: LoopStep<'_>, which: LoopBox) {
    let theme = Theme::of(ui);
    let solid = |color| {
        let edge = Stroke::new(1.0, color);
        ui.painter().rect_stroke(rect, 8, edge, StrokeKind::Inside);
    };
    match which {
        LoopBox::Coin if at.is_upcoming => solid(theme.stroke_3),
        LoopBox::Append if at.is_upcoming => {
            let edge = Stroke::new(1.0, theme.stroke_3);
            let path = rounded_outline(rect.shrink(0.5), 8.0);
            ui.painter()
                .extend(Shape::dashed_line(&path, edge, 4.0, 4.0));
        }
        _ => solid(theme.stroke_1),
    }
}

/// Returns the closed outline of a rectangle with round corners.
fn rounded_outline(rect: Rect, radius: f32) -> Vec<Pos2> {
    let inner = rect.shrink(radius);
    let corners = [
        inner.right_bottom(),
        inner.left_bottom(),
        inner.left_top(),
        inner.right_top(),
    ];
    let arcs = (0_u8..).zip(corners).flat_map(|(corner, center)| {
        (0_u8..=6).map(move |part| {
            let quarters = f32::from(corner) + f32::from(part) / 6.0;
            center + radius * Vec2::angled(quarters * std::f32::consts::FRAC_PI_2)
        })
    });
    let mut path: Vec<Pos2> = arcs.collect();
    path.extend(path.first().copied());
    path
}

/// Paints a text on one line. Returns whether it was truncated.
fn row_text(ui: &Ui, at: Pos2, width: f32, (text, face, color): (&str, Face, Color32)) -> bool {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), face.font(), color);
    job.wrap = TextWrapping::truncate_at_width(width);
    let galley = ui.painter().layout_job(job);
    let is_cut = galley.elided;
    ui.painter().galley(at, galley, color);
    is_cut
}

fn paint_arrow(ui: &Ui, at: Pos2) {
    let stroke = Stroke::new(1.5, Theme::of(ui).text_2);
    let points = [
        at + vec2(-2.0, -4.0),
        at + vec2(2.0, 0.0),
        at + vec2(-2.0, 4.0),
    ];
    ui.painter().line(points.to_vec(), stroke);
}

/// Paints the line from the last box back to the first, with what follows this step.
fn paint_return(ui: &Ui, rect: Rect, [first, last]: [f32; 2], at: LoopStep<'_>) {
    let theme = Theme::of(ui);
    let stroke = Stroke::new(1.5, theme.stroke_3);
    let (top, y) = (rect.top() + 4.0, rect.top() + 16.0);
    let galley = ui.painter().layout_no_wrap(
        return_words(at).to_owned(),
        Face::Small.font(),
        theme.text_2,
    );
    let middle = f32::midpoint(first, last);
    let half = galley.size().x / 2.0 + 8.0;
    let painter = ui.painter();
    painter.line(
        vec![pos2(last, top), pos2(last, y), pos2(middle + half, y)],
        stroke,
    );
    painter.line(
        vec![pos2(middle - half, y), pos2(first, y), pos2(first, top)],
        stroke,
    );
    let tip = [vec2(-4.0, 5.0), vec2(0.0, 0.0), vec2(4.0, 5.0)];
    let tip = tip.map(|offset| pos2(first, top) + offset);
    painter.line(tip.to_vec(), stroke);
    let at = Align2::CENTER_CENTER.anchor_size(pos2(middle, y), galley.size());
    painter.galley(at.min, galley, theme.text_2);
}

/// Says what follows this step.
fn return_words(at: LoopStep<'_>) -> &'static str {
    let is_last = at.index + 1 == at.generation.steps.len();
    match &at.generation.finish {
        Some(reason) if is_last => match reason {
            FinishReason::EndOfText => "this token ended the text",
            FinishReason::StopString { .. } => "a stop sequence ended the text",
            FinishReason::GrammarComplete => "the grammar is complete",
            FinishReason::MaxTokens => "the token limit ended the text",
            FinishReason::ContextFull => "the context is full",
            FinishReason::Cancelled => "stopped by you",
            FinishReason::Interrupted => "interrupted: Quartet was closed",
            FinishReason::Scored => "the text was given: every token is scored",
            FinishReason::Paused if at.is_step_mode => "paused: press Step for the next token",
            FinishReason::Paused => "paused in step mode",
            FinishReason::ByServer { .. } => "the server ended the text",
            FinishReason::Failed { .. } => "stopped by an error",
        },
        _ => "and again, until the end of the text",
    }
}
