//! What a plot says and does to be a picture of its own.

use std::fmt;

use egui::{Color32, Ui};

/// The margin around a picture, in points.
pub const MARGIN: f32 = 20.0;

/// The space above the caption, and the height around a plot with a caption of two lines, in
/// points.
pub const CAPTION_GAP: f32 = 12.0;
pub const AROUND: f32 = 2.0 * MARGIN + CAPTION_GAP + 32.0;

/// A plot, a table or texts that can be a picture of their own.
pub trait PicturePlot: fmt::Debug {
    /// Returns its title.
    fn title(&self) -> &str;

    /// Returns the size of a picture that is legible in an article, in points. Texts and tables are
    /// as tall as their content.
    fn default_size(&self) -> [f32; 2];

    /// Draws it into the remaining space of `ui`, on a background of this color.
    fn draw(&self, ui: &mut Ui, paper: Color32);
}
