//! Renders the strengths of the settings as a picture.

use super::BlindResults;
use crate::generation::formatting::counted;
use crate::ui::pictures::{Look, lab_drawing};

/// Renders the strengths as SVG.
pub(super) fn votes_drawing(results: &BlindResults, look: Look) -> String {
    let votes = counted(results.n_votes, "vote");
    let caption = format!("Bradley-Terry strengths from {votes} between texts without names");
    lab_drawing(results, &caption, look)
}

#[cfg(test)]
mod tests {
    use super::votes_drawing;
    use crate::lab::blind::{BlindResults, Strength};
    use crate::ui::pictures::Look;

    #[test]
    fn a_picture_of_the_votes_has_the_strongest_settings_first() {
        let strength = |chance| Strength {
            chance,
            low: chance - 0.105,
            high: chance + 0.105,
            n_shown: 12,
            n_picked: 6,
            n_undecided: 0,
        };
        let results = BlindResults {
            settings: vec!["greedy".to_owned(), "T 0.7".to_owned()],
            strengths: vec![strength(0.4), strength(0.6)],
            n_votes: 12,
        };
        let drawing = votes_drawing(&results, Look::default());
        for words in ["What the votes say", "60 %  49–71", "from 12 votes"] {
            assert!(drawing.contains(words), "{words}: {drawing}");
        }
        let at = |words: &str| drawing.find(words).unwrap();
        assert!(at(">T 0.7<") < at(">greedy<"));
    }
}
