//! The By hand tab: the X-ray of logits that the user sets by hand.

use super::results_ui;
use super::setup::{foot, form_ui};
use crate::lab::frame::Tab;
use crate::ui::picture_menu::{by_hand_picture, picture_button_ui};

pub(in crate::lab) const TAB: Tab = Tab {
    bar: |ui, state, commands| {
        let pictures = [by_hand_picture()];
        picture_button_ui(ui, &pictures, &mut state.view, commands);
    },
    form: form_ui,
    foot,
    results: results_ui,
    selection: None,
    keys: None,
};
