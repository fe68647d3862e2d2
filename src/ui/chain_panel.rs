//! The lists that open inside the chain editor, in place of the stages: the stage orders of other
//! engines, and the presets.

use egui::{Id, Key, Modifiers, ScrollArea, Ui};

use super::order_menu::order_ui;
use super::presets_menu::presets_ui;
use crate::decoding::ChainConfig;
use crate::state::{AppState, Command, PaneId};

/// The list that the editor shows below its head.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ChainList {
    /// None: it shows the stages.
    #[default]
    None,
    /// The stage orders of other engines.
    Order,
    Presets,
}

/// The height of the editor's head and of the margins around the editor and the window.
const HEIGHT_AROUND_LIST: f32 = 112.0;

/// The limits of a list's height, in points. A longer list scrolls.
const MIN_LIST_HEIGHT: f32 = 200.0;
const MAX_LIST_HEIGHT: f32 = 480.0;

impl ChainList {
    /// Returns the open list of a pane's editor. An editor opens without one.
    pub(super) fn of(ui: &Ui, pane: PaneId) -> Self {
        let last: Option<(Self, u64)> = ui.data(|data| data.get_temp(Self::id(pane)));
        let last = last.filter(|(_, drawn_at)| ui.cumulative_pass_nr() <= drawn_at + 2);
        last.map(|(list, _)| list).unwrap_or_default()
    }

    pub(super) fn remember(self, ui: &Ui, pane: PaneId) {
        let pass = ui.cumulative_pass_nr();
        ui.data_mut(|data| data.insert_temp(Self::id(pane), (self, pass)));
    }

    fn id(pane: PaneId) -> Id {
        Id::unique("chain list").with(pane.0)
    }

    /// Opens a list, or closes it if it is open.
    pub(super) fn toggle(&mut self, list: Self) {
        *self = if *self == list { Self::None } else { list };
    }

    /// Draws the open list. It closes after a choice and with Escape, which then leaves the editor
    /// open.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        place: usize,
        state: &AppState,
        commands: &mut Vec<Command>,
    ) {
        let Some(pane) = state.panes.get(place).filter(|_| *self != Self::None) else {
            return;
        };
        let chosen = list_ui(ui, |ui| match self {
            Self::None => None,
            Self::Order => order_ui(ui, place, state),
            Self::Presets => presets_ui(ui, pane, state, commands),
        });
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
            *self = Self::None;
        }
        if let Some(chain) = chosen {
            commands.push(Command::SetChain(pane.id, chain));
            *self = Self::None;
        }
    }
}

fn list_ui(
    ui: &mut Ui,
    content: impl FnOnce(&mut Ui) -> Option<ChainConfig>,
) -> Option<ChainConfig> {
    let room = ui.content_rect().height() - HEIGHT_AROUND_LIST;
    let max_height = room.clamp(MIN_LIST_HEIGHT, MAX_LIST_HEIGHT);
    ScrollArea::vertical()
        .id_salt("chain list")
        .max_height(max_height)
        // A popup keeps its previous height. This lets it grow.
        .min_scrolled_height(max_height)
        .show(ui, content)
        .inner
}
