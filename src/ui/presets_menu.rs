//! The presets menu: built-in presets, the model author's recommendation, and the user's own
//! presets, which are saved, renamed and deleted here.

use egui::{Align, Frame, Id, Key, Layout, Margin, Modifiers, Response, TextEdit, Ui, vec2};

use super::keys::entered;
use super::pane_header::chip_words;
use crate::decoding::ChainConfig;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Choice, field_frame};
use crate::generation::RecommendedSampling;
use crate::interop::presets::{OwnPreset, built_in};
use crate::state::{AppState, Command, Pane, PathPurpose, PresetCommand, PresetsDocument};

/// Draws a pane's menu. Returns the chain of the chosen preset.
pub(super) fn presets_ui(
    ui: &mut Ui,
    pane: &Pane,
    state: &AppState,
    commands: &mut Vec<Command>,
) -> Option<ChainConfig> {
    let mut chosen = None;
    own_title_ui(ui, &state.presets, commands);
    save_ui(ui, pane, &state.presets, commands);
    own_ui(ui, pane, &state.presets, &mut chosen, commands);
    let model = state.models.of(pane);
    let recommended = model.and_then(|model| model.recommended_sampling.as_deref());
    if let Some(recommended) = recommended {
        title_ui(ui, "Recommended by the model’s author");
        recommended_ui(ui, pane, recommended, &mut chosen);
    }
    for group in built_in() {
        title_ui(ui, group.title);
        for preset in group.presets {
            let notes = [preset.purpose, preset.source];
            if row_ui(ui, pane, preset.name, &preset.chain, &notes) {
                chosen = Some(preset.chain);
            }
        }
    }
    chosen
}

fn title_ui(ui: &mut Ui, title: &str) {
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        ui.label(Face::SmallMedium.text(title).color(Theme::of(ui).text_3));
    });
    ui.add_space(2.0);
}

fn row_ui(ui: &mut Ui, pane: &Pane, name: &str, chain: &ChainConfig, notes: &[&str]) -> bool {
    let choice = Choice::new(name).notes(notes);
    let selected = pane.settings.chain == *chain;
    let words = chip_words(&chain.to_string());
    let response = choice.aside(&words).selected(selected).show(ui);
    response.on_hover_text(chain.to_string()).clicked()
}

/// Draws the recommended settings, and remarks on what Quartet can't apply.
fn recommended_ui(
    ui: &mut Ui,
    pane: &Pane,
    recommended: &RecommendedSampling,
    chosen: &mut Option<ChainConfig>,
) {
    let source = format!("From {}", recommended.source);
    if let Some(chain) = &recommended.chain
        && row_ui(ui, pane, "Recommended", chain, &[&source])
    {
        *chosen = Some(chain.clone());
    }
    if recommended.chain.is_none() {
        note_ui(ui, &format!("{source}: no setting can be applied"));
    }
    for remark in &recommended.remarks {
        note_ui(ui, &format!("{}.", remark.trim_end_matches('.')));
    }
}

fn note_ui(ui: &mut Ui, words: &str) {
    let margin = Margin::symmetric(10, 2);
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.label(Face::Micro.text(words).color(Theme::of(ui).text_3));
    });
}

/// Draws the field for saving the pane's settings under a name.
fn save_ui(ui: &mut Ui, pane: &Pane, presets: &[OwnPreset], commands: &mut Vec<Command>) {
    let id = Id::unique("name of a new preset").with(pane.id.0);
    let mut name: String = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let taken = presets.iter().any(|preset| preset.name == name.trim());
    let verb = if taken { "Replace" } else { "Save" };
    let label = "Name these settings";
    let has_name = !name.trim().is_empty();
    let field = NameField { label, hint: label };
    let (_, confirmed) = field.ui(ui, &mut name, |ui| {
        let button = ui.add_enabled(has_name, Button::new(verb));
        button.on_disabled_hover_text("Type a name first").clicked()
    });
    if confirmed && has_name {
        commands.push(Command::Preset(PresetCommand::Save(pane.id, name.clone())));
        name.clear();
    }
    ui.data_mut(|data| data.insert_temp(id, name));
}

/// A field for a preset's name, followed by a button.
struct NameField<'a> {
    /// The accessible name.
    label: &'a str,
    /// Shown while the field is empty.
    hint: &'a str,
}

impl NameField<'_> {
    /// Draws the field. Returns its response, and whether the name was confirmed by Enter or the
    /// button.
    fn ui(
        &self,
        ui: &mut Ui,
        name: &mut String,
        button: impl FnOnce(&mut Ui) -> bool,
    ) -> (Response, bool) {
        ui.horizontal(|ui| {
            ui.add_space(10.0);
            let area = vec2(ui.available_width() - 10.0, 32.0);
            ui.allocate_ui_with_layout(area, Layout::right_to_left(Align::Center), |ui| {
                let clicked = button(ui);
                let edit = TextEdit::singleline(name)
                    .frame(field_frame(ui))
                    .hint_text(self.hint)
                    .char_limit(80)
                    .desired_width(f32::INFINITY);
                let field = ui.add(edit).accessible_name(self.label);
                let is_entered = entered(ui, &field);
                (field, clicked || is_entered)
            })
            .inner
        })
        .inner
    }
}

