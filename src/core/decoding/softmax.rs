//! From logits to probabilities: the softmax over a row, computed in one pass.

use pulp::{Simd, WithSimd};

use super::candidates::BLOCK;

use crate::kernels::{arch, exp_normal};

/// How many blocks are summed with the 64-bit exponential; later ones use [`exp_below`]. So short
/// rows are exact and long ones fast.
const N_EXACT: usize = 16;

/// How many sums run side by side, so that the compiler can vectorize them.
const LANES: usize = 8;

/// The normalization of a row of logits: the probability of a logit is `exp(logit - log_sum_exp)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Softmax {
    /// The largest logit.
    pub max_logit: f32,
    /// Natural logarithm of the sum of `exp(logit)`.
    pub log_sum_exp: f64,
    /// `log_sum_exp - max_logit`, kept separately because logits beyond 10⁹, as after a temperature
    /// of 10⁻⁹, would leave it too few digits of the 64-bit sum.
    ln_mass: f64,
    /// Shannon entropy of the distribution, in nats.
    pub entropy_nats: f64,
    /// How many of the logits are not −∞.
    pub n_possible: usize,
    /// The current sum relative to the last one computed from scratch. The smaller it is, the
    /// larger the relative rounding error.
    since_summed: f64,
}

/// The smallest `since_summed` that is still accurate enough.
const MIN_SINCE_SUMMED: f64 = 0.5;

impl Softmax {
    /// Computes the softmax over these blocks of logits, whose maximum `max_logit` must be a
    /// number.
    ///
    /// From the 17th block on, exponentials have a relative error below 2e-7. The sums are in 64
    /// bits.
    pub fn of<'a>(max_logit: f32, blocks: impl Iterator<Item = &'a [f32]>) -> Self {
        let Sums {
            mass,
            weighted,
            n_possible,
        } = arch::widest().dispatch(Summing { max_logit, blocks });
        Self {
            max_logit,
            log_sum_exp: f64::from(max_logit) + mass.ln(),
            ln_mass: mass.ln(),
            entropy_nats: (mass.ln() - weighted / mass).max(0.0),
            n_possible,
            since_summed: 1.0,
        }
    }

    /// Returns the probability of a candidate with this logit.
    pub fn prob(&self, logit: f32) -> f64 {
        self.ln_prob(logit).exp()
    }

    /// Returns the natural logarithm of the probability of a candidate with this logit.
    pub fn ln_prob(&self, logit: f32) -> f64 {
        f64::from(logit) - f64::from(self.max_logit) - self.ln_mass
    }

    /// Returns `prob` with the 32-bit exponential, for many logits: 0 below e^-87 times the best.
    pub(super) fn quick_probs(&self) -> impl Fn(f32) -> f64 {
        let (best, best_prob) = (self.max_logit, self.prob(self.max_logit));
        move |logit| f64::from(share_of_best(logit - best)) * best_prob
    }

    /// Returns the softmax after some logits were replaced, given as old and new values, or `None`
    /// if so much changed that the sums must be computed from scratch.
    pub(super) fn with_changes(&self, max_logit: f32, replaced: &[(f32, f32)]) -> Option<Self> {
        // All distances are from the largest logit, because huge logits would absorb the other
        // terms.
        let below = |logit: f32| f64::from(logit) - f64::from(self.max_logit);
        let (mut gone, mut come, mut mean) = (0.0, 0.0, self.ln_mass - self.entropy_nats);
        let mut n_possible = self.n_possible;
        for (old, new) in replaced {
            if *old > f32::NEG_INFINITY {
                gone += self.prob(*old);
                mean -= self.prob(*old) * below(*old);
                n_possible -= 1;
            }
            if *new > f32::NEG_INFINITY {
                come += self.prob(*new);
                mean += self.prob(*new) * below(*new);
                n_possible += 1;
            }
        }
        let share = 1.0 - gone + come;
        let since_summed = self.since_summed * share;
        if gone > 0.5 || come > 1.0 || since_summed < MIN_SINCE_SUMMED {
            return None;
        }
        let ln_mass = self.ln_mass + share.ln();
        Some(Self {
            max_logit,
            log_sum_exp: self.log_sum_exp + share.ln(),
            ln_mass: ln_mass - below(max_logit),
            entropy_nats: (ln_mass - mean / share).max(0.0),
            n_possible,
            since_summed,
        })
    }

    /// Returns the probability that is left when some candidates are dropped and `after` remains.
    pub fn share_kept(&self, after: Self) -> f64 {
        let drop = f64::from(self.max_logit) - f64::from(after.max_logit);
        (after.ln_mass - self.ln_mass - drop).exp().min(1.0)
    }
}

