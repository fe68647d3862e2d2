//! A fake Hub on loopback that records its requests and can inject faults.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::loopback::{self, Received};

/// The commit of all repositories.
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A fault that affects one request.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// The response has this status and these additional header lines.
    Refused(u16, &'static str),
    /// The connection closes after this many bytes of the body.
    Dropped(usize),
    /// The body is truncated to this many bytes, and `Content-Length` agrees.
    CutShort(usize),
    /// No fault, so that a later request is affected.
    Absent,
    /// No response is sent before the test waits at this barrier too.
    Held(Arc<Barrier>),
    /// No response is sent.
    Silence,
    /// The range is ignored.
    WholeFile,
    /// The response has this status, and its body never ends.
    Endless(u16),
}

/// A recorded request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub method: String,
    pub path: String,
    pub range: Option<Range<usize>>,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// A file in a repository. A large file is served from another URL, by its SHA-256.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub content: Vec<u8>,
    /// The checksum that the Hub reports: git's SHA-1, or SHA-256 for a large file.
    pub checksum: String,
}

impl Stored {
    fn is_large(&self) -> bool {
        self.checksum.len() == 64
    }
}

#[derive(Debug, Default)]
struct Shared {
    repositories: Mutex<BTreeMap<String, BTreeMap<String, Stored>>>,
    faults: Mutex<Vec<(String, Fault)>>,
    renamed: Mutex<BTreeMap<String, String>>,
    /// What the Hub says about a repository, beside what it says about each.
    facts: Mutex<BTreeMap<String, Value>>,
    requests: Mutex<Vec<Request>>,
    n_endless: AtomicU64,
    /// Where large files are, if not on the Hub's own address.
    cdn: Mutex<Option<String>>,
}

