// SPDX-License-Identifier: MIT
//! Waits for sessions as a future, which any executor can poll. A thread waits for the descriptor and for the time of the next `wake_at_ms`; it ends with
//! `Wakes`.
use std::fs::File;
use std::future::Future;
use std::io::{Read, Write};
use std::os::raw::{c_int, c_short, c_ulong};
use std::os::unix::io::AsRawFd;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::agenda::{longer, passes, Agenda};
use crate::{now_ms, Error, Reply, Tidings};

/// A session that wants its host to act, and what it wants.
#[derive(Clone, Debug)]
pub struct Woken {
    pub session: String,
    pub reply: Reply,
}

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: c_short,
    revents: c_short,
}
const POLLIN: c_short = 1;

extern "C" {
    fn poll(fds: *mut PollFd, count: c_ulong, timeout_ms: c_int) -> c_int;
}

#[derive(Default)]
struct Waiting {
    waker: Option<Waker>, // None: the host acts
    until_ms: Option<i64>,
    rang: bool, // since the future has begun to look
}

/// What a `Wakes` shares with its thread, and with calls whose replies have times.
pub(crate) struct Sleeper {
    waiting: Mutex<Waiting>,
    nudge: UnixStream,
}

impl Sleeper {
    /// Makes the thread wake the future at this time, unless it will do so earlier.
    pub(crate) fn look_by(&self, at_ms: i64) {
        let mut waiting = self.waiting.lock().unwrap();
        if waiting.until_ms.map_or(true, |until| at_ms < until) {
            waiting.until_ms = Some(at_ms);
            self.nudge();
        }
    }

    /// Makes the thread wake the future. If the future is about to sleep, it looks once more.
    pub(crate) fn ring(&self) {
        let mut waiting = self.waiting.lock().unwrap();
        waiting.rang = true;
        waiting.until_ms = Some(0);
        self.nudge();
    }

    fn begin_look(&self, waker: &Waker) {
        let mut waiting = self.waiting.lock().unwrap();
        waiting.rang = false;
        let old = waiting.waker.replace(waker.clone());
        drop(waiting); // what an old waker holds may come back here when it is dropped
        drop(old);
    }

    fn begin_sleep(&self, until_ms: Option<i64>) {
        let mut waiting = self.waiting.lock().unwrap();
        waiting.until_ms = if waiting.rang { Some(0) } else { until_ms };
        self.nudge();
    }

    fn nudge(&self) {
        let _ = (&self.nudge).write(&[0]); // a full pipe has nudged already
    }
}

enum Asked {
    Woken(Woken),
    Failed,
    Nobody,
}

/// Sessions that ring, one after the other: `while let Ok(woken) = wakes.next().await`. `Tidings::wakes` makes it.
pub struct Wakes {
    kit: Arc<Tidings>,
    sleeper: Arc<Sleeper>,
    pause: Option<Duration>, // the store does not say now who rang: when to ask it again
    thread: Option<JoinHandle<()>>,
}

impl Wakes {
    pub(crate) fn new(kit: Arc<Tidings>, descriptor: Option<File>) -> std::io::Result<Wakes> {
        let (nudge, nudged) = UnixStream::pair()?;
        nudge.set_nonblocking(true)?;
        nudged.set_nonblocking(true)?;
        let sleeper = Arc::new(Sleeper {
            waiting: Mutex::default(),
            nudge,
        });
        let (shared, agenda) = (Arc::clone(&sleeper), Arc::clone(&kit.agenda));
        let thread = std::thread::Builder::new()
            .name("tidings-wake".into())
            .spawn(move || wait(descriptor, nudged, &shared.waiting, &agenda))?;
        kit.agenda().enter(&sleeper);
        Ok(Wakes {
            kit,
            sleeper,
            pause: None,
            thread: Some(thread),
        })
    }

