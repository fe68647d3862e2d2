//! A guided text has the likelihood and the scores that it had when it was generated.

use std::ops::ControlFlow;
use std::time::Instant;

use quartet::engine::{Compute, JobUpdate, Progress, Prompt, Session, open_embedded};
use quartet::generation::{FinishReason, FitText, GenerationConfig, Limits, PromptForm, Step};

use crate::fit::{ID, STORY, chain, embedded, likelihoods, plan, typed};

#[test]
fn a_guided_text_has_the_likelihood_it_was_generated_with() {
    let mut session = embedded();
    let own = session.prompt("Once upon a time").unwrap();
    for settings in [
        "T 0.8, guide 1.7 cutoff 0.01 against \"A sad tale:\"",
        "guide 1.3",
        "grammar regex \"[^eE]*\", guide 1.7 against \"A sad tale:\"",
    ] {
        let config = GenerationConfig {
            chain: chain(settings),
            seed: 3,
            limits: Limits {
                max_new_tokens: 24,
                ..Limits::default()
            },
        };
        let steps = run(&mut session, own.clone(), config.clone());
        let sum: f64 = steps.iter().map(|step| step.trace.draw.prob.ln()).sum();
        let written = steps.iter().map(|step| step.token);
        let text = FitText::Recorded {
            tokens: own.tokens.iter().copied().chain(written).collect(),
            n_prompt: own.tokens.len(),
            form: PromptForm::Raw,
        };
        let mut unguided = chain(settings);
        unguided.guidance = None;
        let chains = [config.chain, unguided];
        let (_, found) = likelihoods(&mut session, &[text], &chains);
        assert!(
            (found[0].ln_prob - sum).abs() < 1e-6 * sum.abs(),
            "{settings}"
        );
        assert!(
            (found[1].ln_prob - sum).abs() > 1e-4 * sum.abs(),
            "{settings}"
        );
    }
}

#[test]
fn a_guided_text_is_scored_as_it_was_generated() {
    let mut session = embedded();
    let begin = session.text("x y", None).unwrap().tokens[..1].to_vec();
    let prompt = |tokens| Prompt {
        text: "x".to_owned(),
        chat: None,
        tokens,
    };
    let config = GenerationConfig {
        chain: chain("T 0.8, guide 1.7 against \"A sad tale:\""),
        seed: 3,
        limits: Limits {
            max_new_tokens: 40,
            ..Limits::default()
        },
    };
    let written = run(&mut session, prompt(begin.clone()), config.clone());
    let tokens = written.iter().map(|step| step.token);
    let text = prompt(begin.into_iter().chain(tokens).collect());
    session.score(text, [(ID, config)], Instant::now());
    let scored = steps(&mut session);
    assert_eq!(scored.len(), written.len());
    for (scored, written) in scored.iter().zip(&written) {
        let (own, other) = (&scored.trace, &written.trace);
        assert_eq!((&own.raw, &own.mixture), (&other.raw, &other.mixture));
        assert!(own.mixture.is_some() && own.draw.is_given());
        assert_eq!(own.draw.prob.to_bits(), other.draw.prob.to_bits());
    }
}

#[test]
fn guidance_by_the_same_model_changes_nothing() {
    let mut session = embedded();
    let keep_going = &mut |_| ControlFlow::Continue(());
    let second = open_embedded(&Compute::on_cpu(), keep_going).unwrap();
    session.set_second(second).unwrap();
    let chains = [chain("guide 1.8 against model"), chain("sample")];
    let (_, found) = likelihoods(&mut session, &[typed(None, STORY)], &chains);
    assert!(
        (found[0].ln_prob - found[1].ln_prob).abs() < 1e-3,
        "{found:?}"
    );
}

#[test]
fn a_guidance_prompt_that_leaves_no_room_for_the_text_is_refused() {
    let mut session = embedded();
    let long = "a fox ".repeat(180);
    let settings = format!("guide 1.5 against \"{long}\"");
    let plan = plan(&[typed(None, &STORY.repeat(2))], &[chain(&settings)]);
    session.run_job(ID, &plan, None).unwrap();
    let error = loop {
        if let Some((_, JobUpdate::Failed { error })) = session.advance_job() {
            break error;
        }
    };
    assert!(error.contains("with the prompt that guides it"), "{error}");
    assert!(!session.has_jobs());
}

/// Generates a text and returns its steps.
fn run(session: &mut Session, prompt: Prompt, config: GenerationConfig) -> Vec<Step> {
    session.generate(prompt, [(ID, config)], Instant::now());
    steps(session)
}

/// Advances the session until it is done, and returns the steps.
fn steps(session: &mut Session) -> Vec<Step> {
    let mut steps = Vec::new();
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            match progress {
                Progress::Stepped { step, .. } => steps.push(*step),
                Progress::Finished {
                    reason: FinishReason::Failed { error },
                    ..
                } => panic!("{error}"),
                _ => {}
            }
        }
    }
    steps
}
