//! What a text is like, computed from its record: how predictable it is, how varied, and whether it
//! repeats itself.

use std::collections::{HashMap, HashSet};

use super::Thought;
use super::grammar::GrammarTotals;
use super::text_loop::{TextLoop, find_loop};
use crate::decoding::TokenId;
use crate::generation::{Generation, Steps};

/// The metrics of one text. A mean is `None` if the text has no tokens.
///
/// Tokens picked by hand count towards everything that describes the text, whoever wrote it. Only
/// the share of greedy tokens, which describes the choices of the chain, leaves them out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextMetrics {
    /// `exp` of the mean surprise of the tokens before the chain, in nats.
    pub perplexity: Option<f64>,
    /// The surprise of the whole text before the chain, per character, in bits. Unlike perplexity, it
    /// compares models with different tokenizers.
    pub bits_per_character: Option<f64>,
    /// The mean entropy of the model's distributions, in bits.
    pub mean_entropy_bits: Option<f64>,
    /// The share of tokens that the model ranked first, which greedy decoding takes. Tokens picked
    /// by hand are left out.
    pub greedy_share: Option<f64>,
    /// The number of distinct n-grams divided by the number of n-grams, for n of 1, 2 and 3.
    pub distinct: [Option<f64>; 3],
    /// The longest passage that occurs twice without overlapping itself.
    pub longest_repeat: Option<Repeat>,
    /// The first loop.
    pub repetition: Option<TextLoop>,
    pub n_prompt: usize,
    /// How many tokens the figures describe.
    pub n_tokens: usize,
    /// How many tokens of the text are its thought. `None` if it has none.
    pub n_thought_tokens: Option<usize>,
    /// Whether the figures leave the thought out.
    pub leaves_thought_out: bool,
    pub n_characters: usize,
    /// What its grammar did, if it has one.
    pub grammar: Option<GrammarTotals>,
}

/// A passage that occurs twice; the steps are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeat {
    pub first: usize,
    pub second: usize,
    pub n_tokens: usize,
}

/// Prices in dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Prices {
    pub input: f64,
    pub output: f64,
}

impl Prices {
    /// Returns whether the user has set a price.
    pub fn are_set(self) -> bool {
        self.input > 0.0 || self.output > 0.0
    }

    /// Returns the cost of one run in dollars.
    pub fn cost(self, metrics: &TextMetrics) -> f64 {
        let input = metrics.n_prompt as f64 * self.input;
        (input + metrics.n_written() as f64 * self.output) / 1e6
    }
}

impl TextMetrics {
    /// Computes the metrics of what a text has beyond its thought. Without one, they are those of
    /// the whole text.
    pub fn of_answer(generation: &Generation) -> Self {
        let Some(thought) = Thought::of(generation) else {
            return Self::of(generation);
        };
        let n_before = thought.steps().end;
        let answer = Generation {
            steps: generation.steps.range(n_before..).cloned().collect(),
            ..generation.clone()
        };
        let mut metrics = Self::of(&answer);
        if let Some(repeat) = &mut metrics.longest_repeat {
            repeat.first += n_before;
            repeat.second += n_before;
        }
        if let Some(found) = &mut metrics.repetition {
            found.steps = found.steps.start + n_before..found.steps.end + n_before;
        }
        Self {
            n_thought_tokens: Some(thought.n_tokens()),
            leaves_thought_out: true,
            ..metrics
        }
    }

    /// Returns how many tokens were generated, those of the thought included.
    pub fn n_written(&self) -> usize {
        let n_left_out = self.n_thought_tokens.filter(|_| self.leaves_thought_out);
        self.n_tokens + n_left_out.unwrap_or(0)
    }

