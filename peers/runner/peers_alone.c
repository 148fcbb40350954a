/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_alone: the runner without anybody else's library.
 */
#include "peers/tables.h"

const peers_library *const peers_libraries[] = {
    &peers_gyre_queues,     &peers_gyre_flow,
    &peers_gyre_send,       &peers_gyre_bytes,
    &peers_gyre_pool,       &peers_gyre_message,
    &peers_floors,          &peers_floors_blocks,
    &peers_floors_requests, NULL,
};

const peers_absent peers_absents[] = {{"everybody", "this program is for tests"}, {NULL, NULL}};
