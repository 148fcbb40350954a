// SPDX-License-Identifier: Apache-2.0
//
// tokio: broadcast with a receiver that never reads, oneshot, and mpsc, from plain threads.
//
// The commands are the seeds': a launch carries its parameters as Bytes, freshly copied for each
// send; a transfer shares bytes that were built once.
use crate::ffi::{Account, State, Turn, Way, CAPACITY, CHANNEL};
use crate::loops::{self, Item, Item64, Oneshot, Queue, Trip};
use crate::std_ways::{is_pattern, pattern, reached};
use crate::{library, way};
use bytes::Bytes;
use std::cell::UnsafeCell;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{broadcast, mpsc, oneshot};

const PARAMETERS: usize = 128;
const LARGE: usize = 1 << 20;

#[allow(dead_code)] // of the seeds' commands, these works read what they compare
#[derive(Clone)]
enum Command {
    LaunchKernel { kernel: u64, grid: (u32, u32, u32), block: (u32, u32, u32), params: Bytes },
    TransferToDevice { buffer: u64, data: Bytes, offset: u64 },
    TransferFromDevice { buffer: u64, size: u64, offset: u64 },
    Synchronize { stream: Option<u32> },
}

const SMALL: u32 = 0;
const LAUNCH: u32 = 1;
const TRANSFER: u32 = 2;

struct Inner {
    receiver: broadcast::Receiver<Command>,
    parameters: [u8; PARAMETERS],
    next: u64,
    unsettled: u64,
}

/// A broadcast with one receiver that never reads; only one role touches `inner` at a time, but for
/// the receiver, which is role 0's.
pub struct Broadcast {
    sender: broadcast::Sender<Command>,
    large: Bytes,
    inner: UnsafeCell<Inner>,
    taken: AtomicU64,
}

impl State for Broadcast {
    fn new() -> Self {
        let (sender, receiver) = broadcast::channel(CHANNEL);
        let bytes = pattern(LARGE);
        let mut parameters = [0; PARAMETERS];

        parameters.copy_from_slice(&bytes[..PARAMETERS]);
        Broadcast {
            sender,
            large: Bytes::from(bytes),
            inner: UnsafeCell::new(Inner { receiver, parameters, next: 0, unsettled: 0 }),
            taken: AtomicU64::new(0),
        }
    }
}

impl Broadcast {
    #[inline(always)]
    unsafe fn send<const KIND: u32>(&self, number: u64) -> bool {
        let command = match KIND {
            SMALL => Command::Synchronize { stream: Some(number as u32) },
            LAUNCH => {
                let parameters = &mut (*self.inner.get()).parameters;

                parameters[..8].copy_from_slice(&number.to_ne_bytes());
                Command::LaunchKernel {
                    kernel: 7,
                    grid: (64, 1, 1),
                    block: (256, 1, 1),
                    params: Bytes::copy_from_slice(&parameters[..]),
                }
            }
            _ => Command::TransferToDevice { buffer: 7, data: self.large.clone(), offset: number },
        };

        self.sender.send(command).is_ok()
    }

    /// Whether this is the command of that number; `whole`: to the last byte of it.
    unsafe fn is(&self, command: &Command, number: u64, whole: bool) -> bool {
        match command {
            Command::Synchronize { stream } => *stream == Some(number as u32),
            Command::LaunchKernel { params, .. } => {
                let mut expected = (*self.inner.get()).parameters;

                expected[..8].copy_from_slice(&number.to_ne_bytes());
                params[..] == expected[..]
            }
            Command::TransferToDevice { data, offset, .. } => {
                *offset == number
                    && data.as_ptr() == self.large.as_ptr()
                    && data.len() == LARGE
                    && (!whole || is_pattern(data))
            }
            Command::TransferFromDevice { .. } => false,
        }
    }
}

unsafe extern "C" fn send<const KIND: u32>(state: *mut c_void, turn: *mut Turn) -> u64 {
    let broadcast = &*(state as *const Broadcast);
    let inner = broadcast.inner.get();
    let first = (*inner).next;
    let mut right = 0;

    for i in 0..(*turn).count {
        right += broadcast.send::<KIND>(first + i) as u64;
    }
    (*inner).next += (*turn).count;
    (*inner).unsettled += (*turn).count;
    right
}

unsafe extern "C" fn settle(state: *mut c_void, account: *mut Account) -> bool {
    let broadcast = &*(state as *const Broadcast);
    let inner = &mut *broadcast.inner.get();
    let mut received = Vec::new();
    let mut lost = 0;

    loop {
        match inner.receiver.try_recv() {
            Ok(command) => received.push(command),
            Err(broadcast::error::TryRecvError::Lagged(missed)) => lost += missed,
            Err(_) => break,
        }
    }
    let count = received.len() as u64;
    let mut right = inner.unsettled == count + lost;

    for (i, command) in received.iter().enumerate() {
        right &= broadcast.is(command, inner.next - count + i as u64, false);
    }
    *account = Account { sent: inner.unsettled, received: count, lost };
    inner.unsettled = 0;
    right
}

