//! Writes a drawing as a PDF of one page, with text as text in embedded subsets of its fonts.

mod content;
mod embedding;
mod fonts;

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::writers::Resources;
use pdf_writer::{Filter, Finish as _, Name, Pdf, Rect, Ref, TextStr};

use self::content::{PageContent, font_name, opacity_name};
use self::embedding::write_font;
use super::PictureError;
use super::vector::VectorDrawing;

/// The length of a drawing's point on paper, 1/96 inch as in CSS, in the unit of PDF, 1/72 inch.
const PAPER_UNITS: f32 = 72.0 / 96.0;

/// Writes a drawing as a page of its size on paper.
pub(super) fn pdf(svg: &str) -> Result<Vec<u8>, PictureError> {
    let drawing = VectorDrawing::of(svg)?;
    let size = drawing.tree.size();
    let (width, height) = (size.width() * PAPER_UNITS, size.height() * PAPER_UNITS);
    let mut content = PageContent::new(drawing.tree.fontdb());
    // PDF counts upward from the bottom of the page.
    let page = [PAPER_UNITS, 0.0, 0.0, -PAPER_UNITS, 0.0, height];
    content.draw(drawing.tree.root(), page);

    let mut pdf = Pdf::new();
    let mut next = Ref::new(1);
    let [catalog, pages, page, info] = [(); 4].map(|()| next.bump());
    let mut dictionary = pdf.catalog(catalog);
    dictionary.pages(pages);
    dictionary.viewer_preferences().display_doc_title(true);
    dictionary.finish();
    pdf.pages(pages).kids([page]).count(1);
    let used = Used::write(&mut pdf, &mut next, content)?;
    let mut dictionary = pdf.page(page);
    dictionary
        .media_box(Rect::new(0.0, 0.0, width, height))
        .parent(pages)
        .contents(used.stream);
    dictionary.group().transparency().color_space().device_rgb();
    used.name(&mut dictionary.resources());
    dictionary.finish();
    let creator = concat!("Quartet ", env!("CARGO_PKG_VERSION"));
    pdf.document_info(info)
        .title(TextStr(&drawing.title))
        .subject(TextStr(&drawing.description))
        .creator(TextStr(creator));
    Ok(pdf.finish())
}

/// The objects that a page uses.
struct Used {
    /// What it paints.
    stream: Ref,
    opacities: Vec<Ref>,
    fonts: Vec<Ref>,
}

impl Used {
    /// Writes what a page paints, and the opacities and fonts that it refers to.
    fn write(pdf: &mut Pdf, next: &mut Ref, content: PageContent) -> Result<Self, PictureError> {
        let (operators, opacities, fonts) = content.finish();
        let stream = next.bump();
        pdf.stream(stream, &compressed(&operators)?)
            .filter(Filter::FlateDecode);
        let opacities = opacities.into_iter().map(|opacity| {
            let id = next.bump();
            let [fill, stroke] = opacity.map(|alpha| f32::from(alpha) / 255.0);
            pdf.ext_graphics(id)
                .non_stroking_alpha(fill)
                .stroking_alpha(stroke);
            id
        });
        let opacities = opacities.collect();
        let fonts = fonts.fonts().iter();
        let fonts = fonts.map(|font| write_font(pdf, next, font));
        Ok(Self {
            stream,
            opacities,
            fonts: fonts.collect::<Result<_, _>>()?,
        })
    }

    /// Gives the opacities and the fonts the names by which the page refers to them.
    fn name(&self, resources: &mut Resources<'_>) {
        let mut names = resources.ext_g_states();
        for (index, id) in self.opacities.iter().enumerate() {
            names.pair(Name(opacity_name(index).as_bytes()), *id);
        }
        names.finish();
        let mut names = resources.fonts();
        for (index, id) in self.fonts.iter().enumerate() {
            names.pair(Name(font_name(index).as_bytes()), *id);
        }
    }
}

/// Compresses a stream of a PDF.
fn compressed(bytes: &[u8]) -> Result<Vec<u8>, PictureError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.map_err(|error| PictureError::PdfFailed {
        message: error.to_string(),
    })
}
