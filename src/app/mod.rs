//! The desktop window: connects the state, its drawing and the worker threads through eframe.
//!
//! It decides nothing: commands go to the state, and effects come back to be run here.

mod aside;
mod autosave;
mod background;
mod copy_picture;
mod dialogs;
mod documents;
mod folders;
mod icon;
mod import;
mod listening;
mod model_paths;
mod no_window;
mod runs;
mod save;
mod servers;
mod settings_file;
mod show;
#[cfg(test)]
mod tests;
mod window;

pub use dialogs::Dialogs;
pub use window::{App, Wake, run};
