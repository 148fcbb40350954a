// SPDX-License-Identifier: Apache-2.0
//
// bytes: Bytes, cloned and dropped.
use crate::ffi::{keep, State, Turn, Way};
use crate::std_ways::{is_pattern, pattern, reached};
use crate::{library, way};
use bytes::Bytes;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

/// Bytes, and a place to hand one holder over in.
pub struct Shared<const SIZE: usize> {
    bytes: Bytes,
    handed: Mutex<Option<Bytes>>,
    given: AtomicU64,
    back: AtomicU64,
    different: AtomicU64,
}

impl<const SIZE: usize> State for Shared<SIZE> {
    fn new() -> Self {
        let bytes = pattern(SIZE);

        Shared {
            bytes: Bytes::from(bytes),
            handed: Mutex::new(None),
            given: AtomicU64::new(0),
            back: AtomicU64::new(0),
            different: AtomicU64::new(0),
        }
    }
}

unsafe extern "C" fn clone_drop<const SIZE: usize>(state: *mut c_void, turn: *mut Turn) -> u64 {
    let shared = &*(state as *const Shared<SIZE>);
    let mut right = 0;

    for _ in 0..(*turn).count {
        let mut clone = shared.bytes.clone();

        keep(&mut clone);
        right += (clone.len() == SIZE) as u64;
    }
    right
}

/// Role 0 clones, role 1 compares every byte and drops.
unsafe extern "C" fn clone_over<const SIZE: usize>(state: *mut c_void, turn: *mut Turn) -> u64 {
    let shared = &*(state as *const Shared<SIZE>);
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

#[rustfmt::skip] // one way, one place
static WAYS: [Way; 2] = [
    way!("bytes_clone_drop_1k", "Bytes", "-", "-", "1", Shared<1024>,
         clone_drop::<1024>, clone_over::<1024>),
    way!("bytes_clone_drop_1m", "Bytes", "-", "-", "1", Shared<1048576>,
         clone_drop::<1048576>, clone_over::<1048576>),
];

library!(peers_bytes, "bytes", env!("PEERS_BYTES_VERSION"), WAYS);
