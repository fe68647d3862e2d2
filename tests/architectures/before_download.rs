//! Whether a model opens must not depend on whether it is downloaded: the check of the first bytes of
//! its files, and that of the files themselves, give the same answer.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use candle_core::quantized::gguf_file::{self, Content, Value};
use quartet::engine::{check_remote, inspect_with_tokenizer};
use quartet::generation::{CheckDepth, RemoteCheck, RemoteFile, RemoteModel};
use serde_json::json;

use crate::architectures::{ARCHITECTURES, borrowed, fixture};

const WEIGHTS: &str = "model.safetensors";
const GGUF: &str = "model.gguf";

/// A change to the metadata of a GGUF file.
type Change<'a> = &'a dyn Fn(&mut BTreeMap<String, Value>);

/// What a check found: nothing wrong, or the first line of what is.
type Answer = Result<(), String>;

/// Checks the files in a folder.
fn local(path: &Path) -> Answer {
    inspect_with_tokenizer(path).map(drop).map_err(|error| {
        let words = error.to_string();
        let first = words.lines().next().unwrap().to_owned();
        first.replace("this folder", "this repository")
    })
}

/// Checks the same files as if they were elsewhere. Also returns how much of them was fetched.
fn remote(folder: &Path, gguf: Option<&str>) -> (Answer, u64) {
    let mut contents = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        contents.insert(name, fs::read(entry.path()).unwrap());
    }
    let files = contents.iter().map(|(name, content)| {
        let file = RemoteFile {
            n_bytes: content.len() as u64,
            start: Arc::default(),
        };
        (name.clone(), file)
    });
    let mut model = RemoteModel {
        repository: "fox/den".to_owned(),
        gguf: gguf.map(str::to_owned),
        files: files.collect(),
    };
    let mut n_fetched = 0;
    loop {
        let answer = match check_remote(&model, CheckDepth::Headers) {
            RemoteCheck::Opens { .. } => Ok(()),
            RemoteCheck::Refused(reason) => Err(reason.lines().next().unwrap().to_owned()),
            RemoteCheck::Undecided(wanted) => {
                assert!(!wanted.is_empty());
                for (name, n_bytes) in wanted {
                    let file = model.files.get_mut(&name).unwrap();
                    let n_known = file.start.len();
                    assert!(n_bytes as usize > n_known, "{name} is known that far");
                    let more = &contents[&name][n_known..n_bytes as usize];
                    n_fetched += more.len() as u64;
                    Arc::make_mut(&mut file.start).extend_from_slice(more);
                }
                continue;
            }
        };
        return (answer, n_fetched);
    }
}

#[track_caller]
fn assert_same(folder: &Path, gguf: Option<&str>, opens: bool, what: &str) {
    let path = gguf.map_or(folder.to_owned(), |file| folder.join(file));
    let expected = local(&path);
    assert_eq!(expected.is_ok(), opens, "{what}: {expected:?}");
    assert_eq!(remote(folder, gguf).0, expected, "{what}");
}

/// Copies a fixture's folder.
fn folder(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fixture::copy(name, &["config.json", WEIGHTS], folder.path());
    folder
}

/// Copies a fixture's GGUF file and adds the metadata of a tokenizer, since a download has no other.
/// `change` changes the metadata.
fn gguf_folder(name: &str, change: impl FnOnce(&mut BTreeMap<String, Value>)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fixture::read(name, GGUF);
    let (mut metadata, n_head_bytes) = metadata_of(&bytes);
    let texts = ["<unk>".to_owned(), "<s>".to_owned(), "</s>".to_owned()];
    let words = (3..64).map(|index| format!("w{index}"));
    let tokens: Vec<Value> = texts.into_iter().chain(words).map(Value::String).collect();
    let scores = vec![Value::F32(0.0); tokens.len()];
    for (key, value) in [
        ("model", Value::String("llama".to_owned())),
        ("tokens", Value::Array(tokens)),
        ("scores", Value::Array(scores)),
        ("bos_token_id", Value::U32(1)),
    ] {
        metadata.insert(format!("tokenizer.ggml.{key}"), value);
    }
    change(&mut metadata);
    let bytes = with_metadata(&bytes, n_head_bytes, &metadata);
    fs::write(folder.path().join(GGUF), bytes).unwrap();
    folder
}

