//! Differences in the rules of the same stages: windows, ties and edge cases.

use super::{Names, Side, shared};
use crate::decoding::filters::Window;
use crate::decoding::rules::{BeamScores, Equal, Mass, Ties, TopPZero, TypicalRule};
use crate::decoding::{Filter, Rules};

/// One sentence for each rule that differs and affects a stage in use.
pub(super) fn reasons(sides: &[Side<'_>; 2], names: &Names) -> Vec<String> {
    let [one, other] = sides;
    let rules = [one.chain.rules, other.chain.rules];
    let mut reasons = Vec::new();
    for (filter, there) in shared(sides) {
        reasons.extend(window_sentence(filter, there, names));
        reasons.extend(match filter {
            Filter::TopK(_) => ties_sentence(rules, names),
            Filter::TopP(top_p) if top_p.p <= 0.0 => zero_sentence(rules, names),
            Filter::TopP(_) => mass_sentence(sides, names),
            Filter::MinP(min_p) => equal_sentence(min_p.p, rules, names),
            Filter::TypicalP(_) => typical_sentence(rules, names),
            _ => None,
        });
    }
    let has_minimum = |filter: &&Filter| filter.cuts() && !matches!(filter, Filter::TopK(_));
    if one.active.iter().any(has_minimum) {
        reasons.extend(min_keep_sentence(rules, names));
    }
    let penalizes = |filter: &&Filter| matches!(filter, Filter::RepetitionPenalty(_));
    let searches = [one, other].map(|side| side.chain.selector.beam_search().is_some());
    if searches == [true, true] {
        let penalizes = one.active.iter().any(penalizes);
        reasons.extend(beams_sentence(penalizes, rules, names));
    }
    reasons
}

fn beams_sentence(penalizes: bool, rules: [Rules; 2], names: &Names) -> Option<String> {
    let sums = rules.map(|rules| rules.beam_scores == BeamScores::LogProbs);
    if let Some((plain, normalized)) = only_one(sums, names) {
        return Some(format!(
            "The log-probs of a beam search are not normalized after the filters in {plain}, but in \
             {normalized} they are"
        ));
    }
    let sees_logits = rules.map(|rules| rules.beam_scores == BeamScores::Logits);
    let (logits, log_probs) = only_one(sees_logits, names).filter(|_| penalizes)?;
    Some(format!(
        "The repetition penalty of a beam search divides a logit above 0 in {logits}; in {log_probs} \
         it multiplies log-probs, which are all below 0"
    ))
}

fn window_sentence(one: &Filter, other: &Filter, [first, second]: &Names) -> Option<String> {
    let (here, there) = (one.window()?, other.window()?);
    (here != there).then(|| {
        let name = one.name();
        format!(
            "{name} looks at {} in {first} but at {} in {second}",
            describe(here),
            describe(there)
        )
    })
}

fn describe(window: Window) -> String {
    match (window.last_n, window.prompt_counted) {
        (None, true) => "all tokens (including the prompt)".to_owned(),
        (None, false) => "all generated tokens".to_owned(),
        (Some(n), true) => format!("the last {n} tokens (including the prompt)"),
        (Some(n), false) => format!("the last {n} generated tokens"),
    }
}

/// If a property holds for exactly one side, returns that side's name, then the other's.
fn only_one(holds: [bool; 2], [one, other]: &Names) -> Option<(&str, &str)> {
    match holds {
        [true, false] => Some((one, other)),
        [false, true] => Some((other, one)),
        _ => None,
    }
}

fn ties_sentence(rules: [Rules; 2], names: &Names) -> Option<String> {
    let all = rules.map(|rules| rules.top_k_ties == Ties::All);
    let (all, exact) = only_one(all, names)?;
    Some(format!(
        "Tokens tied with the k-th stay in {all} but are cut in {exact}"
    ))
}

fn zero_sentence(rules: [Rules; 2], names: &Names) -> Option<String> {
    let off = rules.map(|rules| rules.top_p_zero == TopPZero::Off);
    let (off, best) = only_one(off, names)?;
    Some(format!(
        "Top-p 0 means off in {off}; in {best} it keeps one token"
    ))
}

/// The rule only matters if the filter right before top-p cuts.
fn mass_sentence(sides: &[Side<'_>; 2], names: &Names) -> Option<String> {
    let raw = sides.each_ref().map(|side| {
        side.chain.rules.top_p_mass == Mass::BeforeCuts
            && side
                .active
                .iter()
                .take_while(|filter| !matches!(filter, Filter::TopP(_)))
                .last()
                .is_some_and(|filter| filter.cuts())
    });
    let (raw, kept) = only_one(raw, names)?;
    Some(format!(
        "In {raw}, top-p also counts the probability that the filter before it removed, so it keeps \
         more tokens than in {kept}"
    ))
}

fn equal_sentence(p: f32, rules: [Rules; 2], names: &Names) -> Option<String> {
    let cut = rules.map(|rules| rules.min_p_equal == Equal::Cut);
    let (cut, kept) = only_one(cut, names)?;
    if p >= 1.0 {
        return Some(format!(
            "Min-p 1 means off in {cut}; in {kept} it keeps only the top token"
        ));
    }
    Some(format!(
        "A token exactly at the min-p threshold is cut in {cut} but stays in {kept}"
    ))
}

fn typical_sentence(rules: [Rules; 2], names: &Names) -> Option<String> {
    let passed = rules.map(|rules| rules.typical == TypicalRule::Passed);
    if let Some((passed, reached)) = only_one(passed, names) {
        return Some(format!(
            "If the sum hits p exactly, typical-p keeps one more token in {passed} than in {reached}"
        ));
    }
    let ties = rules.map(|rules| rules.typical == TypicalRule::ReachedWithTies);
    let (ties, exact) = only_one(ties, names)?;
    Some(format!(
        "Tokens tied with the last that typical-p keeps stay in {ties} but are cut in {exact}"
    ))
}

fn min_keep_sentence(rules: [Rules; 2], [one, other]: &Names) -> Option<String> {
    let [here, there] = rules.map(|rules| rules.min_keep.max(1));
    (here != there).then(|| {
        format!(
            "The minimum number of tokens that a filter keeps is {here} in {one} but {there} in \
             {other}"
        )
    })
}
