// SPDX-License-Identifier: Apache-2.0
//
// rkyv: the request of peers/requests.h, serialized into a buffer that is used again, checked, read
// where it lies, and made a value of its own again. The loops are those of peers/requests.h.
use crate::ffi::{keep, keep_word, keep_words, peers_now_ns, State, Turn, Way};
use crate::std_ways::reached;
use crate::{library, text, way};
use rkyv::ser::serializers::{
    AlignedSerializer, AllocScratch, CompositeSerializer, FallbackScratch, HeapScratch,
};
use rkyv::ser::Serializer;
use rkyv::{AlignedVec, Archive, Deserialize, Infallible, Serialize};
use std::cell::UnsafeCell;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

const ELEMENTS: usize = 1000;

#[derive(Archive, Serialize, Deserialize)]
#[archive_attr(derive(bytecheck::CheckBytes))]
pub struct Request {
    id: u128,
    priority: u8,
    correlation: Option<u64>,
    a: Vec<f32>,
    b: Vec<f32>,
}

impl Request {
    fn number(&mut self, number: u64) {
        self.id = number as u128 | (!number as u128) << 64;
        self.correlation = Some(number + 1);
        self.priority = number as u8;
    }

    fn is(&self, archived: &ArchivedRequest) -> bool {
        archived.id == self.id
            && archived.priority == self.priority
            && archived.correlation.as_ref().copied() == self.correlation
            && archived.a[..] == self.a[..]
            && archived.b[..] == self.b[..]
    }

    /// The bits of the first `count` elements of a, which is read again and again, together.
    fn sum(&self, count: u64) -> u32 {
        let bits = |elements: &[f32]| {
            elements.iter().fold(0u32, |sum, element| sum.wrapping_add(element.to_bits()))
        };

        ((count / ELEMENTS as u64) as u32)
            .wrapping_mul(bits(&self.a))
            .wrapping_add(bits(&self.a[..(count % ELEMENTS as u64) as usize]))
    }
}

type Scratch = FallbackScratch<HeapScratch<1024>, AllocScratch>;

/// A request and its bytes. Role 0 writes them, role 1 reads when `given` says so.
pub struct Requests {
    inner: UnsafeCell<Inner>,
    given: AtomicU64,
    back: AtomicU64,
    different: AtomicU64,
}

pub struct Inner {
    request: Request,
    bytes: AlignedVec,
    scratch: Option<Scratch>,
}

impl State for Requests {
    fn new() -> Self {
        let request = Request {
            id: 0,
            priority: 0,
            correlation: None,
            a: (0..ELEMENTS).map(|i| (i + 1) as f32).collect(),
            b: (0..ELEMENTS).map(|i| (2 * i) as f32).collect(),
        };
        let inner = Inner { request, bytes: AlignedVec::new(), scratch: Some(Scratch::default()) };

        Requests {
            inner: UnsafeCell::new(inner),
            given: AtomicU64::new(0),
            back: AtomicU64::new(0),
            different: AtomicU64::new(0),
        }
    }
}

impl Inner {
    #[inline(always)]
    fn build(&mut self) -> bool {
        let mut bytes = std::mem::take(&mut self.bytes);

        bytes.clear();
        let mut serializer = CompositeSerializer::new(
            AlignedSerializer::new(bytes),
            self.scratch.take().unwrap_or_default(),
            Infallible,
        );
        let right = serializer.serialize_value(&self.request).is_ok();
        let (aligned, scratch, _) = serializer.into_components();

        self.bytes = aligned.into_inner();
        self.scratch = Some(scratch);
        right
    }

    fn is_built(&self) -> bool {
        open(&self.bytes, 1).1.map_or(false, |root| self.request.is(root))
    }
}

/// Checks the bytes so often; how often they were right, and the root. The one place of it in this
/// program, so that the compiler may put it in line, as where it is used once.
#[inline(never)]
fn open(bytes: &[u8], count: u64) -> (u64, Option<&ArchivedRequest>) {
    let mut words = (bytes.as_ptr() as usize, bytes.len());
    let (mut opened, mut right) = (0, 0);

    for _ in 0..count {
        words = keep_words(words.0, words.1);
        let bytes = unsafe { std::slice::from_raw_parts(words.0 as *const u8, words.1) };
        let root = rkyv::check_archived_root::<Request>(bytes).ok();

        opened = keep_word(root.map_or(0, |root| root as *const ArchivedRequest as u64));
        right += (opened != 0) as u64;
    }
    (right, unsafe { (opened as *const ArchivedRequest).as_ref() })
}

