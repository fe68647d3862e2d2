//! Texts that share rows: as long as they have the same tokens, one row of the forward pass serves
//! all of them, because their logits are the same.

use std::collections::BTreeMap;

use super::constraint::Constraint;
use super::early_layers::{GuidingRow, OwnPass, exits_of};
use super::other_rows::{OtherPrompt, PairedLogits, RowLogits, RowPair};
use super::prefill::Prefill;
use super::row_threads::map_rows;
use super::{EngineError, LoadedModel, Row, SequenceId};
use crate::decoding::{
    Candidates, Coins, GrammarState, History, SamplerChain, SelectorState, TokenId,
};
use crate::generation::{FinishReason, LastToken, Limits, TextEnd, TokenMeasures};
use crate::kernels::ThreadPool;

/// What all texts of a batch have in common.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    /// The text that all of them continue: the prompt, then generated tokens.
    pub given: &'a [TokenId],
    /// How many of the given tokens belong to the prompt.
    pub n_prompt: usize,
    /// The most tokens that follow the given ones.
    pub n_tokens: usize,
    /// When a text ends. The limit on its tokens is `n_tokens`.
    pub limits: &'a Limits,
    /// The chains, which [`Member::chain`] indexes.
    pub chains: &'a [SamplerChain],
    /// The state, after the given text, of the grammar that all chains share.
    pub grammar: Option<&'a GrammarState>,
    /// What all guided chains move away from.
    pub other: Option<&'a OtherPrompt>,
    /// Whether to record the measures of each token.
    pub is_measured: bool,
}

impl Shared<'_> {
    /// Returns the early layers that guide the chains.
    fn layers(&self) -> &[u32] {
        let chains = self.chains.iter();
        let mut guidance = chains.filter_map(|chain| chain.config().guidance.as_ref());
        guidance
            .next()
            .map_or(&[], |guidance| guidance.against.layers())
    }
}

/// Texts with the same tokens so far. They share their sequences, which hold all of the text except
/// its last token.
pub(super) struct Group {
    pub text: Vec<TokenId>,
    /// The measures of the tokens after the given ones, if they are recorded.
    pub measures: Vec<TokenMeasures>,
    end: TextEnd,
    constraint: Constraint,
    pub members: Vec<Member>,
    pub sequences: RowPair,
}

impl Group {
    /// Appends a token. Returns why the texts end with it, or `None` if they go on.
    fn push(&mut self, token: TokenId, model: &LoadedModel) -> Option<FinishReason> {
        self.text.push(token);
        self.constraint.follow(token);
        self.end.push(LastToken {
            piece: &model.vocabulary.piece(token),
            is_end: model.end_tokens.contains(&token),
            completes_grammar: self.constraint.is_complete(),
        })
    }
}

/// One text of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    /// Its index among all texts of its job.
    pub index: usize,
    /// The index of its chain.
    pub chain: usize,
    pub seed: u64,
    /// The state of its selector.
    pub state: SelectorState,
}

/// A text that has ended.
pub(super) struct CompleteText {
    /// As in [`Member`].
    pub index: usize,
    /// The tokens after the given ones.
    pub tokens: Vec<TokenId>,
    pub measures: Vec<TokenMeasures>,
    pub finish: FinishReason,
    /// Whether the grammar accepts it. `None` without a grammar.
    pub grammar_complete: Option<bool>,
}

/// A member, the token that it takes next, and the measures of that token.
type Sampled = (Member, TokenId, Option<TokenMeasures>);

/// What the measures of any token in a row are computed from.
#[derive(Debug, Clone, Copy)]
struct RowMeasures {
    log_sum_exp: f64,
    entropy_nats: f64,
    top: TokenId,
}

impl RowMeasures {
    fn of(logits: &[f32]) -> Option<Self> {
        let mut candidates = Candidates::from_logits(logits).ok()?;
        let softmax = candidates.softmax();
        Some(Self {
            log_sum_exp: softmax.log_sum_exp,
            entropy_nats: softmax.entropy_nats,
            top: candidates.best().token,
        })
    }

