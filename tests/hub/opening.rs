//! What opens is marked in search results, and what doesn't is refused before it is downloaded.

use candle_core::quantized::gguf_file::Value as GgufValue;
use quartet::generation::Openness;
use quartet::hub::{
    DownloadControl, DownloadFailure, Hub, HubConfig, HubError, Outcome, Repository,
};
use quartet::worker::{DownloadEvent, DownloadRequest, Downloads, hub_config};
use serde_json::{Value, json};

use crate::hub::bench::{Bench, FOLDER, GGUF, LARGE, N_LARGE, bytes, large, wanted};
use crate::hub::command_line::{command, text};
use crate::hub::server::{Fault, Server};
use crate::hub::tiny_model;

/// A configuration in which the engine decides what opens.
fn config(bench: &Bench) -> HubConfig {
    HubConfig {
        openable: hub_config().openable,
        ..bench.config()
    }
}

fn hub(bench: &Bench) -> Hub {
    Hub::open(config(bench)).unwrap()
}

fn download(bench: &Bench, repository: &str) -> Result<Outcome, DownloadFailure> {
    let mut watch = |_: &_| DownloadControl::Continue;
    hub(bench).download(&wanted(repository, None), &mut watch)
}

/// Adds a repository whose folder opens, with a changed configuration.
fn put_folder(server: &Server, name: &str, change: impl FnOnce(&mut Value)) {
    let mut config: Value = serde_json::from_slice(&tiny_model::file("config.json")).unwrap();
    change(&mut config);
    server.put_large(name, "config.json", config.to_string().into_bytes());
    for file in ["tokenizer.json", "model.safetensors"] {
        server.put_large(name, file, tiny_model::file(file));
    }
}

/// Returns how many bytes of files were requested.
fn n_bytes_requested(bench: &Bench) -> usize {
    bench
        .server
        .ranges()
        .iter()
        .map(ExactSizeIterator::len)
        .sum()
}

#[track_caller]
fn assert_refused(bench: &Bench, repository: &str, words: &str) {
    let n_before = n_bytes_requested(bench);
    let failure = download(bench, repository).unwrap_err();
    let said = failure.to_string();
    assert!(said.contains(words), "{repository}: {said}");
    assert_eq!(failure.n_bytes_kept, 0);
    assert!(bench.blobs(repository).is_empty(), "{repository}");
    // A folder is refused by its configuration, without its tokenizer and its weights.
    let n_bytes = n_bytes_requested(bench) - n_before;
    assert!(n_bytes <= 64 << 10, "{repository}: {n_bytes}");
}

#[test]
fn a_folder_that_does_not_open_is_refused_by_its_configuration() {
    let bench = Bench::new();
    let server = &bench.server;
    let quantized = |method: &str| json!({ "quant_method": method, "bits": 4 });
    for (method, words) in [
        (
            "awq",
            "this model has AWQ weights of 4 bits, which Quartet does not read",
        ),
        ("gptq", "GPTQ weights of 4 bits"),
        ("bitsandbytes", "bitsandbytes weights of 4 bits"),
    ] {
        let name = format!("fox/{method}");
        put_folder(server, &name, |config| {
            config["quantization_config"] = quantized(method);
        });
        assert_refused(&bench, &name, words);
    }
    put_folder(server, "fox/mlx", |config| {
        config["quantization"] = json!({ "group_size": 64, "bits": 4 });
    });
    assert_refused(&bench, "fox/mlx", "MLX weights of 4 bits");
    for (name, class, words) in [
        (
            "fox/bert",
            "BertModel",
            "this is an encoder for embeddings (BertModel)",
        ),
        (
            "fox/ear",
            "WhisperForConditionalGeneration",
            "this is a speech model (Whisper",
        ),
        (
            "fox/eye",
            "ViTForImageClassification",
            "this is a vision model (ViT",
        ),
        (
            "fox/llava",
            "LlavaForConditionalGeneration",
            "this is a model that reads images (Llava",
        ),
        (
            "fox/new",
            "UnheardOfForCausalLM",
            "does not support this architecture yet: UnheardOf",
        ),
    ] {
        put_folder(server, name, |config| {
            config["architectures"] = json!([class]);
            config["model_type"] = json!(class);
        });
        assert_refused(&bench, name, words);
    }
}

#[test]
fn a_folder_whose_tensors_do_not_fit_is_refused_by_its_headers() {
    let bench = Bench::new();
    put_folder(&bench.server, "fox/odd", |config| {
        config["intermediate_size"] = json!(48);
    });
    let failure = download(&bench, "fox/odd").unwrap_err();
    let said = failure.to_string();
    assert!(said.contains("has shape"), "{said}");
    assert!(said.ends_with("\nfox/odd/model.safetensors"), "{said}");
    assert!(bench.blobs("fox/odd").is_empty());
}

