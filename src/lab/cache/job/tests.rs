//! Tests the measurement: against the memory formula, stopped after any pass, and at the end of the
//! context.

use std::ops::ControlFlow;

use super::{CacheJob, doubling, spread};
use crate::decoding::TokenId;
use crate::engine::{Compute, LoadedModel, Synthetic};
use crate::lab::cache::{CacheSample, CacheStage, CacheUpdate};

fn tiny() -> LoadedModel {
    let tiny = Synthetic::find("tiny", "f32", 1).unwrap();
    let mut keep_going = |_| ControlFlow::Continue(());
    tiny.open(&Compute::on_cpu(), &mut keep_going)
        .unwrap()
        .unwrap()
}

fn job(n_prompt: usize, n_tokens: usize, model: &LoadedModel) -> CacheJob {
    let prompt = vec![TokenId(5); n_prompt];
    CacheJob::new(prompt, n_tokens, model).unwrap()
}

#[test]
fn the_cache_does_not_change_the_tokens_and_its_memory_matches_the_formula() {
    let mut model = tiny();
    let mut job = job(7, 40, &model);
    let shape = job.facts.shape.clone().unwrap();
    let mut samples = Vec::new();
    while let Some(update) = job.pass(&mut *model.lm).unwrap() {
        if let CacheUpdate::Measured(sample) = update {
            samples.push(sample);
        }
    }
    let on = samples.iter().filter_map(|sample| match sample {
        CacheSample::On {
            length, n_bytes, ..
        } => Some((*length, n_bytes.unwrap())),
        _ => None,
    });
    let on: Vec<_> = on.collect();
    assert_eq!(
        on.iter().map(|(length, _)| *length).collect::<Vec<_>>(),
        (8..47).collect::<Vec<_>>()
    );
    let (length, n_bytes) = *on.last().unwrap();
    // The last token is in the cache too, in blocks of 16 positions.
    let exact = shape.n_bytes_per_token() * (length as u64);
    assert!(n_bytes >= exact && n_bytes <= exact + 16 * shape.n_bytes_per_token());
    let mut n_off = 0;
    for sample in &samples {
        if let CacheSample::Off {
            largest_difference,
            is_same_token,
            ..
        } = sample
        {
            n_off += 1;
            assert!(*is_same_token && *largest_difference < 1e-3, "{sample:?}");
        }
    }
    assert_eq!(n_off, 24);
    let reads = samples.iter().filter_map(|sample| match sample {
        CacheSample::Read { length, .. } => Some(*length),
        _ => None,
    });
    assert_eq!(reads.collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 47]);
    let is_cheaper = samples.iter().any(|sample| {
        matches!(sample, CacheSample::Panes { shared, apart }
            if shared.n_bytes.unwrap() * 3 < apart.n_bytes.unwrap() && apart.n_reads == 4)
    });
    assert!(is_cheaper, "a shared prompt takes a quarter of the memory");
}

#[test]
fn stopping_after_any_pass_frees_every_sequence() {
    for n_passes in 0..160 {
        let mut model = tiny();
        let before = model.lm.open();
        let mut job = job(3, 12, &model);
        for _ in 0..n_passes {
            job.pass(&mut *model.lm).unwrap();
        }
        job.close(&mut *model.lm);
        let all: Vec<_> = (0..400).map(crate::engine::SequenceId).collect();
        assert_eq!(model.lm.n_cache_bytes(&all), Some(0), "{n_passes}");
        model.lm.close(before);
    }
}

#[test]
fn the_context_limits_the_text_and_a_full_one_is_refused() {
    let model = tiny();
    let n_max = model.lm.n_context();
    assert_eq!(job(n_max - 2, 500, &model).facts.n_tokens, 2);
    let full = vec![TokenId(5); n_max - 1];
    assert!(CacheJob::new(full, 9, &model).is_err());
    assert_eq!(job(3, 9, &model).stage, CacheStage::Prompt);
}

#[test]
fn lengths_cover_the_text() {
    assert_eq!(spread(5, 5), [5]);
    assert_eq!(spread(5, 8), [5, 6, 7, 8]);
    let many = spread(12, 351);
    assert_eq!((many.len(), many[0], many[23]), (24, 12, 351));
    assert_eq!(doubling(1), [1]);
    assert_eq!(doubling(8), [1, 2, 4, 8]);
    assert_eq!(doubling(9), [1, 2, 4, 8, 9]);
}
