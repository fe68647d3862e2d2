//! Files dragged over the window and dropped onto it.

use egui::{Align2, Area, Frame, Id, Margin, Order, Stroke, StrokeKind, Ui, Vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::state::{Command, ModelsCommand};

/// Shows a hint while files hover over the window, and handles a drop.
pub(crate) fn drop_ui(ui: &Ui, commands: &mut Vec<Command>) {
    let (hovering, dropped) = ui.input(|input| {
        let dropped = input.raw.dropped_files.iter();
        let paths: Vec<_> = dropped.map(|file| file.path().to_owned()).collect();
        (!input.raw.hovered_files.is_empty(), paths)
    });
    if !dropped.is_empty() {
        commands.push(Command::Models(ModelsCommand::Dropped(dropped)));
    }
    if hovering {
        hint_ui(ui);
    }
}

fn hint_ui(ui: &Ui) {
    let theme = Theme::of(ui);
    Area::new(Id::unique("drop hint"))
        .order(Order::Tooltip)
        .interactable(false)
        .anchor(Align2::CENTER_CENTER, Vec2::ZERO)
        .show(ui, |ui| {
            let window = ui.content_rect();
            let painter = ui.painter().clone().with_clip_rect(window);
            painter.rect_filled(window, 0, theme.backdrop);
            let edge = Stroke::new(2.0, theme.focus);
            painter.rect_stroke(window.shrink(6.0), 8, edge, StrokeKind::Inside);
            Frame::new()
                .fill(theme.popup)
                .stroke(Stroke::new(1.0, theme.stroke_2))
                .corner_radius(10)
                .inner_margin(Margin::symmetric(20, 14))
                .show(ui, |ui| {
                    let title = "Drop a model here to open it";
                    ui.label(Face::Medium.text(title).color(theme.text_1));
                    let kinds =
                        "A GGUF file, a folder with safetensors and config.json, a run file or a lesson";
                    ui.label(Face::Small.text(kinds).color(theme.text_2));
                });
        });
}
