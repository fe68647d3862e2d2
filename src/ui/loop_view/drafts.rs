//! The Loop tab for a text from speculative decoding: its passes, and whether the drafts paid off.

use egui::{Label, Rect, ScrollArea, Stroke, Ui, vec2};

use crate::analysis::{DraftPasses, Metrics};
use crate::decoding::{DraftRule, Drafts};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::Generation;
use crate::generation::formatting::{grouped, pane_letter, speed};
use crate::plots::{DraftStrip, Target, draft_strip_ui};
use crate::state::{AppState, Command, Pin};
use crate::ui::why::split;

/// Returns the passes of the text whose token is pinned, or else of the first that was written with
/// drafts.
pub(in crate::ui) fn draft_strip(state: &AppState) -> Option<DraftStrip<'_>> {
    let pinned = state.pin.and_then(|_| state.shown_step());
    let of = |pane: usize, step| {
        let text = state.panes.get(pane)?.generation()?;
        DraftStrip::of(pane, text, step)
    };
    match pinned {
        Some((pane, step)) => of(pane, Some(step)),
        None => state.panes.places().find_map(|pane| of(pane, None)),
    }
}

/// Draws the passes, and beside them what they show.
pub(super) fn drafts_ui(
    ui: &mut Ui,
    body: Rect,
    state: &AppState,
    strip: &DraftStrip<'_>,
    commands: &mut Vec<Command>,
) {
    let (left, right) = split(body);
    let inside = Rect::from_min_max(left.min + vec2(14.0, 8.0), left.max - vec2(14.0, 8.0));
    let clicked = draft_strip_ui(ui, inside, strip, Target::Screen);
    let pass = clicked.and_then(|pass| strip.passes.passes.get(pass));
    if let (Some(pass), Some(pane)) = (pass, state.panes.get(strip.pane)) {
        commands.push(Command::Pin(Pin {
            pane: pane.id,
            step: pass.first,
        }));
    }
    let Some(right) = right else {
        return;
    };
    let theme = Theme::of(ui);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter()
        .vline(right.left(), right.shrink(1.0).y_range(), edge);
    let mut ui = child_ui(ui, right.shrink2(vec2(14.0, 10.0)), "drafts");
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut ui, |ui| reading_ui(ui, state, strip));
}

fn reading_ui(ui: &mut Ui, state: &AppState, strip: &DraftStrip<'_>) {
    let theme = Theme::of(ui);
    ui.add(Label::new(
        Face::SmallMedium
            .text("What the drafts did")
            .color(theme.text_1),
    ));
    let drafts = strip.generation.config.chain.drafts;
    let sentence = Face::Why
        .text(sentence(&strip.passes, drafts))
        .color(theme.text_1);
    ui.add(Label::new(sentence).wrap());
    ui.add_space(6.0);
    for (label, value) in facts(state, strip) {
        ui.horizontal(|ui| {
            ui.set_min_height(20.0);
            let width = 128.0;
            let label = Face::Small.text(label).color(theme.text_3);
            ui.add_sized(
                vec2(width, 16.0),
                Label::new(label).halign(egui::Align::Min),
            );
            ui.add(Label::new(Face::Small.text(value).color(theme.text_1)));
        });
    }
    ui.add_space(4.0);
    let note = Face::Micro.text(note(drafts)).color(theme.text_3);
    ui.add(Label::new(note).wrap());
}

/// Says how many drafts were accepted, and how many tokens each pass wrote.
fn sentence(passes: &DraftPasses, drafts: Option<Drafts>) -> String {
    let n = format!("{:.2}", passes.tokens_per_pass());
    let share = 100.0 * passes.n_accepted() as f64 / passes.n_verified().max(1) as f64;
    match (passes.n_verified(), drafts) {
        (0, Some(Drafts::Model(_))) => "Nothing was drafted yet.".to_owned(),
        (0, _) => {
            "Nothing was drafted: no pair of adjacent tokens has occurred twice yet.".to_owned()
        }
        _ if is_by_ratio(drafts) => format!(
            "{share:.0} % of the verified drafts were accepted with probability min(1, p/q), so \
             each pass wrote {n} tokens instead of one."
        ),
        _ => format!(
            "{share:.0} % of the verified drafts were what the settings chose anyway, so each pass \
             wrote {n} tokens instead of one."
        ),
    }
}

/// Says how the text compares with one without drafts.
fn note(drafts: Option<Drafts>) -> &'static str {
    if is_by_ratio(drafts) {
        "The text differs from the one without drafts, but it has the same distribution."
    } else {
        "The text is the one that would have been written without drafts."
    }
}

fn is_by_ratio(drafts: Option<Drafts>) -> bool {
    matches!(drafts, Some(Drafts::Model(drafts)) if drafts.rule == DraftRule::Ratio)
}

fn per_sec(rate: f64) -> String {
    format!("{} tokens/s", speed(rate))
}

fn facts(state: &AppState, strip: &DraftStrip<'_>) -> Vec<(String, String)> {
    let passes = &strip.passes;
    let mut facts = vec![
        (
            "Drafts accepted".to_owned(),
            format!(
                "{} of {} verified, {} drafted",
                grouped(passes.n_accepted() as f64),
                grouped(passes.n_verified() as f64),
                grouped(passes.n_drafted() as f64)
            ),
        ),
        (
            "Forward passes".to_owned(),
            format!(
                "{} for {} tokens",
                grouped(passes.passes.len() as f64),
                grouped(strip.generation.steps.len() as f64)
            ),
        ),
    ];
    let rate = |text: &Generation| Metrics::of(text).decode_per_sec;
    if let Some(rate) = rate(strip.generation) {
        facts.push(("With drafts".to_owned(), per_sec(rate)));
    }
    let plain = state.panes.placed().find_map(|(place, pane)| {
        let text = pane.generation()?;
        let is_plain = text.config.chain.drafts.is_none()
            && text.config.chain.selector.beam_search().is_none()
            && text.shares_prompt_with(strip.generation);
        Some((place, rate(text).filter(|_| is_plain)?))
    });
    if let Some((place, rate)) = plain {
        let label = format!("Plain, pane {}", pane_letter(place));
        facts.push((label, per_sec(rate)));
    }
    facts
}
