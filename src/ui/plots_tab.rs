//! The Plots tab: the score, the candidates of one token, and a third plot of the user's choice.

use egui::{Context, Popup, Rect, Stroke, Ui, pos2, vec2};

use super::figures::{kept_plot, score_values, step_table, trend_figures};
use super::plots_turns::{PlottedTurns, TurnStep};
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
use crate::state::{
    AppState, Command, ConversationCommand, Pane, Pin, Plot, RightPlot, WatermarkCommand,
};

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
    let ctx = ui.ctx().clone();
    let plotted = PlottedTurns::chosen(&ctx, state);
    let texts = plotted.texts(state);
    let (measure, cap) = (state.view.score, state.view.score_cap);
    let values = |text: &Generation| score_values(&ctx, text, measure);
    let mut data = ScoreData::with_values(&texts, measure, cap, values);
    for lane in &mut data.lanes {
        lane.turns = plotted.later_starts(lane.pane);
    }
    // A letter that no pane has now has no staff.
    data.lanes
        .retain(|lane| state.panes.get(lane.pane).is_some());
    let marked = Marked {
        pinned: state.pinned().and_then(|(pane, ..)| {
            let step = state.pin?.step;
            Some(StepAt { pane, step })
        }),
        hovered,
    };
    data.pinned = marked.pinned.and_then(|at| plotted.in_plot(state, at));
    data.hovered = hovered.and_then(|at| plotted.in_plot(state, at));
    data.in_one = state.view.score_layout.is_one_plot();
    let in_score = score_plot_ui(&mut child_ui(ui, score, "score"), &data, Target::Screen);
    let in_score = InTurns::of(in_score, &plotted, state);

    let latest = || {
        let (place, step) = state.shown_step()?;
        let text = state.panes.get(place)?.generation()?;
        Some((text, StepAt { pane: place, step }))
    };
    let shown = in_score.hovered.map(|at| (at.text, at.at)).or_else(latest);
    let candidates = shown.and_then(|(text, at)| candidates_of(&ctx, state, text, at));
    next_token_plot_ui(
        &mut child_ui(ui, next_token, "next token"),
        candidates.as_ref(),
        Target::Screen,
    );
    let beside_choice = speed.with_max_x(speed.right() - PLOT_CHOICE);
    let mut right = child_ui(ui, beside_choice, "right plot");
    let mut chosen = state.view.right_plot.0;
    let in_trend = match chosen {
        // A watermark is looked for in the shown turn.
        Plot::Trend(kind @ Trend::Watermark) => {
            trend_ui(&mut right, state, kind, &PlottedTurns::default(), marked)
        }
        Plot::Trend(kind) => trend_ui(&mut right, state, kind, &plotted, marked),
        plot => {
            // All panes write a turn at the same time, but they begin it after different numbers of
            // tokens.
            let one_turn = (plot == Plot::Speed).then(|| state.generations());
            let texts = one_turn.as_ref().unwrap_or(&texts);
            if let Some(plot) = kept_plot(&ctx, plot, texts) {
                plot.show(&mut right);
            }
            InTurns::default()
        }
    };
    right_plot_ui(ui, speed, &mut chosen, commands);

    let stroke = Stroke::new(1.0, Theme::of(ui).stroke_1);
    for column in [next_token, speed] {
        let x = column.left() - 14.0;
        ui.painter()
            .vline(x, body.shrink2(vec2(0.0, 1.0)).y_range(), stroke);
    }
    if let Some(clicked) = in_score.clicked.or(in_trend.clicked) {
        pin_from_plot(clicked, state, commands);
    }
    let hovered = in_score.hovered.or(in_trend.hovered);
    let hovered = hovered
        .filter(|at| at.is_of_shown_turn(state))
        .map(|at| at.at);
    state.view.right_plot = RightPlot(chosen);
    hovered
}

/// Steps of the shown turn that the window marks.
#[derive(Clone, Copy)]
struct Marked {
    pinned: Option<StepAt>,
    /// The step hovered in a pane's text.
    hovered: Option<StepAt>,
}

/// How the user interacted with a plot.
#[derive(Clone, Copy, Default)]
struct InTurns<'a> {
    hovered: Option<TurnStep<'a>>,
    clicked: Option<TurnStep<'a>>,
}

impl<'a> InTurns<'a> {
    fn of(response: PlotResponse, plotted: &PlottedTurns, state: &'a AppState) -> Self {
        let in_turn = |at: StepAt| plotted.in_turn(state, at);
        Self {
            hovered: response.hovered.and_then(in_turn),
            clicked: response.clicked.and_then(in_turn),
        }
    }
}

