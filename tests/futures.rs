//! Futures in a session have the same tokens as panes, share rows while they agree, and free their
//! sequences when they are stopped.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::scripted::ScriptedLm;
use quartet::decoding::filters::{RepetitionPenalty, Temperature, TopP, Window, Xtc};
use quartet::decoding::selector::MirostatV2;
use quartet::decoding::{ChainConfig, Filter, Selector, SelectorState, TokenId};
use quartet::engine::{Compute, JobUpdate, Progress, Session, open_embedded};
use quartet::generation::{
    Continuation, DrawnFutures, FinishReason, Future, FuturesPlan, GenerationConfig, GenerationId,
    Limits, PaneSettings, PromptForm,
};

const ID: GenerationId = GenerationId(7);

fn plan(session: &Session, prompt: &str, chain: ChainConfig, n_futures: usize) -> FuturesPlan {
    let text = session.prompt(prompt.to_owned()).unwrap().tokens;
    FuturesPlan {
        n_prompt: text.len(),
        form: PromptForm::Raw,
        text,
        selector_state: SelectorState::default(),
        config: GenerationConfig {
            chain,
            seed: u64::MAX - 2,
            limits: Limits::default(),
        },
        n_futures,
        n_tokens: 8,
        width: FuturesPlan::DEFAULT_WIDTH,
    }
}

/// Draws futures to the end. Returns them, and how many were reported at a time.
fn draw(session: &mut Session, plan: &FuturesPlan) -> (Vec<Future>, Vec<usize>) {
    session.run_job(ID, plan, None).unwrap();
    let (mut futures, mut batches) = (Vec::new(), Vec::new());
    while session.has_jobs() {
        match session.advance_job() {
            None => {}
            Some((id, JobUpdate::Reported(report))) => {
                assert_eq!(id, ID);
                let DrawnFutures(drawn) = report.take().unwrap();
                batches.push(drawn.len());
                futures.extend(drawn);
            }
            Some((_, JobUpdate::Finished)) => assert!(!session.has_jobs()),
            Some((_, other)) => panic!("{other:?}"),
        }
    }
    (futures, batches)
}

/// Returns what a pane generates with the seed of a future.
fn written(
    session: &mut Session,
    plan: &FuturesPlan,
    index: usize,
) -> (Vec<TokenId>, FinishReason) {
    let (prompt, kept) = plan.text.split_at(plan.n_prompt);
    let prompt = quartet::engine::Prompt {
        text: "x".to_owned(),
        chat: None,
        tokens: prompt.to_vec(),
    };
    let mut config = plan.config.clone();
    config.seed = plan.seed_of(index);
    config.limits.max_new_tokens = kept.len() + plan.n_tokens;
    let continuation = Continuation {
        kept: kept.to_vec(),
        selector_state: plan.selector_state,
        ..Continuation::default()
    };
    session.generate_from(prompt, [(ID, config, continuation)], Instant::now());
    let (mut tokens, mut finish) = (Vec::new(), None);
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            match progress {
                Progress::Stepped { step, .. } => tokens.push(step.token),
                Progress::Finished { reason, .. } => finish = Some(reason),
                _ => {}
            }
        }
    }
    (tokens, finish.unwrap())
}

fn chains() -> Vec<ChainConfig> {
    let temperature = Filter::Temperature(Temperature { temperature: 0.7 });
    let penalty = Filter::RepetitionPenalty(RepetitionPenalty {
        penalty: 1.3,
        window: Window::LAST_64,
    });
    let xtc = Filter::Xtc(Xtc {
        probability: 0.5,
        threshold: 0.1,
    });
    let mut mirostat = ChainConfig::sampled([xtc]);
    mirostat.selector = Selector::MirostatV2(MirostatV2 { tau: 3.0, eta: 0.3 });
    vec![
        ChainConfig::greedy(),
        ChainConfig::sampled([]),
        ChainConfig::sampled([penalty, temperature, Filter::TopP(TopP { p: 0.9 })]),
        mirostat,
        "T 0.9, guide 1.6 against \"A sad tale:\""
            .parse::<PaneSettings>()
            .unwrap()
            .chain,
    ]
}

