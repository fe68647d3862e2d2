//! The two distributions at the fork of the selected pair.

use egui::{Align2, Label, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::matrix::bits;
use crate::analysis::{ForkComparison, JensenShannon, TextComparison};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, badge};
use crate::generation::Generation;
use crate::generation::formatting::{pane_letter, percent, quoted};
use crate::plots::{TokenStyle, token_galley};
use crate::state::ComparedPair;

/// The height of a row, and the widths of its word and its numbers.
const ROW: f32 = 21.0;
const WORD: f32 = 76.0;
const NUMBERS: f32 = 112.0;

/// The height of the sentence below the rows.
const SENTENCE: f32 = 44.0;

/// Draws the pair's title, the most likely tokens at its fork, and a sentence about them.
pub(super) fn pair_ui(ui: &mut Ui, texts: &[(usize, &Generation)], pair: &ComparedPair) {
    let theme = Theme::of(ui);
    let text = |pane: usize| {
        let mut texts = texts.iter();
        texts
            .find(|(place, _)| *place == pane)
            .map(|(_, text)| *text)
    };
    let [a, b] = pair.panes;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.spacing_mut().interact_size.y = 16.0;
        badge(ui, a, SMALL_BADGE);
        ui.label(Face::Small.text("and").color(theme.text_2));
        badge(ui, b, SMALL_BADGE);
        let words = title(pair.comparison.as_ref());
        ui.label(Face::SmallMedium.text(words).color(theme.text_1));
    });
    let Some(fork) = pair.comparison.as_ref().and_then(|both| both.fork.as_ref()) else {
        return;
    };
    let Some(vocabulary) = text(a) else {
        return;
    };
    ui.add_space(4.0);
    let room = ui.available_height() - SENTENCE;
    let n_rows = (2..=16).rev().find(|n| *n as f32 * ROW <= room);
    let n_rows: usize = n_rows.unwrap_or(1);
    let largest = fork
        .rows
        .iter()
        .flat_map(|(_, probs)| probs)
        .copied()
        .fold(1e-9, f64::max);
    ui.spacing_mut().item_spacing.y = 0.0;
    for (token, probs) in fork.rows.iter().take(n_rows) {
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
        let piece = vocabulary.vocabulary.piece(*token);
        let numbers = numbers(*probs);
        let name = format!("{}: {numbers}", quoted(&piece));
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, name.as_str()));
        let style = TokenStyle::plain(theme.text_1);
        let galley = token_galley(ui, &piece, style, WORD - 10.0);
        let word = pos2(rect.left() + WORD - 10.0, rect.center().y);
        let at = Align2::RIGHT_CENTER.anchor_size(word, galley.size());
        ui.painter().galley(at.min, galley, theme.text_1);
        let unit = (rect.width() - WORD - NUMBERS) / largest as f32;
        let mut end: f32 = 0.0;
        for ((pane, prob), offset) in pair.panes.iter().zip(probs).zip([-6.0, 1.0]) {
            let width = if *prob > 0.0 {
                (*prob as f32 * unit).max(1.5)
            } else {
                1.0
            };
            end = end.max(width);
            let corner = pos2(rect.left() + WORD, rect.center().y + offset);
            let bar = Rect::from_min_size(corner, vec2(width, 5.0));
            let color = if *prob > 0.0 {
                theme.pane(*pane)
            } else {
                theme.bar_cut
            };
            ui.painter().rect_filled(bar, 1, color);
        }
        ui.painter().text(
            pos2(rect.left() + WORD + end + 8.0, rect.center().y),
            Align2::LEFT_CENTER,
            numbers,
            Face::Micro.font(),
            theme.text_2,
        );
    }
    ui.add_space(6.0);
    let by_hand = picked_by_hand(texts, pair.panes, fork.step);
    let sentence = Face::Small.text(sentence(fork, by_hand));
    let sentence = sentence.color(theme.text_2);
    ui.add(Label::new(sentence).wrap());
}

fn title(both: Option<&TextComparison>) -> String {
    match both {
        None => "continue different prompts, conversations or models".to_owned(),
        Some(both) => match &both.fork {
            Some(fork) => format!("diverge at token {}", fork.step + 1),
            None if both.n_edits == 0 => "are identical".to_owned(),
            None => format!("agree for {} tokens", both.n_shared),
        },
    }
}

/// "100 % · 41 %", "cut · 21 %".
fn numbers(probs: [f64; 2]) -> String {
    let [a, b] = probs.map(|prob| {
        if prob > 0.0 {
            percent(prob)
        } else {
            "cut".to_owned()
        }
    });
    format!("{a} · {b}")
}

/// Returns the pane whose token at this step was picked by hand, if one was.
fn picked_by_hand(texts: &[(usize, &Generation)], panes: [usize; 2], step: usize) -> Option<usize> {
    let by_hand = texts.iter().find(|(place, text)| {
        let step = text.steps.get(step);
        panes.contains(place) && step.is_some_and(|step| step.trace.draw.is_by_hand())
    });
    by_hand.map(|(place, _)| *place)
}

fn sentence(fork: &ForkComparison, by_hand: Option<usize>) -> String {
    let after = bits(fork.after.bits, fork.after.exact);
    let is_zero = |divergence: JensenShannon| divergence.bits < 5e-7 && divergence.exact;
    if is_zero(fork.before) && is_zero(fork.after) {
        let picked = by_hand.map_or_else(String::new, |pane| {
            format!(" The token of {} was picked by hand.", pane_letter(pane))
        });
        format!("The two distributions are the same, before and after the settings.{picked}")
    } else if is_zero(fork.before) {
        format!(
            "Before the settings the two distributions are identical: same model, same text. After \
             them, they differ by {after} bits."
        )
    } else {
        let before = bits(fork.before.bits, fork.before.exact);
        format!(
            "The two distributions differ by {before} bits before the settings, and by {after} bits \
             after them."
        )
    }
}
