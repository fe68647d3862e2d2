//! Whatever happens to the texts and the settings, a kept figure equals a new one.

use std::sync::Arc;

use egui::Context;

use super::{kept_plot, of_steps, score_values, step_table, trend_figures};
use crate::analysis::trend::rank_counts;
use crate::analysis::watermark::WatermarkScan;
use crate::analysis::xray::XrayTable;
use crate::decoding::TokenId;
use crate::export::json::RunFile;
use crate::generation::testing::generation;
use crate::generation::{ChatSupport, Generation, PaneSettings};
use crate::plots::{ScoreValues, TrendData, TrendFigures, run_picture};
use crate::state::tests::{
    asked, begin, continued, finish, loaded_with, write, write_more, written,
};
use crate::state::{
    AppState, BranchChange, BranchCommand, BranchTarget, Command, Pace, Pane, Pin, Plot, RightPlot,
    RunCommand, ScoreMeasure,
};

const WORDS: [&str; 6] = [" the", " fox", " a", " little", " house", "."];

const CHAINS: [&str; 5] = [
    "temp 0.7",
    "greedy",
    "temp 1.4, top-p 0.8",
    "top-k 2, temp 0.5",
    "green-list 2",
];

/// A linear congruential generator (Knuth, MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    fn pieces(&mut self, n: usize) -> Vec<(&'static str, f64)> {
        let piece = |_| {
            let word = WORDS[self.below(WORDS.len())];
            (word, [0.1, 0.3, 0.6][self.below(3)])
        };
        (0..n).map(piece).collect()
    }
}

/// Does something to a random pane.
fn act(state: &mut AppState, random: &mut Random) {
    let places: Vec<usize> = state.panes.places().collect();
    let place = places[random.below(places.len())];
    let pane = state.panes[place].id;
    let n_steps = state.panes[place]
        .generation()
        .map_or(0, |text| text.steps.len());
    let pin = Pin {
        pane,
        step: random.below(n_steps),
    };
    let command = match random.below(20) {
        0 => Command::GenerateAll,
        1 | 2 => Command::Generate(pane),
        3 | 4 => {
            let settings: PaneSettings = CHAINS[random.below(CHAINS.len())].parse().unwrap();
            Command::SetChain(pane, settings.chain)
        }
        5 => Command::SetSeed(pane, [None, Some(7), Some(8)][random.below(3)]),
        6 | 7 => Command::Branch(BranchCommand::Branch {
            from: pin,
            change: [
                BranchChange::Tokens(vec![TokenId(5)]),
                BranchChange::AnotherSeed,
                BranchChange::Settings,
            ][random.below(3)]
            .clone(),
            target: BranchTarget::InPlace,
        }),
        8 => Command::SetPace([Pace::Step, Pace::FullSpeed][random.below(2)]),
        9 => Command::Branch(BranchCommand::StepBack),
        10 => Command::Branch(BranchCommand::Step),
        11 => [Command::Undo, Command::Redo][random.below(2)].clone(),
        12 => [Command::AddPane, Command::Duplicate(pane)][random.below(2)].clone(),
        13 => Command::Remove(pane),
        14 => Command::Branch(BranchCommand::ShowEarlier(pane)),
        15 => {
            let texts = [1, 5].map(|n| generation(&random.pieces(n)));
            let run = RunFile {
                panes: texts.to_vec(),
                ..RunFile::default()
            };
            Command::Run(RunCommand::Read {
                name: "fox.quartet.json".to_owned(),
                run: Ok(Box::new(run)),
            })
        }
        16 => Command::Run(RunCommand::Close),
        17 => {
            state.on_event(loaded_with(ChatSupport::Missing));
            return;
        }
        18 => {
            state.view.score = ScoreMeasure::ALL[random.below(ScoreMeasure::ALL.len())];
            let plots: Vec<Plot> = Plot::all_on_right().collect();
            state.view.right_plot = RightPlot(plots[random.below(plots.len())]);
            return;
        }
        _ => Command::Pin(pin),
    };
    let effects = state.apply(command);
    for id in asked(&effects).into_iter().chain(continued(&effects)) {
        let n = 1 + random.below(4);
        match random.below(3) {
            0 => write(state, id, &random.pieces(n)),
            1 => begin(state, id, &random.pieces(n)),
            // It waits.
            _ => {}
        }
    }
}

