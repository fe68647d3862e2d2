//! Prints GBNF rules as Lark.
//!
//! GBNF has no lexer: any character may be read by any rule that fits. Lark has one, and it takes
//! the longest match. So a grammar without recursion becomes one regular expression, and any other
//! becomes rules over single characters.

use std::fmt::Write;

use super::{Alternatives, Item, ROOT, Rules};

/// The longest regular expression into which rules are expanded.
const MAX_REGEX_BYTES: usize = 64 << 10;

/// Prints a grammar.
pub(super) fn printed(rules: &Rules) -> String {
    let mut regex = Expansion {
        rules,
        open: Vec::new(),
        regex: String::new(),
    };
    if rules
        .get(ROOT)
        .and_then(|root| regex.alternatives(root))
        .is_some()
    {
        let regex = llguidance::regex_to_lark(&regex.regex, "");
        return format!("start: /{regex}/\n");
    }
    let mut lark = String::new();
    for (name, alternatives) in rules {
        let body = alternatives_of(alternatives, rules);
        let _written = writeln!(lark, "{}: {body}", lark_name(name, rules));
    }
    lark
}

/// Rules that are being expanded into one regular expression.
struct Expansion<'a> {
    rules: &'a Rules,
    /// The rules that are being expanded, outermost first.
    open: Vec<&'a str>,
    regex: String,
}

impl<'a> Expansion<'a> {
    /// Appends alternatives. Returns `None` if a rule contains itself, or if the expression gets
    /// too long.
    fn alternatives(&mut self, alternatives: &'a Alternatives) -> Option<()> {
        self.regex.push_str("(?:");
        for (index, sequence) in alternatives.iter().enumerate() {
            if index > 0 {
                self.regex.push('|');
            }
            for item in sequence {
                self.item(item)?;
            }
        }
        self.regex.push(')');
        Some(())
    }

    fn item(&mut self, item: &'a Item) -> Option<()> {
        match item {
            Item::Literal(text) => self.regex.push_str(&regex_syntax::escape(text)),
            Item::Class { negated, ranges } => self.regex.push_str(&class(*negated, ranges)),
            Item::Rule { name, .. } => {
                if self.open.contains(&name.as_str()) {
                    return None;
                }
                self.open.push(name);
                let alternatives = self.rules.get(name)?;
                self.alternatives(alternatives)?;
                self.open.pop();
            }
            Item::Group(alternatives) => self.alternatives(alternatives)?,
            Item::Repeat { item, least, most } => {
                self.regex.push_str("(?:");
                self.item(item)?;
                self.regex.push(')');
                self.regex.push_str(&counts(*least, *most));
            }
        }
        (self.regex.len() <= MAX_REGEX_BYTES).then_some(())
    }
}

fn alternatives_of(alternatives: &Alternatives, rules: &Rules) -> String {
    let sequence = |items: &Vec<Item>| {
        let items: Vec<String> = items.iter().map(|item| item_of(item, rules)).collect();
        if items.is_empty() {
            "\"\"".to_owned()
        } else {
            items.join(" ")
        }
    };
    let sequences: Vec<String> = alternatives.iter().map(sequence).collect();
    sequences.join(" | ")
}

fn item_of(item: &Item, rules: &Rules) -> String {
    match item {
        Item::Literal(text) if text.is_empty() => "\"\"".to_owned(),
        Item::Literal(text) => {
            let characters: Vec<String> = text.chars().map(|c| pattern(&class_of(c))).collect();
            format!("({})", characters.join(" "))
        }
        Item::Class { negated, ranges } => pattern(&class(*negated, ranges)),
        Item::Rule { name, .. } => lark_name(name, rules),
        Item::Group(alternatives) => format!("({})", alternatives_of(alternatives, rules)),
        Item::Repeat { item, least, most } => {
            format!("({}){}", item_of(item, rules), counts(*least, *most))
        }
    }
}

/// Returns a name that Lark accepts for a rule. Distinct names stay distinct.
fn lark_name(name: &str, rules: &Rules) -> String {
    if name == ROOT {
        return "start".to_owned();
    }
    let place = rules.keys().position(|other| other == name);
    let word: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("r{}_{}", place.unwrap_or_default(), word.to_lowercase())
}

fn counts(least: u32, most: Option<u32>) -> String {
    match (least, most) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    }
}

/// A regular expression between slashes.
fn pattern(regex: &str) -> String {
    format!("/{regex}/")
}

fn class_of(c: char) -> String {
    class(false, &[(c, c)])
}

/// A character class of a regular expression, with every character as its code point.
fn class(negated: bool, ranges: &[(char, char)]) -> String {
    let mut class = String::from(if negated { "[^" } else { "[" });
    for (first, last) in ranges {
        let (first, last) = (u32::from(*first), u32::from(*last));
        let _written = if first == last {
            write!(class, "\\x{{{first:X}}}")
        } else {
            write!(class, "\\x{{{first:X}}}-\\x{{{last:X}}}")
        };
    }
    if ranges.is_empty() {
        // A negated class without ranges: any character.
        return "[\\x{0}-\\x{10FFFF}]".to_owned();
    }
    class.push(']');
    class
}
