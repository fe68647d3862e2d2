//! Explanations of choices whose circumstances are known.

use std::sync::Arc;

pub(in crate::analysis) use super::grammar::tests::drawn;
use super::{Why, smallest_change_words};
use crate::analysis::SmallestChange;
use crate::decoding::filters::{Phrase, Temperature, ThinkingBudget, TopK, TopP};
use crate::decoding::testing::logits_of;
use crate::decoding::{
    Against, ChainConfig, Coins, Filter, Guidance, History, KnownPart, KnownStageNumbers, Mixture,
    Picked, SamplerChain, TokenId,
};
use crate::generation::Generation;
use crate::generation::testing::{generation, scored};

/// A text of one token that this chain sampled from known probabilities with a known seed.
pub(in crate::analysis) fn sampled(chain: ChainConfig, seed: u64) -> Generation {
    let mut text = generation(&[(" fox", 0.5)]);
    let mut probs = [1e-6_f32; 8];
    // " the", " a", " little", " house", " fox"
    probs[1..6].copy_from_slice(&[0.4, 0.3, 0.15, 0.1, 0.05]);
    let tokens = &text.prompt.tokens;
    let coins = Coins { seed, position: 3 };
    let history = History::new(tokens, 3);
    let sampled = SamplerChain::new(chain.clone()).sample(&logits_of(&probs), history, coins);
    let trace = sampled.unwrap().trace;
    text.steps[0].token = trace.draw.token;
    text.steps[0].piece = text.vocabulary.piece(trace.draw.token);
    text.steps[0].trace = Arc::new(trace);
    text.config.chain = chain;
    text.config.seed = seed;
    text
}

/// The first seed whose coin lies in this range.
pub(in crate::analysis) fn seed(coin: std::ops::Range<f64>) -> u64 {
    let coins = |seed| Coins { seed, position: 3 };
    (0..1_000_000)
        .find(|seed| coin.contains(&coins(*seed).draw()))
        .unwrap()
}

fn top_p() -> ChainConfig {
    ChainConfig::sampled([
        Filter::Temperature(Temperature { temperature: 0.5 }),
        Filter::TopP(TopP { p: 0.9 }),
    ])
}

#[test]
fn a_forced_token_is_explained_by_its_budget() {
    let budget = |max_tokens, prompt: &[TokenId]| {
        Filter::ThinkingBudget(ThinkingBudget {
            max_tokens,
            opening: Phrase::Tokens(prompt.iter().take(1).copied().collect()),
            closing: Phrase::Tokens(vec![TokenId(5)]),
            ..ThinkingBudget::default()
        })
    };
    let prompt = generation(&[(" fox", 0.5)]).prompt;
    for (max_tokens, expected) in [
        (0, "Thinking budget 0 was used up and forced this token."),
        (500, "Thinking budget 500 left it at 15 %."),
    ] {
        let chain = ChainConfig::sampled([budget(max_tokens, &prompt.tokens)]);
        let text = sampled(chain, seed(0.70..0.71));
        let why = Why::of(&[Some(&text)], 0, 0).unwrap();
        assert!(why.story.contains(expected), "{}", why.story);
    }
}

#[test]
fn a_choice_is_explained_from_the_model_to_the_coin() {
    let text = sampled(top_p(), seed(0.70..0.71));
    assert_eq!(text.steps[0].token, TokenId(2));
    let why = Why::of(&[Some(&text)], 0, 0).unwrap();
    assert_eq!(why.title, "Why ‘a’?");
    let coin = text.steps[0].trace.draw.coin.unwrap();
    let expected = format!(
        "The model ranked it 2nd of 8 tokens, at 30 %. Temperature 0.5 raised it to 32 %. \
         Top-p 0.9 kept 3 of 8 tokens and raised it to 33 %. The coin {coin:.3} fell on it, \
         between 0.587 and 0.917. ‘the’ was more likely, at 59 %."
    );
    assert_eq!(why.story, expected);
    assert_eq!(why.margin, "The model put ‘the’ 0.29 nats ahead of ‘a’.");
    assert_eq!(why.others, "");
}

