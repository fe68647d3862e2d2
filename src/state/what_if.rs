//! What a pane's settings would have changed in the text that it shows, counted once for each
//! change of them.

use super::review::TextMark;
use crate::decoding::{ChainConfig, Selector, TokenId, WhatIf};
use crate::generation::{Generation, Step, WhatIfReader};

/// What becomes of a token under other settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It would be drawn again.
    Same,
    /// Another would be drawn.
    Changed,
    /// It can't be told; most likely it would be drawn again.
    Unsure,
    /// It can't be told; most likely another would be drawn.
    LikelyChanged,
}

/// The token that other settings would have drawn at one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Imagined {
    /// Which one it is; nothing where the step kept no evidence.
    pub outcome: Option<WhatIf>,
    /// Its probability after the other chain, at least and at most; nothing where that can't be
    /// told.
    pub prob: Option<[f64; 2]>,
    /// What picks the token.
    pub selector: Selector,
}

/// What other settings would have changed in one text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WhatIfs {
    reader: Option<WhatIfReader>,
    mark: TextMark,
    fates: Vec<Fate>,
    n_steps: usize,
    n_changed: usize,
    n_unsure: usize,
    first_changed: Option<usize>,
    first_unsure: Option<usize>,
}

/// The count in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhatIfWords {
    /// How many would change: "What if: 4 of 187 would change".
    pub count: String,
    /// Where the first of them is: "first at 6".
    pub first: Option<String>,
    /// What that means, and how far it can be trusted.
    pub explanation: String,
}

impl WhatIfs {
    /// What becomes of a step's token; nothing until it was counted.
    pub fn fate(&self, step: usize) -> Option<Fate> {
        self.fates.get(step).copied()
    }

    /// The first step that would change, as far as is counted.
    pub const fn first_changed(&self) -> Option<usize> {
        self.first_changed
    }

    /// Whether there are other settings to be asked about.
    pub(super) const fn is_asked(&self) -> bool {
        self.reader.is_some()
    }

    /// The token that would have been drawn at a step of this text; nothing until it was counted.
    pub fn imagine(&self, generation: &Generation, index: usize) -> Option<Imagined> {
        let reader = self.reader.as_ref()?;
        let step = generation.steps.get(index)?;
        self.fate(index)?;
        let outcome = reader.outcome(index, step);
        let token = match outcome {
            Some(WhatIf::Exact(token) | WhatIf::Bounded(token)) => Some(token),
            Some(WhatIf::Unrecorded) | None => None,
        };
        Some(Imagined {
            outcome,
            prob: token.and_then(|token| reader.prob(index, step, token)),
            selector: reader.chain().selector,
        })
    }

    /// Asks about no other settings.
    pub(super) fn clear(&mut self) {
        if self.is_asked() {
            *self = Self::default();
        }
    }

    /// Counts on for as long as `may_go_on` says so; begins anew where the settings or the text are
    /// others. Gives whether all is counted.
    pub fn follow(
        &mut self,
        generation: &Generation,
        (chain, seed): (&ChainConfig, u64),
        may_go_on: &mut impl FnMut() -> bool,
    ) -> bool {
        let config = &generation.config;
        let same = config.chain == *chain && config.seed == seed;
        if same || chain.complaint().is_some() {
            self.clear();
            return true;
        }
        let asked = |reader: &WhatIfReader| reader.chain() == chain && reader.seed() == seed;
        let goes_on = self.mark.is_beginning_of(generation);
        if !goes_on || !self.reader.as_ref().is_some_and(asked) {
            *self = Self {
                reader: Some(WhatIfReader::new(&generation.prompt, chain.clone(), seed)),
                ..Self::default()
            };
        }
        self.n_steps = generation.steps.len();
        for step in generation.steps.iter().skip(self.fates.len()) {
            if !may_go_on() {
                break;
            }
            self.count(step);
        }
        self.mark = TextMark::of(generation, self.fates.len());
        self.is_counted()
    }

    const fn is_counted(&self) -> bool {
        self.fates.len() >= self.n_steps
    }

    fn count(&mut self, step: &Step) {
        let Some(reader) = &mut self.reader else {
            return;
        };
        let fate = fate_of(step, reader.read(step));
        let index = Some(self.fates.len());
        match fate {
            Fate::Same => {}
            Fate::Changed => {
                self.n_changed += 1;
                self.first_changed = self.first_changed.or(index);
            }
            Fate::Unsure | Fate::LikelyChanged => {
                self.n_unsure += 1;
                self.first_unsure = self.first_unsure.or(index);
            }
        }
        self.fates.push(fate);
    }

