//! Weight matrices, packed for the micro-kernels.

use std::convert::Infallible;

use rayon::prelude::*;

use super::cache_line::CacheLine;
use super::format::{Format, Layout};
use super::lines::Lines;
use super::{N_BLOCK, N_LANES};

/// How much of a file to read at a time, in bytes: little enough that the data is packed while it
/// is still in the cache of the core that read it.
const N_READ_BYTES: usize = 256 << 10;

/// A weight matrix, packed in tiles of 16 rows.
#[derive(Debug)]
pub struct Matrix {
    format: Format,
    n_rows: usize,
    width: usize,
    /// `[row / 16][step]`, each step the cache lines of its layout.
    lines: Lines,
}

impl Matrix {
    /// Packs the blocks of a file, which hold one row after another. Returns `None` if they do not
    /// fill rows of this width, or if memory runs out.
    pub fn pack(format: Format, blocks: &[u8], width: usize) -> Option<Self> {
        let n_row_bytes = format.layout().n_row_bytes(width)?;
        let n_rows = blocks.len() / n_row_bytes;
        if !blocks.len().is_multiple_of(n_row_bytes) {
            return None;
        }
        let Ok(packed) = Self::pack_from(format, [n_rows, width], |start, rows| {
            if let Some(blocks) = blocks.get(start..start + rows.len()) {
                rows.copy_from_slice(blocks);
            }
            Ok::<(), Infallible>(())
        });
        packed
    }

    /// Packs blocks that `read` fetches: it fills a buffer with the bytes that start at an offset.
    /// Several threads call it at a time, each for different rows. Returns `None` if the width is
    /// not a whole number of blocks, or if memory runs out, and the first error of `read`.
    pub fn pack_from<E: Send>(
        format: Format,
        [n_rows, width]: [usize; 2],
        read: impl Fn(usize, &mut [u8]) -> Result<(), E> + Sync,
    ) -> Result<Option<Self>, E> {
        let layout = format.layout();
        let Some(n_row_bytes) = layout.n_row_bytes(width) else {
            return Ok(None);
        };
        let n_tile_lines = layout.n_tile_lines(width);
        let n_lines = n_rows.div_ceil(N_LANES).checked_mul(n_tile_lines);
        let Some(mut lines) = n_lines.and_then(Lines::zeroed) else {
            return Ok(None);
        };
        let n_tile_bytes = N_LANES * n_row_bytes;
        let n_tiles = (N_READ_BYTES / n_tile_bytes).max(1);
        let pieces = lines.par_chunks_mut(n_tiles * n_tile_lines).enumerate();
        pieces.try_for_each_init(Vec::new, |rows, (index, tiles)| {
            let start = index * n_tiles * n_tile_bytes;
            rows.resize(
                (n_rows * n_row_bytes - start).min(n_tiles * n_tile_bytes),
                0,
            );
            read(start, rows)?;
            let tiles = tiles.chunks_exact_mut(n_tile_lines);
            for (tile, rows) in tiles.zip(rows.chunks(n_tile_bytes)) {
                layout.pack_tile(tile, rows, n_row_bytes);
            }
            Ok(())
        })?;
        Ok(Some(Self {
            format,
            n_rows,
            width,
            lines,
        }))
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
    pub fn n_bytes(&self) -> usize {
        self.lines.len() * CacheLine::N_BYTES
    }

    /// The tiles, in row order.
    pub fn tiles(&self) -> Tiles<'_> {
        Tiles {
            format: self.format,
            width: self.width,
            lines: &self.lines,
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

    /// Bytes of the file per row, or `None` if this width is not a whole number of blocks.
    const fn n_row_bytes(&self, width: usize) -> Option<usize> {
        if width == 0 || !width.is_multiple_of(self.n_file_values) {
            return None;
        }
        (width / self.n_file_values).checked_mul(self.n_file_bytes)
    }

    /// Packs up to 16 rows of the file. Goes through them side by side, so that the cache lines that
    /// they share are written while they are in the cache.
    fn pack_tile(&self, tile: &mut [CacheLine], rows: &[u8], n_row_bytes: usize) {
        let n_pack_bytes = self.n_pack_bytes();
        for block in 0..n_row_bytes.div_ceil(n_pack_bytes) {
            for (lane, row) in rows.chunks_exact(n_row_bytes).enumerate() {
                if let Some(bytes) = row.chunks(n_pack_bytes).nth(block) {
                    (self.pack)(tile, block, lane, bytes);
                }
            }
        }
    }

    /// Cache lines of a tile whose rows have this width.
    pub const fn n_tile_lines(&self, width: usize) -> usize {
        width.div_ceil(self.n_step_values) * self.n_step_lines
    }
}
