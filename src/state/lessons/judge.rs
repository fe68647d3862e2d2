//! Works out the answer to a step's question, and what the prediction cost.

use super::run::Guess;
use super::step::StepTexts;
use crate::generation::formatting::{pane_letter, percent};
use crate::lessons::{
    Direction, LessonStep, OrderItem, Prediction, Question, Scene, Score, Template, Value, all_hold,
};

/// The answer to a question, as the run turned out.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The probability that was asked for, and those next to it.
    Probability(Vec<f64>),
    /// The probability of each word.
    Token { probs: Vec<f64>, top: f64 },
    /// The index of the right option.
    Choice(usize),
    /// The indices of the items in the right order, and the number of each item in words.
    Order {
        order: Vec<usize>,
        values: Vec<String>,
    },
    /// The number of the right token.
    Mark(usize),
    /// The index of the right option of each pane.
    Match(Vec<usize>),
}

/// The answer, the texts about it, and what the prediction cost.
pub(super) struct Seen {
    pub texts: StepTexts,
    pub prediction: Prediction,
}

/// A sentence about a prediction, and what follows it: what it cost, in bits and in words.
struct Verdict {
    found: String,
    bits: String,
    words: String,
}

impl Verdict {
    fn text(self, in_bits: bool) -> String {
        let cost = if in_bits { self.bits } else { self.words };
        if cost.is_empty() {
            return self.found;
        }
        format!("{} {cost}", self.found)
    }
}

/// Returns the answer and the texts about it, or `None` until the task is done. `in_bits` says
/// whether the learner knows what a bit is.
pub(super) fn seen(
    step: &LessonStep,
    guess: &Guess,
    scene: &Scene<'_>,
    in_bits: bool,
) -> Option<Seen> {
    if !all_hold(&step.check, scene) {
        return None;
    }
    let answer = answer(&step.question, scene)?;
    let (prediction, verdict) = judged(&step.question, guess, &answer, scene)?;
    let fill = |template: &Template| template.fill(scene);
    let more = match &step.more {
        Some(more) => Some(fill(more)?),
        None => None,
    };
    let texts = StepTexts {
        answer: Some(answer),
        verdict: verdict.text(in_bits),
        see: fill(&step.see)?,
        why: fill(&step.why)?,
        more,
        ..StepTexts::default()
    };
    Some(Seen { texts, prediction })
}

fn answer(question: &Question, scene: &Scene<'_>) -> Option<Answer> {
    let number = |path: &crate::lessons::Path| path.value(scene, None)?.number();
    Some(match question {
        Question::Probability { asked, beside } => {
            let bars = std::iter::once(asked).chain(beside);
            let probs = bars.map(|bar| number(&bar.answer));
            Answer::Probability(probs.collect::<Option<_>>()?)
        }
        Question::Token { probs, top, .. } => Answer::Token {
            probs: probs.iter().map(number).collect::<Option<_>>()?,
            top: number(top)?,
        },
        Question::Choice { .. } => Answer::Choice(question.right_option(scene)?),
        Question::Order { items, direction } => right_order(items, *direction, scene)?,
        Question::Mark { answer, .. } => Answer::Mark(token_number(number(answer)?)),
        Question::Match { .. } => Answer::Match(question.right_match(scene)?),
    })
}

/// Returns the number of a token, counted from 1.
#[expect(clippy::cast_sign_loss, reason = "it is 1 or more")]
fn token_number(number: f64) -> usize {
    number.max(1.0) as usize
}

fn right_order(items: &[OrderItem], direction: Direction, scene: &Scene<'_>) -> Option<Answer> {
    let values = items.iter().map(|item| item.value.value(scene, None));
    let values: Vec<_> = values.collect::<Option<_>>()?;
    let numbers: Vec<f64> = values.iter().map(Value::number).collect::<Option<_>>()?;
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|one, other| {
        let [one, other] = [one, other].map(|index| numbers.get(*index).copied());
        let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
        match direction {
            Direction::LowestFirst => one.total_cmp(&other),
            Direction::HighestFirst => other.total_cmp(&one),
        }
    });
    let values = values.iter().map(ToString::to_string).collect();
    Some(Answer::Order { order, values })
}

/// Returns how many pairs of an order are in the right order, and how many there are.
fn right_pairs(said: &[usize], right: &[usize]) -> [usize; 2] {
    let place = |item: &usize| right.iter().position(|other| other == item);
    let pairs = said.iter().enumerate();
    let pairs = pairs.flat_map(|(index, one)| {
        let later = said.iter().skip(index + 1);
        later.map(move |other| place(one) < place(other))
    });
    let pairs: Vec<bool> = pairs.collect();
    [pairs.iter().filter(|right| **right).count(), pairs.len()]
}

