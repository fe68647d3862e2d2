//! How likely texts are under many settings: a map over two numbers, a curve over one.
//!
//! Each picture is painted into a rectangle, the same on the screen and in a file.

mod curve;
mod map;

pub(crate) use curve::fit_curve_ui;
pub(crate) use map::fit_map_ui;

use egui::{Align2, Color32, Rect, Ui, pos2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::Likelihood;
use crate::lab::fit::{Fit, FitPoint};
use crate::plots::{
    PicturePlot, Target, TextRun, heat_legend, heat_legend_width, paint_text, paint_text_within,
};

const TITLE: f32 = 26.0;

/// A fit, and what to mark in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FitPlot<'a> {
    pub fit: &'a Fit,
    /// The most likely settings, if any are possible.
    pub best: Option<&'a FitPoint>,
    /// The index of the pane that has the base settings, if it still exists.
    pub pane: Option<usize>,
    /// The selected cell, and what it means.
    pub selected: Option<(usize, &'a str)>,
}

impl FitPlot<'_> {
    /// Returns how much less likely than the best the texts are, in nats, or `None` if they are
    /// impossible.
    fn nats_below(&self, likelihood: Likelihood) -> Option<f64> {
        if likelihood.ruled_out.is_some() {
            return None;
        }
        let best = if let Some(best) = self.best {
            best.likelihood.ln_prob
        } else {
            let known = self.fit.known().map(|point| point.likelihood.ln_prob);
            known.fold(f64::NEG_INFINITY, f64::max)
        };
        Some((best - likelihood.ln_prob).max(0.0))
    }

    /// Returns the words for screen readers.
    fn spoken(&self) -> String {
        let words = self.selected.map_or("", |(_, words)| words);
        format!("How likely the text is. {words}")
    }
}

/// Returns the step of the color ramp for settings this far below the best. The last is for the
/// 95 % region, which reaches `region_nats`; each step before it reaches twice as far.
fn step_of(nats_below: f64, region_nats: f64) -> usize {
    let doublings = (nats_below / region_nats).log2().ceil().max(0.0);
    (Theme::N_HEAT - 1).saturating_sub(crate::plots::count(doublings))
}

/// The minimum width of a description.
const MIN_WORDS: f32 = 60.0;

/// Draws the title, and a description of the numbers and the legend as far as there is room.
fn title_ui(ui: &Ui, rect: Rect, words: &str, ends: Option<&[String; 2]>) {
    let theme = Theme::of(ui);
    let middle = rect.top() + 9.0;
    let run = TextRun::new("How likely the text is", Face::SmallMedium, theme.text_1);
    let title = paint_text(ui, pos2(rect.left(), middle), Align2::LEFT_CENTER, run);
    let left = title.right() + 8.0;
    let mut right = rect.right();
    if let Some([least, most]) = ends {
        // Without room for what the colors mean, at least the likeliest one is named.
        let short = [String::new(), most.clone()];
        let full = [least.clone(), most.clone()];
        let fitting = [full, short]
            .into_iter()
            .find(|ends| heat_legend_width(ui, ends) <= right - left);
        if let Some(ends) = fitting {
            right = heat_legend(ui, pos2(right, middle), &ends).left() - 12.0;
        }
    }
    if right - left >= MIN_WORDS {
        let run = TextRun::new(words, Face::Small, theme.text_3);
        let at = pos2(left, middle);
        paint_text_within(ui, at, Align2::LEFT_CENTER, run, right - left);
    }
}

impl PicturePlot for FitPlot<'_> {
    fn title(&self) -> &'static str {
        "How likely the text is"
    }

    fn default_size(&self) -> [f32; 2] {
        if self.fit.setup.columns.is_some() {
            [720.0, 760.0]
        } else {
            [720.0, 420.0]
        }
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        let rect = ui.max_rect();
        if self.fit.setup.columns.is_some() {
            fit_map_ui(ui, rect, *self, Target::Picture);
        } else {
            fit_curve_ui(ui, rect, *self, Target::Picture);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::step_of;
    use crate::design::theme::Theme;

    #[test]
    fn the_last_color_is_the_region_and_each_before_it_reaches_twice_as_far() {
        let last = Theme::N_HEAT - 1;
        for (nats, below_last) in [
            (0.0, 0),
            (1.92, 0),
            (1.93, 1),
            (3.84, 1),
            (3.85, 2),
            (1.92 * 128.0, 7),
            (1e9, 8),
        ] {
            assert_eq!(step_of(nats, 1.92), last - below_last, "{nats}");
        }
    }
}
