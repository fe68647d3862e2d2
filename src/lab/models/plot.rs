//! Two models that read the same text: the divergence of their distributions and the margins of A,
//! token by token, or how much better one predicts the text, character by character.

use egui::{Color32, Pos2, Rect, Stroke, Ui};

use crate::design::theme::Theme;
use crate::lab::models::ComparedModels;
use crate::plots::{Axes, PicturePlot, Scale, unit_title_ui};

const TITLE: f32 = 26.0;

/// The gap between the plots.
const GAP: f32 = 18.0;

/// The radius of a point.
const POINT: f32 = 2.5;

/// The maximum number of decades of a logarithmic axis.
const N_DECADES: i32 = 8;

/// Draws the comparison into this rectangle, the same on the screen and in a file.
pub(crate) fn model_comparison_ui(ui: &Ui, rect: Rect, compared: &ComparedModels) {
    if !compared.facts.has_same_tokens {
        return lead_ui(ui, rect, compared);
    }
    let [divergence, margin] = rects_of(rect);
    divergence_ui(ui, divergence, compared);
    margin_ui(ui, margin, compared);
}

/// Returns where the plots are, one above the other.
pub(super) fn rects_of(rect: Rect) -> [Rect; 2] {
    let (above, below) = rect.split_top_bottom_at_fraction(0.5);
    [
        above.with_max_y(above.bottom() - GAP / 2.0),
        below.with_min_y(below.top() + GAP / 2.0),
    ]
}

/// A logarithmic axis.
struct Decades {
    from: f64,
    to: f64,
}

impl Decades {
    /// Covers the positive values, down to at most [`N_DECADES`] decades below the largest.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|value| *value > 0.0 && value.is_finite());
        let ends = positive.fold(None, |ends: Option<(f64, f64)>, value| {
            let (least, most) = ends.unwrap_or((value, value));
            Some((least.min(value), most.max(value)))
        });
        let (least, most) = ends.unwrap_or((1e-3, 1.0));
        let to = most.log10().ceil();
        let from = least
            .log10()
            .floor()
            .clamp(to - f64::from(N_DECADES), to - 1.0);
        Self { from, to }
    }

    fn scale(&self) -> Scale {
        let decades = (0..=N_DECADES).map(|step| self.from + f64::from(step));
        let decades = decades.take_while(|decade| *decade <= self.to);
        Scale::of(decades.map(|decade| (decade, power(decade))).collect())
    }

    /// Returns the position of a value. Values that are zero or too small lie on the axis.
    fn at(&self, value: f64) -> f64 {
        if value > 0.0 {
            value.log10().clamp(self.from, self.to)
        } else {
            self.from
        }
    }
}

/// Formats a power of ten: "0.01", "1e−5".
fn power(decade: f64) -> String {
    let value = 10_f64.powf(decade);
    if decade >= 0.0 {
        format!("{value:.0}")
    } else if decade >= -3.0 {
        format!("{value:.*}", crate::plots::count(-decade))
    } else {
        format!("1e−{:.0}", -decade)
    }
}

fn tokens_scale(compared: &ComparedModels) -> Scale {
    Scale::between(0.0, compared.n_to_predict().max(1) as f64)
}

fn divergence_ui(ui: &Ui, rect: Rect, compared: &ComparedModels) {
    let theme = Theme::of(ui);
    let title = [
        "KL divergence of B from A",
        "nats; filled where B ranks another token first",
    ];
    unit_title_ui(ui, rect, title, &compared.sentences().join(" "));
    let decades = Decades::of(compared.gaps.iter().map(|gap| gap.kl));
    let area = rect.with_min_y(rect.top() + TITLE);
    let axes = Axes::new(area, tokens_scale(compared), decades.scale());
    axes.paint(ui, "tokens of text");
    let flips: Vec<usize> = compared.flips().collect();
    for (index, gap) in compared.gaps.iter().enumerate() {
        let at = axes.at(index as f64 + 0.5, decades.at(gap.kl));
        ui.painter().vline(
            at.x,
            at.y..=axes.area().bottom(),
            Stroke::new(1.0, theme.stroke_2),
        );
        point(ui, at, flips.binary_search(&index).is_ok());
    }
}

