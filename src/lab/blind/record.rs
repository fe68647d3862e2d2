//! The votes of a blind test as JSON, and as a CSV table: one row per text that was shown.

use serde_json::json;

use crate::export::csv::{as_text, push_row};
use crate::lab::blind::{BlindVote, Strength};

/// The version of the JSON.
const FORMAT_VERSION: u32 = 1;

/// Votes, and the strengths that follow from them.
#[derive(Debug, Clone, Copy)]
pub struct VotesRecord<'a> {
    pub votes: &'a [BlindVote],
    /// All settings that were compared.
    pub settings: &'a [String],
    /// One for each of `settings`.
    pub strengths: &'a [Strength],
}

impl VotesRecord<'_> {
    /// Renders the votes and the strengths. `chance` is the probability of being picked beside
    /// settings of average strength if either is picked, with a 95 % interval of its posterior
    /// distribution. Undecided votes don't count.
    pub fn json(&self) -> Vec<u8> {
        let strengths = self.settings.iter().zip(self.strengths);
        let strengths = strengths.map(|(settings, strength)| {
            json!({
                "settings": settings,
                "chance": strength.chance,
                "low": strength.low,
                "high": strength.high,
                "n_shown": strength.n_shown,
                "n_picked": strength.n_picked,
                "n_undecided": strength.n_undecided,
            })
        });
        let document = json!({
            "format": "quartet votes",
            "format_version": FORMAT_VERSION,
            "strengths": strengths.collect::<Vec<_>>(),
            "votes": self.votes,
        });
        let mut bytes = serde_json::to_vec_pretty(&document).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Renders one row per text. `picked` is empty if no text was picked.
    pub fn csv(&self) -> Vec<u8> {
        let mut table = String::new();
        let head = [
            "vote", "place", "picked", "settings", "seed", "n_tokens", "prompt", "model",
        ];
        push_row(&mut table, head.map(str::to_owned));
        for (number, vote) in (1_usize..).zip(self.votes) {
            for (place, text) in vote.shown.iter().enumerate() {
                let picked = vote.picked.map(|picked| (picked == place).to_string());
                let row = [
                    number.to_string(),
                    (place + 1).to_string(),
                    picked.unwrap_or_default(),
                    as_text(&text.settings),
                    text.seed.to_string(),
                    vote.n_tokens.to_string(),
                    as_text(&vote.prompt),
                    as_text(&vote.model),
                ];
                push_row(&mut table, row);
            }
        }
        table.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::VotesRecord;
    use crate::lab::blind::{BlindText, BlindVote, Choice, PRIOR_SPREAD, Strengths};

    #[test]
    fn the_files_hold_every_vote_and_the_strengths() {
        let text = |settings: &str, seed| BlindText {
            settings: settings.to_owned(),
            seed,
        };
        let vote = |picked| BlindVote {
            model: "Stories".to_owned(),
            prompt: "Once".to_owned(),
            n_tokens: 80,
            shown: vec![text("greedy", 3), text("T 0.7, top-p 0.9", 4)],
            picked,
        };
        let votes = [vote(Some(1)), vote(None)];
        let settings = ["greedy", "T 0.7, top-p 0.9"].map(str::to_owned);
        let choice = Choice {
            shown: vec![0, 1],
            picked: Some(1),
        };
        let strengths = Strengths::of(2, &[choice], PRIOR_SPREAD).all();
        let record = VotesRecord {
            votes: &votes,
            settings: &settings,
            strengths: &strengths,
        };
        let table = String::from_utf8(record.csv()).unwrap();
        let rows: Vec<&str> = table.trim_end().split("\r\n").collect();
        assert_eq!(rows[1], "1,1,false,greedy,3,80,Once,Stories");
        assert_eq!(rows[2], "1,2,true,\"T 0.7, top-p 0.9\",4,80,Once,Stories");
        assert_eq!(rows[3], "2,1,,greedy,3,80,Once,Stories");
        let json: serde_json::Value = serde_json::from_slice(&record.json()).unwrap();
        assert_eq!(json["votes"][0]["picked"], 1);
        assert!(json["votes"][1]["picked"].is_null());
        assert!(json["strengths"][1]["chance"].as_f64().unwrap() > 0.5);
    }
}
