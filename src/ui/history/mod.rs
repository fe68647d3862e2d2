//! The History page: every run that was kept, with search on the left and the selected run on the
//! right.

mod dates;
mod details;
mod list;
mod requests;
mod row;

use egui::{Key, Modifiers, Rect, Stroke, StrokeKind, Ui, vec2};

pub(crate) use self::dates::phrase;
use self::details::details_ui;
use self::list::list_ui;
pub(super) use self::requests::{program_name, reuse_words};
use crate::design::child_ui::child_ui;
use crate::design::theme::Theme;
use crate::export::RunSummary;
use crate::generation::formatting::counted;
use crate::state::{AppState, Command, KeptRun, RunCommand};

/// The width of the column with the selected run.
const DETAILS: f32 = 420.0;

/// Draws the page below the top bar.
pub(super) fn history_ui(
    ui: &mut Ui,
    page: Rect,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    keys_ui(ui, state, commands);
    let theme = Theme::of(ui);
    ui.painter().rect_filled(page, 8, theme.surface_1);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().rect_stroke(page, 8, edge, StrokeKind::Inside);
    let width = DETAILS.min(page.width() * 0.45);
    let (left, right) = page.split_left_right_at_x(page.right() - width);
    ui.painter()
        .vline(right.left(), right.shrink(1.0).y_range(), edge);
    list_ui(&mut child_ui(ui, left, "runs"), left, state, commands);
    let inside = right.shrink2(vec2(18.0, 14.0));
    details_ui(&mut child_ui(ui, inside, "run"), state, commands);
}

/// Arrow keys select a run, Enter opens it and Delete deletes it, unless a control has the focus.
fn keys_ui(ui: &Ui, state: &AppState, commands: &mut Vec<Command>) {
    if ui.memory(|memory| memory.focused().is_some()) || state.runs.history.renaming.is_some() {
        return;
    }
    let found = state.runs.history.found();
    let Some(shown) = state.runs.history.shown() else {
        return;
    };
    let place = found.iter().position(|run| run.file == shown.file);
    let place = place.unwrap_or_default();
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let file_at = |place: usize| found.get(place).map(|run| run.file.clone());
    let mut send = |command| commands.push(Command::Run(command));
    if pressed(Key::ArrowDown)
        && let Some(file) = file_at(place + 1)
    {
        send(RunCommand::Select(file));
    }
    if pressed(Key::ArrowUp)
        && let Some(file) = place.checked_sub(1).and_then(file_at)
    {
        send(RunCommand::Select(file));
    }
    if pressed(Key::Enter) && shown.summary.is_ok() {
        send(RunCommand::OpenKept(shown.file.clone()));
    }
    if pressed(Key::V) && shown.is_run() {
        send(RunCommand::VerifyKept(shown.file.clone()));
    }
    if pressed(Key::Delete) {
        send(RunCommand::Delete(shown.file.clone()));
    }
    if pressed(Key::F2) && shown.summary.is_ok() {
        send(RunCommand::BeginRename(shown.file.clone()));
    }
}

