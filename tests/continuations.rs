//! Texts continued from one of their tokens equal uninterrupted ones, with and without the prefix
//! cache, alone and in a batch.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use crate::scripted::ScriptedLm;
use quartet::decoding::selector::{AdaptiveP, BeamSearch, MirostatV1, MirostatV2};
use quartet::decoding::{Against, ChainConfig, Guidance, Picked, Selector, TokenId, Trace};
use quartet::engine::{Compute, EngineError, Progress, Session, open_embedded};
use quartet::generation::{
    Continuation, EndOfText, FinishReason, GenerationConfig, GenerationId, Limits, PromptRecord,
    Step,
};

const PROMPT: &str = "Once upon a time there was";
const N_TOKENS: usize = 40;

/// What a session reported about each pane.
#[derive(Default)]
struct Outcome {
    /// How many tokens were prefilled before the batch's first pass.
    n_prefilled: BTreeMap<u64, usize>,
    steps: BTreeMap<u64, Vec<Step>>,
    finish: BTreeMap<u64, FinishReason>,
}

fn babbling() -> Session {
    let lm = ScriptedLm::babbling(512).with_bytes_per_token(100);
    Session::new(lm.into_loaded().unwrap())
}

fn embedded() -> Session {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = open_embedded(&Compute::on_cpu(), keep_going);
    Session::new(opened.unwrap().unwrap())
}

/// One configuration for each selector.
fn configs() -> Vec<GenerationConfig> {
    let selectors = [
        Selector::Greedy,
        Selector::Multinomial,
        Selector::GumbelMax,
        Selector::MirostatV1(MirostatV1 { tau: 3.0, eta: 0.3 }),
        Selector::MirostatV2(MirostatV2 { tau: 3.0, eta: 0.3 }),
        Selector::AdaptiveP(AdaptiveP {
            target: 0.3,
            decay: 0.8,
        }),
    ];
    let config = |selector| GenerationConfig {
        chain: ChainConfig {
            selector,
            ..ChainConfig::sampled([])
        },
        seed: 7,
        limits: Limits {
            max_new_tokens: N_TOKENS,
            end_of_text: EndOfText::Ignored,
            ..Limits::default()
        },
    };
    selectors.map(config).to_vec()
}

/// Returns the continuation of a text after its first `n_kept` tokens.
fn after(steps: &[Step], n_kept: usize) -> Continuation {
    let kept = &steps[..n_kept];
    let last = kept.last();
    Continuation {
        kept: kept.iter().map(|step| step.token).collect(),
        selector_state: last
            .map(|step| step.trace.selector_state)
            .unwrap_or_default(),
        at_secs: last.map_or(0.0, |step| step.time.at_secs),
        ..Continuation::default()
    }
}

type Pane = (u64, GenerationConfig, Continuation);

fn run(session: &mut Session, panes: impl IntoIterator<Item = Pane>) -> Outcome {
    let prompt = session.prompt(PROMPT.to_owned()).unwrap();
    let panes = panes
        .into_iter()
        .map(|(id, config, continuation)| (GenerationId(id), config, continuation));
    session.generate_from(prompt, panes, Instant::now());
    let mut outcome = Outcome::default();
    let mut progress = Vec::new();
    while session.is_busy() {
        session.advance(&mut progress);
        for progress in progress.drain(..) {
            match progress {
                Progress::Prefilling { .. } | Progress::Compared { .. } => {}
                Progress::Started { ids, prompt } => {
                    let prompt: Arc<PromptRecord> = prompt;
                    for id in ids {
                        outcome.n_prefilled.insert(id.0, prompt.n_prefilled);
                    }
                }
                Progress::Stepped { id, step } => {
                    outcome.steps.entry(id.0).or_default().push(*step);
                }
                Progress::Finished { id, reason } => {
                    outcome.finish.insert(id.0, reason);
                }
            }
        }
    }
    outcome
}

fn traces(steps: &[Step]) -> Vec<Arc<Trace>> {
    steps.iter().map(|step| Arc::clone(&step.trace)).collect()
}

fn tokens(steps: &[Step]) -> Vec<TokenId> {
    steps.iter().map(|step| step.token).collect()
}

