//! Which experts a token uses, and with what weights.

use crate::engine::blueprint::{ExpertGroups, Experts, Router, Scoring};
use crate::kernels::exp;

/// A row that an expert computes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::engine::decoder) struct Use {
    pub row: usize,
    /// Multiplies the expert's output.
    pub weight: f32,
}

/// An expert, and the rows that it computes.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine::decoder) struct ExpertRows {
    pub expert: usize,
    pub uses: Vec<Use>,
}

/// Chooses the experts of all rows from the router's outputs, `[rows, experts]`. Returns the experts
/// that any row uses in the order of their numbers, each with its rows in order: so a row adds up its
/// experts' outputs in the same order, whatever other rows there are.
pub(in crate::engine::decoder) fn route(
    plan: &Experts,
    outputs: &[f32],
    choice_bias: &[f32],
) -> Vec<ExpertRows> {
    let mut uses: Vec<Vec<Use>> = vec![Vec::new(); plan.n_all];
    for (row, outputs) in outputs.chunks_exact(plan.n_all.max(1)).enumerate() {
        for (expert, weight) in choose(&plan.router, plan.n_chosen, outputs, choice_bias) {
            if let Some(uses) = uses.get_mut(expert) {
                uses.push(Use { row, weight });
            }
        }
    }
    let uses = uses.into_iter().enumerate();
    let used = uses.filter(|(_, uses)| !uses.is_empty());
    used.map(|(expert, uses)| ExpertRows { expert, uses })
        .collect()
}

/// Chooses the experts of one row. Of experts with the same score, the first counts as the best.
fn choose(
    router: &Router,
    n_chosen: usize,
    outputs: &[f32],
    choice_bias: &[f32],
) -> Vec<(usize, f32)> {
    let scores = match router.scoring {
        Scoring::Softmax => softmax(outputs),
        Scoring::SoftmaxOfChosen => outputs.to_vec(),
        Scoring::Sigmoid => outputs.iter().map(|x| 1.0 / (1.0 + exp(-x))).collect(),
    };
    let mut for_choice = scores.clone();
    for (score, bias) in for_choice.iter_mut().zip(choice_bias) {
        *score += bias;
    }
    if let Some(groups) = router.groups {
        exclude_groups(groups, &mut for_choice);
    }
    let chosen = best(&for_choice, n_chosen);
    let weights = chosen
        .iter()
        .filter_map(|expert| scores.get(*expert).copied());
    let mut weights: Vec<f32> = weights.collect();
    if router.scoring == Scoring::SoftmaxOfChosen {
        weights = softmax(&weights);
    }
    if router.normalizes {
        let sum = weights.iter().sum::<f32>() + router.eps;
        for weight in &mut weights {
            *weight /= sum;
        }
    }
    for weight in &mut weights {
        *weight *= router.scale;
    }
    chosen.into_iter().zip(weights).collect()
}

/// Returns the indices of the highest scores, the best first.
fn best(scores: &[f32], n: usize) -> Vec<usize> {
    let score = |index: &usize| scores.get(*index).copied().unwrap_or(f32::NEG_INFINITY);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| score(b).total_cmp(&score(a)));
    order.truncate(n);
    order
}

/// Excludes the experts outside of the best groups.
fn exclude_groups(groups: ExpertGroups, scores: &mut [f32]) {
    let n_in_group = (scores.len() / groups.n_groups.max(1)).max(1);
    let of_groups = scores.chunks(n_in_group).map(|scores| {
        let two_best = best(scores, 2).into_iter();
        two_best.filter_map(|index| scores.get(index)).sum::<f32>()
    });
    let chosen = best(&of_groups.collect::<Vec<f32>>(), groups.n_chosen);
    for (group, scores) in scores.chunks_mut(n_in_group).enumerate() {
        if !chosen.contains(&group) {
            scores.fill(f32::NEG_INFINITY);
        }
    }
}

fn softmax(values: &[f32]) -> Vec<f32> {
    let largest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exps: Vec<f32> = values.iter().map(|value| exp(value - largest)).collect();
    let sum: f32 = exps.iter().sum();
    exps.into_iter().map(|exp| exp / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::{choose, route};
    use crate::engine::blueprint::{Beside, ExpertGroups, Experts, Router, Scoring};

    fn chosen(router: Router, bias: &[f32], expected: &[(usize, f32)]) {
        // Softmax: 0.0321, 0.0871, 0.2369, 0.6439. Sigmoid: 0.2689, 0.5, 0.7311, 0.8808.
        let found = choose(&router, 2, &[-1.0, 0.0, 1.0, 2.0], bias);
        assert_eq!(found.len(), expected.len());
        for ((expert, weight), (expected_expert, expected_weight)) in found.iter().zip(expected) {
            assert_eq!(expert, expected_expert, "{router:?}");
            assert!((weight - expected_weight).abs() < 1e-4, "{router:?}");
        }
    }

    #[test]
    fn each_kind_of_router_weighs_experts_in_its_own_way() {
        let plain = Router::SOFTMAX;
        chosen(plain, &[], &[(3, 0.6439), (2, 0.2369)]);
        let normalizes = true;
        chosen(
            Router {
                normalizes,
                ..plain
            },
            &[],
            &[(3, 0.7311), (2, 0.2689)],
        );
        let scoring = Scoring::SoftmaxOfChosen;
        chosen(
            Router { scoring, ..plain },
            &[],
            &[(3, 0.7311), (2, 0.2689)],
        );
        let sigmoid = Router {
            scoring: Scoring::Sigmoid,
            choice_bias: true,
            ..plain
        };
        chosen(sigmoid, &[0.0; 4], &[(3, 0.8808), (2, 0.7311)]);
        // The bias changes the choice, but not the weights.
        let bias = [0.9, 0.0, 0.0, 0.0];
        chosen(sigmoid, &bias, &[(0, 0.2689), (3, 0.8808)]);
        let scaled = Router {
            normalizes,
            scale: 2.0,
            ..sigmoid
        };
        // 2 × 0.2689 / 1.1497 and 2 × 0.8808 / 1.1497.
        chosen(scaled, &bias, &[(0, 0.4678), (3, 1.5322)]);
    }

    #[test]
    fn only_experts_of_the_best_groups_are_chosen() {
        let groups = Some(ExpertGroups {
            n_groups: 2,
            n_chosen: 1,
        });
        let router = Router {
            scoring: Scoring::Sigmoid,
            groups,
            ..Router::SOFTMAX
        };
        chosen(router, &[0.0, 0.0, 0.0, -2.0], &[(1, 0.5), (0, 0.2689)]);
    }

    #[test]
    fn rows_are_grouped_by_expert_in_order() {
        let outputs = [0.0, 2.0, 1.0, 5.0, 0.0, 4.0];
        let plan = Experts {
            n_all: 3,
            n_chosen: 2,
            ffn_size: 1,
            router: Router::SOFTMAX,
            beside: Beside::Nothing,
            biases: false,
            transposed: false,
        };
        let routed = route(&plan, &outputs, &[]);
        let rows = |index: usize| routed[index].uses.iter().map(|item| item.row);
        let experts: Vec<usize> = routed.iter().map(|rows| rows.expert).collect();
        assert_eq!(experts, [0, 1, 2]);
        assert!(rows(0).eq([1]) && rows(1).eq([0]) && rows(2).eq([0, 1]));
    }
}
