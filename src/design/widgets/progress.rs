//! A progress bar across the available width.

use egui::{ProgressBar, Ui};

use crate::design::theme::Theme;

/// Shows a fraction between 0 and 1 as a progress bar, with a gap below it.
pub fn progress_bar(ui: &mut Ui, fraction: f32) {
    let bar = ProgressBar::new(fraction)
        .desired_height(4.0)
        .corner_radius(2)
        .fill(Theme::of(ui).text_1);
    ui.add(bar);
    ui.add_space(6.0);
}
