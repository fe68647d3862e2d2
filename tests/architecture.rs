//! Checks the structure of the code: which module may use which, where each external crate may be
//! used, and a few conventions. Each line in the tables here is an architecture decision.

#![expect(
    clippy::unwrap_used,
    reason = "a failing test may panic, in its helpers too"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The module on the left may use only itself and those on the right.
const ALLOWED_USES: &[(&str, &[&str])] = &[
    ("kernels", &[]),
    ("decoding", &["json_words", "kernels"]),
    ("generation", &["decoding"]),
    ("analysis", &["decoding", "generation"]),
    (
        "engine",
        &["decoding", "generation", "json_words", "kernels"],
    ),
    ("glossary", &[]),
    ("hub", &["generation", "json_words"]),
    (
        "interop",
        &["analysis", "decoding", "generation", "json_words"],
    ),
    ("json_words", &[]),
    (
        "servers",
        &["decoding", "engine", "generation", "interop", "json_words"],
    ),
    (
        "worker",
        &[
            "decoding",
            "engine",
            "generation",
            "hub",
            "kernels",
            "servers",
        ],
    ),
    (
        "lessons",
        &[
            "analysis",
            "decoding",
            "generation",
            "interop",
            "json_words",
        ],
    ),
    ("listen", &["decoding", "generation", "interop", "worker"]),
    (
        "reference",
        &["decoding", "generation", "interop", "lessons"],
    ),
    (
        "export",
        &[
            "analysis",
            "decoding",
            "generation",
            "interop",
            "json_words",
        ],
    ),
    (
        "state",
        &[
            "analysis",
            "decoding",
            "export",
            "generation",
            "interop",
            // Only what the list of experiments generates.
            "lab",
            "lessons",
            // Only what the endpoint reports.
            "listen",
            "worker",
        ],
    ),
    // The experiments. `EXPERIMENT_FILES` says what each kind of file may use.
    (
        "lab",
        &[
            "analysis",
            "cli",
            "decoding",
            "design",
            "engine",
            "export",
            "generation",
            "interop",
            "json_words",
            "lessons",
            "plots",
            "state",
            "ui",
            "worker",
        ],
    ),
    ("design", &["generation", "state"]),
    (
        "plots",
        &[
            "analysis",
            "decoding",
            "design",
            "generation",
            "glossary",
            "state",
        ],
    ),
    (
        "ui",
        &[
            "analysis",
            "decoding",
            "design",
            "export",
            "generation",
            "glossary",
            "interop",
            "lab",
            "lessons",
            "plots",
            "reference",
            "state",
        ],
    ),
    (
        "app",
        &[
            "decoding",
            "design",
            "export",
            "generation",
            "interop",
            "lab",
            "lessons",
            "listen",
            "plots",
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
            "json_words",
            "kernels",
            "lab",
            "lessons",
            "listen",
            "plots",
            "state",
            "ui",
            "worker",
        ],
    ),
    ("main", &["app", "cli"]),
    ("bin", &["cli"]),
];

/// The kinds of files of an experiment, in `src/lab/EXPERIMENT/`: the modules that each may use
/// besides its own experiment and what all experiments share, and whether it draws or parses the
/// command line. A kind is a file or a folder.
const EXPERIMENT_FILES: &[(&str, &[&str], &[&str])] = &[
    ("plan", &["decoding", "engine", "generation"], &["serde"]),
    ("job", &["decoding", "engine", "generation"], &[]),
    (
        "figures",
        &[
            "analysis",
            "decoding",
            "generation",
            "json_words",
            "lessons",
        ],
        &["serde"],
    ),
    (
        "state",
        &[
            "analysis",
            "decoding",
            "export",
            "generation",
            "lessons",
            "state",
            "worker",
        ],
        &["serde"],
    ),
    ("kept", &["decoding", "generation", "state"], &["serde"]),
    (
        "plot",
        &["analysis", "decoding", "design", "generation", "plots"],
        &["egui"],
    ),
    (
        "picture",
        &["analysis", "generation", "plots", "state", "ui"],
        &["egui"],
    ),
    (
        "page",
        &[
            "analysis",
            "decoding",
            "design",
            "generation",
            "plots",
            "state",
            "ui",
        ],
        &["egui"],
    ),
    (
        "record",
        &["analysis", "decoding", "export", "generation"],
        &["serde"],
    ),
    ("document", &["export", "generation", "state", "ui"], &[]),
    (
        "command",
        &[
            "analysis",
            "cli",
            "decoding",
            "engine",
            "export",
            "generation",
            "interop",
            "state",
            "ui",
            "worker",
        ],
        &["clap", "serde"],
    ),
];

