//! Tests of what other settings would have changed in a text.

use super::{asked, ready, write, written};
use crate::analysis::WhatIfVerdict;
use crate::decoding::{ChainConfig, WhatIf};
use crate::generation::PaneSettings;
use crate::state::{AppState, Command, PaneStatus, WhatIfSummary};

fn ask(state: &mut AppState, words: &str) {
    let pane = state.panes[0].id;
    let chain = words.parse::<PaneSettings>().unwrap().chain;
    state.apply(Command::SetChain(pane, chain));
}

fn words(state: &AppState) -> Option<WhatIfSummary> {
    state.panes[0].what_ifs()?.words()
}

fn count(state: &AppState) -> String {
    words(state).map_or_else(String::new, |words| words.count)
}

/// A pane whose text has the most likely token three times and a less likely one twice.
fn five_tokens() -> AppState {
    let mut state = ready();
    ask(&mut state, "temp 0.7");
    let pane = state.panes[0].id;
    let ids = asked(&state.apply(Command::Generate(pane)));
    let pieces = [
        (" in", 0.9),
        (" a", 0.1),
        (" house", 0.8),
        (" by", 0.05),
        (" it", 0.9),
    ];
    write(&mut state, ids[0], &pieces);
    state.review(|| true);
    state
}

#[test]
fn only_settings_with_another_effect_count_what_would_change() {
    let mut state = five_tokens();
    assert_eq!(words(&state), None);
    ask(&mut state, "greedy");
    assert!(state.review(|| true));
    let summary = words(&state).unwrap();
    assert_eq!(summary.count, "What if: 2 of 5 would change");
    assert_eq!(summary.first.as_deref(), Some("first at 2"));
    let what_ifs = state.panes[0].what_ifs().unwrap();
    let verdicts: Vec<_> = (0..6).map_while(|step| what_ifs.verdict(step)).collect();
    let (same, changed) = (WhatIfVerdict::Same, WhatIfVerdict::Changed);
    assert_eq!(verdicts, [same, changed, same, changed, same]);
    assert_eq!(what_ifs.first_changed(), Some(1));

    // A stage without effect makes no difference.
    for same in ["temp 0.7", "temp 0.7, top-k 0", "bias, temp 0.7"] {
        ask(&mut state, "greedy");
        state.review(|| true);
        ask(&mut state, same);
        state.review(|| true);
        assert_eq!(words(&state), None, "{same}");
    }
}

#[test]
fn settings_that_change_nothing_say_so() {
    let mut state = ready();
    ask(&mut state, "greedy");
    let pane = state.panes[0].id;
    let ids = asked(&state.apply(Command::Generate(pane)));
    write(&mut state, ids[0], &[(" in", 0.9), (" a", 0.8)]);
    ask(&mut state, "top-k 1");
    state.review(|| true);
    let summary = words(&state).unwrap();
    assert_eq!(
        (summary.count.as_str(), summary.first),
        ("What if: nothing would change", None)
    );
}

#[test]
fn the_token_that_would_have_been_picked_has_its_probability() {
    let mut state = five_tokens();
    ask(&mut state, "greedy");
    state.review(|| true);
    let pane = &state.panes[0];
    let generation = pane.generation().unwrap();
    let what_if_token = pane
        .what_ifs()
        .unwrap()
        .what_if_token(generation, 1)
        .unwrap();
    let best = generation.steps[1].trace.raw.head[0];
    assert_eq!(what_if_token.outcome, Some(WhatIf::Exact(best.token)));
    assert_eq!(what_if_token.prob, Some([1.0, 1.0]));
    assert_eq!(pane.what_ifs().unwrap().what_if_token(generation, 5), None);
}

#[test]
fn an_adaptive_selector_makes_the_answer_uncertain() {
    let mut state = five_tokens();
    ask(&mut state, "mirostat 3");
    state.review(|| true);
    let summary = words(&state).unwrap();
    assert_eq!(summary.count, "What if: unknown");
    assert_eq!(summary.first, None);
    assert!(
        summary.explanation.contains("Mirostat v2 adapts"),
        "{summary:?}"
    );
}

#[test]
fn a_step_without_evidence_is_unknown() {
    let mut state = five_tokens();
    if let PaneStatus::Finished(generation) = &mut state.panes[0].status {
        std::sync::Arc::make_mut(&mut generation.steps[0].trace)
            .raw
            .head
            .clear();
    }
    ask(&mut state, "greedy");
    state.review(|| true);
    let summary = words(&state).unwrap();
    assert_eq!(summary.count, "What if: 2 to 3 of 5 would change");
    assert_eq!(summary.first.as_deref(), Some("first by 2"));
    let explanation = &summary.explanation;
    assert!(explanation.contains("1 token is unknown"), "{summary:?}");
}

#[test]
fn a_long_evaluation_is_spread_over_frames() {
    let mut state = five_tokens();
    ask(&mut state, "greedy");
    let two_more = || {
        let mut left = 2;
        move || {
            left -= 1;
            left >= 0
        }
    };
    assert!(!state.review(two_more()));
    assert_eq!(count(&state), "What if: evaluating…");
    assert_eq!(
        state.panes[0].what_ifs().unwrap().verdict(1),
        Some(WhatIfVerdict::Changed)
    );
    assert!(!state.review(two_more()));
    assert!(state.review(two_more()));
    assert_eq!(count(&state), "What if: 2 of 5 would change");
    // Nothing is left to evaluate.
    assert!(state.review(|| panic!("a step is evaluated twice")));
}

#[test]
fn only_new_steps_of_a_growing_text_are_evaluated() {
    let mut state = five_tokens();
    ask(&mut state, "greedy");
    state.review(|| true);
    let PaneStatus::Finished(finished) = state.panes[0].status.clone() else {
        panic!("the text is finished");
    };
    let mut more = finished.clone();
    more.steps.extend(finished.steps.range(..2).cloned());
    state.panes[0].status = PaneStatus::Finished(more);
    let mut n_evaluated = 0;
    assert!(state.review(|| {
        n_evaluated += 1;
        true
    }));
    // What-if and the kinds of tokens evaluate two steps each.
    assert_eq!(n_evaluated, 4);
    assert_eq!(count(&state), "What if: 3 of 7 would change");
}

#[test]
fn a_new_text_or_seed_starts_the_evaluation_over() {
    let mut state = written();
    state.seed += 1;
    state.review(|| true);
    let n_active = |state: &AppState| {
        let panes = state.panes.iter();
        panes.filter(|pane| pane.what_ifs().is_some()).count()
    };
    assert_eq!(n_active(&state), 4);
    let ids = asked(&state.apply(Command::GenerateAll));
    state.review(|| true);
    assert_eq!(
        n_active(&state),
        0,
        "a text that is about to be replaced is not evaluated"
    );
    for id in ids {
        write(&mut state, id, &[(" in", 0.6)]);
    }
    state.review(|| true);
    assert_eq!(n_active(&state), 0);
}

#[test]
fn an_invalid_chain_is_not_evaluated() {
    let mut state = five_tokens();
    let pane = state.panes[0].id;
    let mut broken = ChainConfig::greedy();
    broken.stages = "top-p 0.9".parse::<PaneSettings>().unwrap().chain.stages;
    if let crate::decoding::Filter::TopP(top_p) = &mut broken.stages[0].filter {
        top_p.p = 2.0;
    }
    state.apply(Command::SetChain(pane, broken));
    assert!(state.review(|| true));
    assert_eq!(words(&state), None);
}
