//! The colors of a picture, and the conversion to grays.

use std::sync::Arc;

use egui::epaint::ClippedShape;
use egui::epaint::shape_transform::adjust_colors;
use egui::{Color32, Shape};

use crate::design::theme::{Theme, gray};
use crate::state::PictureTheme;

/// The colors of a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Palette {
    Dark,
    /// The light theme on white.
    #[default]
    Light,
    /// The grays of the light theme on white. Letters, dashes and end marks distinguish the panes.
    Print,
}

impl Palette {
    /// Returns the palette for the user's choice, in a window with the dark or the light theme.
    pub const fn of(choice: PictureTheme, window_is_dark: bool) -> Self {
        match choice {
            PictureTheme::Window if window_is_dark => Self::Dark,
            PictureTheme::Dark => Self::Dark,
            PictureTheme::Window | PictureTheme::Light => Self::Light,
            PictureTheme::Print => Self::Print,
        }
    }

    /// Returns the theme that the picture is drawn in.
    pub(super) const fn theme(self) -> &'static Theme {
        Theme::dark_or_light(matches!(self, Self::Dark))
    }

    /// Returns the color of the page.
    pub(super) const fn paper(self) -> Color32 {
        match self {
            Self::Dark => self.theme().surface_1,
            // In the light theme, the popup color is pure white, like paper.
            Self::Light | Self::Print => self.theme().popup,
        }
    }
}

/// Replaces every color by the gray of the same luminance.
pub(super) fn to_grays(clipped_shapes: &mut [ClippedShape]) {
    for clipped in clipped_shapes {
        adjust_colors(&mut clipped.shape, |color| *color = gray(*color));
        sections_to_grays(&mut clipped.shape);
    }
}

/// Replaces the colors of a text's sections, from which SVG text is made.
fn sections_to_grays(shape: &mut Shape) {
    match shape {
        Shape::Vec(shapes) => shapes.iter_mut().for_each(sections_to_grays),
        Shape::Text(text) => {
            let galley = Arc::make_mut(&mut text.galley);
            for section in &mut Arc::make_mut(&mut galley.job).sections {
                // The placeholder stands for the fallback color.
                if section.format.color != Color32::PLACEHOLDER {
                    section.format.color = gray(section.format.color);
                }
            }
        }
        _ => {}
    }
}
