//! Makes the Tab key follow the eye: along a row from left to right, also through groups that are
//! aligned at its right end and therefore drawn from right to left.

use egui::{Event, FocusDirection, Id, Key, Memory, Order, Popup, Rect, Ui};

/// The part of the smaller height by which the centers of two controls in one row may differ.
const SAME_LINE: f32 = 0.5;

/// How many times as high as another control in its row a control may be.
const SIMILAR_HEIGHT: f32 = 3.0;

/// Moves the focus within a row. From row to row, egui moves it, in the order of drawing.
#[derive(Debug, Default)]
pub(super) struct TabOrder {
    /// Where the focus is going after it has left a row.
    leaving: Option<Direction>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// A control that the Tab key reaches.
#[derive(Debug, Clone, Copy)]
struct Stop {
    id: Id,
    rect: Rect,
}

impl TabOrder {
    /// Moves the focus if Tab was pressed. Call it at the start of each frame.
    pub(super) fn update(&mut self, ui: &Ui) {
        if let Some(id) = focused(ui)
            && let Some(direction) = self.leaving.take()
            && let Some(stop) = direction.first_of(&from_left(row_of(ui, id)))
        {
            ui.memory_mut(|memory| memory.request_focus(stop.id));
        }
        let Some(direction) = pressed(ui) else {
            return;
        };
        let Some(id) = focused(ui) else {
            self.leaving = Some(direction);
            return;
        };
        if Popup::is_any_open(ui) && is_in_window(ui, id) {
            // egui knows after which control the popup comes.
            return;
        }
        let drawn = row_of(ui, id);
        if let Some(next) = direction.after(&from_left(drawn.clone()), id) {
            ui.memory_mut(|memory| {
                memory.move_focus(FocusDirection::None);
                memory.request_focus(next.id);
            });
        } else if let Some(last) = direction.last_of(&drawn) {
            // From here, egui's next control is in another row.
            self.leaving = Some(direction);
            ui.memory_mut(|memory| memory.request_focus(last.id));
        }
    }
}

impl Direction {
    fn first_of(self, row: &[Stop]) -> Option<Stop> {
        match self {
            Self::Forward => row.first().copied(),
            Self::Backward => row.last().copied(),
        }
    }

    fn last_of(self, row: &[Stop]) -> Option<Stop> {
        match self {
            Self::Forward => row.last().copied(),
            Self::Backward => row.first().copied(),
        }
    }

    /// Returns the control that follows this one.
    fn after(self, row: &[Stop], id: Id) -> Option<Stop> {
        let place = row.iter().position(|stop| stop.id == id)?;
        let next = match self {
            Self::Forward => place + 1,
            Self::Backward => place.checked_sub(1)?,
        };
        row.get(next).copied()
    }
}

/// Returns whether a control is in the window itself, not in a popup.
fn is_in_window(ui: &Ui, id: Id) -> bool {
    let order = ui
        .ctx()
        .viewport(|viewport| viewport.prev_pass.widgets.order(id));
    order.is_some_and(|(layer, _)| layer.order == Order::Background)
}

fn focused(ui: &Ui) -> Option<Id> {
    ui.memory(Memory::focused)
}

/// Returns the direction of a pressed Tab key. Shift counts if it was down at the press: it may be up
/// again in the same frame.
fn pressed(ui: &Ui) -> Option<Direction> {
    let direction = |event: &Event| match event {
        Event::Key {
            key: Key::Tab,
            pressed: true,
            modifiers,
            ..
        } if modifiers.is_none() => Some(Direction::Forward),
        Event::Key {
            key: Key::Tab,
            pressed: true,
            modifiers,
            ..
        } if modifiers.shift_only() => Some(Direction::Backward),
        _ => None,
    };
    ui.input(|input| input.events.iter().find_map(direction))
}

/// Returns the controls in the row of this one, in the order of drawing. A row is a sequence of
/// controls on one line.
fn row_of(ui: &Ui, id: Id) -> Vec<Stop> {
    let stops = ui.ctx().viewport(|viewport| {
        let widgets = &viewport.prev_pass.widgets;
        let (layer, _) = widgets.order(id)?;
        let stops = widgets
            .get_layer(layer)
            .filter(|widget| widget.enabled && widget.sense.is_focusable())
            .map(|widget| Stop {
                id: widget.id,
                rect: widget.rect,
            });
        Some(stops.collect::<Vec<_>>())
    });
    let mut row: Vec<Stop> = Vec::new();
    for stop in stops.unwrap_or_default() {
        if !row.iter().all(|other| are_in_line(other.rect, stop.rect)) {
            if row.iter().any(|other| other.id == id) {
                break;
            }
            row.clear();
        }
        row.push(stop);
    }
    row
}

fn from_left(mut row: Vec<Stop>) -> Vec<Stop> {
    row.sort_by(|a, b| a.rect.left().total_cmp(&b.rect.left()));
    row
}

/// Returns whether two controls are side by side, and not a control and a page beside it.
fn are_in_line(a: Rect, b: Rect) -> bool {
    let low = a.height().min(b.height());
    let high = a.height().max(b.height());
    let offset = (a.center().y - b.center().y).abs();
    offset <= SAME_LINE * low && high <= SIMILAR_HEIGHT * low
}

#[cfg(test)]
mod tests {
    use egui::{Event, Key, Modifiers, Rect, vec2};
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use super::are_in_line;
    use crate::state::tests::written;
    use crate::ui::testing::{Window, key, window_of};

