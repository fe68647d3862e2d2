//! Renders stability maps as pictures.

use super::figures::MappedText;
use super::plot::StabilityPlot;
use crate::ui::pictures::{Look, caption, lab_drawing};

/// Renders the stability map of a text as SVG.
pub(crate) fn stability_drawing(text: &MappedText, plot: StabilityPlot<'_>, look: Look) -> String {
    let written = text.without_steps();
    let mut panes = vec![None; text.place];
    panes.push(Some(&written));
    lab_drawing(&plot, &caption(&panes), look)
}

#[cfg(test)]
mod tests {
    use super::stability_drawing;
    use crate::analysis::sweep::testing::setup;
    use crate::generation::testing::generation;
    use crate::lab::stability::figures::{MappedText, StabilityMap};
    use crate::lab::stability::plot::StabilityPlot;
    use crate::ui::pictures::Look;

    #[test]
    fn a_stability_map_shows_its_scale_and_its_text() {
        let text = generation(&[(" fox", 0.6), (" house", 0.3)]);
        let axes = setup(4, 4, 1);
        let mut map = StabilityMap::new(&text, axes.rows, axes.columns.unwrap());
        map.advance(&text, || true);
        let plot = StabilityPlot {
            map: &map,
            n_tokens: 2,
            token: None,
            pane: Some(1),
            selected: None,
        };
        let text = MappedText::of(&text, 1);
        let drawing = stability_drawing(&text, plot, Look::default());
        for words in [
            ">Divergence</text>",
            "2, doubling",
            "up: temperature",
            "B T 0.7, seed 42",
        ] {
            assert!(drawing.contains(words), "{words}: {drawing}");
        }
    }
}
