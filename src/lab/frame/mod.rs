//! The Lab page: a row of tabs, and below it three columns: the setup of the selected one on the left,
//! its results in the middle, and what the selected result means on the right. Each experiment draws
//! what is in them.

pub(super) mod bar;
pub(super) mod empty;
mod foot;
mod kept;
mod keys;
mod results;
pub(super) mod setup;
mod tab;
#[cfg(test)]
mod tests;
mod tinted_text;

use egui::{Rect, Stroke, StrokeKind, Ui, vec2};

use self::bar::bar_ui;
use self::setup::form_area_ui;
use crate::design::child_ui::child_ui;
use crate::design::theme::Theme;
use crate::state::{AppState, Command};

pub(super) use self::foot::{Foot, Labels, Note, Progress};
pub(crate) use self::keys::{lab_keys_ui, run_command};
pub(super) use self::tab::{Columns, Selection, Tab};
pub(super) use self::tinted_text::TintedText;

/// The height of the row of tabs.
const BAR: f32 = 36.0;

/// The width of the setup column.
const SETUP: f32 = 300.0;

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

    let [setup, middle, right] = columns_of(body, is_wide);
    let results = kept::kept_ui(ui, middle.union(right), state, commands);
    let right = right.with_min_y(results.top());
    for (left, rows) in [(middle.left(), body), (right.left(), right)] {
        let y_range = rows.shrink(1.0).y_range();
        ui.painter().vline(left, y_range, edge);
    }
    let columns = [setup, middle.with_min_y(results.top()), right];
    let [setup, middle, right] = columns.map(|column| column.shrink2(vec2(MARGIN, 12.0)));
    let tab = state.lab.tab.page();
    let [form, foot] = foot::split(setup);
    let mut setup_ui = child_ui(ui, setup, "setup");
    form_area_ui(&mut setup_ui, form, |ui| (tab.form)(ui, state, commands));
    let mut foot_ui = child_ui(ui, foot, "foot");
    foot::foot_ui(&mut foot_ui, (tab.foot)(state), state, commands);
    let columns = Columns {
        middle,
        right,
        is_wide,
    };
    (tab.results)(ui, columns, state, commands);
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