/// Lets the texts in progress grow, or end.
fn grow(state: &mut AppState, random: &mut Random) {
    let writing = state.panes.iter().filter(|pane| pane.status.is_writing());
    let writing = writing.filter_map(|pane| pane.status.running());
    for id in writing.collect::<Vec<_>>() {
        match random.below(4) {
            0 => finish(state, id),
            1 => {}
            n => write_more(state, id, &random.pieces(n - 1)),
        }
    }
}

fn check(ctx: &Context, state: &AppState, random: &mut Random) {
    let texts = state.generations();
    let measure = state.view.score;
    for (pane, text) in state.panes.iter().zip(&texts) {
        let Some(text) = *text else { continue };
        let values = score_values(ctx, text, measure);
        assert_eq!(*values, ScoreValues::of(text, measure));
        assert!(Arc::ptr_eq(&values, &score_values(ctx, text, measure)));
        assert_eq!(
            *of_steps(ctx, "ranks", text, rank_counts),
            rank_counts(text)
        );
        let step = random.below(text.steps.len() + 1);
        let (chain, seed) = (&pane.settings.chain, state.seed_of(pane));
        let table = step_table(ctx, text, step, chain, seed);
        let new = XrayTable::of(text, step, chain, seed);
        // A number can be unknown in both.
        assert_eq!(
            format!("{:?}", table.as_deref()),
            format!("{:?}", new.as_ref())
        );
    }
    let plot = state.view.right_plot.0;
    let Plot::Trend(kind) = plot else {
        let kept = kept_plot(ctx, plot, &texts).unwrap();
        let new = run_picture(plot).unwrap().kept_plot(&texts).unwrap();
        assert_eq!(format!("{kept:?}"), format!("{new:?}"));
        return;
    };
    let scans: Vec<_> = state.panes.iter().map(Pane::watermark).collect();
    let figures = |texts: &[(usize, &Generation)], scans: &[&WatermarkScan]| {
        let figures = trend_figures(ctx, kind, texts, scans);
        assert_eq!(*figures, TrendFigures::of(kind, texts, scans), "{kind:?}");
        figures
    };
    TrendData::with_figures(&texts, kind, &scans, figures);
}

#[test]
fn kept_figures_equal_new_ones_after_any_sequence_of_commands() {
    for seed in 0..4 {
        let (mut state, ctx) = (written(), Context::default());
        let mut random = Random(seed);
        for _ in 0..150 {
            act(&mut state, &mut random);
            state.review(|| true);
            check(&ctx, &state, &mut random);
            grow(&mut state, &mut random);
            state.review(|| true);
            check(&ctx, &state, &mut random);
        }
    }
}

#[test]
fn an_x_ray_is_computed_once_until_its_settings_change() {
    let (mut state, ctx) = (written(), Context::default());
    let chain: PaneSettings = "temp 1.5".parse().unwrap();
    state.panes[1].settings.chain = chain.chain;
    let table = |state: &AppState| {
        let pane = &state.panes[1];
        let text = pane.generation().unwrap();
        step_table(&ctx, text, 2, &pane.settings.chain, state.seed_of(pane)).unwrap()
    };
    let first = table(&state);
    assert!(first.what_if);
    assert!(Arc::ptr_eq(&first, &table(&state)));
    let pane = state.panes[1].id;
    state.apply(Command::SetSeed(pane, Some(9)));
    assert!(!Arc::ptr_eq(&first, &table(&state)));
}
