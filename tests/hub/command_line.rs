//! Tests the Hub commands of the command line.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::hub::bench::{Bench, GGUF, LARGE, bytes};
use crate::hub::server::{COMMIT, Fault};
use crate::random::Random;
use crate::rounds::rounds;

fn quartet(bench: &Bench, arguments: &[&str]) -> Output {
    command(bench, arguments).output().unwrap()
}

pub(crate) fn command(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    command
        .args(arguments)
        .env("HF_ENDPOINT", bench.server.endpoint())
        .env("HF_HOME", bench.cache.path())
        .env("HF_TOKEN", "hf_from_the_shell")
        .env("NO_PROXY", "127.0.0.1")
        // No models of other programs.
        .env("HOME", bench.cache.path().join("home"))
        .env_remove("OLLAMA_MODELS")
        .env_remove("LLAMA_CACHE")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("HF_HUB_CACHE")
        .env_remove("HF_HUB_OFFLINE")
        .env_remove("TRANSFORMERS_OFFLINE")
        .env_remove("HUGGINGFACE_HUB_CACHE");
    command
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_model_is_found_downloaded_and_listed() {
    let bench = Bench::new();
    let found = quartet(&bench, &["search", "tiny"]);
    assert_eq!(
        text(&found.stdout),
        "fox/tiny-GGUF  opens · 1,300 downloads · 7 likes · apache-2.0 · updated 2025-05-09\n    \
         tiny-Q4_0.gguf  Q4_0 · 300 kB\n    tiny-Q8_0.gguf  Q8_0 · 1.0 MB\n"
    );
    let token = bench.server.requests()[0].headers["authorization"].clone();
    assert_eq!(token, "Bearer hf_from_the_shell");

    let downloaded = quartet(&bench, &["download", GGUF, "--file", LARGE]);
    assert!(downloaded.status.success(), "{}", text(&downloaded.stderr));
    let path = bench
        .cache
        .path()
        .join("hub/models--fox--tiny-GGUF/snapshots");
    let path = path.join(COMMIT).join(LARGE).display().to_string();
    assert_eq!(text(&downloaded.stdout), format!("{path}\n"));
    let progress = text(&downloaded.stderr);
    assert!(
        progress
            .lines()
            .any(|line| line.starts_with("Verifying tiny-Q8_0.gguf")),
        "{progress}"
    );

    let listed = text(&quartet(&bench, &["models"]).stdout);
    let folder = bench.cache.path().join("hub").display().to_string();
    let expected = format!("Hugging Face cache  {folder}\n  {GGUF}  Q8_0 · 1.0 MB\n    {path}\n");
    assert_eq!(listed, expected);
}

#[test]
fn a_pasted_address_downloads_the_file_it_names() {
    for wanted in [
        format!("{GGUF}:Q8_0"),
        format!("hf.co/{GGUF}:q8_0"),
        format!("https://huggingface.co/{GGUF}/blob/main/{LARGE}"),
    ] {
        let bench = Bench::new();
        let downloaded = quartet(&bench, &["download", &wanted]);
        assert!(downloaded.status.success(), "{}", text(&downloaded.stderr));
        let path = text(&downloaded.stdout);
        assert!(path.trim_end().ends_with(LARGE), "{wanted}: {path}");
        // The same names find it without the Hub.
        let n_requests = bench.server.requests().len();
        let inspected = quartet(&bench, &["inspect", &wanted]);
        let error = text(&inspected.stderr);
        assert!(!error.contains("no model of this name"), "{error}");
        assert_eq!(bench.server.requests().len(), n_requests);
    }
    let bench = Bench::new();
    let both = quartet(
        &bench,
        &["download", &format!("{GGUF}:Q8_0"), "--file", "Q4_0"],
    );
    assert_eq!(both.status.code(), Some(2));
    assert!(text(&both.stderr).contains("leave out one of them"));
    let missing = quartet(&bench, &["inspect", &format!("{GGUF}:Q8_0")]);
    assert_eq!(missing.status.code(), Some(2));
    let error = text(&missing.stderr);
    assert!(
        error.contains(&format!("quartet download {GGUF}:Q8_0")),
        "{error}"
    );
    assert!(bench.server.requests().is_empty());
}

#[test]
fn a_downloaded_model_is_used_while_offline() {
    let bench = Bench::new();
    let wanted = format!("{GGUF}:Q8_0");
    let path = text(&quartet(&bench, &["download", &wanted]).stdout);
    let n_requests = bench.server.requests().len();
    let offline = command(&bench, &["download", &wanted])
        .env("HF_HUB_OFFLINE", "1")
        .output()
        .unwrap();
    assert_eq!(text(&offline.stdout), path, "{}", text(&offline.stderr));
    let other = command(&bench, &["download", &format!("{GGUF}:Q4_0")])
        .env("HF_HUB_OFFLINE", "1")
        .output()
        .unwrap();
    assert!(text(&other.stderr).contains("HF_HUB_OFFLINE is set"));
    assert_eq!(bench.server.requests().len(), n_requests);
    // Nobody listens there.
    let unreachable = command(&bench, &["download", &wanted])
        .env("HF_ENDPOINT", "http://127.0.0.1:9")
        .output()
        .unwrap();
    assert_eq!(
        text(&unreachable.stdout),
        path,
        "{}",
        text(&unreachable.stderr)
    );
}

#[test]
fn models_of_other_programs_are_listed() {
    let bench = Bench::new();
    let home = bench.cache.path();
    let write = |path: &str, content: &str| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
    };
    write(".lmstudio/models/fox/den/den-Q8_0.gguf", "GGUF");
    let digest = "0".repeat(64);
    write(&format!("ollama/blobs/sha256-{digest}"), "GGUF");
    let manifest = format!(
        r#"{{"layers": [{{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:{digest}"}}]}}"#
    );
    write(
        "ollama/manifests/registry.ollama.ai/library/tiny/1b",
        &manifest,
    );
    write("llama/fox_hole-Q4_0.gguf", "GGUF");
    let run = |words: &[&str]| {
        let mut command = command(&bench, words);
        command
            .env("HOME", home)
            .env("OLLAMA_MODELS", home.join("ollama"));
        command
            .env("LLAMA_CACHE", home.join("llama"))
            .output()
            .unwrap()
    };
    let page = text(&run(&["models"]).stdout);
    let expected = format!(
        "LM Studio  ~/.lmstudio/models\n  den-Q8_0  Q8_0 · 4 bytes\n    {home}/.lmstudio/models/fox/den/den-Q8_0.gguf\n\n\
         Ollama  ~/ollama\n  tiny:1b  GGUF · 4 bytes\n    {home}/ollama/blobs/sha256-{digest}\n\n\
         llama.cpp  ~/llama\n  fox_hole-Q4_0  Q4_0 · 4 bytes\n    {home}/llama/fox_hole-Q4_0.gguf\n",
        home = home.display()
    );
    assert_eq!(page, expected);
    let lines = text(&run(&["models", "--json"]).stdout);
    let json: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(json.len(), 3);
    assert_eq!(
        (&json[1]["program"], &json[1]["name"]),
        (&"Ollama".into(), &"tiny:1b".into())
    );
    assert_eq!(json[1]["repository"], serde_json::Value::Null);
    // A name of Ollama's is a model too.
    let inspected = text(&run(&["inspect", "tiny:1b"]).stderr);
    assert!(
        inspected.contains(&format!("sha256-{digest}")),
        "{inspected}"
    );
    let folder = home.join("llama");
    let named = run(&["models", folder.to_str().unwrap()]);
    assert!(text(&named.stdout).starts_with("Folder  ~/llama\n  fox_hole-Q4_0"));
    let missing = run(&["models", "no/such/folder"]);
    assert_eq!(missing.status.code(), Some(1));
    let error = text(&missing.stderr);
    assert_eq!(
        error,
        "error: could not read the folder: No such file or directory\nno/such/folder\n"
    );
}

