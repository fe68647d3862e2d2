//! Texts generated under random JSON Schemas are valid, with the embedded model and with a
//! vocabulary the size of Qwen's.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use crate::large_vocabulary::{N_VOCAB, large_vocabulary};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use quartet::decoding::{
    ChainConfig, Coins, GrammarChecker, GrammarDraw, GrammarKind, GrammarMode, GrammarRule,
    GrammarState, GrammarVocabulary, History, SamplerChain, TokenId,
};
use quartet::engine::{Compute, Progress, Session, open_embedded};
use quartet::generation::{FinishReason, GenerationConfig, GenerationId, Limits};
use serde_json::{Value, json};

/// A schema whose values are easy to check without a library.
#[derive(Debug, Clone)]
enum Shape {
    Null,
    Boolean,
    Integer { min: i64, max: i64 },
    Text { n_min: usize, n_max: usize },
    Choice(Vec<String>),
    List { item: Box<Self>, n_max: usize },
    Record(BTreeMap<String, (Self, bool)>),
    Either(Box<Self>, Box<Self>),
}

impl Shape {
    fn schema(&self) -> Value {
        match self {
            Self::Null => json!({ "type": "null" }),
            Self::Boolean => json!({ "type": "boolean" }),
            Self::Integer { min, max } => {
                json!({ "type": "integer", "minimum": min, "maximum": max })
            }
            Self::Text { n_min, n_max } => {
                json!({ "type": "string", "minLength": n_min, "maxLength": n_max })
            }
            Self::Choice(choices) => json!({ "enum": choices }),
            Self::List { item, n_max } => {
                json!({ "type": "array", "items": item.schema(), "maxItems": n_max })
            }
            Self::Record(fields) => {
                let schemas = fields
                    .iter()
                    .map(|(name, (shape, _))| (name, shape.schema()));
                let required = fields.iter().filter(|(_, (_, required))| *required);
                json!({
                    "type": "object",
                    "properties": schemas.collect::<BTreeMap<_, _>>(),
                    "required": required.map(|(name, _)| name).collect::<Vec<_>>(),
                    "additionalProperties": false,
                })
            }
            Self::Either(a, b) => json!({ "anyOf": [a.schema(), b.schema()] }),
        }
    }

    fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Null, Value::Null) | (Self::Boolean, Value::Bool(_)) => true,
            (Self::Integer { min, max }, Value::Number(number)) => number
                .as_i64()
                .is_some_and(|number| (*min..=*max).contains(&number)),
            (Self::Text { n_min, n_max }, Value::String(text)) => {
                (*n_min..=*n_max).contains(&text.chars().count())
            }
            (Self::Choice(choices), Value::String(text)) => choices.contains(text),
            (Self::List { item, n_max }, Value::Array(items)) => {
                items.len() <= *n_max && items.iter().all(|it| item.allows(it))
            }
            (Self::Record(fields), Value::Object(found)) => {
                let known = |(name, value): (&String, &Value)| {
                    fields
                        .get(name)
                        .is_some_and(|(shape, _)| shape.allows(value))
                };
                let has = |(name, (_, required)): (&String, &(Self, bool))| {
                    !required || found.contains_key(name)
                };
                found.iter().all(known) && fields.iter().all(has)
            }
            (Self::Either(a, b), value) => a.allows(value) || b.allows(value),
            _ => false,
        }
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,6}",
        // Characters that JSON escapes or that take several bytes.
        1 => prop::sample::select(vec!["\"", "\\", "\n", "ä€", "🦊", "a b"])
            .prop_map(str::to_owned),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        Just(Shape::Null),
        Just(Shape::Boolean),
        (-1000..1000_i64, 0..2000_i64).prop_map(|(min, span)| Shape::Integer {
            min,
            max: min + span
        }),
        (0..4_usize, 0..12_usize).prop_map(|(n_min, span)| Shape::Text {
            n_min,
            n_max: n_min + span
        }),
        prop::collection::vec(word(), 1..4).prop_map(Shape::Choice),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let record = prop::collection::btree_map(word(), (inner.clone(), any::<bool>()), 0..4);
        prop_oneof![
            1 => (inner.clone(), 0..4_usize).prop_map(|(item, n_max)| Shape::List {
                item: Box::new(item),
                n_max
            }),
            2 => record.prop_map(Shape::Record),
            1 => (inner.clone(), inner).prop_map(|(a, b)| Shape::Either(Box::new(a), Box::new(b))),
        ]
    })
}

/// Returns random shapes, the same in every run.
fn shapes(n_shapes: usize) -> Vec<Shape> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let shapes = (0..n_shapes).map(|_| shape().new_tree(&mut runner).unwrap().current());
    shapes.collect()
}

