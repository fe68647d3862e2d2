//! Reorders stages by dragging, or with the arrow keys.

use egui::{Id, Key, Modifiers, Pos2, Rangef, Response, Stroke, Ui, vec2};

use crate::design::theme::Theme;

/// The distance from the edge of the list at which dragging scrolls it, in points.
const EDGE: f32 = 24.0;

/// How far dragging scrolls the list per frame, in points.
const SCROLL: f32 = 6.0;

/// Returns the id of the handle of the stage at this index.
pub(super) fn handle_id(ui: &Ui, index: usize) -> Id {
    ui.scope_id().with(("handle", index))
}

/// Watches the handles, each with the vertical range of its stage. Returns the old and new index of
/// a stage that was moved, and draws an insertion line during a drag.
pub(super) fn reorder_ui(ui: &Ui, rows: &[(Response, Rangef)]) -> Option<(usize, usize)> {
    let spans: Vec<Rangef> = rows.iter().map(|(_, span)| *span).collect();
    rows.iter().enumerate().find_map(|(from, (handle, _))| {
        let to = if handle.dragged() || handle.drag_stopped() {
            dragged_to(ui, handle, from, &spans)?
        } else {
            key_destination(ui, handle, from, rows.len())?
        };
        if handle.has_focus() {
            ui.memory_mut(|memory| memory.request_focus(handle_id(ui, to)));
        }
        (to != from).then_some((from, to))
    })
}

fn key_destination(ui: &Ui, handle: &Response, from: usize, n: usize) -> Option<usize> {
    if !handle.has_focus() {
        return None;
    }
    let filter = egui::EventFilter {
        vertical_arrows: true,
        ..egui::EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(handle.id, filter));
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if pressed(Key::ArrowUp) {
        from.checked_sub(1)
    } else {
        (pressed(Key::ArrowDown) && from + 1 < n).then_some(from + 1)
    }
}

fn dragged_to(ui: &Ui, handle: &Response, from: usize, spans: &[Rangef]) -> Option<usize> {
    // Escape cancels the drag, and must not close the editor.
    let escaped = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    let pointer = ui.input(|input| input.pointer.latest_pos())?;
    let gap = gap_at(spans, pointer.y);
    if handle.drag_stopped() {
        return (!escaped).then(|| place_after_move(from, gap));
    }
    insertion_line_ui(ui, spans, gap);
    scroll_ui(ui, pointer);
    None
}

/// Returns the index of the gap between stages that is nearest to `y`. Gap 0 is above the first.
fn gap_at(spans: &[Rangef], y: f32) -> usize {
    spans.iter().filter(|span| span.center() < y).count()
}

/// Returns the index of a stage after moving it from `from` into a gap.
const fn place_after_move(from: usize, gap: usize) -> usize {
    if gap > from { gap - 1 } else { gap }
}

fn insertion_line_ui(ui: &Ui, spans: &[Rangef], gap: usize) {
    let y = match spans.get(gap) {
        Some(span) => span.min,
        None => spans.last().map_or(0.0, |span| span.max),
    };
    let color = Theme::of(ui).accent;
    let x = ui.max_rect().x_range().shrink(6.0);
    ui.painter().hline(x, y, Stroke::new(2.0, color));
    ui.painter().circle_filled(Pos2::new(x.min, y), 3.0, color);
}

fn scroll_ui(ui: &Ui, pointer: Pos2) {
    let seen = ui.clip_rect().y_range();
    let step = if pointer.y < seen.min + EDGE {
        SCROLL
    } else if pointer.y > seen.max - EDGE {
        -SCROLL
    } else {
        return;
    };
    ui.scroll_with_delta_animation(vec2(0.0, step), egui::style::ScrollAnimation::none());
    ui.request_repaint();
}

/// Moves an item to another index.
pub(super) fn move_item<T>(items: &mut Vec<T>, from: usize, to: usize) {
    if from < items.len() && to < items.len() {
        let item = items.remove(from);
        items.insert(to, item);
    }
}

#[cfg(test)]
mod tests {
    use super::{Rangef, gap_at, move_item, place_after_move};

    #[test]
    fn a_stage_lands_where_the_line_shows() {
        let spans: Vec<Rangef> = (0..4)
            .map(|row| Rangef::new(row as f32 * 52.0, (row + 1) as f32 * 52.0))
            .collect();
        for (from, y, expected) in [
            (0, -10.0, "ABCD"),
            (0, 30.0, "ABCD"),
            (0, 70.0, "ABCD"),
            (0, 90.0, "BACD"),
            (0, 300.0, "BCDA"),
            (3, 10.0, "DABC"),
            (3, 60.0, "ADBC"),
            (2, 130.0, "ABCD"),
            (1, 140.0, "ACBD"),
        ] {
            let mut items: Vec<char> = "ABCD".chars().collect();
            let to = place_after_move(from, gap_at(&spans, y));
            move_item(&mut items, from, to);
            assert_eq!(
                items.into_iter().collect::<String>(),
                expected,
                "{from} {y}"
            );
        }
    }
}
