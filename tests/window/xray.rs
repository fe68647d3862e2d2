//! Tests the X-ray and sampling by hand.

use egui::accesskit::Role;
use egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, TouchPhase, vec2,
};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use quartet::decoding::dialect::Dialect;
use quartet::decoding::filters::{Temperature, TopP};
use quartet::decoding::{ChainConfig, Filter, TokenId};
use quartet::generation::{Generation, OriginChange};
use quartet::state::{AppState, DockTab, HandPreset};
use quartet::worker::ModelSource;

use super::{
    DEFAULT_SIZE, ScriptedLm, Window, generate, is_ready, open, press, reciting, settings, wait,
};

fn window(tab: DockTab, size: [f32; 2]) -> Window {
    let mut settings = settings(5);
    if let Some(last) = settings.panes.last_mut() {
        last.chain = ChainConfig::sampled([
            Filter::Temperature(Temperature { temperature: 0.7 }),
            Filter::TopP(TopP { p: 0.5 }),
        ]);
    }
    settings.view.dock_tab = tab;
    settings.by_hand.load_preset(HandPreset::TwoEquals);
    open(settings, size, reciting)
}

/// Opens a window and generates four texts. No token is pinned.
fn written(size: [f32; 2]) -> Window {
    let mut window = window(DockTab::Xray, size);
    generate(&mut window);
    press(&mut window, "Unpin the token");
    window
}

fn is_shown(window: &Window, words: &str) -> bool {
    window.query_all_by_label_contains(words).count() > 0
}

#[test]
fn the_x_ray_shows_a_step_from_the_model_to_the_coin() {
    let mut window = window(DockTab::Xray, DEFAULT_SIZE);
    wait(&mut window, "the model", is_ready);
    window
        .get_by_label("Generate text to see how its latest token was sampled, or click any token");

    let mut window = written(DEFAULT_SIZE);
    let n_steps = window.state().state().generations()[3].map(|text| text.steps.len());
    let n_steps = n_steps.expect("a text");
    window.get_by_label(&format!("Token {n_steps} of {n_steps}"));
    window.get_by_role_and_label(Role::ColumnHeader, "Temperature, 0.7");
    window.get_by_role_and_label(Role::ColumnHeader, "Logit");
    assert!(is_shown(&window, "rank 1, score "));
    assert!(is_shown(&window, ", Softmax "));
    // The candidates that don't fit are one line, which shows them.
    assert!(!is_shown(&window, "cut by top-p 0.5"));
    let hidden = window.get_by_label_contains(" candidates hidden");
    let above = hidden.rect().center() - vec2(0.0, 30.0);
    hidden.click();
    window.run_steps(4);
    window.event(Event::PointerMoved(above));
    for _ in 0..30 {
        scroll_down(&mut window);
        if is_shown(&window, "cut by top-p 0.5") {
            break;
        }
    }
    assert!(is_shown(&window, "cut by top-p 0.5"));
    assert!(is_shown(&window, ", chosen"));
    assert!(is_shown(&window, " falls on ‘"));

    // Muting a stage shows what it would have changed.
    press(&mut window, "Mute Top-p");
    assert!(
        !window
            .state()
            .state()
            .panes
            .get(3)
            .unwrap()
            .settings
            .chain
            .stages[1]
            .enabled
    );
    window.get_by_label("What if");
    assert!(is_shown(&window, " would "));
    press(&mut window, "Unmute Top-p");
    assert!(window.query_by_label("What if").is_none());
}

#[test]
fn neutral_stages_fold_into_one_column() {
    let mut settings = settings(5);
    let chain = Dialect::LlamaCpp.chain();
    let neutral = chain
        .stages
        .iter()
        .filter(|stage| stage.filter.is_neutral());
    let n_neutral = neutral.count();
    if let Some(last) = settings.panes.last_mut() {
        last.chain = chain;
    }
    settings.view.dock_tab = DockTab::Xray;
    let mut window = open(settings, DEFAULT_SIZE, reciting);
    generate(&mut window);
    // The pinned token is where the first pane diverges; the latest one is the last pane's.
    press(&mut window, "Unpin the token");
    let n_heads = |window: &Window| window.query_all_by_role(Role::ColumnHeader).count();
    let n_folded = n_heads(&window);
    let card = window.get_by_label("Copy the explanation").rect();
    for head in window.query_all_by_role(Role::ColumnHeader) {
        let right = head.rect().right();
        assert!(right < card.right() - 300.0, "a column ends at {right}");
    }
    press(&mut window, &format!("Show {n_neutral} neutral stages"));
    assert_eq!(n_heads(&window), n_folded + n_neutral);
    press(&mut window, &format!("Fold {n_neutral} neutral stages"));
    assert_eq!(n_heads(&window), n_folded);
}