/// The fake Hub. It runs until the test process ends.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub address: String,
    shared: Arc<Shared>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let shared = Arc::<Shared>::default();
        let server = Self {
            address: String::new(),
            shared,
        };
        let address = server.listen();
        Self { address, ..server }
    }

    /// Serves large files from another origin. Returns its address.
    pub(crate) fn start_cdn(&self) -> String {
        let address = self.listen();
        *self.shared.cdn.lock().unwrap() = Some(address.clone());
        address
    }

    /// Opens a port for the same content. Returns its address.
    fn listen(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let serving = Self {
            address: address.clone(),
            shared: self.shared.clone(),
        };
        thread::Builder::new()
            .spawn(move || {
                for stream in listener.incoming().flatten() {
                    let server = serving.clone();
                    thread::Builder::new()
                        // A client may disconnect at any time.
                        .spawn(move || server.serve(stream).unwrap_or_default())
                        .unwrap();
                }
            })
            .unwrap();
        address
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a small file to a repository, with git's hash of its content.
    pub(crate) fn put(&self, repository: &str, path: &str, content: &str, sha1: &str) {
        self.store(
            repository,
            path,
            content.as_bytes().to_vec(),
            sha1.to_owned(),
        );
    }

    /// Adds a large file to a repository, and returns its SHA-256.
    pub(crate) fn put_large(&self, repository: &str, path: &str, content: Vec<u8>) -> String {
        let checksum = Sha256::digest(&content)
            .iter()
            .fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").unwrap();
                hex
            });
        self.store(repository, path, content, checksum.clone());
        checksum
    }

    /// Flips a bit of a file's content without changing its reported checksum.
    pub(crate) fn damage(&self, repository: &str, path: &str) {
        let mut repositories = self.shared.repositories.lock().unwrap();
        let stored = repositories.get_mut(repository).unwrap();
        let content = &mut stored.get_mut(path).unwrap().content;
        let middle = content.len() / 2;
        content[middle] ^= 1;
    }

    /// Sets what the Hub says about a repository, such as its `config` and `gguf`.
    pub(crate) fn describe(&self, repository: &str, facts: Value) {
        let mut described = self.shared.facts.lock().unwrap();
        described.insert(repository.to_owned(), facts);
    }

    /// Redirects requests for the old name to the new one.
    pub(crate) fn rename(&self, old: &str, new: &str) {
        let mut renamed = self.shared.renamed.lock().unwrap();
        renamed.insert(format!("/{old}"), format!("/{new}"));
    }

    fn store(&self, repository: &str, path: &str, content: Vec<u8>, checksum: String) {
        let mut repositories = self.shared.repositories.lock().unwrap();
        let files = repositories.entry(repository.to_owned()).or_default();
        files.insert(path.to_owned(), Stored { content, checksum });
    }

    /// Injects a fault into the next request whose method and path contain this text. Several
    /// faults apply in order.
    pub(crate) fn fail(&self, request: &str, fault: Fault) {
        let mut faults = self.shared.faults.lock().unwrap();
        faults.push((request.to_owned(), fault));
    }

    /// Removes all pending faults.
    pub(crate) fn heal(&self) {
        self.shared.faults.lock().unwrap().clear();
    }

    /// Returns the requests received so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Returns the ranges that were requested, in order.
    pub(crate) fn ranges(&self) -> Vec<Range<usize>> {
        let requests = self.requests().into_iter();
        let contents =
            requests.filter(|request| request.method == "GET" && request.path.starts_with("/cdn"));
        contents.filter_map(|request| request.range).collect()
    }

    /// Returns the start of each requested range.
    pub(crate) fn starts(&self) -> Vec<usize> {
        self.ranges().iter().map(|range| range.start).collect()
    }

    /// How many bytes of endless responses have been sent so far.
    pub(crate) fn n_endless_bytes(&self) -> u64 {
        self.shared.n_endless.load(Ordering::Relaxed)
    }

    /// Sends spaces, which JSON allows anywhere, until the client hangs up.
    fn send_endless(&self, status: u16, stream: &mut TcpStream) -> std::io::Result<()> {
        write!(
            stream,
            "HTTP/1.1 {status} Told\r\nContent-Type: application/json\r\n\r\n"
        )?;
        let part = [b' '; 1 << 14];
        loop {
            stream.write_all(&part)?;
            let n_bytes = part.len() as u64;
            self.shared.n_endless.fetch_add(n_bytes, Ordering::Relaxed);
        }
    }

    fn fault(&self, request: &Request) -> Option<Fault> {
        let request = format!("{} {}", request.method, request.path);
        let mut faults = self.shared.faults.lock().unwrap();
        let index = faults.iter().position(|(part, _)| request.contains(part))?;
        Some(faults.remove(index).1)
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let Some(request) = read_request(&stream)? else {
            return Ok(());
        };
        self.shared.requests.lock().unwrap().push(request.clone());
        let fault = self.fault(&request);
        let mut answer = self.answer(&request, matches!(fault, Some(Fault::WholeFile)));
        let mut n_sent = usize::MAX;
        match fault {
            Some(Fault::Refused(status, headers)) => {
                answer = Answer::new(status, headers, b"{\"error\":\"as told\"}".to_vec());
            }
            Some(Fault::Dropped(n)) => n_sent = n,
            Some(Fault::CutShort(n)) => answer.body.truncate(n),
            Some(Fault::Held(barrier)) => {
                barrier.wait();
            }
            Some(Fault::Silence) => {
                // Wait until the client gives up.
                return stream.read_exact(&mut [0]);
            }
            Some(Fault::Endless(status)) => return self.send_endless(status, &mut stream),
            Some(Fault::Absent | Fault::WholeFile) | None => {}
        }
        let n_body = answer.body.len();
        let head = format!(
            "HTTP/1.1 {} Told\r\nConnection: close\r\nContent-Length: {n_body}\r\n{}\r\n",
            answer.status, answer.headers,
        );
        stream.write_all(head.as_bytes())?;
        if request.method != "HEAD" {
            stream.write_all(&answer.body[..n_body.min(n_sent)])?;
        }
        stream.flush()
    }

    fn answer(&self, request: &Request, whole: bool) -> Answer {
        let repositories = self.shared.repositories.lock().unwrap();
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        for (old, new) in self.shared.renamed.lock().unwrap().iter() {
            if path.contains(old) {
                // The redirect drops the query.
                let headers = format!("Location: {}\r\n", path.replace(old, new));
                return Answer::new(307, &headers, Vec::new());
            }
        }
        if path == "/api/models" {
            let found = repositories
                .iter()
                .filter(|(name, files)| is_found(name, files, query))
                .filter(|(name, _)| self.has_task(name, query))
                .map(|(name, files)| expanded(self.described(info(name, files, false)), query))
                .collect();
            return Answer::json(&Value::Array(found));
        }
        if let Some(sha256) = path.strip_prefix("/cdn/") {
            let all = repositories.values().flat_map(BTreeMap::values);
            let stored = all.into_iter().find(|file| file.checksum == sha256);
            let hash = format!("X-Xet-Hash: {sha256}\r\n");
            return content(&stored.unwrap().content, request, whole, &hash);
        }
        for (name, files) in repositories.iter() {
            if path == format!("/api/models/{name}") {
                let info = info(name, files, query.contains("blobs=true"));
                return Answer::json(&self.described(info));
            }
            if path == format!("/api/models/{name}/paths-info/{COMMIT}") {
                return Answer::json(&paths_info(files, &request.body));
            }
            if let Some(path) = path.strip_prefix(&format!("/{name}/resolve/{COMMIT}/")) {
                return match files.get(path) {
                    Some(file) => self.resolve(file, request),
                    None => Answer::new(404, "x-error-code: EntryNotFound\r\n", Vec::new()),
                };
            }
        }
        Answer::new(404, "x-error-code: RepoNotFound\r\n", Vec::new())
    }

    /// Adds what the Hub says about a repository.
    fn described(&self, mut info: Value) -> Value {
        let described = self.shared.facts.lock().unwrap();
        let facts = described.get(info["id"].as_str().unwrap());
        for (key, value) in facts.and_then(Value::as_object).into_iter().flatten() {
            info[key] = value.clone();
        }
        info
    }

    /// Returns whether a repository has the task that a search asks for.
    fn has_task(&self, name: &str, query: &str) -> bool {
        let described = self.shared.facts.lock().unwrap();
        let task = described
            .get(name)
            .and_then(|facts| facts["pipeline_tag"].as_str());
        let task = task.unwrap_or("text-generation");
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.all(|(key, value)| key != "pipeline_tag" || value == task)
    }

    /// Serves a small file, or redirects to the URL of a large one.
    fn resolve(&self, file: &Stored, request: &Request) -> Answer {
        let (checksum, n_bytes) = (&file.checksum, file.content.len());
        let commit = format!("x-repo-commit: {COMMIT}\r\n");
        if file.is_large() {
            let cdn = self.shared.cdn.lock().unwrap().clone();
            let cdn = cdn.unwrap_or_else(|| self.address.clone());
            // The Hub offers its content-addressed storage to clients that know it.
            let headers = format!(
                "{commit}Location: http://{cdn}/cdn/{checksum}\r\n\
                 x-linked-etag: \"{checksum}\"\r\nx-linked-size: {n_bytes}\r\n\
                 X-Xet-Hash: {checksum}\r\nX-Xet-Cas-Url: http://{0}/cas\r\n\
                 Link: <http://{0}/api/xet-auth>; rel=\"xet-auth\"\r\n",
                self.address,
            );
            Answer::new(302, &headers, Vec::new())
        } else {
            let headers = format!("{commit}ETag: \"{checksum}\"\r\n");
            content(&file.content, request, false, &headers)
        }
    }
}

struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Answer {
    fn new(status: u16, headers: &str, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: headers.to_owned(),
            body,
        }
    }

    fn json(value: &Value) -> Self {
        let headers = "Content-Type: application/json\r\n";
        Self::new(200, headers, value.to_string().into_bytes())
    }
}

fn content(bytes: &[u8], request: &Request, whole: bool, headers: &str) -> Answer {
    match &request.range {
        Some(range) if !whole => {
            let end = range.end.min(bytes.len());
            let headers = format!(
                "{headers}Content-Range: bytes {}-{}/{}\r\n",
                range.start,
                end - 1,
                bytes.len()
            );
            Answer::new(206, &headers, bytes[range.start..end].to_vec())
        }
        _ => Answer::new(200, headers, bytes.to_vec()),
    }
}

fn is_found(name: &str, files: &BTreeMap<String, Stored>, query: &str) -> bool {
    let value = |key: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(known, _)| *known == key)
            .map(|(_, value)| value)
    };
    let words = value("search").unwrap_or_default().to_lowercase();
    let tag = value("filter").unwrap_or_default();
    name.to_lowercase().contains(&words) && files.keys().any(|path| path.ends_with(tag))
}

/// Includes sizes and checksums only on request, like the Hub.
fn info(name: &str, files: &BTreeMap<String, Stored>, with_blobs: bool) -> Value {
    let sibling = |(path, file): (&String, &Stored)| {
        let mut sibling = json!({ "rfilename": path });
        if with_blobs {
            sibling["size"] = json!(file.content.len());
            sibling["blobId"] = json!(git_hash(file));
            if file.is_large() {
                sibling["lfs"] = json!({
                    "sha256": file.checksum,
                    "size": file.content.len(),
                    "pointerSize": 134,
                });
            }
        }
        sibling
    };
    let is_gated = name.contains("gated");
    json!({
        "id": name,
        "sha": COMMIT,
        "downloads": name.len() * 100,
        "likes": 7,
        "gated": if is_gated { json!("manual") } else { json!(false) },
        "lastModified": "2025-05-09T12:00:00.000Z",
        "pipeline_tag": "text-generation",
        "tags": ["text-generation", "license:apache-2.0"],
        "siblings": files.iter().map(sibling).collect::<Vec<_>>(),
    })
}

