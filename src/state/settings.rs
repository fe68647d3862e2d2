//! The settings that persist across restarts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::recording::{DEFAULT_CACHE_MEGABYTES, DEFAULT_KEPT_MEGABYTES, DEFAULT_RECORD_MEGABYTES};
use super::starters::DEFAULT_PROMPT;
use super::{
    AddedServer, ByHand, ChosenFolders, HistoryLimits, LessonProgress, ListenSettings, MAX_RECENT,
    Notice, Notices, Pace, Panes, PromptMode, RecentModel, ViewChoices,
};
use crate::export::json::unless_in_order;
use crate::generation::{
    ChatMessage, ChatTools, GenerationConfig, Limits, PaneSettings, TemplateKwargs,
};
use crate::interop::presets::OwnPreset;
use crate::lab::LabSettings;
use crate::worker::ComputeChoice;

/// The maximum number of panes; each has a letter and a color.
pub const MAX_PANES: usize = 8;

/// The settings that persist across restarts. A missing field takes its default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The text to continue in raw mode, the message to answer in chat mode.
    pub prompt: String,
    pub prompt_mode: PromptMode,
    /// The system prompt of chat mode; may be empty.
    pub system: String,
    /// Whether an empty system prompt is sent as an empty message.
    pub sends_empty_system: bool,
    /// The messages of a chat before the one to answer, oldest first.
    pub chat_history: Vec<ChatMessage>,
    /// The tools of the chat.
    pub chat_tools: ChatTools,
    /// The variables of the chat template that were set.
    pub template_kwargs: TemplateKwargs,
    /// The panes' settings, from left to right.
    pub panes: Vec<PaneSettings>,
    /// The places of the panes, which determine their letters. Empty if they are A, B, C and so on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pane_places: Vec<usize>,
    /// When generations stop; shared by all panes.
    pub limits: Limits,
    /// The shared seed, for panes without their own.
    pub seed: u64,
    pub pace: Pace,
    pub view: ViewChoices,
    pub by_hand: ByHand,
    /// The contents of the Lab's forms.
    pub lab: LabSettings,
    /// The user's own presets.
    pub presets: Vec<OwnPreset>,
    /// The models that were opened, most recent first.
    pub recent_models: Vec<RecentModel>,
    /// The main model, which opens again at the next start; `None` for the built-in one.
    pub main_model: Option<PathBuf>,
    pub compute: ComputeChoice,
    /// The servers that the user added.
    pub servers: Vec<AddedServer>,
    /// The memory limit for the recorded distributions of all texts on screen.
    pub record_megabytes: u32,
    /// How many runs are kept.
    pub history: HistoryLimits,
    /// How other programs can ask.
    pub listen: ListenSettings,
    /// The memory limit for texts that no pane shows.
    pub kept_megabytes: u32,
    /// The memory limit for prompts and texts that stay in the KV cache.
    pub cache_megabytes: u32,
    /// The progress in the lessons.
    pub lessons: LessonProgress,
    /// Where runs and models are kept, if the user chose other folders.
    pub folders: ChosenFolders,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            prompt: DEFAULT_PROMPT.to_owned(),
            prompt_mode: PromptMode::Raw,
            system: String::new(),
            sends_empty_system: false,
            chat_history: Vec::new(),
            chat_tools: ChatTools::default(),
            template_kwargs: TemplateKwargs::new(),
            panes: PaneSettings::classics().to_vec(),
            pane_places: Vec::new(),
            limits: Limits::default(),
            seed: GenerationConfig::DEFAULT_SEED,
            pace: Pace::default(),
            view: ViewChoices::default(),
            by_hand: ByHand::default(),
            lab: LabSettings::default(),
            presets: Vec::new(),
            recent_models: Vec::new(),
            main_model: None,
            compute: ComputeChoice::default(),
            servers: Vec::new(),
            record_megabytes: DEFAULT_RECORD_MEGABYTES,
            history: HistoryLimits::default(),
            listen: ListenSettings::default(),
            kept_megabytes: DEFAULT_KEPT_MEGABYTES,
            cache_megabytes: DEFAULT_CACHE_MEGABYTES,
            lessons: LessonProgress::default(),
            folders: ChosenFolders::default(),
        }
    }
}

impl Settings {
    /// Takes the settings and the places of these panes.
    pub(in crate::state) fn set_panes(&mut self, panes: &Panes) {
        self.panes = panes.iter().map(|pane| pane.settings.clone()).collect();
        self.pane_places = unless_in_order(panes.places().collect());
    }

    /// Parses the output of [`Settings::to_json`], possibly written by another version of Quartet.
    pub fn from_json(json: &str) -> Restored {
        let mut kept = Map::new();
        let mut lost = Vec::new();
        if let Ok(Value::Object(fields)) = serde_json::from_str(json) {
            for (name, field) in fields {
                let readable = readable_part(&name, field.clone());
                if readable.as_ref() != Some(&field) {
                    lost.push(name.clone());
                }
                kept.extend(readable.map(|field| (name, field)));
            }
        } else {
            lost.push("all".to_owned());
        }
        lost.sort();
        let mut settings: Self = serde_json::from_value(Value::Object(kept)).unwrap_or_default();
        settings.panes.truncate(MAX_PANES);
        settings.by_hand = settings.by_hand.sanitized();
        if settings.panes.is_empty() {
            settings.panes = PaneSettings::classics().to_vec();
        }
        Restored { settings, lost }
    }

