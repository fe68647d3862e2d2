//! Fits in a session: likelihoods that match the chain run token by token, recovery of the settings
//! that a text was sampled with, bounded memory, and texts that cannot be fitted.

mod fits;
mod guided;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::scripted::ScriptedLm;
use fits::{ID, chain, embedded, fit, likelihoods, plan, run, written};
use quartet::decoding::{ChainConfig, TokenId};
use quartet::engine::{Progress, Session};
use quartet::generation::{FitPlan, FitText, GenerationConfig, Limits, PromptForm, PromptText};
use quartet::interop::parse_axis;
use quartet::lab::fit::{Fit, FitSetup};

fn typed(prompt: Option<&str>, text: &str) -> FitText {
    FitText::Typed {
        prompt: prompt.map(PromptText::raw),
        text: text.to_owned(),
    }
}

/// Returns the sum of the tokens' log-probs after the chain, and the first step whose token the
/// chain filters out. Both are computed token by token, from the full evidence of each step.
fn brute_force(session: &mut Session, text: &str, chain: &ChainConfig) -> (f64, Option<usize>) {
    let tokens = session.text(text, None).unwrap();
    let config = GenerationConfig {
        chain: chain.clone(),
        seed: 1,
        limits: Limits::default(),
    };
    session.score(tokens, [(ID, config)], Instant::now());
    let (mut sum, mut cut, mut step_index) = (0.0, None, 0);
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            if let Progress::Stepped { step, .. } = progress {
                // Greedy keeps only one token, but the draw of a given text ignores that.
                let prob = match chain.selector {
                    quartet::decoding::Selector::Greedy => {
                        f64::from(u8::from(step.trace.survivors[0].token == step.token))
                    }
                    _ => step.trace.draw.prob,
                };
                if prob <= 0.0 && cut.is_none() {
                    cut = Some(step_index);
                }
                sum += prob.ln();
                step_index += 1;
            }
        }
    }
    (sum, cut)
}

const STORY: &str = "Once upon a time there was a little fox who lived in a wood. One day the fox \
    went to the river.";

#[test]
fn the_likelihood_is_that_of_the_chain_run_token_by_token() {
    let mut session = embedded();
    let settings = [
        "sample",
        "T 0.7",
        "T 1.3, top-p 0.99",
        "T 1, top-p 0.7",
        "min-p 0.001, T 0.9",
        "min-p 0.2",
        "top-k 400",
        "top-k 5",
        "typical 0.95",
        "repeat 1.1, frequency 0.2, presence 0.1, T 0.9",
        "dry 0.8, T 0.8, top-p 0.995",
        "T 0.9, guide 1.6 cutoff 0.0001 against \"A sad tale:\"",
        "guide 0.5 against \"A sad tale:\"",
        "guide 3 cutoff 0.3 against \"A sad tale:\"",
        "greedy",
    ];
    let chains = settings.map(chain);
    let (_, found) = likelihoods(&mut session, &[typed(None, STORY)], &chains);
    for ((settings, chain), found) in settings.iter().zip(&chains).zip(found) {
        let (sum, cut) = brute_force(&mut session, STORY, chain);
        assert_eq!(found.ruled_out.map(|place| place.step), cut, "{settings}");
        if cut.is_none() {
            assert!((found.ln_prob - sum).abs() < 1e-6 * sum.abs(), "{settings}");
        } else {
            assert!(found.ln_prob.is_infinite(), "{settings}");
        }
    }
    assert!(found_any_cut(&mut session), "a text can be ruled out");
}

fn found_any_cut(session: &mut Session) -> bool {
    let chains = [chain("top-k 1"), chain("sample")];
    let (_, found) = likelihoods(session, &[typed(None, STORY)], &chains);
    found[0].ruled_out.is_some() && found[1].ruled_out.is_none()
}

#[test]
fn a_continuation_counts_only_its_own_tokens_and_penalties_see_the_prompt() {
    let mut session = embedded();
    let (prompt, rest) = STORY.split_at(STORY.find(" who").unwrap());
    let chains = [chain("sample"), chain("repeat 1.3 last all")];
    let whole = typed(None, STORY);
    let (whole_tokens, _) = likelihoods(&mut session, &[whole], &chains);
    let (tokens, part) = likelihoods(&mut session, &[typed(Some(prompt), rest)], &chains);
    let [text] = &tokens[..] else {
        panic!("{tokens:?}");
    };
    assert_eq!(text.tokens, whole_tokens[0].tokens, "no token is split");
    // A space at the end of the prompt does not split a token either.
    let spaced = typed(Some("Once upon a time "), "there was a fox");
    let (spaced, _) = likelihoods(&mut session, &[spaced], &chains);
    let unspaced = typed(Some("Once upon a time"), " there was a fox");
    let (unspaced, _) = likelihoods(&mut session, &[unspaced], &chains);
    assert_eq!(spaced, unspaced);
    let (_, before) = likelihoods(&mut session, &[typed(None, prompt)], &chains[..1]);
    let (_, all) = likelihoods(&mut session, &[typed(None, STORY)], &chains[..1]);
    let difference = all[0].ln_prob - before[0].ln_prob;
    assert!((part[0].ln_prob - difference).abs() < 1e-3, "{part:?}");
    assert!((part[0].ln_prob - part[1].ln_prob).abs() > 0.1, "{part:?}");
}

