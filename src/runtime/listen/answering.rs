//! The open requests: which wait, which are being written, and what their programs get.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::asked::{Asked, NotSent, Reply, ReplySender};
use super::client::Client;
use super::earlier::EarlierRequests;
use super::limits::MAX_WRITING_TEXTS;
use super::served::ServedModel;
use crate::generation::{
    Continuation, FinishReason, Generation, GenerationConfig, GenerationId, PaneSettings,
    PromptRecord, TextModels,
};
use crate::interop::api::{
    AnswerForm, AnswerStream, ApiError, ApiModel, EarlierRequest, RecordedRequest, RequestPrompt,
    Usage,
};
use crate::worker::{PaneRequest, Progress, Recorder, Request};

/// A request that is no longer open.
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredRequest {
    pub client: Client,
    /// The prompt, or the last message. Empty if the request could not be read.
    pub asked: String,
    /// Settings of the request that have no effect, one sentence each.
    pub notes: Vec<String>,
    pub outcome: Outcome,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was refused before anything was written.
    Refused(ApiError),
    /// The program left before it was its turn.
    LeftWaiting,
    /// Texts were written, completely or not.
    Written {
        texts: Vec<Generation>,
        request: RecordedRequest,
    },
}

impl AnsweredRequest {
    /// A request for which nothing was written.
    fn unwritten(asked: Asked, outcome: Outcome) -> Self {
        Self {
            asked: words(&asked),
            client: asked.client,
            notes: asked.request.notes,
            outcome,
        }
    }
}

/// A request that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRequest {
    pub client: Client,
    /// The prompt, or the last message.
    pub asked: String,
    /// How many tokens its prompt has, were reused, and were written so far. `None` while it waits.
    pub usage: Option<Usage>,
    /// As in the record.
    pub earlier: Option<EarlierRequest>,
}

/// All open requests.
#[derive(Default)]
pub(super) struct Answers {
    waiting: VecDeque<Asked>,
    writing: Vec<Answering>,
    done: Vec<AnsweredRequest>,
    earlier: EarlierRequests,
}