    fn measures(&self, token: TokenId, logits: &[f32]) -> TokenMeasures {
        let logit = logits.get(token.index()).copied().unwrap_or(f32::NAN);
        let bits = |nats: f64| (nats / std::f64::consts::LN_2).max(0.0) as f32;
        TokenMeasures {
            surprise_bits: bits(self.log_sum_exp - f64::from(logit)),
            entropy_bits: bits(self.entropy_nats),
            is_top: token == self.top,
        }
    }
}

/// Reads the last token of a text again, for the logits of early layers, which are not kept with
/// those after a prompt.
fn read_last_again(
    text: &[TokenId],
    sequence: SequenceId,
    layers: &[u32],
    model: &mut LoadedModel,
) -> Result<Option<GuidingRow>, EngineError> {
    let Some((token, before)) = text.split_last().filter(|_| !layers.is_empty()) else {
        return Ok(None);
    };
    model.lm.truncate(sequence, before.len())?;
    let row = Row {
        sequence,
        token: *token,
        logits_wanted: true,
    };
    let exits: Vec<_> = exits_of([0], layers).collect();
    let (last, early) = model.lm.forward_with_exits(&[row], &exits)?;
    let own = OwnPass {
        last: &last,
        early: &early,
        first: 0,
    };
    Ok(own.guiding_rows(layers).pop())
}

/// Returns where a text that continues the given one ends.
fn text_end(shared: Shared<'_>, model: &LoadedModel) -> TextEnd {
    let n_kept = shared.given.len().saturating_sub(shared.n_prompt);
    let limits = Limits {
        max_new_tokens: shared.n_tokens.saturating_add(n_kept),
        ..shared.limits.clone()
    };
    let n_max = model.lm.n_context().saturating_add(1);
    let mut end = TextEnd::new(&limits, n_max.saturating_sub(shared.n_prompt));
    if let Some(other) = shared.other {
        end.limit_room(other.n_room().saturating_add(n_kept));
    }
    for token in shared.given.iter().skip(shared.n_prompt) {
        end.keep(&model.vocabulary.piece(*token));
    }
    end
}

