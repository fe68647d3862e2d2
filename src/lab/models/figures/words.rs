//! What a comparison of two models shows, in sentences and as a table.

use crate::decoding::TokenId;
use crate::generation::formatting::{grouped, percent, quoted};
use crate::generation::{ModelInfo, Vocabulary};
use crate::lab::models::{ComparedModels, PredictedToken};

/// Formats nats with two significant digits, and tiny values in scientific notation: "1.3",
/// "0.042", "3e−7".
pub(crate) fn nats(value: f64) -> String {
    if value <= 0.0 {
        return "0".to_owned();
    }
    if value < 0.000_095 {
        return format!("{value:.0e}").replace('-', "−");
    }
    if !value.is_finite() {
        return "∞".to_owned();
    }
    let decimals = match value {
        0.95.. => 1,
        0.095.. => 2,
        0.0095.. => 3,
        0.000_95.. => 4,
        _ => 5,
    };
    format!("{value:.decimals$}")
}

impl ComparedModels {
    /// Returns the names of the models, with the details in which they differ: "A Tiny (`Q8_0`)".
    pub fn names(&self) -> [String; 2] {
        let [a, b] = self.models.each_ref().map(|model| &**model);
        let differs = |get: fn(&ModelInfo) -> &str| get(a) != get(b);
        let details: [fn(&ModelInfo) -> &str; 2] = [|m| &m.quantization, |m| &m.device];
        let name = |model: &ModelInfo, letter: &str| {
            let parts: Vec<&str> = details
                .iter()
                .filter(|get| differs(**get))
                .map(|get| get(model))
                .filter(|part| !part.is_empty())
                .collect();
            if parts.is_empty() {
                format!("{letter} {}", model.name)
            } else {
                format!("{letter} {} ({})", model.name, parts.join(", "))
            }
        };
        [name(a, "A"), name(b, "B")]
    }

    /// Says how far apart the models are.
    pub fn sentences(&self) -> Vec<String> {
        if !self.facts.has_same_tokens {
            return self.apart_sentences();
        }
        let Some(divergences) = self.divergences() else {
            return Vec::new();
        };
        let n = grouped(self.gaps.len() as f64);
        let all = all_positions(self.gaps.len());
        if divergences.largest <= 0.0 {
            return vec![format!("Both have the same distribution {all}.")];
        }
        let mut sentences = vec![format!(
            "KL divergence {} nats per token on average, at most {} at {}.",
            nats(divergences.mean),
            nats(divergences.largest),
            self.place(divergences.largest_at),
        )];
        let one = match self.gaps.len() {
            1 => "At the only position".to_owned(),
            _ => format!("At 1 of {n} positions"),
        };
        let flips: Vec<usize> = self.flips().collect();
        let n_close = flips.iter().filter(|index| self.is_close(**index)).count();
        sentences.push(match flips.as_slice() {
            [] => format!("Both rank the same token first {all}."),
            [only] => format!(
                "{one} they rank different tokens first: {}{}.",
                self.place(*only),
                if n_close == 1 {
                    ", where the margin is below the noise"
                } else {
                    ""
                }
            ),
            flips => format!(
                "At {} of {n} positions they rank different tokens first, at {} of them with a \
                 margin below the noise.",
                flips.len(),
                grouped(n_close as f64)
            ),
        });
        sentences
    }

    fn apart_sentences(&self) -> Vec<String> {
        let [n_a, n_b] = self.facts.n_tokens.map(|n| grouped(n as f64));
        let mut sentences = vec![format!(
            "The models split the text into different tokens ({n_a} and {n_b}), so they are \
             compared by characters."
        )];
        if let (Some(a), Some(b)) = (self.bits_per_char(0), self.bits_per_char(1)) {
            let (better, less) = if a <= b { ("A", b - a) } else { ("B", a - b) };
            sentences.push(if less < 0.000_5 {
                format!("{a:.3} bits per character for both: they predict the text equally well.")
            } else {
                format!(
                    "{a:.3} bits per character for A, {b:.3} for B: {better} predicts the text \
                     better by {less:.3} bits per character."
                )
            });
        }
        sentences
    }

