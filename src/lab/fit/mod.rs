//! The settings under which the model would most likely write given texts.

pub(crate) mod command;
mod document;
mod figures;
mod page;
mod picture;
mod plot;
mod record;
mod state;
#[cfg(test)]
mod tests;

pub use document::FitDocument;
pub use figures::{Fit, FitError, FitInterval, FitLimit, FitPoint, FitSetup, KeptFigures};
pub(super) use page::TAB;
pub(crate) use picture::fit_drawing;
pub use record::FitRecord;
pub use state::{
    FitCommand, FitForm, FitInput, FitReading, FitRun, FitSettings, FitStage, FitTab, KeptFit,
    fit_base,
};
