//! Draws the window, and exports parts of it as pictures.
//!
//! It reads the state and returns commands. It knows neither the engine nor the worker.

pub mod app_icon;
pub mod documents;
pub mod futures;
pub mod pictures;
pub mod run_folder;
pub mod token_text;

mod branch_dialog;
mod branches;
pub(crate) mod chain_editor;
mod chain_panel;
mod compare;
pub(crate) mod dock;
mod empty_pane;
mod explained;
mod export_dialog;
mod figures;
#[cfg(test)]
mod fit;
mod help;
pub(crate) mod history;
pub(crate) mod keys;
mod kinds;
mod layout;
mod lessons;
mod lint_notice;
mod listening;
mod loop_view;
mod model_menu;
mod models;
mod numbers;
mod numbers_tokens;
mod numbers_turns;
mod order_menu;
mod pace_menu;
mod palette;
mod pane;
mod pane_footer;
pub(crate) mod pane_header;
mod pane_model;
mod pane_server;
#[cfg(test)]
mod pane_tests;
mod paste_settings;
mod path_dialog;
pub(crate) mod picture_menu;
mod plots_tab;
mod plots_turns;
mod popup_focus;
mod presets_menu;
mod prompt_card;
mod run_bar;
mod run_column;
mod run_file_style;
mod score_choice;
mod score_dialog;
mod seed_field;
mod settings_dialog;
mod shown_pictures;
#[cfg(test)]
mod small_window_tests;
mod step_draws;
mod tab_order;
mod tabbed_dialog;
#[cfg(test)]
pub(crate) mod testing;
mod text_measures;
mod toast;
mod top_bar;
mod turns;
#[cfg(test)]
mod turns_tests;
mod view_bar;
mod watermark_dialog;
mod why;
mod window;
pub(crate) mod xray;

pub use compare::verified_data;
pub use help::third_party_licenses;
pub use window::WindowUi;
