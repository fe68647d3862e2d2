//! Tests of checks: how they are read and written, and where mistakes are.

mod judging;

use super::*;

fn check(spec: &str) -> Check {
    Check::parse(spec).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

fn error(spec: &str) -> (String, Option<usize>) {
    let error = Check::parse(spec).expect_err(spec);
    (error.to_string(), error.column())
}

#[test]
fn exact_answers_are_known_only_if_they_are_all_that_is_asked() {
    let texts = |specs: &[&str]| {
        let checks: Vec<Check> = specs.iter().map(|spec| check(spec)).collect();
        exact_texts(&checks)
    };
    assert_eq!(texts(&["equals: Oslo"]).unwrap(), ["Oslo"]);
    assert_eq!(texts(&["Oslo"]).unwrap(), ["Oslo"]);
    assert_eq!(
        texts(&[r#"choice: b | a | b | " a""#]).unwrap(),
        ["b", "a", " a"]
    );
    for specs in [
        &[][..],
        &["iequals: Oslo"],
        &["not equals: Oslo"],
        &["not-choice: a | b"],
        &["equals: a", "max words: 3"],
        &["contains: a"],
    ] {
        assert_eq!(texts(specs), None, "{specs:?}");
    }
}

#[test]
fn kinds_are_told_apart_by_their_colon() {
    let cases = [
        ("not-contains: sorry", "not contains: sorry"),
        ("not contains: sorry", "not contains: sorry"),
        ("  equals :Oslo  ", "equals: Oslo"),
        ("contains(0.8): a", "contains: a"),
        ("max-words: 20", "max words: 20"),
        ("is-json", "json"),
        ("not is-json", "not json"),
        ("contains-json:", "contains-json"),
        ("not Oslo", "equals: not Oslo"),
        ("not: Oslo", "equals: not: Oslo"),
        ("contain: Oslo", "equals: contain: Oslo"),
        ("Contains: Oslo", "equals: Contains: Oslo"),
        ("number", "equals: number"),
        ("cost", "equals: cost"),
        ("https://example.com", "equals: https://example.com"),
        (r#""Yes", she said"#, r#"equals: "\"Yes\", she said""#),
        (
            r#"contains: "city": "Oslo""#,
            r#"contains: "\"city\": \"Oslo\"""#,
        ),
        (
            "number: 1,000.50 within 1e-3",
            "number: 1000.5 within 0.001",
        ),
        ("number: 1e300", "number: 1e300"),
    ];
    for (spec, expected) in cases {
        assert_eq!(check(spec).spec(), expected, "{spec}");
    }
    let not = check("not contains: sorry");
    assert!(not.is_negated());
    assert_eq!(
        (not.kind_name(), not.value().as_str()),
        ("contains", "sorry")
    );
    assert_eq!(check("json").value(), "");
    assert_eq!(check("a").sentence(), "byte for byte, and nothing after it");
}

#[test]
fn assertions_that_need_more_than_the_text_are_named() {
    let cases = [
        ("llm-rubric: is polite", "llm-rubric"),
        ("grade: is polite", "llm-rubric"),
        ("similar(0.8): hello", "similar"),
        ("not-similar: hello", "similar"),
        ("similar:cosine(0.8): hello", "similar"),
        ("javascript: output.length", "javascript"),
        ("fn: x", "javascript"),
        ("python: len(output)", "python"),
        ("cost(0.01):", "cost"),
        ("latency: 500", "latency"),
        ("levenshtein(5): a", "levenshtein"),
        ("is-xml", "is-xml"),
        ("is-refusal", "is-refusal"),
        ("not-is-refusal", "is-refusal"),
        ("rouge-n(0.6): a", "rouge-n"),
        ("is-json: file://schema.json", "json: file://"),
        ("file://check.py", "file://"),
        ("regex: (?=a)", "regex with look-around"),
        (r"regex: (a)\1", "regex with backreferences"),
    ];
    for (spec, expected) in cases {
        let name = expected.to_owned();
        assert_eq!(
            Check::parse(spec),
            Err(CheckError::NotJudged { name }),
            "{spec}"
        );
    }
    let message = "‘llm-rubric’ can’t be judged here";
    assert_eq!(error("llm-rubric: x"), (message.to_owned(), None));
}

#[test]
fn mistakes_have_a_column() {
    let cases = [
        ("", "the check is empty", None),
        ("equals:", "‘equals’ lacks a value", Some(8)),
        ("  contains:  ", "‘contains’ lacks a value", Some(12)),
        (r#"contains: """#, "‘contains’ lacks a value", Some(11)),
        (
            "contains-any: , ,",
            "‘contains-any’ lacks a value",
            Some(15),
        ),
        ("choice: |", "‘choice’ lacks a value", Some(9)),
        ("number:", "‘number’ lacks a value", Some(8)),
        (
            r#"equals: "Oslo"#,
            "the closing quotation mark is missing",
            Some(9),
        ),
        (
            r#"contains-any: å, "b"#,
            "the closing quotation mark is missing",
            Some(18),
        ),
        (
            r#"contains-any: "a" b"#,
            "a comma belongs after the closing quotation mark",
            Some(19),
        ),
    ];
    check_mistakes(&cases);
    let long = format!("equals: {}", "a".repeat(MAX_SPEC_BYTES));
    assert_eq!(error(&long).0, "a check has at most 64 KB");
    let quotes = "x\"".repeat(MAX_SPEC_BYTES / 3);
    assert!(Check::parse(&quotes).is_ok());
    let doubled = Check::parse(&format!("equals: \"{}\"", "\\".repeat(MAX_SPEC_BYTES / 2)));
    assert!(doubled.is_ok());
    let breaks = format!("contains: a{}b", "\n".repeat(MAX_SPEC_BYTES - 20));
    assert_eq!(error(&breaks).0, "a check has at most 64 KB");
}

#[test]
fn mistakes_in_patterns_numbers_and_schemas_have_a_column() {
    let cases = [
        (
            "regex: å(b",
            "the pattern is invalid: unclosed group",
            Some(9),
        ),
        (
            "not regex: [a",
            "the pattern is invalid: unclosed character class",
            Some(12),
        ),
        (
            "regex: a**\nb(",
            "the pattern is invalid: unclosed group",
            Some(8),
        ),
        (
            "regex: (?:a{1000}){1000}",
            "the pattern is too large",
            Some(8),
        ),
        (
            "number: many",
            "‘many’ is no number; write ‘42’, or ‘42 within 0.5’",
            Some(9),
        ),
        (
            "number: 1 2",
            "‘1 2’ is no number; write ‘42’, or ‘42 within 0.5’",
            Some(9),
        ),
        (
            "number: 1 within -1",
            "‘1 within -1’ is no number; write ‘42’, or ‘42 within 0.5’",
            Some(9),
        ),
        (
            "number: 1e999",
            "‘1e999’ is no number; write ‘42’, or ‘42 within 0.5’",
            Some(9),
        ),
        ("max words: -1", "‘-1’ is no count of words", Some(12)),
        (
            r#"schema: {"å" 1}"#,
            "the schema isn’t JSON: a colon is missing",
            Some(14),
        ),
        ("schema: 3", "the schema is invalid: ", Some(9)),
        (
            r#"is-json: {"type": "text"}"#,
            "the schema is invalid: ",
            Some(10),
        ),
    ];
    check_mistakes(&cases);
}

/// Checks the messages about several specs, and their columns.
fn check_mistakes(cases: &[(&str, &str, Option<usize>)]) {
    for (spec, message, column) in cases {
        let (found, found_column) = error(spec);
        assert!(found.starts_with(message), "{spec}: {found}");
        assert_eq!(found_column, *column, "{spec}: {found}");
        assert!(!found.contains('\n'), "{found}");
    }
}

#[test]
fn what_is_written_reads_back() {
    let alphabet = [
        'a', 'Å', ' ', '"', '\\', 'n', ',', '|', '\n', '\r', '\t', ':', '.', '7',
    ];
    let mut state = 1_u64;
    let mut random = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % n
    };
    for _ in 0..20_000 {
        let mut texts: Vec<String> = Vec::new();
        for _ in 0..=random(3) {
            let text: String = (0..random(6))
                .map(|_| alphabet[random(alphabet.len())])
                .collect();
            if !text.is_empty() && !texts.contains(&text) {
                texts.push(text);
            }
        }
        let Some(text) = texts.first().cloned() else {
            continue;
        };
        let rule = match random(8) {
            0 => Rule::Equals(text),
            1 => Rule::IEquals(text),
            2 => Rule::Contains(text),
            3 => Rule::StartsWith(text),
            4 => Rule::Choice(texts),
            5 => Rule::ContainsAny(texts),
            6 => Rule::IContainsAll(texts),
            _ => Rule::StartsWithAny(texts),
        };
        let is_negated = random(2) == 0;
        let check = Check { is_negated, rule };
        let spec = check.spec();
        assert_eq!(Check::parse(&spec).as_ref(), Ok(&check), "{spec}");
    }
    for spec in [
        r"not regex: \d{3}",
        "number: -1.5e-12 within 2",
        "json",
        "contains-json",
        r#"schema: {"required":["a"],"type":"object"}"#,
        "max words: 20",
        "not word-count: 3",
        "ends-with: x",
        r#"equals: "file://a""#,
        r#"choice: "" | a"#,
    ] {
        assert_eq!(check(spec).spec(), spec);
        assert_eq!(check(&check(spec).spec()), check(spec));
    }
}

#[test]
fn placeholders_are_filled_after_a_text_is_taken_apart() {
    let fill = |text: &str| text.replace("{x}", " a, \"b\" | c ");
    let read = |spec: &str| Check::parse_filled(spec, &fill).map(|check| check.value());
    let plain = r#"a, "b" | c"#;
    assert_eq!(read("equals: {x}").unwrap(), plain);
    assert_eq!(read("{x}").unwrap(), plain);
    assert_eq!(read(r#"equals: "{x}!""#).unwrap(), r#"" a, \"b\" | c !""#);
    assert_eq!(
        read("contains-any: {x}, d").unwrap(),
        r#""a, \"b\" | c", d"#
    );
    assert_eq!(read("choice: {x} | d").unwrap(), r#""a, \"b\" | c" | d"#);
    let empty = Check::parse_filled("equals: {x}", &|_| String::new());
    assert_eq!(empty.unwrap_err().to_string(), "‘equals’ lacks a value");
}

#[test]
fn checks_can_be_sent_to_threads() {
    fn is_sent<T: Clone + Send + Sync + 'static>() {}
    is_sent::<Check>();
}
