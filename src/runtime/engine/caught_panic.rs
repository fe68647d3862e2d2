//! Turns panics in third-party code into error messages, without printing their raw text to
//! standard error.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside [`catch_panic`].
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    /// The message of the last caught panic.
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`, which must not leave anything that is used later in an invalid state. Returns the
/// message of a panic as an error.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if CATCHING.get() {
                MESSAGE.set(message_of(info));
            } else {
                previous(info);
            }
        }));
    });
    let outer = CATCHING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    outcome.map_err(|_payload| MESSAGE.take().unwrap_or_else(|| "it panicked".to_owned()))
}

fn message_of(info: &PanicHookInfo<'_>) -> Option<String> {
    let message = info.payload_as_str()?;
    // Panic messages may have several lines, but errors show only one.
    message.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::catch_panic;

    #[test]
    fn the_message_of_a_panic_becomes_the_error() {
        let divided = catch_panic(|| [1, 2, 3].chunks(std::hint::black_box(0)).len());
        assert_eq!(divided, Err("chunk size must be non-zero".to_owned()));
        assert_eq!(catch_panic(|| 7), Ok(7));
    }
}
