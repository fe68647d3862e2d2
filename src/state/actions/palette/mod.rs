//! The command palette: finds an action, a setting, a preset or a page by the words of its name,
//! and runs it.

mod pane_setting;
mod query;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use self::pane_setting::PaneSetting;
use self::query::{Query, QueryMatch};
use super::Action;
use crate::decoding::ChainConfig;
use crate::generation::formatting::pane_letter;
use crate::interop::presets::built_in;
use crate::state::{AppState, PaneId, PromptMode, RunSetting, SettingsTab};

/// The open palette.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Palette {
    /// The text typed so far.
    pub query: String,
    /// The index of the selected row.
    pub selected: usize,
    /// The pane that rows are about, once the user has chosen one.
    pub pane: Option<PaneId>,
}

/// A user action in the palette. The query and the selection have no command: they are edited in
/// place.
#[derive(Debug, Clone, PartialEq)]
pub enum PaletteCommand {
    Open,
    Close,
    /// Close the palette and run this action.
    Run(Action),
    /// Close the palette and open a pane’s editor at this setting.
    Edit(PaneId, PaneSetting),
    /// Close the palette and give a pane this chain.
    UsePreset(PaneId, ChainConfig),
}

/// What a row of the palette does.
#[derive(Debug, Clone, PartialEq)]
pub enum PaletteRun {
    Action(Action),
    /// Open the chosen pane’s editor at this setting.
    Setting(PaneSetting),
    /// Give the chosen pane this chain.
    Preset(ChainConfig),
    /// Show the help’s page about this setting.
    Help(PaneSetting),
}

impl PaletteRun {
    /// Returns whether it concerns the chosen pane.
    pub const fn is_of_pane(&self) -> bool {
        match self {
            Self::Setting(_) | Self::Preset(_) | Self::Action(Action::OfPane(..)) => true,
            Self::Action(_) | Self::Help(_) => false,
        }
    }
}

/// Something that the palette found.
#[derive(Debug, Clone, PartialEq)]
pub struct PaletteRow {
    pub run: PaletteRun,
    pub name: String,
    /// Where it belongs; may be empty.
    pub place: String,
    /// The bytes of the name that match what was typed.
    pub matched: Vec<Range<usize>>,
    /// Why it is not possible now.
    pub blocked: Option<String>,
}

impl Palette {
    /// Returns the place of the pane that rows are about: the one that the user chose here, that of
    /// the pinned token, or the first.
    pub fn place(&self, state: &AppState) -> usize {
        let chosen = self.pane.and_then(|pane| state.place_of(pane));
        let pinned = || state.pinned().map(|(place, ..)| place);
        let first = || state.panes.first().map_or(0, |first| first.place);
        chosen.or_else(pinned).unwrap_or_else(first)
    }

    /// Returns what matches the query, the best match first. What is not possible now comes last.
    /// Without a query, these are the actions.
    pub fn rows(&self, state: &AppState) -> Vec<PaletteRow> {
        let query = Query::new(&self.query);
        let place = self.place(state);
        let mut found: Vec<(Rank, PaletteRow)> = Vec::new();
        let mut listed = actions(&query, place, state);
        if !query.is_empty() {
            let settings = settings(state);
            listed.extend(
                settings
                    .into_iter()
                    .chain(presets(place, state))
                    .chain(help()),
            );
        }
        for Listed { row, synonyms } in listed {
            let others = || {
                let synonyms = synonyms.iter().copied();
                synonyms.chain([row.place.as_str()]).collect()
            };
            if let Some(matched) = query.find(&row.name, others) {
                let rank = Rank::of(&row.run, &matched);
                let matched = matched.ranges;
                found.push((rank, PaletteRow { matched, ..row }));
            }
        }
        found.sort_by_key(|(rank, row)| (row.blocked.is_some(), *rank));
        found.into_iter().map(|(_, row)| row).collect()
    }
}

/// The order of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Setting,
    /// An action whose name begins with what was typed.
    TypedAction,
    Preset,
    Lab,
    Help,
    Lesson,
    Action,
    /// Its place or another word for it matches, but not its name.
    Elsewhere,
}

impl Rank {
    const fn of(run: &PaletteRun, matched: &QueryMatch) -> Self {
        if matched.elsewhere {
            return Self::Elsewhere;
        }
        match run {
            PaletteRun::Setting(_) => Self::Setting,
            PaletteRun::Action(_) if matched.at_start => Self::TypedAction,
            PaletteRun::Preset(_) => Self::Preset,
            PaletteRun::Action(Action::ShowLab(_)) => Self::Lab,
            PaletteRun::Help(_) => Self::Help,
            PaletteRun::Action(Action::TakeLesson(_)) => Self::Lesson,
            PaletteRun::Action(_) => Self::Action,
        }
    }
}

