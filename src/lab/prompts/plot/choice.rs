//! The choice at which right and wrong answers part: the candidates that the settings left end to end
//! from 0 to 1, with the coin of each answer above.

use egui::{Align2, Color32, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::decoding::TokenId;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::Vocabulary;
use crate::generation::formatting::{percent, quoted, token_word};
use crate::lab::prompts::figures::ForkChoice;
use crate::plots::{TextRun, paint_text, paint_text_within};

/// The height of the strip, with the coins above it.
pub(in crate::lab::prompts) const CHOICE: f32 = 46.0;

const COINS: f32 = 24.0;

/// The width from which a candidate shows its word.
const WITH_WORD: f32 = 26.0;

/// Draws the strip. A candidate has the color of success if a right answer took it, and the color of
/// an error if a wrong one did.
pub(in crate::lab::prompts) fn choice_ui(
    ui: &Ui,
    rect: Rect,
    choice: &ForkChoice,
    vocabulary: &Vocabulary,
) {
    let theme = Theme::of(ui);
    let bar = rect.with_min_y(rect.top() + COINS);
    let x = |share: f64| bar.left() + bar.width() * share.clamp(0.0, 1.0) as f32;
    let mut below = 0.0;
    for candidate in &choice.kept {
        let part = Rect::from_x_y_ranges(x(below)..=x(below + candidate.prob), bar.y_range());
        below += candidate.prob;
        let fill = color_of(theme, choice, candidate.token);
        let inside = part.shrink2(vec2(0.5, 0.0));
        ui.painter().rect_filled(inside, 2, fill);
        if part.width() >= WITH_WORD {
            let word = token_word(&vocabulary.piece(candidate.token));
            let run = TextRun::new(&word, Face::Candidate, theme.text_1);
            let at = pos2(part.left() + 5.0, part.center().y);
            paint_text_within(ui, at, Align2::LEFT_CENTER, run, part.width() - 8.0);
        }
    }
    let rest = Rect::from_x_y_ranges(x(below)..=bar.right(), bar.y_range());
    if rest.width() > 1.0 {
        ui.painter().rect_filled(rest, 2, theme.surface_2);
    }
    let mut free_from = f32::NEG_INFINITY;
    let mut coins: Vec<(f64, usize, bool)> = choice
        .draws
        .iter()
        .filter_map(|draw| Some((draw.coin?, draw.answer + 1, draw.is_right)))
        .collect();
    coins.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (coin, number, is_right) in coins {
        let color = if is_right { theme.success } else { theme.error };
        let tip = pos2(x(coin), bar.top() - 1.0);
        let corners = vec![tip, tip + vec2(-4.0, -7.0), tip + vec2(4.0, -7.0)];
        let coin = Shape::convex_polygon(corners, color, Stroke::NONE);
        ui.painter().add(coin);
        let words = number.to_string();
        let half = Face::Micro.width(ui, &words) / 2.0;
        if tip.x - half >= free_from {
            free_from = tip.x + half + 2.0;
            let run = TextRun::new(&words, Face::Micro, theme.text_2);
            let at = pos2(tip.x, tip.y - 14.0);
            paint_text(ui, at, Align2::CENTER_CENTER, run);
        }
    }
    let response = ui.interact(rect, ui.scope_id().with("choice"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, spoken(choice, vocabulary)));
}

fn color_of(theme: &Theme, choice: &ForkChoice, token: TokenId) -> Color32 {
    let mut takers = choice
        .draws
        .iter()
        .filter(|draw| draw.sampled.token == token);
    match takers.next() {
        Some(draw) if draw.is_right => theme.success.gamma_multiply(0.35),
        Some(_) => theme.error.gamma_multiply(0.35),
        None => theme.surface_3,
    }
}

/// "‘Oslo’ 62 % → 71 %": the probability of a candidate before and after the settings.
pub(in crate::lab::prompts) fn candidate_words(
    choice: &ForkChoice,
    vocabulary: &Vocabulary,
) -> Vec<String> {
    let candidates = choice.candidates.iter().map(|(raw, after)| {
        let word = quoted(&vocabulary.piece(raw.token));
        let after = after.map_or("removed".to_owned(), percent);
        format!("{word} {} → {after}", percent(raw.prob))
    });
    candidates.collect()
}

/// Describes the strip for screen readers.
fn spoken(choice: &ForkChoice, vocabulary: &Vocabulary) -> String {
    let draws = choice.draws.iter().map(|draw| {
        let word = quoted(&vocabulary.piece(draw.sampled.token));
        let verdict = if draw.is_right { "right" } else { "wrong" };
        let coin = draw.coin.map(|coin| format!(", coin {coin:.3}"));
        let coin = coin.unwrap_or_default();
        format!("answer {}, {verdict}{coin}: {word}", draw.answer + 1)
    });
    format!("The choice: {}", draws.collect::<Vec<_>>().join("; "))
}
