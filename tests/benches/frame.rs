//! Measures the frame time of the whole window with eight texts of 4,000 tokens and a vocabulary of
//! 151,936, the search for the smallest change, and the frame time with conversations in four panes.
//! Run it with `cargo bench --bench frame`, or for the conversations alone, with
//! `cargo bench --bench frame -- conversations`.
//!
//! For each tab of the dock, it prints the mean and the longest frame time when another token is
//! pinned and when nothing changes: first with the settings that wrote the texts, then after a
//! setting of every pane has changed. The pinned steps and the last ones have whole distributions.
//! A frame in which nothing changes should take less than 2 ms, whatever the length of the texts.
//!
//! Conversations are measured with one turn and with ten, of 200 tokens each, also while they scroll.
//! A frame should take less than 4 ms.

#![expect(clippy::print_stdout, reason = "the benchmark prints its results")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use egui::{
    Context, Event as InputEvent, Modifiers, MouseWheelSource, MouseWheelUnit, Pos2, RawInput,
    Rect, TouchPhase, pos2, vec2,
};
use quartet::analysis::SmallestChange;
use quartet::decoding::filters::Temperature;
use quartet::decoding::{Coins, Filter, History, SamplerChain, TokenId};
use quartet::design::style;
use quartet::generation::{
    ChatRecord, ChatSupport, FinishReason, Generation, ModelInfo, Piece, PromptForm, PromptRecord,
    PromptText, Step, StepTime, Vocabulary,
};
use quartet::state::{AppState, Command, DockTab, Effect, Pin, PromptMode, Settings};
use quartet::ui::WindowUi;
use quartet::worker::{Event, ModelSource, PaneRequest, Progress, Request};

/// The vocabulary size of the Qwen family.
const N_VOCAB: usize = 151_936;
const N_PANES: usize = 8;
const N_TOKENS: usize = 4_000;
const N_PROMPT: u32 = 8;
const N_FRAMES: usize = 60;

/// The panes of a conversation, and the length of each answer.
const N_CHAT_PANES: usize = 4;
const N_ANSWER_TOKENS: usize = 200;

/// The time in which a frame should be drawn if nothing changes, and with conversations, in
/// milliseconds.
const MAX_IDLE_MS: f64 = 2.0;
const MAX_CHAT_MS: f64 = 4.0;

fn main() {
    if !std::env::args().any(|argument| argument == "conversations") {
        measure_texts();
    }
    for n_turns in [1, 10] {
        let mut state = conversations(n_turns);
        println!("{N_CHAT_PANES} panes with conversations of {n_turns} turns");
        print_tabs(&mut state, MAX_CHAT_MS);
        println!("scrolling:  {}", summary(&scrolled_ms(&mut state)));
    }
}

/// Measures long texts, before and after a setting has changed.
fn measure_texts() {
    let mut state = written();
    let n_tokens = state.generations().into_iter().flatten();
    let n_tokens: usize = n_tokens.map(|text| text.steps.len()).sum();
    println!("{n_tokens} tokens in {} panes", state.panes.len());
    let searches = (0..20).map(|index| smallest_change_ms(&state, 100 * index));
    let searches: Vec<f64> = searches.collect();
    println!("smallest change:  {}", summary(&searches));
    println!("With the settings of the texts");
    print_tabs(&mut state, MAX_IDLE_MS);
    for pane in &mut state.panes {
        let warmer = Filter::Temperature(Temperature { temperature: 1.3 });
        pane.settings.chain.stages.push(warmer.into());
    }
    println!("After a changed setting");
    print_tabs(&mut state, MAX_IDLE_MS);
}

/// Prints the frame times of each tab.
fn print_tabs(state: &mut AppState, max_idle_ms: f64) {
    while !state.review(|| true) {}
    for tab in [
        DockTab::Plots,
        DockTab::Xray,
        DockTab::Loop,
        DockTab::Branches,
        DockTab::Compare,
        DockTab::Numbers,
    ] {
        let (first, pinned, idle) = frames_ms(state, tab);
        let mean = idle.iter().sum::<f64>() / idle.len().max(1) as f64;
        println!(
            "{:10} first frame {first:6.2} ms; another token pinned: {}; no change: {}{}",
            tab.name(),
            summary(&pinned),
            summary(&idle),
            if mean > max_idle_ms { ", too slow" } else { "" }
        );
    }
}

/// Returns the step that the frame with this index pins in a text of this length.
const fn pinned_step(index: usize, n_tokens: usize) -> usize {
    index * 31 % n_tokens
}

