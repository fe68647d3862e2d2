//! The dialog for pasting settings in another tool's format. It shows live what was recognized and
//! what can't be applied.

use egui::{Id, Modal, ScrollArea, Ui};

use crate::analysis::dialects::spoken;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Notice, NoticeKind, checkbox, field_frame, long_text};
use crate::generation::formatting::pane_letter;
use crate::interop::tools::{ImportedSettings, Tool};
use crate::state::{AppState, Command, Paste, PasteCommand, capitalize};

const WIDTH: f32 = 560.0;

/// Draws the dialog, if it is open.
pub(super) fn paste_settings_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let place = state
        .dialogs
        .paste
        .as_ref()
        .and_then(|paste| state.place_of(paste.pane));
    let Some(paste) = &mut state.dialogs.paste else {
        return;
    };
    let frame = egui::Frame::window(ui.style()).inner_margin(22);
    let modal = Modal::new(Id::unique("paste settings")).frame(frame);
    let response = modal.show(ui, |ui| {
        ui.set_width(WIDTH);
        ui.spacing_mut().item_spacing.y = 8.0;
        let theme = Theme::of(ui);
        let title = match place {
            Some(place) => format!("Paste settings for pane {}", pane_letter(place)),
            None => "Paste settings".to_owned(),
        };
        ui.label(Face::Title.text(title).color(theme.text_1));
        text_ui(ui, paste, commands);
        match &paste.read {
            None => {}
            Some(Err(sentence)) => {
                let words = capitalize(sentence);
                ui.label(Face::Small.text(words).color(theme.error));
            }
            Some(Ok(read)) => read_ui(ui, read, &mut paste.limits_too),
        }
        ui.add_space(4.0);
        buttons_ui(ui, matches!(paste.read, Some(Ok(_))), commands);
    });
    if response.should_close() {
        commands.push(Command::Paste(PasteCommand::Close));
    }
}

fn text_ui(ui: &mut Ui, paste: &mut Paste, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let tools: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
    let formats = format!("Supported formats: {}", tools.join(", "));
    let label = ui.label(Face::Small.text(formats).color(theme.text_2));
    let field = ScrollArea::vertical().max_height(200.0).show(ui, |ui| {
        let edit = long_text(&mut paste.text)
            .font(Face::Code.font())
            .frame(field_frame(ui))
            .hint_text("--temp 0.7 --top-p 0.9")
            .desired_rows(6)
            .desired_width(f32::INFINITY);
        ui.add(edit).labelled_by(label.id)
    });
    let field = field.inner;
    if field.changed() {
        commands.push(Command::Paste(PasteCommand::Edited));
    } else if paste.text.is_empty() && ui.memory(|memory| memory.focused().is_none()) {
        field.request_focus();
    }
}

/// Draws what was recognized and what can't be applied.
fn read_ui(ui: &mut Ui, read: &ImportedSettings, limits_too: &mut bool) {
    let theme = Theme::of(ui);
    fact_ui(ui, "Format", read.tool.name());
    let mut chain = read.chain.to_string();
    if let Some(engine) = spoken(&read.chain) {
        chain = format!("{chain}, in the order of {engine}");
    }
    fact_ui(ui, "Chain", &chain);
    if let Some(seed) = read.seed {
        fact_ui(ui, "Seed", &format!("{seed}, for this pane"));
    }
    let limits = limits_words(read);
    if !limits.is_empty() {
        let label = format!("Apply to all panes: {}", limits.join(", "));
        checkbox(ui, limits_too, Face::Body.text(label).color(theme.text_1));
    }
    if !read.ignored.is_empty() {
        let sentences: Vec<String> = read.ignored.iter().map(|words| capitalize(words)).collect();
        let warning = format!("Not applied:\n{}", sentences.join("\n"));
        ScrollArea::vertical()
            .id_salt("unread")
            .max_height(120.0)
            .show(ui, |ui| Notice::new(NoticeKind::Warning, &warning).show(ui));
    }
}

fn limits_words(read: &ImportedSettings) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(read.max_new_tokens.map(|n| format!("up to {n} tokens")));
    if let Some(stops) = &read.stop_strings {
        let quoted: Vec<String> = stops.iter().map(|stop| format!("{stop:?}")).collect();
        words.push(format!("stop at {}", quoted.join(" or ")));
    }
    words
}

fn fact_ui(ui: &mut Ui, name: &str, value: &str) {
    let theme = Theme::of(ui);
    ui.horizontal_top(|ui| {
        let label = Face::Body.text(name).color(theme.text_3);
        let width = ui.label(label).rect.width();
        ui.add_space((64.0 - width).max(0.0));
        let value = Face::Body.text(value).color(theme.text_1);
        ui.add(egui::Label::new(value).wrap());
    });
}

fn buttons_ui(ui: &mut Ui, can_apply: bool, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let apply = ui.add_enabled(can_apply, Button::new("Apply").primary());
        let apply = apply.on_disabled_hover_text("Paste settings first");
        if apply.clicked() {
            commands.push(Command::Paste(PasteCommand::Apply));
        }
        if ui.add(Button::new("Cancel")).clicked() {
            commands.push(Command::Paste(PasteCommand::Close));
        }
    });
}
