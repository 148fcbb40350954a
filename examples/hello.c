/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/clock.h>
#include <gyre/library.h>
#include <gyre/topology.h>
#include <stdio.h>

int main(void)
{
    uint64_t start_ns;

    if (gyre_prepare() != GYRE_OK) {
        fprintf(stderr, "%s\n", gyre_error_last()->text);
        return 1;
    }
    start_ns = gyre_clock_now_ns();
    printf("gyre %s, %u workers, clock %s\n", gyre_version(), gyre_topology_worker_count(NULL),
           gyre_clock_now_ns() >= start_ns ? "runs" : "is broken");
    return 0;
}