/// Generates uninterrupted texts, one for each selector.
fn texts(session: &mut Session) -> Vec<Vec<Step>> {
    let panes = (0..).zip(configs());
    let panes = panes.map(|(id, config)| (id, config, Continuation::default()));
    run(session, panes).steps.into_values().collect()
}

#[test]
fn a_continued_text_equals_an_uninterrupted_one() {
    let mut session = babbling();
    let whole = texts(&mut session);
    for n_kept in [1, 2, 17, N_TOKENS - 1] {
        let panes: Vec<Pane> = (0..)
            .zip(configs().into_iter().zip(&whole))
            .map(|(id, (config, steps))| (id, config, after(steps, n_kept)))
            .collect();
        let cached = run(&mut session, panes.clone());
        let fresh = run(&mut babbling(), panes.clone());
        for (id, config, continuation) in panes {
            let pane = (id, config.clone(), continuation);
            let alone = run(&mut babbling(), [pane]);
            let expected = traces(&whole[id as usize][n_kept..]);
            for outcome in [&cached, &fresh, &alone] {
                let selector = config.chain.selector;
                assert_eq!(traces(&outcome.steps[&id]), expected, "{selector} {n_kept}");
            }
            assert_eq!(cached.n_prefilled[&id], 0);
            assert_eq!(alone.n_prefilled[&id], PROMPT.len() + n_kept - 1);
        }
        let n_batch = cached.steps[&0][0].time.n_batch;
        assert_eq!(n_batch, 6, "cached texts share their first pass");
    }
}

#[test]
fn the_embedded_model_continues_as_if_it_had_not_been_interrupted() {
    let mut session = embedded();
    let whole = texts(&mut session);
    for n_kept in [1, 9, 30] {
        let panes: Vec<Pane> = (0..)
            .zip(configs().into_iter().zip(&whole))
            .map(|(id, (config, steps))| (id, config, after(steps, n_kept)))
            .collect();
        let cached = run(&mut session, panes.clone());
        let fresh = run(&mut embedded(), panes);
        for (id, steps) in (0..).zip(&whole) {
            let expected = tokens(&steps[n_kept.min(steps.len())..]);
            assert_eq!(tokens(&cached.steps[&id]), expected, "{id} {n_kept}");
            assert_eq!(tokens(&fresh.steps[&id]), expected, "{id} {n_kept}");
        }
    }
}

#[test]
fn a_text_written_token_by_token_equals_one_written_at_once() {
    let mut session = babbling();
    let whole = texts(&mut babbling());
    let mut steps: BTreeMap<u64, Vec<Step>> = BTreeMap::new();
    for n_kept in 0..12 {
        let panes: Vec<Pane> = (0..)
            .zip(configs())
            .map(|(id, config)| {
                let written = steps.get(&id).map(Vec::as_slice).unwrap_or_default();
                let continuation = Continuation {
                    pause_after: Some(1),
                    ..after(written, n_kept)
                };
                (id, config, continuation)
            })
            .collect();
        let outcome = run(&mut session, panes);
        for (id, new) in outcome.steps {
            assert_eq!(new.len(), 1);
            assert_eq!(outcome.finish[&id], FinishReason::Paused);
            steps.entry(id).or_default().extend(new);
        }
        let expected = if n_kept == 0 { PROMPT.len() } else { 0 };
        assert!(outcome.n_prefilled.values().all(|n| *n == expected));
    }
    for (id, steps) in steps {
        assert_eq!(traces(&steps), traces(&whole[id as usize][..12]));
        let times: Vec<f64> = steps.iter().map(|step| step.time.at_secs).collect();
        assert!(times.is_sorted(), "{times:?}");
    }
}

