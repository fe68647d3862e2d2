//! A key with its modifiers, as plain data, so that the state does not depend on the UI toolkit.

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortcut {
    /// Cmd on a Mac, Ctrl elsewhere.
    pub command: bool,
    pub shift: bool,
    pub alt: bool,
    /// The name that egui gives the key: "Enter", "F", "1".
    pub key: &'static str,
}

const DIGITS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl Shortcut {
    /// Returns the key of the digit that numbers a value among all values, from 1.
    pub(super) fn numbered<T: PartialEq>(all: &[T], value: &T) -> Self {
        let index = all.iter().position(|other| other == value);
        let digit = index.and_then(|index| DIGITS.get(index));
        Self::key(digit.copied().unwrap_or_default())
    }

    /// Creates a shortcut without modifiers.
    pub const fn key(key: &'static str) -> Self {
        Self {
            command: false,
            shift: false,
            alt: false,
            key,
        }
    }

    /// Adds Cmd on a Mac, Ctrl elsewhere.
    #[must_use]
    pub const fn command(mut self) -> Self {
        self.command = true;
        self
    }

    /// Adds Shift.
    #[must_use]
    pub const fn shift(mut self) -> Self {
        self.shift = true;
        self
    }

    /// Adds Alt, which a Mac calls Option.
    #[must_use]
    pub const fn alt(mut self) -> Self {
        self.alt = true;
        self
    }

    /// Returns the keys as the window shows them: "Ctrl ↵", "Ctrl Shift V".
    pub fn words(self, is_mac: bool) -> String {
        let key = match self.key {
            "Enter" => "↵",
            "Escape" => "Esc",
            "Plus" => "+",
            "Equals" => "=",
            "Minus" => "−",
            "Comma" => ",",
            "ArrowUp" => "↑",
            "ArrowDown" => "↓",
            key => key,
        };
        self.joined(is_mac, key, " ")
    }

    /// Returns the keys as running text spells them: "Ctrl+Enter", "Ctrl+Shift+V".
    pub fn spelled(self, is_mac: bool) -> String {
        let key = match self.key {
            "Escape" => "Esc",
            "Comma" => ",",
            "ArrowUp" => "↑",
            "ArrowDown" => "↓",
            key => key,
        };
        self.joined(is_mac, key, "+")
    }

    fn joined(self, is_mac: bool, key: &str, separator: &str) -> String {
        let command = if is_mac { "Cmd" } else { "Ctrl" };
        let alt = if is_mac { "Option" } else { "Alt" };
        let modifiers = [
            (self.command, command),
            (self.alt, alt),
            (self.shift, "Shift"),
        ];
        let held = modifiers.into_iter().filter(|(held, _)| *held);
        let keys: Vec<&str> = held.map(|(_, name)| name).chain([key]).collect();
        keys.join(separator)
    }
}

#[cfg(test)]
mod tests {
    use super::Shortcut;

    #[test]
    fn keys_have_the_names_of_the_platform() {
        let generate = Shortcut::key("Enter").command();
        assert_eq!(generate.words(false), "Ctrl ↵");
        assert_eq!(generate.words(true), "Cmd ↵");
        assert_eq!(generate.spelled(false), "Ctrl+Enter");
        let score = Shortcut::key("V").command().shift();
        assert_eq!(score.spelled(true), "Cmd+Shift+V");
        assert_eq!(Shortcut::key("3").alt().words(true), "Option 3");
    }
}