#[test]
fn scores_can_be_set_and_sampled_by_hand() {
    let mut window = window(DockTab::Xray, DEFAULT_SIZE);
    press(&mut window, "Lab");
    press(&mut window, "By hand");
    press(&mut window, "Chain of pane A");
    assert!(is_shown(&window, "No coin: always the top token, ‘left’"));
    press(&mut window, "Chain of pane B");
    assert_eq!(window.state().state().hand_pane(), 1);

    window.get_by_label("Coin").focus();
    window.run_steps(2);
    window.key_press(Key::ArrowRight);
    window.run_steps(2);
    assert!(window.state().state().by_hand.coin.is_some());

    press(&mut window, "Draw 1,000");
    press(&mut window, "Draw 1");
    let draws = window.state().state().hand_draws().unwrap().clone();
    assert_eq!(draws.n(), 1001);
    assert!(is_shown(&window, "degrees of freedom, p"));
    assert_eq!(window.state().state().by_hand.coin, None);

    let score = window.get_by_role_and_label(Role::Slider, "Score of ‘right’");
    score.focus();
    window.run_steps(2);
    window.key_press(Key::ArrowLeft);
    window.run_steps(2);
    let by_hand = &window.state().state().by_hand;
    assert!((by_hand.tokens()[1].logit() - 2.4).abs() < 1e-6);
    assert_eq!(window.state().state().hand_draws(), None);

    press(&mut window, "Add a previous token");
    press(&mut window, "down");
    let written: Vec<u32> = window
        .state()
        .state()
        .by_hand
        .history()
        .map(|id| id.0)
        .collect();
    assert_eq!(written, [3]);
    window.key_press(Key::Escape);
    window.run_steps(4);
    press(&mut window, "Remove ‘up’");
    assert_eq!(window.state().state().by_hand.tokens().len(), 4);
    assert!(is_shown(&window, "Remove ‘down’ from the previous tokens"));

    press(&mut window, "Start from");
    press(&mut window, "Confident");
    assert!(is_shown(&window, "‘upon’ rank 1, score 7.00, Softmax 99 %"));

    let n_named = |window: &Window| window.query_all_by_label("How B chooses").count();
    assert_eq!(n_named(&window), 0);
    press(&mut window, "Change how B chooses");
    assert!(n_named(&window) > 0);
}

/// Collapsing the dock moves a text under the pointer.
#[test]
fn a_second_click_that_collapses_the_dock_changes_nothing_above_it() {
    let mut window = written(DEFAULT_SIZE);
    let at = window.get_by_label("Collapse the dock").rect().center();
    let has_focus = |window: &Window| {
        let mut texts = window.query_all_by_label_contains("A fox");
        texts.any(|text| text.accesskit_node().is_focused())
    };
    for _ in 0..2 {
        click(&mut window, at);
        assert_eq!(window.state().state().view.dock_open, Some(false));
        assert!(!has_focus(&window));
    }
    // A click counts again once the pointer has moved.
    click(&mut window, at + vec2(1.0, 0.0));
    assert!(has_focus(&window));
}

/// All tabs have the same height, so no tab moves when another one opens.
#[test]
fn a_click_on_a_tab_moves_no_tab() {
    for size in [
        DEFAULT_SIZE,
        [1024.0, 700.0],
        [900.0, 820.0],
        [1920.0, 1080.0],
    ] {
        let mut window = written(size);
        press(&mut window, "X-ray");
        let before = window.get_by_label("Numbers").rect();
        for tab in ["Loop", "Compare", "Branches", "Numbers", "X-ray", "Plots"] {
            press(&mut window, tab);
            assert_eq!(
                window.get_by_label("Numbers").rect(),
                before,
                "{tab}, {size:?}"
            );
        }
    }
}

fn click(window: &mut Window, at: Pos2) {
    window.event(Event::PointerMoved(at));
    for pressed in [true, false] {
        window.event(Event::PointerButton {
            pos: at,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::default(),
        });
        window.run_steps(1);
    }
    window.run_steps(3);
}

