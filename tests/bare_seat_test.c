/* SPDX-License-Identifier: Apache-2.0 */
#include "suites/bare_seat.h"

#include "backends/cuda/cuda.h"
#include "base/alloc.h"
#include "dev/build_log.h"
#include "test.h"

static void line_is_read_with_its_stamp_only(void)
{
    gyre_bare_line line = {0};
    uint64_t front = 0, back = 0;

    gyre_bare_write(&line, 0x123456789abcdef0, 7);
    CHECK(gyre_bare_stamp(&line) == 7);
    CHECK(!gyre_bare_read(&line, 8, &front, &back));
    REQUIRE(gyre_bare_read(&line, 7, &front, &back));
    CHECK(front == 0x123456789abcdef0 && back == ~front);
    for (int q = 0; q < 4; q++) { /* one quarter is of the message before */
        gyre_bare_line torn = line;

        torn.quarter[q].stamp = 6;
        CHECK(!gyre_bare_read(&torn, 7, &front, &back));
    }
}

static void words_are_read_with_their_stamp_only(void)
{
    gyre_bare_words words = {0};
    uint64_t front = 0, back = 0;

    gyre_bare_write_words(&words, 0x123456789abcdef0, 7);
    CHECK(!gyre_bare_read_words(&words, 8, &front, &back));
    REQUIRE(gyre_bare_read_words(&words, 7, &front, &back));
    CHECK(front == 0x123456789abcdef0 && back == ~front);
    for (int i = 0; i < GYRE_BARE_WORDS; i++) {
        gyre_bare_words torn = words;

        torn.word[i] ^= UINT64_C(1) << 32;
        CHECK(!gyre_bare_read_words(&torn, 7, &front, &back));
    }
}

static void cuda_text_compiles(void)
{
    const gyre_dev_source source = {.name = "bare_echo.cu", .text = gyre_bare_echo_cuda};
    void *image = NULL;
    size_t size;
    char name[64];
    gyre_status status;

    if (gyre_cuda_nvrtc_name(name, sizeof name) != GYRE_OK)
        SKIP("there is no NVRTC");
    status = gyre_cuda_nvrtc_compile(90, &source, &image, &size);
    CHECK(status == GYRE_OK);
    if (status == GYRE_OK)
        gyre_free(NULL, image, size, 1);
    else
        printf("%s\n", gyre_build_log());
}

static const test_case cases[] = {
    TEST(line_is_read_with_its_stamp_only),
    TEST(words_are_read_with_their_stamp_only),
    TEST(cuda_text_compiles),
};
TEST_MAIN(cases)
