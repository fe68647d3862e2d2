//! Downloads that succeed, with and without pauses.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};

use quartet::hub::{
    DownloadControl, DownloadPhase, DownloadTarget, Hub, HubConfig, HubError, Links, ModelFormat,
    Outcome, PartialDownload,
};

use crate::hub::bench::{
    Bench, CONFIG_SHA1, FOLDER, GGUF, LARGE, N_LARGE, PIECE, bytes, folder_weights, large, wanted,
};
use crate::hub::server::{COMMIT, Fault};
use crate::hub::tiny_model;

fn path_of(outcome: Outcome) -> PathBuf {
    match outcome {
        Outcome::Done { path } => path,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_download_ends_in_the_standard_cache_layout() {
    let bench = Bench::new();
    let path = path_of(bench.download().unwrap());
    let folder = bench.repository_folder(GGUF);
    assert_eq!(path, folder.join("snapshots").join(COMMIT).join(LARGE));
    assert_eq!(fs::read(&path).unwrap(), bytes(N_LARGE, 2));
    assert_eq!(bench.blobs(GGUF), [bench.checksum.as_str()]);
    assert_eq!(
        fs::read_to_string(folder.join("refs/main")).unwrap(),
        COMMIT
    );
    #[cfg(unix)]
    assert_eq!(
        fs::read_link(&path).unwrap(),
        PathBuf::from("../../blobs").join(&bench.checksum)
    );
    assert_eq!(bench.offered(), [path]);
    assert_eq!(
        bench.server.starts(),
        (0..N_LARGE).step_by(PIECE).collect::<Vec<_>>()
    );
}

/// How links fail on exFAT, and on some network drives.
fn no_link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::from_raw_os_error(1))
}

/// Returns the Hub with its cache on a disk that has no links.
fn hub_without_links(bench: &Bench) -> Hub {
    let links = Links {
        symbolic: no_link,
        hard: no_link,
    };
    Hub::open(HubConfig {
        links,
        ..bench.config()
    })
    .unwrap()
}

#[test]
fn a_disk_without_links_keeps_each_file_once_and_finds_it_again() {
    let bench = Bench::new();
    let hub = hub_without_links(&bench);
    let fetch = |wanted: DownloadTarget| {
        let outcome = hub.download(&wanted, &mut |_| DownloadControl::Continue);
        path_of(outcome.unwrap())
    };
    let path = fetch(large());
    assert_eq!(fs::read(&path).unwrap(), bytes(N_LARGE, 2));
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
    // The content is not kept twice.
    let moved = format!("{}.moved", bench.checksum);
    assert_eq!(bench.blobs(GGUF), [moved]);
    assert_eq!(bench.offered(), vec![path.clone()]);
    // Nothing is downloaded again, also by a program that has links.
    let n_ranges = bench.server.starts().len();
    assert_eq!(fetch(large()), path);
    assert_eq!(path_of(bench.download().unwrap()), path);
    assert_eq!(bench.server.starts().len(), n_ranges);
    // A file that was deleted is.
    fs::remove_file(&path).unwrap();
    assert_eq!(fetch(large()), path);
    assert_eq!(fs::read(&path).unwrap(), bytes(N_LARGE, 2));
    assert_eq!(bench.server.starts().len(), 2 * n_ranges);
    // A folder works too.
    let folder = fetch(wanted(FOLDER, None));
    assert_eq!(
        fs::read(folder.join("model.safetensors")).unwrap(),
        folder_weights()
    );
}

#[test]
fn a_folder_is_downloaded_with_all_its_files() {
    let bench = Bench::new();
    let outcome = bench.fetch(&wanted(FOLDER, None));
    let path = path_of(outcome.unwrap());
    assert_eq!(
        fs::read(path.join("config.json")).unwrap(),
        tiny_model::file("config.json")
    );
    assert_eq!(
        fs::read(path.join("model.safetensors")).unwrap(),
        folder_weights()
    );
    let cached = bench.hub().cached_models().unwrap();
    assert_eq!(cached.len(), 1);
    assert_eq!(cached[0].model.format, ModelFormat::Safetensors);
    assert_eq!(
        (&cached[0].path, cached[0].repository.as_str()),
        (&path, FOLDER)
    );
}

