//! Reads what people paste to name a model on the Hub: the address of a page or of a file, or the
//! forms of llama.cpp and Ollama.

use super::DownloadTarget;
use super::model_files::{FOLDER, first_part};

/// The hosts of the Hub’s pages.
const HOSTS: [&str; 3] = ["huggingface.co/", "www.huggingface.co/", "hf.co/"];

/// First parts of addresses that are no owner of models.
const OTHER_PAGES: [&str; 9] = [
    "api",
    "blog",
    "collections",
    "datasets",
    "docs",
    "models",
    "organizations",
    "papers",
    "spaces",
];

impl DownloadTarget {
    /// Reads a name such as `owner/name`, `owner/name:Q8_0` or `owner/name/file.gguf`, or an address
    /// such as `https://huggingface.co/owner/name/blob/main/file.gguf` or `hf.co/owner/name:Q8_0`.
    /// Returns `None` for anything else, including addresses of other branches than `main`, which
    /// Quartet does not download.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match address(text)? {
            Address::Page(page) => of_page(page),
            Address::Name(name) => of_name(name),
        }
    }
}

enum Address<'a> {
    /// What follows the host.
    Page(&'a str),
    /// A text without a host.
    Name(&'a str),
}

/// Returns `None` for the address of another host.
fn address(text: &str) -> Option<Address<'_>> {
    let schemes = ["https://", "http://"];
    let without_scheme = schemes.iter().find_map(|scheme| text.strip_prefix(scheme));
    let rest = without_scheme.unwrap_or(text);
    match HOSTS.iter().find_map(|host| rest.strip_prefix(host)) {
        Some(page) => Some(Address::Page(page)),
        None if without_scheme.is_some() => None,
        None => Some(Address::Name(text)),
    }
}

fn of_page(page: &str) -> Option<DownloadTarget> {
    let page = page.split('#').next()?;
    let (path, query) = page.split_once('?').unwrap_or((page, ""));
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let [owner, name, rest @ ..] = parts.as_slice() else {
        return None;
    };
    if OTHER_PAGES.contains(owner) {
        return None;
    }
    let (name, tag) = name_and_tag(name)?;
    let file = match rest {
        ["blob" | "resolve" | "raw" | "tree", branch, ..] if *branch != "main" => return None,
        ["blob" | "resolve" | "raw", _, path @ ..] => file_of(&decoded(&path.join("/"))),
        _ => shown_file(query).or(tag),
    };
    target(owner, name, file)
}

fn of_name(text: &str) -> Option<DownloadTarget> {
    let parts: Vec<&str> = text.split('/').collect();
    match parts.as_slice() {
        [owner, name] => {
            let (name, tag) = name_and_tag(name.trim_end_matches('/'))?;
            target(owner, name, tag)
        }
        [owner, name, ""] => target(owner, name, None),
        [owner, name, path @ ..] => {
            let file = file_of(&path.join("/")).filter(|file| file != FOLDER)?;
            target(owner, name, Some(file))
        }
        _ => None,
    }
}

/// Splits `name:Q8_0`. The tag `latest` stands for any.
fn name_and_tag(name: &str) -> Option<(&str, Option<String>)> {
    match name.split_once(':') {
        None => Some((name, None)),
        Some((_, "")) => None,
        Some((name, tag)) => Some((name, (tag != "latest").then(|| tag.to_owned()))),
    }
}

/// Returns the file that the Hub’s viewer of GGUF files shows.
fn shown_file(query: &str) -> Option<String> {
    let mut fields = query.split('&');
    let file = fields.find_map(|field| field.strip_prefix("show_file_info="))?;
    file_of(&decoded(file))
}

/// Returns what selects the model that a file of a repository belongs to, or `None` if it belongs to
/// no single one.
fn file_of(path: &str) -> Option<String> {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension)?;
    match extension {
        "gguf" => Some(first_part(path)),
        "safetensors" => Some(FOLDER.to_owned()),
        _ => None,
    }
}

fn target(owner: &str, name: &str, file: Option<String>) -> Option<DownloadTarget> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_name = |text: &str| !matches!(text, "" | "." | "..") && text.chars().all(is_allowed);
    (is_name(owner) && is_name(name)).then(|| DownloadTarget {
        repository: format!("{owner}/{name}"),
        file,
    })
}

/// Replaces escapes such as `%20`.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.first_chunk::<2>().filter(|_| *byte == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(*byte));
        rest = if decoded.is_some() {
            after.get(2..).unwrap_or_default()
        } else {
            after
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::DownloadTarget;

    #[test]
    fn a_pasted_address_or_name_is_a_repository_and_a_file() {
        let hub = "https://huggingface.co/Qwen/Qwen3-0.6B-GGUF";
        for (text, file) in [
            ("Qwen/Qwen3-0.6B-GGUF", None),
            (" Qwen/Qwen3-0.6B-GGUF/ ", None),
            ("Qwen/Qwen3-0.6B-GGUF:Q8_0", Some("Q8_0")),
            ("Qwen/Qwen3-0.6B-GGUF:latest", None),
            ("Qwen/Qwen3-0.6B-GGUF/a b.gguf", Some("a b.gguf")),
            ("hf.co/Qwen/Qwen3-0.6B-GGUF:Q4_K_M", Some("Q4_K_M")),
            ("huggingface.co/Qwen/Qwen3-0.6B-GGUF", None),
            (hub, None),
            (&format!("{hub}/"), None),
            (&format!("{hub}?library=llama.cpp"), None),
            (
                &format!("{hub}?show_file_info=x%2Fa.gguf"),
                Some("x/a.gguf"),
            ),
            (&format!("{hub}/tree/main"), None),
            (&format!("{hub}/discussions/3"), None),
            (&format!("{hub}/blob/main/a.gguf"), Some("a.gguf")),
            (
                &format!("{hub}/blob/main/Q8_0/a%20b.gguf#x"),
                Some("Q8_0/a b.gguf"),
            ),
            (
                &format!("{hub}/resolve/main/a.gguf?download=true"),
                Some("a.gguf"),
            ),
            (
                &format!("{hub}/blob/main/a-00002-of-00003.gguf"),
                Some("a-00001-of-00003.gguf"),
            ),
            (
                &format!("{hub}/blob/main/model.safetensors"),
                Some("safetensors"),
            ),
            (&format!("{hub}/blob/main/README.md"), None),
        ] {
            let target = DownloadTarget::parse(text);
            let target = target.unwrap_or_else(|| panic!("{text} names a repository"));
            assert_eq!(target.repository, "Qwen/Qwen3-0.6B-GGUF", "{text}");
            assert_eq!(target.file.as_deref(), file, "{text}");
        }
    }

    #[test]
    fn other_texts_name_no_repository() {
        for text in [
            "",
            "/",
            "qwen",
            "small stories",
            "read/write models",
            "a/b/c",
            "a/b:",
            "a/b:c/d",
            "../b",
            "C:\\models\\a.gguf",
            "huggingface.co/x",
            "https://huggingface.co/models?search=x",
            "https://huggingface.co/datasets/a/b",
            "https://huggingface.co/a/b/blob/old/c.gguf",
            "https://hub.example/a/b",
        ] {
            assert_eq!(DownloadTarget::parse(text), None, "{text}");
        }
    }
}
