//! Sessions with a scripted model: batched and single panes, the prefix cache, finish reasons.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::scripted::{END, N_VOCAB, ScriptedLm};
use quartet::decoding::filters::{RepetitionPenalty, Temperature, TopK, Window};
use quartet::decoding::selector::MirostatV2;
use quartet::decoding::{
    Against, ChainConfig, DraftRule, Drafter, Filter, Guidance, ModelDrafts, Selector, TokenId,
};
use quartet::engine::{Compute, EngineError, Progress, Prompt, Session, open_embedded};
use quartet::generation::{
    EndOfText, FinishReason, GenerationConfig, GenerationId, Limits, PromptRecord, Step,
};

const TALE: &str = "Once upon a time there was a fox.";

/// Everything that a session reported.
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
            Progress::Prefilling { .. } | Progress::Compared { .. } => {}
            Progress::Started { prompt, .. } => self.prompt = prompt,
            Progress::Stepped { id, step } => self.steps.entry(id.0).or_default().push(*step),
            Progress::Finished { id, reason } => {
                let previous = self.finish.insert(id.0, reason);
                assert_eq!(previous, None, "pane {} finished twice", id.0);
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

/// Four panes that generate four different texts.
fn four_configs() -> Vec<GenerationConfig> {
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

fn request(session: &mut Session, prompt: &str, panes: &[(u64, GenerationConfig)]) {
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

fn generate(session: &mut Session, prompt: &str, configs: &[GenerationConfig]) -> Outcome {
    let panes: Vec<_> = (0..).zip(configs.iter().cloned()).collect();
    request(session, prompt, &panes);
    run(session)
}

#[test]
fn panes_in_a_batch_generate_what_each_generates_alone() {
    let together = generate(
        &mut session(ScriptedLm::babbling(64)),
        "Once",
        &four_configs(),
    );
    let mut texts = Vec::new();
    for (pane, config) in (0..).zip(four_configs()) {
        let alone = generate(&mut session(ScriptedLm::babbling(64)), "Once", &[config]);
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
fn a_seed_produces_the_same_coins_in_every_pane_and_every_run() {
    let sampled = |seed| config(ChainConfig::sampled([]), seed);
    let panes = [sampled(7), sampled(7), sampled(8)];
    let mut session = session(ScriptedLm::babbling(64));
    let first = generate(&mut session, "Once", &panes);
    let second = generate(&mut session, "Once", &panes);
    assert_eq!(first.tokens(0), first.tokens(1));
    assert_ne!(first.tokens(0), first.tokens(2));
    for pane in 0..3 {
        assert_eq!(first.tokens(pane), second.tokens(pane));
    }
}

#[test]
fn the_coin_depends_on_the_position_in_the_sequence() {
    let config = config(ChainConfig::sampled([]), 7);
    let mut session = session(ScriptedLm::babbling(64));
    let outcome = generate(&mut session, "Once", std::slice::from_ref(&config));
    for (position, step) in (4..).zip(&outcome.steps[&0]) {
        let coins = quartet::decoding::Coins { seed: 7, position };
        assert_eq!(step.trace.draw.coin, Some(coins.draw()));
    }
}

#[test]
fn every_generation_reports_why_it_finished() {
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
                "the end is not text",
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
        let outcome = generate(&mut session(lm), prompt, &[config]);
        assert_eq!(outcome.text(0), text, "{name}");
        assert_eq!(outcome.finish[&0], reason, "{name}");
        let n_open = n_open.load(Ordering::Relaxed);
        assert_eq!(n_open, 1, "{name}: only the prompt stays in the cache");
    }
}

#[test]
fn a_stop_string_is_found_even_if_tokens_split_its_characters() {
    let lm = ScriptedLm::reciting(64, "Wo ist der Bär?");
    let mut config = greedy();
    config.limits.stop_strings = vec!["är".to_owned()];
    let outcome = generate(&mut session(lm), "Wo", &[config]);
    assert_eq!(outcome.text(0), " ist der Bär");
}

#[test]
fn a_pane_with_invalid_logits_fails_alone() {
    let sampled = |seed| config(ChainConfig::sampled([]), seed);
    let panes = [sampled(1), sampled(2), greedy()];
    let sound = generate(&mut session(ScriptedLm::babbling(64)), "Once", &panes);

    for (bad, sentence) in [
        (f32::NAN, "257 logits are NaN or +∞ for token 4"),
        (f32::NEG_INFINITY, "every logit is −∞ for token 4"),
    ] {
        let fatal: Vec<TokenId> = b"Once"
            .iter()
            .map(|byte| u32::from(*byte))
            .chain(sound.tokens(1).into_iter().take(3))
            .map(TokenId)
            .collect();
        let mut healthy = babbling_logits();
        let lm = ScriptedLm::new(64, move |read| {
            if read == fatal {
                vec![bad; N_VOCAB]
            } else {
                healthy(read)
            }
        });
        let n_open = lm.n_open();
        let outcome = generate(&mut session(lm), "Once", &panes);
        let error = sentence.to_owned();
        assert_eq!(outcome.finish[&1], FinishReason::Failed { error });
        assert_eq!(outcome.tokens(1), sound.tokens(1)[..3]);
        assert_eq!(outcome.tokens(0), sound.tokens(0));
        assert_eq!(outcome.tokens(2), sound.tokens(2));
        assert_eq!(n_open.load(Ordering::Relaxed), 1);
    }
}

/// Returns a function that computes the logits of the babbling model.
fn babbling_logits() -> impl FnMut(&[TokenId]) -> Vec<f32> + Send {
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
fn each_step_runs_one_forward_pass_for_all_decoding_panes() {
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
    let outcome = generate(&mut session(lm), &"x".repeat(300), &configs);
    let expected = [(128, 0), (128, 0), (44, 1), (3, 3), (2, 2), (1, 1)];
    assert_eq!(*passes.lock().unwrap(), expected);
    let n_batch: Vec<_> = outcome.steps[&0]
        .iter()
        .map(|step| step.time.n_batch)
        .collect();
    assert_eq!(n_batch, [1, 3, 2, 1]);
}

#[test]
fn a_pane_that_joins_does_not_affect_the_others() {
    let alone = generate(
        &mut session(ScriptedLm::babbling(64)),
        "Once",
        &four_configs(),
    );
    let joined = generate(
        &mut session(ScriptedLm::babbling(64)),
        "The old king",
        &[greedy()],
    );

    let mut session = session(ScriptedLm::babbling(64));
    let mut outcome = Outcome::default();
    request(
        &mut session,
        "Once",
        &(0..).zip(four_configs()).collect::<Vec<_>>(),
    );
    for _ in 0..5 {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            outcome.note(progress);
        }
    }
    request(&mut session, "The old king", &[(9, greedy())]);
    let rest = run(&mut session);
    assert_eq!(rest.tokens(9), joined.tokens(0));
    for pane in 0..4 {
        let tokens = [outcome.tokens(pane), rest.tokens(pane)].concat();
        assert_eq!(tokens, alone.tokens(pane));
    }
    assert!(rest.steps[&9].iter().any(|step| step.time.n_batch == 5));
}

#[test]
fn a_shared_prefix_is_prefilled_once_and_counted_once() {
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
        let outcome = generate(&mut session, prompt, &[greedy()]);
        let fresh = generate(
            &mut self::session(ScriptedLm::babbling(64)),
            prompt,
            &[greedy()],
        );
        assert_eq!(outcome.prompt.n_prefilled, n_prefilled, "{prompt}");
        assert_eq!(outcome.tokens(0), fresh.tokens(0), "{prompt}");
        assert_eq!(n_open.load(Ordering::Relaxed), 1, "{prompt}");
    }
    session.clear_prefix_cache();
    assert_eq!(n_open.load(Ordering::Relaxed), 0);
}

#[test]
fn an_invalid_prompt_is_rejected_with_a_reason() {
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
fn a_prompt_that_fills_the_context_still_gets_one_token() {
    let outcome = generate(&mut session(ScriptedLm::babbling(4)), "Once", &[greedy()]);
    assert_eq!(outcome.tokens(0).len(), 1);
    assert_eq!(outcome.finish[&0], FinishReason::ContextFull);
}

#[test]
fn a_pane_can_be_stopped_in_any_phase() {
    let lm = ScriptedLm::babbling(512);
    let n_open = lm.n_open();
    let mut session = session(lm);
    request(
        &mut session,
        &"x".repeat(300),
        &[(0, greedy()), (1, greedy())],
    );
    request(&mut session, "waiting", &[(2, greedy())]);
    session.advance(&mut Vec::new());
    assert_eq!(session.ids(), [0, 1, 2].map(GenerationId));
    for (id, was_present) in [(2, true), (2, false), (0, true), (1, true), (99, false)] {
        assert_eq!(
            session.stop(GenerationId(id), &mut Vec::new()),
            was_present,
            "{id}"
        );
    }
    assert!(!session.is_busy());

    let outcome = generate(&mut session, &"x".repeat(300), &[greedy()]);
    assert_eq!(
        outcome.prompt.n_prefilled,
        300 - 128,
        "the chunk that was read is reused"
    );
    request(&mut session, "Once", &[(3, greedy())]);
    session.advance(&mut Vec::new());
    assert!(session.stop(GenerationId(3), &mut Vec::new()));
    assert!(!session.is_busy());
    assert_eq!(n_open.load(Ordering::Relaxed), 1);
}

#[test]
fn the_embedded_model_generates_the_same_with_and_without_a_cached_prefix() {
    let open = || {
        let keep_going = &mut |_| ControlFlow::Continue(());
        let opened = open_embedded(&Compute::on_cpu(), keep_going);
        Session::new(opened.unwrap().unwrap())
    };
    let mut cached = open();
    for (prompt, reused) in [
        ("Once upon a time there was", false),
        ("Once upon a time there was", true),
        ("Once upon a time there was a fox who", true),
        ("Once upon a time there lived a king", true),
    ] {
        let warm = generate(&mut cached, prompt, &four_configs());
        let cold = generate(&mut open(), prompt, &four_configs());
        let n_tokens = warm.prompt.tokens.len();
        assert_eq!(warm.prompt.n_prefilled < n_tokens, reused, "{prompt}");
        for pane in 0..4 {
            assert_eq!(warm.tokens(pane), cold.tokens(pane), "{prompt}: {pane}");
        }
    }
}

/// Tokenizes a text to be scored. Its first byte serves as the prompt.
fn text_of(session: &Session, text: &str) -> Prompt {
    session.text(text, None).unwrap()
}

#[test]
fn a_scored_text_has_the_same_evidence_as_a_generated_one() {
    let mirostat = Selector::MirostatV2(MirostatV2 { tau: 3.0, eta: 0.5 });
    for (selector, k) in [(Selector::Greedy, 3), (mirostat, 1)] {
        check_scored_evidence(ChainConfig {
            selector,
            ..ChainConfig::sampled([Filter::TopK(TopK { k })])
        });
    }
}

fn check_scored_evidence(chain: ChainConfig) {
    let config = GenerationConfig {
        chain,
        seed: 7,
        limits: Limits::default(),
    };
    let mut session = Session::new(ScriptedLm::reciting(512, TALE).into_loaded().unwrap());
    let prompt = session.prompt("O").unwrap();
    session.generate(prompt, [(GenerationId(0), config.clone())], Instant::now());
    let mut progress = Vec::new();
    while session.is_busy() {
        session.advance(&mut progress);
    }
    let written = steps_of(&progress, 0);
    let text: Vec<u8> = written
        .iter()
        .filter(|step| step.token != END)
        .flat_map(|step| step.piece.bytes.clone())
        .collect();
    let text = format!("O{}", String::from_utf8(text).unwrap());
    assert_eq!(text, TALE);

    progress.clear();
    let text = text_of(&session, TALE);
    session.score(text, [(GenerationId(1), config)], Instant::now());
    while session.is_busy() {
        session.advance(&mut progress);
    }
    let scored = steps_of(&progress, 1);
    assert_eq!(scored.len(), TALE.len() - 1);
    for (scored, written) in scored.iter().zip(&written) {
        let (own, other) = (&scored.trace, &written.trace);
        assert_eq!((&own.raw, &own.stages), (&other.raw, &other.stages));
        assert_eq!(own.survivors, other.survivors);
        assert_eq!(own.draw.prob.to_bits(), other.draw.prob.to_bits());
        assert_eq!((own.draw.coin, own.draw.is_given()), (None, true));
        assert_eq!(own.selector_state, other.selector_state);
    }
}

#[test]
fn a_text_is_scored_between_the_steps_of_other_panes_and_can_be_stopped() {
    let lm = ScriptedLm::reciting(2048, TALE);
    let n_open = lm.n_open();
    let mut session = Session::new(lm.into_loaded().unwrap());
    let config = GenerationConfig {
        chain: ChainConfig::greedy(),
        seed: 0,
        limits: Limits::default(),
    };
    let long = text_of(&session, &"many words ".repeat(100));
    let panes = [0, 1].map(|id| (GenerationId(id), config.clone()));
    session.score(long, panes, Instant::now());
    let prompt = session.prompt("Once").unwrap();
    session.generate(prompt, [(GenerationId(2), config)], Instant::now());
    let mut progress = Vec::new();
    for _ in 0..6 {
        session.advance(&mut progress);
    }
    let n_steps = |progress: &[Progress], id| steps_of(progress, id).len();
    assert!(n_steps(&progress, 2) > 0 && n_steps(&progress, 0) > 0);
    assert_eq!(n_steps(&progress, 0), n_steps(&progress, 1));
    assert!(
        session.stop(GenerationId(0), &mut Vec::new())
            && session.stop(GenerationId(1), &mut Vec::new())
    );
    assert!(!session.stop(GenerationId(0), &mut Vec::new()));
    assert_eq!(session.ids(), [GenerationId(2)]);
    while session.is_busy() {
        session.advance(&mut progress);
    }
    session.clear_prefix_cache();
    assert_eq!(n_open.load(Ordering::Relaxed), 0);
}

#[test]
fn a_text_that_cannot_be_scored_is_refused_with_its_length() {
    let session = Session::new(ScriptedLm::babbling(8).into_loaded().unwrap());
    let error = |text: &str, n_first| session.text(text, n_first).unwrap_err().to_string();
    let too_long = "the text has 12 tokens; the model reads at most 8";
    assert_eq!(error("Once upon a ", None), too_long);
    assert_eq!(
        session.text("Once upon a ", Some(8)).unwrap().tokens.len(),
        8
    );
    for text in ["", "a"] {
        assert!(error(text, None).starts_with("the text has no token to score"));
    }
}

fn steps_of(progress: &[Progress], pane: u64) -> Vec<Step> {
    let steps = progress.iter().filter_map(|progress| match progress {
        Progress::Stepped { id, step } if id.0 == pane => Some((**step).clone()),
        _ => None,
    });
    steps.collect()
}

#[test]
fn a_pause_between_two_steps_is_not_counted() {
    let mut session = session(ScriptedLm::reciting(512, TALE));
    let prompt = session.prompt("Once").unwrap();
    assert!(!session.only_decodes());
    session.generate(prompt, [(GenerationId(1), greedy())], Instant::now());
    let mut progress = Vec::new();
    while !session.only_decodes() {
        session.advance(&mut progress);
    }
    // Longer than the whole run, so that no time is left to count.
    session.exclude(Duration::from_hours(24));
    progress.clear();
    session.advance(&mut progress);
    let [Progress::Stepped { step, .. }] = progress.as_slice() else {
        panic!("{progress:?}");
    };
    assert!(step.time.at_secs.abs() < f64::EPSILON, "{:?}", step.time);
    assert!(step.time.forward_secs > 0.0);
}

/// Returns a session whose second model has the same script, and the number of rows in each of that
/// model's passes.
fn with_second() -> (Session, Arc<Mutex<Vec<usize>>>) {
    let n_rows = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&n_rows);
    let second = ScriptedLm::reciting(512, TALE);
    let second = second.before_forward(move |rows| log.lock().unwrap().push(rows.len()));
    let mut session = session(ScriptedLm::reciting(512, TALE));
    let second = second.into_loaded().unwrap();
    session.set_second(Some(second)).unwrap();
    (session, n_rows)
}

#[test]
fn panes_share_the_passes_of_their_draft_model() {
    let (mut session, n_rows) = with_second();
    let drafted = |n_drafts| {
        let drafts = ModelDrafts {
            n_drafts,
            drafter: Drafter::SecondModel,
            rule: DraftRule::SameCoin,
        };
        let mut config = greedy();
        config.chain.drafts = Some(drafts.into());
        config
    };
    let outcome = generate(&mut session, "Once", &[1, 2, 3].map(drafted));
    let n_prompt = outcome.prompt.tokens.len();
    let n_rows = n_rows.lock().unwrap();
    // The prompt and the first token, then drafts; later the last draft and the token after it.
    assert_eq!(n_rows[..6], [3 * (n_prompt + 1), 2, 1, 6, 2, 1]);
    for pane in 0..3 {
        assert_eq!(outcome.text(pane), outcome.text(0));
    }
}

#[test]
fn a_second_model_reads_a_long_prompt_in_parts() {
    let (mut session, n_rows) = with_second();
    let mut guided = greedy();
    guided.chain.guidance = Some(Guidance::usual(Against::Model));
    guided.limits.max_new_tokens = 3;
    // The script is shorter than the prompt.
    guided.limits.end_of_text = EndOfText::Ignored;
    let outcome = generate(&mut session, &"a".repeat(300), &[guided.clone(), guided]);
    assert_eq!(outcome.prompt.tokens.len(), 300);
    assert_eq!(*n_rows.lock().unwrap(), [256, 256, 88, 2, 2]);
}