#[test]
fn a_repository_without_a_model_says_what_it_has() {
    let bench = Bench::new();
    for (name, files, words) in [
        (
            "fox/adapter",
            &["adapter_config.json", "adapter_model.safetensors"][..],
            "a LoRA adapter",
        ),
        (
            "fox/pictures",
            &["model_index.json"],
            "a model that generates images",
        ),
        (
            "fox/pickle",
            &["config.json", "tokenizer.json", "pytorch_model.bin"],
            "PyTorch files",
        ),
        (
            "fox/words",
            &["config.json", "tokenizer.model", "model.safetensors"],
            "tokenizer.model",
        ),
        (
            "fox/bare",
            &["config.json", "model.safetensors"],
            "no tokenizer.json",
        ),
        (
            "fox/split",
            &["a-00001-of-00002.gguf"],
            "a-00002-of-00002.gguf is missing",
        ),
        ("fox/page", &["README.md"], "no config.json"),
    ] {
        for file in files {
            bench.server.put_large(name, file, vec![b'{'; 9]);
        }
        assert_refused(&bench, name, words);
        let found = hub(&bench).files(name, &mut || true).unwrap().unwrap();
        let Openness::NotYet { reason } = found.openness else {
            panic!("{name}: {:?}", found.openness);
        };
        assert!(reason.contains(words), "{name}: {reason}");
    }
}

#[test]
fn a_gguf_that_does_not_open_is_refused_by_its_header() {
    let bench = Bench::new();
    let architecture = |name: &str| {
        let value = GgufValue::String(name.to_owned());
        tiny_model::gguf_with(|metadata| metadata[0] = ("general.architecture", value))
    };
    let without = |key: &str| tiny_model::gguf_with(|metadata| metadata.retain(|it| it.0 != key));
    for (name, start, words) in [
        (
            "new",
            architecture("unheard-of"),
            "this architecture yet: unheard-of",
        ),
        ("clip", architecture("clip"), "the image encoder of a model"),
        (
            "bert",
            architecture("bert"),
            "an encoder for embeddings (bert)",
        ),
        ("t5", architecture("t5"), "an encoder and decoder (t5)"),
        (
            "flux",
            architecture("flux"),
            "a model that generates images (flux)",
        ),
        (
            "old-type",
            tiny_model::gguf_with_type(31),
            "is stored as Q4_0_4_4",
        ),
        (
            "new-type",
            tiny_model::gguf_with_type(77),
            "blk.0.attn_q.weight is stored as type 77",
        ),
        ("mute", without("tokenizer.ggml.model"), "tokenizer"),
        ("shapeless", without("llama.block_count"), "block_count"),
        ("page", b"<!DOCTYPE html>".to_vec(), "it is a web page"),
        (
            "pointer",
            b"version https://git-lfs".to_vec(),
            "Git LFS pointer",
        ),
    ] {
        let mut content = start;
        content.extend(vec![0; 1 << 20]);
        let name = format!("fox/{name}");
        bench.server.put_large(&name, "model-Q8_0.gguf", content);
        assert_refused(&bench, &name, words);
    }
}

#[test]
fn a_part_of_another_model_is_refused() {
    let bench = Bench::new();
    let part = |number| {
        tiny_model::gguf_with(|metadata| {
            metadata.push(("split.count", GgufValue::U16(2)));
            metadata.push(("split.no", GgufValue::U16(number)));
        })
    };
    let name = |index: u8| format!("big-Q8_0-0000{index}-of-00002.gguf");
    bench.server.put_large("fox/split", &name(1), part(0));
    bench.server.put_large("fox/split", &name(2), part(0));
    assert_refused(&bench, "fox/split", "it is not part 2 of 2");
}

#[test]
fn a_model_that_opens_is_downloaded_after_a_look_at_its_header() {
    let bench = Bench::new();
    let mut watch = |_: &_| DownloadControl::Continue;
    let outcome = hub(&bench).download(&large(), &mut watch).unwrap();
    let Outcome::Done { path } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(std::fs::read(path).unwrap(), bytes(N_LARGE, 2));
    let ranges = bench.server.ranges();
    assert_eq!(ranges[0], 0..64 << 10);
    assert_eq!(ranges[1].start, 0, "the download itself: {ranges:?}");
    // What is here is not checked again.
    let n_before = bench.server.ranges().len();
    hub(&bench).download(&large(), &mut watch).unwrap();
    assert_eq!(bench.server.ranges().len(), n_before);

    let outcome = download(&bench, FOLDER).unwrap();
    assert!(matches!(outcome, Outcome::Done { .. }));
    quartet::engine::inspect_with_tokenizer(&match outcome {
        Outcome::Done { path } => path,
        other => panic!("{other:?}"),
    })
    .unwrap();
}

