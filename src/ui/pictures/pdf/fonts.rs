//! The fonts of a page: which glyphs it shows of each, and where.

use std::collections::BTreeMap;
use std::sync::Arc;

use resvg::tiny_skia::{Point, Transform};
use resvg::usvg::fontdb::{Database, ID};
use resvg::usvg::layout::{PositionedGlyph, Span};
use resvg::usvg::{FontOpticalSizing, FontVariation};
use skrifa::instance::{Location, Size};
use skrifa::raw::TableProvider as _;
use skrifa::{FontRef, GlyphId, MetadataProvider as _, Tag};
use subsetter::GlyphRemapper;

/// The units in which PDF measures the glyphs of a font, per em.
pub(super) const UNITS_PER_EM: f32 = 1000.0;

/// The axis of a variable font that follows the font size.
const OPTICAL_SIZE: [u8; 4] = *b"opsz";

/// The bits of a font's license, and their value if it must not be embedded.
const LICENSE_BITS: u16 = 0xF;
const RESTRICTED: u16 = 2;

/// The fonts of a page, in the order of their names.
pub(super) struct PageFonts {
    database: Arc<Database>,
    /// The fonts that were looked at; `None` can't be embedded.
    faces: BTreeMap<ID, Option<Arc<Face>>>,
    fonts: Vec<PageFont>,
}

/// A font as it is installed.
pub(super) struct Face {
    id: ID,
    pub data: Vec<u8>,
    /// Its index in a file with several fonts.
    pub index: u32,
}

/// A font with certain values on its axes, and its glyphs that the page shows.
pub(super) struct PageFont {
    pub face: Arc<Face>,
    /// The values on the axes that it has.
    pub axes: Vec<FontVariation>,
    pub glyphs: GlyphRemapper,
    /// The advance of each glyph, in [`UNITS_PER_EM`], by its number in the subset.
    pub widths: Vec<f32>,
    /// The characters that each glyph stands for.
    pub texts: Vec<String>,
    units_per_em: f32,
}

/// A glyph on the page.
pub(super) struct PlacedGlyph {
    /// The index of its font.
    pub font: usize,
    /// Its number in the subset.
    pub id: u16,
    /// The font size, in points of the drawing.
    pub size: f32,
    /// From its baseline to the drawing.
    pub transform: Transform,
    /// Its advance at this size.
    advance: f32,
}

impl PlacedGlyph {
    /// Returns whether another glyph stands on the same baseline, in the same font and size.
    pub(super) fn shares_line(&self, next: &Self) -> bool {
        let linear = |glyph: &Self| {
            let Transform { sx, kx, ky, sy, .. } = glyph.transform;
            [glyph.size, sx, kx, ky, sy]
        };
        let mut pairs = linear(self).into_iter().zip(linear(next));
        let is_same = |(here, there): (f32, f32)| (here - there).abs() < 1e-4;
        self.font == next.font
            && pairs.all(is_same)
            && self
                .start_of(next)
                .is_some_and(|start| start.y.abs() < 1e-2)
    }

    /// Returns how far left of this glyph's end another one on its line starts, in thousandths of
    /// the font size, or `None` if it starts there.
    pub(super) fn overlap(&self, next: &Self) -> Option<f32> {
        let start = self.start_of(next)?;
        let overlap = (self.advance - start.x) * UNITS_PER_EM / self.size;
        // A smaller distance can't be seen.
        (overlap.abs() >= 0.1).then_some(overlap)
    }

    /// Returns where another glyph starts, seen from this one.
    fn start_of(&self, next: &Self) -> Option<Point> {
        let mut start = Point::from_xy(next.transform.tx, next.transform.ty);
        self.transform.invert()?.map_point(&mut start);
        Some(start)
    }
}

impl PageFonts {
    /// Creates the empty list of a page.
    pub(super) fn new(database: &Arc<Database>) -> Self {
        Self {
            database: Arc::clone(database),
            faces: BTreeMap::new(),
            fonts: Vec::new(),
        }
    }

    /// Returns the fonts in the order of their names.
    pub(super) fn fonts(&self) -> &[PageFont] {
        &self.fonts
    }

