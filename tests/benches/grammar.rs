//! Measures the time to find the legal tokens in a vocabulary of 151,936, and to prepare the
//! vocabulary. Run it with `cargo bench --bench grammar`.
#![allow(
    missing_docs,
    reason = "criterion's macros generate functions without docs"
)]
#![expect(clippy::print_stdout, reason = "the benchmark prints its results")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark that panics has failed"
)]

#[path = "../large_vocabulary/mod.rs"]
mod large_vocabulary;

use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use large_vocabulary::{N_VOCAB, large_vocabulary};
use quartet::decoding::{GrammarKind, GrammarRule, GrammarState, GrammarVocabulary, TokenId};

/// The rules to measure, each with the text that is accepted first.
const PLACES: [(&str, GrammarKind, &str, &str); 6] = [
    ("JSON, at the start", GrammarKind::Json, "", ""),
    (
        "JSON, in a string",
        GrammarKind::Json,
        "",
        "{\"name\": \"the fox",
    ),
    (
        "JSON, after a value",
        GrammarKind::Json,
        "",
        "{\"name\": [1, 2",
    ),
    (
        "JSON Schema, in a number",
        GrammarKind::Schema,
        GrammarKind::Schema.example(),
        "{\"animal\": \"fox\", \"age\": 1",
    ),
    (
        "regex without a letter",
        GrammarKind::Regex,
        "[^eE]*",
        "A quick fox",
    ),
    (
        "words in Lark",
        GrammarKind::Lark,
        GrammarKind::Lark.example(),
        " the qui",
    ),
];

fn measure(criterion: &mut Criterion) {
    let words = large_vocabulary();
    let ends = [TokenId(N_VOCAB - 1)];
    let prepare = || Arc::new(GrammarVocabulary::new(words.clone(), &ends).unwrap());
    let vocabulary = prepare();
    let mut group = criterion.benchmark_group("mask");
    group
        .sample_size(20)
        .measurement_time(Duration::from_secs(1));
    for (name, kind, rule, text) in PLACES {
        let rule = Arc::new(GrammarRule::new(kind, rule));
        let state = || {
            let mut state = GrammarState::new(&rule, &vocabulary).unwrap();
            for byte in text.bytes() {
                assert!(state.accept(TokenId(u32::from(byte))), "{name}");
            }
            state
        };
        let mut seen = state();
        println!("{name}: {} legal", seen.legal().unwrap().n_legal());
        // A state caches what it has computed, and later tokens of a text often need it again.
        group.bench_function(format!("{name}, again"), |bencher| {
            bencher.iter_batched_ref(
                || seen.clone(),
                |state| state.legal().unwrap(),
                BatchSize::SmallInput,
            );
        });
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(state, |state| state.legal().unwrap(), BatchSize::SmallInput);
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group("prepare");
    group.sample_size(10);
    group.bench_function("vocabulary", |bencher| bencher.iter(prepare));
    let rule = Arc::new(GrammarRule::new(PLACES[3].1, PLACES[3].2));
    group.bench_function("JSON Schema", |bencher| {
        bencher.iter(|| GrammarState::new(&rule, &vocabulary).unwrap());
    });
    group.finish();
}

criterion_group!(benches, measure);
criterion_main!(benches);
