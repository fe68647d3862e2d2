//! When each remark is made, when it is not, and what its remedy does.

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

/// A generation of 30 steps over falling scores, with six tokens in the prompt.
fn written_under(chain: &ChainConfig) -> Generation {
    let mut generation = generation(&[(" fox", 0.5)]);
    generation.config.chain = chain.clone();
    let mut prompt = (*generation.prompt).clone();
    prompt.tokens = [4, 5, 6, 4, 5, 7].map(TokenId).to_vec();
    generation.prompt = Arc::new(prompt);
    let mut model = (*generation.model).clone();
    model.n_vocab = N_VOCAB as usize;
    generation.model = Arc::new(model);
    let mut sampler = SamplerChain::new(chain.clone());
    let template = generation.steps.remove(0);
    for position in 0..30_u64 {
        let fall = 0.8 + position as f32 / 60.0;
        let logits: Vec<f32> = (0..N_VOCAB).map(|i| -(i as f32) * fall).collect();
        let coins = Coins { seed: 1, position };
        let sampled = sampler.sample(&logits, History::empty(), coins).unwrap();
        let mut step = template.clone();
        step.token = sampled.token;
        step.trace = sampled.trace;
        generation.steps.push(step);
    }
    generation
}

/// All remarks on the chain of a generation.
fn lint(generation: &Generation) -> Vec<Lint> {
    let mut tally = Tally::default();
    tally.follow(generation);
    let n_vocab = Some(generation.model.n_vocab);
    lint_chain(&generation.config.chain, n_vocab, Some(&tally))
}

/// All remarks on a chain that has written.
fn messages(chain: &ChainConfig) -> Vec<String> {
    let lints = lint(&written_under(chain));
    lints.into_iter().map(|lint| lint.message).collect()
}

/// All that is said of each chain after it has written 30 steps.
const REMARKS: &[(&str, &[&str])] = &[
    ("sample", &[]),
    ("greedy", &[]),
    ("top-k 3", &[]),
    ("temp 0.7, top-p 0.9", &[]),
    // Stages that come to nothing.
    (
        "temp 0, top-p 0.9",
        &["T 0 leaves one token, so top-p 0.9 has nothing to do."],
    ),
    (
        "top-k 1, temp 0.7, top-p 0.9",
        &["Top-k 1 leaves one token, so T 0.7 and top-p 0.9 have nothing to do."],
    ),
    (
        "temp 0",
        &["T 0 leaves one token, so the draw has no choice."],
    ),
    (
        "top-k 3, temp 0.5, greedy",
        &["The top token stays the top token: top-k 3 and T 0.5 change nothing."],
    ),
    ("top-k 3, presence 1 generated only, greedy", &[]),
    (
        "presence 1 generated only, top-k 3, greedy",
        &["The top token stays the top token: top-k 3 changes nothing."],
    ),
    ("top-k 5, typical-p 0.5, greedy", &[]),
    // Neutral values.
    (
        "temp 0.7, top-p 1",
        &["Top-p 1 does nothing, set like this."],
    ),
    (
        "temp 1, top-p 1, top-k 3",
        &["T 1 and top-p 1 do nothing, set like this."],
    ),
    ("top-p 1 off, temp 0.7", &[]),
    // Values that miss what they are for.
    (
        "top-k 4, xtc 1 threshold 0",
        &["XTC 1 with threshold 0 leaves only the least likely token, each time that it acts."],
    ),
    ("top-k 4, xtc 1 threshold 0.05", &[]),
    (
        "no-repeat 9 last 8",
        &["No-repeat 9 never acts: it looks at the last 8 tokens only."],
    ),
    (
        "dry 0.8 allowed 8 last 8",
        &["DRY 0.8 never acts: it allows repetitions of 8 tokens and looks at the last 8."],
    ),
    (
        "repeat 0.9 generated only",
        &["Repeat 0.9 makes repetition likelier: only above 1 does it hold it back."],
    ),
    (
        "frequency -0.5 generated only",
        &["Frequency -0.5 makes repetition likelier: only above 0 does it hold it back."],
    ),
    (
        "ban 100",
        &["Logit bias names token 100, which the model lacks: its last is 99."],
    ),
    ("ban 99", &[]),
    (
        "top-k 100",
        &["Top-k 100 keeps everything: the model has no more tokens."],
    ),
    (
        "adaptive-p 0.4",
        &["Adaptive-p has no cut before it, so even the least likely tokens share its draw."],
    ),
    ("min-p 0.1, adaptive-p 0.4", &[]),
    // The order.
    (
        "min-p 0.05, temp 1.5",
        &[
            "T 1.5 after min-p 0.05 can't change which tokens are kept, only how often each is \
               drawn.",
        ],
    ),
    ("top-k 3, temp 1.5", &[]),
    ("min-p 0.05, temp 1.5, top-p 0.9", &[]),
    (
        "temp 0.7, min-p 0.05, temp 1.5",
        &["T 0.7 and T 1.5 stand in one chain, one after the other."],
    ),
    ("min-p 0.05, temp 1.5, mirostat 5", &[]),
    ("min-p 0.05, dyn-temp 0.5 range 0.5", &[]),
    (
        "top-p 0.99, top-p 0.9",
        &["Top-p 0.99 and top-p 0.9 stand in one chain, one after the other."],
    ),
    ("bias 3 1, ban 5", &[]),
    (
        "temp 0.7 off, top-k 3 off, top-p 0.9",
        &["Only top-p 0.9 acts: T 0.7 and top-k 3 are muted."],
    ),
    ("temp 0.7 off, top-p 0.9", &[]),
    // Mirostat.
    (
        "top-p 0.9, temp 0.8, mirostat 5, dialect llama.cpp",
        &["Mirostat in llama.cpp ignores top-p 0.9, which acts here."],
    ),
    ("temp 0.8, mirostat 5, dialect llama.cpp", &[]),
    ("dyn-temp 0.8 range 0, mirostat 5, dialect llama.cpp", &[]),
    (
        "dyn-temp 0.8 range 0.5, mirostat 5, dialect llama.cpp",
        &["Mirostat in llama.cpp ignores dyn-temp 0.8 range 0.5, which acts here."],
    ),
    ("top-p 0.9, mirostat 5", &[]),
    // What the stages did.
    (
        "min-p 0.05, top-k 40",
        &["Top-k 40 never cut anything in 30 steps: min-p 0.05 kept 4 at most."],
    ),
    (
        "top-k 40, min-p 0.05",
        &["Top-k 40 made no difference in 30 steps: min-p 0.05 always kept fewer."],
    ),
    (
        "top-p 0.9999, top-k 2",
        &["Top-p 0.9999 made no difference in 30 steps: top-k 2 always kept fewer."],
    ),
    // Here min-p cuts nothing, and top-p would keep another share without the top-k before it.
    (
        "top-k 3, top-p 0.9, min-p 0.0001",
        &["Min-p 0.0001 never cut anything in 30 steps: top-p 0.9 kept 3 at most."],
    ),
    ("top-k 2, min-p 0.4", &[]),
    ("top-k 40 off, min-p 0.05", &[]),
    ("no-repeat 4", &["No-repeat 4 changed nothing in 30 steps."]),
    (
        "repeat 1.1",
        &["Repetition penalty touched 4 different tokens of the prompt."],
    ),
    (
        "repeat 1.1 last 2",
        &["Repetition penalty touched 2 different tokens of the prompt."],
    ),
    ("repeat 1.1 generated only", &[]),
    // Of those that are cut already, none is touched.
    ("top-k 2, repeat 1.1", &[]),
];

