//! In the head of the chain editor: whose order the stages stand in, and the presets. Each opens a
//! list in the editor itself, in place of the stages.

use egui::{Id, ScrollArea, Ui};

use super::order_menu::order_ui;
use super::presets_menu::presets_ui;
use super::widgets::Chip;
use crate::analysis::dialects::spoken;
use crate::state::{AppState, Command};

/// Which list is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Open {
    /// None: the stages are to be seen.
    #[default]
    Stages,
    /// The orders of the engines.
    Order,
    /// The presets.
    Presets,
}

/// What the editor's title, its edges and the window's take of the window's height.
const AROUND_LIST: f32 = 140.0;

/// A list is at most so high, at least so high where the window is low, and is scrolled.
const MOST_LIST: f32 = 480.0;
const LEAST_LIST: f32 = 200.0;

/// Draws both, for the pane at this place. Says whether a list is open, and takes the place of the
/// stages.
pub(super) fn chain_panel_ui(
    ui: &mut Ui,
    place: usize,
    state: &AppState,
    commands: &mut Vec<Command>,
) -> bool {
    let Some(pane) = state.panes.get(place) else {
        return false;
    };
    let id = Id::unique("chain panel").with(pane.id.0);
    let pass = ui.cumulative_pass_nr();
    let (mut open, drawn_at): (Open, u64) = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    if pass > drawn_at + 2 {
        // The editor was closed meanwhile, and opens with the stages.
        open = Open::Stages;
    }
    let order = spoken(&pane.settings.chain).unwrap_or_else(|| "Quartet".to_owned());
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        let chip = Chip::new(&order).label("Order").name("Order");
        toggle_ui(ui, chip, Open::Order, &mut open);
        toggle_ui(ui, Chip::new("Presets"), Open::Presets, &mut open);
    });
    ui.add_space(4.0);
    let most = (ui.content_rect().height() - AROUND_LIST).clamp(LEAST_LIST, MOST_LIST);
    let chosen = match open {
        Open::Stages => false,
        Open::Order => list_ui(ui, most, |ui| order_ui(ui, place, state, commands)),
        Open::Presets => list_ui(ui, most, |ui| presets_ui(ui, place, state, commands)),
    };
    if chosen {
        open = Open::Stages;
    }
    ui.data_mut(|data| data.insert_temp(id, (open, pass)));
    open != Open::Stages
}

fn toggle_ui(ui: &mut Ui, chip: Chip<'_>, list: Open, open: &mut Open) {
    let is_open = *open == list;
    if ui.add(chip.chevron().open(is_open)).clicked() {
        *open = if is_open { Open::Stages } else { list };
    }
}

fn list_ui(ui: &mut Ui, most: f32, content: impl FnOnce(&mut Ui) -> bool) -> bool {
    ScrollArea::vertical()
        .id_salt("chain list")
        .max_height(most)
        // A popup is as high as it was; this lets it grow.
        .min_scrolled_height(most)
        .show(ui, content)
        .inner
}
