//! Ctrl+C and termination signals: the first asks the command to finish its files, the second ends
//! it.

use std::process;
use std::sync::atomic::{AtomicU8, Ordering};

use super::console;

/// The exit code for the latest signal, or 0 before the first. A signal reaches the whole process,
/// so there is one.
static RAISED: AtomicU8 = AtomicU8::new(0);

/// The exit code that shells use for a command ended by Ctrl+C.
const CTRL_C: u8 = 130;

/// Tells whether a signal has asked the command to end.
#[derive(Debug)]
pub(crate) struct Interrupt(&'static AtomicU8);

impl Interrupt {
    /// Catches Ctrl+C, and on Unix also SIGTERM and SIGHUP. If they can't be caught, they end the
    /// program as usual.
    pub(crate) fn catch() -> Self {
        if let Err(error) = listen() {
            console::note(&format!("Ctrl+C will end this command at once: {error}"));
        }
        Self(&RAISED)
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// Returns the exit code for a command that a signal ended, as shells do: 128 plus the signal's
/// number.
pub(crate) fn exit_code() -> u8 {
    match RAISED.load(Ordering::Relaxed) {
        0 => CTRL_C,
        code => code,
    }
}

fn raise(code: u8) {
    if RAISED.swap(code, Ordering::Relaxed) != 0 {
        process::exit(code.into());
    }
}

/// Waits for signals on a separate thread. Unlike ctrlc, tokio says which signal arrived.
#[cfg(unix)]
fn listen() -> std::io::Result<()> {
    use std::future::poll_fn;
    use std::task::Poll;

    use tokio::runtime::Builder;
    use tokio::signal::unix::{SignalKind, signal};

    let runtime = Builder::new_current_thread().enable_io().build()?;
    let entered = runtime.enter();
    let mut signals = [
        (129, signal(SignalKind::hangup())?),
        (CTRL_C, signal(SignalKind::interrupt())?),
        (143, signal(SignalKind::terminate())?),
    ];
    drop(entered);
    let raise_each = poll_fn(move |context| {
        for (code, signal) in &mut signals {
            while let Poll::Ready(Some(())) = signal.poll_recv(context) {
                raise(*code);
            }
        }
        Poll::<()>::Pending
    });
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || runtime.block_on(raise_each))?;
    Ok(())
}

#[cfg(not(unix))]
fn listen() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| raise(CTRL_C))
}
