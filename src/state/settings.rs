//! What is kept between two starts of the program.

use serde::{Deserialize, Serialize};

use super::{ByHand, PromptMode, RecentModel, ViewChoices};
use crate::generation::preset::OwnPreset;
use crate::generation::{Limits, PaneSettings};
use crate::worker::ComputeChoice;

/// The most panes that fit, and have a letter and a colour of their own.
pub const MAX_PANES: usize = 8;

/// What is kept between two starts. A part that is missing, or that an older program wrote in
/// another form, takes its usual value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The text to continue, or the message to answer.
    pub prompt: String,
    /// Which of the two it is.
    pub prompt_mode: PromptMode,
    /// How the model is to behave when it answers; empty for nothing.
    pub system: String,
    /// How each pane chooses, from left to right.
    pub panes: Vec<PaneSettings>,
    /// When all of them end.
    pub limits: Limits,
    /// The seed of the panes that have none of their own.
    pub seed: u64,
    /// How the record is looked at.
    pub view: ViewChoices,
    /// What is sampled from by hand.
    pub by_hand: ByHand,
    /// The ways to choose that the user keeps.
    pub presets: Vec<OwnPreset>,
    /// The models that were opened, the newest first.
    pub recent_models: Vec<RecentModel>,
    /// How models are to compute.
    pub compute: ComputeChoice,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            prompt: "Once upon a time there was a little fox who".to_owned(),
            prompt_mode: PromptMode::Raw,
            system: String::new(),
            panes: PaneSettings::classics().to_vec(),
            limits: Limits::default(),
            seed: 42,
            view: ViewChoices::default(),
            by_hand: ByHand::default(),
            presets: Vec::new(),
            recent_models: Vec::new(),
            compute: ComputeChoice::default(),
        }
    }
}

impl Settings {
    /// Reads what [`Settings::to_json`] wrote. A text that can't be understood gives the defaults.
    pub fn from_json(json: &str) -> Self {
        let mut settings: Self = serde_json::from_str(json).unwrap_or_default();
        settings.panes.truncate(MAX_PANES);
        settings.by_hand = settings.by_hand.repaired();
        if settings.panes.is_empty() {
            settings.panes = PaneSettings::classics().to_vec();
        }
        settings
    }

    /// The settings as text.
    pub fn to_json(&self) -> String {
        // Plain data has no part that JSON lacks, so this does not fail; if it did, an empty text
        // reads as the defaults.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PANES, OwnPreset, PromptMode, Settings};
    use crate::decoding::dialect::Dialect;

    #[test]
    fn settings_survive_being_written_and_read() {
        let mut settings = Settings {
            prompt: "A “quoted”\nprompt".to_owned(),
            prompt_mode: PromptMode::Chat,
            system: "Be brief".to_owned(),
            ..Settings::default()
        };
        settings.limits.stop_strings = vec!["\n\n".to_owned()];
        settings.panes[1].seed = Some(7);
        settings.view.show_marks = true;
        settings.by_hand.tokens_mut()[0].label = "else".to_owned();
        settings.presets.push(OwnPreset {
            name: "Poems".to_owned(),
            chain: Dialect::LlamaCpp.chain(),
        });
        assert_eq!(Settings::from_json(&settings.to_json()), settings);
    }

    #[test]
    fn what_cannot_be_read_gives_the_defaults() {
        for broken in ["", "{", "[]", r#"{"seed": "many"}"#, r#"{"panes": []}"#] {
            assert_eq!(Settings::from_json(broken), Settings::default(), "{broken}");
        }
    }

    #[test]
    fn a_missing_part_takes_its_usual_value() {
        let settings = Settings::from_json(r#"{"seed": 5}"#);
        assert_eq!(settings.seed, 5);
        assert_eq!(settings.prompt, Settings::default().prompt);
        assert_eq!(settings.prompt_mode, PromptMode::Raw);
    }

    #[test]
    fn there_are_never_more_panes_than_letters() {
        let mut settings = Settings::default();
        settings.panes = vec![settings.panes[0].clone(); MAX_PANES + 3];
        assert_eq!(
            Settings::from_json(&settings.to_json()).panes.len(),
            MAX_PANES
        );
    }
}
