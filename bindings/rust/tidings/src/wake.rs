// SPDX-License-Identifier: MIT
//! Waits for sessions as a future, which any executor can poll. A thread waits for the descriptor and for the time of the next `wake_at_ms`; it ends with
//! `Wakes`.
use std::collections::VecDeque;
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
    waker: Option<Waker>,
    until_ms: Option<i64>,
}

/// Sessions that ring, one after the other: `while let Ok(woken) = wakes.next().await`. `Tidings::wakes` makes it.
pub struct Wakes {
    kit: Arc<Tidings>,
    rang: VecDeque<String>,
    waiting: Arc<Mutex<Waiting>>,
    nudge: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Wakes {
    pub(crate) fn new(kit: Arc<Tidings>, descriptor: Option<File>) -> std::io::Result<Wakes> {
        let (nudge, nudged) = UnixStream::pair()?;
        nudge.set_nonblocking(true)?;
        nudged.set_nonblocking(true)?;
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let shared = Arc::clone(&waiting);
        let thread = std::thread::Builder::new()
            .name("tidings-wake".into())
            .spawn(move || wait(descriptor, nudged, &shared))?;
        Ok(Wakes {
            kit,
            rang: VecDeque::new(),
            waiting,
            nudge,
            thread: Some(thread),
        })
    }

    /// The next session that wants its host to act. The first calls return every session of this host.
    pub fn next(&mut self) -> Next<'_> {
        Next { wakes: self }
    }

    fn find_due(&mut self) -> Result<(), Error> {
        while let Some(session) = self.kit.next_session()? {
            self.rang.push_back(session);
        }
        for session in self.kit.due(now_ms()) {
            if !self.rang.contains(&session) {
                self.rang.push_back(session);
            }
        }
        Ok(())
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        let _ = self.nudge.shutdown(std::net::Shutdown::Both); // the thread reads its end, and ends
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
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
        wakes.waiting.lock().unwrap().waker = Some(context.waker().clone());
        if wakes.rang.is_empty() {
            if let Err(error) = wakes.find_due() {
                return Poll::Ready(Err(error));
            }
        }
        if let Some(session) = wakes.rang.pop_front() {
            return Poll::Ready(
                wakes
                    .kit
                    .wake(&session)
                    .map(|reply| Woken { session, reply }),
            );
        }
        wakes.waiting.lock().unwrap().until_ms = wakes.kit.next_wake_ms();
        let _ = wakes.nudge.write(&[0]); // a full pipe has nudged already
        Poll::Pending
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

fn wait(descriptor: Option<File>, nudged: UnixStream, waiting: &Mutex<Waiting>) {
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
        }
        if rang || ready == 0 {
            let mut state = waiting.lock().unwrap();
            state.until_ms = None; // the next poll of the future sets it
            if let Some(waker) = state.waker.take() {
                waker.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pause_ms;

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
