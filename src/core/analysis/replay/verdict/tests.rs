//! Tests of what a verdict says, and of its exit status.

use std::sync::Arc;

use super::{Replayed, TextPlaces, Verdict};
use crate::analysis::contradictions::{Contradiction, ContradictionKind, RunPlace};
use crate::analysis::replay::{TextContradiction, WordsCheck};
use crate::decoding::{LogitsHash, Picked};
use crate::generation::testing::generation;
use crate::generation::{Generation, ModelInfo};

/// A text whose record says how it was computed, and whose first tokens were picked by hand.
fn text(n_by_hand: usize) -> Generation {
    let mut text = generation(&[(" the", 0.5), (" fox", 0.2), (" house", 0.1)]);
    change_model(&mut text, |model| {
        model.provenance.version = "0.1.0".to_owned();
    });
    for (index, step) in text.steps.iter_mut().enumerate() {
        step.logits_hash = Some(LogitsHash::of(&[index as f32]));
        if index < n_by_hand {
            Arc::make_mut(&mut step.trace).draw.picked = Picked::ByHand;
        }
    }
    text
}

fn change_model(text: &mut Generation, change: impl Fn(&mut ModelInfo)) {
    let mut model = ModelInfo::clone(&text.model);
    change(&mut model);
    text.model = Arc::new(model);
}

fn verdict(then: &[Generation], now: &[Generation], allows_others: bool) -> Verdict {
    let words = vec![WordsCheck::Equal; then.len()];
    Verdict::of(Replayed {
        then: &then.iter().collect::<Vec<_>>(),
        now: &now.iter().collect::<Vec<_>>(),
        places: TextPlaces::default(),
        words: &words,
        allows_others,
        has_branches: false,
    })
}

#[test]
fn the_verdict_says_how_many_tokens_the_settings_chose() {
    for (texts, words, panes) in [
        (
            vec![text(0)],
            "All 3 tokens were chosen by these settings from these coins.",
            None,
        ),
        (
            vec![text(0), text(2)],
            "4 of 6 tokens were chosen by these settings from these coins; 2 were given by hand.",
            Some(
                "In B, 1 of 3 tokens were chosen and 2 were given by hand. A was chosen throughout.",
            ),
        ),
        (
            vec![text(3)],
            "None of 3 tokens was chosen by these settings from these coins: 3 were given by hand.",
            None,
        ),
    ] {
        let verdict = verdict(&texts, &texts, false);
        let start = "Same tokens, bit-identical numbers. ";
        assert_eq!(verdict.to_string(), format!("{start}{words}"));
        assert_eq!(verdict.pane_words().as_deref(), panes);
        assert_eq!(verdict.exit_status(), 0);
    }
}

#[test]
fn another_model_than_the_file_names_is_in_the_sentence_and_the_status() {
    type Change<'a> = (&'a dyn Fn(&mut ModelInfo), &'a str);
    let then = [text(0)];
    let changes: [Change<'_>; 3] = [
        (&|model| model.sha256 = "2fb4".to_owned(), "model"),
        (
            &|model| model.provenance.tokenizer_sha256 = "2fb4".to_owned(),
            "tokenizer",
        ),
        (
            &|model| model.provenance.template_sha256 = "2fb4".to_owned(),
            "template",
        ),
    ];
    for (change, name) in changes {
        let mut now = then.clone();
        change_model(&mut now[0], change);
        let refused = verdict(&then, &now, false);
        let start = format!("Not the {name} of this file. Same tokens");
        assert!(refused.to_string().starts_with(&start), "{refused}");
        assert_eq!(refused.exit_status(), 1);
        let allowed = verdict(&then, &now, true);
        let start = format!("With another {name}, as asked. Same tokens");
        assert!(allowed.to_string().starts_with(&start), "{allowed}");
        assert_eq!(allowed.exit_status(), 0);
    }
}

#[test]
fn a_contradiction_wins_over_every_difference() {
    let then = [text(0)];
    let mut now = then.clone();
    now[0].steps.pop();
    let different = verdict(&then, &now, false);
    // The same numbers end the text elsewhere.
    assert_eq!(different.exit_status(), 3);
    let found = Contradiction {
        place: RunPlace::Pane(3),
        step: Some(3),
        kind: ContradictionKind::Choice,
        words: "its settings and its coin 0.729 draw ‘nest’; it says ‘hole’".to_owned(),
    };
    let verdict = Verdict::contradicted(
        &[&then[0]],
        TextPlaces {
            panes: &[3],
            turns: &[],
        },
        found,
    );
    let words = "This file contradicts itself, first at token 4 of D: its settings and its coin \
                 0.729 draw ‘nest’; it says ‘hole’.";
    assert_eq!(
        (verdict.to_string().as_str(), verdict.exit_status()),
        (words, 3)
    );
    assert!(!verdict.is_unexplained());
}

