//! Tests `quartet listen`: its answers, its files and its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

const QUARTET: &str = env!("CARGO_BIN_EXE_quartet");

/// The program with an open endpoint.
struct Endpoint {
    child: Child,
    log: BufReader<ChildStdout>,
    address: String,
}

impl Endpoint {
    fn start(keep: &Path) -> Self {
        let mut child = Command::new(QUARTET)
            .args(["listen", "--port", "0", "--keep"])
            .arg(keep)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap();
        let address = address.split('/').next().unwrap().to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        Self {
            child,
            log,
            address,
        }
    }

    /// Sends a request, and returns the response with its head.
    fn post(&self, body: &Value) -> (String, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = body.to_string();
        let request = format!(
            "POST /v1/completions HTTP/1.1\r\nHost: {}\r\nUser-Agent: test/1\r\n\
             Authorization: Bearer sk-secret\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, json) = response.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), serde_json::from_str(json).unwrap())
    }

    fn log_line(&mut self) -> String {
        let mut line = String::new();
        self.log.read_line(&mut line).unwrap();
        line
    }

    /// Ends the program as Ctrl+C does. Returns its exit code and the rest of its log.
    #[cfg(unix)]
    fn interrupt(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(sent.success());
        let mut rest = String::new();
        self.log.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn quartet(arguments: &[&str]) -> Output {
    Command::new(QUARTET).args(arguments).output().unwrap()
}

fn kept_in(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap();
    let mut kept: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    kept.sort();
    kept
}

#[test]
#[cfg(unix)]
fn a_request_is_written_as_by_generate_kept_and_verifiable() {
    let folder = tempfile::tempdir().unwrap();
    let mut endpoint = Endpoint::start(folder.path());
    let body = json!({
        "prompt": "Once upon a time", "max_tokens": 24, "seed": 7, "temperature": 0.8, "top_p": 0.9,
        "logprobs": 5,
    });
    let (head, response) = endpoint.post(&body);
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    let line = endpoint.log_line();
    for part in ["test/1", "\"Once upon a time\"", "24 tokens"] {
        assert!(line.contains(part), "{line}");
    }
    let kept = kept_in(folder.path());
    assert_eq!(kept.len(), 1);
    assert!(line.contains(kept[0].file_name().unwrap().to_str().unwrap()));
    let file = std::fs::read_to_string(&kept[0]).unwrap();
    assert!(!file.contains("sk-secret"));
    let run: Value = serde_json::from_str(&file).unwrap();
    let pane = &run["panes"][0];
    assert_eq!(response["choices"][0]["text"], pane["text"]);

    let generated = quartet(&[
        "generate",
        "--prompt",
        "Once upon a time",
        "--max-tokens",
        "24",
        "--seed",
        "7",
        "--pane",
        "temp 0.8, top-p 0.9",
        "--json",
        "-",
    ]);
    let generated: Value = serde_json::from_slice(&generated.stdout).unwrap();
    let steps = |pane: &Value| pane["steps"].as_array().unwrap().clone();
    let (own, expected) = (steps(pane), steps(&generated["panes"][0]));
    assert_eq!(own.len(), 24);
    let log_probs = &response["choices"][0]["logprobs"];
    for (index, (own, expected)) in own.iter().zip(&expected).enumerate() {
        assert_eq!(own["token"], expected["token"]);
        assert_eq!(own["raw_prob"], expected["raw_prob"]);
        let sent = log_probs["token_logprobs"][index].as_f64().unwrap();
        let recorded = own["raw_prob"].as_f64().unwrap().ln();
        assert!((sent - recorded).abs() < 1e-5, "{sent} {recorded}");
        assert_eq!(
            log_probs["top_logprobs"][index].as_object().unwrap().len(),
            5
        );
    }
    let path = kept[0].to_str().unwrap();
    let replayed = quartet(&["replay", path]);
    assert!(replayed.status.success(), "{replayed:?}");

    // A refusal is listed, repeated ones together.
    for _ in 0..3 {
        let (head, error) = endpoint.post(&json!({"prompt": "Once", "tokens": 3}));
        assert!(head.starts_with("HTTP/1.1 400"), "{head}");
        assert_eq!(error["error"]["param"], "tokens");
    }
    let line = endpoint.log_line();
    assert!(
        line.contains("refused (400): tokens is not supported"),
        "{line}"
    );
    let (code, rest) = endpoint.interrupt();
    assert_eq!((code, rest.trim()), (Some(130), "2 more times"));
    assert_eq!(kept_in(folder.path()).len(), 1);
}

#[test]
fn only_this_computer_and_a_free_port_are_possible() {
    let refused = quartet(&["listen", "--host", "0.0.0.0"]);
    assert_eq!(refused.status.code(), Some(2));
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(words.contains("listens on 127.0.0.1 only"), "{words}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = quartet(&["listen", "--port", &port]);
    assert_eq!(refused.status.code(), Some(1));
    let words = String::from_utf8(refused.stderr).unwrap();
    let expected = format!("port {port} is in use; choose another one with --port");
    assert!(words.contains(&expected), "{words}");
}
