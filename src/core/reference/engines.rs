//! Which engines have a filter, and which tools can express a draw.

use crate::decoding::dialect::Dialect;
use crate::decoding::filters::Window;
use crate::decoding::{ChainConfig, FilterKind, Selector};
use crate::generation::{GenerationConfig, Limits};
use crate::interop::tools::{Tool, export_settings, import_settings};

/// How an engine has a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineUse {
    pub engine: &'static str,
    /// Its place in the engine's order, and how many stages there are: "7 of 12".
    pub place: String,
    /// The value that it has if nothing is set: "0.95", "off".
    pub default: String,
    /// What the engine calls its numbers, if that is known.
    pub names: String,
    /// The part of the text that it looks at, if it looks back.
    pub window: Option<String>,
    /// The version whose source was read.
    pub read_at: &'static str,
}

impl EngineUse {
    pub(super) fn of_filter(kind: FilterKind) -> Vec<Self> {
        let engines = Dialect::ALL.into_iter();
        engines
            .filter_map(|engine| Self::of(engine, kind))
            .collect()
    }

    fn of(engine: Dialect, kind: FilterKind) -> Option<Self> {
        let n_stages = engine.kinds().count();
        // Plain and dynamic temperature share a place, but not every engine has both.
        let is_it = |has: FilterKind| has == kind || has.spec().generalizes == Some(kind);
        let index = engine.kinds().position(is_it)?;
        let default = engine.default_of(kind)?;
        let spec = kind.spec();
        let value = match spec.params.first() {
            _ if default.is_off(engine.rules()) => "off".to_owned(),
            Some(param) => {
                let shown = default.spec().params.first();
                let text = shown.and_then(|param| param.text(&default));
                text.or_else(|| param.text(&default)).unwrap_or_default()
            }
            None => default.to_string(),
        };
        Some(Self {
            engine: engine.name(),
            place: format!("{} of {n_stages}", index + 1),
            default: value,
            names: spec.keys_in(engine).unwrap_or_default().join(", "),
            window: default.window().map(window_words),
            read_at: engine.read_at(),
        })
    }
}

fn window_words(window: Window) -> String {
    match (window.last_n, window.prompt_counted) {
        (Some(n), true) => format!("the last {n} tokens"),
        (Some(n), false) => format!("the last {n} tokens of the answer"),
        (None, true) => "the whole text".to_owned(),
        (None, false) => "the answer, not the prompt".to_owned(),
    }
}

/// Returns the tools whose exported settings read back as this selector.
pub(super) fn tools_with(selector: Selector) -> Vec<&'static str> {
    let config = GenerationConfig {
        chain: ChainConfig {
            selector,
            ..ChainConfig::sampled([])
        },
        seed: GenerationConfig::DEFAULT_SEED,
        limits: Limits::default(),
    };
    let can_say = |tool: &Tool| {
        let exported = export_settings(*tool, &config, None);
        let read = import_settings(&exported.text, None);
        read.is_ok_and(|read| read.chain.selector == selector)
    };
    let tools = Tool::ALL.into_iter().filter(can_say);
    tools.map(Tool::name).collect()
}