/// Returns, in milliseconds, the time of the first frame with this tab, of frames that pin another
/// token, and of frames in which nothing changes.
fn frames_ms(state: &mut AppState, tab: DockTab) -> (f64, Vec<f64>, Vec<f64>) {
    let ctx = Context::default();
    style::install(&ctx);
    let mut window = WindowUi::default();
    state.view.dock_tab = if tab == DockTab::Plots {
        DockTab::Numbers
    } else {
        DockTab::Plots
    };
    // The texts are laid out and compared with the settings, which takes several frames.
    for _ in 0..300 {
        frame_ms(&ctx, &mut window, state);
    }
    state.view.dock_tab = tab;
    let first = frame_ms(&ctx, &mut window, state);
    for _ in 0..100 {
        frame_ms(&ctx, &mut window, state);
    }
    let mut pinned = Vec::new();
    for index in 0..N_FRAMES {
        let pane = state.panes.get(index % state.panes.len());
        state.pin = pane.and_then(|pane| {
            let n_tokens = pane.latest()?.steps.len();
            Some(Pin {
                pane: pane.id,
                step: pinned_step(index, n_tokens),
            })
        });
        pinned.push(frame_ms(&ctx, &mut window, state));
    }
    for _ in 0..100 {
        frame_ms(&ctx, &mut window, state);
    }
    let idle = (0..N_FRAMES).map(|_| frame_ms(&ctx, &mut window, state));
    (first, pinned, idle.collect())
}

/// Returns the times of frames in which the first pane scrolls up, in milliseconds.
fn scrolled_ms(state: &mut AppState) -> Vec<f64> {
    let ctx = Context::default();
    style::install(&ctx);
    let mut window = WindowUi::default();
    (state.view.dock_tab, state.pin) = (DockTab::Plots, None);
    for _ in 0..300 {
        frame_ms(&ctx, &mut window, state);
    }
    let wheel = InputEvent::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, 40.0),
        phase: TouchPhase::Move,
        source: MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    };
    let over_text = InputEvent::PointerMoved(pos2(150.0, 260.0));
    let frame = |_| {
        let events = vec![over_text.clone(), wheel.clone()];
        frame_with_ms(&ctx, &mut window, state, events)
    };
    (0..N_FRAMES).map(frame).collect()
}

fn frame_ms(ctx: &Context, window: &mut WindowUi, state: &mut AppState) -> f64 {
    frame_with_ms(ctx, window, state, Vec::new())
}

fn frame_with_ms(
    ctx: &Context,
    window: &mut WindowUi,
    state: &mut AppState,
    events: Vec<InputEvent>,
) -> f64 {
    let input = RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 800.0))),
        events,
        ..RawInput::default()
    };
    let start = Instant::now();
    let mut output = ctx.run_ui(input, |ui| {
        std::hint::black_box(window.ui(ui, state));
    });
    let shapes = std::mem::take(&mut output.shapes);
    std::hint::black_box(ctx.tessellate(shapes, output.pixels_per_point));
    output.drop_without_applying_deltas();
    start.elapsed().as_secs_f64() * 1000.0
}

fn smallest_change_ms(state: &AppState, step: usize) -> f64 {
    let generations = state.generations();
    let Some(text) = generations.last().copied().flatten() else {
        return f64::NAN;
    };
    let start = Instant::now();
    std::hint::black_box(SmallestChange::find(text, step));
    start.elapsed().as_secs_f64() * 1000.0
}

/// Formats times, as in "mean 1.20 ms, longest 2.40 ms".
fn summary(values: &[f64]) -> String {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let longest = values.iter().copied().fold(0.0, f64::max);
    format!("mean {mean:6.2} ms, longest {longest:6.2} ms")
}

/// Returns a state with eight panes, each with a finished text.
fn written() -> AppState {
    let mut state = opened(ChatSupport::Missing);
    state.limits.max_new_tokens = N_TOKENS;
    state.apply(Command::SetPaneCount(N_PANES));
    answer(&mut state, Text::pinned(N_TOKENS));
    state
}

/// Returns a state with four panes, each with a conversation of this many turns.
fn conversations(n_turns: usize) -> AppState {
    let mut state = opened(ChatSupport::ready());
    state.limits.max_new_tokens = N_ANSWER_TOKENS;
    state.apply(Command::SetPaneCount(N_CHAT_PANES));
    state.prompt.mode = PromptMode::Chat;
    for turn in 1..=n_turns {
        state.prompt.text = format!("Message {turn}: and what happened to the fox then?");
        let text = Text::pinned(N_ANSWER_TOKENS);
        let is_pinned = turn == n_turns;
        answer(&mut state, Text { is_pinned, ..text });
    }
    let has_turns = |text: &Generation| text.n_turns() == n_turns;
    assert!(state.generations().into_iter().flatten().all(has_turns));
    state
}

/// Returns a state with a loaded model.
fn opened(chat: ChatSupport) -> AppState {
    let settings = Settings::default();
    let (mut state, _) = AppState::new(settings, ModelSource::Embedded);
    let pieces = (0..N_VOCAB).map(|index| Piece::text(format!(" w{index}")));
    state.on_event(Event::ModelLoaded {
        info: Arc::new(ModelInfo {
            n_vocab: N_VOCAB,
            n_context: 2 * N_TOKENS,
            ..ModelInfo::default()
        }),
        vocabulary: Arc::new(Vocabulary::new(pieces.collect())),
        chat,
        recommended_sampling: None,
        load_warning: None,
        second: None,
    });
    state
}

