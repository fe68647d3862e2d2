//! Tests which answers a list gets with beam search, grammars and guidance beside other settings.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::decoding::{ChainConfig, TokenId};
use crate::engine::{
    Compute, EngineError, JobUpdate, LoadedModel, Progress, Session, open_embedded,
};
use crate::generation::{
    EndOfText, GenerationConfig, GenerationId, Limits, PaneSettings, PromptText, SweepText,
};
use crate::lab::prompts::{TaskNews, TaskText, TaskUpdate, TasksPlan, task_seed};

const PROMPTS: [&str; 2] = ["Once upon a time", "The dog was very"];

fn embedded() -> LoadedModel {
    let mut keep_going = |_| ControlFlow::Continue(());
    open_embedded(&Compute::on_cpu(), &mut keep_going)
        .unwrap()
        .unwrap()
}

fn chain(words: &str) -> ChainConfig {
    words.parse::<PaneSettings>().unwrap().chain
}

fn limits() -> Limits {
    Limits {
        max_new_tokens: 12,
        stop_strings: vec![".".to_owned()],
        end_of_text: EndOfText::Stops,
    }
}

/// Returns all answers to the prompts under these settings, task by task, in the order of the
/// settings and then of the seeds.
fn answers(settings: &[&str]) -> Result<Vec<Vec<SweepText>>, EngineError> {
    let chains: Vec<ChainConfig> = settings.iter().map(|words| chain(words)).collect();
    let plan = TasksPlan {
        tasks: PROMPTS
            .map(|prompt| TaskText {
                prompt: PromptText::raw(prompt),
                right: vec![" there was".to_owned()],
            })
            .into(),
        drawn: chains.clone(),
        n_answers: 3,
        exact: chains,
        elsewhere: Vec::new(),
        part: 0,
        seed: 42,
        limits: limits(),
    };
    let mut session = Session::new(embedded());
    session.run_job(GenerationId(1), &plan, None)?;
    let mut found = vec![Vec::new(); PROMPTS.len()];
    while session.has_jobs() {
        match session.advance_job() {
            Some((_, JobUpdate::Reported(report))) => {
                let update: TaskUpdate = report.take().unwrap();
                if let TaskNews::Answered(texts) = update.news {
                    found[update.task].extend(texts);
                }
            }
            Some((_, JobUpdate::Failed { error })) => panic!("{error}"),
            Some(_) | None => {}
        }
    }
    for texts in &mut found {
        texts.sort_by_key(|text| (text.cell, text.seed));
    }
    Ok(found)
}

/// Returns the tokens that a pane writes.
fn pane(prompt: &str, words: &str, seed: u64) -> Vec<TokenId> {
    let mut session = Session::new(embedded());
    let prompt = session.prompt(prompt).unwrap();
    let config = GenerationConfig {
        chain: chain(words),
        seed,
        limits: limits(),
    };
    session.generate(prompt, [(GenerationId(1), config)], Instant::now());
    let mut tokens = Vec::new();
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for happened in progress {
            if let Progress::Stepped { step, .. } = happened {
                tokens.push(step.token);
            }
        }
    }
    tokens
}

/// Returns the answers under the settings at this index: their seeds and tokens.
fn of(texts: &[SweepText], cell: usize) -> Vec<(usize, &[TokenId])> {
    let own = texts.iter().filter(|text| text.cell == cell);
    own.map(|text| (text.seed, text.tokens.as_slice()))
        .collect()
}

#[test]
fn beams_answer_once_and_write_what_a_pane_writes() {
    let found = answers(&["beams 3", "T 0.7, beams 5"]).unwrap();
    for (texts, prompt) in found.iter().zip(PROMPTS) {
        for (cell, words) in ["beams 3", "T 0.7, beams 5"].into_iter().enumerate() {
            let expected = pane(prompt, words, 7);
            assert_eq!(of(texts, cell), [(0, expected.as_slice())], "{words}");
        }
        let surprise = texts[0].measures.iter().map(|token| token.surprise_bits);
        assert_eq!(surprise.clone().count(), texts[0].tokens.len());
        assert!(surprise.sum::<f32>() > 0.0);
    }
}

#[test]
fn beams_whose_stages_toss_coins_answer_once_for_each_seed() {
    let words = "xtc 0.5 threshold 0.05, beams 2";
    let found = answers(&[words]).unwrap();
    for (task, texts) in found.iter().enumerate() {
        assert_eq!(texts.len(), 3);
        for text in texts {
            let seed = task_seed(42, task) + text.seed as u64;
            assert_eq!(text.tokens, pane(PROMPTS[task], words, seed));
        }
    }
}

#[test]
fn other_settings_answer_as_they_do_without_beams() {
    let alone = answers(&["greedy", "sample"]).unwrap();
    let beside = answers(&["greedy", "sample", "beams 3"]).unwrap();
    for (alone, beside) in alone.iter().zip(&beside) {
        assert_eq!((alone.len(), beside.len()), (1 + 3, 1 + 3 + 1));
        assert_eq!(alone[..], beside[..alone.len()]);
    }
}

#[test]
fn a_grammar_holds_for_its_own_settings_only() {
    const FREE: &str = "sample";
    const BOUND: &str = "sample, grammar regex \"[^e]*\"";
    for settings in [[FREE, BOUND], [BOUND, FREE]] {
        let found = answers(&settings).unwrap();
        for (task, texts) in found.iter().enumerate() {
            for text in texts {
                let seed = task_seed(42, task) + text.seed as u64;
                let words = settings[text.cell];
                assert_eq!(text.tokens, pane(PROMPTS[task], words, seed), "{words}");
                assert_eq!(text.grammar_complete.is_some(), words == BOUND);
            }
        }
    }
}

#[test]
fn settings_may_be_guided_by_different_things() {
    let found = answers(&[
        "sample",
        "sample, guide 1.5",
        "sample, guide 1.5 against \"The cat\"",
    ])
    .unwrap();
    for texts in &found {
        assert_eq!(texts.len(), 3 * 3);
        assert_ne!(of(texts, 1), of(texts, 2));
    }
}
