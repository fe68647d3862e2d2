//! The strip that shows where in a text the tokens of a kind are.

use egui::{Mesh, Rect, Role, Sense, Shape, Ui, WidgetInfo, pos2, vec2};

use super::INDENT;
use crate::design::theme::Theme;

/// The height of the strip, in points.
pub(super) const STRIP: f32 = 26.0;

/// The distance of two tokens from which each has a tick, in points.
const MIN_TICKS: f32 = 3.0;

/// The tokens that a strip shows.
pub(super) struct StripTokens<'a> {
    pub name: &'a str,
    /// The place of the pane, for its color.
    pub place: usize,
    /// How many tokens the text has.
    pub n_tokens: usize,
    /// The steps of the kind.
    pub steps: &'a [usize],
    pub held: Option<usize>,
}

impl StripTokens<'_> {
    /// Draws a tick for each token, tall ones for those of the kind. Returns the step of the kind
    /// that is next to where the strip was clicked.
    pub(super) fn ui(&self, ui: &mut Ui) -> Option<usize> {
        let size = vec2(ui.available_width(), STRIP);
        let (whole, response) = ui.allocate_exact_size(size, Sense::CLICK);
        let rect = whole.shrink2(vec2(INDENT, 0.0));
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, self.name));
        let per_token = rect.width() / self.n_tokens.max(1) as f32;
        if ui.is_rect_visible(rect) {
            self.paint(ui, rect, per_token);
        }
        let at = response
            .interact_pointer_pos()
            .filter(|_| response.clicked())?;
        let distance = |step: &usize| ((*step as f32 + 0.5) * per_token + rect.left() - at.x).abs();
        let nearest = |a: &&usize, b: &&usize| distance(a).total_cmp(&distance(b));
        self.steps.iter().min_by(nearest).copied()
    }

    fn paint(&self, ui: &Ui, rect: Rect, per_token: f32) {
        let theme = Theme::of(ui);
        let mut mesh = Mesh::default();
        let mut tick = |step: usize, size: egui::Vec2, color| {
            let x = rect.left() + (step as f32 + 0.5) * per_token;
            let center = pos2(x, rect.center().y);
            mesh.add_colored_rect(Rect::from_center_size(center, size), color);
        };
        if per_token >= MIN_TICKS {
            for step in 0..self.n_tokens {
                tick(step, vec2(1.0, 6.0), theme.surface_4);
            }
        }
        for step in self.steps {
            tick(*step, vec2(3.0, 16.0), theme.pane(self.place));
        }
        if let Some(held) = self.held {
            let is_of_kind = self.steps.binary_search(&held).is_ok();
            let height = if is_of_kind { 24.0 } else { 12.0 };
            tick(held, vec2(4.0, height), theme.accent);
        }
        let line = Rect::from_center_size(rect.center(), vec2(rect.width(), 2.0));
        ui.painter().rect_filled(line, 1, theme.surface_4);
        ui.painter().add(Shape::mesh(mesh));
    }
}
