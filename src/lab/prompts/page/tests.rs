//! Tests of the Prompts tab in a window.

use egui::{Key, Modifiers, Rect, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::lab::prompts::tests::forks::deliver_fork;
use crate::lab::prompts::tests::own_models::answered;
use crate::lab::prompts::tests::served::served_list;
use crate::lab::prompts::tests::sweeps::{mapped, sweep, swept};
use crate::lab::prompts::tests::{
    DONE, MARS, VENUS, answer, answer_all, computed, deliver, judged, start, table, with_tasks,
};
use crate::lab::prompts::{PromptsCommand, TaskNews, TaskSource, TaskView};
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{ready, update_job};
use crate::state::{AppState, Command, Page, PathPurpose, RunCommand};
use crate::ui::testing::{Window, key, press, window_of};
use crate::worker::JobUpdate;

const NARROW: Vec2 = vec2(1280.0, 800.0);

fn window(mut state: AppState) -> Window {
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    state.lab.tab = LabTab::Prompts;
    let mut window = window_of(NARROW, state);
    window.run_steps(4);
    window
}

/// Types a text into the field with this name.
fn type_into(window: &mut Window, name: &str, text: &str) {
    window.get_by_label(name).focus();
    window.run_steps(2);
    window.get_by_label(name).type_text(text);
    window.run_steps(3);
}

#[test]
fn a_typed_list_is_answered_with_the_shortcut() {
    let mut window = window(ready());
    window.get_by_label_contains("One row per task");
    type_into(&mut window, "List of tasks", "The");
    // The form has taken the place of the sources, and the field still has the focus.
    window.get_by_label("List of tasks").type_text(" fox");
    window.run_steps(2);
    assert_eq!(window.state().lab.prompts.form.typed, "The fox");
    window.get_by_label("1 task");
    window.get_by_label("Answers aren’t judged: add a check.");
    window.get_by_label("Answer");
    press(&mut window, "Another check");
    press(&mut window, "json");
    assert_eq!(window.state().lab.prompts.form.checks, ["json"]);
    window.get_by_label("Judge");
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    assert!(window.state().lab.is_running(LabTab::Prompts));
    key(&mut window, Modifiers::NONE, Key::Escape);
    window.get_by_label("Stop and keep answers");
}

#[test]
fn cells_say_what_they_show_and_the_arrows_move_between_them() {
    let mut window = window(judged());
    window.get_by_label("Export the answers");
    press(&mut window, "Task 1, greedy, 100 percent, 1 of 1 right");
    assert_eq!(table(window.state()).selected, Some((0, 0)));
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    key(&mut window, Modifiers::NONE, Key::ArrowDown);
    assert_eq!(table(window.state()).selected, Some((1, 1)));
    window.get_by_label("1 of 2 right");
    window.get_by_label("expects ‘Venus’");
    window.get_by_label("Answer 1, right: Venus");
    window.get_by_label("Answer 2, wrong: Mars");
    window.get_by_label("The answers part at token 1: ‘Venus’, ‘Mars’.");
    press(&mut window, "Answer 1, right: Venus");
    press(&mut window, "All 2 tasks");
    assert_eq!(table(window.state()).selected, None);
    window.get_by_label("vote of 2");
    window.get_by_label("different");
    press(
        &mut window,
        "Task 2, pure sampling, 50 percent, 1 of 2 right",
    );
    press(&mut window, "Answer 1, right: Venus");
    let seed = table(window.state()).results.answers(1, 1)[0].seed;
    window.get_by_label("2 tokens · End of text");
    key(&mut window, Modifiers::NONE, Key::Enter);
    let state = window.state();
    assert_eq!(state.page, Page::Write);
    assert_eq!(state.panes[4].settings.seed, Some(seed));
}

#[test]
fn settings_of_a_cell_are_used() {
    let mut window = window(judged());
    press(&mut window, "Task 2, greedy, 100 percent, 1 of 1 right");
    press(&mut window, "Use these settings");
    assert_eq!(window.state().panes.len(), 5);
    assert_eq!(window.state().page, Page::Write);
}

#[test]
fn rows_fill_while_answers_arrive() {
    let mut state = with_tasks();
    let (id, _) = start(&mut state);
    answer(&mut state, id, (0, 1), (0, MARS));
    let refused = TaskNews::Refused {
        error: "the prompt is too long".to_owned(),
    };
    deliver(&mut state, id, 1, refused);
    let mut window = window(state);
    assert_eq!(window.query_all_by_label("1 of 7 answers").count(), 2);
    window.get_by_label("Task 1, greedy, not answered yet");
    press(&mut window, "Task 2, greedy, the prompt is too long");
    window.get_by_label("Not answered");
    press(&mut window, "Stop and keep answers");
}

#[test]
fn a_decided_run_offers_to_stop() {
    let mut state = with_tasks();
    let rows: Vec<String> = (0..40).map(|index| format!("Q{index},Mars")).collect();
    state.lab.prompts.form.typed = format!("question,answer\n{}\n", rows.join("\n"));
    let (id, _) = start(&mut state);
    for task in 0..30 {
        for pane in 0..4 {
            let word = if pane == 0 { MARS } else { VENUS };
            answer(&mut state, id, (task, pane), (0, word));
        }
        deliver(&mut state, id, task, DONE);
    }
    let mut window = window(state);
    window.get_by_label_contains("Already decided: A is better than");
    press(&mut window, "Stop here");
    window.get_by_label_contains("A better than B by 100 points");
}

#[test]
fn a_list_without_checks_shows_its_texts() {
    let mut state = with_tasks();
    state.lab.prompts.form.checks.clear();
    let (id, plan) = start(&mut state);
    assert!(plan.tasks.iter().all(|task| task.right.is_empty()));
    answer_all(&mut state, id);
    update_job(&mut state, id, JobUpdate::Finished);
    let mut window = window(state);
    press(&mut window, "Task 2, greedy: Venus");
    window.get_by_label("1 answer");
    window.get_by_label("Answer 1: Venus");
}

#[test]
fn a_text_is_tried_on_the_checks() {
    let mut window = window(with_tasks());
    press(&mut window, "Try on a text…");
    type_into(&mut window, "Text to try", "Venus");
    window.get_by_label("wrong");
    window.get_by_label_contains("‘Mars’");
    window.state_mut().lab.prompts.form.trial = Some("Mars".to_owned());
    window.run_steps(2);
    window.get_by_label("right");
    press(&mut window, "Close the trial");
    assert!(window.query_by_label("Text to try").is_none());
}

#[test]
fn mistakes_are_named_with_their_place() {
    let mut state = with_tasks();
    state.lab.prompts.form.template = "{subject}".to_owned();
    let mut window = window(state);
    window.get_by_label_contains("there is no column ‘subject’");
    press(&mut window, "Remove check 1");
    assert!(window.state().lab.prompts.form.checks.is_empty());
}

#[test]
fn the_other_view_is_a_curve_with_the_prompts_that_decide_it() {
    let mut state = computed();
    state.lab.prompts.view = TaskView::Table;
    let mut window = window(state);
    press(&mut window, "Any setting");
    window.get_by_label_contains("Right answers at any temperature");
    let run = |window: &Window| window.state().lab.prompts.runs.sweep.clone().unwrap();
    let deciding = run(&window).reading.deciding;
    assert_eq!(run(&window).shown_task(), Some(deciding[0]));
    key(&mut window, Modifiers::NONE, Key::ArrowDown);
    assert_eq!(run(&window).selected, Some(deciding[1]));
    window.get_by_label("Why exactly");
    window.get_by_label_contains("= 8");
    press(&mut window, "Use these settings");
    assert_eq!(window.state().panes.len(), 5);
}

#[test]
fn what_cannot_be_computed_is_drawn() {
    let mut state = with_tasks();
    state.lab.prompts.view = TaskView::AnySetting;
    state.lab.prompts.form.checks = vec!["contains: {answer}".to_owned()];
    let window = window(state);
    assert!(window.query_by_label("Exact").is_none());
    assert!(window.query_all_by_label("Answers to each").count() > 0);
    window.get_by_label("Judge");
}

#[test]
fn answers_are_drawn_at_every_value_by_keyboard() {
    let mut state = with_tasks();
    state.lab.prompts.view = TaskView::AnySetting;
    let mut window = window(state);
    window.get_by_label("Compute");
    press(&mut window, "Drawn");
    window.get_by_label_contains("all with the same coins");
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    assert!(sweep(window.state()).is_drawn());
    key(&mut window, Modifiers::NONE, Key::Escape);
    window.get_by_label("Stop and keep answers");
}

#[test]
fn a_drawn_sweep_shows_what_the_answers_cost_and_the_arrows_choose_the_value() {
    let mut window = window(swept());
    window.get_by_label_contains("drawn, 2 answers to each of 2 tasks");
    for name in [
        "different answers to a task",
        "tokens of an answer",
        "seconds of an answer",
    ] {
        window.get_by_label_contains(&format!("{name}: "));
    }
    window.get_by_label_contains("Different answers to a task: 1.0 at 0.1");
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    assert_eq!(sweep(window.state()).selected_cell, Some(0));
    window.get_by_label("T 0.1: 2 of 2 right");
    window.get_by_label_contains("All 2 answers are the same");
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    window.get_by_label("T 0.85: 1 of 2 right");
    let run = sweep(window.state());
    let (task, settings) = (run.shown_task().unwrap(), run.shown_settings());
    let seed = run.results.answers(task, settings)[run.shown_answer()].seed;
    key(&mut window, Modifiers::NONE, Key::Enter);
    let state = window.state();
    assert_eq!(state.page, Page::Write);
    assert_eq!(state.panes[4].settings.seed, Some(seed));
}

#[test]
fn the_arrows_move_through_the_map() {
    let mut window = window(mapped());
    window.get_by_label_contains("Map of right answers. On these 2 prompts T 0.1 · top-p 0.5");
    window.get_by_label_contains("T 0.1 · top-p 0.5: Exactly");
    key(&mut window, Modifiers::NONE, Key::ArrowUp);
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    assert_eq!(sweep(window.state()).selected_cell, Some(3));
    window.get_by_label_contains("T 0.85 · top-p 1: Exactly");
    press(&mut window, "Task 1, 76 %: Which planet is red?");
    assert_eq!(sweep(window.state()).selected, Some(0));
    window.get_by_label("Why exactly");
    press(&mut window, "Use these settings");
    assert_eq!(window.state().panes.len(), 5);
}

#[test]
fn rows_are_sorted_by_the_menu_and_by_the_heads() {
    let mut window = window(judged());
    press(&mut window, "Sorted by: Most disagreement first");
    press(&mut window, "In the order of the list");
    window.get_by_label("Sorted by: In the order of the list");
    press(&mut window, "Sort by B");
    press(&mut window, "Sort by B");
    window.get_by_label("Sorted by: Worst of B first");
}

#[test]
fn a_cell_explains_why_its_answers_part() {
    let mut window = window(judged());
    let cell = "Task 2, pure sampling, 50 percent, 1 of 2 right";
    press(&mut window, cell);
    press(&mut window, "Why they part");
    window.get_by_label_contains("Reading the prompt");
    // The test window drops effects, so the choice is asked for again.
    let command = PromptsCommand::ExplainFork {
        view: TaskView::Table,
        task: 1,
        pane: 1,
    };
    let command = Command::Lab(LabCommand::Prompts(command));
    let state = window.state_mut();
    let effects = state.apply(command);
    deliver_fork(state, &effects);
    window.run_steps(3);
    window.get_by_label("Where right and wrong part");
    window.get_by_label_contains("The choice: answer 1, right, coin 0.");
    window.get_by_label_contains("‘Mars’ 50 % → 50 %");
    window.get_by_label_contains("Answer 2, wrong. ");
}

#[test]
fn the_file_shortcut_asks_for_tasks() {
    let mut state = ready();
    let ask = Command::AskPath(PathPurpose::Lab(LabTab::Prompts));
    let effects = state.apply(ask);
    assert_eq!(effects.len(), 1);
    // The test window drops effects, so the path is given by hand.
    let mut window = window(state);
    key(&mut window, Modifiers::COMMAND, Key::O);
    let purpose = PathPurpose::Lab(LabTab::Prompts);
    let given = Command::PathGiven(purpose, "tasks.csv".into());
    window.state_mut().apply(given);
    window.run_steps(2);
    let source = &window.state().lab.prompts.form.source;
    assert_eq!(*source, TaskSource::File("tasks.csv".into()));
    window.get_by_label("Tasks: tasks.csv");
    window.get_by_label_contains("‘tasks.csv’ can’t be read");
}

#[test]
fn the_tab_fits_its_windows() {
    for size in [vec2(900.0, 600.0), NARROW, vec2(1920.0, 1080.0)] {
        for state in [with_tasks, judged, computed, swept, mapped] {
            let mut state = state();
            state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
            state.lab.tab = LabTab::Prompts;
            let mut window = window_of(size, state);
            window.run_steps(4);
            let screen = Rect::from_min_size(egui::Pos2::ZERO, size);
            for name in ["Table", "Any setting", "Export the answers"] {
                let rect = window.get_by_label(name).rect();
                let words = format!("{name} is at {rect:?} of {size}");
                assert!(screen.contains_rect(rect), "{words}");
            }
        }
    }
}

#[test]
fn a_long_list_draws_only_what_is_visible() {
    let mut state = with_tasks();
    let rows: Vec<String> = (0..100_000).map(|index| format!("Q{index},Mars")).collect();
    state.lab.prompts.form.typed = format!("question,answer\n{}\n", rows.join("\n"));
    state.lab.prompts.form.source = TaskSource::Typed;
    state.lab.prompts.form.n_answers = 1;
    let (id, _) = start(&mut state);
    answer(&mut state, id, (0, 0), (0, MARS));
    // A field with the list would be laid out in every frame.
    state.lab.prompts.form.typed.clear();
    let mut window = window(state);
    let cells = window.query_all_by_role(egui::Role::Cell).count();
    assert!(cells < 400, "{cells} cells");
    let begun = std::time::Instant::now();
    window.run_steps(20);
    let per_frame = begun.elapsed() / 20;
    assert!(per_frame.as_millis() < 400, "{per_frame:?}");
}

#[test]
fn a_pane_on_a_server_has_its_column_and_names_its_errors() {
    let mut window = window(served_list());
    window.get_by_label_contains("100 percent, 2 of 2 right");
    window.get_by_label_contains("returned a server error (500)");
    window
        .state_mut()
        .lab
        .prompts
        .runs
        .table
        .as_mut()
        .unwrap()
        .select(0, 3);
    window.run_steps(2);
    window.get_by_label("Answered by 127.0.0.1:8080");
}

#[test]
fn a_pane_with_its_own_model_has_its_column_and_its_words() {
    let mut state = answered();
    let table = state.lab.prompts.runs.table.as_mut().unwrap();
    table.select(0, 3);
    let window = window(state);
    assert!(window.query_all_by_label_contains("2 of 2 right").count() > 0);
    window.get_by_label("Answered by Other");
}
