//! Sessions over a scripted model: what panes write together, alone, and why they end.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails the test that called it"
)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use quartet::decoding::filters::{RepetitionPenalty, Temperature, TopK, Window};
use quartet::decoding::{ChainConfig, Filter, TokenId};
use quartet::engine::scripted::{END, N_VOCAB, ScriptedLm};
use quartet::engine::{Compute, EngineError, Progress, Session, open_embedded};
use quartet::generation::{
    EndOfText, FinishReason, GenerationConfig, GenerationId, Limits, PromptRecord, Step,
};

const TALE: &str = "Once upon a time there was a fox.";

/// What became of one request.
#[derive(Default)]
struct Outcome {
    prompt: Arc<PromptRecord>,
    steps: BTreeMap<u64, Vec<Step>>,
    finish: BTreeMap<u64, FinishReason>,
}

impl Outcome {
    fn tokens(&self, pane: u64) -> Vec<u32> {
        let steps = self.steps.get(&pane).map(Vec::as_slice).unwrap_or_default();
        steps.iter().map(|step| step.token.0).collect()
    }

    fn text(&self, pane: u64) -> String {
        let steps = self.steps.get(&pane).map(Vec::as_slice).unwrap_or_default();
        let bytes: Vec<u8> = steps
            .iter()
            .flat_map(|step| step.piece.bytes.clone())
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn note(&mut self, progress: Progress) {
        match progress {
            Progress::Reading { .. } => {}
            Progress::Started { prompt, .. } => self.prompt = prompt,
            Progress::Stepped { id, step } => self.steps.entry(id.0).or_default().push(*step),
            Progress::Finished { id, reason } => {
                let former = self.finish.insert(id.0, reason);
                assert_eq!(former, None, "pane {} ended twice", id.0);
            }
        }
    }
}

fn session(lm: ScriptedLm) -> Session {
    Session::new(lm.into_loaded().unwrap())
}

fn config(chain: ChainConfig, seed: u64) -> GenerationConfig {
    GenerationConfig {
        chain,
        seed,
        limits: Limits {
            max_new_tokens: 24,
            ..Limits::default()
        },
    }
}

fn greedy() -> GenerationConfig {
    config(ChainConfig::greedy(), 0)
}

/// Four panes that write four different texts.
fn four() -> Vec<GenerationConfig> {
    let penalty = Filter::RepetitionPenalty(RepetitionPenalty {
        penalty: 1.5,
        window: Window::LAST_64,
    });
    let temperature = Filter::Temperature(Temperature { temperature: 0.5 });
    vec![
        greedy(),
        config(ChainConfig::sampled([]), 7),
        config(ChainConfig::sampled([penalty, temperature]), 7),
        config(ChainConfig::sampled([Filter::TopK(TopK { k: 3 })]), 8),
    ]
}

fn ask(session: &mut Session, prompt: &str, panes: &[(u64, GenerationConfig)]) {
    let prompt = session.prompt(prompt.to_owned()).unwrap();
    let panes = panes
        .iter()
        .map(|(id, config)| (GenerationId(*id), config.clone()));
    session.generate(prompt, panes, Instant::now());
}

fn run(session: &mut Session) -> Outcome {
    let mut outcome = Outcome::default();
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            outcome.note(progress);
        }
    }
    outcome
}

fn write(session: &mut Session, prompt: &str, configs: &[GenerationConfig]) -> Outcome {
    let panes: Vec<_> = (0..).zip(configs.iter().cloned()).collect();
    ask(session, prompt, &panes);
    run(session)
}

#[test]
fn panes_that_write_together_write_what_each_writes_alone() {
    let together = write(&mut session(ScriptedLm::babbling(64)), "Once", &four());
    let mut texts = Vec::new();
    for (pane, config) in (0..).zip(four()) {
        let alone = write(&mut session(ScriptedLm::babbling(64)), "Once", &[config]);
        let traces = |outcome: &Outcome, pane| -> Vec<_> {
            outcome.steps[&pane]
                .iter()
                .map(|step| step.trace.clone())
                .collect()
        };
        assert_eq!(traces(&together, pane), traces(&alone, 0), "pane {pane}");
        assert_eq!(together.finish[&pane], alone.finish[&0], "pane {pane}");
        texts.push(alone.tokens(0));
    }
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 4, "the four texts differ");
}

