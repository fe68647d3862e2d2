//! Reads GBNF.

use super::{Alternatives, Item, Rules};
use crate::decoding::grammar::compile::{MAX_DEPTH, too_deep};
use crate::decoding::grammar::{GrammarError, TextPlace};

/// The most repetitions that llama.cpp allows.
const MAX_REPEATS: u32 = 2000;

/// Reads all rules of a grammar.
pub(super) fn rules_of(text: &str) -> Result<Rules, GrammarError> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    let mut rules = Rules::new();
    reader.skip_space(true);
    while reader.peek().is_some() {
        let start = reader.at;
        let name = reader.name()?;
        reader.skip_space(false);
        if !reader.take("::=") {
            return Err(reader.wrong("expected ::= after the name of a rule"));
        }
        reader.skip_space(true);
        let alternatives = reader.alternatives(false)?;
        if rules.insert(name.clone(), alternatives).is_some() {
            let place = TextPlace::of_byte(text, start);
            return Err(GrammarError::at(
                place,
                format!("there are two rules named {name}"),
            ));
        }
        reader.skip_space(true);
    }
    Ok(rules)
}

struct Reader<'a> {
    text: &'a str,
    /// The byte that is read next.
    at: usize,
    /// How many groups are open.
    depth: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn take(&mut self, expected: &str) -> bool {
        let is_next = self.rest().starts_with(expected);
        if is_next {
            self.at += expected.len();
        }
        is_next
    }

    fn wrong(&self, message: impl Into<String>) -> GrammarError {
        GrammarError::at(TextPlace::of_byte(self.text, self.at), message)
    }

    /// Skips spaces and comments, and also line breaks if they have no meaning here.
    fn skip_space(&mut self, with_lines: bool) {
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' => self.at += 1,
                '\r' | '\n' if with_lines => self.at += 1,
                '#' => {
                    let n_comment = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.at += n_comment;
                }
                _ => break,
            }
        }
    }

    fn name(&mut self) -> Result<String, GrammarError> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let rest = self.rest();
        let n_bytes = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let name = rest.get(..n_bytes).unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(self.wrong("expected the name of a rule"));
        }
        self.at += n_bytes;
        Ok(name)
    }

    fn alternatives(&mut self, in_group: bool) -> Result<Alternatives, GrammarError> {
        let mut alternatives = vec![self.sequence(in_group)?];
        while self.take("|") {
            self.skip_space(true);
            alternatives.push(self.sequence(in_group)?);
        }
        Ok(alternatives)
    }

    fn sequence(&mut self, in_group: bool) -> Result<Vec<Item>, GrammarError> {
        let mut items = Vec::new();
        loop {
            self.skip_space(in_group);
            let Some(next) = self.peek() else { break };
            let item = match next {
                '|' | ')' | '\n' | '\r' => break,
                '"' => self.literal()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '.' => {
                    self.at += 1;
                    Item::Class {
                        negated: false,
                        ranges: vec![('\0', char::MAX)],
                    }
                }
                '<' | '!' => {
                    return Err(self.wrong("token references such as <|im_end|> are not supported"));
                }
                _ => {
                    let place = TextPlace::of_byte(self.text, self.at);
                    let name = self.name()?;
                    Item::Rule { name, place }
                }
            };
            items.push(self.repeated(item)?);
        }
        if !in_group && self.peek() == Some(')') {
            return Err(self.wrong("this closing bracket is unmatched"));
        }
        Ok(items)
    }

    fn group(&mut self) -> Result<Item, GrammarError> {
        let start = self.at;
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep(self.text, start));
        }
        self.skip_space(true);
        let alternatives = self.alternatives(true)?;
        if !self.take(")") {
            return Err(self.wrong("a closing bracket is missing"));
        }
        self.depth -= 1;
        Ok(Item::Group(alternatives))
    }

    fn literal(&mut self) -> Result<Item, GrammarError> {
        let start = self.at;
        self.at += 1;
        let mut literal = String::new();
        loop {
            match self.peek() {
                None | Some('\n') => {
                    let place = TextPlace::of_byte(self.text, start);
                    return Err(GrammarError::at(place, "this quote is not closed"));
                }
                Some('"') => {
                    self.at += 1;
                    return Ok(Item::Literal(literal));
                }
                Some(_) => literal.push(self.character()?),
            }
        }
    }

    fn class(&mut self) -> Result<Item, GrammarError> {
        let start = self.at;
        self.at += 1;
        let negated = self.take("^");
        let mut ranges = Vec::new();
        while !self.take("]") {
            if self.peek().is_none_or(|next| next == '\n') {
                let place = TextPlace::of_byte(self.text, start);
                return Err(GrammarError::at(place, "a closing bracket is missing"));
            }
            let first = self.character()?;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            let last = if is_range {
                self.at += 1;
                self.character()?
            } else {
                first
            };
            if last < first {
                return Err(self.wrong("this range is reversed"));
            }
            ranges.push((first, last));
        }
        if ranges.is_empty() && !negated {
            return Err(self.wrong("this class has no characters"));
        }
        Ok(Item::Class { negated, ranges })
    }

    /// Reads one character of a literal or a class.
    fn character(&mut self) -> Result<char, GrammarError> {
        let unfinished = "this escape is not complete";
        match self.next() {
            Some('\\') => {}
            Some(other) => return Ok(other),
            None => return Err(self.wrong(unfinished)),
        }
        let escape = self.next().ok_or_else(|| self.wrong(unfinished))?;
        let n_digits = match escape {
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            '\\' | '"' | '[' | ']' | '-' | '^' | '/' => return Ok(escape),
            other => return Err(self.wrong(format!("\\{other} is not a GBNF escape"))),
        };
        let digits = self.rest().get(..n_digits).unwrap_or_default();
        let code = u32::from_str_radix(digits, 16).ok();
        let Some(character) = code.and_then(char::from_u32) else {
            return Err(self.wrong("this escape is not a character"));
        };
        self.at += n_digits;
        Ok(character)
    }

    fn repeated(&mut self, mut item: Item) -> Result<Item, GrammarError> {
        loop {
            let (least, most) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => {
                    let (least, most) = self.counts()?;
                    item = repeat(item, least, most);
                    continue;
                }
                _ => return Ok(item),
            };
            self.at += 1;
            item = repeat(item, least, most);
        }
    }

    /// Reads "{2}", "{2,}" or "{2,5}".
    fn counts(&mut self) -> Result<(u32, Option<u32>), GrammarError> {
        let length = self.rest().find('}');
        let inside = length.and_then(|length| self.rest().get(1..length));
        let Some(inside) = inside.map(str::to_owned) else {
            return Err(self.wrong("a closing bracket is missing"));
        };
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let counts = match inside.split_once(',') {
            None => number(&inside).map(|n| (n, Some(n))),
            Some((least, most)) if most.trim().is_empty() => number(least).map(|n| (n, None)),
            Some((least, most)) => number(least).zip(number(most).map(Some)),
        };
        let fits = |(least, most): &(u32, Option<u32>)| {
            most.unwrap_or(*least) >= *least && most.unwrap_or(*least) <= MAX_REPEATS
        };
        let Some(counts) = counts.filter(fits) else {
            let message = format!("expected a number of repetitions up to {MAX_REPEATS}");
            return Err(self.wrong(message));
        };
        self.at += inside.len() + 2;
        Ok(counts)
    }
}

fn repeat(item: Item, least: u32, most: Option<u32>) -> Item {
    Item::Repeat {
        item: Box::new(item),
        least,
        most,
    }
}