#[test]
fn the_temperature_of_sampled_texts_is_recovered() {
    let mut session = embedded();
    for (settings, truth) in [("T 0.7", 0.7), ("T 1.1", 1.1)] {
        let texts = written(&mut session, "Once upon a time", settings, 6, 150);
        let fit = fit(&mut session, &texts, "sample", &["temp 0.3..1.6/14"]);
        let [interval] = fit.intervals().unwrap()[..] else {
            panic!("one number, one interval");
        };
        assert!(fit.n_tokens() > 400, "{}", fit.n_tokens());
        assert!(
            interval.low <= truth && truth <= interval.high,
            "{truth} is not in {interval:?}"
        );
        assert!(interval.high - interval.low < 0.2, "{interval:?}");
        let best = fit.best().unwrap();
        assert!((best.values[0] - truth).abs() < 0.1, "{best:?}");
    }
}

#[test]
fn a_greedy_text_is_possible_at_every_top_k_and_likeliest_when_cold() {
    let mut session = embedded();
    let texts = written(&mut session, "Once upon a time", "greedy", 1, 60);
    let top_k = fit(&mut session, &texts, "sample", &["top-k 1..20/20"]);
    let best = top_k.best().unwrap();
    assert_eq!(best.values, [1.0]);
    assert!(best.likelihood.ln_prob.abs() < 1e-9, "it is certain");
    assert!(top_k.limits().is_empty(), "nothing is impossible");
    let temperature = fit(&mut session, &texts, "sample", &["temp 0.05..1.5/30"]);
    let best = temperature.best().unwrap();
    assert!(best.values[0] < 0.15, "{best:?}");
    assert!(temperature.intervals().unwrap()[0].is_open_below);
}

#[test]
fn a_text_that_was_sampled_with_top_k_sets_its_limit() {
    let mut session = embedded();
    let texts = written(&mut session, "Once upon a time", "top-k 12", 3, 120);
    let fit = fit(&mut session, &texts, "sample", &["top-k 1..40/14"]);
    let [limit] = &fit.limits()[..] else {
        panic!("{:?}", fit.limits());
    };
    assert!(limit.is_lower());
    assert!(
        (limit.possible - limit.impossible - 1.0).abs() < 1e-9,
        "narrowed down to one"
    );
    assert!(limit.possible <= 12.0, "{limit:?}");
    // The token that sets the limit has exactly that rank.
    let chains = [limit.possible, limit.impossible].map(|k| chain(&format!("top-k {k}")));
    let (_, found) = likelihoods(&mut session, &texts, &chains);
    assert_eq!(found[0].ruled_out, None);
    assert_eq!(found[1].ruled_out, Some(limit.place));
}

#[test]
fn a_map_agrees_with_likelihoods_computed_for_each_cell() {
    let mut session = embedded();
    let texts = written(&mut session, "The fox", "T 0.8, top-p 0.9", 2, 60);
    let vary = ["temp 0.4..1.4/6", "top-p 0.5..1/6"];
    let fit = fit(&mut session, &texts, "sample", &vary);
    let chains: Vec<ChainConfig> = (0..fit.setup.n_cells())
        .map(|cell| fit.setup.chain_at(&fit.setup.values_of(cell)))
        .collect();
    let (_, found) = likelihoods(&mut session, &texts, &chains);
    for (cell, found) in found.into_iter().enumerate() {
        assert_eq!(fit.cell(cell), Some(found), "{cell}");
    }
    let (best, cells) = (fit.best().unwrap(), 0..fit.setup.n_cells());
    for cell in cells {
        assert!(fit.cell(cell).unwrap().ln_prob <= best.likelihood.ln_prob + 0.005);
    }
    assert!(!fit.limits().is_empty());
}

