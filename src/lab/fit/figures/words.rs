//! A fit's results as sentences.

use crate::analysis::sweep::{Axis, label};
use crate::generation::formatting::{counted, grouped, quoted};
use crate::generation::{FitPlace, Likelihood, Vocabulary, in_sentence};
use crate::lab::fit::{Fit, FitInterval, FitLimit, FitPoint};

impl Fit {
    /// "This text is most likely under T 1.2 · top-p 0.64: 0.20 bits per token.", or the token
    /// that rules it out. `None` until something is known.
    pub fn best_sentence(&self, vocabulary: &Vocabulary) -> Option<String> {
        let Some(best) = self.best() else {
            let place = self.place_words(self.ruled_out_everywhere()?, vocabulary);
            let it = self.it();
            let chip = self.axis_words();
            return Some(format!(
                "None of these values of {chip} can generate {it}: even those that get furthest \
                 rule out {place}."
            ));
        };
        let subject = self.subject();
        let words = self.setup.words(&best.values);
        let bits = self.bits_words(best.likelihood)?;
        Some(format!(
            "{subject} most likely under {words}: {bits} per token."
        ))
    }

    /// "Temperature 0.72 to 1.44 explains it nearly as well, each value with its own top-p."
    pub fn interval_sentences(&self) -> Vec<String> {
        let Some(intervals) = self.intervals() else {
            return Vec::new();
        };
        let axes = self.setup.axes();
        let sentences = axes.iter().zip(&intervals).map(|(axis, interval)| {
            let name = axis.parameter.name();
            let values = interval_words(axis, interval);
            let others: Vec<String> = axes
                .iter()
                .filter(|other| other.parameter != axis.parameter)
                .map(|other| in_sentence(&other.parameter.name()))
                .collect();
            let it = self.it();
            match others.as_slice() {
                [] => format!("{name} {values} explains {it} nearly as well."),
                [other, ..] => format!(
                    "{name} {values} explains {it} nearly as well, each value with its own {other}."
                ),
            }
        });
        sentences.collect()
    }

    /// Says what "nearly as well" means.
    pub fn interval_note(&self) -> String {
        let axes = self.setup.axes();
        let nats: Vec<f64> = (0..axes.len())
            .map(|axis| self.setup.interval_nats(axis))
            .collect();
        match (axes.as_slice(), nats.as_slice()) {
            ([first, second], [one, other]) if (one - other).abs() > f64::EPSILON => {
                let named = |axis: &Axis, nats: &f64| {
                    format!("{nats} nats for {}", in_sentence(&axis.parameter.name()))
                };
                let (first, second) = (named(first, one), named(second, other));
                format!(
                    "Nearly as well means less than {first} and {second} below the best: 95 % \
                     likelihood-ratio intervals."
                )
            }
            (_, nats) => {
                let nats = nats.first().copied().unwrap_or_default();
                format!(
                    "Nearly as well means less than {nats} nats below the best, that is, at most \
                     {:.0} times less likely: a 95 % likelihood-ratio interval.",
                    nats.exp()
                )
            }
        }
    }

    /// "With T 0.7, top-p 0.9 it is 3.3 bits less likely." The settings can also be likelier than
    /// the best, because the range that was tried need not contain them.
    pub fn base_sentence(&self, vocabulary: &Vocabulary) -> Option<String> {
        let (base, best) = (self.base?, self.best()?);
        let settings = &self.setup.base;
        let it = if self.texts.len() > 1 {
            "they are"
        } else {
            "it is"
        };
        if let Some(place) = base.ruled_out {
            let place = self.place_words(place, vocabulary);
            return Some(format!("The settings {settings} can’t generate {place}."));
        }
        let nats = best.likelihood.ln_prob - base.ln_prob;
        let bits = nats / std::f64::consts::LN_2;
        Some(if bits.abs() < 0.05 {
            format!("With {settings} {it} just as likely.")
        } else if bits < 0.0 {
            let (value, range) = match self.setup.columns {
                None => ("value", "range that was"),
                Some(_) => ("values", "ranges that were"),
            };
            format!(
                "With {settings} {it} {:.1} bits more likely; the best {value} may lie outside the \
                 {range} tried.",
                bits.abs()
            )
        } else {
            let near = if nats < self.setup.region_nats() {
                ": the texts can’t tell them apart"
            } else {
                ""
            };
            let near = if self.texts.len() > 1 {
                near.to_owned()
            } else {
                near.replace("texts", "text")
            };
            format!("With {settings} {it} {bits:.1} bits less likely{near}.")
        })
    }

    /// "Top-p below 0.83 can’t generate ‘beside’ at token 31.", preceded by the value of the row if
    /// it is a map: "T 0.7".
    pub fn limit_words(&self, limit: &FitLimit, vocabulary: &Vocabulary) -> (String, String) {
        let row = limit.row.map_or_else(String::new, |row| {
            format!("{} {}", self.setup.rows.parameter.chip(), label(row))
        });
        let place = self.place_words(limit.place, vocabulary);
        let parameter = self.limited_axis().parameter;
        let name = parameter.name();
        let side = if limit.is_lower() { "below" } else { "above" };
        let value = significant(limit.possible, 4);
        (
            row,
            format!("{name} {side} {value} can’t generate {place}."),
        )
    }

