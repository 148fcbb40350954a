/* SPDX-License-Identifier: Apache-2.0
 *
 * Random messages: what was built is what is read, whatever the counts; and whatever happens to the
 * bytes of small ones, validators agree and nothing outside is read (message_look.h).
 */
#include <stdlib.h>

#include "chance.h"
#include "msg/message_look.h"
#include "test.h"

enum { ROOM = 1 << 16, MOST = 600 };

/* What a sample was built of. */
typedef struct model {
    uint8_t small, raw[MOST];
    int64_t large;
    uint32_t corner[3], raw_count, title_count, steps_count, reals_count, note_count, label_count;
    float ratio;
    bool has_ratio, has_path, has_from, has_centre;
    char title[MOST], note[MOST], label[MOST];
    int16_t steps[MOST];
    double reals[MOST], x;
} model;

static uint64_t chance;

static void random_bytes(void *to, size_t size)
{
    unsigned char *const bytes = to;

    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)chance_next(&chance);
}

/* Often none, often short, sometimes around the size from which a list is large. */
static uint32_t random_count(size_t element, uint32_t most)
{
    switch (chance_below(&chance, 4)) {
    case 0:
        return 0;
    case 1:
        return (uint32_t)chance_below(&chance, most < 20 ? 6 : 20);
    case 2:
        return most < MOST ? most : (uint32_t)(256 / element - 2 + chance_below(&chance, 5));
    default:
        return most ? (uint32_t)chance_below(&chance, most) : 0;
    }
}

static void random_model(model *of, uint32_t most)
{
    const uint64_t has = chance_next(&chance);

    random_bytes(of, sizeof *of);
    of->raw_count = random_count(1, most);
    of->title_count = random_count(1, most);
    of->steps_count = random_count(2, most);
    of->reals_count = random_count(8, most);
    of->note_count = random_count(1, most);
    of->label_count = random_count(1, most);
    for (int i = 0; i < MOST; i++)
        of->reals[i] = (double)i / 3;
    of->x = 2.5;
    of->ratio = -0.75f;
    of->has_ratio = has & 1;
    of->has_path = has & 2;
    of->has_from = has & 4;
    of->has_centre = has & 8;
}

static void put_point(point_builder *b, const model *of)
{
    point_set_x(b, of->x);
    point_copy_label(b, of->label, of->label_count);
}

static size_t build(const model *of, unsigned char *buffer)
{
    sample_builder b;
    path_builder way;
    point_builder spot;
    size_t size = 0;

    look_require(sample_begin(&b, buffer, ROOM) == GYRE_OK, "it begins");
    b.header.flags = chance_next(&chance) & GYRE_MESSAGE_CRC;
    sample_set_small(&b, of->small);
    sample_copy_raw(&b, of->raw, of->raw_count);
    sample_set_corner(&b, of->corner);
    if (of->has_ratio)
        sample_set_ratio(&b, of->ratio);
    sample_copy_title(&b, of->title, of->title_count);
    if (of->has_path) {
        sample_begin_path(&b, &way);
        path_copy_steps(&way, of->steps, of->steps_count);
        if (of->has_from) {
            path_begin_from(&way, &spot);
            put_point(&spot, of);
            path_commit_from(&way, &spot);
        }
        sample_commit_path(&b, &way);
    }
    sample_copy_reals(&b, of->reals, of->reals_count);
    if (of->has_centre) {
        sample_begin_centre(&b, &spot);
        put_point(&spot, of);
        sample_commit_centre(&b, &spot);
    }
    sample_copy_note(&b, of->note, of->note_count);
    sample_set_large(&b, of->large);
    look_require(sample_commit(&b, &size) == GYRE_OK && size > 0, "it is built");
    return size;
}

static bool same(const void *a, uint32_t a_count, const void *b, uint32_t b_count, size_t element)
{
    return a_count == b_count && memcmp(a, b, a_count * element) == 0;
}

static bool same_point(const point *m, const model *of)
{
    return point_x(m) == of->x && !point_has_weight(m) &&
           same(point_label(m), point_label_count(m), of->label, of->label_count, 1);
}

static bool same_path(const path *m, const model *of)
{
    return same(path_steps(m), path_steps_count(m), of->steps, of->steps_count, 2) &&
           (path_from(m) != NULL) == of->has_from && !path_to(m) &&
           (!of->has_from || same_point(path_from(m), of));
}