#[test]
fn a_token_picked_by_hand_is_recorded_with_the_evidence_of_its_position() {
    let mut session = babbling();
    for (id, config) in (0..).zip(configs()) {
        let plain = (id, config.clone(), Continuation::default());
        let whole = run(&mut session, [plain]).steps.remove(&id).unwrap();
        for n_kept in [0, 5] {
            let by_hand = vec![TokenId(65), TokenId(66)];
            let continuation = Continuation {
                by_hand: by_hand.clone(),
                ..after(&whole, n_kept)
            };
            let outcome = run(&mut session, [(id, config.clone(), continuation)]);
            let steps = &outcome.steps[&id];
            let (picked, replaced) = (&steps[0].trace, &whole[n_kept].trace);
            assert_eq!(tokens(&steps[..2]), by_hand);
            assert_eq!(picked.raw, replaced.raw);
            assert_eq!(picked.head_final_probs, replaced.head_final_probs);
            assert_eq!(picked.draw.n_kept, replaced.draw.n_kept);
            assert_eq!(
                (picked.draw.picked, picked.draw.coin),
                (Picked::ByHand, None)
            );
            assert_eq!(
                picked.selector_state,
                after(&whole, n_kept).selector_state,
                "a token picked by hand does not update the selector"
            );
            let rest = steps.iter().skip(2);
            assert!(rest.clone().all(|step| !step.trace.draw.is_by_hand()));
            assert_eq!(steps.len() + n_kept, N_TOKENS);
        }
    }
}

#[test]
fn texts_are_evicted_when_the_cache_exceeds_its_memory_limit() {
    let mut session = babbling();
    session.set_prefix_cache_limit(10_000);
    let whole = texts(&mut session);
    assert!(session.n_prefix_cache_bytes().unwrap() <= 10_000);
    // One hundred tokens fit: the prompt and one text.
    let mut n_prefilled = Vec::new();
    for (id, config) in (0..).zip(configs()) {
        let outcome = run(&mut session, [(id, config, after(&whole[id as usize], 20))]);
        n_prefilled.push(outcome.n_prefilled[&id]);
        let expected = traces(&whole[id as usize][20..]);
        assert_eq!(traces(&outcome.steps[&id]), expected);
        assert!(session.n_prefix_cache_bytes().unwrap() <= 10_000);
    }
    assert_eq!(
        n_prefilled[0], 19,
        "only the prompt of the first text was still cached"
    );
    session.set_prefix_cache_limit(0);
    let n_prompt_bytes = PROMPT.len() as u64 * 100;
    assert_eq!(session.n_prefix_cache_bytes(), Some(n_prompt_bytes));
}

#[test]
fn two_hundred_branches_equal_those_written_without_a_cache() {
    const N_MAX_BYTES: u64 = 3 << 20;
    let mut session = embedded();
    session.set_prefix_cache_limit(N_MAX_BYTES);
    let mut texts = texts(&mut session);
    texts.truncate(4);
    let configs = configs();
    let mut number = 12_345_u64;
    let mut random = |n: usize| {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (number >> 33) as usize % n
    };
    let mut reference = embedded();
    let mut n_reused = 0;
    for branch in 0..200 {
        let text = random(texts.len());
        let config = &configs[text % 4];
        let n_kept = random(texts[text].len());
        let head = &texts[text][n_kept].trace.raw.head;
        let token = head[random(head.len())].token;
        let continuation = Continuation {
            by_hand: vec![token],
            pause_after: Some(6),
            ..after(&texts[text], n_kept)
        };
        let pane = (0, config.clone(), continuation);
        let cached = run(&mut session, [pane.clone()]);
        n_reused += usize::from(cached.n_prefilled[&0] == 0);
        assert!(session.n_prefix_cache_bytes().unwrap() <= N_MAX_BYTES);
        reference.clear_prefix_cache();
        let fresh = run(&mut reference, [pane]);
        assert_eq!(
            traces(&cached.steps[&0]),
            traces(&fresh.steps[&0]),
            "{branch}"
        );
        if texts.len() < 12 {
            let kept = texts[text][..n_kept].iter().cloned();
            texts.push(kept.chain(cached.steps[&0].iter().cloned()).collect());
        }
    }
    assert!(
        n_reused > 100,
        "only {n_reused} of 200 branches were fully cached"
    );
}

