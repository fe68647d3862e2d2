//! What is kept between two starts of the program.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AppState, ByHand, MAX_RECENT, Notice, PromptMode, RecentModel, ViewChoices};
use crate::generation::{Limits, PaneSettings};
use crate::interop::presets::OwnPreset;
use crate::worker::ComputeChoice;

/// The most panes that fit, and have a letter and a colour of their own.
pub const MAX_PANES: usize = 8;

/// What is kept between two starts. A part that is missing takes its usual value.
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
    /// Reads what [`Settings::to_json`] wrote, here or in another version of the program.
    pub fn from_json(json: &str) -> Restored {
        let mut kept = Map::new();
        let mut lost = Vec::new();
        if let Ok(Value::Object(parts)) = serde_json::from_str(json) {
            for (name, part) in parts {
                let found = understood(&name, part.clone());
                if found.as_ref() != Some(&part) {
                    lost.push(name.clone());
                }
                kept.extend(found.map(|part| (name, part)));
            }
        } else {
            lost.push("all".to_owned());
        }
        let mut settings: Self = serde_json::from_value(Value::Object(kept)).unwrap_or_default();
        settings.panes.truncate(MAX_PANES);
        settings.by_hand = settings.by_hand.repaired();
        if settings.panes.is_empty() {
            settings.panes = PaneSettings::classics().to_vec();
        }
        Restored { settings, lost }
    }

    /// These settings, where they differ from those `before`; else what another window has kept
    /// meanwhile. Presets and models of before are told apart one by one.
    #[must_use]
    pub fn merged(&self, before: &Self, theirs: &Self) -> Self {
        let json = |settings: &Self| serde_json::to_value(settings).unwrap_or_default();
        let (mut ours, before_json, theirs_json) = (json(self), json(before), json(theirs));
        for (name, part) in ours.as_object_mut().into_iter().flatten() {
            if before_json.get(name) == Some(&*part)
                && let Some(other) = theirs_json.get(name)
            {
                *part = other.clone();
            }
        }
        let mut merged: Self = serde_json::from_value(ours).unwrap_or_else(|_| self.clone());
        let presets = [&before.presets, &self.presets, &theirs.presets];
        merged.presets = merged_list(presets, |preset| &preset.name);
        let models = [
            &before.recent_models,
            &self.recent_models,
            &theirs.recent_models,
        ];
        merged.recent_models = merged_list(models, |model| &model.path);
        merged
            .recent_models
            .sort_by_key(|model| std::cmp::Reverse(model.opened_at));
        merged.recent_models.truncate(MAX_RECENT);
        merged
    }

    /// The settings as text; fails where a path of theirs is none.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

/// The entries of a list that was changed here and in another window: each as it is here where it was
/// changed here, else as it is there.
fn merged_list<T: Clone + PartialEq, K: PartialEq + ?Sized>(
    [before, ours, theirs]: [&Vec<T>; 3],
    key: impl Fn(&T) -> &K,
) -> Vec<T> {
    let find = |list: &[T], entry: &T| list.iter().find(|other| key(other) == key(entry)).cloned();
    let own = ours.iter().filter_map(|entry| {
        let is_changed = find(before, entry).as_ref() != Some(entry);
        if is_changed {
            Some(entry.clone())
        } else {
            find(theirs, entry)
        }
    });
    // One that was there before and is not here any more was deleted here.
    let is_new = |entry: &&T| find(ours, entry).is_none() && find(before, entry).is_none();
    let new = theirs.iter().filter(is_new).cloned();
    own.chain(new).collect()
}

impl AppState {
    /// Says which parts of the settings were not understood.
    pub fn tell_lost_settings(&mut self, lost: &[String]) {
        let parts: Vec<String> = lost.iter().map(|part| part.replace('_', " ")).collect();
        let body = format!(
            "Another version of Quartet wrote them, or they are damaged: {}. What was not \
             understood has its usual value now; the settings as they were stay in their folder \
             as settings-unread.json.",
            parts.join(", ")
        );
        self.notify(Notice::error("Some settings could not be read", body));
    }

    /// Says that settings will not outlive the program, and why.
    pub fn tell_unkept_settings(&mut self, reason: &str) {
        self.notify(Notice::error("Settings can't be kept", reason));
    }
}

