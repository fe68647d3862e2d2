//! The strengths of the settings: a row for each, with its interval. The same on screen and in a
//! picture.

use egui::{Align2, Color32, Rect, Ui, pos2, vec2};

use super::{BlindResults, Strength};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::plots::{PicturePlot, TextRun, paint_text, paint_text_within, unit_title_ui};

/// The height of the line of words of a row, and of the rail below it.
pub(super) const WORDS: f32 = 18.0;
pub(super) const RAIL: f32 = 14.0;

/// The thickness of the rail, and the radius of the mark on it.
const THICKNESS: f32 = 4.0;
const MARK: f32 = 4.5;

/// The height of the title of a picture, and the distance from one row to the next.
const TITLE: f32 = 30.0;
const PITCH: f32 = WORDS + RAIL + 10.0;

/// "57 %  40–73". The interval is rounded outwards, so that it never becomes narrower.
pub(super) fn figures_of(strength: &Strength) -> String {
    let [low, high] = ends_of(strength);
    let chance = strength.chance * 100.0;
    format!("{chance:.0} %  {low}–{high}")
}

/// Returns the ends of the interval in percent, rounded outwards.
pub(super) fn ends_of(strength: &Strength) -> [f64; 2] {
    [
        (strength.low * 100.0).floor(),
        (strength.high * 100.0).ceil(),
    ]
}

/// Draws the interval and the strength on a rail from 0 to 1.
pub(super) fn rail_ui(ui: &Ui, rect: Rect, strength: &Strength) {
    let theme = Theme::of(ui);
    let y = rect.top() + 6.0;
    let x = |share: f64| rect.left() + share as f32 * rect.width();
    let half = THICKNESS / 2.0;
    let rail =
        |from: f64, to: f64| Rect::from_min_max(pos2(x(from), y - half), pos2(x(to), y + half));
    ui.painter().rect_filled(rail(0.0, 1.0), 2, theme.surface_3);
    let interval = rail(strength.low, strength.high);
    ui.painter().rect_filled(interval, 2, theme.bar_before);
    let at = pos2(x(strength.chance), y);
    ui.painter().circle_filled(at, MARK, theme.text_1);
}

impl PicturePlot for BlindResults {
    fn title(&self) -> &'static str {
        "What the votes say"
    }

    fn default_size(&self) -> [f32; 2] {
        [560.0, TITLE + self.settings.len() as f32 * PITCH]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [_, height] = self.default_size();
        [width.max(240.0), height]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        let theme = Theme::of(ui);
        let area = ui.max_rect();
        let unit = "how often each is picked over one of average strength, 95 % intervals";
        unit_title_ui(
            ui,
            area.with_max_y(area.top() + TITLE),
            [self.title(), unit],
            "",
        );
        let mut row = Rect::from_min_size(
            area.left_top() + vec2(0.0, TITLE),
            vec2(area.width(), PITCH),
        );
        for place in self.order() {
            let (Some(settings), Some(strength)) =
                (self.settings.get(place), self.strengths.get(place))
            else {
                continue;
            };
            let (words, rail) = row.split_top_bottom_at_y(row.top() + WORDS);
            let y = words.center().y;
            let run = TextRun::new(settings, Face::Small, theme.text_1);
            let figures = figures_of(strength);
            let number = TextRun::new(&figures, Face::Small, theme.text_2);
            let at = pos2(words.right(), y);
            let number = paint_text(ui, at, Align2::RIGHT_CENTER, number);
            let room = number.left() - 12.0 - words.left();
            let at = pos2(words.left(), y);
            paint_text_within(ui, at, Align2::LEFT_CENTER, run, room);
            rail_ui(ui, rail.with_max_y(rail.top() + RAIL), strength);
            row = row.translate(vec2(0.0, PITCH));
        }
    }
}
