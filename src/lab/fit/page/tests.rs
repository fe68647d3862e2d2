//! Tests of the Fit tab in a window.

use egui::{Key, Modifiers, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::analysis::sweep::Parameter;
use crate::decoding::{FilterKind, TokenId};
use crate::generation::{FitPlace, FitPlan, FitTokens, FitUpdate, Likelihood};
use crate::lab::fit::state::suggest_fit_text;
use crate::lab::{AxisForm, LabCommand, LabTab};
use crate::state::tests::{JobUpdate, planned, ready, report, update_job, written};
use crate::state::{AppState, Command, Page, RunCommand};
use crate::ui::testing::{Window, key, press, window_of};

const NARROW: Vec2 = vec2(1280.0, 800.0);
const T: Parameter = Parameter::Filter(FilterKind::Temperature, 0);
const TOP_P: Parameter = Parameter::Filter(FilterKind::TopP, 0);

/// A state with a complete fit, over temperature and top-p or over temperature alone.
fn fitted(over_two: bool) -> AppState {
    let mut state = written();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    state.lab.tab = LabTab::Fit;
    suggest_fit_text(&mut state);
    state.lab.fit.form.rows = AxisForm::new(T, 8);
    state.lab.fit.form.columns = over_two.then(|| AxisForm::new(TOP_P, 6));
    let mut effects = state.apply(Command::Lab(LabCommand::Run(LabTab::Fit)));
    while let Some((id, plan)) = effects.first().and_then(planned::<FitPlan>) {
        let likelihood = |chain| {
            let heat = T.get(chain).unwrap_or(1.0);
            let is_cut = TOP_P.get(chain).unwrap_or(1.0) < 0.95 - 0.2 * heat || heat < 0.3;
            Likelihood {
                ln_prob: if is_cut {
                    f64::NEG_INFINITY
                } else {
                    -5.0 - 40.0 * (heat - 0.81).powi(2)
                },
                ruled_out: is_cut.then_some(FitPlace { text: 0, step: 1 }),
            }
        };
        let found = plan.chains.iter().map(likelihood).enumerate().collect();
        let text = FitTokens {
            tokens: (0..4).map(TokenId).collect(),
            n_prompt: 1,
            n_left_out: 0,
        };
        let texts = vec![text];
        for update in [FitUpdate::Started { texts }, FitUpdate::Computed { found }] {
            report(&mut state, id, update);
        }
        effects = update_job(&mut state, id, JobUpdate::Finished);
    }
    state
}

fn window(size: Vec2, state: AppState) -> Window {
    let mut window = window_of(size, state);
    window.run_steps(3);
    window
}

#[test]
fn a_map_is_read_with_the_arrow_keys_and_used_in_a_pane() {
    let mut window = window(NARROW, fitted(true));
    window.get_by_label_contains("This text is most likely under T 0.8");
    window.get_by_label("Where it becomes impossible");
    let shown = window
        .state()
        .lab
        .fit
        .run
        .clone()
        .unwrap()
        .shown_cell()
        .unwrap();
    key(&mut window, Modifiers::NONE, Key::ArrowDown);
    let run = window.state().lab.fit.run.clone().unwrap();
    assert_eq!(
        run.selected,
        Some(shown - 6),
        "a lower temperature is further down"
    );
    let sentence = run.cell_sentence(shown - 6);
    window.get_by_label(&format!("How likely the text is. {sentence}"));
    press(&mut window, "Use in a pane");
    assert_eq!(window.state().page, Page::Write);
    assert_eq!(window.state().panes.len(), 5);
}

#[test]
fn every_setting_is_a_row_of_the_table() {
    let mut window = window(NARROW, fitted(true));
    press(&mut window, "Show as a table");
    let run = window.state().lab.fit.run.clone().unwrap();
    window.get_by_label(&run.cell_sentence(0));
    press(&mut window, &run.cell_sentence(7));
    assert_eq!(
        window.state().lab.fit.run.as_ref().unwrap().selected,
        Some(7)
    );
    press(&mut window, "Show the picture");
    window.get_by_label_contains("How likely the text is. ");
}

#[test]
fn varying_one_number_gives_a_curve() {
    let mut window = window(NARROW, fitted(false));
    window.get_by_label_contains("Temperature 0.536 to 1.08 explains it nearly as well.");
    window.get_by_label_contains("Temperature below 0.3 can’t generate");
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    let run = window.state().lab.fit.run.clone().unwrap();
    assert!(run.selected.is_some());
}

#[test]
fn a_text_is_pasted_and_the_shortcut_fits_it() {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    let mut window = window(NARROW, state);
    press(&mut window, "Fit");
    window.get_by_label_contains("How likely the text is under each pair of settings");
    press(&mut window, "Add a text");
    press(&mut window, "Paste a text");
    let field = window.get_by_label("Text 1 to fit");
    field.focus();
    window.run_steps(2);
    window
        .get_by_label("Text 1 to fit")
        .type_text("The fox ran.");
    window.run_steps(2);
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    assert!(window.state().lab.is_running(LabTab::Fit));
    press(&mut window, "Stop");
    key(&mut window, Modifiers::NONE, Key::Escape);
}

#[test]
fn the_tab_fits_the_smallest_window() {
    for size in [vec2(900.0, 600.0), NARROW] {
        for over_two in [true, false] {
            let window = window(size, fitted(over_two));
            let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, size);
            for name in [
                "Fit the text",
                "Export the fit",
                "Show as a table",
                "Add a text",
            ] {
                let rect = window.get_by_label(name).rect();
                assert!(
                    screen.contains_rect(rect),
                    "{name} is at {rect:?} of {size}"
                );
            }
        }
    }
}