#[test]
fn words_that_are_not_those_of_the_tokens_contradict_the_file_of_that_model_only() {
    let then = [text(0)];
    let wrong = WordsCheck::Contradicted(TextContradiction {
        step: None,
        kind: ContradictionKind::Prompt,
        words: "its prompt is not what its tokens say".to_owned(),
    });
    let judged = |now: &[Generation]| {
        Verdict::of(Replayed {
            then: &[&then[0]],
            now: &[&now[0]],
            places: TextPlaces::default(),
            words: std::slice::from_ref(&wrong),
            allows_others: true,
            has_branches: false,
        })
    };
    let verdict = judged(&then);
    let words = "This file contradicts itself, first in A: its prompt is not what its tokens say.";
    assert_eq!(
        (verdict.to_string().as_str(), verdict.exit_status()),
        (words, 3)
    );
    let mut other = then.clone();
    change_model(&mut other[0], |model| model.sha256 = "2fb4".to_owned());
    assert_eq!(judged(&other).exit_status(), 0);
}

#[test]
fn a_changed_word_is_named_in_the_pane_that_shows_it_and_not_where_it_is_an_alternative() {
    let then = [text(0), text(0)];
    let panes = then.iter().collect::<Vec<_>>();
    let wrong = |step, words: &str| TextContradiction {
        step: Some(step),
        kind: ContradictionKind::Prompt,
        words: words.to_owned(),
    };
    let listed = WordsCheck::ListedContradicted(wrong(0, "listed"));
    let shown = WordsCheck::Contradicted(wrong(2, "shown"));
    for (words, pane, step, said) in [
        ([listed.clone(), shown.clone()], 1, 2, "shown"),
        ([shown, listed.clone()], 0, 2, "shown"),
        ([WordsCheck::Equal, listed.clone()], 1, 0, "listed"),
        ([listed.clone(), listed], 0, 0, "listed"),
    ] {
        let verdict = Verdict::of(Replayed {
            then: &panes,
            now: &panes,
            places: TextPlaces::default(),
            words: &words,
            allows_others: false,
            has_branches: false,
        });
        let found = verdict.contradiction.unwrap();
        assert_eq!(
            (found.place, found.step, &*found.words),
            (RunPlace::Pane(pane), Some(step), said)
        );
    }
}

#[test]
fn numbers_that_changed_without_a_reason_are_a_difference() {
    let then = [text(0)];
    let mut now = then.clone();
    now[0].steps[1].logits_hash = Some(LogitsHash::of(&[7.0]));
    let changed = verdict(&then, &now, false);
    assert!(
        changed
            .to_string()
            .starts_with("Same tokens, but not all numbers."),
        "{changed}"
    );
    assert_eq!(changed.exit_status(), 1);
    // In another format they may change.
    Arc::make_mut(&mut now[0].steps[1].trace).raw.head[0].logit += 0.25;
    change_model(&mut now[0], |model| {
        model.provenance.cache = "q8".to_owned();
    });
    assert_eq!(verdict(&then, &now, false).exit_status(), 0);
}

#[test]
fn panes_keep_the_letters_of_the_file() {
    let then = [text(0), text(2)];
    let texts: Vec<&Generation> = then.iter().collect();
    let mut other = then[1].clone();
    other.steps.pop();
    let verdict = |now: &[&Generation]| {
        Verdict::of(Replayed {
            then: &texts,
            now,
            places: TextPlaces {
                panes: &[0, 2],
                turns: &[],
            },
            words: &[WordsCheck::Equal, WordsCheck::Equal],
            allows_others: false,
            has_branches: false,
        })
    };
    assert_eq!(
        verdict(&texts).pane_words().unwrap(),
        "In C, 1 of 3 tokens were chosen and 2 were given by hand. A was chosen throughout."
    );
    let different = verdict(&[&then[0], &other]);
    let place = different.contradiction.map(|found| found.place);
    assert_eq!(place, Some(RunPlace::Pane(2)));
}
