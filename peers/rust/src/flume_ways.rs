// SPDX-License-Identifier: Apache-2.0
//
// flume: bounded channels.
use crate::ffi::{Way, CAPACITY, CHANNEL};
use crate::loops::{self, Item64, Item8};
use crate::{bounded_channels, library, way};

bounded_channels!(flume);

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
    way!("round_trip_spin", "bounded(1), reused", "100 and 1", "block", "1", Calls<false>,
         loops::round_trip::<Calls<false>>, loops::round_trip::<Calls<false>>),
    way!("send_small_one_block", "bounded", "100", "block", "100", Hundred,
         loops::fill_channel::<Hundred>, loops::stream::<Hundred, 6>),
    way!("oneshot_cycle", "bounded(1)", "1", "block", "1", Calls<false>,
         loops::oneshot::<Calls<false>>, loops::round_trip::<Calls<false>>),
];

library!(peers_flume, "flume", env!("PEERS_FLUME_VERSION"), WAYS);