#[test]
fn a_download_resumes_after_the_program_was_killed() {
    const FIRST_PIECE: usize = 1 << 20;
    let bench = Bench::new();
    let content = bytes(3 * FIRST_PIECE, 4);
    let checksum = bench
        .server
        .put_large("fox/big", "big-Q8_0.gguf", content.clone());
    // The first request is a look at the header.
    for fault in [Fault::Absent, Fault::Absent, Fault::Silence] {
        bench.server.fail("GET /cdn", fault);
    }
    let mut killed = command(&bench, &["download", "fox/big"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let blobs = bench.cache.path().join("hub/models--fox--big/blobs");
    let part = blobs.join(format!("{checksum}.incomplete"));
    let n_received = || fs::metadata(&part).map_or(0, |part| part.len());
    while n_received() < FIRST_PIECE as u64 && killed.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(10));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    bench.server.heal();

    let n_before = bench.server.ranges().len();
    let downloaded = quartet(&bench, &["download", "fox/big"]);
    assert!(downloaded.status.success(), "{}", text(&downloaded.stderr));
    let resumed_at = bench.server.ranges()[n_before].start;
    assert_eq!(resumed_at, FIRST_PIECE);
    let path = text(&downloaded.stdout);
    assert_eq!(fs::read(path.trim_end()).unwrap(), content);
}

/// Checks that everything a killed download left is the beginning of the file, the whole file, or a
/// valid reference to it. Returns whether the model is complete.
fn check_what_is_left(model: &Path, name: &str, content: &[u8]) -> bool {
    let files = |folder: &str| fs::read_dir(model.join(folder)).into_iter().flatten();
    for blob in files("blobs") {
        let path = blob.unwrap().path();
        let found = fs::read(&path).unwrap();
        let is_partial = path.extension().is_some_and(|found| found == "incomplete");
        assert!(content.starts_with(&found), "{}", path.display());
        assert!(is_partial || found == content, "{}", path.display());
    }
    for reference in files("refs") {
        let found = fs::read_to_string(reference.unwrap().path()).unwrap();
        assert_eq!(found, COMMIT);
    }
    for snapshot in files("snapshots") {
        assert_eq!(snapshot.unwrap().file_name(), COMMIT);
    }
    let names = files(&format!("snapshots/{COMMIT}")).map(|file| file.unwrap().file_name());
    let names: Vec<OsString> = names.collect();
    assert!(names.iter().all(|found| *found == name), "{names:?}");
    for name in &names {
        let path = model.join("snapshots").join(COMMIT).join(name);
        assert_eq!(fs::read(path).unwrap(), content);
    }
    !names.is_empty()
}

#[test]
fn downloads_killed_at_random_moments_leave_nothing_half_written() {
    let bench = Bench::new();
    let name = "big-Q8_0.gguf";
    let content = bytes(8 << 20, 5);
    bench.server.put_large("fox/big", name, content.clone());
    let model = bench.cache.path().join("hub/models--fox--big");
    let started = Instant::now();
    assert!(quartet(&bench, &["download", "fox/big"]).status.success());
    let duration = started.elapsed();
    assert!(check_what_is_left(&model, name, &content));
    let mut random = Random(11);
    for _ in 0..12 * rounds() {
        if check_what_is_left(&model, name, &content) {
            fs::remove_dir_all(&model).unwrap();
        }
        let mut killed = command(&bench, &["download", "fox/big"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let percent = u32::try_from(random.below(110)).unwrap();
        thread::sleep(duration * percent / 100);
        killed.kill().ok();
        killed.wait().unwrap();
    }
    assert!(quartet(&bench, &["download", "fox/big"]).status.success());
    assert!(check_what_is_left(&model, name, &content));
}

#[cfg(unix)]
#[test]
fn an_interrupted_download_says_what_it_keeps() {
    const FIRST_PIECE: usize = 1 << 20;
    let bench = Bench::new();
    let content = bytes(3 * FIRST_PIECE, 4);
    bench.server.put_large("fox/big", "big-Q8_0.gguf", content);
    // The first request is a look at the header.
    for fault in [Fault::Absent, Fault::Absent, Fault::Silence] {
        bench.server.fail("GET /cdn", fault);
    }
    let mut interrupted = command(&bench, &["download", "fox/big"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The second range of the download is requested once the first is on disk.
    while bench.server.ranges().len() < 3 {
        assert_eq!(interrupted.try_wait().unwrap(), None, "it is over");
        thread::sleep(Duration::from_millis(10));
    }
    let pid = interrupted.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    let output = interrupted.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty());
    let said = text(&output.stderr);
    let expected = "1.0 MB downloaded so far; run the same command to resume\n";
    assert!(said.ends_with(expected), "{said}");
}

#[test]
fn an_ambiguous_model_is_a_usage_error() {
    let bench = Bench::new();
    let output = quartet(&bench, &["download", GGUF]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("choose one of these: tiny-Q4_0.gguf, tiny-Q8_0.gguf"));
    // It still is one if a partial download of another commit is in the cache.
    let blobs = bench.cache.path().join("hub/models--fox--tiny-GGUF/blobs");
    fs::create_dir_all(&blobs).unwrap();
    fs::write(blobs.join(format!("{}.incomplete", "0".repeat(64))), "part").unwrap();
    let output = quartet(&bench, &["download", GGUF]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!text(&output.stderr).contains("the same command"));
    let output = quartet(&bench, &["download", "fox/missing"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).ends_with(
        "error: the Hub has no repository fox/missing, or it is private; check the name or set HF_TOKEN\n"
    ));
}

#[test]
fn recommendations_and_the_cache_need_no_network() {
    let bench = Bench::new();
    let recommended = quartet(&bench, &["search"]);
    assert!(text(&recommended.stdout).contains("quartet download Qwen/Qwen3-0.6B-GGUF --file"));
    let listed = quartet(&bench, &["models"]);
    assert!(listed.status.success() && listed.stdout.is_empty());
    assert!(text(&listed.stderr).starts_with("no models in "));
    assert!(bench.server.requests().is_empty());
}
