//! What the forms of the Lab keep across restarts.

use serde::{Deserialize, Serialize};

use super::Lab;
use super::blind::BlindTest;
use super::fit::FitForm;
use super::form::{AxisForm, SweepForm};
use crate::analysis::sweep::{Keep, Parameter};
use crate::generation::BlindVote;

/// The maximum number of steps in a saved range, so that a damaged file can't ask for more.
const MAX_STEPS: usize = 64;

/// The parts of the Lab's forms that do not depend on the panes. Missing fields take their
/// defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabSettings {
    sweep_rows: SavedAxis,
    sweep_columns: Option<SavedAxis>,
    own_prompts: bool,
    prompts: String,
    n_seeds: usize,
    n_tokens: usize,
    /// What is kept of each text, as on the command line.
    keep: String,
    /// The memory limit for a sweep's results.
    sweep_megabytes: u32,
    word: String,
    batch_prompts: String,
    fit_rows: SavedAxis,
    fit_columns: Option<SavedAxis>,
    pub(in crate::state) cache_tokens: usize,
    blind_shown: usize,
    blind_same_coins: bool,
    blind_tokens: usize,
    /// The seed of the next texts of a blind test.
    blind_seed: u64,
    votes: Vec<BlindVote>,
}

/// A number to vary and its range.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct SavedAxis {
    /// The words of `--vary`: "temp", "xtc threshold".
    setting: String,
    from: f64,
    to: f64,
    n_steps: usize,
}

impl From<&AxisForm> for SavedAxis {
    fn from(form: &AxisForm) -> Self {
        Self {
            setting: form.parameter.key(),
            from: form.from,
            to: form.to,
            n_steps: form.n_steps,
        }
    }
}

impl SavedAxis {
    /// Returns the form, or `None` if its setting is one that this version of Quartet lacks.
    fn form(&self) -> Option<AxisForm> {
        let mut all = Parameter::of_sweeps().into_iter();
        let parameter = all.find(|parameter| parameter.key() == self.setting)?;
        Some(AxisForm {
            parameter,
            from: self.from,
            to: self.to,
            n_steps: self.n_steps.min(MAX_STEPS),
        })
    }
}

impl Default for LabSettings {
    fn default() -> Self {
        Self::from(&Lab::default())
    }
}

impl From<&Lab> for LabSettings {
    fn from(lab: &Lab) -> Self {
        let (sweep, fit) = (&lab.form, &lab.fit_form);
        Self {
            sweep_rows: (&sweep.rows).into(),
            sweep_columns: sweep.columns.as_ref().map(SavedAxis::from),
            own_prompts: sweep.own_prompts,
            prompts: sweep.prompts.clone(),
            n_seeds: sweep.n_seeds,
            n_tokens: sweep.n_tokens,
            keep: sweep.keep.key().to_owned(),
            sweep_megabytes: sweep.megabytes,
            word: lab.word.clone(),
            batch_prompts: lab.batch_prompts.clone(),
            fit_rows: (&fit.rows).into(),
            fit_columns: fit.columns.as_ref().map(SavedAxis::from),
            cache_tokens: lab.cache_tokens,
            blind_shown: lab.blind.n_shown,
            blind_same_coins: lab.blind.same_coins,
            blind_tokens: lab.blind.n_tokens,
            blind_seed: lab.blind.next_seed,
            votes: lab.blind.votes.clone(),
        }
    }
}

impl LabSettings {
    /// Returns a Lab with these forms and no results.
    pub(in crate::state) fn lab(self) -> Lab {
        let (sweep, fit) = (SweepForm::default(), FitForm::default());
        let restored = |saved: Option<SavedAxis>, usual: Option<AxisForm>| match saved {
            Some(saved) => saved.form().or(usual),
            None => None,
        };
        let mut keeps = Keep::ALL.into_iter();
        Lab {
            form: SweepForm {
                rows: self.sweep_rows.form().unwrap_or(sweep.rows),
                columns: restored(self.sweep_columns, sweep.columns),
                own_prompts: self.own_prompts,
                prompts: self.prompts,
                n_seeds: self.n_seeds.max(1),
                n_tokens: self.n_tokens.max(1),
                keep: keeps
                    .find(|keep| keep.key() == self.keep)
                    .unwrap_or_default(),
                megabytes: self.sweep_megabytes.max(1),
                base: None,
            },
            word: self.word,
            batch_prompts: self.batch_prompts,
            fit_form: FitForm {
                rows: self.fit_rows.form().unwrap_or(fit.rows),
                columns: restored(self.fit_columns, fit.columns),
                ..FitForm::default()
            },
            cache_tokens: self.cache_tokens.max(2),
            blind: BlindTest {
                n_shown: if self.blind_shown == 4 { 4 } else { 2 },
                same_coins: self.blind_same_coins,
                n_tokens: self.blind_tokens.max(1),
                next_seed: self.blind_seed,
                ..BlindTest::default()
            }
            .with_votes(self.votes),
            ..Lab::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LabSettings;
    use crate::analysis::sweep::{Keep, Parameter};
    use crate::decoding::FilterKind;
    use crate::generation::{BlindText, BlindVote};
    use crate::state::{AxisForm, BlindTest, Lab};

    #[test]
    fn the_forms_survive_a_round_trip() {
        let mut lab = Lab::default();
        let min_p = Parameter::Filter(FilterKind::MinP, 0);
        lab.form.rows = AxisForm {
            parameter: min_p,
            from: 0.01,
            to: 0.2,
            n_steps: 5,
        };
        lab.form.columns = None;
        lab.form.own_prompts = true;
        lab.form.prompts = "One\nTwo".to_owned();
        (lab.form.n_seeds, lab.form.n_tokens, lab.form.megabytes) = (3, 20, 99);
        lab.form.keep = Keep::Figures;
        lab.word = "fox".to_owned();
        lab.batch_prompts = "A\nB".to_owned();
        lab.fit_form.columns = Some(AxisForm::new(min_p, 7));
        lab.cache_tokens = 64;
        let text = |settings: &str| BlindText {
            settings: settings.to_owned(),
            seed: 7,
        };
        let vote = BlindVote {
            model: "M".to_owned(),
            prompt: "Once".to_owned(),
            n_tokens: 80,
            shown: vec![text("greedy"), text("T 0.7")],
            picked: Some(1),
        };
        lab.blind = BlindTest {
            n_shown: 4,
            same_coins: false,
            n_tokens: 30,
            next_seed: 9,
            ..BlindTest::default()
        }
        .with_votes(vec![vote]);
        let json = serde_json::to_string(&LabSettings::from(&lab)).unwrap();
        let restored: LabSettings = serde_json::from_str(&json).unwrap();
        assert_eq!(restored.lab(), lab);
    }

    #[test]
    fn unknown_numbers_and_missing_fields_take_their_defaults() {
        let json = r#"{
            "sweep_rows": {"setting": "a later one", "from": 1, "to": 2, "n_steps": 3},
            "fit_columns": {"setting": "top-k", "from": 1, "to": 9, "n_steps": 1000000},
            "keep": "everything", "n_seeds": 0
        }"#;
        let lab = serde_json::from_str::<LabSettings>(json).unwrap().lab();
        let usual = Lab::default();
        assert_eq!(lab.form.rows, usual.form.rows);
        assert_eq!(lab.form.keep, usual.form.keep);
        assert_eq!(lab.form.n_seeds, 1);
        assert_eq!(lab.fit_form.columns.unwrap().n_steps, 64);
        assert_eq!(lab.fit_form.rows, usual.fit_form.rows);
    }
}
