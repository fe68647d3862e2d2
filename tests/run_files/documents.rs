//! Run files on the command line: archives, pictures, and whatever can be wrong with a file or its
//! name.

use std::fs;
use std::io::{Cursor, Read as _};
use std::path::Path;
use std::process::{Command, Output};

use quartet::ui::run_folder;
use serde_json::Value;
use zip::ZipArchive;

const PROMPT: [&str; 4] = ["--prompt", "Once upon a time", "--max-tokens", "8"];

/// Runs Quartet in this folder.
fn quartet(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    command
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn generate(folder: &Path, arguments: &[&str]) -> Output {
    let output = quartet(folder, &[&["generate"], &PROMPT[..], arguments].concat());
    assert!(output.status.success(), "{}", said(&output));
    output
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// Fails if a temporary file is left in the folder.
fn assert_clean(folder: &Path) {
    let names = fs::read_dir(folder).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    let is_temporary = |name: &&std::ffi::OsString| name.to_string_lossy().starts_with(".quartet");
    assert_eq!(names.iter().find(is_temporary), None);
}

#[test]
fn an_archive_holds_the_files_of_the_exported_folder() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    generate(
        folder,
        &["--export", "run.zip", "--json", "run.quartet.json"],
    );
    let bytes = fs::read(folder.join("run.zip")).unwrap();
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    // No pane leaves a watermark to plot or answers a message.
    let mut listed = run_folder::possible_contents();
    listed.retain(|(name, _)| !name.starts_with("watermark.") && name != "run.messages.jsonl");
    for (name, _) in &listed {
        let mut file = archive.by_name(&format!("quartet-run/{name}")).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        assert!(!content.is_empty(), "{name}");
        if name == "run.json" {
            assert_eq!(content, fs::read(folder.join("run.quartet.json")).unwrap());
        }
    }
    assert_eq!(archive.len(), listed.len());
    assert_clean(folder);

    fs::create_dir(folder.join("taken.zip")).unwrap();
    let arguments = [&["generate"], &PROMPT[..], &["--export", "taken.zip"]].concat();
    let output = quartet(folder, &arguments);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        output.stdout.is_empty(),
        "it fails before the model is loaded"
    );
    assert!(said(&output).contains("taken.zip"), "{}", said(&output));
}

#[test]
fn a_replay_with_another_cache_format_is_drawn() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    generate(folder, &["--json", "run.quartet.json"]);
    let replay = |picture: &str| {
        let arguments = ["replay", "run.quartet.json", "--cache", "q8", "--picture"];
        quartet(folder, &[&arguments[..], &[picture]].concat())
    };
    let output = replay("gaps.svg");
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        said(&output)
    );
    let picture = fs::read_to_string(folder.join("gaps.svg")).unwrap();
    assert!(picture.contains(">Then and now<"), "{picture}");
    assert!(picture.contains("now it is q8"), "{picture}");
    replay("gaps.PNG");
    let picture = fs::read(folder.join("gaps.PNG")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    replay("gaps.pdf");
    assert!(
        fs::read(folder.join("gaps.pdf"))
            .unwrap()
            .starts_with(b"%PDF")
    );
    for (name, reason) in [
        ("gaps.gif", "a picture is a .pdf, an .svg or a .png file"),
        ("missing/gaps.svg", "could not write the file"),
    ] {
        let output = replay(name);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(said(&output).contains(reason), "{}", said(&output));
        assert!(output.stdout.is_empty(), "it fails before replaying");
    }
}

#[test]
fn what_was_proven_about_each_token_is_drawn() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    generate(folder, &["--json", "run.quartet.json"]);
    let draw = || {
        let arguments = ["replay", "run.quartet.json", "--picture", "proven.svg"];
        let output = quartet(folder, &arguments);
        let picture = fs::read_to_string(folder.join("proven.svg")).unwrap();
        (output.status.code(), picture)
    };
    let (status, picture) = draw();
    assert_eq!(status, Some(0));
    assert!(picture.contains(">What was proven<"), "{picture}");
    assert!(picture.contains("bit-identical"), "{picture}");
    let n_cells = picture.matches("<rect").count();

    // Nothing after a contradiction is drawn as proven.
    let path = folder.join("run.quartet.json");
    let mut run: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    run["panes"][0]["steps"][1]["rank"] = 47.into();
    fs::write(&path, run.to_string()).unwrap();
    let (status, picture) = draw();
    assert_eq!(status, Some(3));
    assert!(picture.contains("contradicts"), "{picture}");
    assert!(picture.matches("<rect").count() < n_cells, "{picture}");
}

#[cfg(unix)]
#[test]
fn a_run_can_have_any_name() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    for name in [
        "two\nlines.quartet.json",
        "🦊 “fox” 'it' \"said\" \\ $HOME.quartet.json.gz",
        "-dash.quartet.json",
        "\u{202E}left.quartet.json",
        " spaces .quartet.json",
    ] {
        generate(folder, &[&format!("--json={name}")]);
        let output = quartet(folder, &["replay", "--", name]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let export = format!("--export={name}.zip");
        generate(folder, &[&export]);
        assert!(folder.join(format!("{name}.zip")).is_file());
        fs::remove_file(folder.join(name)).unwrap();
        let output = quartet(folder, &["replay", "--", name]);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("could not read the run"));
    }
    assert_clean(folder);
}

#[test]
fn a_file_that_is_not_a_complete_run_is_an_error_that_says_why() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    generate(folder, &["--json", "run.quartet.json"]);
    let run = fs::read_to_string(folder.join("run.quartet.json")).unwrap();
    let newer = run.replacen("\"format_version\":2", "\"format_version\":9", 1);
    let edited = run.replacen("\"vocabulary\":", "\"mood\":1,\"vocabulary\":", 1);
    let contradictory = run.replacen("\"filter\":0", "\"filter\":77", 1);
    for (name, content, reason) in [
        ("half.json", &run[..run.len() / 2], "is incomplete"),
        ("half.json.gz", &run[..99], "is incomplete"),
        ("newer.json", newer.as_str(), "update Quartet to open it"),
        ("edited.json", &edited, "contains the field ‘mood’"),
        ("broken.json", &contradictory, "is damaged"),
        (
            "foreign.json",
            "{\"messages\":[]}",
            "not a Quartet run file",
        ),
        ("empty.json", "", "not a Quartet run file"),
        ("text.json", "Once upon a time", "not a Quartet run file"),
    ] {
        assert_ne!(content, run, "{name}");
        fs::write(folder.join(name), content).unwrap();
        let output = quartet(folder, &["replay", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(output.stdout.is_empty(), "{name}");
        let said = said(&output);
        assert!(said.contains(reason) && said.contains(name), "{said}");
    }
    let huge = fs::File::create(folder.join("huge.json")).unwrap();
    huge.set_len(500_000_000).unwrap();
    let huge = said(&quartet(folder, &["replay", "huge.json"]));
    assert!(huge.contains("a run file has at most 400 MB"), "{huge}");
    // In a folder, a file that can't be read is a line.
    let all = quartet(folder, &["replay", "."]);
    assert_eq!(all.status.code(), Some(2));
    let all = said(&all);
    for line in ["run.quartet.json  32 tokens  identical", "half.json.gz"] {
        assert!(all.contains(line), "{all}");
    }
}
