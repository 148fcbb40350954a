// SPDX-License-Identifier: Apache-2.0
//
// bytes: Bytes, cloned and dropped.
use crate::clones::{clone_drop, clone_over, Shared};
use crate::ffi::Way;
use crate::{library, way};
use bytes::Bytes;

#[rustfmt::skip] // one way, one place
static WAYS: [Way; 2] = [
    way!("bytes_clone_drop_1k", "Bytes", "-", "-", "1", Shared<Bytes, 1024>,
         clone_drop::<Bytes, 1024>, clone_over::<Bytes, 1024>),
    way!("bytes_clone_drop_1m", "Bytes", "-", "-", "1", Shared<Bytes, 1048576>,
         clone_drop::<Bytes, 1048576>, clone_over::<Bytes, 1048576>),
];

library!(peers_bytes, "bytes", env!("PEERS_BYTES_VERSION"), WAYS);