#[test]
fn a_downloaded_file_is_not_downloaded_again() {
    let bench = Bench::new();
    let first = bench.download().unwrap();
    let n_ranges = bench.server.ranges().len();
    assert_eq!(bench.download().unwrap(), first);
    assert_eq!(bench.server.ranges().len(), n_ranges);
}

#[test]
fn a_quantization_selects_a_file() {
    let bench = Bench::new();
    let outcome = bench.fetch(&wanted(GGUF, Some("q4_0")));
    assert!(path_of(outcome.unwrap()).ends_with("tiny-Q4_0.gguf"));
}

#[test]
fn a_renamed_repository_is_found_under_its_old_name() {
    let bench = Bench::new();
    bench.server.rename("wolf/tiny-GGUF", GGUF);
    let wanted = wanted("wolf/tiny-GGUF", Some(LARGE));
    let outcome = bench.fetch(&wanted);
    assert_eq!(
        fs::read(path_of(outcome.unwrap())).unwrap(),
        bytes(N_LARGE, 2)
    );
}

#[test]
fn a_repository_with_several_models_requires_a_valid_choice() {
    let bench = Bench::new();
    let failure = bench.fetch(&wanted(GGUF, None)).unwrap_err();
    assert_eq!(
        failure.to_string(),
        format!("{GGUF} has several models; choose one of these: tiny-Q4_0.gguf, {LARGE}")
    );
    let missing = wanted(GGUF, Some("tiny-Q6_K.gguf"));
    let failure = bench.fetch(&missing).unwrap_err();
    assert!(matches!(failure.error, HubError::FileMissing { .. }));
    bench
        .server
        .put("fox/empty", "README.md", "{}\n", CONFIG_SHA1);
    let empty = wanted("fox/empty", None);
    let failure = bench.fetch(&empty).unwrap_err();
    assert!(matches!(failure.error, HubError::NothingToOpen { .. }));
}

#[test]
fn progress_only_grows_and_ends_with_the_checksum() {
    let bench = Bench::new();
    // The server responds once a speed has been reported.
    let barrier = Arc::new(Barrier::new(2));
    bench.server.fail("GET /cdn", Fault::Held(barrier.clone()));
    let mut is_held = true;
    let mut reports = Vec::new();
    let outcome = bench.hub().download(&large(), &mut |progress| {
        reports.push(progress.clone());
        if is_held && progress.bytes_per_second.is_some() {
            barrier.wait();
            is_held = false;
        }
        DownloadControl::Continue
    });
    path_of(outcome.unwrap());
    assert!(reports.is_sorted_by_key(|progress| progress.n_bytes));
    assert_eq!(reports.first().unwrap().stage, DownloadPhase::Asking);
    assert_eq!(reports.last().unwrap().stage, DownloadPhase::Verifying);
    assert_eq!(reports.last().unwrap().n_bytes, N_LARGE as u64);
    let receiving = reports
        .iter()
        .filter(|progress| progress.stage == DownloadPhase::Receiving);
    let with_speed = receiving.filter(|progress| progress.bytes_per_second.is_some());
    assert!(with_speed.count() > 0);
}

#[test]
fn a_paused_download_resumes_after_a_restart() {
    let bench = Bench::new();
    let paused = pause_after_two_pieces(&bench);
    assert_eq!(
        paused,
        Outcome::Paused {
            n_bytes_kept: 2 * PIECE as u64
        }
    );
    assert_eq!(
        bench.blobs(GGUF),
        [format!("{}.incomplete", bench.checksum)]
    );
    let any_file = wanted(GGUF, None);
    assert_eq!(bench.hub().n_bytes_kept(&any_file), 2 * PIECE as u64);
    assert_eq!(bench.offered(), [] as [PathBuf; 0]);

    let n_before = bench.server.ranges().len();
    let path = path_of(bench.download().unwrap());
    assert_eq!(bench.server.ranges()[n_before].start, 2 * PIECE);
    assert_eq!(fs::read(path).unwrap(), bytes(N_LARGE, 2));
    assert_eq!(bench.blobs(GGUF), [bench.checksum.as_str()]);
}

