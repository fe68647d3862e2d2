//! The line that stands for the rows that do not fit: how many there are, and what became of them.

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{Id, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::Xray;
use super::labels::quoted;
use crate::analysis::xray::{XrayCell, XrayPlace, XrayRow, XrayTable};
use crate::decoding::KnownCount;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::focus_ring;
use crate::generation::formatting::{counted, grouped, percent};

/// How many of the hidden tokens are named.
const N_NAMED: usize = 3;

/// What the line says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct HiddenWords {
    /// "23 more above ‘beaver’".
    main: String,
    /// "27 more kept below it, 6,086 cut".
    aside: String,
}

impl HiddenWords {
    /// Describes what the table hides between its first `n_top` rows and the chosen one, or below
    /// them if the chosen one is among them.
    fn of(xray: &Xray<'_>, n_top: usize) -> Self {
        let table = xray.table;
        let (n_all, n_kept) = (n_all(table), n_kept(table));
        let n_cut = n_all
            .zip(n_kept)
            .map(|(all, kept)| all.saturating_sub(kept));
        let kept_of = |rows: &[XrayRow]| rows.iter().filter(|row| is_kept(row)).count();
        let chosen = table.rows.iter().position(|row| row.chosen);
        let chosen = chosen.filter(|index| *index >= n_top);
        if let Some((index, row)) = chosen.and_then(|index| Some((index, table.rows.get(index)?))) {
            let rank = row.rank.map_or(index + 1, |rank| rank as usize);
            let n_above = rank.saturating_sub(n_top + 1);
            // The rows end where nothing more was recorded.
            let is_recorded = rank == index + 1;
            let up_to = table.rows.get(..=index).unwrap_or_default();
            let below = n_kept.map(|kept| kept.saturating_sub(kept_of(up_to)));
            let below = below.filter(|below| *below > 0 && is_recorded);
            let below = below.map(|below| format!("{} more kept below it", number(below)));
            let cut = n_cut.filter(|cut| *cut > 0);
            let cut = cut.map(|cut| format!("{} cut", number(cut)));
            let aside: Vec<String> = below.into_iter().chain(cut).collect();
            return Self {
                main: format!("{} more above {}", number(n_above), quoted(xray, row.token)),
                aside: aside.join(", "),
            };
        }
        let top = table.rows.get(..n_top).unwrap_or_default();
        let (Some(n_kept), Some(n_cut)) = (n_kept, n_cut) else {
            let n_rows = n_all.unwrap_or(table.rows.len());
            return Self {
                main: format!("{} more", number(n_rows.saturating_sub(n_top))),
                aside: names(xray, n_top),
            };
        };
        let kept = n_kept.saturating_sub(kept_of(top));
        let n_cut = n_cut.saturating_sub(n_top - kept_of(top));
        let cut = format!("{} cut", number(n_cut));
        if kept > 0 {
            let main = format!("{} more kept", number(kept));
            // Greedy cuts nothing: it passes over what it does not take.
            let aside = if n_cut > 0 { cut } else { String::new() };
            return Self { main, aside };
        }
        let names = names(xray, n_top);
        let aside = match only_removed_mass(table) {
            Some(mass) if n_top == kept_of(top) => format!("{names} together {}", percent(mass)),
            _ => names,
        };
        Self { main: cut, aside }
    }
}

fn number(n: usize) -> String {
    grouped(n as f64)
}

/// Returns how many tokens the model ranked, if it is known.
fn n_all(table: &XrayTable) -> Option<usize> {
    let mut columns = table.columns.iter();
    let model =
        columns.find(|column| matches!(column.at, XrayPlace::Model | XrayPlace::Mixture(_)));
    known(model?.n_left)
}

/// Returns how many tokens are left before the draw, if it is known.
fn n_kept(table: &XrayTable) -> Option<usize> {
    let mut columns = table.columns.iter().rev();
    let last = columns.find(|column| match &column.at {
        XrayPlace::Stage { stage, .. } => stage.enabled,
        // A check follows the draw.
        XrayPlace::Grammar(grammar) => grammar.masked,
        XrayPlace::Row(_) => false,
        XrayPlace::Model | XrayPlace::Mixture(_) | XrayPlace::Selector(_) => true,
    });
    known(last?.n_left)
}

const fn known(count: KnownCount) -> Option<usize> {
    match count {
        KnownCount::Exactly(n) => Some(n as usize),
        KnownCount::AtMost(_) | KnownCount::Unknown => None,
    }
}