static bool same_sample(const sample *m, const model *of)
{
    return sample_small(m) == of->small && sample_large(m) == of->large &&
           same(sample_raw(m), sample_raw_count(m), of->raw, of->raw_count, 1) &&
           same(sample_corner(m), sample_corner_count(m), of->corner, 3, 4) &&
           !!sample_has_ratio(m) == of->has_ratio &&
           sample_ratio(m) == (of->has_ratio ? of->ratio : -1) &&
           same(sample_title(m), sample_title_count(m), of->title, of->title_count, 1) &&
           same(sample_reals(m), sample_reals_count(m), of->reals, of->reals_count, 8) &&
           same(sample_note(m), sample_note_count(m), of->note, of->note_count, 1) &&
           (sample_path(m) != NULL) == of->has_path &&
           (!of->has_path || same_path(sample_path(m), of)) &&
           (sample_centre(m) != NULL) == of->has_centre &&
           (!of->has_centre || same_point(sample_centre(m), of)) && sample_last(m) == 0;
}

static void what_is_built_is_what_is_read(void)
{
    static _Alignas(64) unsigned char buffer[ROOM];
    static model of;

    for (int round = 0; round < 3000; round++) {
        const sample *m;
        size_t size;

        random_model(&of, MOST);
        memset(buffer, (int)chance_next(&chance), ROOM / 4);
        size = build(&of, buffer);
        REQUIRE(sample_open(buffer, size, &m) == GYRE_OK);
        REQUIRE(same_sample(m, &of));
        REQUIRE(look_into_all(buffer, size) == 1);
    }
}

/* A small random message in a block that ends with it, for the sanitizer. */
static unsigned char *small_message(size_t *out_size)
{
    static _Alignas(64) unsigned char buffer[ROOM];
    static model of;
    unsigned char *bytes;

    random_model(&of, 6);
    *out_size = build(&of, buffer);
    bytes = calloc(1, *out_size);
    if (!bytes)
        abort();
    memcpy(bytes, buffer, *out_size);
    return bytes;
}

static void every_truncation_is_refused(void)
{
    for (int round = 0; round < 20; round++) {
        size_t size;
        unsigned char *const bytes = small_message(&size);

        for (size_t cut = 1; cut < size; cut++) {
            unsigned char *const less = calloc(1, cut);

            look_require(less, "there is memory");
            memcpy(less, bytes, cut);
            CHECK(look_into_all(less, cut) == 0);
            free(less);
        }
        free(bytes);
    }
}

static void every_changed_byte_is_handled(void)
{
    for (int round = 0; round < 4; round++) {
        size_t size;
        unsigned char *const bytes = small_message(&size);

        for (size_t i = 0; i < size; i++) {
            const unsigned char right = bytes[i];

            for (int change = 1; change < 256; change++) {
                bytes[i] = (unsigned char)(right ^ change);
                look_into_all(bytes, size);
            }
            bytes[i] = right;
        }
        CHECK(look_into_all(bytes, size) == 1);
        free(bytes);
    }
}

/* Words of the fixed parts take values near the right ones, several at a time. */
static void changed_words_are_handled(void)
{
    static const int32_t steps[] = {-64, -56, -48, -16, -8, -4, -1, 1, 4, 8, 16, 48, 56, 64};

    for (int round = 0; round < 3000; round++) {
        size_t size;
        unsigned char *const bytes = small_message(&size);

        for (int i = 0; i < 4; i++) {
            const size_t at = 4 * chance_below(&chance, size / 4);
            uint32_t word;

            memcpy(&word, bytes + at, 4);
            word += (uint32_t)steps[chance_below(&chance, sizeof steps / sizeof steps[0])];
            memcpy(bytes + at, &word, 4);
            look_into_all(bytes, size);
        }
        free(bytes);
    }
}

static const test_case cases[] = {
    TEST(what_is_built_is_what_is_read),
    TEST(every_truncation_is_refused),
    TEST(every_changed_byte_is_handled),
    TEST(changed_words_are_handled),
};

int main(int argc, char **argv)
{
    chance = chance_seed();
    printf("seed %llu\n", (unsigned long long)chance);
    return test_run(cases, sizeof cases / sizeof cases[0], argc > 1 ? argv[1] : NULL);
}
