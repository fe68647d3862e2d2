//! Finds the glyphs of each segment of a row that is laid out in visual order.

use egui::emath::Rangef;
use egui::epaint::text::{Glyph, PlacedRow};
use unicode_bidi::{BidiClass, bidi_class};

use super::visual_order::{RowOrder, Segment};

/// A glyph, under the name that egui gives it: the first character of its cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Named {
    name: char,
    x: Rangef,
}

/// The glyphs of a segment, from left to right.
#[derive(Debug, Clone, Default)]
pub(super) struct WordGlyphs {
    /// Where the segment begins.
    left: f32,
    glyphs: Vec<Named>,
}

/// Returns the horizontal range of a glyph in its galley.
pub(super) fn x_of(placed: &PlacedRow, glyph: &Glyph) -> Rangef {
    let left = placed.pos.x + glyph.pos.x;
    Rangef::new(left, left + glyph.advance_width)
}

impl WordGlyphs {
    /// Returns the glyphs of each segment of a row. `n_glyphs` returns how many a reversed segment
    /// has; others have one for each character.
    pub(super) fn of(
        placed: &PlacedRow,
        order: &RowOrder,
        n_glyphs: impl Fn(&Segment) -> usize,
    ) -> Vec<Self> {
        let mut glyphs = placed.glyphs.iter().map(|glyph| Named {
            name: glyph.chr,
            x: x_of(placed, glyph),
        });
        let mut left = placed
            .glyphs
            .first()
            .map_or(0.0, |glyph| x_of(placed, glyph).min);
        let words = order.segments.iter().map(|segment| {
            let n_own = if segment.is_reversed {
                n_glyphs(segment)
            } else {
                segment.n_chars
            };
            let word = Self {
                left,
                glyphs: glyphs.by_ref().take(n_own).collect(),
            };
            let rights = word.glyphs.iter().map(|glyph| glyph.x.max);
            left = rights.fold(left, f32::max);
            word
        });
        words.collect()
    }

    /// Returns the horizontal range of each character of the segment, in the order of the text.
    pub(super) fn ranges(&self, segment: &Segment, chars: &[char]) -> Vec<Rangef> {
        if segment.is_reversed {
            let reversed = reversed_ranges(chars, &self.glyphs);
            return reversed.unwrap_or_else(|| self.even_ranges(chars.len()));
        }
        let mut at = self.left;
        let glyphs = self.glyphs.iter().map(|glyph| Some(glyph.x));
        let glyphs = glyphs.chain(std::iter::repeat(None));
        let ranges = chars.iter().zip(glyphs).map(|(_, x)| {
            let x = x.unwrap_or(Rangef::point(at));
            at = x.max;
            x
        });
        ranges.collect()
    }

    /// Divides the width of the segment among its characters, from right to left.
    fn even_ranges(&self, n_chars: usize) -> Vec<Rangef> {
        let right = self.glyphs.iter().map(|glyph| glyph.x.max);
        let all = Rangef::new(self.left, right.fold(self.left, f32::max));
        divided(all, n_chars)
    }
}

/// Divides a range into equal parts, from right to left.
fn divided(all: Rangef, n_parts: usize) -> Vec<Rangef> {
    let width = all.span() / n_parts.max(1) as f32;
    let right = |index: usize| all.max - width * index as f32;
    (0..n_parts)
        .map(|index| Rangef::new(right(index + 1), right(index)))
        .collect()
}

