//! The lints of a pane's settings, cached until the settings or the text change.

use crate::analysis::{Lint, Tally, lint_chain};
use crate::decoding::ChainConfig;
use crate::generation::Generation;
use crate::state::TextMark;

/// The lints of one pane's settings, and the inputs they were computed from.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct Lints {
    list: Vec<Lint>,
    /// The inputs of `list`; `None` before the first update.
    inputs: Option<LintInputs>,
    /// What the stages did in the pane's text, up to `mark`.
    tally: Tally,
    mark: TextMark,
}

/// Everything the lints depend on.
#[derive(Debug, Clone, PartialEq)]
struct LintInputs {
    chain: ChainConfig,
    n_vocab: Option<usize>,
    /// The mark of the text, if this chain generated it.
    text: Option<TextMark>,
}

impl Lints {
    /// Returns the lints, most important first.
    pub(in crate::state) fn list(&self) -> &[Lint] {
        &self.list
    }

    /// Recomputes the lints if an input has changed.
    pub(in crate::state) fn update(
        &mut self,
        generation: Option<&Generation>,
        chain: &ChainConfig,
        n_vocab: Option<usize>,
    ) {
        if let Some(generation) = generation {
            if !self.mark.is_beginning_of(generation) {
                self.tally = Tally::default();
            }
            self.tally.follow(generation);
            self.mark = TextMark::of_all(generation);
        }
        let own = generation.filter(|generation| generation.config.chain == *chain);
        let is_current = |inputs: &LintInputs| {
            inputs.chain == *chain
                && inputs.n_vocab == n_vocab
                && inputs.text.as_ref() == own.map(|_| &self.mark)
        };
        if self.inputs.as_ref().is_some_and(is_current) {
            return;
        }
        // An invalid value is reported at its field instead.
        self.list = match chain.validate() {
            Err(_) => Vec::new(),
            Ok(()) => lint_chain(chain, n_vocab, own.map(|_| &self.tally)),
        };
        self.inputs = Some(LintInputs {
            chain: chain.clone(),
            n_vocab,
            text: own.map(|_| self.mark.clone()),
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::decoding::ChainConfig;
    use crate::generation::PaneSettings;
    use crate::state::tests::{asked, ready, write, written};
    use crate::state::{AppState, Command, PaneStatus};

    fn chain(words: &str) -> ChainConfig {
        words.parse::<PaneSettings>().unwrap().chain
    }

    fn lints(state: &mut AppState, words: &str) -> Vec<String> {
        let pane = state.panes[0].id;
        state.apply(Command::SetChain(pane, chain(words)));
        state.review(|| true);
        let lints = state.panes[0].lints().iter();
        lints.map(|lint| lint.message.clone()).collect()
    }

    #[test]
    fn lints_follow_the_settings_and_a_fix_resolves_them() {
        let mut state = ready();
        assert_eq!(lints(&mut state, "temp 0.7, top-p 0.9"), [] as [&str; 0]);
        let words = "temp 0, top-p 0.9";
        assert_eq!(
            lints(&mut state, words),
            ["T 0 leaves only one token, so top-p 0.9 has no effect."]
        );
        let remedy = state.panes[0].lints()[0].remedy.clone().unwrap();
        let pane = state.panes[0].id;
        state.apply(Command::SetChain(pane, remedy.apply(&chain(words))));
        state.review(|| true);
        assert_eq!(
            state.panes[0].lints()[0].message,
            "T 0 leaves only one token, so there is nothing to draw from."
        );
    }

    #[test]
    fn only_the_chain_that_generated_the_text_is_linted_for_what_its_stages_did() {
        let mut state = ready();
        let words = "repeat 1.1, temp 0.7";
        assert_eq!(lints(&mut state, words), [] as [&str; 0]);
        let pane = state.panes[0].id;
        let ids = asked(&state.apply(Command::Generate(pane)));
        write(&mut state, ids[0], &[(" a", 0.5)]);
        // Test generations have a temperature stage only, so add the penalty's report.
        if let PaneStatus::Finished(generation) = &mut state.panes[0].status {
            let trace = std::sync::Arc::make_mut(&mut generation.steps[0].trace);
            let stages = &mut trace.stages;
            let mut penalty = stages[0].clone();
            penalty.filter = chain(words).stages[0].filter.clone().into();
            stages.insert(0, penalty);
        }
        let touched = "Repetition penalty also penalized 3 different tokens of the prompt.";
        assert_eq!(lints(&mut state, words), [touched]);
        assert_eq!(lints(&mut state, "repeat 1.2, temp 0.7"), [] as [&str; 0]);
        assert_eq!(lints(&mut state, words), [touched]);
    }

    #[test]
    fn an_invalid_value_is_reported_at_its_field_and_not_linted() {
        let mut state = written();
        assert_eq!(lints(&mut state, "temp 0, top-p 0.9").len(), 1);
        let pane = state.panes[0].id;
        let mut broken = chain("temp 0, top-p 0.9");
        if let crate::decoding::Filter::TopP(top_p) = &mut broken.stages[1].filter {
            top_p.p = -1.0;
        }
        state.apply(Command::SetChain(pane, broken));
        state.review(|| true);
        assert_eq!(state.panes[0].lints(), []);
    }
}