#[test]
fn every_future_is_what_a_pane_writes_with_its_seed_at_any_width() {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = open_embedded(&Compute::on_cpu(), keep_going);
    let mut session = Session::new(opened.unwrap().unwrap());
    for chain in chains() {
        let mut plan = plan(&session, "Once upon a time there was a fox", chain, 10);
        // The last token was generated, not given.
        plan.n_prompt -= 1;
        let (futures, _) = draw(&mut session, &plan);
        for (index, future) in futures.iter().enumerate() {
            assert_eq!(future.index, index);
            let expected = written(&mut session, &plan, index);
            assert_eq!(
                (future.tokens.clone(), future.finish.clone()),
                expected,
                "{index}"
            );
        }
        for width in [1, 4] {
            let narrow = FuturesPlan {
                width,
                ..plan.clone()
            };
            let (again, batches) = draw(&mut session, &narrow);
            assert_eq!(again, futures, "{width}");
            assert!(batches.iter().all(|n| *n <= width), "{batches:?}");
        }
    }
}

#[test]
fn futures_that_agree_so_far_share_a_row() {
    let n_rows = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&n_rows);
    let lm =
        ScriptedLm::babbling(64).before_forward(move |rows| log.lock().unwrap().push(rows.len()));
    let n_open = lm.n_open();
    let mut session = Session::new(lm.into_loaded().unwrap());
    let greedy = plan(&session, "fox", ChainConfig::greedy(), 50);
    let (futures, batches) = draw(&mut session, &greedy);
    assert_eq!((futures.len(), batches), (50, vec![50]));
    assert!(
        futures
            .iter()
            .all(|future| future.tokens == futures[0].tokens)
    );
    // The prompt, then seven tokens: the eighth is never read.
    assert_eq!(*n_rows.lock().unwrap(), [3, 1, 1, 1, 1, 1, 1, 1]);
    n_rows.lock().unwrap().clear();
    let sampled = plan(&session, "fox", ChainConfig::sampled([]), 50);
    draw(&mut session, &sampled);
    let rows = n_rows.lock().unwrap().clone();
    assert!(
        rows[0] > 10,
        "the prompt is in the cache, and the texts diverge: {rows:?}"
    );
    assert_eq!(n_open.load(Ordering::Relaxed), 1, "only the prompt is kept");
}

#[test]
fn a_stop_frees_everything_and_keeps_what_was_reported() {
    let lm = ScriptedLm::babbling(64);
    let n_open = lm.n_open();
    let mut session = Session::new(lm.into_loaded().unwrap());
    let mut plan = plan(&session, "fox", ChainConfig::sampled([]), 9);
    plan.width = 3;
    session.run_job(ID, &plan, None).unwrap();
    session.run_job(GenerationId(8), &plan, None).unwrap();
    assert_eq!(session.job_ids(), [ID, GenerationId(8)]);
    let mut n_drawn = 0;
    for _ in 0..12 {
        let advanced = session.advance_job();
        let update = advanced.as_ref().and_then(|(_, update)| update.report());
        if let Some(DrawnFutures(futures)) = update {
            n_drawn += futures.len();
        }
    }
    assert_eq!(n_drawn, 3);
    assert!(n_open.load(Ordering::Relaxed) > 1);
    assert!(session.stop_job(ID) && !session.stop_job(ID));
    assert!(session.stop_job(GenerationId(8)));
    assert!(!session.has_jobs());
    assert_eq!(n_open.load(Ordering::Relaxed), 1);
}

#[test]
fn futures_end_with_the_context_and_at_stop_strings() {
    let mut session = Session::new(ScriptedLm::reciting(12, "fox tail").into_loaded().unwrap());
    let mut recited = plan(&session, "fox", ChainConfig::greedy(), 1);
    let (futures, _) = draw(&mut session, &recited);
    assert_eq!(futures[0].finish, FinishReason::EndOfText);
    recited.config.limits.stop_strings = vec!["ta".to_owned()];
    let (futures, _) = draw(&mut session, &recited);
    assert_eq!(futures[0].tokens.len(), 3);
    let stop = "ta".to_owned();
    assert_eq!(futures[0].finish, FinishReason::StopString { stop });

    let mut session = Session::new(ScriptedLm::babbling(6).into_loaded().unwrap());
    let plan = plan(&session, "fox", ChainConfig::greedy(), 2);
    let (futures, _) = draw(&mut session, &plan);
    assert_eq!(futures[0].finish, FinishReason::ContextFull);
    assert_eq!(futures[0].tokens.len(), 4);
    let mut empty = plan;
    empty.text.clear();
    assert!(session.run_job(ID, &empty, None).is_err());
}
