// SPDX-License-Identifier: Apache-2.0
//
// crossbeam: ArrayQueue, and bounded channels that wait by themselves or are polled.
use crate::ffi::{State, Way, CAPACITY, CHANNEL};
use crate::loops::{self, Item, Item64, Item8, Queue, Trip};
use crate::{bounded_channels, library, way};
use crossbeam_queue::ArrayQueue;

impl<const WORDS: usize> State for ArrayQueue<Item<WORDS>> {
    fn new() -> Self {
        ArrayQueue::new(CAPACITY)
    }
}

impl<const WORDS: usize> Queue<WORDS> for ArrayQueue<Item<WORDS>> {
    #[inline(always)]
    fn push(&self, item: &Item<WORDS>) -> bool {
        ArrayQueue::push(self, *item).is_ok()
    }

    #[inline(always)]
    fn pop(&self, item: &mut Item<WORDS>) -> bool {
        match ArrayQueue::pop(self) {
            Some(received) => {
                *item = received;
                true
            }
            None => false,
        }
    }
}

bounded_channels!(crossbeam_channel);

/// Calls through two queues that are polled.
pub struct Queues {
    requests: ArrayQueue<u64>,
    answers: ArrayQueue<u64>,
}

impl State for Queues {
    fn new() -> Self {
        Queues { requests: ArrayQueue::new(CHANNEL), answers: ArrayQueue::new(1) }
    }
}

#[inline(always)]
fn poll(queue: &ArrayQueue<u64>) -> u64 {
    loop {
        if let Some(value) = queue.pop() {
            return value;
        }
        std::hint::spin_loop();
    }
}

impl Trip for Queues {
    #[inline(always)]
    fn ask(&self, value: u64) -> Option<u64> {
        self.requests.push(value).ok()?;
        Some(poll(&self.answers))
    }

    #[inline(always)]
    fn serve(&self) -> bool {
        let value = poll(&self.requests);

        self.answers.push(value + 1).is_ok()
    }
}

type Array8 = ArrayQueue<Item8>;
type Array64 = ArrayQueue<Item64>;
type Polled8 = Channel<Item8, CAPACITY, true>;
type Polled64 = Channel<Item64, CAPACITY, true>;
type Waiting64 = Channel<Item64, CAPACITY, false>;
type Hundred = Channel<loops::Command, CHANNEL, false>;

#[rustfmt::skip] // one way, one place
static WAYS: [Way; 15] = [
    way!("mpmc_cycle_8", "ArrayQueue", "1024", "retry", "1", Array8,
         loops::cycle::<Array8, 1>, loops::stream::<Array8, 1>),
    way!("mpmc_cycle_8", "channel::bounded", "1024", "retry", "1", Polled8,
         loops::cycle::<Polled8, 1>, loops::stream::<Polled8, 1>),
    way!("mpmc_cycle_64", "ArrayQueue", "1024", "retry", "1", Array64,
         loops::cycle::<Array64, 8>, loops::stream::<Array64, 8>),
    way!("mpmc_cycle_64", "channel::bounded", "1024", "retry", "1", Polled64,
         loops::cycle::<Polled64, 8>, loops::stream::<Polled64, 8>),
    way!("stream_1p1c_64", "ArrayQueue", "1024", "retry", "1024", Array64,
         loops::stream::<Array64, 8>, loops::stream::<Array64, 8>),
    way!("stream_1p1c_64", "channel::bounded", "1024", "block", "1024", Waiting64,
         loops::stream::<Waiting64, 8>, loops::stream::<Waiting64, 8>),
    way!("stream_1p1c_64", "channel::bounded, polled", "1024", "retry", "1024", Polled64,
         loops::stream::<Polled64, 8>, loops::stream::<Polled64, 8>),
    way!("stream_4p1c_64", "ArrayQueue", "1024", "retry", "1024", Array64,
         loops::stream::<Array64, 8>, loops::stream::<Array64, 8>),
    way!("stream_4p1c_64", "channel::bounded", "1024", "block", "1024", Waiting64,
         loops::stream::<Waiting64, 8>, loops::stream::<Waiting64, 8>),
    way!("stream_4p1c_64", "channel::bounded, polled", "1024", "retry", "1024", Polled64,
         loops::stream::<Polled64, 8>, loops::stream::<Polled64, 8>),
    way!("round_trip_spin", "channel::bounded(1), reused", "100 and 1", "block", "1", Calls<false>,
         loops::round_trip::<Calls<false>>, loops::round_trip::<Calls<false>>),
    way!("round_trip_spin", "channel::bounded(1), reused and polled", "100 and 1", "block", "1",
         Calls<true>, loops::round_trip::<Calls<true>>, loops::round_trip::<Calls<true>>),
    way!("round_trip_spin", "ArrayQueue, polled", "100 and 1", "retry", "1", Queues,
         loops::round_trip::<Queues>, loops::round_trip::<Queues>),
    way!("send_small_one_block", "channel::bounded", "100", "block", "100", Hundred,
         loops::fill_channel::<Hundred>, loops::stream::<Hundred, 6>),
    way!("oneshot_cycle", "channel::bounded(1)", "1", "block", "1", Calls<true>,
         loops::oneshot::<Calls<true>>, loops::round_trip::<Calls<true>>),
];

library!(peers_crossbeam, "crossbeam", env!("PEERS_CROSSBEAM_VERSION"), WAYS);
