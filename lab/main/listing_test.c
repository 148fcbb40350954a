/* SPDX-License-Identifier: Apache-2.0 */
#include "main/listing.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/status.h"
#include "main/serve.h"
#include "test.h"

static uint32_t four(const gyre_bench_case *c)
{
    (void)c;
    return 4;
}

static const gyre_bench_clock device = {.name = "a clock with blanks"};

static void what_is_written_is_read(void)
{
    gyre_bench_case cases[] = {
        {.bench = {.tags = GYRE_TAG_CPU}, .id = "group/one"},
        {.bench = {.tags = GYRE_TAG_GPU | GYRE_TAG_SLOW, .threads = four},
         .clock = &device,
         .id = "group/two/8"},
    };
    const gyre_case_list list = {.cases = cases, .count = 2};
    gyre_listing listing;
    char *text;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    REQUIRE(stream != NULL);
    gyre_listing_write(stream, &list);
    fclose(stream);
    REQUIRE(gyre_listing_parse(text, length, 2, &listing) == GYRE_OK);
    CHECK(listing.count == 2 && listing.hash == gyre_serve_hash(&list));
    CHECK(strcmp(listing.cases[0].id, "group/one") == 0);
    CHECK(strcmp(listing.cases[0].clock, "host") == 0);
    CHECK(listing.cases[0].threads == 1 && listing.cases[0].tags == GYRE_TAG_CPU);
    CHECK(strcmp(listing.cases[1].clock, device.name) == 0);
    CHECK(listing.cases[1].threads == 4);
    CHECK(gyre_listing_find(&listing, "group/two/8") == &listing.cases[1]);
    CHECK(gyre_listing_find(&listing, "group/three") == NULL);
    gyre_listing_fini(&listing);
    CHECK(gyre_listing_parse(text, length, 1, &listing) == GYRE_CORRUPT);
    CHECK(gyre_listing_parse(text, length, 3, &listing) == GYRE_CORRUPT);
    CHECK(gyre_listing_parse(text, length - 1, 2, &listing) == GYRE_CORRUPT);
    free(text);
}

static bool is_refused(const char *text, uint64_t count)
{
    gyre_listing listing;
    const gyre_status status = gyre_listing_parse(text, strlen(text), count, &listing);

    if (status == GYRE_OK)
        gyre_listing_fini(&listing);
    return status == GYRE_CORRUPT && listing.cases == NULL;
}

static void nonsense_is_refused(void)
{
    char longest[600];

    CHECK(!is_refused("1 0 a/b host\n", 1));
    CHECK(is_refused("", 0));
    CHECK(is_refused("", 1));
    CHECK(is_refused("1 0 a/b host\n", UINT64_MAX));
    CHECK(is_refused("1 0 a/b host\n", GYRE_LISTING_MOST + 1));
    CHECK(is_refused("0 0 a/b host\n", 1));
    CHECK(is_refused("99999999 0 a/b host\n", 1));
    CHECK(is_refused("1 0 a/b\n", 1));
    CHECK(is_refused("1 0\n", 1));
    CHECK(is_refused("x 0 a/b host\n", 1));
    CHECK(is_refused("1 0 a/b ho\033st\n", 1));
    CHECK(is_refused("1 0 a/b host\n1 0 a/b host\n", 2));
    CHECK(!is_refused("1 0 a/b host\n1 0 a/c host\n", 2));
    snprintf(longest, sizeof longest, "1 0 %0*d host\n", GYRE_CASE_ID_BYTES - 1, 0);
    CHECK(!is_refused(longest, 1));
    snprintf(longest, sizeof longest, "1 0 %0*d host\n", GYRE_CASE_ID_BYTES, 0);
    CHECK(is_refused(longest, 1));
    snprintf(longest, sizeof longest, "1 0 a/b %0*d\n", GYRE_CLOCK_NAME_BYTES, 0);
    CHECK(is_refused(longest, 1));
}

static const test_case cases[] = {
    TEST(what_is_written_is_read),
    TEST(nonsense_is_refused),
};
TEST_MAIN(cases)
