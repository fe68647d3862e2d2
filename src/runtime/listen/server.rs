//! The thread that speaks HTTP.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::TcpListener;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::limits::{
    CLOSE_TIMEOUT, HEAD_TIMEOUT, MAX_CONNECTIONS, MAX_HEAD_BYTES, MAX_HEADERS, WRITE_TIMEOUT,
};
use super::routes::Routes;
use super::timed_io::TimedIo;

/// How long to wait after a connection could not be accepted, for lack of memory or file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The thread. Dropping it closes all connections, after they have sent what is ready.
pub(super) struct ServerThread {
    /// `None` only while it is being dropped.
    close: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ServerThread {
    pub(super) fn start(socket: TcpListener, routes: Routes) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(2)
            .build()?;
        let entered = runtime.enter();
        let socket = tokio::net::TcpListener::from_std(socket)?;
        drop(entered);
        let (close, closing) = watch::channel(());
        let thread = thread::Builder::new()
            .name("listen".to_owned())
            .spawn(move || runtime.block_on(serve(socket, Arc::new(routes), closing)))?;
        Ok(Self {
            close: Some(close),
            thread: Some(thread),
        })
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        self.close = None;
        if let Some(thread) = self.thread.take() {
            // A panic has been printed already.
            thread.join().ok();
        }
    }
}

/// Serves connections until the sender of `closing` is dropped.
async fn serve(
    socket: tokio::net::TcpListener,
    routes: Arc<Routes>,
    mut closing: watch::Receiver<()>,
) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let accept = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, socket.accept().await)
        };
        let Some((place, accepted)) = before_closing(&mut closing, pin!(accept)).await else {
            break;
        };
        let Ok((stream, _)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (routes, closing) = (Arc::clone(&routes), closing.clone());
        connections.spawn(async move {
            connection(stream, &routes, closing).await;
            drop(place);
        });
    }
    drop(socket);
    let all_closed = async { while connections.join_next().await.is_some() {} };
    // What is still open after that is cut.
    timeout(CLOSE_TIMEOUT, all_closed).await.ok();
}

/// Serves the requests of one connection.
async fn connection(stream: TcpStream, routes: &Routes, mut closing: watch::Receiver<()>) {
    // Parts of a stream are small and should not wait for each other. If this fails, they arrive later.
    stream.set_nodelay(true).ok();
    let io = TimedIo::new(TokioIo::new(stream), WRITE_TIMEOUT);
    let service =
        service_fn(
            move |request| async move { Ok::<_, Infallible>(routes.respond(request).await) },
        );
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(io, service);
    let mut connection = pin!(connection);
    if before_closing(&mut closing, connection.as_mut())
        .await
        .is_none()
    {
        connection.as_mut().graceful_shutdown();
        // However a connection ends, its requests notice.
        connection.await.ok();
    }
}

/// Returns what a future returns, or `None` if the endpoint closes before.
async fn before_closing<F: Future>(
    closing: &mut watch::Receiver<()>,
    mut future: Pin<&mut F>,
) -> Option<F::Output> {
    let mut closed = pin!(closing.changed());
    poll_fn(|context| match closed.as_mut().poll(context) {
        Poll::Ready(_) => Poll::Ready(None),
        Poll::Pending => future.as_mut().poll(context).map(Some),
    })
    .await
}
