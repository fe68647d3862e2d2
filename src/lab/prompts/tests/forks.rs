//! Tests of the choice at which right and wrong answers part.

use super::{END, judged, run, table};
use crate::decoding::{Coins, History, SamplerChain, TokenId};
use crate::lab::prompts::{ForkFound, ForkPlan, PromptsCommand, TaskView};
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{JobUpdate, planned, report, update_job};
use crate::state::{AppState, Effect, RunStatus};

/// Delivers the choice that was asked for: both words are equally likely.
pub(in crate::lab::prompts) fn deliver_fork(state: &mut AppState, effects: &[Effect]) {
    let [effect] = effects else {
        panic!("{effects:?}");
    };
    let (id, plan) = planned::<ForkPlan>(effect).unwrap();
    let prompt = vec![TokenId(END)];
    let tokens = [&prompt[..], &plan.shared].concat();
    let draws = plan.seeds.iter().map(|seed| {
        let coins = Coins {
            seed: *seed,
            position: tokens.len() as u64,
        };
        let history = History::new(&tokens, prompt.len());
        let mut chain = SamplerChain::new(plan.chain.clone());
        chain.sample(&[1.0, 1.0, -9.0], history, coins).unwrap()
    });
    let draws = draws.collect();
    report(state, id, ForkFound { prompt, draws });
    update_job(state, id, JobUpdate::Finished);
}

#[test]
fn the_choice_at_which_answers_part_is_explained() {
    let mut state = judged();
    let command = PromptsCommand::ExplainFork {
        view: TaskView::Table,
        task: 1,
        pane: 1,
    };
    let effects = run(&mut state, LabCommand::Prompts(command));
    assert!(
        !state.lab.is_running(LabTab::Prompts),
        "the table is complete"
    );
    deliver_fork(&mut state, &effects);
    let fork = state.lab.prompts.runs.fork.as_ref().unwrap();
    assert_eq!(fork.status, RunStatus::Complete);
    let choice = fork.choice.as_ref().unwrap();
    assert_eq!(choice.draws.len(), 2);
    assert!(choice.draws[0].is_right && !choice.draws[1].is_right);
    assert!(choice.draws.iter().all(|draw| draw.coin.is_some()));
    assert!(choice.draws.iter().all(|draw| draw.change.is_some()));
    assert!((choice.kept[0].prob - 0.5).abs() < 1e-4);
    assert!(!choice.differs);
    let results = &table(&state).results;
    let now = results.fork(1, 1).unwrap();
    assert!(fork.is_of(TaskView::Table, (1, 1), &now));
    assert!(!fork.is_of(TaskView::Table, (0, 1), &now));
}
