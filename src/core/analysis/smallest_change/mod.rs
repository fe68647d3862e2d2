//! The smallest change to one setting that would have changed a recorded choice, found by searching
//! over the what-if.

mod grid;
mod monotone;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::grid::{Grid, N_SCANNED, distance, scan_index};
use self::monotone::is_monotone;
use super::grammar::Drawable;
use super::what_if::can_redraw;
use crate::decoding::filters::Temperature;
use crate::decoding::{
    ChainConfig, Coins, Filter, History, ParamSpec, Picked, Selector, TokenId, Trace, WhatIf,
};
use crate::generation::Generation;

/// A value of one setting at which a different token is certainly chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingChange {
    /// The setting's name, for use in a sentence: "top-p", "XTC threshold".
    pub setting: String,
    /// The current value, formatted; "off" if the stage has no effect.
    pub from: String,
    /// The nearest value that the search found to change the choice, one decimal finer than the
    /// slider.
    pub to: f64,
    /// `to`, formatted; "off" if the stage has no effect there.
    pub to_words: String,
    /// The distance between the current value and `to`, as a share of the slider's length.
    pub distance: f64,
    /// The token that is chosen there.
    pub token: ChangedTo,
    /// Whether the record proves that the choice stays at all nearer values.
    pub is_nearest: bool,
}

/// The token that a different value of a setting chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangedTo {
    /// Certainly this one.
    Token(TokenId),
    /// Certainly one of those that were not recorded.
    Unrecorded,
    /// Certainly a different one, but the record does not show which.
    Unknown,
}

impl SettingChange {
    /// Whether the record proves that this is the nearest change of its setting, and to what.
    pub fn is_exact(&self) -> bool {
        self.is_nearest && self.token != ChangedTo::Unknown
    }
}

/// How far one setting can be moved in one direction without changing the choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// The setting's name, for use in a sentence.
    pub setting: String,
    /// Whether it moves to larger values.
    pub up: bool,
    /// The last value down or up to which the choice provably stays.
    pub stays_to: f64,
    /// The distance between the current value and `stays_to`, as a share of the slider's length.
    pub distance: f64,
    /// Whether it is unknown what happens just beyond `stays_to`. Otherwise the choice changes there
    /// or the slider ends.
    pub is_open: bool,
}

/// A search for the smallest change, which can be continued from frame to frame.
#[derive(Debug, Clone, PartialEq)]
pub struct SmallestChange {
    trace: Arc<Trace>,
    chain: ChainConfig,
    coins: Coins,
    /// The prompt's tokens, followed by the generated ones before the step.
    tokens: Vec<TokenId>,
    n_prompt: usize,
    chosen: TokenId,
    /// Whether the chain can have chosen the token with this coin, as far as the record tells.
    consistent: bool,
    directions: Vec<Direction>,
    n_searched: usize,
    /// The grid steps tried so far in the current direction, with what each would have chosen.
    tried: BTreeMap<u32, Outcome>,
    /// The changes found so far, nearest first.
    changes: Vec<SettingChange>,
    /// How far each searched setting provably leaves the choice as it is.
    sides: Vec<Side>,
}

/// One setting, up or down.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Direction {
    stage: usize,
    param: usize,
    up: bool,
}

/// The slider of a setting, in one direction.
struct Slider<'a> {
    filter: &'a Filter,
    param: &'a ParamSpec<Filter>,
    /// The current value.
    from: f64,
    /// The values to try.
    grid: Grid,
}

/// What a different value would have chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    /// Certainly the same token.
    Same,
    /// Certainly a different one.
    Changed(ChangedTo),
    /// The record can't tell.
    Unknown,
}

/// There was no time to try another value. What was tried before is kept.
struct OutOfTime;

impl Outcome {
    const fn is_changed(self) -> bool {
        matches!(self, Self::Changed(_))
    }
}

