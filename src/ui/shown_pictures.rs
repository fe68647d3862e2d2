//! The pictures of what is on screen, which come first in the Export menu.

use egui::{Align, Label, Layout, Ui, vec2};

use super::loop_view::{beam_tree, draft_strip};
use super::picture_menu::is_verified;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::state::{
    AppState, BranchesView, Command, DockTab, Document, Page, PathPurpose, PictureDocument,
    PictureFormat, Plot,
};

/// A picture of what is on screen.
struct ShownPicture {
    /// Its name in the row, and in a sentence.
    title: String,
    name: String,
    /// The picture as PDF, SVG and PNG.
    documents: [(PictureFormat, Document); 3],
}

/// The width of a picture's title, in points.
const TITLE: f32 = 168.0;

/// Returns whether there is a picture on screen.
pub(super) fn has_shown_picture(state: &AppState) -> bool {
    !shown_pictures(state).is_empty()
}

/// Draws a row for each picture on screen, with a button for each format and one that copies it.
/// Returns whether there is a picture.
pub(super) fn shown_pictures_ui(
    ui: &mut Ui,
    state: &AppState,
    commands: &mut Vec<Command>,
) -> bool {
    let shown = shown_pictures(state);
    for (index, picture) in shown.iter().enumerate() {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            ui.add_space(10.0);
            let title = &picture.title;
            let words = if index == 0 {
                format!("This picture: {title}")
            } else {
                title.clone()
            };
            let words = Face::Small.text(words).color(Theme::of(ui).text_2);
            let size = vec2(TITLE, ui.spacing().interact_size.y);
            let layout = Layout::left_to_right(Align::Center);
            ui.allocate_ui_with_layout(size, layout, |ui| {
                ui.set_min_width(TITLE);
                ui.add(Label::new(words).truncate());
            });
            buttons_ui(ui, picture, commands);
        });
    }
    !shown.is_empty()
}

fn buttons_ui(ui: &mut Ui, picture: &ShownPicture, commands: &mut Vec<Command>) {
    let ShownPicture {
        name, documents, ..
    } = picture;
    let formats = documents.iter().map(|(format, document)| {
        let label = format.extension().to_uppercase();
        let name = format!("Save {name} as {label}");
        let purpose = PathPurpose::Save(document.clone());
        (label, name, Command::AskPath(purpose))
    });
    let [_, (_, svg), _] = documents;
    let copy = Command::CopyPicture(svg.clone());
    let copy = ("Copy".to_owned(), format!("Copy {name}"), copy);
    for (label, name, command) in formats.chain([copy]) {
        if ui.add(Button::new(&label).name(&name).quiet()).clicked() {
            commands.push(command);
            ui.close();
        }
    }
}

/// Returns the pictures of what is on screen: those of the dock's tab, then the texts; or that of
/// the Lab's tab.
fn shown_pictures(state: &AppState) -> Vec<ShownPicture> {
    match state.page {
        Page::Lab => {
            let title = state.lab.tab.name().to_owned();
            let documents =
                PictureFormat::ALL.map(|format| Some((format, state.lab.shown_picture(format)?)));
            match documents {
                [Some(pdf), Some(svg), Some(png)] => vec![ShownPicture {
                    name: title.to_lowercase(),
                    title,
                    documents: [pdf, svg, png],
                }],
                _ => Vec::new(),
            }
        }
        Page::Write => {
            let has_text = state.generations().iter().any(Option::is_some);
            let plots = if has_text {
                shown_plots(state)
            } else {
                Vec::new()
            };
            let pictures = plots.into_iter().map(|plot| ShownPicture {
                title: plot.name().to_owned(),
                name: plot.name_in_sentence(),
                documents: PictureFormat::ALL
                    .map(|format| (format, Document::new(PictureDocument { plot, format }))),
            });
            pictures.collect()
        }
        Page::History | Page::Lessons => Vec::new(),
    }
}

