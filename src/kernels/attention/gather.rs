//! Finds which queries attend to which runs. A run that several rows share is listed once.

use std::ops::Range;
use std::ptr;

use super::tile::N_MOST_QUERIES;
use super::{KeysValues, Row};
use crate::kernels::N_LANES;

/// A run, with the queries that attend to any of its positions within a segment.
#[derive(Debug)]
pub struct Seen<'a> {
    pub keys_values: &'a KeysValues,
    first_position: usize,
    members: Vec<Member>,
}

/// The part of a run that one query attends to.
#[derive(Debug, Clone)]
pub struct Member {
    /// The query's index within the job.
    pub query: usize,
    /// The visible positions of the run within the segment.
    pub visible: Range<usize>,
}

/// Queries that share each load of keys or values.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a> {
    /// The index of the first one among the queries that attend to the run.
    pub start: usize,
    pub members: &'a [Member],
}

impl Member {
    /// The visible lanes of a block.
    #[inline(always)]
    pub fn lanes(&self, block: usize) -> Range<usize> {
        let start = block * N_LANES;
        let lane = |position: usize| position.saturating_sub(start).min(N_LANES);
        lane(self.visible.start)..lane(self.visible.end)
    }

    /// The blocks with at least one visible position, numbered in the sequence.
    #[inline(always)]
    pub fn blocks(&self) -> Range<usize> {
        self.visible.start / N_LANES..self.visible.end.div_ceil(N_LANES)
    }

    /// Splits adjacent blocks into those that are fully visible and those before and after them.
    #[inline(always)]
    pub fn parts(&self, blocks: &Range<usize>) -> (Range<usize>, [Range<usize>; 2]) {
        let members = std::slice::from_ref(self);
        let whole = Group { start: 0, members }.blocks_that_all_see(blocks);
        let others = [blocks.start..whole.start, whole.end..blocks.end];
        (whole, others)
    }
}

impl<'a> Group<'a> {
    /// Returns those of some adjacent blocks that are fully visible to every query of the group.
    #[inline(always)]
    pub fn blocks_that_all_see(self, blocks: &Range<usize>) -> Range<usize> {
        let starts = self.members.iter().map(|member| member.visible.start);
        let ends = self.members.iter().map(|member| member.visible.end);
        let start = starts.max().unwrap_or(0).div_ceil(N_LANES);
        let end = ends.min().unwrap_or(0) / N_LANES;
        let start = start.clamp(blocks.start, blocks.end);
        start..end.clamp(start, blocks.end)
    }

    /// Returns whether any position of these blocks is visible to any query of the group.
    #[inline(always)]
    pub fn sees_any_of(self, blocks: &Range<usize>) -> bool {
        let (start, end) = (blocks.start * N_LANES, blocks.end * N_LANES);
        let mut members = self.members.iter();
        members.any(|member| member.visible.start < end && start < member.visible.end)
    }

    /// Splits the group into single queries.
    #[inline(always)]
    pub fn singles(self) -> impl Iterator<Item = Group<'a>> {
        let members = self.members.chunks(1).enumerate();
        members.map(move |(index, members)| Group {
            start: self.start + index,
            members,
        })
    }
}

impl Seen<'_> {
    /// The queries that attend to this run.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The blocks that are visible to any query, numbered in the sequence.
    #[inline(always)]
    pub fn blocks(&self) -> Range<usize> {
        let starts = self.members.iter().map(|member| member.blocks().start);
        let ends = self.members.iter().map(|member| member.blocks().end);
        starts.min().unwrap_or(0)..ends.max().unwrap_or(0)
    }

    /// The queries in groups of nearly equal size.
    #[inline(always)]
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let n_members = self.members.len();
        let n_groups = n_members.div_ceil(N_MOST_QUERIES);
        let start = move |group: usize| group * n_members / n_groups;
        (0..n_groups).map(move |group| Group {
            start: start(group),
            members: self
                .members
                .get(start(group)..start(group + 1))
                .unwrap_or_default(),
        })
    }
}

/// Finds the runs of a segment that rows of `n_heads` queries each attend to, in order of position.
pub fn gather<'a>(rows: &[Row<'a>], n_heads: usize, segment: &Range<usize>) -> Vec<Seen<'a>> {
    let mut found: Vec<Seen<'a>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let within = intersection(&row.visible, segment);
        for span in row.spans {
            let visible = intersection(&span.positions, &within);
            if visible.is_empty() {
                continue;
            }
            let members = (index * n_heads..(index + 1) * n_heads).map(|query| Member {
                query,
                visible: visible.clone(),
            });
            let known = |seen: &&mut Seen<'a>| ptr::eq(seen.keys_values, span.keys_values);
            match found.iter_mut().find(known) {
                Some(seen) => seen.members.extend(members),
                None => found.push(Seen {
                    keys_values: span.keys_values,
                    first_position: span.positions.start,
                    members: members.collect(),
                }),
            }
        }
    }
    found.sort_by_key(|seen| seen.first_position);
    found
}

fn intersection(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    one.start.max(other.start)..one.end.min(other.end)
}
