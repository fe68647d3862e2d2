//! When each finding is reported, when it is not, and what its remedy does.

use std::sync::Arc;

use super::{Importance, Lint, Remedy, Tally, lint_chain};
use crate::decoding::dialect::Dialect;
use crate::decoding::{ChainConfig, Coins, History, SamplerChain, TokenId};
use crate::generation::testing::generation;
use crate::generation::{Generation, PaneSettings};

/// The size of the vocabulary.
const N_VOCAB: u32 = 100;

fn chain(words: &str) -> ChainConfig {
    words.parse::<PaneSettings>().unwrap().chain
}

/// Returns a generation of 30 steps with decreasing logits and six tokens in the prompt.
fn generated_by(chain: &ChainConfig) -> Generation {
    let mut generation = generation(&[(" fox", 0.5)]);
    generation.config.chain = chain.clone();
    let mut prompt = (*generation.prompt).clone();
    prompt.tokens = [4, 5, 6, 4, 5, 7].map(TokenId).to_vec();
    generation.prompt = Arc::new(prompt);
    let mut model = (*generation.model).clone();
    model.n_vocab = N_VOCAB as usize;
    generation.model = Arc::new(model);
    let mut sampler = SamplerChain::new(chain.clone());
    let template = generation.steps.pop().unwrap();
    for position in 0..30_u64 {
        let fall = 0.8 + position as f32 / 60.0;
        let logits: Vec<f32> = (0..N_VOCAB).map(|i| -(i as f32) * fall).collect();
        let coins = Coins { seed: 1, position };
        let sampled = sampler.sample(&logits, History::empty(), coins).unwrap();
        let mut step = template.clone();
        step.token = sampled.token;
        step.trace = std::sync::Arc::new(sampled.trace);
        generation.steps.push(step);
    }
    generation
}

/// Returns all findings about the chain of a generation.
fn lint(generation: &Generation) -> Vec<Lint> {
    let mut tally = Tally::default();
    tally.follow(generation);
    let n_vocab = Some(generation.model.n_vocab);
    lint_chain(&generation.config.chain, n_vocab, Some(&tally))
}

/// Returns the messages about a chain after 30 steps.
fn messages(chain: &ChainConfig) -> Vec<String> {
    let lints = lint(&generated_by(chain));
    lints.into_iter().map(|lint| lint.message).collect()
}