/// Returns the range of each character of a word whose glyphs are placed from right to left, or
/// `None` if they cannot be told apart.
///
/// A ligature is divided among its letters, and a mark is at the left edge of its letter.
fn reversed_ranges(chars: &[char], glyphs: &[Named]) -> Option<Vec<Rangef>> {
    let glyphs = shaped(chars, glyphs)?;
    // The letter that each cluster begins with, and its range.
    let mut clusters: Vec<(usize, Rangef)> = Vec::new();
    for glyph in glyphs.iter().rev() {
        let next = clusters.last().map_or(0, |(first, _)| first + 1);
        let rest = chars.get(next..).unwrap_or_default();
        let letter = rest.iter().position(|c| *c == glyph.name);
        let is_mark = glyph.x.span() <= 0.0 && !clusters.is_empty();
        match (letter, clusters.last_mut()) {
            (Some(letter), _) if !is_mark => clusters.push((next + letter, glyph.x)),
            (_, Some(_)) if is_mark => {}
            (_, Some((_, x))) => *x = Rangef::new(x.min.min(glyph.x.min), x.max.max(glyph.x.max)),
            (_, None) => return None,
        }
    }
    let starts = clusters.iter().map(|(first, _)| *first);
    let ends = starts.skip(1).chain([chars.len()]);
    let mut ranges = Vec::with_capacity(chars.len());
    for ((first, x), end) in clusters.iter().zip(ends) {
        let letters = chars.get(*first..end)?;
        let is_mark = |c: char| bidi_class(c) == BidiClass::NSM;
        let n_letters = letters.iter().filter(|c| !is_mark(**c)).count();
        let mut parts = divided(*x, n_letters).into_iter();
        let mut left = x.max;
        for c in letters {
            let part = if is_mark(*c) { None } else { parts.next() };
            let part = part.unwrap_or(Rangef::point(left));
            left = part.min;
            ranges.push(part);
        }
    }
    (ranges.len() == chars.len()).then_some(ranges)
}

/// Returns the glyphs of a word without those that egui adds after them: it takes the first cluster
/// of the word, which is the last one that it places, to go on to the end, and repeats the
/// characters after it without a width.
fn shaped<'a>(chars: &[char], glyphs: &'a [Named]) -> Option<&'a [Named]> {
    (1..=glyphs.len()).find_map(|n_in_cluster| {
        let repeated = chars.get(n_in_cluster..).unwrap_or_default();
        let n_shaped = glyphs.len().checked_sub(repeated.len())?;
        let (shaped, rest) = glyphs.split_at_checked(n_shaped)?;
        let cluster = shaped.get(n_shaped.checked_sub(n_in_cluster)?..)?;
        let is_cluster = cluster
            .iter()
            .all(|glyph| Some(&glyph.name) == chars.first());
        let is_repeated = rest.iter().map(|glyph| &glyph.name).eq(repeated);
        let is_empty = rest.iter().all(|glyph| glyph.x.span() <= 0.0);
        (is_cluster && is_repeated && is_empty).then_some(shaped)
    })
}

#[cfg(test)]
mod tests {
    use egui::emath::Rangef;

    use super::{Named, reversed_ranges};

    /// Glyphs of these widths, from left to right.
    fn glyphs(names: &str, widths: &[u8]) -> Vec<Named> {
        let mut left = 0.0;
        let named = names.chars().zip(widths).map(|(name, width)| {
            let x = Rangef::new(left, left + f32::from(*width));
            left = x.max;
            Named { name, x }
        });
        named.collect()
    }

    #[test]
    fn every_letter_and_mark_of_a_word_has_a_place() {
        for (text, names, widths, expected) in [
            // The letters after the first one are repeated.
            (
                "שלו",
                "ולשלו",
                &[10, 10, 10, 0, 0][..],
                vec![(20, 30), (10, 20), (0, 10)],
            ),
            // A letter twice.
            ("לל", "ללל", &[10, 9, 0], vec![(10, 19), (0, 10)]),
            // The ligature of lam and alef has one glyph, named after its first letter.
            (
                "بلاد",
                "دلبلاد",
                &[10, 8, 10, 0, 0, 0],
                vec![(18, 28), (14, 18), (10, 14), (0, 10)],
            ),
            // A mark has its own glyph, named after its letter.
            (
                "שָל",
                "לששל",
                &[10, 0, 10, 0],
                vec![(10, 20), (10, 10), (0, 10)],
            ),
            // A mark that is part of its letter's glyph.
            (
                "שָל",
                "לשָל",
                &[10, 10, 0, 0],
                vec![(10, 20), (10, 10), (0, 10)],
            ),
            ("א", "א", &[10], vec![(0, 10)]),
        ] {
            let chars: Vec<char> = text.chars().collect();
            let found = reversed_ranges(&chars, &glyphs(names, widths)).unwrap();
            let expected: Vec<Rangef> = expected
                .into_iter()
                .map(|(left, right): (u8, u8)| Rangef::new(left.into(), right.into()))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn other_glyphs_are_not_taken_for_the_letters_of_a_word() {
        let chars = ['ש', 'ל'];
        assert_eq!(reversed_ranges(&chars, &glyphs("של", &[10, 10])), None);
        assert_eq!(reversed_ranges(&chars, &[]), None);
    }
}
