//! GBNF: what is translated, and what is rejected.

use crate::decoding::grammar::{GrammarChecker, GrammarKind, GrammarRule};

fn checker(gbnf: &str) -> GrammarChecker {
    let rule = GrammarRule::new(GrammarKind::Gbnf, gbnf);
    GrammarChecker::new(&rule).unwrap_or_else(|error| panic!("{gbnf}\n{error}"))
}

fn accepts(gbnf: &str, text: &str) -> bool {
    let mut checker = checker(gbnf);
    checker.push(text.as_bytes()) && checker.accepts()
}

/// The grammar of JSON that llama.cpp's documentation describes, in our own words.
const JSON: &str = r#"
# A JSON value
root ::= object
value ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( member ("," ws member)* )? "}" ws
member ::= string ":" ws value
array ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
"#;

#[test]
fn a_grammar_accepts_what_it_says() {
    for (gbnf, text, expected) in [
        ("root ::= \"yes\" | \"no\"", "yes", true),
        ("root ::= \"yes\" | \"no\"", "ye", false),
        ("root ::= [a-z]* \"end\"", "enend", true),
        ("root ::= [a-z]* \"end\"", "enx", false),
        ("root ::= [^a-z\\n]+ # comment", "A1-", true),
        ("root ::= .{2,3}", "é\n", true),
        ("root ::= .{2}", "é", false),
        (
            "root ::= a-b | \"x\"\na-b ::= \"(\" root \")\"",
            "((x))",
            true,
        ),
        (
            "root ::= a-b | \"x\"\na-b ::= \"(\" root \")\"",
            "((x)",
            false,
        ),
        // With a lexer that takes the longest match, the second word would be read as letters.
        (
            "root ::= word root? | \"end\"\nword ::= [a-z] [a-z]",
            "abend",
            true,
        ),
        (
            "root ::= word root? | \"end\"\nword ::= [a-z] [a-z]",
            "abenx",
            false,
        ),
        (
            "root ::= word root? | \"end\"\nword ::= [a-z] [a-z]",
            "aben",
            true,
        ),
        (
            "root ::= ( \"a\"\n  | \"b\" ) |\n  \"\\u00e9\"\n",
            "é",
            true,
        ),
        (
            JSON,
            "{\"a\": [1, -2.5e3, {\"b\": null}], \"c\": \"d\\n\"}",
            true,
        ),
        (JSON, "{\"a\": [1, 2}", false),
    ] {
        assert_eq!(accepts(gbnf, text), expected, "{gbnf}\n{text}");
    }
}

#[test]
fn an_error_has_its_place() {
    for (gbnf, message) in [
        (
            "root ::= (\"a\" | \"b\"",
            "Line 1, column 20: a closing bracket is missing",
        ),
        (
            "root ::= \"a\n",
            "Line 1, column 10: this quote is not closed",
        ),
        (
            "root ::= x\n",
            "Line 1, column 10: there is no rule named x",
        ),
        (
            "root = \"a\"",
            "Line 1, column 6: expected ::= after the name of a rule",
        ),
        ("a ::= \"x\"", "there is no rule named root"),
        (
            "root ::= \"a\"\n  <|im_end|>",
            "Line 2, column 3: expected the name of a rule",
        ),
        (
            "root ::= \"a\" <|im_end|>",
            "Line 1, column 14: token references such as <|im_end|> are not supported",
        ),
        (
            "root ::= [z-a]",
            "Line 1, column 14: this range is reversed",
        ),
        (
            "root ::= \"\\q\"",
            "Line 1, column 13: \\q is not a GBNF escape",
        ),
        (
            "root ::= \"a\"{9999}",
            "Line 1, column 13: expected a number of repetitions up to 2000",
        ),
        (
            "root ::= \"a\")",
            "Line 1, column 13: this closing bracket is unmatched",
        ),
        (
            "root ::= \"a\"\nroot ::= \"b\"",
            "Line 2, column 1: there are two rules named root",
        ),
    ] {
        let error = GrammarRule::new(GrammarKind::Gbnf, gbnf)
            .validate()
            .unwrap_err();
        assert_eq!(error.to_string(), message, "{gbnf}");
    }
}