    /// The count in words; nothing while there is nothing to count.
    pub fn words(&self) -> Option<WhatIfWords> {
        let selector = self.reader.as_ref()?.chain().selector;
        (self.n_steps > 0).then(|| WhatIfWords {
            count: format!("What if: {}", self.count_words()),
            first: self.first_words().filter(|_| self.is_counted()),
            explanation: self.explanation(selector),
        })
    }

    fn count_words(&self) -> String {
        let n = self.n_steps;
        let most = self.n_changed + self.n_unsure;
        match (self.n_changed, self.n_unsure) {
            _ if !self.is_counted() => "counting…".to_owned(),
            (0, 0) => "none would change".to_owned(),
            (0, unsure) if unsure == n => "can't be told".to_owned(),
            (0, _) => format!("at most {most} of {n} would change"),
            (changed, 0) => format!("{changed} of {n} would change"),
            (changed, _) => format!("{changed} to {most} of {n} would change"),
        }
    }

    fn first_words(&self) -> Option<String> {
        let first = self.first_changed?;
        let for_sure = self.first_unsure.is_none_or(|unsure| unsure > first);
        let word = if for_sure { "at" } else { "by" };
        Some(format!("first {word} {}", first + 1))
    }

    fn explanation(&self, selector: Selector) -> String {
        let mut sentences = vec![
            "What these settings would have drawn at each place, had all before it been written \
             as it is. From the first change on, a new run goes its own way."
                .to_owned(),
        ];
        if selector.is_adaptive() {
            sentences.push(format!(
                "{} learns from what it draws, which is not done again here, so that no answer is \
                 sure.",
                selector.name()
            ));
        } else if self.n_unsure > 0 {
            sentences.push(format!(
                "{} can't be told from what was recorded: the most likely tokens of each step, and \
                 what all others hold together.",
                self.n_unsure
            ));
        }
        sentences.join("\n")
    }
}

