//! Grammars end to end: what is legal, what is recorded, and what is rejected.

use std::sync::Arc;

use super::{
    GrammarChecker, GrammarDraw, GrammarKind, GrammarMode, GrammarRule, GrammarState,
    GrammarVocabulary,
};
use crate::decoding::filters::{Temperature, TopK};
use crate::decoding::{
    ChainConfig, Coins, Filter, History, SamplerChain, Selector, Taken, TokenId,
};

/// Tokens, the last of which ends a text.
const WORDS: [&str; 12] = [
    "yes", "no", "ye", "s", "n", "o", "maybe", " ", "{", "}", "1", "",
];
const END: TokenId = TokenId(11);

fn vocabulary() -> Arc<GrammarVocabulary> {
    let words = WORDS.map(|word| word.as_bytes().to_vec()).to_vec();
    Arc::new(GrammarVocabulary::new(words, &[END]).unwrap())
}

fn rule(kind: GrammarKind, text: &str) -> Arc<GrammarRule> {
    Arc::new(GrammarRule::new(kind, text))
}

fn state(kind: GrammarKind, text: &str) -> GrammarState {
    GrammarState::new(&rule(kind, text), &vocabulary()).unwrap()
}

fn legal(state: &mut GrammarState) -> Vec<&'static str> {
    let legal = state.legal().unwrap();
    let ids = (0..).map(TokenId).zip(WORDS);
    ids.filter(|(id, _)| legal.allows(*id))
        .map(|(id, word)| if id == END { "END" } else { word })
        .collect()
}

fn token(word: &str) -> TokenId {
    TokenId(WORDS.iter().position(|other| *other == word).unwrap() as u32)
}

#[test]
fn only_what_keeps_the_text_in_the_grammar_is_legal() {
    let mut state = state(GrammarKind::Choices, "yes\nno\nnone");
    assert_eq!(legal(&mut state), ["yes", "no", "ye", "n"]);
    let mut other = state.clone();
    assert!(state.accept(token("ye")));
    assert_eq!(legal(&mut state), ["s"]);
    assert!(state.accept(token("s")) && state.is_complete());
    assert_eq!(legal(&mut state), ["END"]);
    // A clone follows another text.
    assert!(other.accept(token("no")));
    assert_eq!(legal(&mut other), ["n", "END"]);
    assert!(!other.is_complete());
    assert!(!other.accept(token("maybe")) && other.is_broken());
}

#[test]
fn the_end_is_legal_only_where_the_grammar_accepts() {
    let mut ends = state(GrammarKind::Regex, "(no )*");
    assert_eq!(legal(&mut ends), ["no", "n", "END"]);
    assert!(ends.accept(token("no")));
    assert_eq!(legal(&mut ends), [" "]);
    let mut endless = ends.clone().without_end_tokens();
    assert!(endless.accept(token(" ")));
    assert_eq!(legal(&mut endless), ["no", "n"]);
    assert!(ends.accept(token(" ")) && ends.accept(END));
}

#[test]
fn a_token_is_legal_if_the_grammar_accepts_it() {
    for (kind, text, begin) in [
        (GrammarKind::Choices, "yes\nno\nnone", vec!["ye"]),
        (GrammarKind::Regex, "maybe (yes|no)*", vec!["maybe", " "]),
        (GrammarKind::Json, "", vec!["{", " "]),
        (
            GrammarKind::Lark,
            "start: (\"no\" \" \")+ \"yes\"",
            vec!["no", " "],
        ),
    ] {
        let mut state = state(kind, text);
        for word in [""].into_iter().chain(begin) {
            assert!(word.is_empty() || state.accept(token(word)), "{text}");
            let legal = state.legal().unwrap();
            for id in (0..11).map(TokenId) {
                let accepted = state.clone().accept(id);
                assert_eq!(legal.allows(id), accepted, "{text}: {word:?}, then {id}");
            }
        }
    }
}

