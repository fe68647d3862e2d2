//! Widgets used throughout the window: buttons, chips, fields, badges and notices.
//!
//! They know the theme but not the state. Each takes an accessible name and shows all its states:
//! normal, hovered, pressed, focused, disabled, invalid.

mod badge;
mod button;
mod checkbox;
mod chip;
mod choice;
mod editor;
mod fill;
mod inner_menu;
mod legend;
mod long_text;
mod menu_item;
mod notice;
mod number;
mod progress;
mod slider;
mod switch;
mod toggle;

pub use badge::{BADGE, SMALL_BADGE, badge, paint_badge};
pub use button::Button;
pub use checkbox::checkbox;
pub use chip::Chip;
pub use choice::Choice;
pub use editor::{editor_popup, hint_ui};
pub use fill::{ControlColors, field_frame, focus_ring, paint_fill};
pub use inner_menu::{inner_menu, is_inner_menu_open};
pub use legend::{legend, small_legend};
pub use long_text::{cut_note, long_text};
pub use menu_item::{dense_menu_item, low_menu_item, low_submenu, menu_item, scrolled, submenu};
pub use notice::{Notice, NoticeKind, notice_frame};
pub use number::Number;
pub use progress::progress_bar;
pub use slider::key_steps;
pub use switch::switch_part;
pub use toggle::toggle;
