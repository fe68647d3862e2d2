//! Tests of answers from the history that are drawn again.

use super::{answer_all, computed, deliver_exact, judged, start, with_tasks};
use crate::decoding::filters::Temperature;
use crate::decoding::{ChainConfig, Filter};
use crate::generation::{ChatSettings, ChatSupport, PromptForm};
use crate::lab::kept::{are_the_same, refuses, reopened, run_again};
use crate::lab::prompts::{TaskView, TasksPlan};
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{JobUpdate, planned, update_job};
use crate::state::{Command, ModelStatus, PromptMode};

#[test]
fn a_kept_table_runs_again_with_everything_that_made_it() {
    let (_, plan) = start(&mut with_tasks());
    let state = judged();
    let (mut other, effects) = run_again(&state, LabTab::Prompts);
    let (id, again) = planned::<TasksPlan>(&effects[0]).unwrap();
    assert_eq!(again, plan);
    answer_all(&mut other, id);
    let effects = update_job(&mut other, id, JobUpdate::Finished);
    are_the_same(&state, &other, LabTab::Prompts, &effects);
}

#[test]
fn a_kept_curve_runs_again_and_the_view_of_before_comes_back() {
    let state = computed();
    let (mut other, effects) = run_again(&state, LabTab::Prompts);
    let (id, plan) = planned::<TasksPlan>(&effects[0]).unwrap();
    assert!(plan.drawn.is_empty(), "nothing is drawn");
    for task in 0..2 {
        deliver_exact(&mut other, id, task, plan.exact.len());
    }
    let effects = update_job(&mut other, id, JobUpdate::Finished);
    are_the_same(&state, &other, LabTab::Prompts, &effects);
    assert_eq!(other.lab.prompts.view, TaskView::AnySetting);
    other.apply(Command::Lab(LabCommand::Close(LabTab::Prompts)));
    assert_eq!(other.lab.prompts.view, TaskView::Table);
    assert_eq!(other.lab.prompts.runs.sweep, None);
}

#[test]
fn the_prompts_keep_the_form_of_then() {
    let mut state = with_tasks();
    let ModelStatus::Ready(model) = &mut state.models.main else {
        panic!("no model is ready");
    };
    model.chat = ChatSupport::ready();
    state.prompt.mode = PromptMode::Chat;
    let (id, plan) = start(&mut state);
    assert_eq!(
        plan.tasks[0].prompt.form,
        PromptForm::Chat(ChatSettings::default())
    );
    answer_all(&mut state, id);
    update_job(&mut state, id, JobUpdate::Finished);
    let (_, effects) = run_again(&state, LabTab::Prompts);
    let (_, again) = planned::<TasksPlan>(&effects[0]).unwrap();
    assert_eq!(again, plan);
}

#[test]
fn what_cannot_run_again_is_refused() {
    refuses(&judged(), LabTab::Prompts, |json| {
        let heat = Filter::Temperature(Temperature { temperature: -1.0 });
        let chain = serde_json::to_value(ChainConfig::sampled([heat]));
        json["results"]["panes"][0]["chain"] = chain.unwrap();
    });
    refuses(&judged(), LabTab::Prompts, |json| {
        let assistant = serde_json::json!([{"role": "Assistant", "content": "Yes"}]);
        json["results"]["tasks"][0]["prompt"] =
            serde_json::json!({ "Messages": { "messages": assistant } });
    });
    let mut other = reopened(&judged(), LabTab::Prompts);
    let run = other.lab.prompts.runs.table.as_mut().unwrap();
    run.results.n_answers = usize::MAX;
    let refusal = other.again_refusal(LabTab::Prompts).unwrap().words;
    assert!(refusal.contains("answers, and at most"), "{refusal}");
}