/// Settings that were read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Restored {
    /// What was understood. Any other part has its usual value, and an entry of a list is left out.
    pub settings: Settings,
    /// The parts that were not understood as a whole.
    pub lost: Vec<String>,
}

/// What can be understood of a part: all of it, or those entries of a list that can.
fn understood(name: &str, part: Value) -> Option<Value> {
    let is_understood = |part: &Value| {
        let alone = Map::from_iter([(name.to_owned(), part.clone())]);
        serde_json::from_value::<Settings>(Value::Object(alone)).is_ok()
    };
    if is_understood(&part) {
        return Some(part);
    }
    let Value::Array(mut entries) = part else {
        return None;
    };
    entries.retain(|entry| is_understood(&Value::Array(vec![entry.clone()])));
    Some(Value::Array(entries))
}

#[cfg(test)]
mod tests {
    use super::{MAX_PANES, OwnPreset, PromptMode, Settings, merged_list};
    use crate::decoding::dialect::Dialect;

    #[test]
    fn of_a_list_each_entry_is_the_one_that_was_changed() {
        let list = |words: &str| {
            let entries = words.split_whitespace();
            let entries = entries.map(|entry| entry.split_at(1));
            let entries = entries.map(|(name, value)| (name.to_owned(), value.to_owned()));
            entries.collect::<Vec<(String, String)>>()
        };
        for (before, ours, theirs, expected) in [
            ("", "a1", "b1", "a1 b1"),
            ("x1", "x1 y1", "x2", "x2 y1"),
            ("x1", "x2", "x1 y1", "x2 y1"),
            ("x1 y1", "y1", "x1 y1", "y1"),
            ("x1 y1", "x1 y1 z1", "y1", "y1 z1"),
            ("x1", "x2", "x3", "x2"),
        ] {
            let [before, ours, theirs] = [before, ours, theirs].map(list);
            let merged = merged_list([&before, &ours, &theirs], |entry| &entry.0);
            assert_eq!(merged, list(expected));
        }
    }

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
        let restored = Settings::from_json(&settings.to_json().unwrap());
        assert_eq!(restored.settings, settings);
        assert_eq!(restored.lost, [""; 0]);
    }

    #[test]
    fn what_cannot_be_read_gives_the_defaults() {
        for (broken, lost) in [
            ("", &["all"][..]),
            ("{", &["all"]),
            ("[]", &["all"]),
            (r#"{"seed": "many"}"#, &["seed"]),
            (r#"{"panes": []}"#, &[]),
        ] {
            let restored = Settings::from_json(broken);
            assert_eq!(restored.settings, Settings::default(), "{broken}");
            assert_eq!(restored.lost, lost, "{broken}");
        }
    }

    #[test]
    fn what_cannot_be_read_takes_nothing_else_with_it() {
        let mut settings = Settings {
            prompt: "Kept".to_owned(),
            ..Settings::default()
        };
        for name in ["Poems", "Letters"] {
            settings.presets.push(OwnPreset {
                name: name.to_owned(),
                chain: Dialect::LlamaCpp.chain(),
            });
        }
        let mut json: serde_json::Value =
            serde_json::from_str(&settings.to_json().unwrap()).unwrap();
        json["panes"][1]["chain"] = "of a later version".into();
        json["presets"][0] = serde_json::Value::Null;
        json["limits"] = 3.into();
        json["later"] = "passed over".into();
        let restored = Settings::from_json(&json.to_string());
        assert_eq!(restored.lost, ["limits", "panes", "presets"]);
        settings.panes.remove(1);
        settings.presets.remove(0);
        assert_eq!(restored.settings, settings);
    }

    #[test]
    fn a_missing_part_takes_its_usual_value() {
        let settings = Settings::from_json(r#"{"seed": 5}"#).settings;
        assert_eq!(settings.seed, 5);
        assert_eq!(settings.prompt, Settings::default().prompt);
        assert_eq!(settings.prompt_mode, PromptMode::Raw);
    }

    #[test]
    fn there_are_never_more_panes_than_letters() {
        let mut settings = Settings::default();
        settings.panes = vec![settings.panes[0].clone(); MAX_PANES + 3];
        assert_eq!(
            Settings::from_json(&settings.to_json().unwrap())
                .settings
                .panes
                .len(),
            MAX_PANES
        );
    }
}
