//! What verification does not cover. `assets/docs/VERIFY.md` explains each of these reasons.

/// Fields of which at least one change can't be noticed, and why. In alphabetical order.
pub(crate) const UNCOVERED: [(&str, &str); 38] = [
    (
        "branches.pane",
        "which texts a run has, and where they come from",
    ),
    ("finished_at", "dates and times"),
    ("model.file", "where the weights were"),
    ("model.n_context", "how much context a model had"),
    ("model.name", "names"),
    ("panes", "which texts a run has, and where they come from"),
    (
        "panes.earlier_settings.settings.end_of_text",
        "settings that change nothing in this text",
    ),
    (
        "panes.earlier_settings.settings.max_new_tokens",
        "settings that change nothing in this text",
    ),
    ("panes.finish_reason", "who interrupted a text"),
    (
        "panes.lineage.origin",
        "which texts a run has, and where they come from",
    ),
    (
        "panes.lineage.origin.change",
        "which texts a run has, and where they come from",
    ),
    (
        "panes.lineage.origin.parent",
        "which texts a run has, and where they come from",
    ),
    ("panes.model.file", "where the weights were"),
    ("panes.model.n_context", "how much context a model had"),
    ("panes.model.name", "names"),
    ("panes.name", "names"),
    ("panes.not_applied", "what a server lacked"),
    ("panes.second_model.file", "where the weights were"),
    (
        "panes.second_model.n_context",
        "how much context a model had",
    ),
    (
        "panes.second_model.n_threads",
        "how a second model read text, and on how many threads",
    ),
    (
        "panes.second_model.provenance.template_sha256",
        "how a second model read text, and on how many threads",
    ),
    (
        "panes.second_model.provenance.tokenizer_sha256",
        "how a second model read text, and on how many threads",
    ),
    (
        "panes.settings.drafts.n_gram",
        "settings that change nothing in this text",
    ),
    (
        "panes.settings.early_stopping",
        "settings that change nothing in this text",
    ),
    (
        "panes.settings.end_of_text",
        "settings that change nothing in this text",
    ),
    (
        "panes.settings.guidance.cutoff",
        "settings that change nothing in this text",
    ),
    (
        "panes.settings.length_penalty",
        "settings that change nothing in this text",
    ),
    (
        "panes.settings.max_new_tokens",
        "settings that change nothing in this text",
    ),
    (
        "panes.settings.seed",
        "settings that change nothing in this text",
    ),
    (
        "panes.settings.stop_strings",
        "settings that change nothing in this text",
    ),
    ("panes.steps.mask_secs", "dates and times"),
    (
        "panes.steps.n_kept",
        "what earlier settings left beyond the listed tokens",
    ),
    ("panes.steps.network_secs", "dates and times"),
    (
        "panes.steps.picked",
        "who gave a token that no coin decided",
    ),
    ("panes.steps.time", "dates and times"),
    (
        "panes.timings.n_prefilled",
        "how much of a prompt was in the cache",
    ),
    ("panes.timings.prefill_secs", "dates and times"),
    ("title", "names"),
];

/// The same for branches, which are not generated again.
pub(crate) const UNCOVERED_IN_BRANCHES: [(&str, &str); 0] = [];

/// The same for texts over a server, which reports only the most likely tokens.
pub(crate) const UNCOVERED_OVER_SERVERS: [(&str, &str); 0] = [];
