//! The tree of a beam search: one column for each token, one row for each text that was kept.

use egui::{Align2, Color32, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::{
    AROUND, MARGIN, PicturePlot, PlotFile, PlottedRun, RunPicture, TITLE_ROW, TextRun, paint_text,
    paint_text_within, title_ui,
};
use crate::decoding::selector::Fate;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::{grouped, token_word};
use crate::generation::{BeamPlace, Beams, Generation};

/// The size of a tile, and the space between two columns.
const TILE: egui::Vec2 = vec2(58.0, 22.0);
const MIN_TILE: f32 = 54.0;
const MAX_TILE: f32 = 96.0;
const GAP: f32 = 8.0;

/// The height of the row of token numbers, and the minimum height of a row of tiles.
const HEAD: f32 = 22.0;
const MIN_ROW: f32 = 38.0;
const MAX_ROW: f32 = 56.0;

/// The tree of one text.
#[derive(Debug, Clone, PartialEq)]
pub struct BeamTree {
    /// The index of its pane, which determines its color.
    pub pane: usize,
    columns: Vec<Column>,
    n_rows: usize,
}

#[derive(Debug, Clone, PartialEq)]
struct Column {
    /// The position of its tokens in the generated text, counted from 1.
    token: usize,
    tiles: Vec<Tile>,
}

/// A text that was kept, with the token by which it was extended.
#[derive(Debug, Clone, PartialEq)]
struct Tile {
    word: String,
    /// The total log-prob of the text, in nats.
    log_prob: f64,
    /// Its parent's row in the previous column.
    parent: Option<usize>,
    state: TileState,
}

#[derive(Debug, Clone, PartialEq)]
enum TileState {
    /// On the path to the best text.
    Best,
    /// On the path to a text that continues or has ended.
    Active,
    /// None of its continuations was kept; the string says why.
    Dropped(String),
}

impl BeamTree {
    /// Returns the tree of a pane's text, or `None` if no beam search generated it.
    pub fn of(pane: usize, generation: &Generation) -> Option<Self> {
        let beams = &*generation.beams;
        let last = beams.passes.len().checked_sub(1)?;
        let generated = generation.steps.iter().skip(beams.n_before);
        let generated: Vec<_> = generated.map(|step| step.token).collect();
        let best = if generation.finish.is_some() {
            beams.path_of(&generated)
        } else {
            let first = beams.passes.last()?.running().next();
            first.map_or_else(Vec::new, |(node, _)| {
                beams.path_to(BeamPlace { pass: last, node })
            })
        };
        let alive = beams.alive();
        let is_alive = |place: BeamPlace| {
            let nodes = alive.get(place.pass);
            nodes.and_then(|nodes| nodes.get(place.node)) == Some(&true)
        };
        let mut columns: Vec<Column> = Vec::new();
        for (pass, compared) in beams.passes.iter().enumerate() {
            let tiles = compared.nodes.iter().enumerate();
            let tiles = tiles.filter(|(_, node)| node.fate != Fate::Dropped);
            let tiles = tiles.map(|(index, node)| {
                let place = BeamPlace { pass, node: index };
                let parent = beams.parent_of(place);
                Tile {
                    word: token_word(&node.piece),
                    log_prob: node.log_prob,
                    parent: parent.map(|parent| row_of(beams, parent)),
                    state: if best.get(pass) == Some(&place) {
                        TileState::Best
                    } else if is_alive(place) {
                        TileState::Active
                    } else {
                        TileState::Dropped(why_dropped(beams, place, beams.n_before))
                    },
                }
            });
            columns.push(Column {
                token: beams.n_before + pass + 1,
                tiles: tiles.collect(),
            });
        }
        let n_rows = columns.iter().map(|column| column.tiles.len()).max();
        Some(Self {
            pane,
            columns,
            n_rows: n_rows.unwrap_or(0),
        })
    }

    /// Returns the size of a picture, in points.
    pub fn size(&self) -> egui::Vec2 {
        let n_columns = self.columns.len() as f32;
        vec2(
            n_columns * (TILE.x + GAP) - GAP,
            TITLE_ROW + HEAD + self.n_rows as f32 * MIN_ROW,
        )
    }
}

/// Returns the row of a kept node in its column.
fn row_of(beams: &Beams, place: BeamPlace) -> usize {
    let nodes = beams.passes.get(place.pass).map(|pass| &pass.nodes);
    let before = nodes.and_then(|nodes| nodes.get(..place.node));
    let before = before.unwrap_or_default().iter();
    before.filter(|node| node.fate != Fate::Dropped).count()
}

/// Says why no continuation of a text was kept: "Fell to rank 7 at token 8, −5.36 against −5.10".
fn why_dropped(beams: &Beams, place: BeamPlace, n_before: usize) -> String {
    let Some(next) = beams.passes.get(place.pass + 1) else {
        return String::new();
    };
    let token = grouped((n_before + place.pass + 2) as f64);
    let mut ranked = next.nodes.iter().enumerate();
    let best = ranked.find(|(index, _)| {
        let child = BeamPlace {
            pass: place.pass + 1,
            node: *index,
        };
        beams.parent_of(child) == Some(place)
    });
    let worst = next.running().last().map(|(_, node)| node.log_prob);
    match (best, worst) {
        (Some((rank, child)), Some(worst)) if child.fate == Fate::Dropped => format!(
            "fell to rank {} at token {token}, {} against {}",
            rank + 1,
            total(child.log_prob),
            total(worst)
        ),
        _ => format!(
            "fell behind the best {} at token {token}",
            grouped(next.nodes.len() as f64)
        ),
    }
}

/// Formats a total log-prob: "−5.36".
fn total(log_prob: f64) -> String {
    format!("{log_prob:.2}").replace('-', "−")
}

/// Where a tree is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeamView {
    /// On the screen. It scrolls to the column of the held token, counted from 1, whenever that is
    /// another one; without one, to the last columns.
    Screen {
        held: Option<usize>,
    },
    Picture,
}