    /// Computes the metrics of a finished or growing text.
    pub fn of(generation: &Generation) -> Self {
        let steps = &generation.steps;
        let tokens: Vec<TokenId> = steps.iter().map(|step| step.token).collect();
        let mean = |sum: f64| (!steps.is_empty()).then(|| sum / steps.len() as f64);
        let surprises = steps
            .iter()
            .map(|step| Some(-step.trace.known_raw_prob()?.ln()));
        let surprise_nats: Option<f64> = surprises.sum();
        let n_characters = generation.text().chars().count();
        let entropies = steps.iter().map(|step| step.trace.known_entropy_nats());
        let entropy_nats: Option<f64> = entropies.sum();
        Self {
            perplexity: surprise_nats.and_then(mean).map(f64::exp),
            bits_per_character: surprise_nats
                .filter(|_| n_characters > 0)
                .map(|nats| nats / std::f64::consts::LN_2 / n_characters as f64),
            mean_entropy_bits: entropy_nats.and_then(|nats| mean(nats / std::f64::consts::LN_2)),
            greedy_share: greedy_share(steps),
            distinct: [1, 2, 3].map(|n| distinct(&tokens, n)),
            longest_repeat: longest_repeat(&tokens),
            repetition: find_loop(&tokens),
            n_prompt: generation.prompt.tokens.len(),
            n_tokens: tokens.len(),
            n_thought_tokens: Thought::of(generation).map(Thought::n_tokens),
            leaves_thought_out: false,
            n_characters,
            grammar: GrammarTotals::of(generation),
        }
    }
}

/// Returns whether texts are by models with different tokenizers, so that perplexity and other figures
/// per token can't be compared.
pub fn have_different_tokenizers<'a>(texts: impl IntoIterator<Item = &'a Generation>) -> bool {
    let mut texts = texts.into_iter();
    let first = texts.next();
    first.is_some_and(|first| texts.any(|text| !text.has_tokenizer_of(first)))
}

fn greedy_share(steps: &Steps) -> Option<f64> {
    let drawn = steps.iter().filter(|step| !step.trace.draw.is_by_hand());
    // A token that a server did not name was not its first choice, unless it named none.
    let ranks: Option<Vec<Option<u32>>> = drawn
        .map(|step| step.trace.known_raw_prob().map(|_| step.trace.known_rank()))
        .collect();
    let ranks = ranks?;
    let n_drawn = ranks.len();
    let n_greedy = ranks.iter().filter(|rank| **rank == Some(1)).count();
    (n_drawn > 0).then(|| n_greedy as f64 / n_drawn as f64)
}

/// Returns the share of distinct n-grams: Li et al. 2016, "A Diversity-Promoting Objective Function
/// for Neural Conversation Models".
pub(super) fn distinct(tokens: &[TokenId], n: usize) -> Option<f64> {
    let n_windows = (tokens.len() + 1).checked_sub(n).filter(|n| *n > 0)?;
    let different: HashSet<&[TokenId]> = tokens.windows(n).collect();
    Some(different.len() as f64 / n_windows as f64)
}

/// Finds the longest repeat by bisection over its length: each part of a repeated passage is
/// repeated too.
fn longest_repeat(tokens: &[TokenId]) -> Option<Repeat> {
    let mut best = None;
    let (mut shortest, mut longest) = (1, tokens.len() / 2);
    while shortest <= longest {
        let n_tokens = usize::midpoint(shortest, longest);
        if let Some(repeat) = repeat_of_length(tokens, n_tokens) {
            best = Some(repeat);
            shortest = n_tokens + 1;
        } else {
            longest = n_tokens - 1;
        }
    }
    best
}

fn repeat_of_length(tokens: &[TokenId], n_tokens: usize) -> Option<Repeat> {
    // The first window with each hash, and the different windows that share the hash.
    let mut firsts: HashMap<u64, (usize, Vec<usize>)> = HashMap::new();
    for (second, hash) in rolling_hashes(tokens, n_tokens).enumerate() {
        let window = |start: usize| tokens.get(start..start + n_tokens);
        let (first, others) = firsts.entry(hash).or_insert((second, Vec::new()));
        let mut known = std::iter::once(*first).chain(others.iter().copied());
        match known.find(|first| window(*first) == window(second)) {
            Some(first) if first + n_tokens <= second => {
                return Some(Repeat {
                    first,
                    second,
                    n_tokens,
                });
            }
            Some(_) => {}
            None => others.push(second),
        }
    }
    None
}