/// Describes a run's size: "752 tokens".
fn size_words(run: &KeptRun) -> String {
    let n_tokens = run.summary.as_ref().map_or(0, RunSummary::n_tokens);
    counted(n_tokens, "token")
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use egui::{Key, Modifiers, vec2};
    use egui_kittest::kittest::Queryable as _;

    use crate::design::style;
    use crate::export::{PaneSummary, ResultWords, RunSummary};
    use crate::state::tests::ready;
    use crate::state::{AppState, Command, Effect, KeptRun, Page, RunCommand, RunRequest};
    use crate::ui::WindowUi;
    use crate::ui::testing::{key, press, window_of};

    fn run(file: &str, prompt: &str, finished_at: u64) -> KeptRun {
        KeptRun {
            file: file.to_owned(),
            kept_at: finished_at,
            n_bytes: 1000,
            pinned: false,
            held: None,
            summary: Ok(RunSummary {
                title: None,
                finished_at: Some(finished_at),
                model: "Test".to_owned(),
                prompt: prompt.to_owned(),
                panes: vec![PaneSummary {
                    place: 0,
                    name: "Greedy".to_owned(),
                    settings: "top token".to_owned(),
                    seed: 42,
                    n_tokens: 12,
                    text: format!("{prompt} and so on"),
                }],
                n_turns: 1,
                n_earlier_tokens: 0,
                is_interrupted: false,
                request: None,
                result: None,
            }),
        }
    }

    fn state(runs: Vec<KeptRun>) -> AppState {
        let mut state = ready();
        state.apply(Command::Run(RunCommand::Listed(Ok(runs))));
        state.apply(Command::Run(RunCommand::ShowPage(Page::History)));
        state
    }

    #[test]
    fn an_empty_history_says_what_will_be_here() {
        let window = window_of(vec2(1280.0, 800.0), state(Vec::new()));
        window.get_by_label("Every finished run is saved here.");
    }

    #[test]
    fn a_history_that_cannot_be_saved_says_why() {
        let mut state = state(Vec::new());
        let error = "The disk is full\n/data/runs".to_owned();
        state.apply(Command::Run(RunCommand::NotKept { error }));
        let window = window_of(vec2(1280.0, 800.0), state);
        window.get_by_label_contains("Nothing is saved. The disk is full");
    }

    #[test]
    fn the_results_of_an_experiment_are_listed_without_verification() {
        let mut result = run("sweep-1", "Once upon a time", 1_000_000);
        let summary = result.summary.as_mut().unwrap();
        summary.panes.clear();
        summary.result = Some(ResultWords {
            experiment: "sweep".to_owned(),
            words: "Sweep, 48 cells".to_owned(),
        });
        let mut window = window_of(vec2(1280.0, 800.0), state(vec![result]));
        window.run_steps(3);
        window.get_by_label_contains("Sweep, 48 cells, Test, Once upon a time");
        assert!(window.query_by_label("Verify").is_none());
        press(&mut window, "Lab");
        press(&mut window, "Earlier results");
        window.get_by_label_contains("Sweep, 48 cells");
    }

    #[test]
    fn runs_are_listed_searched_and_selected_with_the_keyboard() {
        let runs = vec![
            run("b", "The wolf", 2_000_000),
            run("a", "The fox", 1_000_000),
        ];
        let mut window = window_of(vec2(1280.0, 800.0), state(runs));
        window.run_steps(3);
        window.get_by_label_contains("The wolf, Test, 12 tokens");
        key(&mut window, Modifiers::NONE, Key::ArrowDown);
        assert_eq!(window.state().runs.history.selected.as_deref(), Some("a"));
        window.state_mut().runs.history.search = "wolf".to_owned();
        window.run_steps(3);
        assert_eq!(
            window.query_all_by_label_contains("The fox, Test").count(),
            0
        );
        window.state_mut().runs.history.search = "TEST".to_owned();
        window.run_steps(3);
        let of_model = window.query_all_by_label_contains("The fox, Test").count();
        assert_eq!(of_model, 1, "the model's name is searched too");
        window.state_mut().runs.history.search = "cat".to_owned();
        window.run_steps(3);
        window.get_by_label("No run contains ‘cat’.");
    }

    #[test]
    fn a_damaged_run_keeps_its_row_and_its_reason() {
        let mut damaged = run("a", "", 1);
        damaged.summary = Err("this run file is incomplete".to_owned());
        let mut window = window_of(vec2(1280.0, 800.0), state(vec![damaged]));
        window.run_steps(3);
        window.get_by_label("This run file is incomplete");
        window.get_by_label("Delete");
    }

    #[test]
    fn deleting_is_undone_with_a_key_that_leaves_the_settings_alone() {
        let mut state = state(vec![run("a", "The fox", 1)]);
        state.apply(Command::Duplicate(state.panes[0].id));
        let sent: Arc<Mutex<Vec<Effect>>> = Arc::default();
        let (log, mut drawing) = (Arc::clone(&sent), WindowUi::default());
        let mut window = egui_kittest::Harness::builder()
            .with_size(vec2(1280.0, 800.0))
            .with_context_setup(style::install)
            .build_ui_state(
                move |ui, state: &mut AppState| {
                    for command in drawing.ui(ui, state) {
                        log.lock().unwrap().extend(state.apply(command));
                    }
                },
                state,
            );
        window.run_steps(3);
        key(&mut window, Modifiers::NONE, Key::Delete);
        let gone = RunCommand::Changed {
            file: "a".to_owned(),
            run: None,
        };
        window.state_mut().apply(Command::Run(gone));
        window.run_steps(2);
        key(&mut window, Modifiers::COMMAND, Key::Z);
        let restore = RunRequest::Restore("a".to_owned());
        let last = sent.lock().unwrap().last().cloned();
        assert_eq!(last, Some(Effect::Runs(restore)));
        assert_eq!(window.state().panes.len(), 5);
    }

    #[test]
    fn the_pages_are_in_the_top_bar() {
        let mut window = window_of(vec2(1280.0, 800.0), ready());
        press(&mut window, "History");
        assert_eq!(window.state().page, Page::History);
        key(&mut window, Modifiers::COMMAND, Key::Num1);
        assert_eq!(window.state().page, Page::Write);
        key(&mut window, Modifiers::COMMAND, Key::Num2);
        assert_eq!(window.state().page, Page::Lab);
        key(&mut window, Modifiers::COMMAND, Key::Num3);
        assert_eq!(window.state().page, Page::History);
    }
}
