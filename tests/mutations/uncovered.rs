//! What verification does not cover. `assets/docs/VERIFY.md` explains each of these reasons.

/// Fields of which at least one change can't be noticed, and why. In alphabetical order.
pub(crate) const UNCOVERED: [(&str, &str); 46] = [
    (
        "branches.pane",
        "which texts a run has, and where they come from",
    ),
    ("finished_at", "dates and times"),
    ("model.file", "where the weights were"),
    ("model.n_context", "how much context a model had"),
    (
        "model.n_threads",
        "what ran a text, if the file leaves it out",
    ),
    ("model.name", "names"),
    (
        "model.provenance.end_tokens",
        "what ran a text, if the file leaves it out",
    ),
    (
        "model.provenance.system",
        "what ran a text, if the file leaves it out",
    ),
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
        "panes.follows",
        "which texts a run has, and where they come from",
    ),
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
        "panes.second_model.provenance.end_tokens",
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
        "panes.settings.dialect",
        "settings that change nothing in this text",
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
        "panes.settings.rules",
        "settings that change nothing in this text",
    ),
    (
        "panes.settings.rules.min_keep",
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
pub(crate) const UNCOVERED_IN_BRANCHES: [(&str, &str); 3] = [
    (
        "panes.steps.entropy_nats",
        "what only the model can tell about branches",
    ),
    (
        "panes.steps.head.tokens",
        "what only the model can tell about branches",
    ),
    (
        "panes.steps.logits_hash",
        "what only the model can tell about branches",
    ),
];

/// The same for texts over a server, which reports only the most likely tokens.
pub(crate) const UNCOVERED_OVER_SERVERS: [(&str, &str); 24] = [
    ("model.architecture", "what a server said about its model"),
    ("model.device", "what a server said about its model"),
    ("model.n_params", "what a server said about its model"),
    (
        "model.provenance.cache",
        "what a server said about its model",
    ),
    (
        "model.provenance.instructions",
        "what a server said about its model",
    ),
    (
        "model.provenance.precision",
        "what a server said about its model",
    ),
    (
        "model.provenance.template_sha256",
        "what a server said about its model",
    ),
    (
        "model.provenance.tokenizer_sha256",
        "what a server said about its model",
    ),
    ("model.quantization", "what a server said about its model"),
    ("model.sha256", "what a server said about its model"),
    (
        "panes.steps.bounded",
        "figures of tokens that a server did not name",
    ),
    (
        "panes.steps.final_prob",
        "figures of tokens that a server did not name",
    ),
    (
        "panes.steps.final_probs",
        "figures of tokens that a server did not name",
    ),
    (
        "panes.steps.head.tokens",
        "figures of tokens that a server did not name",
    ),
    (
        "panes.steps.rank",
        "figures of tokens that a server did not name",
    ),
    (
        "panes.steps.raw_prob",
        "figures of tokens that a server did not name",
    ),
    (
        "panes.steps.stages.entropy_nats",
        "figures of tokens that a server did not name",
    ),
    (
        "panes.steps.stages.mass_removed",
        "figures of tokens that a server did not name",
    ),
    (
        "panes.steps.stages.n_kept",
        "figures of tokens that a server did not name",
    ),
    (
        "panes.steps.stages.probs",
        "figures of tokens that a server did not name",
    ),
    (
        "panes.steps.survivors.logits",
        "figures of tokens that a server did not name",
    ),
    ("vocabulary.bytes", "the pieces of a server’s other tokens"),
    ("vocabulary.piece", "the pieces of a server’s other tokens"),
    (
        "vocabulary.special",
        "the pieces of a server’s other tokens",
    ),
];