const ALIGNMENT: usize = 32;

/// The bytes that hold the number of tensors.
const TENSOR_COUNT: Range<usize> = 8..16;

/// Returns a file's metadata, and how many bytes lie before its list of tensors.
fn metadata_of(bytes: &[u8]) -> (BTreeMap<String, Value>, usize) {
    // candle can't read a list that has types of tensors which it doesn't know, such as MXFP4.
    let mut without_tensors = bytes.to_vec();
    without_tensors[TENSOR_COUNT].fill(0);
    let mut reader = Cursor::new(without_tensors);
    let content = Content::read(&mut reader).unwrap();
    let n_bytes = reader.position() as usize;
    (content.metadata.into_iter().collect(), n_bytes)
}

/// Replaces a file's metadata, which takes `n_head_bytes` with the counts, and keeps the rest.
fn with_metadata(bytes: &[u8], n_head_bytes: usize, metadata: &BTreeMap<String, Value>) -> Vec<u8> {
    let head = |n_padding| {
        let padding = Value::String(" ".repeat(n_padding));
        let entries = metadata.iter().map(|(key, value)| (&**key, value));
        let entries: Vec<_> = entries.chain([("padding", &padding)]).collect();
        let mut head = Cursor::new(Vec::new());
        gguf_file::write(&mut head, &entries, &[]).unwrap();
        let mut head = head.into_inner();
        let (_, n_bytes) = metadata_of(&head);
        head.truncate(n_bytes);
        head
    };
    // The values of tensors start at the next multiple of the alignment.
    let n_padding = (n_head_bytes + ALIGNMENT - head(0).len() % ALIGNMENT) % ALIGNMENT;
    let mut written = head(n_padding);
    written[TENSOR_COUNT].copy_from_slice(&bytes[TENSOR_COUNT]);
    written.extend(&bytes[n_head_bytes..]);
    written
}

fn names() -> impl Iterator<Item = &'static str> {
    let borrowed = borrowed::ARCHITECTURES.map(|(name, _)| name);
    ARCHITECTURES.into_iter().chain(borrowed)
}

#[test]
fn every_fixture_gets_the_same_answer_before_and_after_its_download() {
    for name in names() {
        let newer = folder(name);
        assert_same(newer.path(), None, true, name);
        let (_, n_fetched) = remote(newer.path(), None);
        let n_bytes = fs::metadata(newer.path().join(WEIGHTS)).unwrap().len();
        // The fixtures have a few kilobytes, so the headers and the tokenizer are much of them.
        assert!(n_fetched < n_bytes + 4_000, "{name}: {n_fetched}");
        fs::write(
            newer.path().join("config.json"),
            fixture::read(name, "config.older.json"),
        )
        .unwrap();
        assert_same(newer.path(), None, true, name);
    }
}

#[test]
fn every_gguf_fixture_gets_the_same_answer_before_and_after_its_download() {
    let borrowed = borrowed::ARCHITECTURES.into_iter();
    let borrowed = borrowed.filter_map(|(name, form)| form.map(|_| name));
    for name in ARCHITECTURES.into_iter().chain(borrowed) {
        let whole = gguf_folder(name, |_| ());
        assert_same(whole.path(), Some(GGUF), true, name);
        let (_, n_fetched) = remote(whole.path(), Some(GGUF));
        let path = whole.path().join(GGUF);
        let n_bytes = fs::metadata(&path).unwrap().len();
        assert!(n_fetched <= n_bytes, "{name}: {n_fetched}");

        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(n_bytes - 40).unwrap();
        assert_same(whole.path(), Some(GGUF), false, name);

        let bare = gguf_folder(name, |metadata| {
            metadata.remove("tokenizer.ggml.model").unwrap();
        });
        assert_same(bare.path(), Some(GGUF), false, name);
    }
}