#[test]
fn a_model_writes_little_whitespace_but_any_amount_is_json() {
    let words = ["[", "]", " ", "\n"].map(|word| word.as_bytes().to_vec());
    let vocabulary = Arc::new(GrammarVocabulary::new(words.to_vec(), &[]).unwrap());
    for (text, space_is_legal) in [(" ", false), ("\n\n ", true), ("\n\n\n", false)] {
        let json = rule(GrammarKind::Json, "");
        let mut state = GrammarState::new(&json, &vocabulary).unwrap();
        assert!(state.accept(TokenId(0)));
        for byte in text.bytes() {
            state.accept(TokenId(if byte == b' ' { 2 } else { 3 }));
        }
        let more = !state.is_broken() && state.legal().unwrap().allows(TokenId(2));
        assert_eq!(more, space_is_legal, "{text:?}");
        let mut checker = GrammarChecker::new(&json).unwrap();
        assert!(checker.push(format!("[{text}    ]").as_bytes()) && checker.accepts());
    }
}

#[test]
fn tokens_with_the_same_bytes_are_all_legal() {
    let words = ["a", "b", "a", "ab", "a"].map(|word| word.as_bytes().to_vec());
    let vocabulary = Arc::new(GrammarVocabulary::new(words.to_vec(), &[]).unwrap());
    let mut state = GrammarState::new(&rule(GrammarKind::Regex, "ab"), &vocabulary).unwrap();
    let legal = state.legal().unwrap();
    let allowed = (0..5).filter(|id| legal.allows(TokenId(*id)));
    assert_eq!(allowed.collect::<Vec<_>>(), [0, 2, 3, 4]);
    assert!(state.accept(TokenId(4)) && state.accept(TokenId(1)) && state.is_complete());
}