impl Answers {
    /// Returns whether no request is open.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.writing.is_empty()
    }

    /// Lets a request wait for its turn.
    pub(super) fn push(&mut self, asked: Asked) {
        self.waiting.push_back(asked);
    }

    /// Lists a request that was refused before it got here.
    pub(super) fn list(&mut self, refused: AnsweredRequest) {
        self.done.push(refused);
    }

    /// Returns what the worker must do: write the texts of requests whose turn it is, and stop those
    /// whose programs have left.
    pub(super) fn requests(
        &mut self,
        model: &ServedModel,
        new_id: &mut dyn FnMut() -> GenerationId,
    ) -> Vec<Request> {
        for asked in std::mem::take(&mut self.waiting) {
            if asked.reply.is_abandoned() {
                let left = AnsweredRequest::unwritten(asked, Outcome::LeftWaiting);
                self.done.push(left);
            } else if model.is(&asked.model) {
                self.waiting.push_back(asked);
            } else {
                let replaced = "The model was replaced before the request’s turn";
                self.refuse(asked, &ApiError::refused(503, replaced));
            }
        }
        let stopped = self.writing.iter_mut().flat_map(Answering::take_stopped);
        let mut requests: Vec<Request> = stopped.map(Request::Stop).collect();
        while let Some(asked) = self.waiting.pop_front_if(|asked| {
            let n_writing: usize = self.writing.iter().map(|one| one.texts.len()).sum();
            n_writing + asked.request.n_texts <= MAX_WRITING_TEXTS
        }) {
            let (answering, request) = Answering::begin(asked, new_id);
            self.writing.push(answering);
            requests.push(request);
        }
        requests
    }

    /// Passes on what the worker reports. Returns whether it is about one of these requests.
    pub(super) fn note(&mut self, progress: &Progress) -> bool {
        let Some(index) = (self.writing.iter_mut()).position(|one| one.note(progress)) else {
            return false;
        };
        if let Some(one) = self.writing.get_mut(index) {
            if matches!(progress, Progress::Started { .. }) {
                one.compare(&mut self.earlier);
            }
            if one.is_done() {
                let done = self.writing.remove(index).into_answered(&mut self.earlier);
                self.done.push(done);
            }
        }
        true
    }

    /// Refuses the requests that wait.
    pub(super) fn refuse_waiting(&mut self, error: &ApiError) {
        for asked in std::mem::take(&mut self.waiting) {
            self.refuse(asked, error);
        }
    }

    fn refuse(&mut self, asked: Asked, error: &ApiError) {
        // A program that has left needs no answer.
        asked.reply.send(Reply::Whole(Err(error.clone()))).ok();
        let outcome = Outcome::Refused(error.clone());
        self.done.push(AnsweredRequest::unwritten(asked, outcome));
    }

    /// Returns the texts that are being written.
    pub(super) fn unfinished(&self) -> Vec<GenerationId> {
        (self.writing.iter().flat_map(Answering::unfinished)).collect()
    }

    /// Returns the open requests in the order in which they arrived.
    pub(super) fn open_requests(&self) -> Vec<OpenRequest> {
        let writing = self.writing.iter().map(Answering::listed);
        let waiting = self.waiting.iter().map(|asked| OpenRequest {
            client: asked.client.clone(),
            asked: words(asked),
            usage: None,
            earlier: None,
        });
        writing.chain(waiting).collect()
    }

    /// Compares later prompts only with each other.
    pub(super) fn forget_earlier(&mut self) {
        self.earlier.clear();
    }

    /// Ends all open requests, because the worker is gone.
    pub(super) fn fail(&mut self, error: &str) {
        self.refuse_waiting(&ApiError::failed(error));
        for id in self.unfinished() {
            self.note(&Progress::failed(id, error));
        }
    }

    /// Returns the requests that are no longer open.
    pub(super) fn take_done(&mut self) -> Vec<AnsweredRequest> {
        std::mem::take(&mut self.done)
    }
}

/// A request whose texts are being written.
struct Answering {
    client: Client,
    asked: String,
    notes: Vec<String>,
    fields: Map<String, Value>,
    earlier: Option<EarlierRequest>,
    form: AnswerForm,
    reply: ReplySender,
    texts: Vec<WrittenText>,
    /// Whether the engine has accepted the request.
    is_accepted: bool,
    /// Whether the prompt was read, so that a stream has begun.
    has_begun: bool,
    /// Why nothing more is sent, if so.
    not_sent: Option<NotSent>,
    /// Whether the worker was asked to stop the texts that nobody waits for.
    is_stopped: bool,
}

struct WrittenText {
    recorder: Recorder,
    /// `None` once the text is finished.
    stream: Option<AnswerStream>,
}

impl WrittenText {
    const fn is_finished(&self) -> bool {
        self.recorder.text.finish.is_some()
    }
}

