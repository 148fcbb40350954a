// SPDX-License-Identifier: Apache-2.0
//
// clones: bytes that several holders share, cloned and dropped, whatever type shares them.
use crate::ffi::{keep, State, Turn};
use crate::std_ways::{is_pattern, pattern, reached};
use std::ops::Deref;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

/// One holder, and a place to hand another over in.
pub struct Shared<Bytes, const SIZE: usize> {
    bytes: Bytes,
    handed: Mutex<Option<Bytes>>,
    given: AtomicU64,
    back: AtomicU64,
    different: AtomicU64,
}

impl<Bytes: From<Vec<u8>>, const SIZE: usize> State for Shared<Bytes, SIZE> {
    fn new() -> Self {
        Shared {
            bytes: Bytes::from(pattern(SIZE)),
            handed: Mutex::new(None),
            given: AtomicU64::new(0),
            back: AtomicU64::new(0),
            different: AtomicU64::new(0),
        }
    }
}

pub unsafe extern "C" fn clone_drop<Bytes, const SIZE: usize>(
    state: *mut c_void,
    turn: *mut Turn,
) -> u64
where
    Bytes: Clone + Deref<Target = [u8]>,
{
    let shared = &*(state as *const Shared<Bytes, SIZE>);
    let mut right = 0;

    for _ in 0..(*turn).count {
        let mut clone = shared.bytes.clone();

        keep(&mut clone);
        right += (clone.len() == SIZE) as u64;
    }
    right
}

/// Role 0 clones, role 1 compares every byte and drops.
pub unsafe extern "C" fn clone_over<Bytes, const SIZE: usize>(
    state: *mut c_void,
    turn: *mut Turn,
) -> u64
where
    Bytes: Clone + Deref<Target = [u8]>,
{
    let shared = &*(state as *const Shared<Bytes, SIZE>);
    let turn = &*turn;
    let first = shared.back.load(Ordering::Acquire);

    for i in first + 1..=first + turn.count {
        if turn.role == 0 {
            *shared.handed.lock().unwrap() = Some(shared.bytes.clone());
            shared.given.store(i, Ordering::Release);
            if !reached(&shared.back, i) {
                return 0;
            }
        } else {
            if !reached(&shared.given, i) {
                return 0;
            }
            let clone = shared.handed.lock().unwrap().take().unwrap();
            let same = clone.len() == SIZE && is_pattern(&clone);

            shared.different.fetch_add(!same as u64, Ordering::Relaxed);
            drop(clone);
            shared.back.store(i, Ordering::Release);
        }
    }
    turn.count - shared.different.load(Ordering::Relaxed)
}
