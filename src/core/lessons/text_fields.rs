//! What a lesson can read about a pane's text.

use std::f64::consts::LN_2;

use super::field::{Field, field};
use super::scene::has_ended;
use super::value::{Unit, Value};
use crate::analysis::grammar::GrammarTotals;
use crate::analysis::watermark::{WatermarkScan, first_mark};
use crate::analysis::{DraftPasses, TextMetrics};
use crate::decoding::{Filter, Selector};
use crate::generation::in_sentence;
use crate::generation::{Generation, Step, StepsIter};
use crate::interop::tools::{Tool, export_settings};

/// A field of a text.
pub(super) type TextField = Field<Generation>;

/// All fields of a text.
pub(super) const TEXT_FIELDS: &[TextField] = &[
    field("finished", "whether it ended by itself", |text| {
        Some(Value::Flag(has_ended(text)))
    }),
    field(
        "end",
        "why it ended: \"end of text\", \"token limit\", \"stop sequence\", \"grammar complete\"",
        |text| Some(Value::Text(end_words(text)?)),
    ),
    field("text", "the text itself, without the prompt", |text| {
        Some(Value::Text(text.text().trim().to_owned()))
    }),
    field("last", "its last token", |text| {
        let piece = &text.steps.last()?.piece;
        Some(Value::Text(crate::generation::formatting::token_word(
            piece,
        )))
    }),
    field("limit", "its token limit", |text| {
        Some(Value::count(text.config.limits.max_new_tokens))
    }),
    field("tokens", "its number of tokens", |text| {
        Some(Value::count(text.steps.len()))
    }),
    field("characters", "its number of characters", |text| {
        Some(Value::count(text.text().chars().count()))
    }),
    field(
        "prompt_tokens",
        "the number of tokens of its prompt",
        |text| Some(Value::count(text.prompt.tokens.len())),
    ),
    field(
        "wrapped",
        "whether a chat template put something around its message",
        |text| {
            let sent = text.prompt.text.trim();
            let chat = text.prompt.chat.as_ref();
            Some(Value::Flag(
                chat.is_some_and(|chat| chat.rendered.trim() != sent),
            ))
        },
    ),
    field(
        "prefilled",
        "how many prompt tokens its run had to read, because the cache did not hold them",
        |text| Some(Value::count(text.prompt.n_prefilled)),
    ),
    field("seed", "its seed", |text| {
        Some(Value::Number(text.config.seed as f64, Unit::Setting))
    }),
    field(
        "greedy",
        "whether the most likely token is always taken",
        |text| Some(Value::Flag(text.config.chain.is_greedy())),
    ),
    field("temperature", "its temperature, 1 if none is set", |text| {
        Some(setting(text, 1.0, |filter| match filter {
            Filter::Temperature(filter) => Some(filter.temperature),
            _ => None,
        }))
    }),
    field("top_k", "its top-k, infinite if none is set", |text| {
        Some(setting(text, f64::INFINITY, |filter| match filter {
            Filter::TopK(filter) => Some(filter.k as f32),
            _ => None,
        }))
    }),
    field("top_p", "its top-p, 1 if none is set", |text| {
        Some(setting(text, 1.0, |filter| match filter {
            Filter::TopP(filter) => Some(filter.p),
            _ => None,
        }))
    }),
    field("min_p", "its min-p, 0 if none is set", |text| {
        Some(setting(text, 0.0, |filter| match filter {
            Filter::MinP(filter) => Some(filter.p),
            _ => None,
        }))
    }),
    field(
        "penalty",
        "its repetition penalty, 1 if none is set",
        |text| {
            Some(setting(text, 1.0, |filter| match filter {
                Filter::RepetitionPenalty(filter) => Some(filter.penalty),
                _ => None,
            }))
        },
    ),
    field(
        "beams",
        "the number of beams of a beam search, otherwise 1",
        |text| {
            let width = match text.config.chain.selector {
                Selector::BeamSearch(search) => search.width,
                _ => 1,
            };
            Some(Value::count(width as usize))
        },
    ),
    field(
        "grammar",
        "whether it is constrained by a grammar",
        |text| Some(Value::Flag(text.config.chain.grammar.is_some())),
    ),
    field("json", "whether it is a complete JSON value", |text| {
        let text = text.text();
        let value = serde_json::from_str::<serde::de::IgnoredAny>(text.trim());
        Some(Value::Flag(value.is_ok()))
    }),
    field(
        "forced",
        "how many of its tokens were the only legal one",
        |text| Some(Value::count(GrammarTotals::of(text)?.n_forced)),
    ),
    field(
        "overruled",
        "how many of its tokens the same coins would not have drawn without the grammar",
        |text| Some(Value::count(GrammarTotals::of(text)?.n_changed)),
    ),
    field(
        "surprise",
        "its mean surprise before the settings, in bits",
        |text| mean(text, |step| step.trace.known_surprise_bits()),
    ),
    field(
        "bits",
        "its total surprise before the settings, in bits",
        |text| {
            let bits = text
                .steps
                .iter()
                .map(|step| step.trace.known_surprise_bits());
            Some(Value::plain(bits.sum::<Option<f64>>()?))
        },
    ),
    field(
        "entropy",
        "its mean entropy before the settings, in bits",
        |text| mean(text, |step| Some(step.trace.known_entropy_nats()? / LN_2)),
    ),
    field(
        "first_choices",
        "the share of tokens that the model ranked first",
        |text| Some(Value::prob(TextMetrics::of(text).greedy_share?)),
    ),
    field(
        "least_kept",
        "the fewest candidates that a token had",
        |text| {
            let kept = text
                .steps
                .iter()
                .map(|step| step.trace.n_known_kept())
                .collect::<Option<Vec<u32>>>()?;
            Some(Value::count(kept.into_iter().min()? as usize))
        },
    ),
    field(
        "most_kept",
        "the most candidates that a token had",
        |text| {
            let kept = text
                .steps
                .iter()
                .map(|step| step.trace.n_known_kept())
                .collect::<Option<Vec<u32>>>()?;
            Some(Value::count(kept.into_iter().max()? as usize))
        },
    ),
    field("worst_rank", "the highest rank of a token", |text| {
        let ranks = text
            .steps
            .iter()
            .map(|step| step.trace.known_rank())
            .collect::<Option<Vec<u32>>>()?;
        Some(Value::count(ranks.into_iter().max()? as usize))
    }),
    field(
        "loops",
        "whether a passage repeats three times in a row",
        |text| Some(Value::Flag(TextMetrics::of(text).repetition.is_some())),
    ),
    field(
        "loop_tokens",
        "how many tokens the repeated passage has",
        |text| Some(Value::count(TextMetrics::of(text).repetition?.n_period)),
    ),
    field(
        "loop_start",
        "the number of the token at which the loop begins",
        |text| {
            Some(Value::count(
                TextMetrics::of(text).repetition?.steps.start + 1,
            ))
        },
    ),
    field(
        "longest_repeat",
        "the length of the longest repeated passage, in tokens",
        |text| {
            let repeat = TextMetrics::of(text).longest_repeat;
            Some(Value::count(repeat.map_or(0, |repeat| repeat.n_tokens)))
        },
    ),
    field(
        "distinct",
        "the share of distinct pairs of tokens",
        |text| {
            let [_, pairs, _] = TextMetrics::of(text).distinct;
            Some(Value::prob(pairs?))
        },
    ),
    field(
        "closest",
        "the number of the token at which the two most likely candidates were closest",
        |text| Some(Value::count(closest(text)?.0 + 1)),
    ),
    field(
        "closest_gap",
        "the distance of their logits there",
        |text| Some(Value::Number(closest(text)?.1, Unit::Tiny)),
    ),
    field(
        "api",
        "its settings as the fields of a request to an OpenAI-compatible service",
        |text| Some(Value::Text(as_fields(text))),
    ),
    field("drafts", "whether it was written with drafts", |text| {
        Some(Value::Flag(text.config.chain.drafts.is_some()))
    }),
    field("passes", "how many forward passes it took", |text| {
        let passes = DraftPasses::of(text).map(|passes| passes.passes.len());
        Some(Value::count(passes.unwrap_or(text.steps.len())))
    }),
    field(
        "accepted",
        "how many of its tokens were drafted and accepted",
        |text| Some(Value::count(DraftPasses::of(text)?.n_accepted())),
    ),
    field(
        "verified",
        "how many drafted tokens were verified",
        |text| Some(Value::count(DraftPasses::of(text)?.n_verified())),
    ),
    field(
        "drafted",
        "how many tokens were drafted, verified or not",
        |text| Some(Value::count(DraftPasses::of(text)?.n_drafted())),
    ),
    field("watermark", "whether it carries a watermark", |text| {
        Some(Value::Flag(first_mark([&text.config.chain]).is_some()))
    }),
    field(
        "p_value",
        "how likely chance is to match the key of its watermark at least as well",
        |text| {
            let mark = first_mark([&text.config.chain])?;
            let found = WatermarkScan::of_text(mark, text);
            Some(Value::Number(found.p_value().get(), Unit::Tiny))
        },
    ),
    field(
        "prefill_ms",
        "the time to read the prompt, in milliseconds",
        |text| Some(Value::plain(text.prompt.prefill_secs * 1e3)),
    ),
    field(
        "prompt_token_ms",
        "the mean time to read a token of the prompt, in milliseconds",
        |text| {
            let n = text.prompt.n_prefilled;
            (n > 0).then(|| Value::plain(text.prompt.prefill_secs * 1e3 / n as f64))
        },
    ),
    field(
        "token_ms",
        "the mean time of a forward pass for one token, in milliseconds",
        |text| mean_ms(text.steps.range(1..)),
    ),
    field(
        "first_ms",
        "the same for the first quarter of its tokens",
        |text| mean_ms(text.steps.range(1..text.steps.len() / 4)),
    ),
    field(
        "last_ms",
        "the same for the last quarter of its tokens",
        |text| mean_ms(text.steps.range(text.steps.len() * 3 / 4..)),
    ),
    field(
        "wait",
        "how many of its tokens could have been written while its prompt was read",
        |text| {
            let token_ms = mean_ms(text.steps.range(1..))?.number()?;
            let wait = text.prompt.prefill_secs * 1e3 / token_ms;
            wait.is_finite()
                .then(|| Value::Number(wait.round(), Unit::Count))
        },
    ),
    field(
        "writing_share",
        "the share of its time that went to writing, not to reading the prompt",
        |text| {
            let writing: f64 = text.steps.iter().skip(1).map(forward_secs).sum();
            let total = writing + text.prompt.prefill_secs;
            (total > 0.0).then(|| Value::prob(writing / total))
        },
    ),
    field(
        "given",
        "whether it was given and scored, not generated",
        |text| Some(Value::Flag(text.is_scored())),
    ),
];