#[test]
fn each_remark_is_made_where_it_is_true_and_nowhere_else() {
    for (words, expected) in REMARKS {
        assert_eq!(messages(&chain(words)), *expected, "{words}");
    }
}

#[test]
fn what_depends_on_a_text_or_a_model_waits_for_it() {
    for words in ["min-p 0.05, top-k 40", "repeat 1.1", "top-k 100", "ban 100"] {
        assert_eq!(lint_chain(&chain(words), None, None), [], "{words}");
        let unwritten = Tally::default();
        let lints = lint_chain(&chain(words), None, Some(&unwritten));
        assert_eq!(lints, [], "{words}");
    }
}

#[test]
fn a_few_steps_say_nothing_of_never() {
    let mut generation = written_under(&chain("min-p 0.05, top-k 40"));
    generation.steps.truncate(19);
    assert_eq!(lint(&generation), []);
}

#[test]
fn a_text_that_grows_is_counted_on_as_if_it_had_been_whole() {
    let chain = chain("min-p 0.05, top-k 40");
    let whole = written_under(&chain);
    let mut growing = whole.clone();
    let mut tally = Tally::default();
    for n_steps in [0, 1, 7, 30] {
        growing.steps = whole.steps[..n_steps].to_vec();
        tally.follow(&growing);
    }
    let mut at_once = Tally::default();
    at_once.follow(&whole);
    assert_eq!(tally, at_once);
}

#[test]
fn nothing_is_said_of_a_chain_that_did_not_write_the_whole_text() {
    let cut = chain("min-p 0.05, top-k 40");
    let mut generation = written_under(&cut);
    generation.config.chain = chain("min-p 0.05, top-k 50");
    assert_eq!(lint(&generation), [], "another chain");
    generation.config.chain = cut;
    let other = written_under(&chain("min-p 0.05"));
    generation.steps.extend(other.steps);
    assert_eq!(lint(&generation), [], "two chains in one text");
}

#[test]
fn the_chains_that_come_with_the_program_mistake_nothing() {
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
fn the_most_important_comes_first() {
    let chain = chain("ban 100, top-k 40, min-p 0.05, temp 1.5");
    let lints = lint(&written_under(&chain));
    let found: Vec<_> = lints.iter().map(|lint| lint.importance).collect();
    assert_eq!(
        found,
        [Importance::Mistaken, Importance::Idle, Importance::Notable]
    );
}

#[test]
fn a_remedy_settles_what_it_is_for() {
    for (words, label, settled) in [
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
            "Leave the prompt out",
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
            "Set the threshold to 0.1",
            "xtc 0.5 threshold 0.1",
        ),
        (
            "no-repeat 9 last 8",
            "Look at all tokens",
            "no-repeat 9 last all",
        ),
        ("ban 5 100", "Leave it out", "ban 5"),
        (
            "temp 0.7 off, top-k 3 off, top-p 0.9",
            "Switch on",
            "temp 0.7, top-k 3, top-p 0.9",
        ),
    ] {
        let before = chain(words);
        let lints = lint(&written_under(&before));
        let lint = lints.first().expect("something is said");
        let remedy = lint.remedy.as_ref().expect("something can be done");
        assert_eq!(remedy.label(), label, "{words}");
        let after = remedy.apply(&before);
        assert_eq!(after, chain(settled), "{words}");
        assert!(!messages(&after).contains(&lint.message), "{words}");
    }
}

#[test]
fn a_remedy_for_another_chain_harms_nothing() {
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
