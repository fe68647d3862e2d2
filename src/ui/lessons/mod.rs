//! Lessons: the page that lists them, the card of the one that is running, and the ring around the
//! control to use.

mod bars;
mod card;
#[cfg(test)]
mod kinds_tests;
mod list;
mod mark;
mod matching;
mod options;
mod order;
mod ring;
#[cfg(test)]
mod tests;

pub(super) use card::{CARD, card_ui, enter_key_ui};
pub(super) use list::lessons_ui;
pub(super) use ring::ring_ui;