#[test]
fn x_ray_and_by_hand_are_drawn_in_small_and_large_windows() {
    for size in [[1024.0, 700.0], [1920.0, 1080.0], [800.0, 640.0]] {
        let mut window = written(size);
        let open = |state: &AppState| state.view.dock_open != Some(false);
        assert!(open(window.state().state()));
        press(&mut window, "Lab");
        // Where the tabs don't fit, the last ones are in a menu.
        if window.query_by_label("By hand").is_none() {
            press(&mut window, "More tabs: More");
        }
        press(&mut window, "By hand");
        window.get_by_label("Draw 1");
        press(&mut window, "Write");
        press(&mut window, "X-ray");
        assert!(is_shown(&window, " falls on ‘"), "{size:?}");
    }
}

#[test]
fn the_why_card_explains_the_pinned_token_and_copies_the_explanation() {
    let mut window = written(DEFAULT_SIZE);
    assert!(is_shown(&window, "Why ‘"));
    assert!(is_shown(&window, "The model ranked it"));
    assert!(is_shown(&window, "Smallest change: ") || is_shown(&window, "single setting"));
    assert!(is_shown(&window, "A takes ‘") || is_shown(&window, "A diverged at token"));
    press(&mut window, "Copy the explanation");
    // If there is no room for both, only the table is shown.
    let window = written([800.0, 640.0]);
    assert!(!is_shown(&window, "Why ‘"));
}

#[test]
fn the_loop_shows_a_step_in_seven_boxes() {
    let mut empty = window(DockTab::Loop, DEFAULT_SIZE);
    wait(&mut empty, "the model", is_ready);
    empty.get_by_label("Generate text to see how its latest token was made, or click any token");

    for size in [DEFAULT_SIZE, [800.0, 640.0], [1920.0, 1080.0]] {
        let mut window = written(size);
        press(&mut window, "Loop");
        assert!(is_shown(&window, "Box 1 of 7, Tokens: "), "{size:?}");
        assert!(is_shown(&window, "Box 2 of 7, Forward pass: "));
        assert!(is_shown(&window, "Box 6 of 7, Coin: 0."));
        assert!(is_shown(&window, "Box 7 of 7, Append: ‘"));
        // The arrow keys move from step to step.
        window.key_press(Key::ArrowLeft);
        window.run_steps(3);
        window.key_press(Key::ArrowLeft);
        window.run_steps(3);
        let pinned = window.state().state().pin.expect("a pin").step;
        assert!(is_shown(&window, &format!("{pinned} generated")));
    }
}

#[test]
fn compare_shows_every_pair_and_the_measures_of_every_text() {
    let mut empty = window(DockTab::Compare, DEFAULT_SIZE);
    wait(&mut empty, "the model", is_ready);
    empty.get_by_label("Generate text in two panes to compare them.");

    for size in [DEFAULT_SIZE, [800.0, 640.0], [1920.0, 1080.0]] {
        let mut window = written(size);
        press(&mut window, "Compare");
        for pair in ["A and B", "A and D", "C and D"] {
            assert!(is_shown(&window, pair), "{pair}, {size:?}");
        }
        assert!(is_shown(&window, "Perplexity"));
        assert!(is_shown(&window, "Longest repeat, tokens"));
        assert!(!is_shown(&window, "Cost of 1,000 runs like this"));
        window.get_by_label("Price per million output tokens");
    }

    let mut settings = settings(5);
    settings.view.dock_tab = DockTab::Compare;
    settings.view.prices.output = 10.0;
    let mut window = open(settings, DEFAULT_SIZE, reciting);
    generate(&mut window);
    assert!(is_shown(&window, "Cost of 1,000 runs like this"));
    assert!(is_shown(&window, "would have saved $0.0"));
    press(&mut window, "Scroll together");
    press(&mut window, "Dim the shared prefix");
    let compare = window.state().state().view.compare;
    assert!(compare.scroll_together && compare.dim_shared);
    press(&mut window, "Numbers");
    assert!(is_shown(&window, "Distinct-3"));
    assert!(is_shown(&window, "Cost"));
    assert!(is_shown(&window, "would have saved $0.0"));
}

/// Turns the wheel where the pointer is.
fn scroll_down(window: &mut Window) {
    window.event(Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, -40.0),
        phase: TouchPhase::Move,
        source: MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    });
    window.run_steps(6);
}

