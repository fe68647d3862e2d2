//! Finds which queries attend to which runs. A run that several rows share is listed once.

use std::ops::Range;
use std::ptr;

use super::tile::MAX_GROUP_QUERIES;
use super::{KeysValues, Row};
use crate::N_LANES;

/// A run, with the queries that attend to any of its positions within a segment.
#[derive(Debug)]
pub(super) struct VisibleRun<'a> {
    pub keys_values: &'a KeysValues,
    first_position: usize,
    masks: Vec<QueryMask>,
}

/// The part of a run that one query attends to.
#[derive(Debug, Clone)]
pub(super) struct QueryMask {
    /// The query's index within the job.
    pub query: usize,
    /// The visible positions of the run within the segment.
    pub visible: Range<usize>,
}

/// Queries that share each load of keys or values.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryGroup<'a> {
    /// The index of the first one among the queries that attend to the run.
    pub start: usize,
    pub masks: &'a [QueryMask],
}

impl QueryMask {
    /// The visible lanes of a block.
    #[inline(always)]
    pub(super) fn lanes(&self, block: usize) -> Range<usize> {
        let start = block * N_LANES;
        let lane = |position: usize| position.saturating_sub(start).min(N_LANES);
        lane(self.visible.start)..lane(self.visible.end)
    }

    /// The blocks with at least one visible position, numbered in the sequence.
    #[inline(always)]
    pub(super) fn blocks(&self) -> Range<usize> {
        self.visible.start / N_LANES..self.visible.end.div_ceil(N_LANES)
    }

    /// Splits adjacent blocks into those that are fully visible and those before and after them.
    #[inline(always)]
    pub(super) fn split(&self, blocks: &Range<usize>) -> (Range<usize>, [Range<usize>; 2]) {
        let masks = std::slice::from_ref(self);
        let full = QueryGroup { start: 0, masks }.fully_visible_blocks(blocks);
        let others = [blocks.start..full.start, full.end..blocks.end];
        (full, others)
    }
}

impl<'a> QueryGroup<'a> {
    /// Returns those of some adjacent blocks that are fully visible to every query of the group.
    #[inline(always)]
    pub(super) fn fully_visible_blocks(self, blocks: &Range<usize>) -> Range<usize> {
        let starts = self.masks.iter().map(|mask| mask.visible.start);
        let ends = self.masks.iter().map(|mask| mask.visible.end);
        let start = starts.max().unwrap_or(0).div_ceil(N_LANES);
        let end = ends.min().unwrap_or(0) / N_LANES;
        let start = start.clamp(blocks.start, blocks.end);
        start..end.clamp(start, blocks.end)
    }

    /// Returns whether any position of these blocks is visible to any query of the group.
    #[inline(always)]
    pub(super) fn sees_any(self, blocks: &Range<usize>) -> bool {
        let (start, end) = (blocks.start * N_LANES, blocks.end * N_LANES);
        let mut masks = self.masks.iter();
        masks.any(|mask| mask.visible.start < end && start < mask.visible.end)
    }

    /// Splits the group into single queries.
    #[inline(always)]
    pub(super) fn singles(self) -> impl Iterator<Item = QueryGroup<'a>> {
        let masks = self.masks.chunks(1).enumerate();
        masks.map(move |(index, masks)| QueryGroup {
            start: self.start + index,
            masks,
        })
    }
}

impl VisibleRun<'_> {
    /// The queries that attend to this run.
    pub(super) fn masks(&self) -> &[QueryMask] {
        &self.masks
    }

    /// The blocks that are visible to any query, numbered in the sequence.
    #[inline(always)]
    pub(super) fn blocks(&self) -> Range<usize> {
        let starts = self.masks.iter().map(|mask| mask.blocks().start);
        let ends = self.masks.iter().map(|mask| mask.blocks().end);
        starts.min().unwrap_or(0)..ends.max().unwrap_or(0)
    }

    /// The queries in groups of nearly equal size.
    #[inline(always)]
    pub(super) fn groups(&self) -> impl Iterator<Item = QueryGroup<'_>> {
        let n_queries = self.masks.len();
        let n_groups = n_queries.div_ceil(MAX_GROUP_QUERIES);
        let start = move |group: usize| group * n_queries / n_groups;
        (0..n_groups).map(move |group| QueryGroup {
            start: start(group),
            masks: self
                .masks
                .get(start(group)..start(group + 1))
                .unwrap_or_default(),
        })
    }
}

/// Finds the runs of a segment that rows of `n_heads` queries each attend to, in order of position.
pub(super) fn visible_runs<'a>(
    rows: &[Row<'a>],
    n_heads: usize,
    segment: &Range<usize>,
) -> Vec<VisibleRun<'a>> {
    let mut runs: Vec<VisibleRun<'a>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let within = intersection(&row.visible, segment);
        for span in row.spans {
            let visible = intersection(&span.positions, &within);
            if visible.is_empty() {
                continue;
            }
            let masks = (index * n_heads..(index + 1) * n_heads).map(|query| QueryMask {
                query,
                visible: visible.clone(),
            });
            let known = |run: &&mut VisibleRun<'a>| ptr::eq(run.keys_values, span.keys_values);
            match runs.iter_mut().find(known) {
                Some(run) => run.masks.extend(masks),
                None => runs.push(VisibleRun {
                    keys_values: span.keys_values,
                    first_position: span.positions.start,
                    masks: masks.collect(),
                }),
            }
        }
    }
    runs.sort_by_key(|run| run.first_position);
    runs
}

fn intersection(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    one.start.max(other.start)..one.end.min(other.end)
}
