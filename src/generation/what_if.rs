//! Other settings on a whole generation, without the model.

use super::Generation;
use crate::decoding::{ChainConfig, Coins, History, TokenId, WhatIf, what_if};

/// For each step, which token would have been drawn under another chain and seed, had everything
/// before it been written as it was; nothing where the step kept no evidence.
pub fn what_if_steps(
    generation: &Generation,
    chain: &ChainConfig,
    seed: u64,
) -> Vec<Option<WhatIf>> {
    let mut tokens: Vec<TokenId> = generation.prompt.tokens.clone();
    let n_prompt = tokens.len();
    tokens.extend(generation.steps.iter().map(|step| step.token));
    let steps = generation.steps.iter().zip(n_prompt..);
    steps
        .map(|(step, position)| {
            let before = tokens.get(..position).unwrap_or_default();
            let coins = Coins {
                seed,
                position: position as u64,
            };
            what_if(
                &step.trace.raw,
                chain,
                History::new(before, n_prompt),
                coins,
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::what_if_steps;
    use crate::decoding::{ChainConfig, Coins, SamplerChain, WhatIf};
    use crate::generation::testing::generation;

    #[test]
    fn greedy_would_have_taken_the_likeliest_at_every_step() {
        let generation = generation(&[(" fox", 0.9), (" house", 0.1), (" little", 0.6)]);
        let outcomes = what_if_steps(&generation, &ChainConfig::greedy(), 1);
        let expected: Vec<_> = generation
            .steps
            .iter()
            .map(|step| Some(WhatIf::Exact(step.trace.raw.head[0].token)))
            .collect();
        assert_eq!(outcomes, expected);
    }

    #[test]
    fn each_step_meets_the_coin_of_its_place() {
        let generation = generation(&[(" fox", 0.4), (" house", 0.1), (" little", 0.3)]);
        let chain = ChainConfig::sampled([]);
        let outcomes = what_if_steps(&generation, &chain, 9);
        for ((step, outcome), position) in generation.steps.iter().zip(outcomes).zip(3..) {
            let mut logits = vec![f32::NEG_INFINITY; generation.vocabulary.n_tokens()];
            for candidate in &step.trace.raw.head {
                logits[candidate.token.index()] = candidate.logit;
            }
            let history = crate::decoding::History::empty();
            let sampled = SamplerChain::new(chain.clone())
                .sample(&logits, history, Coins { seed: 9, position })
                .unwrap();
            assert_eq!(outcome, Some(WhatIf::Exact(sampled.token)));
        }
    }
}
