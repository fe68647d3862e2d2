//! The smallest change to one setting that would have changed a recorded choice, found by searching
//! over the what-if.

mod grid;

use std::sync::Arc;

use self::grid::{Grid, N_SCANNED, distance, scan_index};
use super::grammar::Drawable;
use super::what_if::can_redraw;
use crate::decoding::filters::Temperature;
use crate::decoding::{
    ChainConfig, Coins, Filter, History, ParamSpec, Picked, Rules, Selector, TokenId, Trace, WhatIf,
};
use crate::generation::Generation;

/// A value of one setting at which a different token is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingChange {
    /// The setting's name, for use in a sentence: "top-p", "XTC threshold".
    pub setting: String,
    /// The current value, formatted.
    pub from: String,
    /// The nearest value that changes the choice, one decimal finer than the slider.
    pub to: f64,
    /// The last value before it at which the choice stays.
    pub last: f64,
    /// The distance between the current value and `to`, as a share of the slider's length.
    pub distance: f64,
    /// The token that would have been chosen, or `None` for one that was not recorded.
    pub token: Option<TokenId>,
    /// Whether the record proves that this value changes the choice and that no nearer one does.
    /// Otherwise it is the nearest one that the search found: it does change the choice, but a nearer
    /// one may, too, and another token than `token` may be chosen.
    pub exact: bool,
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
    /// The changes found so far, nearest first.
    changes: Vec<SettingChange>,
    /// Whether every negative answer so far is certain.
    certain: bool,
}

/// One setting, up or down.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Direction {
    stage: usize,
    param: usize,
    up: bool,
}

/// What the search of one direction found.
enum Found {
    Change(SettingChange),
    /// No value up to the slider's end changes the choice.
    Nothing {
        certain: bool,
    },
}

