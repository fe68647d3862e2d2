//! Tests that what a lesson says about chance does not hinge on its seed.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::lessons_without_chat;
use super::rehearsal::Rehearsal;
use crate::lessons::{Lesson, built_in};
use crate::state::LessonProgress;

/// A lesson that is taken with other seeds.
struct Claim {
    lesson: &'static str,
    seeds: [u64; 3],
    /// The steps that are taken. The others can only be done with the seed of the lesson.
    taken: &'static [usize],
    /// The steps whose answer is the same for every seed. That of the others is read from the run.
    claimed: &'static [usize],
}

const fn claim(
    lesson: &'static str,
    seeds: [u64; 3],
    taken: &'static [usize],
    claimed: &'static [usize],
) -> Claim {
    Claim {
        lesson,
        seeds,
        taken,
        claimed,
    }
}

/// All lessons for the built-in model.
const CLAIMS: &[Claim] = &[
    claim("loop", [3, 4, 5], &[1, 2, 3, 4], &[1, 2, 3, 4]),
    claim("pieces", [1, 2, 3], &[1, 2, 3, 4], &[1, 2, 3, 4]),
    claim("softmax", [1, 2, 3], &[3, 5], &[3, 5]),
    claim("temperature", [1, 2, 3], &[2, 4], &[2, 4]),
    claim("seeds", [1, 2, 3], &[1, 2, 3, 4, 5], &[1, 4, 5]),
    claim("greedy", [1, 2, 3], &[1, 2, 3], &[1, 2, 3]),
    claim("sampling", [1, 2, 4], &[1, 2, 3], &[3]),
    claim("cuts", [1, 2, 3], &[1, 2, 3, 4, 5], &[1, 3, 5]),
    claim("penalties", [1, 2, 3], &[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5]),
    claim("choosing", [1, 2, 3], &[1, 2, 5], &[1, 2, 5]),
    claim("stopping", [1, 2, 3], &[1, 2, 3, 4], &[1, 2, 3, 4]),
    claim("human", [1, 2, 6], &[1, 2, 3], &[1, 2, 3]),
    claim("cost", [1, 2, 3], &[1, 2, 3, 4], &[3, 4]),
    claim("cache", [1, 3, 4], &[1, 2, 3], &[1, 2]),
    claim("json", [1, 2, 3], &[1, 2, 3, 4], &[1, 2, 3, 4]),
    claim("drafts", [1, 2, 3], &[1, 2, 3], &[1, 2, 3]),
    claim("beams", [3, 4, 5], &[1, 2, 3], &[1, 2, 3]),
    claim("watermark", [1, 2, 3], &[1, 2, 3], &[1, 2, 3]),
    claim("tasks", [1, 2, 3], &[1, 2], &[1, 2]),
];

/// Returns the source of a lesson with only these steps.
fn source_of(lesson: &str, steps: &[usize]) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/lessons");
    let source = std::fs::read_to_string(format!("{folder}/{lesson}.toml")).unwrap();
    let parts: Vec<&str> = source.split("[[step]]\n").collect();
    let steps: Vec<&str> = steps.iter().map(|step| parts[*step]).collect();
    format!("{}[[step]]\n{}", parts[0], steps.join("[[step]]\n"))
}

/// Returns the source of a lesson with another seed. Its texts no longer name its own seed, and two
/// panes may diverge at any token.
fn with_seed(source: &str, seed: u64) -> String {
    let (before, setup) = source.split_once("[setup]\n").unwrap();
    let is_other = |line: &&str| !line.starts_with("seed = ");
    let setup: Vec<&str> = setup.lines().filter(is_other).collect();
    let changed = format!("{before}[setup]\nseed = {seed}\n{}\n", setup.join("\n"));
    changed
        .replace("seed 8 instead of 7", "seed 8 instead")
        .replace("settings and seed 42", "settings and seed")
        .replace("A.fork.B == 4", "A.fork.B >= 1")
}

/// Takes a lesson, and returns the right answers to its questions.
fn answers(robot: &mut Rehearsal, source: &str) -> Vec<String> {
    robot.state.lessons.progress = LessonProgress::default();
    let lesson = Arc::new(Lesson::from_toml(source).unwrap());
    robot.take(&lesson).unwrap();
    let made = robot.state.lessons.predictions();
    let made = made[&lesson.id].iter();
    made.map(|made| made.answer.clone()).collect()
}

#[test]
fn what_a_lesson_claims_about_chance_holds_for_other_seeds() {
    let mut robot = Rehearsal::new().unwrap();
    let mut differing = Vec::new();
    for claim in CLAIMS {
        let source = source_of(claim.lesson, claim.taken);
        let own = answers(&mut robot, &source);
        for seed in claim.seeds {
            let others = answers(&mut robot, &with_seed(&source, seed));
            assert_eq!(others.len(), claim.taken.len());
            for (step, (own, other)) in claim.taken.iter().zip(own.iter().zip(&others)) {
                if own != other && claim.claimed.contains(step) {
                    let place = format!("{}, step {step}, seed {seed}", claim.lesson);
                    differing.push(format!("{place}: {other}, not {own}"));
                }
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn every_lesson_is_taken_with_other_seeds() {
    let ids: Vec<&str> = lessons_without_chat()
        .map(|lesson| lesson.id.as_str())
        .collect();
    let claims: Vec<&str> = CLAIMS.iter().map(|claim| claim.lesson).collect();
    assert_eq!(claims, ids);
    for claim in CLAIMS {
        let own = built_in().iter().find(|lesson| lesson.id == claim.lesson);
        let seeds = BTreeSet::from(claim.seeds);
        assert_eq!(seeds.len(), 3);
        assert!(
            !seeds.contains(&own.unwrap().setup.seed),
            "{}",
            claim.lesson
        );
        let is_claimed = |step: &usize| claim.taken.contains(step);
        assert!(!claim.claimed.is_empty() && claim.claimed.iter().all(is_claimed));
    }
}
