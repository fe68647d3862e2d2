//! Which model wrote the text of a pane, and which one writes its next text.

use crate::decoding::Picked;
use crate::generation::{Generation, GenerationConfig, Implementation, ModelInfo, chain_words};
use crate::state::{Models, Pane};

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

impl Models {
    /// Returns which model wrote the text of a pane, and which writes its next text if that is
    /// another one.
    pub fn authorship(&self, pane: &Pane) -> Authorship {
        let next = self.of(pane).map(|model| &*model.info);
        let text = pane.latest();
        let writer = text.map(|text| Writer::of(text, next));
        let is_same = match (text, next) {
            (Some(text), Some(next)) => {
                let by_server = |text: &Generation| {
                    let mut steps = text.steps.iter();
                    steps.any(|step| step.trace.draw.picked == Picked::ByServer)
                };
                let served = self.chosen(&pane.settings);
                let served = served.and_then(|model| model.served());
                let is_same_way = text.steps.is_empty()
                    || served.is_none_or(|served| served.own_sampler == by_server(text));
                writes_as(&text.model, next) && is_same_way
            }
            (Some(text), None) => self.is_by_chosen_source(pane, text),
            (None, _) => false,
        };
        let next = (!is_same).then(|| self.words_of(pane));
        Authorship { writer, next }
    }

    /// Returns whether a text is by the model that the pane chose but that is not loaded, as far as
    /// its name tells.
    fn is_by_chosen_source(&self, pane: &Pane, text: &Generation) -> bool {
        let name = self.words_of(pane);
        let writer = Writer::of(text, None);
        name == writer.words() || name == writer.name || self.is_embedded(pane, &text.model)
    }

    fn is_embedded(&self, pane: &Pane, model: &ModelInfo) -> bool {
        let source = match self.chosen(&pane.settings) {
            Some(own) => own.local(),
            None => Some(&self.source),
        };
        source.is_some_and(|source| source.path().is_none()) && model.file == "embedded"
    }
}

/// Returns the settings that wrote a pane's text, if its next text will have others: "The text on
/// screen was written with T 0.7 › top-p 0.9, seed 42".
pub(in crate::state) fn written_with_words(
    text: &Generation,
    next: &GenerationConfig,
) -> Option<String> {
    let is_same = text.config.chain == next.chain && text.config.seed == next.seed;
    let settings = chain_words(&text.config.chain, text.config.seed);
    (!is_same && !text.is_scored() && !text.steps.is_empty())
        .then(|| format!("The text on screen was written with {settings}"))
}

/// Returns the model that wrote all of these texts, as "Quartet Stories · `Q8_0`"; `None` if they
/// are by several models.
pub(in crate::state) fn common_writer_words<'a>(
    texts: impl IntoIterator<Item = &'a Generation>,
) -> Option<String> {
    let mut texts = texts.into_iter();
    let first = texts.next()?;
    let is_same = |text: &Generation| writes_as(&text.model, &first.model);
    texts.all(is_same).then(|| Writer::of(first, None).words())
}
