//! What verification does not cover. `assets/docs/VERIFY.md` has the same list in words.

/// Fields of which at least one change can't be noticed, and why. In alphabetical order.
pub(crate) const UNCOVERED: [(&str, &str); 38] = [
    ("branches.pane", "which pane last showed a branch"),
    ("finished_at", "a date"),
    ("model.file", "where the weights were"),
    ("model.n_context", "a description: the hash is compared"),
    ("model.name", "a description: the hash is compared"),
    ("panes", "which texts a run has"),
    (
        "panes.earlier_settings.settings.end_of_text",
        "a rule that no token met",
    ),
    (
        "panes.earlier_settings.settings.max_new_tokens",
        "a limit that the text did not meet",
    ),
    (
        "panes.finish_reason",
        "who interrupted a text, and whether a grammar was complete",
    ),
    ("panes.lineage.origin", "an origin that fits as well"),
    ("panes.lineage.origin.change", "an origin that fits as well"),
    ("panes.lineage.origin.parent", "an origin that fits as well"),
    ("panes.model.file", "where the weights were"),
    (
        "panes.model.n_context",
        "a description: the hash is compared",
    ),
    ("panes.model.name", "a description: the hash is compared"),
    ("panes.name", "a name that the user gave"),
    ("panes.not_applied", "what a server lacked"),
    ("panes.second_model.file", "where the weights were"),
    (
        "panes.second_model.n_context",
        "a description: the hash is compared",
    ),
    ("panes.second_model.n_threads", "how the second model ran"),
    (
        "panes.second_model.provenance.template_sha256",
        "the second model reads no template",
    ),
    (
        "panes.second_model.provenance.tokenizer_sha256",
        "the second model reads tokens",
    ),
    (
        "panes.settings.drafts.n_gram",
        "a setting that changes nothing in this text",
    ),
    (
        "panes.settings.early_stopping",
        "a setting that changes nothing in this text",
    ),
    ("panes.settings.end_of_text", "a rule that no token met"),
    (
        "panes.settings.guidance.cutoff",
        "a setting that changes nothing in this text",
    ),
    (
        "panes.settings.length_penalty",
        "a setting that changes nothing in this text",
    ),
    (
        "panes.settings.max_new_tokens",
        "a limit that a scored text does not have",
    ),
    ("panes.settings.seed", "a seed of which no coin was tossed"),
    (
        "panes.settings.stop_strings",
        "a stop sequence that the text does not have",
    ),
    ("panes.steps.mask_secs", "a time"),
    (
        "panes.steps.n_kept",
        "how many tokens earlier settings left, beyond those that are listed",
    ),
    ("panes.steps.network_secs", "a time"),
    (
        "panes.steps.picked",
        "a token that no coin shows to be chosen counts as given",
    ),
    ("panes.steps.time", "times"),
    ("panes.timings.n_prefilled", "what the cache held"),
    ("panes.timings.prefill_secs", "a time"),
    ("title", "a name that the user gave"),
];

/// The same for branches, which are not generated again.
pub(crate) const UNCOVERED_IN_BRANCHES: [(&str, &str); 0] = [];

/// The same for texts over a server, which reports only the most likely tokens.
pub(crate) const UNCOVERED_OVER_SERVERS: [(&str, &str); 0] = [];