/// What a different value would have chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Outcome {
    token: Option<TokenId>,
    changed: bool,
    exact: bool,
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
            changes: Vec::new(),
            certain: true,
        };
        search.consistent = !search.outcome(&search.chain).changed;
        Some(search)
    }

    /// Runs a whole search.
    pub fn find(generation: &Generation, step_index: usize) -> Option<Self> {
        let mut search = Self::new(generation, step_index)?;
        search.advance(|| true);
        Some(search)
    }

    /// Continues the search while `has_time` returns true. Returns whether it is complete.
    pub fn advance(&mut self, mut has_time: impl FnMut() -> bool) -> bool {
        while let Some(direction) = self.directions.get(self.n_searched).copied() {
            if !has_time() {
                return false;
            }
            match self.search(direction) {
                Some(Found::Change(change)) => {
                    self.changes.push(change);
                    self.changes
                        .sort_by(|a, b| a.distance.total_cmp(&b.distance));
                }
                Some(Found::Nothing { certain }) => self.certain &= certain,
                None => {}
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

    /// Returns whether the record proves that the settings without a change have none.
    pub const fn is_certain(&self) -> bool {
        self.certain
    }

    /// Searches one direction. Returns `None` if the slider ends here.
    fn search(&self, direction: Direction) -> Option<Found> {
        if !self.consistent {
            return Some(Found::Nothing { certain: false });
        }
        let stage = self.chain.stages.get(direction.stage)?;
        let param = stage.filter.spec().params.get(direction.param)?;
        let from = param.get(&stage.filter)?;
        let grid = Grid::of(param, from, direction.up)?;
        let mut chain = self.chain.clone();
        let mut outcome = |index: u32| {
            if let Some(stage) = chain.stages.get_mut(direction.stage) {
                param.set(&mut stage.filter, grid.value(index));
            }
            self.outcome(&chain)
        };
        let monotone = is_monotone(&self.chain, &stage.filter);
        let (mut below, mut above) = if monotone {
            (0, grid.n_steps)
        } else {
            let mut tried = 0;
            let mut scan = (0..=N_SCANNED).map(|at| scan_index(at, grid.n_steps));
            let changed = scan.find(|index| {
                let changed = outcome(*index).changed;
                tried = if changed { tried } else { *index };
                changed
            });
            (tried, changed.unwrap_or(grid.n_steps))
        };
        let farthest = outcome(above);
        if !farthest.changed {
            let certain = monotone && farthest.exact;
            return Some(Found::Nothing { certain });
        }
        while above - below > 1 {
            let middle = below.midpoint(above);
            if outcome(middle).changed {
                above = middle;
            } else {
                below = middle;
            }
        }
        let (last, first) = (outcome(below), outcome(above));
        let to = grid.value(above);
        Some(Found::Change(SettingChange {
            setting: setting_name(&stage.filter, param),
            from: param.text(&stage.filter)?,
            to,
            last: grid.value(below),
            distance: distance(param, from, to),
            token: first.token,
            exact: monotone && last.exact && first.exact,
        }))
    }

    fn outcome(&self, chain: &ChainConfig) -> Outcome {
        let history = History::new(&self.tokens, self.n_prompt);
        let is_recorded = self.is_recorded(self.chosen);
        let drawable = Drawable::of(&self.trace, chain);
        match drawable.and_then(|drawable| drawable.what_if(chain, history, self.coins)) {
            Some(WhatIf::Exact(token)) => Outcome {
                token: Some(token),
                changed: token != self.chosen,
                exact: true,
            },
            Some(WhatIf::Unrecorded) => Outcome {
                token: None,
                changed: is_recorded,
                exact: is_recorded,
            },
            Some(WhatIf::Bounded(token)) => Outcome {
                token: Some(token),
                // The likely token of the unchanged settings can be a different one, too.
                changed: drawable.is_some_and(|drawable| {
                    drawable.rules_out(chain, history, self.coins, self.chosen)
                }),
                exact: false,
            },
            None => Outcome {
                token: None,
                changed: false,
                exact: false,
            },
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

/// Returns whether the choice moves in one direction along the slider, so that bisection finds the
/// nearest change.
///
/// Temperature, top-k, top-p and min-p order distributions by likelihood ratio: a larger (for min-p
/// a smaller) value makes every unlikelier token gain on every likelier one. Each of the four also
/// preserves that order for the values of the stages before it. One coin then picks an equal or
/// unlikelier token.
fn is_monotone(chain: &ChainConfig, varied: &Filter) -> bool {
    let is_ordered = |filter: &Filter| {
        matches!(
            filter,
            Filter::Temperature(_) | Filter::TopK(_) | Filter::TopP(_) | Filter::MinP(_)
        )
    };
    matches!(chain.selector, Selector::Multinomial | Selector::Greedy)
        && chain.rules == Rules::default()
        && is_ordered(varied)
        && chain.active().all(is_ordered)
}

/// Returns a setting's name for use in a sentence.
fn setting_name(filter: &Filter, param: &ParamSpec<Filter>) -> String {
    let name = crate::generation::in_sentence(filter.name());
    let label = param.label.to_lowercase();
    [name, label].join(" ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::SmallestChange;
    use crate::decoding::testing::row;
    use crate::decoding::{Coins, History, SamplerChain, TokenId};
    use crate::generation::testing::generation;
    use crate::generation::{Generation, PaneSettings};

    /// A text of one token, sampled from a random row of logits under these settings.
    fn sampled(settings: &str, seed: u32, spread: f32) -> (Generation, Vec<f32>) {
        let mut generation = generation(&[(" fox", 0.5)]);
        generation.config.chain = settings.parse::<PaneSettings>().unwrap().chain;
        let logits = row(seed, spread);
        let trace = sample(&generation, &logits);
        generation.steps[0].token = trace.draw.token;
        generation.steps[0].trace = std::sync::Arc::new(trace);
        (generation, logits)
    }

    fn sample(generation: &Generation, logits: &[f32]) -> crate::decoding::Trace {
        let tokens = &generation.prompt.tokens;
        let coins = Coins {
            seed: generation.config.seed,
            position: tokens.len() as u64,
        };
        let history = History::new(tokens, tokens.len());
        SamplerChain::new(generation.config.chain.clone())
            .sample(logits, history, coins)
            .unwrap()
            .trace
    }

    /// The token that the real chain samples with this value of a setting.
    fn with(generation: &Generation, setting: &str, value: f64, logits: &[f32]) -> TokenId {
        let mut changed = generation.clone();
        for stage in &mut changed.config.chain.stages {
            if stage.filter.name().to_lowercase() == setting {
                let param = stage.filter.spec().params.first().unwrap();
                param.set(&mut stage.filter, value);
            }
        }
        sample(&changed, logits).draw.token
    }

    #[test]
    fn an_exact_change_is_the_smallest_one_of_the_real_chain() {
        let mut n_exact = 0;
        for seed in 0..40 {
            let (generation, logits) = sampled("temp 0.7, top-k 30, top-p 0.9", seed, 2.5);
            let search = SmallestChange::find(&generation, 0).unwrap();
            let chosen = generation.steps[0].token;
            for change in search.changes().iter().filter(|change| change.exact) {
                n_exact += 1;
                let token = with(&generation, &change.setting, change.to, &logits);
                assert_eq!(Some(token), change.token, "{change:?}");
                assert_ne!(token, chosen, "{change:?}");
                // No value in between changes the choice.
                let from: f64 = change.from.parse().unwrap();
                let step = if change.setting == "top-k" {
                    1.0
                } else {
                    0.001
                };
                for at in [0.0, 0.3, 0.6, 1.0] {
                    let near = change.to - step * (change.to - from).signum();
                    let value = from + at * (near - from);
                    let token = with(&generation, &change.setting, value, &logits);
                    assert_eq!(token, chosen, "{change:?} at {value}");
                }
            }
        }
        assert!(n_exact > 40, "{n_exact}");
    }

    #[test]
    fn an_uncertain_change_changes_the_choice_of_the_real_chain() {
        let mut n_changes = 0;
        for settings in [
            "temp 1.5",
            "temp 1.2, top-p 0.95",
            "frequency 0.2, temp 1.1",
        ] {
            for seed in 0..40 {
                let (generation, logits) = sampled(settings, seed, 1.5);
                let search = SmallestChange::find(&generation, 0).unwrap();
                let chosen = generation.steps[0].token;
                for change in search.changes() {
                    let known = ["temperature", "top-p", "frequency penalty"];
                    if known.contains(&change.setting.as_str()) {
                        n_changes += 1;
                        let token = with(&generation, &change.setting, change.to, &logits);
                        assert_ne!(token, chosen, "{settings}, seed {seed}: {change:?}");
                    }
                }
            }
        }
        assert!(n_changes > 0);
    }

    #[test]
    fn a_token_that_the_coin_does_not_draw_has_no_change() {
        let (mut generation, _) = sampled("temp 0.7", 3, 2.5);
        let mut others = (0..).map(TokenId);
        let drawn = generation.steps[0].token;
        generation.steps[0].token = others.find(|other| *other != drawn).unwrap();
        let search = SmallestChange::find(&generation, 0).unwrap();
        assert!(search.changes().is_empty() && !search.is_certain());
    }

    #[test]
    fn a_change_that_penalties_make_is_not_called_exact() {
        for seed in 0..10 {
            let (generation, _) = sampled("repeat 1.3 last all, temp 0.9", seed, 1.5);
            let search = SmallestChange::find(&generation, 0).unwrap();
            assert!(search.changes().iter().all(|change| !change.exact));
        }
    }

    #[test]
    fn the_most_likely_token_has_no_change_and_an_adaptive_selector_no_answer() {
        let (generation, _) = sampled("greedy", 3, 2.5);
        let search = SmallestChange::find(&generation, 0).unwrap();
        assert!(search.changes().is_empty() && search.is_certain());
        let (generation, _) = sampled("mirostat 5", 3, 2.5);
        let search = SmallestChange::find(&generation, 0).unwrap();
        assert!(search.changes().is_empty());
    }

    #[test]
    fn a_search_in_slices_finds_what_one_search_finds() {
        let (generation, _) = sampled("temp 0.7, top-p 0.9, min-p 0.02", 7, 2.5);
        let mut search = SmallestChange::new(&generation, 0).unwrap();
        let mut n_slices = 0;
        loop {
            let mut left = 1;
            let done = search.advance(|| {
                left -= 1;
                left >= 0
            });
            n_slices += 1;
            if done {
                break;
            }
            assert!(search.progress() < 1.0);
        }
        assert_eq!(n_slices, 6);
        assert_eq!(Some(search), SmallestChange::find(&generation, 0));
    }
}
