//! Two models that read the same text: where their probabilities differ.

pub(crate) mod command;
mod document;
mod figures;
mod job;
mod page;
mod picture;
mod plan;
mod plot;
mod record;
mod state;

pub use document::ModelsDocument;
pub use figures::ComparedModels;
pub use job::ModelComparison;
pub(super) use page::TAB;
pub(crate) use picture::model_comparison_drawing;
pub use plan::{
    ComparedToken, ComparisonFacts, ComparisonPlan, ComparisonText, ComparisonUpdate,
    DistributionGap, PredictedToken,
};
pub use record::ModelComparisonRecord;
pub use state::{KeptComparison, ModelsForm, ModelsRun, ModelsTab};
