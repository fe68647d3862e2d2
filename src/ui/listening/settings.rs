//! The switch of the endpoint, and what the user can choose about it.

use egui::{Align, DragValue, Label, Layout, Ui};

use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, field_frame, switch_part, toggle};
use crate::state::{Command, ListenCommand, ListenStatus, Listening};

/// What it means that other programs can ask.
const MEANING: &str = "Programs on this computer can reach it, and nothing else can. They get this \
                       model’s answers; your settings and files stay out of reach.";

/// The space before the rows below the switch, in points.
const INDENT: f32 = 24.0;

/// The width of the address, in points.
const ADDRESS: f32 = 226.0;

/// Draws the switch and, if it is on, the address and the choices.
pub(in crate::ui) fn settings_ui(
    ui: &mut Ui,
    listening: &mut Listening,
    commands: &mut Vec<Command>,
) {
    let mut send = |command| commands.push(Command::Listen(command));
    ui.horizontal(|ui| {
        ui.set_height(32.0);
        let (icon, _) = ui.allocate_exact_size(egui::vec2(16.0, 16.0), egui::Sense::hover());
        Icon::Listen.paint(ui.painter(), icon.shrink(1.0), Theme::of(ui).text_2);
        ui.label(
            Face::Body
                .text("Listen for requests")
                .color(Theme::of(ui).text_1),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let is_on = listening.is_on();
            if toggle(ui, is_on, "Listen for requests of other programs").clicked() {
                send(ListenCommand::Switch(!is_on));
            }
        });
    });
    let margin = egui::Margin {
        left: INDENT as i8,
        ..egui::Margin::ZERO
    };
    // A menu justifies what it holds, which would stretch sentences.
    let frame = egui::Frame::new().inner_margin(margin);
    let rows = Layout::top_down(Align::Min);
    frame.show(ui, |ui| {
        ui.with_layout(rows, |ui| rows_ui(ui, listening, commands))
    });
}

fn rows_ui(ui: &mut Ui, listening: &mut Listening, commands: &mut Vec<Command>) {
    let mut send = |command| commands.push(Command::Listen(command));
    ui.spacing_mut().item_spacing.y = 6.0;
    match listening.status.clone() {
        ListenStatus::Off | ListenStatus::Opening => {
            sentence_ui(
                ui,
                "Other programs can then ask this model, as they ask OpenAI’s API.",
            );
            port_ui(ui, listening);
        }
        ListenStatus::Failed { error, next_port } => {
            failure_ui(ui, &error, next_port, &mut send);
            port_ui(ui, listening);
        }
        ListenStatus::On { .. } => {
            address_ui(ui, listening, &mut send);
            sentence_ui(ui, MEANING);
            keep_ui(ui, listening, &mut send);
        }
    }
    start_ui(ui, listening);
}

fn sentence_ui(ui: &mut Ui, words: &str) {
    ui.add(Label::new(Face::Small.text(words).color(Theme::of(ui).text_2)).wrap());
}

fn failure_ui(
    ui: &mut Ui,
    error: &str,
    next_port: Option<u16>,
    send: &mut impl FnMut(ListenCommand),
) {
    let words = crate::state::capitalize(error);
    ui.add(Label::new(Face::Small.text(words).color(Theme::of(ui).error)).wrap());
    if let Some(port) = next_port
        && ui.add(Button::new(&format!("Listen on {port}"))).clicked()
    {
        send(ListenCommand::ListenOn(port));
    }
}

fn address_ui(ui: &mut Ui, listening: &Listening, send: &mut impl FnMut(ListenCommand)) {
    let Some(url) = listening.url() else {
        return;
    };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        field_frame(ui).show(ui, |ui| {
            ui.set_width(ADDRESS);
            ui.add(Label::new(Face::Code.text(url).color(Theme::of(ui).text_1)).truncate());
        });
        if icon_button(ui, Icon::Copy, "Copy the address").clicked() {
            send(ListenCommand::CopyAddress);
        }
    });
}

fn keep_ui(ui: &mut Ui, listening: &Listening, send: &mut impl FnMut(ListenCommand)) {
    row_ui(ui, "Keep requests", |ui| {
        for (keeps, word) in [(false, "until closed"), (true, "in History")] {
            let is_chosen = listening.settings.keeps == keeps;
            if switch_part(ui, word, is_chosen).clicked() {
                send(ListenCommand::Keep(keeps));
            }
        }
    });
}

fn start_ui(ui: &mut Ui, listening: &mut Listening) {
    row_ui(ui, "When Quartet starts", |ui| {
        for (starts, word) in [(true, "listen"), (false, "off")] {
            let chosen = &mut listening.settings.at_start;
            if switch_part(ui, word, *chosen == starts).clicked() {
                *chosen = starts;
            }
        }
    });
}

fn port_ui(ui: &mut Ui, listening: &mut Listening) {
    row_ui(ui, "Port", |ui| {
        let port = DragValue::new(&mut listening.settings.port).range(1024..=u16::MAX);
        ui.add(port).accessible_name("Port to listen on");
    });
}

/// Draws a row with a label on the left and, from the right, a choice.
fn row_ui(ui: &mut Ui, label: &str, choice: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        ui.label(Face::Small.text(label).color(Theme::of(ui).text_2));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            choice(ui);
        });
    });
}