/// Returns the prediction with its cost, and what to say about it.
fn judged(
    question: &Question,
    guess: &Guess,
    answer: &Answer,
    scene: &Scene<'_>,
) -> Option<(Prediction, Verdict)> {
    match (question, answer) {
        (_, Answer::Probability(probs)) => Some(judged_probability(guess.prob?, *probs.first()?)),
        (Question::Token { words, .. }, Answer::Token { probs, top }) => {
            let option = guess.option?;
            Some(judged_token(words.get(option)?, *probs.get(option)?, *top))
        }
        (Question::Order { .. }, Answer::Order { order, .. }) => {
            judged_order(question, guess, order, scene)
        }
        (Question::Mark { n_tokens, .. }, Answer::Mark(truth)) => {
            Some(judged_mark(guess.mark?, *truth, *n_tokens))
        }
        (Question::Match { .. }, Answer::Match(right)) => {
            judged_match(question, guess, right, scene)
        }
        (Question::Choice { options }, Answer::Choice(right)) => {
            let option = guess.option?;
            let said = options.get(option)?.text.fill(scene)?;
            let answer = options.get(*right)?.text.fill(scene)?;
            let n = options.len();
            let score = Score::of_choice(option == *right, guess.confidence, n);
            let prediction = prediction(said, answer, score);
            let confidence = percent(guess.confidence.prob(n));
            let verdict = choice_verdict(&prediction, option == *right, &confidence);
            Some((prediction, verdict))
        }
        _ => None,
    }
}

fn judged_order(
    question: &Question,
    guess: &Guess,
    right: &[usize],
    scene: &Scene<'_>,
) -> Option<(Prediction, Verdict)> {
    let Question::Order { items, .. } = question else {
        return None;
    };
    let pairs = right_pairs(&guess.order, right);
    let score = Score::of_choices(pairs, guess.confidence, 2);
    let words = |order: &[usize]| {
        let labels = order
            .iter()
            .map(|index| items.get(*index)?.label.fill(scene));
        Some(labels.collect::<Option<Vec<_>>>()?.join(", "))
    };
    let [n_right, n] = pairs;
    let confidence = percent(guess.confidence.prob(2));
    let found = match n_right == n {
        true if n == 1 => "The order is right".to_owned(),
        true => format!("All {n} pairs are in the right order"),
        false if n == 1 => "It is the other way around".to_owned(),
        false => format!("{n_right} of {n} pairs are in the right order"),
    };
    let each = if n == 1 { "" } else { " of each" };
    let pair = if n == 1 { "" } else { " a pair" };
    let verdict = Verdict {
        found: format!("{found}, and you were {confidence} sure{each}."),
        bits: format!("That cost {:.2} bits{pair}.", score.bits),
        words: String::new(),
    };
    Some((
        prediction(words(&guess.order)?, words(right)?, score),
        verdict,
    ))
}

fn judged_match(
    question: &Question,
    guess: &Guess,
    right: &[usize],
    scene: &Scene<'_>,
) -> Option<(Prediction, Verdict)> {
    let Question::Match { panes, options } = question else {
        return None;
    };
    let said: Vec<usize> = guess.matched.iter().copied().collect::<Option<_>>()?;
    let n = panes.len();
    let n_right = said.iter().zip(right).filter(|(said, right)| said == right);
    let n_right = n_right.count();
    let score = Score::of_choices([n_right, n], guess.confidence, n);
    let words = |matched: &[usize]| {
        let rows = panes.iter().zip(matched);
        let rows = rows.map(|(pane, option)| {
            let option = options.get(*option)?.text.fill(scene)?;
            Some(format!("{}: {option}", pane_letter(*pane)))
        });
        Some(rows.collect::<Option<Vec<_>>>()?.join("; "))
    };
    let confidence = percent(guess.confidence.prob(n));
    let found = match n_right {
        all if all == n => format!("All {n} are right"),
        0 => "None is right".to_owned(),
        1 => format!("1 of {n} is right"),
        some => format!("{some} of {n} are right"),
    };
    let verdict = Verdict {
        found: format!("{found}, and you were {confidence} sure of each."),
        bits: format!("That cost {:.2} bits each.", score.bits),
        words: String::new(),
    };
    Some((prediction(words(&said)?, words(right)?, score), verdict))
}

