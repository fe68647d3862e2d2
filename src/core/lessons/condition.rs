//! Conditions on the window and the record, as data: `B.finished`, `B.top_p < 0.9`,
//! `A.text == B.text`, `not A.loops`.

use super::path::Path;
use super::scene::Scene;
use super::value::Value;

/// One condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    negated: bool,
    left: Path,
    /// Without a comparison, the left side must be a flag.
    comparison: Option<(Comparison, Operand)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Different,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Path(Path),
    Number(f64),
    Text(String),
}

impl Comparison {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "<" => Self::Less,
            "<=" => Self::AtMost,
            ">" => Self::More,
            ">=" => Self::AtLeast,
            "==" => Self::Equal,
            "!=" => Self::Different,
            _ => return None,
        })
    }

    fn holds(self, left: &Value, right: &Value) -> bool {
        let ordering = match (left, right) {
            (Value::Number(left, _), Value::Number(right, _)) => left.partial_cmp(right),
            (Value::Text(left), Value::Text(right)) if left == right => {
                Some(std::cmp::Ordering::Equal)
            }
            (Value::Text(_), Value::Text(_)) => {
                return self == Self::Different;
            }
            (Value::Flag(left), Value::Flag(right)) => Some(left.cmp(right)),
            _ => None,
        };
        ordering.is_some_and(|ordering| match self {
            Self::Less => ordering.is_lt(),
            Self::AtMost => ordering.is_le(),
            Self::More => ordering.is_gt(),
            Self::AtLeast => ordering.is_ge(),
            Self::Equal => ordering.is_eq(),
            Self::Different => ordering.is_ne(),
        })
    }
}

impl Condition {
    /// Reads a condition; the error says what is wrong with it.
    pub(super) fn read(words: &str) -> Result<Self, String> {
        let words = words.trim();
        let (negated, rest) = match words.strip_prefix("not ") {
            Some(rest) => (true, rest.trim_start()),
            None => (false, words),
        };
        let mut parts = rest.splitn(3, char::is_whitespace);
        let left = Path::read(parts.next().unwrap_or_default())?;
        let comparison = match (parts.next(), parts.next()) {
            (None, _) => None,
            (Some(word), right) => {
                let comparison = Comparison::read(word).ok_or_else(|| {
                    format!("{word:?} is not a comparison: use <, <=, >, >=, == or !=")
                })?;
                let right = right.ok_or_else(|| format!("nothing follows {word:?}"))?;
                Some((comparison, Operand::read(right.trim())?))
            }
        };
        Ok(Self {
            negated,
            left,
            comparison,
        })
    }

    fn names_any(&self) -> bool {
        let right = match &self.comparison {
            Some((_, Operand::Path(path))) => path.names_any(),
            _ => false,
        };
        self.left.names_any() || right
    }

    /// Returns whether it holds. A value that does not exist yet makes it false, even if negated.
    fn holds_for(&self, scene: &Scene<'_>, any: Option<usize>) -> bool {
        let Some(left) = self.left.value(scene, any) else {
            return false;
        };
        let holds = match &self.comparison {
            None => left == Value::Flag(true),
            Some((comparison, right)) => {
                let Some(right) = right.value(scene, any) else {
                    return false;
                };
                comparison.holds(&left, &right)
            }
        };
        holds != self.negated
    }
}

impl Operand {
    fn read(words: &str) -> Result<Self, String> {
        if let Ok(number) = words.parse() {
            return Ok(Self::Number(number));
        }
        let quoted = words
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        quoted.map_or_else(
            || Path::read(words).map(Self::Path),
            |text| Ok(Self::Text(text.to_owned())),
        )
    }

    fn value(&self, scene: &Scene<'_>, any: Option<usize>) -> Option<Value> {
        match self {
            Self::Path(path) => path.value(scene, any),
            Self::Number(number) => Some(Value::plain(*number)),
            Self::Text(text) => Some(Value::Text(text.clone())),
        }
    }
}

/// Returns whether all conditions hold. "any" stands for the same pane in all of them.
pub fn all_hold(conditions: &[Condition], scene: &Scene<'_>) -> bool {
    if conditions.iter().any(Condition::names_any) {
        (0..scene.texts.len()).any(|place| all_hold_for(conditions, scene, place))
    } else {
        let mut conditions = conditions.iter();
        conditions.all(|condition| condition.holds_for(scene, None))
    }
}

/// Returns whether all conditions hold if "any" stands for the pane at this place.
pub(super) fn all_hold_for(conditions: &[Condition], scene: &Scene<'_>, place: usize) -> bool {
    let mut conditions = conditions.iter();
    conditions.all(|condition| condition.holds_for(scene, Some(place)))
}

#[cfg(test)]
mod tests {
    use super::{Condition, all_hold};
    use crate::generation::testing::generation;
    use crate::generation::{FinishReason, Generation};
    use crate::lessons::Scene;

    fn finished(pieces: &[(&str, f64)]) -> Generation {
        let mut text = generation(pieces);
        text.finish = Some(FinishReason::MaxTokens);
        text
    }

    #[test]
    fn conditions_compare_what_the_scene_has() {
        let first = finished(&[(" the", 0.5), (" fox", 0.25)]);
        let second = finished(&[(" the", 0.5), (" owl", 0.125)]);
        let scene = Scene {
            texts: vec![Some(&first), Some(&second), None],
            pin: Some((1, 1)),
            tab: "x-ray",
            tint: "rank",
            ..Scene::default()
        };
        for (condition, expected) in [
            ("A.finished", true),
            ("not A.finished", false),
            ("C.finished", false),
            ("not C.finished", false),
            ("A.tokens == 2", true),
            ("A.tokens < 2", false),
            ("A.end == \"token limit\"", true),
            ("A.same.B", false),
            ("not A.same.B", true),
            ("A.fork.B == 2", true),
            ("A.token.2.prob > B.token.2.prob", true),
            ("A.token.2 == \"fox\"", true),
            ("pin == \"owl\"", true),
            ("pin.number >= 2", true),
            ("tab != \"plots\"", true),
            ("tint == \"rank\"", true),
            ("any.token.2 == \"owl\"", true),
            ("any.token.2 == \"bat\"", false),
            ("A.top_p < 0.9", false),
            ("A.tokens == \"2\"", false),
        ] {
            let read = Condition::read(condition).unwrap();
            assert_eq!(all_hold(&[read], &scene), expected, "{condition}");
        }
        let both = ["any.token.2 == \"owl\"", "any.token.2.prob > 0.2"]
            .map(|words| Condition::read(words).unwrap());
        assert!(!all_hold(&both, &scene), "the same pane in both");
    }

    #[test]
    fn mistakes_are_reported() {
        for (words, message) in [
            ("", "is not the name of anything"),
            ("A.happy", "\"A.happy\" is not the name of anything"),
            ("I.tokens", "is not the name of anything"),
            ("A.token.0", "is not a positive whole number"),
            ("A.tokens = 3", "\"=\" is not a comparison"),
            ("A.tokens <", "nothing follows"),
            ("A.tokens < many", "\"many\" is not the name"),
        ] {
            let error = Condition::read(words).unwrap_err();
            assert!(error.contains(message), "{words}: {error}");
        }
    }
}
