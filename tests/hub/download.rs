//! Downloads that go well, with pauses in between.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use quartet::hub::{HubError, KeptDownload, ModelFormat, Order, Outcome, Stage};

use crate::bench::{Bench, CONFIG_SHA1, FOLDER, GGUF, LARGE, N_LARGE, PIECE, bytes, large, wanted};
use crate::server::{COMMIT, Fault};

fn path_of(outcome: Outcome) -> PathBuf {
    match outcome {
        Outcome::Done { path } => path,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_download_ends_in_the_cache_as_other_tools_lay_it_out() {
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

#[test]
fn a_folder_is_brought_whole_and_checked_file_by_file() {
    let bench = Bench::new();
    let outcome = bench.bring(&wanted(FOLDER, None));
    let path = path_of(outcome.unwrap());
    assert_eq!(fs::read(path.join("config.json")).unwrap(), b"{}\n");
    assert_eq!(
        fs::read(path.join("model.safetensors")).unwrap(),
        bytes(5_000, 3)
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
fn what_is_there_is_not_brought_again() {
    let bench = Bench::new();
    let first = bench.download().unwrap();
    let n_ranges = bench.server.ranges().len();
    assert_eq!(bench.download().unwrap(), first);
    assert_eq!(bench.server.ranges().len(), n_ranges);
}

#[test]
fn a_quantisation_or_the_last_part_of_a_path_chooses_a_file() {
    let bench = Bench::new();
    let outcome = bench.bring(&wanted(GGUF, Some("q4_0")));
    assert!(path_of(outcome.unwrap()).ends_with("tiny-Q4_0.gguf"));
}

#[test]
fn a_repository_that_was_renamed_is_found_under_its_old_name() {
    let bench = Bench::new();
    bench.server.rename("wolf/tiny-GGUF", GGUF);
    let wanted = wanted("wolf/tiny-GGUF", Some(LARGE));
    let outcome = bench.bring(&wanted);
    assert_eq!(
        fs::read(path_of(outcome.unwrap())).unwrap(),
        bytes(N_LARGE, 2)
    );
}

#[test]
fn of_several_models_one_must_be_chosen_and_it_must_be_there() {
    let bench = Bench::new();
    let failure = bench.bring(&wanted(GGUF, None)).unwrap_err();
    assert_eq!(
        failure.to_string(),
        format!("{GGUF} has several models; choose one of these: tiny-Q4_0.gguf, {LARGE}")
    );
    let missing = wanted(GGUF, Some("tiny-Q6_K.gguf"));
    let failure = bench.bring(&missing).unwrap_err();
    assert!(matches!(failure.error, HubError::FileMissing { .. }));
    bench
        .server
        .put("fox/empty", "README.md", "{}\n", CONFIG_SHA1);
    let empty = wanted("fox/empty", None);
    let failure = bench.bring(&empty).unwrap_err();
    assert!(matches!(failure.error, HubError::NothingToOpen { .. }));
}

#[test]
fn progress_only_grows_and_ends_with_the_checksum() {
    let bench = Bench::new();
    for _ in 0..3 {
        let late = Fault::Late(Duration::from_millis(150));
        bench.server.fail("GET /cdn", late);
    }
    let mut told = Vec::new();
    let outcome = bench.hub().download(&large(), &mut |progress| {
        told.push(progress.clone());
        Order::GoOn
    });
    path_of(outcome.unwrap());
    assert!(told.is_sorted_by_key(|progress| progress.n_bytes));
    assert_eq!(told.first().unwrap().stage, Stage::Asking);
    assert_eq!(told.last().unwrap().stage, Stage::Verifying);
    assert_eq!(told.last().unwrap().n_bytes, N_LARGE as u64);
    let receiving = told
        .iter()
        .filter(|progress| progress.stage == Stage::Receiving);
    let with_speed = receiving.filter(|progress| progress.bytes_per_second.is_some());
    assert!(with_speed.count() > 0);
}

#[test]
fn a_paused_download_goes_on_after_the_program_has_ended() {
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
fn a_download_that_was_not_finished_is_found_again_and_goes_on_by_its_repository_alone() {
    let bench = Bench::new();
    assert_eq!(bench.hub().kept_downloads(), []);
    pause_after_two_pieces(&bench);
    let n_before = bench.server.asked().len();
    let kept = KeptDownload {
        repository: GGUF.to_owned(),
        n_bytes: 2 * PIECE as u64,
    };
    assert_eq!(bench.hub().kept_downloads(), [kept]);
    assert_eq!(bench.server.asked().len(), n_before);

    let n_before = bench.server.ranges().len();
    let outcome = bench.bring(&wanted(GGUF, None));
    path_of(outcome.unwrap());
    assert_eq!(bench.server.ranges()[n_before].start, 2 * PIECE);
    assert_eq!(bench.hub().kept_downloads(), []);
}

#[test]
fn a_part_that_other_tools_have_left_is_gone_on_with() {
    let bench = Bench::new();
    let blobs = bench.repository_folder(GGUF).join("blobs");
    fs::create_dir_all(&blobs).unwrap();
    let part = blobs.join(format!("{}.incomplete", bench.checksum));
    fs::write(part, &bytes(N_LARGE, 2)[..123_456]).unwrap();
    path_of(bench.download().unwrap());
    assert_eq!(bench.server.ranges()[0].start, 123_456);
}

#[test]
fn of_a_file_that_has_changed_since_the_pause_no_old_part_stays() {
    let bench = Bench::new();
    let hub = bench.hub();
    third_piece_hangs(&bench);
    let paused = hub.download(&large(), &mut |progress| {
        if progress.n_bytes < 2 * PIECE as u64 {
            Order::GoOn
        } else {
            Order::Pause
        }
    });
    assert!(matches!(paused.unwrap(), Outcome::Paused { .. }));
    bench.server.heal();
    let newer = bench.server.put_large(GGUF, LARGE, bytes(N_LARGE, 7));
    let path = path_of(hub.download(&large(), &mut |_| Order::GoOn).unwrap());
    assert_eq!(fs::read(path).unwrap(), bytes(N_LARGE, 7));
    assert_eq!(bench.blobs(GGUF), [newer]);
    assert_eq!(hub.kept_downloads(), []);
}

#[test]
fn a_cancelled_download_leaves_no_part_behind() {
    let bench = Bench::new();
    third_piece_hangs(&bench);
    let outcome = bench.download_until(2 * PIECE, Order::Cancel);
    assert_eq!(outcome, Outcome::Cancelled);
    assert_eq!(bench.blobs(GGUF), [] as [String; 0]);
}

#[test]
fn what_is_kept_can_be_thrown_away_without_the_hub() {
    let bench = Bench::new();
    pause_after_two_pieces(&bench);
    let n_asked = bench.server.asked().len();
    let any_file = wanted(GGUF, None);
    bench.hub().discard(&any_file).unwrap();
    assert_eq!(bench.hub().n_bytes_kept(&any_file), 0);
    assert_eq!(bench.server.asked().len(), n_asked);
}

#[test]
fn what_is_thrown_away_is_of_one_download_and_not_of_its_neighbours() {
    let bench = Bench::new();
    pause_after_two_pieces(&bench);
    let hub = bench.hub();
    let small = wanted(GGUF, Some("tiny-Q4_0.gguf"));
    // Called off before the Hub has said of what it consists, it has nothing to lose.
    let cancelled = hub.download(&small, &mut |_| Order::Cancel).unwrap();
    assert_eq!(cancelled, Outcome::Cancelled);
    hub.discard(&small).unwrap();
    assert_eq!(hub.n_bytes_kept(&wanted(GGUF, None)), 2 * PIECE as u64);

    let n_bytes_kept = PIECE as u64;
    let paused = hub.download(&small, &mut |progress| {
        if progress.n_bytes < n_bytes_kept {
            Order::GoOn
        } else {
            Order::Pause
        }
    });
    assert_eq!(paused.unwrap(), Outcome::Paused { n_bytes_kept });
    assert_eq!(hub.n_bytes_kept(&small), n_bytes_kept);
    // What was paused is remembered where the Hub is not asked again.
    let asking = hub.download(&small, &mut |_| Order::Pause).unwrap();
    assert_eq!(asking, Outcome::Paused { n_bytes_kept });
    hub.discard(&small).unwrap();
    assert_eq!(
        bench.blobs(GGUF),
        [format!("{}.incomplete", bench.checksum)]
    );
}

#[test]
fn of_several_downloads_that_were_begun_the_furthest_goes_on_first() {
    let bench = Bench::new();
    pause_after_two_pieces(&bench);
    let (small, content) = ("tiny-Q4_1.gguf", bytes(9_000, 5));
    let checksum = bench.server.put_large(GGUF, small, content.clone());
    let blobs = bench.repository_folder(GGUF).join("blobs");
    let part = blobs.join(format!("{checksum}.incomplete"));
    fs::write(part, &content[..10]).unwrap();
    for file in [LARGE, small] {
        let outcome = bench.bring(&wanted(GGUF, None));
        assert!(path_of(outcome.unwrap()).ends_with(file));
    }
}

#[test]
fn a_folder_beside_a_file_is_chosen_by_its_name() {
    let bench = Bench::new();
    bench
        .server
        .put_large(FOLDER, "tiny-Q8_0.gguf", vec![7; 99]);
    let choice = bench.bring(&wanted(FOLDER, None)).unwrap_err();
    assert_eq!(
        choice.to_string(),
        format!("{FOLDER} has several models; choose one of these: tiny-Q8_0.gguf, safetensors")
    );
    let outcome = bench.bring(&wanted(FOLDER, Some("safetensors")));
    let folder = path_of(outcome.unwrap());
    assert_eq!(
        fs::read(folder.join("model.safetensors")).unwrap(),
        bytes(5_000, 3)
    );
    assert!(!folder.join("tiny-Q8_0.gguf").exists());
}

#[test]
fn a_path_is_chosen_before_the_end_of_another_and_what_fits_twice_is_asked_about() {
    let bench = Bench::new();
    let small = format!("small/{LARGE}");
    bench.server.put_large(GGUF, &small, vec![7; 99]);
    assert!(path_of(bench.download().unwrap()).ends_with(format!("{COMMIT}/{LARGE}")));
    let choice = bench.bring(&wanted(GGUF, Some("Q8_0"))).unwrap_err();
    assert_eq!(
        choice.to_string(),
        format!("{GGUF} has several models; choose one of these: {small}, {LARGE}")
    );
}

#[test]
fn two_programs_do_not_bring_the_same_file_at_once() {
    let bench = Bench::new();
    third_piece_hangs(&bench);
    let mut second = None;
    let hub = bench.hub();
    let outcome = hub.download(&large(), &mut |progress| {
        if progress.n_bytes < 2 * PIECE as u64 {
            return Order::GoOn;
        }
        second = Some(bench.download().unwrap_err());
        Order::Pause
    });
    assert!(matches!(outcome.unwrap(), Outcome::Paused { .. }));
    assert!(matches!(second.unwrap().error, HubError::Locked { .. }));
}

fn pause_after_two_pieces(bench: &Bench) -> Outcome {
    third_piece_hangs(bench);
    let outcome = bench.download_until(2 * PIECE, Order::Pause);
    bench.server.heal();
    outcome
}

/// So that a user has time to think after the second range.
fn third_piece_hangs(bench: &Bench) {
    let on_time = Fault::Late(Duration::ZERO);
    bench.server.fail("GET /cdn", on_time.clone());
    bench.server.fail("GET /cdn", on_time);
    bench.server.fail("GET /cdn", Fault::Silence);
}
