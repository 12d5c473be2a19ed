// SPDX-License-Identifier: MIT
//! Decides which sessions to ask next what they need, and when. All `Wakes` of an open plugin share it. It reads no clock.
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tidings_sys as sys;

use crate::wake::Sleeper;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The session is no longer this host's.
fn is_gone(code: i32) -> bool {
    matches!(code, sys::E_OWNED | sys::E_CLOSED | sys::E_NOT_FOUND)
}

/// The store does not answer now, and may do so later. An unknown code is like `E_STORE`.
pub(crate) fn passes(code: i32) -> bool {
    matches!(
        code,
        sys::E_BUSY | sys::E_FULL | sys::E_STORE | sys::E_NOMEM | sys::E_OUTCOME_UNKNOWN
    ) || code < sys::E_OUTCOME_UNKNOWN
}

/// Returns how long to wait after one more failure.
pub(crate) fn longer(pause: Option<Duration>) -> Duration {
    pause.map_or(FIRST_PAUSE, |pause| LONGEST_PAUSE.min(pause * 2))
}

#[derive(Default)]
pub(crate) struct Agenda {
    noted: u64,                              // counts replies
    wake_at_ms: HashMap<String, (i64, u64)>, // by session: the time of its newest reply, and the count at which it was noted
    ready: VecDeque<String>, // those to ask now; they stay when a `Wakes` is dropped
    again: HashMap<String, Instant>, // those whose wake has failed: when to ask again
    pauses: HashMap<String, Duration>, // and how long that pause is
    sleepers: Vec<Weak<Sleeper>>,
}

impl Agenda {
    /// Returns a number for `note` and `failed`: replies that are noted after it may be newer.
    pub(crate) fn begin_call(&self) -> u64 {
        self.noted
    }

    /// Notes the time of a reply. If two calls for a session ran side by side, nobody knows which reply is the newer one: the earlier time counts.
    pub(crate) fn note(&mut self, session: &str, wake_at_ms: Option<i64>, began: u64) {
        self.noted += 1;
        let at = match wake_at_ms {
            Some(at) => at,
            None => return self.drop_time(session, began),
        };
        let noted = match self.wake_at_ms.get(session) {
            Some((other, count)) if *count > began => at.min(*other),
            _ => at,
        };
        self.wake_at_ms
            .insert(session.to_string(), (noted, self.noted));
        self.look_by(at);
    }

    fn drop_time(&mut self, session: &str, began: u64) {
        if matches!(self.wake_at_ms.get(session), Some((_, count)) if *count <= began) {
            self.wake_at_ms.remove(session);
        }
    }

    /// Makes every `Wakes` that would sleep for longer look at this time.
    pub(crate) fn look_by(&self, at_ms: i64) {
        for sleeper in self.sleepers.iter().filter_map(Weak::upgrade) {
            sleeper.look_by(at_ms);
        }
    }

    /// Makes all `Wakes` look: the one whose descriptor got the ring may belong to a host that is acting.
    pub(crate) fn ring_all(&self) {
        for sleeper in self.sleepers.iter().filter_map(Weak::upgrade) {
            sleeper.ring();
        }
    }

    pub(crate) fn ring(&mut self, session: String) {
        if !self.again.contains_key(&session) && !self.ready.contains(&session) {
            self.ready.push_back(session);
        }
    }

    /// Makes sessions ready whose time has come.
    pub(crate) fn find_due(&mut self, now: Instant, now_ms: i64) {
        let again: Vec<String> = self
            .again
            .iter()
            .filter(|(_, at)| **at <= now)
            .map(|(session, _)| session.clone())
            .collect();
        for session in again {
            self.again.remove(&session);
            self.ring(session);
        }
        let due: Vec<String> = self
            .wake_at_ms
            .iter()
            .filter(|(session, (at, _))| *at <= now_ms && !self.again.contains_key(*session))
            .map(|(session, _)| session.clone())
            .collect();
        for session in due {
            self.wake_at_ms.remove(&session);
            self.ring(session);
        }
    }

