//! Reads a drawing back with its text shaped in the bundled faces, for every format but its own SVG.
//! Scripts that they lack fall back to system fonts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use resvg::usvg::{self, FallbackSelectionFn, FontResolver, Tree, fontdb, roxmltree};

use super::PictureError;
use crate::design::fonts;
use crate::state::ReadingFont;

/// A drawing as shapes and positioned glyphs, with what it says about itself.
pub(super) struct VectorDrawing {
    pub tree: Tree,
    pub title: String,
    pub description: String,
}

impl VectorDrawing {
    /// Reads a drawing.
    pub(super) fn of(svg: &str) -> Result<Self, PictureError> {
        let unreadable = |message| PictureError::Unreadable { message };
        let document =
            roxmltree::Document::parse(svg).map_err(|error| unreadable(error.to_string()))?;
        let words = |name: &str| {
            let mut children = document.root_element().children();
            let child =
                children.find(|child| child.has_tag_name(("http://www.w3.org/2000/svg", name)));
            let text = child.and_then(|child| child.text());
            text.unwrap_or_default().to_owned()
        };
        let options = usvg::Options {
            fontdb: Arc::new(faces()),
            font_resolver: FontResolver {
                select_font: FontResolver::default_font_selector(),
                select_fallback: fallback(),
            },
            ..usvg::Options::default()
        };
        let tree = Tree::from_xmltree(&document, &options)
            .map_err(|error| unreadable(error.to_string()))?;
        Ok(Self {
            title: words("title"),
            description: words("desc"),
            tree,
        })
    }
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