    /// Returns the name and the place of what has the focus.
    fn focused(window: &Window) -> Option<(String, Rect)> {
        let node = window
            .query_all_by(|node| node.is_focused() && !node.is_hidden())
            .last()?;
        let name = node.accesskit_node().label().unwrap_or_default();
        Some((name, node.rect()))
    }

    fn tab(window: &mut Window, modifiers: Modifiers) -> (String, Rect) {
        key(window, modifiers, Key::Tab);
        window.run_steps(2);
        focused(window).unwrap_or_else(|| (String::new(), Rect::NOTHING))
    }

    #[test]
    fn tab_runs_through_each_row_from_left_to_right_and_back() {
        let mut window = window_of(vec2(1280.0, 800.0), written());
        window.get_by_label("Write").focus();
        window.run_steps(2);
        let mut names = vec![focused(&window).unwrap()];
        for _ in 0..60 {
            names.push(tab(&mut window, Modifiers::NONE));
        }
        for pair in names.windows(2) {
            let [(from, a), (to, b)] = pair else {
                unreachable!()
            };
            if are_in_line(*a, *b) {
                assert!(a.left() <= b.left(), "from {from} back to {to}");
            }
        }
        let place = |name: &str| {
            let found = names.iter().position(|(other, _)| other.starts_with(name));
            found.unwrap_or_else(|| panic!("{name} is out of reach"))
        };
        for order in [
            ["Lessons", "Model: ", "Find an action"],
            ["Find an action", "Export", "Settings, theme and help"],
            ["Name of pane A", "How A chooses", "More actions for pane A"],
        ] {
            let [a, b, c] = order.map(place);
            assert!(a < b && b < c, "{order:?}");
        }
        for (name, _) in names.iter().rev().skip(1) {
            let (back, _) = tab(&mut window, Modifiers::SHIFT);
            assert_eq!(back, *name);
        }
    }

    #[test]
    fn shift_counts_although_it_is_up_again_in_the_same_frame() {
        let mut window = window_of(vec2(1280.0, 800.0), written());
        window.get_by_label("How A chooses").focus();
        window.run_steps(2);
        // The state of Shift at the end of the frame is not that of the press.
        window.event(Event::Key {
            key: Key::Tab,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::SHIFT,
        });
        window.run_steps(3);
        assert_eq!(focused(&window).unwrap().0, "Name of pane A");
    }

    #[test]
    fn tab_reaches_the_controls_of_a_popup() {
        let mut window = window_of(vec2(1280.0, 800.0), written());
        window.get_by_label("How A chooses").focus();
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(2);
        let reached = (0..6).any(|_| tab(&mut window, Modifiers::NONE).0 == "Close the editor");
        assert!(reached);
    }
}