#[test]
fn a_partial_download_is_listed_and_resumes_by_its_repository_name() {
    let bench = Bench::new();
    assert_eq!(bench.hub().partial_downloads(), []);
    pause_after_two_pieces(&bench);
    let n_before = bench.server.requests().len();
    let kept = PartialDownload {
        repository: GGUF.to_owned(),
        n_bytes: 2 * PIECE as u64,
    };
    assert_eq!(bench.hub().partial_downloads(), [kept]);
    assert_eq!(bench.server.requests().len(), n_before);

    let n_before = bench.server.ranges().len();
    let outcome = bench.fetch(&wanted(GGUF, None));
    path_of(outcome.unwrap());
    assert_eq!(bench.server.ranges()[n_before].start, 2 * PIECE);
    assert_eq!(bench.hub().partial_downloads(), []);
}

#[test]
fn a_partial_download_by_another_tool_is_resumed() {
    let bench = Bench::new();
    let blobs = bench.repository_folder(GGUF).join("blobs");
    fs::create_dir_all(&blobs).unwrap();
    let part = blobs.join(format!("{}.incomplete", bench.checksum));
    fs::write(part, &bytes(N_LARGE, 2)[..123_456]).unwrap();
    path_of(bench.download().unwrap());
    assert_eq!(bench.server.ranges()[0].start, 123_456);
}

#[test]
fn a_partial_download_of_an_outdated_file_is_deleted() {
    let bench = Bench::new();
    let hub = bench.hub();
    third_piece_hangs(&bench);
    let paused = hub.download(&large(), &mut |progress| {
        if progress.n_bytes < 2 * PIECE as u64 {
            DownloadControl::Continue
        } else {
            DownloadControl::Pause
        }
    });
    assert!(matches!(paused.unwrap(), Outcome::Paused { .. }));
    bench.server.heal();
    let newer = bench.server.put_large(GGUF, LARGE, bytes(N_LARGE, 7));
    let path = path_of(
        hub.download(&large(), &mut |_| DownloadControl::Continue)
            .unwrap(),
    );
    assert_eq!(fs::read(path).unwrap(), bytes(N_LARGE, 7));
    assert_eq!(bench.blobs(GGUF), [newer]);
    assert_eq!(hub.partial_downloads(), []);
}

#[test]
fn a_cancelled_download_leaves_no_partial_file() {
    let bench = Bench::new();
    third_piece_hangs(&bench);
    let outcome = bench.download_until(2 * PIECE, DownloadControl::Cancel);
    assert_eq!(outcome, Outcome::Cancelled);
    assert_eq!(bench.blobs(GGUF), [] as [String; 0]);
}

#[test]
fn a_partial_download_can_be_discarded_offline() {
    let bench = Bench::new();
    pause_after_two_pieces(&bench);
    let n_requests = bench.server.requests().len();
    let any_file = wanted(GGUF, None);
    bench.hub().discard(&any_file).unwrap();
    assert_eq!(bench.hub().n_bytes_kept(&any_file), 0);
    assert_eq!(bench.server.requests().len(), n_requests);
}

