//! The settings that every pane has: what each is called, where the editor has it, and its value in
//! a pane.

use crate::decoding::{
    Against, ChainConfig, Drafts, FilterKind, GrammarKind, Guidance, Selector, SelectorSpec,
};

/// A setting that every pane has, on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaneSetting {
    Filter(FilterKind),
    /// The selector at this index of [`Selector::SPECS`].
    Draw(usize),
    /// The seed of the coins.
    Seed,
    /// The guidance at this index of [`Against::SPECS`].
    Guidance(usize),
    Grammar(GrammarKind),
    /// The drafts at this index of [`Drafts::USUAL`].
    Drafts(usize),
}

/// The value of a setting that a pane does not use.
const OFF: &str = "off";

impl PaneSetting {
    /// Returns all settings, the common ones first.
    pub fn all() -> Vec<Self> {
        let filters = FilterKind::by_usage().into_iter().map(Self::Filter);
        let draws = (0..Selector::SPECS.len()).map(Self::Draw);
        let guidance = (0..Against::SPECS.len()).map(Self::Guidance);
        let grammars = GrammarKind::ALL.into_iter().map(Self::Grammar);
        let drafts = (0..Drafts::USUAL.len()).map(Self::Drafts);
        filters
            .chain(draws)
            .chain([Self::Seed])
            .chain(guidance)
            .chain(grammars)
            .chain(drafts)
            .collect()
    }

    /// Returns its name.
    pub fn name(self) -> String {
        match self {
            Self::Filter(kind) => kind.spec().name.to_owned(),
            Self::Draw(index) => draw(index).map_or("", |spec| spec.name).to_owned(),
            Self::Seed => "Seed".to_owned(),
            Self::Guidance(index) => {
                let spec = Against::SPECS.get(index);
                format!("Guidance: {}", lower(spec.map_or("", |spec| spec.name)))
            }
            Self::Grammar(
                kind @ (GrammarKind::Json | GrammarKind::Regex | GrammarKind::Choices),
            ) => {
                format!("Grammar: {}", lower(kind.name()))
            }
            Self::Grammar(kind) => format!("Grammar: {}", kind.name()),
            Self::Drafts(index) => {
                let drafts = Drafts::USUAL.get(index);
                format!("Drafts: {}", lower(drafts.map_or("", Drafts::name)))
            }
        }
    }

    /// Returns where the window has it.
    pub const fn place(self) -> &'static str {
        match self {
            Self::Filter(_) | Self::Seed => "How a pane chooses",
            Self::Draw(_) => "How a pane chooses, Draw",
            Self::Guidance(_) | Self::Grammar(_) | Self::Drafts(_) => "More ways to write",
        }
    }

    /// Returns the accessible name of the editor’s control that changes it or adds it.
    pub fn control(self) -> &'static str {
        match self {
            Self::Filter(kind) => kind.spec().name,
            Self::Draw(_) => "Draw",
            Self::Seed => "Seed",
            Self::Guidance(_) => "Guidance",
            Self::Grammar(_) => "Grammar",
            Self::Drafts(_) => "Drafts",
        }
    }

    /// Returns what else it is called: in `--pane` descriptions and in other tools.
    pub(super) fn synonyms(self) -> Vec<&'static str> {
        match self {
            Self::Filter(kind) => {
                let spec = kind.spec();
                let tools = spec.tool_keys.iter().flat_map(|(_, keys)| *keys);
                spec.keys.iter().chain(tools).copied().collect()
            }
            Self::Draw(index) => draw(index).map_or_else(Vec::new, |spec| spec.keys.to_vec()),
            Self::Seed => vec!["coins", "random"],
            Self::Guidance(_) => vec!["classifier-free", "CFG", "contrastive"],
            Self::Grammar(_) => vec!["structured", "constrained", "format"],
            Self::Drafts(_) => vec!["speculative"],
        }
    }

    /// Returns its value in a pane with this chain and seed: "0.9", "muted", "off".
    pub fn value(self, chain: &ChainConfig, seed: u64) -> String {
        match self {
            Self::Filter(kind) => filter_value(kind, chain),
            Self::Draw(index) => {
                let spec = draw(index).filter(|spec| spec.name == chain.selector.name());
                spec.map_or_else(
                    || OFF.to_owned(),
                    |spec| first_number(spec.params.first().and_then(|p| p.text(&chain.selector))),
                )
            }
            Self::Seed => seed.to_string(),
            Self::Guidance(index) => {
                let name = |guidance: &&Guidance| {
                    let spec = Against::SPECS.get(index);
                    spec.is_some_and(|spec| spec.name == guidance.against.spec().name)
                };
                let guidance = chain.guidance.as_ref().filter(name);
                guidance.map_or_else(|| OFF.to_owned(), Guidance::strength)
            }
            Self::Grammar(kind) => {
                let is_on = chain
                    .grammar
                    .as_ref()
                    .is_some_and(|rule| rule.kind() == kind);
                if is_on { "on" } else { OFF }.to_owned()
            }
            Self::Drafts(index) => {
                let usual = Drafts::USUAL.get(index).map(Drafts::name);
                let is_on =
                    chain.drafts.is_some() && chain.drafts.as_ref().map(Drafts::name) == usual;
                if is_on { "on" } else { OFF }.to_owned()
            }
        }
    }
}

