//! SVG to PNG, in the bundled faces, so that it looks the same on every machine; scripts that they lack are set in
//! fonts of the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, FallbackSelectionFn, FontResolver, fontdb};

use crate::ui::fonts;
use crate::ui::plots::scale::count;

/// Why a picture could not be made. Every message is fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// The SVG is none.
    #[error("the drawing could not be read: {message}")]
    Unreadable {
        /// What the reader says.
        message: String,
    },

    /// There is no memory for so many pixels.
    #[error("a picture of {width} × {height} pixels is too large")]
    TooLarge {
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },

    /// The pixels could not be packed.
    #[error("the picture could not be packed as PNG: {message}")]
    Unpackable {
        /// What the packer says.
        message: String,
    },
}

/// The most pixels on a side.
const MOST_PIXELS: u32 = 16_384;

/// The drawing as PNG, with `scale` pixels for each of its points; 2 or 3 are sharp in print.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PictureError> {
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
    let fits = width <= MOST_PIXELS && height <= MOST_PIXELS;
    let pixmap = fits.then(|| Pixmap::new(width, height)).flatten();
    let Some(mut pixmap) = pixmap else {
        return Err(PictureError::TooLarge { width, height });
    };
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixmap.as_mut(),
    );
    pixmap
        .encode_png()
        .map_err(|error| PictureError::Unpackable {
            message: error.to_string(),
        })
}

/// Where our faces lack a letter, one of this machine's fonts has it; they are looked for only then.
fn fallback() -> FallbackSelectionFn<'static> {
    let select = FontResolver::default_fallback_selector();
    let looked = AtomicBool::new(false);
    Box::new(move |letter, tried, database| {
        let found = nearest(&select, letter, tried, database);
        if found.is_some() || looked.swap(true, Ordering::Relaxed) {
            return found;
        }
        Arc::make_mut(database).load_system_fonts();
        nearest(&select, letter, tried, database)
    })
}

/// Of the faces that have a letter the first whose style, width and weight are those of the first that was tried; else
/// the first of all.
fn nearest(
    select: &FallbackSelectionFn<'_>,
    letter: char,
    tried: &[fontdb::ID],
    database: &mut Arc<fontdb::Database>,
) -> Option<fontdb::ID> {
    let kind = |database: &fontdb::Database, id| {
        let face = database.face(id)?;
        Some((face.style, face.stretch, face.weight))
    };
    let wanted = kind(database, *tried.first()?);
    let mut passed = tried.to_vec();
    let mut first = None;
    while let Some(found) = select(letter, &passed, database) {
        if kind(database, found) == wanted {
            return Some(found);
        }
        first = first.or(Some(found));
        passed.push(found);
    }
    first
}

/// The faces of the window, each once; their weights are asked for by the text itself.
fn faces() -> fontdb::Database {
    let mut database = fontdb::Database::new();
    let faces = fonts::definitions().font_data;
    for name in ["inter", "literata", "mono"] {
        if let Some(face) = faces.get(name) {
            database.load_font_source(fontdb::Source::Binary(face.font.clone()));
        }
    }
    database
}