#[test]
fn a_check_that_fails_ends_the_download_like_any_other_request() {
    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::Endless(206));
    let mut watch = |_: &_| DownloadControl::Continue;
    let failure = hub(&bench).download(&large(), &mut watch).unwrap_err();
    assert!(
        matches!(failure.error, HubError::RangesUnsupported { .. }),
        "{failure}"
    );
    assert!(bench.server.n_endless_bytes() < 16 << 20);
    // A fault that passes is retried.
    bench.server.fail("GET /cdn", Fault::Refused(503, ""));
    let outcome = hub(&bench).download(&large(), &mut watch).unwrap();
    assert!(matches!(outcome, Outcome::Done { .. }));
    // It can be cancelled at any time.
    let bench = Bench::new();
    bench.server.fail("GET /cdn", Fault::Silence);
    let mut watch = |_: &_| {
        if bench.server.ranges().is_empty() {
            DownloadControl::Continue
        } else {
            DownloadControl::Cancel
        }
    };
    let outcome = hub(&bench).download(&large(), &mut watch).unwrap();
    assert_eq!(outcome, Outcome::Cancelled);
}

fn found(bench: &Bench, query: &str) -> Vec<Repository> {
    let found = hub(bench).search(query, 30, &mut || true);
    found.unwrap().unwrap()
}

/// Adds repositories of all kinds, as the Hub describes them.
fn put_den(server: &Server) {
    for (name, file, facts) in [
        (
            "den/cub-GGUF",
            "cub-Q4_K_M.gguf",
            json!({
                "gguf": { "architecture": "qwen3", "total": 596_049_920, "context_length": 40_960 },
                "tags": ["gguf", "base_model:den/cub", "base_model:quantized:den/cub"],
            }),
        ),
        (
            "den/eye-GGUF",
            "eye-Q4_K_M.gguf",
            json!({
                "gguf": { "architecture": "qwen3vl" },
                "pipeline_tag": "image-text-to-text",
            }),
        ),
        (
            "den/odd-GGUF",
            "odd-Q4_K_M.gguf",
            json!({ "gguf": { "architecture": "unheard-of" } }),
        ),
        (
            "den/quiet-GGUF",
            "quiet-Q4_K_M.gguf",
            json!({ "gguf": null }),
        ),
        (
            "den/cub",
            "model.safetensors",
            json!({
                "config": { "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3" },
                "safetensors": { "parameters": { "BF16": 751_632_384 }, "total": 751_632_384 },
            }),
        ),
        (
            "den/cub-AWQ",
            "model.safetensors",
            json!({
                "config": {
                    "architectures": ["Qwen3ForCausalLM"],
                    "model_type": "qwen3",
                    "quantization_config": { "bits": 4, "quant_method": "awq" },
                },
            }),
        ),
        (
            "den/cub-4bit",
            "model.safetensors",
            json!({
                "library_name": "mlx",
                "tags": ["mlx", "base_model:quantized:den/cub"],
                "config": { "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3" },
            }),
        ),
        (
            "den/eye",
            "model.safetensors",
            json!({
                "config": {
                    "architectures": ["Qwen3VLForConditionalGeneration"],
                    "model_type": "qwen3_vl",
                },
                "pipeline_tag": "image-text-to-text",
            }),
        ),
        (
            "den/hostile",
            "model.safetensors",
            json!({ "config": [1, 2], "gguf": "x", "safetensors": 7, "library_name": {} }),
        ),
    ] {
        server.put_large(name, file, vec![0; 99]);
        if file == "model.safetensors" {
            server.put_large(name, "config.json", vec![b'{'; 9]);
            server.put_large(name, "tokenizer.json", vec![b'{'; 9]);
        }
        server.describe(name, facts);
    }
}

#[test]
fn search_results_are_marked_by_what_the_hub_says() {
    let bench = Bench::new();
    put_den(&bench.server);
    let found = found(&bench, "den");
    let not_yet = |reason: &str| Openness::NotYet {
        reason: reason.to_owned(),
    };
    let expected = [
        ("den/quiet-GGUF", Openness::Unknown),
        ("den/cub-GGUF", Openness::Opens),
        ("den/eye-GGUF", Openness::OpensAsTextOnly),
        ("den/hostile", Openness::Unknown),
        ("den/cub", Openness::Opens),
        ("den/eye", Openness::OpensAsTextOnly),
        ("den/cub-4bit", not_yet("MLX weights of 4 bits")),
        ("den/odd-GGUF", not_yet("the architecture unheard-of")),
        ("den/cub-AWQ", not_yet("AWQ weights of 4 bits")),
    ];
    for (name, openness) in &expected {
        let repository = found.iter().find(|it| it.name == *name);
        let repository = repository.unwrap_or_else(|| panic!("{name} is not found"));
        assert_eq!(repository.openness, *openness, "{name}");
    }
    assert_eq!(found.len(), expected.len());
    let marks: Vec<bool> = found.iter().map(|it| it.openness.is_refused()).collect();
    assert!(marks.is_sorted(), "what doesn't open comes last: {marks:?}");
    let cub = found.iter().find(|it| it.name == "den/cub-GGUF").unwrap();
    assert_eq!(cub.n_params, Some(596_049_920));
    assert_eq!(cub.base_models, ["den/cub"]);
    assert!(bench.server.ranges().is_empty(), "no file is read");
}

