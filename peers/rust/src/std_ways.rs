// SPDX-License-Identifier: Apache-2.0
//
// std: sync_channel and Arc, which every Rust program has.
use crate::clones::{clone_drop, clone_over, Shared};
use crate::ffi::{State, Way, CAPACITY, CHANNEL};
use crate::loops::{self, Item, Item64, Oneshot, Queue, Trip};
use crate::{library, way};
use std::cell::UnsafeCell;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::Arc;

/// Both ends of a channel of so many items. Only role 0 receives.
pub struct Channel<T, const DEPTH: usize> {
    sender: SyncSender<T>,
    receiver: UnsafeCell<Receiver<T>>,
}

impl<T, const DEPTH: usize> State for Channel<T, DEPTH> {
    fn new() -> Self {
        let (sender, receiver) = sync_channel(DEPTH);

        Channel { sender, receiver: UnsafeCell::new(receiver) }
    }
}

impl<const WORDS: usize, const DEPTH: usize> Queue<WORDS> for Channel<Item<WORDS>, DEPTH> {
    #[inline(always)]
    fn push(&self, item: &Item<WORDS>) -> bool {
        self.sender.send(*item).is_ok()
    }

    #[inline(always)]
    fn pop(&self, item: &mut Item<WORDS>) -> bool {
        match unsafe { &*self.receiver.get() }.recv() {
            Ok(received) => {
                *item = received;
                true
            }
            Err(_) => false,
        }
    }
}

pub struct Calls {
    requests: Channel<u64, CHANNEL>,
    answers: Channel<u64, 1>,
}

impl State for Calls {
    fn new() -> Self {
        Calls { requests: State::new(), answers: State::new() }
    }
}

impl Trip for Calls {
    #[inline(always)]
    fn ask(&self, value: u64) -> Option<u64> {
        self.requests.sender.send(value).ok()?;
        unsafe { &*self.answers.receiver.get() }.recv().ok()
    }

    #[inline(always)]
    fn serve(&self) -> bool {
        match unsafe { &*self.requests.receiver.get() }.recv() {
            Ok(value) => self.answers.sender.send(value + 1).is_ok(),
            Err(_) => false,
        }
    }
}

impl Oneshot for Calls {
    #[inline(always)]
    fn once(value: u64) -> Option<u64> {
        let (sender, receiver) = sync_channel(1);

        sender.send(value).ok()?;
        receiver.recv().ok()
    }
}

/// What large bytes hold.
pub fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 31) as u8).collect()
}

pub fn is_pattern(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().fold(0, |different, (i, byte)| different | (byte ^ (i * 31) as u8))
        == 0
}

/// Waits until the other role has come this far; false when the runner has given up.
pub fn reached(counter: &AtomicU64, value: u64) -> bool {
    let mut tries = 0;

    while counter.load(Ordering::Acquire) < value {
        if !crate::ffi::wait(&mut tries) {
            return false;
        }
    }
    true
}

type Deep = Channel<Item64, CAPACITY>;
type Hundred = Channel<loops::Command, CHANNEL>;

#[rustfmt::skip] // one way, one place
static WAYS: [Way; 7] = [
    way!("stream_1p1c_64", "mpsc::sync_channel", "1024", "block", "1024", Deep,
         loops::stream::<Deep, 8>, loops::stream::<Deep, 8>),
    way!("stream_4p1c_64", "mpsc::sync_channel", "1024", "block", "1024", Deep,
         loops::stream::<Deep, 8>, loops::stream::<Deep, 8>),
    way!("round_trip_spin", "mpsc::sync_channel, reused", "100 and 1", "block", "1", Calls,
         loops::round_trip::<Calls>, loops::round_trip::<Calls>),
    way!("send_small_one_block", "mpsc::sync_channel", "100", "block", "100", Hundred,
         loops::fill_channel::<Hundred>, loops::stream::<Hundred, 6>),
    way!("oneshot_cycle", "mpsc::sync_channel(1)", "1", "block", "1", Calls,
         loops::oneshot::<Calls>, loops::round_trip::<Calls>),
    way!("bytes_clone_drop_1k", "Arc<[u8]>", "-", "-", "1", Shared<Arc<[u8]>, 1024>,
         clone_drop::<Arc<[u8]>, 1024>, clone_over::<Arc<[u8]>, 1024>),
    way!("bytes_clone_drop_1m", "Arc<[u8]>", "-", "-", "1", Shared<Arc<[u8]>, 1048576>,
         clone_drop::<Arc<[u8]>, 1048576>, clone_over::<Arc<[u8]>, 1048576>),
];

library!(peers_std, "Rust std", env!("PEERS_RUST_VERSION"), WAYS);
