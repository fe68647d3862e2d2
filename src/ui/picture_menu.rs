//! The menu that exports a picture: its colors, its size, where it goes and what it shows.

use egui::{Popup, PopupCloseBehavior, Ui};

use super::loop_view::{beam_tree, draft_strip};
use super::shown_pictures::shown_plots;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, checkbox, dense_menu_item, scrolled};
use crate::state::{
    AppState, Command, PictureDocument, PictureFormat, PictureStyle, PictureTarget, PictureTheme,
    PictureWidth, Plot, Verification, ViewChoices,
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

/// Lists all pictures, those of what is on screen first. Without a text, only the logits set by hand
/// can be drawn.
pub(super) fn pictures(state: &AppState) -> Vec<Offer> {
    let n_texts = state.generations().iter().flatten().count();
    let offer = |plot| Offer {
        plot,
        enabled: match plot {
            Plot::ByHand => true,
            Plot::Compare => n_texts > 1,
            _ => n_texts > 0,
        },
    };
    let gaps = is_verified(state).then_some(Plot::Gaps);
    let drafts = draft_strip(state).map(|_| Plot::Drafts);
    let beams = beam_tree(state).map(|_| Plot::Beams);
    let all = Plot::all().chain(gaps).chain(beams).chain(drafts);
    let shown = shown_plots(state);
    let mut all: Vec<Plot> = all.collect();
    all.sort_by_key(|plot| !shown.contains(plot));
    all.into_iter().map(offer).collect()
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
        let target = view.picture_target;
        let label = match target.format() {
            None => format!("Copy {} as an image", plot.name_in_sentence()),
            Some(_) => format!("{} as {}…", plot.name(), target.name()),
        };
        let item = |ui: &mut Ui| dense_menu_item(ui, &label).clicked();
        if ui.add_enabled_ui(enabled, item).inner {
            let document = |format| PictureDocument { plot, format };
            commands.push(match target.format() {
                Some(format) => Command::save(document(format)),
                None => Command::copy(document(PictureFormat::Svg)),
            });
            ui.close();
        }
    }
}

/// Draws the width, the scale, the background and the text of pictures.
fn style_ui(ui: &mut Ui, target: PictureTarget, style: &mut PictureStyle) {
    for (row, widths) in [
        ("Width", &PictureWidth::ON_SCREEN[..]),
        ("On paper", &PictureWidth::ON_PAPER),
    ] {
        row_ui(ui, row, |ui| {
            for width in widths.iter().copied() {
                let name = format!("Picture width {}", width.name());
                if choice_ui(ui, &width.name(), &name, style.width == width) {
                    style.width = width;
                }
            }
        });
    }
    if matches!(target, PictureTarget::Png | PictureTarget::Clipboard) {
        row_ui(ui, "Scale", |ui| {
            for scale in PictureStyle::SCALES {
                let (label, name) = (format!("{scale}×"), format!("Picture scale {scale}"));
                if choice_ui(ui, &label, &name, style.scale == scale) {
                    style.scale = scale;
                }
            }
        });
    }
    let mut switch_ui = |label: &str, tip: &str, is_on: &mut bool| {
        ui.horizontal(|ui| {
            ui.add_space(INDENT);
            let response = checkbox(ui, is_on, Face::Small.text(label));
            if !tip.is_empty() {
                response.on_hover_text(tip);
            }
        });
    };
    switch_ui("Transparent background", "", &mut style.transparent);
    if target == PictureTarget::Svg {
        let tip = "Draws letters as shapes, for programs without Quartet’s fonts. The text can no \
                   longer be edited or searched";
        switch_ui("Text as outlines", tip, &mut style.outlined_text);
    }
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
    use egui_kittest::kittest::Queryable as _;

    use crate::state::PictureWidth;
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
            (PictureWidth::Points(1280), 4, true)
        );
    }

    #[test]
    fn a_picture_for_paper_is_a_pdf_as_wide_as_a_column() {
        let mut window = window_of(vec2(1280.0, 800.0), written());
        press(&mut window, "Export a picture");
        press(&mut window, "Picture width 85 mm");
        press(&mut window, "Picture format: PDF");
        assert!(window.query_by_label("Text as outlines").is_none());
        press(&mut window, "Picture format: SVG");
        press(&mut window, "Text as outlines");
        let view = window.state().view;
        assert_eq!(view.picture.width, PictureWidth::Millimeters(85));
        assert!(view.picture.outlined_text);
    }
}