#[test]
fn a_search_asks_for_what_its_marks_need() {
    let bench = Bench::new();
    found(&bench, "den");
    let paths: Vec<String> = bench
        .server
        .requests()
        .into_iter()
        .map(|it| it.path)
        .collect();
    assert_eq!(paths.len(), 3);
    for path in &paths {
        for part in [
            "search=den",
            "sort=downloads",
            "expand=config",
            "expand=gguf",
            "expand=tags",
        ] {
            assert!(path.contains(part), "{path}");
        }
        // The Hub rejects the two together.
        assert!(!path.contains("full="), "{path}");
    }
    let tasks = ["text-generation", "image-text-to-text"];
    for task in tasks.map(|task| format!("pipeline_tag={task}")) {
        assert_eq!(paths.iter().filter(|path| path.contains(&task)).count(), 1);
    }
}

#[test]
fn a_listing_refines_the_marks_by_the_configuration() {
    let bench = Bench::new();
    let mark = |name: &str| hub(&bench).files(name, &mut || true).unwrap().unwrap();
    // The Hub says nothing about these.
    assert_eq!(mark(GGUF).openness, Openness::Opens);
    assert_eq!(mark(FOLDER).openness, Openness::Opens);
    let requested: usize = n_bytes_requested(&bench);
    assert!(requested <= 80 << 10, "{requested}");
    put_folder(&bench.server, "fox/mlx", |config| {
        config["quantization"] = json!({ "group_size": 64, "bits": 4 });
    });
    let mlx = mark("fox/mlx");
    let Openness::NotYet { reason } = &mlx.models[0].openness else {
        panic!("{mlx:?}");
    };
    assert!(reason.starts_with("this model has MLX weights"), "{reason}");
    // A failure leaves the marks as they were, and a newer request cancels the check.
    bench.server.fail("resolve", Fault::Refused(500, ""));
    assert_eq!(mark(GGUF).openness, Openness::Unknown);
    bench.server.fail("resolve", Fault::Silence);
    let hub = hub(&bench);
    let n_before = bench.server.requests().len();
    // The listing itself, and the request that gets no answer.
    let mut go_on = || bench.server.requests().len() < n_before + 2;
    assert_eq!(hub.files(GGUF, &mut go_on).unwrap(), None);
}

#[test]
fn the_window_is_told_why_a_download_was_refused() {
    let bench = Bench::new();
    put_folder(&bench.server, "fox/mlx", |config| {
        config["quantization"] = json!({ "group_size": 64, "bits": 4 });
    });
    let mut downloads = Downloads::start(config(&bench), || ());
    let target = wanted("fox/mlx", Some("safetensors"));
    downloads.send(DownloadRequest::Download(target.clone()));
    loop {
        match downloads.wait().unwrap() {
            DownloadEvent::Progress { .. } => {}
            DownloadEvent::Refused { wanted, reason } => {
                assert_eq!(wanted, target);
                assert!(reason.contains("MLX weights of 4 bits"), "{reason}");
                break;
            }
            event => panic!("{event:?}"),
        }
    }
}

#[test]
fn the_command_line_marks_results_and_refuses_what_does_not_open() {
    let bench = Bench::new();
    put_den(&bench.server);
    put_folder(&bench.server, "fox/mlx", |config| {
        config["quantization"] = json!({ "group_size": 64, "bits": 4 });
    });
    let run = |arguments: &[&str]| command(&bench, arguments).output().unwrap();
    let said = text(&run(&["search", "cub"]).stdout);
    for line in [
        "den/cub-GGUF  opens · ",
        "den/cub-AWQ  not yet: AWQ weights of 4 bits · ",
        "den/cub-4bit  not yet: MLX weights of 4 bits · ",
    ] {
        assert!(
            said.lines().any(|it| it.starts_with(line)),
            "{line:?} in {said}"
        );
    }
    assert!(
        !said.contains("the folder  "),
        "what doesn't open is not offered: {said}"
    );
    let refused = run(&["download", "fox/mlx"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    assert!(
        said.contains("error: this model has MLX weights of 4 bits"),
        "{said}"
    );
    let found = run(&["download", GGUF, "--file", LARGE]);
    assert!(found.status.success(), "{}", text(&found.stderr));
}