impl Answering {
    /// Returns the request with its records before their first tokens, and what the worker must do.
    fn begin(asked: Asked, new_id: &mut dyn FnMut() -> GenerationId) -> (Self, Request) {
        let words = words(&asked);
        let Asked {
            client,
            request,
            model,
            reply,
        } = asked;
        let form = AnswerForm::new(&request, model.id(), client.asked_at, client.number);
        let first_seed = request.seed.unwrap_or_else(random_seed);
        let configs = (0..request.n_texts as u64).map(|index| GenerationConfig {
            chain: request.chain.clone(),
            seed: first_seed.wrapping_add(index),
            limits: request.limits.clone(),
        });
        let panes: Vec<PaneRequest> = configs
            .map(|config| PaneRequest {
                id: new_id(),
                config,
                model: None,
                continuation: Continuation::default(),
            })
            .collect();
        let prompt = Arc::new(prompt_record(&request.prompt, &model));
        let stops = &request.limits.stop_strings;
        let text = |(index, pane): (usize, &PaneRequest)| WrittenText {
            stream: Some(AnswerStream::new(&form, index, stops)),
            recorder: Recorder {
                id: pane.id,
                text: new_text(pane.config.clone(), &prompt, &model),
            },
        };
        let texts = panes.iter().enumerate().map(text).collect();
        let answering = Self {
            client,
            asked: words,
            notes: request.notes,
            fields: request.fields,
            earlier: None,
            form,
            reply,
            texts,
            is_accepted: false,
            has_begun: false,
            not_sent: None,
            is_stopped: false,
        };
        let request = match request.prompt {
            RequestPrompt::Text(prompt) => Request::Generate {
                prompt,
                panes,
                // Files keep only the head of each distribution.
                n_detail_bytes: 0,
            },
            RequestPrompt::Tokens(_) => Request::Continue { prompt, panes },
        };
        (answering, request)
    }

    fn is_done(&self) -> bool {
        self.texts.iter().all(WrittenText::is_finished)
    }

    /// Returns the texts that must be stopped, once.
    fn take_stopped(&mut self) -> Vec<GenerationId> {
        if self.not_sent.is_none() && self.reply.is_abandoned() {
            self.not_sent = Some(NotSent::ClientLeft);
        }
        if self.not_sent.is_none() || self.is_stopped {
            return Vec::new();
        }
        self.is_stopped = true;
        self.unfinished().collect()
    }

    fn unfinished(&self) -> impl Iterator<Item = GenerationId> {
        let texts = self.texts.iter().filter(|text| !text.is_finished());
        texts.map(|text| text.recorder.id)
    }

    fn listed(&self) -> OpenRequest {
        let texts: Vec<&Generation> = self.texts.iter().map(|text| &text.recorder.text).collect();
        OpenRequest {
            client: self.client.clone(),
            asked: self.asked.clone(),
            usage: Some(Usage::of(&texts)),
            earlier: self.earlier.clone(),
        }
    }

    /// Compares the prompt, which was just read, with those of earlier requests.
    fn compare(&mut self, earlier: &mut EarlierRequests) {
        if let Some(text) = self.texts.first() {
            let text = &text.recorder.text;
            self.earlier = earlier.begin(&self.client, &text.prompt, &text.vocabulary);
        }
    }

    /// Records what happened and sends it on. Returns whether it is about one of these texts.
    fn note(&mut self, progress: &Progress) -> bool {
        let mut is_own = false;
        for index in 0..self.texts.len() {
            let Some(text) = self.texts.get_mut(index) else {
                continue;
            };
            if text.recorder.note(progress) {
                is_own = true;
                let sent = self.send(index, progress);
                self.not_sent = self.not_sent.or(sent.err());
            }
        }
        if is_own {
            let refused = matches!(progress, Progress::Finished { .. }) && !self.is_accepted;
            self.is_accepted |= !refused;
            self.has_begun |= matches!(progress, Progress::Started { .. });
            if self.is_done() && self.not_sent.is_none() {
                self.not_sent = self.conclude().err();
            }
        }
        is_own
    }

    /// Sends what is new about a text, if it is streamed.
    fn send(&mut self, index: usize, progress: &Progress) -> Result<(), NotSent> {
        if !self.form.is_streamed() || self.not_sent.is_some() {
            return Ok(());
        }
        let Some(WrittenText { recorder, stream }) = self.texts.get_mut(index) else {
            return Ok(());
        };
        let Some(open) = stream else {
            return Ok(());
        };
        let (form, reply, text) = (&self.form, &self.reply, &recorder.text);
        let events = match progress {
            Progress::Prefilling { .. } | Progress::Compared { .. } => Vec::new(),
            Progress::Started { .. } => {
                if index == 0 {
                    reply.send(Reply::Begin)?;
                }
                open.begin(form).into_iter().collect()
            }
            Progress::Stepped { .. } => open.step(form, text),
            Progress::Finished { .. } => {
                let ended = stream.take().map(|stream| stream.finish(form, text));
                ended.unwrap_or_default()
            }
        };
        let mut events = events.iter();
        events.try_for_each(|event| reply.send_event(event))
    }

