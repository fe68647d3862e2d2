//! Renders sweeps as pictures.

use crate::analysis::sweep::{Metric, SweepResults};
use crate::generation::PaneSettings;
use crate::lab::sweep::SweepRecord;
use crate::lab::sweep::plot::{Curve, Scatter, SweepMap};
use crate::plots::PicturePlot;
use crate::ui::pictures::{Look, lab_drawing, model_words, shortened};

/// What a picture of a sweep shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepPicture {
    /// The map of a metric, or its curve if only one number is varied.
    Metric(Metric),
    /// Quality against diversity.
    Scatter,
}

/// The metrics that are plotted against each other: quality, then diversity.
pub(super) const QUALITY_AND_DIVERSITY: [Metric; 2] = [Metric::Surprise, Metric::Distinct2];

/// Renders a picture of a sweep as SVG.
pub(crate) fn sweep_drawing(record: SweepRecord<'_>, picture: SweepPicture, look: Look) -> String {
    let results = record.results;
    let caption = sweep_caption(record);
    let draw = |plot: &dyn PicturePlot| lab_drawing(plot, &caption, look);
    match picture {
        SweepPicture::Metric(metric) if results.setup.columns.is_some() => {
            draw(&SweepMap::of(results, metric))
        }
        SweepPicture::Metric(metric) => draw(&Curve::of(results, metric)),
        SweepPicture::Scatter => draw(&Scatter::of(results, QUALITY_AND_DIVERSITY)),
    }
}

/// Names the model, the prompts, the settings that were varied, the seeds and the texts' length.
fn sweep_caption(record: SweepRecord<'_>) -> String {
    let setup = &record.results.setup;
    let prompts = match record.prompts {
        [one] => format!("prompt ‘{}’", shortened(&one.text)),
        all => format!("{} prompts", all.len()),
    };
    let others = PaneSettings::from(setup.base.clone());
    let first = setup.seed;
    let seeds = match setup.n_seeds {
        1 => format!("seed {first}"),
        n => format!("seeds {first} to {}", first.wrapping_add(n as u64 - 1)),
    };
    let n = record.results.n_texts();
    let all = record.results.n_texts_per_cell() * setup.n_cells();
    let stopped = if n < all {
        format!(" · stopped after {n} of {all} texts")
    } else {
        String::new()
    };
    let second = record.second_model.map_or_else(String::new, |second| {
        format!(" · second model {}", model_words(second))
    });
    format!(
        "{}{second}, {prompts} · varied from {others} · {seeds}, up to {} tokens{stopped}",
        model_words(record.model),
        setup.limits.max_new_tokens
    )
}

/// Returns the pictures of a sweep with their file names: a map or a curve for each metric, and
/// quality against diversity.
pub(crate) fn sweep_pictures(results: &SweepResults) -> Vec<(String, SweepPicture)> {
    let metrics = results.metrics().into_iter();
    let mut pictures: Vec<_> = metrics
        .map(|metric| {
            let name = metric.key().trim_end_matches("_bits").replace('_', "-");
            (name, SweepPicture::Metric(metric))
        })
        .collect();
    if !pictures.is_empty() {
        pictures.push(("quality-and-diversity".to_owned(), SweepPicture::Scatter));
    }
    pictures
}

#[cfg(test)]
mod tests {
    use super::{sweep_drawing, sweep_pictures};
    use crate::analysis::sweep::testing::{setup, text};
    use crate::analysis::sweep::{Keep, Metric, SweepResults};
    use crate::generation::PromptText;
    use crate::generation::testing::generation;
    use crate::lab::sweep::{SweepPicture, SweepRecord};
    use crate::state::PictureStyle;
    use crate::ui::pictures::{Look, encode};

    fn drawings(n_columns: usize) -> Vec<String> {
        let text_record = generation(&[]);
        let mut results = SweepResults::new(setup(2, n_columns, 2), 1, Keep::Texts);
        for cell in 0..2 * n_columns.max(1) - 1 {
            for seed in 0..2 {
                let written = text(cell, seed, &[1, 5, 2, 3 + seed as u32]);
                results.add(written, &text_record.vocabulary);
            }
        }
        let record = SweepRecord {
            results: &results,
            model: &text_record.model,
            second_model: None,
            prompts: &[PromptText::raw("Once there was")],
            prompt_tokens: &[],
        };
        let pictures = sweep_pictures(&results).into_iter();
        pictures
            .map(|(name, picture)| {
                let style = PictureStyle::default();
                let drawing = sweep_drawing(record, picture, Look::default());
                assert!(
                    drawing.contains("prompt ‘Once there was’ · varied from"),
                    "{name}"
                );
                assert!(drawing.contains("seeds 42 to 43, up to 3 tokens"), "{name}");
                let format = crate::state::PictureFormat::Png;
                assert!(!encode(&drawing, format, style).unwrap().is_empty());
                drawing
            })
            .collect()
    }

    #[test]
    fn a_map_shows_its_numbers_its_legend_and_what_is_missing() {
        let drawings = drawings(2);
        let surprise = &drawings[0];
        assert!(surprise.contains(">Surprise</text>"), "{surprise}");
        assert_eq!(
            surprise.matches(">1.0</text>").count(),
            5,
            "three cells and two ends"
        );
        for words in [
            "temperature ↓",
            "top-p →",
            ">0.8</text>",
            "stopped after 6 of 8 texts",
        ] {
            assert!(surprise.contains(words), "{words}");
        }
    }

    #[test]
    fn a_sweep_over_one_parameter_draws_curves() {
        let drawings = drawings(0);
        assert!(drawings[0].contains("the band spans the 10th to the 90th percentile"));
        assert!(drawings[0].contains(">temperature</text>"));
    }

    #[test]
    fn every_metric_has_a_file_name() {
        let record = generation(&[]);
        let mut results = SweepResults::new(setup(1, 1, 1), 1, Keep::Texts);
        assert!(sweep_pictures(&results).is_empty());
        results.add(text(0, 0, &[1, 2, 3, 4]), &record.vocabulary);
        let names = sweep_pictures(&results);
        assert!(names.contains(&(
            "first-fork".to_owned(),
            SweepPicture::Metric(Metric::FirstFork)
        )));
        assert_eq!(names[0].0, "surprise");
    }
}