impl SmallestChange {
    /// Prepares the search for a step of a text. Returns `None` if there is no such step.
    pub fn new(generation: &Generation, step_index: usize) -> Option<Self> {
        let step = generation.steps.get(step_index)?;
        let before = generation.steps.iter().take(step_index);
        let mut tokens = generation.prompt.tokens.clone();
        tokens.extend(before.map(|step| step.token));
        let config = &generation.config;
        let draw = &step.trace.draw;
        let is_drawn = !generation.is_scored() && draw.picked == Picked::ByChain;
        let chain = searched(&config.chain);
        let mut search = Self {
            trace: Arc::clone(&step.trace),
            // This chain and its coin did not draw the other tokens.
            directions: if is_drawn && can_redraw(draw, &chain) {
                directions(&chain)
            } else {
                Vec::new()
            },
            chain,
            coins: Coins {
                seed: config.seed,
                position: tokens.len() as u64,
            },
            tokens,
            n_prompt: generation.prompt.tokens.len(),
            chosen: step.token,
            consistent: true,
            n_searched: 0,
            tried: BTreeMap::new(),
            changes: Vec::new(),
            sides: Vec::new(),
        };
        search.consistent = !search.outcome(&search.chain).is_changed();
        Some(search)
    }

    /// Runs a whole search.
    pub fn find(generation: &Generation, step_index: usize) -> Option<Self> {
        let mut search = Self::new(generation, step_index)?;
        search.advance(|| true);
        Some(search)
    }

    /// Continues the search while `has_time` returns true, which is asked before each value that is
    /// tried. Returns whether the search is complete.
    pub fn advance(&mut self, mut has_time: impl FnMut() -> bool) -> bool {
        while let Some(direction) = self.directions.get(self.n_searched).copied() {
            let mut tried = std::mem::take(&mut self.tried);
            let Ok(found) = self.search(direction, &mut tried, &mut has_time) else {
                self.tried = tried;
                return false;
            };
            if let Some((side, change)) = found {
                self.sides.push(side);
                self.changes.extend(change);
                self.changes
                    .sort_by(|a, b| a.distance.total_cmp(&b.distance));
            }
            self.n_searched += 1;
        }
        true
    }

    /// Returns the share of the search that is done, from 0 to 1.
    pub fn progress(&self) -> f64 {
        self.n_searched as f64 / self.directions.len().max(1) as f64
    }

    /// Returns whether every setting was searched.
    pub const fn is_complete(&self) -> bool {
        self.n_searched >= self.directions.len()
    }

    /// Returns the nearest change of each setting in each direction, the smallest first.
    pub fn changes(&self) -> &[SettingChange] {
        &self.changes
    }

    /// Returns what picked the token.
    pub fn picked(&self) -> Picked {
        self.trace.draw.picked
    }

    /// Returns how far each setting provably leaves the choice as it is, in each direction.
    pub fn sides(&self) -> &[Side] {
        &self.sides
    }

    /// Returns whether the record proves that no setting changes the choice at a smaller distance
    /// than the first of [`changes`](Self::changes), or at all if there is none.
    pub fn is_certain(&self) -> bool {
        let smallest = self.changes.first();
        smallest.is_none_or(|change| change.is_nearest)
            && self.sides.iter().all(|side| {
                let is_farther = smallest.is_some_and(|change| side.distance >= change.distance);
                !side.is_open || is_farther
            })
    }

