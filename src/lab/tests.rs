//! Tests of what the forms keep across restarts.

use crate::analysis::sweep::{Keep, Parameter};
use crate::decoding::FilterKind;
use crate::lab::blind::{BlindTest, BlindText, BlindVote};
use crate::lab::{AxisForm, Experiment, Lab, LabSettings};

#[test]
fn the_forms_survive_a_round_trip() {
    let mut lab = Lab::default();
    let min_p = Parameter::Filter(FilterKind::MinP, 0);
    lab.sweep.form.rows = AxisForm {
        parameter: min_p,
        from: 0.01,
        to: 0.2,
        n_steps: 5,
    };
    lab.sweep.form.columns = None;
    lab.sweep.form.own_prompts = true;
    lab.sweep.form.prompts = "One\nTwo".to_owned();
    (
        lab.sweep.form.n_seeds,
        lab.sweep.form.n_tokens,
        lab.sweep.form.megabytes,
    ) = (3, 20, 99);
    lab.sweep.form.keep = Keep::Figures;
    lab.sweep.word = "fox".to_owned();
    lab.prompts.form.typed = "A\nB".to_owned();
    lab.fit.form.columns = Some(AxisForm::new(min_p, 7));
    lab.cache.n_tokens = 64;
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
    let blind = serde_json::json!({
        "blind_shown": 4,
        "blind_same_coins": false,
        "blind_tokens": 30,
        "blind_seed": 9,
        "votes": [vote],
    });
    lab.blind = BlindTest::restored(serde_json::from_value(blind).unwrap());
    assert_eq!((lab.blind.n_shown, lab.blind.n_tokens), (4, 30));
    assert_eq!(lab.blind.votes().len(), 1);
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
    assert_eq!(lab.sweep.form.rows, usual.sweep.form.rows);
    assert_eq!(lab.sweep.form.keep, usual.sweep.form.keep);
    assert_eq!(lab.sweep.form.n_seeds, 1);
    assert_eq!(lab.fit.form.columns.unwrap().n_steps, 64);
    assert_eq!(lab.fit.form.rows, usual.fit.form.rows);
}