/// Sums over all blocks. It is a type rather than a closure because only code inlined into
/// `with_simd` is compiled for the CPU's instruction set.
struct Summing<I> {
    max_logit: f32,
    blocks: I,
}

impl<'a, I: Iterator<Item = &'a [f32]>> WithSimd for Summing<I> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Sums {
        let mut sums = Sums::default();
        for (number, block) in self.blocks.enumerate() {
            match <&[f32; BLOCK]>::try_from(block) {
                Ok(block) if number >= N_EXACT => sums.add_quickly(self.max_logit, block),
                _ => sums.add_exactly(self.max_logit, block),
            }
        }
        sums
    }
}

/// Sums over d, the distance of a logit from the largest.
#[derive(Default)]
struct Sums {
    /// The sum of `exp(d)`.
    mass: f64,
    /// The sum of `d · exp(d)`.
    weighted: f64,
    n_possible: usize,
}

impl Sums {
    fn add_exactly(&mut self, max_logit: f32, logits: &[f32]) {
        for logit in logits {
            let below = f64::from(*logit) - f64::from(max_logit);
            if below > f64::NEG_INFINITY {
                let share = below.exp();
                self.mass += share;
                self.weighted += share * below;
                self.n_possible += 1;
            }
        }
    }

    /// Sums a block in 32 bits, then adds it in 64.
    #[inline(always)]
    fn add_quickly(&mut self, max_logit: f32, block: &[f32; BLOCK]) {
        let (rows, _) = block.as_chunks::<LANES>();
        let (mut mass, mut weighted) = ([0_f32; LANES], [0_f32; LANES]);
        let mut n_possible = [0_u32; LANES];
        for row in rows {
            let lanes = mass.iter_mut().zip(&mut weighted).zip(&mut n_possible);
            for (((mass, weighted), n_possible), logit) in lanes.zip(row) {
                let below = at_least_lowest(logit - max_logit);
                let share = exp_below(below);
                *mass += share;
                *weighted += share * below;
                *n_possible += u32::from(*logit > f32::NEG_INFINITY);
            }
        }
        self.mass += f64::from(mass.iter().sum::<f32>());
        self.weighted += f64::from(weighted.iter().sum::<f32>());
        self.n_possible += n_possible.iter().sum::<u32>() as usize;
    }
}

/// Below this, `exp` is smaller than the smallest normal number, and [`exp_below`] returns 0.
const LOWEST: f32 = -87.3;

/// Returns `exp(below)` in 32 bits for a distance of at most 0, and 0 far below and at −∞.
#[inline(always)]
pub(super) fn share_of_best(below: f32) -> f32 {
    exp_below(at_least_lowest(below))
}

/// Clamps in one instruction; `f32::max` needs several because of NaN.
#[inline(always)]
fn at_least_lowest(below: f32) -> f32 {
    if below > LOWEST { below } else { LOWEST }
}

