//! Texts that the embedded model generates with random settings.

use std::sync::Arc;
use std::time::Duration;

use quartet::generation::{
    Continuation, Generation, GenerationConfig, GenerationId, Limits, Lineage, ModelInfo,
    PaneSettings, PromptRecord, Steps, Vocabulary,
};
use quartet::worker::{Event, ModelSource, PaneRequest, Progress, Request, Worker};

/// Far longer than any response takes.
const TIMEOUT: Duration = Duration::from_mins(2);

const PROMPTS: [&str; 3] = [
    "Once upon a time there was a little fox who",
    "The rain",
    "\"Why?\" asked the bear. \"",
];

/// An engine thread with the embedded model.
pub(crate) struct Engine {
    worker: Worker,
    info: Arc<ModelInfo>,
    vocabulary: Arc<Vocabulary>,
}

impl Engine {
    pub(crate) fn start() -> Self {
        let mut worker = Worker::start(|| {});
        worker.send(Request::LoadModel(ModelSource::Embedded));
        loop {
            match worker.wait_at_most(TIMEOUT).unwrap().unwrap() {
                Event::ModelLoaded {
                    info, vocabulary, ..
                } => {
                    return Self {
                        worker,
                        info,
                        vocabulary,
                    };
                }
                Event::ModelFailed { error } => panic!("{error}"),
                _ => {}
            }
        }
    }

    /// Sends requests and collects their texts. A pane's id is its index in `configs`.
    pub(crate) fn run(
        &mut self,
        requests: Vec<Request>,
        configs: Vec<GenerationConfig>,
    ) -> Vec<Generation> {
        let mut texts: Vec<Generation> = configs
            .into_iter()
            .map(|config| Generation {
                name: PaneSettings::from(config.chain.clone()).name,
                config,
                earlier: Vec::new(),
                contradiction: None,
                model: self.info.clone(),
                second_model: None,
                vocabulary: self.vocabulary.clone(),
                prompt: Arc::new(PromptRecord::default()),
                steps: Steps::default(),
                finish: None,
                grammar_complete: None,
                lineage: Lineage::default(),
                beams: Arc::default(),
                previous_turn: None,
                not_applied: Vec::new(),
            })
            .collect();
        for request in requests {
            self.worker.send(request);
        }
        while texts.iter().any(|text| text.finish.is_none()) {
            let Event::Progress(progress) = self.worker.wait_at_most(TIMEOUT).unwrap().unwrap()
            else {
                continue;
            };
            match progress {
                Progress::Started { ids, prompt } => {
                    for id in ids {
                        texts[id.0 as usize].prompt = prompt.clone();
                    }
                }
                Progress::Stepped { id, step } => texts[id.0 as usize].steps.push(*step),
                Progress::Finished { id, reason } => {
                    texts[id.0 as usize].end(reason);
                }
                Progress::Prefilling { .. } | Progress::Compared { .. } => {}
            }
        }
        texts
    }
}

/// Generates texts with random settings of all kinds.
pub(crate) fn random_runs(
    n_texts: usize,
    n_tokens: usize,
    n_detail_bytes: usize,
) -> Vec<Generation> {
    let configs: Vec<GenerationConfig> = (0..n_texts as u64)
        .map(|number| config(number, n_tokens))
        .collect();
    let mut panes: [Vec<PaneRequest>; 3] = Default::default();
    for (id, config) in (0..).zip(&configs) {
        panes[id as usize % PROMPTS.len()].push(PaneRequest {
            id: GenerationId(id),
            config: config.clone(),
            model: None,
            continuation: Continuation::default(),
        });
    }
    let requests = panes.into_iter().zip(PROMPTS);
    let requests = requests.map(|(panes, prompt)| Request::Generate {
        prompt: prompt.into(),
        panes,
        n_detail_bytes,
    });
    Engine::start().run(requests.collect(), configs)
}

/// Derives settings from a number: up to three of these stages in random order, one of these
/// selectors, one of these writers, and a seed.
fn config(number: u64, n_tokens: usize) -> GenerationConfig {
    const STAGES: [&str; 14] = [
        "temp 0.7",
        "temp 1.6",
        "top-k 40",
        "top-k 5",
        "top-p 0.9",
        "min-p 0.05",
        "typical-p 0.8",
        "repeat 1.3",
        "dry 0.8",
        "xtc 0.5 threshold 0.1",
        "bias 300 4 301 -2",
        "top-a 0.2",
        "tfs 0.9",
        "top-n-sigma 1",
    ];
    const SELECTORS: [&str; 5] = ["sample", "greedy", "mirostat 5", "gumbel", "sample"];
    const WRITERS: [&str; 7] = [
        "",
        "",
        "guide 1.5 against \"A sad story:\"",
        "guide 2 cutoff 0.1",
        "drafts 4 ngram 2",
        "drafts 3 layers 1",
        "drafts 4 layers 2 ratio",
    ];
    let mut state = number;
    let mut random = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut parts: Vec<&str> = (0..random(4))
        .map(|_| STAGES[random(STAGES.len())])
        .collect();
    let selector = SELECTORS[random(SELECTORS.len())];
    parts.push(selector);
    let writer = WRITERS[random(WRITERS.len())];
    if !(selector.starts_with("mirostat") && writer.ends_with("ratio")) {
        parts.extend(Some(writer).filter(|writer| !writer.is_empty()));
    }
    let settings: PaneSettings = parts.join(", ").parse().unwrap();
    GenerationConfig {
        chain: settings.chain,
        seed: number,
        limits: Limits {
            max_new_tokens: n_tokens,
            ..Limits::default()
        },
    }
}
