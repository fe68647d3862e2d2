//! Arguments whose value is one of a fixed set of names.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Parses a value by its name. The help and errors list all names.
pub(crate) fn parse_by_name<T, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name)).try_map(move |given| {
        let found = all.into_iter().find(|value| name(*value) == given);
        found.ok_or("unknown name")
    })
}
