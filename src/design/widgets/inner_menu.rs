//! A menu that opens from a control inside a popup.
//!
//! egui tracks a single open popup, so an ordinary menu would close the popup that contains its
//! button. This menu keeps its own state.

use egui::{Context, Id, Key, Modifiers, Popup, PopupCloseBehavior, RectAlign, Response, Ui};

/// The open menu, and the pass in which it was last drawn.
#[derive(Debug, Clone, Copy)]
struct OpenMenu {
    id: Id,
    pass: u64,
}

/// Shows a menu that opens when `button` is clicked. It closes after a choice, a click elsewhere or
/// Escape.
pub fn inner_menu(
    button: &Response,
    name: &str,
    (align, width): (RectAlign, f32),
    content: impl FnOnce(&mut Ui),
) {
    let ctx = &button.ctx;
    let id = button.id.with("inner menu");
    let was_open = open_menu(ctx).is_some_and(|menu| menu.id == id);
    let mut open = was_open != button.clicked();
    Popup::menu(button)
        .id(id)
        .open_bool(&mut open)
        .close_behavior(PopupCloseBehavior::CloseOnClick)
        .align(align)
        .gap(4.0)
        .width(width)
        .accessible_name(name)
        .show(content);
    let escaped =
        was_open && ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    if escaped {
        button.request_focus();
    }
    if open {
        let pass = ctx.cumulative_pass_nr();
        ctx.data_mut(|data| data.insert_temp(key(), OpenMenu { id, pass }));
    } else if was_open {
        ctx.data_mut(|data| data.remove::<OpenMenu>(key()));
    }
}

/// Returns whether an inner menu is open. Clicks outside the popup around it must not close it
/// then.
pub fn is_inner_menu_open(ctx: &Context) -> bool {
    open_menu(ctx).is_some()
}

/// Returns the open menu. One that was not drawn in the previous pass has closed with its popup.
fn open_menu(ctx: &Context) -> Option<OpenMenu> {
    let menu: OpenMenu = ctx.data(|data| data.get_temp(key()))?;
    (menu.pass + 1 >= ctx.cumulative_pass_nr()).then_some(menu)
}

fn key() -> Id {
    Id::unique("open inner menu")
}
