//! Quartet without models, files, threads and windows: decoding, the record, and what is computed
//! from them.

use quartet_kernels as kernels;

/// Sampling: logits in, one token out.
pub mod decoding;

/// The record of a generation: what was asked and what happened.
pub mod generation;

/// Figures and explanations computed from the record.
pub mod analysis;

/// Conversion of settings to and from text.
pub mod interop;

/// What is wrong with a JSON text, in plain words.
pub mod json_words;

/// The words that the window and the lessons use.
pub mod glossary;

/// Lessons as data: their format, checks and scores.
pub mod lessons;

/// A page for each filter and each way to draw.
pub mod reference;
