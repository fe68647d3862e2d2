//! Measures saving and opening a run file of four texts of 2,000 tokens each.
//!
//!     cargo bench --bench run_file
#![allow(
    missing_docs,
    reason = "criterion's macros generate functions without docs"
)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use quartet::decoding::{Coins, History, SamplerChain};
use quartet::export::json::{Form, RunHeader, read, write};
use quartet::generation::{
    FinishReason, Generation, GenerationConfig, Limits, Lineage, ModelInfo, PaneSettings, Piece,
    PromptRecord, Step, StepTime, Vocabulary,
};

const N_VOCAB: usize = 6144;
const N_STEPS: u64 = 2000;

/// Generates a text from logits that depend only on the token and its position.
fn text(settings: &PaneSettings, vocabulary: &Arc<Vocabulary>) -> Generation {
    let mut chain = SamplerChain::new(settings.chain.clone());
    let steps = (0..N_STEPS).map(|position| {
        let noise = |token: usize| {
            let mixed = (token as u64 + 1).wrapping_mul(position + 1);
            (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f32 / (1 << 20) as f32
        };
        let logits: Vec<f32> = (0..N_VOCAB).map(noise).collect();
        let coins = Coins { seed: 42, position };
        let Ok(sampled) = chain.sample(&logits, History::empty(), coins) else {
            unreachable!("the logits are finite");
        };
        Step {
            token: sampled.token,
            piece: vocabulary.piece(sampled.token),
            trace: Arc::new(sampled.trace),
            time: StepTime::default(),
            draft: None,
            logits_hash: None,
        }
    });
    Generation {
        name: settings.name.clone(),
        earlier: Vec::new(),
        contradiction: None,
        config: GenerationConfig {
            chain: settings.chain.clone(),
            seed: 42,
            limits: Limits::default(),
        },
        second_model: None,
        model: Arc::new(ModelInfo {
            n_vocab: N_VOCAB,
            ..ModelInfo::default()
        }),
        vocabulary: Arc::clone(vocabulary),
        prompt: Arc::new(PromptRecord::default()),
        steps: steps.collect(),
        finish: Some(FinishReason::MaxTokens),
        grammar_complete: None,
        lineage: Lineage::default(),
        beams: Arc::default(),
        previous_turn: None,
        not_applied: Vec::new(),
    }
}

fn run_file(criterion: &mut Criterion) {
    let piece = |token: usize| Piece::text(format!(" word{token}"));
    let vocabulary = Arc::new(Vocabulary::new((0..N_VOCAB).map(piece).collect()));
    let panes = PaneSettings::classics();
    let texts: Vec<Generation> = panes.iter().map(|pane| text(pane, &vocabulary)).collect();
    let panes: Vec<&Generation> = texts.iter().collect();
    let save = || write(&RunHeader::default(), &panes, Form::default());
    let bytes = save();
    let mut group = criterion.benchmark_group("run file of 4 × 2,000 tokens");
    group.sample_size(10);
    group.throughput(criterion::Throughput::Bytes(bytes.len() as u64));
    // What the window's thread does to save a run: the rest happens in the background.
    group.bench_function("hand over", |bencher| {
        bencher.iter(|| black_box(&texts).clone());
    });
    group.bench_function("save", |bencher| bencher.iter(save));
    group.bench_function("open", |bencher| bencher.iter(|| read(black_box(&bytes))));
    group.finish();
}

criterion_group!(benches, run_file);
criterion_main!(benches);
