//! What verification does not cover. `assets/docs/VERIFY.md` has the same list in words.

/// Fields whose change nothing can notice, and why.
pub(crate) const UNCOVERED: [(&str, &str); 9] = [
    ("title", "a name that the user gave"),
    ("finished_at", "a date"),
    ("panes.name", "a name that the user gave"),
    ("panes.timings.n_prefilled", "what the cache held"),
    ("panes.timings.prefill_secs", "a time"),
    ("panes.steps.time", "times"),
    ("panes.steps.network_secs", "a time"),
    ("panes.steps.mask_secs", "a time"),
    ("panes.finish_detail", "the words of an error"),
];
