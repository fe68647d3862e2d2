//! Closes a connection whose other side stops reading.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::time::{Instant, Sleep, sleep};

/// Fails with [`io::ErrorKind::TimedOut`] if a write makes no progress for `timeout`.
pub(super) struct TimedIo<T> {
    io: T,
    timeout: Duration,
    /// Runs while a write waits.
    sleep: Pin<Box<Sleep>>,
    waits: bool,
}

impl<T> TimedIo<T> {
    /// Must be called within a tokio runtime.
    pub(super) fn new(io: T, timeout: Duration) -> Self {
        Self {
            io,
            timeout,
            sleep: Box::pin(sleep(timeout)),
            waits: false,
        }
    }

    /// Fails if a pending write has been waiting for too long.
    fn timed<O>(
        &mut self,
        written: Poll<io::Result<O>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<O>> {
        if written.is_ready() {
            self.waits = false;
            return written;
        }
        if !self.waits {
            self.waits = true;
            let deadline = Instant::now() + self.timeout;
            self.sleep.as_mut().reset(deadline);
        }
        match self.sleep.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: Read + Unpin> Read for TimedIo<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_read(context, buffer)
    }
}

impl<T: Write + Unpin> Write for TimedIo<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.io).poll_write(context, bytes);
        this.timed(written, context)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.io).poll_flush(context);
        this.timed(flushed, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut = Pin::new(&mut this.io).poll_shutdown(context);
        this.timed(shut, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.io).poll_write_vectored(context, buffers);
        this.timed(written, context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use hyper::rt::Write;
    use tokio::runtime::Builder;

    use super::TimedIo;

    /// A connection whose other side reads nothing.
    struct Unread;

    impl Write for Unread {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Pending
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn a_write_that_nobody_reads_fails() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let written = runtime.block_on(async {
            let mut io = TimedIo::new(Unread, Duration::ZERO);
            poll_fn(|context| Pin::new(&mut io).poll_write(context, b"text")).await
        });
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
