//! Tests the job with the built-in model: probabilities against all spellings one by one and against
//! answers that were drawn.

use std::ops::ControlFlow;

use crate::decoding::filters::{Temperature, TopP};
use crate::decoding::{ChainConfig, ChainLikelihood, Filter, History, TokenId};
use crate::engine::{Compute, JobPlan, JobUpdate, LoadedModel, Row, Session, open_embedded};
use crate::generation::{
    EndOfText, GenerationId, Limits, PaneSettings, PieceKind, PromptText, StopMatcher,
};
use crate::lab::prompts::figures::AnswerText;
use crate::lab::prompts::{
    ExactFound, ForkFound, ForkPlan, ReadPrompt, TaskNews, TaskText, TaskUpdate, TasksPlan,
    task_seed,
};

fn embedded() -> LoadedModel {
    let mut keep_going = |_| ControlFlow::Continue(());
    open_embedded(&Compute::on_cpu(), &mut keep_going)
        .unwrap()
        .unwrap()
}

fn hot(temperature: f64) -> ChainConfig {
    let temperature = temperature as f32;
    ChainConfig::sampled([Filter::Temperature(Temperature { temperature })])
}

fn plan(prompt: &str, right: &[&str], stops: &[&str]) -> TasksPlan {
    let nucleus = ChainConfig::sampled([Filter::TopP(TopP { p: 0.9 })]);
    let chains = vec![ChainConfig::greedy(), hot(1.0), hot(0.6), nucleus];
    TasksPlan {
        tasks: vec![TaskText {
            prompt: PromptText::raw(prompt),
            right: right.iter().map(ToString::to_string).collect(),
        }]
        .into(),
        drawn: Vec::new(),
        n_answers: 0,
        exact: chains,
        elsewhere: Vec::new(),
        part: 0,
        seed: 42,
        limits: Limits {
            max_new_tokens: 8,
            stop_strings: stops.iter().map(ToString::to_string).collect(),
            end_of_text: EndOfText::Stops,
        },
    }
}

/// Runs a plan to its end.
fn run(plan: &TasksPlan) -> Vec<TaskUpdate> {
    let mut session = Session::new(embedded());
    session.run_job(GenerationId(1), plan, None).unwrap();
    let mut updates = Vec::new();
    while session.has_jobs() {
        match session.advance_job() {
            Some((_, JobUpdate::Reported(report))) => updates.push(report.take().unwrap()),
            Some((_, JobUpdate::Failed { error })) => panic!("{error}"),
            Some(_) | None => {}
        }
    }
    updates
}

fn exact(updates: &[TaskUpdate]) -> (&ReadPrompt, &ExactFound) {
    let mut read = None;
    let mut found = None;
    for update in updates {
        match &update.news {
            TaskNews::Read(prompt) => read = Some(prompt),
            TaskNews::Exact(exact) => found = Some(exact),
            _ => {}
        }
    }
    (read.unwrap(), found.unwrap())
}