fn draw(index: usize) -> Option<&'static SelectorSpec> {
    Selector::SPECS.get(index).copied()
}

fn filter_value(kind: FilterKind, chain: &ChainConfig) -> String {
    let mut stages = chain.stages.iter();
    match stages.find(|stage| stage.filter.kind() == kind) {
        // Every pane has a temperature. Without the stage it is 1, and greedy decoding ignores it.
        None if kind == FilterKind::Temperature => {
            if chain.is_greedy() { "–" } else { "1" }.to_owned()
        }
        None => OFF.to_owned(),
        Some(stage) if !stage.enabled => "muted".to_owned(),
        Some(stage) => {
            let param = kind.spec().params.first();
            first_number(param.and_then(|param| param.text(&stage.filter)))
        }
    }
}

/// Returns the main number of a setting, or "on" if it has none.
fn first_number(number: Option<String>) -> String {
    number.unwrap_or_else(|| "on".to_owned())
}

/// Returns a name as it stands inside a phrase.
fn lower(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::PaneSetting;
    use crate::decoding::FilterKind;
    use crate::state::tests::ready;

    #[test]
    fn every_setting_has_its_own_name() {
        let names: Vec<String> = PaneSetting::all()
            .into_iter()
            .map(PaneSetting::name)
            .collect();
        let unique: BTreeSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{names:?}");
        for name in [
            "Temperature",
            "Min-p",
            "Beam search",
            "Grammar: any JSON",
            "Grammar: JSON Schema",
            "Guidance: second prompt",
            "Drafts: prompt lookup",
        ] {
            assert!(names.iter().any(|other| other == name), "{name}: {names:?}");
        }
    }

    #[test]
    fn values_are_those_of_the_panes() {
        let state = ready();
        let values = |setting: PaneSetting| -> Vec<String> {
            let panes = state.panes.iter();
            let value = panes.map(|pane| setting.value(&pane.settings.chain, state.seed_of(pane)));
            value.collect()
        };
        // Greedy, pure sampling, top-k 40, and temperature 0.7 with top-p 0.9.
        let temperature = PaneSetting::Filter(FilterKind::Temperature);
        assert_eq!(values(temperature), ["–", "1", "1", "0.7"]);
        let top_k = PaneSetting::Filter(FilterKind::TopK);
        assert_eq!(values(top_k), ["off", "off", "40", "off"]);
        // The first draw is a plain sample.
        assert_eq!(values(PaneSetting::Draw(0)), ["off", "on", "on", "on"]);
        assert_eq!(values(PaneSetting::Seed), ["42"; 4]);
    }
}
