//! Servers that hang, talk nonsense or die: each call ends by its deadline with
//! an error that says what happened, and the next one works after a reload.

use std::time::Duration;

use libtest_mimic::Trial;
use lsp_bridge::{LspLimits, SupervisorLimits};
use serde_json::json;
use test_support::Script;
use test_support::Step::{Exit, Hang, Raw, Reply, Say, Wait};
use tiers::ErrorKind;

use crate::setting::{Setting, script, test};

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test(
            "pitfall_5_a_server_that_never_introduces_itself",
            never_initialized,
        ),
        test("pitfall_5_a_server_that_stops_reading", stops_reading),
        test(
            "pitfall_5_a_server_that_reads_nothing_of_a_large_file",
            full_pipe,
        ),
        test("pitfall_5_a_server_that_answers_after_20_seconds", slow),
        test(
            "pitfall_5_a_server_that_answers_even_the_first_message_after_20_seconds",
            slow_from_the_start,
        ),
        test("pitfall_3_a_server_that_prints_noise_is_understood", noise),
        test("pitfall_3_a_server_that_prints_garbage", garbage),
        test(
            "pitfall_3_a_server_that_prints_garbage_in_the_middle_of_a_call",
            garbage_later,
        ),
        test("pitfall_46_and_56_a_crash_says_why_without_secrets", crash),
        test(
            "pitfall_46_failures_are_paused_for_and_a_reload_starts_at_once",
            back_off,
        ),
        test(
            "pitfall_52_an_idle_server_makes_room_and_a_busy_one_does_not",
            no_room,
        ),
    ]
}

/// How the server is once it was repaired.
fn repaired() -> Script {
    let said = vec![vec![Reply(json!({ "contents": "said" }))]];
    script(&[("textDocument/hover", said)])
}

/// Repairs the server, and asks after a reload.
async fn works_after_reload(setting: Setting) {
    setting.replace(repaired());
    let reloaded = setting
        .call(json!({ "action": "reload", "file": "a.fake" }))
        .await;
    let state = &reloaded.details["servers"][0]["state"];
    assert_eq!(state, "restarted", "{}", reloaded.text);
    assert_eq!(setting.ask("hover").await.text, "said");
    setting.end().await;
}

async fn never_initialized() {
    let mut servers = SupervisorLimits::default();
    servers.initialize = Duration::from_millis(400);
    let mut calls = LspLimits::default();
    calls.call = Duration::from_secs(3);
    let script = script(&[("initialize", vec![vec![Say("busy".to_owned())]])]);
    let setting = Setting::with(script, "\"always\"", calls, servers);
    let hover = setting.ask("hover").await;
    assert!(hover.took < Duration::from_secs(2), "{:?}", hover.took);
    assert!(
        hover
            .text
            .contains("`fake` did not answer `initialize` within 0.4 s"),
        "{}",
        hover.text
    );
    assert!(
        hover.text.contains("its standard error ends with:\nbusy"),
        "{}",
        hover.text
    );
    assert_eq!(hover.error.unwrap().kind, ErrorKind::Timeout);
    works_after_reload(setting).await;

    // A call whose time is up earlier says that it is still starting.
    let setting = Setting::new(super::setting::script(&[("initialize", vec![vec![]])]));
    let hover = setting.ask("hover").await;
    assert!(
        hover.text.contains("`fake` is still starting, for 3 s now"),
        "{}",
        hover.text
    );
    let status = setting.call(json!({ "action": "status" })).await;
    assert!(status.text.contains("starting for"), "{}", status.text);
    setting.end().await;
}

async fn stops_reading() {
    let setting = Setting::new(script(&[("textDocument/didOpen", vec![vec![Hang]])]));
    let hover = setting.ask("hover").await;
    assert!(hover.took < Duration::from_millis(3500), "{:?}", hover.took);
    assert!(
        hover
            .text
            .contains("`fake` did not answer `textDocument/hover` in time"),
        "{}",
        hover.text
    );
    assert_eq!(hover.error.unwrap().kind, ErrorKind::Timeout);
    works_after_reload(setting).await;
}

async fn full_pipe() {
    let setting = Setting::new(script(&[("initialized", vec![vec![Hang]])]));
    // A pipe holds 64 KiB: the write itself waits.
    setting.write("a.fake", &format!("one {}\n", "x".repeat(1_000_000)));
    for _ in 0..2 {
        let hover = setting.ask("hover").await;
        assert!(hover.took < Duration::from_millis(3500), "{:?}", hover.took);
        assert!(
            hover
                .text
                .contains("`fake` did not answer `textDocument/hover` in time"),
            "{}",
            hover.text
        );
        assert_eq!(hover.error.unwrap().kind, ErrorKind::Timeout);
    }
    works_after_reload(setting).await;
}

async fn slow_from_the_start() {
    let setting = Setting::new(script(&[("initialize", vec![vec![Wait(20_000)]])]));
    for _ in 0..2 {
        let hover = setting.ask("hover").await;
        assert!(hover.took < Duration::from_millis(3500), "{:?}", hover.took);
        assert!(
            hover.text.contains("`fake` is still starting, for"),
            "{}",
            hover.text
        );
        assert_eq!(hover.error.unwrap().kind, ErrorKind::Timeout);
    }
    // It has been starting for so long that a reload does not wait for it.
    works_after_reload(setting).await;
}

