//! The help: keys, words, filters, what leaves the computer, where files are stored, known limits and licenses.

mod licenses;
mod reference;
mod words;

use egui::{Align, Label, Layout, Ui, vec2};

use self::licenses::LicensesUi;
use self::reference::ReferenceUi;
use self::words::words_ui;
use super::keys::is_mac;
use super::settings_dialog::folders_ui;
use super::tabbed_dialog::TabbedDialog;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::state::{AppState, Command, HelpTab, capitalize, key_help};

pub use licenses::third_party_licenses;

pub(super) use reference::show_page;

const SIZE: egui::Vec2 = vec2(940.0, 640.0);

/// The help's state between frames.
#[derive(Debug, Default)]
pub(super) struct HelpUi {
    licenses: LicensesUi,
    reference: ReferenceUi,
}

impl HelpUi {
    /// Draws the help, if it is open.
    pub(super) fn ui(&mut self, ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
        let Some(open) = state.dialogs.help else {
            return;
        };
        let dialog = TabbedDialog {
            title: "Help",
            size: SIZE,
            tabs: &HelpTab::ALL.map(HelpTab::name),
            selected: HelpTab::ALL
                .iter()
                .position(|tab| *tab == open)
                .unwrap_or_default(),
            scrolls: !matches!(open, HelpTab::Filters | HelpTab::Licenses),
        };
        let response = dialog.show(ui, |ui| match open {
            HelpTab::Keys => keys_ui(ui),
            HelpTab::Words => words_ui(ui),
            HelpTab::Filters => self.reference.ui(ui),
            HelpTab::Privacy => privacy_ui(ui, state, commands),
            HelpTab::Limits => limits_ui(ui),
            HelpTab::Licenses => self.licenses.ui(ui),
        });
        state.dialogs.help = HelpTab::ALL.get(response.selected).copied();
        if response.closed {
            commands.push(Command::ShowHelp(None));
        }
    }
}

/// The width of the column with the keys, in points.
const KEYS: f32 = 168.0;

fn keys_ui(ui: &mut Ui) {
    let theme = Theme::of(ui);
    for row in key_help(is_mac(ui)) {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 16.0;
            let size = vec2(KEYS, Face::Body.row());
            ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
                ui.set_min_size(size);
                ui.label(Face::SmallMedium.text(row.keys).color(theme.text_1));
            });
            ui.vertical(|ui| {
                let words = capitalize(row.words);
                let words = Face::Body.text(words).color(theme.text_2);
                ui.add(Label::new(words).wrap());
            });
        });
        ui.add_space(2.0);
    }
    ui.add_space(8.0);
    paragraph_ui(
        ui,
        "Tab and Shift+Tab move through all controls, Enter or Space presses one, and Esc closes \
         what is open.",
    );
}

fn heading_ui(ui: &mut Ui, words: &str) {
    ui.add_space(8.0);
    ui.label(Face::Strong.text(words).color(Theme::of(ui).text_1));
    ui.add_space(2.0);
}

fn paragraph_ui(ui: &mut Ui, words: &str) {
    ui.label(Face::Body.text(words).color(Theme::of(ui).text_2));
    ui.add_space(6.0);
}

fn privacy_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    heading_ui(ui, "What leaves this computer");
    paragraph_ui(
        ui,
        "Nothing, unless you ask for it. Models run on this computer, and prompts and texts never leave \
         it unless you add a server in Models and let a pane use it. Quartet has no accounts, no \
         telemetry and no update checks.",
    );
    if let Some(words) = state.models.servers_in_use_words(&state.panes) {
        paragraph_ui(ui, &words);
    }
    paragraph_ui(
        ui,
        "Searching in Models sends your query to Hugging Face, and downloading requests the \
         model’s files. If you are logged in to Hugging Face on this computer, both send your access \
         token.",
    );
    heading_ui(ui, "Where files are stored");
    folders_ui(ui, state, commands);
    paragraph_ui(
        ui,
        "Exports go where you save them. Removing the program leaves these folders alone.",
    );
}

/// What does not work yet, and what is not affected.
const LIMITS: [(&str, &str); 3] = [
    (
        "Right-to-left text",
        "Panes and pictures draw Arabic and Hebrew texts from right to left. In the prompt field, in \
         lists and in labels, the parts of a line that mixes directions run from left to right.",
    ),
    (
        "The caret in the prompt",
        "In right-to-left text, the caret and the selection may appear at the wrong place in the \
         word. What you type stays intact.",
    ),
    (
        "Letters and emoji",
        "Letters that the bundled typefaces lack come from the system’s typefaces; a letter that \
         these lack too is shown as a box. Emoji have one color.",
    ),
];

fn limits_ui(ui: &mut Ui) {
    for (title, words) in LIMITS {
        heading_ui(ui, title);
        paragraph_ui(ui, words);
    }
}

#[cfg(test)]
mod tests {
    use egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::ready;
    use crate::state::{HelpTab, SystemFolders};
    use crate::ui::testing::{Window, press, window_of};

    fn help(tab: HelpTab) -> Window {
        let mut state = ready();
        state.dialogs.help = Some(tab);
        state.folders.system = SystemFolders {
            data: Some("/home/ada/.local/share/quartet".into()),
            models: None,
        };
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(3);
        window
    }

    #[test]
    fn the_keys_are_listed_as_on_this_system() {
        let window = help(HelpTab::Keys);
        window.get_by_label("Ctrl K");
        window.get_by_label("Find any action, setting or page by its name");
    }

    #[test]
    fn the_help_says_what_leaves_the_computer_and_opens_the_folders() {
        let mut window = help(HelpTab::Privacy);
        let words = "Nothing, unless you ask for it";
        assert_eq!(window.query_all_by_label_contains(words).count(), 1);
        assert_eq!(
            window
                .query_all_by_label_contains("sends its prompt")
                .count(),
            0
        );
        window.get_by_label("Open the settings folder");
        press(&mut window, "Keys");
        assert_eq!(window.state().dialogs.help, Some(HelpTab::Keys));
    }

    #[test]
    fn a_word_has_its_sentence_and_its_formula() {
        let window = help(HelpTab::Words);
        window.get_by_label_contains("How unsure the model is before the draw");
        window.get_by_label("H = −Σ p log2 p");
    }

    #[test]
    fn the_page_of_a_filter_can_be_found() {
        let mut window = help(HelpTab::Filters);
        window.get_by_label_contains("The Loop tab underlines");
        window.get_by_label("Find a filter or a draw").focus();
        window.run_steps(2);
        window.event(egui::Event::Text("nucleus".to_owned()));
        window.run_steps(3);
        press(&mut window, "Top-p");
        window.get_by_label("keep tokens, the most likely first, until Σ p ≥ P");
        window.get_by_label_contains("‘boat’: 2.0 %, then dropped");
        window.get_by_label("llama.cpp");
    }

    #[test]
    fn the_license_of_a_crate_can_be_found() {
        let mut window = help(HelpTab::Licenses);
        window.get_by_label("Find a crate or a license").focus();
        window.run_steps(2);
        window.event(egui::Event::Text("egui_pl".to_owned()));
        window.run_steps(3);
        let found = window.query_all_by_label_contains("egui_plot");
        assert!(found.count() > 0);
    }
}
