//! The line that stands for the thought of a text: it folds and unfolds it.

use egui::emath::Rangef;
use egui::{Pos2, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::TokenView;
use super::transcript::{Passage, ShownThought};
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::focus_ring;
use crate::generation::formatting::counted;

/// The side of the arrow, in points.
const ARROW: f32 = 12.0;

/// How far the rule beside an unfolded thought is from its text, in points.
const RULE_GAP: f32 = 8.0;

impl TokenView {
    /// Returns how the thought is to be shown. A token that is pinned in it unfolds it.
    pub(super) fn shown_thought(&mut self, pinned: Option<usize>) -> ShownThought {
        let passage = self.transcript.passage();
        let holds = |step: usize| passage.is_some_and(|it| it.thought.steps().contains(&step));
        if pinned != self.pinned && pinned.is_some_and(holds) {
            self.is_unfolded = true;
        }
        if self.is_unfolded {
            ShownThought::Unfolded
        } else {
            ShownThought::Folded
        }
    }

    /// Draws the arrow of the line, and the rule beside an unfolded thought. A click on the line
    /// folds or unfolds it.
    pub(super) fn thought_ui(&mut self, ui: &Ui, origin: Pos2, width: f32) {
        let Some(Passage { thought, is_folded }) = self.transcript.passage() else {
            return;
        };
        let Some(line) = self
            .transcript
            .thought_line()
            .and_then(|at| self.layout.row_of(at))
        else {
            return;
        };
        let x = Rangef::new(origin.x, origin.x + width);
        let y = Rangef::new(origin.y + line.min, origin.y + line.max);
        let rect = Rect::from_x_y_ranges(x, y);
        let response = ui.interact(rect, ui.scope_id().with("thought"), Sense::click());
        let n_tokens = counted(thought.n_tokens(), "token");
        let state = if is_folded { "collapsed" } else { "expanded" };
        let name = format!("Thought, {n_tokens}, {state}");
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        focus_ring(ui, &response, 4);
        let theme = Theme::of(ui);
        let corner = pos2(rect.left(), rect.center().y - ARROW / 2.0);
        let arrow = Rect::from_min_size(corner, vec2(ARROW, ARROW));
        let icon = if is_folded { Icon::Right } else { Icon::Down };
        icon.paint(ui.painter(), arrow, theme.text_3);
        if !is_folded && let Some(last) = thought.steps().last().and_then(|step| self.row_of(step))
        {
            let rule = Rangef::new(rect.bottom(), origin.y + last.max);
            let stroke = (2.0, theme.stroke_2);
            ui.painter().vline(origin.x - RULE_GAP, rule, stroke);
        }
        if response.clicked() {
            self.is_unfolded = is_folded;
        }
    }
}
