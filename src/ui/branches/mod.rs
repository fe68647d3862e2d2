//! The Branches tab: the tree of all texts that continue one prompt, one line per text.

mod geometry;
mod keys;
mod paint;
pub(in crate::ui) mod picture;

use egui::{DragValue, Id, Rect, RectAlign, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2};

use self::geometry::{AXIS, Geometry};
use self::keys::{TreeKey, pressed_key};
use self::paint::{RowLook, TreePainter};
use super::why::{split, why_ui};
use super::xray::sentence_ui;
use crate::design::child_ui::child_ui;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, editor_popup, focus_ring, hint_ui};
use crate::generation::GenerationId;
use crate::state::{AppState, BranchCommand, BranchRow, BranchTree, Command};

/// Draws the tab.
pub(super) fn branches_ui(ui: &mut Ui, body: Rect, state: &AppState, commands: &mut Vec<Command>) {
    let tree = &state.branches.tree;
    let (body, card) = split(body);
    if let Some(card) = card {
        why_ui(ui, card, state, commands);
    }
    if tree.rows.len() < 2 {
        let hint = if tree.rows.is_empty() {
            "Generate a text, then continue from any of its tokens in another way."
        } else {
            "One text so far. Continue from any token to create a second."
        };
        return sentence_ui(ui, body.shrink2(vec2(14.0, 6.0)), hint);
    }
    let inside = Rect::from_min_max(body.min + vec2(14.0, 8.0), body.max - vec2(14.0, 4.0));
    let (rows, axis) = inside.split_top_bottom_at_y(inside.bottom() - AXIS);
    let mut area = child_ui(ui, rows, "branches");
    let geometry = Geometry::of(rows, tree);
    let paper = Theme::of(ui).surface_1;
    TreePainter::new(&area, tree, geometry, paper).axis(axis, rows.top());
    ScrollArea::vertical()
        .id_salt("branch rows")
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .show(&mut area, |ui| tree_ui(ui, geometry, state, commands));
}

/// Draws the chip in the row of tabs: how many texts there are, and how much memory they take.
pub(super) fn branch_memory_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let words = state.branches.size_words(state.memory);
    let chip = ui.add(Chip::new(&words).quiet());
    editor_popup(&chip, RectAlign::TOP_END, "Memory for texts", |ui| {
        let mut megabytes_ui = |label: &str, name: &str, megabytes: &mut u32| {
            let row = ui.horizontal(|ui| {
                ui.label(label);
                let field = DragValue::new(megabytes).range(0..=65_536).speed(1.0);
                let field = ui.add(field).accessible_name(name);
                ui.label("MB");
                field.changed()
            });
            row.inner
        };
        let earlier = "Memory for earlier texts";
        megabytes_ui("Earlier texts", earlier, &mut state.memory.kept_megabytes);
        let cache = "Memory for the KV cache of texts";
        if megabytes_ui("KV cache", cache, &mut state.memory.cache_megabytes) {
            commands.push(Command::Branch(BranchCommand::LimitCache));
        }
        hint_ui(
            ui,
            "Beyond these limits, the least recently shown texts are dropped, and branching from a \
             text that left the cache starts with a prefill.",
        );
    });
}

/// Draws the lines as one control with a cursor.
fn tree_ui(ui: &mut Ui, geometry: Geometry, state: &AppState, commands: &mut Vec<Command>) {
    let tree = &state.branches.tree;
    let size = vec2(ui.available_width(), geometry.height(tree.rows.len()));
    let (rect, tree_response) = ui.allocate_exact_size(size, Sense::focusable_noninteractive());
    let geometry = geometry.at(rect.min);
    let mut cursor = cursor(ui, tree);
    if tree_response.has_focus()
        && let Some(key) = pressed_key(ui, tree_response.id)
    {
        cursor = apply_key(key, tree, cursor, state, commands);
        ui.scroll_to_rect(geometry.row_rect(rect, cursor), None);
    }
    let current = tree.rows.get(cursor).map(|row| row.sentence.clone());
    tree_response.widget_info(|| WidgetInfo {
        current_text_value: current.clone(),
        ..WidgetInfo::labeled(
            Role::Tree,
            true,
            format!("Tree of {} texts", tree.rows.len()),
        )
    });
    let mut looks = Vec::new();
    for (index, row) in tree.rows.iter().enumerate() {
        let rect = geometry.row_rect(rect, index);
        let response = ui.interact(rect, tree_response.id.with(row.id.0), Sense::CLICK);
        let selected = tree.selected == Some(index);
        response.widget_info(|| {
            WidgetInfo::selected(Role::TreeItem, true, selected, row.sentence.as_str())
        });
        if response.clicked() {
            cursor = index;
            tree_response.request_focus();
            commands.extend(show(state, row));
        }
        looks.push(RowLook {
            hovered: response.hovered(),
            at_cursor: tree_response.has_focus() && cursor == index,
        });
        if state.can_show_text(row.id) {
            response.on_hover_cursor(egui::CursorIcon::PointingHand);
        }
    }
    let id = tree.rows.get(cursor).map(|row| row.id);
    ui.data_mut(|data| data.insert_temp(cursor_id(), id));
    let paper = Theme::of(ui).surface_1;
    TreePainter::new(ui, tree, geometry, paper).rows(&looks);
    let visible = rect.intersect(ui.clip_rect());
    focus_ring(ui, &tree_response.with_new_rect(visible.shrink(1.0)), 4);
}