#[test]
fn one_seed_gives_the_same_coins_in_every_pane_and_every_run() {
    let sampled = |seed| config(ChainConfig::sampled([]), seed);
    let panes = [sampled(7), sampled(7), sampled(8)];
    let mut session = session(ScriptedLm::babbling(64));
    let first = write(&mut session, "Once", &panes);
    let second = write(&mut session, "Once", &panes);
    assert_eq!(first.tokens(0), first.tokens(1));
    assert_ne!(first.tokens(0), first.tokens(2));
    for pane in 0..3 {
        assert_eq!(first.tokens(pane), second.tokens(pane));
    }
}

#[test]
fn the_coin_is_that_of_the_place_in_the_sequence() {
    let config = config(ChainConfig::sampled([]), 7);
    let mut session = session(ScriptedLm::babbling(64));
    let outcome = write(&mut session, "Once", std::slice::from_ref(&config));
    for (position, step) in (4..).zip(&outcome.steps[&0]) {
        let coins = quartet::decoding::Coins { seed: 7, position };
        assert_eq!(step.trace.draw.coin, Some(coins.draw()));
    }
}

#[test]
fn every_generation_says_why_it_ended() {
    let cases: [(&str, Limits, usize, &str, FinishReason); 8] = {
        let limits = |max_new_tokens, stops: &[&str], end_of_text| Limits {
            max_new_tokens,
            stop_strings: stops.iter().map(ToString::to_string).collect(),
            end_of_text,
        };
        let stop = |stop: &str| FinishReason::StopString {
            stop: stop.to_owned(),
        };
        let (stops, ignored) = (EndOfText::Stops, EndOfText::Ignored);
        [
            (
                "the end",
                limits(99, &[], stops),
                64,
                "a fox.</s>",
                FinishReason::EndOfText,
            ),
            (
                "the limit",
                limits(3, &[], stops),
                64,
                "a f",
                FinishReason::MaxTokens,
            ),
            (
                "no token at all",
                limits(0, &[], stops),
                64,
                "",
                FinishReason::MaxTokens,
            ),
            (
                "the end at the limit",
                limits(7, &[], stops),
                64,
                "a fox.</s>",
                FinishReason::EndOfText,
            ),
            (
                "the end ignored",
                limits(7, &[], ignored),
                64,
                "a fox.</s>",
                FinishReason::MaxTokens,
            ),
            (
                "a stop string",
                limits(99, &["", "x.", "ox"], stops),
                64,
                "a fox",
                stop("ox"),
            ),
            (
                "the end is no text",
                limits(7, &["/s>"], ignored),
                64,
                "a fox.</s>",
                FinishReason::MaxTokens,
            ),
            (
                "a full context",
                limits(99, &[], stops),
                30,
                "a fo",
                FinishReason::ContextFull,
            ),
        ]
    };
    for (name, limits, n_context, text, reason) in cases {
        let lm = ScriptedLm::reciting(n_context, TALE);
        let n_open = lm.n_open();
        let config = GenerationConfig { limits, ..greedy() };
        let prompt = TALE.strip_suffix("a fox.").unwrap();
        let outcome = write(&mut session(lm), prompt, &[config]);
        assert_eq!(outcome.text(0), text, "{name}");
        assert_eq!(outcome.finish[&0], reason, "{name}");
        let n_open = n_open.load(Ordering::Relaxed);
        assert_eq!(n_open, 1, "{name}: the prompt is kept, and nothing else");
    }
}

#[test]
fn a_stop_string_is_found_where_tokens_cut_its_characters() {
    let lm = ScriptedLm::reciting(64, "Wo ist der Bär?");
    let mut config = greedy();
    config.limits.stop_strings = vec!["är".to_owned()];
    let outcome = write(&mut session(lm), "Wo", &[config]);
    assert_eq!(outcome.text(0), " ist der Bär");
}

