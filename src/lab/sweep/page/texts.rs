//! The right column: the texts of the selected cell.

use egui::{Align, Label, Layout, ScrollArea, Ui};

use crate::analysis::sweep::{CellText, Keep};
use crate::decoding::GrammarRule;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::lab::LabCommand;
use crate::lab::sweep::SweepCommand;
use crate::state::{AppState, Command};

/// How much of each text is shown, in bytes.
const N_SHOWN: usize = 420;

/// Draws the column.
pub(super) fn texts_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let (Some(sweep), Some(cell)) = (state.lab.sweep.run.as_ref(), state.lab.sweep.shown_cell())
    else {
        return;
    };
    let results = &sweep.results;
    let texts = results
        .cells()
        .get(cell)
        .map_or(&[][..], |cell| cell.texts());
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 4.0;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let button = Button::new("Open as pane").icon(Icon::Plus).hint("↵");
            let hint = "Regenerate the first of these texts in a new pane";
            let response = ui
                .add_enabled(!texts.is_empty(), button)
                .on_hover_text(hint);
            if response.clicked() {
                commands.push(open(cell, 0));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let words = Face::Strong.text(results.setup.cell_words(cell));
                ui.add(Label::new(words.color(theme.text_1)).truncate());
            });
        });
    });
    let figure = results.sentence(cell, state.lab.sweep.metric);
    let figure = figure.split_once(": ").map_or("", |(_, figure)| figure);
    let figure = crate::state::capitalize(figure);
    ui.label(Face::Small.text(figure).color(theme.text_3));
    ui.add_space(2.0);
    ScrollArea::vertical()
        .id_salt(("texts", cell))
        .auto_shrink(false)
        .show(ui, |ui| {
            // Keep the scroll bar off the text.
            ui.set_max_width(ui.available_width() - 12.0);
            for (place, text) in texts.iter().enumerate() {
                ui.separator();
                let seed = results.setup.seed.wrapping_add(text.seed as u64);
                let prompt = (results.n_prompts > 1).then_some(text.prompt + 1);
                let grammar = results.setup.base.grammar.as_deref();
                if text_ui(ui, text, (seed, prompt), grammar) {
                    commands.push(open(cell, place));
                }
            }
            if results.keep() == Keep::Figures && !texts.is_empty() {
                let words = "Only the figures were kept. Open a text as a pane to read it.";
                let words = Face::Small.text(words).color(theme.text_3);
                ui.add(Label::new(words).wrap());
            }
        });
}

fn open(cell: usize, text: usize) -> Command {
    Command::Lab(LabCommand::Sweep(SweepCommand::OpenAsPane { cell, text }))
}

/// Draws one text. Returns whether its button to open it as a pane was clicked.
fn text_ui(
    ui: &mut Ui,
    text: &CellText,
    (seed, prompt): (u64, Option<usize>),
    grammar: Option<&GrammarRule>,
) -> bool {
    let theme = Theme::of(ui);
    let n = text.figures.n_tokens;
    let tokens = if n == 1 { "token" } else { "tokens" };
    let mut facts = format!("Seed {seed} · {n} {tokens}");
    if let Some(prompt) = prompt {
        facts = format!("Prompt {prompt} · {facts}");
    }
    match grammar.filter(|_| text.figures.grammar_complete == Some(false)) {
        Some(rule) => facts = format!("{facts} · {}", text.finish.words(Some(rule))),
        None if text.figures.has_ended => facts = format!("{facts} · {}", text.finish),
        None => {}
    }
    let mut opened = false;
    ui.horizontal(|ui| {
        ui.label(Face::Small.text(facts).color(theme.text_3));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let name = format!("Open seed {seed} as a pane");
            opened = icon_button(ui, Icon::Plus, &name).clicked();
        });
    });
    let shown = text.text.trim();
    if !shown.is_empty() {
        let end = shown.floor_char_boundary(N_SHOWN);
        let ellipsis = if end < shown.len() { "…" } else { "" };
        let shown = shown.get(..end).unwrap_or_default();
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = Face::Why.text(format!("{words}{ellipsis}"));
        ui.add(Label::new(words.color(theme.text_1)).wrap());
    }
    ui.add_space(2.0);
    opened
}
