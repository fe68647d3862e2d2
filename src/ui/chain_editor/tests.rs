//! Tests of the editor as a user operates it, by the names of its controls.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::decoding::filters::{Dry, LogitBias, TopP};
use crate::decoding::rules::BeamScores;
use crate::decoding::{Filter, Selector, TokenId};
use crate::state::tests::written;
use crate::state::{Command, PaneStatus};
use crate::ui::testing::{Window, key, press, window_of};

/// Opens a window with four texts and the editor of pane D: temperature 0.7, then top-p 0.9.
fn editor() -> Window {
    editor_in(vec2(1280.0, 800.0))
}

fn editor_in(size: Vec2) -> Window {
    let mut window = window_of(size, written());
    press(&mut window, "How D chooses");
    window
}

/// Returns the chain of pane D.
fn chain(window: &Window) -> String {
    window.state().panes[3].settings.chain.to_string()
}

/// Drags a control without releasing it.
fn drag(window: &mut Window, name: &str, by: Vec2) -> Pos2 {
    let from = window.get_by_label(name).rect().center();
    window.hover_at(from);
    window.step();
    window.drag_at(from);
    window.step();
    for part in 1..=4 {
        window.hover_at(from + by * (part as f32 / 4.0));
        window.step();
    }
    from + by
}

/// Chooses an item of the menu of the whole chain.
#[track_caller]
fn choose(window: &mut Window, item: &str) {
    press(window, "More commands for the chain");
    press(window, item);
}

fn editor_rect(window: &Window) -> egui::Rect {
    window.get_by_label("Close the editor").rect()
}

#[test]
fn dragging_moves_a_stage_and_nothing_else() {
    let mut window = editor();
    let before = editor_rect(&window);
    let to = drag(&mut window, "Move Temperature", vec2(4.0, 90.0));
    assert_eq!(
        chain(&window),
        "T 0.7 › top-p 0.9",
        "unchanged until released"
    );
    assert_eq!(editor_rect(&window), before);
    window.drop_at(to);
    window.run_steps(4);
    assert_eq!(chain(&window), "top-p 0.9 › T 0.7");
    assert_eq!(editor_rect(&window), before);
    assert_eq!(
        window.state().undo.undo_label(),
        Some("temperature moved in D")
    );
}

#[test]
fn the_effects_are_those_at_a_named_token_even_under_new_settings() {
    let mut window = editor();
    let pane = window.state().panes[3].id;
    for (p, kept) in [(0.95, "Keeps 4 here"), (0.6, "Keeps 2 here")] {
        let mut chain = window.state().panes[3].settings.chain.clone();
        chain.stages[1].filter = Filter::TopP(TopP { p });
        window.state_mut().apply(Command::SetChain(pane, chain));
        window.run_steps(3);
        let shows = |words: &str| window.query_all_by_label_contains(words).count();
        assert_eq!(shows("At token 3, ‘"), 1);
        assert_eq!(shows(" bits here"), 1);
        window.get_by_label(kept);
    }
}

#[test]
fn escape_cancels_a_drag_and_leaves_the_editor_open() {
    let mut window = editor();
    let to = drag(&mut window, "Move Temperature", vec2(0.0, 90.0));
    key(&mut window, Modifiers::NONE, Key::Escape);
    window.drop_at(to);
    window.run_steps(4);
    assert_eq!(chain(&window), "T 0.7 › top-p 0.9");
    window.get_by_label("Close the editor");
}

#[test]
fn arrow_keys_move_a_stage_and_keep_the_focus() {
    let mut window = editor();
    press(&mut window, "Add Top-k");
    assert_eq!(chain(&window), "T 0.7 › top-k 40 › top-p 0.9");
    window.get_by_label("Move Temperature").focus();
    window.run_steps(2);
    for (pressed, expected) in [
        (Key::ArrowDown, "top-k 40 › T 0.7 › top-p 0.9"),
        (Key::ArrowDown, "top-k 40 › top-p 0.9 › T 0.7"),
        (Key::ArrowDown, "top-k 40 › top-p 0.9 › T 0.7"),
        (Key::ArrowUp, "top-k 40 › T 0.7 › top-p 0.9"),
    ] {
        key(&mut window, Modifiers::NONE, pressed);
        assert_eq!(chain(&window), expected);
        assert!(window.get_by_label("Move Temperature").is_focused());
    }
}

