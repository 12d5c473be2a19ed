// SPDX-License-Identifier: MIT
//! Tests this crate where hostsim's scenarios do not: errors, duplicates, and the future. They need a build of tidings: $TIDINGS_BUILD_DIR.
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tidings::{Level, Notify, Options, Outcome, Tidings, ToolResult, Wakes};

/// A build to test with, and a store in a folder that is removed with this value.
struct Place {
    build: PathBuf,
    folder: PathBuf,
}

impl Place {
    fn new() -> Place {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let build = PathBuf::from(
            std::env::var("TIDINGS_BUILD_DIR").expect("TIDINGS_BUILD_DIR names a build of tidings"),
        );
        let name = format!(
            "tidings-rust-{}-{}",
            std::process::id(),
            MADE.fetch_add(1, Ordering::Relaxed)
        );
        Place {
            build,
            folder: std::env::temp_dir().join(name),
        }
    }

    fn path(&self, name: &str) -> Option<String> {
        Some(self.build.join(name).to_string_lossy().into_owned())
    }

    fn options(&self) -> Options {
        Options {
            plugin: self.path("tidings.so"),
            library: self.path("libtidings-hostkit.so.1"),
            store: Some(self.folder.to_string_lossy().into_owned()),
            no_probe: true,
            ..Options::default()
        }
    }

    fn open(&self) -> Arc<Tidings> {
        Arc::new(Tidings::open(&self.options()).unwrap())
    }

    /// Opens the test plugin, which keeps no sessions.
    fn good(&self) -> Arc<Tidings> {
        Arc::new(
            Tidings::open(&Options {
                plugin: self.path("tests/plugins/good_a.so"),
                ..self.options()
            })
            .unwrap(),
        )
    }

    fn fail_wake(&self, code: i32) {
        std::fs::write(self.folder.join("wake-fails"), code.to_string()).unwrap();
    }

    /// The sessions to which a wake event was sent, in their order.
    fn asked(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.folder.join("log")).unwrap();
        let after = |line: &str| {
            line.split_once(r#""type":"wake","session":""#)
                .map(|(_, rest)| rest.split('"').next().unwrap().to_string())
        };
        log.lines().filter_map(after).collect()
    }

    fn push_from_outside(&self, level: &str) {
        let pushed = Command::new(self.build.join("tidings"))
            .arg("push")
            .arg("-S")
            .arg(&self.folder)
            .args(["-s", "s", "-l", level, "-k", "disk.full", "Full."])
            .status();
        assert!(pushed.unwrap().success());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Counts how often it was woken.
#[derive(Default)]
struct Bell {
    rings: Mutex<usize>,
    rang: Condvar,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        *self.rings.lock().unwrap() += 1;
        self.rang.notify_all();
    }
}

impl Bell {
    fn wait(&self) {
        let rings = self.rings.lock().unwrap();
        let (mut rings, late) = self
            .rang
            .wait_timeout_while(rings, Duration::from_secs(300), |rings| *rings == 0)
            .unwrap();
        assert!(!late.timed_out(), "nothing woke the future");
        *rings = 0;
    }
}

fn finish<F: Future + Unpin>(mut future: F, bell: &Arc<Bell>) -> F::Output {
    let waker = Waker::from(Arc::clone(bell));
    loop {
        match Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => bell.wait(),
        }
    }
}

#[test]
fn errors_have_a_name_and_a_sentence() {
    let place = Place::new();
    let kit = place.open();
    assert_eq!(kit.info().unwrap().name, "tidings");
    let error = kit
        .push(&Notify {
            text: "x",
            data: "{",
            ..Notify::new("s", "tool.failed")
        })
        .unwrap_err();
    assert_eq!(error.name, "TIDINGS_E_INVAL");
    assert!(error.text.contains("data"), "{error}");
    assert_eq!(kit.settle(404, Outcome::Committed).unwrap_err().code, -5);
    assert_eq!(
        kit.event("s", "{not json").unwrap_err().name,
        "TIDINGS_E_INVAL"
    );
    kit.swap(None).unwrap();
    assert_eq!(kit.info().unwrap().generation, 2);
    Arc::try_unwrap(kit).ok().unwrap().close().unwrap();
}

#[test]
fn opening_says_why_it_failed() {
    let place = Place::new();
    let no_plugin = Tidings::open(&Options {
        plugin: Some("/no/such.so".into()),
        ..place.options()
    });
    assert_eq!(no_plugin.err().unwrap().name, "TIDINGS_E_NOT_FOUND");
    let no_library = Tidings::open(&Options {
        library: Some("/no/library.so".into()),
        ..place.options()
    });
    assert!(no_library.err().unwrap().text.contains("TIDINGS_HOSTKIT"));
    let no_string = Tidings::open(&Options {
        host_name: Some("a\0b".into()),
        ..place.options()
    });
    assert!(no_string.err().unwrap().text.starts_with("host_name: "));
}