    /// Returns the next session that wants its host to act. The first calls return every session of this host.
    ///
    /// If the wake of a session fails, for example because the store is busy or full, it is tried again after 0.1 to 5 s, until it succeeds or the session
    /// is no longer this host's; other sessions do not wait for that. An error that is returned concerns all sessions.
    pub fn next(&mut self) -> Next<'_> {
        Next { wakes: self }
    }

    /// Finds the sessions that rang, and those whose time has come.
    fn look(&mut self) -> Result<(), Error> {
        let mut pause = None;
        loop {
            match self.kit.next_session() {
                Ok(Some(session)) => self.kit.agenda().ring(session),
                Ok(None) => break,
                Err(error) if passes(error.code) => {
                    pause = Some(longer(self.pause));
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.pause = pause;
        self.kit.agenda().find_due(Instant::now(), now_ms());
        Ok(())
    }

    /// Asks the next session that is ready.
    fn ask(&mut self) -> Asked {
        let (session, began) = {
            let mut agenda = self.kit.agenda();
            match agenda.next() {
                Some(session) => (session, agenda.begin_call()),
                None => return Asked::Nobody,
            }
        };
        let asked = self.kit.wake(&session);
        let mut agenda = self.kit.agenda();
        match asked {
            Ok(reply) => {
                agenda.succeeded(&session);
                Asked::Woken(Woken { session, reply })
            }
            Err(error) => {
                agenda.failed(session, error.code, began, Instant::now());
                Asked::Failed
            }
        }
    }

    fn find(&mut self) -> Result<Asked, Error> {
        let asked = self.ask();
        if !matches!(asked, Asked::Nobody) {
            return Ok(asked);
        }
        self.look()?;
        Ok(self.ask())
    }

    fn begin_sleep(&self) {
        let agenda = self.kit.agenda();
        let now = now_ms();
        let pause = self.pause.map(|pause| now + pause.as_millis() as i64);
        let until = agenda.until_ms(Instant::now(), now);
        self.sleeper
            .begin_sleep(pause.into_iter().chain(until).min());
    }

    /// Call it before the host acts: the others look meanwhile.
    fn hand_over(&self) {
        let waker = self.sleeper.waiting.lock().unwrap().waker.take();
        drop(waker);
        let agenda = self.kit.agenda();
        if self.pause.is_some() {
            agenda.ring_all();
        } else if let Some(until) = agenda.until_ms(Instant::now(), now_ms()) {
            agenda.look_by(until);
        }
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.kit.agenda().leave(&self.sleeper);
        let _ = self.sleeper.nudge.shutdown(std::net::Shutdown::Both); // the thread reads its end, and ends
        let thread = self.thread.take();
        let is_other =
            |thread: &JoinHandle<()>| thread.thread().id() != std::thread::current().id();
        if let Some(thread) = thread.filter(is_other) {
            let _ = thread.join(); // the thread itself drops this if it wakes a task that nothing else holds
        }
    }
}

/// The future of `Wakes::next`. Dropping it loses no session.
pub struct Next<'a> {
    wakes: &'a mut Wakes,
}

impl Future for Next<'_> {
    type Output = Result<Woken, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let wakes = &mut *self.wakes;
        // The waker is set before the question, so that a session that rings in between wakes this task.
        wakes.sleeper.begin_look(context.waker());
        let began = Instant::now();
        let found = match wakes.find() {
            Ok(Asked::Woken(woken)) => Ok(woken),
            Ok(Asked::Failed) => {
                // The call may have waited for the store, so other tasks run for as long before the next call.
                let took_ms = began.elapsed().as_millis() as i64;
                wakes.sleeper.begin_sleep(Some(now_ms() + took_ms));
                return Poll::Pending;
            }
            Ok(Asked::Nobody) => {
                wakes.begin_sleep();
                return Poll::Pending;
            }
            Err(error) => Err(error),
        };
        wakes.hand_over();
        Poll::Ready(found)
    }
}

/// Reads all available bytes, which have no meaning. False: the other end was closed.
fn drain(mut from: impl Read) -> bool {
    let mut bytes = [0; 4096];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => {
                return error.kind() == std::io::ErrorKind::WouldBlock
                    || error.kind() == std::io::ErrorKind::Interrupted
            }
        }
    }
}

