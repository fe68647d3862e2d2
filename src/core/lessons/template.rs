//! Texts with placeholders, which are filled from the run: "You said {guess}, it is
//! {B.token.4.prob}."

use super::path::Path;
use super::scene::Scene;

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Words(String),
    Value(Path),
}

impl Template {
    /// Reads a text; the error says which placeholder is wrong.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text.trim();
        while let Some((words, after)) = rest.split_once('{') {
            let (name, after) = after
                .split_once('}')
                .ok_or_else(|| "a placeholder is not closed: } is missing".to_owned())?;
            parts.push(Part::Words(words.to_owned()));
            let path = Path::read(name)?;
            if path.names_any() {
                return Err(format!("{{{name}}} does not say which pane it means"));
            }
            parts.push(Part::Value(path));
            rest = after;
        }
        parts.push(Part::Words(rest.to_owned()));
        Ok(Self { parts })
    }

    /// Returns the text with its values, or `None` if a placeholder has none yet.
    pub fn fill(&self, scene: &Scene<'_>) -> Option<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Words(words) => text.push_str(words),
                Part::Value(path) => text.push_str(&path.value(scene, None)?.to_string()),
            }
        }
        Some(text)
    }

    /// Returns the numbers that are typed in the text itself.
    pub(super) fn typed_numbers(&self) -> Vec<&str> {
        let words = self.parts.iter().filter_map(|part| match part {
            Part::Words(words) => Some(words.as_str()),
            Part::Value(_) => None,
        });
        words.flat_map(numbers_in).collect()
    }
}

/// Returns the numbers in a text, with their decimals.
pub(super) fn numbers_in(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let words = text.split(move |c| !is_part(c));
    let trimmed = words.map(|word| word.trim_matches(['.', ',']));
    trimmed.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Template, numbers_in};
    use crate::generation::testing::generation;
    use crate::lessons::Scene;

    #[test]
    fn placeholders_are_filled_from_the_record() {
        let text = generation(&[(" fox", 0.25)]);
        let scene = Scene {
            texts: vec![Some(&text)],
            ..Scene::default()
        };
        let fill = |words: &str| Template::read(words).unwrap().fill(&scene);
        let filled = fill("‘{A.token.1}’ has {A.token.1.prob}.");
        assert_eq!(filled.as_deref(), Some("‘fox’ has 25 %."));
        assert_eq!(fill("{B.token.1}"), None);
        assert_eq!(fill("plain").as_deref(), Some("plain"));
    }

    #[test]
    fn wrong_placeholders_are_reported() {
        for (text, message) in [
            ("{A.token.1", "} is missing"),
            ("{A.nothing}", "\"A.nothing\""),
            ("{any.tokens}", "which pane"),
        ] {
            let error = Template::read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn typed_numbers_are_found() {
        assert_eq!(
            numbers_in("At 0.5, or 40 of 1,000."),
            ["0.5", "40", "1,000"]
        );
        let template = Template::read("top-k 40 keeps {A.token.4.kept}").unwrap();
        assert_eq!(template.typed_numbers(), ["40"]);
    }
}