#[test]
fn a_delivery_that_was_rolled_back_comes_again() {
    let place = Place::new();
    let kit = place.open();
    let notify = Notify {
        text: "It failed.",
        level: Level::Error,
        event_source: "ci",
        event_id: "1",
        ..Notify::new("s", "ci.failed.twice")
    };
    assert!(!kit.push(&notify).unwrap().duplicate);
    assert!(kit.push(&notify).unwrap().duplicate);
    let result = ToolResult {
        session: "s",
        content: "a\0b",
        ..ToolResult::default()
    };
    let first = kit.tool_result(&result).unwrap();
    assert!(first.content().contains("It failed.") && first.content().ends_with("a\0b"));
    let shown = &first.reply.notifications[0];
    assert_eq!(
        (
            shown.source.as_str(),
            shown.name.as_str(),
            shown.level,
            shown.count
        ),
        ("ci", "failed.twice", Level::Error, 1)
    );
    kit.settle(first.reply.delivery_id.unwrap(), Outcome::RolledBack)
        .unwrap();
    let second = kit.tool_result(&result).unwrap();
    assert_ne!(second.reply.delivery_id, first.reply.delivery_id);
    kit.settle(second.reply.delivery_id.unwrap(), Outcome::Committed)
        .unwrap();
    assert_eq!(kit.tool_result(&result).unwrap().reply.delivery_id, None);
}

#[test]
fn the_future_is_woken_by_another_process() {
    let place = Place::new();
    let kit = place.open();
    kit.event(
        "s",
        r#"{"type": "session.opened", "session": "s", "data": {"host": "test"}}"#,
    )
    .unwrap();
    let bell = Arc::new(Bell::default());
    let mut wakes = kit.wakes().unwrap();
    place.push_from_outside("critical");
    loop {
        let woken = finish(wakes.next(), &bell).unwrap();
        assert_eq!(woken.session, "s");
        if let Some(action) = woken.reply.actions.first() {
            assert_eq!(action.kind.word(), "start_turn");
            assert!(action.messages[0]
                .content
                .starts_with("Critical notification"));
            break;
        }
    }
    drop(wakes);
    assert_eq!(Arc::strong_count(&kit), 1);
}

