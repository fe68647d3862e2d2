//! An item of a menu, with an optional shortcut, and an item that opens a submenu.

use egui::containers::menu::{MenuConfig, MenuState, SubMenu};
use egui::{
    Color32, Id, Key, Modifiers, PopupCloseBehavior, Pos2, Rect, Response, Role, ScrollArea, Sense,
    Ui, WidgetInfo, pos2, vec2,
};

use super::fill::{ControlColors, focus_ring, paint_fill};
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;

/// The size of an item, in points.
#[derive(Debug, Clone, Copy)]
struct ItemSize {
    height: f32,
    /// The space between the shortcut and the right edge.
    right: f32,
}

impl ItemSize {
    const USUAL: Self = Self {
        height: 32.0,
        right: 10.0,
    };

    /// That of a menu that must not cover much.
    const LOW: Self = Self {
        height: 28.0,
        ..Self::USUAL
    };
}

/// Shows an item of a menu, 32 points high and as wide as the menu, with its shortcut on the right.
pub fn menu_item(ui: &mut Ui, label: &str, shortcut: &str, selected: bool) -> Response {
    item_ui(ui, ItemSize::USUAL, label, shortcut, selected)
}

/// Shows an item of a menu that must not cover much, 28 points high.
pub fn low_menu_item(ui: &mut Ui, label: &str, shortcut: &str) -> Response {
    item_ui(ui, ItemSize::LOW, label, shortcut, false)
}

/// Shows an item of a menu with many items, 24 points high.
pub fn dense_menu_item(ui: &mut Ui, label: &str) -> Response {
    let size = ItemSize {
        height: 24.0,
        ..ItemSize::USUAL
    };
    item_ui(ui, size, label, "", false)
}

fn item_ui(
    ui: &mut Ui,
    ItemSize { height, right }: ItemSize,
    label: &str,
    shortcut: &str,
    selected: bool,
) -> Response {
    let theme = Theme::of(ui);
    let layout = |text: &str, face: Face| {
        ui.painter()
            .layout_no_wrap(text.to_owned(), face.font(), Color32::PLACEHOLDER)
    };
    let (text, keys) = (layout(label, Face::Body), layout(shortcut, Face::Micro));
    let min_width = text.size().x + keys.size().x + 34.0 + right;
    let width = ui.available_width().max(min_width);
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::MenuItem, ui.is_enabled(), selected, label));
    if ui.is_rect_visible(rect) {
        let fill = if selected {
            theme.surface_3
        } else {
            Color32::TRANSPARENT
        };
        let colors = ControlColors {
            fill,
            text: theme.text_1,
        };
        let color = paint_fill(ui, &response, colors, 6);
        let middle = |height: f32| rect.center().y - height / 2.0;
        let at = pos2(rect.left() + 10.0, middle(text.size().y));
        ui.painter().galley(at, text, color);
        let at = pos2(rect.right() - right - keys.size().x, middle(keys.size().y));
        ui.painter().galley(at, keys, theme.text_3);
        focus_ring(ui, &response, 6);
    }
    response
}

/// The space above and below a menu with scroll bars, in points.
const MENU_MARGIN: f32 = 24.0;

/// Shows an item of a menu that opens a submenu, with a summary of its content on the right. It
/// opens on hover, click, Enter or the right arrow key; the content closes it.
pub fn submenu(ui: &mut Ui, label: &str, hint: &str, width: f32, content: impl FnOnce(&mut Ui)) {
    submenu_ui(ui, ItemSize::USUAL, (label, hint), width, content);
}

/// Shows an item that opens a submenu, 28 points high.
pub fn low_submenu(ui: &mut Ui, label: &str, width: f32, content: impl FnOnce(&mut Ui)) {
    submenu_ui(ui, ItemSize::LOW, (label, ""), width, content);
}

fn submenu_ui(
    ui: &mut Ui,
    size: ItemSize,
    (label, hint): (&str, &str),
    width: f32,
    content: impl FnOnce(&mut Ui),
) {
    let id = SubMenu::id_from_widget_id(ui.next_auto_id());
    let is_open = MenuState::from_ui(ui, |state, _| state.open_item == Some(id));
    let size = ItemSize {
        right: 26.0,
        ..size
    };
    let response = item_ui(ui, size, label, hint, is_open);
    let center = pos2(response.rect.right() - 14.0, response.rect.center().y);
    let square = Rect::from_center_size(center, vec2(12.0, 12.0));
    Icon::Right.paint(ui.painter(), square, Theme::of(ui).text_3);
    if stays_closed(ui, &response) {
        return;
    }
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let mut escaped = false;
    SubMenu::new().config(config).show(ui, &response, |ui| {
        ui.set_width(width);
        scrolled(ui, content);
        // The menu around it stays open.
        escaped = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    });
    if escaped {
        MenuState::from_ui(ui, |state, _| state.open_item = None);
        response.request_focus();
        let pointer = ui.input(|input| input.pointer.latest_pos());
        ui.data_mut(|data| data.insert_temp(escaped_id(&response), pointer));
    }
}

/// Returns whether a submenu was closed with Escape and must not open again only because the pointer
/// still rests on its item.
fn stays_closed(ui: &Ui, item: &Response) -> bool {
    let id = escaped_id(item);
    let Some(escaped_at) = ui.data(|data| data.get_temp::<Option<Pos2>>(id)) else {
        return false;
    };
    let pointer = ui.input(|input| input.pointer.latest_pos());
    let opens = item.clicked() || item.has_focus() && ui.input(|i| i.key_pressed(Key::ArrowRight));
    let rests = pointer == escaped_at && pointer.is_some_and(|at| item.rect.contains(at));
    if opens || !rests {
        ui.data_mut(|data| data.remove::<Option<Pos2>>(id));
    }
    rests && !opens
}

fn escaped_id(item: &Response) -> Id {
    item.id.with("escaped at")
}

/// Shows the content of a menu, which scrolls if the window is too short for it.
pub fn scrolled(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    let max_height = ui.ctx().content_rect().height() - 2.0 * MENU_MARGIN;
    // At first, a popup offers 400 points, which must not clip a menu that the window has room for.
    ScrollArea::vertical()
        .max_height(max_height)
        .min_scrolled_height(max_height)
        .show(ui, content);
}
