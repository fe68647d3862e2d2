//! `quartet why`: explains one token of an exported run.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::console;
use super::failure::Failure;
use crate::analysis::{SmallestChange, Why, smallest_change_words};
use crate::export::{contradiction_words, read_run};
use crate::generation::Generation;
use crate::generation::formatting::pane_letter;

/// The arguments of `quartet why`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A run file
    #[arg(value_name = "RUN.json")]
    run: PathBuf,

    /// The pane: its letter, from A for the first, or its name
    #[arg(long, value_name = "PANE", default_value = "A")]
    pane: String,

    /// The number of the token, from 1 for the first generated one
    #[arg(long, value_name = "N")]
    token: usize,

    /// Print the explanation as JSON instead
    #[arg(long)]
    json: bool,
}

/// Runs `quartet why`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = arguments.run.display();
    let run = read_run(&arguments.run)
        .map_err(|error| Failure::usage(format!("{error}\nFile: {path}")))?;
    let texts = run.by_place();
    let place = place(&texts, &arguments.pane)?;
    let explanation = explanation(&texts, place, arguments.token)?;
    if arguments.json {
        return console::print_json_line(&explanation.json());
    }
    console::print(console::escape_control(&explanation.text()).as_bytes())
}

/// Finds a pane by its letter or name.
fn place(by_place: &[Option<&Generation>], pane: &str) -> Result<usize, Failure> {
    let texts = || {
        let places = by_place.iter().enumerate();
        places.filter_map(|(place, text)| Some((pane_letter(place), (*text)?, place)))
    };
    let mut named =
        texts().filter(|(letter, text, _)| pane.eq_ignore_ascii_case(letter) || pane == text.name);
    let place = named.next().map(|(.., place)| place);
    place.ok_or_else(|| {
        let names = texts().map(|(letter, text, _)| format!("{letter} ({})", text.name));
        let names: Vec<String> = names.collect();
        let known = if names.is_empty() {
            "no texts".to_owned()
        } else {
            names.join(", ")
        };
        Failure::usage(format!("this run has no pane {pane}; it has {known}"))
    })
}

/// Why a token was chosen, and its position in the text.
struct Explanation {
    letter: String,
    /// The number of the token, from 1, and of all tokens.
    token: usize,
    n_tokens: usize,
    why: Why,
    /// The smallest change of a setting that would have changed the choice, in words.
    change: String,
    /// Where the file of the run contradicts itself.
    contradiction: Option<String>,
}

impl Explanation {
    fn text(&self) -> String {
        let text = self.why.text(&self.change);
        let mark = self.contradiction.as_ref();
        let mark = mark.map_or(String::new(), |words| format!("{words}.\n"));
        format!(
            "Pane {}, token {} of {}\n{text}\n{mark}",
            self.letter, self.token, self.n_tokens
        )
    }

    fn json(&self) -> Value {
        json!({
            "pane": self.letter,
            "token": self.token,
            "n_tokens": self.n_tokens,
            "title": self.why.title,
            "story": self.why.story,
            "margin": self.why.margin,
            "others": self.why.others,
            "smallest_change": self.change,
            "contradiction": self.contradiction,
        })
    }
}

fn explanation(
    texts: &[Option<&Generation>],
    place: usize,
    token: usize,
) -> Result<Explanation, Failure> {
    let text = texts.get(place).copied().flatten();
    let n_tokens = text.map_or(0, |text| text.steps.len());
    let letter = pane_letter(place);
    let missing = || {
        Failure::usage(match n_tokens {
            0 => format!("pane {letter} has no tokens"),
            1 => format!("pane {letter} has 1 token, so --token must be 1"),
            _ => format!(
                "pane {letter} has {n_tokens} tokens, so --token must be between 1 and {n_tokens}"
            ),
        })
    };
    let index = token.checked_sub(1).ok_or_else(missing)?;
    let why = Why::of(texts, place, index).ok_or_else(missing)?;
    let change = text.and_then(|text| {
        let search = SmallestChange::find(text, index)?;
        Some(smallest_change_words(text, &search))
    });
    Ok(Explanation {
        token,
        n_tokens,
        why,
        change: change.unwrap_or_default(),
        contradiction: text.and_then(contradiction_words),
        letter,
    })
}