    /// Describes the likelihood at a cell or another point: "0.24 bits per token", "can’t generate
    /// ‘And’ at token 183".
    pub fn likelihood_words(&self, likelihood: Likelihood, vocabulary: &Vocabulary) -> String {
        if let Some(place) = likelihood.ruled_out {
            return format!("can’t generate {}", self.place_words(place, vocabulary));
        }
        let bits = self.bits_words(likelihood).unwrap_or_default();
        let ratio = self
            .best()
            .map_or(0.0, |best| best.likelihood.ln_prob - likelihood.ln_prob);
        let less = ratio / std::f64::consts::LN_2;
        if less < 0.05 {
            format!("{bits} per token, as likely as the best")
        } else {
            format!("{bits} per token, {less:.1} bits less likely in total")
        }
    }

    /// "190 tokens", "3 texts of 402 tokens".
    pub fn size_words(&self) -> String {
        let n = counted(self.n_tokens(), "token");
        match self.texts.len() {
            1 => n,
            texts => format!("{texts} texts of {n}"),
        }
    }

    /// "Text 2 is read up to token 384, where the context ends: 20 tokens are left out."
    pub fn left_out_sentences(&self) -> Vec<String> {
        let long = self
            .texts
            .iter()
            .enumerate()
            .filter(|(_, text)| text.n_left_out > 0);
        let sentences = long.map(|(index, text)| {
            let name = if self.texts.len() > 1 {
                format!("Text {}", index + 1)
            } else {
                "The text".to_owned()
            };
            let n = grouped(text.fitted().len() as f64);
            let left = match text.n_left_out {
                1 => "1 token is".to_owned(),
                left => format!("{} tokens are", grouped(left as f64)),
            };
            format!("{name} is read up to token {n}, where the context ends: {left} left out.")
        });
        sentences.collect()
    }

    /// Says which texts and which model the result holds for.
    pub fn scope_sentence(&self) -> &'static str {
        if self.texts.len() > 1 {
            "This holds only for these texts and this model."
        } else {
            "This holds only for this text and this model."
        }
    }

    /// "‘beside’ at token 31", "‘beside’ at token 31 of text 2".
    pub fn place_words(&self, place: FitPlace, vocabulary: &Vocabulary) -> String {
        let text = self.texts.get(place.text);
        let token = text.and_then(|text| text.fitted().get(place.step));
        let piece = token.map_or_else(String::new, |token| quoted(&vocabulary.piece(*token)));
        let of_text = if self.texts.len() > 1 {
            format!(" of text {}", place.text + 1)
        } else {
            String::new()
        };
        format!("{piece} at token {}{of_text}", place.step + 1)
    }

    /// Describes a point and its likelihood, for screen readers and next to the cursor.
    pub fn point_sentence(&self, point: &FitPoint, vocabulary: &Vocabulary) -> String {
        let values = self
            .setup
            .axes()
            .into_iter()
            .zip(&point.values)
            .map(|(axis, value)| {
                let name = axis.parameter.name();
                format!("{name} {}", label(*value))
            })
            .collect::<Vec<_>>()
            .join(", ");
        let words = self.likelihood_words(point.likelihood, vocabulary);
        format!("{values}: {words}")
    }

    fn bits_words(&self, likelihood: Likelihood) -> Option<String> {
        let bits = self.bits_per_token(likelihood)?;
        Some(format!("{bits:.2} bits"))
    }

    fn subject(&self) -> String {
        match self.texts.len() {
            1 => "This text is".to_owned(),
            n => format!("These {n} texts are"),
        }
    }

    fn it(&self) -> &'static str {
        if self.texts.len() > 1 { "them" } else { "it" }
    }

    fn axis_words(&self) -> String {
        let axes = self.setup.axes().into_iter();
        let names = axes.map(|axis| in_sentence(&axis.parameter.name()));
        names.collect::<Vec<_>>().join(" and ")
    }
}

/// "0.62 to 0.81", "up to 0.81 (from 0.2, the lowest value tried)".
fn interval_words(axis: &Axis, interval: &FitInterval) -> String {
    let (low, high) = (significant(interval.low, 3), significant(interval.high, 3));
    match (interval.is_open_below, interval.is_open_above) {
        _ if low == high && axis.values().len() > 1 => low,
        (true, true) => format!("{low} to {high}, the whole range tried,"),
        (true, false) => format!("up to {high} (from {low}, the lowest value tried)"),
        (false, true) => format!("from {low} (to {high}, the highest value tried)"),
        (false, false) => format!("{low} to {high}"),
    }
}

/// Formats a value with at most this many significant digits: "0.0123", "1.2".
fn significant(value: f64, n_digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let whole = value.abs().log10().floor() + 1.0;
    let power = 10_f64.powf(f64::from(n_digits) - whole);
    ((value * power).round() / power).to_string()
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn a_value_keeps_its_first_digits() {
        for (value, words) in [
            (0.782_143, "0.782"),
            (1.196_1, "1.2"),
            (0.000_312_4, "0.000312"),
            (17.0, "17"),
            (1.0, "1"),
            (0.0, "0"),
        ] {
            assert_eq!(significant(value, 3), words);
        }
    }
}
