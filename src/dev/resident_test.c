/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the list of residents: room, suspending, what comes meanwhile, and what hangs.
 */
#include "dev/resident.h"

#include <string.h>

#include "base/fail.h"
#include "test.h"

static gyre_status add(gyre_resident *resident, uint32_t units)
{
    resident->room = (gyre_resident_room){.units = units};
    return gyre_resident_add(resident);
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
    CHECK(add(resident, 100) == GYRE_OK);
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

    CHECK(add(&a, 4) == GYRE_OK && gyre_resident_on("cuda", 0));
    CHECK(add(&b, 4) == GYRE_NO_MEMORY);
    CHECK(strstr(gyre_error_last()->text, "'b'") && strstr(gyre_error_last()->text, "makes 5"));
    CHECK(!gyre_resident_on("cuda", 1) && !gyre_resident_on("opencl", 0));
    CHECK(add(&c, 5) == GYRE_OK);
    gyre_resident_remove(&a);
    gyre_resident_remove(&a);
    CHECK(add(&b, 4) == GYRE_OK);
    gyre_resident_forget(&a);
    gyre_resident_forget(&b);
    gyre_resident_forget(&c);
    CHECK(!gyre_resident_on("cuda", 0) && !gyre_resident_on("cuda", 1));
}

static void lines_are_counted_while_they_are_read(void)
{
    gyre_resident a = made("a", "cuda", 0, 1), b = made("b", "cuda", 0, 1);
    gyre_resident c = made("c", "cuda", 1, 1);

    a.lines = 31;
    b.lines = 4;
    c.lines = 7;
    CHECK(gyre_resident_lines("cuda", 0) == 0);
    CHECK(add(&a, 9) == GYRE_OK && add(&b, 9) == GYRE_OK && add(&c, 9) == GYRE_OK);
    CHECK(gyre_resident_lines("cuda", 0) == 35 && gyre_resident_lines("cuda", 1) == 7);
    gyre_resident_remove(&a);
    CHECK(gyre_resident_lines("cuda", 0) == 4);
    gyre_resident_forget(&a);
    gyre_resident_forget(&b);
    gyre_resident_forget(&c);
}

static void residents_leave_and_come_back(void)
{
    gyre_resident a = made("a", "cuda", 0, 1), b = made("b", "cuda", 0, 2);
    gyre_resident c = made("c", "cuda", 1, 4);

    CHECK(add(&a, 9) == GYRE_OK && add(&b, 9) == GYRE_OK && add(&c, 9) == GYRE_OK);
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

/* One that comes by itself while others are off the device would be in the way, and cut them off
 * from their return. */
static void nobody_comes_while_a_device_is_kept_free(void)
{
    gyre_resident a = made("a", "cuda", 0, 1), b = made("b", "cuda", 0, 2);
    gyre_resident c = made("c", "cuda", 0, 4), d = made("d", "cuda", 1, 8);

    CHECK(add(&a, 9) == GYRE_OK && add(&b, 9) == GYRE_OK);
    CHECK(!gyre_residents_try_keep("cuda", 0) && !gyre_resident_is_barred(&a));
    CHECK(gyre_residents_suspend("cuda", 0) == GYRE_OK && gyre_resident_is_barred(&c));
    CHECK(add(&a, 9) == GYRE_AGAIN && add(&b, 9) == GYRE_AGAIN && add(&c, 9) == GYRE_AGAIN);
    CHECK(add(&d, 9) == GYRE_OK && !gyre_resident_is_barred(&d)); /* on another device */
    CHECK(!gyre_resident_on("cuda", 0) && !gyre_residents_try_keep("cuda", 2));
    gyre_residents_restore();
    CHECK(events == 4 && order[2] + order[3] == -3 && gyre_resident_units("cuda", 0) == 3);
    CHECK(add(&c, 9) == GYRE_OK);
    gyre_resident_forget(&a);
    gyre_resident_forget(&b);
    gyre_resident_forget(&c);
    CHECK(gyre_residents_try_keep("cuda", 0) && add(&a, 9) == GYRE_AGAIN);
    gyre_residents_restore();
    CHECK(add(&a, 9) == GYRE_OK);
    gyre_resident_forget(&a);
    gyre_resident_forget(&d);
}

/* It may have something on the device that waits for it. */
static void those_off_the_device_are_asked_too(void)
{
    gyre_resident a = made("a", "cuda", 0, 1);

    CHECK(add(&a, 9) == GYRE_OK);
    gyre_resident_remove(&a);
    CHECK(!gyre_resident_on("cuda", 0));
    stubborn = true;
    CHECK(gyre_residents_suspend("cuda", 0) == GYRE_UNAVAILABLE);
    CHECK(events == 1 && order[0] == -1 && gyre_residents_suspend("cuda", 1) == GYRE_OK);
    gyre_residents_restore();
    gyre_resident_forget(&a);
}

/* The last: nothing makes it undone. Its own memory may be gone. */
static void what_hangs_stays(void)
{
    gyre_resident b = made("b", "cuda", 7, 2);

    {
        gyre_resident a = made("stuck", "cuda", 7, 3);

        CHECK(add(&a, 9) == GYRE_OK);
        gyre_resident_hang(&a);
        gyre_resident_forget(&a);
        memset(&a, 0xa5, sizeof a);
    }
    CHECK(gyre_resident_on("cuda", 7) && !gyre_resident_on("cuda", 0));
    CHECK(add(&b, 4) == GYRE_NO_MEMORY); /* its place is taken */
    CHECK(add(&b, 5) == GYRE_OK);
    CHECK(gyre_residents_suspend("cuda", 7) == GYRE_UNAVAILABLE);
    CHECK(strstr(gyre_error_last()->text, "stuck") && events == 0);
    CHECK(gyre_residents_suspend("cuda", 0) == GYRE_OK); /* others are not concerned */
    gyre_residents_restore();
    gyre_resident_hang(&b);
    CHECK(gyre_resident_on("cuda", 7));
    b = made("c", "cuda", 7, 1);
    CHECK(add(&b, 5) == GYRE_NO_MEMORY && add(&b, 6) == GYRE_OK);
    gyre_resident_forget(&b);
}

static void kernels_are_counted(void)
{
    gyre_resident a = made("a", "cuda", 3, 1), b = made("b", "cuda", 3, 1);
    const gyre_resident_room one = {.units = 9, .kernels = 1}, two = {.units = 9, .kernels = 2};

    CHECK(gyre_resident_units("cuda", 3) == 0);
    a.room = b.room = one;
    CHECK(gyre_resident_add(&a) == GYRE_OK && gyre_resident_units("cuda", 3) == 1);
    CHECK(gyre_resident_add(&b) == GYRE_NO_MEMORY);
    CHECK(strstr(gyre_error_last()->text, "'b'") && strstr(gyre_error_last()->text, "the 1 that"));
    b.room = two;
    CHECK(gyre_resident_add(&b) == GYRE_OK && gyre_resident_units("cuda", 3) == 2);
    gyre_resident_forget(&a);
    gyre_resident_forget(&b);
}

static const test_case cases[] = {
    TEST(room_is_that_of_one_device),
    TEST(kernels_are_counted),
    TEST(lines_are_counted_while_they_are_read),
    TEST(residents_leave_and_come_back),
    TEST(nobody_comes_while_a_device_is_kept_free),
    TEST(those_off_the_device_are_asked_too),
    TEST(what_hangs_stays),
};
TEST_MAIN(cases)