    /// Searches one direction, and adds each value that it tries to `tried`. Returns `None` if the
    /// slider ends here. Fails if there is no time for the next value.
    fn search(
        &self,
        direction: Direction,
        tried: &mut BTreeMap<u32, Outcome>,
        has_time: &mut impl FnMut() -> bool,
    ) -> Result<Option<(Side, Option<SettingChange>)>, OutOfTime> {
        let Some(Slider {
            filter,
            param,
            from,
            grid,
        }) = self.slider(direction)
        else {
            return Ok(None);
        };
        let chain_at = |index: u32| self.chain_with(direction, param, grid.value(index));
        let mut outcome = |index: u32| {
            if let Some(known) = tried.get(&index) {
                return Ok(*known);
            }
            if !has_time() {
                return Err(OutOfTime);
            }
            let found = self.outcome(&chain_at(index));
            tried.insert(index, found);
            Ok(found)
        };
        let monotone = self.consistent && is_monotone(&self.chain, direction.stage);
        let change = self.first_change(&grid, monotone, &mut outcome)?;
        // The farthest value that can stay, then the farthest that provably does.
        let last = change.map_or(grid.n_steps, |change| change - 1);
        let stays = if monotone {
            last_same(last, &mut outcome)?
        } else {
            0
        };
        let stays_to = if stays > 0 { grid.value(stays) } else { from };
        let is_nearest = monotone && stays == last;
        let setting = setting_name(filter, param);
        let mut found = None;
        if let Some(index) = change
            && let Outcome::Changed(token) = outcome(index)?
        {
            let to = grid.value(index);
            found = Some(SettingChange {
                setting: setting.clone(),
                from: value_words(&self.chain, direction.stage, param, from),
                to,
                to_words: value_words(&chain_at(index), direction.stage, param, to),
                distance: distance(param, from, to),
                token,
                is_nearest,
            });
        }
        let side = Side {
            setting,
            up: direction.up,
            stays_to,
            distance: distance(param, from, stays_to),
            is_open: !is_nearest,
        };
        Ok(Some((side, found)))
    }

    /// Returns the slider of a direction, or `None` if it ends here.
    fn slider(&self, direction: Direction) -> Option<Slider<'_>> {
        let filter = &self.chain.stages.get(direction.stage)?.filter;
        let param = filter.spec().params.get(direction.param)?;
        let from = param.get(filter)?;
        let grid = Grid::of(param, from, direction.up)?;
        Some(Slider {
            filter,
            param,
            from,
            grid,
        })
    }

    /// Returns the nearest value that the search finds to change the choice, by its grid step.
    fn first_change(
        &self,
        grid: &Grid,
        monotone: bool,
        mut outcome: impl FnMut(u32) -> Result<Outcome, OutOfTime>,
    ) -> Result<Option<u32>, OutOfTime> {
        if !self.consistent {
            return Ok(None);
        }
        let mut changes = |index: u32| outcome(index).map(Outcome::is_changed);
        let (mut below, mut above) = (0, None);
        if monotone {
            above = changes(grid.n_steps)?.then_some(grid.n_steps);
        } else {
            for index in (0..=N_SCANNED).map(|at| scan_index(at, grid.n_steps)) {
                if changes(index)? {
                    above = Some(index);
                    break;
                }
                below = index;
            }
        }
        let Some(above) = above else {
            return Ok(None);
        };
        let (_, first) = bisected(below, above, changes)?;
        Ok(Some(first))
    }

    /// Returns the chain with another value of a setting.
    fn chain_with(
        &self,
        direction: Direction,
        param: &ParamSpec<Filter>,
        value: f64,
    ) -> ChainConfig {
        let mut chain = self.chain.clone();
        if let Some(stage) = chain.stages.get_mut(direction.stage) {
            param.set(&mut stage.filter, value);
        }
        chain
    }

    fn outcome(&self, chain: &ChainConfig) -> Outcome {
        let history = History::new(&self.tokens, self.n_prompt);
        let Some(drawable) = Drawable::of(&self.trace, chain) else {
            return Outcome::Unknown;
        };
        match drawable.what_if(chain, history, self.coins) {
            Some(WhatIf::Exact(token)) if token == self.chosen => Outcome::Same,
            Some(WhatIf::Exact(token)) => Outcome::Changed(ChangedTo::Token(token)),
            Some(WhatIf::Unrecorded) if self.is_recorded(self.chosen) => {
                Outcome::Changed(ChangedTo::Unrecorded)
            }
            // The likely token of the unchanged settings can be a different one, too.
            Some(WhatIf::Bounded(_))
                if drawable.rules_out(chain, history, self.coins, self.chosen) =>
            {
                Outcome::Changed(ChangedTo::Unknown)
            }
            _ => Outcome::Unknown,
        }
    }

    fn is_recorded(&self, token: TokenId) -> bool {
        let drawable = Drawable::of(&self.trace, &self.chain);
        let head = drawable.map(|drawable| drawable.evidence().head.as_slice());
        head.is_some_and(|head| head.iter().any(|known| known.token == token))
    }
}

