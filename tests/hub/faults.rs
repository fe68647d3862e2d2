//! Downloads that meet what networks and servers do.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use quartet::hub::{DownloadFailure, Hub, HubConfig, HubError, Order, Outcome, Stage};

use crate::bench::{Bench, GGUF, LARGE, N_LARGE, PIECE, bytes, large};
use crate::server::Fault;

/// Downloads under another configuration, and gives what was waited for.
fn download_with(
    bench: &Bench,
    change: impl FnOnce(&mut HubConfig),
) -> (Result<Outcome, DownloadFailure>, Vec<String>) {
    let mut config = bench.config();
    change(&mut config);
    let mut waits: Vec<String> = Vec::new();
    let outcome = Hub::open(config)
        .unwrap()
        .download(&large(), &mut |progress| {
            if let Stage::Waiting { reason, .. } = &progress.stage
                && waits.last() != Some(reason)
            {
                waits.push(reason.clone());
            }
            Order::GoOn
        });
    (outcome, waits)
}

fn assert_whole(bench: &Bench, outcome: Result<Outcome, DownloadFailure>) {
    let Outcome::Done { path } = outcome.unwrap() else {
        panic!("it did not end");
    };
    assert_eq!(fs::read(path).unwrap(), bytes(N_LARGE, 2));
    assert_eq!(bench.blobs(GGUF), [bench.checksum.as_str()]);
}

#[test]
fn what_passes_is_told_and_tried_again() {
    let rows = [
        (
            Fault::Dropped(70_000),
            "the connection to 127.0.0.1 was lost",
        ),
        (Fault::Dropped(0), "the connection to 127.0.0.1 was lost"),
        (
            Fault::CutShort(70_000),
            "127.0.0.1 sent less of tiny-Q8_0.gguf than requested",
        ),
        (
            Fault::Refused(503, ""),
            "127.0.0.1 returned a server error (503)",
        ),
        (
            Fault::Refused(429, "Retry-After: 0\r\n"),
            "too many requests to the Hub (429): try again in 0 seconds",
        ),
    ];
    for (fault, sentence) in rows {
        let bench = Bench::new();
        // The second range meets the fault.
        bench.server.fail("GET /cdn", Fault::Late(Duration::ZERO));
        bench.server.fail("GET /cdn", fault.clone());
        let (outcome, waits) = download_with(&bench, |_| ());
        assert_eq!(waits, [sentence], "{fault:?}");
        assert_whole(&bench, outcome);
        assert_eq!(bench.server.starts()[..3], [0, PIECE, PIECE], "{fault:?}");
    }
}

#[test]
fn a_server_that_asks_for_time_gets_it() {
    let bench = Bench::new();
    bench
        .server
        .fail("GET /cdn", Fault::Refused(429, "Retry-After: 1\r\n"));
    let begun = Instant::now();
    let (outcome, waits) = download_with(&bench, |_| ());
    assert_eq!(
        waits,
        ["too many requests to the Hub (429): try again in 1 second"]
    );
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_whole(&bench, outcome);
}

#[test]
fn a_server_that_asks_for_too_much_time_is_told_of() {
    let bench = Bench::new();
    bench
        .server
        .fail("GET /cdn", Fault::Refused(429, "Retry-After: 3600\r\n"));
    let (outcome, _) = download_with(&bench, |_| ());
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "too many requests to the Hub (429): try again in 3600 seconds"
    );
}

#[test]
fn what_does_not_pass_ends_it_and_keeps_what_has_come() {
    let gated = "x-error-code: GatedRepo\r\n";
    let missing = "x-error-code: RepoNotFound\r\n";
    let rows: [(u16, &str, &str); 6] = [
        (
            401,
            "",
            "the Hub requires a valid access token (401): set HF_TOKEN",
        ),
        (
            401,
            missing,
            "the Hub has no repository fox/tiny-GGUF, or it is private",
        ),
        (
            403,
            gated,
            "fox/tiny-GGUF is gated: accept its license at http://127.0.0.1",
        ),
        (403, "", "the Hub denied access (403)"),
        (
            404,
            "x-error-code: EntryNotFound\r\n",
            "fox/tiny-GGUF has no file named tiny-Q8_0.gguf",
        ),
        (416, "", "refused the request (416)"),
    ];
    for (status, headers, sentence) in rows {
        let bench = Bench::new();
        bench.server.fail("GET /cdn", Fault::Late(Duration::ZERO));
        let second = if status == 404 {
            "HEAD /fox"
        } else {
            "GET /cdn"
        };
        if status == 404 {
            bench.server.fail(second, Fault::Late(Duration::ZERO));
        }
        bench.server.fail(second, Fault::Refused(status, headers));
        let failure = download_with(&bench, |_| ()).0.unwrap_err();
        assert!(failure.to_string().contains(sentence), "{failure}");
        assert_eq!(failure.n_bytes_kept, PIECE as u64, "{status}");
        // And it goes on from there.
        assert_whole(&bench, bench.download());
        assert_eq!(bench.server.ranges().last().unwrap().end, N_LARGE);
    }
}

#[test]
fn every_question_can_be_refused() {
    for (request, status, sentence) in [
        (
            "GET /api/models/fox",
            401,
            "the Hub requires a valid access token (401): set HF_TOKEN",
        ),
        (
            "GET /api/models/fox",
            404,
            "the Hub has no repository fox/tiny-GGUF",
        ),
        ("POST /api/models/fox", 403, "the Hub denied access (403)"),
        ("HEAD /fox", 403, "the Hub denied access (403)"),
    ] {
        let bench = Bench::new();
        bench.server.fail(request, Fault::Refused(status, ""));
        let failure = download_with(&bench, |_| ()).0.unwrap_err();
        assert!(
            failure.to_string().contains(sentence),
            "{request}: {failure}"
        );
    }
    for (status, sentence) in [
        (
            429,
            "too many requests to the Hub (429): try again in a few minutes",
        ),
        (500, "returned a server error (500)"),
    ] {
        let bench = Bench::new();
        bench
            .server
            .fail("GET /api/models?", Fault::Refused(status, ""));
        let error = bench.hub().search("fox", 5, &mut || true).unwrap_err();
        assert!(error.to_string().contains(sentence), "{error}");
    }
}

