//! What the environment says about the Hub. The variables and their rules are those of
//! `huggingface_hub` 2.4 (`constants.py`, `utils/_auth.py`), so that a shell set up for other tools
//! serves Quartet too. What it refuses with an exception, Quartet refuses with a sentence.
//!
//! Variables that switch off telemetry (`HF_HUB_DISABLE_TELEMETRY`, `DISABLE_TELEMETRY`,
//! `DO_NOT_TRACK`) or Xet (`HF_HUB_DISABLE_XET`) change nothing: Quartet has neither.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use crate::generation::formatting::io_words;
use reqwest::Url;

/// Looks up an environment variable. Returns `None` if it is unset.
pub(super) type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The Hub, unless a variable names another server.
const DEFAULT_ENDPOINT: &str = "https://huggingface.co";

/// Why the environment rules out any request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Barrier {
    #[error("Quartet is offline because {variable} is set; unset it to use the Hub")]
    Offline { variable: &'static str },

    #[error("{variable} {problem}")]
    Malformed {
        variable: &'static str,
        problem: String,
    },

    #[error("could not read the access token for the Hub: {reason}\n{}", .path.display())]
    TokenUnreadable { path: PathBuf, reason: String },
}

/// Returns whether a variable is set to one of the words for "yes".
fn is_true(value: Option<OsString>) -> bool {
    let words = ["1", "ON", "YES", "TRUE"];
    value.is_some_and(|value| words.iter().any(|word| value.eq_ignore_ascii_case(word)))
}

/// Returns an error if the environment forbids requests.
pub(super) fn check_online(variables: Variables<'_>) -> Result<(), Barrier> {
    // A variable that is set decides, even if it says no.
    let names = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"];
    let set = |name: &&str| variables(name).is_some_and(|value| !value.is_empty());
    match names.into_iter().find(set) {
        Some(variable) if is_true(variables(variable)) => Err(Barrier::Offline { variable }),
        _ => Ok(()),
    }
}

/// Returns the folder that holds downloaded models.
pub(super) fn cache_folder(variables: Variables<'_>) -> Option<PathBuf> {
    let named = |name| Some(expanded(variables(name)?, variables));
    named("HF_HUB_CACHE")
        .or_else(|| named("HUGGINGFACE_HUB_CACHE"))
        .or_else(|| Some(home(variables)?.join("hub")))
}

/// Returns the folder that all Hugging Face tools share.
fn home(variables: Variables<'_>) -> Option<PathBuf> {
    if let Some(home) = variables("HF_HOME") {
        return Some(expanded(home, variables));
    }
    let cache = match variables("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => env::home_dir()?.join(".cache"),
    };
    Some(expanded(
        cache.join("huggingface").into_os_string(),
        variables,
    ))
}

/// Expands a leading `~` and variables such as `$HOME` or `${HOME}`. An unknown variable stays as it
/// is, and so does the home folder of another user.
fn expanded(value: OsString, variables: Variables<'_>) -> PathBuf {
    let path = match value.into_string() {
        Ok(path) => path,
        Err(value) => return PathBuf::from(value),
    };
    let user_home = || Some(env::home_dir()?.to_str()?.trim_end_matches('/').to_owned());
    let path = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            user_home().map_or_else(|| path.clone(), |home| format!("{home}{rest}"))
        }
        _ => path,
    };
    let path = with_variables(&path, variables);
    PathBuf::from(if path.is_empty() { "." } else { &path })
}

fn with_variables(path: &str, variables: Variables<'_>) -> String {
    let mut parts = path.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let braced = part.strip_prefix('{').and_then(|part| part.split_once('}'));
        let (name, rest) = braced.unwrap_or_else(|| {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            part.split_at(part.find(|c| !is_word(c)).unwrap_or(part.len()))
        });
        let value = variables(name).and_then(|value| value.into_string().ok());
        match value.filter(|_| !name.is_empty()) {
            Some(value) => text.extend([&value, rest]),
            None => text.extend(["$", part]),
        }
    }
    text
}