    /// Adds a glyph to its font and returns where it is. Returns `None` if the font can't be
    /// embedded: some fonts are pictures, and some forbid it.
    pub(super) fn place(&mut self, span: &Span, glyph: &PositionedGlyph) -> Option<PlacedGlyph> {
        let index = self.font_of(span, glyph)?;
        let old = u16::try_from(glyph.id.0).ok()?;
        let font = self.fonts.get_mut(index)?;
        let id = font.glyphs.remap(old);
        let place = usize::from(id);
        if place >= font.widths.len() {
            font.widths
                .resize(place + 1, font.face.width(&font.axes, old));
            font.texts.resize(place + 1, String::new());
        }
        let text = font.texts.get_mut(place)?;
        if text.is_empty() {
            text.clone_from(&glyph.text);
        }
        let size = glyph.font_size();
        let scale = font.units_per_em / size;
        Some(PlacedGlyph {
            font: index,
            id,
            size,
            transform: glyph.outline_transform().pre_scale(scale, scale),
            advance: font.widths.get(place)? * size / UNITS_PER_EM,
        })
    }

    /// Returns the index of a glyph's font, which is added if it is new.
    fn font_of(&mut self, span: &Span, glyph: &PositionedGlyph) -> Option<usize> {
        let face = self.face(glyph.font)?;
        let font = face.font()?;
        let tags = font.axes().iter().map(|axis| axis.tag().to_be_bytes());
        let axes: Vec<FontVariation> = tags.filter_map(|tag| axis_value(span, tag)).collect();
        let mut known = self.fonts.iter();
        let found = known.position(|font| font.face.id == face.id && font.axes == axes);
        if found.is_some() {
            return found;
        }
        let units_per_em = f32::from(font.head().ok()?.units_per_em());
        self.fonts.push(PageFont {
            // A subset always has the glyph for missing characters, with the number 0.
            widths: vec![face.width(&axes, 0)],
            texts: vec![String::new()],
            face,
            axes,
            glyphs: GlyphRemapper::new(),
            units_per_em,
        });
        Some(self.fonts.len() - 1)
    }

    /// Returns a font, which is read the first time, or `None` if it can't be embedded.
    fn face(&mut self, id: ID) -> Option<Arc<Face>> {
        if let Some(face) = self.faces.get(&id) {
            return face.clone();
        }
        let read = |data: &[u8], index| Face {
            id,
            data: data.to_vec(),
            index,
        };
        let face = self.database.with_face_data(id, read);
        let face = face.filter(Face::can_be_embedded).map(Arc::new);
        self.faces.insert(id, face.clone());
        face
    }
}

impl Face {
    /// Returns the font, or `None` if its file is broken.
    pub(super) fn font(&self) -> Option<FontRef<'_>> {
        FontRef::from_index(&self.data, self.index).ok()
    }

    /// Returns whether it has outlines and its license permits to embed them.
    fn can_be_embedded(&self) -> bool {
        let Some(font) = self.font() else {
            return false;
        };
        let outlines = [b"glyf", b"CFF ", b"CFF2"];
        let mut tables = outlines
            .map(|tag| font.table_data(Tag::new(tag)))
            .into_iter();
        let license = font.os2().map_or(0, |table| table.fs_type());
        tables.any(|table| table.is_some()) && license & LICENSE_BITS != RESTRICTED
    }

    /// Returns the location of these values on its axes.
    pub(super) fn location(&self, axes: &[FontVariation]) -> Location {
        let values = axes.iter().map(|axis| (Tag::new(&axis.tag), axis.value));
        let font = self.font();
        font.map_or_else(Location::default, |font| font.axes().location(values))
    }

    /// Returns the advance of a glyph, in [`UNITS_PER_EM`].
    fn width(&self, axes: &[FontVariation], glyph: u16) -> f32 {
        let Some(font) = self.font() else {
            return 0.0;
        };
        let location = self.location(axes);
        let metrics = font.glyph_metrics(Size::new(UNITS_PER_EM), &location);
        metrics.advance_width(GlyphId::from(glyph)).unwrap_or(0.0)
    }
}

/// Returns the value of a span on an axis of its font, if it sets one.
fn axis_value(span: &Span, tag: [u8; 4]) -> Option<FontVariation> {
    let mut set = span.variations.iter().copied();
    set.find(|variation| variation.tag == tag).or_else(|| {
        let follows_size =
            tag == OPTICAL_SIZE && span.font_optical_sizing == FontOpticalSizing::Auto;
        follows_size.then(|| FontVariation::new(tag, span.font_size.get()))
    })
}
