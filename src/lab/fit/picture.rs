//! Renders fits as pictures.

use crate::generation::PaneSettings;
use crate::lab::fit::FitRecord;
use crate::lab::fit::plot::FitPlot;
use crate::ui::pictures::{Look, lab_drawing, model_words, shortened};

/// Renders a fit as SVG. `pane` is the index of the pane whose settings were varied.
pub(crate) fn fit_drawing(record: FitRecord<'_>, pane: Option<usize>, look: Look) -> String {
    let best = record.fit.best();
    let plot = FitPlot {
        fit: record.fit,
        best: best.as_ref(),
        pane: pane.filter(|_| record.fit.setup.base_cell().is_some()),
        selected: None,
    };
    lab_drawing(&plot, &fit_caption(record), look)
}

/// Names the model, the texts, the settings that were varied, and the best fit.
fn fit_caption(record: FitRecord<'_>) -> String {
    let fit = record.fit;
    let texts = match fit.texts() {
        [one] => {
            let pieces = one.fitted().iter();
            let pieces = pieces.map(|token| record.vocabulary.piece(*token).to_string());
            format!("text ‘{}’", shortened(&pieces.collect::<String>()))
        }
        texts => format!("{} texts", texts.len()),
    };
    let others = PaneSettings::from(fit.setup.base.clone());
    let sentence = fit.best_sentence(record.vocabulary).unwrap_or_default();
    let model = model_words(record.model);
    format!(
        "{model}, {texts}, {} tokens · varied from {others} · {sentence}",
        fit.n_tokens()
    )
}

#[cfg(test)]
mod tests {
    use super::fit_drawing;
    use crate::analysis::sweep::testing::setup;
    use crate::decoding::TokenId;
    use crate::generation::testing::generation;
    use crate::generation::{FitPlace, FitTokens, Likelihood};
    use crate::lab::fit::{Fit, FitRecord, FitSetup};
    use crate::state::{PictureFormat, PictureStyle};
    use crate::ui::pictures::{Look, encode};

    /// Draws a fit in which a third of the settings can't generate the text.
    fn drawing(n_columns: usize) -> String {
        let sweep = setup(6, n_columns, 1);
        let mut fit = Fit::new(FitSetup {
            base: sweep.base,
            rows: sweep.rows,
            columns: sweep.columns,
        });
        fit.set_texts(vec![FitTokens {
            tokens: [3, 1, 2].map(TokenId).to_vec(),
            n_prompt: 1,
            n_left_out: 0,
        }]);
        while let Some(chains) = fit.next_batch() {
            for index in 0..chains.len() {
                let is_cut = index % 6 < 2;
                let place = FitPlace { text: 0, step: 1 };
                fit.add(
                    index,
                    Likelihood {
                        ln_prob: if is_cut { f64::NEG_INFINITY } else { -3.0 },
                        ruled_out: is_cut.then_some(place),
                    },
                );
            }
        }
        let text = generation(&[]);
        let record = FitRecord {
            fit: &fit,
            model: &text.model,
            vocabulary: &text.vocabulary,
        };
        let style = PictureStyle::default();
        let drawing = fit_drawing(record, Some(3), Look::default());
        let png = encode(&drawing, PictureFormat::Png, style).unwrap();
        assert!(!png.is_empty());
        drawing
    }

    #[test]
    fn a_map_names_its_best_settings_its_scale_and_what_is_blank() {
        let drawing = drawing(6);
        for words in [
            ">How likely the text is</text>",
            ">likeliest: T",
            "607 nats less likely, halving",
            "blank: can’t generate it",
            "up: temperature",
            "This text is most likely under",
        ] {
            assert!(drawing.contains(words), "{words}: {drawing}");
        }
    }

    #[test]
    fn a_curve_shows_its_interval() {
        let drawing = drawing(0);
        for words in ["95 % interval", ">likeliest: T", ">temperature</text>"] {
            assert!(drawing.contains(words), "{words}: {drawing}");
        }
    }
}
