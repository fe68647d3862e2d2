//! The panes that are writing: one forward pass a step for all of them.

use std::time::Instant;

use rayon::prelude::*;

use super::lane::{Lane, Pass, Tokens};
use super::{LoadedModel, Logits, Progress, Row, SequenceId};
use crate::generation::GenerationId;

/// Logits below which other threads cost more than they give: they must be woken first.
const N_MIN_PARALLEL_LOGITS: usize = 1 << 16;

/// The panes that are writing, each with the sequence that the model reads for it.
#[derive(Debug)]
pub(super) struct Batch {
    seats: Vec<Seat>,
    /// What has been spent on the step that is under way, before its pass.
    ready_secs: f64,
}

#[derive(Debug)]
struct Seat {
    lane: Lane,
    sequence: SequenceId,
}

impl Batch {
    /// Nobody writes.
    pub const fn new() -> Self {
        Self {
            seats: Vec::new(),
            ready_secs: 0.0,
        }
    }

    /// Whether nobody writes.
    pub const fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// From the next step on, this pane writes too. The sequence holds all of its tokens but the
    /// newest, and is closed when the pane ends.
    pub fn join(&mut self, lane: Lane, sequence: SequenceId) {
        if self.seats.is_empty() {
            // Who was getting ready has left.
            self.ready_secs = 0.0;
        }
        self.seats.push(Seat { lane, sequence });
    }

    /// Takes a pane out. Gives whether it was there.
    pub fn leave(&mut self, id: GenerationId, model: &mut LoadedModel) -> bool {
        let n_seats = self.seats.len();
        self.seats.retain(|seat| {
            let stays = seat.lane.id() != id;
            if !stays {
                model.lm.close(seat.sequence);
            }
            stays
        });
        self.seats.len() < n_seats
    }

    /// Who writes, in the order in which they joined.
    pub fn ids(&self) -> impl Iterator<Item = GenerationId> {
        self.seats.iter().map(|seat| seat.lane.id())
    }

    /// Reads everyone's newest token, and draws everyone's next. Panes that end drop out. Where a model
    /// must read much again before, that is all that is done, a chunk at a time.
    pub fn step(&mut self, model: &mut LoadedModel, progress: &mut Vec<Progress>) {
        let rows: Vec<Row> = self.seats.iter().filter_map(Seat::row).collect();
        let started_at = Instant::now();
        let ready = model.lm.get_ready(&rows);
        if let Ok(false) = ready {
            self.ready_secs += started_at.elapsed().as_secs_f64();
            return;
        }
        let ready_secs = std::mem::take(&mut self.ready_secs);
        let logits = match ready.and_then(|_| model.lm.forward(&rows)) {
            Ok(logits) => logits,
            Err(error) => return self.fail(&error.to_string(), model, progress),
        };
        let pass = Pass {
            forward_secs: ready_secs + started_at.elapsed().as_secs_f64(),
            n_batch: rows.len(),
        };
        let seats = std::mem::take(&mut self.seats);
        for (seat, goes_on, reports) in draw(seats, &logits, pass, Tokens::of(model)) {
            progress.extend(reports);
            if goes_on {
                self.seats.push(seat);
            } else {
                model.lm.close(seat.sequence);
            }
        }
    }

    fn fail(&mut self, error: &str, model: &mut LoadedModel, progress: &mut Vec<Progress>) {
        for seat in self.seats.drain(..) {
            model.lm.close(seat.sequence);
            progress.push(Progress::failed(seat.lane.id(), error));
        }
    }
}

/// Draws everyone's next token: each with its seat, whether it goes on, and what it reports.
fn draw(
    seats: Vec<Seat>,
    logits: &Logits,
    pass: Pass,
    tokens: Tokens<'_>,
) -> Vec<(Seat, bool, Vec<Progress>)> {
    let advance = |(index, mut seat): (usize, Seat)| {
        let row = logits.row(index).unwrap_or_default();
        let mut reports = Vec::new();
        let goes_on = seat.lane.advance(row, pass, tokens, &mut reports);
        (seat, goes_on, reports)
    };
    if seats.len() * tokens.vocabulary.n_tokens() < N_MIN_PARALLEL_LOGITS {
        seats.into_iter().enumerate().map(advance).collect()
    } else {
        seats.into_par_iter().enumerate().map(advance).collect()
    }
}

impl Seat {
    fn row(&self) -> Option<Row> {
        self.lane.newest().map(|token| Row {
            sequence: self.sequence,
            token,
            logits_wanted: true,
        })
    }
}
