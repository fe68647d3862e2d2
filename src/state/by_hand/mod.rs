//! Sampling by hand: a few tokens whose logits the user sets, in place of a model's.

mod held;
mod preset;

pub use self::held::HeldToken;
pub use self::preset::HandPreset;

use serde::{Deserialize, Serialize};

use crate::analysis::by_hand::{Draws, LogitRow};
use crate::analysis::xray::XrayTable;
use crate::decoding::{ChainConfig, Coins, TokenId};
use crate::state::{AppState, Effect};

/// The allowed number of tokens.
pub const HAND_TOKENS: std::ops::RangeInclusive<usize> = 2..=16;

/// The allowed range of a logit.
pub const HAND_SCORES: std::ops::RangeInclusive<f64> = -5.0..=10.0;

/// The maximum number of tokens in the history.
const MAX_HISTORY: usize = 32;

/// The distribution and context that the user sets by hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ByHand {
    /// The number of tokens stays within [`HAND_TOKENS`].
    tokens: Vec<HandToken>,
    /// Indices into `tokens`, oldest first, at most `MAX_HISTORY`.
    history: Vec<u32>,
    /// How many tokens of the history belong to the prompt; at most the length of the history.
    n_prompt: usize,
    /// The position of the pane whose chain is applied; `None` for the last pane.
    pub pane: Option<usize>,
    /// The coin set by hand; `None` if the seed determines it.
    pub coin: Option<f64>,
    /// The index of the seed's current coin, counted from the coin of the first token after the
    /// history.
    toss: u32,
}

/// A token and its logit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandToken {
    pub label: String,
    /// Within [`HAND_SCORES`].
    logit: f32,
}

impl Default for ByHand {
    fn default() -> Self {
        let mut by_hand = Self {
            tokens: Vec::new(),
            history: Vec::new(),
            n_prompt: 0,
            pane: None,
            coin: None,
            toss: 0,
        };
        by_hand.load_preset(HandPreset::Undecided);
        by_hand
    }
}

impl HandToken {
    /// Returns the logit, which is within [`HAND_SCORES`].
    pub const fn logit(&self) -> f32 {
        self.logit
    }

    /// Sets the logit, clamped to [`HAND_SCORES`]; ignores NaN.
    pub fn set_logit(&mut self, logit: f64) {
        if !logit.is_nan() {
            self.logit = logit.clamp(*HAND_SCORES.start(), *HAND_SCORES.end()) as f32;
        }
    }
}

impl ByHand {
    /// Replaces the tokens and logits with a preset's, and clears the history.
    pub fn load_preset(&mut self, preset: HandPreset) {
        let tokens = preset.tokens().iter();
        self.tokens = tokens
            .map(|(label, logit)| HandToken {
                label: (*label).to_owned(),
                logit: *logit,
            })
            .collect();
        self.history.clear();
        self.n_prompt = 0;
    }

    /// Returns the tokens, indexed by token id.
    pub fn tokens(&self) -> &[HandToken] {
        &self.tokens
    }

    /// Returns the tokens for editing.
    pub fn tokens_mut(&mut self) -> &mut [HandToken] {
        &mut self.tokens
    }

    /// Returns a token's label, or its number if the label is blank.
    pub fn label(&self, token: TokenId) -> String {
        match self.tokens.get(token.index()) {
            Some(hand) if !hand.label.trim().is_empty() => hand.label.clone(),
            _ => format!("#{}", token.0 + 1),
        }
    }

    /// Adds a token as likely as the least likely one, unless the maximum is reached.
    pub fn add(&mut self) {
        if self.tokens.len() < *HAND_TOKENS.end() {
            let logits = self.tokens.iter().map(HandToken::logit);
            let logit = logits.fold(f32::INFINITY, f32::min);
            self.tokens.push(HandToken {
                label: format!("word {}", self.tokens.len() + 1),
                logit,
            });
        }
    }

    /// Removes a token, also from the history, unless only the minimum is left.
    pub fn remove(&mut self, index: usize) {
        if self.tokens.len() <= *HAND_TOKENS.start() || index >= self.tokens.len() {
            return;
        }
        self.tokens.remove(index);
        while let Some(at) = self.history.iter().position(|id| *id as usize == index) {
            self.forget(at);
        }
        for id in &mut self.history {
            *id -= u32::from(*id as usize > index);
        }
    }

    /// Returns the tokens of the history, oldest first.
    pub fn history(&self) -> impl Iterator<Item = TokenId> {
        self.history.iter().copied().map(TokenId)
    }

    /// Returns the length of the history.
    pub const fn n_history(&self) -> usize {
        self.history.len()
    }

    /// Returns whether another token fits into the history.
    pub const fn history_has_space(&self) -> bool {
        self.history.len() < MAX_HISTORY
    }

