//! The window's handle to the Hub threads: sends requests, receives events, ends the threads.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

use super::download_thread::{Downloader, Finder};
use super::event_sender::EventSender;
use super::request_queue::RequestQueue;
use super::{DownloadEvent, DownloadRequest};
use crate::generation::formatting::io_words;
use crate::hub::HubConfig;

/// How many events the channel holds before the threads block.
const N_EVENTS: usize = 256;

/// How many requests each channel holds.
const N_REQUESTS: usize = 64;

/// A handle to two threads: one searches and lists models while the other downloads them. Dropping
/// it ends both. A download in progress is paused, and its partial files are kept.
#[derive(Debug)]
pub struct Downloads {
    finder: RequestQueue<DownloadRequest>,
    downloader: RequestQueue<DownloadRequest>,
    /// `None` only while the handle is being dropped.
    events: Option<Receiver<DownloadEvent>>,
    threads: Vec<JoinHandle<()>>,
}

impl Downloads {
    /// Starts the threads, which do not use the network until they get a request. They call `wake`
    /// after each event.
    pub fn start(config: HubConfig, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (sender, events) = sync_channel(N_EVENTS);
        let sender = EventSender::new(sender, wake);
        let (finder, finder_requests) = RequestQueue::new(N_REQUESTS);
        let (downloader, downloader_requests) = RequestQueue::new(N_REQUESTS);
        let (finder_events, downloader_events) = (sender.clone(), sender.clone());
        let finder_config = config.clone();
        let threads = [
            thread::Builder::new()
                .name("hub-finder".to_owned())
                .spawn(move || Finder::new(finder_config, finder_requests, finder_events).run()),
            thread::Builder::new()
                .name("hub-downloader".to_owned())
                .spawn(move || {
                    Downloader::new(config, downloader_requests, downloader_events).run();
                }),
        ];
        let started = threads.into_iter().filter_map(|spawned| match spawned {
            Ok(thread) => Some(thread),
            Err(error) => {
                let message = format!(
                    "a download thread could not be started: {}",
                    io_words(&error)
                );
                sender.send_first(DownloadEvent::Panicked { message });
                None
            }
        });
        Self {
            finder,
            downloader,
            events: Some(events),
            threads: started.collect(),
        }
    }

    /// Sends a request without blocking.
    pub fn send(&mut self, request: DownloadRequest) {
        let queue = match request {
            DownloadRequest::Search { .. }
            | DownloadRequest::Files { .. }
            | DownloadRequest::Cached => &mut self.finder,
            DownloadRequest::Download(_)
            | DownloadRequest::Pause(_)
            | DownloadRequest::Cancel(_) => &mut self.downloader,
        };
        queue.send(request);
    }

    /// Returns the events that have arrived, at most `n_max` of them.
    pub fn drain(&mut self, n_max: usize) -> Vec<DownloadEvent> {
        self.flush();
        let events = self.events.iter().flat_map(Receiver::try_iter);
        events.take(n_max).collect()
    }

    /// Waits for the next event. Returns `None` if both threads have ended.
    pub fn wait(&mut self) -> Option<DownloadEvent> {
        self.flush();
        self.events.as_ref()?.recv().ok()
    }

    fn flush(&mut self) {
        self.finder.flush();
        self.downloader.flush();
    }
}

impl Drop for Downloads {
    fn drop(&mut self) {
        // Closing all channels first unblocks a thread that waits on any of them.
        self.finder.close();
        self.downloader.close();
        self.events = None;
        for thread in self.threads.drain(..) {
            // A panic has already been reported as an event.
            thread.join().ok();
        }
    }
}
