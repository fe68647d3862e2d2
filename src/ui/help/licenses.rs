//! The licenses of the code, the fonts, the model and the crates.

use std::io::Read as _;

use egui::{Label, ScrollArea, TextEdit, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{field_frame, hint_ui};

/// The licenses of all crates, compressed; written by `.ci/licenses`.
const THIRD_PARTY: &[u8] = include_bytes!("../../../assets/licenses/third-party.txt.gz");

/// The licenses of what this repository contains, listed before those of the crates.
const OWN: [(&str, &str); 5] = [
    (
        "Quartet is licensed under MIT or Apache-2.0, at your option.",
        include_str!("../../../assets/licenses/MIT.txt"),
    ),
    ("", include_str!("../../../assets/licenses/Apache-2.0.txt")),
    (
        "The typefaces Inter, JetBrains Mono, Literata and Noto Emoji are licensed under the SIL Open \
         Font License 1.1.",
        include_str!("../../../assets/fonts/OFL.txt"),
    ),
    (
        "The built-in model was trained by the Quartet project on texts in the public domain and on \
         its own synthetic stories, and has the same license as Quartet.",
        "",
    ),
    (
        "The codebooks of the IQ quantizations are llama.cpp’s, from its package gguf-py, which is \
         licensed under the MIT license.",
        include_str!("../../../assets/licenses/gguf-py.txt"),
    ),
];

/// Returns the licenses of everything that the program contains, as plain text.
pub fn third_party_licenses() -> String {
    let mut text = String::new();
    for (words, license) in OWN {
        for part in [words, license] {
            if !part.is_empty() {
                text.push_str(part.trim_end());
                text.push_str("\n\n");
            }
        }
    }
    let mut crates = String::new();
    let mut reader = flate2::read::GzDecoder::new(THIRD_PARTY);
    match reader.read_to_string(&mut crates) {
        Ok(_) => text.push_str(&crates),
        // This cannot happen: the bytes are part of the program, and a test reads them.
        Err(error) => text.push_str(&error.to_string()),
    }
    text
}

/// The list of licenses, unpacked when it is first shown.
#[derive(Debug, Default)]
pub(super) struct LicensesUi {
    lines: Vec<String>,
    /// The text to find.
    query: String,
}

impl LicensesUi {
    /// Draws a search field, and below it the lines that contain the query, or all lines.
    pub(super) fn ui(&mut self, ui: &mut Ui) {
        if self.lines.is_empty() {
            self.lines = third_party_licenses().lines().map(str::to_owned).collect();
        }
        ui.add_space(10.0);
        let name = "Find a crate or a license";
        let edit = TextEdit::singleline(&mut self.query)
            .hint_text(name)
            .frame(field_frame(ui))
            .desired_width(ui.available_width() - 16.0);
        ui.add(edit).accessible_name(name);
        ui.add_space(6.0);
        let query = self.query.trim().to_lowercase();
        let is_found = |line: &&String| query.is_empty() || line.to_lowercase().contains(&query);
        let found: Vec<&String> = self.lines.iter().filter(is_found).collect();
        if found.is_empty() {
            hint_ui(ui, "No line contains this text");
        }
        let color = Theme::of(ui).text_2;
        ScrollArea::vertical().auto_shrink(false).show_rows(
            ui,
            Face::Code.row(),
            found.len(),
            |ui, rows| {
                for line in found.get(rows).into_iter().flatten() {
                    let line = Face::Code.text(line.as_str()).color(color);
                    ui.add(Label::new(line).truncate());
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::third_party_licenses;

    const LOCK: &str = include_str!("../../../Cargo.lock");

    /// The names and versions of the crates in Cargo.lock that come from a registry.
    fn locked() -> BTreeSet<String> {
        let packages = LOCK.split("[[package]]").skip(1);
        packages
            .filter(|package| package.contains("\nsource = "))
            .map(|package| {
                let field = |name: &str| {
                    let line = package.lines().find_map(|line| line.strip_prefix(name));
                    line.unwrap().trim_matches(['=', ' ', '"']).to_owned()
                };
                format!("{} {}", field("name"), field("version"))
            })
            .collect()
    }

    #[test]
    fn the_list_has_exactly_the_crates_of_the_lock_file() {
        let text = third_party_licenses();
        let listed: BTreeSet<String> = text
            .lines()
            .skip_while(|line| *line != "Crates")
            .take_while(|line| *line != "[1]")
            .filter_map(|line| line.strip_prefix("* "))
            .map(|line| {
                let words: Vec<&str> = line.split(' ').take(2).collect();
                words.join(" ")
            })
            .collect();
        let locked = locked();
        let missing: Vec<_> = locked.difference(&listed).collect();
        let gone: Vec<_> = listed.difference(&locked).collect();
        assert!(
            missing.is_empty() && gone.is_empty(),
            "run `.ci/licenses`: {missing:?} are missing, {gone:?} are gone"
        );
    }

    #[test]
    fn the_list_contains_the_texts_of_the_licenses() {
        let text = third_party_licenses();
        for words in [
            "Permission is hereby granted, free of charge",
            "Apache License",
            "SIL OPEN FONT LICENSE",
        ] {
            assert!(text.contains(words), "{words}");
        }
    }
}
