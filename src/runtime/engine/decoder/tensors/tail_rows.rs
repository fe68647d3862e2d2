//! The rows of the sequences whose tails are in the pool, which attend together.

use candle_core::Tensor;

use super::batch::{Model, Order, SequenceRows, positions};
use super::masks::{ByKind, mask};
use super::run::TensorRun;
use super::tail_pool::Memory;
use crate::engine::decoder::attention::{LayerKind, first_visible};
use crate::engine::decoder::batch::Place;

/// Up to this many values, masks are repeated for all heads once per pass, not in each layer.
const N_MAX_REPEATED_VALUES: usize = 1 << 24;

/// The rows of the sequences whose tails are in the pool. Each slot has as many rows as the
/// sequence with the most, so some rows are padding, as are all rows of slots that this pass does
/// not read.
#[derive(Debug)]
pub(super) struct TailRows {
    /// The first row in working order.
    pub start: usize,
    pub n_slots: usize,
    /// How many rows each slot has.
    pub n_rows: usize,
    /// How many columns of the pool are read.
    pub n_columns: usize,
    /// The columns that keys and values are written to: `[kv heads, slots, rows, head_dim]`.
    columns: ByKind,
    /// The sequences, grouped by the shared runs before their tails.
    pub groups: Vec<TailGroup>,
}

/// Sequences whose tails follow the same shared runs.
#[derive(Debug)]
pub(super) struct TailGroup {
    /// Index of the cache of one of them.
    pub cache: usize,
    /// The attention masks: `[kv heads, slots, heads per kv head, rows, shared and tail columns]`, or
    /// broadcast to it.
    masks: ByKind,
}

impl TailGroup {
    /// Returns the mask for a layer of this kind.
    pub(super) fn mask(&self, kind: LayerKind) -> candle_core::Result<&Tensor> {
        self.masks.get(kind)
    }
}

impl TailRows {
    /// Returns the columns that a layer of this kind writes its keys and values to.
    pub(super) fn columns(&self, kind: LayerKind) -> candle_core::Result<&Tensor> {
        self.columns.get(kind)
    }
}

/// The rows of the slots, before they are sent to the device.
pub(super) struct TailPlan {
    /// For each slot, the sequence that reads tokens in this pass, or `None`.
    slots: Vec<Option<SlotRows>>,
    n_rows: usize,
    n_columns: usize,
    first_unread_column: usize,
}

/// A sequence in its slot.
struct SlotRows {
    cache: usize,
    /// The rows in the batch.
    rows: Vec<usize>,
    positions: Vec<usize>,
    /// The position at which the tail begins.
    tail_start: usize,
    /// The shared runs before the tail.
    shared: Vec<(*const TensorRun, usize)>,
}

impl TailPlan {
    /// Finds the slot of each sequence.
    pub(super) fn new(
        sequences: &[SequenceRows],
        places: &[Place],
        Memory { caches, pool }: &Memory<'_>,
    ) -> Self {
        let mut slots: Vec<Option<SlotRows>> = (0..pool.n_slots()).map(|_| None).collect();
        let (mut n_rows, mut n_columns) = (0, 0);
        for sequence in sequences {
            let Some(cache) = caches.get(sequence.cache) else {
                continue;
            };
            let index = cache.tail().slot().map(|slot| slot.index());
            let Some(slot) = index.and_then(|index| slots.get_mut(index)) else {
                continue;
            };
            n_rows = n_rows.max(sequence.rows.len());
            n_columns = n_columns.max(cache.n_tail() + sequence.rows.len());
            let shared = cache.shared_runs();
            *slot = Some(SlotRows {
                cache: sequence.cache,
                rows: sequence.rows.clone(),
                positions: positions(&sequence.rows, places),
                tail_start: cache.n_shared(),
                shared: shared
                    .map(|(run, n_tokens)| (std::ptr::from_ref(run), n_tokens))
                    .collect(),
            });
        }
        // Tensor cores want multiples of 8 or 16.
        let n_columns = n_columns
            .next_multiple_of(16)
            .min(pool.first_unread_column());
        Self {
            slots,
            n_rows,
            n_columns,
            first_unread_column: pool.first_unread_column(),
        }
    }

