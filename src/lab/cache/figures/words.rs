//! What a measurement of the KV cache shows, in sentences.

use super::{CacheLab, Line};
use crate::analysis::replay::logit_gap;
use crate::generation::ByteSize;
use crate::generation::formatting::grouped;

/// Formats milliseconds with two significant digits: "0.31 ms", "4.2 ms", "120 ms", "1.3 s".
pub(super) fn milliseconds(ms: f64) -> String {
    let size = ms.abs();
    if size >= 1000.0 {
        format!("{:.1} s", ms / 1000.0)
    } else if size >= 9.95 {
        format!("{ms:.0} ms")
    } else if size >= 0.995 {
        format!("{ms:.1} ms")
    } else if size >= 0.0995 {
        format!("{ms:.2} ms")
    } else {
        format!("{ms:.3} ms")
    }
    .replace('-', "−")
}

/// Formats a ratio: "1.9", "18", "1,204".
fn ratio(value: f64) -> String {
    if value < 9.95 {
        format!("{value:.1}")
    } else {
        grouped(value)
    }
}

impl Line {
    /// Formats the line: "0.31 ms + 0.08 ms per 100 tokens".
    pub fn words(self) -> String {
        let per_100 = milliseconds(self.slope.abs() * 100.0);
        let sign = if self.slope < 0.0 { '−' } else { '+' };
        format!(
            "{} {sign} {per_100} per 100 tokens",
            milliseconds(self.constant)
        )
    }
}

impl CacheLab {
    /// Describes the times with and without the cache.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if let Some(line) = self.on_line() {
            sentences.push(self.on_sentence(line));
        }
        if let Some(line) = self.off_line() {
            sentences.push(format!(
                "Without it, every token rereads the whole text: {} per 100 tokens.",
                milliseconds(line.slope * 100.0)
            ));
        }
        if let (Some(times), Some(last)) = (self.last_ratio(), self.off.last()) {
            sentences.push(format!(
                "At {} tokens that takes {} times as long.",
                grouped(last.length as f64),
                ratio(times)
            ));
        }
        sentences
    }

    /// Says what a token takes with the cache, from a line through the times.
    fn on_sentence(&self, line: Line) -> String {
        let per_100 = milliseconds(line.slope * 100.0);
        if line.slope <= 0.0 {
            let middle = self.n_text() as f64 / 2.0;
            let time = milliseconds(line.at(middle));
            format!("With the cache, a token takes {time}, whatever the length.")
        } else if line.constant <= 0.0 {
            // A noisy measurement: no token takes less than no time.
            format!("With the cache, a token takes {per_100} per 100 tokens of context.")
        } else {
            let constant = milliseconds(line.constant);
            format!(
                "With the cache, a token takes {constant} plus {per_100} per 100 tokens of context."
            )
        }
    }

    /// Says whether both texts are the same: "Same tokens both ways; largest logit difference 4e−6."
    pub fn agreement_words(&self) -> Option<String> {
        let agreement = self.agreement()?;
        let gap = logit_gap(agreement.largest_difference);
        let n = agreement.n_compared;
        Some(match agreement.first_different {
            None => {
                let lengths = if n == 1 { "length" } else { "lengths" };
                format!("Same tokens both ways at {n} {lengths}; largest logit difference {gap}.")
            }
            Some(length) => format!(
                "Without the cache, a different token was picked at length {length}; largest logit \
                 difference {gap}."
            ),
        })
    }

    /// Says how much memory the cache takes at the end of the text.
    pub fn memory_words(&self) -> Option<String> {
        let last = self.on.last()?;
        let measured = last.n_bytes.map(ByteSize);
        let formula = self.n_formula_bytes(last.length).map(ByteSize);
        let length = grouped(last.length as f64);
        match (formula, measured) {
            (Some(formula), Some(measured)) => {
                let shape = self.facts.shape.as_ref();
                let reason = match shape.map(|shape| (shape.n_layers, shape.n_state_bytes)) {
                    Some((0, _)) => "earlier states are kept for going back",
                    Some((_, 1..)) => "the cache grows in blocks and keeps some earlier states",
                    Some((_, 0)) | None => "the cache grows in blocks",
                };
                Some(format!(
                    "{length} tokens take {formula}; {measured} is allocated, because {reason}."
                ))
            }
            (None, Some(measured)) => Some(format!("{length} tokens take {measured}.")),
            (Some(formula), None) => Some(format!("{length} tokens take {formula}.")),
            (None, None) => None,
        }
    }

    /// Says how much faster a prompt is read in parallel.
    pub fn read_words(&self) -> Option<String> {
        let last = self.reads.last()?;
        let times = last.one_by_one_secs / last.parallel_secs;
        times.is_finite().then(|| {
            format!(
                "A prompt goes through each layer in one pass. {} tokens are read {} times as fast \
                 as one by one.",
                grouped(last.length as f64),
                ratio(times)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, milliseconds};
    use crate::generation::CacheShape;
    use crate::lab::cache::figures::testing::lab;

    #[test]
    fn times_have_two_digits() {
        for (ms, words) in [
            (0.0312, "0.031 ms"),
            (0.312, "0.31 ms"),
            (4.16, "4.2 ms"),
            (34.4, "34 ms"),
            (999.0, "999 ms"),
            (1340.0, "1.3 s"),
            (-0.5, "−0.50 ms"),
        ] {
            assert_eq!(milliseconds(ms), words);
        }
        let line = Line {
            constant: 0.3,
            slope: 0.0008,
        };
        assert_eq!(line.words(), "0.30 ms + 0.080 ms per 100 tokens");
    }

    #[test]
    fn sentences_say_what_was_measured() {
        let lab = lab();
        assert_eq!(
            lab.sentences(),
            [
                "With the cache, a token takes 0.30 ms plus 0.10 ms per 100 tokens of context.",
                "Without it, every token rereads the whole text: 30 ms per 100 tokens.",
                "At 109 tokens that takes 80 times as long.",
            ]
        );
        assert_eq!(
            lab.agreement_words().unwrap(),
            "Same tokens both ways at 10 lengths; largest logit difference 4e−6."
        );
        assert_eq!(
            lab.memory_words().unwrap(),
            "109 tokens take 893 kB; 918 kB is allocated, because the cache grows in blocks."
        );
        assert!(lab.read_words().unwrap().contains("read 3.0 times as fast"));
    }

    #[test]
    fn no_token_takes_less_than_no_time() {
        let words = |constant, slope| lab().on_sentence(Line { constant, slope });
        assert_eq!(
            words(-0.5, 0.02),
            "With the cache, a token takes 2.0 ms per 100 tokens of context."
        );
        let flat = words(3.0, -0.001);
        assert!(flat.ends_with("whatever the length."), "{flat}");
    }

    #[test]
    fn a_different_token_is_reported() {
        let mut lab = lab();
        lab.off[3].is_same_token = false;
        let words = lab.agreement_words().unwrap();
        assert!(
            words.contains("a different token was picked at length 50;"),
            "{words}"
        );
    }

    #[test]
    fn a_model_without_attention_keeps_its_earlier_states() {
        let mut lab = lab();
        lab.facts.shape = Some(CacheShape {
            n_layers: 0,
            n_kv_heads: 0,
            head_dim: 0,
            n_head_bytes: 0,
            format: "f32".to_owned(),
            n_state_bytes: 163_840,
        });
        let words = lab.memory_words().unwrap();
        let reason = "because earlier states are kept for going back.";
        assert!(words.ends_with(reason), "{words}");
    }
}
