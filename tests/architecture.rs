//! The shape of the code: which module may name which, which foreign crate may stand where, and the
//! few habits that a reader relies on. A line in a table here is an architecture decision.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails may panic, in a helper too"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The module on the left may name itself and those on the right.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("kernels", &[]),
    ("decoding", &["kernels"]),
    ("generation", &["decoding"]),
    ("analysis", &["decoding", "generation"]),
    ("engine", &["decoding", "generation", "kernels"]),
    ("hub", &["generation"]),
    (
        "worker",
        &["decoding", "engine", "generation", "hub", "kernels"],
    ),
    ("interop", &["analysis", "decoding", "generation"]),
    ("export", &["analysis", "decoding", "generation", "interop"]),
    (
        "state",
        &[
            "analysis",
            "decoding",
            "export",
            "generation",
            "interop",
            "worker",
        ],
    ),
    (
        "ui",
        &[
            "analysis",
            "decoding",
            "export",
            "generation",
            "interop",
            "state",
        ],
    ),
    (
        "app",
        &[
            "decoding",
            "export",
            "generation",
            "interop",
            "state",
            "ui",
            "worker",
        ],
    ),
    (
        "cli",
        &[
            "analysis",
            "app",
            "decoding",
            "engine",
            "export",
            "generation",
            "hub",
            "interop",
            "kernels",
            "state",
            "ui",
            "worker",
        ],
    ),
    ("main", &["app", "cli"]),
];

/// A foreign crate, and the only modules that may name it.
const AT_HOME: &[(&str, &[&str])] = &[
    ("candle_core", &["engine"]),
    ("candle_nn", &["engine"]),
    ("candle_transformers", &["engine"]),
    ("tokenizers", &["engine"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("eframe", &["app"]),
    ("egui", &["app", "ui"]),
    ("egui_plot", &["ui"]),
    ("fs4", &["hub"]),
    ("hf_hub", &["hub"]),
    ("jiff", &["engine"]),
    ("minijinja", &["engine"]),
    ("minijinja_contrib", &["engine"]),
    ("pollster", &["app"]),
    ("resvg", &["ui"]),
    ("rfd", &["app"]),
    ("sha1", &["hub"]),
    ("sha2", &["engine", "hub"]),
    ("shlex", &["interop"]),
    ("sysinfo", &["engine"]),
    ("tempfile", &["export"]),
];

/// Files that may hold `unsafe`, each for a reason that stands in it.
const MAY_BE_UNSAFE: &[&str] = &[
    "kernels/attention/ahead.rs",
    "kernels/avx2/dot.rs",
    "kernels/avx2/memory.rs",
    "kernels/avx2/mod.rs",
    "kernels/avx512/memory.rs",
    "kernels/avx512/mod.rs",
    "kernels/neon/dot.rs",
    "kernels/neon/memory.rs",
    "kernels/neon/mod.rs",
    "kernels/thread_pool.rs",
];

/// Names that say what a file is and not what it is about.
const KIND_NAMES: &[&str] = &["common", "helpers", "misc", "types", "util", "utils"];

const MOST_LINES: usize = 500;

#[test]
fn a_module_names_only_what_stands_below_it() {
    for (module, below) in MAY_NAME {
        for (path, code) in code_of(module) {
            for named in modules_named_in(&code) {
                assert!(
                    named == *module || below.contains(&named.as_str()),
                    "{}: `{module}` must not name `{named}`",
                    path.display(),
                );
            }
        }
    }
}

#[test]
fn the_state_knows_only_the_protocol_of_the_worker() {
    for (path, code) in code_of("state") {
        for forbidden in ["Worker", "spawn", "recv"] {
            let named = code
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == forbidden);
            assert!(
                !named,
                "{}: `state` must not name `{forbidden}`",
                path.display()
            );
        }
    }
}

#[test]
fn every_module_has_its_line_in_the_table() {
    let listed: BTreeSet<String> = MAY_NAME
        .iter()
        .map(|(module, _)| (*module).to_owned())
        .collect();
    let present: BTreeSet<String> = fs::read_dir(source_root())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|stem| stem != "lib")
        .collect();
    assert_eq!(present, listed);
}

#[test]
fn a_foreign_crate_stays_where_it_is_at_home() {
    for (module, _) in MAY_NAME {
        let files = code_of(module);
        for (path, code) in files.iter().filter(|(path, _)| !is_for_tests(path)) {
            for (foreign, homes) in AT_HOME {
                assert!(
                    homes.contains(module) || !names_crate(without_tests(code), foreign),
                    "{}: `{foreign}` belongs in {homes:?}",
                    path.display(),
                );
            }
        }
    }
}

#[test]
fn every_file_says_what_it_owns_and_stays_small() {
    for path in rust_files(&source_root()) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let n_lines = text.lines().count();
        assert!(text.starts_with("//!"), "{}: no header", path.display());
        assert!(
            n_lines <= MOST_LINES,
            "{}: {n_lines} lines, {MOST_LINES} are the most",
            path.display(),
        );
        assert!(
            !KIND_NAMES.contains(&name),
            "{}: say the topic",
            path.display()
        );
    }
}

#[test]
fn unsafe_stands_only_where_it_is_listed() {
    for path in rust_files(&source_root()) {
        let code = without_comments(&fs::read_to_string(&path).unwrap());
        let listed = MAY_BE_UNSAFE.iter().any(|file| path.ends_with(file));
        let found = code.contains("unsafe {") || code.contains("unsafe fn");
        assert!(listed || !found, "{}: `unsafe`", path.display());
    }
}

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files of a top-level module, without their comments.
fn code_of(module: &str) -> Vec<(PathBuf, String)> {
    let (file, folder) = (
        source_root().join(format!("{module}.rs")),
        source_root().join(module),
    );
    let mut files = Vec::new();
    if file.exists() {
        files.push(file);
    }
    if folder.exists() {
        files.extend(rust_files(&folder));
    }
    assert!(!files.is_empty(), "there is no module `{module}`");
    files
        .into_iter()
        .map(|path| {
            let code = without_comments(&fs::read_to_string(&path).unwrap());
            (path, code)
        })
        .collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn without_comments(text: &str) -> String {
    text.lines()
        .map(|line| match line.find("//") {
            Some(start) if !line[..start].contains('"') => &line[..start],
            _ => line,
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The top-level modules that stand behind `crate::` or, in `main.rs`, behind `quartet::`.
fn modules_named_in(code: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for root in ["crate::", "quartet::"] {
        for (start, _) in code.match_indices(root) {
            let part_of_a_longer_word = code[..start].ends_with(|c: char| c.is_alphanumeric());
            let rest = &code[start + root.len()..];
            if let Some(group) = rest.strip_prefix('{') {
                let group = group.split('}').next().unwrap_or_default();
                named.extend(
                    group
                        .split(',')
                        .map(first_word)
                        .filter(|word| !word.is_empty()),
                );
            } else if !part_of_a_longer_word {
                named.insert(first_word(rest));
            }
        }
    }
    named
}

fn first_word(code: &str) -> String {
    code.trim_start()
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

/// Whether a file is compiled only for tests: `tests.rs`, or a file in a folder `tests`.
fn is_for_tests(path: &Path) -> bool {
    path.components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")))
}

/// Returns the part of a file that is compiled into the program; its tests come last.
fn without_tests(code: &str) -> &str {
    code.split("mod tests {").next().unwrap_or_default()
}

fn names_crate(code: &str, name: &str) -> bool {
    let path = format!("{name}::");
    code.match_indices(&path).any(|(start, _)| {
        !code[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
    })
}
