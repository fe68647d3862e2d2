//! The intervals of fits and of blind tests hold the truth as often as they say. `cargo bench --bench
//! coverage` measures the same over more texts and more kinds of votes.

mod blind_votes;
mod fit_rows;

use blind_votes::{Setting, TEN_VOTES};

#[test]
fn intervals_of_strengths_hold_the_truth_in_95_percent_of_tests() {
    for (setting, n_tests) in [
        (TEN_VOTES, 150),
        (
            Setting {
                undecided: 0.2,
                ..TEN_VOTES
            },
            150,
        ),
        (
            Setting {
                n_shown: 4,
                ..TEN_VOTES
            },
            100,
        ),
    ] {
        let held = blind_votes::coverage(setting, n_tests);
        // Three standard errors of 400 strengths are 3.3 %.
        assert!(held >= 0.92, "{setting:?}: {held}");
    }
}

#[test]
fn intervals_of_fits_hold_the_truth_in_95_percent_of_texts() {
    for case in fit_rows::CASES {
        let [held, _] = fit_rows::coverage(60, case);
        // Two standard errors of 60 texts are 5.6 %.
        assert!(held >= 0.9, "{case:?}: {held}");
    }
}