/// The messages about each chain after 30 steps.
const FINDINGS: &[(&str, &[&str])] = &[
    ("sample", &[]),
    ("greedy", &[]),
    (
        "green-list 2 ratio 0.5, gumbel-mark 42",
        &[
            "Green-list 2 and the draw both leave a watermark; one is enough, and Gumbel-max keeps the probabilities as they are.",
        ],
    ),
    (
        "green-list 2 ratio 0.5, synth-id 4",
        &["Green-list 2 and SynthID-Text 4 both leave a watermark; one is enough."],
    ),
    (
        "green-list 2 ratio 0.001",
        &["Green-list 2 has no green token: a share of 0.001 of 100 tokens is less than one."],
    ),
    ("gumbel-mark 42", &[]),
    ("top-k 3", &[]),
    ("temp 0.7, top-p 0.9", &[]),
    // Stages without effect.
    (
        "temp 0, top-p 0.9",
        &["T 0 leaves only one token, so top-p 0.9 has no effect."],
    ),
    (
        "top-k 1, temp 0.7, top-p 0.9",
        &["Top-k 1 leaves only one token, so T 0.7 and top-p 0.9 have no effect."],
    ),
    (
        "temp 0",
        &["T 0 leaves only one token, so there is nothing to draw from."],
    ),
    (
        "top-k 3, temp 0.5, greedy",
        &["Greedy takes the top token anyway, so top-k 3 and T 0.5 have no effect."],
    ),
    ("top-k 3, presence 1 generated only, greedy", &[]),
    (
        "presence 1 generated only, top-k 3, greedy",
        &["Greedy takes the top token anyway, so top-k 3 has no effect."],
    ),
    ("top-k 5, typical-p 0.5, greedy", &[]),
    // Neutral values.
    (
        "temp 0.7, top-p 1",
        &["Top-p 1 has no effect at this value."],
    ),
    (
        "temp 1, top-p 1, top-k 3",
        &["Top-p 1 has no effect at this value."],
    ),
    (
        "min-p 0, top-p 1, top-k 3",
        &["Min-p 0 and top-p 1 have no effect at these values."],
    ),
    ("temp 1", &[]),
    ("top-p 1 off, temp 0.7", &[]),
    // Values that defeat their purpose.
    (
        "top-k 4, xtc 1 threshold 0",
        &["XTC 1 with threshold 0 leaves only the least likely token whenever it acts."],
    ),
    ("top-k 4, xtc 1 threshold 0.05", &[]),
    (
        "no-repeat 9 last 8",
        &["No-repeat 9 never acts: its window is only 8 tokens long."],
    ),
    (
        "dry 0.8 allowed 8 last 8",
        &["DRY 0.8 never acts: its window of 8 tokens holds no repetition of 8."],
    ),
    (
        "repeat 0.9 generated only",
        &["Repeat 0.9 makes repetition more likely: only values above 1 penalize it."],
    ),
    (
        "frequency -0.5 generated only",
        &["Frequency -0.5 makes repetition more likely: only values above 0 penalize it."],
    ),
    (
        "ban 100",
        &["Logit bias names token 100, but the model’s last token is 99."],
    ),
    ("ban 99", &[]),
    (
        "top-k 100",
        &["Top-k 100 keeps everything: the model has only 100 tokens."],
    ),
    (
        "adaptive-p 0.4",
        &["Adaptive-p needs a cut before it, or it draws even the least likely tokens."],
    ),
    ("min-p 0.1, adaptive-p 0.4", &[]),
    // The order.
    (
        "min-p 0.05, temp 1.5",
        &[
            "T 1.5 after min-p 0.05 cannot change which tokens are kept, only how likely each one \
             is.",
        ],
    ),
    ("top-k 3, temp 1.5", &[]),
    ("min-p 0.05, temp 1.5, top-p 0.9", &[]),
    (
        "temp 0.7, min-p 0.05, temp 1.5",
        &["T 0.7 and T 1.5 are in the same chain and both apply."],
    ),
    ("min-p 0.05, temp 1.5, mirostat 5", &[]),
    ("min-p 0.05, dyn-temp 0.5 range 0.5", &[]),
    (
        "top-p 0.99, top-p 0.9",
        &["Top-p 0.99 and top-p 0.9 are in the same chain and both apply."],
    ),
    ("bias 3 1, ban 5", &[]),
    (
        "temp 0.7 off, top-k 3 off, top-p 0.9",
        &["Only top-p 0.9 applies: T 0.7 and top-k 3 are muted."],
    ),
    ("temp 0.7 off, top-p 0.9", &[]),
    // Mirostat.
    (
        "top-p 0.9, temp 0.8, mirostat 5, dialect llama.cpp",
        &["Mirostat in llama.cpp ignores top-p 0.9, which applies here."],
    ),
    ("temp 0.8, mirostat 5, dialect llama.cpp", &[]),
    ("dyn-temp 0.8 range 0, mirostat 5, dialect llama.cpp", &[]),
    (
        "dyn-temp 0.8 range 0.5, mirostat 5, dialect llama.cpp",
        &["Mirostat in llama.cpp ignores dyn-temp 0.8 range 0.5, which applies here."],
    ),
    ("top-p 0.9, mirostat 5", &[]),
    // What the stages did.
    (
        "min-p 0.05, top-k 40",
        &["Top-k 40 never dropped anything in 30 steps: min-p 0.05 left at most 4 tokens."],
    ),
    (
        "top-k 40, min-p 0.05",
        &["Top-k 40 made no difference in 30 steps: min-p 0.05 always kept fewer tokens."],
    ),
    (
        "top-p 0.9999, top-k 2",
        &["Top-p 0.9999 made no difference in 30 steps: top-k 2 always kept fewer tokens."],
    ),
    // Min-p drops nothing, and top-p would keep a different set without the top-k before it.
    (
        "top-k 3, top-p 0.9, min-p 0.0001",
        &["Min-p 0.0001 never dropped anything in 30 steps: top-p 0.9 left at most 3 tokens."],
    ),
    ("top-k 2, min-p 0.4", &[]),
    ("top-k 40 off, min-p 0.05", &[]),
    ("no-repeat 4", &["No-repeat 4 changed nothing in 30 steps."]),
    (
        "repeat 1.1",
        &["Repetition penalty also penalized 4 different tokens of the prompt."],
    ),
    (
        "repeat 1.1 last 2",
        &["Repetition penalty also penalized 2 different tokens of the prompt."],
    ),
    ("repeat 1.1 generated only", &[]),
    // A penalty after a cut is not reported.
    ("top-k 2, repeat 1.1", &[]),
];

#[test]
fn each_finding_is_reported_exactly_when_it_is_true() {
    for (words, expected) in FINDINGS {
        assert_eq!(messages(&chain(words)), *expected, "{words}");
    }
}