/// Hashes every window of this length: Karp, Rabin 1987, "Efficient randomized pattern-matching
/// algorithms".
fn rolling_hashes(tokens: &[TokenId], n_tokens: usize) -> impl Iterator<Item = u64> {
    const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
    let value = |token: &TokenId| u64::from(token.0) + 1;
    let add = move |hash: u64, token: &TokenId| hash.wrapping_mul(BASE).wrapping_add(value(token));
    let leading = (0..n_tokens).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let start = tokens.iter().take(n_tokens).fold(0, add);
    let pairs = tokens.iter().skip(n_tokens).zip(tokens);
    let rest = pairs.scan(start, move |hash, (new, old)| {
        *hash = add(*hash, new).wrapping_sub(value(old).wrapping_mul(leading));
        Some(*hash)
    });
    (tokens.len() >= n_tokens)
        .then_some(start)
        .into_iter()
        .chain(rest)
}

#[cfg(test)]
mod tests {
    use super::{Prices, Repeat, TextMetrics, have_different_tokenizers, longest_repeat};
    use crate::decoding::{Picked, TokenId};
    use crate::generation::testing::generation;

    fn tokens(text: &str) -> Vec<TokenId> {
        text.bytes().map(|byte| TokenId(u32::from(byte))).collect()
    }

    #[test]
    fn the_metrics_follow_from_the_record() {
        let text = generation(&[(" a", 0.5), (" fox", 0.25), (" a", 0.5), ("</s>", 0.5)]);
        let metrics = TextMetrics::of(&text);
        let near = |value: Option<f64>, expected: f64| {
            let value = value.unwrap();
            // The test's distributions sum to slightly less than 1.
            assert!((value - expected).abs() < 0.02, "{value} is not {expected}");
        };
        // Bits of surprise: 1, 2, 1, 1.
        near(metrics.perplexity, 2.0_f64.powf(1.25));
        near(metrics.greedy_share, 0.75);
        near(metrics.distinct[0], 0.75);
        near(metrics.distinct[1], 1.0);
        assert_eq!((metrics.n_prompt, metrics.n_tokens), (3, 4));
        // The end-of-text token is not part of the text: " a fox a".
        assert_eq!(metrics.n_characters, 8);
        let expected = Repeat {
            first: 0,
            second: 2,
            n_tokens: 1,
        };
        assert_eq!(metrics.longest_repeat, Some(expected));
        let prices = Prices {
            input: 1.0,
            output: 10.0,
        };
        assert!((prices.cost(&metrics) - 43e-6).abs() < 1e-12);
        assert!(prices.are_set() && !Prices::default().are_set());
    }

    #[test]
    fn tokens_picked_by_hand_are_not_choices_of_the_chain() {
        let mut text = generation(&[(" a", 0.5), (" fox", 0.25), (" a", 0.25)]);
        let before = TextMetrics::of(&text);
        for step in text.steps.iter_mut().skip(1) {
            std::sync::Arc::make_mut(&mut step.trace).draw.picked = Picked::ByHand;
        }
        let metrics = TextMetrics::of(&text);
        assert_eq!(metrics.greedy_share, Some(1.0));
        let whole_text = TextMetrics {
            greedy_share: before.greedy_share,
            ..metrics
        };
        assert_eq!(whole_text, before, "everything else describes the text");
        std::sync::Arc::make_mut(&mut text.steps[0].trace)
            .draw
            .picked = Picked::ByHand;
        assert_eq!(TextMetrics::of(&text).greedy_share, None);
    }

    #[test]
    fn an_empty_text_has_no_means() {
        let metrics = TextMetrics::of(&generation(&[]));
        assert_eq!(metrics.perplexity, None);
        assert_eq!(metrics.distinct, [None; 3]);
        assert_eq!(metrics.longest_repeat, None);
    }

