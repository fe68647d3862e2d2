//! The plan of one forward pass: which rows attend together, and what all layers share.
//!
//! Everything that is sent to the device is sent once per pass, since a GPU waits for each upload.

use candle_core::{DType, Device, Tensor};

use super::masks::{ByKind, mask};
use super::run::TensorRun;
use super::tail_pool::{Memory, N_MAX_ROWS};
use super::tail_rows::{TailPlan, TailRows};
use crate::engine::blueprint::{Rotation, Temperature};
use crate::engine::decoder::attention::{LayerKind, first_visible};
use crate::engine::decoder::batch::{Place, RotaryAngles};

/// The rows of one forward pass. The layers see them in working order: first the texts, one after
/// the other, then the rows of each slot of the pool.
#[derive(Debug)]
pub(super) struct Batch {
    /// The places of the rows, in the order of the batch.
    pub places: Vec<Place>,
    /// The sequences that read many tokens. Each attends on its own.
    pub texts: Vec<TextRows>,
    /// The sequences that read a few tokens. All attend together.
    pub tails: Option<TailRows>,
    /// The rotary angles of the rows, for each of the model's rotations.
    pub rotary_angles: Vec<RotaryAngles<Tensor>>,
    /// The factors of the rows' queries if these grow with their position: `[1, rows, 1]`.
    pub query_scales: Option<Tensor>,
    /// For each row in working order, its row in the batch. `None` if the orders are the same.
    working_order: Option<Tensor>,
    /// For each row of the batch, its row among the outputs of attention. `None` if the orders are
    /// the same.
    output_rows: Option<Tensor>,
}

/// The rows of a sequence that reads many tokens.
#[derive(Debug)]
pub(super) struct TextRows {
    /// Index of the cache.
    pub cache: usize,
    /// The first row in working order.
    pub start: usize,
    pub positions: Vec<usize>,
    /// The attention masks: `[rows, visible tokens]`.
    masks: ByKind,
}

/// What a plan needs to know about the model.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub rotations: &'a [Rotation],
    /// How queries grow with their position, if they do.
    pub temperature: Option<Temperature>,
    /// The distinct kinds of layers.
    pub kinds: &'a [LayerKind],
    pub device: &'a Device,
    pub dtype: DType,
}

/// The rows of one sequence, by their indices in the batch.
pub(super) struct SequenceRows {
    pub cache: usize,
    pub rows: Vec<usize>,
}

impl Batch {
    /// Plans a pass, and moves the tails of the caches to where the pass will write them.
    pub(super) fn new(
        model: &Model<'_>,
        places: &[Place],
        memory: &mut Memory<'_>,
    ) -> candle_core::Result<Self> {
        let sequences = (0..memory.caches.len()).map(|cache| SequenceRows {
            cache,
            rows: rows_of(places, cache),
        });
        let (long, short): (Vec<_>, Vec<_>) =
            sequences.partition(|sequence| sequence.rows.len() > N_MAX_ROWS);
        let short: Vec<SequenceRows> = short
            .into_iter()
            .filter(|sequence| !sequence.rows.is_empty())
            .collect();
        move_tails(&long, &short, memory)?;
        let mut order = Order::default();
        let mut texts = Vec::new();
        for sequence in &long {
            texts.push(TextRows::new(model, sequence, places, &mut order)?);
        }
        let tails = if short.is_empty() {
            None
        } else {
            let plan = TailPlan::new(&short, places, memory);
            Some(plan.rows(model, &mut order)?)
        };
        let working: Vec<Place> = order
            .rows
            .iter()
            .filter_map(|row| places.get(*row).copied())
            .collect();
        Ok(Self {
            places: places.to_vec(),
            texts,
            tails,
            rotary_angles: rotary_angles(model, &working)?,
            query_scales: query_scales(model, &working)?,
            working_order: index(&order.rows, places.len(), model.device)?,
            output_rows: index(
                &order.output_rows(places.len()),
                order.n_outputs,
                model.device,
            )?,
        })
    }

    /// Brings rows into working order.
    pub(super) fn in_working_order(&self, rows: &Tensor) -> candle_core::Result<Tensor> {
        match &self.working_order {
            Some(order) => rows.index_select(order, 0),
            None => Ok(rows.clone()),
        }
    }

    /// Brings the outputs of attention into the order of the batch.
    pub(super) fn in_batch_order(&self, outputs: &[Tensor]) -> candle_core::Result<Tensor> {
        let outputs = Tensor::cat(outputs, 0)?;
        match &self.output_rows {
            Some(order) => outputs.index_select(order, 0),
            None => Ok(outputs),
        }
    }
}

