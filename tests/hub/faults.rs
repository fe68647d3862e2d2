//! Downloads that encounter network and server faults.

use std::cell::Cell;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use quartet::hub::{
    DownloadControl, DownloadFailure, DownloadPhase, Hub, HubConfig, HubError, Outcome,
};

use crate::hub::bench::{Bench, FOLDER, GGUF, LARGE, N_LARGE, PIECE, bytes, large, wanted};
use crate::hub::server::Fault;

/// Far longer than the tests: nothing waits this long.
const FOREVER: Duration = Duration::from_hours(24);

/// Downloads with a changed configuration. Also returns the reason for each wait.
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
            if let DownloadPhase::Waiting { reason, .. } = &progress.stage
                && waits.last() != Some(reason)
            {
                waits.push(reason.clone());
            }
            DownloadControl::Continue
        });
    (outcome, waits)
}

fn assert_complete(bench: &Bench, outcome: Result<Outcome, DownloadFailure>) {
    let Outcome::Done { path } = outcome.unwrap() else {
        panic!("the download did not finish");
    };
    assert_eq!(fs::read(path).unwrap(), bytes(N_LARGE, 2));
    assert_eq!(bench.blobs(GGUF), [bench.checksum.as_str()]);
}

#[test]
fn temporary_faults_are_reported_and_retried() {
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
        // The fault affects the second range.
        bench.server.fail("GET /cdn", Fault::Absent);
        bench.server.fail("GET /cdn", fault.clone());
        let (outcome, waits) = download_with(&bench, |_| ());
        assert_eq!(waits, [sentence], "{fault:?}");
        assert_complete(&bench, outcome);
        assert_eq!(bench.server.starts()[..3], [0, PIECE, PIECE], "{fault:?}");
    }
}