    #[test]
    fn the_longest_repeat_does_not_overlap_itself() {
        for (text, expected) in [
            ("abcdef", None),
            ("abcXabcY", Some((0, 4, 3))),
            ("aaaa", Some((0, 2, 2))),
            ("the fox and the fowl", Some((0, 12, 6))),
            ("xyxyxyxyx", Some((0, 4, 4))),
        ] {
            let expected = expected.map(|(first, second, n_tokens)| Repeat {
                first,
                second,
                n_tokens,
            });
            assert_eq!(longest_repeat(&tokens(text)), expected, "{text}");
        }
    }

    #[test]
    fn the_longest_repeat_matches_an_exhaustive_search() {
        let mut state = 7_u32;
        for n in 0..60 {
            let text: Vec<TokenId> = (0..n)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    TokenId(state >> 30)
                })
                .collect();
            let is_repeated = |length: usize| {
                (0..text.len()).any(|a| {
                    (a + length..text.len()).any(|b| {
                        let window = text.get(b..b + length);
                        window.is_some() && text.get(a..a + length) == window
                    })
                })
            };
            let longest = (1..=text.len()).rev().find(|length| is_repeated(*length));
            assert_eq!(longest_repeat(&text).map(|repeat| repeat.n_tokens), longest);
        }
    }

    #[test]
    fn texts_with_different_tokenizers_are_compared_by_characters() {
        let text = generation(&[(" fox", 0.25), (" castle", 0.25)]);
        let metrics = TextMetrics::of(&text);
        let bits = metrics.bits_per_character.unwrap();
        assert!((bits - 4.0 / 11.0).abs() < 0.02, "{bits}");
        let mut other = generation(&[(" cottage", 0.5), (" fox", 0.5)]);
        std::sync::Arc::make_mut(&mut other.model).sha256 = "other".to_owned();
        assert!(
            have_different_tokenizers([&text, &other]),
            "token 8 differs"
        );
        // The same pieces, from another quantization.
        let mut same = text.clone();
        std::sync::Arc::make_mut(&mut same.model).sha256 = "other".to_owned();
        same.vocabulary = std::sync::Arc::new((*text.vocabulary).clone());
        assert!(!have_different_tokenizers([&text, &same]));
        assert!(!have_different_tokenizers([]));
    }

    #[test]
    fn a_thought_can_be_left_out() {
        let answer = [(" a", 0.5), (" fox", 0.25), (" a", 0.5), (" fox", 0.25)];
        let thought = [
            ("<think>", 0.9),
            (" a", 0.1),
            (" fox", 0.1),
            ("</think>", 0.9),
        ];
        let whole: Vec<(&str, f64)> = thought.into_iter().chain(answer).collect();
        let whole = generation(&whole);
        let mut answer = whole.clone();
        answer.steps = whole.steps.iter().skip(4).cloned().collect();
        let (counted, left_out) = (TextMetrics::of(&whole), TextMetrics::of_answer(&whole));
        let alone = TextMetrics::of(&answer);
        assert_eq!((counted.n_tokens, counted.n_thought_tokens), (8, Some(4)));
        assert_eq!((left_out.n_tokens, left_out.n_thought_tokens), (4, Some(4)));
        assert_eq!((counted.n_written(), left_out.n_written()), (8, 8));
        assert_eq!(left_out.perplexity, alone.perplexity);
        assert_eq!(left_out.n_characters, alone.n_characters);
        // Positions stay those of the text.
        let repeat = left_out.longest_repeat.unwrap();
        assert_eq!((repeat.first, repeat.second), (4, 6));
        let prices = Prices {
            input: 1.0,
            output: 2.0,
        };
        assert!((prices.cost(&left_out) - prices.cost(&counted)).abs() < 1e-15);
        assert_eq!(TextMetrics::of_answer(&answer), alone);
    }
}
