// SPDX-License-Identifier: Apache-2.0
//
// flume: bounded channels.
use crate::ffi::{State, Way, CAPACITY, CHANNEL};
use crate::loops::{self, Item, Item64, Item8, Oneshot, Queue, Trip};
use crate::{library, way};
use flume::{bounded, Receiver, Sender};

/// Both ends of a channel; POLLED: it never waits by itself.
pub struct Channel<T, const DEPTH: usize, const POLLED: bool> {
    sender: Sender<T>,
    receiver: Receiver<T>,
}

impl<T, const DEPTH: usize, const POLLED: bool> State for Channel<T, DEPTH, POLLED> {
    fn new() -> Self {
        let (sender, receiver) = bounded(DEPTH);

        Channel { sender, receiver }
    }
}

impl<const WORDS: usize, const DEPTH: usize, const POLLED: bool> Queue<WORDS>
    for Channel<Item<WORDS>, DEPTH, POLLED>
{
    #[inline(always)]
    fn push(&self, item: &Item<WORDS>) -> bool {
        if POLLED {
            self.sender.try_send(*item).is_ok()
        } else {
            self.sender.send(*item).is_ok()
        }
    }

    #[inline(always)]
    fn pop(&self, item: &mut Item<WORDS>) -> bool {
        let received =
            if POLLED { self.receiver.try_recv().ok() } else { self.receiver.recv().ok() };

        match received {
            Some(received) => {
                *item = received;
                true
            }
            None => false,
        }
    }
}

pub struct Calls {
    requests: Channel<u64, CHANNEL, false>,
    answers: Channel<u64, 1, false>,
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
        self.answers.receiver.recv().ok()
    }

    #[inline(always)]
    fn serve(&self) -> bool {
        match self.requests.receiver.recv() {
            Ok(value) => self.answers.sender.send(value + 1).is_ok(),
            Err(_) => false,
        }
    }
}

impl Oneshot for Calls {
    #[inline(always)]
    fn once(value: u64) -> Option<u64> {
        let (sender, receiver) = bounded(1);

        sender.send(value).ok()?;
        receiver.try_recv().ok()
    }
}

type Polled8 = Channel<Item8, CAPACITY, true>;
type Polled64 = Channel<Item64, CAPACITY, true>;
type Waiting64 = Channel<Item64, CAPACITY, false>;
type Hundred = Channel<loops::Command, CHANNEL, false>;

#[rustfmt::skip] // one way, one place
static WAYS: [Way; 7] = [
    way!("mpmc_cycle_8", "bounded", "1024", "retry", "1", Polled8,
         loops::cycle::<Polled8, 1>, loops::stream::<Polled8, 1>),
    way!("mpmc_cycle_64", "bounded", "1024", "retry", "1", Polled64,
         loops::cycle::<Polled64, 8>, loops::stream::<Polled64, 8>),
    way!("stream_1p1c_64", "bounded", "1024", "block", "1024", Waiting64,
         loops::stream::<Waiting64, 8>, loops::stream::<Waiting64, 8>),
    way!("stream_4p1c_64", "bounded", "1024", "block", "1024", Waiting64,
         loops::stream::<Waiting64, 8>, loops::stream::<Waiting64, 8>),
    way!("round_trip_spin", "bounded(1), reused", "100 and 1", "block", "1", Calls,
         loops::round_trip::<Calls>, loops::round_trip::<Calls>),
    way!("send_small_one_block", "bounded", "100", "block", "100", Hundred,
         loops::fill_channel::<Hundred>, loops::stream::<Hundred, 6>),
    way!("oneshot_cycle", "bounded(1)", "1", "block", "1", Calls,
         loops::oneshot::<Calls>, loops::round_trip::<Calls>),
];

library!(peers_flume, "flume", env!("PEERS_FLUME_VERSION"), WAYS);
