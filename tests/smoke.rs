//! Runs the real program on a virtual display: the window opens and text streams into four panes.
#![cfg(target_os = "linux")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a failing test may panic, also in its helpers"
)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, ImageFormat, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    Window,
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

#[test]
fn four_panes_fill_with_text_after_ctrl_enter() {
    let display = Display::start();
    let _app = Started(
        Command::new(env!("CARGO_BIN_EXE_quartet"))
            .env("DISPLAY", &display.name)
            .env("XDG_DATA_HOME", display.home.path())
            .env("XDG_CONFIG_HOME", display.home.path())
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env_remove("WAYLAND_DISPLAY")
            .spawn()
            .unwrap(),
    );

    let window = display.wait_for("the window", |display| display.window_titled("Quartet"));
    display.wait_for("the keyboard", |display| display.focus(window));
    let before = display.wait_for("a still picture", Display::still_picture);
    let empty = before.ink_of_panes();

    display.press_ctrl_enter();

    let mut seen = vec![empty];
    display.wait_for("four panes of text", |display| {
        let ink = display.picture().ink_of_panes();
        if seen.last() != Some(&ink) {
            seen.push(ink);
        }
        let all_grew = ink.iter().zip(empty).all(|(now, then)| *now > then + 500);
        all_grew.then_some(())
    });
    display.wait_for("the end of the texts", Display::still_picture);

    assert!(
        seen.len() >= 3,
        "the text appeared in one go instead of streaming: {seen:?}"
    );
}

/// A process that is killed at the end of the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A virtual display and a connection to it.
struct Display {
    name: String,
    home: tempfile::TempDir,
    connection: RustConnection,
    root: Window,
    _server: Started,
}

/// A screenshot: four bytes per pixel (blue, green, red, unused).
#[derive(PartialEq)]
struct Picture(Vec<u8>);

impl Display {
    fn start() -> Self {
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

    fn wait_for<T>(&self, what: &str, mut check: impl FnMut(&Self) -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(found) = check(self) {
                return found;
            }
            assert!(started.elapsed() < TIMEOUT, "timed out waiting for {what}");
            sleep(Duration::from_millis(10));
        }
    }

    fn window_titled(&self, title: &str) -> Option<Window> {
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

    /// Gives the window the keyboard focus, because there is no window manager to do so. Fails
    /// while the window is not on the screen yet.
    fn focus(&self, window: Window) -> Option<()> {
        self.connection
            .set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)
            .unwrap()
            .check()
            .ok()
    }

    fn press_ctrl_enter(&self) {
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

    fn picture(&self) -> Picture {
        let image = self
            .connection
            .get_image(ImageFormat::Z_PIXMAP, self.root, 0, 0, WIDTH, HEIGHT, !0)
            .unwrap()
            .reply()
            .unwrap();
        Picture(image.data)
    }

    /// Returns the picture once it is not blank and has not changed for a second.
    fn still_picture(&self) -> Option<Picture> {
        let before = self.picture();
        sleep(Duration::from_secs(1));
        let after = self.picture();
        (before == after && !before.is_blank()).then_some(after)
    }
}

impl Picture {
    /// Counts the pixels in the upper part of each pane that differ from its background.
    fn ink_of_panes(&self) -> [usize; 4] {
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
