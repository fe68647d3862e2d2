//! The p-value of one text as it grows, without a pane.

use egui::{Align2, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::data::{Axis, Panel, TITLE_P_VALUE, p_value_line};
use super::{BOTTOM, Frame, LEFT, PANEL_TITLE, TITLE_MIDDLE, paint_panel, paint_token_axis};
use crate::analysis::watermark::WatermarkScan;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::plots::frame::{TextRun, paint_text};
use crate::plots::scale::axis_end;

/// Draws, into the remaining space, how likely chance is to match a key at least as well as the
/// tokens so far.
pub fn p_value_plot_ui(ui: &mut Ui, scan: &WatermarkScan) {
    let whole = ui.available_rect_before_wrap();
    let response = ui.allocate_rect(whole, Sense::hover());
    let n_tokens = scan.p_values().len();
    let p_value = scan.p_value();
    response.widget_info(|| {
        let words = format!("p-value against length: {p_value} after {n_tokens} tokens");
        WidgetInfo::labeled(Role::Image, true, words)
    });
    let line = p_value_line(scan);
    let panel = Panel {
        title: TITLE_P_VALUE,
        axis: Axis::p_value(line.iter().map(|(_, value)| *value)),
        lines: vec![line],
    };
    let run = TextRun::new(panel.title, Face::Micro, Theme::of(ui).text_2);
    let title = pos2(whole.left(), whole.top() + TITLE_MIDDLE);
    paint_text(ui, title, Align2::LEFT_CENTER, run);
    let area = Rect::from_min_max(
        whole.min + vec2(LEFT, PANEL_TITLE),
        whole.max - vec2(8.0, BOTTOM + 4.0),
    );
    let frame = Frame {
        panes: &[0],
        n_axis: axis_end(n_tokens, true),
        turns: &[],
        hovered: None,
        pinned: None,
    };
    paint_panel(ui, area, &panel, &frame);
    paint_token_axis(
        ui,
        whole.with_min_x(area.left()).with_max_x(area.right()),
        frame.n_axis,
    );
}