/// Leaves only the properties that a search asks for, like the Hub.
fn expanded(info: Value, query: &str) -> Value {
    let asked = |key: &str| query.split('&').any(|pair| pair == format!("expand={key}"));
    let Value::Object(properties) = info else {
        return info;
    };
    let kept = properties.into_iter();
    kept.filter(|(key, _)| key == "id" || asked(key)).collect()
}

fn paths_info(files: &BTreeMap<String, Stored>, body: &[u8]) -> Value {
    let request: Value = serde_json::from_slice(body).unwrap();
    let paths = request["paths"].as_array().unwrap().iter();
    let entry = |path: &Value| {
        let path = path.as_str().unwrap();
        let file = files.get(path)?;
        let mut entry = json!({
            "type": "file",
            "oid": git_hash(file),
            "size": file.content.len(),
            "path": path,
        });
        if file.is_large() {
            entry["lfs"] = json!({
                "oid": file.checksum,
                "size": file.content.len(),
                "pointerSize": 134,
            });
        }
        Some(entry)
    };
    paths.filter_map(entry).collect()
}

/// Returns a file's git hash. For a large file, the Hub reports the hash of its LFS pointer, which
/// no test needs.
fn git_hash(file: &Stored) -> &str {
    &file.checksum[..40]
}

fn read_request(stream: &TcpStream) -> std::io::Result<Option<Request>> {
    let Some(received) = loopback::read_request(stream)? else {
        return Ok(None);
    };
    let Received {
        method,
        path,
        headers,
        body,
    } = received;
    let range = headers.get("range").map(|range| {
        let (start, last) = range
            .strip_prefix("bytes=")
            .unwrap()
            .split_once('-')
            .unwrap();
        start.parse().unwrap()..last.parse::<usize>().unwrap() + 1
    });
    Ok(Some(Request {
        method,
        path,
        range,
        headers,
        body,
    }))
}