/// Returns whether no stage cut a row.
fn is_kept(row: &XrayRow) -> bool {
    let is_cut = |cell: &XrayCell| matches!(cell, XrayCell::Cut(_) | XrayCell::Gone);
    !row.cells.iter().any(is_cut)
}

/// Returns the probability that was cut, if a single stage cut anything.
fn only_removed_mass(table: &XrayTable) -> Option<f64> {
    let removed = table
        .columns
        .iter()
        .filter_map(|column| column.mass_removed);
    let mut removed = removed.filter(|mass| *mass > 0.0);
    let mass = removed.next()?;
    removed.next().is_none().then_some(mass)
}

/// Names the first hidden tokens: "‘small’, ‘hut’, ‘box’, …".
fn names(xray: &Xray<'_>, n_top: usize) -> String {
    let hidden = xray.table.rows.iter().skip(n_top).take(N_NAMED);
    let names: Vec<String> = hidden.map(|row| quoted(xray, row.token)).collect();
    names.join(", ") + ", …"
}

/// What the line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HiddenLine {
    /// Shows the hidden rows, so that the table scrolls. The first rows stand above it.
    More { n_top: usize, n_hidden: usize },
    /// Hides them again.
    Fewer,
}

/// Draws the line. Returns whether it was pressed.
pub(super) fn hidden_line_ui(ui: &Ui, rect: Rect, xray: &Xray<'_>, line: HiddenLine) -> bool {
    let theme = Theme::of(ui);
    let (words, name, icon) = match line {
        HiddenLine::More { n_top, n_hidden } => (
            HiddenWords::of(xray, n_top),
            format!("{} hidden", counted(n_hidden, "candidate")),
            Icon::Down,
        ),
        HiddenLine::Fewer => {
            let main = "Fewer candidates".to_owned();
            let aside = String::new();
            (
                HiddenWords {
                    main: main.clone(),
                    aside,
                },
                main,
                Icon::Up,
            )
        }
    };
    let id = ui.scope_id().with("hidden rows");
    let response = ui.interact(rect, id, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    let color = if response.hovered() {
        theme.text_1
    } else {
        theme.text_2
    };
    let square =
        Rect::from_center_size(pos2(rect.left() + 12.0, rect.center().y), vec2(12.0, 12.0));
    icon.paint(ui.painter(), square, theme.text_3);
    let mut job = LayoutJob::default();
    let format = |color| TextFormat::simple(Face::Small.font(), color);
    job.append(&words.main, 0.0, format(color));
    job.append(&words.aside, 8.0, format(theme.text_3));
    let left = square.right() + 8.0;
    job.wrap = TextWrapping::truncate_at_width((rect.right() - left).max(0.0));
    let galley = ui.painter().layout_job(job);
    let at = pos2(left, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, color);
    focus_ring(ui, &response, 4);
    response.clicked()
}

/// Whether all rows of a step are shown, and can be scrolled.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Unfolded {
    /// The step for which they are shown. Another one shows its chosen row again.
    step: Option<(u32, usize)>,
    /// Whether they were unfolded just now.
    pub is_new: bool,
}

impl Unfolded {
    fn id(table_ui: &Ui) -> Id {
        table_ui.scope_id().with("unfolded rows")
    }

    /// Returns the state of the table’s rows, or `None` if some are hidden.
    pub(super) fn of(table_ui: &Ui, xray: &Xray<'_>) -> Option<Self> {
        let id = Self::id(table_ui);
        let unfolded: Self = table_ui.data(|data| data.get_temp(id).unwrap_or_default());
        (unfolded.step == Some(xray.step)).then_some(unfolded)
    }

    /// Remembers that the rows were drawn.
    pub(super) fn settle(self, table_ui: &Ui) {
        let is_new = false;
        table_ui.data_mut(|data| data.insert_temp(Self::id(table_ui), Self { is_new, ..self }));
    }

    /// Shows all rows, or hides some again.
    pub(super) fn toggle(table_ui: &Ui, xray: &Xray<'_>) {
        let is_unfolded = Self::of(table_ui, xray).is_some();
        let unfolded = Self {
            step: (!is_unfolded).then_some(xray.step),
            is_new: !is_unfolded,
        };
        table_ui.data_mut(|data| data.insert_temp(Self::id(table_ui), unfolded));
        table_ui.request_repaint();
    }
}
