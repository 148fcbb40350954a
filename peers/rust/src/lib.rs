// SPDX-License-Identifier: Apache-2.0
//
// The Rust peers: one module for each library, each with a table of its ways, as peers/peers.h says.
#![allow(non_upper_case_globals)] // the tables carry the names that C links by

mod clones;
mod ffi;
mod loops;

#[cfg(feature = "bytes")]
mod bytes_ways;
#[cfg(feature = "crossbeam")]
mod crossbeam_ways;
#[cfg(feature = "flume")]
mod flume_ways;
#[cfg(feature = "rkyv")]
mod rkyv_ways;
mod std_ways;
#[cfg(feature = "tokio")]
mod tokio_ways;