    /// Takes the next session to ask. Then call `succeeded` or `failed`.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.ready.pop_front()
    }

    pub(crate) fn succeeded(&mut self, session: &str) {
        self.again.remove(session);
        self.pauses.remove(session);
    }

    pub(crate) fn failed(&mut self, session: String, code: i32, began: u64, now: Instant) {
        let pause = longer(self.pauses.remove(&session));
        if is_gone(code) {
            self.again.remove(&session);
            self.drop_time(&session, began);
        } else {
            self.again.insert(session.clone(), now + pause);
            self.pauses.insert(session, pause);
        }
    }

    /// Returns when the next session is ready, by the wall clock. None: at no time.
    pub(crate) fn until_ms(&self, now: Instant, now_ms: i64) -> Option<i64> {
        if !self.ready.is_empty() {
            return Some(now_ms);
        }
        let pauses = self.again.values().map(|at| {
            now_ms + at.saturating_duration_since(now).as_millis() as i64 + 1 // rounded up
        });
        let times = self
            .wake_at_ms
            .iter()
            .filter(|(session, _)| !self.again.contains_key(*session))
            .map(|(_, (at, _))| *at);
        pauses.chain(times).min()
    }

    pub(crate) fn enter(&mut self, sleeper: &Arc<Sleeper>) {
        self.sleepers.push(Arc::downgrade(sleeper));
    }

    /// Another `Wakes` gets the remaining sessions, and the rings that this one got.
    pub(crate) fn leave(&mut self, sleeper: &Arc<Sleeper>) {
        let left = Arc::downgrade(sleeper);
        self.sleepers.retain(|one| !one.ptr_eq(&left));
        self.ring_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn taken(agenda: &mut Agenda) -> Vec<String> {
        let mut names: Vec<String> = std::iter::from_fn(|| agenda.next()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_session_whose_wake_fails_is_asked_again_after_pauses_that_grow() {
        let mut agenda = Agenda::default();
        let mut now = Instant::now();
        let mut pauses = Vec::new();
        agenda.ring("a".into());
        for code in [
            sys::E_BUSY,
            sys::E_STORE,
            sys::E_NOMEM,
            sys::E_OUTCOME_UNKNOWN,
            -99,
            -99,
            -99,
            -99,
        ] {
            assert_eq!(taken(&mut agenda), ["a"]);
            agenda.note("a", Some(56), 0); // its time has come long ago
            let began = agenda.begin_call();
            agenda.failed("a".into(), code, began, now);
            agenda.ring("a".into());
            agenda.find_due(now, 1000);
            assert_eq!(taken(&mut agenda), [""; 0]);
            let pause = agenda.until_ms(now, 1000).unwrap() - 1000 - 1;
            pauses.push(pause);
            now += MS * pause as u32;
            agenda.find_due(now, 1000);
        }
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        agenda.succeeded(&agenda.ready[0].clone());
        assert_eq!(taken(&mut agenda), ["a"]);
        agenda.failed("a".into(), sys::E_BUSY, 0, now);
        assert_eq!(agenda.until_ms(now, 1000), Some(1101));
    }

    #[test]
    fn a_session_that_is_gone_is_not_asked_again() {
        for code in [sys::E_OWNED, sys::E_CLOSED, sys::E_NOT_FOUND] {
            let mut agenda = Agenda::default();
            agenda.note("a", Some(5000), 0);
            let began = agenda.begin_call();
            agenda.failed("a".into(), code, began, Instant::now());
            assert_eq!(agenda.until_ms(Instant::now(), 1000), None);
        }
    }

    #[test]
    fn of_two_replies_side_by_side_the_earlier_time_counts() {
        let mut agenda = Agenda::default();
        let began = agenda.begin_call();
        agenda.note("a", Some(1000), began);
        agenda.note("a", None, began);
        agenda.note("a", Some(3000), began);
        assert_eq!(agenda.until_ms(Instant::now(), 0), Some(1000));
        let began = agenda.begin_call();
        agenda.note("a", Some(3000), began);
        assert_eq!(agenda.until_ms(Instant::now(), 0), Some(3000));
        let began = agenda.begin_call();
        agenda.note("a", None, began);
        assert_eq!(agenda.until_ms(Instant::now(), 0), None);
    }
}
