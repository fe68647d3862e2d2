//! The same stages in the same order, by other rules: windows, ties, bounds.

use super::{Names, Side, shared};
use crate::decoding::filters::Window;
use crate::decoding::rules::{Equal, Mass, Ties, TopPZero, TypicalRule};
use crate::decoding::{Filter, Rules};

/// A sentence for each rule that differs and that a stage in use asks for.
pub(super) fn reasons(sides: &[Side<'_>; 2], names: &Names) -> Vec<String> {
    let [one, other] = sides;
    let rules = [one.chain.rules, other.chain.rules];
    let mut reasons = Vec::new();
    for (filter, there) in shared(sides) {
        reasons.extend(window_words(filter, there, names));
        reasons.extend(match filter {
            Filter::TopK(_) => ties_words(rules, names),
            Filter::TopP(top_p) if top_p.p <= 0.0 => zero_words(rules, names),
            Filter::TopP(_) => mass_words(sides, names),
            Filter::MinP(min_p) => equal_words(min_p.p, rules, names),
            Filter::TypicalP(_) => typical_words(rules, names),
            _ => None,
        });
    }
    let stays = |filter: &&Filter| filter.cuts() && !matches!(filter, Filter::TopK(_));
    if one.active.iter().any(stays) {
        reasons.extend(least_words(rules, names));
    }
    reasons
}

fn window_words(one: &Filter, other: &Filter, [first, second]: &Names) -> Option<String> {
    let (here, there) = (one.window()?, other.window()?);
    (here != there).then(|| {
        let name = one.name();
        format!(
            "{name} looks at {} in {first}, and at {} in {second}",
            words(here),
            words(there)
        )
    })
}

fn words(window: Window) -> String {
    match (window.last_n, window.prompt_counted) {
        (None, true) => "all tokens (the prompt's too)".to_owned(),
        (None, false) => "all generated tokens".to_owned(),
        (Some(n), true) => format!("the last {n} tokens (the prompt's too)"),
        (Some(n), false) => format!("the last {n} generated tokens"),
    }
}

/// The names of the side for which this holds and of the other, where it holds for one alone.
fn alone(holds: [bool; 2], [one, other]: &Names) -> Option<(&str, &str)> {
    match holds {
        [true, false] => Some((one, other)),
        [false, true] => Some((other, one)),
        _ => None,
    }
}

fn ties_words(rules: [Rules; 2], names: &Names) -> Option<String> {
    let all = rules.map(|rules| rules.top_k_ties == Ties::All);
    let (all, exact) = alone(all, names)?;
    Some(format!(
        "Tokens as likely as the last that top-k counts stay in {all}, and go in {exact}"
    ))
}

fn zero_words(rules: [Rules; 2], names: &Names) -> Option<String> {
    let off = rules.map(|rules| rules.top_p_zero == TopPZero::Off);
    let (off, best) = alone(off, names)?;
    Some(format!(
        "A top-p of 0 is off in {off}, and keeps one token in {best}"
    ))
}

/// The rule shows only where something was cut since the scores changed last.
fn mass_words(sides: &[Side<'_>; 2], names: &Names) -> Option<String> {
    let raw = sides.each_ref().map(|side| {
        side.chain.rules.top_p_mass == Mass::BeforeCuts
            && side
                .active
                .iter()
                .take_while(|filter| !matches!(filter, Filter::TopP(_)))
                .last()
                .is_some_and(|filter| filter.cuts())
    });
    let (raw, kept) = alone(raw, names)?;
    Some(format!(
        "Top-p in {raw} counts what the cut before it took too, so it keeps more tokens than in {kept}"
    ))
}

fn equal_words(p: f32, rules: [Rules; 2], names: &Names) -> Option<String> {
    let cut = rules.map(|rules| rules.min_p_equal == Equal::Cut);
    let (cut, kept) = alone(cut, names)?;
    if p >= 1.0 {
        return Some(format!(
            "A min-p of 1 is off in {cut}, and keeps the best alone in {kept}"
        ));
    }
    Some(format!(
        "A token exactly at the bar of min-p is cut in {cut} and stays in {kept}"
    ))
}

fn typical_words(rules: [Rules; 2], names: &Names) -> Option<String> {
    let passed = rules.map(|rules| rules.typical == TypicalRule::Passed);
    if let Some((passed, reached)) = alone(passed, names) {
        return Some(format!(
            "Where the sum meets its share exactly, typical-p takes one token more in {passed} than \
             in {reached}"
        ));
    }
    let ties = rules.map(|rules| rules.typical == TypicalRule::ReachedWithTies);
    let (ties, exact) = alone(ties, names)?;
    Some(format!(
        "Tokens as typical as the last one stay in {ties}, and go in {exact}"
    ))
}

fn least_words(rules: [Rules; 2], [one, other]: &Names) -> Option<String> {
    let [here, there] = rules.map(|rules| rules.min_keep.max(1));
    (here != there).then(|| {
        format!("A cut leaves {here} tokens at the least in {one}, and {there} in {other}")
    })
}
