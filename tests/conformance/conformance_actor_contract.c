/* SPDX-License-Identifier: Apache-2.0
 *
 * What the headers of actors promise beside the usual way: what is refused, and with what; the same
 * on every device.
 */
#include "conformance_actor.h"

#include "behaviours/ledger.c" /* NOLINT(bugprone-suspicious-include): its types as well */

static void an_actor_that_has_ended_has_no_ports(void)
{
    gyre_actor *const actor = actor_new(&ledger, NULL);
    gyre_port *port = port_new(actor), *late;

    NEED_ACTORS();
    REQUIRE(port);
    gyre_port_close(port);
    CHECK(ok(gyre_actor_terminate(actor, soon())));
    CHECK(gyre_port_open(actor, NULL, &late) == GYRE_INVALID && !late);
    CHECK(strstr(gyre_error_last()->text, "terminated") != NULL);
    CHECK(ok(gyre_actor_launch(actor, NULL)) && ok(gyre_port_open(actor, NULL, &port)));
    CHECK(end(actor, port));
}

static const test_case cases[] = {
    TEST(an_actor_that_has_ended_has_no_ports),
};
CONFORMANCE_MAIN(cases)
