//! Which of a model's early layers a token is contrasted with.

/// Returns the index of the early row whose distribution is farthest from that of the last layer, the
/// first among equals.
///
/// With the average M of both distributions, the distance is the mean of KL(M‖last) and
/// KL(M‖early), as in the authors' code and in transformers' `dola_layers`. The paper names the
/// Jensen–Shannon divergence, which is the mean of KL(last‖M) and KL(early‖M). Tokens that the last
/// layer rules out don't count.
///
/// Chuang et al. 2023, "DoLa: Decoding by Contrasting Layers Improves Factuality in Large Language
/// Models", arXiv 2309.03883.
pub fn most_divergent(last: &[f32], early: &[&[f32]]) -> usize {
    if early.len() < 2 {
        return 0;
    }
    let last_sum = log_sum_exp(last);
    let last: Vec<f64> = last
        .iter()
        .map(|logit| f64::from(*logit) - last_sum)
        .collect();
    let mut farthest = (0, f64::NEG_INFINITY);
    for (index, row) in early.iter().enumerate() {
        let distance = distance(&last, row);
        if distance > farthest.1 {
            farthest = (index, distance);
        }
    }
    farthest.0
}

/// The distance of a row of logits from log-probs.
fn distance(last: &[f64], early: &[f32]) -> f64 {
    let early_sum = log_sum_exp(early);
    let terms = last.iter().zip(early).map(|(last, early)| {
        let early = f64::from(*early) - early_sum;
        let average = f64::midpoint(last.exp(), early.exp());
        if *last > f64::NEG_INFINITY && average > 0.0 {
            average * (average.ln() - f64::midpoint(*last, early))
        } else {
            0.0
        }
    });
    terms.sum()
}

fn log_sum_exp(logits: &[f32]) -> f64 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exps = logits.iter().map(|logit| f64::from(logit - largest).exp());
    f64::from(largest) + exps.sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::{distance, most_divergent};
    use crate::decoding::testing::logits_of;

    #[test]
    fn the_farthest_layer_is_chosen() {
        let last = logits_of(&[0.7, 0.2, 0.1]);
        let near = logits_of(&[0.6, 0.3, 0.1]);
        let far = logits_of(&[0.1, 0.2, 0.7]);
        assert_eq!(most_divergent(&last, &[&near]), 0);
        assert_eq!(most_divergent(&last, &[&near, &far]), 1);
        assert_eq!(most_divergent(&last, &[&far, &near, &far]), 0);
    }

    #[test]
    fn the_distance_is_the_mean_divergence_of_the_average_from_both() {
        let (last, early) = ([0.7_f64, 0.2, 0.1], [0.1_f64, 0.2, 0.7]);
        // The average is 0.4, 0.2, 0.4: 0.4 ln(0.4 / 0.7) + 0.4 ln(0.4 / 0.1), for either.
        let expected = 0.4 * (0.4_f64 / 0.7).ln() + 0.4 * 4.0_f64.ln();
        let row = early.map(|prob| (prob.ln() + 3.0) as f32);
        let found = distance(&last.map(f64::ln), &row);
        assert!((found - expected).abs() < 1e-6, "{found}");
    }

    #[test]
    fn a_token_that_the_last_layer_rules_out_does_not_count() {
        let last = [0.0, 1.0, f32::NEG_INFINITY];
        let near = [0.0, 1.0, 0.0];
        let far = [1.0, 0.0, f32::NEG_INFINITY];
        assert_eq!(most_divergent(&last, &[&near, &far]), 1);
    }
}
