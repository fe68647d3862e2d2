//! A hostile grammar costs neither time nor memory, counted in units of work.

use super::GrammarKind::{Choices, Gbnf, Lark, Regex, Schema};
use super::compile::{self, Purpose};
use super::{GrammarChecker, GrammarKind, GrammarRule, GrammarVocabulary};

/// A text whose last byte breaks most of the grammars.
const TEXT: &[u8] = b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";

/// The most lexer fuel that compiling a grammar and following [`TEXT`] may take. The library spends
/// about 14,000 units per millisecond.
const MAX_FUEL: u64 = 20_000_000;

/// The most items that the parser may create, about 20,000 per millisecond.
const MAX_ITEMS: usize = 4_000_000;

/// Returns a Lark grammar in which each rule refers to the next.
fn chained(n_rules: usize) -> String {
    let rules: Vec<String> = (0..n_rules)
        .map(|i| format!("r{i}: \"a\" r{}\n", i + 1))
        .collect();
    format!("start: r0\n{}r{n_rules}: \"b\"\n", rules.concat())
}

fn nested(open: &str) -> String {
    open.repeat(100_000)
}

/// Grammars that exceed the limits on size, rules and depth.
fn too_large() -> [(GrammarKind, String); 9] {
    let refs: Vec<String> = (0..2000)
        .map(|i| {
            let next = i + 1;
            format!("\"a{i}\": {{\"properties\": {{\"x\": {{\"$ref\": \"#/$defs/a{next}\"}}}}}},")
        })
        .collect();
    let choices: Vec<String> = (0..20_000).map(|i| format!("choice number {i}")).collect();
    [
        (Regex, nested("(")),
        (Lark, format!("start: {}", nested("("))),
        (Lark, format!("start: {}\"a\"", nested("~"))),
        (Lark, chained(100_000)),
        (Gbnf, format!("root ::= {}", nested("("))),
        (Schema, nested("{\"items\":")),
        (
            Schema,
            format!(
                "{{\"$defs\": {{{} \"a2000\": {{}}}}, \"$ref\": \"#/$defs/a0\"}}",
                refs.concat()
            ),
        ),
        (Choices, choices.join("\n")),
        (Choices, "x".repeat(1_000_000)),
    ]
}

/// Small grammars that stand for a lot of work.
fn costly() -> [(GrammarKind, String); 10] {
    [
        (Regex, "((a{1,1000}){1,1000}){1,1000}"),
        (Regex, "(a|b)*a(a|b){200}"),
        (Regex, "(x+x+)+y"),
        (Lark, &*chained(390)),
        (Lark, "start: start start | \"a\" | \"\"\n"),
        (Lark, "start: start\n"),
        (Gbnf, "root ::= root root | \"a\"?"),
        (Gbnf, "root ::= ((\"a\"{0,2000}){0,2000}){0,2000}"),
        (Schema, "{\"type\": \"array\", \"minItems\": 1000000000}"),
        (Schema, "{\"type\": \"string\", \"maxLength\": 1000000000}"),
    ]
    .map(|(kind, text)| (kind, text.to_owned()))
}

/// Compiles a grammar and follows [`TEXT`]. Returns the lexer fuel and the parser's items that this
/// took, or `None` if the grammar is rejected.
fn work(rule: &GrammarRule) -> Option<(u64, usize)> {
    let vocabulary = GrammarVocabulary::bytes().unwrap();
    let grammar = compile::grammar_of(rule, Purpose::Check).ok()?;
    let mut parser = compile::parser_of(rule, grammar, &vocabulary.factory).ok()?;
    parser.start_without_prompt();
    for token in TEXT.iter().map(|byte| u32::from(*byte)) {
        // The mask also updates the counts.
        let is_legal = parser
            .compute_mask()
            .is_ok_and(|mask| mask.is_allowed(token));
        if !is_legal || parser.consume_token(token).is_err() {
            break;
        }
    }
    let stats = parser.parser_stats();
    Some((stats.lexer_cost, stats.all_items))
}

#[test]
fn a_grammar_beyond_the_limits_is_rejected_before_it_is_compiled() {
    for (kind, text) in too_large() {
        let rule = GrammarRule::new(kind, &text);
        let shown: String = text.chars().take(60).collect();
        assert!(
            compile::grammar_of(&rule, Purpose::Check).is_err(),
            "{shown}"
        );
    }
}

/// A state that is too complex to follow is rejected when it is reached.
#[test]
fn a_costly_grammar_is_rejected_or_limited() {
    let mut n_followed = 0;
    for (kind, text) in costly() {
        let rule = GrammarRule::new(kind, &text);
        if let Ok(mut checker) = GrammarChecker::new(&rule) {
            checker.push(TEXT);
        }
        if let Some((fuel, n_items)) = work(&rule) {
            assert!(fuel <= MAX_FUEL, "{fuel}: {text}");
            assert!(n_items <= MAX_ITEMS, "{n_items}: {text}");
            n_followed += 1;
        }
    }
    assert!(n_followed > 0, "every grammar was rejected");
}
