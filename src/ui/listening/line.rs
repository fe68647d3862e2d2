//! The line in the top bar that says that other programs can ask.

use egui::{Color32, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{ControlColors, focus_ring, paint_fill};
use crate::generation::formatting::counted;
use crate::state::{Command, ListenCommand, Listening};

/// Below this width of the window, in points, the line has no address.
const WITH_ADDRESS: f32 = 1100.0;

/// Below this one it has no words.
const WITH_WORDS: f32 = 900.0;

/// Draws the line if the endpoint is open. It leads to the requests.
pub(in crate::ui) fn line_ui(
    ui: &mut Ui,
    window_width: f32,
    listening: &Listening,
    commands: &mut Vec<Command>,
) {
    let Some(address) = listening.address() else {
        return;
    };
    let requests = counted(listening.n_requests(), "request");
    let number = listening.n_requests().to_string();
    let (words, n) = if window_width >= WITH_ADDRESS {
        (format!("Listening on {address}"), &requests)
    } else if window_width >= WITH_WORDS {
        ("Listening".to_owned(), &number)
    } else {
        (String::new(), &number)
    };
    let name = format!("Listening on {address}, {requests}");
    let tip = format!("Other programs can ask at http://{address}/v1. Show their requests");
    if button_ui(ui, &words, n, &name).on_hover_text(tip).clicked() {
        commands.push(Command::Listen(ListenCommand::ShowRequests));
    }
}

fn button_ui(ui: &mut Ui, words: &str, number: &str, name: &str) -> Response {
    let lay_out = |text: &str| {
        let text = text.to_owned();
        ui.painter()
            .layout_no_wrap(text, Face::Small.font(), Color32::PLACEHOLDER)
    };
    let galleys = [lay_out(words), lay_out(number)];
    let gap = 8.0;
    let widths = galleys.iter().map(|galley| galley.size().x);
    let text: f32 = widths.filter(|width| *width > 0.0).map(|it| it + gap).sum();
    let size = vec2((8.0 + 16.0 + text + 4.0).ceil(), 28.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    let theme = Theme::of(ui);
    paint_fill(ui, &response, ControlColors::quiet(theme), 6);
    let square =
        Rect::from_center_size(pos2(rect.left() + 15.0, rect.center().y), vec2(14.0, 14.0));
    Icon::Listen.paint(ui.painter(), square, theme.text_2);
    let mut x = square.right() + gap;
    for (galley, color) in galleys.into_iter().zip([theme.text_2, theme.text_3]) {
        let width = galley.size().x;
        if width > 0.0 {
            let at = pos2(x, rect.center().y - galley.size().y / 2.0);
            ui.painter().galley(at, galley, color);
            x += width + gap;
        }
    }
    focus_ring(ui, &response, 6);
    response
}
