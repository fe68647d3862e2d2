//! Renders stability maps as pictures.

use super::plot::StabilityPlot;
use crate::generation::Generation;
use crate::state::PictureStyle;
use crate::ui::pictures::{Palette, caption, lab_svg};

/// Renders the stability map of a text as SVG.
pub(crate) fn stability_drawing(
    text: &Generation,
    plot: StabilityPlot<'_>,
    palette: Palette,
    style: PictureStyle,
) -> String {
    let mut panes = vec![None; plot.pane.unwrap_or(0)];
    panes.push(Some(text));
    lab_svg(&plot, &caption(&panes), palette, style)
}

#[cfg(test)]
mod tests {
    use super::stability_drawing;
    use crate::analysis::sweep::testing::setup;
    use crate::generation::testing::generation;
    use crate::lab::stability::figures::StabilityMap;
    use crate::lab::stability::plot::StabilityPlot;
    use crate::state::PictureStyle;
    use crate::ui::pictures::Palette;

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
        let drawing = stability_drawing(&text, plot, Palette::Dark, PictureStyle::default());
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