fn end_words(text: &Generation) -> Option<String> {
    let words = in_sentence(&text.finish.as_ref()?.to_string());
    // The sequence itself is left out.
    let words = words.split('"').next().unwrap_or_default().trim();
    Some(words.to_owned())
}

/// Returns the value of the last filter that has one.
fn setting(text: &Generation, neutral: f64, read: fn(&Filter) -> Option<f32>) -> Value {
    let value = text.config.chain.active().filter_map(read).last();
    let value = value.map_or(neutral, |value| {
        // The shortest decimal that stands for the same number.
        value.to_string().parse().unwrap_or(f64::from(value))
    });
    Value::Number(value, Unit::Setting)
}

/// Returns the index of the step whose two best logits are closest, and their distance.
fn closest(text: &Generation) -> Option<(usize, f64)> {
    let gaps = text.steps.iter().enumerate().filter_map(|(index, step)| {
        let mut head = step.trace.raw.head.iter();
        let (first, second) = (head.next()?, head.next()?);
        Some((index, f64::from(first.logit) - f64::from(second.logit)))
    });
    gaps.min_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// Returns the settings as JSON on one line, without braces.
fn as_fields(text: &Generation) -> String {
    let exported = export_settings(Tool::OpenAi, &text.config, None);
    let lines = exported.text.lines().map(str::trim);
    let fields: Vec<&str> = lines.filter(|line| !matches!(*line, "{" | "}")).collect();
    fields.join(" ")
}

const fn forward_secs(step: &Step) -> f64 {
    step.time.forward_secs
}

/// Returns the mean time of steps after the first, whose pass read the prompt.
fn mean_ms(steps: StepsIter<'_>) -> Option<Value> {
    let n = steps.len();
    let sum: f64 = steps.map(forward_secs).sum();
    (n > 0).then(|| Value::plain(sum * 1e3 / n as f64))
}

fn mean(text: &Generation, read: impl Fn(&Step) -> Option<f64>) -> Option<Value> {
    let n = text.steps.len();
    let sum = text.steps.iter().map(read).sum::<Option<f64>>()?;
    (n > 0).then(|| Value::plain(sum / n as f64))
}

#[cfg(test)]
mod tests {
    use super::TEXT_FIELDS;
    use crate::lessons::field::assert_documented;

    #[test]
    fn the_documentation_lists_every_name() {
        assert_documented("A", TEXT_FIELDS);
    }
}
