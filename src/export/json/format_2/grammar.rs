//! What a grammar did at a step.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ranking::Ranking;
use crate::decoding::{
    Detail, Evidence, GrammarReport, GrammarRule, RankedCandidate, TokenId, Trace,
};
use crate::export::json::ParseError;
use crate::generation::Generation;

/// A step's entry for its grammar.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrammarEntry {
    /// The index of the rule in the text's list.
    rule: usize,
    n_legal: u32,
    /// Natural logarithm of the sum of `exp(logit)` over the legal tokens.
    log_sum_exp: f64,
    entropy_nats: f64,
    /// The most likely legal tokens.
    head: Ranking,
    /// Whether the stages saw only the legal tokens.
    masked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unconstrained: Option<TokenId>,
}

/// Returns every rule that the steps of a text name, in the order of their first use.
pub(super) fn rules_of(generation: &Generation) -> Vec<Arc<GrammarRule>> {
    let mut rules: Vec<Arc<GrammarRule>> = Vec::new();
    let reports = generation
        .steps
        .iter()
        .filter_map(|step| step.trace.grammar.as_deref());
    for report in reports {
        if !rules.contains(&report.rule) {
            rules.push(Arc::clone(&report.rule));
        }
    }
    rules
}

impl GrammarEntry {
    pub(super) fn of(trace: &Trace, rules: &[Arc<GrammarRule>]) -> Option<Self> {
        let report = trace.grammar.as_deref()?;
        Some(Self {
            // Every rule is in the list, which was made from these steps.
            rule: rules
                .iter()
                .position(|rule| *rule == report.rule)
                .unwrap_or_default(),
            n_legal: report.n_legal(),
            log_sum_exp: report.legal.log_sum_exp,
            entropy_nats: report.legal.entropy_nats,
            head: Ranking::of(&report.legal.head, &trace.raw.head),
            masked: report.masked,
            unconstrained: report.unconstrained,
        })
    }

    pub(super) fn into_report(
        self,
        head: &[RankedCandidate],
        rules: &[Arc<GrammarRule>],
    ) -> Result<GrammarReport, ParseError> {
        let rule = rules.get(self.rule);
        let rule = rule.ok_or_else(|| ParseError::damaged("a step has no grammar"))?;
        Ok(GrammarReport {
            rule: Arc::clone(rule),
            legal: Evidence {
                n_candidates: self.n_legal,
                head: self.head.into_list(head)?,
                log_sum_exp: self.log_sum_exp,
                entropy_nats: self.entropy_nats,
                detail: Detail::HeadOnly,
            },
            masked: self.masked,
            unconstrained: self.unconstrained,
        })
    }
}
