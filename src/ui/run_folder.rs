//! A run as a folder: every format and every plot, for the window and for the command line.

use crate::analysis::{Divergence, first_divergence};
use crate::export::html::{self, PagePlot};
use crate::export::{ExportFormat, FileFacts, render_panes};
use crate::generation::Generation;
use crate::plots::{PlotChoices, PlotFile, PlottedRun, StepAt};
use crate::state::{PictureFormat, PictureStyle, Plot, capitalize};
use crate::ui::pictures::{Look, Palette, drawing, encode, run_picture};

/// Returns every plot of a run and its files. The logits set by hand are not part of a run.
fn all_plots() -> impl Iterator<Item = (Plot, PlotFile)> {
    let files = |plot| run_picture(plot).map_or_else(Vec::new, |picture| picture.files());
    Plot::all().flat_map(move |plot| files(plot).into_iter().map(move |file| (plot, file)))
}

/// Returns the name of each file that a folder can hold and what it contains.
pub fn possible_contents() -> Vec<(String, &'static str)> {
    listed(ExportFormat::ALL, all_plots().map(|(_, file)| file))
}

/// Returns the name of each file in the folder of these panes and what it contains.
pub fn contents(panes: &[Option<&Generation>]) -> Vec<(String, &'static str)> {
    listed(formats_of(panes), plots_of(panes).map(|(_, file)| file))
}

/// Returns the formats in which these panes say something: texts that continue a prompt are no chats.
fn formats_of(panes: &[Option<&Generation>]) -> impl Iterator<Item = ExportFormat> {
    let mut texts = panes.iter().copied().flatten();
    let has_chat = texts.any(|text| text.prompt.chat.is_some());
    let formats = ExportFormat::ALL.into_iter();
    formats.filter(move |format| has_chat || *format != ExportFormat::Messages)
}

fn listed(
    formats: impl IntoIterator<Item = ExportFormat>,
    plots: impl Iterator<Item = PlotFile>,
) -> Vec<(String, &'static str)> {
    let runs = formats
        .into_iter()
        .map(|format| (run_name(format), format.description()));
    let plots = plots.flat_map(|plot| {
        let name = |format: PictureFormat| format!("{}.{}", plot.name, format.extension());
        PictureFormat::ALL.map(|format| (name(format), plot.title))
    });
    runs.chain(plots).collect()
}

/// Returns the plots for which these panes have data.
fn plots_of(panes: &[Option<&Generation>]) -> impl Iterator<Item = (Plot, PlotFile)> {
    let texts: Vec<&Generation> = panes.iter().copied().flatten().collect();
    let has_data = |plot| run_picture(plot).is_some_and(|picture| picture.has_data(&texts));
    let plots = all_plots().filter(|(plot, _)| has_data(*plot));
    plots.collect::<Vec<_>>().into_iter()
}

/// A rendered run file, and what the other files of its run say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderedRun {
    pub bytes: Vec<u8>,
    pub facts: FileFacts,
}

/// Renders the files, each with its name. A pane's index determines its letter.
pub fn files(
    panes: &[Option<&Generation>],
    run: RenderedRun,
    style: PictureStyle,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut files = vec![(run_name(ExportFormat::Json), run.bytes)];
    let others = formats_of(panes).filter(|format| *format != ExportFormat::Json);
    files.extend(others.map(|format| {
        let bytes = render_run(format, panes, run.facts);
        (run_name(format), bytes)
    }));
    let look = Look {
        palette: Palette::Light,
        style,
        ..Look::default()
    };
    for (plot, file) in plots_of(panes) {
        let drawing = drawing(plot, plotted(&file, panes, run.facts), look);
        for format in PictureFormat::ALL {
            let bytes = encode(&drawing, format, style).map_err(|error| error.to_string())?;
            files.push((format!("{}.{}", file.name, format.extension()), bytes));
        }
    }
    Ok(files)
}

/// Renders a run in one format; a web page includes plots.
pub fn render_run(
    format: ExportFormat,
    panes: &[Option<&Generation>],
    facts: FileFacts,
) -> Vec<u8> {
    if format != ExportFormat::Html {
        return render_panes(format, panes, facts);
    }
    let plots = plots_of(panes).filter(|(_, file)| file.on_page);
    let plots: Vec<PagePlot> = plots
        .map(|(plot, file)| {
            let in_palette = |palette| {
                let look = Look {
                    palette,
                    ..Look::default()
                };
                drawing(plot, plotted(&file, panes, facts), look)
            };
            PagePlot {
                title: capitalize(file.title),
                light: in_palette(Palette::Light),
                dark: in_palette(Palette::Dark),
            }
        })
        .collect();
    html::render(panes, &plots, facts.finished_at).into_bytes()
}

fn run_name(format: ExportFormat) -> String {
    format!("run.{}", format.extension())
}

