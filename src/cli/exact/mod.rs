//! `generate --compare exact`: how far rounding moves the probabilities of the texts just
//! generated.
//!
//! The texts are read again, once for each compute variant, and compared with a forward pass in f32
//! over the dequantized weights.

mod deviation;

use std::fmt::Write as _;
use std::ops::ControlFlow;

use self::deviation::{Deviation, OtherChoice, TopTokens};
use super::failure::Failure;
use super::progress::Progress;
use crate::decoding::{DecodingError, TokenId};
use crate::engine::{CausalLm, Compute, ComputeChoice, EngineError, Row};
use crate::generation::Generation;
use crate::generation::formatting::quoted;
use crate::kernels::InstructionSet;
use crate::kernels::attention::CacheType;
use crate::worker::{self, InputBits, ModelSource};

/// Rows per forward pass; the logits of each are kept until the next pass.
const N_CHUNK: usize = 64;

/// One of several ways to compute the same probabilities.
struct Variant {
    name: String,
    compute: Compute,
}

/// A text to read, and how much of it is the prompt.
struct Passage {
    tokens: Vec<TokenId>,
    n_prompt: usize,
}

/// Reads the texts of all panes with each variant, and formats a table of the differences.
pub(super) fn report(
    source: &ModelSource,
    choice: ComputeChoice,
    panes: &[Generation],
    progress: &mut Progress,
) -> Result<String, Failure> {
    let Some(first) = panes.first() else {
        return Ok(String::new());
    };
    let compute = Compute::choose(choice);
    if !first.model.implementation.is_quartet() || first.model.n_threads.is_none() {
        return Err(Failure::run(
            "--compare needs Quartet’s own decoder on the CPU; add --device cpu",
        ));
    }
    let passages: Vec<Passage> = panes.iter().map(Passage::of).collect();
    let reference = Variant {
        name: "f32".to_owned(),
        compute: compute.clone().in_f32(),
    };
    let mut exact: Vec<TopTokens> = Vec::new();
    reference.read(source, &passages, progress, |_, logits| {
        exact.push(TopTokens::of(logits)?);
        Ok(())
    })?;
    let mut table = head(exact.len());
    for variant in variants(&compute) {
        let mut deviation = Deviation::default();
        variant.read(source, &passages, progress, |index, logits| {
            let exact = exact.get(index);
            exact.map_or(Ok(()), |exact| deviation.add(index, exact, logits))
        })?;
        row(&mut table, &variant.name, &deviation, panes);
    }
    progress.clear();
    Ok(table)
}

/// Lists the variant that generated the texts, and those that differ from it in one setting.
fn variants(base: &Compute) -> Vec<Variant> {
    let instructions = InstructionSet::chosen().unwrap_or(InstructionSet::Portable);
    let (inputs, cache) = (base.inputs.phrase(), base.cache.phrase());
    let mut variants = vec![Variant {
        name: format!("{inputs}, {cache}, {}", instructions.name()),
        compute: base.clone(),
    }];
    let mut add = |name: &str, compute| {
        let name = format!("… {name}");
        variants.push(Variant { name, compute });
    };
    for inputs in InputBits::ALL
        .into_iter()
        .filter(|bits| *bits != base.inputs)
    {
        let base = base.clone();
        add(inputs.phrase(), Compute { inputs, ..base });
    }
    for cache in CacheType::ALL
        .into_iter()
        .filter(|cache| *cache != base.cache)
    {
        let base = base.clone();
        add(cache.phrase(), Compute { cache, ..base });
    }
    for set in InstructionSet::available() {
        if set != instructions && set != InstructionSet::Scalar {
            let instructions = Some(set);
            let base = base.clone();
            add(
                set.name(),
                Compute {
                    instructions,
                    ..base
                },
            );
        }
    }
    variants
}

impl Variant {
    /// Loads the model, reads all passages and passes the logits before each generated token to
    /// `visit`, with their index.
    fn read(
        &self,
        source: &ModelSource,
        passages: &[Passage],
        progress: &mut Progress,
        mut visit: impl FnMut(usize, &[f32]) -> Result<(), DecodingError>,
    ) -> Result<(), Failure> {
        progress.milestone(&format!("Reading the texts again: {}", self.name));
        let opened = worker::open_on(source, &self.compute, &mut |_| ControlFlow::Continue(()));
        let mut model = opened
            .map_err(|error| failure(&error))?
            .ok_or(Failure::Interrupted)?;
        let mut n_read = 0;
        for passage in passages {
            passage.read(model.lm.as_mut(), |logits| {
                visit(n_read, logits).map_err(|error| Failure::run(error.to_string()))?;
                n_read += 1;
                Ok(())
            })?;
        }
        Ok(())
    }
}

impl Passage {
    fn of(pane: &Generation) -> Self {
        let prompt = &pane.prompt.tokens;
        let written = pane.steps.iter().map(|step| step.token);
        Self {
            tokens: prompt.iter().copied().chain(written).collect(),
            n_prompt: prompt.len(),
        }
    }

    /// Reads the passage in a new sequence and passes on the logits before each generated token.
    fn read(
        &self,
        lm: &mut dyn CausalLm,
        mut visit: impl FnMut(&[f32]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let sequence = lm.open_for(self.tokens.len());
        // The last token has no successor whose probabilities were recorded.
        let n_rows = self.tokens.len().saturating_sub(1);
        let rows = self.tokens.iter().take(n_rows).zip(1..);
        let rows: Vec<Row> = rows
            .map(|(token, n_read)| Row {
                sequence,
                token: *token,
                logits_wanted: n_read >= self.n_prompt,
            })
            .collect();
        for rows in rows.chunks(N_CHUNK) {
            let logits = lm.forward(rows).map_err(|error| failure(&error))?;
            for logits in (0..logits.n_rows()).filter_map(|index| logits.row(index)) {
                visit(logits)?;
            }
        }
        lm.close(sequence);
        Ok(())
    }
}

fn failure(error: &EngineError) -> Failure {
    Failure::run(error.to_string())
}

/// The width of the column of names.
const N_NAME: usize = 44;

fn head(n_tokens: usize) -> String {
    format!(
        "Log-probabilities of the 10 most likely tokens, in nats, compared with f32 at {n_tokens} \
         tokens\n  {:<N_NAME$}   largest      mean   first different choice\n",
        ""
    )
}

fn row(table: &mut String, name: &str, deviation: &Deviation, panes: &[Generation]) {
    let (largest, mean) = (deviation.largest, deviation.mean());
    let choice = deviation.first_other.and_then(|other| choice(other, panes));
    let choice = choice.unwrap_or_else(|| "none".to_owned());
    // Writing to a string can't fail.
    writeln!(
        table,
        "  {name:<N_NAME$}  {largest:8.5}  {mean:8.5}   {choice}"
    )
    .ok();
}

/// Formats a place with a different most likely token: "token 12: ‘fox’ instead of ‘dog’".
fn choice(other: OtherChoice, panes: &[Generation]) -> Option<String> {
    let steps = panes.iter().flat_map(|pane| {
        let numbers = 1..=pane.steps.len();
        numbers.map(move |number| (pane, number))
    });
    let (pane, number) = steps.into_iter().nth(other.index)?;
    let [token, exact] =
        [other.token, other.exact].map(|token| quoted(&pane.vocabulary.piece(token)));
    let place = if panes.len() > 1 {
        format!("{}, token {number}", pane.name)
    } else {
        format!("token {number}")
    };
    Some(format!("{place}: {token} instead of {exact}"))
}
