//! What a download sends, and to whom. The fake Hub offers its content-addressed storage in every
//! response for a large file, and records whatever arrives.

use quartet::hub::Outcome;

use crate::hub::bench::{Bench, FOLDER, GGUF, LARGE, wanted};
use crate::hub::command_line::{command, text};
use crate::hub::server::COMMIT;

/// The headers that a request needs. `accept` says that any type will do.
const HEADERS: &[&str] = &["accept", "authorization", "host", "user-agent"];

#[test]
fn a_download_sends_only_what_it_needs() {
    let bench = Bench::new();
    let cdn = bench.server.start_cdn();
    let outcome = bench.fetch(&wanted(FOLDER, None)).unwrap();
    assert!(matches!(outcome, Outcome::Done { .. }));
    let requests = bench.server.requests();
    let hub = bench.server.address.as_str();
    let paths: Vec<String> = requests
        .iter()
        .map(|request| {
            let host = match &*request.headers["host"] {
                host if host == hub => "hub",
                host if host == cdn => "cdn",
                other => panic!("{other}"),
            };
            format!("{} {host}{}", request.method, request.path)
        })
        .collect();
    let resolve = |file: &str| format!("GET hub/{FOLDER}/resolve/{COMMIT}/{file}");
    let cdn_path = &requests.last().unwrap().path;
    assert_eq!(
        paths,
        [
            format!("GET hub/api/models/{FOLDER}?blobs=true"),
            format!("POST hub/api/models/{FOLDER}/paths-info/{COMMIT}"),
            resolve("config.json"),
            resolve("tokenizer.json"),
            resolve("model.safetensors"),
            format!("GET cdn{cdn_path}"),
        ]
    );
    for (request, path) in requests.iter().zip(paths) {
        let mut expected = HEADERS.to_vec();
        if path.starts_with("GET cdn") {
            // The token is for the Hub only, and the host of the files needn't know who refers to it.
            expected.retain(|name| *name != "authorization");
        }
        match &request.range {
            Some(_) => expected.push("range"),
            None if request.method == "POST" => expected.extend(["content-length", "content-type"]),
            None => {}
        }
        expected.sort_unstable();
        let names: Vec<&String> = request.headers.keys().collect();
        assert_eq!(names, expected, "{path}");
        let user_agent = &request.headers["user-agent"];
        assert_eq!(user_agent, concat!("quartet/", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn there_is_no_telemetry_to_switch_off() {
    let sent_with = |variables: &[(&str, &str)]| {
        let bench = Bench::new();
        let mut download = command(&bench, &["download", FOLDER]);
        let output = download.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let requests = bench.server.requests().into_iter();
        let sent = requests.map(|mut request| {
            request.headers.remove("host");
            (request.method, request.path, request.headers, request.body)
        });
        sent.collect::<Vec<_>>()
    };
    let sent = sent_with(&[]);
    assert!(!sent.is_empty());
    for variable in [
        "HF_HUB_DISABLE_TELEMETRY",
        "DISABLE_TELEMETRY",
        "DO_NOT_TRACK",
        "HF_HUB_DISABLE_XET",
    ] {
        for value in ["1", "0", "", "x"] {
            assert_eq!(sent_with(&[(variable, value)]), sent, "{variable}={value}");
        }
    }
}

#[test]
fn nothing_is_requested_offline() {
    let bench = Bench::new();
    let offline = |arguments: &[&str]| {
        let output = command(&bench, arguments)
            .env("HF_HUB_OFFLINE", "yes")
            .output();
        let output = output.unwrap();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let reason = "Quartet is offline because HF_HUB_OFFLINE is set; unset it to use the Hub";
    let (status, _, stderr) = offline(&["search", "tiny"]);
    assert_eq!((status, stderr), (Some(1), format!("error: {reason}\n")));
    let (status, _, stderr) = offline(&["download", GGUF, "--file", LARGE]);
    let missing = format!("error: {GGUF} is not in the cache folder, and {reason}\n");
    assert_eq!(status, Some(1));
    assert!(stderr.starts_with(&missing), "{stderr}");
    assert!(bench.server.requests().is_empty());

    let online = command(&bench, &["download", GGUF, "--file", LARGE]).output();
    let path = text(&online.unwrap().stdout);
    let n_requests = bench.server.requests().len();
    for file in [LARGE, "q8_0"] {
        let (status, stdout, stderr) = offline(&["download", GGUF, "--file", file]);
        assert_eq!((status, stdout), (Some(0), path.clone()), "{stderr}");
    }
    assert_eq!(offline(&["download", GGUF]).1, path);
    let (status, _, stderr) = offline(&["download", GGUF, "--file", "q4_0"]);
    assert_eq!(status, Some(1), "{stderr}");
    assert!(offline(&["models"]).1.contains(path.trim()));
    assert_eq!(bench.server.requests().len(), n_requests);
}

#[test]
fn a_token_is_trimmed_and_a_malformed_one_is_named() {
    let bench = Bench::new();
    let search = |token: &str| {
        let output = command(&bench, &["search", "tiny"])
            .env("HF_TOKEN", token)
            .output();
        text(&output.unwrap().stderr)
    };
    assert_eq!(search("hf_x\n"), "");
    let sent = &bench.server.requests()[0].headers["authorization"];
    assert_eq!(sent, "Bearer hf_x");
    let n_requests = bench.server.requests().len();
    let refused = search("hf_x\ny");
    assert!(
        refused.starts_with("error: HF_TOKEN has a line break"),
        "{refused}"
    );
    assert_eq!(bench.server.requests().len(), n_requests);
}

#[test]
fn a_dead_proxy_is_named() {
    let bench = Bench::new();
    let mut search = command(&bench, &["search", "tiny"]);
    let search = search.env_remove("NO_PROXY").env_remove("no_proxy");
    let output = search
        .env("HTTP_PROXY", "http://me:secret@127.0.0.1:9")
        .output();
    assert_eq!(
        text(&output.unwrap().stderr),
        "error: could not connect to 127.0.0.1 through the proxy 127.0.0.1:9; check HTTP_PROXY\n"
    );
}
