//! The texts to choose from: numbered, without anything that reveals their settings.

use egui::text::{LayoutJob, TextFormat};
use egui::{Label, Rect, Role, ScrollArea, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::lab::LabCommand;
use crate::lab::blind::{BlindCommand, BlindRun, ShownText};
use crate::state::Command;

/// The maximum width of a text.
const MAX_WIDTH: f32 = 680.0;

const GAP: f32 = 14.0;

/// The height of the row below the texts, and of the row below each.
const FOOT: f32 = 48.0;
const CHOICE: f32 = 44.0;

/// The padding of a card.
pub(super) const PADDING: f32 = 16.0;

/// Draws the texts side by side, or four in two rows.
pub(super) fn texts_ui(ui: &mut Ui, run: &BlindRun, commands: &mut Vec<Command>) {
    let shown = run.shown();
    let (cards, foot) = cards(ui.max_rect(), shown.len());
    for (place, (rect, text)) in cards.into_iter().zip(shown).enumerate() {
        text_ui(&mut child_ui(ui, rect, place), run, (place, text), commands);
    }
    let at = Rect::from_center_size(foot.center() + vec2(0.0, 6.0), vec2(140.0, 32.0));
    let neither = Button::new("Can’t tell").hint("0");
    if ui.put(at, neither).clicked() {
        commands.push(Command::Lab(LabCommand::Blind(BlindCommand::Vote(None))));
    }
}

/// Returns where the cards of this many texts are, and the row below them.
pub(super) fn cards(area: Rect, n: usize) -> (Vec<Rect>, Rect) {
    let n_rows = if n > 2 { 2 } else { 1 };
    let n_columns = n.div_ceil(n_rows).max(1);
    let (texts, foot) = area.split_top_bottom_at_y(area.bottom() - FOOT);
    let size = vec2(
        ((texts.width() + GAP) / n_columns as f32 - GAP).min(MAX_WIDTH),
        (texts.height() + GAP) / n_rows as f32 - GAP,
    );
    let used = n_columns as f32 * (size.x + GAP) - GAP;
    let left = texts.center().x - used / 2.0;
    let card = |place: usize| {
        let at = vec2((place % n_columns) as f32, (place / n_columns) as f32);
        let min = pos2(left, texts.top()) + at * (size + vec2(GAP, GAP));
        Rect::from_min_size(min, size)
    };
    ((0..n).map(card).collect(), foot)
}

/// Draws a text on its card, with the button that picks it.
fn text_ui(
    ui: &mut Ui,
    run: &BlindRun,
    (place, text): (usize, &ShownText),
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    let card = ui.max_rect();
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().rect_stroke(card, 8, edge, StrokeKind::Inside);
    let (body, foot) = card.split_top_bottom_at_y(card.bottom() - CHOICE);
    let number = (place + 1).to_string();
    let words = job(ui, run, text);
    let mut inside = child_ui(ui, body.shrink2(vec2(PADDING, 12.0)), "body");
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut inside, |ui| {
            let label = ui.add(Label::new(words).wrap());
            let name = format!("Text {number}: {}{}", run.prompt.text, text.text);
            label.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
        });
    let at = Rect::from_center_size(foot.center() - vec2(0.0, 2.0), vec2(180.0, 32.0));
    let button = Button::new(if run.shown().len() > 2 {
        "This is the best"
    } else {
        "This is better"
    });
    if ui.put(at, button.hint(&number)).clicked() {
        commands.push(Command::Lab(LabCommand::Blind(BlindCommand::Vote(Some(
            place,
        )))));
    }
}

/// Lays out the prompt and the text after it.
fn job(ui: &Ui, run: &BlindRun, text: &ShownText) -> LayoutJob {
    let theme = Theme::of(ui);
    let format = |color| TextFormat {
        font_id: Face::Read.font(),
        color,
        line_height: Some(24.0),
        ..TextFormat::default()
    };
    let mut job = LayoutJob::default();
    job.append(&run.prompt.text, 0.0, format(theme.prompt_text));
    job.append(&text.text, 0.0, format(theme.token_text));
    job
}
