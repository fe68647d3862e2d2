//! Runs the real program on a virtual display: the window opens, text streams into four panes, and
//! the window can be closed at any time.
#![cfg(target_os = "linux")]

use crate::display::{Display, Started};

const QUARTET: &str = env!("CARGO_BIN_EXE_quartet");

#[test]
fn four_panes_fill_with_text_after_ctrl_enter() {
    let display = Display::start();
    let _app = Started::new(&mut display.command(QUARTET));
    let (_, before) = display.ready();
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
    // The window saves the run once all texts have ended.
    display.wait_for_file(".quartet.json.gz");

    assert!(
        seen.len() >= 3,
        "the text appeared in one go instead of streaming: {seen:?}"
    );
}

#[test]
fn a_window_closed_while_it_generates_exits_and_can_be_opened_again() {
    let display = Display::start();
    for _ in 0..2 {
        let mut app = Started::new(&mut display.command(QUARTET));
        let (window, before) = display.ready();
        display.press_ctrl_enter();
        display.wait_for_text(&before);
        display.close(window);
        assert!(app.end().success());
    }
}
