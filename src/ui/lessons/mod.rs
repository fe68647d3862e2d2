//! Lessons: the page that lists them, the card of the one that is running, and the ring around the
//! control to use.

mod bars;
mod card;
mod list;
mod options;
mod ring;
#[cfg(test)]
mod tests;

pub(super) use card::{CARD, card_ui};
pub(super) use list::lessons_ui;
pub(super) use ring::ring_ui;
