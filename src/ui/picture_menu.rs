//! The menu that exports a picture: its colors, its format and what it shows.

use egui::{Popup, PopupCloseBehavior, Ui};

use super::fonts::Face;
use super::icons::{Icon, icon_button};
use super::theme::Theme;
use super::widgets::{Chip, menu_item};
use crate::state::{
    Command, Document, PathPurpose, PictureFormat, PictureTheme, Plot, ViewChoices,
};

/// The width of the labels before the choices.
const LABEL: f32 = 52.0;

/// Draws the button that opens the menu.
pub(super) fn picture_button_ui(
    ui: &mut Ui,
    has_text: bool,
    view: &mut ViewChoices,
    commands: &mut Vec<Command>,
) {
    let response = icon_button(ui, Icon::Export, "Export a picture");
    Popup::menu(&response)
        .width(280.0)
        .gap(4.0)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("Export a picture")
        .show(|ui| picture_items_ui(ui, has_text, view, commands));
}

/// Draws the choices of colors and format, and an item for each picture. Without a text, only the
/// logits set by hand can be exported.
pub(super) fn picture_items_ui(
    ui: &mut Ui,
    has_text: bool,
    view: &mut ViewChoices,
    commands: &mut Vec<Command>,
) {
    choices_ui(ui, "Colors", |ui| {
        for theme in PictureTheme::ALL {
            let name = format!("Picture colors: {}", theme.name().to_lowercase());
            let chip = Chip::new(theme.name()).name(&name).quiet();
            if ui.add(chip.open(view.picture_theme == theme)).clicked() {
                view.picture_theme = theme;
            }
        }
    });
    choices_ui(ui, "Format", |ui| {
        for format in PictureFormat::ALL {
            let label = format.extension().to_uppercase();
            let name = format!("Picture format: {label}");
            let chip = Chip::new(&label).name(&name).quiet();
            if ui.add(chip.open(view.picture_format == format)).clicked() {
                view.picture_format = format;
            }
        }
    });
    for plot in Plot::ALL {
        let kind = view.picture_format.extension().to_uppercase();
        let label = format!("{} as {kind}…", plot.name());
        let possible = has_text || plot == Plot::ByHand;
        let item = |ui: &mut Ui| menu_item(ui, &label, "", false).clicked();
        if ui.add_enabled_ui(possible, item).inner {
            let document = Document::Picture(plot, view.picture_format);
            commands.push(Command::AskPath(PathPurpose::Save(document)));
            ui.close();
        }
    }
}

fn choices_ui(ui: &mut Ui, label: &str, choices: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.add_space(10.0);
        let label = Face::Small.text(label).color(Theme::of(ui).text_3);
        let left = ui.cursor().left();
        ui.label(label);
        ui.add_space((left + LABEL - ui.cursor().left()).max(0.0));
        choices(ui);
    });
}
