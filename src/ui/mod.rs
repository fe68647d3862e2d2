//! Draws the window, and the same things as pictures.
//!
//! It reads the state and returns commands. It knows neither the engine nor the worker.

pub mod app_icon;
pub mod futures;
pub mod pictures;
pub mod run_folder;
pub mod token_text;

mod branch_dialog;
mod branches;
mod by_hand;
mod chain_editor;
mod chain_panel;
mod compare;
mod dock;
mod empty_pane;
mod escape;
mod export_dialog;
mod history;
mod keys;
mod lab;
mod layout;
mod lint_notice;
mod loop_view;
mod models;
mod numbers;
mod numbers_tokens;
mod order_menu;
mod pace_menu;
mod pane;
mod pane_footer;
mod pane_header;
mod paste_settings;
mod path_dialog;
mod picture_menu;
mod popup_focus;
mod presets_menu;
mod prompt_card;
mod run_bar;
mod run_column;
mod score_choice;
mod score_dialog;
mod seed_field;
mod step_draws;
#[cfg(test)]
mod testing;
mod text_measures;
mod toast;
mod top_bar;
mod view_bar;
mod why;
mod window;
mod xray;

pub use window::WindowUi;