fn rule_of(shape: &Shape, mode: GrammarMode) -> Arc<GrammarRule> {
    let rule = GrammarRule::new(GrammarKind::Schema, &shape.schema().to_string());
    Arc::new(rule.with_mode(mode))
}

/// Checks that a text that ended is valid, or that one that reached its limit is a valid prefix.
fn check(shape: &Shape, rule: &GrammarRule, text: &[u8], ended: bool) {
    let schema = shape.schema();
    if ended {
        let value: Value = serde_json::from_slice(text)
            .unwrap_or_else(|error| panic!("{error} in {:?}", String::from_utf8_lossy(text)));
        assert!(shape.allows(&value), "{value} under {schema}");
    } else {
        let begins = GrammarChecker::new(rule).unwrap().push(text);
        assert!(begins, "{:?} under {schema}", String::from_utf8_lossy(text));
    }
}

#[test]
fn the_embedded_model_writes_valid_json_under_any_schema() {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let model = open_embedded(&Compute::on_cpu(), keep_going).unwrap();
    let mut session = Session::new(model.unwrap());
    let shapes = shapes(32);
    let rules: Vec<Arc<GrammarRule>> = shapes
        .iter()
        .zip(GrammarMode::ALL.into_iter().cycle())
        .map(|(shape, mode)| rule_of(shape, mode))
        .collect();
    let panes = rules.iter().zip(0..).map(|(rule, id)| {
        let chain = ChainConfig {
            grammar: Some(Arc::clone(rule)),
            ..ChainConfig::sampled([])
        };
        let config = GenerationConfig {
            chain,
            seed: id,
            limits: Limits {
                max_new_tokens: 200,
                ..Limits::default()
            },
        };
        (GenerationId(id), config)
    });
    let prompt = session.prompt("Once upon a time".to_owned()).unwrap();
    session.generate(prompt, panes, Instant::now());
    let mut texts = vec![Vec::new(); shapes.len()];
    let mut n_ended = 0;
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            match progress {
                Progress::Stepped { id, step } => {
                    texts[id.0 as usize].extend_from_slice(&step.piece.bytes);
                }
                Progress::Finished { id, reason } => {
                    let index = id.0 as usize;
                    let ended = match reason {
                        FinishReason::EndOfText | FinishReason::GrammarComplete => true,
                        FinishReason::MaxTokens => false,
                        other => panic!("{other}"),
                    };
                    n_ended += usize::from(ended);
                    check(&shapes[index], &rules[index], &texts[index], ended);
                }
                _ => {}
            }
        }
    }
    // Few texts reach the limit.
    assert!(n_ended >= shapes.len() * 3 / 4, "{n_ended} texts ended");
}

#[test]
fn any_logits_over_a_large_vocabulary_produce_valid_json() {
    const END: TokenId = TokenId(N_VOCAB - 1);
    const N_MAX: u32 = 150;
    let words = large_vocabulary();
    let vocabulary = Arc::new(GrammarVocabulary::new(words.clone(), &[END]).unwrap());
    let shapes = shapes(24);
    let mut n_ended = 0;
    for (seed, shape) in (0..).zip(&shapes) {
        let rule = rule_of(shape, GrammarMode::Mask);
        let mut state = GrammarState::new(&rule, &vocabulary).unwrap();
        let mut chain = SamplerChain::new(ChainConfig::sampled([]));
        let mut text = Vec::new();
        for position in 0..N_MAX {
            if state.is_complete() {
                break;
            }
            let legal = state.legal().unwrap();
            // The same logits at each step, shifted by the position.
            let logits: Vec<f32> = (0..N_VOCAB)
                .map(|id| (id.wrapping_mul(2_654_435_761).wrapping_add(position * 97) >> 20) as f32)
                .map(|bits| bits / 512.0)
                .collect();
            let draw = GrammarDraw {
                rule: &rule,
                legal: &legal,
                logits: &logits,
            };
            let coins = Coins {
                seed,
                position: position.into(),
            };
            let token = draw.sample_token(&mut chain, History::empty(), coins);
            let token = token.unwrap();
            assert!(legal.allows(token) && state.accept(token));
            if token == END {
                break;
            }
            text.extend_from_slice(&words[token.index()]);
        }
        let ended = GrammarChecker::new(&rule)
            .map(|mut checker| checker.push(&text) && checker.accepts())
            .unwrap();
        n_ended += usize::from(ended);
        check(shape, &rule, &text, ended);
    }
    assert!(n_ended >= shapes.len() * 3 / 4, "{n_ended} texts ended");
}
