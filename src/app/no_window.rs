//! Says why the window could not be opened, without the words of the libraries that open it.

use eframe::Error;

/// What the environment says about displays.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Display {
    /// Whether the system tells programs of its display by a variable.
    is_named: bool,
    /// The first variable that names a display, with its value: "DISPLAY=:0".
    name: Option<String>,
}

impl Display {
    fn of_environment() -> Self {
        let names = ["WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY"];
        let value = |name: &str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some(format!("{name}={}", value.to_string_lossy()))
        };
        Self {
            is_named: cfg!(target_os = "linux"),
            name: names.into_iter().find_map(value),
        }
    }
}

/// Returns the message for the command line.
pub(super) fn no_window_words(error: &Error) -> String {
    let reason = reason(error, &Display::of_environment());
    format!(
        "could not open the window: {reason}; the commands work without a window: see quartet --help"
    )
}

fn reason(error: &Error, display: &Display) -> String {
    match (error, &display.name) {
        // Our own words.
        (Error::AppCreation(error), _) => error.to_string(),
        (_, None) if display.is_named => {
            "there is no display; set DISPLAY or WAYLAND_DISPLAY".to_owned()
        }
        (Error::Winit(_) | Error::WinitEventLoop(_), Some(name)) => {
            format!("the display can’t be used ({name})")
        }
        (Error::Winit(_) | Error::WinitEventLoop(_), None) => {
            "the system offers no display".to_owned()
        }
        (Error::Glutin(_) | Error::NoGlutinConfigs(..) | Error::OpenGL(_), _) => {
            "the display offers no OpenGL that Quartet can use; a newer graphics driver may help"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use eframe::Error;

    use super::{Display, reason};

    #[test]
    fn a_window_that_fails_to_open_names_no_library_and_no_path_of_the_build() {
        let display = |is_named, name: Option<&str>| Display {
            is_named,
            name: name.map(str::to_owned),
        };
        let lost = || Error::AppCreation("the disk is full".into());
        assert_eq!(reason(&lost(), &display(true, None)), "the disk is full");
        let opengl = Error::OpenGL("GL 1.1 at glow/src/native.rs:12".to_owned().into());
        let said = reason(&opengl, &display(true, Some("DISPLAY=:0")));
        assert!(said.starts_with("the display offers no OpenGL"), "{said}");
        let said = reason(&opengl, &display(true, None));
        assert!(
            said.starts_with("there is no display; set DISPLAY"),
            "{said}"
        );
        assert!(!said.contains("GL 1.1") && !said.contains(".rs"), "{said}");
    }
}
