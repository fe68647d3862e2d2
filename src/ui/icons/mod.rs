//! The icons: lines, circles and polygons on a grid of 16, drawn by the painter.

mod drawings;
mod mark;

use egui::{Color32, Painter, Rect, Response, Role, Sense, Ui, Vec2};

use self::mark::{Mark, Pen};
use super::theme::Theme;
use super::widgets::{Rest, focus_ring, paint_fill};

/// A sign that stands for an action or a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    /// Run again.
    Again,
    /// Done.
    Check,
    /// Close, remove.
    Close,
    /// A draw.
    Coin,
    /// To the clipboard.
    Copy,
    /// A menu opens below; fold away.
    Down,
    /// From the network.
    Download,
    /// Another seed.
    Dice,
    /// Out of the program.
    Export,
    /// Switched on.
    Eye,
    /// Muted.
    EyeOff,
    /// A file.
    File,
    /// Where panes part.
    Fork,
    /// Can be dragged.
    Grip,
    /// A remark.
    Info,
    /// One back.
    Left,
    /// More actions.
    More,
    /// Run.
    Play,
    /// Add.
    Plus,
    /// Do again what was undone.
    Redo,
    /// One on.
    Right,
    /// Find.
    Search,
    /// One token more.
    Step,
    /// Stop.
    Stop,
    /// Dark or light.
    Theme,
    /// Undo.
    Undo,
    /// Unfold.
    Up,
    /// A warning or an error.
    Warning,
}

impl Icon {
    /// All, in the order of the enum.
    pub const ALL: [Self; 28] = [
        Self::Again,
        Self::Check,
        Self::Close,
        Self::Coin,
        Self::Copy,
        Self::Down,
        Self::Download,
        Self::Dice,
        Self::Export,
        Self::Eye,
        Self::EyeOff,
        Self::File,
        Self::Fork,
        Self::Grip,
        Self::Info,
        Self::Left,
        Self::More,
        Self::Play,
        Self::Plus,
        Self::Redo,
        Self::Right,
        Self::Search,
        Self::Step,
        Self::Stop,
        Self::Theme,
        Self::Undo,
        Self::Up,
        Self::Warning,
    ];

    /// Draws it as large as fits into `rect`, in the middle.
    pub fn paint(self, painter: &Painter, rect: Rect, color: Color32) {
        let pen = Pen::new(painter, rect, color);
        for mark in self.marks() {
            pen.draw(mark);
        }
    }

    const fn marks(self) -> &'static [Mark] {
        match self {
            Self::Again => drawings::AGAIN,
            Self::Check => drawings::CHECK,
            Self::Close => drawings::CLOSE,
            Self::Coin => drawings::COIN,
            Self::Copy => drawings::COPY,
            Self::Down => drawings::DOWN,
            Self::Download => drawings::DOWNLOAD,
            Self::Dice => drawings::DICE,
            Self::Export => drawings::EXPORT,
            Self::Eye => drawings::EYE,
            Self::EyeOff => drawings::EYE_OFF,
            Self::File => drawings::FILE,
            Self::Fork => drawings::FORK,
            Self::Grip => drawings::GRIP,
            Self::Info => drawings::INFO,
            Self::Left => drawings::LEFT,
            Self::More => drawings::MORE,
            Self::Play => drawings::PLAY,
            Self::Plus => drawings::PLUS,
            Self::Redo => drawings::REDO,
            Self::Right => drawings::RIGHT,
            Self::Search => drawings::SEARCH,
            Self::Step => drawings::STEP,
            Self::Stop => drawings::STOP,
            Self::Theme => drawings::THEME,
            Self::Undo => drawings::UNDO,
            Self::Up => drawings::UP,
            Self::Warning => drawings::WARNING,
        }
    }
}

/// A button of 28 by 28 that shows an icon alone; `name` is what a screen reader says, and its
/// tooltip.
pub fn icon_button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let size = Vec2::splat(ui.available_height().clamp(24.0, 28.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    if ui.is_rect_visible(rect) {
        let theme = Theme::of(ui);
        let color = paint_fill(ui, &response, Rest::quiet(theme), 6);
        let square = Rect::from_center_size(rect.center(), Vec2::splat(16.0));
        icon.paint(ui.painter(), square, color);
        focus_ring(ui, &response, 6);
    }
    response.on_hover_text(name)
}
