//! The menu that exports a picture: its colors, its size, where it goes and what it shows.

use egui::{Popup, PopupCloseBehavior, Ui};

use super::loop_view::{beam_tree, draft_strip};
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, checkbox, dense_menu_item, scrolled};
use crate::state::{
    AppState, Command, PictureDocument, PictureFormat, PictureStyle, PictureTarget, PictureTheme,
    Plot, Verification, ViewChoices,
};

/// The width of the menu, in points.
pub(super) const PICTURE_MENU_WIDTH: f32 = 300.0;

/// The space left of the labels in a menu, in points.
const INDENT: f32 = 10.0;

/// The width of the labels before the choices, in points.
const LABEL: f32 = 68.0;

/// The height of a row of choices, in points.
const ROW: f32 = 24.0;

/// A picture that the menu offers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    plot: Plot,
    /// Whether there is something to draw.
    enabled: bool,
}

/// Lists the pictures of what is on screen. Without a text, only the logits set by hand can be
/// drawn.
pub(super) fn pictures(state: &AppState) -> Vec<Offer> {
    let has_text = state.generations().iter().any(Option::is_some);
    let offer = |plot| Offer {
        plot,
        enabled: has_text || plot == Plot::ByHand,
    };
    let gaps = is_verified(state).then_some(Plot::Gaps);
    let drafts = draft_strip(state).map(|_| Plot::Drafts);
    let beams = beam_tree(state).map(|_| Plot::Beams);
    let all = Plot::all().chain(gaps).chain(beams).chain(drafts);
    all.map(offer).collect()
}

/// Returns the picture of the logits set by hand, which is always available.
pub(crate) const fn by_hand_picture() -> Offer {
    Offer {
        plot: Plot::ByHand,
        enabled: true,
    }
}

/// Returns whether the opened run was verified, so that the result can be drawn.
pub(super) fn is_verified(state: &AppState) -> bool {
    let verification = state.runs.verification.as_ref();
    verification.and_then(Verification::verdict).is_some()
}

/// Draws the button that opens the menu.
pub(crate) fn picture_button_ui(
    ui: &mut Ui,
    pictures: &[Offer],
    view: &mut ViewChoices,
    commands: &mut Vec<Command>,
) {
    let response = icon_button(ui, Icon::Export, "Export a picture");
    Popup::menu(&response)
        .width(PICTURE_MENU_WIDTH)
        .gap(4.0)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("Export a picture")
        .show(|ui| scrolled(ui, |ui| picture_items_ui(ui, pictures, view, commands)));
}

/// Draws the choices for all pictures, which leave the menu open, and an item for each picture.
pub(super) fn picture_items_ui(
    ui: &mut Ui,
    pictures: &[Offer],
    view: &mut ViewChoices,
    commands: &mut Vec<Command>,
) {
    // The rows are low, so that every picture fits a window 600 points high.
    ui.spacing_mut().interact_size.y = ROW;
    ui.spacing_mut().item_spacing.y = 1.0;
    row_ui(ui, "Colors", |ui| {
        for theme in PictureTheme::ALL {
            let name = format!("Picture colors: {}", theme.name().to_lowercase());
            if choice_ui(ui, theme.name(), &name, view.picture_theme == theme) {
                view.picture_theme = theme;
            }
        }
    });
    row_ui(ui, "Format", |ui| {
        for target in PictureTarget::ALL {
            let name = format!("Picture format: {}", target.name());
            if choice_ui(ui, target.name(), &name, view.picture_target == target) {
                view.picture_target = target;
            }
        }
    });
    style_ui(ui, view.picture_target, &mut view.picture);
    ui.add_space(4.0);
    ui.spacing_mut().item_spacing.y = 0.0;
    for Offer { plot, enabled } in pictures.iter().copied() {
        let label = match view.picture_target {
            PictureTarget::Clipboard => format!("Copy {} as an image", plot.name_in_sentence()),
            PictureTarget::Svg => format!("{} as SVG…", plot.name()),
            PictureTarget::Png => format!("{} as PNG…", plot.name()),
        };
        let item = |ui: &mut Ui| dense_menu_item(ui, &label).clicked();
        if ui.add_enabled_ui(enabled, item).inner {
            let save = |format| Command::save(PictureDocument { plot, format });
            commands.push(match view.picture_target {
                PictureTarget::Svg => save(PictureFormat::Svg),
                PictureTarget::Png => save(PictureFormat::Png),
                PictureTarget::Clipboard => Command::CopyPicture(plot),
            });
            ui.close();
        }
    }
}

/// Draws the width, the scale and the paper of pictures.
fn style_ui(ui: &mut Ui, target: PictureTarget, style: &mut PictureStyle) {
    row_ui(ui, "Width", |ui| {
        for width in PictureStyle::WIDTHS {
            let label = width.map_or_else(|| "default".to_owned(), |width| width.to_string());
            let name = format!("Picture width {label}");
            if choice_ui(ui, &label, &name, style.width == width) {
                style.width = width;
            }
        }
    });
    if target != PictureTarget::Svg {
        row_ui(ui, "Scale", |ui| {
            for scale in PictureStyle::SCALES {
                let (label, name) = (format!("{scale}×"), format!("Picture scale {scale}"));
                if choice_ui(ui, &label, &name, style.scale == scale) {
                    style.scale = scale;
                }
            }
        });
    }
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
        press(&mut window, "Picture format: PNG");
        press(&mut window, "Picture scale 4");
        press(&mut window, "Transparent background");
        let style = window.state().view.picture;
        assert_eq!(
            (style.width, style.scale, style.transparent),
            (Some(1280), 4, true)
        );
    }
}