fn fate_of(step: &Step, outcome: Option<WhatIf>) -> Fate {
    let was_recorded = |token: TokenId| {
        let head = &step.trace.raw.head;
        head.iter().any(|known| known.token == token)
    };
    match outcome {
        Some(WhatIf::Exact(token)) if token == step.token => Fate::Same,
        Some(WhatIf::Exact(_)) => Fate::Changed,
        Some(WhatIf::Unrecorded) if was_recorded(step.token) => Fate::Changed,
        Some(WhatIf::Bounded(token)) if token != step.token => Fate::LikelyChanged,
        Some(WhatIf::Bounded(_) | WhatIf::Unrecorded) | None => Fate::Unsure,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{asked, ready, write, written};
    use super::{Fate, WhatIfWords};
    use crate::decoding::{ChainConfig, WhatIf};
    use crate::generation::PaneSettings;
    use crate::state::{AppState, Command};

    fn ask(state: &mut AppState, words: &str) {
        let pane = state.panes[0].id;
        let chain = words.parse::<PaneSettings>().unwrap().chain;
        state.apply(Command::SetChain(pane, chain));
    }

    fn words(state: &AppState) -> Option<WhatIfWords> {
        state.panes[0].what_ifs()?.words()
    }

    fn count(state: &AppState) -> String {
        words(state).map_or_else(String::new, |words| words.count)
    }

    /// A pane whose text takes the likeliest token three times and another one twice.
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
    fn other_settings_say_how_many_would_change_and_the_same_say_nothing() {
        let mut state = five_tokens();
        assert_eq!(words(&state), None);
        ask(&mut state, "greedy");
        assert!(state.review(|| true));
        let said = words(&state).unwrap();
        assert_eq!(said.count, "What if: 2 of 5 would change");
        assert_eq!(said.first.as_deref(), Some("first at 2"));
        let what_ifs = state.panes[0].what_ifs().unwrap();
        let fates: Vec<_> = (0..6).map_while(|step| what_ifs.fate(step)).collect();
        let (same, changed) = (Fate::Same, Fate::Changed);
        assert_eq!(fates, [same, changed, same, changed, same]);
        assert_eq!(what_ifs.first_changed(), Some(1));

        ask(&mut state, "temp 0.7");
        state.review(|| true);
        assert_eq!(words(&state), None);
    }

    #[test]
    fn settings_that_would_change_nothing_say_so() {
        let mut state = ready();
        ask(&mut state, "greedy");
        let pane = state.panes[0].id;
        let ids = asked(&state.apply(Command::Generate(pane)));
        write(&mut state, ids[0], &[(" in", 0.9), (" a", 0.8)]);
        ask(&mut state, "top-k 1");
        state.review(|| true);
        let said = words(&state).unwrap();
        assert_eq!(
            (said.count.as_str(), said.first),
            ("What if: none would change", None)
        );
    }

    #[test]
    fn the_token_that_would_have_been_drawn_comes_with_its_probability() {
        let mut state = five_tokens();
        ask(&mut state, "greedy");
        state.review(|| true);
        let pane = &state.panes[0];
        let generation = pane.generation().unwrap();
        let imagined = pane.what_ifs().unwrap().imagine(generation, 1).unwrap();
        let best = generation.steps[1].trace.raw.head[0];
        assert_eq!(imagined.outcome, Some(WhatIf::Exact(best.token)));
        let [least, most] = imagined.prob.unwrap();
        assert!((least - best.prob).abs() < 1e-5 && (most - best.prob).abs() < 1e-5);
        assert_eq!(pane.what_ifs().unwrap().imagine(generation, 5), None);
    }

    #[test]
    fn a_selector_that_learns_is_never_sure() {
        let mut state = five_tokens();
        ask(&mut state, "mirostat 3");
        state.review(|| true);
        let said = words(&state).unwrap();
        assert_eq!(said.count, "What if: can't be told");
        assert_eq!(said.first, None);
        assert!(said.explanation.contains("Mirostat v2 learns"), "{said:?}");
    }

    #[test]
    fn a_step_without_evidence_is_counted_as_unsure() {
        let mut state = five_tokens();
        if let super::super::PaneStatus::Finished(generation) = &mut state.panes[0].status {
            generation.steps[0].trace.raw.head.clear();
        }
        ask(&mut state, "greedy");
        state.review(|| true);
        let said = words(&state).unwrap();
        assert_eq!(said.count, "What if: 2 to 3 of 5 would change");
        assert_eq!(said.first.as_deref(), Some("first by 2"));
        assert!(said.explanation.contains("1 can't be told"), "{said:?}");
    }

    #[test]
    fn a_long_count_is_spread_over_frames_and_says_so_meanwhile() {
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
        assert_eq!(count(&state), "What if: counting…");
        assert_eq!(
            state.panes[0].what_ifs().unwrap().fate(1),
            Some(Fate::Changed)
        );
        assert!(!state.review(two_more()));
        assert!(state.review(two_more()));
        assert_eq!(count(&state), "What if: 2 of 5 would change");
        // Nothing is left to do, and nothing is done again.
        assert!(state.review(|| panic!("a step is counted twice")));
    }

    #[test]
    fn a_text_is_counted_on_while_it_is_written() {
        let mut state = five_tokens();
        ask(&mut state, "greedy");
        state.review(|| true);
        let super::super::PaneStatus::Finished(whole) = state.panes[0].status.clone() else {
            panic!("the text is whole");
        };
        let mut more = whole.clone();
        more.steps.extend(whole.steps[..2].iter().cloned());
        state.panes[0].status = super::super::PaneStatus::Finished(more);
        let mut n_counted = 0;
        assert!(state.review(|| {
            n_counted += 1;
            true
        }));
        assert_eq!(n_counted, 2);
        assert_eq!(count(&state), "What if: 3 of 7 would change");
    }

    #[test]
    fn a_new_text_and_a_new_seed_are_counted_from_the_beginning() {
        let mut state = written();
        state.seed += 1;
        state.review(|| true);
        let asked_about = |state: &AppState| {
            let panes = state.panes.iter();
            panes.filter(|pane| pane.what_ifs().is_some()).count()
        };
        assert_eq!(asked_about(&state), 4);
        let ids = asked(&state.apply(Command::GenerateAll));
        state.review(|| true);
        assert_eq!(
            asked_about(&state),
            0,
            "what is about to be replaced is left alone"
        );
        for id in ids {
            write(&mut state, id, &[(" in", 0.6)]);
        }
        state.review(|| true);
        assert_eq!(asked_about(&state), 0);
    }

    #[test]
    fn a_chain_that_cannot_run_is_not_asked_about() {
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
}
