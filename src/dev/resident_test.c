/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the list of residents: room, suspending, and what hangs.
 */
#include "dev/resident.h"

#include <string.h>

#include "base/fail.h"
#include "test.h"

static gyre_resident_room units(uint32_t count)
{
    return (gyre_resident_room){.units = count};
}

static int order[8], events;
static bool stubborn;

static gyre_status suspend(gyre_resident *resident)
{
    if (stubborn)
        return gyre_fail(GYRE_UNAVAILABLE, "'%s' does not leave", resident->name);
    order[events++] = (int)resident->units;
    return GYRE_OK;
}

static void restore(gyre_resident *resident)
{
    order[events++] = -(int)resident->units;
    CHECK(gyre_resident_add(resident, units(100)) == GYRE_OK);
}

static gyre_resident made(const char *name, const char *backend, uint32_t index, uint32_t units)
{
    events = 0;
    stubborn = false;
    return (gyre_resident){.backend = backend,
                           .index = index,
                           .units = units,
                           .name = name,
                           .suspend = suspend,
                           .restore = restore};
}

static void room_is_that_of_one_device(void)
{
    gyre_resident a = made("a", "cuda", 0, 3), b = made("b", "cuda", 0, 2);
    gyre_resident c = made("c", "cuda", 1, 5);

    CHECK(gyre_resident_add(&a, units(4)) == GYRE_OK && gyre_resident_on("cuda", 0));
    CHECK(gyre_resident_add(&b, units(4)) == GYRE_NO_MEMORY);
    CHECK(strstr(gyre_error_last()->text, "'b'") && strstr(gyre_error_last()->text, "makes 5"));
    CHECK(!gyre_resident_on("cuda", 1) && !gyre_resident_on("opencl", 0));
    CHECK(gyre_resident_add(&c, units(5)) == GYRE_OK);
    gyre_resident_remove(&a);
    gyre_resident_remove(&a);
    CHECK(gyre_resident_add(&b, units(4)) == GYRE_OK);
    gyre_resident_forget(&b);
    gyre_resident_forget(&c);
    CHECK(!gyre_resident_on("cuda", 0) && !gyre_resident_on("cuda", 1));
}

static void residents_leave_and_come_back(void)
{
    gyre_resident a = made("a", "cuda", 0, 1), b = made("b", "cuda", 0, 2);
    gyre_resident c = made("c", "cuda", 1, 4);

    CHECK(gyre_resident_add(&a, units(9)) == GYRE_OK &&
          gyre_resident_add(&b, units(9)) == GYRE_OK && gyre_resident_add(&c, units(9)) == GYRE_OK);
    CHECK(gyre_residents_suspend("cuda", 0) == GYRE_OK);
    CHECK(events == 2 && order[0] + order[1] == 3);
    CHECK(!gyre_resident_on("cuda", 0) && gyre_resident_on("cuda", 1));
    gyre_residents_restore();
    CHECK(events == 4 && order[2] + order[3] == -3 && gyre_resident_on("cuda", 0));
    stubborn = true;
    CHECK(gyre_residents_suspend("cuda", 0) == GYRE_UNAVAILABLE);
    CHECK(gyre_resident_on("cuda", 0));
    gyre_resident_forget(&a);
    gyre_resident_forget(&b);
    gyre_resident_forget(&c);
}

/* The last: nothing makes it undone. Its own memory may be gone. */
static void what_hangs_stays(void)
{
    gyre_resident b = made("b", "cuda", 7, 2);

    {
        gyre_resident a = made("stuck", "cuda", 7, 3);

        CHECK(gyre_resident_add(&a, units(9)) == GYRE_OK);
        gyre_resident_hang(&a);
        gyre_resident_forget(&a);
        memset(&a, 0xa5, sizeof a);
    }
    CHECK(gyre_resident_on("cuda", 7) && !gyre_resident_on("cuda", 0));
    CHECK(gyre_resident_add(&b, units(4)) == GYRE_NO_MEMORY); /* its place is taken */
    CHECK(gyre_resident_add(&b, units(5)) == GYRE_OK);
    CHECK(gyre_residents_suspend("cuda", 7) == GYRE_UNAVAILABLE);
    CHECK(strstr(gyre_error_last()->text, "stuck") && events == 0);
    CHECK(gyre_residents_suspend("cuda", 0) == GYRE_OK); /* others are not concerned */
    gyre_residents_restore();
    gyre_resident_hang(&b);
    CHECK(gyre_resident_on("cuda", 7));
    b = made("c", "cuda", 7, 1);
    CHECK(gyre_resident_add(&b, units(5)) == GYRE_NO_MEMORY &&
          gyre_resident_add(&b, units(6)) == GYRE_OK);
    gyre_resident_forget(&b);
}

static void kernels_are_counted(void)
{
    gyre_resident a = made("a", "cuda", 3, 1), b = made("b", "cuda", 3, 1);
    const gyre_resident_room one = {.units = 9, .kernels = 1}, two = {.units = 9, .kernels = 2};

    CHECK(gyre_resident_units("cuda", 3) == 0);
    CHECK(gyre_resident_add(&a, one) == GYRE_OK && gyre_resident_units("cuda", 3) == 1);
    CHECK(gyre_resident_add(&b, one) == GYRE_NO_MEMORY);
    CHECK(strstr(gyre_error_last()->text, "'b'") && strstr(gyre_error_last()->text, "the 1 that"));
    CHECK(gyre_resident_add(&b, two) == GYRE_OK && gyre_resident_units("cuda", 3) == 2);
    gyre_resident_forget(&a);
    gyre_resident_forget(&b);
}

static const test_case cases[] = {
    TEST(room_is_that_of_one_device),
    TEST(kernels_are_counted),
    TEST(residents_leave_and_come_back),
    TEST(what_hangs_stays),
};
TEST_MAIN(cases)
