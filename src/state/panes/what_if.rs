//! What a pane's settings would have changed in the text that it shows, counted once for each
//! change of them.

use super::review::TextMark;
use crate::analysis::WhatIfReader;
use crate::decoding::{ChainConfig, Filter, Selector, Stage, TokenId, WhatIf};
use crate::generation::{Generation, Step};

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
    pub(in crate::state) const fn is_asked(&self) -> bool {
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
    pub(in crate::state) fn clear(&mut self) {
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
        let same = config.seed == seed && pick_alike(&config.chain, chain);
        if same || chain.validate().is_err() {
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

/// Whether two chains pick the same from anything: they differ at most in what does nothing. A stage that
/// acts by chance takes a coin even where it does nothing else.
fn pick_alike(a: &ChainConfig, b: &ChainConfig) -> bool {
    let acts = |filter: &Filter| !filter.is_neutral() || filter.is_random();
    let acts = |stage: &&Stage| stage.enabled && acts(&stage.filter);
    let [of_a, of_b] = [a, b].map(|chain| {
        let stages = chain.stages.iter().filter(acts);
        stages.map(|stage| &stage.filter)
    });
    a.selector == b.selector && a.rules == b.rules && of_a.eq(of_b)
}