    /// Says which choices differ under each of the settings. `vocabulary` is A's.
    pub fn choice_sentences(&self, vocabulary: &Vocabulary) -> Vec<String> {
        if !self.facts.has_same_tokens {
            return Vec::new();
        }
        let n = grouped(self.gaps.len() as f64);
        let all = all_positions(self.gaps.len());
        let one = match self.gaps.len() {
            1 => "the only choice".to_owned(),
            _ => format!("1 of {n} choices"),
        };
        let sentence = |(index, settings): (usize, &String)| {
            let choices: Vec<_> = self.other_choices(index).collect();
            let word = |token: TokenId| quoted(&vocabulary.piece(token));
            match choices.as_slice() {
                [] => format!("Under {settings}, both pick the same token {all}."),
                [(first, [a, b]), rest @ ..] => {
                    let first = format!(
                        "{} instead of {} at token {}",
                        word(*b),
                        word(*a),
                        first + 1
                    );
                    if rest.is_empty() {
                        format!("Under {settings}, {one} differs: {first}.")
                    } else {
                        let n_other = rest.len() + 1;
                        format!(
                            "Under {settings}, {n_other} of {n} choices differ; the first is {first}."
                        )
                    }
                }
            }
        };
        self.settings.iter().enumerate().map(sentence).collect()
    }

    /// Formats a token's number and text: "token 57 ‘ fox’".
    fn place(&self, index: usize) -> String {
        let token = self.predicted[0].get(index);
        let word = token.map_or_else(String::new, |token| format!(" {}", quoted(&token.piece)));
        format!("token {}{word}", index + 1)
    }

    /// Returns the figures of both models as a table with a header row.
    pub fn figures(&self) -> Vec<Vec<String>> {
        let row =
            |name: &str, value: &dyn Fn(usize) -> String| vec![value(0), value(1), name.to_owned()];
        let number = |value: Option<f64>, decimals: usize| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}"))
        };
        let mut rows = vec![
            row("", &|model| {
                ["A", "B"]
                    .get(model)
                    .copied()
                    .unwrap_or_default()
                    .to_owned()
            }),
            row("tokens", &|model| {
                grouped(self.predicted.get(model).map_or(0, Vec::len) as f64)
            }),
        ];
        if self.facts.has_same_tokens {
            rows.push(row("perplexity", &|model| {
                number(self.perplexity(model), 3)
            }));
        }
        rows.push(row("bits per character", &|model| {
            number(self.bits_per_char(model), 4)
        }));
        rows.push(row(
            "tokens ranked first",
            &|model| match self.top_share(model) {
                None => "–".to_owned(),
                Some(share) if share > 0.0 => percent(share),
                Some(_) => "0 %".to_owned(),
            },
        ));
        rows
    }

    /// Returns the tokens with the largest divergence, at most `n`, as a table with a header row.
    pub fn largest(&self, n: usize) -> Vec<Vec<String>> {
        let head = [
            "token",
            "KL",
            "p(A)",
            "p(B)",
            "rank A",
            "rank B",
            "margin",
            "noise",
            "text; A’s first choice, B’s",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for index in self.by_divergence().into_iter().take(n) {
            let (Some(gap), Some(a), Some(b)) = (
                self.gaps.get(index),
                self.predicted[0].get(index),
                self.predicted[1].get(index),
            ) else {
                continue;
            };
            let prob = |token: &PredictedToken| percent(token.ln_prob.exp());
            let words = if a.top == b.top {
                format!("{}; both {}", quoted(&a.piece), quoted(&a.top_piece))
            } else {
                format!(
                    "{}; {}, {}",
                    quoted(&a.piece),
                    quoted(&a.top_piece),
                    quoted(&b.top_piece)
                )
            };
            rows.push(vec![
                (index + 1).to_string(),
                nats(gap.kl),
                prob(a),
                prob(b),
                grouped(f64::from(a.rank)),
                grouped(f64::from(b.rank)),
                nats(a.margin),
                nats(gap.noise),
                words,
            ]);
        }
        rows
    }
}