/// Returns the plots of the dock's tab, then the texts.
pub(super) fn shown_plots(state: &AppState) -> Vec<Plot> {
    let texts = [Plot::Texts];
    if state.view.dock_open == Some(false) {
        return texts.to_vec();
    }
    let verification = state.runs.verification.as_ref();
    let shows_verification = verification.is_some_and(|it| it.shown) && is_verified(state);
    let is_strategy = !state.is_step_mode();
    let in_tab = match state.view.dock_tab {
        DockTab::Plots => vec![Plot::Score, Plot::NextToken, state.view.right_plot.0],
        DockTab::Xray => vec![Plot::Xray],
        DockTab::Loop if is_strategy && beam_tree(state).is_some() => vec![Plot::Beams],
        DockTab::Loop if is_strategy && draft_strip(state).is_some() => vec![Plot::Drafts],
        DockTab::Loop => vec![Plot::Loop],
        DockTab::Branches if state.view.branches == BranchesView::Written => vec![Plot::Tree],
        DockTab::Compare if shows_verification => vec![Plot::Gaps],
        DockTab::Compare if state.generations().iter().flatten().count() > 1 => vec![Plot::Compare],
        DockTab::Branches | DockTab::Compare | DockTab::Numbers => Vec::new(),
    };
    in_tab.into_iter().chain(texts).collect()
}

#[cfg(test)]
mod tests {
    use egui::vec2;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use crate::lab::LabTab;
    use crate::state::tests::{ready, written};
    use crate::state::{
        Command, DockTab, Document, Page, PictureDocument, PictureFormat, Plot, RunCommand,
    };
    use crate::ui::testing::{Window, press, window_of};

    /// Returns the names of the buttons for a format, from above.
    fn offered(window: &Window, format: &str) -> Vec<String> {
        let end = format!(" as {format}");
        let nodes = window.query_all_by(|node| {
            let label = node.label().unwrap_or_default();
            label.starts_with("Save ") && label.ends_with(&end)
        });
        let mut found: Vec<(f32, String)> = nodes
            .map(|node| {
                (
                    node.rect().top(),
                    node.accesskit_node().label().unwrap_or_default(),
                )
            })
            .collect();
        found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        found.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn what_is_on_screen_comes_first_in_the_export_menu() {
        for (tab, expected) in [
            (
                DockTab::Compare,
                vec!["Save the comparison as PDF", "Save the texts as PDF"],
            ),
            (
                DockTab::Loop,
                vec!["Save the loop as PDF", "Save the texts as PDF"],
            ),
            (
                DockTab::Xray,
                vec!["Save the X-ray as PDF", "Save the texts as PDF"],
            ),
            (DockTab::Numbers, vec!["Save the texts as PDF"]),
        ] {
            let mut state = written();
            state.view.dock_tab = tab;
            let mut window = window_of(vec2(1280.0, 800.0), state);
            press(&mut window, "Export");
            assert_eq!(offered(&window, "PDF"), expected);
            let first = window.get_by_label(expected[0]).rect().top();
            assert!(first < window.get_by_label("Run as JSON…").rect().top());
        }
    }

    #[test]
    fn a_press_saves_or_copies_the_picture_on_screen() {
        let mut state = written();
        state.view.dock_tab = DockTab::Compare;
        let mut window = window_of(vec2(900.0, 600.0), state);
        press(&mut window, "Export");
        press(&mut window, "Save the comparison as PDF");
        assert!(
            window.query_by_label("Run as JSON…").is_none(),
            "the menu closes"
        );
        press(&mut window, "Export");
        press(&mut window, "Copy the comparison");
        assert!(window.query_by_label("Run as JSON…").is_none());
    }

    #[test]
    fn a_page_of_the_lab_is_a_picture_without_any_text() {
        let mut state = ready();
        state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
        state.lab.tab = LabTab::ByHand;
        let mut window = window_of(vec2(1280.0, 800.0), state);
        press(&mut window, "Export");
        assert_eq!(offered(&window, "SVG"), ["Save by hand as SVG"]);
        assert!(window.query_by_label("Run as JSON…").is_none());
        let by_hand = window
            .state()
            .lab
            .shown_picture(PictureFormat::Pdf)
            .unwrap();
        let plot = Plot::ByHand;
        let format = PictureFormat::Pdf;
        assert_eq!(by_hand, Document::new(PictureDocument { plot, format }));
        window.state_mut().lab.tab = LabTab::Sweep;
        assert_eq!(window.state().lab.shown_picture(PictureFormat::Pdf), None);
    }
}
