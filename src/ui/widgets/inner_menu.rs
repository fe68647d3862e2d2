//! A menu that opens from a control inside a popup.
//!
//! egui remembers one open popup alone, so that an ordinary menu would close the popup in which its
//! button stands. This one remembers itself.

use egui::{Context, Id, Key, Modifiers, Popup, PopupCloseBehavior, RectAlign, Response, Ui};

/// Which one is open, and in which pass it was drawn last.
#[derive(Debug, Clone, Copy)]
struct OpenMenu {
    id: Id,
    pass: u64,
}

/// Opens below `button` when that is pressed, and closes with a choice, a press elsewhere or Escape.
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

/// Whether one is open: the popup around it must not close by a press outside it.
pub fn is_inner_menu_open(ctx: &Context) -> bool {
    open_menu(ctx).is_some()
}

/// One that was not drawn in the pass before went with the popup around it.
fn open_menu(ctx: &Context) -> Option<OpenMenu> {
    let menu: OpenMenu = ctx.data(|data| data.get_temp(key()))?;
    (menu.pass + 1 >= ctx.cumulative_pass_nr()).then_some(menu)
}

fn key() -> Id {
    Id::unique("open inner menu")
}
