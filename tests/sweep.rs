//! Sweeps in a session have the same tokens as panes, share rows across cells, stay within their
//! width, and keep their complete texts when they are stopped.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::scripted::ScriptedLm;
use quartet::analysis::sweep::{Keep, SweepResults, SweepSetup};
use quartet::decoding::{ChainConfig, TokenId};
use quartet::engine::{Compute, JobUpdate, Progress, Session, open_embedded};
use quartet::generation::{
    EndOfText, FinishReason, GenerationConfig, GenerationId, Limits, PromptText, SweepPlan,
    SweepText, SweepUpdate,
};
use quartet::interop::parse_axis;

const ID: GenerationId = GenerationId(7);

fn setup(vary: &[&str], n_seeds: usize, n_tokens: usize) -> SweepSetup {
    let mut axes = vary.iter().map(|words| parse_axis(words).unwrap());
    SweepSetup {
        base: ChainConfig::sampled([]),
        rows: axes.next().unwrap(),
        columns: axes.next(),
        seed: u64::MAX,
        n_seeds,
        limits: Limits {
            max_new_tokens: n_tokens,
            ..Limits::default()
        },
    }
}

fn prompts(texts: &[&str]) -> Vec<PromptText> {
    texts.iter().map(|text| PromptText::raw(*text)).collect()
}

/// Runs a sweep to the end and returns its texts.
fn run(session: &mut Session, plan: &SweepPlan) -> Vec<SweepText> {
    session.run_job(ID, plan, None).unwrap();
    let (mut found, mut last_n_tokens) = (Vec::new(), 0);
    while session.has_jobs() {
        let Some((id, update)) = session.advance_job() else {
            continue;
        };
        assert_eq!(id, ID);
        match update {
            JobUpdate::Reported(report) => match report.take().unwrap() {
                SweepUpdate::Advanced {
                    n_tokens, complete, ..
                } => {
                    assert!(n_tokens >= last_n_tokens);
                    last_n_tokens = n_tokens;
                    found.extend(complete);
                }
                SweepUpdate::Started { prompts } => {
                    assert_eq!(prompts.len(), plan.prompts.len());
                }
            },
            JobUpdate::Finished => {}
            other => panic!("{other:?}"),
        }
    }
    let n_tokens: usize = found.iter().map(|text| text.tokens.len()).sum();
    assert_eq!(n_tokens, last_n_tokens);
    found.sort_by_key(|text| (text.prompt, text.cell, text.seed));
    found
}

/// Returns what a pane generates with these settings: its tokens, their surprise in bits, and its
/// finish reason.
fn written(
    session: &mut Session,
    prompt: &str,
    config: GenerationConfig,
) -> (Vec<TokenId>, Vec<f64>, FinishReason) {
    let prompt = session.prompt(prompt.to_owned()).unwrap();
    session.generate(prompt, [(ID, config)], Instant::now());
    let (mut tokens, mut bits, mut finish) = (Vec::new(), Vec::new(), None);
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            match progress {
                Progress::Stepped { step, .. } => {
                    tokens.push(step.token);
                    bits.push(-step.trace.raw_prob.log2());
                }
                Progress::Finished { reason, .. } => finish = Some(reason),
                _ => {}
            }
        }
    }
    (tokens, bits, finish.unwrap())
}

#[test]
fn every_text_is_what_a_pane_writes_with_its_settings_and_seed() {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = open_embedded(&Compute::on_cpu(), keep_going);
    let mut session = Session::new(opened.unwrap().unwrap());
    let setup = setup(&["temp 0.5 1.2", "top-p 0.7 1"], 2, 10);
    let starts = ["Once upon a time", "The fox"];
    let texts = run(&mut session, &setup.plan(prompts(&starts), 96));
    assert_eq!(texts.len(), 2 * 4 * 2);
    for text in &texts {
        let config = GenerationConfig {
            chain: setup.chain_of(text.cell),
            seed: setup.seed.wrapping_add(text.seed as u64),
            limits: setup.limits.clone(),
        };
        let (tokens, bits, finish) = written(&mut session, starts[text.prompt], config);
        assert_eq!((&text.tokens, &text.finish), (&tokens, &finish), "{text:?}");
        for (measured, bits) in text.measures.iter().zip(bits) {
            assert!((f64::from(measured.surprise_bits) - bits).abs() < 1e-4);
        }
    }
    // Narrow batches, and each cell alone, produce the same texts.
    assert_eq!(run(&mut session, &setup.plan(prompts(&starts), 3)), texts);
    for cell in 0..setup.n_cells() {
        let plan = SweepPlan {
            cells: vec![setup.chain_of(cell)],
            ..setup.plan(prompts(&starts), 96)
        };
        let alone = run(&mut session, &plan);
        let together = texts.iter().filter(|text| text.cell == cell);
        let tokens = |text: &SweepText| (text.tokens.clone(), text.measures.clone());
        assert!(alone.iter().map(tokens).eq(together.map(tokens)), "{cell}");
    }
}

