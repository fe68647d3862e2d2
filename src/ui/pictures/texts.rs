//! The picture of the texts: side by side, tinted as in the window.

use egui::{Align2, Color32, Label, Rect, Ui, UiBuilder, Vec2, pos2, vec2};

use super::{Palette, context, measured};
use crate::analysis::watermark::{WatermarkScan, first_mark, watermark_legend};
use crate::decoding::watermark::Watermark;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{BADGE, legend, paint_badge};
use crate::generation::Generation;
use crate::plots::{
    AROUND, MARGIN, PicturePlot, PlotChoices, PlotFile, PlottedRun, RunPicture, TITLE_ROW, TextRun,
    count, paint_text, paint_text_within, title_ui,
};
use crate::state::Tint;
use crate::ui::token_text::{TextEnd, TokenTextInput, paint_whole};

/// The minimum width of a text, and the gap between two, in points.
const COLUMN: f32 = 272.0;
const GAP: f32 = 28.0;

/// The maximum number of texts in a row of usual width.
const MAX_COLUMNS: usize = 4;

/// The heights of a text's head and foot, and the gap between two rows of texts.
const HEAD: f32 = 48.0;
const FOOT: f32 = 24.0;
const ROW_GAP: f32 = 20.0;

/// The texts of a run, with the tint of their tokens.
#[derive(Debug, Clone)]
pub struct TextsPicture<'a> {
    /// The panes that have a text, by index.
    texts: Vec<(usize, &'a Generation)>,
    tint: Tint,
    /// The watermark scan of each text, for the tint that shows it.
    scans: Vec<Option<WatermarkScan>>,
}

