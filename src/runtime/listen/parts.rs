//! The bodies of requests and responses.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

use super::asked::Reply;
use super::limits::{BODY_TIMEOUT, MAX_BODY_BYTES};
use crate::interop::api::ApiError;

/// The body of a response.
pub(super) enum ResponseBody {
    /// All of it. `None` once it is taken.
    Whole(Option<Bytes>),
    /// The parts of a stream as they are written.
    Stream(Receiver<Reply>),
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(replies) => match replies.poll_recv(context) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Some(Reply::Part(bytes))) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                // The sender is gone, or sends no more parts.
                Poll::Ready(_) => Poll::Ready(None),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                let n_bytes = bytes.as_ref().map_or(0, Bytes::len);
                SizeHint::with_exact(n_bytes as u64)
            }
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// Reads the body of a request, limited in size and time.
pub(super) async fn read_body(body: Incoming) -> Result<Vec<u8>, ApiError> {
    // What a program says about the size is checked before anything is read.
    if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
        return Err(too_large());
    }
    match timeout(BODY_TIMEOUT, read_all(body)).await {
        Ok(read) => read,
        Err(_elapsed) => Err(ApiError::refused(
            408,
            "The body of the request did not arrive in time",
        )),
    }
}

async fn read_all(mut body: Incoming) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let cut = |_error| ApiError::invalid("The request ended before its body was complete");
        if let Some(data) = frame.map_err(cut)?.data_ref() {
            if bytes.len() + data.len() > MAX_BODY_BYTES {
                return Err(too_large());
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}

fn too_large() -> ApiError {
    let n_megabytes = MAX_BODY_BYTES >> 20;
    ApiError::refused(
        413,
        format!("The body of a request may have at most {n_megabytes} MB"),
    )
}
