//! Keys and values in the order in which attention on the processor wants them.

use crate::engine::decoder::cache::Run;

/// How many positions lie side by side, one score each in a vector register or two; also to how many
/// values a head is filled up.
pub const N_LANES: usize = 16;

/// Keys and values of neighbouring tokens, for all layers, in blocks of [`N_LANES`] positions.
#[derive(Debug, Default)]
pub struct CpuRun {
    layers: Vec<KeysValues>,
}

/// One layer's part. A block is, for each key-value head, `[dim][lane]` for keys, so that one
/// register holds the same dimension of many positions, and `[lane][dim]` for values.
#[derive(Debug, Default)]
pub struct KeysValues {
    keys: Vec<[f32; N_LANES]>,
    values: Vec<[f32; N_LANES]>,
}

/// The sizes of a block.
#[derive(Debug, Clone, Copy)]
pub struct BlockShape {
    /// Key and value heads.
    pub n_kv_heads: usize,
    /// The width of a head.
    pub head_dim: usize,
}

impl BlockShape {
    /// Registers for one position's values of a head; the last may be filled up with zeros.
    pub const fn n_value_lanes(self) -> usize {
        self.head_dim.div_ceil(N_LANES)
    }

    const fn n_head_values(self) -> usize {
        N_LANES * self.n_value_lanes()
    }
}

impl Run for CpuRun {}

impl CpuRun {
    /// One layer's part, if any of it was written.
    pub fn layer(&self, layer: usize) -> Option<&KeysValues> {
        self.layers.get(layer)
    }

    /// One layer's part, to write to.
    pub fn layer_mut(&mut self, layer: usize) -> Option<&mut KeysValues> {
        if self.layers.len() <= layer {
            self.layers.resize_with(layer + 1, KeysValues::default);
        }
        self.layers.get_mut(layer)
    }
}

impl KeysValues {
    /// Writes one token's keys and values, each `[kv heads × head_dim]`, as number `index`.
    pub fn write(&mut self, shape: BlockShape, index: usize, keys: &[f32], values: &[f32]) {
        let (block, lane) = (index / N_LANES, index % N_LANES);
        let n_blocks = block + 1;
        self.keys.resize(
            self.keys
                .len()
                .max(n_blocks * shape.n_kv_heads * shape.head_dim),
            [0.0; N_LANES],
        );
        self.values.resize(
            self.values
                .len()
                .max(n_blocks * shape.n_kv_heads * shape.n_head_values()),
            [0.0; N_LANES],
        );
        let start = block * shape.n_kv_heads * shape.head_dim;
        for (registers, key) in self.keys.iter_mut().skip(start).zip(keys) {
            if let Some(place) = registers.get_mut(lane) {
                *place = *key;
            }
        }
        for (head, values) in values.chunks_exact(shape.head_dim).enumerate() {
            let start = (block * shape.n_kv_heads + head) * shape.n_head_values()
                + lane * shape.n_value_lanes();
            let registers = self.values.iter_mut().skip(start);
            for (register, values) in registers.zip(values.chunks(N_LANES)) {
                for (place, value) in register.iter_mut().zip(values) {
                    *place = *value;
                }
            }
        }
    }

    /// The keys of one head, block by block, each `[dim][lane]`.
    #[inline(always)]
    pub fn keys(
        &self,
        shape: BlockShape,
        head: usize,
    ) -> impl Iterator<Item = &[[f32; N_LANES]]> + Clone {
        self.keys
            .chunks_exact(shape.head_dim)
            .skip(head)
            .step_by(shape.n_kv_heads)
    }

    /// The values of one head, block by block, each `[lane][dim]`.
    #[inline(always)]
    pub fn values(
        &self,
        shape: BlockShape,
        head: usize,
    ) -> impl Iterator<Item = &[[f32; N_LANES]]> + Clone {
        self.values
            .chunks_exact(shape.n_head_values())
            .skip(head)
            .step_by(shape.n_kv_heads)
    }
}
