//! The predictions of lessons as a CSV table: one row per step.

use std::collections::BTreeMap;

use crate::export::csv::{as_text, push_row};
use crate::lessons::Prediction;

/// Renders the predictions of each lesson, by its id. `sure` is the probability assigned to a
/// choice; it is empty for other questions. `asked_in` is the lesson in which a question came back.
pub fn answers_csv(lessons: &BTreeMap<String, Vec<Prediction>>) -> Vec<u8> {
    let mut table = String::new();
    let head = [
        "lesson",
        "step",
        "question",
        "prediction",
        "sure",
        "answer",
        "bits",
        "best_bits",
        "asked_in",
    ];
    push_row(&mut table, head.map(str::to_owned));
    for (lesson, predictions) in lessons {
        for (index, made) in predictions.iter().enumerate() {
            let (asked, step, asked_in) = match &made.from {
                Some(from) => (&from.lesson, from.step, lesson.as_str()),
                None => (lesson, index, ""),
            };
            let sure = made.score.belief.map(|belief| belief.prob.to_string());
            let row = [
                asked.clone(),
                (step + 1).to_string(),
                as_text(&made.asked),
                as_text(&made.said),
                sure.unwrap_or_default(),
                as_text(&made.answer),
                format!("{:.4}", made.score.bits),
                format!("{:.4}", made.score.best),
                asked_in.to_owned(),
            ];
            push_row(&mut table, row);
        }
    }
    table.into_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::answers_csv;
    use crate::lessons::{Confidence, Origin, Prediction, Score};

    #[test]
    fn every_prediction_is_a_row() {
        let made = |said: &str, score, from| Prediction {
            from,
            asked: "How likely is ‘fox’, or \"owl\"?".to_owned(),
            said: said.to_owned(),
            answer: "50 %".to_owned(),
            score,
        };
        let again = Some(Origin {
            lesson: "loop".to_owned(),
            step: 2,
        });
        let lessons = BTreeMap::from([(
            "temperature".to_owned(),
            vec![
                made("25 %", Score::of_probability(0.25, 0.5), None),
                made("=A1", Score::of_choice(true, Confidence::Guess, 4), again),
            ],
        )]);
        let table = String::from_utf8(answers_csv(&lessons)).unwrap();
        let expected = "lesson,step,question,prediction,sure,answer,bits,best_bits,asked_in\r\n\
            temperature,1,\"How likely is ‘fox’, or \"\"owl\"\"?\",25 %,,50 %,0.2075,0.0000,\r\n\
            loop,3,\"How likely is ‘fox’, or \"\"owl\"\"?\",'=A1,0.25,50 %,2.0000,0.0000,temperature\r\n";
        assert_eq!(table, expected);
    }
}
