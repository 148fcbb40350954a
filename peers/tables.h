/* SPDX-License-Identifier: Apache-2.0
 *
 * tables: the libraries that a program may be linked with.
 *
 * Threads   none.
 * Owns      nothing; the tables are static.
 */
#ifndef GYRE_PEERS_TABLES_H
#define GYRE_PEERS_TABLES_H

#include "peers/peers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* always */
extern const peers_library peers_gyre_queues;     /* gyre_queues.c */
extern const peers_library peers_gyre_flow;       /* gyre_flow.c */
extern const peers_library peers_gyre_send;       /* gyre_send.c */
extern const peers_library peers_gyre_bytes;      /* gyre_bytes.c */
extern const peers_library peers_gyre_pool;       /* gyre_pool.c */
extern const peers_library peers_gyre_message;    /* gyre_message.c */
extern const peers_library peers_floors;          /* floors.c */
extern const peers_library peers_floors_blocks;   /* floors_blocks.c */
extern const peers_library peers_floors_requests; /* floors_requests.c */

/* where they can be built */
extern const peers_library peers_ck;                /* ck.c */
extern const peers_library peers_dpdk;              /* dpdk.c */
extern const peers_library peers_moodycamel;        /* moodycamel.cpp */
extern const peers_library peers_readerwriterqueue; /* readerwriterqueue.cpp */
extern const peers_library peers_boost;             /* boost.cpp */
extern const peers_library peers_tbb;               /* tbb.cpp */
extern const peers_library peers_glibc;             /* glibc.c */
extern const peers_library peers_mimalloc;          /* mimalloc.c */
extern const peers_library peers_jemalloc;          /* jemalloc.c */
extern const peers_library peers_tcmalloc;          /* tcmalloc.c */
extern const peers_library peers_flatbuffers;       /* flatbuffers.cpp */
extern const peers_library peers_std;               /* rust/src/std_ways.rs */
extern const peers_library peers_crossbeam;         /* rust/src/crossbeam_ways.rs */
extern const peers_library peers_flume;             /* rust/src/flume_ways.rs */
extern const peers_library peers_tokio;             /* rust/src/tokio_ways.rs */
extern const peers_library peers_bytes;             /* rust/src/bytes_ways.rs */
extern const peers_library peers_rkyv;              /* rust/src/rkyv_ways.rs */

#ifdef __cplusplus
}
#endif

#endif
