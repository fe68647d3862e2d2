//! Turns the text of a drawing into outlines, so that it looks the same without our fonts and keeps
//! right-to-left words in editors that lose them.

use resvg::usvg::{Indent, WriteOptions};

use super::PictureError;
use super::shapes::escaped;
use super::vector::VectorDrawing;

/// The decimals of a coordinate: a hundredth of a point is beyond what a printer shows.
const N_DECIMALS: u8 = 2;

/// Returns the drawing with paths for its text.
pub(super) fn outlined(svg: &str) -> Result<String, PictureError> {
    let options = WriteOptions {
        coordinates_precision: N_DECIMALS,
        indent: Indent::None,
        ..WriteOptions::default()
    };
    let drawing = VectorDrawing::of(svg)?;
    let paths = drawing.tree.to_string(&options);
    let Some((root, shapes)) = paths.split_once('>') else {
        return Ok(paths);
    };
    // The library leaves out what describes the drawing.
    let (title, description) = (escaped(&drawing.title), escaped(&drawing.description));
    Ok(format!(
        "{root} role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>\n{}\n",
        shapes.trim()
    ))
}
