//! Sampling by hand: a few tokens with scores that the user sets, in place of a model's.

mod preset;

pub use self::preset::HandPreset;

use serde::{Deserialize, Serialize};

use crate::analysis::by_hand::{Draws, ScoreRow};
use crate::analysis::xray::XrayTable;
use crate::decoding::{ChainConfig, Coins, TokenId};
use crate::state::{AppState, Effect};

/// The fewest tokens and the most.
pub const HAND_TOKENS: std::ops::RangeInclusive<usize> = 2..=16;

/// What a score may be.
pub const HAND_SCORES: std::ops::RangeInclusive<f64> = -5.0..=10.0;

/// The most tokens that can be written before.
const MAX_HISTORY: usize = 32;

/// What is set by hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ByHand {
    /// As many as [`HAND_TOKENS`] allows.
    tokens: Vec<HandToken>,
    /// Indices of them.
    history: Vec<u32>,
    /// Not more than there are in the history.
    n_prompt: usize,
    /// The place of the pane whose chain is applied; nothing for the last one.
    pub pane: Option<usize>,
    /// Where the coin was put; nothing where it is that of the seed.
    pub coin: Option<f64>,
    /// Which of the seed's coins it is, counted from that of the first token after the history.
    toss: u32,
}

/// A token and its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandToken {
    /// What it is called.
    pub label: String,
    /// Its logit, within [`HAND_SCORES`].
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
        by_hand.begin_with(HandPreset::Undecided);
        by_hand
    }
}

impl HandToken {
    /// Its logit.
    pub const fn logit(&self) -> f32 {
        self.logit
    }

    /// Sets its logit, within what it may be.
    pub fn set_logit(&mut self, logit: f64) {
        if !logit.is_nan() {
            self.logit = logit.clamp(*HAND_SCORES.start(), *HAND_SCORES.end()) as f32;
        }
    }
}

impl ByHand {
    /// Takes these tokens and scores; nothing was written before them.
    pub fn begin_with(&mut self, preset: HandPreset) {
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

    /// The tokens, by their ids.
    pub fn tokens(&self) -> &[HandToken] {
        &self.tokens
    }

    /// The same, to be edited.
    pub fn tokens_mut(&mut self) -> &mut [HandToken] {
        &mut self.tokens
    }

    /// What a token is called: its label, or its number where it has none.
    pub fn label(&self, token: TokenId) -> String {
        match self.tokens.get(token.index()) {
            Some(hand) if !hand.label.trim().is_empty() => hand.label.clone(),
            _ => format!("#{}", token.0 + 1),
        }
    }

    /// One more token, as likely as the least likely one.
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

    /// Takes a token away, from the history too.
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

    /// Which tokens were written before, oldest first.
    pub fn history(&self) -> impl Iterator<Item = TokenId> {
        self.history.iter().copied().map(TokenId)
    }

    /// How many were written before.
    pub const fn n_history(&self) -> usize {
        self.history.len()
    }

    /// Whether one more can be written before.
    pub const fn history_has_room(&self) -> bool {
        self.history.len() < MAX_HISTORY
    }

    /// Writes a token before, after those that are there.
    pub fn write_before(&mut self, token: TokenId) {
        if token.index() < self.tokens.len() && self.history_has_room() {
            self.history.push(token.0);
        }
    }

    /// Takes the token at this place out of the history.
    pub fn forget(&mut self, at: usize) {
        if at < self.history.len() {
            self.history.remove(at);
            self.n_prompt -= usize::from(at < self.n_prompt);
        }
    }

    /// How many of those written before are the prompt's.
    pub const fn n_prompt(&self) -> usize {
        self.n_prompt
    }

    /// Says how many are the prompt's.
    pub fn set_n_prompt(&mut self, n_prompt: usize) {
        self.n_prompt = n_prompt.min(self.history.len());
    }

    /// The numbers, as a model would give them.
    pub fn row(&self) -> ScoreRow {
        ScoreRow {
            logits: self.tokens.iter().map(HandToken::logit).collect(),
            history: self.history().collect(),
            n_prompt: self.n_prompt,
        }
    }

    /// The same with whatever does not fit together put right, as after reading it from a file.
    #[must_use]
    pub fn repaired(mut self) -> Self {
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

    fn coins(&self, row: &ScoreRow, seed: u64) -> Coins {
        let mut coins = row.coins(seed);
        coins.position += u64::from(self.toss);
        coins
    }
}

/// What was drawn by hand, and from what.
#[derive(Debug, Clone, PartialEq)]
pub struct HandDraws {
    from: (ScoreRow, ChainConfig, u64),
    draws: Draws,
}

impl AppState {
    /// The place of the pane whose chain is applied by hand.
    pub fn hand_pane(&self) -> usize {
        let last = self.panes.len().saturating_sub(1);
        self.by_hand.pane.map_or(last, |place| place.min(last))
    }

    /// What that chain makes of the scores, or why it can't.
    pub fn hand_table(&self) -> Result<XrayTable, String> {
        let (row, chain, seed) = self.hand_asked().ok_or("There is no pane")?;
        if let Err(error) = chain.validate() {
            return Err(error.to_string());
        }
        let coins = self.by_hand.coins(&row, seed);
        let sampled = row.sample(&chain, coins);
        let trace = sampled
            .map_err(|error| super::capital(&error.to_string()))?
            .trace;
        let mut table = XrayTable::recorded(&chain, &trace);
        if let Some(coin) = self.by_hand.coin {
            table.move_coin(coin);
        }
        Ok(table)
    }

    /// What was drawn from the scores and by the chain as they are now.
    pub fn hand_draws(&self) -> Option<&Draws> {
        let drawn = self.hand_drawn.as_ref()?;
        (Some(&drawn.from) == self.hand_asked().as_ref()).then_some(&drawn.draws)
    }

    fn hand_asked(&self) -> Option<(ScoreRow, ChainConfig, u64)> {
        let pane = self.panes.get(self.hand_pane())?;
        let seed = self.seed_of(pane);
        Some((self.by_hand.row(), pane.settings.chain.clone(), seed))
    }

    /// Draws so many more times, each with the seed's next coin.
    pub(in crate::state) fn draw_by_hand(&mut self, n: u32) -> Vec<Effect> {
        let Some(from) = self.hand_asked() else {
            return Vec::new();
        };
        let (row, chain, seed) = &from;
        self.by_hand.coin = None;
        let mut coins = self.by_hand.coins(row, *seed);
        coins.position += 1;
        if let Ok(more) = Draws::toss(chain, row, coins, n) {
            let draws = match self.hand_draws() {
                Some(draws) => draws.and(&more, chain.selector),
                None => more,
            };
            self.by_hand.toss = self.by_hand.toss.saturating_add(n);
            self.hand_drawn = Some(HandDraws { from, draws });
        }
        Vec::new()
    }
}
