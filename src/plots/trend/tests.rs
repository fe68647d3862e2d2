//! Tests of the trends' data.

use std::sync::Arc;

use super::TrendData;
use super::data::Axis;
use crate::analysis::trend::Trend;
use crate::generation::Generation;
use crate::generation::testing::{generation, scored};
use crate::plots::StepAt;

fn texts() -> [Generation; 2] {
    let mut first = generation(&[(" a", 0.5), (" fox", 0.25), (".", 0.5)]);
    for (step, (prob, rank)) in first.steps.iter_mut().zip([(0.5, 1), (0.25, 5), (0.5, 1)]) {
        let trace = Arc::make_mut(&mut step.trace);
        (trace.raw_prob, trace.raw_rank) = (prob, rank);
    }
    let second = generation(&[(" the", 0.5)]);
    [first, second]
}

fn data(texts: &[Generation; 2], kind: Trend) -> TrendData<'_> {
    TrendData::of(&[Some(&texts[0]), None, Some(&texts[1])], kind)
}

#[test]
fn surprise_accumulates_and_the_axis_covers_it() {
    let texts = texts();
    let data = data(&texts, Trend::Surprise);
    let line = &data.figures.panels[0].lines[0];
    let bits: Vec<String> = line.iter().map(|(_, bits)| format!("{bits:.0}")).collect();
    assert_eq!(bits, ["1", "3", "4"]);
    assert_eq!(
        line.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    let label = data.label(StepAt { pane: 0, step: 2 });
    assert_eq!(label.as_deref(), Some("4.0 bits so far"));
    assert_eq!(
        data.texts.iter().map(|(pane, _)| *pane).collect::<Vec<_>>(),
        [0, 2]
    );
    assert!(data.figures.panels[0].axis.place(4.0) <= 1.0);
}

#[test]
fn time_begins_with_the_second_token() {
    let texts = texts();
    let data = data(&texts, Trend::Millis);
    let lines = &data.figures.panels[0].lines;
    assert_eq!(lines[0].len(), 2);
    assert_eq!(lines[0][0].0, 2);
    assert!((lines[0][0].1 - 2.5).abs() < 1e-6);
    assert!(lines[1].is_empty());
    let first = data.label(StepAt { pane: 0, step: 0 });
    assert_eq!(
        first.as_deref(),
        Some("first token, after the prompt was read")
    );
}

#[test]
fn a_scored_text_has_no_times() {
    let [written, _] = texts();
    let given = scored(&[(" a", 0.5), (" fox", 0.5)], "sample");
    let data = TrendData::of(&[Some(&given), Some(&written)], Trend::Millis);
    let panes: Vec<usize> = data.texts.iter().map(|(pane, _)| *pane).collect();
    assert_eq!((panes, data.figures.panels[0].lines.len()), (vec![1], 1));
}

#[test]
fn kept_tokens_and_their_mass_share_the_token_axis() {
    let texts = texts();
    let data = data(&texts, Trend::Kept);
    let [kept, mass] = data.figures.panels.as_slice() else {
        panic!("two panels");
    };
    assert_eq!(kept.axis.marks()[0].1, "1");
    assert_eq!(mass.axis, Axis::Share);
    // Nothing is cut, so all of the mass is kept.
    assert!(
        mass.lines[0]
            .iter()
            .all(|(_, mass)| (mass - 1.0).abs() < 1e-9)
    );
    assert_eq!(kept.lines[0].len(), 3);
}

#[test]
fn a_bar_of_ranks_leads_to_its_tokens_one_after_another() {
    let texts = texts();
    let mut data = data(&texts, Trend::Ranks);
    assert!(data.figures.panels.is_empty());
    assert!((data.figures.bins[0][0] - 2.0 / 3.0).abs() < 1e-9);
    let at = |step| Some(StepAt { pane: 0, step });
    assert_eq!(data.next_in_bin(0, 0), at(0));
    data.pinned = at(0);
    assert_eq!(data.next_in_bin(0, 0), at(2));
    data.pinned = at(2);
    assert_eq!(data.next_in_bin(0, 0), at(0));
    assert_eq!(data.next_in_bin(0, 6), None);
    assert_eq!(data.bin_of(StepAt { pane: 0, step: 1 }), Some(2));
}

#[test]
fn a_time_above_the_axis_is_marked_and_its_size_is_said() {
    let pieces: Vec<(&str, f64)> = (0..200).map(|_| (" a", 0.5)).collect();
    let mut text = generation(&pieces);
    let title_of = |text: &Generation| {
        let data = TrendData::of(&[Some(text)], Trend::Millis);
        data.figures.panels[0].title()
    };
    assert_eq!(title_of(&text), "Milliseconds");
    // One token waits for half a second.
    for step in text.steps.iter_mut().skip(20) {
        step.time.at_secs += 0.5;
    }
    assert_eq!(title_of(&text), "Milliseconds, arrows up to 503");
}
