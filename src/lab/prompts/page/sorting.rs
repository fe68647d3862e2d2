//! What the rows of the table are sorted by: a menu above the prompts, and the heads of the columns.

use egui::{Popup, Rect, Role, Sense, Ui, WidgetInfo};

use crate::design::child_ui::child_ui;
use crate::design::widgets::{Chip, focus_ring, menu_item};
use crate::lab::prompts::TasksRun;
use crate::lab::prompts::figures::TaskOrder;
use crate::lab::prompts::plot::TableColumns;
use crate::state::capitalize;

/// The height of the menu's chip, above the names of the columns.
const CHIP: f32 = 20.0;

/// Draws the menu and lets the user click on the heads, once the run has ended. Returns the order that
/// was chosen: the current one reverses.
pub(super) fn show(
    ui: &mut Ui,
    heads: Rect,
    columns: TableColumns,
    run: &TasksRun,
) -> Option<TaskOrder> {
    let (current, is_reversed) = run.reading.sorted_by?;
    let panes = &run.results.panes;
    let mut chosen = None;
    let place = columns.prompts(heads).with_max_y(heads.top() + CHIP);
    let mut menu = child_ui(ui, place, "sorted by");
    let name = capitalize(&current.name(panes, is_reversed));
    let label = format!("Sorted by: {name}");
    let chip = Chip::new(&name).name(&label).quiet();
    let response = menu.add(chip.chevron().max_width(place.width()));
    Popup::menu(&response)
        .width(240.0)
        .gap(4.0)
        .accessible_name("Sorted by")
        .show(|ui| {
            for order in TaskOrder::all(panes.len()) {
                let is_current = order == current;
                let name = capitalize(&order.name(panes, is_current && !is_reversed));
                if menu_item(ui, &name, "", false).clicked() {
                    chosen = Some(order);
                }
            }
        });
    for pane in 0..panes.len() {
        let head = columns.cell(pane, heads);
        let response = ui.interact(head, ui.scope_id().with(("head", pane)), Sense::click());
        response.widget_info(|| {
            let letter = panes.get(pane).map_or("", |pane| &pane.letter);
            WidgetInfo::labeled(Role::Button, true, format!("Sort by {letter}"))
        });
        focus_ring(ui, &response, 3);
        if response.clicked() {
            chosen = Some(TaskOrder::Share(pane));
        }
    }
    chosen
}
