// SPDX-License-Identifier: Apache-2.0
//
// ffi: peers/peers.h in Rust, field by field.
use std::os::raw::{c_char, c_uint, c_void};

pub const CAPACITY: usize = 1024;
pub const CHANNEL: usize = 100;
pub const PRODUCERS: usize = 4;

#[repr(C)]
pub struct Turn {
    pub role: u32,
    pub roles: u32,
    pub count: u64,
    pub elapsed_ns: u64,
}

#[repr(C)]
pub struct Account {
    pub sent: u64,
    pub received: u64,
    pub lost: u64,
}

pub type Create = unsafe extern "C" fn() -> *mut c_void;
pub type Run = unsafe extern "C" fn(*mut c_void, *mut Turn) -> u64;
pub type Settle = unsafe extern "C" fn(*mut c_void, *mut Account) -> bool;
pub type Destroy = unsafe extern "C" fn(*mut c_void);

#[repr(C)]
pub struct Way {
    pub work: *const c_char,
    pub name: *const c_char,
    pub capacity: *const c_char,
    pub policy: *const c_char,
    pub in_flight: *const c_char,
    pub lossless: bool,
    pub aside: *const c_char,
    pub create: Create,
    pub run: Run,
    pub hand_over: Option<Run>,
    pub settle: Option<Settle>,
    pub destroy: Destroy,
}

#[repr(C)]
pub struct Library {
    pub name: *const c_char,
    pub version: *const c_char,
    pub kind: c_uint,
    pub ways: *const Way,
    pub count: usize,
}

// The texts and tables that they point to are static.
unsafe impl Sync for Way {}
unsafe impl Sync for Library {}

extern "C" {
    pub fn peers_now_ns() -> u64;
    fn peers_wait(tries: *mut u32) -> bool;
    fn peers_is_over() -> bool;
}

/// Between two tries; false when the runner has given the sample up.
pub fn wait(tries: &mut u32) -> bool {
    unsafe { peers_wait(tries) }
}

/// Whether the runner has given the sample up.
pub fn is_over() -> bool {
    unsafe { peers_is_over() }
}

/// A text that C reads.
#[macro_export]
macro_rules! text {
    ($text:expr) => {
        concat!($text, "\0").as_ptr() as *const std::os::raw::c_char
    };
}

/// A way that is compared, of a state that `new` makes.
#[macro_export]
macro_rules! way {
    ($work:literal, $name:literal, $capacity:literal, $policy:literal, $in_flight:literal,
     $state:ty, $run:expr, $hand_over:expr) => {
        $crate::ffi::Way {
            work: $crate::text!($work),
            name: $crate::text!($name),
            capacity: $crate::text!($capacity),
            policy: $crate::text!($policy),
            in_flight: $crate::text!($in_flight),
            lossless: true,
            aside: std::ptr::null(),
            create: $crate::ffi::create::<$state>,
            run: $run,
            hand_over: Some($hand_over),
            settle: None,
            destroy: $crate::ffi::destroy::<$state>,
        }
    };
}

/// The table of a library, under the name that C links by.
#[macro_export]
macro_rules! library {
    ($table:ident, $name:literal, $version:expr, $ways:ident) => {
        #[no_mangle]
        pub static $table: $crate::ffi::Library = $crate::ffi::Library {
            name: $crate::text!($name),
            version: $crate::text!($version),
            kind: 0,
            ways: $ways.as_ptr(),
            count: $ways.len(),
        };
    };
}

/// What a way works on; roles share it.
pub trait State {
    fn new() -> Self;
}

pub unsafe extern "C" fn create<S: State>() -> *mut c_void {
    Box::into_raw(Box::new(S::new())) as *mut c_void
}

pub unsafe extern "C" fn destroy<S: State>(state: *mut c_void) {
    drop(Box::from_raw(state as *mut S));
}

/// The compiler must have the bytes in memory here, and believe that they may have changed.
#[inline(always)]
pub fn keep<T>(bytes: &mut T) {
    unsafe {
        std::arch::asm!("/* {0} */", in(reg) bytes as *mut T, options(nostack, preserves_flags));
    }
}

/// The same for what two registers point to, and for them.
#[inline(always)]
pub fn keep_words(mut one: usize, mut other: usize) -> (usize, usize) {
    unsafe {
        std::arch::asm!("/* {0} {1} */", inout(reg) one, inout(reg) other,
            options(nostack, preserves_flags));
    }
    (one, other)
}

/// The same for a value in a register.
#[inline(always)]
pub fn keep_word(mut word: u64) -> u64 {
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) word, options(nostack, nomem, preserves_flags));
    }
    word
}
