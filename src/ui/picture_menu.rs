//! The menu of the plots as pictures: copied, saved, and in which size.

use egui::Ui;

use super::fonts::Face;
use super::theme::Theme;
use super::widgets::{Chip, checkbox, menu_item};
use crate::state::{Command, Document, PathPurpose, PictureFormat, PictureStyle, Plot};

/// The space left of the labels in a menu, in points.
const INDENT: f32 = 10.0;

/// The width of the labels before the choices, in points.
const LABEL: f32 = 68.0;

/// Draws a menu item for each plot to be copied or saved, and the choices for all of them. The choices
/// leave the menu open.
pub(super) fn picture_menu_ui(ui: &mut Ui, style: &mut PictureStyle, commands: &mut Vec<Command>) {
    for plot in Plot::ALL {
        let label = format!("Copy {}", plot.name().to_lowercase());
        if menu_item(ui, &label, "as an image", false).clicked() {
            commands.push(Command::CopyPicture(plot));
            ui.close();
        }
    }
    ui.separator();
    picture_files_ui(ui, commands);
    ui.separator();
    style_ui(ui, style);
}

/// Draws a menu item for each plot and picture format.
pub(super) fn picture_files_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    for plot in Plot::ALL {
        for format in PictureFormat::ALL {
            let kind = format.extension().to_uppercase();
            let label = format!("{} as {kind}…", plot.name());
            if menu_item(ui, &label, "", false).clicked() {
                let document = Document::Picture(plot, format);
                commands.push(Command::AskPath(PathPurpose::Save(document)));
                ui.close();
            }
        }
    }
}

/// Draws the width, the scale and the paper of pictures.
fn style_ui(ui: &mut Ui, style: &mut PictureStyle) {
    row_ui(ui, "Width", |ui| {
        for width in PictureStyle::WIDTHS {
            let label = width.map_or_else(|| "usual".to_owned(), |width| width.to_string());
            let name = format!("Picture width {label}");
            if choice_ui(ui, &label, &name, style.width == width) {
                style.width = width;
            }
        }
    });
    row_ui(ui, "PNG scale", |ui| {
        for scale in PictureStyle::SCALES {
            let (label, name) = (format!("{scale}×"), format!("Picture scale {scale}"));
            if choice_ui(ui, &label, &name, style.scale == scale) {
                style.scale = scale;
            }
        }
    });
    ui.horizontal(|ui| {
        ui.add_space(INDENT);
        let label = Face::Small.text("Transparent background");
        checkbox(ui, &mut style.transparent, label);
    });
}

fn row_ui(ui: &mut Ui, label: &str, choices: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.add_space(INDENT);
        let theme = Theme::of(ui);
        let width = ui
            .label(Face::Small.text(label).color(theme.text_3))
            .rect
            .width();
        ui.add_space((LABEL - width).max(0.0));
        choices(ui);
    });
}

/// Draws one of several choices. Returns whether it was clicked.
fn choice_ui(ui: &mut Ui, label: &str, name: &str, selected: bool) -> bool {
    let chip = Chip::new(label).name(name).quiet();
    ui.add(chip.open(selected)).clicked()
}

#[cfg(test)]
mod tests {
    use egui::vec2;

    use crate::state::tests::written;
    use crate::ui::testing::{press, window_of};

    #[test]
    fn the_size_of_pictures_is_chosen_in_their_menu() {
        let mut window = window_of(vec2(1280.0, 800.0), written());
        press(&mut window, "Export a picture");
        press(&mut window, "Picture width 1280");
        press(&mut window, "Picture scale 4");
        press(&mut window, "Transparent background");
        let style = window.state().view.picture;
        assert_eq!(
            (style.width, style.scale, style.transparent),
            (Some(1280), 4, true)
        );
    }
}
