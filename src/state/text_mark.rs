//! Recognizes a text in a later frame, so that what was derived from it is computed only once.

use std::sync::{Arc, Weak};

use crate::decoding::{TokenId, Trace};
use crate::generation::{Generation, PromptRecord};

/// Identifies a text up to some step. Two marks are equal if they mark the same steps.
///
/// It knows nothing of the text's settings, name and end, which can change while its steps stay.
#[derive(Debug, Clone, Default)]
pub struct TextMark {
    /// `None` matches no text.
    prompt: Option<Arc<PromptRecord>>,
    n_steps: usize,
    last: Option<StepMark>,
}

/// Identifies a step: only the texts that branch off after it share its trace. Keeps no trace in
/// memory.
#[derive(Debug, Clone)]
struct StepMark {
    token: TokenId,
    trace: Weak<Trace>,
}

impl TextMark {
    /// Marks a text up to its first `n_steps` steps.
    pub fn of(generation: &Generation, n_steps: usize) -> Self {
        Self {
            prompt: Some(Arc::clone(&generation.prompt)),
            n_steps,
            last: last_step(generation, n_steps),
        }
    }

    /// Marks all steps of a text.
    pub fn of_all(generation: &Generation) -> Self {
        Self::of(generation, generation.steps.len())
    }

    /// Returns how many steps are marked.
    pub(in crate::state) const fn n_steps(&self) -> usize {
        self.n_steps
    }

    /// Returns whether a text is the marked one or a continuation of it.
    pub(in crate::state) fn is_beginning_of(&self, generation: &Generation) -> bool {
        let same = |prompt: &Arc<PromptRecord>| Arc::ptr_eq(prompt, &generation.prompt);
        self.prompt.as_ref().is_some_and(same)
            && self.n_steps <= generation.steps.len()
            && self.last == last_step(generation, self.n_steps)
    }

    /// Returns whether a text is the marked one and has not grown.
    pub(in crate::state) fn is_all_of(&self, generation: &Generation) -> bool {
        self.n_steps == generation.steps.len() && self.is_beginning_of(generation)
    }
}

impl PartialEq for TextMark {
    fn eq(&self, other: &Self) -> bool {
        let same_prompt = match (&self.prompt, &other.prompt) {
            (Some(prompt), Some(other)) => Arc::ptr_eq(prompt, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        same_prompt && self.n_steps == other.n_steps && self.last == other.last
    }
}

impl PartialEq for StepMark {
    fn eq(&self, other: &Self) -> bool {
        self.token == other.token && Weak::ptr_eq(&self.trace, &other.trace)
    }
}

fn last_step(generation: &Generation, n_steps: usize) -> Option<StepMark> {
    let step = generation.steps.get(n_steps.checked_sub(1)?)?;
    Some(StepMark {
        token: step.token,
        trace: Arc::downgrade(&step.trace),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::TextMark;
    use crate::generation::testing::generation;

    #[test]
    fn a_text_is_recognized_after_it_has_grown_and_distinguished_from_others() {
        let full = generation(&[(" a", 0.5), (" fox", 0.5), (" ran", 0.5)]);
        let mut partial = full.clone();
        partial.steps.truncate(2);
        let mark = TextMark::of(&partial, 2);
        assert!(mark.is_beginning_of(&partial));
        assert!(mark.is_beginning_of(&full));
        assert!(mark.is_all_of(&partial) && !mark.is_all_of(&full));
        assert!(!TextMark::of(&full, 3).is_beginning_of(&partial));

        let mut other = full.clone();
        other.steps[1].token = full.steps[0].token;
        assert!(!mark.is_beginning_of(&other));
        // The same token at the same moment, after other tokens.
        let mut elsewhere = full.clone();
        elsewhere.steps[1].trace = Arc::new((*full.steps[1].trace).clone());
        assert!(!mark.is_beginning_of(&elsewhere));
        assert_ne!(TextMark::of(&elsewhere, 2), mark);
        assert_eq!(TextMark::of(&full, 2), TextMark::of_all(&partial));
        let mut again = full.clone();
        again.prompt = Arc::new((*full.prompt).clone());
        assert!(!mark.is_beginning_of(&again));
        assert!(!TextMark::default().is_beginning_of(&full));
    }
}