/// Shows a tree in this rectangle.
pub fn beam_tree_ui(ui: &mut Ui, rect: Rect, tree: &BeamTree, view: BeamView) {
    let n_columns = tree.columns.len().max(1) as f32;
    let width = ((rect.width() + GAP) / n_columns - GAP).clamp(MIN_TILE, MAX_TILE);
    let head = match view {
        BeamView::Screen { .. } => HEAD,
        BeamView::Picture => HEAD + TITLE_ROW,
    };
    let row = ((rect.height() - head) / tree.n_rows.max(1) as f32).clamp(MIN_ROW, MAX_ROW);
    let size = vec2(
        n_columns * (width + GAP) - GAP,
        HEAD + row * tree.n_rows as f32,
    );
    let tile = vec2(width, row);
    let BeamView::Screen { held } = view else {
        let mut title = ui.new_child(egui::UiBuilder::new().max_rect(rect));
        let subtitle = "total log-prob of each text, in nats".to_owned();
        title_ui(&mut title, "Beam search", Some(tree.pane), &[subtitle]);
        let rect = rect.with_min_y(rect.top() + TITLE_ROW);
        return tiles_ui(ui, Rect::from_min_size(rect.min, size), tree, (tile, view));
    };
    let held = held.and_then(|held| tree.columns.iter().position(|column| column.token == held));
    let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(rect));
    egui::ScrollArea::both()
        .id_salt("beam tree")
        .stick_to_right(held.is_none())
        .auto_shrink(false)
        .show(&mut inside, |ui| {
            let (content, _) = ui.allocate_exact_size(size, Sense::hover());
            follow_ui(ui, content, width, held);
            tiles_ui(ui, content, tree, (tile, view));
        });
}

/// Scrolls to a column when it is another one than in the previous frame.
fn follow_ui(ui: &Ui, content: Rect, width: f32, column: Option<usize>) {
    let id = ui.scope_id().with("held column");
    let before: Option<Option<usize>> = ui.data(|data| data.get_temp(id));
    ui.data_mut(|data| data.insert_temp(id, column));
    if let Some(column) = column.filter(|_| before != Some(column)) {
        let left = content.left() + column as f32 * (width + GAP);
        let at = Rect::from_min_size(pos2(left, ui.clip_rect().top()), vec2(width, 1.0));
        ui.scroll_to_rect(at, Some(egui::Align::Center));
    }
}