/// Returns what a file shows of these panes.
fn plotted<'a>(
    file: &PlotFile,
    panes: &'a [Option<&'a Generation>],
    facts: FileFacts,
) -> PlottedRun<'a> {
    PlottedRun {
        finished_at: facts.finished_at,
        panes,
        choices: PlotChoices {
            step: step_to_plot(panes),
            ..file.choices
        },
    }
}

/// Returns the step whose candidates are plotted: the step where the panes diverge, in the first
/// pane that had a choice there. If they do not diverge, it is the last step of the first pane; if
/// no pane had a choice, it is the first pane's step at the divergence.
fn step_to_plot(panes: &[Option<&Generation>]) -> Option<StepAt> {
    let (first, text) = panes
        .iter()
        .enumerate()
        .find_map(|(place, text)| Some((place, (*text)?)))?;
    let newest = text.steps.len().checked_sub(1)?;
    let Divergence::At { step, .. } = first_divergence(panes) else {
        return Some(StepAt {
            pane: first,
            step: newest,
        });
    };
    let could_differ = |text: Option<&Generation>| {
        let step = text.and_then(|text| text.steps.get(step));
        step.is_some_and(|step| step.trace.draw.n_kept > 1)
    };
    Some(match panes.iter().copied().position(could_differ) {
        Some(pane) => StepAt { pane, step },
        None => StepAt {
            pane: first,
            step: step.min(newest),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{RenderedRun, all_plots, contents, files, possible_contents, render_run};
    use crate::decoding::filters::GreenList;
    use crate::decoding::{Filter, Stage};
    use crate::export::{ExportFormat, FileFacts};
    use crate::generation::testing::{generation, scored};
    use crate::state::{PictureStyle, Plot};

    #[test]
    fn the_folder_holds_every_picture_of_a_run_that_the_window_can_export() {
        // Neither the logits set by hand nor the kept texts of the tree belong to a run.
        let is_of_run = |plot: &Plot| !matches!(plot, Plot::ByHand | Plot::Tree);
        for plot in Plot::all().filter(is_of_run) {
            let is_listed = all_plots().any(|(listed, _)| listed == plot);
            assert!(is_listed, "{}", plot.name());
        }
    }

    #[test]
    fn the_folder_holds_exactly_the_listed_contents() {
        let text = generation(&[(" a", 0.5), (" fox", 0.25)]);
        let style = PictureStyle::default();
        let panes = [None, Some(&text)];
        let run = RenderedRun {
            facts: FileFacts {
                finished_at: Some(1_700_000_000),
                ..FileFacts::default()
            },
            ..RenderedRun::default()
        };
        let written = files(&panes, run, style).unwrap();
        let names: Vec<&str> = written.iter().map(|(name, _)| name.as_str()).collect();
        let listed = contents(&panes);
        let listed: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, listed);
        let page = written.iter().find(|(name, _)| name == "run.html").unwrap();
        let page = String::from_utf8(page.1.clone()).unwrap();
        // Three plots, each in both themes.
        assert_eq!(page.matches("<img ").count(), 6);
        for name in ["run.html", "run.md", "run.txt"] {
            let (_, bytes) = written.iter().find(|(other, _)| other == name).unwrap();
            let text = String::from_utf8_lossy(bytes);
            assert!(text.contains("Finished 2023-11-14 22:13 UTC"), "{name}");
        }
    }

    #[test]
    fn plots_without_data_are_left_out() {
        let pieces = [(" a", 0.5), (" fox", 0.25)];
        let mut marked = generation(&pieces);
        marked
            .config
            .chain
            .stages
            .push(Stage::from(Filter::GreenList(GreenList {
                bias: 2.0,
                ratio: 0.25,
                key: 42,
                window: 1,
            })));
        for (text, missing) in [
            (marked, &["compare"][..]),
            (generation(&pieces), &["compare", "watermark"]),
            (
                scored(&pieces, "sample"),
                &["compare", "speed", "time-per-token", "watermark"],
            ),
        ] {
            let contents = contents(&[Some(&text)]);
            let mut expected = possible_contents();
            expected.retain(|(name, _)| name != "run.messages.jsonl");
            expected.retain(|(name, _)| {
                let name = name.split('.').next().unwrap_or_default();
                !missing.contains(&name)
            });
            assert_eq!(contents, expected);
        }
        let page = render_run(
            ExportFormat::Html,
            &[Some(&scored(&pieces, "sample"))],
            FileFacts::default(),
        );
        let page = String::from_utf8(page).unwrap();
        assert_eq!(page.matches("<img ").count(), 4);
    }

    #[test]
    fn a_page_with_four_panes_of_500_tokens_takes_less_than_2_megabytes() {
        let pieces: Vec<(&str, f64)> = (0..500)
            .map(|n| (" fox", [0.9, 0.01, 0.3, 0.000_1][n % 4]))
            .collect();
        let text = generation(&pieces);
        let page = render_run(ExportFormat::Html, &[Some(&text); 4], FileFacts::default());
        assert!(page.len() < 2_000_000, "{} bytes", page.len());
    }
}