/// Draws a trend of the texts.
fn trend_ui<'a>(
    ui: &mut Ui,
    state: &'a AppState,
    kind: Trend,
    plotted: &PlottedTurns,
    marked: Marked,
) -> InTurns<'a> {
    let ctx = ui.ctx().clone();
    let texts = plotted.texts(state);
    let scans: Vec<_> = state.panes.by_place(Pane::watermark);
    let figures = |texts: &[(usize, &Generation)], scans: &[&WatermarkScan]| {
        trend_figures(&ctx, kind, texts, scans)
    };
    let mut trend = TrendData::with_figures(&texts, kind, &scans, figures);
    let starts = trend
        .texts
        .iter()
        .map(|(place, _)| plotted.later_starts(*place));
    trend.turns = starts.collect();
    trend.pinned = marked.pinned.and_then(|at| plotted.in_plot(state, at));
    trend.hovered = marked.hovered.and_then(|at| plotted.in_plot(state, at));
    let response = trend_plot_ui(ui, &trend, Target::Screen);
    InTurns::of(response, plotted, state)
}

/// Returns the candidates of a step under the pane's current settings, or else as recorded.
fn candidates_of(
    ctx: &Context,
    state: &AppState,
    generation: &Generation,
    at: StepAt,
) -> Option<NextTokenData> {
    let StepAt { pane: place, step } = at;
    let pane = state.panes.get(place)?;
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

/// Pins a step, after its turn is shown.
fn pin_from_plot(clicked: TurnStep<'_>, state: &AppState, commands: &mut Vec<Command>) {
    let TurnStep { turn, at, .. } = clicked;
    if !clicked.is_of_shown_turn(state) {
        let show = ConversationCommand::ShowTurn(Some(turn));
        commands.push(Command::Conversation(show));
    }
    let pin = state.panes.get(at.pane).map(|pane| Pin {
        pane: pane.id,
        step: at.step,
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

    use super::{InTurns, PlottedTurns, pin_from_plot};
    use crate::analysis::trend::Trend;
    use crate::plots::{PlotResponse, StepAt};
    use crate::state::tests::{answer_waiting, chat_written, written};
    use crate::state::{Command, DockTab, Plot, RightPlot};
    use crate::ui::testing::{press, window_of};

    #[test]
    fn all_turns_of_a_conversation_are_plotted_on_request() {
        let mut state = chat_written("Hi", &[(" Hello", 0.5), ("!", 0.25)]);
        state.prompt.text = "Why?".to_owned();
        state.apply(Command::GenerateAll);
        answer_waiting(&mut state, &[" so"]);
        state.view.dock_open = Some(true);
        state.view.dock_tab = DockTab::Plots;
        state.view.right_plot = RightPlot(Plot::Trend(Trend::ALL[0]));
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(3);
        window.get_by_label_contains(": A 1 tokens, B 1 tokens");
        press(&mut window, "The turn that the tabs show");
        press(&mut window, "All turns");
        window.run_steps(2);
        window.get_by_label_contains(": A 3 tokens, B 3 tokens");
        window.get_by_label_contains("at token 3, B");

        // A step in the plots is one of its turn, and the other way round.
        let mut state = window.state().clone();
        let plotted = PlottedTurns::chosen(&window.ctx, &state);
        assert_eq!(plotted.later_starts(1), [2]);
        let at = |step| StepAt { pane: 1, step };
        assert_eq!(plotted.in_plot(&state, at(0)), Some(at(2)));
        assert_eq!(plotted.in_plot(&state, at(1)), None);
        let clicked = PlotResponse {
            hovered: Some(at(2)),
            clicked: Some(at(1)),
        };
        let response = InTurns::of(clicked, &plotted, &state);
        assert!(response.hovered.unwrap().is_of_shown_turn(&state));
        let clicked = response.clicked.unwrap();
        assert_eq!((clicked.turn, clicked.at), (0, at(1)));
        let mut commands = Vec::new();
        pin_from_plot(clicked, &state, &mut commands);
        for command in commands {
            state.apply(command);
        }
        assert_eq!(state.panes.shown_turn(), Some(0));
        let (place, text, step) = state.pinned().unwrap();
        assert_eq!((place, text.prompt.text.as_str()), (1, "Hi"));
        assert_eq!(step.piece.as_str(), Some("!"));
    }

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