#[test]
fn the_other_panes_are_compared_at_the_same_place() {
    let seed = seed(0.70..0.71);
    let texts = [
        sampled(ChainConfig::greedy(), seed),
        sampled(ChainConfig::sampled([]), seed),
        sampled(top_p(), seed),
        generation(&[]),
    ];
    let texts: Vec<_> = texts.iter().map(Some).collect();
    let why = Why::of(&texts, 2, 0).unwrap();
    assert_eq!(
        why.others,
        "A takes ‘the’ without a coin: rank 1, kept here too, at 59 %. B takes ‘little’ with \
         the same coin: rank 3, kept here too, at 8.3 %. D stops before this token."
    );
    let why = Why::of(&texts, 0, 0).unwrap();
    assert!(
        why.story
            .contains("No coin: the most likely token left is always taken.")
    );
    assert!(
        why.story
            .ends_with("The model’s runner-up was ‘a’, at 30 %.")
    );
}

#[test]
fn a_pane_that_diverged_earlier_says_where() {
    let ours = generation(&[(" a", 0.5), (" fox", 0.5)]);
    let theirs = generation(&[(" the", 0.5), (" fox", 0.5)]);
    let why = Why::of(&[Some(&ours), Some(&theirs)], 0, 1).unwrap();
    assert_eq!(why.others, "B diverged at token 1.");
}

#[test]
fn a_given_token_that_was_cut_is_not_followed_further() {
    let text = scored(&[(" fox", 0.01)], "top-k 5, temp 0.7");
    let story = Why::of(&[Some(&text)], 0, 0).unwrap().story;
    let cut = "Top-k 5 kept 5 of 8 tokens and cut this one. The text was given; these settings \
               could not have written this token.";
    assert!(story.contains(cut), "{story}");
}

#[test]
fn an_assumed_vocabulary_is_not_mentioned() {
    let mut text = sampled(top_p(), seed(0.70..0.71));
    let trace = Arc::make_mut(&mut text.steps[0].trace);
    let all: Vec<_> = trace.stages.iter().map(KnownStageNumbers::all).collect();
    trace.known = Some(Box::new(KnownPart {
        raw_prob: Some(trace.raw_prob),
        raw_rank: Some(trace.raw_rank),
        final_prob: Some(trace.draw.prob),
        n_kept: Some(trace.draw.n_kept),
        stages: vec![
            KnownStageNumbers {
                n_kept: None,
                ..all[0]
            },
            all[1],
        ],
        ..KnownPart::default()
    }));
    let story = Why::of(&[Some(&text)], 0, 0).unwrap().story;
    let start = "The model ranked it 2nd, at 30 %. Temperature 0.5 raised it to 32 %. Top-p 0.9 kept \
                 3 tokens and raised it to 33 %.";
    assert!(story.starts_with(start), "{story}");
}

#[test]
fn what_a_server_did_not_report_is_not_told_as_exact() {
    let mut text = sampled(top_p(), seed(0.70..0.71));
    text.not_applied = vec!["eta 0.5".to_owned()];
    let trace = Arc::make_mut(&mut text.steps[0].trace);
    trace.draw.picked = Picked::ByServer;
    trace.known = Some(Box::new(KnownPart {
        raw_prob: Some(trace.raw_prob),
        raw_rank: Some(trace.raw_rank),
        ..KnownPart::default()
    }));
    let story = Why::of(&[Some(&text)], 0, 0).unwrap().story;
    let expected = "The model ranked it 2nd, at 30 %. The server did not apply eta 0.5. Temperature 0.5 \
                    left it in. Top-p 0.9 cut some tokens. No coin: the server’s own sampler took it; \
                    how likely these settings make it depends on tokens that the server did not name.";
    assert!(story.starts_with(expected), "{story}");
    Arc::make_mut(&mut text.steps[0].trace).known = Some(Box::default());
    let story = Why::of(&[Some(&text)], 0, 0).unwrap().story;
    let expected = "The server reported no probability for it.";
    assert!(story.starts_with(expected), "{story}");
}

