/* SPDX-License-Identifier: Apache-2.0
 *
 * Words: what a stream writes is seen after its work, and what it waits for holds it up.
 */
#include "conformance.h"

#include "gyre/clock.h"

enum { N = 4096, BYTES = N * 4, WORDS = 16, WORDS_BYTES = 64 };

static bool no_words;

/* Submits words; a device that cannot is noted. */
static bool submit(gyre_stream *stream, const gyre_word *words, size_t count)
{
    const gyre_status status = gyre_stream_words(stream, words, count);

    no_words = status == GYRE_UNSUPPORTED;
    return !no_words && ok(status);
}

#define NEED_WORDS()                                                                               \
    do {                                                                                           \
        if (no_words)                                                                              \
            SKIP(gyre_error_last()->text);                                                         \
    } while (0)

static uint32_t seen(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE); /* acquire [stream-word]: by the stream */
}

static bool becomes(const uint32_t *word, uint32_t value)
{
    const uint64_t deadline = gyre_clock_after_ns(10000 * MS);

    while (seen(word) != value)
        if (gyre_clock_now_ns() > deadline)
            return false;
    return true;
}

static void a_written_word_tells_of_the_work_before(void)
{
    gyre_stream *const stream = stream_new();
    uint32_t *const words = take(GYRE_CONTEXT_PINNED, WORDS_BYTES);
    uint32_t *const data = take(GYRE_CONTEXT_PINNED, BYTES);

    REQUIRE(stream && words && data);
    memset(words, 0, WORDS_BYTES);
    for (uint32_t round = 1; round <= 50; round++) {
        const gyre_word word = {GYRE_WORD_WRITE, round, &words[round % WORDS]};
        const uint64_t before = submitted(stream);
        size_t wrong = 0;

        memset(data, 0, BYTES);
        CHECK(ok(gyre_stream_fill(stream, &(gyre_fill){.to = data,
                                                       .pattern = {(unsigned char)round, 1, 2, 3},
                                                       .pattern_size = 4,
                                                       .count = N})));
        if (!submit(stream, &word, 1))
            break;
        CHECK(submitted(stream) == before + 2);
        REQUIRE(becomes(word.at, round));
        for (size_t i = 0; i < N; i++)
            wrong += data[i] != (0x03020100 | round);
        CHECK(wrong == 0);
    }
    CHECK(ok(gyre_stream_sync(stream)));
    give(GYRE_CONTEXT_PINNED, words, WORDS_BYTES);
    give(GYRE_CONTEXT_PINNED, data, BYTES);
    gyre_stream_destroy(stream);
    NEED_WORDS();
}

static void a_word_is_not_written_before_its_place(void)
{
    gyre_stream *stream;
    uint32_t *words;
    gate held;

    if (!gates_exist())
        SKIP("kernels of this device cannot be held up");
    stream = stream_new();
    words = take(GYRE_CONTEXT_PINNED, WORDS_BYTES);
    REQUIRE(stream && words && gate_init(&held, on.context) && kernel_of(KERNEL_GATE));
    memset(words, 0, WORDS_BYTES);
    CHECK(ok(gate_submit(&held, stream, kernel_of(KERNEL_GATE))));
    if (submit(stream, &(gyre_word){GYRE_WORD_WRITE, 5, &words[1]}, 1)) {
        for (int i = 0; i < 1000; i++)
            CHECK(seen(&words[1]) == 0);
        gate_open(&held);
        CHECK(becomes(&words[1], 5) && words[0] == 0 && words[2] == 0);
    }
    gate_open(&held);
    CHECK(ok(gyre_stream_sync(stream)));
    gate_fini(&held);
    give(GYRE_CONTEXT_PINNED, words, WORDS_BYTES);
    gyre_stream_destroy(stream);
    NEED_WORDS();
}

static void write_word(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE); /* release [stream-word]: for the stream */
}

