// SPDX-License-Identifier: Apache-2.0
//
// loops: peers/loops.h in Rust: what is done with a queue, for every queue in the same words.
use crate::ffi::{is_over, keep, keep_word, wait, State, Turn, PRODUCERS};
use std::os::raw::c_void;

const PRODUCER_SHIFT: u32 = 48;
const AHEAD: usize = 8;
const GLANCE: u64 = 32;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Item<const WORDS: usize> {
    pub word: [u64; WORDS],
}

pub type Item8 = Item<1>;
pub type Item64 = Item<8>;

impl<const WORDS: usize> Item<WORDS> {
    pub fn new() -> Self {
        Item { word: [0; WORDS] }
    }

    #[inline(always)]
    fn mark(&mut self, value: u64) {
        self.word[0] = value;
        self.word[WORDS - 1] = value;
    }

    #[inline(always)]
    pub fn is(&mut self, value: u64) -> bool {
        if WORDS > 1 {
            keep(self);
        }
        (self.word[0] == value) & (self.word[WORDS - 1] == value)
    }
}

/// Items that are made some turns before they are pushed; a single word is made at once.
pub struct Made<const WORDS: usize> {
    items: [Item<WORDS>; 2 * AHEAD],
}

impl<const WORDS: usize> Made<WORDS> {
    pub fn new(first: u64) -> Self {
        let mut made = Made { items: [Item::new(); 2 * AHEAD] };

        for (i, item) in made.items.iter_mut().enumerate() {
            item.mark(first + i as u64);
        }
        made
    }

    #[inline(always)]
    pub fn next(&mut self, value: u64) -> &Item<WORDS> {
        if WORDS == 1 {
            self.items[0].word[0] = keep_word(value);
            return &self.items[0];
        }
        self.items[(value as usize + AHEAD) % (2 * AHEAD)].mark(value + AHEAD as u64);
        keep(&mut self.items);
        &self.items[value as usize % (2 * AHEAD)]
    }
}

/// A queue, or a channel with both of its ends; false: full, or empty.
pub trait Queue<const WORDS: usize>: State {
    fn push(&self, item: &Item<WORDS>) -> bool;
    fn pop(&self, item: &mut Item<WORDS>) -> bool;
}

pub unsafe extern "C" fn cycle<Q: Queue<WORDS>, const WORDS: usize>(
    state: *mut c_void,
    turn: *mut Turn,
) -> u64 {
    let queue = &*(state as *const Q);
    let mut made = Made::new(0);
    let mut output = Item::new();
    let mut right = 0;

    for i in 0..(*turn).count {
        if !queue.push(made.next(i)) || !queue.pop(&mut output) {
            return right;
        }
        right += output.is(i) as u64;
    }
    right
}

fn produce<Q: Queue<WORDS>, const WORDS: usize>(queue: &Q, producer: u64, count: u64) {
    let first = producer << PRODUCER_SHIFT;
    let mut made = Made::new(first);
    let mut tries = 0;

    for i in 0..count {
        let input = made.next(first + i);

        if i % GLANCE == 0 && is_over() {
            return;
        }
        while !queue.push(input) {
            if !wait(&mut tries) {
                return;
            }
        }
        tries = 0;
    }
}

pub unsafe extern "C" fn stream<Q: Queue<WORDS>, const WORDS: usize>(
    state: *mut c_void,
    turn: *mut Turn,
) -> u64 {
    let queue = &*(state as *const Q);
    let turn = &*turn;
    let mut next = [0u64; PRODUCERS];
    let mut output = Item::new();
    let mut right = 0;
    let mut tries = 0;

    if turn.role > 0 {
        produce(queue, (turn.role - 1) as u64, turn.count / (turn.roles - 1) as u64);
        return turn.count;
    }
    for producer in 0..PRODUCERS {
        next[producer] = (producer as u64) << PRODUCER_SHIFT;
    }
    for i in 0..turn.count {
        if i % GLANCE == 0 && is_over() {
            return right;
        }
        while !queue.pop(&mut output) {
            if !wait(&mut tries) {
                return right;
            }
        }
        tries = 0;
        let expected = &mut next[(output.word[0] >> PRODUCER_SHIFT) as usize % PRODUCERS];

        right += output.is(*expected) as u64;
        *expected += 1;
    }
    right
}

/// A request and its answer, each to the other side; false: it failed.
pub trait Trip: State {
    fn ask(&self, value: u64) -> Option<u64>;
    fn serve(&self) -> bool;
}