/// Samples the next token of all members.
fn sample_all(
    groups: &[(Group, RowLogits<'_>)],
    shared: Shared<'_>,
    threads: Option<&ThreadPool>,
) -> Vec<Result<Vec<Sampled>, EngineError>> {
    let members = groups.iter().enumerate().flat_map(|(place, (group, _))| {
        let members = group.members.iter();
        members.map(move |member| (place, *member))
    });
    let mut members: Vec<(usize, Member)> = members.collect();
    // This lets each thread switch chains as rarely as possible.
    members.sort_by_key(|(_, member)| member.chain);
    let n_logits: usize = groups
        .iter()
        .map(|(group, logits)| group.members.len() * logits.own.len())
        .sum();
    let rows = measured_rows(groups, shared, threads);
    let sample = |sampler: &mut Sampler<'_>, (place, member): (usize, Member)| {
        let (group, logits) = groups.get(place)?;
        let next = sampler.next_token(group, member, *logits)?;
        let row = rows.get(place).copied().flatten();
        let next = next.map(|(member, token)| {
            let measures = row.map(|row| row.measures(token, logits.own));
            (member, token, measures)
        });
        Some((place, next))
    };
    let sampled = map_rows(threads, n_logits, members, || Sampler::new(shared), sample);
    let mut by_group: Vec<Result<Vec<Sampled>, EngineError>> =
        groups.iter().map(|_| Ok(Vec::new())).collect();
    for (place, next) in sampled.into_iter().flatten() {
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

/// Returns the measures of each row, or an empty list if none are recorded. A row that is not a
/// distribution has no measures; sampling from it fails.
fn measured_rows(
    groups: &[(Group, RowLogits<'_>)],
    shared: Shared<'_>,
    threads: Option<&ThreadPool>,
) -> Vec<Option<RowMeasures>> {
    if !shared.is_measured {
        return Vec::new();
    }
    let rows: Vec<&[f32]> = groups.iter().map(|(_, logits)| logits.own).collect();
    let n_logits = rows.iter().map(|row| row.len()).sum();
    let measure = |(): &mut (), row: &[f32]| RowMeasures::of(row);
    map_rows(threads, n_logits, rows, || (), measure)
}

/// Samples for members with different chains, one chain at a time.
struct Sampler<'a> {
    shared: Shared<'a>,
    current: Option<(usize, SamplerChain)>,
}

impl<'a> Sampler<'a> {
    const fn new(shared: Shared<'a>) -> Self {
        Self {
            shared,
            current: None,
        }
    }

    /// Returns the sampler's own copy of a chain.
    fn chain(&mut self, index: usize) -> Option<&mut SamplerChain> {
        if self.current.as_ref().is_none_or(|(held, _)| *held != index) {
            let mut chain = self.shared.chains.get(index)?.clone();
            if let Some((_, last)) = self.current.take() {
                chain.reuse_buffers(last);
            }
            self.current = Some((index, chain));
        }
        self.current.as_mut().map(|(_, chain)| chain)
    }

    /// Samples the next token of a member. Returns `None` if there is no such chain.
    fn next_token(
        &mut self,
        group: &Group,
        member: Member,
        logits: RowLogits<'_>,
    ) -> Option<Result<(Member, TokenId), EngineError>> {
        let n_prompt = self.shared.n_prompt;
        let history = History::new(&group.text, n_prompt);
        let coins = Coins {
            seed: member.seed,
            position: group.text.len() as u64,
        };
        let chain = self.chain(member.chain)?;
        chain.restore(member.state);
        let failed = |source| EngineError::SamplingFailed {
            position: group.text.len() - n_prompt + 1,
            source,
        };
        let sample = |chain: &mut SamplerChain| -> Result<TokenId, EngineError> {
            let mixed = logits.for_chain(chain.config()).map_err(failed)?;
            let token = match group.constraint.draw(&mixed)? {
                Some(draw) => draw.sample_token(chain, history, coins),
                None => chain.sample_token(&mixed, history, coins),
            };
            token.map_err(failed)
        };
        let token = sample(chain);
        let state = chain.state();
        Some(token.map(|token| (Member { state, ..member }, token)))
    }
}

/// The texts of a job.
#[derive(Default)]
pub(super) struct Texts {
    /// The texts that are still growing.
    pub groups: Vec<Group>,
    /// The texts that have ended.
    pub complete: Vec<CompleteText>,
}

impl Texts {
    /// Starts texts that continue what a prefill has read: samples their first tokens from its
    /// logits.
    pub(super) fn begin(
        &mut self,
        members: Vec<Member>,
        prefill: &Prefill,
        shared: Shared<'_>,
        model: &mut LoadedModel,
    ) -> Result<(), EngineError> {
        let other = shared.other.map(|other| other.fork(model)).transpose()?;
        let own = match model.lm.fork(prefill.sequence()) {
            Ok(own) => own,
            Err(error) => {
                if let Some(other) = other {
                    other.close(model);
                }
                return Err(error);
            }
        };
        let sequences = RowPair { own, other };
        let layers = shared.layers();
        let early = match read_last_again(shared.given, own, layers, model) {
            Ok(early) => early,
            Err(error) => {
                sequences.close(model);
                return Err(error);
            }
        };
        let early = early.as_ref().map(|row| row.logits.as_slice());
        let logits = RowLogits {
            own: prefill.last_logits().map_or(&[], |(logits, _)| logits),
            other: early.or_else(|| shared.other.and_then(OtherPrompt::logits)),
        };
        let group = Group {
            text: shared.given.to_vec(),
            measures: Vec::new(),
            end: text_end(shared, model),
            constraint: Constraint::at(shared.grammar.cloned()),
            members,
            sequences,
        };
        if let Some(limit) = group.end.limit_reached() {
            self.complete(&group, &limit, shared);
            group.sequences.close(model);
            return Ok(());
        }
        self.sample(vec![(group, logits)], shared, model)
    }

    /// Runs one forward pass and samples the next token of every text. Returns whether the model
    /// was ready for it.
    pub(super) fn advance(
        &mut self,
        shared: Shared<'_>,
        model: &mut LoadedModel,
    ) -> Result<bool, EngineError> {
        let last = |group: &Group| Some((group.sequences, *group.text.last()?));
        let texts: Vec<_> = self.groups.iter().filter_map(last).collect();
        let Some(logits) = PairedLogits::read(&texts, shared.layers(), model)? else {
            return Ok(false);
        };
        let rows = (0..).map(|place| logits.of(place));
        let groups = std::mem::take(&mut self.groups);
        self.sample(groups.into_iter().zip(rows).collect(), shared, model)?;
        Ok(true)
    }

    /// Frees the sequences.
    pub(super) fn close(&mut self, model: &mut LoadedModel) {
        for group in self.groups.drain(..) {
            group.sequences.close(model);
        }
    }

    /// Samples the next token of every text in these groups, and regroups the texts by it. After
    /// an error, the sequences of the groups that were not regrouped are closed.
    fn sample(
        &mut self,
        groups: Vec<(Group, RowLogits<'_>)>,
        shared: Shared<'_>,
        model: &mut LoadedModel,
    ) -> Result<(), EngineError> {
        let sampled = sample_all(&groups, shared, model.lm.threads());
        let mut outcome = Ok(());
        for ((group, _), sampled) in groups.into_iter().zip(sampled) {
            match (sampled, &outcome) {
                (Ok(sampled), Ok(())) => outcome = self.split(&group, sampled, shared, model),
                (Err(error), Ok(())) => {
                    group.sequences.close(model);
                    outcome = Err(error);
                }
                (_, Err(_)) => group.sequences.close(model),
            }
        }
        outcome
    }

    /// Splits a group. Its sequences go to the first of the new groups; the others get forks.
    fn split(
        &mut self,
        group: &Group,
        sampled: Vec<Sampled>,
        shared: Shared<'_>,
        model: &mut LoadedModel,
    ) -> Result<(), EngineError> {
        let mut by_token: BTreeMap<TokenId, (Option<TokenMeasures>, Vec<Member>)> = BTreeMap::new();
        for (member, token, measured) in sampled {
            let (measures, members) = by_token.entry(token).or_default();
            *measures = measured;
            members.push(member);
        }
        let sequences = group.sequences;
        let mut parts = Vec::new();
        for (token, (measured, members)) in by_token {
            let mut part = Group {
                text: group.text.clone(),
                measures: group.measures.clone(),
                end: group.end.clone(),
                constraint: group.constraint.clone(),
                members,
                sequences,
            };
            part.measures.extend(measured);
            match part.push(token, model) {
                Some(finish) => self.complete(&part, &finish, shared),
                None => parts.push(part),
            }
        }
        // All forks are made before any of the sequences grows.
        let mut forks = vec![sequences];
        for _ in 1..parts.len() {
            match sequences.fork(model) {
                Ok(fork) => forks.push(fork),
                Err(error) => {
                    for fork in forks {
                        fork.close(model);
                    }
                    return Err(error);
                }
            }
        }
        if parts.is_empty() {
            sequences.close(model);
        }
        let parts = parts.into_iter().zip(forks);
        self.groups
            .extend(parts.map(|(part, sequences)| Group { sequences, ..part }));
        Ok(())
    }

    fn complete(&mut self, group: &Group, finish: &FinishReason, shared: Shared<'_>) {
        let tokens = group.text.get(shared.given.len()..).unwrap_or_default();
        let grammar_complete = group.constraint.accepts();
        let members = group.members.iter();
        self.complete.extend(members.map(|member| CompleteText {
            index: member.index,
            tokens: tokens.to_vec(),
            measures: group.measures.clone(),
            finish: finish.clone(),
            grammar_complete,
        }));
    }
}
