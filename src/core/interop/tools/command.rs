//! Commands that carry settings as JSON: a request by `curl`, and the start of vLLM.

use super::Tool;

/// Returns the address of a `curl` command, and the JSON that it sends.
pub(super) fn request(text: &str) -> Option<(String, String)> {
    let command = text.trim_start_matches(['$', ' ']);
    if !command.starts_with("curl ") {
        return None;
    }
    let words = shlex::split(command)?;
    let is_address = |word: &&String| word.contains("://") || word.starts_with("localhost");
    let address = words.iter().find(is_address).cloned().unwrap_or_default();
    let mut words = words.into_iter();
    words.find(|word| {
        matches!(
            word.as_str(),
            "-d" | "--data" | "--data-raw" | "--json" | "--data-binary"
        )
    })?;
    let body = words.next()?;
    Some((address, body.trim().to_owned()))
}

/// Returns the tool of an address that only one has. llama-server's own address is `/completion`,
/// and `/v1/completions` is that of every service like `OpenAI`'s.
pub(super) fn served_at(address: &str) -> Option<Tool> {
    let path = address.split(['?', '#']).next()?.trim_end_matches('/');
    let is_own = path.ends_with("/completion") || path.ends_with("/infill");
    is_own.then_some(Tool::LlamaServer)
}

/// Returns the JSON that configures drafts in a command that starts vLLM.
pub(super) fn vllm_drafts(command: &str) -> Option<String> {
    let flag = "--speculative-config";
    let begin = command.find(flag)?;
    let mut words = shlex::split(command.get(begin..)?)?.into_iter();
    let first = words.next()?;
    match first.strip_prefix(flag)?.strip_prefix('=') {
        Some(joined) => Some(joined.to_owned()),
        None => words.next(),
    }
}
