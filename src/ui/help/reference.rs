//! The reference: what to do about a text, and a page for each filter and each way to draw.

use egui::{Context, Id, Label, Rect, ScrollArea, Sense, TextEdit, Ui, pos2, vec2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{field_frame, hint_ui, menu_item};
use crate::generation::formatting::percent;
use crate::reference::{ADVICE, Advice, Bar, EngineUse, Page, Picture, Subject};
use crate::state::{Command, HelpTab};

/// The width of the list of pages, in points.
const LIST: f32 = 212.0;

/// The height of a candidate's bars, and the widths of its word and of a number.
const BAR: f32 = 20.0;
const WORD: f32 = 58.0;
const NUMBER: f32 = 52.0;

/// What is shown beside the list.
#[derive(Debug, Clone, Copy)]
enum Entry {
    Advice(&'static Advice),
    Page(Page),
}

impl Entry {
    fn all() -> Vec<Self> {
        let advice = ADVICE.iter().map(Self::Advice);
        let pages = Page::all().into_iter().map(Self::Page);
        advice.chain(pages).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Advice(advice) => advice.symptom,
            Self::Page(page) => page.name(),
        }
    }

    fn contains(self, query: &str) -> bool {
        let texts = match self {
            Self::Advice(advice) => [advice.symptom, advice.cause, ""],
            Self::Page(page) => [page.name(), page.help(), page.source()],
        };
        texts.iter().any(|text| text.to_lowercase().contains(query))
    }
}

/// The tab's state between frames.
#[derive(Debug, Default)]
pub(super) struct ReferenceUi {
    query: String,
    shown: Option<Entry>,
    /// The picture of a page, by its name: draws take a moment.
    picture: Option<(&'static str, Option<Picture>)>,
}

/// Opens the help at a page.
pub(in crate::ui) fn show_page(ctx: &Context, page: Page, commands: &mut Vec<Command>) {
    ctx.data_mut(|data| data.insert_temp(asked_id(), page.id()));
    commands.push(Command::ShowHelp(Some(HelpTab::Filters)));
}

/// The id under which the page to open is kept until the help shows it.
fn asked_id() -> Id {
    Id::unique("page of the reference")
}

impl ReferenceUi {
    /// Draws the list, and the chosen page beside it.
    pub(super) fn ui(&mut self, ui: &mut Ui) {
        let entries = Entry::all();
        let asked = ui.data_mut(|data| data.remove_temp::<&'static str>(asked_id()));
        if let Some(asked) = asked {
            self.query.clear();
            let mut pages = Page::all().into_iter();
            let page = pages.find(|page| page.id() == asked);
            self.shown = page.map(Entry::Page).or(self.shown);
        }
        let rect = ui
            .available_rect_before_wrap()
            .with_min_y(ui.cursor().top() + 10.0);
        let list = rect.with_max_x(rect.left() + LIST);
        self.list_ui(&mut child_ui(ui, list, "reference list"), &entries);
        let Some(entry) = self.shown.or_else(|| entries.first().copied()) else {
            return;
        };
        let page = rect.with_min_x(list.right() + 20.0);
        let mut ui = child_ui(ui, page, "reference page");
        ScrollArea::vertical()
            .id_salt(("page", entry.name()))
            .auto_shrink(false)
            .show(&mut ui, |ui| {
                ui.set_max_width(ui.available_width() - 14.0);
                match entry {
                    Entry::Advice(advice) => advice_ui(ui, advice),
                    Entry::Page(page) => self.page_ui(ui, page),
                }
            });
    }

    fn list_ui(&mut self, ui: &mut Ui, entries: &[Entry]) {
        let name = "Find a filter or a draw";
        let edit = TextEdit::singleline(&mut self.query)
            .hint_text("Find")
            .frame(field_frame(ui))
            .desired_width(LIST - 16.0);
        ui.add(edit).accessible_name(name);
        ui.add_space(6.0);
        let query = self.query.trim().to_lowercase();
        let found: Vec<Entry> = entries
            .iter()
            .copied()
            .filter(|entry| entry.contains(&query))
            .collect();
        if found.is_empty() {
            hint_ui(ui, "No page contains this text");
            return;
        }
        let shown = self.shown.or_else(|| entries.first().copied());
        let shown = shown.map(Entry::name);
        ScrollArea::vertical()
            .id_salt("pages")
            .auto_shrink(false)
            .show(ui, |ui| {
                ui.set_max_width(LIST - 14.0);
                for entry in found {
                    let is_shown = shown == Some(entry.name());
                    if menu_item(ui, entry.name(), "", is_shown).clicked() {
                        self.shown = Some(entry);
                    }
                }
            });
    }

    fn page_ui(&mut self, ui: &mut Ui, page: Page) {
        title_ui(ui, page.name());
        sentence_ui(ui, page.help());
        formula_ui(ui, page.formula());
        for line in page.numbers() {
            line_ui(ui, &line);
        }
        if self
            .picture
            .as_ref()
            .is_none_or(|(name, _)| *name != page.name())
        {
            self.picture = Some((page.name(), page.picture()));
        }
        if let Some((_, Some(picture))) = &self.picture {
            picture_ui(ui, picture);
        }
        super::heading_ui(ui, "Ties and limits");
        for edge in page.edges() {
            line_ui(ui, edge);
        }
        match page.subject {
            Subject::Filter(_) => engines_ui(ui, page),
            Subject::Draw(_) => tools_ui(ui, page),
        }
        super::heading_ui(ui, "Source");
        line_ui(ui, page.source());
        let lessons: Vec<&str> = page.lessons().iter().map(|lesson| &*lesson.title).collect();
        if !lessons.is_empty() {
            super::heading_ui(ui, "Lessons that use it");
            line_ui(ui, &lessons.join(", "));
        }
        ui.add_space(16.0);
    }
}

fn title_ui(ui: &mut Ui, words: &str) {
    ui.label(Face::Strong.text(words).color(Theme::of(ui).text_1));
    ui.add_space(2.0);
}

fn sentence_ui(ui: &mut Ui, words: &str) {
    let words = Face::Why.text(words).color(Theme::of(ui).text_2);
    ui.add(Label::new(words).wrap());
    ui.add_space(6.0);
}

fn formula_ui(ui: &mut Ui, words: &str) {
    let words = Face::Code.text(words).color(Theme::of(ui).text_1);
    ui.add(Label::new(words).wrap());
    ui.add_space(6.0);
}

fn line_ui(ui: &mut Ui, words: &str) {
    let words = Face::Body.text(words).color(Theme::of(ui).text_2);
    ui.add(Label::new(words).wrap());
    ui.add_space(3.0);
}

fn advice_ui(ui: &mut Ui, advice: &Advice) {
    title_ui(ui, advice.symptom);
    sentence_ui(ui, advice.cause);
    for remedy in advice.remedies {
        ui.add_space(6.0);
        match (remedy.preset, remedy.settings) {
            (Some(preset), _) => formula_ui(ui, &format!("Presets: {preset}")),
            (None, "") => {}
            (None, settings) => formula_ui(ui, settings),
        }
        line_ui(ui, remedy.words);
    }
    ui.add_space(16.0);
}

/// Draws each candidate's probability before and after, as bars.
fn picture_ui(ui: &mut Ui, picture: &Picture) {
    let theme = Theme::of(ui);
    ui.add_space(8.0);
    let caption = Face::Small
        .text(picture.caption.as_str())
        .color(theme.text_3);
    ui.add(Label::new(caption).wrap());
    ui.add_space(4.0);
    let most = picture
        .bars
        .iter()
        .flat_map(|bar| [bar.before, bar.after.unwrap_or_default()]);
    let most = most.fold(0.0, f64::max);
    for bar in &picture.bars {
        let size = vec2(ui.available_width(), BAR);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let words = bar_words(bar);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &words));
        bar_ui(ui, rect, bar, most);
    }
    ui.add_space(6.0);
}

fn bar_words(bar: &Bar) -> String {
    let before = percent(bar.before);
    let after = bar.after.map_or_else(|| "dropped".to_owned(), percent);
    format!("‘{}’: {before}, then {after}", bar.word)
}

fn bar_ui(ui: &Ui, row: Rect, bar: &Bar, most: f64) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    let middle = row.center().y;
    let text = |left: f32, words: &str, face: Face, color| {
        let at = pos2(left, middle);
        painter.text(at, egui::Align2::LEFT_CENTER, words, face.font(), color);
    };
    let color = if bar.after.is_some() {
        theme.text_1
    } else {
        theme.text_3
    };
    text(row.left(), bar.word, Face::Candidate, color);
    let half = (row.width() - WORD) / 2.0;
    let columns = [
        (Some(bar.before), theme.surface_4, theme.text_3),
        (bar.after, theme.accent, theme.text_1),
    ];
    let mut left = row.left() + WORD;
    for (prob, fill, color) in columns {
        if let Some(prob) = prob {
            let width = (half - NUMBER - 8.0).max(1.0) * (prob / most) as f32;
            let size = vec2(width.max(1.0), BAR - 8.0);
            let rect = Rect::from_min_size(pos2(left, row.top() + 4.0), size);
            painter.rect_filled(rect, 2.0, fill);
            text(rect.right() + 6.0, &percent(prob), Face::Small, color);
        } else {
            text(left, "dropped", Face::Small, theme.text_3);
        }
        left += half;
    }
}

fn engines_ui(ui: &mut Ui, page: Page) {
    super::heading_ui(ui, "Engines");
    let engines = page.engines();
    if engines.is_empty() {
        line_ui(ui, "None of the engines whose order Quartet knows has it.");
        return;
    }
    for engine in engines {
        let name = Face::Medium.text(engine.engine).color(Theme::of(ui).text_1);
        ui.label(name);
        line_ui(ui, &engine_words(&engine));
    }
}

/// Says where and how an engine applies a filter.
fn engine_words(engine: &EngineUse) -> String {
    let EngineUse { place, default, .. } = engine;
    let window = engine.window.as_ref();
    let window = window.map_or_else(String::new, |window| format!(", looks at {window}"));
    let names = match engine.names.as_str() {
        "" => String::new(),
        names => format!(", called {names}"),
    };
    format!(
        "Stage {place}, default {default}{window}{names} (read: {})",
        engine.read_at
    )
}

fn tools_ui(ui: &mut Ui, page: Page) {
    let tools = page.tools();
    if !tools.is_empty() {
        super::heading_ui(ui, "Tools");
        let words = format!(
            "Quartet writes it for {}, and reads it back.",
            tools.join(", ")
        );
        line_ui(ui, &words);
    }
}
