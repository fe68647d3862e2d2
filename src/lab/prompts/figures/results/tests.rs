//! Tests how answers are judged and counted.

use std::sync::Arc;

use super::{JudgedPane, TaskResults};
use crate::decoding::{ChainConfig, TokenId};
use crate::generation::{FinishReason, Limits, Piece, SweepText, TokenMeasures, Vocabulary};
use crate::lab::prompts::figures::TasksReading;
use crate::lab::prompts::figures::tasks::TaskFile;
use crate::lab::prompts::{ReadPrompt, TaskNews, TaskUpdate, TasksPlan, task_seed};

const PIECES: [&str; 5] = ["yes", "no", "y", "es", "n"];

/// Two tasks that expect "yes" and one without a check, under greedy decoding and pure sampling.
fn results() -> TaskResults {
    let csv = "prompt,expected\nOne?,equals: yes\nTwo?,equals: yes\n";
    let file = TaskFile::read("tasks.csv", csv).unwrap();
    let mut tasks = file.tasks(None, &[]).unwrap().tasks;
    let plain = TaskFile::read("tasks.txt", "Three?").unwrap();
    tasks.extend(plain.tasks(None, &[]).unwrap().tasks);
    let chains = [ChainConfig::greedy(), ChainConfig::sampled([])];
    let panes = ["A", "B"].into_iter().zip(chains);
    let panes = panes.map(|(letter, chain)| JudgedPane {
        letter: letter.to_owned(),
        name: format!("Settings {letter}"),
        chain,
        host: None,
        model: None,
        not_applied: Vec::new(),
    });
    let plan = TasksPlan {
        tasks: Arc::default(),
        drawn: Vec::new(),
        n_answers: 3,
        exact: Vec::new(),
        elsewhere: Vec::new(),
        part: 0,
        seed: 7,
        limits: Limits::default(),
    };
    let mut vocabulary: Vec<Piece> = PIECES.map(Piece::text).to_vec();
    vocabulary.push(Piece::special("</s>"));
    let vocabulary = Arc::new(Vocabulary::new(vocabulary));
    TaskResults::new(tasks.into(), panes.collect(), &plan, &vocabulary)
}

#[test]
fn a_pane_keeps_its_place_where_an_earlier_one_is_gone() {
    let mut results = results();
    assert_eq!([0, 1].map(|pane| results.place(pane)), [0, 1]);
    results.panes[1].letter = "D".to_owned();
    assert_eq!([0, 1].map(|pane| results.place(pane)), [0, 3]);
}

fn add(results: &mut TaskResults, task: usize, news: TaskNews) {
    results.add(TaskUpdate {
        task,
        part: 0,
        news,
    });
}

/// Adds an answer with these tokens, and then the end of the text.
fn answer(results: &mut TaskResults, [task, pane, seed]: [usize; 3], tokens: &[u32]) {
    let tokens = tokens.iter().copied().chain([5]).map(TokenId);
    let tokens: Vec<TokenId> = tokens.collect();
    let measure = TokenMeasures {
        surprise_bits: 2.0,
        entropy_bits: 1.0,
        is_top: true,
    };
    let text = SweepText {
        prompt: 0,
        cell: pane,
        seed,
        measures: vec![measure; tokens.len()],
        tokens,
        finish: FinishReason::EndOfText,
        grammar_complete: None,
    };
    add(results, task, TaskNews::Answered(vec![text]));
}

fn done(results: &mut TaskResults, task: usize) {
    add(results, task, TaskNews::Done { secs: 1.0 });
}

