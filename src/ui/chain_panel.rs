//! The top of the chain editor: chips for the stage order and the presets. Each opens a list inside
//! the editor, in place of the stages.

use egui::{Id, ScrollArea, Ui};

use super::order_menu::order_ui;
use super::presets_menu::presets_ui;
use crate::analysis::dialects::spoken;
use crate::decoding::ChainConfig;
use crate::design::widgets::Chip;
use crate::state::{AppState, Command};

/// What the editor shows below the chips.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Shown {
    #[default]
    Stages,
    /// The stage orders of other engines.
    Order,
    Presets,
}

/// The height of the editor's title and of the margins around the editor and the window.
const HEIGHT_AROUND_LIST: f32 = 140.0;

/// The limits of a list's height, in points. A longer list scrolls.
const MIN_LIST_HEIGHT: f32 = 200.0;
const MAX_LIST_HEIGHT: f32 = 480.0;

/// Draws the chips and the open list. Returns whether a list is open and replaces the stages.
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
    let (mut shown, drawn_at): (Shown, u64) = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    if pass > drawn_at + 2 {
        // The editor was closed in the meantime. It reopens with the stages.
        shown = Shown::Stages;
    }
    let order = spoken(&pane.settings.chain).unwrap_or_else(|| "Quartet".to_owned());
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        let chip = Chip::new(&order).label("Order").name("Order");
        toggle_ui(ui, chip, Shown::Order, &mut shown);
        toggle_ui(ui, Chip::new("Presets"), Shown::Presets, &mut shown);
    });
    ui.add_space(4.0);
    let max_height =
        (ui.content_rect().height() - HEIGHT_AROUND_LIST).clamp(MIN_LIST_HEIGHT, MAX_LIST_HEIGHT);
    let chosen = match shown {
        Shown::Stages => None,
        Shown::Order => list_ui(ui, max_height, |ui| order_ui(ui, place, state)),
        Shown::Presets => list_ui(ui, max_height, |ui| presets_ui(ui, pane, state, commands)),
    };
    if let Some(chain) = chosen {
        commands.push(Command::SetChain(pane.id, chain));
        shown = Shown::Stages;
    }
    ui.data_mut(|data| data.insert_temp(id, (shown, pass)));
    shown != Shown::Stages
}

fn toggle_ui(ui: &mut Ui, chip: Chip<'_>, list: Shown, shown: &mut Shown) {
    let is_open = *shown == list;
    if ui.add(chip.chevron().open(is_open)).clicked() {
        *shown = if is_open { Shown::Stages } else { list };
    }
}

fn list_ui(
    ui: &mut Ui,
    max_height: f32,
    content: impl FnOnce(&mut Ui) -> Option<ChainConfig>,
) -> Option<ChainConfig> {
    ScrollArea::vertical()
        .id_salt("chain list")
        .max_height(max_height)
        // A popup keeps its previous height. This lets it grow.
        .min_scrolled_height(max_height)
        .show(ui, content)
        .inner
}
