//! What a filter or a selector does to a small distribution, computed by itself.

use crate::decoding::{
    Candidates, Coins, Filter, FilterKind, History, Need, Rules, Selector, SelectorState,
    StageContext, TokenId,
};
use crate::interop::filter_words;

/// The candidates of every picture, by id, and their probabilities.
const CANDIDATES: [(&str, f32); 10] = [
    ("hollow", 0.25),
    ("hole", 0.17),
    ("nest", 0.13),
    ("shed", 0.11),
    ("warm", 0.09),
    ("town", 0.08),
    ("tree", 0.07),
    ("cave", 0.05),
    ("house", 0.03),
    ("boat", 0.02),
];

/// What is added to the logarithm of each probability: the best candidates have a logit above 0,
/// the others one below.
const OFFSET: f32 = 3.0;

/// The text before the candidates.
pub(super) const TEXT: &str =
    "It lived in a hollow tree, then in a nest. A nest! Now it slept in a";

/// The tokens of the text: the id of a candidate, or one that is none.
const TOKENS: [u32; 20] = [
    10, 11, 12, 13, 0, 6, 14, 15, 12, 13, 2, 16, 17, 2, 18, 19, 20, 21, 12, 13,
];

/// How many times a selector draws.
const N_DRAWS: u64 = 10_000;

/// A candidate before and after.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    pub word: &'static str,
    pub before: f64,
    /// `None` if it was dropped or is never drawn.
    pub after: Option<f64>,
}

/// A picture: what was done, and each candidate before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The setting, or how often it drew.
    pub caption: String,
    pub bars: Vec<Bar>,
}

/// Returns the probabilities before.
pub fn before() -> impl Iterator<Item = (&'static str, f64)> {
    CANDIDATES
        .into_iter()
        .map(|(word, prob)| (word, f64::from(prob)))
}

fn tokens() -> [TokenId; TOKENS.len()] {
    TOKENS.map(TokenId)
}

fn candidates() -> Option<Candidates> {
    let logits = CANDIDATES.map(|(_, prob)| prob.ln() + OFFSET);
    Candidates::from_logits(&logits).ok()
}

impl Picture {
    /// Returns what a filter does at the values that its spec chose for a picture.
    pub(super) fn of_filter(kind: FilterKind) -> Self {
        let spec = kind.spec();
        let filter = spec.example.unwrap_or(spec.usual)();
        let tokens = tokens();
        let context = StageContext {
            history: History::new(&tokens, 0),
            coins: Coins {
                seed: 0,
                position: 0,
            },
            n_chance_before: 0,
            rules: Rules::default(),
            n_vocab: CANDIDATES.len() as u32,
        };
        let mut left = candidates();
        if let Some(left) = &mut left {
            filter.apply(context, left);
        }
        let bars = (0..).zip(before()).map(|(id, (word, before))| {
            let after = left.as_mut().and_then(|left| {
                let logit = left.logit(TokenId(id))?;
                let prob = left.softmax().prob(logit);
                (prob > 0.0).then_some(prob)
            });
            Bar {
                word,
                before,
                after,
            }
        });
        Self {
            bars: bars.collect(),
            caption: caption(&filter),
        }
    }

    /// Returns how often a selector draws each candidate, with another seed each time, or `None` if
    /// it needs several texts.
    pub(super) fn of_draw(selector: Selector) -> Option<Self> {
        if selector.spec().needs.contains(&Need::SeveralTexts) {
            return None;
        }
        let fresh = candidates()?;
        let tokens = tokens();
        let mut counts = [0_u32; CANDIDATES.len()];
        for seed in 0..N_DRAWS {
            let coins = Coins { seed, position: 0 };
            let history = History::new(&tokens, 0);
            let mut state = SelectorState::NEW;
            let keyed = with_key(selector, seed);
            let draw = keyed.pick(coins, history, &mut state, &mut fresh.clone());
            if let Some(count) = counts.get_mut(draw.token.index()) {
                *count += 1;
            }
        }
        let bars = before().zip(counts).map(|((word, before), count)| Bar {
            word,
            before,
            after: (count > 0).then(|| f64::from(count) / N_DRAWS as f64),
        });
        let varied = match selector {
            Selector::GumbelMark(_) => "each with another key",
            _ => "each with another seed",
        };
        Some(Self {
            bars: bars.collect(),
            caption: format!("{selector}: the shares of 10,000 first draws, {varied}"),
        })
    }
}

/// Returns the selector with this key, if it has one: with one key, every draw is the same.
const fn with_key(selector: Selector, key: u64) -> Selector {
    match selector {
        Selector::GumbelMark(mut mark) => {
            mark.key = key as u32;
            Selector::GumbelMark(mark)
        }
        other => other,
    }
}

/// Returns the values of a filter, and the text if it reads one.
fn caption(filter: &Filter) -> String {
    let word = |token: TokenId| CANDIDATES.get(token.index()).map_or("", |(word, _)| word);
    if let Filter::ThinkingBudget(budget) = filter {
        let [opening, closing] = [&budget.opening, &budget.closing]
            .map(|tag| tag.tokens().iter().copied().map(word).collect::<String>());
        return format!("{filter} between ‘{opening}’ and ‘{closing}’, after ‘{TEXT}’");
    }
    if let Filter::LogitBias(bias) = filter {
        let biases = bias.biases.iter();
        let biases = biases.map(|next| format!("{:+} for ‘{}’", next.bias, word(next.token)));
        let bans = bias.banned.iter();
        let bans = bans.map(|token| format!("‘{}’ banned", word(*token)));
        return biases.chain(bans).collect::<Vec<_>>().join(", ");
    }
    let words = filter_words(filter);
    let spec = filter.spec();
    if spec.looks_back || spec.needs.contains(&Need::TokenIds) {
        return format!("{words}, after ‘{TEXT}’");
    }
    words
}
