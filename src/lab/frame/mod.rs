//! The Lab page: a row of tabs, and the page of the selected one. Each
//! experiment draws its own.

pub(super) mod bar;
mod keys;
mod results;
pub(super) mod setup;
mod tab;
mod tinted_text;

use egui::{Rect, Stroke, StrokeKind, Ui, vec2};

use self::bar::bar_ui;
use crate::design::child_ui::child_ui;
use crate::design::theme::Theme;
use crate::state::{AppState, Command};

pub(crate) use self::keys::{lab_keys_ui, run_command};
pub(super) use self::tab::{Columns, Selection, Tab, TabPage};
pub(super) use self::tinted_text::TintedText;

/// The height of the row of tabs.
const BAR: f32 = 36.0;

/// The width of the setup column.
const SETUP: f32 = 320.0;

/// The width of the text column in a narrow and in a wide window.
const TEXTS: f32 = 344.0;
const WIDE_TEXTS: f32 = 420.0;

/// The minimum page width for several pictures side by side.
const WIDE: f32 = 1560.0;

/// The margin of each column.
const MARGIN: f32 = 14.0;

/// Draws the page below the top bar.
pub(crate) fn lab_ui(ui: &mut Ui, page: Rect, state: &mut AppState, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    ui.painter().rect_filled(page, 8, theme.surface_1);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().rect_stroke(page, 8, edge, StrokeKind::Inside);
    let is_wide = page.width() >= WIDE;
    let (bar, body) = page.split_top_bottom_at_y(page.top() + BAR);
    ui.painter()
        .hline(body.shrink(1.0).x_range(), body.top(), edge);
    let inside = bar.shrink2(vec2(6.0, 0.0));
    bar_ui(&mut child_ui(ui, inside, "bar"), state, commands);

    let [setup, pictures, texts] = columns_of(body, is_wide);
    let inside = |column: Rect| column.shrink2(vec2(MARGIN, 12.0));
    let y_range = body.shrink(1.0).y_range();
    let line_ui = |ui: &Ui, right: Rect| {
        ui.painter().vline(right.left(), y_range, edge);
    };
    match state.lab.tab.page().page {
        TabPage::Whole(whole_ui) => whole_ui(ui, body, state, commands),
        TabPage::TwoColumns(columns_ui) => {
            line_ui(ui, texts);
            let columns = [setup.union(pictures), texts];
            columns_ui(ui, columns.map(inside), state, commands);
        }
        TabPage::ThreeColumns(columns_ui) => {
            line_ui(ui, texts);
            line_ui(ui, pictures);
            let columns = Columns {
                left: inside(setup),
                middle: inside(pictures),
                right: inside(texts),
                is_wide,
            };
            columns_ui(ui, columns, state, commands);
        }
    }
}

/// Returns the columns of the page: for the setup, the pictures, and the texts.
fn columns_of(body: Rect, is_wide: bool) -> [Rect; 3] {
    let setup_width = SETUP.min(body.width() * 0.36);
    let texts_width = if is_wide {
        WIDE_TEXTS
    } else {
        TEXTS.min(body.width() * 0.3)
    };
    let (setup, rest) = body.split_left_right_at_x(body.left() + setup_width);
    let (pictures, texts) = rest.split_left_right_at_x(rest.right() - texts_width);
    [setup, pictures, texts]
}
