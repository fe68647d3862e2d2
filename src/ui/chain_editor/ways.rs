//! The ways to write besides stages and a draw: guidance, a grammar and drafts. Those in use stand
//! above the draw; the others are folded.

use egui::{Align, Align2, Id, Label, Layout, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::arrival::arrives_at;
use super::number_line::INDENT;
use crate::decoding::{ChainConfig, GrammarRule, Guidance};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{ControlColors, focus_ring, paint_fill};
use crate::state::PaneId;

/// The heights of a way's row and of the line that unfolds the ways.
const ROW: f32 = 44.0;
const FOLD: f32 = 36.0;

/// The label of the line that unfolds the ways.
pub(super) const MORE: &str = "More ways to write…";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Guidance,
    Grammar,
    Drafts,
}

impl Way {
    /// All ways, from top to bottom.
    pub(super) const ALL: [Self; 3] = [Self::Guidance, Self::Grammar, Self::Drafts];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Guidance => Guidance::NAME,
            Self::Grammar => GrammarRule::NAME,
            Self::Drafts => "Drafts",
        }
    }

    /// Returns what it does, on one line.
    pub(super) const fn summary(self) -> &'static str {
        match self {
            Self::Guidance => "Away from another prompt, or a smaller model",
            Self::Grammar => "Only what JSON, a schema or a pattern allows",
            Self::Drafts => "Guess ahead, check at once; the text stays",
        }
    }

    const fn is_used(self, chain: &ChainConfig) -> bool {
        match self {
            Self::Guidance => chain.guidance.is_some(),
            Self::Grammar => chain.grammar.is_some(),
            Self::Drafts => chain.drafts.is_some(),
        }
    }

    /// Returns whether the chain can write this way. A beam search drafts no tokens.
    fn is_possible(self, chain: &ChainConfig) -> bool {
        self != Self::Drafts || chain.selector.beam_search().is_none()
    }
}

/// Where the ways stand. While the editor is open, no row moves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WaysFold {
    /// For each way, whether it was in use when the editor opened, and so stands above the draw.
    above: [bool; 3],
    is_unfolded: bool,
    /// The pass in which the editor was last drawn.
    drawn_at: u64,
}

impl WaysFold {
    /// Returns where the ways of a pane's chain stand.
    pub(super) fn of(ui: &Ui, pane: PaneId, chain: &ChainConfig) -> Self {
        let pass = ui.cumulative_pass_nr();
        let last: Option<Self> = ui.data(|data| data.get_temp(Self::id(pane)));
        let last = last.filter(|last| pass <= last.drawn_at + 2);
        let mut fold = Self {
            drawn_at: pass,
            ..last.unwrap_or_else(|| Self {
                above: Way::ALL.map(|way| way.is_used(chain)),
                ..Self::default()
            })
        };
        fold.is_unfolded |= Way::ALL.iter().any(|way| arrives_at(ui, way.name()));
        fold.remember(ui, pane);
        fold
    }

    fn remember(self, ui: &Ui, pane: PaneId) {
        ui.data_mut(|data| data.insert_temp(Self::id(pane), self));
    }

    fn id(pane: PaneId) -> Id {
        Id::unique("ways to write").with(pane.0)
    }

    /// Returns the ways above the draw.
    pub(super) fn above(self, chain: &ChainConfig) -> Vec<Way> {
        self.ways(true, chain)
    }

    /// Returns the ways below the line, if it is unfolded.
    pub(super) fn unfolded(self, chain: &ChainConfig) -> Vec<Way> {
        let below = self.ways(false, chain);
        below.into_iter().filter(|_| self.is_unfolded).collect()
    }

    fn ways(self, above: bool, chain: &ChainConfig) -> Vec<Way> {
        let ways = Way::ALL.into_iter().zip(self.above);
        let ways = ways.filter(|(way, is_above)| *is_above == above && way.is_possible(chain));
        ways.map(|(way, _)| way).collect()
    }

    /// Draws the line that folds and unfolds the ways below it, if there are any.
    pub(super) fn line_ui(&mut self, ui: &mut Ui, pane: PaneId, chain: &ChainConfig) {
        let ways = self.ways(false, chain);
        if ways.is_empty() {
            return;
        }
        let names: Vec<String> = ways.iter().map(|way| way.name().to_lowercase()).collect();
        if fold_ui(ui, self.is_unfolded, &names.join(", ")) {
            self.is_unfolded = !self.is_unfolded;
            self.remember(ui, pane);
        }
    }
}

/// Draws the line with the chevron. Returns whether it was clicked.
fn fold_ui(ui: &mut Ui, is_unfolded: bool, names: &str) -> bool {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), FOLD);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| {
        WidgetInfo::selected(Role::DisclosureTriangle, ui.is_enabled(), is_unfolded, MORE)
    });
    let color = paint_fill(ui, &response, ControlColors::quiet(theme), 6);
    let icon = if is_unfolded { Icon::Down } else { Icon::Right };
    let center = pos2(rect.left() + INDENT / 2.0, rect.center().y);
    icon.paint(
        ui.painter(),
        Rect::from_center_size(center, vec2(14.0, 14.0)),
        color,
    );
    let at = pos2(rect.left() + INDENT, rect.center().y);
    let font = Face::Medium.font();
    let painter = ui.painter();
    let title = painter.text(at, Align2::LEFT_CENTER, MORE, font, theme.text_1);
    if !is_unfolded {
        let at = pos2(title.right() + 10.0, rect.center().y);
        let font = Face::Small.font();
        painter.text(at, Align2::LEFT_CENTER, names, font, theme.text_3);
    }
    focus_ring(ui, &response, 6);
    response.clicked()
}

/// Draws a way's row: its name, a line about it, and its control on the right.
pub(super) fn way_row_ui(ui: &mut Ui, way: Way, words: &str, control: impl FnOnce(&mut Ui)) {
    let theme = Theme::of(ui);
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), ROW));
    let inside = Rect::from_min_max(
        pos2(rect.left() + INDENT, rect.top()),
        pos2(rect.right() - 10.0, rect.bottom()),
    );
    let mut ui = child_ui(ui, inside, way.name());
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        control(ui);
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add_space(3.0);
            let name = Face::Medium.text(way.name()).color(theme.text_1);
            ui.add(Label::new(name).selectable(false));
            let words = Face::Micro.text(words).color(theme.text_3);
            ui.add(Label::new(words).selectable(false).truncate());
        });
    });
}