#[test]
fn answers_are_judged_and_counted() {
    let mut results = results();
    assert!(results.is_judged());
    // Greedy decoding needs one answer to each task, sampling three.
    assert_eq!(results.n_done(), (0, 12));
    let read = ReadPrompt {
        tokens: vec![TokenId(0)],
        rendered: "One?".to_owned(),
    };
    add(&mut results, 0, TaskNews::Read(read));
    answer(&mut results, [0, 0, 0], &[0]);
    answer(&mut results, [0, 1, 2], &[1]);
    answer(&mut results, [0, 1, 0], &[2, 3]);
    answer(&mut results, [0, 1, 1], &[4]);
    assert_eq!(results.n_done(), (4, 12));
    assert_eq!(results.n_right(0, 0), Some((1, 1)));
    assert_eq!(results.n_right(0, 1), Some((1, 3)));
    let answers = results.answers(0, 1);
    let texts: Vec<&str> = answers.iter().map(|one| one.answer.text.as_str()).collect();
    assert_eq!(texts, ["yes", "n", "no"], "in the order of their seeds");
    assert_eq!(answers[1].seed, task_seed(7, 0) + 1);
    assert_eq!(answers[1].surprise_bits, Some(2.0));
    assert_eq!(results.comparable().count(), 0, "the task is not done");
    done(&mut results, 0);
    assert!(results.comparable().eq([0]));
    assert!((results.disagreement(0) - 2.0 / 3.0).abs() < 1e-12);

    let error = "too long".to_owned();
    add(&mut results, 1, TaskNews::Refused { error });
    assert_eq!(results.error(1), Some("too long"));
    assert_eq!(results.n_done(), (4, 8));
    answer(&mut results, [2, 0, 0], &[0]);
    done(&mut results, 2);
    assert_eq!(results.n_right(2, 0), None, "nothing is expected");
    assert!(results.comparable().eq([0]));
}

#[test]
fn right_and_wrong_answers_part_at_a_token() {
    let mut results = results();
    answer(&mut results, [0, 1, 0], &[2, 3]);
    assert_eq!(results.fork(0, 1), None, "all are right");
    answer(&mut results, [0, 1, 1], &[2, 1]);
    let fork = results.fork(0, 1).unwrap();
    assert_eq!(fork.shared, [TokenId(2)]);
    assert_eq!(fork.next, [Some(TokenId(3)), Some(TokenId(1))]);
}

#[test]
fn several_answers_vote() {
    let mut results = results();
    for (seed, tokens) in [&[0][..], &[2, 3], &[1]].into_iter().enumerate() {
        answer(&mut results, [0, 1, seed], tokens);
    }
    answer(&mut results, [0, 0, 0], &[1]);
    done(&mut results, 0);
    let accuracy = results.self_consistency(1);
    // Two of three answers say yes, if spelled differently. Of two answers that differ, either wins
    // as often.
    let expected = [2.0 / 3.0, 2.0 / 3.0, 1.0];
    assert_eq!(accuracy.len(), 3);
    for (found, expected) in accuracy.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{accuracy:?}");
    }
    let pass_at = results.pass_at(1);
    assert!((pass_at[0] - 2.0 / 3.0).abs() < 1e-12 && pass_at[1] > 1.0 - 1e-12);

    let overview = TasksReading::of(&results).overview;
    assert_eq!(overview[0].vote, None, "greedy decoding gives one answer");
    assert_eq!((overview[1].n_answers, overview[1].vote), (3, Some(1.0)));
    assert_eq!(overview[1].any, Some(1.0));
    // Two of three answers say the same, if in different tokens: two, three and two with their ends.
    assert_eq!(overview[1].n_different, Some(2.0));
    assert_eq!(overview[1].n_tokens, Some(7.0 / 3.0));
    assert_eq!(overview[1].n_thought, None);
}

#[test]
fn the_reading_compares_the_settings() {
    let mut results = results();
    for task in [0, 1] {
        answer(&mut results, [task, 0, 0], &[0]);
        for seed in 0..3 {
            let token = u32::from(task == 1 || seed == 0);
            answer(&mut results, [task, 1, seed], &[token]);
        }
        done(&mut results, task);
    }
    let reading = TasksReading::of(&results);
    assert_eq!(reading.order, [1, 0, 2], "most disagreement first");
    assert!(reading.shares[0].unwrap().share > 1.0 - 1e-12);
    assert!((reading.shares[1].unwrap().share - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(reading.pairs.len(), 1);
    assert_eq!(reading.pairs[0].paired.n_wins, 2);
    let verdict = reading.verdict.unwrap();
    assert!(
        verdict.sentence.starts_with("Settings A answers 100 %"),
        "{verdict:?}"
    );
    assert_eq!(reading.decided, None, "two tasks decide nothing");
}