unsafe extern "C" fn build_all(state: *mut c_void, turn: *mut Turn) -> u64 {
    let inner = &mut *(*(state as *const Requests)).inner.get();
    let start_ns = peers_now_ns();
    let mut right = 0;

    for i in 0..(*turn).count {
        inner.request.number(i);
        keep(&mut inner.request);
        right += inner.build() as u64;
        keep(inner);
    }
    (*turn).elapsed_ns = peers_now_ns() - start_ns;
    right * inner.is_built() as u64
}

unsafe extern "C" fn open_all(state: *mut c_void, turn: *mut Turn) -> u64 {
    let inner = &*(*(state as *const Requests)).inner.get();

    if open(&inner.bytes[..inner.bytes.len() / 2], 1).0 != 0 {
        return 0;
    }
    let start_ns = peers_now_ns();
    let (right, root) = open(&inner.bytes, (*turn).count);

    (*turn).elapsed_ns = peers_now_ns() - start_ns;
    right * root.map_or(false, |root| inner.request.is(root)) as u64
}

unsafe extern "C" fn read_all(state: *mut c_void, turn: *mut Turn) -> u64 {
    let inner = &*(*(state as *const Requests)).inner.get();
    let mut sum = 0u32;

    if !inner.is_built() {
        return 0;
    }
    let archived = rkyv::archived_root::<Request>(&inner.bytes);
    let mut words = (archived as *const ArchivedRequest as usize, 0);
    let start_ns = peers_now_ns();

    for _ in 0..(*turn).count {
        words = keep_words(words.0, words.1);
        let archived = &*(words.0 as *const ArchivedRequest);

        sum = sum.wrapping_add(archived.a[words.1].to_bits());
        words.1 = if words.1 + 1 == ELEMENTS { 0 } else { words.1 + 1 };
    }
    (*turn).elapsed_ns = peers_now_ns() - start_ns;
    (*turn).count * (sum == inner.request.sum((*turn).count)) as u64
}

/// A value of its own again, with vectors of its own.
unsafe extern "C" fn deserialize_all(state: *mut c_void, turn: *mut Turn) -> u64 {
    let inner = &*(*(state as *const Requests)).inner.get();
    let mut right = 0;

    if !inner.is_built() {
        return 0;
    }
    for _ in 0..(*turn).count {
        let archived = rkyv::archived_root::<Request>(&inner.bytes);
        let request: Result<Request, _> = archived.deserialize(&mut Infallible);
        let mut request = match request {
            Ok(request) => request,
            Err(_) => return right,
        };

        keep(&mut request);
        right += (request.a.len() + request.b.len() == 2 * ELEMENTS) as u64;
    }
    right
}

/// Role 0 builds, role 1 checks and compares everything.
unsafe extern "C" fn show(state: *mut c_void, turn: *mut Turn) -> u64 {
    let requests = &*(state as *const Requests);
    let turn = &*turn;
    let first = requests.back.load(Ordering::Acquire);

    if turn.role == 0 {
        requests.different.store(0, Ordering::Relaxed);
    }
    for i in first + 1..=first + turn.count {
        if turn.role == 0 {
            let inner = &mut *requests.inner.get();

            inner.request.number(i);
            if !inner.build() {
                return 0;
            }
            requests.given.store(i, Ordering::Release);
            if !reached(&requests.back, i) {
                return 0;
            }
        } else {
            if !reached(&requests.given, i) {
                return 0;
            }
            let same = (*requests.inner.get()).is_built();

            requests.different.fetch_add(!same as u64, Ordering::Relaxed);
            requests.back.store(i, Ordering::Release);
        }
    }
    turn.count - requests.different.load(Ordering::Relaxed)
}

#[rustfmt::skip] // one way, one place
static WAYS: [Way; 4] = [
    way!("message_build_8k", "serialize_value", "-", "-", "1", Requests, build_all, show),
    way!("message_open_validated_8k", "check_archived_root", "-", "-", "1", Requests, open_all, show),
    Way {
        aside: text!("what a program pays that wants a value of its own"),
        ..way!("message_open_validated_8k", "deserialize", "-", "-", "1", Requests, deserialize_all, show)
    },
    way!("message_field_read", "archived_root", "-", "-", "1", Requests, read_all, show),
];

library!(peers_rkyv, "rkyv", env!("PEERS_RKYV_VERSION"), WAYS);