#[test]
fn a_server_that_fails_too_often_ends_it() {
    let bench = Bench::new();
    for _ in 0..3 {
        bench.server.fail("GET /cdn", Fault::Refused(500, ""));
    }
    let failure = bench.download().unwrap_err();
    assert!(matches!(
        failure.error,
        HubError::ServerFailed { status: 500, .. }
    ));
}

#[test]
fn a_late_answer_is_waited_for_and_silence_is_not() {
    let bench = Bench::new();
    bench
        .server
        .fail("GET /cdn", Fault::Late(Duration::from_millis(300)));
    assert_whole(&bench, bench.download());

    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::Silence);
    let (outcome, waits) = download_with(&bench, |config| {
        config.patience = Duration::from_secs(1);
    });
    assert_eq!(waits, ["127.0.0.1 did not respond for 1 second"]);
    assert_whole(&bench, outcome);
}

#[test]
fn a_wrong_content_is_deleted_and_never_offered() {
    let bench = Bench::new();
    bench.server.damage(GGUF, LARGE);
    let failure = bench.download().unwrap_err();
    assert_eq!(
        failure.to_string(),
        "tiny-Q8_0.gguf has the wrong checksum and was deleted; download it again"
    );
    assert_eq!(failure.n_bytes_kept, 0);
    assert_eq!(bench.blobs(GGUF), [] as [String; 0]);
    assert_eq!(bench.offered(), [] as [PathBuf; 0]);
    // What was wrong can be put right.
    bench.server.damage(GGUF, LARGE);
    assert_whole(&bench, bench.download());
}

#[test]
fn a_part_that_is_wrong_is_found_out() {
    let bench = Bench::new();
    let blobs = bench.repository_folder(GGUF).join("blobs");
    fs::create_dir_all(&blobs).unwrap();
    let part = blobs.join(format!("{}.incomplete", bench.checksum));
    fs::write(&part, vec![0; 5_000]).unwrap();
    let failure = bench.download().unwrap_err();
    assert!(matches!(failure.error, HubError::ChecksumWrong { .. }));
    assert!(!part.exists());
    // One that is too long is begun anew.
    fs::write(&part, vec![0; N_LARGE + 1]).unwrap();
    assert_whole(&bench, bench.download());
}

#[test]
fn a_disk_that_is_too_full_is_seen_before_anything_comes() {
    let bench = Bench::new();
    let (outcome, _) = download_with(&bench, |config| config.free_bytes = |_| Some(50_000_000));
    let failure = outcome.unwrap_err().to_string();
    assert!(
        failure.starts_with("not enough disk space: 101 MB needed, 50 MB free"),
        "{failure}"
    );
    assert!(bench.server.ranges().is_empty());
}

#[test]
fn a_cache_that_can_not_be_written_is_named() {
    let bench = Bench::new();
    let file = bench.cache.path().join("file");
    fs::write(&file, "").unwrap();
    let (outcome, _) = download_with(&bench, |config| {
        config.cache_folder = Some(file.join("hub"));
    });
    let failure = outcome.unwrap_err().to_string();
    assert!(
        failure.starts_with("could not write to the cache folder: "),
        "{failure}"
    );
    assert!(failure.contains("models--fox--tiny-GGUF"), "{failure}");
}

#[test]
fn a_server_without_ranges_is_not_heard_out() {
    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::WholeFile);
    let failure = bench.download().unwrap_err();
    assert!(
        matches!(failure.error, HubError::RangesUnsupported { .. }),
        "{failure}"
    );
}

#[test]
fn no_network_and_no_safe_network_are_told_apart() {
    let unused = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let bench = Bench::new();
    let address = &bench.server.address;
    for (endpoint, sentence) in [
        (
            format!("http://{unused}"),
            "could not connect to 127.0.0.1; check the network connection",
        ),
        (
            format!("https://{address}"),
            "the connection to 127.0.0.1 is not secure: ",
        ),
    ] {
        let (outcome, waits) = download_with(&bench, |config| config.endpoint = Some(endpoint));
        let failure = outcome.unwrap_err().to_string();
        assert!(failure.starts_with(sentence), "{failure}");
        assert_eq!(waits, [] as [&str; 0]);
    }
}

#[test]
fn an_answer_that_makes_no_sense_is_not_believed() {
    let bench = Bench::new();
    bench
        .server
        .fail("GET /api/models/fox", Fault::CutShort(20));
    let failure = bench.download().unwrap_err();
    assert!(
        matches!(failure.error, HubError::UnexpectedResponse { .. }),
        "{failure}"
    );
}

#[test]
fn a_user_is_heard_while_a_server_is_silent() {
    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::Silence);
    let begun = Instant::now();
    let mut n_told = 0;
    let outcome = bench.hub().download(&large(), &mut |progress| {
        n_told += usize::from(progress.stage == Stage::Receiving);
        if n_told > 2 {
            Order::Cancel
        } else {
            Order::GoOn
        }
    });
    assert_eq!(outcome.unwrap(), Outcome::Cancelled);
    assert!(begun.elapsed() < bench.config().patience);
}