async fn garbage_later() {
    let noise = Raw("garbage".to_owned(), 20_000);
    let setting = Setting::new(script(&[("textDocument/hover", vec![vec![noise]])]));
    let hover = setting.ask("hover").await;
    assert!(hover.took < Duration::from_secs(3), "{:?}", hover.took);
    assert!(
        hover.text.contains("its output is no conversation"),
        "{}",
        hover.text
    );
    assert_eq!(hover.error.unwrap().kind, ErrorKind::Crashed);
    works_after_reload(setting).await;
}

async fn slow() {
    let steps = vec![vec![Wait(20_000), Reply(json!({ "contents": "late" }))]];
    let setting = Setting::new(script(&[("textDocument/hover", steps)]));
    let hover = setting.ask("hover").await;
    assert!(hover.took < Duration::from_millis(3500), "{:?}", hover.took);
    assert_eq!(hover.error.unwrap().kind, ErrorKind::Timeout);
    works_after_reload(setting).await;
}

async fn noise() {
    let noise = Raw("a line of noise\n".to_owned(), 3);
    let said = Reply(json!({ "contents": "said" }));
    let setting = Setting::new(script(&[("textDocument/hover", vec![vec![noise, said]])]));
    assert_eq!(setting.ask("hover").await.text, "said");
    setting.end().await;
}

async fn garbage() {
    let setting = Setting::new(script(&[(
        "initialize",
        vec![vec![Raw("garbage".to_owned(), 20_000)]],
    )]));
    let hover = setting.ask("hover").await;
    assert!(
        hover.text.contains("its output is no conversation"),
        "{}",
        hover.text
    );
    works_after_reload(setting).await;
}

async fn crash() {
    let said = Say("fatal: the token is t0p-s3cret".to_owned());
    let setting = Setting::new(script(&[("textDocument/hover", vec![vec![said, Exit(3)]])]));
    let hover = setting.ask("hover").await;
    assert!(hover.took < Duration::from_secs(2), "{:?}", hover.took);
    assert!(
        hover
            .text
            .contains("`fake` ended in the middle of the call"),
        "{}",
        hover.text
    );
    assert!(
        hover.text.contains("fatal: the token is [secret]"),
        "{}",
        hover.text
    );
    assert_eq!(hover.error.unwrap().kind, ErrorKind::Crashed);
    // Without a reload too, after a moment.
    setting.replace(repaired());
    assert_eq!(setting.ask("hover").await.text, "said");
    setting.end().await;
}

async fn back_off() {
    let mut servers = SupervisorLimits::default();
    servers.back_off = (Duration::from_secs(60), Duration::from_secs(60));
    let mut calls = LspLimits::default();
    calls.call = Duration::from_secs(3);
    let dies = vec![vec![Say("no licence".to_owned()), Exit(1)]];
    let script = script(&[("initialize", dies)]);
    let setting = Setting::with(script, "\"always\"", calls, servers);
    let first = setting.ask("hover").await;
    assert!(
        first.text.contains("`fake` ended while it started"),
        "{}",
        first.text
    );
    assert!(first.text.contains("no licence"), "{}", first.text);
    let second = setting.ask("hover").await;
    assert!(
        second.text.contains("`fake` is not started again for 60 s"),
        "{}",
        second.text
    );
    assert!(second.text.contains("no licence"), "{}", second.text);
    let status = setting.call(json!({ "action": "status" })).await;
    assert_eq!(
        status.details["servers"][0]["state"], "backing_off",
        "{}",
        status.text
    );
    works_after_reload(setting).await;
}

async fn no_room() {
    let mut servers = SupervisorLimits::default();
    servers.servers = 1;
    let mut calls = LspLimits::default();
    calls.call = Duration::from_secs(3);
    let slow = vec![
        vec![Reply(json!({ "contents": "said" }))],
        vec![Wait(1_500), Reply(json!({ "contents": "slow" }))],
    ];
    let script = script(&[("textDocument/hover", slow)]);
    let setting = Setting::with(script, "\"always\"", calls, servers);
    std::fs::create_dir(setting.folder.path().join("inner")).unwrap();
    setting.write("inner/fake.toml", "");
    setting.write("inner/b.fake", "one\n");
    let inner = json!({ "action": "hover", "file": "inner/b.fake", "line": 1, "symbol": "one" });
    assert_eq!(setting.ask("hover").await.text, "said");
    let asking = setting.ask("hover");
    let other = async {
        tokio::time::sleep(Duration::from_millis(300)).await; // the first is busy by then
        setting.call(inner.clone()).await
    };
    let (busy, refused) = tokio::join!(asking, other);
    assert_eq!(busy.text, "slow");
    assert!(
        refused
            .text
            .contains("1 language servers are running, and all are busy"),
        "{}",
        refused.text
    );
    assert_eq!(setting.call(inner).await.text, "said");
    setting.end().await;
}