/// Moves the cursor or acts on its row. Returns the cursor's new row.
fn apply_key(
    key: TreeKey,
    tree: &BranchTree,
    cursor: usize,
    state: &AppState,
    commands: &mut Vec<Command>,
) -> usize {
    let row = tree.rows.get(cursor);
    let last = tree.rows.len().saturating_sub(1);
    match key {
        TreeKey::Up => cursor.saturating_sub(1),
        TreeKey::Down => (cursor + 1).min(last),
        TreeKey::Parent => row.and_then(|row| row.parent).unwrap_or(cursor),
        TreeKey::Child => {
            let is_child = |row: &BranchRow| row.parent == Some(cursor);
            tree.rows.iter().position(is_child).unwrap_or(cursor)
        }
        TreeKey::Show => {
            commands.extend(row.and_then(|row| show(state, row)));
            cursor
        }
        TreeKey::Remove => {
            let removable = row.filter(|row| row.place.is_none());
            let remove = |row: &BranchRow| Command::Branch(BranchCommand::RemoveText(row.id));
            commands.extend(removable.map(remove));
            cursor.min(last)
        }
    }
}

fn show(state: &AppState, row: &BranchRow) -> Option<Command> {
    let show = Command::Branch(BranchCommand::ShowText(row.id));
    state.can_show_text(row.id).then_some(show)
}

fn cursor_id() -> Id {
    Id::unique("branch cursor")
}

/// Returns the row of the cursor: where the user left it, or else the selected text's row.
fn cursor(ui: &Ui, tree: &BranchTree) -> usize {
    let known: Option<Option<GenerationId>> = ui.data(|data| data.get_temp(cursor_id()));
    let is_it = |row: &BranchRow| Some(row.id) == known.flatten();
    let place = tree.rows.iter().position(is_it);
    place.or(tree.selected).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers, vec2};
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::{branched, written};
    use crate::state::{AppState, DockTab};
    use crate::ui::pictures::{Look, caption, tree_drawing};
    use crate::ui::testing::{Window, key, press, window_of};

    const ROWS: [&str; 5] = [
        "First text: in a house, 3 tokens, Greedy, seed 42",
        "Branch at token 3 of line 1: cottage, 3 tokens, seed 42, in pane B",
        "Branch at token 2 of line 1: fox ran, 3 tokens, ‘fox’ by hand, seed 42, in pane A",
        "Branch at token 4 of B: the same text, 3 tokens, seed 42, in pane C",
        "Branch at token 4 of B: the same text, 3 tokens, seed 42, in pane D",
    ];

    fn open(mut state: AppState) -> Window {
        state.view.dock_tab = DockTab::Branches;
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(3);
        window
    }

    fn text(window: &Window) -> String {
        window.state().panes[0].generation().unwrap().text()
    }

    #[test]
    fn each_text_is_a_row_and_a_click_shows_it_again() {
        let mut window = open(branched());
        for row in ROWS {
            window.get_by_label(row);
        }
        window.get_by_label_contains("5 texts · ");
        assert_eq!(text(&window), " in fox ran");
        press(&mut window, ROWS[0]);
        assert_eq!(text(&window), " in a house");
    }

    #[test]
    fn the_keys_move_the_cursor_show_a_text_and_remove_one() {
        let mut window = open(branched());
        window.get_by_label("Tree of 5 texts").focus();
        window.run_steps(2);
        let at = |window: &Window| window.get_by_label("Tree of 5 texts").value();
        assert_eq!(at(&window).as_deref(), Some(ROWS[2]), "the selected text");
        key(&mut window, Modifiers::NONE, Key::ArrowLeft);
        assert_eq!(at(&window).as_deref(), Some(ROWS[0]));
        key(&mut window, Modifiers::NONE, Key::Delete);
        window.get_by_label("Tree of 4 texts");
        press(&mut window, "Undo");
        window.get_by_label("Tree of 5 texts").focus();
        window.run_steps(2);
        for _ in 0..5 {
            key(&mut window, Modifiers::NONE, Key::ArrowUp);
        }
        key(&mut window, Modifiers::NONE, Key::Enter);
        assert_eq!(text(&window), " in a house");
    }

    #[test]
    fn the_tree_is_exported_as_a_picture() {
        let state = branched();
        let tree = state.current_branch_tree();
        let texts = state.generations();
        let svg = tree_drawing(&tree, &caption(&texts), Look::default());
        for words in [
            "The tree",
            "5 texts of one prompt, by position in tokens",
            "in a house",
            "‘fox’ by hand",
            "token 0",
        ] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        let mut window = open(state);
        press(&mut window, "Export a picture");
        window.get_by_label("The tree as SVG…");
    }

    #[test]
    fn a_single_text_explains_how_to_get_a_second() {
        let mut state = written();
        while state.panes.len() > 1 {
            let pane = state.panes.last().unwrap().id;
            state.apply(crate::state::Command::Remove(pane));
        }
        let window = open(state);
        window.get_by_label("One text so far. Continue from any token to create a second.");
    }
}
