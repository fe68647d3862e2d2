//! Whether a pane's text has a token that the user picked by hand, continued as the text grows.

use crate::generation::Generation;
use crate::state::TextMark;

/// Whether a text has a token picked by hand, and the text that this is known of.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct HandPicks {
    mark: TextMark,
    any: bool,
}

impl HandPicks {
    /// Returns whether a text has a token picked by hand. Of the text of the last update, it reads
    /// only the steps that were added since.
    pub(in crate::state) fn any_in(&self, text: &Generation) -> bool {
        let (n_read, any) = if self.mark.is_beginning_of(text) {
            (self.mark.n_steps(), self.any)
        } else {
            (0, false)
        };
        let mut unread = text.steps.iter().skip(n_read);
        any || unread.any(|step| step.trace.draw.is_by_hand())
    }

    /// Reads the tokens that were added since the last update.
    pub(in crate::state) fn update(&mut self, text: Option<&Generation>) {
        let read = text.map(|text| Self {
            mark: TextMark::of_all(text),
            any: self.any_in(text),
        });
        *self = read.unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::HandPicks;
    use crate::decoding::Picked;
    use crate::generation::Generation;
    use crate::generation::testing::generation;

    fn picked(text: &mut Generation, step: usize) {
        Arc::make_mut(&mut text.steps[step].trace).draw.picked = Picked::ByHand;
    }

    #[test]
    fn a_hand_picked_token_is_known_while_its_text_grows_and_forgotten_with_it() {
        let mut text = generation(&[(" a", 0.5), (" fox", 0.5), (" ran", 0.5)]);
        picked(&mut text, 1);
        let mut picks = HandPicks::default();
        for (n_steps, any) in [(0, false), (1, false), (2, true), (3, true), (1, false)] {
            let mut shown = text.clone();
            shown.steps.truncate(n_steps);
            assert_eq!(picks.any_in(&shown), any, "before the update, {n_steps}");
            picks.update(Some(&shown));
            assert_eq!(picks.any_in(&shown), any, "after it, {n_steps}");
        }
        picks.update(Some(&text));
        assert!(!picks.any_in(&generation(&[(" a", 0.5)])));
        picks.update(None);
        assert_eq!(picks, HandPicks::default());
    }
}