impl TextRows {
    fn new(
        model: &Model<'_>,
        sequence: &SequenceRows,
        places: &[Place],
        order: &mut Order,
    ) -> candle_core::Result<Self> {
        let positions = positions(&sequence.rows, places);
        let n_visible = positions.last().map_or(0, |last| last + 1);
        let masks = ByKind::new(model, |kind| {
            let rows = positions.iter().map(|position| {
                let first = first_visible(kind.window, *position);
                (0..n_visible).map(move |seen| (first..=*position).contains(&seen))
            });
            mask(rows.flatten(), &[positions.len(), n_visible], model.device)
        })?;
        let start = order.rows.len();
        order.add_outputs(&sequence.rows, 0..sequence.rows.len());
        order.rows.extend(&sequence.rows);
        order.n_outputs += sequence.rows.len();
        Ok(Self {
            cache: sequence.cache,
            start,
            positions,
            masks,
        })
    }

    /// Returns the mask for a layer of this kind.
    pub(super) fn mask(&self, kind: LayerKind) -> candle_core::Result<&Tensor> {
        self.masks.get(kind)
    }
}

/// The rows in working order, and where the outputs of attention belong.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// For each row in working order, its row in the batch.
    pub rows: Vec<usize>,
    /// Rows of the batch, each with its row among the outputs.
    outputs: Vec<(usize, usize)>,
    /// How many rows attention has output so far.
    pub n_outputs: usize,
}

impl Order {
    /// Records that the next outputs belong to these rows of the batch.
    pub(super) fn add_outputs(&mut self, rows: &[usize], outputs: std::ops::Range<usize>) {
        let outputs = outputs.map(|output| self.n_outputs + output);
        self.outputs.extend(rows.iter().copied().zip(outputs));
    }

    /// Returns, for each row of the batch, its row among the outputs.
    fn output_rows(&self, n_rows: usize) -> Vec<usize> {
        let mut order = vec![0; n_rows];
        for (row, output) in &self.outputs {
            if let Some(place) = order.get_mut(*row) {
                *place = *output;
            }
        }
        order
    }
}

/// Moves the tails of sequences that read many tokens out of the pool, and those of sequences that
/// read a few into it.
fn move_tails(
    long: &[SequenceRows],
    short: &[SequenceRows],
    Memory { caches, pool }: &mut Memory<'_>,
) -> candle_core::Result<()> {
    for sequence in long {
        let Some(cache) = caches.get_mut(sequence.cache) else {
            continue;
        };
        if let Some(slot) = cache.tail().slot() {
            let run = pool.extract(slot, cache.n_tail())?;
            *cache.tail_mut() = run;
        }
    }
    let mut n_tokens = 0;
    let mut new = Vec::new();
    for sequence in short {
        let Some(cache) = caches.get_mut(sequence.cache) else {
            continue;
        };
        if cache.tail().slot().is_none() {
            cache.share_tail();
            new.push(sequence.cache);
        }
        n_tokens = n_tokens.max(cache.n_tail() + sequence.rows.len());
    }
    pool.tidy(new.len())?;
    for index in new {
        if let Some(cache) = caches.get_mut(index) {
            *cache.tail_mut() = TensorRun::in_slot(pool.take_slot());
        }
    }
    pool.reserve(n_tokens)
}

fn rows_of(places: &[Place], cache: usize) -> Vec<usize> {
    let rows = places.iter().enumerate();
    rows.filter(|(_, place)| place.cache == cache)
        .map(|(row, _)| row)
        .collect()
}

/// Returns the positions of some rows of the batch.
pub(super) fn positions(rows: &[usize], places: &[Place]) -> Vec<usize> {
    let places = rows.iter().filter_map(|row| places.get(*row));
    places.map(|place| place.position).collect()
}

/// Returns an index tensor, or `None` if it would select all rows in their existing order.
fn index(rows: &[usize], n_rows: usize, device: &Device) -> candle_core::Result<Option<Tensor>> {
    if rows.iter().copied().eq(0..n_rows) {
        return Ok(None);
    }
    let rows = rows.iter().map(|row| *row as u32);
    Ok(Some(Tensor::from_iter(rows, device)?))
}

fn rotary_angles(
    model: &Model<'_>,
    places: &[Place],
) -> candle_core::Result<Vec<RotaryAngles<Tensor>>> {
    let angles = model.rotations.iter().map(|rotation| {
        let angles = RotaryAngles::new(rotation, places);
        let shape = (places.len(), angles.n_dims / 2);
        let tensor = |values| Tensor::from_vec(values, shape, model.device)?.to_dtype(model.dtype);
        Ok(RotaryAngles {
            form: angles.form,
            n_dims: angles.n_dims,
            cos: tensor(angles.cos)?,
            sin: tensor(angles.sin)?,
        })
    });
    angles.collect()
}

fn query_scales(model: &Model<'_>, places: &[Place]) -> candle_core::Result<Option<Tensor>> {
    let Some(temperature) = model.temperature else {
        return Ok(None);
    };
    let scales = places.iter();
    let scales = scales.map(|place| temperature.query_scale(place.position));
    let scales = Tensor::from_iter(scales, model.device)?;
    let scales = scales.reshape((1, places.len(), 1))?;
    scales.to_dtype(model.dtype).map(Some)
}
