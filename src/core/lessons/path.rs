//! What a lesson can read, by name: "A.tokens", "B.token.4.prob", "pin.kept", "tab".
//!
//! The README in `assets/lessons` lists all names.

use super::cache_fields::{CACHE_FIELDS, CacheField};
use super::field::named;
use super::hand_fields::{HAND_FIELDS, HandField};
use super::scene::Scene;
use super::task_fields::{TASK_FIELDS, TaskField};
use super::text_fields::{TEXT_FIELDS, TextField};
use super::token_fields::TokenField;
use super::value::{Unit, Value};
use crate::analysis::{Prices, TextMetrics};

/// How many runs a bill is for: one costs a fraction of a cent.
const RUNS: f64 = 1000.0;

/// The name of a value in the window or in the record.
#[derive(Debug, Clone, PartialEq)]
pub enum Path {
    /// A field of a pane's text.
    Text(PaneName, &'static TextField),
    /// The token of the prompt with this number, from 1.
    PromptToken(PaneName, usize),
    /// A field of a token.
    Token(Place, TokenField),
    /// Whether two texts are the same.
    Same(PaneName, PaneName),
    /// The number of the first token at which two texts differ.
    Fork(PaneName, PaneName),
    /// How many panes there are.
    Panes,
    /// The tab of the dock.
    Tab,
    /// The tint of the texts.
    Tint,
    /// The price that was typed: of input, or else of output.
    Price { of_input: bool },
    /// What a text would cost at these prices, a thousand times.
    Bill(PaneName),
    /// The share of the output in that cost.
    OutputShare(PaneName),
    /// A field of the coins tossed by hand.
    Hand(&'static HandField),
    /// A field of the times with and without the KV cache.
    Cache(&'static CacheField),
    /// A field of the curve of Lab, Prompts.
    Tasks(&'static TaskField),
    /// What the curve with this number, from 1, shows.
    Curve(usize),
}

/// A pane, by its letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaneName {
    /// The pane at this place, from 0.
    At(usize),
    /// Any pane, the same one in all conditions of a check.
    Any,
}

/// A token of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The token with this number, from 1.
    Numbered(PaneName, usize),
    /// The pinned token.
    Pinned,
}

impl PaneName {
    /// Reads a letter from A to H, or "any".
    pub(super) fn read(word: &str) -> Option<Self> {
        if word == "any" {
            return Some(Self::Any);
        }
        let place = "ABCDEFGH".find(word)?;
        (word.len() == 1).then_some(Self::At(place))
    }

    const fn place(self, any: Option<usize>) -> Option<usize> {
        match self {
            Self::At(place) => Some(place),
            Self::Any => any,
        }
    }
}

impl Path {
    /// Reads a name; the error says what is wrong with it.
    pub(super) fn read(name: &str) -> Result<Self, String> {
        let parts: Vec<&str> = name.split('.').collect();
        let unknown = || format!("{name:?} is not the name of anything that a lesson can read");
        let number = |word: &str| {
            let number = word.parse::<usize>().ok().filter(|number| *number > 0);
            number.ok_or_else(|| format!("{word:?} in {name:?} is not a positive whole number"))
        };
        match *parts.as_slice() {
            ["cache", field] => {
                return named(CACHE_FIELDS, field)
                    .map(Self::Cache)
                    .ok_or_else(unknown);
            }
            ["hand", field] => {
                return named(HAND_FIELDS, field)
                    .map(Self::Hand)
                    .ok_or_else(unknown);
            }
            ["tasks", field] => {
                return named(TASK_FIELDS, field)
                    .map(Self::Tasks)
                    .ok_or_else(unknown);
            }
            ["price", "input"] => return Ok(Self::Price { of_input: true }),
            ["price", "output"] => return Ok(Self::Price { of_input: false }),
            ["curve", n] => return number(n).map(Self::Curve),
            ["tab"] => return Ok(Self::Tab),
            ["tint"] => return Ok(Self::Tint),
            ["panes"] => return Ok(Self::Panes),
            ["pin", ref field @ ..] => {
                let field = TokenField::read(field).ok_or_else(unknown)?;
                return Ok(Self::Token(Place::Pinned, field));
            }
            _ => {}
        }
        let (pane, rest) = parts.split_first().ok_or_else(unknown)?;
        let pane = PaneName::read(pane).ok_or_else(unknown)?;
        let other = |word: &str| PaneName::read(word).ok_or_else(unknown);
        match *rest {
            ["token", n, ref field @ ..] => {
                let field = TokenField::read(field).ok_or_else(unknown)?;
                Ok(Self::Token(Place::Numbered(pane, number(n)?), field))
            }
            ["bill"] => Ok(Self::Bill(pane)),
            ["output_share"] => Ok(Self::OutputShare(pane)),
            ["prompt", n] => Ok(Self::PromptToken(pane, number(n)?)),
            ["same", word] => Ok(Self::Same(pane, other(word)?)),
            ["fork", word] => Ok(Self::Fork(pane, other(word)?)),
            [field] => {
                let field = named(TEXT_FIELDS, field).ok_or_else(unknown)?;
                Ok(Self::Text(pane, field))
            }
            _ => Err(unknown()),
        }
    }

    /// Returns the place of the pane whose text it reads, if it names one.
    pub fn pane(&self) -> Option<usize> {
        match self {
            Self::Text(pane, _)
            | Self::Bill(pane)
            | Self::OutputShare(pane)
            | Self::PromptToken(pane, _)
            | Self::Token(Place::Numbered(pane, _), _) => pane.place(None),
            _ => None,
        }
    }

    /// Returns whether it uses "any".
    pub(super) fn names_any(&self) -> bool {
        let is_any = |pane: &PaneName| *pane == PaneName::Any;
        match self {
            Self::Text(pane, _)
            | Self::Bill(pane)
            | Self::OutputShare(pane)
            | Self::PromptToken(pane, _)
            | Self::Token(Place::Numbered(pane, _), _) => is_any(pane),
            Self::Same(first, second) | Self::Fork(first, second) => {
                is_any(first) || is_any(second)
            }
            Self::Token(Place::Pinned, _)
            | Self::Panes
            | Self::Tab
            | Self::Tint
            | Self::Cache(_)
            | Self::Curve(_)
            | Self::Hand(_)
            | Self::Price { .. }
            | Self::Tasks(_) => false,
        }
    }

    /// Returns the value, or `None` if there is none yet. `any` is the place of the pane that "any"
    /// stands for.
    pub fn value(&self, scene: &Scene<'_>, any: Option<usize>) -> Option<Value> {
        let text = |pane: PaneName| scene.text(pane.place(any)?);
        match self {
            Self::Tab => Some(Value::Text(scene.tab.to_owned())),
            Self::Tint => Some(Value::Text(scene.tint.to_owned())),
            Self::Cache(field) => field.value(scene.cache?),
            Self::Hand(field) => field.value(scene.hand?),
            Self::Tasks(field) => field.value(scene.tasks?),
            Self::Price { of_input } => {
                let Prices { input, output } = scene.prices;
                let price = if *of_input { input } else { output };
                Some(Value::Number(price, Unit::Setting))
            }
            Self::Bill(pane) => {
                let metrics = TextMetrics::of(text(*pane)?);
                let cost = scene.prices.cost(&metrics) * RUNS;
                scene.prices.are_set().then(|| Value::plain(cost))
            }
            Self::OutputShare(pane) => {
                let metrics = TextMetrics::of(text(*pane)?);
                let only_output = Prices {
                    input: 0.0,
                    ..scene.prices
                };
                let cost = scene.prices.cost(&metrics);
                (cost > 0.0).then(|| Value::prob(only_output.cost(&metrics) / cost))
            }
            Self::Curve(number) => {
                let curve = scene.curves.get(number - 1)?;
                Some(Value::Text(curve.name().to_owned()))
            }
            Self::Panes => Some(Value::count(scene.texts.len())),
            Self::Text(pane, field) => field.value(text(*pane)?),
            Self::PromptToken(pane, number) => {
                let piece = text(*pane)?.prompt.pieces.get(number - 1)?;
                Some(Value::Text(crate::generation::formatting::token_word(
                    piece,
                )))
            }
            Self::Token(place, field) => {
                let (pane, index) = match place {
                    Place::Numbered(pane, number) => (pane.place(any)?, number - 1),
                    Place::Pinned => scene.pin?,
                };
                field.value(
                    scene.text(pane)?,
                    index,
                    scene.chains.get(pane).copied().flatten(),
                )
            }
            Self::Same(first, second) => {
                let (first, second) = (text(*first)?, text(*second)?);
                let both_ended = first.finish.is_some() && second.finish.is_some();
                both_ended.then(|| Value::Flag(first.text() == second.text()))
            }
            Self::Fork(first, second) => {
                let (first, second) = (text(*first)?, text(*second)?);
                let mut pairs = first.steps.iter().zip(&second.steps);
                let shared = pairs.position(|(first, second)| first.token != second.token);
                shared.map(|index| Value::count(index + 1))
            }
        }
    }
}
