/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills: every direction, size and shape, byte for byte against a plain loop, and
 * nothing around them is touched.
 */
#include "conformance.h"

typedef enum side { SIDE_HOST, SIDE_PINNED, SIDE_DEVICE, SIDES } side;

static gyre_stream *stream;
static uint64_t state, seed;

static void *side_take(side at, size_t size)
{
    return at == SIDE_HOST
               ? host_take(size)
               : take(at == SIDE_PINNED ? GYRE_CONTEXT_PINNED : GYRE_CONTEXT_DEVICE, size);
}

static void side_give(side at, void *block, size_t size)
{
    if (at == SIDE_HOST)
        host_give(block);
    else
        give(at == SIDE_PINNED ? GYRE_CONTEXT_PINNED : GYRE_CONTEXT_DEVICE, block, size);
}

/* Both ways between any side and the host's own memory. */
static void side_move(void *to, const void *from, size_t size)
{
    CHECK(put(stream, to, from, size));
}

/* Two areas, one on each side, and what should be in them. */
typedef struct pair {
    side from_side, to_side;
    size_t room;
    unsigned char *from, *to;            /* on their sides */
    unsigned char *source, *want, *back; /* on the host */
} pair;

static bool pair_init(pair *p, size_t room)
{
    p->room = room;
    p->from = side_take(p->from_side, room);
    p->to = side_take(p->to_side, room);
    p->source = host_take(room);
    p->want = host_take(room);
    p->back = host_take(room);
    if (!p->from || !p->to || !p->source || !p->want || !p->back)
        return false;
    fill_random(&state, p->source, room);
    side_move(p->from, p->source, room);
    return true;
}

/* Every byte of the target's area anew. */
static void pair_begin(pair *p)
{
    fill_random(&state, p->want, p->room);
    side_move(p->to, p->want, p->room);
}

static bool pair_equal(pair *p)
{
    side_move(p->back, p->to, p->room);
    return memcmp(p->back, p->want, p->room) == 0;
}

static void pair_fini(pair *p)
{
    side_give(p->from_side, p->from, p->room);
    side_give(p->to_side, p->to, p->room);
    host_give(p->source);
    host_give(p->want);
    host_give(p->back);
}

static void begin(void)
{
    seed = state = chance_seed();
    stream = stream_new();
}

static void end(int failed_before)
{
    gyre_stream_destroy(stream);
    if (test_failed() > failed_before)
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
}

static void copies_of_any_size_go_in_every_direction(void)
{
    enum { ROOM = 300000 };
    static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 63, 64, 65, 1000, 4095, 4097, 65537, 250001};
    const int before = test_failed();

    begin();
    REQUIRE(stream);
    for (int sides = 0; sides < SIDES * SIDES; sides++) {
        pair p = {.from_side = (side)(sides / SIDES), .to_side = (side)(sides % SIDES)};

        REQUIRE(pair_init(&p, ROOM));
        for (size_t s = 0; s < COUNT(sizes); s++) {
            const size_t from = chance_below(&state, ROOM - sizes[s]);
            const size_t to = chance_below(&state, ROOM - sizes[s]);

            pair_begin(&p);
            CHECK(ok(gyre_stream_copy(stream, p.to + to, p.from + from, sizes[s])));
            CHECK(ok(gyre_stream_sync(stream)));
            memcpy(p.want + to, p.source + from, sizes[s]);
            CHECK(pair_equal(&p));
        }
        pair_fini(&p);
    }
    end(before);
}

static void many_megabytes_arrive(void)
{
    enum { ROOM = 24 << 20 };
    const int before = test_failed();

    begin();
    REQUIRE(stream);
    for (int way = 0; way < 2; way++) {
        pair p = {.from_side = way ? SIDE_DEVICE : SIDE_HOST,
                  .to_side = way ? SIDE_HOST : SIDE_DEVICE};

        REQUIRE(pair_init(&p, ROOM));
        CHECK(ok(gyre_stream_copy(stream, p.to, p.from, ROOM)));
        CHECK(ok(gyre_stream_sync(stream)));
        memcpy(p.want, p.source, ROOM);
        CHECK(pair_equal(&p));
        pair_fini(&p);
    }
    end(before);
}

/* The plain way, on the host. */
static void box_reference(unsigned char *to, const unsigned char *from, const gyre_box *box)
{
    const size_t height = box->height ? box->height : 1, depth = box->depth ? box->depth : 1;
    const size_t to_pitch = box->to_pitch ? box->to_pitch : box->width;
    const size_t from_pitch = box->from_pitch ? box->from_pitch : box->width;
    const size_t to_slice = box->to_slice ? box->to_slice : to_pitch * height;
    const size_t from_slice = box->from_slice ? box->from_slice : from_pitch * height;

    for (size_t z = 0; z < depth; z++)
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < box->width; x++)
                to[z * to_slice + y * to_pitch + x] = from[z * from_slice + y * from_pitch + x];
}