/// Returns the chain whose settings are searched. A chain that samples without any stage gets a
/// temperature of 1, which is what it samples at.
fn searched(chain: &ChainConfig) -> ChainConfig {
    let mut chain = chain.clone();
    if chain.selector != Selector::Greedy && !chain.stages.iter().any(|stage| stage.enabled) {
        let neutral = Filter::Temperature(Temperature { temperature: 1.0 });
        chain.stages.push(neutral.into());
    }
    chain
}

/// Lists the settings to search. An adaptive selector depends on the steps before, which a what-if
/// does not rerun, so its chains have none.
fn directions(chain: &ChainConfig) -> Vec<Direction> {
    if chain.selector.is_adaptive() {
        return Vec::new();
    }
    let enabled = chain.stages.iter().enumerate();
    enabled
        .filter(|(_, stage)| stage.enabled)
        .flat_map(|(stage, config)| {
            let params = 0..config.filter.spec().params.len();
            params.flat_map(move |param| [true, false].map(|up| Direction { stage, param, up }))
        })
        .collect()
}

/// Returns the last grid step at which the choice provably stays, at most `last`. Step 0 is the
/// current value. On a monotone slider that proves it for all values before it.
fn last_same(
    last: u32,
    mut outcome: impl FnMut(u32) -> Result<Outcome, OutOfTime>,
) -> Result<u32, OutOfTime> {
    let mut differs = |index: u32| outcome(index).map(|outcome| outcome != Outcome::Same);
    if !differs(last)? {
        return Ok(last);
    }
    let (same, _) = bisected(0, last, differs)?;
    Ok(same)
}

/// Returns the neighboring grid steps between which `is_above` becomes true. It is false at `below`
/// and true at `above`.
fn bisected(
    mut below: u32,
    mut above: u32,
    mut is_above: impl FnMut(u32) -> Result<bool, OutOfTime>,
) -> Result<(u32, u32), OutOfTime> {
    while above - below > 1 {
        let middle = below.midpoint(above);
        if is_above(middle)? {
            above = middle;
        } else {
            below = middle;
        }
    }
    Ok((below, above))
}

/// Formats a value of a setting; "off" if its stage has no effect there. A temperature of 1 is a
/// temperature like others.
fn value_words(chain: &ChainConfig, stage: usize, param: &ParamSpec<Filter>, value: f64) -> String {
    let filter = chain.stages.get(stage).map(|stage| &stage.filter);
    let is_off = filter.is_some_and(|filter| {
        let is_heat = matches!(
            filter,
            Filter::Temperature(_) | Filter::DynamicTemperature(_)
        );
        !is_heat && filter.is_off(chain.rules)
    });
    let text = filter
        .and_then(|filter| param.text(filter))
        .unwrap_or_else(|| value.to_string());
    match filter.map(|filter| filter.spec().params.len()) {
        Some(1) if is_off => "off".to_owned(),
        // Another of its numbers may have switched it off.
        Some(_) if is_off => format!("{text} (off)"),
        _ => text,
    }
}

/// Returns a setting's name for use in a sentence.
fn setting_name(filter: &Filter, param: &ParamSpec<Filter>) -> String {
    let name = crate::generation::in_sentence(filter.name());
    let label = param.label.to_lowercase();
    [name, label].join(" ").trim_end().to_owned()
}