    /// Merges these settings with those that another window saved in the meantime.
    ///
    /// A field that changed here since `before` wins; otherwise the other window's value does.
    /// Presets, servers and recent models are merged entry by entry.
    #[must_use]
    pub fn merged(&self, before: &Self, theirs: &Self) -> Self {
        let json = |settings: &Self| serde_json::to_value(settings).unwrap_or_default();
        let (mut ours, before_json, theirs_json) = (json(self), json(before), json(theirs));
        for (name, field) in ours.as_object_mut().into_iter().flatten() {
            if before_json.get(name) == Some(&*field)
                && let Some(other) = theirs_json.get(name)
            {
                *field = other.clone();
            }
        }
        let mut merged: Self = serde_json::from_value(ours).unwrap_or_else(|_| self.clone());
        let presets = [&before.presets, &self.presets, &theirs.presets];
        merged.presets = merged_list(presets, |preset| &preset.name);
        let servers = [&before.servers, &self.servers, &theirs.servers];
        merged.servers = merged_list(servers, |server| server.address.as_str());
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

    /// Serializes the settings; fails if a path is not valid Unicode.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

/// Merges a list that was edited here and in another window: an entry that changed here since
/// `before` wins, otherwise the other window's entry does.
fn merged_list<T: Clone + PartialEq, K: PartialEq + ?Sized>(
    [before, ours, theirs]: [&Vec<T>; 3],
    key: impl Fn(&T) -> &K,
) -> Vec<T> {
    let find = |list: &[T], entry: &T| list.iter().find(|other| key(other) == key(entry)).cloned();
    let kept = ours.iter().filter_map(|entry| {
        let is_changed = find(before, entry).as_ref() != Some(entry);
        if is_changed {
            Some(entry.clone())
        } else {
            find(theirs, entry)
        }
    });
    // An entry of `before` that is missing here was deleted here.
    let is_new = |entry: &&T| find(ours, entry).is_none() && find(before, entry).is_none();
    let new = theirs.iter().filter(is_new).cloned();
    kept.chain(new).collect()
}

impl Notices {
    /// Shows a notice that lists the settings that could not be read.
    pub fn report_lost_settings(&mut self, lost: &[String]) {
        let names: Vec<String> = lost.iter().map(|name| name.replace('_', " ")).collect();
        let body = format!(
            "Another version of Quartet wrote them, or the file is damaged: {}. They were reset to \
             their defaults. The old file is kept in the settings folder as settings-unread.json.",
            names.join(", ")
        );
        self.notify(Notice::error("Some settings could not be read", body));
    }

    /// Shows a notice that settings can't be saved, and why.
    pub fn report_unsaved_settings(&mut self, reason: &str) {
        self.notify(Notice::error("Settings can’t be saved", reason));
    }
}

/// The result of reading saved settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Restored {
    /// The readable settings. An unreadable field has its default; an unreadable list entry is
    /// left out.
    pub settings: Settings,
    /// The names of the fields that were not fully readable.
    pub lost: Vec<String>,
}

/// Returns the readable part of a field: all of it, or the readable entries of a list.
fn readable_part(name: &str, field: Value) -> Option<Value> {
    let is_readable = |field: &Value| {
        let alone = Map::from_iter([(name.to_owned(), field.clone())]);
        serde_json::from_value::<Settings>(Value::Object(alone)).is_ok()
    };
    if is_readable(&field) {
        return Some(field);
    }
    let Value::Array(mut entries) = field else {
        return None;
    };
    entries.retain(|entry| is_readable(&Value::Array(vec![entry.clone()])));
    Some(Value::Array(entries))
}

#[cfg(test)]
mod tests {
    use super::{MAX_PANES, OwnPreset, Pace, PromptMode, Settings, merged_list};
    use crate::decoding::dialect::Dialect;

    #[test]
    fn lists_are_merged_entry_by_entry() {
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
    fn settings_survive_a_round_trip() {
        let mut settings = Settings {
            prompt: "A “quoted”\nprompt".to_owned(),
            prompt_mode: PromptMode::Chat,
            system: "Be brief".to_owned(),
            sends_empty_system: true,
            template_kwargs: [("enable_thinking".to_owned(), false.into())].into(),
            ..Settings::default()
        };
        settings.limits.stop_strings = vec!["\n\n".to_owned()];
        settings.panes[1].seed = Some(7);
        settings.view.show_marks = true;
        settings.pace = Pace::Slow;
        settings.folders.models = Some("/mnt/models".into());
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
    fn unreadable_settings_fall_back_to_defaults() {
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
    fn unreadable_fields_do_not_affect_the_others() {
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
        json["panes"][1]["chain"] = "from a later version".into();
        json["presets"][0] = serde_json::Value::Null;
        json["limits"] = 3.into();
        json["later"] = "ignored".into();
        let restored = Settings::from_json(&json.to_string());
        assert_eq!(restored.lost, ["limits", "panes", "presets"]);
        settings.panes.remove(1);
        settings.presets.remove(0);
        assert_eq!(restored.settings, settings);
    }

    #[test]
    fn a_missing_field_takes_its_default() {
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
