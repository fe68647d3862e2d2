//! Texts of the built-in model, their likelihoods, and fits that run to the end.

use std::ops::ControlFlow;
use std::time::Instant;

use quartet::decoding::ChainConfig;
use quartet::engine::{Compute, JobUpdate, Progress, Session, open_embedded};
use quartet::generation::{
    EndOfText, FitPlan, FitText, FitTokens, FitUpdate, GenerationConfig, GenerationId, Likelihood,
    Limits, PaneSettings, PromptForm,
};
use quartet::interop::parse_axis;
use quartet::lab::fit::{Fit, FitSetup};

pub(crate) const ID: GenerationId = GenerationId(5);

pub(crate) fn embedded() -> Session {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = open_embedded(&Compute::on_cpu(), keep_going);
    Session::new(opened.unwrap().unwrap())
}

pub(crate) fn chain(settings: &str) -> ChainConfig {
    settings.parse::<PaneSettings>().unwrap().chain
}

/// Computes the likelihood of the texts under each chain.
pub(crate) fn likelihoods(
    session: &mut Session,
    texts: &[FitText],
    chains: &[ChainConfig],
) -> (Vec<FitTokens>, Vec<Likelihood>) {
    run(session, &plan(texts, chains))
}

/// Returns the plan of a fit with the usual memory.
pub(crate) fn plan(texts: &[FitText], chains: &[ChainConfig]) -> FitPlan {
    FitPlan {
        texts: texts.to_vec(),
        chains: chains.to_vec(),
        n_logits_bytes: FitPlan::DEFAULT_LOGITS_BYTES,
    }
}

/// Runs a plan to the end. Returns the tokens of its texts, and their likelihood under each chain.
pub(crate) fn run(session: &mut Session, plan: &FitPlan) -> (Vec<FitTokens>, Vec<Likelihood>) {
    session.run_job(ID, plan, None).unwrap();
    let (mut tokens, mut found) = (Vec::new(), vec![None; plan.chains.len()]);
    while session.has_jobs() {
        let Some((_, update)) = session.advance_job() else {
            continue;
        };
        if let JobUpdate::Failed { error } = &update {
            panic!("{error}");
        }
        match update.report() {
            Some(FitUpdate::Started { texts }) => tokens.clone_from(texts),
            Some(FitUpdate::Computed { found: new }) => {
                for (index, likelihood) in new {
                    assert_eq!(found[*index], None, "each is reported once");
                    found[*index] = Some(*likelihood);
                }
            }
            _ => {}
        }
    }
    (tokens, found.into_iter().map(Option::unwrap).collect())
}

/// Runs a fit to the end.
pub(crate) fn fit(session: &mut Session, texts: &[FitText], base: &str, vary: &[&str]) -> Fit {
    let mut axes = vary.iter().map(|words| parse_axis(words).unwrap());
    let mut fit = Fit::new(FitSetup {
        base: chain(base),
        rows: axes.next().unwrap(),
        columns: axes.next(),
    });
    while let Some(chains) = fit.next_batch() {
        let (tokens, found) = likelihoods(session, texts, &chains);
        fit.set_texts(tokens);
        for (index, likelihood) in found.into_iter().enumerate() {
            fit.add(index, likelihood);
        }
    }
    fit
}

/// Generates texts with these settings.
pub(crate) fn written(
    session: &mut Session,
    prompt: &str,
    settings: &str,
    n: u64,
    n_tokens: usize,
) -> Vec<FitText> {
    let chain = chain(settings);
    let texts = (0..n).map(|seed| {
        let config = GenerationConfig {
            chain: chain.clone(),
            seed,
            limits: Limits {
                max_new_tokens: n_tokens,
                end_of_text: EndOfText::Stops,
                ..Limits::default()
            },
        };
        let prompt = session.prompt(prompt).unwrap();
        let mut tokens = prompt.tokens.clone();
        let n_prompt = tokens.len();
        session.generate(prompt, [(ID, config)], Instant::now());
        while session.is_busy() {
            let mut progress = Vec::new();
            session.advance(&mut progress);
            for progress in progress {
                if let Progress::Stepped { step, .. } = progress {
                    tokens.push(step.token);
                }
            }
        }
        FitText::Recorded {
            tokens,
            n_prompt,
            form: PromptForm::Raw,
        }
    });
    texts.collect()
}
