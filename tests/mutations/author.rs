//! A scripted model that writes runs of every kind, and writes them again.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use quartet::analysis::replay::replay_of;
use quartet::decoding::TokenId;
use quartet::engine::{ChatTemplate, LoadedModel, Prompt, Recorder, Session};
use quartet::generation::{
    Continuation, Generation, GenerationConfig, GenerationId, Limits, PaneSettings, PromptRecord,
    PromptText, Provenance, TextModels,
};

use crate::scripted::{END, N_VOCAB, ScriptedLm};

const TEMPLATE: &str =
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}\n{% endfor %}<answer>";

/// A session with a scripted model, and with a second one that drafts and guides.
pub(crate) struct Author {
    pub session: Session,
}

/// The logits of a model that repeats the letters of the text, likes some letters more than others,
/// and sometimes ends.
fn logits(tokens: &[TokenId], salt: u64) -> Vec<f32> {
    let hash = tokens.iter().rev().take(3).fold(salt, |hash, token| {
        (hash ^ u64::from(token.0))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29)
    });
    let noise = |token: u64| {
        let z = (hash ^ token).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z >> 40) as f32 / (1_u64 << 24) as f32
    };
    let mut row: Vec<f32> = (0..N_VOCAB as u64)
        .map(|token| 3.0 * noise(token))
        .collect();
    for (token, logit) in row.iter_mut().enumerate() {
        let is_letter =
            u8::try_from(token).is_ok_and(|byte| byte.is_ascii_lowercase() || byte == b' ');
        *logit += if is_letter { 4.0 } else { 0.0 };
    }
    if let Some(logit) = row.get_mut(END.index()) {
        *logit = -4.0;
    }
    row
}

/// Returns a model whose logits depend on the salt.
pub(crate) fn model(name: &str, salt: u64) -> LoadedModel {
    let lm = ScriptedLm::new(256, move |tokens| logits(tokens, salt));
    let mut model = lm.into_loaded().unwrap();
    let info = Arc::make_mut(&mut model.info);
    name.clone_into(&mut info.name);
    info.sha256 = format!("{salt:064x}");
    "F32".clone_into(&mut info.quantization);
    info.formats = vec!["F32".to_owned()];
    info.n_threads = NonZeroUsize::new(2);
    info.file = format!("{name}.gguf");
    info.n_params = 1000 + salt;
    info.provenance = Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        system: "linux x86_64".to_owned(),
        instructions: "portable".to_owned(),
        precision: "f32".to_owned(),
        cache: "f32".to_owned(),
        tokenizer_sha256: "ab".repeat(32),
        template_sha256: "cd".repeat(32),
        end_tokens: model.end_tokens.clone(),
    };
    let special = BTreeMap::new();
    model.chat = Some(ChatTemplate::parse(TEMPLATE, special));
    model
}

/// Returns a pane's settings with a limit of tokens.
pub(crate) fn config(settings: &str, seed: u64, n_tokens: usize) -> GenerationConfig {
    let settings: PaneSettings = settings.parse().unwrap();
    GenerationConfig {
        chain: settings.chain,
        seed,
        limits: Limits {
            max_new_tokens: n_tokens,
            ..Limits::default()
        },
    }
}

impl Author {
    pub(crate) fn new(name: &str, salt: u64) -> Self {
        let mut session = Session::new(model(name, salt));
        session.set_second(Some(model("Second", salt + 1))).unwrap();
        Self { session }
    }

    /// Writes a text for each of these settings.
    pub(crate) fn write(
        &mut self,
        prompt: impl Into<PromptText>,
        configs: &[GenerationConfig],
    ) -> Vec<Generation> {
        let prompt = self.session.prompt(prompt.into()).unwrap();
        let panes = configs
            .iter()
            .map(|config| (config.clone(), Continuation::default()));
        let panes: Vec<_> = panes.collect();
        let texts = panes.iter().map(|(config, _)| self.empty(config)).collect();
        self.run(prompt, panes, texts)
    }

    /// Continues a text.
    pub(crate) fn go_on(&mut self, text: &Generation, continuation: Continuation) -> Generation {
        let prompt = prompt_of(&text.prompt);
        let panes = vec![(text.config.clone(), continuation)];
        self.run(prompt, panes, vec![text.clone()]).remove(0)
    }

    /// Scores a text.
    pub(crate) fn score(&mut self, text: &str, config: &GenerationConfig) -> Generation {
        let prompt = self.session.text(text, None).unwrap();
        self.score_prompt(prompt, config)
    }

    fn score_prompt(&mut self, prompt: Prompt, config: &GenerationConfig) -> Generation {
        let panes = [(GenerationId(0), config.clone())];
        let texts = vec![self.empty(config)];
        self.session.score(prompt, panes, Instant::now());
        self.collect(texts).remove(0)
    }

    /// Writes a recorded text again, as `quartet replay` does.
    pub(crate) fn replay(&mut self, text: &Generation) -> Generation {
        let prompt = prompt_of(&text.prompt);
        let continuation = replay_of(text);
        let checked = self.session.check_continuation(&prompt, &continuation);
        let checked = checked.and_then(|()| self.session.check_config(&prompt, &text.config));
        let mut now = Generation {
            lineage: text.lineage,
            ..self.empty(&text.config)
        };
        if let Err(error) = checked {
            now.finish = Some(quartet::generation::FinishReason::failed(error));
            return now;
        }
        let panes = vec![(text.config.clone(), continuation)];
        self.run(prompt, panes, vec![now]).remove(0)
    }

    /// Returns the record of a text before its first token.
    fn empty(&self, config: &GenerationConfig) -> Generation {
        let model = self.session.model();
        let needs_second = config.chain.needs_second_model();
        let second = model.second().map(|second| Arc::clone(&second.info));
        Generation {
            model: Arc::clone(&model.info),
            second_model: second.filter(|_| needs_second),
            vocabulary: Arc::clone(&model.vocabulary),
            ..empty(config)
        }
    }

    fn run(
        &mut self,
        prompt: Prompt,
        panes: Vec<(GenerationConfig, Continuation)>,
        texts: Vec<Generation>,
    ) -> Vec<Generation> {
        let panes = (0..).map(GenerationId).zip(panes);
        let panes = panes.map(|(id, (config, continuation))| (id, config, continuation));
        self.session.generate_from(prompt, panes, Instant::now());
        self.collect(texts)
    }

    fn collect(&mut self, texts: Vec<Generation>) -> Vec<Generation> {
        let numbered = (0..).map(GenerationId).zip(texts);
        let mut recorders: Vec<Recorder> =
            numbered.map(|(id, text)| Recorder { id, text }).collect();
        while self.session.is_busy() {
            let mut progress = Vec::new();
            self.session.advance(&mut progress);
            for progress in progress {
                for recorder in &mut recorders {
                    recorder.note(&progress);
                }
            }
        }
        recorders
            .into_iter()
            .map(|recorder| recorder.text)
            .collect()
    }
}

/// Returns the record of a text of no model.
pub(crate) fn empty(config: &GenerationConfig) -> Generation {
    let name = PaneSettings::from(config.chain.clone()).name;
    Generation::begin(name, config.clone(), Arc::default(), TextModels::default())
}

/// Returns the prompt of a recorded text.
pub(crate) fn prompt_of(record: &PromptRecord) -> Prompt {
    Prompt {
        text: record.text.clone(),
        chat: record.chat.clone(),
        tokens: record.tokens.clone(),
    }
}