#[test]
fn discarding_a_download_does_not_affect_others_from_the_repository() {
    let bench = Bench::new();
    pause_after_two_pieces(&bench);
    let hub = bench.hub();
    let small = wanted(GGUF, Some("tiny-Q4_0.gguf"));
    // Cancelled before the Hub listed its files, so there is nothing to discard.
    let cancelled = hub
        .download(&small, &mut |_| DownloadControl::Cancel)
        .unwrap();
    assert_eq!(cancelled, Outcome::Cancelled);
    hub.discard(&small).unwrap();
    assert_eq!(hub.n_bytes_kept(&wanted(GGUF, None)), 2 * PIECE as u64);

    let n_bytes_kept = PIECE as u64;
    let paused = hub.download(&small, &mut |progress| {
        if progress.n_bytes < n_bytes_kept {
            DownloadControl::Continue
        } else {
            DownloadControl::Pause
        }
    });
    assert_eq!(paused.unwrap(), Outcome::Paused { n_bytes_kept });
    assert_eq!(hub.n_bytes_kept(&small), n_bytes_kept);
    // A paused download is remembered without asking the Hub again.
    let asking = hub
        .download(&small, &mut |_| DownloadControl::Pause)
        .unwrap();
    assert_eq!(asking, Outcome::Paused { n_bytes_kept });
    hub.discard(&small).unwrap();
    assert_eq!(
        bench.blobs(GGUF),
        [format!("{}.incomplete", bench.checksum)]
    );
}

#[test]
fn the_partial_download_with_the_most_bytes_resumes_first() {
    let bench = Bench::new();
    pause_after_two_pieces(&bench);
    let (small, content) = ("tiny-Q4_1.gguf", bytes(9_000, 5));
    let checksum = bench.server.put_large(GGUF, small, content.clone());
    let blobs = bench.repository_folder(GGUF).join("blobs");
    let part = blobs.join(format!("{checksum}.incomplete"));
    fs::write(part, &content[..10]).unwrap();
    for file in [LARGE, small] {
        let outcome = bench.fetch(&wanted(GGUF, None));
        assert!(path_of(outcome.unwrap()).ends_with(file));
    }
}

#[test]
fn safetensors_next_to_a_gguf_file_are_selected_by_format() {
    let bench = Bench::new();
    bench
        .server
        .put_large(FOLDER, "tiny-Q8_0.gguf", vec![7; 99]);
    let choice = bench.fetch(&wanted(FOLDER, None)).unwrap_err();
    assert_eq!(
        choice.to_string(),
        format!("{FOLDER} has several models; choose one of these: tiny-Q8_0.gguf, safetensors")
    );
    let outcome = bench.fetch(&wanted(FOLDER, Some("safetensors")));
    let folder = path_of(outcome.unwrap());
    assert_eq!(
        fs::read(folder.join("model.safetensors")).unwrap(),
        folder_weights()
    );
    assert!(!folder.join("tiny-Q8_0.gguf").exists());
}

#[test]
fn an_exact_path_wins_and_an_ambiguous_name_is_rejected() {
    let bench = Bench::new();
    let small = format!("small/{LARGE}");
    bench.server.put_large(GGUF, &small, vec![7; 99]);
    assert!(path_of(bench.download().unwrap()).ends_with(format!("{COMMIT}/{LARGE}")));
    let choice = bench.fetch(&wanted(GGUF, Some("Q8_0"))).unwrap_err();
    assert_eq!(
        choice.to_string(),
        format!("{GGUF} has several models; choose one of these: {small}, {LARGE}")
    );
}

#[test]
fn two_processes_do_not_download_the_same_file_simultaneously() {
    let bench = Bench::new();
    third_piece_hangs(&bench);
    let mut second = None;
    let hub = bench.hub();
    let outcome = hub.download(&large(), &mut |progress| {
        if progress.n_bytes < 2 * PIECE as u64 {
            return DownloadControl::Continue;
        }
        second = Some(bench.download().unwrap_err());
        DownloadControl::Pause
    });
    assert!(matches!(outcome.unwrap(), Outcome::Paused { .. }));
    assert!(matches!(second.unwrap().error, HubError::Locked { .. }));
}

fn pause_after_two_pieces(bench: &Bench) -> Outcome {
    third_piece_hangs(bench);
    let outcome = bench.download_until(2 * PIECE, DownloadControl::Pause);
    bench.server.heal();
    outcome
}

/// Stalls the download after the second range.
fn third_piece_hangs(bench: &Bench) {
    for fault in [Fault::Absent, Fault::Absent, Fault::Silence] {
        bench.server.fail("GET /cdn", fault);
    }
}
