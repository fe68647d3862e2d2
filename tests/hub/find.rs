//! Searching, and listing a repository's models.

use quartet::hub::{HubError, ModelFormat};

use crate::hub::bench::{Bench, FOLDER, GGUF, LARGE, N_LARGE};
use crate::hub::server::Fault;

#[test]
fn a_search_returns_models_sorted_by_downloads_and_others_last() {
    let bench = Bench::new();
    bench
        .server
        .put_large("fox/only-old", "tiny-Q4_0_4_4.gguf", vec![1]);
    let found = bench
        .hub()
        .search("FOX", 10, &mut || true)
        .unwrap()
        .unwrap();
    let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, [GGUF, FOLDER, "fox/only-old"]);
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
    assert!(found[2].models.is_empty() && found[2].openness.is_refused());
}

#[test]
fn a_search_respects_its_limit_and_can_be_cancelled() {
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
fn a_repository_lists_its_models_with_sizes() {
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
fn requests_carry_the_token() {
    let bench = Bench::new();
    bench.hub().files(GGUF, &mut || true).unwrap();
    let requests = bench.server.requests();
    assert_eq!(requests[0].headers["authorization"], "Bearer hf_secret");
    assert!(requests[0].headers["user-agent"].starts_with("quartet/"));
}

#[test]
fn an_invalid_repository_name_is_not_requested() {
    let bench = Bench::new();
    let error = bench.hub().files("a/b?c", &mut || true).unwrap_err();
    assert!(matches!(error, HubError::NameMalformed { .. }));
    assert!(bench.server.requests().is_empty());
}

#[test]
fn listing_the_cache_needs_no_network() {
    let bench = Bench::new();
    assert_eq!(bench.hub().cached_models().unwrap(), []);
    assert!(bench.server.requests().is_empty());
}
