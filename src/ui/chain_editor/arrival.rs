//! The control that the editor opens at, when a setting was chosen elsewhere.

use egui::{Align, Context, Id, Response, Ui};

/// For how many passes the editor looks for the control. A new popup takes a few to find its size.
const N_PASSES: u64 = 12;

/// A control that takes the focus when it is drawn.
#[derive(Debug, Clone)]
struct Arrival {
    /// What is set there: the name of a filter, "Draw", "Grammar".
    control: &'static str,
    /// The pass in which the setting was chosen.
    since: u64,
}

fn arrival_id() -> Id {
    Id::unique("control that the chain editor opens at")
}

/// Lets the control of this name take the focus when the editor draws it.
pub(in crate::ui) fn arrive_at(ctx: &Context, control: &'static str) {
    let since = ctx.cumulative_pass_nr();
    ctx.data_mut(|data| data.insert_temp(arrival_id(), Arrival { control, since }));
}

/// Returns whether the editor is about to open at this control.
pub(super) fn arrives_at(ui: &Ui, control: &str) -> bool {
    let arrival: Option<Arrival> = ui.data(|data| data.get_temp(arrival_id()));
    arrival.is_some_and(|arrival| {
        arrival.control == control && ui.cumulative_pass_nr() <= arrival.since + N_PASSES
    })
}

/// Moves the focus to a control if the editor opens there.
pub(super) fn arrive_ui(ui: &Ui, control: &str, response: &Response) {
    if !arrives_at(ui, control) {
        return;
    }
    response.scroll_to_me(Some(Align::Center));
    response.request_focus();
    // While the popup finds its size, what it scrolls to may still move.
    if !ui.is_sizing_pass() && response.has_focus() {
        ui.data_mut(|data| data.remove::<Arrival>(arrival_id()));
    }
}