/// "at all 1,024 positions".
fn all_positions(n: usize) -> String {
    match n {
        1 => "at the only position".to_owned(),
        n => format!("at all {} positions", grouped(n as f64)),
    }
}

#[cfg(test)]
mod tests {
    use super::{all_positions, nats};
    use crate::decoding::TokenId;
    use crate::generation::testing::generation;
    use crate::lab::models::figures::testing::{apart, compared};

    #[test]
    fn divergences_are_short() {
        for (value, words) in [
            (0.0, "0"),
            (3.2e-7, "3e−7"),
            (0.000_12, "0.00012"),
            (0.0416, "0.042"),
            (1.26, "1.3"),
            (12.6, "12.6"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(nats(value), words);
        }
    }

    #[test]
    fn one_position_is_not_called_all_positions() {
        assert_eq!(all_positions(1), "at the only position");
        assert_eq!(all_positions(1200), "at all 1,200 positions");
    }

    #[test]
    fn a_share_of_no_tokens_is_zero() {
        let mut compared = compared();
        for token in &mut compared.predicted[0] {
            token.rank = 2;
        }
        let figures = compared.figures();
        assert_eq!(
            figures.last().unwrap()[..2],
            ["0 %".to_owned(), "67 %".to_owned()]
        );
    }

    #[test]
    fn what_differs_is_said_in_sentences() {
        let compared = compared();
        assert_eq!(compared.names(), ["A Tiny (Q8_0)", "B Tiny (Q4_0)"]);
        assert_eq!(
            compared.sentences(),
            [
                "KL divergence 0.15 nats per token on average, at most 0.40 at token 3 ‘ran’.",
                "At 1 of 3 positions they rank different tokens first: token 3 ‘ran’, where the \
                 margin is below the noise.",
            ]
        );
        let choices = compared.choice_sentences(&generation(&[]).vocabulary);
        assert!(
            choices[0].starts_with("Under greedy, 1 of 3 choices differs: "),
            "{choices:?}"
        );
        assert_eq!(
            choices[1],
            "Under T 0.7, seed 42, both pick the same token at all 3 positions."
        );
        let largest = compared.largest(2);
        assert_eq!(largest[1][..4], ["3", "0.40", "50 %", "25 %"]);
        assert_eq!(largest.len(), 3);
    }

    #[test]
    fn the_first_of_several_choices_that_differ_is_named() {
        let mut compared = compared();
        compared.gaps[0].choices[0] = [TokenId(1), TokenId(2)];
        let choices = compared.choice_sentences(&generation(&[]).vocabulary);
        assert_eq!(
            choices[0],
            "Under greedy, 2 of 3 choices differ; the first is ‘a’ instead of ‘the’ at token 1."
        );
    }

    #[test]
    fn models_with_different_tokens_are_compared_by_characters() {
        assert!(
            apart()
                .choice_sentences(&generation(&[]).vocabulary)
                .is_empty()
        );
        let mut compared = apart();
        assert_eq!(
            compared.sentences(),
            [
                "The models split the text into different tokens (3 and 2), so they are compared \
                 by characters.",
                "0.750 bits per character for both: they predict the text equally well.",
            ]
        );
        // B's first token lies before the first common boundary, so it doesn't count.
        compared.predicted[1][1].ln_prob = 0.25_f64.ln();
        compared.predicted[1][0].ln_prob = -9.0;
        assert_eq!(
            compared.sentences()[1],
            "0.750 bits per character for A, 0.500 for B: B predicts the text better by 0.250 bits \
             per character."
        );
    }
}