/// Adds up the probabilities of all texts that are right answers, by trying every token.
fn by_trying(plan: &TasksPlan, prompt: &[TokenId], model: &mut LoadedModel) -> Vec<f64> {
    let mut sums = vec![0.0; plan.exact.len()];
    let mut open = vec![(Vec::new(), vec![0.0; plan.exact.len()])];
    let mut chains: Vec<ChainLikelihood> = plan
        .exact
        .iter()
        .map(|chain| ChainLikelihood::new(chain).unwrap())
        .collect();
    let right = &plan.tasks[0].right;
    while let Some((written, ln_probs)) = open.pop() {
        let tokens = [prompt, &written].concat();
        let sequence = model.lm.open_for(tokens.len());
        let rows: Vec<Row> = (1..)
            .zip(&tokens)
            .map(|(n, token)| Row {
                sequence,
                token: *token,
                logits_wanted: n == tokens.len(),
            })
            .collect();
        let logits = model.lm.forward(&rows).unwrap();
        let logits = logits.row(0).unwrap();
        model.lm.close(sequence);
        for token in (0..model.lm.n_vocab() as u32).map(TokenId) {
            let longer = [&written[..], &[token]].concat();
            let text = model.vocabulary.text_with_special(&longer);
            let is_end = model.end_tokens.contains(&token);
            let before = model.vocabulary.text_with_special(&written);
            let mut matcher = StopMatcher::new(&plan.limits.stop_strings);
            let stop = matcher.push(text.as_bytes()).map(str::to_owned);
            let answer = match &stop {
                _ if is_end => Some(before.clone()),
                Some(stop) => text.find(stop).map(|end| text[..end].to_owned()),
                None => None,
            };
            let is_right = answer.is_some_and(|answer| right.contains(&answer));
            let begins = |right: &String| {
                right.starts_with(&text)
                    || text.strip_prefix(right.as_str()).is_some_and(|rest| {
                        let mut stops = plan.limits.stop_strings.iter();
                        stops.any(|stop| stop.starts_with(rest))
                    })
            };
            let piece = model.vocabulary.piece(token);
            let goes_on = stop.is_none()
                && piece.kind == PieceKind::Text
                && !piece.bytes.is_empty()
                && longer.len() < plan.limits.max_new_tokens
                && right.iter().any(begins);
            if !is_right && !goes_on {
                continue;
            }
            let history = History::new(&tokens, prompt.len());
            let own = chains.iter_mut().zip(&ln_probs);
            let own: Vec<f64> = own
                .map(|(chain, before)| before + chain.ln_prob(logits, history, token).unwrap())
                .collect();
            if is_right {
                for (sum, ln_prob) in sums.iter_mut().zip(&own) {
                    *sum += ln_prob.exp();
                }
            } else {
                open.push((longer, own));
            }
        }
    }
    sums
}

#[test]
fn a_probability_is_the_sum_over_all_spellings() {
    const GIRL: &str = "Once upon a time, there was a little";
    for (prompt, right, stops) in [
        (GIRL, &[" girl"][..], &[" n", " w", "."][..]),
        (
            GIRL,
            &[" girl", " boy", " girl named"],
            &[" named", ".", " who"],
        ),
        ("The cat sat on the", &[" mat"], &["."]),
    ] {
        let plan = plan(prompt, right, stops);
        let updates = run(&plan);
        let (read, found) = exact(&updates);
        let expected = by_trying(&plan, &read.tokens, &mut embedded());
        for (share, expected) in found.shares.iter().zip(expected) {
            let share = share.unwrap();
            assert!(share.is_exact(), "{share:?}");
            assert!(
                (share.at_least - expected).abs() < 1e-6,
                "{share:?} {expected}"
            );
        }
        let best = found.spellings.first().unwrap();
        let (tokens, end) = best.token_probs(1);
        let product: f64 = tokens.iter().product::<f64>() * end.unwrap_or(1.0);
        assert!((product - best.probs[1]).abs() < 1e-12, "{best:?}");
        assert_eq!(tokens.len(), best.tokens.len());
        assert!(best.probs[1] > 0.0 && best.probs[1] <= found.shares[1].unwrap().at_most);
    }
}

#[test]
fn answers_that_are_drawn_are_right_as_often_as_their_probability_says() {
    const N: usize = 20_000;
    let mut plan = plan(
        "Once upon a time, there was a little",
        &[" girl", " boy"],
        &[" n", " w", "."],
    );
    plan.drawn = plan.exact[1..].to_vec();
    plan.n_answers = N;
    plan.limits.max_new_tokens = 3;
    let updates = run(&plan);
    let (read, found) = exact(&updates);
    let vocabulary = embedded().vocabulary;
    let mut n_right = [0_usize; 3];
    let mut n_all = 0;
    for update in &updates {
        let TaskNews::Answered(texts) = &update.news else {
            continue;
        };
        for text in texts {
            n_all += 1;
            let answer = AnswerText::of(text, &read.rendered, &vocabulary);
            let is_right = answer.is_complete && plan.tasks[0].right.contains(&answer.text);
            n_right[text.cell] += usize::from(is_right);
        }
    }
    assert_eq!(n_all, 3 * N);
    for (n, share) in n_right.iter().zip(&found.shares[1..]) {
        let share = share.unwrap().middle();
        assert!((0.05..0.999).contains(&share), "{share} tells little");
        // With one degree of freedom, chi-square is beyond 10.83 once in a thousand times.
        let expected = [share * N as f64, (1.0 - share) * N as f64];
        let observed = [*n as f64, (N - n) as f64];
        let cells = observed.iter().zip(expected);
        let chi_square: f64 = cells.map(|(o, e)| (o - e).powi(2) / e).sum();
        assert!(chi_square < 10.83, "{n} of {N}, expected {share}");
    }
}

