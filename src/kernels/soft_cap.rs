//! The soft cap of scores and logits.

use super::exp::exp;

/// Replaces x by cap × tanh(x / cap). Bello et al. 2016, "Neural Combinatorial Optimization with
/// Reinforcement Learning".
#[expect(
    clippy::inline_always,
    reason = "a loop is compiled for the instructions of its caller only if it is inlined there"
)]
#[inline(always)]
pub fn soft_cap(cap: f32, values: &mut [f32]) {
    for value in values {
        // tanh(y) = 1 − 2 / (e^2y + 1)
        *value = cap - 2.0 * cap / (exp(2.0 / cap * *value) + 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::soft_cap;

    #[test]
    fn the_soft_cap_is_a_scaled_hyperbolic_tangent() {
        for value in [-1000.0_f32, -60.0, -3.0, -1e-3, 0.0, 0.5, 30.0, 200.0, 1e6] {
            let mut values = [value];
            soft_cap(50.0, &mut values);
            let expected = 50.0 * (value / 50.0).tanh();
            assert!((values[0] - expected).abs() < 2e-5, "{value}: {values:?}");
        }
    }
}