fn judged_mark(mark: usize, truth: usize, n_tokens: usize) -> (Prediction, Verdict) {
    let score = Score::of_mark(mark, truth, n_tokens);
    let found = match mark.abs_diff(truth) {
        0 => format!("Right: it is token {truth}"),
        1 => format!("You marked token {mark}; it is the one beside it, {truth}"),
        far => {
            let side = if truth > mark { "later" } else { "earlier" };
            format!("You marked token {mark}; it is token {truth}, {far} tokens {side}")
        }
    };
    let verdict = Verdict {
        found: format!("{found}."),
        bits: excess_words(score),
        words: if mark == truth {
            String::new()
        } else {
            format!("That is {}.", score.words())
        },
    };
    let token = |number: usize| format!("token {number}");
    (prediction(token(mark), token(truth), score), verdict)
}

fn judged_probability(said: f64, truth: f64) -> (Prediction, Verdict) {
    let score = Score::of_probability(said, truth);
    let (said, truth) = (percent(said), percent(truth));
    let verdict = Verdict {
        found: format!("You said {said}; it is {truth}."),
        bits: excess_words(score),
        words: format!("That is {}.", score.words()),
    };
    (prediction(said, truth, score), verdict)
}

fn judged_token(word: &str, prob: f64, top: f64) -> (Prediction, Verdict) {
    let score = Score::of_token(prob, top);
    let is_best = score.excess() < 1e-9;
    let prob = percent(prob);
    let verdict = Verdict {
        found: format!("You said ‘{word}’, which has {prob}."),
        bits: format!(
            "That cost {:.2} bits; the best guess cost {:.2}.",
            score.bits, score.best
        ),
        words: if is_best {
            "No other token is more likely.".to_owned()
        } else {
            let (words, top) = (score.words(), percent(top));
            format!("That is {words}; the most likely token has {top}.")
        },
    };
    (prediction(word.to_owned(), prob, score), verdict)
}

fn choice_verdict(prediction: &Prediction, right: bool, confidence: &str) -> Verdict {
    let Prediction { answer, score, .. } = prediction;
    let bits = format!("That cost {:.2} bits.", score.bits);
    if right {
        return Verdict {
            found: format!("Right, and you were {confidence} sure."),
            bits,
            words: String::new(),
        };
    }
    Verdict {
        found: format!("No, and you were {confidence} sure."),
        bits: format!("{bits} The answer: {answer}"),
        words: format!("The answer: {answer}"),
    }
}

/// Says what a prediction cost above the best possible.
fn excess_words(score: Score) -> String {
    format!("That cost {:.2} bits: {}.", score.excess(), score.words())
}

fn prediction(said: String, answer: String, score: Score) -> Prediction {
    Prediction {
        // Added by the caller, which has its text.
        asked: String::new(),
        said,
        answer,
        score,
        from: None,
    }
}

#[cfg(test)]
mod tests {
    use super::{judged_mark, judged_probability, judged_token, right_pairs};

    #[test]
    fn an_order_is_judged_by_its_pairs() {
        assert_eq!(right_pairs(&[0, 1, 2, 3], &[0, 1, 2, 3]), [6, 6]);
        assert_eq!(right_pairs(&[1, 0, 2, 3], &[0, 1, 2, 3]), [5, 6]);
        assert_eq!(right_pairs(&[3, 2, 1, 0], &[0, 1, 2, 3]), [0, 6]);
        assert_eq!(right_pairs(&[0], &[0]), [0, 0]);
    }

    #[test]
    fn a_mark_is_judged_by_its_distance() {
        for (mark, words) in [
            (
                15,
                "Right: it is token 15. That cost 0.00 bits: very close.",
            ),
            (
                14,
                "You marked token 14; it is the one beside it, 15. That cost",
            ),
            (18, "You marked token 18; it is token 15, 3 tokens earlier."),
        ] {
            let (made, verdict) = judged_mark(mark, 15, 40);
            let verdict = verdict.text(true);
            assert!(verdict.starts_with(words), "{verdict}");
            assert_eq!(
                (made.said, &*made.answer),
                (format!("token {mark}"), "token 15")
            );
        }
    }

    #[test]
    fn without_bits_a_verdict_says_how_close_the_prediction_was() {
        let verdicts = [
            judged_mark(15, 15, 40),
            judged_mark(25, 15, 40),
            judged_probability(0.65, 0.52),
            judged_probability(0.1, 0.9),
            judged_token("lived", 0.5, 0.5),
            judged_token("had", 0.4, 0.5),
        ];
        let texts = verdicts.map(|(_, verdict)| verdict.text(false));
        assert_eq!(
            texts.each_ref().map(String::as_str),
            [
                "Right: it is token 15.",
                "You marked token 25; it is token 15, 10 tokens earlier. That is off.",
                "You said 65 %; it is 52 %. That is very close.",
                "You said 10 %; it is 90 %. That is off.",
                "You said ‘lived’, which has 50 %. No other token is more likely.",
                "You said ‘had’, which has 40 %. That is close; the most likely token has 50 %.",
            ]
        );
    }
}