#[test]
fn a_pane_whose_scores_are_no_numbers_fails_alone() {
    let sampled = |seed| config(ChainConfig::sampled([]), seed);
    let panes = [sampled(1), sampled(2), greedy()];
    let sound = write(&mut session(ScriptedLm::babbling(64)), "Once", &panes);

    for (bad, sentence) in [
        (
            f32::NAN,
            "the model returned 257 logits that are NaN or +∞ for token 4",
        ),
        (
            f32::NEG_INFINITY,
            "the model ruled out every token for token 4",
        ),
    ] {
        let fatal: Vec<TokenId> = b"Once"
            .iter()
            .map(|byte| u32::from(*byte))
            .chain(sound.tokens(1).into_iter().take(3))
            .map(TokenId)
            .collect();
        let mut healthy = babble();
        let lm = ScriptedLm::new(64, move |read| {
            if read == fatal {
                vec![bad; N_VOCAB]
            } else {
                healthy(read)
            }
        });
        let n_open = lm.n_open();
        let outcome = write(&mut session(lm), "Once", &panes);
        let error = sentence.to_owned();
        assert_eq!(outcome.finish[&1], FinishReason::Failed { error });
        assert_eq!(outcome.tokens(1), sound.tokens(1)[..3]);
        assert_eq!(outcome.tokens(0), sound.tokens(0));
        assert_eq!(outcome.tokens(2), sound.tokens(2));
        assert_eq!(n_open.load(Ordering::Relaxed), 1);
    }
}

/// The scores of the babbling model, as a function.
fn babble() -> impl FnMut(&[TokenId]) -> Vec<f32> + Send {
    move |read| {
        use quartet::engine::{CausalLm, Row};
        let mut lm = ScriptedLm::babbling(usize::MAX);
        let sequence = lm.open();
        let last = read.len() - 1;
        let rows: Vec<Row> = read
            .iter()
            .enumerate()
            .map(|(index, token)| Row {
                sequence,
                token: *token,
                logits_wanted: index == last,
            })
            .collect();
        lm.forward(&rows).unwrap().row(0).unwrap().to_vec()
    }
}

#[test]
fn the_model_is_asked_once_a_step_for_all_panes_that_still_write() {
    let passes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&passes);
    let lm = ScriptedLm::babbling(512).before_forward(move |rows| {
        let n_wanted = rows.iter().filter(|row| row.logits_wanted).count();
        seen.lock().unwrap().push((rows.len(), n_wanted));
    });
    let mut configs = vec![greedy(); 3];
    for (config, max_new_tokens) in configs.iter_mut().zip([4, 2, 3]) {
        config.limits.max_new_tokens = max_new_tokens;
    }
    let outcome = write(&mut session(lm), &"x".repeat(300), &configs);
    let expected = [(128, 0), (128, 0), (44, 1), (3, 3), (2, 2), (1, 1)];
    assert_eq!(*passes.lock().unwrap(), expected);
    let n_batch: Vec<_> = outcome.steps[&0]
        .iter()
        .map(|step| step.time.n_batch)
        .collect();
    assert_eq!(n_batch, [1, 3, 2, 1]);
}

#[test]
fn a_pane_that_joins_changes_nothing_for_those_that_write() {
    let alone = write(&mut session(ScriptedLm::babbling(64)), "Once", &four());
    let joined = write(
        &mut session(ScriptedLm::babbling(64)),
        "The old king",
        &[greedy()],
    );

    let mut session = session(ScriptedLm::babbling(64));
    let mut outcome = Outcome::default();
    ask(&mut session, "Once", &(0..).zip(four()).collect::<Vec<_>>());
    for _ in 0..5 {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            outcome.note(progress);
        }
    }
    ask(&mut session, "The old king", &[(9, greedy())]);
    let rest = run(&mut session);
    assert_eq!(rest.tokens(9), joined.tokens(0));
    for pane in 0..4 {
        let tokens = [outcome.tokens(pane), rest.tokens(pane)].concat();
        assert_eq!(tokens, alone.tokens(pane));
    }
    assert!(rest.steps[&9].iter().any(|step| step.time.n_batch == 5));
}

