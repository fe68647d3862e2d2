//! Measures the frame time of four streaming panes: layout, painting and tessellation on one
//! thread.
//!
//! `cargo bench --bench token_text` prints the mean milliseconds per frame for several text
//! lengths. The time must not grow with the length, because invisible text is not touched. The
//! exception is a frame in which the panes have a new width, which lays out all of the text again.

#![expect(clippy::print_stdout, reason = "the benchmark prints its results")]

use std::sync::Arc;
use std::time::Instant;

use egui::{Context, Pos2, RawInput, Rect, UiBuilder, pos2, vec2};
use quartet::decoding::{
    ChainConfig, Detail, Draw, Evidence, Picked, RankedCandidate, SelectorState, TokenId, Trace,
};
use quartet::design::style;
use quartet::design::theme::Theme;
use quartet::generation::{
    Generation, GenerationConfig, Limits, Lineage, ModelInfo, Piece, PromptRecord, Step, StepTime,
    Vocabulary,
};
use quartet::state::Tint;
use quartet::ui::token_text::{TextEnd, TokenTextInput, TokenView};

const N_PANES: usize = 4;
/// The width of a pane, in points.
const WIDTH: f32 = 308.0;
const N_FRAMES: usize = 200;
const N_NEW_WIDTHS: usize = 20;

fn main() {
    for n_tokens in [200, 2_000, 10_000] {
        let (streaming, idle) = (mean_ms(n_tokens, 1), mean_ms(n_tokens, 0));
        let resized = resized_ms(n_tokens);
        println!(
            "{n_tokens:6} tokens per pane: {streaming:6.2} ms per frame with a new token in each pane, \
             {idle:6.2} ms without new tokens, {resized:6.2} ms with a new width"
        );
    }
}

/// Returns the mean frame time in milliseconds of panes that hold `n_tokens` and receive `n_new`
/// more in each frame.
fn mean_ms(n_tokens: usize, n_new: usize) -> f64 {
    let whole = generation(n_tokens + N_FRAMES * n_new);
    let mut growing = whole.clone();
    growing.steps.truncate(n_tokens);
    let ctx = Context::default();
    style::install(&ctx);
    let mut views: Vec<TokenView> = (0..N_PANES).map(|_| TokenView::default()).collect();
    for _ in 0..5 {
        frame(&ctx, &growing, WIDTH, &mut views);
    }
    let start = Instant::now();
    for index in 0..N_FRAMES {
        let from = n_tokens + index * n_new;
        let new = whole.steps.iter().skip(from).take(n_new).cloned();
        growing.steps.extend(new);
        frame(&ctx, &growing, WIDTH, &mut views);
    }
    start.elapsed().as_secs_f64() * 1000.0 / N_FRAMES as f64
}

/// Returns the mean time in milliseconds of a frame in which the panes change their width.
fn resized_ms(n_tokens: usize) -> f64 {
    let generation = generation(n_tokens);
    let ctx = Context::default();
    style::install(&ctx);
    let mut views: Vec<TokenView> = (0..N_PANES).map(|_| TokenView::default()).collect();
    for _ in 0..5 {
        frame(&ctx, &generation, WIDTH, &mut views);
    }
    let start = Instant::now();
    for index in 0..N_NEW_WIDTHS {
        frame(&ctx, &generation, WIDTH - 1.0 - index as f32, &mut views);
    }
    start.elapsed().as_secs_f64() * 1000.0 / N_NEW_WIDTHS as f64
}

fn frame(ctx: &Context, generation: &Generation, width: f32, views: &mut [TokenView]) {
    let input = RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 800.0))),
        ..RawInput::default()
    };
    let mut output = ctx.run_ui(input, |ui| {
        let theme = Theme::of(ui);
        for (index, view) in views.iter_mut().enumerate() {
            let corner = pos2(316.0 * index as f32, 150.0);
            let rect = Rect::from_min_size(corner, vec2(width, 380.0));
            let mut pane = ui.new_child(UiBuilder::new().id_salt(index).max_rect(rect));
            let input = TokenTextInput {
                generation,
                tint: Tint::Probability,
                watermark: None,
                pinned: None,
                same_step: None,
                n_dimmed: 0,
                looping: None,
                fork_step: Some(4),
                breaks_at: None,
                breaks_other_at: None,
                contradicts_at: None,
                unjudged_from: None,
                what_ifs: None,
                kind: None,
                show_marks: false,
                can_branch: false,
                has_cards: true,
                end: TextEnd::Writing,
                pane_color: theme.pane(index),
            };
            view.ui(&mut pane, input);
        }
    });
    let shapes = std::mem::take(&mut output.shapes);
    std::hint::black_box(ctx.tessellate(shapes, output.pixels_per_point));
    output.drop_without_applying_deltas();
}

fn generation(n_tokens: usize) -> Generation {
    let words = [
        " once", " there", " was", " a", " little", " house", " by", " the", " road", ".", "\n\n",
    ];
    Generation {
        name: "Bench".to_owned(),
        earlier: Vec::new(),
        contradiction: None,
        config: GenerationConfig {
            chain: ChainConfig::greedy(),
            seed: 42,
            limits: Limits::default(),
        },
        second_model: None,
        model: Arc::new(ModelInfo::default()),
        vocabulary: Arc::new(Vocabulary::new(words.map(Piece::text).to_vec())),
        prompt: Arc::new(PromptRecord {
            text: "Once upon a time".to_owned(),
            ..PromptRecord::default()
        }),
        steps: (0..n_tokens)
            .map(|index| {
                // Paragraphs of about forty words.
                let word = if index % 41 == 40 { 10 } else { index * 7 % 10 };
                step(index, word, words.get(word).copied().unwrap_or_default())
            })
            .collect(),
        finish: None,
        grammar_complete: None,
        lineage: Lineage::default(),
        beams: Arc::default(),
        previous_turn: None,
        not_applied: Vec::new(),
    }
}

fn step(index: usize, word: usize, text: &str) -> Step {
    let token = TokenId(word as u32);
    let prob = 1.0 / (1 + index * 5 % 97) as f64;
    let candidate = RankedCandidate {
        token,
        logit: 0.0,
        prob,
    };
    Step {
        token,
        piece: Piece::text(text),
        trace: Arc::new(Trace {
            raw: Evidence {
                n_candidates: 11,
                head: vec![candidate],
                log_sum_exp: 0.0,
                entropy_nats: 1.0,
                detail: Detail::HeadOnly,
            },
            mixture: None,
            stages: Vec::new(),
            survivors: vec![candidate],
            head_final_probs: vec![Some(prob)],
            draw: Draw {
                token,
                prob,
                coin: None,
                below: 0.0,
                n_kept: 1,
                picked: Picked::ByChain,
            },
            raw_prob: prob,
            raw_rank: 1,
            selector_state: SelectorState::NEW,
            grammar: None,
            bounded: false,
            known: None,
        }),
        time: StepTime {
            at_secs: index as f64 / 400.0,
            forward_secs: 0.002,
            n_batch: N_PANES,
            mask_secs: None,
            network_secs: None,
        },
        draft: None,
        logits_hash: None,
    }
}
