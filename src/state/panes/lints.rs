//! The remarks on a pane's settings, made once for each change of them.

use super::review::TextMark;
use crate::analysis::{Lint, Tally, lint_chain};
use crate::decoding::ChainConfig;
use crate::generation::Generation;

/// The remarks on the settings of one pane, and what they were made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct Lints {
    list: Vec<Lint>,
    made_of: Option<MadeOf>,
    /// What the stages did in the pane's text, and how far that was looked at.
    tally: Tally,
    mark: TextMark,
}

/// All that the remarks depend on.
#[derive(Debug, Clone, PartialEq)]
struct MadeOf {
    chain: ChainConfig,
    n_vocab: Option<usize>,
    /// How far the text is written, where it is this chain's and counts.
    written: Option<TextMark>,
}

impl Lints {
    /// The remarks, the most important first.
    pub(in crate::state) fn list(&self) -> &[Lint] {
        &self.list
    }

    /// Makes the remarks anew where something has changed.
    pub(in crate::state) fn follow(
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
            self.mark = TextMark::of(generation, generation.steps.len());
        }
        let own = generation.filter(|generation| generation.config.chain == *chain);
        let same = |made_of: &MadeOf| {
            made_of.chain == *chain
                && made_of.n_vocab == n_vocab
                && made_of.written.as_ref() == own.map(|_| &self.mark)
        };
        if self.made_of.as_ref().is_some_and(same) {
            return;
        }
        // A value that can't be is complained about at its field.
        self.list = match chain.validate() {
            Err(_) => Vec::new(),
            Ok(()) => lint_chain(chain, n_vocab, own.map(|_| &self.tally)),
        };
        self.made_of = Some(MadeOf {
            chain: chain.clone(),
            n_vocab,
            written: own.map(|_| self.mark.clone()),
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

    fn said(state: &mut AppState, words: &str) -> Vec<String> {
        let pane = state.panes[0].id;
        state.apply(Command::SetChain(pane, chain(words)));
        state.review(|| true);
        let lints = state.panes[0].lints().iter();
        lints.map(|lint| lint.message.clone()).collect()
    }

    #[test]
    fn remarks_follow_the_settings_and_a_remedy_ends_them() {
        let mut state = ready();
        assert_eq!(said(&mut state, "temp 0.7, top-p 0.9"), [] as [&str; 0]);
        let words = "temp 0, top-p 0.9";
        assert_eq!(
            said(&mut state, words),
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
    fn what_the_stages_did_is_said_of_the_chain_that_did_it_alone() {
        let mut state = ready();
        let words = "repeat 1.1, temp 0.7";
        assert_eq!(said(&mut state, words), [] as [&str; 0]);
        let pane = state.panes[0].id;
        let ids = asked(&state.apply(Command::Generate(pane)));
        write(&mut state, ids[0], &[(" a", 0.5)]);
        // The steps of tests are made by a temperature alone.
        if let PaneStatus::Finished(generation) = &mut state.panes[0].status {
            let stages = &mut generation.steps[0].trace.stages;
            let mut penalty = stages[0].clone();
            penalty.filter = chain(words).stages[0].filter.clone().into();
            stages.insert(0, penalty);
        }
        let touched = "Repetition penalty also penalized 3 different tokens of the prompt.";
        assert_eq!(said(&mut state, words), [touched]);
        assert_eq!(said(&mut state, "repeat 1.2, temp 0.7"), [] as [&str; 0]);
        assert_eq!(said(&mut state, words), [touched]);
    }

    #[test]
    fn a_value_that_cannot_be_is_left_to_its_field() {
        let mut state = written();
        assert_eq!(said(&mut state, "temp 0, top-p 0.9").len(), 1);
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
