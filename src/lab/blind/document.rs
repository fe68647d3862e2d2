//! The votes of the blind test as a file.

use crate::lab::LabTab;
use crate::lab::blind::picture::votes_drawing;
use crate::lab::blind::{BLIND_VOTES, BlindResults, VotesRecord};
use crate::state::{AppState, DocumentKind, PictureFormat, Unsaved};
use crate::ui::documents::{Render, RenderedDocument};
use crate::ui::pictures::Look;

/// The votes of the blind test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VotesDocument {
    /// The strengths, once the settings are named.
    Picture(PictureFormat),
    /// One row per text that was shown.
    Csv,
    /// The votes, and the strengths estimated from them.
    Json,
}

impl DocumentKind for VotesDocument {
    fn name(&self) -> &'static str {
        "the votes"
    }

    fn file_name(&self) -> String {
        let extension = match self {
            Self::Picture(format) => format.extension(),
            Self::Csv => "csv",
            Self::Json => "json",
        };
        format!("quartet-votes.{extension}")
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The votes were not saved",
            kept: "Quartet still has them",
        }
    }
}

impl RenderedDocument for VotesDocument {
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let look = look.of_results(LabTab::Blind, state);
        let document = *self;
        let votes = state.lab.blind.votes().to_vec();
        if matches!(document, Self::Picture(_)) && !state.lab.blind.results().are_named() {
            return Err(format!("the settings are named after {BLIND_VOTES} votes"));
        }
        Ok(Box::new(move || {
            let results = BlindResults::of(&[], &votes);
            let record = VotesRecord {
                votes: &votes,
                settings: &results.settings,
                strengths: &results.strengths,
            };
            Ok(match document {
                Self::Picture(format) => {
                    return look.encode(&votes_drawing(&results, look), format);
                }
                Self::Csv => look.table(record.csv()),
                Self::Json => look.json(record.json()),
            })
        }))
    }
}
