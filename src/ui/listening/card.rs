//! The card of an opened request: what the program asked for, in its own words.

use egui::{DragValue, Label, Rect, ScrollArea, Stroke, StrokeKind, Ui, vec2};
use serde_json::Value;

use super::reuse_bar;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, switch_part};
use crate::generation::formatting::{cut, grouped};
use crate::interop::api::{RecordedRequest, Usage};
use crate::state::{AppState, Command, OpenedRun, RequestView, RunCommand};
use crate::ui::history::reuse_words;

/// The width of the card, in points.
pub(in crate::ui) const REQUEST_CARD: f32 = 372.0;

/// Below this width of the window, in points, there is no room for it.
pub(in crate::ui) const MIN_WIDTH: f32 = 1100.0;

const ROW: f32 = 30.0;

/// The fields that are listed even if the program did not send them, with what that means.
const USUAL: [(&str, &str); 6] = [
    ("temperature", "so 1"),
    ("top_p", "so 1"),
    ("seed", "so a random one"),
    ("stop", "so none"),
    ("frequency_penalty", "so 0"),
    ("response_format", "so any text"),
];

/// The fields with numbers that can be changed to see what would have been written, with how far a
/// pointer’s movement changes them.
const NUMBERS: [(&str, f64); 9] = [
    ("temperature", 0.01),
    ("top_p", 0.005),
    ("top_k", 0.25),
    ("min_p", 0.005),
    ("typical_p", 0.005),
    ("frequency_penalty", 0.01),
    ("presence_penalty", 0.01),
    ("repeat_penalty", 0.01),
    ("top_n_sigma", 0.01),
];

/// Draws the card.
pub(in crate::ui) fn request_card_ui(
    ui: &mut Ui,
    card: Rect,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let Some(opened) = &state.runs.opened else {
        return;
    };
    let Some(request) = &opened.header.request else {
        return;
    };
    let theme = Theme::of(ui);
    ui.painter().rect_filled(card, 8, theme.surface_1);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().rect_stroke(card, 8, edge, StrokeKind::Inside);
    let mut ui = child_ui(ui, card.shrink2(vec2(14.0, 10.0)), "request");
    ui.spacing_mut().item_spacing.y = 4.0;
    head_ui(&mut ui, opened, request, commands);
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut ui, |ui| {
            ui.set_max_width(ui.available_width() - 10.0);
            match opened.request_view {
                RequestView::Fields => fields_ui(ui, opened, request, commands),
                RequestView::Json => json_ui(ui, request),
            }
            if let Some(error) = &opened.field_error {
                ui.add(Label::new(Face::Small.text(error).color(Theme::of(ui).error)).wrap());
            }
            again_ui(ui, state, request);
            ui.add_space(8.0);
            let copy = Button::new("Copy as curl").icon(Icon::Copy);
            let hint = "A command for a terminal that asks the same";
            if ui.add(copy).on_hover_text(hint).clicked() {
                commands.push(Command::Run(RunCommand::CopyRequest));
            }
        });
}

fn head_ui(
    ui: &mut Ui,
    opened: &OpenedRun,
    request: &RecordedRequest,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        ui.label(Face::Medium.text("The request").color(theme.text_1));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            for view in [RequestView::Json, RequestView::Fields] {
                if switch_part(ui, view.name(), opened.request_view == view).clicked() {
                    commands.push(Command::Run(RunCommand::ShowRequestAs(view)));
                }
            }
        });
    });
    let is_streamed = request.fields.get("stream") == Some(&Value::Bool(true));
    let streamed = if is_streamed { ", streamed" } else { "" };
    let words = format!("{}{streamed}", request.target);
    ui.label(Face::Small.text(words).color(theme.text_3));
    ui.add_space(4.0);
}

fn fields_ui(
    ui: &mut Ui,
    opened: &OpenedRun,
    request: &RecordedRequest,
    commands: &mut Vec<Command>,
) {
    // At its own path, llama-server has other defaults.
    let n_usual = if request.target.contains("/v1/") || request.target.contains("/chat/") {
        USUAL.len()
    } else {
        0
    };
    let usual = USUAL.iter().take(n_usual).map(|(name, _)| *name);
    let others = request.fields.keys().map(String::as_str);
    let others = others.filter(|name| !USUAL.iter().take(n_usual).any(|(usual, _)| usual == name));
    for name in usual.chain(others) {
        let sent = request.fields.get(name);
        let now = opened.request_fields.get(name);
        field_ui(ui, name, sent, now, commands);
    }
    let words = "Change a number to see which tokens would have been others, with the same coins.";
    ui.add(Label::new(Face::Small.text(words).color(Theme::of(ui).text_2)).wrap());
}