#[test]
fn a_grammar_that_matches_no_text_says_so() {
    for (kind, text) in [
        (GrammarKind::Gbnf, "root ::= root"),
        (GrammarKind::Gbnf, "root ::= \"a\" root"),
        (
            GrammarKind::Gbnf,
            "root ::= (a | b)+\na ::= b\nb ::= [0-9] a",
        ),
        (GrammarKind::Lark, "start: start"),
        (GrammarKind::Schema, r##"{ "$ref": "#" }"##),
    ] {
        let error = rule(kind, text).validate().unwrap_err();
        assert_eq!(
            error.to_string(),
            "The grammar matches no text: its rules never come to an end",
            "{text}"
        );
    }
    // The empty text is a text.
    assert_eq!(rule(GrammarKind::Gbnf, r#"root ::= """#).validate(), Ok(()));
    assert_eq!(rule(GrammarKind::Regex, "a*").validate(), Ok(()));
    let list = rule(GrammarKind::Gbnf, "root ::= \"a\" root | \"b\"");
    assert_eq!(list.validate(), Ok(()));
}

#[test]
fn a_whole_text_is_complete_or_not() {
    for (kind, grammar, text, is_complete) in [
        (GrammarKind::Json, "", "{\"a\": [1, 2]}", true),
        (GrammarKind::Json, "", "{\"a\": [1, 2", false),
        (GrammarKind::Regex, "a+b", "aab", true),
        (GrammarKind::Regex, "a+b", "aa", false),
        (GrammarKind::Choices, "yes\nno", "ye", false),
        (GrammarKind::Choices, "yes\nno", "no", true),
        (GrammarKind::Choices, "yes\nno", "maybe", false),
    ] {
        let found = rule(kind, grammar).accepts(text.as_bytes());
        assert_eq!(found, Ok(is_complete), "{grammar}: {text}");
    }
}

#[test]
fn a_state_knows_whether_the_text_may_end() {
    let mut state = state(GrammarKind::Choices, "yes\nno\nnone");
    assert!(!state.accepts());
    assert!(state.accept(token("no")) && state.accepts() && !state.is_complete());
    assert!(state.accept(END) && state.accepts());
}

#[test]
fn what_the_tokenizer_cannot_write_is_reported() {
    let state = GrammarState::new(&rule(GrammarKind::Regex, "§+"), &vocabulary());
    assert_eq!(
        state.unwrap_err().to_string(),
        "This model’s tokenizer can’t produce ‘§’, which the grammar requires"
    );
    let rule = rule(GrammarKind::Regex, "yes§");
    let mut state = GrammarState::new(&rule, &vocabulary()).unwrap();
    assert!(state.accept(token("yes")));
    assert!(state.legal().is_err());
}

fn logits() -> Vec<f32> {
    vec![0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 3.0]
}

const fn coins(seed: u64) -> Coins {
    Coins { seed, position: 0 }
}

#[test]
fn a_masked_draw_records_what_was_forbidden() {
    let rule = rule(GrammarKind::Choices, "yes\nno\nmaybe");
    let mut state = GrammarState::new(&rule, &vocabulary()).unwrap();
    let (legal, logits) = (state.legal().unwrap(), logits());
    let draw = GrammarDraw {
        rule: &rule,
        legal: &legal,
        logits: &logits,
    };
    let half = Filter::Temperature(Temperature { temperature: 0.5 });
    let mut chain = SamplerChain::new(ChainConfig::sampled([half]));
    let sampled = draw.sample(&mut chain, History::empty(), coins(1)).unwrap();
    let trace = &sampled.trace;
    let report = trace.grammar.as_deref().unwrap();
    assert_eq!(report.n_legal(), 5);
    assert!(report.masked && !report.is_forced() && legal.allows(sampled.token));
    assert_eq!(trace.raw.n_candidates, 12);
    assert_eq!(trace.raw.head[0].token, END);
    assert!(!report.allows(END) && report.allows(token("maybe")));
    let mass = |logits: &[f32]| logits.iter().map(|l| f64::from(*l).exp()).sum::<f64>();
    let legal_mass = mass(&[0.0, 1.0, 0.5, 0.0, 2.0]) / mass(&logits);
    assert!((report.legal_mass(&trace.raw) - legal_mass).abs() < 1e-6);
    assert!((report.distortion_bits(&trace.raw) + legal_mass.log2()).abs() < 1e-6);
    // The stages saw the legal tokens only, and are recorded for the head of all tokens.
    let place = |word| {
        trace
            .raw
            .head
            .iter()
            .position(|known| known.token == token(word))
    };
    let probs = &trace.stages[0].head_probs;
    assert_eq!(probs[0], None);
    let expected = 4.0_f64.exp() / mass(&[0.0, 2.0, 1.0, 0.0, 4.0]);
    let prob = probs[place("maybe").unwrap()].unwrap();
    assert!((f64::from(prob) - expected).abs() < 1e-6);
    assert_eq!(trace.stages[0].n_kept, 5);
    let raw = 2.0_f64.exp() / mass(&logits);
    assert!(sampled.token != token("maybe") || (trace.raw_prob - raw).abs() < 1e-6);
}

#[test]
fn both_modes_draw_the_same_distribution() {
    let masks = rule(GrammarKind::Choices, "yes\nno\nmaybe");
    let checks = Arc::new((*masks).clone().with_mode(GrammarMode::Check));
    let legal = GrammarState::new(&masks, &vocabulary())
        .unwrap()
        .legal()
        .unwrap();
    let logits = logits();
    let n_draws = 20_000;
    let mut counts = [[0_u32; WORDS.len()]; 2];
    for (rule, counts) in [&masks, &checks].into_iter().zip(&mut counts) {
        let mut chain = SamplerChain::new(ChainConfig::sampled([]));
        let draw = GrammarDraw {
            rule,
            legal: &legal,
            logits: &logits,
        };
        for seed in 0..n_draws {
            let token = draw.sample_token(&mut chain, History::empty(), coins(seed));
            counts[token.unwrap().index()] += 1;
        }
    }
    let total: f64 = [0.0, 1.0, 0.5, 0.0, 2.0]
        .iter()
        .map(|l: &f64| l.exp())
        .sum();
    for counts in counts {
        let mut chi_squared = 0.0;
        for (word, logit) in [
            ("yes", 0.0),
            ("no", 1.0),
            ("ye", 0.5),
            ("n", 0.0),
            ("maybe", 2.0),
        ] {
            let expected = f64::from(n_draws as u32) * f64::exp(logit) / total;
            chi_squared += (f64::from(counts[token(word).index()]) - expected).powi(2) / expected;
        }
        // The 0.999 quantile for 4 degrees of freedom.
        assert!(chi_squared < 18.47, "{counts:?}: {chi_squared}");
        assert_eq!(counts.iter().sum::<u32>(), n_draws as u32);
    }
}

#[test]
fn a_check_redraws_only_what_is_illegal() {
    let masks = rule(GrammarKind::Choices, "yes\nno\nmaybe");
    let checks = Arc::new((*masks).clone().with_mode(GrammarMode::Check));
    let legal = GrammarState::new(&checks, &vocabulary())
        .unwrap()
        .legal()
        .unwrap();
    let logits = logits();
    let draw = GrammarDraw {
        rule: &checks,
        legal: &legal,
        logits: &logits,
    };
    // Top-k 1 leaves the end, which is illegal; a mask comes before it.
    let cut = ChainConfig::sampled([Filter::TopK(TopK { k: 1 })]);
    for (config, seeds) in [(ChainConfig::sampled([]), 0..200), (cut, 0..2)] {
        let mut n_redrawn = 0;
        for seed in seeds {
            let mut free = SamplerChain::new(config.clone());
            let unconstrained = free.sample(&logits, History::empty(), coins(seed)).unwrap();
            let mut chain = SamplerChain::new(config.clone());
            let sampled = draw
                .sample(&mut chain, History::empty(), coins(seed))
                .unwrap();
            let report = sampled.trace.grammar.as_deref().unwrap();
            assert_eq!(report.unconstrained, Some(unconstrained.token));
            assert_eq!(report.masked, !legal.allows(unconstrained.token));
            assert!(legal.allows(sampled.token));
            if report.masked {
                n_redrawn += 1;
            } else {
                assert_eq!(sampled.token, unconstrained.token);
                assert_eq!(sampled.trace.stages, unconstrained.trace.stages);
            }
            let token = draw.sample_token(&mut chain, History::empty(), coins(seed));
            assert_eq!(token.unwrap(), sampled.token);
        }
        assert!(n_redrawn > 0);
    }
}

#[test]
fn an_illegal_token_picked_by_hand_has_no_probability() {
    let rule = rule(GrammarKind::Choices, "yes\nno");
    let legal = GrammarState::new(&rule, &vocabulary())
        .unwrap()
        .legal()
        .unwrap();
    let logits = logits();
    let draw = GrammarDraw {
        rule: &rule,
        legal: &legal,
        logits: &logits,
    };
    let mut chain = SamplerChain::new(ChainConfig::greedy());
    let taken = Taken::ByHand(token("maybe"));
    let sampled = draw
        .take(&mut chain, History::empty(), coins(0), taken)
        .unwrap();
    assert_eq!(
        (sampled.token, sampled.trace.draw.prob),
        (token("maybe"), 0.0)
    );
    assert!(sampled.trace.raw_prob > 0.1);
    let best = draw
        .most_likely(&chain, History::empty(), coins(0), 1)
        .unwrap();
    assert_eq!(best[0].token, token("no"));
    assert_eq!(chain.config().selector, Selector::Greedy);
}

#[test]
fn an_error_names_its_place() {
    for (kind, text, message) in [
        (
            GrammarKind::Regex,
            "a(b",
            "Line 1, column 2: unclosed group",
        ),
        (
            GrammarKind::Regex,
            "ab\n[c",
            "Line 2, column 1: unclosed character class",
        ),
        (
            GrammarKind::Regex,
            "(?<=a)b",
            "Line 1, column 1: look-around, including look-ahead and look-behind, is not supported",
        ),
        (
            GrammarKind::Schema,
            "{\n  \"type\": \"string\"\n",
            "Line 3, column 1: it ends within an object",
        ),
        (
            GrammarKind::Schema,
            "{\"type\": \"foo\"}",
            "Line 1, column 10: invalid type: foo",
        ),
        (
            GrammarKind::Schema,
            "{\n  \"not\": {}\n}",
            "Line 2, column 3: unimplemented keys: [\"not\"]",
        ),
        (
            GrammarKind::Lark,
            "start: foo\n",
            "Line 1, column 8: unknown name: foo",
        ),
        (
            GrammarKind::Lark,
            "start: \"a\"\n  (\"b\"\n",
            "Line 2, column 3: expecting rule, token or statement",
        ),
        (GrammarKind::Lark, "begin: \"a\"\n", "no start rule found"),
        (GrammarKind::Choices, "\n\n", "Type a grammar, or use JSON"),
    ] {
        let error = GrammarRule::new(kind, text).validate().unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn a_checker_finds_the_first_byte_that_breaks_the_grammar() {
    let mut checker = GrammarChecker::new(&rule(GrammarKind::Json, "")).unwrap();
    assert!(checker.push(b"{\"a\"") && !checker.accepts());
    assert!(checker.push(b": 1}") && checker.accepts());
    assert!(!checker.push(b"x"));
    assert!(!checker.push(b" "));
}
