//! Which model wrote the text of a pane, and which one writes its next text.

use crate::decoding::Picked;
use crate::generation::{Generation, Implementation, ModelInfo, chain_words};
use crate::state::{AppState, Pane};

/// The models of a pane, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authorship {
    /// The model that wrote the text on screen, or `None` if there is none.
    pub writer: Option<Writer>,
    /// The model that writes the next text, "Quartet Stories · `Q8_0`", if it is another one. An
    /// opened run has none.
    pub next: Option<String>,
}

/// The model that wrote a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// The display name.
    pub name: String,
    /// Its quantization, the server that ran it and, if the next text differs only in that, the
    /// device with its number formats: "`Q8_0` · llama-server b1234". May be empty.
    pub details: String,
}

impl Writer {
    fn of(text: &Generation, next: Option<&ModelInfo>) -> Self {
        let model = &*text.model;
        let is_served = model.implementation == Implementation::Server;
        let on_other_device =
            next.is_some_and(|next| model.has_weights_of(next) && model.device != next.device);
        let by_server = text.steps.first().is_some_and(|step| {
            let picked = step.trace.draw.picked;
            picked == Picked::ByServer
        });
        let details = [
            model.quantization.as_str(),
            if is_served || on_other_device {
                &model.device
            } else {
                ""
            },
            if by_server { "its own sampler" } else { "" },
        ];
        let details = details.into_iter().filter(|detail| !detail.is_empty());
        Self {
            name: model.name.clone(),
            details: details.collect::<Vec<_>>().join(" · "),
        }
    }

    /// Returns everything in one line: "Quartet Stories · `Q8_0`".
    pub fn words(&self) -> String {
        let parts = [self.name.as_str(), &self.details].into_iter();
        let parts = parts.filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(" · ")
    }
}

/// Returns whether a text by one model could be by the other: the same weights, computed in the same
/// number formats.
fn writes_as(one: &ModelInfo, other: &ModelInfo) -> bool {
    one.has_weights_of(other) && one.device == other.device
}

impl AppState {
    /// Returns which model wrote the text of a pane, and which writes its next text if that is
    /// another one.
    pub fn authorship(&self, pane: &Pane) -> Authorship {
        let next = self.model_of(pane).map(|model| &*model.info);
        let text = pane.generation();
        let writer = text.map(|text| Writer::of(text, next));
        let is_same = match (text, next) {
            (Some(text), Some(next)) => {
                let by_server = |text: &Generation| {
                    let mut steps = text.steps.iter();
                    steps.any(|step| step.trace.draw.picked == Picked::ByServer)
                };
                let served = self.chosen_model(&pane.settings);
                let served = served.and_then(|model| model.served());
                let is_same_way = text.steps.is_empty()
                    || served.is_none_or(|served| served.own_sampler == by_server(text));
                writes_as(&text.model, next) && is_same_way
            }
            (Some(text), None) => self.is_by_chosen_source(pane, text),
            (None, _) => false,
        };
        let next = (self.opened.is_none() && !is_same).then(|| self.pane_model_words(pane));
        Authorship { writer, next }
    }

    /// Returns the settings that wrote a pane's text, if its next text will have others: "The text on
    /// screen was written with T 0.7 › top-p 0.9, seed 42".
    pub fn written_with_words(&self, pane: &Pane) -> Option<String> {
        let text = pane.generation().filter(|text| !text.is_scored())?;
        let now = self.config_of(pane);
        let is_same = text.config.chain == now.chain && text.config.seed == now.seed;
        let settings = chain_words(&text.config.chain, text.config.seed);
        (!is_same && !text.steps.is_empty())
            .then(|| format!("The text on screen was written with {settings}"))
    }

    /// Returns whether a text is by the model that the pane chose but that is not loaded, as far as
    /// its name tells.
    fn is_by_chosen_source(&self, pane: &Pane, text: &Generation) -> bool {
        let name = self.pane_model_words(pane);
        let writer = Writer::of(text, None);
        name == writer.words() || name == writer.name || self.is_embedded(pane, &text.model)
    }

    fn is_embedded(&self, pane: &Pane, model: &ModelInfo) -> bool {
        let source = match self.chosen_model(&pane.settings) {
            Some(own) => own.local(),
            None => Some(&self.model_source),
        };
        source.is_some_and(|source| source.path().is_none()) && model.file == "embedded"
    }

    /// Returns whether each pane must name its model: panes use several, or a text on screen is not
    /// by the model that the top bar names. The bar of an opened run names the model of its texts if
    /// it is the same for all.
    pub fn panes_name_models(&self) -> bool {
        if self.opened.is_some() {
            return self.opened_model_words().is_none();
        }
        let is_by_another =
            |pane: &Pane| pane.generation().is_some() && self.authorship(pane).next.is_some();
        self.uses_several_models() || self.panes.iter().any(is_by_another)
    }

    /// Returns the model that wrote all texts of the opened run, as "Quartet Stories · `Q8_0`"; `None` if
    /// they are by several models, or if no run is opened.
    pub fn opened_model_words(&self) -> Option<String> {
        self.opened.as_ref()?;
        let mut texts = self.panes.iter().filter_map(Pane::generation);
        let first = texts.next()?;
        let is_same = |text: &Generation| writes_as(&text.model, &first.model);
        texts.all(is_same).then(|| Writer::of(first, None).words())
    }
}
