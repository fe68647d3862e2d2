//! The menu of models that a pane can use.

use super::PaneModelStatus;
use crate::generation::{ModelInfo, ModelSource, PaneModel};
use crate::state::{Models, Pane, Panes};

/// The maximum number of recent models in the menu.
const N_RECENT: usize = 6;

/// A model in a pane's menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneModelRow {
    pub name: String,
    /// "`Q8_0`, main model".
    pub facts: String,
    /// The model that the pane uses if this row is chosen; `None` for the main model.
    pub model: Option<PaneModel>,
    pub is_chosen: bool,
}

impl Models {
    /// Returns the models that a pane can use: the main one, those of other panes, the built-in
    /// one, recent ones, and those on servers.
    pub fn pane_rows(&self, pane: &Pane, panes: &Panes) -> Vec<PaneModelRow> {
        let own = self.chosen(&pane.settings);
        let (name, quantization) = self.main_words();
        let mut rows = vec![PaneModelRow {
            name,
            facts: with("main model", &quantization),
            model: None,
            is_chosen: own.is_none(),
        }];
        let of_panes = panes.iter();
        let of_panes = of_panes.filter_map(|pane| self.chosen(&pane.settings)?.local());
        let embedded = [ModelSource::Embedded];
        let recent = self.recent.iter().take(N_RECENT);
        let recent: Vec<ModelSource> = recent
            .map(|recent| ModelSource::Path(recent.path.clone()))
            .collect();
        for source in of_panes.chain(&embedded).chain(&recent) {
            let model = PaneModel::from(source.clone());
            let is_listed = rows.iter().any(|row| row.model.as_ref() == Some(&model));
            if *source == self.source || is_listed {
                continue;
            }
            let (name, quantization) = self.words_of_source(source);
            let note = match self.of_panes.status(source) {
                Some(PaneModelStatus::Ready(_)) => "loaded",
                _ if *source == ModelSource::Embedded => "built in",
                _ => "",
            };
            rows.push(PaneModelRow {
                name,
                facts: with(note, &quantization),
                is_chosen: own == Some(&model),
                model: Some(model),
            });
        }
        rows.extend(self.servers.rows_of_pane(own));
        rows
    }

    /// Returns the short name of a pane's model, with the format of its weights if known:
    /// "Quartet Stories · `Q8_0`".
    pub fn words_of(&self, pane: &Pane) -> String {
        let (name, quantization) = match self.chosen(&pane.settings) {
            None => self.main_words(),
            Some(PaneModel::Local(source)) => self.words_of_source(source),
            Some(PaneModel::Server(served)) => return self.servers.words(served),
        };
        if quantization.is_empty() {
            name
        } else {
            format!("{name} · {quantization}")
        }
    }

    /// Returns the name and the quantization of the main model, which may still be loading.
    fn main_words(&self) -> (String, String) {
        match self.main.in_use() {
            Some(model) => words(&model.info),
            None => self.words_of_source(&self.source),
        }
    }

    /// Returns the name and the quantization of a model that may not be loaded.
    fn words_of_source(&self, source: &ModelSource) -> (String, String) {
        if let Some(model) = self.of_panes.ready(source) {
            return words(&model.info);
        }
        let Some(path) = source.path() else {
            let embedded = self.embedded.as_ref();
            return embedded.map_or_else(|| (source.name(), String::new()), |info| words(info));
        };
        let mut recent = self.recent.iter();
        match recent.find(|recent| recent.path == path) {
            Some(recent) => (recent.name.clone(), recent.quantization.clone()),
            None => (source.name(), String::new()),
        }
    }
}

fn words(info: &ModelInfo) -> (String, String) {
    (info.name.clone(), info.quantization.clone())
}

/// "`Q8_0`, main model"; either may be empty.
fn with(note: &str, quantization: &str) -> String {
    let parts = [quantization, note].into_iter();
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}
