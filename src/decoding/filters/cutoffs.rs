//! Epsilon and eta cut-off: drop what is less likely than a bar, fixed or following the entropy.

use serde::{Deserialize, Serialize};

use crate::decoding::{Candidates, Rule, StageContext};

/// Drops every candidate less likely than `epsilon`; the most likely one, and its equals, stay.
/// 0 does nothing.
///
/// Hewitt, Manning, Liang 2022, "Truncation Sampling as Language Model Desmoothing".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpsilonCutoff {
    /// The least probability, usually 0.0003 to 0.001.
    pub epsilon: f32,
}

/// Drops every candidate less likely than `min(epsilon, √epsilon · e^(-H))`, where H is the entropy;
/// the most likely one, and its equals, stay. 0 does nothing.
///
/// Hewitt, Manning, Liang 2022, "Truncation Sampling as Language Model Desmoothing".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EtaCutoff {
    /// The value from which the bar follows, usually 0.0003 to 0.004.
    pub epsilon: f32,
}

impl Rule for EpsilonCutoff {
    fn name(&self) -> &'static str {
        "Epsilon cut-off"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        cut_below(f64::from(self.epsilon), context, candidates);
    }

    fn is_neutral(&self) -> bool {
        self.epsilon <= 0.0
    }

    fn complaint(&self) -> Option<String> {
        let possible = (0.0..1.0).contains(&self.epsilon);
        (!possible).then(|| "Epsilon lies between 0 and 1".to_owned())
    }

    fn cuts(&self) -> bool {
        true
    }
}

impl Rule for EtaCutoff {
    fn name(&self) -> &'static str {
        "Eta cut-off"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let epsilon = f64::from(self.epsilon);
        let by_entropy = epsilon.sqrt() * (-candidates.softmax().entropy_nats).exp();
        cut_below(epsilon.min(by_entropy), context, candidates);
    }

    fn is_neutral(&self) -> bool {
        self.epsilon <= 0.0
    }

    fn complaint(&self) -> Option<String> {
        let possible = (0.0..1.0).contains(&self.epsilon);
        (!possible).then(|| "Eta lies between 0 and 1".to_owned())
    }

    fn cuts(&self) -> bool {
        true
    }
}

fn cut_below(prob: f64, context: StageContext<'_>, candidates: &mut Candidates) {
    let n_safe = context.rules.min_keep.max(1) as usize;
    let safe = candidates.head(n_safe).last().map(|last| last.logit);
    let bar = (prob.ln() + candidates.softmax().log_sum_exp) as f32;
    candidates.keep_from(safe.map_or(bar, |safe| safe.min(bar)));
}

impl std::fmt::Display for EpsilonCutoff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "epsilon {}", self.epsilon)
    }
}

impl std::fmt::Display for EtaCutoff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "eta {}", self.epsilon)
    }
}

#[cfg(test)]
mod tests {
    use super::{EpsilonCutoff, EtaCutoff};
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    const P: [f32; 4] = [0.1, 0.2, 0.3, 0.4];

    #[test]
    fn what_is_less_likely_than_epsilon_goes() {
        for (epsilon, probs, expected) in [
            (0.0, P, P),
            (0.05, P, P),
            (0.15, P, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (0.9, P, [0.0, 0.0, 0.0, 1.0]),
            (0.9, [0.4, 0.2, 0.4, 0.0], [0.5, 0.0, 0.5, 0.0]),
        ] {
            check_filter(
                &Filter::EpsilonCutoff(EpsilonCutoff { epsilon }),
                &probs,
                &expected,
            );
        }
    }

    #[test]
    fn the_bar_of_eta_falls_with_the_entropy() {
        // Entropy 1.2799: √0.5 · e^-1.2799 = 0.1966 and √0.9 · e^-1.2799 = 0.2638.
        for (epsilon, expected) in [
            (0.0, P),
            (0.05, P),
            (0.5, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (0.9, [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0]),
        ] {
            check_filter(&Filter::EtaCutoff(EtaCutoff { epsilon }), &P, &expected);
        }
    }
}