#[test]
fn all_texts_scroll_to_the_same_token_if_the_user_asks_for_it() {
    // Lines of different lengths, so that the same token is at different heights.
    let story = "A fox lived in a little house.\n\n".repeat(40);
    let recites = move |_: &ModelSource| ScriptedLm::reciting(2048, &story).into_loaded();
    let mut settings = settings(600);
    settings.view.dock_tab = DockTab::Compare;
    settings.view.compare.scroll_together = true;
    let greedy = settings.panes[0].clone();
    settings.panes = vec![greedy; 3];
    let mut window = open(settings, DEFAULT_SIZE, recites);
    generate(&mut window);
    let pane = || egui::pos2(160.0, 300.0);
    window.event(Event::PointerMoved(pane()));
    let tops = |window: &Window| -> Vec<f32> {
        let texts = window.query_all_by_label_contains("A fox lived in a little house.");
        let texts = texts.filter(|text| text.rect().height() > 400.0);
        texts.map(|text| text.rect().top()).collect()
    };
    let before = tops(&window);
    assert_eq!(before.len(), 3);
    for _ in 0..6 {
        scroll_down(&mut window);
    }
    let after = tops(&window);
    assert!(after[0] < before[0] - 100.0, "{before:?} {after:?}");
    for top in &after {
        assert!((top - after[0]).abs() < 2.0, "{before:?} {after:?}");
    }
}

#[test]
fn step_mode_marks_where_the_next_token_goes_and_ctrl_enter_runs_on() {
    let mut window = window(DockTab::Loop, DEFAULT_SIZE);
    wait(&mut window, "the model", is_ready);
    press(&mut window, "Pace: Full speed");
    press(&mut window, "Step by step");
    window.key_press(Key::Space);
    let is_ahead = |state: &AppState| !state.is_running() && state.upcoming(3).is_some();
    wait(&mut window, "the first token", is_ahead);
    assert_eq!(
        window
            .query_all_by_label("The next token: not drawn yet")
            .count(),
        1
    );
    assert!(is_shown(&window, "if you let it"));
    assert!(is_shown(&window, "Token 2, before the draw"));
    window.key_press_modifiers(egui::Modifiers::COMMAND, Key::Enter);
    window.run_steps(2);
    let is_long = |state: &AppState| {
        let texts = state.generations();
        !state.is_running() && texts.iter().flatten().all(|text| text.steps.len() > 1)
    };
    wait(&mut window, "the texts", is_long);
    assert!(window.state().state().is_step_mode());
}

#[test]
fn the_card_of_the_pinned_token_continues_with_another_one() {
    let mut window = written(DEFAULT_SIZE);
    wait(&mut window, "the model", is_ready);
    let text = window
        .query_all_by_label_contains("A fox live")
        .find(|text| text.rect().height() > 100.0)
        .unwrap();
    text.focus();
    window.run_steps(2);
    window.key_press(Key::ArrowLeft);
    window.run_steps(4);
    let pin = window.state().state().pin.expect("a pin");
    let pane = window.state().state().place_of(pin.pane).expect("a pane");
    let before = window.state().state().generations()[pane]
        .expect("a text")
        .clone();
    // It offers what the model found likely, and the text goes on with that.
    let rows = window.query_all_by_label_contains("Continue with ‘");
    let other = rows.last().expect("the card offers tokens");
    other.click();
    window.run_steps(4);
    wait(&mut window, "the branch", |state: &AppState| {
        !state.is_running()
    });
    let state = window.state().state();
    let pane = state.panes.iter().find(|pane| pane.id == pin.pane);
    let branch = pane.and_then(|pane| pane.generation()).expect("a text");
    let origin = branch.lineage.origin.expect("it has an origin");
    assert_eq!(origin.change, OriginChange::ByHand { n_tokens: 1 });
    assert_ne!(branch.steps[pin.step].token, before.steps[pin.step].token);
    let tokens = |text: &Generation| -> Vec<TokenId> {
        let kept = text.steps.iter().take(pin.step);
        kept.map(|step| step.token).collect()
    };
    assert_eq!(tokens(branch), tokens(&before));
}

#[test]
fn a_step_is_drawn_many_times_to_check_its_probabilities() {
    let mut window = written(DEFAULT_SIZE);
    press(&mut window, "Draw 10,000 times");
    let done = |state: &AppState| state.step_draws().is_some_and(|draws| draws.n() == 10_000);
    wait(&mut window, "the draws", done);
    assert!(is_shown(&window, "10,000 draws"));
    assert!(is_shown(&window, " times, expected "));
    assert!(is_shown(&window, "Coins from 0 to 1 in 20 equal parts"));
    assert!(is_shown(&window, "with 19 degrees of freedom, p"));
}
