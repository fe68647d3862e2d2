//! The download threads that serve the window.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quartet::worker::{DownloadEvent, DownloadRequest, Downloads, HubConfig};

use crate::hub::bench::{Bench, GGUF, N_LARGE, PIECE, large, wanted};
use crate::hub::server::Fault;

fn start(bench: &Bench) -> Downloads {
    Downloads::start(bench.config(), || ())
}

/// Starts a download that stalls after its first range.
fn hanging(bench: &Bench) -> Downloads {
    for fault in [Fault::Absent, Fault::Silence] {
        bench.server.fail("GET /cdn", fault);
    }
    let mut downloads = start(bench);
    downloads.send(DownloadRequest::Download(large()));
    loop {
        if let DownloadEvent::Progress { progress, .. } = downloads.wait().unwrap()
            && progress.n_bytes >= PIECE as u64
        {
            return downloads;
        }
    }
}

/// Waits for the next event other than progress.
fn next(downloads: &mut Downloads) -> DownloadEvent {
    loop {
        match downloads.wait().unwrap() {
            DownloadEvent::Progress { .. } => {}
            event => return event,
        }
    }
}

#[test]
fn a_search_and_a_listing_are_answered_and_wake_the_window() {
    let bench = Bench::new();
    let n_woken = Arc::new(AtomicUsize::new(0));
    let counted = n_woken.clone();
    let mut downloads = Downloads::start(bench.config(), move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let query = "tiny".to_owned();
    downloads.send(DownloadRequest::Search { query, n_max: 5 });
    let DownloadEvent::Found {
        query,
        repositories,
    } = next(&mut downloads)
    else {
        panic!("not found");
    };
    assert_eq!(query, "tiny");
    assert_eq!(repositories.unwrap()[0].name, GGUF);

    let repository = GGUF.to_owned();
    downloads.send(DownloadRequest::Files { repository });
    let DownloadEvent::FilesListed { found, .. } = next(&mut downloads) else {
        panic!("not listed");
    };
    assert_eq!(found.unwrap().models[1].n_bytes, Some(N_LARGE as u64));
    // The second event has arrived, so the first one has woken the window.
    assert!(n_woken.load(Ordering::SeqCst) >= 1);
}

#[test]
fn a_new_search_cancels_the_previous_one() {
    let bench = Bench::new();
    bench
        .server
        .fail("GET /api/models?search=slow", Fault::Silence);
    let mut downloads = start(&bench);
    for query in ["slow", "tiny"] {
        let query = query.to_owned();
        downloads.send(DownloadRequest::Search { query, n_max: 5 });
    }
    let event = next(&mut downloads);
    assert!(
        matches!(&event, DownloadEvent::Found { query, .. } if query == "tiny"),
        "{event:?}"
    );
}

#[test]
fn a_download_is_paused_resumed_and_done() {
    let bench = Bench::new();
    let mut downloads = hanging(&bench);
    downloads.send(DownloadRequest::Pause(large()));
    let paused = DownloadEvent::Paused {
        wanted: large(),
        n_bytes_kept: PIECE as u64,
    };
    assert_eq!(next(&mut downloads), paused);
    bench.server.heal();
    downloads.send(DownloadRequest::Download(large()));
    let event = next(&mut downloads);
    let DownloadEvent::Done { wanted, path } = event else {
        panic!("{event:?}");
    };
    assert_eq!((wanted, path.exists()), (large(), true));

    downloads.send(DownloadRequest::Cached);
    let DownloadEvent::CachedListed { models, kept } = next(&mut downloads) else {
        panic!("not listed");
    };
    assert_eq!(models.unwrap()[0].path, path);
    assert_eq!(kept, []);
}

#[test]
fn a_stalled_download_does_not_block_searches_and_survives_closing_the_window() {
    let bench = Bench::new();
    let mut downloads = hanging(&bench);
    let query = "tiny".to_owned();
    downloads.send(DownloadRequest::Search { query, n_max: 5 });
    assert!(matches!(next(&mut downloads), DownloadEvent::Found { .. }));
    drop(downloads);
    let n_bytes_kept = bench.hub().n_bytes_kept(&wanted(GGUF, None));
    assert_eq!(n_bytes_kept, PIECE as u64);
}

#[test]
fn a_failed_download_reports_the_kept_bytes_and_can_be_cancelled() {
    let bench = Bench::new();
    let mut downloads = start(&bench);
    bench.server.fail("GET /cdn", Fault::Absent);
    bench.server.fail("GET /cdn", Fault::Refused(403, ""));
    downloads.send(DownloadRequest::Download(large()));
    let failed = DownloadEvent::Failed {
        wanted: large(),
        reason: "the Hub denied access (403): set HF_TOKEN to a token with read permission".into(),
        n_bytes_kept: PIECE as u64,
    };
    assert_eq!(next(&mut downloads), failed);
    downloads.send(DownloadRequest::Cancel(large()));
    assert_eq!(
        next(&mut downloads),
        DownloadEvent::Cancelled { wanted: large() }
    );
    assert_eq!(bench.hub().n_bytes_kept(&wanted(GGUF, None)), 0);
}

#[test]
fn cancelling_a_download_does_not_affect_another_from_the_repository() {
    let bench = Bench::new();
    let mut downloads = hanging(&bench);
    downloads.send(DownloadRequest::Pause(large()));
    let n_bytes_kept = PIECE as u64;
    let paused = DownloadEvent::Paused {
        wanted: large(),
        n_bytes_kept,
    };
    assert_eq!(next(&mut downloads), paused);
    bench.server.heal();

    let small = wanted(GGUF, Some("tiny-Q4_0.gguf"));
    downloads.send(DownloadRequest::Cancel(small.clone()));
    let cancelled = DownloadEvent::Cancelled { wanted: small };
    assert_eq!(next(&mut downloads), cancelled);
    let any_file = wanted(GGUF, None);
    assert_eq!(bench.hub().n_bytes_kept(&any_file), n_bytes_kept);

    downloads.send(DownloadRequest::Cancel(large()));
    let cancelled = DownloadEvent::Cancelled { wanted: large() };
    assert_eq!(next(&mut downloads), cancelled);
    assert_eq!(bench.hub().n_bytes_kept(&any_file), 0);
}

#[test]
fn a_download_from_an_invalid_endpoint_fails_and_can_be_cancelled() {
    let bench = Bench::new();
    let config = HubConfig {
        endpoint: Some("no address".to_owned()),
        ..bench.config()
    };
    let mut downloads = Downloads::start(config, || ());
    downloads.send(DownloadRequest::Download(large()));
    let event = next(&mut downloads);
    let has_failed = matches!(
        &event,
        DownloadEvent::Failed { wanted, n_bytes_kept: 0, .. } if *wanted == large()
    );
    assert!(has_failed, "{event:?}");
    downloads.send(DownloadRequest::Cancel(large()));
    assert_eq!(
        next(&mut downloads),
        DownloadEvent::Cancelled { wanted: large() }
    );
}
