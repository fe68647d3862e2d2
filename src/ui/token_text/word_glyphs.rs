//! Finds the glyphs of each segment of a row that is laid out in visual order.

use egui::Galley;
use egui::emath::Rangef;
use egui::epaint::text::{Glyph, PlacedRow};

use super::transcript::Run;
use super::visual_order::{RowOrder, Segment};

/// The glyphs of a segment, from left to right.
#[derive(Debug, Clone, Default)]
pub(super) struct WordGlyphs {
    /// Where the segment begins.
    pub(super) left: f32,
    /// Their horizontal ranges.
    xs: Vec<Rangef>,
    /// The characters that egui names for them.
    names: Vec<char>,
}

/// Returns the horizontal range of a glyph in its galley.
pub(super) fn x_of(placed: &PlacedRow, glyph: &Glyph) -> Rangef {
    let left = placed.pos.x + glyph.pos.x;
    Rangef::new(left, left + glyph.advance_width)
}

impl WordGlyphs {
    /// Returns the glyphs of each segment of a row that starts at byte `start` of the galley's text.
    pub(super) fn of(
        galley: &Galley,
        placed: &PlacedRow,
        start: usize,
        order: &RowOrder,
    ) -> Vec<Self> {
        // A section belongs to one segment.
        let section_start = |glyph: &Glyph| {
            let section = galley.job.sections.get(glyph.section_index as usize);
            section.map_or(0, |section| usize::from(section.byte_range.start))
        };
        let mut glyphs = placed.glyphs.iter().peekable();
        let mut end = start;
        let mut left = glyphs.peek().map_or(0.0, |glyph| x_of(placed, glyph).min);
        let words = order.segments.iter().map(|segment| {
            end += segment.bytes.len();
            let mut word = Self {
                left,
                ..Self::default()
            };
            while let Some(glyph) = glyphs.next_if(|glyph| section_start(glyph) < end) {
                let x = x_of(placed, glyph);
                left = x.max;
                word.xs.push(x);
                word.names.push(glyph.chr);
            }
            word
        });
        words.collect()
    }

    /// Sets the places of a segment's characters and puts them in order from left to right.
    pub(super) fn locate(&self, segment: &Segment, characters: &mut [(Run, char, Option<Rangef>)]) {
        if !segment.is_reversed {
            for (character, x) in characters.iter_mut().zip(&self.xs) {
                character.2 = Some(*x);
            }
            return;
        }
        let text: String = characters.iter().map(|(_, c, _)| *c).collect();
        let places = places_in_word(&text, &self.names);
        for (character, place) in characters.iter_mut().zip(&places.places) {
            character.2 = place.and_then(|place| self.xs.get(place).copied());
        }
        if places.is_reversed {
            characters.reverse();
        }
    }
}

/// Which glyph shows which character of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Places {
    /// The index of a glyph for each character, in the order of the text. A ligature has fewer
    /// glyphs than characters.
    places: Vec<Option<usize>>,
    /// Whether the first character is on the right.
    is_reversed: bool,
}

/// Assigns the glyphs of a word to its characters. `glyphs` are the characters that egui names for
/// its glyphs, from left to right.
fn places_in_word(text: &str, glyphs: &[char]) -> Places {
    let n_chars = text.chars().count();
    // After the letters of a word, egui repeats all but the first, without a width.
    let n_repeated = n_chars.saturating_sub(1);
    let n_shown = glyphs.len().checked_sub(n_repeated).filter(|n| *n > 0);
    let candidates = [
        (n_shown.unwrap_or(glyphs.len()), true),
        (glyphs.len(), true),
        (glyphs.len(), false),
    ];
    let assigned = candidates.map(|(n_glyphs, is_reversed)| {
        let mut rest: Vec<usize> = (0..n_glyphs).collect();
        if !is_reversed {
            rest.reverse();
        }
        let places = text.chars().map(|c| {
            let is_next = rest.last().and_then(|last| glyphs.get(*last)) == Some(&c);
            if is_next { rest.pop() } else { None }
        });
        Places {
            places: places.collect(),
            is_reversed,
        }
    });
    let n_found = |word: &Places| word.places.iter().flatten().count();
    // The first of equal ones.
    let best = assigned.into_iter().rev().max_by_key(n_found);
    best.unwrap_or(Places {
        places: vec![None; n_chars],
        is_reversed: true,
    })
}

#[cfg(test)]
mod tests {
    use super::{Places, places_in_word};

    #[test]
    fn the_glyphs_of_a_word_belong_to_its_letters() {
        for (text, glyphs, is_reversed, places) in [
            ("שלו", "ולש", true, vec![Some(2), Some(1), Some(0)]),
            // With the letters that egui repeats.
            ("שלו", "ולשלו", true, vec![Some(2), Some(1), Some(0)]),
            // The ligature of lam and alef has one glyph, named after its first letter.
            ("بلاد", "دلبلاد", true, vec![Some(2), Some(1), None, Some(0)]),
            ("שלו", "שלו", false, vec![Some(0), Some(1), Some(2)]),
        ] {
            let glyphs: Vec<char> = glyphs.chars().collect();
            let found = places_in_word(text, &glyphs);
            let expected = Places {
                places,
                is_reversed,
            };
            assert_eq!(found, expected, "{text}");
        }
    }
}
