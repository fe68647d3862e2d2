//! The controls of the Branches tab, in the row of tabs: the view, the number and length of
//! futures, the second pane, Draw or Stop, and the export.

use egui::{Popup, Ui};

use super::document::FuturesDocument;
use crate::design::icons::{Icon, icon_button};
use crate::design::widgets::{Button, Chip, menu_item};
use crate::generation::formatting::pane_letter;
use crate::state::{
    AppState, BranchesView, Command, FUTURE_COUNTS, FUTURE_LENGTHS, FuturesCommand, ResultFormat,
};
use crate::ui::layout::Breakpoint;

/// Draws the controls from right to left.
pub(in crate::ui) fn futures_bar_ui(
    ui: &mut Ui,
    breakpoint: Breakpoint,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    ui.spacing_mut().item_spacing.x = 4.0;
    if state.view.branches == BranchesView::Futures {
        export_ui(ui, state, commands);
        draw_ui(ui, state, commands);
        if breakpoint > Breakpoint::Tight {
            beside_ui(ui, state, commands);
            size_ui(ui, state, commands);
        }
        ui.add_space(6.0);
    }
    for view in BranchesView::ALL.into_iter().rev() {
        let selected = state.view.branches == view;
        let chip = Chip::new(view.name()).quiet().open(selected);
        if ui.add(chip).clicked() {
            state.view.branches = view;
        }
    }
}

fn draw_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if state.futures.is_drawing() {
        if ui.add(Button::new("Stop").icon(Icon::Stop)).clicked() {
            commands.push(Command::Futures(FuturesCommand::Stop));
        }
        return;
    }
    let reason = state.futures_blocking_reason();
    let button = Button::new("Draw").name("Draw futures").hint("F");
    let tooltip = match state.pinned() {
        Some(_) => "Draw what could follow the pinned token",
        None => "Draw what could follow the prompt",
    };
    let response = ui
        .add_enabled(reason.is_none(), button)
        .on_hover_text(tooltip)
        .on_disabled_hover_text(reason.unwrap_or_default());
    if response.clicked() {
        commands.push(Command::Futures(FuturesCommand::Draw));
    }
}

/// Draws the menu for the number and length of futures.
fn size_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let futures = &mut state.futures;
    let value = format!("{} × {} tokens", futures.n_futures, futures.n_tokens);
    let chip = Chip::new(&value)
        .name("Number and length of futures")
        .chevron();
    let response = ui.add(chip);
    let before = (futures.n_futures, futures.n_tokens);
    Popup::menu(&response)
        .width(180.0)
        .gap(4.0)
        .accessible_name("Number and length of futures")
        .show(|ui| {
            for n in FUTURE_COUNTS {
                if menu_item(ui, &format!("{n} futures"), "", n == futures.n_futures).clicked() {
                    futures.n_futures = n;
                }
            }
            ui.separator();
            for n in FUTURE_LENGTHS {
                if menu_item(ui, &format!("{n} tokens each"), "", n == futures.n_tokens).clicked() {
                    futures.n_tokens = n;
                }
            }
        });
    if before != (futures.n_futures, futures.n_tokens) && !futures.runs().is_empty() {
        commands.push(Command::Futures(FuturesCommand::Draw));
    }
}

/// Draws the menu for the second pane, whose futures are shown beside those of the first.
fn beside_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(held) = state.futures_pane().map(|pane| pane.id) else {
        return;
    };
    let name_of = |id| {
        state
            .place_of(id)
            .map_or_else(|| pane_letter(0), pane_letter)
    };
    let alone = format!("Only {}", name_of(held));
    let beside = state.futures_beside().map(|pane| pane.id);
    let value = match beside {
        Some(beside) => format!("{} beside {}", name_of(held), name_of(beside)),
        None => alone.clone(),
    };
    let chip = Chip::new(&value)
        .name("Panes whose futures are drawn")
        .chevron();
    let response = ui.add(chip);
    Popup::menu(&response)
        .width(160.0)
        .gap(4.0)
        .accessible_name("Panes whose futures are drawn")
        .show(|ui| {
            let mut choose = |ui: &mut Ui, label: &str, pane| {
                if menu_item(ui, label, "", pane == beside).clicked() {
                    commands.push(Command::Futures(FuturesCommand::ShowBeside(pane)));
                }
            };
            choose(ui, &alone, None);
            for pane in state.panes.iter().filter(|pane| pane.id != held) {
                let label = format!("{} beside {}", name_of(held), name_of(pane.id));
                choose(ui, &label, Some(pane.id));
            }
        });
}

fn export_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let has_any = state
        .futures
        .runs()
        .iter()
        .any(|run| !run.futures().is_empty());
    let response = ui
        .add_enabled_ui(has_any, |ui| {
            icon_button(ui, Icon::Export, "Export the futures")
        })
        .inner;
    Popup::menu(&response)
        .width(200.0)
        .gap(4.0)
        .accessible_name("Export the futures")
        .show(|ui| {
            for format in ResultFormat::ALL {
                let label = format!("Futures as {}…", format.extension().to_uppercase());
                if menu_item(ui, &label, "", false).clicked() {
                    commands.push(Command::save(FuturesDocument(format)));
                }
            }
        });
}
