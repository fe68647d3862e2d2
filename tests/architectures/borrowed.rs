//! The architectures that run on candle-transformers.
//!
//! `make_borrowed.py` generated the fixtures.

use quartet::engine;
use quartet::generation::Implementation;

use crate::architectures::fixture::{self, Fixture, Form};

/// Each architecture with the form that it supports besides the newer and older `config.json`.
pub(crate) const ARCHITECTURES: [(&str, Option<Form>); 5] = [
    ("gpt_bigcode", None),
    ("helium", None),
    ("phi", Some(Form::Gguf)),
    ("recurrent_gemma", None),
    ("starcoder2", None),
];

#[test]
fn outlines_and_model_facts_name_the_implementation() {
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
