//! Starting logits for sampling by hand.

/// A set of tokens and logits to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandPreset {
    /// One token has nearly all the probability.
    Sure,
    /// Several tokens are about equally likely.
    Undecided,
    /// A few likely tokens and many unlikely ones.
    LongTail,
    /// The top two tokens are equally likely.
    TwoEquals,
}

impl HandPreset {
    /// All presets, in menu order.
    pub const ALL: [Self; 4] = [Self::Sure, Self::Undecided, Self::LongTail, Self::TwoEquals];

    /// Returns the label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sure => "Confident",
            Self::Undecided => "Undecided",
            Self::LongTail => "Long tail",
            Self::TwoEquals => "Two-way tie",
        }
    }

    /// Returns the tokens and their logits.
    pub(in crate::state) const fn tokens(self) -> &'static [(&'static str, f32)] {
        match self {
            Self::Sure => &[
                ("upon", 7.0),
                ("more", 2.0),
                ("again", 1.5),
                ("there", 1.0),
                ("a", 0.0),
            ],
            Self::Undecided => &[
                ("house", 2.0),
                ("cottage", 1.9),
                ("forest", 1.7),
                ("village", 1.6),
                ("garden", 1.4),
                ("castle", 1.3),
            ],
            Self::LongTail => &[
                ("fox", 4.0),
                ("bear", 3.0),
                ("bird", 2.4),
                ("cat", 2.0),
                ("dog", 1.7),
                ("mouse", 1.4),
                ("owl", 1.2),
                ("frog", 1.0),
                ("duck", 0.8),
                ("hen", 0.7),
                ("goat", 0.6),
                ("bee", 0.4),
                ("snail", 0.3),
                ("crab", 0.2),
                ("eel", 0.1),
                ("newt", 0.0),
            ],
            Self::TwoEquals => &[
                ("left", 2.5),
                ("right", 2.5),
                ("up", 0.5),
                ("down", 0.0),
                ("back", -0.5),
            ],
        }
    }
}
