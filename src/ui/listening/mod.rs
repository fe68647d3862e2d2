//! The endpoint for other programs: its switch in the menu of the model, and its line in the top bar.

mod card;
mod line;
mod reuse_bar;
mod settings;
#[cfg(test)]
mod tests;

pub(super) use self::card::{MIN_WIDTH as MIN_CARD_WIDTH, REQUEST_CARD, request_card_ui};
pub(super) use self::line::line_ui;
pub(super) use self::reuse_bar::reuse_bar;
pub(super) use self::settings::settings_ui;
