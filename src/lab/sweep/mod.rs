//! Many settings and seeds: the texts of a grid of settings, and figures over them.

pub(crate) mod command;
mod page;
mod picture;
mod plot;
mod record;
mod state;
#[cfg(test)]
mod tests;

pub(super) use page::TAB;
pub(crate) use picture::sweep_drawing;
pub use record::SweepRecord;
pub use state::{SweepCommand, SweepForm, SweepRun, SweepSettings, SweepTab};
