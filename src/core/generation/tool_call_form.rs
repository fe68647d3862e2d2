//! How a model writes the tools that it calls, as far as its chat template says so.

/// The form in which a model writes tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCallForm {
    /// Hermes, Qwen 2.5 and Qwen 3: `<tool_call>{"name": "f", "arguments": {}}</tool_call>`.
    Hermes,
    /// Llama 3: the whole answer is `{"name": "f", "parameters": {}}`, perhaps after
    /// `<|python_tag|>`.
    Llama,
    /// Mistral up to its tokenizer v7: `[TOOL_CALLS][{"name": "f", "arguments": {}}]`.
    Mistral,
}

impl ToolCallForm {
    /// Returns the form that a chat template describes or writes. `None` if it names none of them,
    /// or a variant with other contents.
    pub fn of_template(source: &str) -> Option<Self> {
        let has = |part: &str| source.contains(part);
        // Others write XML, or lists between other tags.
        if source.split("<tool_call>").skip(1).any(begins_with_name) {
            return Some(Self::Hermes);
        }
        // Later tokenizers write a name and [ARGS] after it.
        if has("[TOOL_CALLS]") && !has("[ARGS]") {
            return Some(Self::Mistral);
        }
        // The words with which Llama's templates ask for a call.
        let asks =
            "{\"name\": function name, \"parameters\": dictionary of argument name and its value}";
        has(asks).then_some(Self::Llama)
    }

    /// Returns the tag that begins a call.
    pub const fn begin(self) -> &'static str {
        match self {
            Self::Hermes => "<tool_call>",
            Self::Llama => "<|python_tag|>",
            Self::Mistral => "[TOOL_CALLS]",
        }
    }

    /// Returns the tag that ends a call, if there is one.
    pub const fn end(self) -> Option<&'static str> {
        match self {
            Self::Hermes => Some("</tool_call>"),
            Self::Llama | Self::Mistral => None,
        }
    }

    /// Returns what the model calls the arguments of a tool.
    pub const fn arguments(self) -> &'static str {
        match self {
            Self::Hermes | Self::Mistral => "arguments",
            Self::Llama => "parameters",
        }
    }
}

/// Returns whether a part of a template goes on with the name of a tool in a JSON object.
fn begins_with_name(source: &str) -> bool {
    // Strings end and begin in between, and contain line breaks.
    const SYNTAX: [&str; 9] = ["\\n", "}}", "-}}", "{{-", "{{", "\"", "'", "~", "+"];
    let mut rest = source.trim_start();
    while let Some(after) = SYNTAX.iter().find_map(|part| rest.strip_prefix(part)) {
        rest = after.trim_start();
    }
    rest.starts_with("{\"name\"") || rest.starts_with("{\\\"name\\\"")
}

#[cfg(test)]
mod tests {
    use super::ToolCallForm;

    #[test]
    fn a_template_names_its_form_or_none() {
        for (template, expected) in [
            (
                "return <tool_call>\\n{\\\"name\\\": <name>, \\\"arguments\\\": <args>}\\n</tool_call>",
                Some(ToolCallForm::Hermes),
            ),
            (
                "<tool_call></tool_call>\n<tool_call>\n{\"name\": x}",
                Some(ToolCallForm::Hermes),
            ),
            (
                "{{- \"<tool_call>\n\" }}\n{{- '{\"name\": <name>",
                Some(ToolCallForm::Hermes),
            ),
            ("<tool_call></tool_call> <tool_calls>[{\"name\": x}]", None),
            ("<tool_call>\\n<function=x>{{ arguments }}", None),
            ("<tool_call>{{ name }}<arg_key>{{ arguments }}", None),
            ("{{ \"[TOOL_CALLS] [\" }}", Some(ToolCallForm::Mistral)),
            ("[TOOL_CALLS]{{ name }}[ARGS]", None),
            (
                "Respond in the format {\"name\": function name, \"parameters\": dictionary of argument \
                 name and its value}.",
                Some(ToolCallForm::Llama),
            ),
            ("{{ tool_calls }}", None),
        ] {
            assert_eq!(ToolCallForm::of_template(template), expected, "{template}");
        }
    }
}
