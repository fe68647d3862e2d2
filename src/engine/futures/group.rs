//! Futures that have written the same tokens so far, and how they part.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::decoding::{Coins, History, SamplerChain, SelectorState, TokenId};
use crate::engine::stop::StopMatcher;
use crate::engine::{EngineError, LoadedModel, Row, SequenceId};
use crate::generation::{EndOfText, FinishReason, Future, FuturesPlan, PieceKind, Vocabulary};

/// With fewer logits than this, waking other threads costs more than it saves.
const N_MIN_PARALLEL_LOGITS: usize = 1 << 16;

/// Futures with the same text. They share one sequence, which holds all of the text except its last
/// token.
pub(super) struct Group {
    pub text: Vec<TokenId>,
    pub stop_matcher: StopMatcher,
    pub members: Vec<Member>,
    pub sequence: SequenceId,
}

/// One future of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub index: usize,
    /// What its selector has learned.
    pub state: SelectorState,
}

/// A member and the token that it takes next.
type Sampled = (Member, TokenId);

/// Returns a matcher that has seen the generated part of the text.
pub(super) fn stop_matcher(plan: &FuturesPlan, vocabulary: &Vocabulary) -> StopMatcher {
    let mut matcher = StopMatcher::new(&plan.config.limits.stop_strings);
    for token in plan.text.iter().skip(plan.n_prompt) {
        let piece = vocabulary.piece(*token);
        if piece.kind == PieceKind::Text {
            matcher.skip(&piece.bytes);
        }
    }
    matcher
}

/// Samples the next token of all members, in parallel if there are enough logits to pay off.
pub(super) fn sample_all(
    groups: &[(Group, &[f32])],
    plan: &FuturesPlan,
    chain: &SamplerChain,
) -> Vec<Result<Vec<Sampled>, EngineError>> {
    let members = groups.iter().enumerate().flat_map(|(place, (group, _))| {
        let members = group.members.iter();
        members.map(move |member| (place, *member))
    });
    let members: Vec<(usize, Member)> = members.collect();
    let sample = |chain: &mut SamplerChain, (place, member): &(usize, Member)| {
        let (group, logits) = groups.get(*place)?;
        Some((*place, next_token(chain, plan, group, *member, logits)))
    };
    let n_logits: usize = groups
        .iter()
        .map(|(group, logits)| group.members.len() * logits.len())
        .sum();
    let sampled: Vec<_> = if n_logits < N_MIN_PARALLEL_LOGITS {
        let mut chain = chain.clone();
        let members = members.iter();
        members.filter_map(|m| sample(&mut chain, m)).collect()
    } else {
        let members = members.par_iter();
        let sampled = members.map_init(|| chain.clone(), |chain, m| sample(chain, m));
        sampled.flatten_iter().collect()
    };
    let mut by_group: Vec<Result<Vec<Sampled>, EngineError>> =
        groups.iter().map(|_| Ok(Vec::new())).collect();
    for (place, next) in sampled {
        if let Some(group) = by_group.get_mut(place) {
            match (next, group.as_mut()) {
                (Ok(next), Ok(group)) => group.push(next),
                (Err(error), Ok(_)) => *group = Err(error),
                (_, Err(_)) => {}
            }
        }
    }
    by_group
}

fn next_token(
    chain: &mut SamplerChain,
    plan: &FuturesPlan,
    group: &Group,
    member: Member,
    logits: &[f32],
) -> Result<Sampled, EngineError> {
    let history = History::new(&group.text, plan.n_prompt);
    let coins = Coins {
        seed: plan.seed_of(member.index),
        position: group.text.len() as u64,
    };
    chain.restore(member.state);
    let token = chain.sample_token(logits, history, coins);
    let token = token.map_err(|source| EngineError::SamplingFailed {
        position: group.text.len() - plan.n_prompt + 1,
        source,
    })?;
    let state = chain.state();
    Ok((Member { state, ..member }, token))
}

/// Regroups futures by the tokens that they take.
pub(super) struct Splitter<'a> {
    pub plan: &'a FuturesPlan,
    pub model: &'a mut LoadedModel,
    /// The futures that go on.
    pub groups: &'a mut Vec<Group>,
    /// Those that have ended.
    pub complete: &'a mut Vec<Future>,
}

impl Splitter<'_> {
    /// Splits a group. Its sequence goes to the first of the new groups; the others get forks.
    pub(super) fn split(&mut self, group: Group, sampled: Vec<Sampled>) -> Result<(), EngineError> {
        let mut by_token: BTreeMap<TokenId, Vec<Member>> = BTreeMap::new();
        for (member, token) in sampled {
            by_token.entry(token).or_default().push(member);
        }
        let Group {
            text,
            stop_matcher,
            sequence,
            ..
        } = group;
        let mut parts = Vec::new();
        for (token, members) in by_token {
            let mut stop_matcher = stop_matcher.clone();
            let mut text = text.clone();
            text.push(token);
            match self.finish_after(&text, &mut stop_matcher) {
                Some(finish) => self.complete(&text, &members, &finish),
                None => parts.push((text, stop_matcher, members)),
            }
        }
        // All forks are made before any of the sequences grows.
        let mut sequences = vec![sequence];
        for _ in 1..parts.len() {
            match self.model.lm.fork(sequence) {
                Ok(fork) => sequences.push(fork),
                Err(error) => {
                    for sequence in sequences {
                        self.model.lm.close(sequence);
                    }
                    return Err(error);
                }
            }
        }
        if parts.is_empty() {
            self.model.lm.close(sequence);
        }
        let parts = parts.into_iter().zip(sequences);
        self.groups.extend(
            parts.map(|((text, stop_matcher, members), sequence)| Group {
                text,
                stop_matcher,
                members,
                sequence,
            }),
        );
        Ok(())
    }

    fn complete(&mut self, text: &[TokenId], members: &[Member], finish: &FinishReason) {
        let tokens = text.get(self.plan.text.len()..).unwrap_or_default();
        self.complete.extend(members.iter().map(|member| Future {
            index: member.index,
            tokens: tokens.to_vec(),
            finish: finish.clone(),
        }));
    }

    /// Returns why a future ends with its last token, in the order of precedence of a pane's text.
    fn finish_after(&self, text: &[TokenId], matcher: &mut StopMatcher) -> Option<FinishReason> {
        let token = *text.last()?;
        let limits = &self.plan.config.limits;
        if limits.end_of_text == EndOfText::Stops && self.model.end_tokens.contains(&token) {
            return Some(FinishReason::EndOfText);
        }
        let piece = self.model.vocabulary.piece(token);
        if piece.kind == PieceKind::Text
            && let Some(stop) = matcher.push(&piece.bytes)
        {
            let stop = stop.to_owned();
            return Some(FinishReason::StopString { stop });
        }
        if text.len() - self.plan.text.len() >= self.plan.n_tokens {
            return Some(FinishReason::MaxTokens);
        }
        (text.len() > self.model.lm.n_context()).then_some(FinishReason::ContextFull)
    }
}

impl Group {
    /// The last token, to be read by the next forward pass.
    pub(super) fn row(&self) -> Option<Row> {
        self.text.last().map(|token| Row {
            sequence: self.sequence,
            token: *token,
            logits_wanted: true,
        })
    }
}