#[test]
fn what_two_prompts_share_is_read_once_and_not_counted_twice() {
    let lm = ScriptedLm::babbling(64);
    let n_open = lm.n_open();
    let mut session = session(lm);
    for (prompt, n_prefilled) in [
        ("Once upon", 9),
        ("Once upon", 0),
        ("Once upon a time", 7),
        ("Once upon a tree", 3),
        ("Once", 1),
        ("The king", 8),
    ] {
        let outcome = write(&mut session, prompt, &[greedy()]);
        let fresh = write(
            &mut self::session(ScriptedLm::babbling(64)),
            prompt,
            &[greedy()],
        );
        assert_eq!(outcome.prompt.n_prefilled, n_prefilled, "{prompt}");
        assert_eq!(outcome.tokens(0), fresh.tokens(0), "{prompt}");
        assert_eq!(n_open.load(Ordering::Relaxed), 1, "{prompt}");
    }
    session.forget_prompt();
    assert_eq!(n_open.load(Ordering::Relaxed), 0);
}

#[test]
fn a_prompt_that_cannot_be_continued_says_why() {
    let session = session(ScriptedLm::babbling(8));
    assert!(matches!(
        session.prompt(String::new()),
        Err(EngineError::PromptEmpty)
    ));
    assert!(matches!(
        session.prompt("Once upon".to_owned()),
        Err(EngineError::PromptTooLong {
            n_tokens: 9,
            n_max: 8
        })
    ));
    let prompt = session.prompt("Once</s>".to_owned()).unwrap();
    assert_eq!(prompt.tokens.last(), Some(&END));
}

#[test]
fn a_prompt_as_long_as_the_context_still_gets_its_token() {
    let outcome = write(&mut session(ScriptedLm::babbling(4)), "Once", &[greedy()]);
    assert_eq!(outcome.tokens(0).len(), 1);
    assert_eq!(outcome.finish[&0], FinishReason::ContextFull);
}

#[test]
fn a_pane_can_be_stopped_wherever_it_is() {
    let lm = ScriptedLm::babbling(512);
    let n_open = lm.n_open();
    let mut session = session(lm);
    ask(
        &mut session,
        &"x".repeat(300),
        &[(0, greedy()), (1, greedy())],
    );
    ask(&mut session, "waiting", &[(2, greedy())]);
    session.advance(&mut Vec::new());
    assert_eq!(session.ids(), [0, 1, 2].map(GenerationId));
    for (id, was_there) in [(2, true), (2, false), (0, true), (1, true), (99, false)] {
        assert_eq!(session.stop(GenerationId(id)), was_there, "{id}");
    }
    assert!(!session.is_busy());

    let outcome = write(&mut session, &"x".repeat(300), &[greedy()]);
    assert_eq!(
        outcome.prompt.n_prefilled,
        300 - 128,
        "what was read is kept"
    );
    ask(&mut session, "Once", &[(3, greedy())]);
    session.advance(&mut Vec::new());
    assert!(session.stop(GenerationId(3)));
    assert!(!session.is_busy());
    assert_eq!(n_open.load(Ordering::Relaxed), 1);
}

#[test]
fn the_embedded_model_writes_the_same_from_a_cache_and_from_the_beginning() {
    let open = || {
        let to_the_end = &mut |_| ControlFlow::Continue(());
        let opened = open_embedded(&Compute::on_cpu(), to_the_end);
        Session::new(opened.unwrap().unwrap())
    };
    let mut kept = open();
    for (prompt, reused) in [
        ("Once upon a time there was", false),
        ("Once upon a time there was", true),
        ("Once upon a time there was a fox who", true),
        ("Once upon a time there lived a king", true),
    ] {
        let warm = write(&mut kept, prompt, &four());
        let cold = write(&mut open(), prompt, &four());
        let n_tokens = warm.prompt.tokens.len();
        assert_eq!(warm.prompt.n_prefilled < n_tokens, reused, "{prompt}");
        for pane in 0..4 {
            assert_eq!(warm.tokens(pane), cold.tokens(pane), "{prompt}: {pane}");
        }
    }
}