#[test]
fn a_task_that_cannot_be_answered_does_not_stop_the_others() {
    let mut plan = plan("", &["a"], &["."]);
    let next = TaskText {
        prompt: PromptText::raw("Once"),
        right: Vec::new(),
    };
    plan.tasks = [&plan.tasks[..], &[next]].concat().into();
    plan.drawn = vec![ChainConfig::greedy()];
    plan.n_answers = 4;
    let updates = run(&plan);
    assert!(
        matches!(updates[0].news, TaskNews::Refused { .. }),
        "{updates:?}"
    );
    let answered = updates.iter().filter_map(|update| match &update.news {
        TaskNews::Answered(texts) => Some((update.task, texts.len())),
        _ => None,
    });
    assert!(answered.eq([(1, 1)]), "greedy decoding needs one answer");
    assert!(matches!(
        updates.last().unwrap().news,
        TaskNews::Done { .. }
    ));
}

#[test]
fn settings_without_a_fixed_probability_are_left_out() {
    let mut plan = plan("Once upon a time", &[","], &[" "]);
    let mut adaptive = hot(1.0);
    adaptive.selector =
        crate::decoding::Selector::MirostatV2(crate::decoding::selector::MirostatV2 {
            tau: 3.0,
            eta: 0.1,
        });
    plan.exact.insert(1, adaptive.clone());
    let updates = run(&plan);
    let (_, found) = exact(&updates);
    let is_known: Vec<bool> = found.shares.iter().map(Option::is_some).collect();
    assert_eq!(is_known, [true, false, true, true, true]);
    assert_eq!(found.spellings[0].probs.len(), 5);

    plan.exact = vec![adaptive];
    assert!(plan.start(&embedded(), None).is_ok());
    let updates = run(&plan);
    let (_, found) = exact(&updates);
    assert_eq!(found.shares, [None]);
    let refusal = found.refusal.as_deref().unwrap();
    assert!(refusal.contains("no fixed probability"), "{refusal}");
}

#[test]
fn a_drawn_sweep_agrees_with_the_exact_curve() {
    const N_ANSWERS: usize = 200;
    // The 99.9th percentiles of chi-square with up to four degrees of freedom.
    const MOST: [f64; 5] = [0.0, 10.83, 13.82, 16.27, 18.47];
    let temperatures = [0.4, 0.8, 1.2];
    let tasks = [
        ("Once upon a time, there was a little", [" girl", " boy"]),
        ("The dog was very", [" happy", " sad"]),
        ("She wanted to play with her", [" friends", " ball"]),
        ("He looked up at the", [" sky", " sun"]),
    ];
    let chains: Vec<ChainConfig> = temperatures.map(hot).to_vec();
    let plan = TasksPlan {
        tasks: tasks
            .map(|(prompt, right)| TaskText {
                prompt: PromptText::raw(prompt),
                right: right.map(str::to_owned).to_vec(),
            })
            .into(),
        drawn: chains.clone(),
        n_answers: N_ANSWERS,
        exact: chains,
        ..plan("", &[], &[".", ",", "!", " n", " w", " a", " i"])
    };
    let updates = run(&plan);
    let model = embedded();
    // By task and by temperature: the probability of a right answer, and how many were drawn.
    let mut probs = vec![[0.0; 3]; tasks.len()];
    let mut n_right = vec![[0_usize; 3]; tasks.len()];
    for update in updates {
        let task = update.task;
        match update.news {
            TaskNews::Exact(exact) => {
                for (cell, share) in exact.shares.iter().enumerate() {
                    probs[task][cell] = share.unwrap().middle();
                }
            }
            TaskNews::Answered(texts) => {
                for text in texts {
                    let answer = AnswerText::of(&text, "", &model.vocabulary);
                    let is_right = answer.is_complete && tasks[task].1.contains(&&*answer.text);
                    n_right[task][text.cell] += usize::from(is_right);
                }
            }
            _ => {}
        }
    }
    let n = N_ANSWERS as f64;
    let mut n_compared = 0;
    // The coins are common to the temperatures, so each has a test of its own.
    for cell in 0..temperatures.len() {
        let terms = probs.iter().zip(&n_right).filter_map(|(probs, n_right)| {
            let expected = n * probs[cell];
            let is_telling = expected > 5.0 && n - expected > 5.0;
            let gap = n_right[cell] as f64 - expected;
            is_telling.then(|| gap.powi(2) / (expected * (1.0 - probs[cell])))
        });
        let terms: Vec<f64> = terms.collect();
        n_compared += terms.len();
        let chi_square: f64 = terms.iter().sum();
        assert!(chi_square <= MOST[terms.len()], "{probs:?} {n_right:?}");
    }
    assert!(n_compared >= 6, "{probs:?}");
}