/// Shows all tiles. `cell` is the width of a tile and the height of a row.
fn tiles_ui(ui: &Ui, content: Rect, tree: &BeamTree, (cell, view): (egui::Vec2, BeamView)) {
    let theme = Theme::of(ui);
    let place = |column: usize, row: usize| {
        let x = content.left() + column as f32 * (cell.x + GAP);
        let y = content.top() + HEAD + row as f32 * cell.y;
        Rect::from_min_size(pos2(x, y), vec2(cell.x, TILE.y))
    };
    for (index, column) in tree.columns.iter().enumerate() {
        let top = place(index, 0).center_top();
        let number = grouped(column.token as f64);
        let is_held = view
            == (BeamView::Screen {
                held: Some(column.token),
            });
        let (face, color) = if is_held {
            let column = place(index, 0).expand2(vec2(GAP / 2.0, 0.0));
            let column = column
                .with_min_y(content.top())
                .with_max_y(content.bottom());
            ui.painter().rect_filled(column, 3, theme.surface_2);
            (Face::SmallMedium, theme.text_1)
        } else {
            (Face::Micro, theme.text_3)
        };
        let run = TextRun::new(&number, face, color);
        let at = pos2(top.x, content.top());
        paint_text(ui, at, Align2::CENTER_TOP, run);
    }
    for (index, column) in tree.columns.iter().enumerate().skip(1) {
        // The path to the best text is drawn over the others.
        let mut tiles: Vec<(usize, &Tile)> = column.tiles.iter().enumerate().collect();
        tiles.sort_by_key(|(_, tile)| weight(tile));
        for (row, tile) in tiles {
            let Some(parent) = tile.parent else {
                continue;
            };
            let from = place(index - 1, parent).right_center();
            let to = place(index, row).left_center();
            ui.painter()
                .line_segment([from, to], line_of(tile, tree.pane, theme));
        }
    }
    for (index, column) in tree.columns.iter().enumerate() {
        for (row, tile) in column.tiles.iter().enumerate() {
            let rect = place(index, row);
            if ui.is_rect_visible(rect) {
                paint_tile(ui, rect, tree.pane, tile);
                if view != BeamView::Picture {
                    describe_tile(ui, rect, tile, [column.token, row + 1]);
                }
            }
        }
    }
}

const fn weight(tile: &Tile) -> u8 {
    match tile.state {
        TileState::Dropped(_) => 0,
        TileState::Active => 1,
        TileState::Best => 2,
    }
}

fn line_of(tile: &Tile, pane: usize, theme: &Theme) -> Stroke {
    match tile.state {
        TileState::Best => Stroke::new(2.5, theme.pane(pane)),
        TileState::Active => Stroke::new(1.5, theme.text_2),
        TileState::Dropped(_) => Stroke::new(1.5, theme.stroke_2),
    }
}

fn paint_tile(ui: &Ui, rect: Rect, pane: usize, tile: &Tile) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    let color: Color32 = match &tile.state {
        TileState::Best => {
            painter.rect_filled(rect, 3, theme.pane(pane));
            theme.pane_letter
        }
        TileState::Active => {
            painter.rect_filled(rect, 3, theme.surface_3);
            theme.text_1
        }
        TileState::Dropped(_) => {
            painter.rect_filled(rect, 3, theme.surface_1);
            let edge = Stroke::new(1.0, theme.stroke_2);
            painter.rect_stroke(rect, 3, edge, StrokeKind::Inside);
            theme.text_3
        }
    };
    let run = TextRun::new(&tile.word, Face::Candidate, color);
    let room = rect.width() - 6.0;
    paint_text_within(ui, rect.center(), Align2::CENTER_CENTER, run, room);
    let below = rect.center_bottom() + vec2(0.0, 2.0);
    let sum = total(tile.log_prob);
    let run = TextRun::new(&sum, Face::Micro, theme.text_3);
    paint_text(ui, below, Align2::CENTER_TOP, run);
}