#[test]
fn texts_are_read_once_and_little_memory_only_costs_time() {
    let n_rows = Arc::new(AtomicUsize::new(0));
    let log = Arc::clone(&n_rows);
    let lm = ScriptedLm::babbling(256).before_forward(move |rows| {
        log.fetch_add(rows.len(), Ordering::Relaxed);
    });
    let n_open = lm.n_open();
    let mut session = Session::new(lm.into_loaded().unwrap());
    let texts = [
        typed(None, "the quick brown fox"),
        typed(Some("jumps "), "over the lazy dog"),
    ];
    let chains = ["sample", "T 0.5", "top-k 250", "top-k 3", "T 2, top-p 0.9"].map(chain);
    let (tokens, expected) = likelihoods(&mut session, &texts, &chains);
    assert_eq!((tokens[0].n_prompt, tokens[1].n_prompt), (1, 6));
    assert_eq!(tokens[1].fitted().len(), 17);
    assert_eq!(
        n_rows.load(Ordering::Relaxed),
        18 + 22,
        "the last token of a text is not read"
    );
    assert_eq!(n_open.load(Ordering::Relaxed), 0);
    assert!(expected[3].ruled_out.is_some() && expected[2].ruled_out.is_some());
    let (_, again) = likelihoods(&mut session, &texts, &chains[..2]);
    assert_eq!(again, expected[..2]);
    assert_eq!(
        n_rows.load(Ordering::Relaxed),
        40,
        "the same texts are not read again"
    );
    likelihoods(&mut session, &texts[..1], &chains);
    // Five rows of 257 logits at a time.
    let small = FitPlan {
        n_logits_bytes: 5 * 257 * 4,
        ..plan(&texts, &chains)
    };
    let (_, partly) = run(&mut session, &small);
    for (partly, expected) in partly.iter().zip(&expected) {
        assert_eq!(partly.ruled_out, expected.ruled_out);
        let same = (partly.ln_prob - expected.ln_prob).abs() < 1e-9;
        assert!(
            same || expected.ruled_out.is_some(),
            "{partly:?} {expected:?}"
        );
    }
}

#[test]
fn a_text_longer_than_the_context_is_read_as_far_as_it_fits() {
    let lm = ScriptedLm::babbling(10);
    let mut session = Session::new(lm.into_loaded().unwrap());
    let texts = [typed(None, "the quick brown fox")];
    let (tokens, long) = likelihoods(&mut session, &texts, &[chain("sample")]);
    assert_eq!((tokens[0].fitted().len(), tokens[0].n_left_out), (9, 9));
    let (_, short) = likelihoods(
        &mut session,
        &[typed(None, "the quick ")],
        &[chain("sample")],
    );
    assert_eq!(long, short);
    let mut fit = Fit::new(FitSetup {
        base: chain("sample"),
        rows: parse_axis("temp 1").unwrap(),
        columns: None,
    });
    fit.set_texts(tokens);
    assert_eq!(
        fit.left_out_sentences(),
        ["The text is read up to token 9, where the context ends: 9 tokens are left out."]
    );
}

#[test]
fn texts_without_a_token_to_fit_are_refused_with_a_reason() {
    let mut session = Session::new(ScriptedLm::babbling(10).into_loaded().unwrap());
    let error = |session: &mut Session, texts: Vec<FitText>| {
        let plan = plan(&texts, &[chain("sample")]);
        let error = session.run_job(ID, &plan, None).unwrap_err();
        error.to_string()
    };
    for texts in [
        Vec::new(),
        vec![typed(None, "")],
        vec![typed(None, "a")],
        vec![typed(Some("fox"), "")],
    ] {
        let words = error(&mut session, texts.clone());
        assert!(words.contains("no token to score"), "{texts:?}: {words}");
    }
    let long = vec![typed(Some("a long prompt"), "fox")];
    assert!(error(&mut session, long).contains("the model reads at most"));
    let unknown = FitText::Recorded {
        tokens: vec![TokenId(3), TokenId(9999)],
        n_prompt: 1,
        form: PromptForm::Raw,
    };
    assert!(error(&mut session, vec![unknown]).contains("9999"));
    assert!(!session.has_jobs());
}

#[test]
fn a_stopped_fit_frees_its_sequence() {
    let lm = ScriptedLm::babbling(512);
    let n_open = lm.n_open();
    let mut session = Session::new(lm.into_loaded().unwrap());
    let plan = plan(&[typed(None, &"fox ".repeat(100))], &[chain("sample")]);
    session.run_job(ID, &plan, None).unwrap();
    while n_open.load(Ordering::Relaxed) == 0 {
        session.advance_job();
    }
    assert_eq!(session.job_ids(), [ID]);
    assert!(session.stop_job(ID) && !session.stop_job(ID));
    assert_eq!(n_open.load(Ordering::Relaxed), 0);
}