#[test]
fn the_future_is_woken_by_time_and_can_be_dropped() {
    let place = Place::new();
    let configuration = Some(r#"{"turns": {"settle_delay_ms": 300}}"#.into());
    let kit = Arc::new(
        Tidings::open(&Options {
            configuration,
            ..place.options()
        })
        .unwrap(),
    );
    let mut wakes = kit.wakes().unwrap();
    for event in [
        r#"{"type": "turn.started", "session": "s"}"#,
        r#"{"type": "message.submitted", "session": "s", "data": {"id": "m1", "content": "later"}}"#,
    ] {
        kit.event("s", event).unwrap();
    }
    let finished = kit
        .event("s", r#"{"type": "turn.finished", "session": "s"}"#)
        .unwrap();
    assert!(finished.actions.is_empty() && finished.wake_at_ms.is_some());
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let _ = Pin::new(&mut wakes.next()).poll(&mut Context::from_waker(&waker)); // this future is dropped
    loop {
        let woken = finish(wakes.next(), &bell).unwrap();
        if let Some(action) = woken.reply.actions.first() {
            assert_eq!(action.messages[0].id, "m1");
            break;
        }
    }
}

/// The reply says that the session's time has come.
fn past(kit: &Tidings, session: &str) {
    let event = format!(r#"{{"type":"past","session":"{session}"}}"#);
    assert_eq!(kit.event(session, &event).unwrap().wake_at_ms, Some(56));
}

/// The sessions that are woken first.
fn first(wakes: &mut Wakes, count: usize) -> Vec<String> {
    let bell = Arc::new(Bell::default());
    let mut woken: Vec<String> = (0..count)
        .map(|_| finish(wakes.next(), &bell).unwrap().session)
        .collect();
    woken.sort();
    woken
}

#[test]
fn a_session_whose_wake_fails_is_asked_again_and_the_others_go_on() {
    let place = Place::new();
    let kit = place.good();
    let mut wakes = kit.wakes().unwrap();
    for code in [-8, -10, -12, -15, -99] {
        kit.event("s", r#"{"type":"ring"}"#).unwrap();
        place.fail_wake(code);
        assert_eq!(first(&mut wakes, 1), ["rung"]);
    }
    assert_eq!(place.asked(), ["rung"; 10]);
    past(&kit, "a");
    past(&kit, "b");
    place.fail_wake(-8);
    assert_eq!(first(&mut wakes, 2), ["a", "b"]);
    let asked = &place.asked()[10..];
    assert!(asked.len() == 3 && asked[0] == asked[2], "{asked:?}");
    past(&kit, "a");
    past(&kit, "b");
    place.fail_wake(-8);
    let other = first(&mut wakes, 1);
    drop(wakes); // that loses no session whose wake has failed
    let last = first(&mut kit.wakes().unwrap(), 1);
    assert_ne!(other, last);
}

/// A call that fails may have waited for the store.
#[test]
fn other_tasks_of_the_executor_run_after_a_wake_that_fails() {
    let place = Place::new();
    let kit = place.good();
    let mut wakes = kit.wakes().unwrap();
    past(&kit, "a");
    past(&kit, "b");
    place.fail_wake(-8);
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let polled = Pin::new(&mut wakes.next()).poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending(), "{polled:?}");
    assert_eq!(place.asked().len(), 1);
    bell.wait();
    assert_eq!(first(&mut wakes, 2), ["a", "b"]);
}

#[test]
fn a_session_that_is_gone_is_not_asked_again_and_the_others_go_on() {
    let place = Place::new();
    let kit = place.good();
    let mut wakes = kit.wakes().unwrap();
    for code in [-5, -13, -14] {
        let names = [format!("one{code}"), format!("other{code}")];
        names.iter().for_each(|name| past(&kit, name));
        place.fail_wake(code);
        assert!(names.contains(&first(&mut wakes, 1)[0]));
    }
    past(&kit, "last");
    assert_eq!(first(&mut wakes, 1), ["last"]);
    let mut asked = place.asked();
    asked.sort();
    asked.dedup();
    assert_eq!((asked.len(), place.asked().len()), (7, 7));
}

#[test]
fn dropping_loses_no_session_that_rang() {
    let place = Place::new();
    let kit = place.open();
    for session in ["a", "b", "c"] {
        let opened = format!(
            r#"{{"type": "session.opened", "session": "{session}", "data": {{"host": "test"}}}}"#
        );
        kit.event(session, &opened).unwrap();
    }
    let mut woken: Vec<String> = (0..3)
        .flat_map(|_| first(&mut kit.wakes().unwrap(), 1))
        .collect();
    woken.sort();
    assert_eq!(woken, ["a", "b", "c"]);
}

#[test]
fn a_future_that_sleeps_sees_a_time_that_another_reply_brings_and_what_another_leaves() {
    let place = Place::new();
    let kit = place.good();
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let mut wakes = kit.wakes().unwrap();
    let sleeps = |wakes: &mut Wakes| {
        assert!(Pin::new(&mut wakes.next())
            .poll(&mut Context::from_waker(&waker))
            .is_pending())
    };
    sleeps(&mut wakes);
    past(&kit, "a");
    bell.wait(); // only the reply can ring
    assert_eq!(first(&mut wakes, 1), ["a"]);
    sleeps(&mut wakes);
    let mut leaves = kit.wakes().unwrap();
    past(&kit, "b");
    past(&kit, "c");
    let mut woken = first(&mut leaves, 1); // it takes both
    drop(leaves);
    woken.push(finish(wakes.next(), &bell).unwrap().session);
    woken.sort();
    assert_eq!(woken, ["b", "c"]);
}

#[test]
fn what_rings_while_the_host_of_one_acts_wakes_another() {
    let place = Place::new();
    let kit = place.good();
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let (mut acts, mut sleeps) = (kit.wakes().unwrap(), kit.wakes().unwrap());
    past(&kit, "a");
    assert_eq!(first(&mut acts, 1), ["a"]);
    for _ in 0..20 {
        // the thread of either may read the FIFO
        assert!(Pin::new(&mut sleeps.next())
            .poll(&mut Context::from_waker(&waker))
            .is_pending());
        kit.event("s", r#"{"type":"ring"}"#).unwrap();
        bell.wait();
        assert_eq!(finish(sleeps.next(), &bell).unwrap().session, "rung");
    }
}

/// Waking it only drops it.
struct Task {
    future: Mutex<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

struct End(mpsc::Sender<bool>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.send(std::thread::panicking()).unwrap();
    }
}

#[test]
fn a_task_that_only_its_waker_holds_is_dropped_when_something_rings() {
    let place = Place::new();
    let kit = place.good();
    let (sender, end) = mpsc::channel();
    let wakes = kit.wakes().unwrap();
    let future = async move {
        let _end = End(sender);
        let mut wakes = wakes; // dropped before the end
        while wakes.next().await.is_ok() {}
    };
    let task = Arc::new(Task {
        future: Mutex::new(Box::pin(future)),
    });
    let waker = Waker::from(Arc::clone(&task));
    assert!(task
        .future
        .lock()
        .unwrap()
        .as_mut()
        .poll(&mut Context::from_waker(&waker))
        .is_pending());
    drop((task, waker));
    kit.event("s", r#"{"type":"ring"}"#).unwrap();
    assert_eq!(end.recv(), Ok(false));
}