#[test]
fn findings_about_a_text_or_a_model_need_one() {
    for words in ["min-p 0.05, top-k 40", "repeat 1.1", "top-k 100", "ban 100"] {
        assert_eq!(lint_chain(&chain(words), None, None), [], "{words}");
        let empty = Tally::default();
        let lints = lint_chain(&chain(words), None, Some(&empty));
        assert_eq!(lints, [], "{words}");
    }
}

#[test]
fn a_few_steps_are_not_enough_to_say_never() {
    let mut generation = generated_by(&chain("min-p 0.05, top-k 40"));
    generation.steps.truncate(19);
    assert_eq!(lint(&generation), []);
}

#[test]
fn counting_while_a_text_grows_equals_counting_it_once() {
    let chain = chain("min-p 0.05, top-k 40");
    let whole = generated_by(&chain);
    let mut growing = whole.clone();
    let mut tally = Tally::default();
    for n_steps in [0, 1, 7, 30] {
        growing.steps = whole.steps.range(..n_steps).cloned().collect();
        tally.follow(&growing);
    }
    let mut at_once = Tally::default();
    at_once.follow(&whole);
    assert_eq!(tally, at_once);
}

#[test]
fn a_chain_that_did_not_generate_all_of_the_text_is_not_judged_by_it() {
    let cut = chain("min-p 0.05, top-k 40");
    let mut generation = generated_by(&cut);
    generation.config.chain = chain("min-p 0.05, top-k 50");
    assert_eq!(lint(&generation), [], "another chain");
    generation.config.chain = cut;
    let other = generated_by(&chain("min-p 0.05"));
    generation.steps.extend(other.steps);
    assert_eq!(lint(&generation), [], "two chains in one text");
}

#[test]
fn the_built_in_chains_have_no_mistakes() {
    for settings in PaneSettings::classics() {
        assert_eq!(lint_chain(&settings.chain, Some(6144), None), []);
    }
    for dialect in Dialect::ALL {
        for lint in lint_chain(&dialect.chain(), Some(6144), None) {
            assert_eq!(lint.importance, Importance::Notable, "{}", lint.message);
        }
    }
}

#[test]
fn the_most_important_finding_comes_first() {
    let chain = chain("ban 100, top-k 40, min-p 0.05, temp 1.5");
    let lints = lint(&generated_by(&chain));
    let found: Vec<_> = lints.iter().map(|lint| lint.importance).collect();
    assert_eq!(
        found,
        [Importance::Mistaken, Importance::Idle, Importance::Notable]
    );
}

#[test]
fn a_remedy_fixes_its_finding() {
    for (words, label, fixed) in [
        (
            "min-p 0.05, top-k 40",
            "Switch off",
            "min-p 0.05, top-k 40 off",
        ),
        (
            "min-p 0.05, temp 1.5",
            "Move before the cuts",
            "temp 1.5, min-p 0.05",
        ),
        (
            "repeat 1.1",
            "Ignore the prompt",
            "repeat 1.1 generated only",
        ),
        ("temp 0, top-p 0.9", "Switch off", "temp 0, top-p 0.9 off"),
        (
            "top-k 3, temp 0.5, greedy",
            "Switch off",
            "top-k 3 off, temp 0.5 off, greedy",
        ),
        ("temp 0.7, top-p 1", "Remove", "temp 0.7"),
        ("top-p 0.9, top-p 0.8", "Keep the first", "top-p 0.9"),
        (
            "xtc 0.5 threshold 0",
            "Set threshold to 0.1",
            "xtc 0.5 threshold 0.1",
        ),
        (
            "no-repeat 9 last 8",
            "Use all tokens",
            "no-repeat 9 last all",
        ),
        ("ban 5 100", "Remove token", "ban 5"),
        (
            "temp 0.7 off, top-k 3 off, top-p 0.9",
            "Switch on",
            "temp 0.7, top-k 3, top-p 0.9",
        ),
    ] {
        let before = chain(words);
        let lints = lint(&generated_by(&before));
        let lint = lints.first().expect("a finding");
        let remedy = lint.remedy.as_ref().expect("a remedy");
        assert_eq!(remedy.label(), label, "{words}");
        let after = remedy.apply(&before);
        assert_eq!(after, chain(fixed), "{words}");
        assert!(!messages(&after).contains(&lint.message), "{words}");
    }
}

#[test]
fn a_remedy_for_another_chain_changes_nothing() {
    let chain = Dialect::Vllm.chain();
    let stages = vec![99];
    for remedy in [
        Remedy::Mute {
            stages: stages.clone(),
        },
        Remedy::Remove { stages },
        Remedy::Move { from: 99, to: 0 },
    ] {
        assert_eq!(remedy.apply(&chain), chain);
    }
}