#[test]
fn solo_switches_the_other_stages_off_and_on_again() {
    let mut window = editor();
    press(&mut window, "Solo Top-p");
    assert_eq!(chain(&window), "top-p 0.9");
    press(&mut window, "Unsolo Top-p");
    assert_eq!(chain(&window), "T 0.7 › top-p 0.9");
}

fn click(window: &mut Window, at: Pos2) {
    for pressed in [true, false] {
        window.hover_at(at);
        window.event(Event::PointerButton {
            pos: at,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        window.step();
    }
}

#[test]
fn a_double_click_on_a_slider_neutralizes_it_in_one_undo_step() {
    let mut window = editor();
    let slider = window.get_by_role_and_label(Role::Slider, "Top-p");
    let at = slider.rect().center();
    click(&mut window, at);
    click(&mut window, at);
    window.run_steps(3);
    assert_eq!(chain(&window), "T 0.7");
    assert_eq!(window.state().undo.undo_label(), Some("top-p of D"));
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(chain(&window), "T 0.7 › top-p 0.9");
    assert_eq!(window.state().undo.undo_label(), None);
}

#[test]
fn keys_and_buttons_undo_and_redo() {
    let mut window = editor();
    press(&mut window, "Add Top-k");
    press(&mut window, "Mute Temperature");
    assert_eq!(chain(&window), "top-k 40 › top-p 0.9");
    choose(&mut window, "Undo: temperature muted in D");
    assert_eq!(chain(&window), "T 0.7 › top-k 40 › top-p 0.9");
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(chain(&window), "T 0.7 › top-p 0.9");
    key(&mut window, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    assert_eq!(chain(&window), "T 0.7 › top-k 40 › top-p 0.9");
    key(&mut window, Modifiers::COMMAND, Key::Y);
    assert_eq!(chain(&window), "top-k 40 › top-p 0.9");
}

#[test]
fn a_text_field_handles_undo_itself() {
    let mut window = editor();
    press(&mut window, "Add Top-k");
    key(&mut window, Modifiers::NONE, Key::Escape);
    window
        .get_by_role_and_label(Role::MultilineTextInput, "Prompt")
        .focus();
    window.run_steps(2);
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(window.state().undo.undo_label(), Some("top-k added to D"));
}

#[test]
fn leaving_a_box_untouched_does_not_change_its_number() {
    let mut window = editor();
    let pane = window.state().panes[3].id;
    let mut chain_before = window.state().panes[3].settings.chain.clone();
    chain_before.stages[1].filter = Filter::TopP(TopP { p: 0.995 });
    let command = Command::SetChain(pane, chain_before.clone());
    window.state_mut().apply(command);
    window.run_steps(3);
    window
        .get_by_role_and_label(Role::SpinButton, "Top-p")
        .focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Tab);
    assert_eq!(window.state().panes[3].settings.chain, chain_before);
}

#[test]
fn a_typed_number_is_used_when_the_panes_start() {
    for (typed, by_button) in [("1.5", false), ("1,5", true)] {
        let mut window = editor();
        window
            .get_by_role_and_label(Role::SpinButton, "Temperature")
            .focus();
        window.run_steps(2);
        key(&mut window, Modifiers::COMMAND, Key::A);
        window.event(Event::Text(typed.to_owned()));
        window.run_steps(2);
        assert_eq!(chain(&window), "T 0.7 › top-p 0.9");
        if by_button {
            let button = window.get_by_label("Generate").rect().center();
            click(&mut window, button);
        } else {
            key(&mut window, Modifiers::COMMAND, Key::Enter);
        }
        assert_eq!(chain(&window), "T 1.5 › top-p 0.9");
        let PaneStatus::Waiting { pending } = &window.state().panes[3].status else {
            panic!("the pane was not asked to generate");
        };
        assert_eq!(pending.config.chain.to_string(), "T 1.5 › top-p 0.9");
    }
}

#[test]
fn a_number_too_large_for_32_bits_is_ignored() {
    let mut window = editor();
    let number = window.get_by_role_and_label(Role::SpinButton, "Temperature");
    number.set_value_accesskit(1e39);
    window.run_steps(4);
    assert_eq!(chain(&window), "T 0.7 › top-p 0.9");
}

#[test]
fn every_selector_can_be_chosen() {
    let mut window = editor();
    let mut before = Selector::Multinomial;
    let others = Selector::SPECS.into_iter().skip(1).map(|spec| spec.usual);
    for selector in others.chain([Selector::Multinomial]) {
        press(&mut window, &format!("Draw: {}", before.spec().label));
        press(&mut window, selector.spec().label);
        let chosen = window.state().panes[3].settings.chain.selector;
        assert_eq!(chosen, selector);
        let has_seed = window.query_by_label("Own seed").is_some();
        assert_eq!(has_seed, !selector.is_deterministic(), "{selector}");
        before = selector;
    }
    press(&mut window, "Draw: Sample");
    press(&mut window, "Mirostat v2");
    let number = "Mirostat v2, target surprise, bits";
    let number = window.get_by_role_and_label(Role::SpinButton, number);
    number.set_value_accesskit(-1.0);
    window.run_steps(4);
    window.get_by_label("Mirostat v2 target surprise must be 0 or more");
    assert_eq!(window.state().undo.undo_label(), Some("mirostat v2 of D"));
}

#[test]
fn the_scores_of_a_beam_search_can_be_chosen() {
    let mut window = editor();
    assert!(window.query_by_label("Scores: Logits").is_none());
    press(&mut window, "Draw: Sample");
    press(&mut window, "Beam search");
    for scores in BeamScores::ALL.into_iter().rev() {
        press(&mut window, &format!("Scores: {}", scores.name()));
        let rules = window.state().panes[3].settings.chain.rules;
        assert_eq!(rules.beam_scores, scores);
    }
    choose(&mut window, "Undo: settings of D");
    let rules = window.state().panes[3].settings.chain.rules;
    assert_eq!(rules.beam_scores, BeamScores::LogProbs);
}

#[test]
fn escape_closes_a_menu_before_the_editor() {
    let mut window = editor();
    for _ in 0..2 {
        press(&mut window, "Draw: Sample");
        window.get_by_label("Adaptive-p");
        key(&mut window, Modifiers::NONE, Key::Escape);
        assert!(window.query_by_label("Adaptive-p").is_none());
        window.get_by_label("Close the editor");
    }
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(window.query_by_label("Close the editor").is_none());
}

#[test]
fn all_stages_are_neutralized_in_one_undo_step() {
    let mut window = editor();
    choose(&mut window, "Set all to neutral");
    assert_eq!(chain(&window), "T 1");
    assert_eq!(window.state().panes[3].settings.chain.stages.len(), 2);
    choose(&mut window, "Undo: settings of D");
    assert_eq!(chain(&window), "T 0.7 › top-p 0.9");
}

#[test]
fn a_pane_can_have_its_own_seed() {
    let mut window = editor();
    press(&mut window, "Own seed");
    assert_eq!(window.state().panes[3].settings.seed, Some(42));
    // All digits count, and an invalid seed changes nothing.
    type_into(&mut window, "Seed of this pane", "12345678901234567891");
    let seed = |window: &Window| window.state().panes[3].settings.seed;
    assert_eq!(seed(&window), Some(12_345_678_901_234_567_891));
    type_into(&mut window, "Seed of this pane", "0");
    assert_eq!(seed(&window), Some(12_345_678_901_234_567_891));
    press(&mut window, "Shared seed");
    assert_eq!(window.state().panes[3].settings.seed, None);
}

#[test]
fn tokens_can_be_found_biased_and_banned() {
    let mut window = editor();
    press(&mut window, "Offer more stages");
    press(&mut window, "Add Logit bias");
    let biased = |window: &Window| match &window.state().panes[3].settings.chain.stages[0].filter {
        Filter::LogitBias(filter) => filter.clone(),
        other => panic!("{other}"),
    };
    type_into(&mut window, "Find a token", "fox");
    press(&mut window, "Add token 5 as banned");
    type_into(&mut window, "Find a token", "4");
    key(&mut window, Modifiers::NONE, Key::Enter);
    let number = window.get_by_role_and_label(Role::SpinButton, "Bias of token 4");
    number.set_value_accesskit(2.5);
    window.run_steps(3);
    let filter = biased(&window);
    assert_eq!(filter.banned, [TokenId(5)]);
    assert_eq!(
        (filter.biases[0].token, filter.biases[0].bias),
        (TokenId(4), 2.5)
    );
    press(&mut window, "Remove token 5");
    press(&mut window, "Remove token 4");
    assert_eq!(biased(&window), LogitBias::default());
    type_into(&mut window, "Find a token", "zebra");
    window.get_by_label("No token of this model matches");
}

#[test]
fn a_breaker_typed_as_text_becomes_tokens() {
    let mut window = editor();
    press(&mut window, "Offer more stages");
    press(&mut window, "Add DRY");
    press(&mut window, "More settings of DRY");
    let breakers = |window: &Window| match &window.state().panes[3].settings.chain.stages[0].filter
    {
        Filter::Dry(filter) => filter.breakers.clone(),
        other => panic!("{other}"),
    };
    type_into(&mut window, "Another breaker", ".\\n\\n");
    press(&mut window, "Add the breaker");
    assert_eq!(breakers(&window), [vec![TokenId(6), TokenId(7)]]);
    type_into(&mut window, "Another breaker", "zebra");
    press(&mut window, "Add the breaker");
    window.get_by_label("This model has no tokens for ‘zebra’");
    press(&mut window, "Remove breaker .↵↵");
    assert!(breakers(&window).is_empty());
}

#[test]
fn of_many_breakers_some_are_shown_and_all_can_be_removed() {
    let mut window = editor();
    let pane = window.state().panes[3].id;
    let mut chain = window.state().panes[3].settings.chain.clone();
    let breakers = (0..1000).map(|id| vec![TokenId(id)]).collect();
    let dry = Dry {
        multiplier: 0.8,
        breakers,
        ..Dry::default()
    };
    chain.stages.insert(0, Filter::Dry(dry).into());
    window.state_mut().apply(Command::SetChain(pane, chain));
    window.run_steps(3);
    press(&mut window, "More settings of DRY");
    window.get_by_label("and 976 more");
    press(&mut window, "Remove all");
    assert!(window.query_by_label("and 976 more").is_none());
    press(&mut window, "The usual four");
    window.get_by_label("Remove breaker ↵↵");
}

#[track_caller]
fn type_into(window: &mut Window, field: &str, text: &str) {
    window.get_by_role_and_label(Role::TextInput, field).focus();
    window.run_steps(2);
    window
        .get_by_role_and_label(Role::TextInput, field)
        .type_text(text);
    window.run_steps(3);
}

#[test]
fn with_every_stage_the_editor_fits_the_window_and_every_control_has_a_name() {
    for size in [vec2(1280.0, 800.0), vec2(1024.0, 700.0), vec2(720.0, 520.0)] {
        let mut window = editor_in(size);
        let pane = window.state().panes[3].id;
        let mut chain = window.state().panes[3].settings.chain.clone();
        for filter in super::usual::lacking(&chain, true) {
            chain.stages.push(filter.into());
        }
        window.state_mut().apply(Command::SetChain(pane, chain));
        window.run_steps(3);
        press(&mut window, "More settings of Repetition penalty");
        press(&mut window, "Draw: Sample");
        press(&mut window, "Mirostat v1");
        for last in ["Close the editor", "Own seed"] {
            let rect = window.get_by_label(last).rect();
            let inside = egui::Rect::from_min_size(Pos2::ZERO, size);
            assert!(inside.contains_rect(rect), "{size} {last} {rect}");
        }
        window.check_accessibility();
    }
}

#[test]
fn after_the_order_changes_the_whole_editor_stays_in_the_window() {
    for size in [
        vec2(1280.0, 800.0),
        vec2(1920.0, 1080.0),
        vec2(900.0, 600.0),
    ] {
        let mut window = editor_in(size);
        choose(&mut window, "Order…");
        press(&mut window, "its defaults");
        press(&mut window, "llama.cpp");
        let inside = egui::Rect::from_min_size(Pos2::ZERO, size);
        for part in ["Close the editor", "Draw: Sample", "Own seed"] {
            let rect = window.get_by_label(part).rect();
            assert!(inside.contains_rect(rect), "{size} {part} {rect}");
        }
    }
}