/// Returns the address of the Hub without a trailing slash.
pub(super) fn endpoint(variables: Variables<'_>) -> Result<String, Barrier> {
    let Some(value) = variables("HF_ENDPOINT") else {
        return Ok(DEFAULT_ENDPOINT.to_owned());
    };
    let value = value.to_string_lossy().into_owned();
    let is_usable = |url: &Url| {
        let is_http = matches!(url.scheme(), "http" | "https");
        is_http && url.has_host() && url.query().is_none() && url.fragment().is_none()
    };
    match Url::parse(&value) {
        Ok(url) if is_usable(&url) => Ok(value.trim().trim_end_matches('/').to_owned()),
        _ => Err(Barrier::Malformed {
            variable: "HF_ENDPOINT",
            problem: format!("is {value:?}; set it to a URL such as {DEFAULT_ENDPOINT}"),
        }),
    }
}

/// Returns the access token from the environment, or the one saved by `hf auth login`.
pub(super) fn token(variables: Variables<'_>) -> Result<Option<String>, Barrier> {
    if is_true(variables("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
        return Ok(None);
    }
    // The first variable that is not empty decides, even if it is blank.
    for variable in ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"] {
        let value = variables(variable).unwrap_or_default();
        if value.is_empty() {
            continue;
        }
        let value = value.to_string_lossy();
        match clean_token(&value) {
            Some(token) if is_sendable(token) => return Ok(Some(token.to_owned())),
            Some(_) => {
                return Err(Barrier::Malformed {
                    variable,
                    problem: "has a line break or another character that no access token has; \
                              set it again"
                        .to_owned(),
                });
            }
            None => break,
        }
    }
    saved_token(variables)
}

fn saved_token(variables: Variables<'_>) -> Result<Option<String>, Barrier> {
    let named = variables("HF_TOKEN_PATH").map(|path| expanded(path, variables));
    let Some(path) = named.or_else(|| Some(home(variables)?.join("token"))) else {
        return Ok(None);
    };
    let unreadable = |reason: String| Barrier::TokenUnreadable {
        path: path.clone(),
        reason,
    };
    match fs::read_to_string(&path) {
        Ok(saved) => match clean_token(&saved) {
            Some(token) if !is_sendable(token) => Err(unreadable(
                "it has a character that no access token has".to_owned(),
            )),
            token => Ok(token.map(str::to_owned)),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(io_words(&error))),
    }
}

/// Returns the token without surrounding whitespace, or `None` if nothing else is left.
fn clean_token(token: &str) -> Option<&str> {
    Some(token.trim()).filter(|token| !token.is_empty())
}

/// Returns whether a token can be sent in a header.
fn is_sendable(token: &str) -> bool {
    token.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// How long a server may send nothing, if the environment says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Timeouts {
    /// While a file is downloaded, or models are searched.
    pub download: Option<Duration>,
    /// While the files of a model are listed before a download.
    pub metadata: Option<Duration>,
}

pub(super) fn timeouts(variables: Variables<'_>) -> Result<Timeouts, Barrier> {
    Ok(Timeouts {
        download: seconds("HF_HUB_DOWNLOAD_TIMEOUT", variables)?,
        metadata: seconds("HF_HUB_ETAG_TIMEOUT", variables)?,
    })
}

/// Reads a whole number of seconds as Python's `int` does. Zero stands for the default.
fn seconds(variable: &'static str, variables: Variables<'_>) -> Result<Option<Duration>, Barrier> {
    let Some(value) = variables(variable) else {
        return Ok(None);
    };
    let value = value.to_string_lossy();
    let trimmed = value.trim();
    let number = trimmed.strip_prefix('+').unwrap_or(trimmed);
    let digits = number.split('_').collect::<Vec<_>>();
    let is_number = digits
        .iter()
        .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    match digits.concat().parse() {
        Ok(n) if is_number => Ok(Some(Duration::from_secs(n)).filter(|time| !time.is_zero())),
        _ => Err(Barrier::Malformed {
            variable,
            problem: format!("is {value:?}; set it to a whole number of seconds"),
        }),
    }
}