fn field_ui(
    ui: &mut Ui,
    name: &str,
    sent: Option<&Value>,
    now: Option<&Value>,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    let number = NUMBERS.iter().find(|(number, _)| *number == name);
    ui.horizontal(|ui| {
        ui.set_height(ROW);
        let color = if now.is_some() {
            theme.text_1
        } else {
            theme.text_3
        };
        ui.label(Face::Code.text(name).color(color));
        let from_the_right = egui::Layout::right_to_left(egui::Align::Center);
        ui.with_layout(from_the_right, |ui| {
            match (number, now.and_then(Value::as_f64)) {
                (Some((_, speed)), Some(value)) => {
                    let changed = number_ui(ui, name, (value, *speed), sent != now);
                    commands.extend(changed.map(|value| {
                        let name = name.to_owned();
                        Command::Run(RunCommand::SetRequestField { name, value })
                    }));
                }
                _ => value_ui(ui, name, now),
            }
        });
    });
}

/// Draws a number that can be changed. Returns it if it was.
fn number_ui(
    ui: &mut Ui,
    name: &str,
    (value, speed): (f64, f64),
    is_changed: bool,
) -> Option<Value> {
    let mut edited = value;
    let drag = DragValue::new(&mut edited)
        .speed(speed)
        .max_decimals(3)
        .custom_formatter(|value, _| rounded(value).to_string());
    let field = ui.add(drag).accessible_name(name);
    if is_changed {
        let stroke = Stroke::new(2.0, Theme::of(ui).changed);
        let y = field.rect.bottom() - 1.0;
        ui.painter().hline(field.rect.x_range(), y, stroke);
    }
    (edited.to_bits() != value.to_bits()).then(|| rounded(edited))
}

fn value_ui(ui: &mut Ui, name: &str, value: Option<&Value>) {
    let theme = Theme::of(ui);
    if let Some(value) = value {
        let words = value.to_string();
        let short = Face::Code.text(cut(&words, 30)).color(theme.text_1);
        ui.add(Label::new(short).truncate())
            .on_hover_text(cut(&words, 2_000));
    } else {
        let words = Face::Small.text(not_sent_words(name)).color(theme.text_3);
        ui.add(Label::new(words).truncate());
    }
}

/// Returns a number as programs send it: whole ones without a fraction.
fn rounded(value: f64) -> Value {
    let thousandths = (value * 1_000.0).round();
    if thousandths % 1_000.0 == 0.0 {
        Value::from((thousandths / 1_000.0) as i64)
    } else {
        Value::from(thousandths / 1_000.0)
    }
}

fn not_sent_words(name: &str) -> String {
    let meaning = USUAL.iter().find(|(usual, _)| *usual == name);
    let meaning = meaning.map_or("", |(_, meaning)| meaning);
    format!("not sent, {meaning}")
}

fn json_ui(ui: &mut Ui, request: &RecordedRequest) {
    let json = serde_json::to_string_pretty(&request.fields).unwrap_or_default();
    let words = Face::Code.text(json).color(Theme::of(ui).text_1);
    ui.add(Label::new(words).wrap());
    let note = "The messages and the tools are in the prompt.";
    ui.label(Face::Small.text(note).color(Theme::of(ui).text_3));
}

/// Says how much of the prompt had to be read again.
fn again_ui(ui: &mut Ui, state: &AppState, request: &RecordedRequest) {
    let texts = state.generations();
    let texts: Vec<_> = texts.into_iter().flatten().collect();
    let usage = Usage::of(&texts);
    let theme = Theme::of(ui);
    ui.add_space(4.0);
    ui.separator();
    let n_read = usage.n_prompt.saturating_sub(usage.n_cached);
    let [read, all] = [n_read, usage.n_prompt].map(|n| grouped(n as f64));
    ui.horizontal(|ui| {
        ui.label(Face::Medium.text("What was read again").color(theme.text_1));
        let words = format!("{read} of {all} tokens");
        ui.label(Face::Small.text(words).color(theme.text_2));
    });
    let (bar, _) = ui.allocate_exact_size(vec2(ui.available_width(), 12.0), egui::Sense::hover());
    reuse_bar(ui, bar, usage);
    let words = reuse_words(usage, request.earlier.as_ref());
    ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
}
