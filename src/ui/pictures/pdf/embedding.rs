//! Writes the fonts of a page into its PDF: subsets that contain only the glyphs shown, with the
//! characters that they stand for, so that the text can be searched and copied.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Name, Pdf, Rect, Ref, Str};
use skrifa::instance::Size;
use skrifa::string::StringId;
use skrifa::{FontRef, MetadataProvider as _, Tag};

use super::compressed;
use super::fonts::{PageFont, UNITS_PER_EM};
use crate::ui::pictures::PictureError;

/// Says that glyphs are addressed by their number in the subset.
const SYSTEM: SystemInfo<'_> = SystemInfo {
    registry: Str(b"Adobe"),
    ordering: Str(b"Identity"),
    supplement: 0,
};

/// The encoding in which a glyph is written as its number, in two bytes.
const ENCODING: Name<'_> = Name(b"Identity-H");

/// The subset of a font, in the form that PDF wants.
struct Subset {
    bytes: Vec<u8>,
    /// Whether its outlines are those of PostScript, not of TrueType.
    is_cff: bool,
}

impl Subset {
    fn of(font: &PageFont) -> Result<Self, PictureError> {
        let axes = font.axes.iter();
        let axes: Vec<_> = axes
            .map(|axis| (subsetter::Tag::new(&axis.tag), axis.value))
            .collect();
        let (data, index) = (&font.face.data, font.face.index);
        let subset = subsetter::subset_with_variations(data, index, &axes, &font.glyphs);
        let bytes = subset.map_err(|error| PictureError::PdfFailed {
            message: format!("a font could not be embedded: {error}"),
        })?;
        let outlines = FontRef::new(&bytes).ok();
        let outlines = outlines.and_then(|font| font.table_data(Tag::new(b"CFF ")));
        Ok(match outlines.map(|table| table.as_bytes().to_vec()) {
            Some(bytes) => Self {
                bytes,
                is_cff: true,
            },
            None => Self {
                bytes,
                is_cff: false,
            },
        })
    }

    /// Returns the name of the subset of a font. Its first letters tell it from other subsets of
    /// the same font.
    fn name(&self, font: &PageFont) -> String {
        let mut hasher = DefaultHasher::new();
        self.bytes.hash(&mut hasher);
        let mut rest = hasher.finish();
        let letters = (0..6).map(|_| {
            let letter = (rest % 26) as u8;
            rest /= 26;
            char::from(b'A' + letter)
        });
        let tag: String = letters.collect();
        let found = font.face.font().and_then(|font| {
            let names = font.localized_strings(StringId::POSTSCRIPT_NAME);
            Some(names.english_or_first()?.to_string())
        });
        let mut name = found.unwrap_or_default();
        name.retain(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        name.truncate(64);
        for axis in &font.axes {
            let tag = axis.tag.map(char::from);
            name.push('-');
            name.extend(tag.iter().filter(|c| c.is_ascii_alphanumeric()));
            name.push_str(&axis.value.to_string());
        }
        format!("{tag}+{name}")
    }
}

/// A font that is being written.
struct FontWriter<'a> {
    font: &'a PageFont,
    subset: Subset,
    name: String,
    glyphs: Ref,
    descriptor: Ref,
    characters: Ref,
    file: Ref,
}

/// Writes a font and returns its object.
pub(super) fn write_font(
    pdf: &mut Pdf,
    next: &mut Ref,
    font: &PageFont,
) -> Result<Ref, PictureError> {
    let subset = Subset::of(font)?;
    let writer = FontWriter {
        name: subset.name(font),
        font,
        subset,
        glyphs: next.bump(),
        descriptor: next.bump(),
        characters: next.bump(),
        file: next.bump(),
    };
    let id = next.bump();
    writer.write(pdf, id)?;
    Ok(id)
}

impl FontWriter<'_> {
    fn write(&self, pdf: &mut Pdf, id: Ref) -> Result<(), PictureError> {
        let mut name = self.name.clone();
        if self.subset.is_cff {
            name.push_str("-Identity-H");
        }
        pdf.type0_font(id)
            .base_font(Name(name.as_bytes()))
            .encoding_predefined(ENCODING)
            .descendant_font(self.glyphs)
            .to_unicode(self.characters);
        self.write_glyphs(pdf);
        self.write_descriptor(pdf);
        pdf.cmap(self.characters, &compressed(&self.characters())?)
            .filter(Filter::FlateDecode);
        let bytes = compressed(&self.subset.bytes)?;
        let mut stream = pdf.stream(self.file, &bytes);
        stream.filter(Filter::FlateDecode);
        if self.subset.is_cff {
            stream.pair(Name(b"Subtype"), Name(b"CIDFontType0C"));
        }
        Ok(())
    }

    fn write_glyphs(&self, pdf: &mut Pdf) {
        let mut glyphs = pdf.cid_font(self.glyphs);
        glyphs
            .subtype(if self.subset.is_cff {
                CidFontType::Type0
            } else {
                CidFontType::Type2
            })
            .base_font(Name(self.name.as_bytes()))
            .system_info(SYSTEM)
            .font_descriptor(self.descriptor)
            .default_width(0.0);
        if !self.subset.is_cff {
            glyphs.cid_to_gid_map_predefined(Name(b"Identity"));
        }
        let widths = self.font.widths.iter().copied();
        glyphs.widths().consecutive(0, widths);
    }

    fn write_descriptor(&self, pdf: &mut Pdf) {
        let face = &self.font.face;
        let location = face.location(&self.font.axes);
        let size = Size::new(UNITS_PER_EM);
        let metrics = face.font().map(|font| font.metrics(size, &location));
        let metrics = metrics.unwrap_or_default();
        let mut flags = FontFlags::SYMBOLIC;
        flags.set(FontFlags::FIXED_PITCH, metrics.is_monospace);
        flags.set(FontFlags::ITALIC, metrics.italic_angle != 0.0);
        let bounds = metrics.bounds.unwrap_or_default();
        let mut axes = self.font.axes.iter();
        let weight = axes.find(|axis| axis.tag == *b"wght");
        let weight = weight.map_or(400.0, |axis| axis.value);
        let mut descriptor = pdf.font_descriptor(self.descriptor);
        descriptor
            .name(Name(self.name.as_bytes()))
            .flags(flags)
            .bbox(Rect::new(
                bounds.x_min,
                bounds.y_min,
                bounds.x_max,
                bounds.y_max,
            ))
            .italic_angle(metrics.italic_angle)
            .ascent(metrics.ascent)
            .descent(metrics.descent)
            .cap_height(metrics.cap_height.unwrap_or(metrics.ascent))
            // An estimate from the weight; viewers use it only for a missing font.
            .stem_v(10.0 + 0.244 * (weight - 50.0));
        if self.subset.is_cff {
            descriptor.font_file3(self.file);
        } else {
            descriptor.font_file2(self.file);
        }
    }

    /// Returns the characters of each glyph, as PDF writes them.
    fn characters(&self) -> Vec<u8> {
        let mut characters = UnicodeCmap::new(Name(b"Custom"), SYSTEM);
        for (id, text) in (0_u16..).zip(&self.font.texts) {
            // A character of several glyphs is that of one of them.
            if !text.is_empty() {
                characters.pair_with_multiple(id, text.chars());
            }
        }
        characters.finish().into_vec()
    }
}
