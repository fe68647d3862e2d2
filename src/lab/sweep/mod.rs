//! Many settings and seeds: the texts of a grid of settings, and figures over them.

pub(crate) mod command;
mod document;
mod page;
mod picture;
mod plot;
mod record;
mod state;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::finished_sweep;

pub use document::SweepDocument;
pub(super) use page::TAB;
pub use picture::SweepPicture;
pub(crate) use picture::sweep_drawing;
pub use record::SweepRecord;
pub use state::{KeptSweep, SweepCommand, SweepForm, SweepRun, SweepSettings, SweepTab};