/// Returns `exp(x)` for `x` from [`LOWEST`] to 0, and 0 at [`LOWEST`], without a branch, so that
/// the compiler can vectorize it.
#[inline(always)]
fn exp_below(x: f32) -> f32 {
    if x > LOWEST {
        exp_normal::<false>(x)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, LOWEST, Softmax, Sums, exp_below};

    #[test]
    fn softmax_matches_its_closed_forms() {
        let low = f32::NEG_INFINITY;
        for (logits, log_sum_exp, entropy) in [
            (&[0.0][..], 0.0, 0.0),
            (&[2.0, 2.0], 2.0 + 2_f64.ln(), 2_f64.ln()),
            (&[5.0, low, low], 5.0, 0.0),
            (&[-80.0; 8], -80.0 + 8_f64.ln(), 8_f64.ln()),
            (&[f32::MAX, 0.0], f64::from(f32::MAX), 0.0),
            (&vec![3.0; 5000], 3.0 + 5000_f64.ln(), 5000_f64.ln()),
        ] {
            let max = logits.iter().copied().fold(low, f32::max);
            let softmax = Softmax::of(max, logits.chunks(BLOCK));
            assert!((softmax.log_sum_exp - log_sum_exp).abs() < 1e-6);
            assert!((softmax.entropy_nats - entropy).abs() < 1e-6);
            let n_possible = logits.iter().filter(|logit| **logit > low).count();
            assert_eq!(softmax.n_possible, n_possible);
        }
    }

    #[test]
    fn probabilities_of_huge_logits_sum_to_one() {
        for n in [2_u8, 3, 7] {
            let logits = vec![1.994e10; usize::from(n)];
            let softmax = Softmax::of(1.994e10, logits.chunks(BLOCK));
            let off = softmax.prob(1.994e10) * f64::from(n) - 1.0;
            assert!(off.abs() < 1e-12, "{n}: {off}");
        }
    }

    #[test]
    fn the_fast_exponential_is_within_its_error_bound() {
        let worst = (0..=873_000_u32)
            .map(|i| LOWEST.max(-(i as f32) * 1e-4))
            .filter(|x| *x > LOWEST)
            .map(|x| (f64::from(exp_below(x)) / f64::from(x).exp() - 1.0).abs())
            .fold(0.0, f64::max);
        assert!(worst < 2e-7, "{worst}");
        assert!((exp_below(0.0) - 1.0).abs() < f32::EPSILON);
        assert!(exp_below(LOWEST) <= 0.0);
    }

    #[test]
    fn fast_sums_equal_exact_ones() {
        for spread in [0.0, 0.01, 1.0, 5.0, 30.0, 1000.0] {
            let logits: Vec<f32> = (0..151_936_u32)
                .map(|i| match i % 1000 {
                    0 => f32::NEG_INFINITY,
                    _ => (i.wrapping_mul(2_654_435_761) >> 8) as f32 / -16_777_216.0 * spread,
                })
                .collect();
            let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let (mut exact, mut quick) = (Sums::default(), Sums::default());
            for block in logits.as_chunks().0 {
                exact.add_exactly(max, block);
                quick.add_quickly(max, block);
            }
            assert!((quick.mass / exact.mass - 1.0).abs() < 2e-7, "{spread}");
            assert!(
                (quick.weighted - exact.weighted).abs() <= 1e-6 * exact.weighted.abs(),
                "{spread}"
            );
            assert_eq!(quick.n_possible, exact.n_possible);
        }
    }

    #[test]
    fn changes_of_huge_logits_equal_a_new_sum() {
        for huge in [1e10_f32, 1e20, 1e38, -1e20] {
            let logits = [huge; 4];
            let before = Softmax::of(huge, logits.chunks(BLOCK));
            // One more or one less is lost in 32 bits, so nothing changes.
            let after = before.with_changes(huge, &[(huge, huge + 1.0)]).unwrap();
            assert!((after.prob(huge) - 0.25).abs() < 1e-12, "{huge}");
            assert!((after.entropy_nats - 4_f64.ln()).abs() < 1e-12, "{huge}");
            let fewer = before
                .with_changes(huge, &[(huge, f32::NEG_INFINITY)])
                .unwrap();
            assert!((fewer.prob(huge) - 1.0 / 3.0).abs() < 1e-12, "{huge}");
            assert!((before.share_kept(fewer) - 0.75).abs() < 1e-12, "{huge}");
        }
    }

    #[test]
    fn changes_equal_a_new_sum() {
        let low = f32::NEG_INFINITY;
        let logits = [1.0, 2.0, 3.0, 2.5, low];
        let before = Softmax::of(3.0, logits.chunks(BLOCK));
        for (place, new) in [(0, 2.9), (1, low), (4, 2.0), (3, -1.0), (0, 1.0)] {
            let mut after = logits;
            after[place] = new;
            let expected = Softmax::of(3.0, after.chunks(BLOCK));
            let changed = before.with_changes(3.0, &[(logits[place], new)]).unwrap();
            assert!((changed.log_sum_exp - expected.log_sum_exp).abs() < 1e-12);
            assert!((changed.entropy_nats - expected.entropy_nats).abs() < 1e-12);
            assert_eq!(changed.n_possible, expected.n_possible);
        }
        assert_eq!(before.with_changes(2.5, &[(3.0, low), (2.5, low)]), None);
        // Small changes add up.
        let equal = Softmax::of(0.0, [0.0; 10].chunks(BLOCK));
        let less = |sum: Softmax| sum.with_changes(0.0, &[(0.0, low)]);
        let left = (0..6).try_fold(equal, |sum, n| less(sum).ok_or(n));
        assert_eq!(left, Err(5));
        assert_eq!(before.with_changes(90.0, &[(1.0, 90.0)]), None);
    }
}
