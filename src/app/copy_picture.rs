//! Draws pictures for the clipboard on background threads.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use eframe::egui::{self, ColorImage};

use crate::state::Command;
use crate::ui::documents::{Content, Render};
use crate::ui::pictures::{Pixels, pixels};

/// How many finished pictures can wait for the next frame.
const N_WAITING: usize = 4;

/// The pictures that are being drawn for the clipboard.
pub(super) struct Copies {
    sender: SyncSender<ColorImage>,
    finished: Receiver<ColorImage>,
}

impl Default for Copies {
    fn default() -> Self {
        let (sender, finished) = sync_channel(N_WAITING);
        Self { sender, finished }
    }
}

impl Copies {
    /// Draws a picture on a background thread, at `scale` pixels per point. Reports a failure as a
    /// command.
    pub(super) fn start(
        &self,
        ctx: &egui::Context,
        render: Result<Render, String>,
        scale: u8,
        answers: SyncSender<Command>,
    ) {
        let (ctx, sender) = (ctx.clone(), self.sender.clone());
        let draw = move || {
            match render.and_then(|render| painted(render()?, scale)) {
                Ok(pixels) => {
                    let image = ColorImage::from_rgba_premultiplied(pixels.size, &pixels.rgba);
                    // The receiver is gone if the app was closed.
                    sender.send(image).ok();
                }
                Err(error) => {
                    let failed = Command::CopyPictureFailed(error);
                    answers.send(failed).ok();
                }
            }
            ctx.request_repaint();
        };
        // If no thread can be started, nothing is copied, and the user can try again.
        let thread = thread::Builder::new().name("copy picture".to_owned());
        thread.spawn(draw).ok();
    }

    /// Copies the pictures drawn since the last call. Only the window's thread may use the
    /// clipboard.
    pub(super) fn hand_over(&self, ctx: &egui::Context) {
        for image in self.finished.try_iter() {
            ctx.copy_image(image);
        }
    }
}

/// Paints a rendered SVG.
fn painted(content: Content, scale: u8) -> Result<Pixels, String> {
    let Content::File(svg) = content else {
        return Err("it is no picture".to_owned());
    };
    let svg = String::from_utf8(svg).map_err(|error| error.to_string())?;
    pixels(&svg, scale.into()).map_err(|error| error.to_string())
}