static size_t maybe(size_t least, size_t more)
{
    return chance_below(&state, 4) == 0 ? 0 : least + chance_below(&state, more);
}

/* A box of any shape that fits ROOM bytes on either side. */
static gyre_box box_random(void)
{
    gyre_box box = {.width = 1 + chance_below(&state, 90),
                    .height = chance_below(&state, 12),
                    .depth = chance_below(&state, 5)};
    const size_t height = box.height ? box.height : 1;

    box.to_pitch = maybe(box.width, 20);
    box.from_pitch = maybe(box.width, 20);
    box.to_slice = maybe((box.to_pitch ? box.to_pitch : box.width) * height, 50);
    box.from_slice = maybe((box.from_pitch ? box.from_pitch : box.width) * height, 50);
    return box;
}

static void boxes_of_any_shape_are_those_of_a_plain_loop(void)
{
    enum { ROOM = 8192, ROUNDS = 25 };
    const int before = test_failed();

    begin();
    REQUIRE(stream);
    for (int sides = 0; sides < SIDES * SIDES; sides++) {
        pair p = {.from_side = (side)(sides / SIDES), .to_side = (side)(sides % SIDES)};

        REQUIRE(pair_init(&p, ROOM));
        for (int i = 0; i < ROUNDS; i++) {
            const size_t to = chance_below(&state, 100), from = chance_below(&state, 100);
            gyre_box box = box_random();

            pair_begin(&p);
            box.to = p.to + to;
            box.from = p.from + from;
            CHECK(ok(gyre_stream_copy_box(stream, &box)));
            CHECK(ok(gyre_stream_sync(stream)));
            box_reference(p.want + to, p.source + from, &box);
            if (!pair_equal(&p)) {
                CHECK(!"a box as the plain loop copies it");
                fprintf(stderr, "%zux%zux%zu to %zu/%zu from %zu/%zu, sides %d to %d\n", box.width,
                        box.height, box.depth, box.to_pitch, box.to_slice, box.from_pitch,
                        box.from_slice, p.from_side, p.to_side);
            }
        }
        pair_fini(&p);
    }
    end(before);
}

static void malformed_boxes_are_refused_and_nothing_is_submitted(void)
{
    enum { ROOM = 65536 };
    static const gyre_box bad[] = {
        {.width = 64, .height = 4, .to_pitch = 63},
        {.width = 64, .height = 4, .from_pitch = 1},
        {.width = 64, .height = 4, .depth = 2, .to_slice = 255},
        {.width = 64, .height = 4, .depth = 2, .from_slice = 255},
        {.width = 64, .height = 4, .depth = 2, .from_pitch = 100, .from_slice = 363},
        {.width = SIZE_MAX, .height = 2},
        {.width = SIZE_MAX / 2, .height = 2, .depth = 2},
        {.width = 1, .height = SIZE_MAX, .depth = 2},
        {.width = 16, .height = 1, .depth = SIZE_MAX / 8},
        {.width = 16, .height = 3, .to_pitch = SIZE_MAX / 2},
        {.width = 16, .height = 3, .from_pitch = SIZE_MAX - 4},
        {.width = 16, .height = 3, .depth = 3, .to_slice = SIZE_MAX / 2 + 1},
    };
    const int before = test_failed();
    pair p = {.from_side = SIDE_DEVICE, .to_side = SIDE_DEVICE};
    uint64_t tickets;

    begin();
    REQUIRE(stream && pair_init(&p, ROOM));
    pair_begin(&p);
    tickets = submitted(stream);
    for (size_t i = 0; i < COUNT(bad); i++) {
        gyre_box box = bad[i];

        box.to = p.to;
        box.from = p.from;
        if (gyre_stream_copy_box(stream, &box) != GYRE_INVALID) {
            CHECK(!"a malformed box is refused");
            fprintf(stderr, "bad box %zu\n", i);
        }
    }
    CHECK(submitted(stream) == tickets);
    CHECK(ok(gyre_stream_sync(stream)) && pair_equal(&p));
    pair_fini(&p);
    end(before);
}

static void empty_copies_do_nothing(void)
{
    const int before = test_failed();
    pair p = {.from_side = SIDE_DEVICE, .to_side = SIDE_DEVICE};

    begin();
    REQUIRE(stream && pair_init(&p, 64));
    pair_begin(&p);
    CHECK(ok(gyre_stream_copy(stream, p.to, p.from, 0)));
    CHECK(ok(gyre_stream_copy(stream, NULL, NULL, 0)));
    CHECK(ok(gyre_stream_copy_box(stream, &(gyre_box){.to = p.to, .from = p.from})));
    CHECK(ok(gyre_stream_fill(stream, &(gyre_fill){.to = p.to, .pattern_size = 1})));
    CHECK(ok(gyre_stream_copy_from(stream, p.to, on.context, p.from, 0)));
    CHECK(ok(gyre_stream_sync(stream)) && pair_equal(&p));
    pair_fini(&p);
    end(before);
}

