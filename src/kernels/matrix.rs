//! Weight matrices, packed for the micro-kernels.

use rayon::prelude::*;

use super::cache_line::CacheLine;
use super::format::{Format, Layout};
use super::{N_BLOCK, N_LANES};

/// A weight matrix, packed in tiles of 16 rows.
#[derive(Debug)]
pub struct Matrix {
    format: Format,
    n_rows: usize,
    width: usize,
    /// `[row / 16][step]`, each step the cache lines of its layout.
    lines: Vec<CacheLine>,
}

impl Matrix {
    /// Packs the blocks of a file, which hold one row after another. Returns `None` if they do not
    /// fill rows of this width, or if memory runs out.
    pub fn pack(format: Format, blocks: &[u8], width: usize) -> Option<Self> {
        let layout = format.layout();
        if width == 0 || !width.is_multiple_of(layout.n_file_values) {
            return None;
        }
        let n_row_bytes = width / layout.n_file_values * layout.n_file_bytes;
        if !blocks.len().is_multiple_of(n_row_bytes) {
            return None;
        }
        let n_rows = blocks.len() / n_row_bytes;
        let n_tile_lines = layout.n_tile_lines(width);
        let n_lines = n_rows.div_ceil(N_LANES).checked_mul(n_tile_lines)?;
        let mut lines = Vec::new();
        lines.try_reserve_exact(n_lines).ok()?;
        lines.par_extend((0..n_lines).into_par_iter().map(|_| CacheLine::ZERO));
        let tiles = lines.par_chunks_exact_mut(n_tile_lines);
        let rows = blocks.par_chunks(N_LANES * n_row_bytes);
        tiles.zip(rows).for_each(|(tile, rows)| {
            for (lane, row) in rows.chunks_exact(n_row_bytes).enumerate() {
                for (block, bytes) in row.chunks(layout.n_pack_bytes()).enumerate() {
                    (layout.pack)(tile, block, lane, bytes);
                }
            }
        });
        Some(Self {
            format,
            n_rows,
            width,
            lines,
        })
    }

    /// The storage format of the weights.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The number of outputs per row of inputs.
    pub const fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The length of a row of inputs.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// The size in memory, in bytes.
    pub const fn n_bytes(&self) -> usize {
        self.lines.len() * CacheLine::N_BYTES
    }

    /// The tiles, in row order.
    pub const fn tiles(&self) -> Tiles<'_> {
        Tiles {
            format: self.format,
            width: self.width,
            lines: self.lines.as_slice(),
        }
    }

    /// Appends the weights of one row in single precision. Does nothing if there is no such row.
    pub fn extend_with_row(&self, row: usize, values: &mut Vec<f32>) {
        let layout = self.format.layout();
        let mut tiles = self.lines.chunks_exact(layout.n_tile_lines(self.width));
        let Some(tile) = tiles.nth(row / N_LANES).filter(|_| row < self.n_rows) else {
            return;
        };
        let n_values = values.len() + self.width;
        for block in 0..self.width.div_ceil(N_BLOCK) {
            values.extend((layout.unpack)(tile, block, row % N_LANES).weights());
        }
        values.truncate(n_values);
    }
}

/// Adjacent tiles of a matrix.
#[derive(Debug, Clone, Copy)]
pub struct Tiles<'a> {
    /// The storage format of the weights.
    pub format: Format,
    /// The length of a row.
    pub width: usize,
    /// The cache lines of all tiles, one tile after another.
    pub lines: &'a [CacheLine],
}

impl<'a> Tiles<'a> {
    /// The number of tiles.
    pub const fn len(&self) -> usize {
        self.lines.len() / self.n_tile_lines()
    }

    /// The cache lines of each tile.
    pub fn iter(self) -> impl Iterator<Item = &'a [CacheLine]> {
        self.lines.chunks_exact(self.n_tile_lines())
    }

    /// Splits the tiles into chunks of `n_tiles`; the last one may be smaller.
    pub fn chunks(self, n_tiles: usize) -> impl Iterator<Item = Self> {
        let chunks = self.lines.chunks((n_tiles * self.n_tile_lines()).max(1));
        chunks.map(move |lines| Self { lines, ..self })
    }

    const fn n_tile_lines(&self) -> usize {
        self.format.layout().n_tile_lines(self.width)
    }
}

impl Layout {
    /// Bytes of the file that [`Self::pack`] takes at a time.
    const fn n_pack_bytes(&self) -> usize {
        self.n_file_bytes * N_BLOCK.div_ceil(self.n_file_values)
    }

    /// Cache lines of a tile whose rows have this width.
    pub const fn n_tile_lines(&self, width: usize) -> usize {
        width.div_ceil(self.n_step_values) * self.n_step_lines
    }
}