/// Describes a tile in a tooltip and for screen readers.
fn describe_tile(ui: &Ui, rect: Rect, tile: &Tile, [token, beam]: [usize; 2]) {
    let id = ui.scope_id().with(("beam", token, beam));
    let response = ui.interact(rect, id, Sense::hover());
    let words = tile_words(tile, token, beam);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words.as_str()));
    response.on_hover_text(words.as_str());
}

/// Describes a tile: "Token 8, beam 3, ‘on’, dropped, −4.99: fell to rank 7 at token 9, …".
fn tile_words(tile: &Tile, token: usize, beam: usize) -> String {
    let (word, sum) = (&tile.word, total(tile.log_prob));
    let (state, why) = match &tile.state {
        TileState::Best => ("on the best path", String::new()),
        TileState::Active => ("active", String::new()),
        TileState::Dropped(why) if why.is_empty() => ("dropped", String::new()),
        TileState::Dropped(why) => ("dropped", format!(": {why}")),
    };
    format!("Token {token}, beam {beam}, ‘{word}’, {state}, {sum}{why}")
}

/// The tree of the first beam search of a run.
pub(super) struct BeamsPicture;

impl RunPicture for BeamsPicture {
    fn files(&self) -> Vec<PlotFile> {
        Vec::new()
    }

    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        let mut texts = run.panes.iter().enumerate();
        let tree = texts.find_map(|(pane, text)| BeamTree::of(pane, (*text)?))?;
        Some(Box::new(tree))
    }
}

impl PicturePlot for BeamTree {
    fn title(&self) -> &'static str {
        "The beams"
    }

    fn default_size(&self) -> [f32; 2] {
        let size = self.size();
        [size.x.max(560.0) + 2.0 * MARGIN, size.y + AROUND]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [usual, height] = self.default_size();
        [width.max(usual), height]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        beam_tree_ui(ui, ui.max_rect(), self, BeamView::Picture);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{BeamTree, TileState, tile_words};
    use crate::decoding::TokenId;
    use crate::decoding::selector::Fate;
    use crate::generation::testing::generation;
    use crate::generation::{BeamNode, BeamPass, Beams, Generation, Piece};

    fn node(parent: usize, word: &str, log_prob: f64, fate: Fate) -> BeamNode {
        BeamNode {
            parent,
            token: TokenId(word.len() as u32),
            piece: Piece::text(word),
            log_prob,
            fate,
        }
    }

    /// Two beams: " a" leads at first, but both surviving texts continue " the".
    fn searched() -> Generation {
        use Fate::{Dropped, Running};
        let first = vec![node(0, " a", -0.5, Running), node(0, " the", -0.9, Running)];
        let second = vec![
            node(1, " house", -1.0, Running),
            node(1, " hill", -1.25, Running),
            node(0, " wood", -2.5, Dropped),
        ];
        let passes = [first, second].map(|nodes| BeamPass { nodes }).into();
        let mut text = generation(&[]);
        text.finish = None;
        text.beams = Arc::new(Beams {
            n_before: 0,
            passes,
        });
        text
    }

    #[test]
    fn the_tree_shows_which_texts_live_and_why_others_do_not() {
        let tree = BeamTree::of(1, &searched()).unwrap();
        assert_eq!((tree.columns.len(), tree.n_rows), (2, 2));
        let [first, second] = [0, 1].map(|column| &tree.columns[column].tiles);
        assert_eq!(first[1].state, TileState::Best);
        assert_eq!(second[0].state, TileState::Best);
        assert_eq!(second[1].state, TileState::Active);
        assert_eq!(second[1].parent, Some(1));
        assert_eq!(
            tile_words(&first[0], 1, 1),
            "Token 1, beam 1, ‘a’, dropped, −0.50: fell to rank 3 at token 2, −2.50 against −1.25"
        );
        assert_eq!(
            tile_words(&second[0], 2, 1),
            "Token 2, beam 1, ‘house’, on the best path, −1.00"
        );
    }

    #[test]
    fn a_text_from_no_search_has_no_tree() {
        assert_eq!(BeamTree::of(0, &generation(&[(" a", 0.5)])), None);
    }
}