/// Returns what to add to the user agent, such as the name of a partner.
pub(super) fn user_agent_origin(variables: Variables<'_>) -> Result<Option<String>, Barrier> {
    let variable = "HF_HUB_USER_AGENT_ORIGIN";
    let Some(value) = variables(variable) else {
        return Ok(None);
    };
    match value.into_string() {
        Ok(origin) if is_sendable(&origin) => Ok(Some(origin)),
        _ => Err(Barrier::Malformed {
            variable,
            problem: "has a character that can’t be sent; set it again".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::env;
    use std::ffi::OsString;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use super::{Barrier, cache_folder, check_online, endpoint, timeouts, token};

    /// Stands in for the environment.
    fn variables<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        let set: BTreeMap<&str, &str> = set.iter().copied().collect();
        move |name| set.get(name).map(OsString::from)
    }

    #[test]
    fn offline_is_one_of_four_words_in_any_case() {
        for (set, expected) in [
            (&[][..], None),
            (&[("HF_HUB_OFFLINE", "1")], Some("HF_HUB_OFFLINE")),
            (&[("HF_HUB_OFFLINE", "on")], Some("HF_HUB_OFFLINE")),
            (&[("HF_HUB_OFFLINE", "Yes")], Some("HF_HUB_OFFLINE")),
            (&[("HF_HUB_OFFLINE", "TRUE")], Some("HF_HUB_OFFLINE")),
            (&[("HF_HUB_OFFLINE", "")], None),
            (&[("HF_HUB_OFFLINE", " ")], None),
            (&[("HF_HUB_OFFLINE", " 1")], None),
            (&[("HF_HUB_OFFLINE", "0")], None),
            (&[("HF_HUB_OFFLINE", "y")], None),
            (
                &[("TRANSFORMERS_OFFLINE", "1")],
                Some("TRANSFORMERS_OFFLINE"),
            ),
            (
                &[("HF_HUB_OFFLINE", ""), ("TRANSFORMERS_OFFLINE", "1")],
                Some("TRANSFORMERS_OFFLINE"),
            ),
            (
                &[("HF_HUB_OFFLINE", "0"), ("TRANSFORMERS_OFFLINE", "1")],
                None,
            ),
        ] {
            let found = check_online(&variables(set));
            let variable = match &found {
                Err(Barrier::Offline { variable }) => Some(*variable),
                _ => None,
            };
            assert_eq!(variable, expected, "{set:?}");
        }
    }

    #[test]
    fn the_folder_comes_from_the_most_specific_variable() {
        let home = env::home_dir().unwrap();
        let user = |path: &str| home.join(path);
        for (set, expected) in [
            (&[][..], user(".cache/huggingface/hub")),
            (&[("XDG_CACHE_HOME", "/d")], "/d/huggingface/hub".into()),
            (&[("XDG_CACHE_HOME", "")], "huggingface/hub".into()),
            (
                &[("XDG_CACHE_HOME", "/d"), ("HF_HOME", "/c")],
                "/c/hub".into(),
            ),
            (&[("HF_HOME", "")], "./hub".into()),
            (&[("HF_HOME", "~")], user("hub")),
            (&[("HF_HOME", "~/c")], user("c/hub")),
            (&[("HF_HOME", "/a~b")], "/a~b/hub".into()),
            (&[("HF_HOME", "$X/c"), ("X", "/x")], "/x/c/hub".into()),
            (&[("HF_HOME", "/${X}y$X-"), ("X", "x")], "/xyx-/hub".into()),
            (
                &[("HF_HOME", "/$NONE/${NONE}/$")],
                "/$NONE/${NONE}/$/hub".into(),
            ),
            (
                &[("HF_HOME", "/c"), ("HUGGINGFACE_HUB_CACHE", "/b")],
                "/b".into(),
            ),
            (
                &[("HF_HUB_CACHE", "/a"), ("HUGGINGFACE_HUB_CACHE", "/b")],
                "/a".into(),
            ),
            (&[("HF_HUB_CACHE", "~/a")], user("a")),
            (
                &[("HF_HUB_CACHE", ""), ("HF_HOME", "/c")],
                PathBuf::from("."),
            ),
            (&[("HF_HUB_CACHE", " ")], " ".into()),
        ] {
            assert_eq!(cache_folder(&variables(set)), Some(expected), "{set:?}");
        }
    }

    #[test]
    fn an_endpoint_is_a_url_with_or_without_a_slash() {
        for (value, expected) in [
            ("https://hub.example", Some("https://hub.example")),
            ("https://hub.example/", Some("https://hub.example")),
            (
                "http://127.0.0.1:8080/hf//",
                Some("http://127.0.0.1:8080/hf"),
            ),
            ("", None),
            (" ", None),
            ("notaurl", None),
            ("hub.example:443", None),
            ("ftp://hub.example", None),
            ("https://", None),
            ("https://hub.example/?x=1", None),
        ] {
            let found = endpoint(&variables(&[("HF_ENDPOINT", value)]));
            if expected.is_none() {
                let error = found.as_ref().unwrap_err().to_string();
                let sentence = format!("HF_ENDPOINT is {value:?}; set it to a URL such as");
                assert!(error.starts_with(&sentence), "{error}");
            }
            assert_eq!(found.ok().as_deref(), expected, "{value:?}");
        }
        assert_eq!(endpoint(&variables(&[])).unwrap(), "https://huggingface.co");
    }

    #[test]
    fn the_token_comes_from_a_variable_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("another"), "\n hf_another\r\n").unwrap();
        fs::write(path("blank"), " \n").unwrap();
        fs::write(path("two"), "hf_a\nhf_b").unwrap();
        let home = path("");
        let home = ("HF_HOME", home.as_str());
        let of = |set: &[_]| token(&variables(set)).map_err(|error| error.to_string());
        assert_eq!(of(&[home]), Ok(None));
        fs::write(path("token"), "hf_saved\n").unwrap();
        let malformed = "has a line break or another character that no access token has";
        for (value, expected) in [
            ("hf_given", Ok("hf_given")),
            (" hf_given\n", Ok("hf_given")),
            ("hf_given\r\n", Ok("hf_given")),
            ("", Ok("hf_saved")),
            (" ", Ok("hf_saved")),
            ("\n", Ok("hf_saved")),
            ("hf_a\nhf_b", Err(malformed)),
            ("hf_\u{e4}", Err(malformed)),
            ("hf_\0", Err(malformed)),
        ] {
            for name in ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"] {
                let found = of(&[home, (name, value)]);
                match expected {
                    Ok(token) => assert_eq!(found, Ok(Some(token.to_owned())), "{value:?}"),
                    Err(words) => {
                        let sentence = format!("{name} {words}; set it again");
                        assert_eq!(found, Err(sentence), "{value:?}");
                    }
                }
            }
        }
        let disabled = |value| ("HF_HUB_DISABLE_IMPLICIT_TOKEN", value);
        let (another, blank, two) = (path("another"), path("blank"), path("two"));
        let (none, missing) = (path("none"), path(""));
        let given = ("HF_TOKEN", "hf_given");
        let legacy = ("HUGGING_FACE_HUB_TOKEN", "hf_legacy");
        for (set, expected) in [
            (
                &[("HF_TOKEN_PATH", another.as_str())][..],
                Some("hf_another"),
            ),
            (&[("HF_TOKEN_PATH", blank.as_str())], None),
            (&[("HF_TOKEN_PATH", none.as_str())], None),
            (
                &[("HF_TOKEN_PATH", another.as_str()), given],
                Some("hf_given"),
            ),
            (&[given, legacy], Some("hf_given")),
            (&[("HF_TOKEN", ""), legacy], Some("hf_legacy")),
            // A blank variable hides the older one.
            (&[home, ("HF_TOKEN", " "), legacy], Some("hf_saved")),
            (&[given, disabled("1")], None),
            (&[given, disabled("true")], None),
            (&[given, disabled("")], Some("hf_given")),
            (&[given, disabled("0")], Some("hf_given")),
        ] {
            assert_eq!(of(set), Ok(expected.map(str::to_owned)), "{set:?}");
        }
        for unreadable in [two.as_str(), missing.as_str()] {
            let error = of(&[("HF_TOKEN_PATH", unreadable)]).unwrap_err();
            let sentence = "could not read the access token for the Hub: ";
            assert!(error.starts_with(sentence), "{error}");
            assert!(Path::new(error.lines().last().unwrap()).is_absolute());
        }
    }

    #[test]
    fn a_timeout_is_a_whole_number_of_seconds() {
        for (value, expected) in [
            ("60", Some(Some(60))),
            (" 60 ", Some(Some(60))),
            ("+1_000", Some(Some(1_000))),
            ("0", Some(None)),
            ("", None),
            (" ", None),
            ("1.5", None),
            ("-1", None),
            ("1__0", None),
            ("ten", None),
            ("99999999999999999999", None),
        ] {
            for name in ["HF_HUB_DOWNLOAD_TIMEOUT", "HF_HUB_ETAG_TIMEOUT"] {
                let found = timeouts(&variables(&[(name, value)]));
                let found = found.map_err(|error| error.to_string());
                match expected {
                    None => assert_eq!(
                        found.unwrap_err(),
                        format!("{name} is {value:?}; set it to a whole number of seconds")
                    ),
                    Some(seconds) => {
                        let found = found.unwrap();
                        let either = found.download.or(found.metadata);
                        assert_eq!(either, seconds.map(Duration::from_secs), "{value:?}");
                    }
                }
            }
        }
    }
}