thread_local! {
    /// How long the downloads of this thread would have waited before retries.
    static WAITED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

#[test]
fn a_short_retry_after_is_respected() {
    let bench = Bench::new();
    bench
        .server
        .fail("GET /cdn", Fault::Refused(429, "Retry-After: 1\r\n"));
    let (outcome, waits) = download_with(&bench, |config| {
        config.sleep = |time| WAITED.set(WAITED.get() + time);
    });
    assert_eq!(
        waits,
        ["too many requests to the Hub (429): try again in 1 second"]
    );
    assert_eq!(WAITED.get(), Duration::from_secs(1));
    assert_complete(&bench, outcome);
}

#[test]
fn a_long_retry_after_is_an_error() {
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
fn permanent_faults_end_the_download_and_keep_the_received_bytes() {
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
        bench.server.fail("GET /cdn", Fault::Absent);
        let second = if status == 404 {
            "GET /fox"
        } else {
            "GET /cdn"
        };
        if status == 404 {
            bench.server.fail(second, Fault::Absent);
        }
        bench.server.fail(second, Fault::Refused(status, headers));
        let failure = download_with(&bench, |_| ()).0.unwrap_err();
        assert!(failure.to_string().contains(sentence), "{failure}");
        assert_eq!(failure.n_bytes_kept, PIECE as u64, "{status}");
        // The next download resumes from there.
        assert_complete(&bench, bench.download());
        assert_eq!(bench.server.ranges().last().unwrap().end, N_LARGE);
    }
}

#[test]
fn every_kind_of_request_can_be_rejected() {
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
        ("GET /fox", 403, "the Hub denied access (403)"),
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
fn a_download_fails_after_too_many_server_errors() {
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
fn slow_responses_are_awaited_and_missing_ones_time_out() {
    let bench = Bench::new();
    let barrier = Arc::new(Barrier::new(2));
    bench.server.fail("GET /cdn", Fault::Held(barrier.clone()));
    // The server responds once the client has reported several times that nothing has arrived.
    let mut n_reports = 0;
    let outcome = bench.hub().download(&large(), &mut |progress| {
        let is_waiting = matches!(progress.stage, DownloadPhase::Waiting { .. });
        assert!(!is_waiting, "{progress:?}");
        if progress.stage == DownloadPhase::Receiving {
            n_reports += 1;
            if n_reports == 3 {
                assert_eq!(progress.n_bytes, 0);
                barrier.wait();
            }
        }
        DownloadControl::Continue
    });
    assert_complete(&bench, outcome);

    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::Silence);
    let (outcome, waits) = download_with(&bench, |config| {
        config.timeout = Some(Duration::from_secs(1));
    });
    assert_eq!(waits, ["127.0.0.1 did not respond for 1 second"]);
    assert_complete(&bench, outcome);
}

#[test]
fn content_with_a_wrong_checksum_is_deleted_and_never_listed() {
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
    // A second download succeeds once the server's file is intact again.
    bench.server.damage(GGUF, LARGE);
    assert_complete(&bench, bench.download());
}

#[test]
fn a_corrupt_partial_file_is_detected() {
    let bench = Bench::new();
    let blobs = bench.repository_folder(GGUF).join("blobs");
    fs::create_dir_all(&blobs).unwrap();
    let part = blobs.join(format!("{}.incomplete", bench.checksum));
    fs::write(&part, vec![0; 5_000]).unwrap();
    let failure = bench.download().unwrap_err();
    assert!(matches!(failure.error, HubError::ChecksumWrong { .. }));
    assert!(!part.exists());
    // A partial file that is too long is discarded.
    fs::write(&part, vec![0; N_LARGE + 1]).unwrap();
    assert_complete(&bench, bench.download());
}

#[test]
fn a_full_disk_is_detected_before_the_download() {
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
fn the_error_names_a_read_only_cache() {
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
fn a_server_without_range_support_is_rejected() {
    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::WholeFile);
    let failure = bench.download().unwrap_err();
    assert!(
        matches!(failure.error, HubError::RangesUnsupported { .. }),
        "{failure}"
    );
}

#[test]
fn network_and_tls_errors_are_distinguished() {
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
fn a_malformed_response_is_an_error() {
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

/// How many bytes of an unread response the client's and the system's buffers may hold at most. Linux
/// lets a receive buffer grow to 32 MiB.
const N_UNREAD: u64 = 64 << 20;

#[test]
fn an_endless_list_is_read_up_to_a_limit() {
    let expected = "127.0.0.1 sent an unexpected response: more than 32 MiB of JSON";
    for request in ["GET /api/models/fox", "POST /api/models/fox"] {
        let bench = Bench::new();
        bench.server.fail(request, Fault::Endless(200));
        let failure = bench.download().unwrap_err();
        assert_eq!(failure.to_string(), expected, "{request}");
        assert!(bench.server.n_endless_bytes() < (32 << 20) + N_UNREAD);
    }
    let bench = Bench::new();
    bench.server.fail("GET /api/models?", Fault::Endless(200));
    let error = bench.hub().search("fox", 5, &mut || true).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert!(bench.server.n_endless_bytes() < (32 << 20) + N_UNREAD);
}

#[test]
fn the_body_of_a_refused_list_is_not_read() {
    for request in ["GET /api/models/fox", "POST /api/models/fox"] {
        let bench = Bench::new();
        bench.server.fail(request, Fault::Endless(403));
        let failure = bench.download().unwrap_err().to_string();
        let sentence = "the Hub denied access (403)";
        assert!(failure.contains(sentence), "{request}: {failure}");
        assert!(bench.server.n_endless_bytes() < N_UNREAD, "{request}");
    }
}

#[test]
fn an_endless_file_is_read_up_to_its_range() {
    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::Endless(206));
    let failure = bench.download().unwrap_err();
    assert!(
        matches!(failure.error, HubError::RangesUnsupported { .. }),
        "{failure}"
    );
    assert!(bench.server.n_endless_bytes() < N_UNREAD);
}

#[test]
fn the_body_of_a_refused_file_is_not_read() {
    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::Endless(403));
    let failure = bench.download().unwrap_err().to_string();
    assert!(failure.contains("the Hub denied access (403)"), "{failure}");
    assert!(bench.server.n_endless_bytes() < N_UNREAD);
}

#[test]
fn a_small_file_that_ignores_its_range_is_accepted_whole() {
    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::WholeFile);
    let outcome = bench.fetch(&wanted(FOLDER, None));
    assert!(matches!(outcome.unwrap(), Outcome::Done { .. }));
}

/// A server that breaks off the TLS handshake was reached, so the network is not to blame.
#[test]
fn a_refused_handshake_is_not_mistaken_for_a_missing_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let refuse = move || {
        for mut stream in listener.incoming().flatten() {
            // A fatal alert: this version of the protocol is not supported.
            stream.read_exact(&mut [0; 64]).ok();
            stream.write_all(&[21, 3, 3, 0, 2, 2, 70]).ok();
        }
    };
    let server = std::thread::Builder::new().name("refusing".to_owned());
    server.spawn(refuse).unwrap();
    let bench = Bench::new();
    let (outcome, _) = download_with(&bench, |config| {
        config.endpoint = Some(format!("https://{address}"));
    });
    let failure = outcome.unwrap_err().to_string();
    let sentence = "the connection to 127.0.0.1 is not secure: ";
    assert!(failure.starts_with(sentence), "{failure}");
}

#[test]
fn a_download_can_be_cancelled_while_the_server_is_silent() {
    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::Silence);
    let config = HubConfig {
        timeout: Some(FOREVER),
        ..bench.config()
    };
    let hub = Hub::open(config).unwrap();
    let mut n_reports = 0;
    let outcome = hub.download(&large(), &mut |progress| {
        n_reports += usize::from(progress.stage == DownloadPhase::Receiving);
        if n_reports > 2 {
            DownloadControl::Cancel
        } else {
            DownloadControl::Continue
        }
    });
    assert_eq!(outcome.unwrap(), Outcome::Cancelled);
    assert_eq!(n_reports, 3, "the first request to cancel is obeyed");
}