/// External crates, each with the only modules that may use it.
const CRATE_USERS: &[(&str, &[&str])] = &[
    ("base64", &["engine", "export"]),
    ("flate2", &["export", "ui"]),
    ("candle_core", &["engine"]),
    ("candle_nn", &["engine"]),
    ("candle_transformers", &["engine"]),
    ("tokenizers", &["engine"]),
    ("clap", &["cli", "lab"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("ctrlc", &["bin", "cli"]),
    ("eframe", &["app"]),
    ("egui", &["app", "design", "lab", "plots", "ui"]),
    ("egui_plot", &["plots"]),
    ("fs4", &["hub"]),
    ("hyper", &["listen"]),
    ("hyper_util", &["listen"]),
    ("reqwest", &["hub", "servers"]),
    ("tokio", &["cli", "hub", "listen", "servers"]),
    ("jiff", &["engine", "export", "ui"]),
    ("minijinja", &["engine"]),
    ("minijinja_contrib", &["engine"]),
    ("jsonschema", &["lab"]),
    ("llguidance", &["decoding"]),
    ("pdf_writer", &["ui"]),
    ("pollster", &["app"]),
    ("regex", &["analysis", "lab"]),
    ("regex_syntax", &["decoding"]),
    ("resvg", &["ui"]),
    ("rfd", &["app"]),
    ("rustix", &["engine", "export"]),
    (
        "serde",
        &[
            "analysis",
            "cli",
            "decoding",
            "engine",
            "export",
            "generation",
            "hub",
            "interop",
            "json_words",
            "lab",
            "lessons",
            "servers",
            "state",
        ],
    ),
    ("sha1", &["hub"]),
    ("sha2", &["engine", "export", "hub"]),
    ("shlex", &["interop"]),
    ("skrifa", &["ui"]),
    ("subsetter", &["ui"]),
    ("sysinfo", &["engine"]),
    ("tempfile", &["export"]),
    ("toml", &["lessons"]),
    ("unicode_bidi", &["ui"]),
    ("xxhash_rust", &["decoding"]),
    ("zip", &["export"]),
];

/// Files that may contain `unsafe`, each with a justification in the file.
const UNSAFE_FILES: &[&str] = &[
    "kernels/attention/prefetch.rs",
    "kernels/avx2/dot.rs",
    "kernels/avx2/memory.rs",
    "kernels/avx2/mod.rs",
    "kernels/avx512/memory.rs",
    "kernels/avx512/mod.rs",
    "kernels/neon/dot.rs",
    "kernels/neon/memory.rs",
    "kernels/neon/mod.rs",
    "kernels/returned_memory.rs",
    "kernels/thread_pool.rs",
];

/// What the code recognizes in the messages of other software, letter by letter.
const OUTSIDE_WORDS: &[&str] = &[
    // rustls: "peer doesn't support any known protocol".
    "\"peer doesn't support\"",
];

/// Double quotation marks that are no quotation of ours: the marks that may close a sentence.
const DOUBLE_QUOTED: &[&str] = &["'”', '’'"];

/// The files with methods that see all of `AppState`. A feature is a struct of its own, which is
/// handed what it needs. The goal is five files; remove a line here, never add one.
const APP_STATE_FILES: &[&str] = &[
    "state/app_state.rs",
    "state/apply.rs",
    "state/blocking.rs",
    "state/branches/commands.rs",
    "state/by_hand/mod.rs",
    "state/conversation/commands.rs",
    "state/events.rs",
    "state/export_choice.rs",
    "state/futures/mod.rs",
    "state/generate.rs",
    "state/jobs.rs",
    "state/lessons/window.rs",
    "state/loading.rs",
    "state/session.rs",
];

/// The maximum number of fields of `AppState`; lower it, never raise it.
const MAX_APP_STATE_FIELDS: usize = 25;

/// File names that describe a kind of code instead of a topic.
const KIND_NAMES: &[&str] = &["common", "helpers", "misc", "types", "util", "utils"];

const MAX_LINES: usize = 500;

#[test]
fn modules_use_only_lower_modules() {
    // The kernels are a separate crate that depends on none of the others.
    let above = ALLOWED_USES
        .iter()
        .filter(|(module, _)| *module != "kernels");
    for (module, below) in above {
        for (path, code) in code_of(module) {
            for used in modules_used_in(&code) {
                assert!(
                    used == *module || below.contains(&used.as_str()),
                    "{}: `{module}` must not use `{used}`",
                    path.display(),
                );
            }
        }
    }
}

#[test]
fn the_state_uses_only_the_worker_protocol() {
    for (path, code) in code_of("state") {
        for forbidden in ["Worker", "spawn", "recv"] {
            let used = code
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == forbidden);
            assert!(
                !used,
                "{}: `state` must not use `{forbidden}`",
                path.display()
            );
        }
    }
}

/// Whoever reads a feature must know what it can change.
#[test]
fn features_own_their_state() {
    let files = code_of("state").into_iter();
    let sees_everything: Vec<String> = files
        .filter(|(_, code)| code.contains("impl AppState {"))
        .map(|(path, _)| {
            let path = path.strip_prefix(source_root()).unwrap();
            path.to_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(sees_everything, APP_STATE_FILES);

    let state = fs::read_to_string(source_root().join("state/app_state.rs")).unwrap();
    let code = without_comments(&state);
    let fields = code.split("pub struct AppState {").nth(1).unwrap();
    let fields = fields.split("\n}").next().unwrap();
    let n_fields = fields.lines().filter(|line| line.ends_with(',')).count();
    assert!(
        n_fields <= MAX_APP_STATE_FIELDS,
        "`AppState` has {n_fields} fields"
    );
}

/// An experiment is a plan and its reports, which pass through the worker as they are.
#[test]
fn the_worker_names_no_experiment() {
    let experiments = [
        "Cache",
        "Comparison",
        "Fit",
        "Futures",
        "Influence",
        "Sweep",
    ];
    let types = ["Job", "Plan", "Update"];
    for (path, code) in code_of("worker") {
        for word in code.split(|c: char| !c.is_alphanumeric() && c != '_') {
            let named = experiments.iter().find_map(|name| word.strip_prefix(name));
            assert!(
                !named.is_some_and(|kind| types.contains(&kind)),
                "{}: `worker` must not name `{word}`",
                path.display()
            );
        }
    }
}

/// The rest of the window knows only what the list of experiments generates. A lesson can measure the
/// KV cache.
#[test]
fn only_the_lab_names_an_experiment() {
    let experiments = experiments();
    for module in ["state", "ui", "design", "plots", "export"] {
        let files = code_of(module).into_iter();
        let is_exempt = |path: &Path| is_for_tests(path) || in_folder(path, "lessons");
        for (path, code) in files.filter(|(path, _)| !is_exempt(path)) {
            for name in &experiments {
                for named in [format!("lab::{name}::"), format!(".lab.{name}.")] {
                    assert!(
                        !without_tests(&code).contains(&named),
                        "{}: `{module}` must not name the experiment `{name}`",
                        path.display()
                    );
                }
            }
        }
    }
}

#[test]
fn each_kind_of_file_of_an_experiment_keeps_to_its_floor() {
    let shared = ["lab"];
    let limited = ["clap", "egui", "serde"];
    for experiment in experiments() {
        let folder = source_root().join("lab").join(&experiment);
        for path in rust_files(&folder) {
            let inside = path.strip_prefix(&folder).unwrap();
            let first = inside.components().next().unwrap();
            let kind = Path::new(first.as_os_str()).file_stem().unwrap();
            let kind = kind.to_str().unwrap();
            if kind == "mod" || is_for_tests(&path) {
                continue;
            }
            let listed = EXPERIMENT_FILES.iter().find(|(name, ..)| *name == kind);
            let (_, modules, crates) = listed.unwrap_or_else(|| {
                panic!(
                    "{}: `{kind}` is no kind of file of an experiment",
                    path.display()
                )
            });
            let code = without_comments(&fs::read_to_string(&path).unwrap());
            let code = without_tests(&code);
            for used in modules_used_in(code) {
                assert!(
                    shared.contains(&used.as_str()) || modules.contains(&used.as_str()),
                    "{}: a {kind} must not use `{used}`",
                    path.display()
                );
            }
            for external in limited {
                assert!(
                    crates.contains(&external) || !uses_crate(code, external),
                    "{}: a {kind} must not use `{external}`",
                    path.display()
                );
            }
        }
    }
}

/// A document that is not listed could be chosen, but not saved.
#[test]
fn every_document_is_listed() {
    let list = fs::read_to_string(source_root().join("app/documents.rs")).unwrap();
    for path in rust_files(&source_root()) {
        let code = fs::read_to_string(&path).unwrap();
        for kind in code.split("impl DocumentKind for ").skip(1) {
            let listed = format!("gather_as::<{}>", first_word(kind));
            assert!(
                list.contains(&listed),
                "{}: add `{listed}` to `app/documents.rs`",
                path.display()
            );
        }
    }
}

#[test]
fn every_module_is_listed() {
    let listed: BTreeSet<String> = ALLOWED_USES
        .iter()
        .map(|(module, _)| (*module).to_owned())
        .collect();
    let present: BTreeSet<String> = ["", "core", "runtime"]
        .into_iter()
        .flat_map(|folder| fs::read_dir(source_root().join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|stem| !["Cargo", "core", "lib", "runtime"].contains(&stem.as_str()))
        .collect();
    assert_eq!(present, listed);
}

#[test]
fn external_crates_are_used_only_where_allowed() {
    for (module, _) in ALLOWED_USES {
        let files = code_of(module);
        for (path, code) in files.iter().filter(|(path, _)| !is_for_tests(path)) {
            for (external, allowed) in CRATE_USERS {
                assert!(
                    allowed.contains(module) || !uses_crate(without_tests(code), external),
                    "{}: `{external}` may only be used in {allowed:?}",
                    path.display(),
                );
            }
        }
    }
}

#[test]
fn every_file_has_a_header_and_stays_small() {
    for path in rust_files(&source_root()) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let n_lines = text.lines().count();
        assert!(
            text.starts_with("//!"),
            "{}: start the file with a `//!` header",
            path.display()
        );
        assert!(
            n_lines <= MAX_LINES,
            "{}: {n_lines} lines exceed the limit of {MAX_LINES}",
            path.display(),
        );
        assert!(
            !KIND_NAMES.contains(&name),
            "{}: name the file after its topic",
            path.display()
        );
    }
}

#[test]
fn unsafe_is_used_only_in_listed_files() {
    for path in rust_files(&source_root()) {
        let code = without_comments(&fs::read_to_string(&path).unwrap());
        let listed = UNSAFE_FILES.iter().any(|file| path.ends_with(file));
        let found = code.contains("unsafe {") || code.contains("unsafe fn");
        assert!(
            listed || !found,
            "{}: `unsafe` is not allowed here",
            path.display()
        );
    }
}

/// What people read has ’ between two letters, as the lessons and the glossary have it. Nothing else
/// in the code has a straight apostrophe there, except the byte `b'x'` and [`OUTSIDE_WORDS`].
#[test]
fn apostrophes_are_typographic() {
    let mut straight = Vec::new();
    for path in rust_files(&source_root()) {
        let is_test = is_for_tests(&path) || path.to_string_lossy().ends_with("_tests.rs");
        let code = without_comments(&fs::read_to_string(&path).unwrap());
        for line in without_tests(&code).lines().filter(|_| !is_test) {
            let mut ours = line.to_owned();
            for words in OUTSIDE_WORDS {
                ours = ours.replace(words, "");
            }
            let chars: Vec<char> = ours.chars().collect();
            let is_straight = chars.windows(4).any(|four| match *four {
                ['b', '\'', _, '\''] => false,
                [before, '\'', after, _] => {
                    (before.is_ascii_alphabetic() || before == '}') && after.is_ascii_lowercase()
                }
                _ => false,
            });
            if is_straight {
                straight.push(format!("{}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(straight.is_empty(), "{}", straight.join("\n"));
}

#[test]
fn the_readme_is_short_and_says_how_to_begin() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let n_lines = readme.lines().count();
    assert!(n_lines <= 150, "the README has {n_lines} lines");
    for command in [".ci/setup && cargo run --release", ".ci/test"] {
        assert!(
            readme.contains(&format!("\n\n    {command}\n\n")),
            "{command}"
        );
    }
    let lessons = fs::read_dir(root.join("assets/lessons")).unwrap();
    let lessons = lessons.map(|entry| entry.unwrap().path());
    let lessons = lessons.filter(|path| path.extension().is_some_and(|it| it == "toml"));
    let n_lessons = lessons.count();
    let features = fs::read_to_string(root.join("assets/docs/FEATURES.md")).unwrap();
    assert!(readme.contains(&format!("[{n_lessons} lessons](")));
    assert!(features.contains(&format!("**Lessons.** {n_lessons} lessons of")));
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let mut n_links = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for link in prose(&text).split("](").skip(1) {
            let link = link.split(')').next().unwrap_or_default();
            if link.starts_with("https://") {
                continue;
            }
            n_links += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => path.with_file_name(file),
            };
            let name = path.display();
            assert!(target.exists(), "{name} links to {link}");
            if !heading.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                let mut anchors = text.lines().filter_map(anchor);
                let is_there = anchors.any(|anchor| anchor == heading);
                assert!(is_there, "{name} links to {link}");
            }
        }
    }
    assert!(n_links > 50, "only {n_links} links were found");
}

/// A quoted token, text or word stands in ‘ and ’. Straight double marks are for what is typed or read
/// as it stands, such as settings and JSON, and for the titles in a citation.
#[test]
fn quotation_marks_are_single_and_typographic() {
    let mut wrong = Vec::new();
    for path in rust_files(&source_root()) {
        let is_test = is_for_tests(&path) || path.to_string_lossy().ends_with("_tests.rs");
        let code = without_comments(&fs::read_to_string(&path).unwrap());
        let is_shown = is_on_screen(&path);
        for line in without_tests(&code).lines().filter(|_| !is_test) {
            let mut ours = line.replace("\\\\", "");
            for words in DOUBLE_QUOTED {
                ours = ours.replace(words, "");
            }
            if ours.contains(['“', '”']) || (is_shown && ours.contains("\\\"")) {
                wrong.push(format!("{}: {}", path.display(), line.trim()));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in documents() {
        // The format of a lesson file quotes what is typed, and a reference page cites titles.
        let keeps_straight = in_folder(&path, "lessons") || in_folder(&path, "filters");
        let text = prose(&fs::read_to_string(&path).unwrap());
        let wrongs = if keeps_straight { "“”" } else { "\"“”" };
        for line in text.lines() {
            if line.contains(|c| wrongs.contains(c)) || has_straight_apostrophe(line) {
                wrong.push(format!("{}: {line}", path.display()));
            }
        }
    }
    let mut n_texts = 0;
    for entry in fs::read_dir(root.join("assets/lessons")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            // Every other part of a file is a text of several lines.
            let source = fs::read_to_string(&path).unwrap();
            for text in source.split("\"\"\"").skip(1).step_by(2) {
                n_texts += 1;
                if text.contains(['"', '“', '”']) || has_straight_apostrophe(text) {
                    wrong.push(format!("{}: {text}", path.display()));
                }
            }
        }
    }
    assert!(n_texts > 200, "only {n_texts} texts were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn apostrophes_on_a_saved_page_are_typographic() {
    let script = fs::read_to_string(source_root().join("export/html/page.js")).unwrap();
    assert!(script.contains('’'));
    let straight: Vec<&str> = script
        .lines()
        .filter(|line| has_straight_apostrophe(line))
        .collect();
    assert!(straight.is_empty(), "{straight:#?}");
}

/// Returns whether an apostrophe between two letters is straight.
fn has_straight_apostrophe(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    chars.windows(3).any(|three| {
        matches!(three, [before, '\'', after]
            if before.is_ascii_alphabetic() && after.is_ascii_lowercase())
    })
}

/// Returns whether a file draws or writes what the window shows. Pictures are SVG.
fn is_on_screen(path: &Path) -> bool {
    let shown = ["ui", "state", "lab", "design", "plots", "app"];
    let is_svg = in_folder(path, "pictures") || path.ends_with("ui/app_icon.rs");
    shown.iter().any(|name| in_folder(path, name)) && !is_svg
}

/// Returns the Markdown files that people read: the README, the documents, the format of a lesson file
/// and how to contribute.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![
        root.join("README.md"),
        root.join(".github/CONTRIBUTING.md"),
        root.join("assets/lessons/README.md"),
    ];
    for folder in ["assets/docs", "assets/docs/filters"] {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        files.extend(paths.filter(|path| path.extension().is_some_and(|it| it == "md")));
    }
    files.sort();
    files
}

/// Returns a Markdown text without its code.
fn prose(text: &str) -> String {
    let mut is_fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced && !line.starts_with("    ") {
            lines.push(line.split('`').step_by(2).collect::<String>());
        }
    }
    lines.join("\n")
}

/// Returns the anchor of a heading, or `None` if this line is none.
fn anchor(line: &str) -> Option<String> {
    let title = line
        .strip_prefix('#')?
        .trim_start_matches('#')
        .strip_prefix(' ')?;
    let kept = title.to_lowercase();
    let kept = kept
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    Some(kept.map(|c| if c == ' ' { '-' } else { c }).collect())
}

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Returns the files of a top-level module of any crate, without their comments.
fn code_of(module: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for root in ["", "core", "runtime"].map(|root| source_root().join(root)) {
        let (file, folder) = (root.join(format!("{module}.rs")), root.join(module));
        if file.exists() {
            files.push(file);
        }
        if folder.exists() {
            files.extend(rust_files(&folder));
        }
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

/// Returns the top-level modules named after `crate::` or, in `main.rs`, after `quartet::`.
fn modules_used_in(code: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for root in ["crate::", "quartet::"] {
        for (start, _) in code.match_indices(root) {
            let part_of_a_longer_word = code[..start].ends_with(|c: char| c.is_alphanumeric());
            let rest = &code[start + root.len()..];
            if let Some(group) = rest.strip_prefix('{') {
                let group = group.split('}').next().unwrap_or_default();
                used.extend(
                    group
                        .split(',')
                        .map(first_word)
                        .filter(|word| !word.is_empty()),
                );
            } else if !part_of_a_longer_word {
                used.insert(first_word(rest));
            }
        }
    }
    used
}

/// Returns the names of the experiments: the folders of the Lab, except its frame.
fn experiments() -> Vec<String> {
    let folders = fs::read_dir(source_root().join("lab")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let names = folders
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name != "frame").collect()
}

fn in_folder(path: &Path, name: &str) -> bool {
    path.components().any(|part| part.as_os_str() == name)
}

fn first_word(code: &str) -> String {
    code.trim_start()
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

/// Returns whether a file is compiled only for tests: `tests.rs`, or any file in a `tests` folder.
fn is_for_tests(path: &Path) -> bool {
    path.components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")))
}

/// Returns the code of a file without its test module, which comes last.
fn without_tests(code: &str) -> &str {
    code.split("mod tests {").next().unwrap_or_default()
}

fn uses_crate(code: &str, name: &str) -> bool {
    let path = format!("{name}::");
    code.match_indices(&path).any(|(start, _)| {
        !code[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
    })
}