#[test]
fn the_smallest_change_is_one_sentence() {
    let text = sampled(top_p(), seed(0.90..0.91));
    let search = SmallestChange::find(&text, 0).unwrap();
    let words = smallest_change_words(&text, &search);
    assert!(
        words.starts_with("Smallest change: ") && words.contains(" draws ‘"),
        "{words}"
    );
    let text = sampled(ChainConfig::greedy(), 1);
    let search = SmallestChange::find(&text, 0).unwrap();
    let words = smallest_change_words(&text, &search);
    assert_eq!(
        words,
        "This chain has no stages to change: it always takes the most likely token."
    );
    let search = SmallestChange::new(&sampled(top_p(), 1), 0).unwrap();
    let words = smallest_change_words(&text, &search);
    assert_eq!(words, "Looking for the smallest change, 0 %");
}

#[test]
fn pure_sampling_could_have_a_different_temperature() {
    let text = sampled(ChainConfig::sampled([]), seed(0.90..0.91));
    let search = SmallestChange::find(&text, 0).unwrap();
    let words = smallest_change_words(&text, &search);
    assert!(
        words.starts_with("Smallest change: temperature ")
            && words.contains(" instead of 1 draws ‘"),
        "{words}"
    );
    let chain = ChainConfig::sampled([Filter::TopK(TopK { k: 5 })]);
    let text = sampled(chain, seed(0.10..0.11));
    let search = SmallestChange::find(&text, 0).unwrap();
    assert_eq!(
        smallest_change_words(&text, &search),
        "No change to a single setting of the chain changes this choice."
    );
}

#[test]
fn a_token_that_the_chain_did_not_draw_has_no_smallest_change() {
    let cannot = "so the smallest change cannot be computed.";
    for (picked, cause) in [
        (
            Picked::ByHand,
            "A token picked by hand does not depend on the settings.",
        ),
        (Picked::ByBeams, "Beam search compares whole texts, "),
        (
            Picked::ByRatio,
            "Speculative sampling depends on the draft’s probabilities, ",
        ),
        (
            Picked::ByServer,
            "The server’s own sampler took this token, ",
        ),
    ] {
        let mut text = sampled(top_p(), seed(0.90..0.91));
        Arc::make_mut(&mut text.steps[0].trace).draw.picked = picked;
        let search = SmallestChange::find(&text, 0).unwrap();
        assert!(search.changes().is_empty() && search.is_complete());
        let words = smallest_change_words(&text, &search);
        let end = if cause.ends_with('.') { "" } else { cannot };
        assert_eq!(words, format!("{cause}{end}"));
    }
}

#[test]
fn guidance_is_not_mistaken_for_the_model() {
    let mut text = sampled(top_p(), seed(0.70..0.71));
    let guidance = Arc::new(Guidance::usual(Against::Prompt(String::new())));
    let step = &mut text.steps[0];
    let (own, mut other) = (logits_of(&[0.125; 8]), logits_of(&[0.2, 0.8]));
    other.resize(8, f32::NEG_INFINITY);
    let trace = Arc::make_mut(&mut step.trace);
    let mixture = Mixture::of(&guidance, &trace.raw.head, TokenId(1), [&own, &other]);
    trace.mixture = Some(Box::new(mixture.unwrap()));
    let why = Why::of(&[Some(&text)], 0, 0).unwrap();
    assert!(
        why.story.starts_with(
            "The pane’s own run gave it 13 %, the guiding run 80 %. Their mixture ranked it 2nd \
             of 8 tokens, at 30 %. "
        ),
        "{}",
        why.story
    );
    assert_eq!(why.margin, "");
}

#[test]
fn the_runner_up_of_a_guided_token_is_the_mixtures() {
    let mut text = sampled(ChainConfig::greedy(), 1);
    let trace = Arc::make_mut(&mut text.steps[0].trace);
    let guidance = Arc::new(Guidance::usual(Against::Model));
    let (row, head) = (logits_of(&[0.5, 0.5]), &trace.raw.head);
    let mixture = Mixture::of(&guidance, head, TokenId(1), [&row, &row]).unwrap();
    trace.mixture = Some(Box::new(mixture));
    let story = Why::of(&[Some(&text)], 0, 0).unwrap().story;
    let end = "The mixture’s runner-up was ‘a’, at 30 %.";
    assert!(story.ends_with(end), "{story}");
}
