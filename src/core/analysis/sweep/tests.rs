//! Tests of whole sweeps.

use super::testing::{setup, text};
use super::{Keep, Metric, SetupError, SweepResults, SweepSetup};
use crate::generation::testing::generation;
use crate::generation::{PaneSettings, PromptText};

/// The mean of a metric in a cell.
fn mean(results: &SweepResults, cell: usize, metric: Metric) -> Option<f64> {
    let summary = results.cells()[cell].summary(metric);
    summary.map(|summary| summary.mean)
}

fn add(results: &mut SweepResults, cell: usize, seed: usize, tokens: &[u32]) {
    let vocabulary = generation(&[]).vocabulary;
    results.add(text(cell, seed, tokens), &vocabulary);
}

#[test]
fn cells_are_numbered_row_by_row() {
    let setup = setup(2, 3, 1);
    assert_eq!((setup.n_cells(), setup.n_columns()), (6, 3));
    assert_eq!(setup.cell_words(4), "T 1 · top-p 0.9");
    let settings = PaneSettings::from(setup.chain_of(4)).to_string();
    assert_eq!(settings, "T 1, top-p 0.9");
    let plan = setup.plan(vec![PromptText::raw("fox")], 8);
    assert_eq!(plan.cells[4], setup.chain_of(4));
    assert_eq!(plan.seed_of(1), 43);
    let one = super::testing::setup(3, 0, 1);
    assert_eq!((one.n_cells(), one.cell_words(1).as_str()), (3, "T 0.75"));
}

#[test]
fn a_setup_that_cannot_run_says_why() {
    let good = setup(2, 2, 1);
    assert_eq!(good.validate(), Ok(()));
    let error = |setup: SweepSetup| setup.validate().unwrap_err().to_string();
    let same = SweepSetup {
        columns: Some(good.rows.clone()),
        ..good.clone()
    };
    assert_eq!(
        error(same),
        "Choose two different numbers to vary: both are Temperature"
    );
    let many = setup(40, 40, 1);
    assert_eq!(many.validate(), Err(SetupError::TooManyCells { n: 1600 }));
    assert_eq!(error(setup(2, 2, 0)), "Each cell needs at least one seed");
    let mut base = good;
    base.base = "xtc 0.5".parse::<PaneSettings>().unwrap().chain;
    assert_eq!(base.validate(), Ok(()));
    assert!(!base.is_greedy());
    base.base = crate::decoding::ChainConfig::greedy();
    assert!(base.is_greedy(), "temperature changes nothing then");
}

#[test]
fn figures_come_from_the_texts_so_far() {
    let mut results = SweepResults::new(setup(1, 2, 2), 1, Keep::Texts);
    assert_eq!(results.scale(Metric::Surprise), None);
    assert!(results.metrics().is_empty());
    add(&mut results, 1, 1, &[1, 2, 3, 4]);
    let cell = &results.cells()[1];
    assert_eq!(mean(&results, 1, Metric::Surprise), Some(1.0));
    assert_eq!(mean(&results, 1, Metric::Perplexity), Some(2.0));
    assert_eq!(mean(&results, 1, Metric::Greedy), Some(0.25));
    assert_eq!(mean(&results, 1, Metric::FirstFork), Some(1.0));
    assert_eq!(cell.summary(Metric::Similarity), None, "one text");
    assert_eq!((results.n_texts(), results.n_complete_cells()), (1, 0));
    add(&mut results, 1, 0, &[1, 2, 3, 7]);
    let cell = &results.cells()[1];
    assert_eq!(mean(&results, 1, Metric::Similarity), Some(0.5));
    assert_eq!(cell.texts()[0].seed, 0, "in the order of the seeds");
    assert_eq!((results.n_texts(), results.n_complete_cells()), (2, 1));
    assert_eq!(results.scale(Metric::Greedy), Some([0.0, 1.0]));
    assert_eq!(results.scale(Metric::Entropy), Some([2.0, 2.0]));
    let sentence = results.sentence(1, Metric::Surprise);
    assert_eq!(
        sentence,
        "Temperature 0.5, top-p 1: surprise 1.0 bits, 2 texts"
    );
    let sentence = results.sentence(0, Metric::Surprise);
    assert_eq!(sentence, "Temperature 0.5, top-p 0.8: no texts yet");
}

#[test]
fn the_reading_names_the_ends_of_the_main_figures() {
    let mut results = SweepResults::new(setup(1, 2, 1), 1, Keep::Texts);
    add(&mut results, 0, 0, &[1, 1, 1, 1]);
    add(&mut results, 1, 0, &[1, 2, 3, 4]);
    assert_eq!(
        results.reading(),
        [
            "Surprise is 1.0 bits everywhere.",
            "Distinct-2 runs from 0.33 at T 0.5 · top-p 0.8 to 1.00 at T 0.5 · top-p 1.",
        ]
    );
}

#[test]
fn a_stopped_sweep_compares_the_texts_that_it_has() {
    let mut results = SweepResults::new(setup(1, 1, 3), 1, Keep::Figures);
    add(&mut results, 0, 0, &[1, 2, 3]);
    add(&mut results, 0, 2, &[1, 2, 3]);
    assert_eq!(results.cells()[0].summary(Metric::Similarity), None);
    results.end();
    let cell = &results.cells()[0];
    assert_eq!(mean(&results, 0, Metric::Similarity), Some(1.0));
    assert!(cell.texts().iter().all(|text| text.tokens.is_empty()));
}

#[test]
fn memory_is_bounded_by_what_is_kept() {
    for (keep, n_tokens, n_measures) in [
        (Keep::Figures, 0, 0),
        (Keep::Texts, 3, 0),
        (Keep::Tokens, 3, 3),
    ] {
        let mut results = SweepResults::new(setup(1, 1, 1), 1, keep);
        add(&mut results, 0, 0, &[1, 2, 3]);
        let text = &results.cells()[0].texts()[0];
        assert_eq!(text.tokens.len(), n_tokens);
        assert_eq!(text.measures.len(), n_measures);
        assert_eq!(text.text.is_empty(), n_tokens == 0);
        assert_eq!(text.figures.n_tokens, 3);
    }
    assert!(Keep::Figures.n_bytes(10, 1000) < Keep::Texts.n_bytes(10, 1000));
}

#[test]
fn a_word_is_counted_in_the_texts_that_are_kept_or_as_they_arrive() {
    let mut results = SweepResults::new(setup(1, 1, 2), 1, Keep::Texts);
    add(&mut results, 0, 0, &[1, 5]);
    results.set_word(Some("fox")).unwrap();
    add(&mut results, 0, 1, &[1, 4]);
    assert_eq!(mean(&results, 0, Metric::Word), Some(0.5));
    assert_eq!(results.title(Metric::Word), "‘fox’");
    assert!(results.set_word(Some("/(/")).is_err());
    results.set_word(None).unwrap();
    assert_eq!(results.cells()[0].summary(Metric::Word), None);

    let mut results = SweepResults::new(setup(1, 1, 1), 1, Keep::Figures);
    results.set_word(Some("fox")).unwrap();
    add(&mut results, 0, 0, &[1, 5]);
    assert_eq!(mean(&results, 0, Metric::Word), Some(1.0));
    results.set_word(Some("house")).unwrap();
    let summary = results.cells()[0].summary(Metric::Word);
    assert_eq!(summary, None, "the text was not kept");
}