/// A text to write.
#[derive(Clone, Copy)]
struct Text {
    n_tokens: usize,
    /// Whether its tokens are pinned later; those have whole distributions.
    is_pinned: bool,
}

impl Text {
    const fn pinned(n_tokens: usize) -> Self {
        Self {
            n_tokens,
            is_pinned: true,
        }
    }

    /// Returns the steps with whole distributions.
    fn whole(self) -> BTreeSet<usize> {
        let last = self.n_tokens - 1;
        let pinned = (0..N_FRAMES).map(|index| pinned_step(index, self.n_tokens));
        let steps = pinned.chain([last]);
        steps.filter(|_| self.is_pinned).collect()
    }
}

/// Lets all panes generate a text.
fn answer(state: &mut AppState, text: Text) {
    for effect in state.apply(Command::GenerateAll) {
        let Effect::Send(Request::Generate {
            prompt,
            panes,
            n_detail_bytes,
            ..
        }) = effect
        else {
            continue;
        };
        let prompt = Arc::new(read(&prompt, state));
        for pane in panes {
            let ids = vec![pane.id];
            let prompt = Arc::clone(&prompt);
            state.on_event(Event::Progress(Progress::Started { ids, prompt }));
            write(state, &pane, n_detail_bytes, text);
        }
    }
}

/// Returns what the model reads of a prompt: eight tokens.
fn read(prompt: &PromptText, state: &AppState) -> PromptRecord {
    let tokens: Vec<TokenId> = (0..N_PROMPT).map(TokenId).collect();
    let vocabulary = vocabulary(state);
    PromptRecord {
        text: prompt.text.clone(),
        chat: match &prompt.form {
            PromptForm::Raw => None,
            PromptForm::Chat(settings) => Some(ChatRecord {
                settings: settings.clone(),
                rendered: prompt.text.clone(),
            }),
        },
        pieces: tokens
            .iter()
            .map(|token| vocabulary.piece(*token))
            .collect(),
        tokens,
        ..PromptRecord::default()
    }
}

fn write(state: &mut AppState, pane: &PaneRequest, n_detail_bytes: usize, text: Text) {
    let id = pane.id;
    let vocabulary = vocabulary(state);
    let mut tokens: Vec<TokenId> = (0..N_PROMPT).map(TokenId).collect();
    let mut chain = SamplerChain::new(pane.config.chain.clone());
    let whole = text.whole();
    let mut logits = noise();
    for index in 0..text.n_tokens {
        raise_some(&mut logits, index);
        // Eight texts of whole distributions would take 19 GB.
        let n_detail_bytes = if whole.contains(&index) {
            usize::MAX
        } else {
            n_detail_bytes
        };
        chain = chain.with_detail(n_detail_bytes);
        let history = History::new(&tokens, N_PROMPT as usize);
        let coins = Coins {
            seed: pane.config.seed,
            position: tokens.len() as u64,
        };
        let Ok(sampled) = chain.sample(&logits, history, coins) else {
            panic!("the logits are finite");
        };
        tokens.push(sampled.token);
        let step = Box::new(Step {
            token: sampled.token,
            piece: vocabulary.piece(sampled.token),
            trace: Arc::new(sampled.trace),
            time: StepTime {
                at_secs: index as f64 / 50.0,
                forward_secs: 0.018,
                n_batch: N_PANES,
                mask_secs: None,
                network_secs: None,
            },
            draft: None,
            logits_hash: None,
        });
        state.on_event(Event::Progress(Progress::Stepped { id, step }));
    }
    let reason = FinishReason::MaxTokens;
    state.on_event(Event::Progress(Progress::Finished { id, reason }));
}

/// Returns the vocabulary of the loaded model.
fn vocabulary(state: &AppState) -> Arc<Vocabulary> {
    let Some(model) = state.models.main.ready() else {
        panic!("a model is loaded");
    };
    Arc::clone(&model.vocabulary)
}

/// Returns logits that follow a bell curve around 0.
fn noise() -> Vec<f32> {
    let mut state = 1_u32;
    let mut uniform = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    (0..N_VOCAB)
        .map(|_| (0..4).map(|_| uniform()).sum::<f32>() * 3.0 - 6.0)
        .collect()
}

/// Raises 200 logits far above the others, in a different order at each step.
fn raise_some(logits: &mut [f32], step: usize) {
    for rank in 0..200_usize {
        let token = rank * 7919 % N_VOCAB;
        if let Some(logit) = logits.get_mut(token) {
            *logit = 20.0 - 2.5 * (((rank + step * 37) % 200 + 1) as f32).ln();
        }
    }
}