#[test]
fn a_limit_of_no_tokens_ends_a_text_before_its_first_token_as_in_a_pane() {
    let mut session = Session::new(ScriptedLm::babbling(64).into_loaded().unwrap());
    let setup = setup(&["temp 0.5 1"], 1, 0);
    let texts = run(&mut session, &setup.plan(prompts(&["The fox"]), 96));
    assert_eq!(texts.len(), 2);
    for text in texts {
        let config = GenerationConfig {
            chain: setup.chain_of(text.cell),
            seed: setup.seed,
            limits: setup.limits.clone(),
        };
        let (tokens, _, finish) = written(&mut session, "The fox", config);
        assert_eq!((&text.tokens, &text.finish), (&tokens, &finish));
        assert_eq!(finish, FinishReason::MaxTokens);
    }
}

#[test]
fn cells_that_agree_so_far_share_a_row() {
    let n_rows = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&n_rows);
    let lm =
        ScriptedLm::babbling(64).before_forward(move |rows| log.lock().unwrap().push(rows.len()));
    let n_open = lm.n_open();
    let mut session = Session::new(lm.into_loaded().unwrap());
    // Four settings that are all greedy.
    let greedy = setup(&["top-k 1", "temp 0.5 1 2 4"], 5, 8);
    let texts = run(&mut session, &greedy.plan(prompts(&["fox"]), 96));
    assert_eq!(texts.len(), 20);
    assert!(texts.iter().all(|text| text.tokens == texts[0].tokens));
    assert!(texts[0].measures.iter().all(|token| token.is_top));
    // The prompt, then seven tokens: the eighth is never read.
    assert_eq!(*n_rows.lock().unwrap(), [3, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(n_open.load(Ordering::Relaxed), 1, "only the prompt is kept");
}

#[test]
fn the_width_limits_the_rows_and_free_rows_are_reused_at_once() {
    let n_rows = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&n_rows);
    let lm =
        ScriptedLm::babbling(64).before_forward(move |rows| log.lock().unwrap().push(rows.len()));
    let mut session = Session::new(lm.into_loaded().unwrap());
    let mut sampled = setup(&["temp 1 2"], 10, 12);
    sampled.limits.end_of_text = EndOfText::Stops;
    let texts = run(&mut session, &sampled.plan(prompts(&["fox"]), 4));
    assert_eq!(texts.len(), 20);
    let rows = n_rows.lock().unwrap();
    assert!(rows[1..].iter().all(|n| *n <= 4), "{rows:?}");
    // Rows would stay empty if the next texts waited for all texts of a batch to end.
    let n_read: usize = rows[1..].iter().sum();
    let n_tokens: usize = texts.iter().map(|text| text.tokens.len()).sum();
    assert!(n_read <= n_tokens);
}

#[test]
fn a_stop_keeps_the_complete_texts_and_frees_the_rest() {
    let lm = ScriptedLm::babbling(64);
    let n_open = lm.n_open();
    let loaded = lm.into_loaded().unwrap();
    let vocabulary = Arc::clone(&loaded.vocabulary);
    let mut session = Session::new(loaded);
    let setup = setup(&["temp 1 2"], 3, 6);
    let plan = setup.plan(prompts(&["fox"]), 2);
    session.run_job(ID, &plan, None).unwrap();
    let mut results = SweepResults::new(setup, 1, Keep::Texts);
    // Advance to a pass in which later texts are being generated.
    while results.n_texts() < 2 || n_open.load(Ordering::Relaxed) == 1 {
        let advanced = session.advance_job();
        let update = advanced.as_ref().and_then(|(_, update)| update.report());
        if let Some(SweepUpdate::Advanced { complete, .. }) = update {
            for text in complete {
                results.add(text.clone(), &vocabulary);
            }
        }
    }
    assert_eq!(session.job_ids(), [ID]);
    assert!(session.stop_job(ID) && !session.stop_job(ID));
    assert!(!session.has_jobs());
    assert_eq!(n_open.load(Ordering::Relaxed), 1);
    assert!((2..6).contains(&results.n_texts()));
}

#[test]
fn a_sweep_that_cannot_begin_says_why() {
    let mut session = Session::new(ScriptedLm::babbling(6).into_loaded().unwrap());
    let setup = setup(&["temp 1"], 1, 9);
    let empty = setup.plan(prompts(&[""]), 2);
    assert!(session.run_job(ID, &empty, None).is_err());
    let long = setup.plan(prompts(&["fox", "a long prompt"]), 2);
    let error = session.run_job(ID, &long, None).unwrap_err();
    assert!(error.to_string().contains("the model reads at most"));
    let texts = run(&mut session, &setup.plan(prompts(&["fox"]), 2));
    assert_eq!(texts[0].finish, FinishReason::ContextFull);
}