impl<'a> TextsPicture<'a> {
    /// Creates the picture of all panes that have a text.
    pub fn of(panes: &[Option<&'a Generation>], tint: Tint, watermark: Option<Watermark>) -> Self {
        let texts = panes.iter().enumerate();
        let texts = texts.filter_map(|(pane, generation)| Some((pane, (*generation)?)));
        let texts: Vec<_> = texts.collect();
        let scans = texts.iter().map(|(_, text)| {
            let shown = watermark.filter(|_| tint == Tint::Watermark)?;
            Some(WatermarkScan::of_text(shown, text))
        });
        Self {
            scans: scans.collect(),
            texts,
            tint,
        }
    }

    /// Returns the usual width of its drawing, in points.
    fn width(&self) -> f32 {
        // The title and the legend need the width of two columns.
        let n_columns = self.texts.len().clamp(2, MAX_COLUMNS) as f32;
        n_columns * (COLUMN + GAP) - GAP
    }

    /// Returns the height of its drawing, in points.
    fn height(&self, width: f32) -> f32 {
        let size = vec2(width, 1000.0);
        measured(&context(Palette::Light), size, |ui| self.columns_ui(ui))
    }

    /// Draws it into the remaining space of `ui`. Returns its height.
    fn columns_ui(&self, ui: &mut Ui) -> f32 {
        let top = ui.cursor().top();
        let width = ui.available_width();
        let n_columns = count(f64::from((width + GAP) / (COLUMN + GAP))).max(1);
        let column = (width + GAP) / n_columns as f32 - GAP;
        self.title_ui(ui, n_columns > 1);
        let mut corner = ui.cursor().min;
        let left = corner.x;
        let texts: Vec<_> = self.texts.iter().zip(&self.scans).collect();
        for row in texts.chunks(n_columns) {
            let mut row_height: f32 = 0.0;
            for ((pane, generation), scan) in row {
                let tint = (self.tint, scan.as_ref());
                let at = Rect::from_min_size(corner, vec2(column, f32::INFINITY));
                let height = text_ui(ui, at, (*pane, generation), tint);
                row_height = row_height.max(height);
                corner.x += column + GAP;
            }
            corner = pos2(left, corner.y + row_height + ROW_GAP);
        }
        corner.y - ROW_GAP - top
    }

    /// Draws the title, what the tint shows, and its legend, in one row if there is room.
    fn title_ui(&self, ui: &mut Ui, in_one_row: bool) {
        let subtitle = match self.tint {
            Tint::None => String::new(),
            Tint::Probability => "tint: probability of each token before the chain".to_owned(),
            Tint::Rank => "tint: rank of each token before the chain".to_owned(),
            Tint::Entropy => "tint: entropy before the chain, in bits".to_owned(),
            Tint::Surprisal => "tint: surprise of each token before the chain, in bits".to_owned(),
            Tint::Watermark => match self.scans.iter().flatten().next() {
                Some(scan) => format!("tint: score of each token for a {}", scan.watermark()),
                None => "tint: watermark".to_owned(),
            },
        };
        let labels = match self.tint {
            Tint::Watermark => {
                let mark = self.scans.iter().flatten().next();
                watermark_legend(mark.map(WatermarkScan::watermark).as_ref())
            }
            tint => tint.legend(),
        };
        if in_one_row {
            let right = ui.max_rect().right();
            let rest = title_ui(ui, "The texts", None, &[subtitle]);
            let at = Rect::from_min_max(rest.min, pos2(right, rest.max.y));
            let layout = egui::Layout::right_to_left(egui::Align::Center);
            let mut legend_ui = ui.new_child(UiBuilder::new().max_rect(at).layout(layout));
            legend(&mut legend_ui, self.tint, labels);
        } else {
            title_ui(ui, "The texts", None, &[]);
            let color = Theme::of(ui).text_3;
            ui.add(Label::new(Face::Small.text(subtitle).color(color)).wrap());
            ui.horizontal(|ui| legend(ui, self.tint, labels));
        }
        ui.add_space(HEAD - TITLE_ROW - 12.0);
    }
}

/// Draws a text below its name and settings. Returns the total height.
fn text_ui(
    ui: &Ui,
    column: Rect,
    (pane, generation): (usize, &Generation),
    (tint, watermark): (Tint, Option<&WatermarkScan>),
) -> f32 {
    let theme = Theme::of(ui);
    let (corner, width) = (column.min, column.width());
    let badge = Rect::from_min_size(corner, Vec2::splat(BADGE));
    paint_badge(ui.painter(), theme, badge, pane);
    let shown_name = generation.shown_name();
    let name = TextRun::new(&shown_name, Face::Strong, theme.text_1);
    let at = pos2(badge.right() + 8.0, badge.center().y);
    paint_text_within(ui, at, Align2::LEFT_CENTER, name, width - BADGE - 8.0);
    let config = &generation.config;
    let settings = format!("{}, seed {}", config.chain, config.seed);
    let settings = TextRun::new(&settings, Face::Small, theme.text_3);
    let at = pos2(corner.x, badge.bottom() + 12.0);
    paint_text_within(ui, at, Align2::LEFT_CENTER, settings, width);

    let input = TokenTextInput {
        generation,
        tint,
        watermark,
        pinned: None,
        same_step: None,
        fork_step: None,
        breaks_at: None,
        breaks_other_at: None,
        contradicts_at: None,
        unjudged_from: None,
        n_dimmed: 0,
        looping: None,
        what_ifs: None,
        kind: None,
        show_marks: false,
        end: TextEnd::Plain,
        has_cards: false,
        can_branch: false,
        pane_color: theme.pane(pane),
    };
    let text = pos2(corner.x, corner.y + HEAD);
    let height = paint_whole(ui, text, width, input);
    let foot = pos2(corner.x, text.y + height + FOOT / 2.0);
    let foot_run = foot_words(generation);
    let foot_run = TextRun::new(&foot_run, Face::Micro, theme.text_3);
    paint_text(ui, foot, Align2::LEFT_CENTER, foot_run);
    HEAD + height + FOOT
}

/// Says how the text ended and how long it is.
fn foot_words(generation: &Generation) -> String {
    let end = generation.finish_words();
    let end = end.unwrap_or_else(|| "Still running".to_owned());
    match generation.steps.len() {
        1 => format!("{end} · 1 token"),
        n => format!("{end} · {n} tokens"),
    }
}

/// The texts of a run.
pub(super) struct TextsOfRun;

impl RunPicture for TextsOfRun {
    fn files(&self) -> Vec<PlotFile> {
        vec![PlotFile::new("texts", "the texts, tinted by probability")]
    }

    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        let PlotChoices {
            tint, watermark, ..
        } = run.choices;
        let chains = run.panes.iter().flatten().map(|text| &text.config.chain);
        let watermark = watermark.or_else(|| first_mark(chains));
        Some(Box::new(TextsPicture::of(run.panes, tint, watermark)))
    }
}

impl PicturePlot for TextsPicture<'_> {
    fn title(&self) -> &'static str {
        "The texts"
    }

    fn default_size(&self) -> [f32; 2] {
        let width = self.width();
        [width + 2.0 * MARGIN, self.height(width) + AROUND]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let width = width.max(COLUMN + 2.0 * MARGIN);
        [width, self.height(width - 2.0 * MARGIN) + AROUND]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        self.columns_ui(ui);
    }
}
