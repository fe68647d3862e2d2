//! A virtual display, and the program's window on it.

#![allow(dead_code, reason = "each test crate uses only some of this module")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a failing helper fails the test that called it"
)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, ImageFormat, InputFocus,
    KEY_PRESS_EVENT, KEY_RELEASE_EVENT, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

const WIDTH: u16 = 1280;
const HEIGHT: u16 = 800;

/// X11 key codes on the virtual display.
const CONTROL: u8 = 37;
const RETURN: u8 = 36;

/// How long to wait before the test fails, far longer than anything should take.
const TIMEOUT: Duration = Duration::from_mins(2);

/// A process that is killed at the end of the test.
pub(crate) struct Started(Child);

impl Started {
    pub(crate) fn new(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// Waits until the process has exited on its own.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < TIMEOUT, "the program did not end");
            sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A virtual display and a connection to it.
pub(crate) struct Display {
    name: String,
    home: tempfile::TempDir,
    connection: RustConnection,
    root: Window,
    _server: Started,
}

/// A screenshot: four bytes per pixel (blue, green, red, unused).
#[derive(PartialEq)]
pub(crate) struct Picture(Vec<u8>);

impl Display {
    pub(crate) fn start() -> Self {
        let screen = format!("{WIDTH}x{HEIGHT}x24");
        let mut server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                &screen,
                "-nolisten",
                "tcp",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is missing: install it, on Debian and Ubuntu with `.ci/setup --test`");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut number)
            .unwrap();
        let name = format!(":{}", number.trim());
        let server = Started(server);
        let (connection, index) = x11rb::connect(Some(&name)).unwrap();
        let root = connection.setup().roots[index].root;
        Self {
            name,
            home: tempfile::tempdir().unwrap(),
            connection,
            root,
            _server: server,
        }
    }

    /// Returns a command that runs the program, or a wrapper such as strace, on this display. Its
    /// files go to a temporary folder.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .env("DISPLAY", &self.name)
            .env("XDG_DATA_HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path())
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env_remove("WAYLAND_DISPLAY");
        command
    }

    /// Returns the folder where the program keeps its files.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Waits for the window, gives it the keyboard focus, and waits until it has drawn itself.
    pub(crate) fn ready(&self) -> (Window, Picture) {
        let window = self.wait_for("the window", |display| display.window_titled("Quartet"));
        self.wait_for("the keyboard", |display| display.focus(window));
        (
            window,
            self.wait_for("a still picture", Self::still_picture),
        )
    }

    /// Waits until the program has saved a file whose path ends like this.
    pub(crate) fn wait_for_file(&self, ending: &str) {
        self.wait_for(ending, |display| {
            let mut files = files_in(display.home()).into_iter();
            files.find(|path| path.to_string_lossy().ends_with(ending))
        });
    }

    /// Waits until the panes show text that they did not show before.
    pub(crate) fn wait_for_text(&self, before: &Picture) {
        let empty = before.ink_of_panes();
        self.wait_for("text in the panes", |display| {
            let ink = display.picture().ink_of_panes();
            ink.iter()
                .zip(empty)
                .all(|(now, then)| *now > then + 100)
                .then_some(())
        });
    }

    /// Asks the window to close, as its close button does.
    pub(crate) fn close(&self, window: Window) {
        let atom = |name: &str| -> Atom {
            let reply = self.connection.intern_atom(false, name.as_bytes());
            reply.unwrap().reply().unwrap().atom
        };
        let data = [atom("WM_DELETE_WINDOW"), x11rb::CURRENT_TIME, 0, 0, 0];
        let message = ClientMessageEvent::new(32, window, atom("WM_PROTOCOLS"), data);
        let sent = self
            .connection
            .send_event(false, window, EventMask::NO_EVENT, message);
        sent.unwrap().check().unwrap();
    }

    pub(crate) fn wait_for<T>(&self, what: &str, mut check: impl FnMut(&Self) -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(found) = check(self) {
                return found;
            }
            assert!(started.elapsed() < TIMEOUT, "timed out waiting for {what}");
            sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn window_titled(&self, title: &str) -> Option<Window> {
        let windows = self
            .connection
            .query_tree(self.root)
            .unwrap()
            .reply()
            .ok()?;
        windows.children.into_iter().find(|window| {
            let name = self.connection.get_property(
                false,
                *window,
                AtomEnum::WM_NAME,
                AtomEnum::ANY,
                0,
                64,
            );
            let name = name.unwrap().reply();
            name.is_ok_and(|name| name.value == title.as_bytes())
        })
    }

    /// Gives the window the keyboard focus, because there is no window manager to do so. Returns
    /// `None` while the window is not on the screen yet.
    pub(crate) fn focus(&self, window: Window) -> Option<()> {
        self.connection
            .set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)
            .unwrap()
            .check()
            .ok()
    }

    pub(crate) fn press_ctrl_enter(&self) {
        for (kind, key) in [
            (KEY_PRESS_EVENT, CONTROL),
            (KEY_PRESS_EVENT, RETURN),
            (KEY_RELEASE_EVENT, RETURN),
            (KEY_RELEASE_EVENT, CONTROL),
        ] {
            self.connection
                .xtest_fake_input(kind, key, x11rb::CURRENT_TIME, self.root, 0, 0, 0)
                .unwrap()
                .check()
                .unwrap();
        }
    }

    pub(crate) fn picture(&self) -> Picture {
        let image = self
            .connection
            .get_image(ImageFormat::Z_PIXMAP, self.root, 0, 0, WIDTH, HEIGHT, !0)
            .unwrap()
            .reply()
            .unwrap();
        Picture(image.data)
    }

    /// Returns the picture once it is not blank and has not changed for a second.
    pub(crate) fn still_picture(&self) -> Option<Picture> {
        let before = self.picture();
        sleep(Duration::from_secs(1));
        let after = self.picture();
        (before == after && !before.is_blank()).then_some(after)
    }
}

/// Returns all files in a folder and in the folders within.
pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files_in(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

impl Picture {
    /// Counts the pixels in the upper part of each pane that differ from its background.
    pub(crate) fn ink_of_panes(&self) -> [usize; 4] {
        [0, 1, 2, 3].map(|pane| {
            let left = 20 + pane * 316;
            let brightness: Vec<i32> = (195..440)
                .flat_map(|y| (left..left + 290).map(move |x| (x, y)))
                .map(|(x, y)| self.brightness(x, y))
                .collect();
            let mut sorted = brightness.clone();
            sorted.sort_unstable();
            let background = sorted[sorted.len() / 2];
            brightness
                .iter()
                .filter(|value| (**value - background).abs() > 90)
                .count()
        })
    }

    fn brightness(&self, x: usize, y: usize) -> i32 {
        let start = (y * usize::from(WIDTH) + x) * 4;
        let sum: u32 = self.0[start..start + 3]
            .iter()
            .copied()
            .map(u32::from)
            .sum();
        i32::try_from(sum / 3).unwrap()
    }

    fn is_blank(&self) -> bool {
        self.0.chunks_exact(4).all(|pixel| pixel == &self.0[..4])
    }
}