#[test]
fn a_text_that_cannot_be_continued_is_refused_with_a_reason() {
    let session = babbling();
    let prompt = session.prompt(PROMPT.to_owned()).unwrap();
    let with = |kept: usize, by_hand: u32| Continuation {
        kept: vec![TokenId(1); kept],
        by_hand: vec![TokenId(by_hand)],
        ..Continuation::default()
    };
    let check = |continuation| session.check_continuation(&prompt, &continuation);
    assert!(check(with(20, 65)).is_ok());
    assert!(matches!(
        check(with(20, 9999)),
        Err(EngineError::UnknownToken { token: 9999, .. })
    ));
    assert!(matches!(
        check(with(500, 65)),
        Err(EngineError::ContextFull { n_max: 512 })
    ));
}

#[test]
fn a_text_read_in_parts_has_the_probabilities_it_was_written_with() {
    let mut session = embedded();
    let config = configs().remove(1);
    let written = run(&mut session, [(0, config.clone(), Continuation::default())]);
    let written = &written.steps[&0];
    let mut read: Vec<Step> = Vec::new();
    for (id, n_more) in (1..).zip([1, 5, 1, 20, N_TOKENS - 27]) {
        let more = &written[read.len()..read.len() + n_more];
        let continuation = Continuation {
            by_hand: more.iter().map(|step| step.token).collect(),
            reads: true,
            pause_after: Some(n_more),
            ..after(&read, read.len())
        };
        let mut config = config.clone();
        config.limits.max_new_tokens = N_TOKENS + 1;
        let part = run(&mut session, [(id, config, continuation)]);
        assert_eq!(part.finish[&id], FinishReason::Paused);
        read.extend(part.steps[&id].clone());
    }
    assert_eq!(read.len(), written.len());
    for (read, written) in read.iter().zip(written) {
        assert_eq!(read.token, written.token);
        assert_eq!(read.trace.draw.picked, Picked::Given);
        assert_eq!(read.trace.raw.head, written.trace.raw.head);
        let probs = [read, written].map(|step| step.trace.draw.prob.to_bits());
        assert_eq!(probs[0], probs[1]);
    }
}

#[test]
fn a_stop_sequence_ends_a_text_only_after_the_given_tokens() {
    let mut session = babbling();
    let mut config = configs().remove(0);
    config.limits.stop_strings = vec!["fox".to_owned()];
    let given = |text: &str| Continuation {
        by_hand: text.bytes().map(|byte| TokenId(byte.into())).collect(),
        pause_after: Some(10),
        ..Continuation::default()
    };
    let stop = FinishReason::StopString {
        stop: "fox".to_owned(),
    };
    for (text, n_steps, finish) in [
        (" fox fo", 10, FinishReason::Paused),
        (" fox fox", 8, stop.clone()),
        (" fox", 4, stop.clone()),
    ] {
        let outcome = run(&mut session, [(0, config.clone(), given(text))]);
        assert_eq!(outcome.steps[&0].len(), n_steps, "{text}");
        assert_eq!(outcome.finish[&0], finish, "{text}");
    }
    // A beam search begins after them.
    config.chain.selector = Selector::BeamSearch(BeamSearch {
        width: 2,
        length_penalty: 1.0,
        early_stopping: 1,
    });
    let outcome = run(&mut session, [(0, config, given(" fox fox"))]);
    assert_eq!(outcome.steps[&0].len(), 8);
    assert_eq!(outcome.finish[&0], stop);
}

#[test]
fn a_guided_text_that_fills_the_context_of_its_guide_ends_instead_of_pausing() {
    const N_CONTEXT: usize = 60;
    const N_ROOM: usize = 5;
    let lm = ScriptedLm::babbling(N_CONTEXT).with_bytes_per_token(100);
    let mut session = Session::new(lm.into_loaded().unwrap());
    let mut config = configs().remove(0);
    // The last token of a text is never read.
    let other = "a".repeat(N_CONTEXT + 1 - N_ROOM);
    config.chain.guidance = Some(Guidance::usual(Against::Prompt(other)));
    let paused = Continuation {
        pause_after: Some(N_ROOM),
        ..Continuation::default()
    };
    let outcome = run(&mut session, [(0, config, paused)]);
    assert_eq!(outcome.steps[&0].len(), N_ROOM);
    assert_eq!(outcome.finish[&0], FinishReason::ContextFull);
}