#[test]
fn broken_folders_get_the_same_answer_before_and_after_their_download() {
    for name in names() {
        let read = |folder: &Path| -> serde_json::Value {
            serde_json::from_slice(&fs::read(folder.join("config.json")).unwrap()).unwrap()
        };
        let with = |change: &dyn Fn(&mut serde_json::Value)| {
            let folder = folder(name);
            let mut config = read(folder.path());
            change(&mut config);
            fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
            folder
        };
        let awq = json!({ "quant_method": "awq", "bits": 4 });
        let quantized = with(&|config| config["quantization_config"] = awq.clone());
        assert_same(quantized.path(), None, false, name);
        let unheard = with(&|config| {
            config["model_type"] = json!("unheard-of");
            config["architectures"] = json!(["UnheardOfForCausalLM"]);
        });
        assert_same(unheard.path(), None, false, name);
        let encoder = with(&|config| {
            config["model_type"] = json!("bert");
            config["architectures"] = json!(["BertModel"]);
        });
        assert_same(encoder.path(), None, false, name);

        for file in ["config.json", "tokenizer.json", WEIGHTS] {
            let incomplete = folder(name);
            fs::remove_file(incomplete.path().join(file)).unwrap();
            assert_same(incomplete.path(), None, false, name);
            let cut = folder(name);
            let content = fs::read(cut.path().join(file)).unwrap();
            fs::write(cut.path().join(file), &content[..content.len() - 30]).unwrap();
            assert_same(cut.path(), None, false, name);
        }
    }
}

#[test]
fn broken_ggufs_get_the_same_answer_before_and_after_their_download() {
    let text = |text: &str| Value::String(text.to_owned());
    let architecture = |name: &'static str| {
        move |metadata: &mut BTreeMap<String, Value>| {
            metadata.insert("general.architecture".to_owned(), text(name));
        }
    };
    let (unheard, clip, encoder) = (
        architecture("unheard-of"),
        architecture("clip"),
        architecture("nomic-bert"),
    );
    let changes: [Change<'_>; 5] = [
        &unheard,
        &clip,
        &encoder,
        &|metadata| {
            metadata.remove("llama.block_count").unwrap();
        },
        &|metadata| {
            metadata.insert("tokenizer.ggml.model".to_owned(), text("t5"));
        },
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let folder = gguf_folder("llama", change);
        assert_same(folder.path(), Some(GGUF), false, &index.to_string());
    }
    // The type of the first tensor is one that ggml has dropped.
    let folder = gguf_folder("llama", |_| ());
    let path = folder.path().join(GGUF);
    let mut bytes = fs::read(&path).unwrap();
    let name = b"blk.0.attn_k.weight";
    let found = bytes.windows(name.len()).position(|it| it == name).unwrap();
    // The name is followed by the number of dimensions, two dimensions, and the type.
    bytes[found + name.len() + 4 + 2 * 8] = 31;
    fs::write(&path, bytes).unwrap();
    assert_same(folder.path(), Some(GGUF), false, "Q4_0_4_4");
    let said = local(&path).unwrap_err();
    assert!(
        said.starts_with("blk.0.attn_k.weight is stored as Q4_0_4_4"),
        "{said}"
    );
}

#[test]
fn a_configuration_is_enough_to_refuse_and_to_name_a_text_part() {
    let configuration = |name: &str| {
        let config = fixture::read(name, "config.json");
        let known = |content: &[u8], n_bytes| RemoteFile {
            n_bytes,
            start: Arc::new(content.to_vec()),
        };
        let n_bytes = config.len() as u64;
        let model = RemoteModel {
            repository: "fox/den".to_owned(),
            gguf: None,
            files: [
                ("config.json".to_owned(), known(&config, n_bytes)),
                ("tokenizer.json".to_owned(), known(b"", 1 << 40)),
            ]
            .into(),
        };
        check_remote(&model, CheckDepth::Configuration)
    };
    for name in names() {
        let config: serde_json::Value =
            serde_json::from_slice(&fixture::read(name, "config.json")).unwrap();
        let text_only = config.get("text_config").is_some();
        assert_eq!(
            configuration(name),
            RemoteCheck::Opens { text_only },
            "{name}"
        );
    }
}