    /// Sends the plan to the device.
    pub(super) fn rows(
        &self,
        model: &Model<'_>,
        order: &mut Order,
    ) -> candle_core::Result<TailRows> {
        let start = order.rows.len();
        let mut any_row = self.slots.iter().flatten().flat_map(|slot| &slot.rows);
        let any_row = any_row.next().copied().unwrap_or_default();
        for slot in &self.slots {
            let rows = slot.as_ref().map_or(&[][..], |slot| &slot.rows);
            order.rows.extend(rows);
            let n_unused = self.n_rows - rows.len();
            order.rows.extend(std::iter::repeat_n(any_row, n_unused));
        }
        let mut groups = Vec::new();
        for slot in self.first_of_each_group() {
            groups.push(self.group(slot, model)?);
            for (index, member) in self.members(slot) {
                let first = index * self.n_rows;
                order.add_outputs(&member.rows, first..first + member.rows.len());
            }
            order.n_outputs += self.slots.len() * self.n_rows;
        }
        Ok(TailRows {
            start,
            n_slots: self.slots.len(),
            n_rows: self.n_rows,
            n_columns: self.n_columns,
            columns: self.columns(model)?,
            groups,
        })
    }

    /// Iterates over one sequence of each group.
    fn first_of_each_group(&self) -> impl Iterator<Item = &SlotRows> {
        let slots = self.slots.iter().flatten();
        slots.filter(|slot| {
            let mut members = self.members(slot);
            members
                .next()
                .is_some_and(|(_, first)| first.cache == slot.cache)
        })
    }

    /// Iterates over the sequences with the same shared runs as this one, with their slots.
    fn members(&self, slot: &SlotRows) -> impl Iterator<Item = (usize, &SlotRows)> {
        let slots = self.slots.iter().enumerate();
        slots
            .filter_map(|(index, member)| Some((index, member.as_ref()?)))
            .filter(|(_, member)| member.shared == slot.shared)
    }

    fn group(&self, first: &SlotRows, model: &Model<'_>) -> candle_core::Result<TailGroup> {
        let (n_slots, n_rows) = (self.slots.len(), self.n_rows);
        let n_shared = first.tail_start;
        let n_columns = n_shared + self.n_columns;
        let masks = ByKind::new(model, |kind| {
            let n_group = kind.n_heads / kind.n_kv_heads.max(1);
            let repeated = [kind.n_kv_heads, n_slots, n_group, n_rows, n_columns];
            let rows = self.slots.iter().flat_map(|slot| {
                let member = slot.as_ref().filter(|slot| slot.shared == first.shared);
                (0..n_rows).map(move |row| {
                    let position = member.and_then(|member| member.positions.get(row));
                    // A padding row sees one token, so that its softmax is defined.
                    position.map_or(0..1, |position| {
                        first_visible(kind.window, *position)..*position + 1
                    })
                })
            });
            let values = rows.flat_map(|visible| {
                (0..n_columns).map(move |position| visible.contains(&position))
            });
            let mask = mask(values, &[1, n_slots, 1, n_rows, n_columns], model.device)?;
            if repeated.iter().product::<usize>() > N_MAX_REPEATED_VALUES {
                return Ok(mask);
            }
            mask.broadcast_as(&repeated[..])?.contiguous()
        })?;
        Ok(TailGroup {
            cache: first.cache,
            masks,
        })
    }

    /// Returns the column that each row is written to. Padding rows are written to columns that are
    /// never read.
    fn columns(&self, model: &Model<'_>) -> candle_core::Result<ByKind> {
        let columns = self.slots.iter().flat_map(|slot| {
            (0..self.n_rows).map(move |row| {
                let member = slot.as_ref();
                let column = member.and_then(|member| {
                    let position = member.positions.get(row)?;
                    position.checked_sub(member.tail_start)
                });
                column.unwrap_or(self.first_unread_column + row) as u32
            })
        });
        let (n_slots, n_rows) = (self.slots.len(), self.n_rows);
        let columns = Tensor::from_iter(columns, model.device)?;
        let columns = columns.reshape((1, n_slots, n_rows, 1))?;
        ByKind::new(model, |kind| {
            columns
                .broadcast_as((kind.n_kv_heads, n_slots, n_rows, kind.head_dim))?
                .contiguous()
        })
    }
}
