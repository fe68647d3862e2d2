//! Each architecture that runs through candle-transformers, against the logits of transformers.
//!
//! `make_borrowed.py` wrote the fixtures.

use quartet::engine;
use quartet::generation::Implementation;

use crate::fixture::{self, Fixture, Form};
use crate::reading::Reading;

/// What may differ where the sums are the same and their order is not, in logits of about 2.
const TOLERANCE: f32 = 1e-4;

/// Each with the forms in which it can be opened beside the older and newer `config.json`.
const ARCHITECTURES: [(&str, Option<Form>); 8] = [
    ("glm4", Some(Form::Gguf)),
    ("granitemoehybrid", None),
    ("helium", None),
    ("lfm2", None),
    ("olmo", None),
    ("phi", Some(Form::Gguf)),
    ("stablelm", None),
    ("starcoder2", None),
];

#[track_caller]
fn assert_reading(reading: Reading) {
    for (name, other) in ARCHITECTURES {
        for form in [Form::Newer, Form::Older].into_iter().chain(other) {
            let fixture = Fixture::open(name, form);
            let difference = reading.difference(&fixture);
            assert!(
                difference < TOLERANCE,
                "{name}, {form:?}, {reading:?}: {difference}"
            );
        }
    }
}

#[test]
fn a_text_read_at_once() {
    assert_reading(Reading::Whole);
}

#[test]
fn a_text_read_in_chunks() {
    assert_reading(Reading::InChunks(7));
}

#[test]
fn a_text_read_token_by_token() {
    assert_reading(Reading::InChunks(1));
}

#[test]
fn a_text_read_beside_another() {
    assert_reading(Reading::BesideAnother);
}

#[test]
fn a_text_read_on_from_a_fork() {
    assert_reading(Reading::FromFork);
}

#[test]
fn a_text_read_again_from_where_it_was_cut() {
    assert_reading(Reading::AfterCut);
}

#[test]
fn every_fixture_is_tested() {
    let mut found = fixture::names("borrowed");
    found.sort();
    assert_eq!(found, ARCHITECTURES.map(|(name, _)| name));
}

#[test]
fn what_is_known_says_who_computes_it() {
    for (name, implementation) in [
        ("phi", Implementation::CandleTransformers),
        ("llama", Implementation::Quartet),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fixture::copy(name, &["config.json", "model.safetensors"], folder.path());
        let outline = engine::inspect(folder.path()).unwrap();
        let info = Fixture::open(name, Form::Newer).model.into_inner().info;
        assert_eq!(
            (outline.implementation, info.implementation),
            (implementation, implementation)
        );
        assert_eq!(outline.n_params, info.n_params);
        assert_eq!(outline.n_context, info.n_context);
    }
}