    /// Sends the end of the response.
    fn conclude(&self) -> Result<(), NotSent> {
        let texts: Vec<&Generation> = self.texts.iter().map(|text| &text.recorder.text).collect();
        if let Some(refusal) = self.refusal() {
            return self.reply.send(Reply::Whole(Err(refusal)));
        }
        if !self.form.is_streamed() {
            return self.reply.send(Reply::Whole(self.form.whole(&texts)));
        }
        match AnswerForm::failure(&texts) {
            Some(error) if !self.has_begun => self.reply.send(Reply::Whole(Err(error))),
            Some(error) => self.reply.send_event(&self.form.error(&error)),
            None => {
                let usage = self.form.usage(&texts);
                usage.map_or(Ok(()), |usage| self.reply.send_event(&usage))?;
                let end = self.form.end_of_stream();
                end.map_or(Ok(()), |end| self.reply.send(Reply::Part(end.into())))
            }
        }
    }

    /// Returns why the engine refused the request, if it did.
    fn refusal(&self) -> Option<ApiError> {
        let mut reasons = self.texts.iter().map(|text| &text.recorder.text.finish);
        let error = reasons.find_map(|reason| match reason {
            Some(FinishReason::Failed { error }) => Some(error.clone()),
            _ => None,
        });
        error.filter(|_| !self.is_accepted).map(ApiError::invalid)
    }

    fn into_answered(self, earlier: &mut EarlierRequests) -> AnsweredRequest {
        let refusal = self.refusal();
        let undelivered = self.not_sent.map(|why| match why {
            NotSent::ClientLeft => "the program left",
            NotSent::ReadsTooSlowly => "the program read too slowly",
        });
        if let Some(first) = self.texts.first() {
            earlier.end(self.client.number, &first.recorder.text);
        }
        let request = RecordedRequest {
            program: self.client.user_agent.clone(),
            target: self.client.target.clone(),
            asked_at: self.client.asked_at,
            fields: self.fields,
            undelivered: undelivered.map(str::to_owned),
            earlier: self.earlier,
        };
        let texts = self.texts.into_iter().map(|text| text.recorder.text);
        AnsweredRequest {
            client: self.client,
            asked: self.asked,
            notes: self.notes,
            outcome: match refusal {
                Some(error) => Outcome::Refused(error),
                None => Outcome::Written {
                    texts: texts.collect(),
                    request,
                },
            },
        }
    }
}

fn new_text(config: GenerationConfig, prompt: &Arc<PromptRecord>, model: &ApiModel) -> Generation {
    let name = PaneSettings::from(config.chain.clone()).name;
    let models = TextModels {
        model: Arc::clone(&model.info),
        second_model: model.second.clone(),
        vocabulary: Arc::clone(&model.vocabulary),
    };
    Generation::begin_here(name, config, Arc::clone(prompt), models)
}

/// Returns the prompt as far as it is known before the engine has read it.
fn prompt_record(prompt: &RequestPrompt, model: &ApiModel) -> PromptRecord {
    match prompt {
        RequestPrompt::Text(prompt) => PromptRecord {
            text: prompt.text.clone(),
            ..PromptRecord::default()
        },
        RequestPrompt::Tokens(tokens) => PromptRecord {
            text: model.vocabulary.visible_text(tokens),
            tokens: tokens.clone(),
            ..PromptRecord::default()
        },
    }
}

/// Returns the prompt or the last message of a request.
fn words(asked: &Asked) -> String {
    prompt_record(&asked.request.prompt, &asked.model).text
}

/// Returns a seed that every JSON parser reads exactly.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u8) >> 32
}
