//! Values that go by a name on the command line.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads one of these by its name; others are refused with the names that there are.
pub(super) fn named<T, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name)).try_map(move |given| {
        let found = all.into_iter().find(|value| name(*value) == given);
        found.ok_or("there is none of this name")
    })
}