/// A pause is at most a minute, because poll's timeout does not run while the machine sleeps, and the clock may be set.
fn pause_ms(until_ms: Option<i64>, now_ms: i64) -> c_int {
    match until_ms {
        Some(until) => (until - now_ms).clamp(0, 60_000) as c_int,
        None => -1,
    }
}

fn timeout(waiting: &Mutex<Waiting>) -> c_int {
    pause_ms(waiting.lock().unwrap().until_ms, now_ms())
}

fn wait(
    descriptor: Option<File>,
    nudged: UnixStream,
    waiting: &Mutex<Waiting>,
    agenda: &Mutex<Agenda>,
) {
    loop {
        let mut fds = [
            PollFd {
                fd: nudged.as_raw_fd(),
                events: POLLIN,
                revents: 0,
            },
            PollFd {
                fd: descriptor.as_ref().map_or(-1, |file| file.as_raw_fd()),
                events: POLLIN,
                revents: 0,
            },
        ];
        // Safety: two structs, and descriptors that this function owns.
        let ready = unsafe { poll(fds.as_mut_ptr(), 2, timeout(waiting)) };
        if fds[0].revents != 0 && !drain(&nudged) {
            return;
        }
        let rang = fds[1].revents != 0;
        if let (true, Some(file)) = (rang, &descriptor) {
            drain(file);
            agenda.lock().unwrap().ring_all();
        }
        if rang || ready == 0 {
            let waker = {
                let mut state = waiting.lock().unwrap();
                state.until_ms = None; // the next poll of the future sets it
                state.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{pause_ms, Sleeper, Waiting};
    use crate::agenda::Agenda;
    use std::os::unix::net::UnixStream;
    use std::sync::{Arc, Mutex};
    use std::task::{Wake, Waker};
    use std::time::Instant;

    struct Nobody;

    impl Wake for Nobody {
        fn wake(self: Arc<Self>) {}
    }

    fn sleeper(agenda: &mut Agenda, nudge: &UnixStream) -> Arc<Sleeper> {
        let sleeper = Arc::new(Sleeper {
            waiting: Mutex::new(Waiting::default()),
            nudge: nudge.try_clone().unwrap(),
        });
        agenda.enter(&sleeper);
        sleeper.begin_look(&Waker::from(Arc::new(Nobody)));
        sleeper
    }

    #[test]
    fn others_look_when_something_rings_and_when_one_leaves_and_no_ring_before_a_sleep_is_missed() {
        let (nudge, _nudged) = UnixStream::pair().unwrap();
        let mut agenda = Agenda::default();
        let until = |sleeper: &Sleeper| sleeper.waiting.lock().unwrap().until_ms;
        let (one, other) = (sleeper(&mut agenda, &nudge), sleeper(&mut agenda, &nudge));
        other.begin_sleep(Some(5000));
        assert_eq!(until(&other), Some(5000));
        agenda.ring("a".into());
        agenda.look_by(agenda.until_ms(Instant::now(), 1000).unwrap());
        assert_eq!(until(&other), Some(1000));
        agenda.ring_all();
        assert_eq!((until(&one), until(&other)), (Some(0), Some(0)));
        other.begin_sleep(Some(5000));
        assert_eq!(until(&other), Some(0));
        other.begin_look(&Waker::from(Arc::new(Nobody)));
        other.begin_sleep(None);
        assert_eq!(until(&other), None);
        agenda.leave(&one);
        assert_eq!(until(&other), Some(0));
    }

    #[test]
    fn what_is_due_in_hours_is_looked_for_each_minute() {
        let hours = 3 * 3_600_000;
        assert_eq!(pause_ms(None, 1000), -1);
        assert_eq!(pause_ms(Some(hours), 0), 60_000);
        assert_eq!(pause_ms(Some(hours), hours - 900), 900);
        assert_eq!(pause_ms(Some(hours), hours + 900), 0); // the machine has slept for longer
        assert_eq!(pause_ms(Some(i64::MAX), 0), 60_000);
    }
}
