//! Searching, and asking what a repository has.

use quartet::hub::{HubError, ModelFormat};

use crate::bench::{Bench, FOLDER, GGUF, LARGE, N_LARGE};
use crate::server::Fault;

#[test]
fn a_search_finds_what_can_be_opened_the_most_downloaded_first() {
    let bench = Bench::new();
    bench
        .server
        .put_large("fox/only-IQ", "tiny-IQ4_XS.gguf", vec![1]);
    let found = bench
        .hub()
        .search("FOX", 10, &mut || true)
        .unwrap()
        .unwrap();
    let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, [GGUF, FOLDER]);
    let repository = &found[0];
    assert_eq!(repository.license.as_deref(), Some("apache-2.0"));
    assert_eq!(repository.n_likes, 7);
    assert!(repository.n_downloads > found[1].n_downloads);
    assert!(!repository.is_gated);
    assert_eq!(
        repository.changed_at.as_deref(),
        Some("2025-05-09T12:00:00.000Z")
    );
    let quantizations: Vec<_> = repository
        .models
        .iter()
        .map(|it| it.quantization.clone())
        .collect();
    assert_eq!(quantizations, [Some("Q4_0".into()), Some("Q8_0".into())]);
    assert_eq!(found[1].models[0].format, ModelFormat::Safetensors);
}

#[test]
fn a_search_holds_to_its_limit_and_ends_when_nobody_waits() {
    let bench = Bench::new();
    let hub = bench.hub();
    assert_eq!(
        hub.search("fox", 1, &mut || true).unwrap().unwrap().len(),
        1
    );
    assert_eq!(hub.search("wolf", 9, &mut || true).unwrap().unwrap(), []);
    bench.server.fail("GET /api/models", Fault::Silence);
    assert_eq!(hub.search("fox", 1, &mut || false).unwrap(), None);
}

#[test]
fn a_repository_tells_its_models_with_sizes() {
    let bench = Bench::new();
    let found = bench.hub().files(GGUF, &mut || true).unwrap().unwrap();
    let sizes: Vec<_> = found
        .models
        .iter()
        .map(|model| (model.file(), model.n_bytes))
        .collect();
    assert_eq!(
        sizes,
        [
            (Some("tiny-Q4_0.gguf"), Some(300_000)),
            (Some(LARGE), Some(N_LARGE as u64)),
        ]
    );
}

#[test]
fn the_token_goes_along() {
    let bench = Bench::new();
    bench.hub().files(GGUF, &mut || true).unwrap();
    let asked = bench.server.asked();
    assert_eq!(asked[0].headers["authorization"], "Bearer hf_secret");
    assert!(asked[0].headers["user-agent"].starts_with("quartet/"));
}

#[test]
fn a_name_that_is_none_is_not_asked_for() {
    let bench = Bench::new();
    let error = bench.hub().files("a/b?c", &mut || true).unwrap_err();
    assert!(matches!(error, HubError::NameMalformed { .. }));
    assert!(bench.server.asked().is_empty());
}

#[test]
fn to_open_the_hub_and_look_into_the_cache_contacts_nobody() {
    let bench = Bench::new();
    assert_eq!(bench.hub().cached_models().unwrap(), []);
    assert!(bench.server.asked().is_empty());
}