static void fills_repeat_their_pattern_and_stop(void)
{
    enum { ROOM = 66000 };
    static const size_t counts[] = {0, 1, 2, 3, 5, 17, 64, 1000, 8000};
    const int before = test_failed();

    begin();
    REQUIRE(stream);
    for (int at = SIDE_PINNED; at < SIDES; at++) {
        pair p = {.from_side = SIDE_HOST, .to_side = (side)at};

        REQUIRE(pair_init(&p, ROOM));
        for (size_t size = 1; size <= 8; size *= 2)
            for (size_t c = 0; c < COUNT(counts); c++) {
                const size_t offset = chance_below(&state, 100) * size;
                gyre_fill fill = {.to = p.to + offset, .pattern_size = size, .count = counts[c]};

                pair_begin(&p);
                fill_random(&state, fill.pattern, sizeof fill.pattern);
                CHECK(ok(gyre_stream_fill(stream, &fill)));
                CHECK(ok(gyre_stream_sync(stream)));
                for (size_t i = 0; i < counts[c]; i++)
                    memcpy(p.want + offset + i * size, fill.pattern, size);
                CHECK(pair_equal(&p));
            }
        pair_fini(&p);
    }
    end(before);
}

static void malformed_fills_are_refused(void)
{
    const int before = test_failed();
    pair p = {.from_side = SIDE_HOST, .to_side = SIDE_DEVICE};
    uint64_t tickets;

    begin();
    REQUIRE(stream && pair_init(&p, 4096));
    pair_begin(&p);
    tickets = submitted(stream);
    {
        const gyre_fill bad[] = {
            {.to = p.to, .pattern_size = 0, .count = 1},
            {.to = p.to, .pattern_size = 3, .count = 1},
            {.to = p.to, .pattern_size = 16, .count = 1},
            {.to = p.to, .pattern_size = SIZE_MAX, .count = 1},
            {.to = p.to + 1, .pattern_size = 2, .count = 1},
            {.to = p.to + 2, .pattern_size = 4, .count = 1},
            {.to = p.to + 4, .pattern_size = 8, .count = 1},
            {.to = p.to, .pattern_size = 8, .count = SIZE_MAX / 8 + 1},
            {.to = p.to, .pattern_size = 2, .count = SIZE_MAX},
        };

        for (size_t i = 0; i < COUNT(bad); i++)
            if (gyre_stream_fill(stream, &bad[i]) != GYRE_INVALID) {
                CHECK(!"a malformed fill is refused");
                fprintf(stderr, "bad fill %zu\n", i);
            }
    }
    CHECK(submitted(stream) == tickets);
    CHECK(ok(gyre_stream_sync(stream)) && pair_equal(&p));
    pair_fini(&p);
    end(before);
}

/* From memory of `other` to memory of on.context, sizes from nothing up. */
static void copy_from_context(gyre_context *other)
{
    enum { ROOM = 200000 };
    static const size_t sizes[] = {0, 1, 100, 4097, 150001};
    gyre_stream *their = NULL;
    pair p = {.from_side = SIDE_HOST, .to_side = SIDE_DEVICE};
    unsigned char *source;

    REQUIRE(ok(gyre_stream_create(other, NULL, &their)) && pair_init(&p, ROOM));
    source = take_in(other, GYRE_CONTEXT_DEVICE, ROOM);
    REQUIRE(source);
    CHECK(put(their, source, p.source, ROOM));
    for (size_t s = 0; s < COUNT(sizes); s++) {
        const size_t from = chance_below(&state, ROOM - sizes[s]);
        const size_t to = chance_below(&state, ROOM - sizes[s]);

        pair_begin(&p);
        CHECK(ok(gyre_stream_copy_from(stream, p.to + to, other, source + from, sizes[s])));
        CHECK(ok(gyre_stream_sync(stream)));
        memcpy(p.want + to, p.source + from, sizes[s]);
        CHECK(pair_equal(&p));
    }
    give_in(other, GYRE_CONTEXT_DEVICE, source, ROOM);
    gyre_stream_destroy(their);
    pair_fini(&p);
}

static void contexts_of_one_device_copy_to_each_other(void)
{
    const int before = test_failed();
    gyre_context *other;

    begin();
    REQUIRE(stream && ok(gyre_context_create(on.device, NULL, &other)));
    copy_from_context(other);
    gyre_context_destroy(other);
    copy_from_context(on.context); /* its own too */
    end(before);
}

