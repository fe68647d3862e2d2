//! Jobs of several experiments in a session: which goes first, and what becomes of the others.

use std::sync::atomic::Ordering;

use crate::scripted::ScriptedLm;
use quartet::decoding::{ChainConfig, SelectorState};
use quartet::engine::{JobPlan, JobUpdate, Session};
use quartet::generation::{
    FitPlan, FitText, FuturesPlan, GenerationConfig, GenerationId, Limits, PromptForm, PromptText,
    SweepPlan,
};
use quartet::lab::cache::CachePlan;
use quartet::lab::models::{ComparisonPlan, ComparisonText};

fn limits() -> Limits {
    Limits {
        max_new_tokens: 3,
        ..Limits::default()
    }
}

fn sweep() -> SweepPlan {
    SweepPlan {
        prompts: vec![PromptText::raw("fox")],
        cells: vec![ChainConfig::sampled([])],
        limits: limits(),
        seed: 1,
        n_seeds: 2,
        width: 4,
    }
}

fn fit() -> FitPlan {
    FitPlan {
        texts: vec![FitText::Typed {
            prompt: None,
            text: "the quick fox".to_owned(),
        }],
        chains: vec![ChainConfig::sampled([])],
        n_logits_bytes: FitPlan::DEFAULT_LOGITS_BYTES,
    }
}

fn cache() -> CachePlan {
    CachePlan {
        prompt: PromptText::raw("fox"),
        n_tokens: 4,
    }
}

fn comparison() -> ComparisonPlan {
    ComparisonPlan {
        text: ComparisonText::Typed("the quick fox".to_owned()),
        settings: Vec::new(),
    }
}

fn futures(session: &Session) -> FuturesPlan {
    let text = session.prompt("fox").unwrap().tokens;
    FuturesPlan {
        n_prompt: text.len(),
        form: PromptForm::Raw,
        text,
        selector_state: SelectorState::NEW,
        config: GenerationConfig {
            chain: ChainConfig::greedy(),
            seed: 1,
            limits: limits(),
        },
        n_futures: 2,
        n_tokens: 3,
        width: FuturesPlan::DEFAULT_WIDTH,
    }
}

/// Queues a job, with another model if `needs_other`.
fn queue(session: &mut Session, id: u64, plan: &dyn JobPlan, needs_other: bool) {
    let other = needs_other.then(|| ScriptedLm::babbling(64).into_loaded().unwrap());
    session.run_job(GenerationId(id), plan, other).unwrap();
}

#[test]
fn short_jobs_overtake_long_ones_and_equal_ones_keep_their_order() {
    let mut session = Session::new(ScriptedLm::babbling(64).into_loaded().unwrap());
    queue(&mut session, 1, &sweep(), false);
    queue(&mut session, 2, &sweep(), false);
    // The first sweep has begun when the others arrive.
    session.advance_job();
    queue(&mut session, 3, &comparison(), true);
    queue(&mut session, 4, &cache(), false);
    queue(&mut session, 5, &fit(), false);
    queue(&mut session, 6, &fit(), false);
    let futures = futures(&session);
    queue(&mut session, 7, &futures, false);
    let order = [7, 5, 6, 4, 3, 1, 2].map(GenerationId);
    assert_eq!(session.job_ids(), order);
    assert_eq!(session.ids_of_pane_jobs(), [GenerationId(7)]);
    let mut finished = Vec::new();
    while session.has_jobs() {
        if let Some((id, update)) = session.advance_job()
            && update.is_end()
        {
            assert_eq!(update, JobUpdate::Finished);
            finished.push(id);
        }
    }
    assert_eq!(finished, order);
}

#[test]
fn stopping_jobs_in_any_order_frees_their_sequences() {
    let lm = ScriptedLm::babbling(64);
    let n_open = lm.n_open();
    let mut session = Session::new(lm.into_loaded().unwrap());
    queue(&mut session, 1, &sweep(), false);
    for _ in 0..3 {
        session.advance_job();
    }
    queue(&mut session, 2, &cache(), false);
    for _ in 0..3 {
        session.advance_job();
    }
    queue(&mut session, 3, &comparison(), true);
    assert!(n_open.load(Ordering::Relaxed) > 1);
    for id in [1, 3, 2].map(GenerationId) {
        assert!(session.stop_job(id) && !session.stop_job(id));
    }
    assert!(!session.has_jobs());
    assert_eq!(session.advance_job(), None);
    assert_eq!(
        n_open.load(Ordering::Relaxed),
        1,
        "only the prompt of the sweep is kept"
    );
}
