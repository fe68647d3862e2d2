//! Icons made of lines, circles and polygons on a 16 × 16 grid.

mod drawings;
mod mark;

use egui::{Color32, Painter, Rect, Response, Role, Sense, Ui, Vec2};

use self::mark::{Mark, MarkPainter};
use super::theme::Theme;
use super::widgets::{ControlColors, focus_ring, paint_fill};

/// An icon for an action or a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    /// Runs again.
    Again,
    Check,
    /// Closes or removes.
    Close,
    Coin,
    Copy,
    /// Cut off before its end.
    Cut,
    /// Opens a menu below, or collapses.
    Down,
    Download,
    /// Picks a random seed.
    Dice,
    /// Edits a text.
    Edit,
    Export,
    /// A stage that is on.
    Eye,
    /// A muted stage.
    EyeOff,
    /// Full speed.
    Fast,
    File,
    /// Where panes diverge.
    Fork,
    /// Opens the settings.
    Gear,
    /// A drag handle.
    Grip,
    Info,
    Left,
    /// A list of tasks.
    List,
    /// Listens to other programs.
    Listen,
    /// Opens a menu of further actions.
    More,
    /// Keeps something in its place.
    Pin,
    Play,
    Plus,
    Redo,
    Right,
    Search,
    /// Slow enough to watch.
    Slow,
    /// Generates one more token.
    Step,
    Stop,
    Undo,
    /// Expands.
    Up,
    /// A warning or an error.
    Warning,
}

impl Icon {
    /// All icons, in the order of the enum.
    pub const ALL: [Self; 35] = [
        Self::Again,
        Self::Check,
        Self::Close,
        Self::Coin,
        Self::Copy,
        Self::Cut,
        Self::Down,
        Self::Download,
        Self::Dice,
        Self::Edit,
        Self::Export,
        Self::Eye,
        Self::EyeOff,
        Self::Fast,
        Self::File,
        Self::Fork,
        Self::Gear,
        Self::Grip,
        Self::Info,
        Self::Left,
        Self::List,
        Self::Listen,
        Self::More,
        Self::Pin,
        Self::Play,
        Self::Plus,
        Self::Redo,
        Self::Right,
        Self::Search,
        Self::Slow,
        Self::Step,
        Self::Stop,
        Self::Undo,
        Self::Up,
        Self::Warning,
    ];

    /// Paints the icon as large as fits, centered in `rect`.
    pub fn paint(self, painter: &Painter, rect: Rect, color: Color32) {
        let painter = MarkPainter::new(painter, rect, color);
        for mark in self.marks() {
            painter.paint(mark);
        }
    }

    const fn marks(self) -> &'static [Mark] {
        match self {
            Self::Again => drawings::AGAIN,
            Self::Check => drawings::CHECK,
            Self::Close => drawings::CLOSE,
            Self::Coin => drawings::COIN,
            Self::Copy => drawings::COPY,
            Self::Cut => drawings::CUT,
            Self::Down => drawings::DOWN,
            Self::Download => drawings::DOWNLOAD,
            Self::Dice => drawings::DICE,
            Self::Edit => drawings::EDIT,
            Self::Export => drawings::EXPORT,
            Self::Eye => drawings::EYE,
            Self::EyeOff => drawings::EYE_OFF,
            Self::Fast => drawings::FAST,
            Self::File => drawings::FILE,
            Self::Fork => drawings::FORK,
            Self::Gear => drawings::GEAR,
            Self::Grip => drawings::GRIP,
            Self::Info => drawings::INFO,
            Self::Left => drawings::LEFT,
            Self::List => drawings::LIST,
            Self::Listen => drawings::LISTEN,
            Self::More => drawings::MORE,
            Self::Pin => drawings::PIN,
            Self::Play => drawings::PLAY,
            Self::Plus => drawings::PLUS,
            Self::Redo => drawings::REDO,
            Self::Right => drawings::RIGHT,
            Self::Search => drawings::SEARCH,
            Self::Slow => drawings::SLOW,
            Self::Step => drawings::STEP,
            Self::Stop => drawings::STOP,
            Self::Undo => drawings::UNDO,
            Self::Up => drawings::UP,
            Self::Warning => drawings::WARNING,
        }
    }
}

/// Shows a button with only an icon, 28 × 28 points or smaller in a low row. `name` is its
/// accessible name and its tooltip.
pub fn icon_button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let size = Vec2::splat(ui.available_height().clamp(24.0, 28.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    if ui.is_rect_visible(rect) {
        let theme = Theme::of(ui);
        let color = paint_fill(ui, &response, ControlColors::quiet(theme), 6);
        let square = Rect::from_center_size(rect.center(), Vec2::splat(16.0));
        icon.paint(ui.painter(), square, color);
        focus_ring(ui, &response, 6);
    }
    response.on_hover_text(name)
}
