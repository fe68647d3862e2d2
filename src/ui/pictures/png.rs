//! Rasterizes SVG to PNG with the bundled faces, so that it looks the same on every machine.

use flate2::Crc;
use resvg::tiny_skia::{Pixmap, Transform};

use super::vector::VectorDrawing;
use crate::plots::count;

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

    /// A font could not be embedded.
    #[error("could not write the picture as PDF: {message}")]
    PdfFailed { message: String },
}

/// The maximum width and height, in pixels.
const MAX_SIDE: u32 = 16_384;

/// The length of the signature of a PNG and its first chunk, after which others may follow.
const HEAD: usize = 8 + 25;

/// The points of a drawing in a meter: 96 in an inch, as in CSS.
const POINTS_PER_METER: f64 = 96.0 / 0.0254;

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
    let encoded = encoded.map_err(|error| PictureError::EncodingFailed {
        message: error.to_string(),
    })?;
    Ok(with_size_on_paper(&encoded, scale))
}

/// Says how large the pixels of a PNG are, so that it has the same size on paper as the PDF.
fn with_size_on_paper(png: &[u8], scale: f32) -> Vec<u8> {
    let per_meter = count(f64::from(scale) * POINTS_PER_METER) as u32;
    let mut chunk = b"pHYs".to_vec();
    chunk.extend(per_meter.to_be_bytes().repeat(2));
    // The unit is the meter.
    chunk.push(1);
    let mut sum = Crc::new();
    sum.update(&chunk);
    let length = 9_u32.to_be_bytes();
    let (head, rest) = png.split_at(HEAD.min(png.len()));
    [head, &length, &chunk, &sum.sum().to_be_bytes(), rest].concat()
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
    let tree = VectorDrawing::of(svg)?.tree;
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