static void every_other_device_can_be_copied_from(void)
{
    const int before = test_failed();
    size_t others = 0;

    begin();
    REQUIRE(stream);
    for (size_t i = 0; i < gyre_device_count(); i++) {
        const gyre_device *const device = gyre_device_at(i);
        gyre_context *other;

        if (device == on.device || device->trouble[0] != '\0')
            continue;
        REQUIRE(ok(gyre_context_create(device, NULL, &other)));
        copy_from_context(other);
        gyre_context_destroy(other);
        others++;
    }
    end(before);
    if (others == 0)
        SKIP("there is no other device");
}

static void copies_from_others_are_ordered_in_the_stream(void)
{
    enum { N = 4096 };
    const int before = test_failed();
    gyre_context *other;
    gyre_stream *their;
    uint32_t *source, *data, *host = host_take(N * sizeof *host);

    begin();
    REQUIRE(stream && host && ok(gyre_context_create(on.device, NULL, &other)) &&
            ok(gyre_stream_create(other, NULL, &their)));
    source = take_in(other, GYRE_CONTEXT_DEVICE, N * sizeof *host);
    data = take(GYRE_CONTEXT_DEVICE, N * sizeof *host);
    REQUIRE(source && data);
    for (uint32_t i = 0; i < N; i++)
        host[i] = i;
    CHECK(put(their, source, host, N * sizeof *host));
    for (uint32_t round = 0; round < 10; round++) {
        memset(host, 0, N * sizeof *host);
        CHECK(ok(step(stream, (step_parameters){data, N, 0, 99, 20000})));
        CHECK(ok(gyre_stream_copy_from(stream, data, other, source, N * sizeof *host)));
        CHECK(ok(step(stream, (step_parameters){data, N, 2, round, 0})));
        CHECK(put(stream, host, data, N * sizeof *host));
        CHECK(host[0] == round && host[N - 1] == (N - 1) * 2 + round);
    }
    give(GYRE_CONTEXT_DEVICE, data, N * sizeof *host);
    give_in(other, GYRE_CONTEXT_DEVICE, source, N * sizeof *host);
    gyre_stream_destroy(their);
    gyre_context_destroy(other);
    host_give(host);
    end(before);
}

/* After the call the other side may be written again, or given back. */
static void a_copy_through_the_host_has_happened_on_return(void)
{
    enum { N = 4096 };
    const int before = test_failed();
    uint32_t *const data = take(GYRE_CONTEXT_DEVICE, (size_t)N * 4), host[N] = {0};
    size_t others = 0;

    begin();
    REQUIRE(stream && data && kernel_of(KERNEL_STEP));
    for (size_t i = 0; i < gyre_device_count(); i++) {
        const gyre_device *const device = gyre_device_at(i);
        gyre_context *other;
        void *source;

        if (device->trouble[0] != '\0' || gyre_device_reaches(on.device, device))
            continue;
        others++;
        REQUIRE(ok(gyre_context_create(device, NULL, &other)));
        source = take_in(other, GYRE_CONTEXT_DEVICE, (size_t)N * 4);
        REQUIRE(source);
        for (int n = 0; n < 8; n++)
            CHECK(ok(step(stream, (step_parameters){data, N, 1, 1, 5000})));
        CHECK(ok(gyre_stream_copy_from(stream, data, other, source, (size_t)N * 4)));
        CHECK(gyre_stream_poll(stream) == GYRE_OK);
        CHECK(ok(gyre_stream_sync(stream)));
        give_in(other, GYRE_CONTEXT_DEVICE, source, (size_t)N * 4);
        gyre_context_destroy(other);
    }
    CHECK(put(stream, host, data, sizeof host));
    give(GYRE_CONTEXT_DEVICE, data, (size_t)N * 4);
    end(before);
    if (others == 0)
        SKIP("this device reaches all others");
}

static const test_case cases[] = {
    TEST(copies_of_any_size_go_in_every_direction),
    TEST(many_megabytes_arrive),
    TEST(boxes_of_any_shape_are_those_of_a_plain_loop),
    TEST(malformed_boxes_are_refused_and_nothing_is_submitted),
    TEST(empty_copies_do_nothing),
    TEST(fills_repeat_their_pattern_and_stop),
    TEST(malformed_fills_are_refused),
    TEST(contexts_of_one_device_copy_to_each_other),
    TEST(every_other_device_can_be_copied_from),
    TEST(a_copy_through_the_host_has_happened_on_return),
    TEST(copies_from_others_are_ordered_in_the_stream),
};
CONFORMANCE_MAIN(cases)
