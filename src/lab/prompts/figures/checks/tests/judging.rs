//! Tests of verdicts: what each kind of check accepts, and why not.

use super::super::{Answer, Check, Verdict, judge_all};
use super::{check, error};

fn judge(spec: &str, text: &str) -> Verdict {
    let is_complete = true;
    check(spec).judge(Answer { text, is_complete })
}

fn is_right(spec: &str, text: &str) -> bool {
    judge(spec, text).is_right()
}

fn why(spec: &str, text: &str) -> String {
    match judge(spec, text) {
        Verdict::Wrong { why } => why,
        Verdict::Right => panic!("{spec} accepts {text}"),
    }
}

/// Checks that a spec accepts the first texts and none of the others, and its opposite the reverse.
fn accepts(spec: &str, right: &[&str], wrong: &[&str]) {
    let not = format!("not {spec}");
    for text in right {
        assert!(is_right(spec, text), "{spec} must accept {text:?}");
        assert!(!is_right(&not, text), "{not} must not accept {text:?}");
    }
    for text in wrong {
        assert!(!is_right(spec, text), "{spec} must not accept {text:?}");
        assert!(is_right(&not, text), "{not} must accept {text:?}");
    }
}

#[test]
fn texts_are_compared_as_their_kind_says() {
    accepts("equals: Oslo", &["Oslo"], &["oslo", " Oslo", "Oslo.", ""]);
    accepts(r#"equals: " Oslo""#, &[" Oslo"], &["Oslo"]);
    accepts(r#"equals: """#, &[""], &[" "]);
    accepts(r#"equals: "a\n\"b\"\\""#, &["a\n\"b\"\\"], &[]);
    accepts(r#"equals: "say ""hi"" \d""#, &[r#"say "hi" \d"#], &[]);
    assert!(is_right("Oslo", "Oslo") && !is_right("Oslo", "Oslo."));
    accepts(
        "iequals: Ål.",
        &["ål", " ÅL. ", "Ål.", "ål ."],
        &["ål..", "Al"],
    );
    accepts("contains: a b", &["xa by"], &["A B", "ab"]);
    accepts("icontains: ÆØ", &["xæØy"], &["ae"]);
    accepts("contains-any: a, b", &["xa", "b"], &["A", "c"]);
    accepts(
        r#"contains-any: "a, b", c,, "d""#,
        &["a, b", "c", "xd"],
        &["a", "b", ""],
    );
    accepts("contains-all: a, b", &["b a"], &["a", "B A"]);
    accepts("icontains-any: a, b", &["A"], &["c"]);
    accepts("icontains-all: a, b", &["BA"], &["A"]);
    accepts("starts-with: Os", &["Oslo"], &["slo", "oslo"]);
    accepts("starts-with-any: Os, Be", &["Oslo", "Bergen"], &["os"]);
    accepts("ends-with: lo", &["Oslo"], &["Oslo."]);
    accepts(
        r#"choice: Oslo | "Bergen " | "a|b""#,
        &["Oslo", "Bergen ", "a|b"],
        &["Bergen", "Oslo ", "a"],
    );
    accepts(r"regex: ^\d{3}$", &["123", "١٢٣"], &["1234", "12", "123\n"]);
    accepts("max words: 2", &["", "a", " a\nb "], &["a b c"]);
    accepts("word-count: 2", &["a b"], &["a", "a b c"]);
}

#[test]
fn the_last_number_counts() {
    accepts(
        "number: 42",
        &[
            "42",
            "It is 42.",
            "6 × 7 = 42.0",
            "+42",
            "$42",
            "42km",
            "答案是42。",
            "4.2e1",
            "4.2E+1 m",
            "CO2: 42",
            "no 41, but 42 (see v1.5)",
        ],
        &[
            "43",
            "-42",
            "−42",
            "x42",
            "forty-two",
            "",
            "42 or 43",
            "4,2",
            "1e999",
        ],
    );
    accepts(
        "number: -3",
        &["-3", "= −3", "(-3)"],
        &["4-3", "3", "2−3", "a - 3"],
    );
    accepts(
        "number: 1,234,567.5",
        &["1,234,567.5", "1234567.5"],
        &["1,2345,67.5"],
    );
    accepts("number: 234", &["1, 2, 234", "1234,234"], &["1,234"]);
    accepts("number: .5", &["0.5", ".5", "50e-2"], &["v.5", "5"]);
    accepts(
        "number: 42 within 0.1",
        &["42.1", "41.9", "42"],
        &["42.11", "41.8"],
    );
    accepts("number: 0.3", &["0.3", "0.30"], &["0.30000000000000004"]);
}

#[test]
fn json_is_checked_whole_or_inside_a_text() {
    accepts(
        "json",
        &["{}", " [1, 2]\n", "3", "\"a\"", "null"],
        &["", "{", "{} x", "```json\n{}\n```", "{'a': 1}"],
    );
    accepts("is-json", &["{}"], &["x"]);
    let schema =
        r#"{"type": "object", "required": ["name"], "properties": {"age": {"type": "integer"}}}"#;
    for kind in ["schema", "json", "is-json"] {
        accepts(
            &format!("{kind}: {schema}"),
            &[r#"{"name": "Kari", "age": 3}"#],
            &[r#"{"age": 3}"#, r#"{"name": "", "age": "3"}"#, "[]", "{"],
        );
    }
    accepts(
        "contains-json",
        &["so: {} ok", "[1]", "{ {}", "a { b [] c"],
        &["5", "{", "{x}", ""],
    );
    accepts(
        &format!("contains-json: {schema}"),
        &[r#"{} and {"name": "Kari"}"#, r#"[0] {"name": 1}"#],
        &["{}", "text"],
    );
}

#[test]
fn json_of_any_size_and_depth_is_judged() {
    for unit in ["[", "{\"a\":", "{\"", "[[1],", "[\"[\\\"{", "{}["] {
        let text = unit.repeat(2000);
        judge("contains-json: false", &text);
        assert!(!is_right("json", &text));
    }
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(
        why("json", &deep),
        "the answer isn’t JSON: it is nested too deeply"
    );
}

#[test]
fn schemas_refer_to_nothing_outside() {
    let (message, column) = error(r#"schema: {"$ref": "https://example.com/a.json"}"#);
    assert!(message.starts_with("the schema is invalid: "), "{message}");
    assert_eq!(column, Some(9));
    assert!(Check::parse(r#"schema: {"$ref": "file:///etc/passwd"}"#).is_err());
    let tree = r##"schema: {"type": "array", "items": {"$ref": "#"}}"##;
    accepts(tree, &["[[], [[]]]"], &["[1]", "[[{}]]"]);
    assert!(!is_right(
        r#"schema: {"pattern": "^(a+)+$"}"#,
        &format!("\"{}b\"", "a".repeat(5000))
    ));
}

#[test]
fn an_answer_that_was_cut_off_has_no_end() {
    let cases = [
        ("equals: Oslo", false),
        ("not equals: Oslo", true),
        ("iequals: Oslo", false),
        ("choice: Oslo | Bergen", false),
        ("ends-with: lo", false),
        ("max words: 5", false),
        ("word-count: 1", false),
        ("contains: Os", true),
        ("starts-with: Os", true),
        ("regex: ^Oslo$", true),
        ("not json", true),
    ];
    for (spec, expected) in cases {
        let verdict = check(spec).judge(Answer {
            text: "Oslo",
            is_complete: false,
        });
        assert_eq!(verdict.is_right(), expected, "{spec}");
        if let Verdict::Wrong { why } = verdict {
            assert_eq!(why, "the answer was cut off", "{spec}");
        }
    }
}

#[test]
fn reasons_are_short() {
    let cases = [
        ("equals: Oslo", "Bergen", "‘Bergen’ is not ‘Oslo’"),
        ("equals: Oslo", " Oslo\n", "‘ Oslo↵’ is not ‘Oslo’"),
        ("not equals: Oslo", "Oslo", "the answer is ‘Oslo’"),
        ("contains-any: a, b", "c", "none of ‘a’, ‘b’ occurs"),
        ("contains-all: a, b", "a", "‘b’ is missing"),
        ("not contains: sorry", "I’m sorry", "‘sorry’ occurs"),
        ("starts-with: Os", "Bo", "‘Bo’ doesn’t start with ‘Os’"),
        (r"regex: \d{3}", "12", r"nothing matches ‘\d{3}’"),
        (r"not regex: \d", "a1", r"‘1’ matches ‘\d’"),
        ("number: 42", "I count 41.50", "41.5 is not 42"),
        ("number: 42 within 0.5", "41", "41 is not within 0.5 of 42"),
        ("number: 1", "one", "the answer has no number"),
        ("choice: a | b", "c", "‘c’ is none of ‘a’, ‘b’"),
        (
            "choice: 1|2|3|4|5",
            "c",
            "‘c’ is none of ‘1’, ‘2’, ‘3’, ‘4’, …",
        ),
        (
            "json",
            "{a}",
            "the answer isn’t JSON: a name is not in quotation marks",
        ),
        (
            r#"schema: {"properties": {"a": {"type": "integer"}}}"#,
            r#"{"a": "x"}"#,
            r#"at /a: the value is not of type "integer""#,
        ),
        ("max words: 1", "a b", "2 words are more than 1"),
        ("not max words: 1", "a", "the answer has 1 word"),
        ("word-count: 3", "a", "the answer has 1 word, not 3"),
        (
            "contains-json",
            "a",
            "the answer contains no JSON object or array",
        ),
    ];
    for (spec, text, expected) in cases {
        assert_eq!(why(spec, text), expected, "{spec}");
    }
    let long = "word ".repeat(1000);
    assert!(why("equals: x", &long).chars().count() < 60);
    let reason = why(&format!("equals: {long}end"), &format!("{long}and"));
    assert_eq!(reason, "‘… word word and’ is not ‘… word word end’");
}

#[test]
fn all_checks_of_a_task_must_hold() {
    let checks = [check("contains: a"), check("max words: 2")];
    let judge = |text| {
        let is_complete = true;
        judge_all(&checks, Answer { text, is_complete })
    };
    assert!(judge("a b").is_right());
    let why = "3 words are more than 2".to_owned();
    assert_eq!(judge("a b c"), Verdict::Wrong { why });
    assert!(!judge("b").is_right());
}
