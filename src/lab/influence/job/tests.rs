//! Tests the job: against single runs, stopped after any pass, and over texts that can't be measured.

use std::ops::{ControlFlow, Range};

use super::{InfluenceJob, facts_of};
use crate::decoding::TokenId;
use crate::engine::{Compute, LoadedModel, Row, SequenceId, Synthetic};
use crate::generation::PromptText;
use crate::lab::influence::figures::LnProbs;
use crate::lab::influence::plan::{
    AsItIs, Influence, InfluenceFacts, InfluencePlan, InfluenceText, InfluenceUpdate, LeftOut,
};

fn tiny() -> LoadedModel {
    let tiny = Synthetic::find("tiny", "f32", 1).unwrap();
    let mut keep_going = |_| ControlFlow::Continue(());
    tiny.open(&Compute::on_cpu(), &mut keep_going)
        .unwrap()
        .unwrap()
}

fn facts(n: u32, targets: Range<usize>, parts: Vec<Range<usize>>) -> InfluenceFacts {
    InfluenceFacts {
        tokens: (0..n).map(|token| TokenId(token * 7 % 50 + 3)).collect(),
        n_prompt: targets.start.min(n as usize),
        targets,
        is_cut: false,
        parts,
    }
}

/// Reads tokens into a new sequence, one by one. Returns the distribution after each.
fn read_alone(tokens: &[TokenId], model: &mut LoadedModel) -> Vec<LnProbs> {
    let sequence = model.lm.open_for(tokens.len());
    let rows = tokens.iter().map(|token| {
        let row = Row {
            sequence,
            token: *token,
            logits_wanted: true,
        };
        let logits = model.lm.forward(&[row]).unwrap();
        LnProbs::of(logits.row(0).unwrap())
    });
    let rows = rows.collect();
    model.lm.close(sequence);
    rows
}

fn run(facts: &InfluenceFacts, model: &mut LoadedModel) -> (AsItIs, Vec<Influence>) {
    let mut job = InfluenceJob::new(facts.clone());
    let mut whole = None;
    let mut found: Vec<(usize, Influence)> = Vec::new();
    while let Some(update) = job.pass(&mut *model.lm).unwrap() {
        match update {
            InfluenceUpdate::Read(read) => whole = Some(read),
            InfluenceUpdate::Found(some) => found.extend(some),
            InfluenceUpdate::Started(_) | InfluenceUpdate::Advanced { .. } => {}
        }
    }
    assert_eq!(job.n_rows, facts.n_rows());
    job.close(&mut *model.lm);
    found.sort_by_key(|(index, _)| *index);
    let indices = found.iter().map(|(index, _)| *index);
    assert!(indices.eq(0..facts.parts.len()), "each part once");
    let found = found.into_iter().map(|(_, influence)| influence);
    (whole.unwrap(), found.collect())
}

/// Computes the same by reading each variant alone.
fn expected(facts: &InfluenceFacts, model: &mut LoadedModel) -> Vec<(f64, Vec<f64>)> {
    let whole = read_alone(&facts.tokens, model);
    let after = |rows: &[LnProbs], n: usize| rows[n - 1].clone();
    let parts = facts.parts.iter().map(|part| {
        let without: Vec<TokenId> = facts.tokens[..part.start]
            .iter()
            .chain(&facts.tokens[part.end..])
            .copied()
            .collect();
        let alone = read_alone(&without, model);
        let compared = facts.compared(part);
        let n = compared.len() as f64;
        let mut bits = 0.0;
        let mut ln_probs = Vec::new();
        for position in compared {
            let (with, without) = (
                after(&whole, position),
                after(&alone, position - part.len()),
            );
            let chosen = facts.chosen(position).unwrap_or(with.top().token);
            bits += with.bits_from(&without);
            ln_probs.push(without.ln_prob(chosen));
        }
        (bits / n, ln_probs)
    });
    parts.collect()
}

fn assert_same(facts: &InfluenceFacts) {
    let mut model = tiny();
    let (whole, found) = run(facts, &mut model);
    assert_eq!(whole.ln_probs.len(), facts.targets.len());
    for (influence, (bits, ln_probs)) in found.iter().zip(expected(facts, &mut model)) {
        assert!(
            (influence.bits - bits).abs() < 1e-9,
            "{} {bits}",
            influence.bits
        );
        assert_eq!(influence.ln_probs.len(), ln_probs.len());
        for (found, alone) in influence.ln_probs.iter().zip(ln_probs) {
            assert!((found - alone).abs() < 1e-6, "{found} {alone}");
        }
    }
}

#[test]
fn the_next_token_changes_as_if_each_variant_was_read_alone() {
    let singles: Vec<Range<usize>> = (0..40).map(|start| start..start + 1).collect();
    assert_same(&facts(40, 40..41, singles));
}

#[test]
fn longer_parts_and_the_last_one_can_be_left_out() {
    assert_same(&facts(30, 30..31, vec![1..5, 5..6, 6..20, 20..29, 25..30]));
}

#[test]
fn a_whole_text_is_compared_after_each_part() {
    let parts = vec![0..1, 2..6, 9..10, 12..13, 15..18, 28..29];
    assert_same(&facts(30, 10..30, parts));
}

#[test]
fn the_choice_of_one_token_is_compared_alone() {
    let facts = facts(30, 12..13, vec![1..2, 3..6, 10..11]);
    assert_same(&facts);
    let (whole, _) = run(&facts, &mut tiny());
    assert_eq!(whole.chosen, facts.tokens[12]);
}

#[test]
fn stopping_after_any_pass_frees_every_sequence() {
    let singles: Vec<Range<usize>> = (0..20).map(|start| start..start + 1).collect();
    for n_passes in 0..12 {
        let mut model = tiny();
        let mut job = InfluenceJob::new(facts(20, 20..21, singles.clone()));
        for _ in 0..n_passes {
            job.pass(&mut *model.lm).unwrap();
        }
        job.close(&mut *model.lm);
        let all: Vec<SequenceId> = (0..100).map(SequenceId).collect();
        assert_eq!(model.lm.n_cache_bytes(&all), Some(0), "{n_passes}");
    }
}

#[test]
fn a_text_without_parts_is_refused() {
    let model = tiny();
    let plan = |text: InfluenceText| InfluencePlan {
        text,
        unit: LeftOut::Token,
        also_written: false,
    };
    let written = |n_prompt: usize, step| InfluenceText::Written {
        tokens: vec![TokenId(5); 8],
        n_prompt,
        step,
    };
    let error = |text| facts_of(&plan(text), &model).unwrap_err().to_string();
    assert!(error(written(1, Some(0))).contains("nothing can be left out"));
    assert!(error(InfluenceText::Prompt(PromptText::raw(""))).contains("empty"));
    assert!(error(written(4, Some(9))).contains("no token to score"));
    let facts = facts_of(&plan(written(4, Some(2))), &model).unwrap();
    assert_eq!((facts.targets, facts.parts.len()), (6..7, 4));
    let all = InfluencePlan {
        also_written: true,
        ..plan(written(4, None))
    };
    let facts = facts_of(&all, &model).unwrap();
    assert_eq!((facts.targets, facts.parts.len()), (4..8, 7));
}
