//! The picture of an X-ray: one step of a text, or the logits set by hand.

use std::collections::BTreeMap;

use egui::{Color32, Ui};

use crate::analysis::xray::{XrayRow, XrayTable};
use crate::decoding::{ChainConfig, TokenId};
use crate::generation::{Generation, Piece};
use crate::plots::{
    AROUND, NextTokenData, PicturePlot, PlotFile, PlottedRun, RunPicture, StepAt, TITLE_ROW,
    title_ui,
};
use crate::ui::xray::{Heights, Xray, table_height, table_ui};

/// The maximum number of rows, besides those of the drawn and the generated token.
const MAX_ROWS: usize = 12;

/// An X-ray with everything needed to draw it.
#[derive(Debug, Clone, PartialEq)]
pub struct XrayPicture {
    title: &'static str,
    subtitle: String,
    pane: usize,
    table: XrayTable,
    /// The texts of the rows' tokens, and of those on the coin bar.
    pieces: BTreeMap<u32, Piece>,
    /// The token that was generated, if the table shows what other settings would do.
    generated: Option<TokenId>,
}

impl XrayPicture {
    /// Creates the X-ray of a step under a chain and a seed. Returns `None` if its probabilities
    /// were not recorded.
    pub fn of_step(
        generation: &Generation,
        at: StepAt,
        chain: &ChainConfig,
        seed: u64,
    ) -> Option<Self> {
        let step = generation.steps.get(at.step)?;
        chain.validate().ok()?;
        let table = XrayTable::of(generation, at.step, chain, seed)?;
        let generated = table.what_if.then_some(step.token);
        let when = if table.what_if { ", what if" } else { "" };
        let n_steps = generation.steps.len();
        let subtitle = format!("token {} of {n_steps}{when} · {chain}", at.step + 1);
        let piece = |token: TokenId| {
            if token == step.token {
                step.piece.clone()
            } else {
                generation.vocabulary.piece(token)
            }
        };
        let picture = Self {
            title: "X-ray",
            subtitle,
            pane: at.pane,
            table,
            pieces: BTreeMap::new(),
            generated,
        };
        Some(picture.shortened(piece))
    }

    /// Creates the X-ray of logits set by hand, under the chain of the pane at this index.
    pub fn by_hand(
        pane: usize,
        table: XrayTable,
        chain: &ChainConfig,
        piece: impl Fn(TokenId) -> Piece,
    ) -> Self {
        let picture = Self {
            title: "By hand",
            subtitle: chain.to_string(),
            pane,
            table,
            pieces: BTreeMap::new(),
            generated: None,
        };
        picture.shortened(piece)
    }

    /// Keeps the most likely rows, the drawn one and the generated one, and looks up their texts.
    fn shortened(mut self, piece: impl Fn(TokenId) -> Piece) -> Self {
        let generated = self.generated;
        let mut index = 0;
        self.table.rows.retain(|row: &XrayRow| {
            index += 1;
            index <= MAX_ROWS || row.chosen || Some(row.token) == generated
        });
        let rows = self.table.rows.iter().map(|row| row.token);
        let parts = self.table.bar.parts.iter().filter_map(|part| part.token);
        let drawn = self.table.bar.drawn.token;
        let tokens = rows.chain(parts).chain(drawn).chain(generated);
        self.pieces = tokens.map(|token| (token.0, piece(token))).collect();
        self
    }
}

/// The X-ray of the chosen step of a run, as it was recorded.
pub(super) struct XrayOfRun;

impl RunPicture for XrayOfRun {
    fn files(&self) -> Vec<PlotFile> {
        let title = "what each stage did where the texts diverge";
        vec![PlotFile::new("x-ray", title)]
    }

    fn is_of_step(&self) -> bool {
        true
    }

    /// Without an X-ray, it shows the candidates of the step.
    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        let (at, text) = run.step()?;
        let (chain, seed) = (&text.config.chain, text.config.seed);
        if let Some(xray) = XrayPicture::of_step(text, at, chain, seed) {
            return Some(Box::new(xray));
        }
        Some(Box::new(NextTokenData::of(at.pane, text, at.step)))
    }
}

impl PicturePlot for XrayPicture {
    fn title(&self) -> &'static str {
        self.title
    }

    fn default_size(&self) -> [f32; 2] {
        let height = TITLE_ROW + table_height(self.table.rows.len());
        [960.0, height + AROUND]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [_, height] = self.default_size();
        [width.max(640.0), height]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        let subtitles = std::slice::from_ref(&self.subtitle);
        title_ui(ui, self.title, Some(self.pane), subtitles);
        let rect = ui.available_rect_before_wrap();
        let piece = |token: TokenId| match self.pieces.get(&token.0) {
            Some(piece) => piece.clone(),
            None => Piece::text(String::new()),
        };
        let xray = Xray {
            table: &self.table,
            pane: self.pane,
            piece: &piece,
            generated: self.generated,
            coin_draggable: false,
            can_draw: false,
            is_picture: true,
            heights: Heights::USUAL,
            step: (0, 0),
        };
        table_ui(ui, rect, &xray);
    }
}