    /// Appends a token to the history, if there is room.
    pub fn push_history(&mut self, token: TokenId) {
        if token.index() < self.tokens.len() && self.history_has_space() {
            self.history.push(token.0);
        }
    }

    /// Removes the token at this index from the history.
    pub fn forget(&mut self, at: usize) {
        if at < self.history.len() {
            self.history.remove(at);
            self.n_prompt -= usize::from(at < self.n_prompt);
        }
    }

    /// Returns how many tokens of the history belong to the prompt.
    pub const fn n_prompt(&self) -> usize {
        self.n_prompt
    }

    /// Sets how many tokens of the history belong to the prompt.
    pub fn set_n_prompt(&mut self, n_prompt: usize) {
        self.n_prompt = n_prompt.min(self.history.len());
    }

    /// Returns the logits and the history in the form that the chain expects.
    pub fn row(&self) -> LogitRow {
        LogitRow {
            logits: self.tokens.iter().map(HandToken::logit).collect(),
            history: self.history().collect(),
            n_prompt: self.n_prompt,
        }
    }

    /// Restores every invariant after deserialization.
    #[must_use]
    pub fn sanitized(mut self) -> Self {
        if self.tokens.len() < *HAND_TOKENS.start() {
            return Self::default();
        }
        self.tokens.truncate(*HAND_TOKENS.end());
        for token in &mut self.tokens {
            token.set_logit(f64::from(token.logit));
        }
        let n_tokens = self.tokens.len();
        self.history.retain(|id| (*id as usize) < n_tokens);
        self.history.truncate(MAX_HISTORY);
        self.set_n_prompt(self.n_prompt);
        self.coin = self.coin.filter(|coin| (0.0..1.0).contains(coin));
        self
    }

    fn coins(&self, row: &LogitRow, seed: u64) -> Coins {
        let mut coins = row.coins(seed);
        coins.position += u64::from(self.toss);
        coins
    }
}

/// The draws made by hand, and the inputs they were made from.
#[derive(Debug, Clone, PartialEq)]
pub struct HandDraws {
    inputs: HandInputs,
    draws: Draws,
}

/// Everything that determines the draws, except the coins' positions.
#[derive(Debug, Clone, PartialEq)]
struct HandInputs {
    row: LogitRow,
    chain: ChainConfig,
    seed: u64,
}

impl AppState {
    /// Returns the candidates of the pinned step, or of the latest one.
    pub fn held_token(&self) -> Option<HeldToken> {
        HeldToken::of(&self.panes, self.shown_step()?)
    }

    /// Returns the place of the pane whose chain is applied by hand.
    pub fn hand_pane(&self) -> usize {
        let chosen = self.by_hand.pane;
        let chosen = chosen.filter(|place| self.panes.get(*place).is_some());
        chosen.unwrap_or_else(|| self.panes.last().map_or(0, |last| last.place))
    }

    /// Returns the X-ray of that chain applied to the logits, or why it can't run.
    pub fn hand_table(&self) -> Result<XrayTable, String> {
        let HandInputs { row, chain, seed } = self.hand_inputs().ok_or("No pane is open")?;
        if let Err(error) = chain.validate() {
            return Err(error.to_string());
        }
        let coins = self.by_hand.coins(&row, seed);
        let sampled = row.sample(&chain, coins);
        let trace = sampled
            .map_err(|error| super::capitalize(&error.to_string()))?
            .trace;
        let mut table = XrayTable::recorded(&chain, &trace);
        if let Some(coin) = self.by_hand.coin {
            table.move_coin(coin);
        }
        Ok(table)
    }

    /// Returns the draws made so far, or `None` once the logits, the chain or the seed change.
    pub fn hand_draws(&self) -> Option<&Draws> {
        let drawn = self.hand_drawn.as_ref()?;
        (Some(&drawn.inputs) == self.hand_inputs().as_ref()).then_some(&drawn.draws)
    }

    fn hand_inputs(&self) -> Option<HandInputs> {
        let pane = self.panes.get(self.hand_pane())?;
        Some(HandInputs {
            row: self.by_hand.row(),
            chain: pane.settings.chain.clone(),
            seed: self.seed_of(pane),
        })
    }

    /// Draws `n` more tokens, each with the seed's next coin.
    pub(in crate::state) fn draw_by_hand(&mut self, n: u32) -> Vec<Effect> {
        let Some(inputs) = self.hand_inputs() else {
            return Vec::new();
        };
        let HandInputs { row, chain, seed } = &inputs;
        self.by_hand.coin = None;
        let mut coins = self.by_hand.coins(row, *seed);
        coins.position += 1;
        if let Ok(more) = Draws::toss(chain, row, coins, n) {
            let draws = match self.hand_draws() {
                Some(draws) => draws.and(&more, chain.selector),
                None => more,
            };
            self.by_hand.toss = self.by_hand.toss.saturating_add(n);
            self.hand_drawn = Some(HandDraws { inputs, draws });
        }
        Vec::new()
    }
}