#[test]
fn a_choice_is_drawn_as_the_answers_were() {
    const PROMPT: &str = "Once upon a time, there was a little";
    let chain = hot(1.0);
    let tasks = TasksPlan {
        drawn: vec![chain.clone()],
        n_answers: 6,
        exact: Vec::new(),
        ..plan(PROMPT, &[" girl"], &[])
    };
    let mut texts = Vec::new();
    for update in run(&tasks) {
        if let TaskNews::Answered(answered) = update.news {
            texts.extend(answered);
        }
    }
    texts.sort_by_key(|text| text.seed);
    assert_eq!(texts.len(), 6);
    let model = embedded();
    for n_shared in [0, 2] {
        // The answers that begin like the first one.
        let shared = texts[0].tokens[..n_shared].to_vec();
        let alike = texts.iter().filter(|text| text.tokens.starts_with(&shared));
        let alike: Vec<_> = alike.filter(|text| text.tokens.len() > n_shared).collect();
        let seeds = alike.iter().map(|text| task_seed(42, 0) + text.seed as u64);
        let fork = ForkPlan {
            prompt: PromptText::raw(PROMPT),
            shared,
            chain: chain.clone(),
            seeds: seeds.collect(),
        };
        let found = found(&fork).unwrap();
        assert_eq!(found.prompt, model.prompt(&fork.prompt).unwrap().tokens);
        let drawn: Vec<TokenId> = found.draws.iter().map(|draw| draw.token).collect();
        let taken: Vec<TokenId> = alike.iter().map(|text| text.tokens[n_shared]).collect();
        assert_eq!(drawn, taken);
    }
}

/// Runs the job that looks into a choice.
fn found(fork: &ForkPlan) -> Result<ForkFound, String> {
    let mut session = Session::new(embedded());
    let started = session.run_job(GenerationId(1), fork, None);
    started.map_err(|error| error.to_string())?;
    let mut found = None;
    while session.has_jobs() {
        match session.advance_job() {
            Some((_, JobUpdate::Reported(report))) => found = report.take(),
            Some((_, JobUpdate::Failed { error })) => return Err(error),
            Some(_) | None => {}
        }
    }
    Ok(found.unwrap())
}

#[test]
fn what_a_list_cannot_do_is_refused_in_a_sentence() {
    let chain = |words: &str| words.parse::<PaneSettings>().unwrap().chain;
    let fork = ForkPlan {
        prompt: PromptText::raw("Once"),
        shared: Vec::new(),
        chain: chain("mirostat 5"),
        seeds: vec![1],
    };
    let refusal = found(&fork).unwrap_err();
    assert!(refusal.contains("open the answer as a pane"), "{refusal}");
    // The built-in model has no tags of thoughts.
    let mut budgets = plan("Once", &["x"], &[]);
    budgets.drawn = [0, 64].map(|n| chain(&format!("think {n}"))).to_vec();
    let mut session = Session::new(embedded());
    let refusal = session
        .run_job(GenerationId(1), &budgets, None)
        .unwrap_err();
    let refusal = refusal.to_string();
    assert!(
        refusal.contains("no known tags around a thought"),
        "{refusal}"
    );
}
