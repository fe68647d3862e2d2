//! Embeds the icon, version and manifest in the Windows programs. Does nothing on other systems.

fn main() {
    #[cfg(windows)]
    windows::add_resources();
}

#[cfg(windows)]
mod windows {
    #[expect(clippy::expect_used, reason = "a build that fails must say why")]
    pub(super) fn add_resources() {
        let mut resources = winresource::WindowsResource::new();
        resources
            .set_icon("assets/windows/quartet.ico")
            .set_manifest_file("assets/windows/quartet.manifest")
            .set("ProductName", "Quartet")
            .set("FileDescription", "Quartet");
        resources
            .compile()
            .expect("the icon and the manifest could not be added");
    }
}
