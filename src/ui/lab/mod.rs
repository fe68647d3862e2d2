//! The Lab page: what to vary on the left, the pictures in the middle, the texts of a cell on the
//! right.

mod bar;
mod batch;
mod blind;
mod cache;
mod fit;
mod keys;
mod models;
mod pictures;
mod setup;
mod stability;
mod stability_choice;
#[cfg(test)]
mod tests;
mod texts;

use egui::{Rect, Stroke, StrokeKind, Ui, vec2};

use self::bar::bar_ui;
use self::batch::batch_tab_ui;
use self::blind::blind_tab_ui;
use self::cache::cache_tab_ui;
use self::fit::fit_tab_ui;
use self::models::models_tab_ui;
use self::pictures::pictures_ui;
use self::setup::setup_ui;
use self::stability::stability_tab_ui;
use self::texts::texts_ui;
use crate::design::child_ui::child_ui;
use crate::design::theme::Theme;
use crate::state::{AppState, Command, LabTab};
use crate::ui::by_hand::by_hand_ui;

pub(super) use self::keys::{lab_keys_ui, run_command};

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
pub(super) fn lab_ui(ui: &mut Ui, page: Rect, state: &mut AppState, commands: &mut Vec<Command>) {
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

    if state.lab.tab == LabTab::ByHand {
        by_hand_ui(ui, body, state, commands);
        return;
    }
    let setup_width = SETUP.min(body.width() * 0.36);
    let texts_width = if is_wide {
        WIDE_TEXTS
    } else {
        TEXTS.min(body.width() * 0.3)
    };
    let (setup, rest) = body.split_left_right_at_x(body.left() + setup_width);
    let (pictures, texts) = rest.split_left_right_at_x(rest.right() - texts_width);
    let inside = |column: Rect| column.shrink2(vec2(MARGIN, 12.0));
    let y_range = body.shrink(1.0).y_range();
    ui.painter().vline(texts.left(), y_range, edge);
    if state.lab.tab == LabTab::Cache {
        cache_tab_ui(ui, inside(setup.union(pictures)), inside(texts), state);
        return;
    }
    if state.lab.tab == LabTab::Models {
        let (left, right) = (inside(setup.union(pictures)), inside(texts));
        models_tab_ui(ui, left, right, state, commands);
        return;
    }
    if state.lab.tab == LabTab::Blind {
        let (left, right) = (inside(setup.union(pictures)), inside(texts));
        blind_tab_ui(ui, left, right, state, commands);
        return;
    }
    ui.painter().vline(pictures.left(), y_range, edge);
    let columns = [inside(setup), inside(pictures), inside(texts)];
    match state.lab.tab {
        LabTab::Sweep => sweep_tab_ui(ui, columns, is_wide, state, commands),
        LabTab::Prompts => batch_tab_ui(ui, columns, state, commands),
        LabTab::Stability => stability_tab_ui(ui, columns, state, commands),
        LabTab::Fit => fit_tab_ui(ui, columns, state, commands),
        LabTab::Cache | LabTab::Models | LabTab::Blind | LabTab::ByHand => {}
    }
}

fn sweep_tab_ui(
    ui: &mut Ui,
    [setup, pictures, texts]: [Rect; 3],
    is_wide: bool,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    setup_ui(&mut child_ui(ui, setup, "setup"), state, commands);
    pictures_ui(&mut child_ui(ui, pictures, "pictures"), is_wide, state);
    texts_ui(&mut child_ui(ui, texts, "texts"), state, commands);
}
