//! The window's end of the border to the Hub: sends requests, takes events, ends the threads.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

use super::download_thread::{Carrier, Finder, Mailbox};
use super::lane::Lane;
use super::{DownloadEvent, DownloadRequest};
use crate::hub::HubConfig;

/// How many events wait before the threads do.
const N_EVENTS: usize = 256;

/// How many requests wait in a channel.
const N_REQUESTS: usize = 64;

/// Two threads: one finds models, so that a search answers while the other brings one. Dropped, they
/// end; a download that is under way is paused, and its part is kept.
#[derive(Debug)]
pub struct Downloads {
    finder: Lane<DownloadRequest>,
    carrier: Lane<DownloadRequest>,
    events: Option<Receiver<DownloadEvent>>,
    threads: Vec<JoinHandle<()>>,
}

impl Downloads {
    /// Starts the threads, which contact nobody before they are asked. They call `wake` after each
    /// event.
    pub fn start(config: HubConfig, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (sender, events) = sync_channel(N_EVENTS);
        let mailbox = Mailbox::new(sender, Arc::new(wake));
        let (finder, to_find) = Lane::new(N_REQUESTS);
        let (carrier, to_carry) = Lane::new(N_REQUESTS);
        let (finding, carrying) = (mailbox.clone(), mailbox.clone());
        let finder_config = config.clone();
        let threads = [
            thread::Builder::new()
                .name("hub-finder".to_owned())
                .spawn(move || Finder::new(finder_config, to_find, finding).run()),
            thread::Builder::new()
                .name("hub-carrier".to_owned())
                .spawn(move || Carrier::new(config, to_carry, carrying).run()),
        ];
        let started = threads.into_iter().filter_map(|spawned| match spawned {
            Ok(thread) => Some(thread),
            Err(error) => {
                mailbox.report_unstarted(&error);
                None
            }
        });
        Self {
            finder,
            carrier,
            events: Some(events),
            threads: started.collect(),
        }
    }

    /// Asks for something. Never waits.
    pub fn send(&mut self, request: DownloadRequest) {
        let lane = match request {
            DownloadRequest::Search { .. }
            | DownloadRequest::Files { .. }
            | DownloadRequest::Cached => &mut self.finder,
            DownloadRequest::Download(_)
            | DownloadRequest::Pause(_)
            | DownloadRequest::Cancel(_) => &mut self.carrier,
        };
        lane.send(request);
    }

    /// The events that have come, at most `n_max` of them.
    pub fn drain(&mut self, n_max: usize) -> Vec<DownloadEvent> {
        self.flush();
        let events = self.events.iter().flat_map(Receiver::try_iter);
        events.take(n_max).collect()
    }

    /// Waits for the next event; nothing when both threads have ended.
    pub fn wait(&mut self) -> Option<DownloadEvent> {
        self.flush();
        self.events.as_ref()?.recv().ok()
    }

    fn flush(&mut self) {
        self.finder.flush();
        self.carrier.flush();
    }
}

impl Drop for Downloads {
    fn drop(&mut self) {
        // All channels are closed first: a thread that waits at any of them goes on and ends.
        self.finder.close();
        self.carrier.close();
        self.events = None;
        for thread in self.threads.drain(..) {
            // A panic has been reported as an event.
            thread.join().ok();
        }
    }
}
