//! The comparison of the texts as a picture: the matrix, the selected pair and the measures.

use egui::{Color32, Rect, Ui, pos2, vec2};

use super::matrix::{matrix_height, matrix_ui};
use super::measures::{Measured, saving_ui, table_height, table_ui};
use super::pair::pair_ui;
use super::{MATRIX, MEASURES, PAIR, selected};
use crate::analysis::{Prices, TextMetrics, have_different_tokenizers};
use crate::design::child_ui::child_ui;
use crate::generation::Generation;
use crate::plots::{
    AROUND, MARGIN, PicturePlot, PlotFile, PlottedRun, RunPicture, TITLE_ROW, title_ui,
};
use crate::state::ComparedPair;

/// The space between two columns, and between two parts below each other, in points.
const COLUMN_GAP: f32 = 29.0;
const ROW_GAP: f32 = 24.0;

/// The minimum width of three columns, and the height of the pair below the matrix.
const THREE_COLUMNS: f32 = MATRIX + PAIR + MEASURES + 2.0 * COLUMN_GAP;
const PAIR_BELOW: f32 = 330.0;

/// The usual width of a picture.
const WIDTH: f32 = 1240.0;

/// The texts with all that is compared.
#[derive(Debug)]
struct ComparePicture<'a> {
    texts: Vec<(usize, &'a Generation)>,
    pairs: Vec<ComparedPair>,
    selected: [usize; 2],
    metrics: Vec<(usize, TextMetrics)>,
    prices: Prices,
}

impl<'a> ComparePicture<'a> {
    /// Compares the texts of a run. Returns `None` if there are fewer than two.
    fn of(run: PlottedRun<'a>) -> Option<Self> {
        let texts = run.panes.iter().copied().enumerate();
        let texts = texts.filter_map(|(place, text)| Some((place, text?)));
        let texts: Vec<_> = texts.filter(|(_, text)| !text.steps.is_empty()).collect();
        let choices = run.choices.compare;
        let pairs = ComparedPair::all_of(&texts);
        let metrics = texts.iter().map(|(place, text)| {
            let metrics = if choices.counts_thinking {
                TextMetrics::of(text)
            } else {
                TextMetrics::of_answer(text)
            };
            (*place, metrics)
        });
        let metrics: Vec<_> = metrics.collect();
        (texts.len() >= 2).then(|| Self {
            selected: selected(choices.pair, &pairs),
            metrics,
            pairs,
            texts,
            prices: run.choices.prices,
        })
    }

    fn metrics(&self) -> Vec<(usize, &TextMetrics)> {
        let metrics = self.metrics.iter();
        metrics.map(|(place, metrics)| (*place, metrics)).collect()
    }

    fn measures_height(&self) -> f32 {
        let saving = if self.prices.are_set() { 40.0 } else { 0.0 };
        table_height(&self.metrics(), self.prices) + saving
    }

    fn measures_ui(&self, ui: &mut Ui) {
        let metrics = self.metrics();
        let texts = self.texts.iter().map(|(_, text)| *text);
        let shown = Measured {
            metrics: &metrics,
            breaks: None,
            has_one_tokenizer: !have_different_tokenizers(texts),
        };
        table_ui(ui, &shown, &mut false, self.prices);
        ui.add_space(6.0);
        saving_ui(ui, &metrics, self.prices);
    }
}

impl PicturePlot for ComparePicture<'_> {
    fn title(&self) -> &'static str {
        "Compare"
    }

    fn default_size(&self) -> [f32; 2] {
        self.size_at(WIDTH)
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let matrix = matrix_height(self.texts.len());
        let measures = self.measures_height();
        if width - 2.0 * MARGIN >= THREE_COLUMNS {
            let body = matrix.max(measures).max(PAIR_BELOW);
            return [width, TITLE_ROW + body + AROUND];
        }
        // The table has a column for each text beside its names.
        let least = 200.0 + 62.0 * self.texts.len() as f32;
        let body = matrix + ROW_GAP + PAIR_BELOW + ROW_GAP + measures;
        let width = width.max(least.max(MATRIX) + 2.0 * MARGIN);
        [width, TITLE_ROW + body + AROUND]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        let words = "each pair of texts, the distributions of one pair where it diverges, and the \
                     measures of each text";
        title_ui(ui, "Compare", None, &[words.to_owned()]);
        let body = ui.available_rect_before_wrap();
        let [matrix, pair, measures] = parts(body, self.texts.len());
        let mut area = child_ui(ui, matrix, "matrix");
        matrix_ui(&mut area, &self.texts, &self.pairs, self.selected);
        let mut pairs = self.pairs.iter();
        if let Some(shown) = pairs.find(|pair| pair.panes == self.selected) {
            pair_ui(&mut child_ui(ui, pair, "pair"), &self.texts, shown);
        }
        self.measures_ui(&mut child_ui(ui, measures, "measures"));
    }
}

/// Returns the places of the matrix, the pair and the measures: beside each other if there is room.
fn parts(body: Rect, n_texts: usize) -> [Rect; 3] {
    if body.width() >= THREE_COLUMNS {
        let matrix = body.with_max_x(body.left() + MATRIX);
        let measures = body.with_min_x(body.right() - MEASURES);
        let between = [matrix.right() + COLUMN_GAP, measures.left() - COLUMN_GAP];
        let pair = Rect::from_x_y_ranges(between[0]..=between[1], body.y_range());
        return [matrix, pair, measures];
    }
    let part = |top: f32, height: f32| {
        Rect::from_min_size(pos2(body.left(), top), vec2(body.width(), height))
    };
    let matrix = part(body.top(), matrix_height(n_texts));
    let pair = part(matrix.bottom() + ROW_GAP, PAIR_BELOW);
    let measures = body.with_min_y(pair.bottom() + ROW_GAP);
    [matrix, pair, measures]
}

/// How far apart the texts of a run are.
pub(in crate::ui) struct CompareOfRun;

impl RunPicture for CompareOfRun {
    fn files(&self) -> Vec<PlotFile> {
        vec![PlotFile::new("compare", "how far apart the texts are")]
    }

    fn has_data(&self, texts: &[&Generation]) -> bool {
        let started = texts.iter().filter(|text| !text.steps.is_empty());
        started.count() >= 2
    }

    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        Some(Box::new(ComparePicture::of(run)?))
    }
}