pub unsafe extern "C" fn round_trip<T: Trip>(state: *mut c_void, turn: *mut Turn) -> u64 {
    let trip = &*(state as *const T);
    let turn = &*turn;
    let mut right = 0;

    for i in 0..turn.count {
        if turn.role == 1 {
            if !trip.serve() {
                break;
            }
        } else {
            match trip.ask(i) {
                Some(answer) => right += (answer == i + 1) as u64,
                None => break,
            }
        }
    }
    right
}

/// A small command of 48 bytes, sent to a channel of 100 that is emptied untimed.
pub type Command = Item<6>;

pub unsafe extern "C" fn fill_channel<Q: Queue<6>>(state: *mut c_void, turn: *mut Turn) -> u64 {
    let queue = &*(state as *const Q);
    let turn = &mut *turn;
    let mut made = Made::new(0);
    let mut output = Command::new();
    let mut right = 0;
    let mut elapsed_ns = 0;
    let mut i = 0;

    while i < turn.count {
        let start_ns = crate::ffi::peers_now_ns();

        for k in 0..crate::ffi::CHANNEL as u64 {
            if !queue.push(made.next(i + k)) {
                return right;
            }
        }
        elapsed_ns += crate::ffi::peers_now_ns() - start_ns;
        for k in 0..crate::ffi::CHANNEL as u64 {
            right += (queue.pop(&mut output) && output.is(i + k)) as u64;
        }
        i += crate::ffi::CHANNEL as u64;
    }
    turn.elapsed_ns = elapsed_ns;
    right
}

/// An answer that is made, sent, received and gone.
pub trait Oneshot {
    fn once(value: u64) -> Option<u64>;
}

pub unsafe extern "C" fn oneshot<O: Oneshot>(_state: *mut c_void, turn: *mut Turn) -> u64 {
    let mut right = 0;

    for i in 0..(*turn).count {
        let value = keep_word(i);

        right += (O::once(value) == Some(value)) as u64;
    }
    right
}

/// For a crate whose `bounded` gives two ends that threads can share: a channel, calls through two of
/// them, and an answer through one.
#[macro_export]
macro_rules! bounded_channels {
    ($library:ident) => {
        /// Both ends of a channel; POLLED: it never waits by itself.
        pub struct Channel<T, const DEPTH: usize, const POLLED: bool> {
            sender: $library::Sender<T>,
            receiver: $library::Receiver<T>,
        }

        impl<T, const DEPTH: usize, const POLLED: bool> $crate::ffi::State
            for Channel<T, DEPTH, POLLED>
        {
            fn new() -> Self {
                let (sender, receiver) = $library::bounded(DEPTH);

                Channel { sender, receiver }
            }
        }

        impl<const WORDS: usize, const DEPTH: usize, const POLLED: bool> $crate::loops::Queue<WORDS>
            for Channel<$crate::loops::Item<WORDS>, DEPTH, POLLED>
        {
            #[inline(always)]
            fn push(&self, item: &$crate::loops::Item<WORDS>) -> bool {
                if POLLED {
                    self.sender.try_send(*item).is_ok()
                } else {
                    self.sender.send(*item).is_ok()
                }
            }

            #[inline(always)]
            fn pop(&self, item: &mut $crate::loops::Item<WORDS>) -> bool {
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

        /// Requests, and one channel for all of their answers, used again and again.
        pub struct Calls<const POLLED: bool> {
            requests: Channel<u64, { $crate::ffi::CHANNEL }, POLLED>,
            answers: Channel<u64, 1, POLLED>,
        }

        impl<const POLLED: bool> $crate::ffi::State for Calls<POLLED> {
            fn new() -> Self {
                Calls { requests: $crate::ffi::State::new(), answers: $crate::ffi::State::new() }
            }
        }

        #[inline(always)]
        fn receive<const POLLED: bool>(receiver: &$library::Receiver<u64>) -> Option<u64> {
            if !POLLED {
                return receiver.recv().ok();
            }
            loop {
                if let Ok(value) = receiver.try_recv() {
                    return Some(value);
                }
                std::hint::spin_loop();
            }
        }

        impl<const POLLED: bool> $crate::loops::Trip for Calls<POLLED> {
            #[inline(always)]
            fn ask(&self, value: u64) -> Option<u64> {
                self.requests.sender.send(value).ok()?;
                receive::<POLLED>(&self.answers.receiver)
            }

            #[inline(always)]
            fn serve(&self) -> bool {
                match receive::<POLLED>(&self.requests.receiver) {
                    Some(value) => self.answers.sender.send(value + 1).is_ok(),
                    None => false,
                }
            }
        }

        impl<const POLLED: bool> $crate::loops::Oneshot for Calls<POLLED> {
            #[inline(always)]
            fn once(value: u64) -> Option<u64> {
                let (sender, receiver) = $library::bounded(1);

                sender.send(value).ok()?;
                receiver.try_recv().ok()
            }
        }
    };
}
