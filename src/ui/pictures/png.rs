//! Rasterizes SVG to PNG with the bundled faces, so that it looks the same on every machine.
//! Scripts that they lack fall back to system fonts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, FallbackSelectionFn, FontResolver, fontdb};

use crate::design::fonts;
use crate::plots::count;
use crate::state::ReadingFont;

/// Why a picture could not be created. Every message can be shown to the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// The SVG is invalid.
    #[error("could not read the SVG drawing: {message}")]
    Unreadable { message: String },

    /// The picture exceeds the size limit or the available memory.
    #[error("a picture of {width} × {height} pixels is too large")]
    TooLarge { width: u32, height: u32 },

    /// The PNG encoder failed.
    #[error("could not encode the picture as PNG: {message}")]
    EncodingFailed { message: String },
}

/// The maximum width and height, in pixels.
const MAX_SIDE: u32 = 16_384;

/// A picture as rows of pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Width and height.
    pub size: [usize; 2],
    /// Red, green, blue and alpha of each pixel; the colors are multiplied by alpha.
    pub rgba: Vec<u8>,
}

/// Rasterizes a drawing at `scale` pixels per point and encodes it as PNG; a scale of 2 or 3 is
/// sharp in print.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PictureError> {
    let encoded = rasterized(svg, scale)?.encode_png();
    encoded.map_err(|error| PictureError::EncodingFailed {
        message: error.to_string(),
    })
}

/// Rasterizes a drawing at `scale` pixels per point.
pub fn pixels(svg: &str, scale: f32) -> Result<Pixels, PictureError> {
    let pixmap = rasterized(svg, scale)?;
    Ok(Pixels {
        size: [pixmap.width() as usize, pixmap.height() as usize],
        rgba: pixmap.data().to_vec(),
    })
}

fn rasterized(svg: &str, scale: f32) -> Result<Pixmap, PictureError> {
    let options = usvg::Options {
        fontdb: Arc::new(faces()),
        font_resolver: FontResolver {
            select_font: FontResolver::default_font_selector(),
            select_fallback: fallback(),
        },
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| PictureError::Unreadable {
        message: error.to_string(),
    })?;
    let side = |points: f32| count(f64::from((points * scale).round().max(1.0))) as u32;
    let (width, height) = (side(tree.size().width()), side(tree.size().height()));
    let fits = width <= MAX_SIDE && height <= MAX_SIDE;
    let pixmap = fits.then(|| Pixmap::new(width, height)).flatten();
    let Some(mut pixmap) = pixmap else {
        return Err(PictureError::TooLarge { width, height });
    };
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixmap.as_mut(),
    );
    Ok(pixmap)
}

/// Selects a fallback font for a character that the bundled faces lack. System fonts are loaded
/// only then.
fn fallback() -> FallbackSelectionFn<'static> {
    let select = FontResolver::default_fallback_selector();
    let system_fonts_loaded = AtomicBool::new(false);
    Box::new(move |character, tried, database| {
        let found = closest_face(&select, character, tried, database);
        if found.is_some() || system_fonts_loaded.swap(true, Ordering::Relaxed) {
            return found;
        }
        Arc::make_mut(database).load_system_fonts();
        closest_face(&select, character, tried, database)
    })
}

/// Returns the first face that has the character and matches the style, width and weight of the
/// face tried first, or else the first face that has it.
fn closest_face(
    select: &FallbackSelectionFn<'_>,
    character: char,
    tried: &[fontdb::ID],
    database: &mut Arc<fontdb::Database>,
) -> Option<fontdb::ID> {
    let traits = |database: &fontdb::Database, id| {
        let face = database.face(id)?;
        Some((face.style, face.stretch, face.weight))
    };
    let wanted = traits(database, *tried.first()?);
    let mut rejected = tried.to_vec();
    let mut first = None;
    while let Some(found) = select(character, &rejected, database) {
        if traits(database, found) == wanted {
            return Some(found);
        }
        first = first.or(Some(found));
        rejected.push(found);
    }
    first
}

/// Returns the window's faces. The SVG text selects their weights.
fn faces() -> fontdb::Database {
    let mut database = fontdb::Database::new();
    let faces = fonts::definitions(ReadingFont::default()).font_data;
    for name in ["inter", "literata", "mono", "emoji"] {
        if let Some(face) = faces.get(name) {
            database.load_font_source(fontdb::Source::Binary(face.font.clone()));
        }
    }
    database
}
