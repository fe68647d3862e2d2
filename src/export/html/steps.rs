//! The data behind the page: what the card and the X-ray of each step show, as compact JSON.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::escape::shown;
use crate::decoding::{FinalProb, Picked, TokenId, Trace};
use crate::generation::formatting::pane_letter;
use crate::generation::{Generation, Piece, Step, Vocabulary};

/// How many candidates of a step the page contains, besides the token itself.
const N_CANDIDATES: usize = 8;

/// Returns the data of all panes with a text, by index.
pub(super) fn data(panes: &[(usize, &Generation)]) -> Value {
    let mut words = Words::default();
    let panes: Vec<Value> = panes
        .iter()
        .map(|(place, generation)| pane(*place, generation, &mut words))
        .collect();
    json!({ "pieces": words.list, "panes": panes })
}

fn pane(place: usize, generation: &Generation, words: &mut Words) -> Value {
    let stages = shown_stages(generation);
    let names = stages.iter().filter_map(|index| {
        let stage = generation.steps.first()?.trace.stages.get(*index)?;
        Some(stage.filter.to_string())
    });
    let columns: Vec<String> = std::iter::once("Model".to_owned())
        .chain(names)
        .chain(["Draw".to_owned()])
        .collect();
    let vocabulary = &generation.vocabulary;
    let steps: Vec<Value> = generation
        .steps
        .iter()
        .map(|step| step_data(step, &stages, vocabulary, words))
        .collect();
    json!({
        "letter": pane_letter(place),
        "color": color(place),
        "columns": columns,
        "steps": steps,
    })
}

/// Returns the indices of the stages that have a column: those that are not neutral.
fn shown_stages(generation: &Generation) -> Vec<usize> {
    let stages = generation.steps.first().map(|step| &step.trace.stages);
    let stages = stages.into_iter().flatten().enumerate();
    stages
        .filter(|(_, stage)| !stage.filter.is_neutral())
        .map(|(index, _)| index)
        .collect()
}

/// Returns the letter that selects a pane's color; the eight colors repeat.
pub(super) const fn color(place: usize) -> char {
    (b'a' + (place % 8) as u8) as char
}

fn step_data(step: &Step, stages: &[usize], vocabulary: &Vocabulary, words: &mut Words) -> Value {
    let trace = &step.trace;
    let reports = || stages.iter().map(|index| trace.known_stage(*index));
    let bits = |nats: Option<f64>| nats.map(|nats| rounded(nats / std::f64::consts::LN_2, 2));
    let kept = std::iter::once(trace.n_known_candidates())
        .chain(reports().map(|stage| stage.n_kept))
        .chain([trace.n_known_kept()]);
    let entropies = std::iter::once(trace.known_entropy_nats())
        .chain(reports().map(|stage| stage.entropy_nats))
        .map(bits);
    let how = match trace.draw.picked {
        Picked::ByChain => "by_chain",
        Picked::ByHand => "by_hand",
        Picked::Given => "given",
        Picked::ByBeams => "by_beams",
        Picked::ByRatio => "by_ratio",
        Picked::ByServer => "by_server",
    };
    json!([
        words.index(step.token, &step.piece),
        trace.known_raw_prob().map(percent),
        trace.known_final_prob().map(percent),
        trace.known_rank(),
        bits(trace.known_entropy_nats()),
        trace.draw.coin.map_or(json!(-1), |coin| rounded(coin, 4)),
        rounded(trace.draw.below, 4),
        trace.n_known_kept(),
        how,
        kept.collect::<Vec<_>>(),
        entropies.collect::<Vec<_>>(),
        cells(trace, stages, vocabulary, words),
    ])
}

/// Returns the candidates one after another, each with its probability in every column, or −1 if it
/// was cut. The token itself comes last if it is not among the most likely.
fn cells(
    trace: &Trace,
    stages: &[usize],
    vocabulary: &Vocabulary,
    words: &mut Words,
) -> Vec<Value> {
    let token = trace.draw.token;
    let head = trace.raw.head.iter().enumerate();
    let shown = head.filter(|(rank, known)| *rank < N_CANDIDATES || known.token == token);
    let mut cells = Vec::new();
    let mut has_token = false;
    for (rank, known) in shown {
        has_token |= known.token == token;
        cells.push(json!(
            words.index(known.token, &vocabulary.piece(known.token))
        ));
        cells.push(percent(known.prob));
        for index in stages {
            let stage = trace.stages.get(*index);
            let prob = stage.and_then(|stage| stage.head_probs.get(rank).copied().flatten());
            let known = trace.known_stage(*index);
            cells.push(cell(match prob {
                Some(prob) if known.entropy_nats.is_some() => FinalProb::Kept(f64::from(prob)),
                None if known.n_kept.is_some() => FinalProb::Cut,
                _ => FinalProb::Unknown,
            }));
        }
        cells.push(cell(trace.known_head_final(rank)));
    }
    if !has_token {
        cells.push(json!(words.index(token, &vocabulary.piece(token))));
        cells.push(trace.known_raw_prob().map_or(json!(null), percent));
        // The record follows only the most likely tokens from stage to stage.
        cells.extend(stages.iter().map(|_| json!(null)));
        cells.push(cell(trace.known_draw_final()));
    }
    cells
}

/// Returns the probability in a column, −1 if the token was cut, or null if the probability depends on
/// tokens that a server did not name.
fn cell(prob: FinalProb) -> Value {
    match prob {
        FinalProb::Kept(prob) => percent(prob),
        FinalProb::Cut => json!(-1),
        FinalProb::Unknown => json!(null),
    }
}

/// Returns a probability in percent with three significant digits.
fn percent(prob: f64) -> Value {
    let percent = prob * 100.0;
    let decimals = match percent {
        10.0.. => 1,
        1.0.. => 2,
        0.1.. => 3,
        _ => 5,
    };
    rounded(percent, decimals)
}

/// Returns a number with at most this many decimals; a whole number has none.
fn rounded(value: f64, decimals: i32) -> Value {
    let factor = 10_f64.powi(decimals);
    let rounded = (value * factor).round() / factor;
    if rounded.fract().abs() < f64::EPSILON && rounded.abs() < 1e9 {
        json!(rounded as i64)
    } else {
        json!(rounded)
    }
}

/// The distinct words of all tokens.
#[derive(Default)]
struct Words {
    list: Vec<String>,
    known: HashMap<(TokenId, Vec<u8>), usize>,
}

impl Words {
    /// Returns the index of a token's word. A token may have different words in panes with
    /// different models.
    fn index(&mut self, token: TokenId, piece: &Piece) -> usize {
        let key = (token, piece.bytes.clone());
        *self.known.entry(key).or_insert_with(|| {
            self.list.push(shown(piece).0);
            self.list.len() - 1
        })
    }
}