fn margin_ui(ui: &Ui, rect: Rect, compared: &ComparedModels) {
    let theme = Theme::of(ui);
    let title = [
        "Margin between A’s first two tokens",
        "nats; the line is the noise, by which B shifts such a margin",
    ];
    unit_title_ui(ui, rect, title, &compared.sentences().join(" "));
    let margins = compared.predicted[0].iter().map(|token| token.margin);
    let noises = compared.gaps.iter().map(|gap| gap.noise);
    let decades = Decades::of(margins.clone().chain(noises.clone()));
    let area = rect.with_min_y(rect.top() + TITLE);
    let axes = Axes::new(area, tokens_scale(compared), decades.scale());
    axes.paint(ui, "tokens of text");
    let noise: Vec<Pos2> = (0..)
        .zip(noises)
        .map(|(index, noise)| axes.at(f64::from(index) + 0.5, decades.at(noise)))
        .collect();
    for at in &noise {
        ui.painter().vline(
            at.x,
            at.y..=axes.area().bottom(),
            Stroke::new(1.0, theme.stroke_1),
        );
    }
    ui.painter().line(noise, Stroke::new(1.0, theme.text_3));
    let flips: Vec<usize> = compared.flips().collect();
    for (index, margin) in margins.enumerate() {
        let at = axes.at(index as f64 + 0.5, decades.at(margin));
        point(ui, at, flips.binary_search(&index).is_ok());
    }
}

/// Draws a token: filled if the models would have chosen differently.
fn point(ui: &Ui, at: Pos2, is_flip: bool) {
    let theme = Theme::of(ui);
    if is_flip {
        ui.painter().circle_filled(at, POINT + 1.0, theme.text_1);
    } else {
        let edge = Stroke::new(1.0, theme.text_2);
        ui.painter().circle(at, POINT, theme.surface_1, edge);
    }
}

/// Draws by how many bits A predicts the text better than B, from its beginning to each position.
fn lead_ui(ui: &Ui, rect: Rect, compared: &ComparedModels) {
    let theme = Theme::of(ui);
    let title = [
        "A’s lead over B",
        "bits, from the beginning of the text; below 0, B leads",
    ];
    unit_title_ui(ui, rect, title, &compared.sentences().join(" "));
    let (mut chars, mut lead) = (0, 0.0);
    let mut points = vec![(0, 0.0)];
    for span in compared.spans() {
        chars += span.text().chars().count();
        lead += span.bits[1] - span.bits[0];
        points.push((chars, lead));
    }
    let leads = points
        .iter()
        .map(|(_, lead)| *lead)
        .filter(|lead| lead.is_finite());
    let least = leads.clone().fold(0.0, f64::min);
    let most = leads.fold(0.0, f64::max);
    let (least, most) = if most > least {
        (least, most)
    } else {
        (-1.0, 1.0)
    };
    let axes = Axes::new(
        rect.with_min_y(rect.top() + TITLE),
        Scale::between(0.0, chars.max(1) as f64),
        Scale::between(least, most),
    );
    axes.paint(ui, "characters of text");
    let zero = axes.at(0.0, 0.0).y;
    ui.painter().hline(
        axes.area().x_range(),
        zero,
        Stroke::new(1.0, theme.stroke_2),
    );
    let line = points
        .iter()
        .map(|(chars, lead)| axes.at(*chars as f64, lead.clamp(least, most)));
    ui.painter()
        .line(line.collect(), Stroke::new(1.5, theme.text_1));
}

impl PicturePlot for ComparedModels {
    fn title(&self) -> &'static str {
        "Two models, one text"
    }

    fn default_size(&self) -> [f32; 2] {
        [960.0, 600.0]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        model_comparison_ui(ui, ui.max_rect(), self);
    }
}
