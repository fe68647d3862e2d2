//! A row of the list: what the run is about, its model and size, its panes, and its time.

use egui::{Color32, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::requests::program_name;
use super::size_words;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{ControlColors, SMALL_BADGE, focus_ring, paint_badge, paint_fill};
use crate::state::{Command, KeptRun, RunCommand, capitalize};

const ROW: f32 = 56.0;

/// The width of the column with the time.
const TIME: f32 = 76.0;

/// Draws a row. A click selects the run, a double click opens it.
pub(super) fn row_ui(
    ui: &mut Ui,
    run: &KeptRun,
    time: &str,
    selected: bool,
    commands: &mut Vec<Command>,
) {
    let size = vec2(ui.available_width() - 8.0, ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let name = run.name();
    let (facts, is_readable) = match &run.summary {
        Ok(summary) => {
            let model = Some(summary.model.as_str()).filter(|model| !model.is_empty());
            let size = match &summary.result {
                Some(_) => summary
                    .prompt
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" "),
                None => size_words(run),
            };
            let interrupted = summary.is_interrupted.then_some("interrupted");
            let program = summary.request.as_ref();
            let program = program.map(|asked| program_name(asked.request.program.as_deref()));
            let facts = program
                .as_deref()
                .into_iter()
                .chain(model)
                .chain([size.as_str()]);
            let facts: Vec<&str> = facts.chain(interrupted).collect();
            (facts.join(" · "), true)
        }
        Err(reason) => (capitalize(reason), false),
    };
    let pin = if run.pinned { ", pinned" } else { "" };
    let label = format!("{name}, {}, {time}{pin}", facts.replace(" · ", ", "));
    response.widget_info(|| WidgetInfo::selected(Role::ListItem, true, selected, &label));
    if response.clicked() {
        commands.push(Command::Run(RunCommand::Select(run.file.clone())));
    }
    if response.double_clicked() && is_readable {
        commands.push(Command::Run(RunCommand::OpenKept(run.file.clone())));
    }
    if !ui.is_rect_visible(rect) {
        return;
    }
    let theme = Theme::of(ui);
    let fill = if selected {
        theme.surface_3
    } else {
        Color32::TRANSPARENT
    };
    let text = theme.text_1;
    paint_fill(ui, &response, ControlColors { fill, text }, 8);
    if run.pinned {
        let icon =
            Rect::from_center_size(pos2(rect.left() + 19.0, rect.center().y), vec2(16.0, 16.0));
        Icon::Pin.paint(ui.painter(), icon, theme.text_2);
    }
    let right = paint_right(ui, run, time, rect);
    let color = if is_readable {
        theme.text_2
    } else {
        theme.error
    };
    let left = rect.left() + 40.0;
    let width = right - left - 12.0;
    paint_line(
        ui,
        (&name, Face::Read),
        theme.text_1,
        pos2(left, rect.top() + 8.0),
        width,
    );
    paint_line(
        ui,
        (&facts, Face::Small),
        color,
        pos2(left, rect.top() + 31.0),
        width,
    );
    focus_ring(ui, &response, 8);
}

/// Paints the badges and the time. Returns their left edge.
fn paint_right(ui: &Ui, run: &KeptRun, time: &str, rect: Rect) -> f32 {
    let theme = Theme::of(ui);
    let galley = ui
        .painter()
        .layout_no_wrap(time.to_owned(), Face::Small.font(), theme.text_2);
    let right = rect.right() - 12.0;
    let at = pos2(
        right - galley.size().x,
        rect.center().y - galley.size().y / 2.0,
    );
    ui.painter().galley(at, galley, theme.text_2);
    let panes = run.summary.as_ref().map_or(&[][..], |run| &run.panes);
    let n_panes = panes.len().min(8);
    let step = SMALL_BADGE + 5.0;
    let start = right - TIME - n_panes as f32 * step;
    for (index, pane) in panes.iter().take(n_panes).enumerate() {
        let center = pos2(start + (index as f32 + 0.5) * step, rect.center().y);
        let badge = Rect::from_center_size(center, vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, pane.place);
    }
    start
}

/// Paints a text on one line, with an ellipsis if it does not fit.
pub(super) fn paint_line(
    ui: &Ui,
    (text, face): (&str, Face),
    color: Color32,
    at: egui::Pos2,
    width: f32,
) {
    let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), face.font(), color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(width.max(0.0));
    let galley = ui.painter().layout_job(job);
    ui.painter().galley(at, galley, color);
}
