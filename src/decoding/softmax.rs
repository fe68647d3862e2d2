//! From scores to probabilities: what the softmax over a row needs, computed in one pass.

/// What the softmax over some logits needs. The probability of a logit is
/// `exp(logit - log_sum_exp)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Softmax {
    /// The largest logit.
    pub max_logit: f32,
    /// Natural logarithm of the sum of `exp(logit)`.
    pub log_sum_exp: f64,
    /// Shannon entropy of the distribution, in nats.
    pub entropy_nats: f64,
}

impl Softmax {
    /// Over these logits, the largest of which is `max_logit`, a number.
    pub fn of(max_logit: f32, logits: &[f32]) -> Self {
        let max = f64::from(max_logit);
        let (mut mass, mut weighted) = (0_f64, 0_f64);
        for logit in logits {
            let below = f64::from(*logit) - max;
            if below > f64::NEG_INFINITY {
                let share = below.exp();
                mass += share;
                weighted += share * below;
            }
        }
        Self {
            max_logit,
            log_sum_exp: max + mass.ln(),
            entropy_nats: (mass.ln() - weighted / mass).max(0.0),
        }
    }

    /// The probability of a candidate with this logit.
    pub fn prob(&self, logit: f32) -> f64 {
        (f64::from(logit) - self.log_sum_exp).exp()
    }

    /// The share of this distribution that is left when some are cut and `after` remains.
    pub fn share_kept(&self, after: Self) -> f64 {
        (after.log_sum_exp - self.log_sum_exp).exp().min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Softmax;

    #[test]
    fn softmax_matches_its_closed_forms() {
        let low = f32::NEG_INFINITY;
        for (logits, log_sum_exp, entropy) in [
            (&[0.0][..], 0.0, 0.0),
            (&[2.0, 2.0], 2.0 + 2_f64.ln(), 2_f64.ln()),
            (&[5.0, low, low], 5.0, 0.0),
            (&[-80.0; 8], -80.0 + 8_f64.ln(), 8_f64.ln()),
            (&[f32::MAX, 0.0], f64::from(f32::MAX), 0.0),
        ] {
            let max = logits.iter().copied().fold(low, f32::max);
            let softmax = Softmax::of(max, logits);
            assert!(
                (softmax.log_sum_exp - log_sum_exp).abs() < 1e-6,
                "{logits:?}"
            );
            assert!((softmax.entropy_nats - entropy).abs() < 1e-6, "{logits:?}");
        }
    }
}