/// Something that can be found, and the words besides its name and place that find it.
struct Listed {
    row: PaletteRow,
    synonyms: Vec<&'static str>,
}

/// Lists the actions. Those of a pane are listed for the chosen pane, and for the panes whose
/// letter was typed.
fn actions(query: &Query, place: usize, state: &AppState) -> Vec<Listed> {
    let is_about = |action: &Action| match action {
        Action::OfPane(pane, _) => state.place_of(*pane).is_some_and(|other| {
            query.is_empty() || other == place || query.names(&pane_letter(other))
        }),
        _ => true,
    };
    let actions = Action::all(state).into_iter().filter(is_about);
    actions
        .map(|action| Listed {
            synonyms: action.synonyms(),
            row: PaletteRow {
                name: action.name(state),
                place: action.place().to_owned(),
                matched: Vec::new(),
                blocked: action.command(state).err(),
                run: PaletteRun::Action(action),
            },
        })
        .collect()
}

/// Lists the settings of the panes.
fn settings(state: &AppState) -> Vec<Listed> {
    let hidden = state.lessons.hides_settings();
    let blocked = hidden.then(|| "Shown once you have guessed".to_owned());
    let settings = PaneSetting::all().into_iter();
    settings
        .map(|setting| Listed {
            synonyms: setting.synonyms(),
            row: PaletteRow {
                run: PaletteRun::Setting(setting),
                name: setting.name(),
                place: setting.place().to_owned(),
                matched: Vec::new(),
                blocked: blocked.clone(),
            },
        })
        .collect()
}

/// Lists the presets: the user’s own, the recommendation of the model’s author, and the built-in
/// ones.
fn presets(place: usize, state: &AppState) -> Vec<Listed> {
    let own = state.presets.iter();
    let own = own.map(|preset| (preset.name.clone(), preset.chain.clone()));
    let pane = state.panes.get(place);
    let model = pane.and_then(|pane| state.models.of(pane));
    let recommended = model.and_then(|model| model.recommended_sampling.as_deref());
    let recommended = recommended.and_then(|recommended| recommended.chain.clone());
    let recommended =
        recommended.map(|chain| ("Recommended by the model’s author".to_owned(), chain));
    let groups = built_in().into_iter().flat_map(|group| group.presets);
    let built_in = groups.map(|preset| (preset.name.to_owned(), preset.chain));
    let hidden = state.lessons.hides_settings();
    let presets = own.chain(recommended).chain(built_in);
    presets
        .map(|(name, chain)| Listed {
            synonyms: Vec::new(),
            row: PaletteRow {
                run: PaletteRun::Preset(chain),
                name,
                place: format!("Preset for {}", pane_letter(place)),
                matched: Vec::new(),
                blocked: hidden.then(|| "Shown once you have guessed".to_owned()),
            },
        })
        .collect()
}

/// Lists the help’s pages about filters and draws.
fn help() -> impl Iterator<Item = Listed> {
    let pages = PaneSetting::all().into_iter();
    let pages =
        pages.filter(|setting| matches!(setting, PaneSetting::Filter(_) | PaneSetting::Draw(_)));
    pages.map(|setting| Listed {
        synonyms: setting.synonyms(),
        row: PaletteRow {
            run: PaletteRun::Help(setting),
            name: format!("{}: formula, engines, paper", setting.name()),
            place: "Help, Filters".to_owned(),
            matched: Vec::new(),
            blocked: None,
        },
    })
}

impl Action {
    /// Returns words besides its name and place that find it.
    fn synonyms(self) -> Vec<&'static str> {
        let words = match self {
            Self::ShowSettings(SettingsTab::Appearance) => {
                "theme dark light text size typeface font tint spaces line breaks motion"
            }
            Self::ShowSettings(SettingsTab::Panes) => "prices cost number of panes",
            Self::ShowSettings(SettingsTab::Computing) => "device GPU CPU threads cache",
            Self::ShowSettings(SettingsTab::Storage) => {
                "runs kept record earlier texts KV cache folders disk"
            }
            Self::SetPromptMode(PromptMode::Chat) => "template message conversation",
            Self::EditRunSetting(RunSetting::TokenLimit) => "max maximum length",
            Self::SetPace(_) => "speed slow",
            _ => "",
        };
        words.split_whitespace().collect()
    }
}