static void a_stream_waits_for_a_word_of_the_host(void)
{
    gyre_stream *stream, *other;
    uint32_t *words, *data;

    if (under_sanitizer())
        SKIP("the sanitizer lets no stream go on beside one that waits");
    stream = stream_new();
    other = stream_new();
    words = take(GYRE_CONTEXT_PINNED, WORDS_BYTES);
    data = take(GYRE_CONTEXT_PINNED, BYTES);
    REQUIRE(stream && other && words && data);
    REQUIRE(kernel_of(KERNEL_STEP)); /* loading it would wait for the stream that waits */
    for (uint32_t round = 1; round <= 20; round++) {
        const gyre_word wait[] = {{GYRE_WORD_WAIT, round, &words[round % WORDS]},
                                  {GYRE_WORD_WRITE, round, &words[(round + 1) % WORDS]}};
        size_t wrong = 0;

        memset(words, 0, WORDS_BYTES);
        memset(data, 0, BYTES);
        if (!submit(stream, wait, 2))
            break;
        CHECK(ok(step(stream, (step_parameters){data, N, 1, 1, 0})));
        /* another stream goes on meanwhile */
        CHECK(ok(step(other, (step_parameters){data, 1, 1, round, 0})) &&
              ok(gyre_stream_sync(other)));
        CHECK(gyre_stream_poll(stream) == GYRE_AGAIN);
        CHECK(data[0] == round && data[1] == 0 && seen(wait[1].at) == 0);
        for (size_t i = 0; i < N; i++)
            data[i] = round;
        write_word(wait[0].at, round);
        CHECK(ok(gyre_stream_sync(stream)));
        CHECK(seen(wait[1].at) == round);
        for (size_t i = 0; i < N; i++)
            wrong += data[i] != round + 1;
        CHECK(wrong == 0);
    }
    give(GYRE_CONTEXT_PINNED, words, WORDS_BYTES);
    give(GYRE_CONTEXT_PINNED, data, BYTES);
    gyre_stream_destroy(stream);
    gyre_stream_destroy(other);
    NEED_WORDS();
}

/* One after another, in a circle: each is released by the one before. */
static void streams_wait_for_each_other(void)
{
    enum { STREAMS = 4, ROUNDS = 50 };
    uint32_t *const words = take(GYRE_CONTEXT_PINNED, WORDS_BYTES);
    gyre_stream *streams[STREAMS];
    bool good = true;

    REQUIRE(words);
    memset(words, 0, WORDS_BYTES);
    for (int i = 0; i < STREAMS; i++)
        REQUIRE((streams[i] = stream_new()) != NULL);
    for (uint32_t round = 1; good && round <= ROUNDS; round++)
        for (int i = 0; good && i < STREAMS; i++) {
            const gyre_word words_of[] = {
                {GYRE_WORD_WAIT, i == 0 ? round - 1 : round, &words[(i + STREAMS - 1) % STREAMS]},
                {GYRE_WORD_WRITE, round, &words[i]}};

            good = submit(streams[i], words_of, 2);
        }
    for (int i = 0; i < STREAMS; i++) {
        CHECK(ok(gyre_stream_sync(streams[i])));
        gyre_stream_destroy(streams[i]);
        CHECK(!good || seen(&words[i]) == ROUNDS);
    }
    give(GYRE_CONTEXT_PINNED, words, WORDS_BYTES);
    NEED_WORDS();
}

static void nonsense_is_refused(void)
{
    gyre_stream *const stream = stream_new();
    uint32_t *const words = take(GYRE_CONTEXT_PINNED, WORDS_BYTES);
    const gyre_word good = {GYRE_WORD_WRITE, 1, words};
    const gyre_word crooked = {GYRE_WORD_WRITE, 1, (uint32_t *)(void *)((char *)words + 2)};
    const gyre_word odd = {(gyre_word_act)2, 1, words};
    const gyre_word many[GYRE_WORDS_MOST + 1] = {good, good, good, good, good};

    REQUIRE(stream && words);
    CHECK(gyre_stream_words(stream, &good, 0) == GYRE_INVALID);
    CHECK(gyre_stream_words(stream, many, GYRE_WORDS_MOST + 1) == GYRE_INVALID);
    CHECK(gyre_stream_words(stream, &crooked, 1) == GYRE_INVALID);
    CHECK(gyre_stream_words(stream, &odd, 1) == GYRE_INVALID);
    CHECK(gyre_stream_words(stream, &(gyre_word){GYRE_WORD_WRITE, 1, NULL}, 1) == GYRE_INVALID);
    CHECK(submitted(stream) == 0);
    give(GYRE_CONTEXT_PINNED, words, WORDS_BYTES);
    gyre_stream_destroy(stream);
}

static const test_case cases[] = {
    TEST(a_written_word_tells_of_the_work_before),
    TEST(a_word_is_not_written_before_its_place),
    TEST(a_stream_waits_for_a_word_of_the_host),
    TEST(streams_wait_for_each_other),
    TEST(nonsense_is_refused),
};
CONFORMANCE_MAIN(cases)
