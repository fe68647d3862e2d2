//! The Plots tab: the score, the candidates of one token, and a third plot of the user's choice.

use egui::{Context, Popup, Rect, Stroke, Ui, pos2, vec2};

use super::figures::{kept_plot, score_values, step_table, trend_figures};
use crate::analysis::trend::Trend;
use crate::analysis::watermark::WatermarkScan;
use crate::design::child_ui::child_ui;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::menu_item;
use crate::generation::Generation;
use crate::plots::{
    NextTokenData, PlotResponse, ScoreData, StepAt, Target, TrendData, next_token_plot_ui,
    score_plot_ui, trend_plot_ui,
};
use crate::state::{AppState, Command, Pane, Panes, Pin, Plot, RightPlot, WatermarkCommand};

/// The size of the button that chooses the plot on the right, in points.
const PLOT_CHOICE: f32 = 22.0;

/// Draws the score, the candidates of a token, and the plot that the user chose on the right.
/// `hovered` is the step hovered in a pane's text. Returns the step hovered in a plot.
pub(super) fn plots_ui(
    ui: &mut Ui,
    body: Rect,
    state: &mut AppState,
    hovered: Option<StepAt>,
    commands: &mut Vec<Command>,
) -> Option<StepAt> {
    let [score, next_token, speed] = columns(body);
    let generations = state.generations();
    let ctx = ui.ctx().clone();
    let (measure, cap) = (state.view.score, state.view.score_cap);
    let values = |text: &Generation| score_values(&ctx, text, measure);
    let mut data = ScoreData::with_values(&generations, measure, cap, values);
    // A letter that no pane has now has no staff.
    data.lanes
        .retain(|lane| state.panes.get(lane.pane).is_some());
    data.pinned = state.pinned().and_then(|(pane, ..)| {
        let step = state.pin?.step;
        Some(StepAt { pane, step })
    });
    data.hovered = hovered;
    data.in_one = state.view.score_layout.is_one_plot();
    let response = score_plot_ui(&mut child_ui(ui, score, "score"), &data, Target::Screen);

    let shown = response
        .hovered
        .map(|at| (at.pane, at.step))
        .or_else(|| state.shown_step());
    let candidates = shown.and_then(|(place, step)| candidates_of(&ctx, state, place, step));
    next_token_plot_ui(
        &mut child_ui(ui, next_token, "next token"),
        candidates.as_ref(),
        Target::Screen,
    );
    let beside_choice = speed.with_max_x(speed.right() - PLOT_CHOICE);
    let mut right = child_ui(ui, beside_choice, "right plot");
    let mut chosen = state.view.right_plot.0;
    let in_trend = if let Plot::Trend(kind) = chosen {
        let scans: Vec<_> = state.panes.by_place(Pane::watermark);
        let figures = |texts: &[(usize, &Generation)], scans: &[&WatermarkScan]| {
            trend_figures(&ctx, kind, texts, scans)
        };
        let mut trend = TrendData::with_figures(&generations, kind, &scans, figures);
        (trend.pinned, trend.hovered) = (data.pinned, hovered);
        trend_plot_ui(&mut right, &trend, Target::Screen)
    } else {
        if let Some(plot) = kept_plot(&ctx, chosen, &generations) {
            plot.show(&mut right);
        }
        PlotResponse::default()
    };
    right_plot_ui(ui, speed, &mut chosen, commands);
    let response = PlotResponse {
        hovered: response.hovered.or(in_trend.hovered),
        clicked: response.clicked.or(in_trend.clicked),
    };

    let stroke = Stroke::new(1.0, Theme::of(ui).stroke_1);
    for column in [next_token, speed] {
        let x = column.left() - 14.0;
        ui.painter()
            .vline(x, body.shrink2(vec2(0.0, 1.0)).y_range(), stroke);
    }
    pin_from_plot(response, &state.panes, commands);
    state.view.right_plot = RightPlot(chosen);
    response.hovered
}

/// Returns the candidates of a step under the pane's current settings, or else as recorded.
fn candidates_of(
    ctx: &Context,
    state: &AppState,
    place: usize,
    step: usize,
) -> Option<NextTokenData> {
    let pane = state.panes.get(place)?;
    let generation = pane.generation()?;
    let recorded = NextTokenData::of(place, generation, step)?;
    let chain = &pane.settings.chain;
    if chain.validate().is_err() {
        return Some(recorded);
    }
    let table = step_table(ctx, generation, step, chain, state.seed_of(pane));
    let what_if = table
        .filter(|table| table.what_if)
        .and_then(|table| recorded.clone().under(chain, &table, generation));
    what_if.or(Some(recorded))
}

fn pin_from_plot(response: PlotResponse, panes: &Panes, commands: &mut Vec<Command>) {
    let pin = response.clicked.and_then(|at| {
        let pane = panes.get(at.pane)?.id;
        let step = at.step;
        Some(Pin { pane, step })
    });
    commands.extend(pin.map(Command::Pin));
}

/// Splits the body into the columns of the three plots, without their padding. The score takes the
/// width that the others leave.
fn columns(body: Rect) -> [Rect; 3] {
    let width = body.width();
    let speed = (width * 0.24).clamp(220.0, 320.0).round();
    let next_token = (width * 0.22).clamp(200.0, 300.0).round();
    let at = |left: f32, right: f32| {
        Rect::from_min_max(
            pos2(left + 14.0, body.top() + 10.0),
            pos2(right - 14.0, body.bottom() - 8.0),
        )
    };
    let (a, b) = (body.right() - speed - next_token, body.right() - speed);
    [at(body.left(), a), at(a, b), at(b, body.right())]
}

/// Draws the button at the top right of a column. Its menu chooses the column's plot.
fn right_plot_ui(ui: &mut Ui, column: Rect, plot: &mut Plot, commands: &mut Vec<Command>) {
    let corner = Rect::from_min_size(
        pos2(column.right() - PLOT_CHOICE, column.top() - 4.0),
        vec2(PLOT_CHOICE, PLOT_CHOICE),
    );
    let mut ui = child_ui(ui, corner, "plot on the right");
    let response = icon_button(&mut ui, Icon::Down, "Plot on the right");
    Popup::menu(&response)
        .width(180.0)
        .gap(4.0)
        .accessible_name("Plot on the right")
        .show(|ui| {
            for choice in Plot::all_on_right() {
                if menu_item(ui, choice.name(), "", choice == *plot).clicked() {
                    *plot = choice;
                }
            }
            if *plot == Plot::Trend(Trend::Watermark) {
                ui.separator();
                if menu_item(ui, "Watermark to look for…", "", false).clicked() {
                    commands.push(Command::Watermark(WatermarkCommand::Open(None)));
                }
            }
        });
}

#[cfg(test)]
mod tests {
    use egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::written;
    use crate::state::{Command, DockTab};
    use crate::ui::testing::window_of;

    #[test]
    fn a_removed_pane_leaves_no_staff() {
        let mut state = written();
        state.view.dock_open = Some(true);
        state.view.dock_tab = DockTab::Plots;
        state.apply(Command::Remove(state.panes[1].id));
        state.apply(Command::AddPane);
        state.apply(Command::Remove(state.panes[0].id));
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(3);
        // The new pane takes the free letter, and keeps its staff while it has no text.
        window.get_by_label_contains(": B 0 tokens, C 3 tokens, D 3 tokens");
    }
}