/// Draws a row for each of the user's own presets.
fn own_ui(
    ui: &mut Ui,
    pane: &Pane,
    presets: &[OwnPreset],
    chosen: &mut Option<ChainConfig>,
    commands: &mut Vec<Command>,
) {
    let id = Id::unique("preset that is renamed");
    // The preset's current name, and the new one as typed so far.
    let mut renamed: Option<(String, String)> = ui.data(|data| data.get_temp(id));
    for preset in presets {
        match &mut renamed {
            Some((from, to)) if *from == preset.name => match rename_ui(ui, from, to, presets) {
                Renaming::InProgress => {}
                Renaming::Done(command) => {
                    commands.push(*command);
                    renamed = None;
                }
                Renaming::Cancelled => renamed = None,
            },
            _ => match own_row_ui(ui, pane, preset) {
                Some(OwnAction::Choose) => *chosen = Some(preset.chain.clone()),
                Some(OwnAction::Rename) => {
                    renamed = Some((preset.name.clone(), preset.name.clone()));
                }
                Some(OwnAction::Delete) => {
                    let delete = PresetCommand::Delete(preset.name.clone());
                    commands.push(Command::Preset(delete));
                }
                None => {}
            },
        }
    }
    ui.data_mut(|data| match renamed {
        Some(renamed) => {
            data.insert_temp(id, renamed);
        }
        None => data.remove::<(String, String)>(id),
    });
}

enum OwnAction {
    Choose,
    Rename,
    Delete,
}

fn own_row_ui(ui: &mut Ui, pane: &Pane, preset: &OwnPreset) -> Option<OwnAction> {
    let name = &preset.name;
    let mut action = None;
    let area = vec2(ui.available_width(), 32.0);
    ui.allocate_ui_with_layout(area, Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        if icon_button(ui, Icon::Close, &format!("Delete the preset {name}")).clicked() {
            action = Some(OwnAction::Delete);
        }
        let label = format!("Rename the preset {name}");
        if ui.add(Button::new("Rename").name(&label).quiet()).clicked() {
            action = Some(OwnAction::Rename);
        }
        if row_ui(ui, pane, name, &preset.chain, &[]) {
            action = Some(OwnAction::Choose);
        }
    });
    action
}

/// The state of a rename after a frame.
enum Renaming {
    InProgress,
    Done(Box<Command>),
    Cancelled,
}

/// Draws the field for renaming a preset.
fn rename_ui(ui: &mut Ui, from: &str, to: &mut String, presets: &[OwnPreset]) -> Renaming {
    let name = to.trim().to_owned();
    let taken = name != from && presets.iter().any(|preset| preset.name == name);
    let is_valid = !name.is_empty() && !taken;
    let mut cancelled = false;
    let label = format!("New name for {from}");
    let name_field = NameField {
        label: &label,
        hint: from,
    };
    let (field, confirmed) = name_field.ui(ui, to, |ui| {
        cancelled = ui.add(Button::new("Cancel").quiet()).clicked();
        ui.add_enabled(is_valid, Button::new("Rename")).clicked()
    });
    if ui.memory(|memory| memory.focused().is_none()) {
        field.request_focus();
    }
    if taken {
        let sentence = format!("A preset named ‘{name}’ already exists");
        ui.horizontal(|ui| {
            ui.add_space(10.0);
            ui.label(Face::Small.text(sentence).color(Theme::of(ui).error));
        });
    }
    // Escape must not close the list as well.
    let escaped = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    if cancelled || escaped {
        return Renaming::Cancelled;
    }
    if confirmed && is_valid {
        let (from, to) = (from.to_owned(), name);
        let rename = Command::Preset(PresetCommand::Rename { from, to });
        return Renaming::Done(Box::new(rename));
    }
    Renaming::InProgress
}

/// Draws the title of the user's own presets, with the export and import buttons.
fn own_title_ui(ui: &mut Ui, presets: &[OwnPreset], commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        let title = Face::SmallMedium.text("Your presets");
        ui.label(title.color(Theme::of(ui).text_3));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            let export = ui.add_enabled(!presets.is_empty(), Button::new("Export…").quiet());
            let export = export.on_disabled_hover_text("Save a preset first");
            if export.clicked() {
                commands.push(Command::save(PresetsDocument));
            }
            if ui.add(Button::new("Import…").quiet()).clicked() {
                commands.push(Command::AskPath(PathPurpose::Presets));
            }
        });
    });
}