/// Role 1 sends, role 0 receives and compares to the last byte; one at a time, so none is lost.
unsafe extern "C" fn send_over<const KIND: u32>(state: *mut c_void, turn: *mut Turn) -> u64 {
    let broadcast = &*(state as *const Broadcast);
    let turn = &*turn;
    let first = broadcast.taken.load(Ordering::Acquire);
    let mut right = 0;
    let mut tries = 0;

    for i in first..first + turn.count {
        if turn.role == 1 {
            if !broadcast.send::<KIND>(i) || !reached(&broadcast.taken, i + 1) {
                break;
            }
        } else {
            let command = loop {
                if let Ok(command) = (*broadcast.inner.get()).receiver.try_recv() {
                    break command;
                }
                if !crate::ffi::wait(&mut tries) {
                    return right;
                }
            };

            right += broadcast.is(&command, i, true) as u64;
            broadcast.taken.store(i + 1, Ordering::Release);
        }
    }
    right
}

/// Both ends of an mpsc channel; POLLED: it never waits by itself. Only role 0 receives.
pub struct Channel<T, const DEPTH: usize, const POLLED: bool> {
    sender: mpsc::Sender<T>,
    receiver: UnsafeCell<mpsc::Receiver<T>>,
}

impl<T, const DEPTH: usize, const POLLED: bool> State for Channel<T, DEPTH, POLLED> {
    fn new() -> Self {
        let (sender, receiver) = mpsc::channel(DEPTH);

        Channel { sender, receiver: UnsafeCell::new(receiver) }
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
            self.sender.blocking_send(*item).is_ok()
        }
    }

    #[inline(always)]
    fn pop(&self, item: &mut Item<WORDS>) -> bool {
        let receiver = unsafe { &mut *self.receiver.get() };
        let received = if POLLED { receiver.try_recv().ok() } else { receiver.blocking_recv() };

        match received {
            Some(received) => {
                *item = received;
                true
            }
            None => false,
        }
    }
}

type Request = (u64, oneshot::Sender<u64>);

/// Requests that carry the way back, as users of tokio write it.
pub struct Calls {
    requests: Channel<Request, CHANNEL, false>,
}

impl State for Calls {
    fn new() -> Self {
        Calls { requests: State::new() }
    }
}

impl Trip for Calls {
    #[inline(always)]
    fn ask(&self, value: u64) -> Option<u64> {
        let (sender, receiver) = oneshot::channel();

        self.requests.sender.blocking_send((value, sender)).ok()?;
        receiver.blocking_recv().ok()
    }

    #[inline(always)]
    fn serve(&self) -> bool {
        match unsafe { &mut *self.requests.receiver.get() }.blocking_recv() {
            Some((value, sender)) => sender.send(value + 1).is_ok(),
            None => false,
        }
    }
}

impl Oneshot for Calls {
    #[inline(always)]
    fn once(value: u64) -> Option<u64> {
        let (sender, mut receiver) = oneshot::channel();

        sender.send(value).ok()?;
        receiver.try_recv().ok()
    }
}

/// A lossy way: what the receiver missed is counted.
macro_rules! broadcast_way {
    ($work:literal, $kind:ident) => {
        Way {
            lossless: false,
            settle: Some(settle),
            ..way!(
                $work,
                "broadcast",
                "100 (128)",
                "drop oldest",
                "128",
                Broadcast,
                send::<$kind>,
                send_over::<$kind>
            )
        }
    };
}

type Waiting64 = Channel<Item64, CAPACITY, false>;
type Polled64 = Channel<Item64, CAPACITY, true>;
type Hundred = Channel<loops::Command, CHANNEL, true>;

#[rustfmt::skip] // one way, one place
static WAYS: [Way; 9] = [
    way!("stream_1p1c_64", "mpsc", "1024", "block", "1024", Waiting64,
         loops::stream::<Waiting64, 8>, loops::stream::<Waiting64, 8>),
    way!("stream_4p1c_64", "mpsc", "1024", "block", "1024", Waiting64,
         loops::stream::<Waiting64, 8>, loops::stream::<Waiting64, 8>),
    way!("stream_4p1c_64", "mpsc, polled", "1024", "retry", "1024", Polled64,
         loops::stream::<Polled64, 8>, loops::stream::<Polled64, 8>),
    way!("round_trip_spin", "mpsc and oneshot", "100 and 1", "block", "1", Calls,
         loops::round_trip::<Calls>, loops::round_trip::<Calls>),
    broadcast_way!("send_small", SMALL),
    broadcast_way!("send_128", LAUNCH),
    broadcast_way!("send_1mib_prebuilt", TRANSFER),
    way!("send_small_one_block", "mpsc", "100", "block", "100", Hundred,
         loops::fill_channel::<Hundred>, loops::stream::<Hundred, 6>),
    way!("oneshot_cycle", "oneshot", "1", "block", "1", Calls,
         loops::oneshot::<Calls>, loops::round_trip::<Calls>),
];

library!(peers_tokio, "tokio", env!("PEERS_TOKIO_VERSION"), WAYS);
