//! The kinds of checks by name, ours and those of promptfoo.
//!
//! The names are promptfoo's `BaseAssertionTypesSchema` and the legacy prefixes of its `csv.ts`.

/// The kinds that are judged: the name as written, and the name of the rule.
const JUDGED: &[(&str, &str)] = &[
    ("choice", "choice"),
    ("contains", "contains"),
    ("contains-all", "contains-all"),
    ("contains-any", "contains-any"),
    ("contains-json", "contains-json"),
    ("ends-with", "ends-with"),
    ("equals", "equals"),
    ("icontains", "icontains"),
    ("icontains-all", "icontains-all"),
    ("icontains-any", "icontains-any"),
    ("iequals", "iequals"),
    ("is-json", "json"),
    ("json", "json"),
    ("max words", "max words"),
    ("max-words", "max words"),
    ("number", "number"),
    ("regex", "regex"),
    ("schema", "schema"),
    ("starts-with", "starts-with"),
    ("starts-with-any", "starts-with-any"),
    ("word-count", "word-count"),
];

/// Assertions of promptfoo that are not judged: the prefix as written, and the name of the assertion.
const NOT_JUDGED: &[(&str, &str)] = &[
    ("agent-rubric", "agent-rubric"),
    ("answer-relevance", "answer-relevance"),
    ("bleu", "bleu"),
    ("character-count", "character-count"),
    ("classifier", "classifier"),
    ("contains-html", "contains-html"),
    ("contains-sql", "contains-sql"),
    ("contains-xml", "contains-xml"),
    ("context-faithfulness", "context-faithfulness"),
    ("context-recall", "context-recall"),
    ("context-relevance", "context-relevance"),
    ("conversation-relevance", "conversation-relevance"),
    ("cost", "cost"),
    ("eval", "javascript"),
    ("f-score", "f-score"),
    ("factuality", "factuality"),
    ("finish-reason", "finish-reason"),
    ("fn", "javascript"),
    ("g-eval", "g-eval"),
    ("gleu", "gleu"),
    ("grade", "llm-rubric"),
    ("guardrails", "guardrails"),
    ("human", "human"),
    ("is-html", "is-html"),
    ("is-refusal", "is-refusal"),
    ("is-sql", "is-sql"),
    ("is-valid-function-call", "is-valid-function-call"),
    (
        "is-valid-openai-function-call",
        "is-valid-openai-function-call",
    ),
    ("is-valid-openai-tools-call", "is-valid-openai-tools-call"),
    ("is-xml", "is-xml"),
    ("javascript", "javascript"),
    ("latency", "latency"),
    ("levenshtein", "levenshtein"),
    ("llm-rubric", "llm-rubric"),
    ("max-score", "max-score"),
    ("meteor", "meteor"),
    ("model-graded-closedqa", "model-graded-closedqa"),
    ("model-graded-factuality", "model-graded-factuality"),
    ("moderation", "moderation"),
    ("perplexity", "perplexity"),
    ("perplexity-score", "perplexity-score"),
    ("pi", "pi"),
    ("promptfoo", "promptfoo:redteam"),
    ("python", "python"),
    ("research-rubric", "research-rubric"),
    ("rouge-l", "rouge-l"),
    ("rouge-n", "rouge-n"),
    ("rouge-s", "rouge-s"),
    ("ruby", "ruby"),
    ("search-rubric", "search-rubric"),
    ("select-best", "select-best"),
    ("similar", "similar"),
    ("skill-used", "skill-used"),
    ("tool-call-f1", "tool-call-f1"),
    ("trace-error-spans", "trace-error-spans"),
    ("trace-span-count", "trace-span-count"),
    ("trace-span-duration", "trace-span-duration"),
    ("trajectory", "trajectory"),
    ("webhook", "webhook"),
];

/// Names that need no colon, besides those with a hyphen. The others are words that may be the answer.
const NEED_NO_COLON: &[&str] = &["guardrails", "json", "moderation"];

/// A kind of check found at the start of a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Judged(&'static str),
    NotJudged(&'static str),
}

/// Finds the kind at the start of a spec. Returns what follows its colon, or `None` if it has none.
pub(super) fn kind_of(spec: &str) -> Option<(Kind, Option<&str>)> {
    let judged = JUDGED.iter().map(|(name, rule)| (name, Kind::Judged(rule)));
    let others = NOT_JUDGED
        .iter()
        .map(|(name, assertion)| (name, Kind::NotJudged(assertion)));
    judged.chain(others).find_map(|(name, kind)| {
        let rest = without_threshold(spec.strip_prefix(name)?).trim_start();
        match rest.strip_prefix(':') {
            Some(value) => Some((kind, Some(value))),
            None if rest.is_empty() && (name.contains('-') || NEED_NO_COLON.contains(name)) => {
                Some((kind, None))
            }
            None => None,
        }
    })
}

/// Drops a threshold such as `(0.8)`, which only assertions that aren't judged read.
fn without_threshold(rest: &str) -> &str {
    let inside = rest
        .strip_prefix('(')
        .and_then(|inside| inside.split_once(')'));
    match inside {
        Some((number, after)) if number.trim().parse::<f64>().is_ok() => after,
        _ => rest,
    }
}
