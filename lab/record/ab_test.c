/* SPDX-License-Identifier: Apache-2.0 */
#include "record/ab.h"

#include <math.h>
#include <unistd.h>

#include "record/ab_fake.h"
#include "test.h"

static char *words[] = {(char[]){"gyre"}, (char[]){"ab"}, NULL};

static void fresh_one_knows_machine_and_moment(void)
{
    gyre_ab *ab;

    REQUIRE(gyre_ab_create(2, words, &ab) == GYRE_OK);
    CHECK(ab->count == 0 && ab->head->count == 0);
    CHECK(ab->head->command_count == 2 && strcmp(ab->head->command[1], "ab") == 0);
    CHECK(ab->head->started > 0 && ab->head->machine.cpus > 0);
    CHECK(strcmp(ab->sides[0].command, "") == 0 && strcmp(ab->sides[1].path, "") == 0);
    gyre_ab_destroy(ab);
    gyre_ab_destroy(NULL);
}

static void added_ones_are_found_by_id(void)
{
    gyre_ab *ab;
    char id[] = "g/a";

    REQUIRE(gyre_ab_create_blank(&ab) == GYRE_OK);
    REQUIRE(gyre_ab_reserve(ab, 2) == GYRE_OK);
    gyre_ab_add(ab, id);
    gyre_ab_add(ab, "g/b");
    id[2] = 'x';
    CHECK(ab->count == 2);
    CHECK(ab->benches[0].outcome == GYRE_OUTCOME_MEASURED && ab->benches[0].launch_count == 0);
    CHECK(strcmp(ab->benches[0].clock, "host") == 0 && strcmp(ab->benches[0].reason, "") == 0);
    gyre_ab_destroy(ab);
}

static void begun_launch_is_not_counted_in(void)
{
    gyre_ab *ab = fake_ab();
    gyre_ab_bench *bench = gyre_ab_add(ab, "g/a");
    gyre_ab_launch *launch = gyre_ab_launch_begin(ab, bench, GYRE_JUDGE_PAIRS);

    REQUIRE(launch);
    CHECK(bench->launch_count == 0 && launch == &bench->launches[0]);
    CHECK(launch->pairs == GYRE_JUDGE_PAIRS && launch->iterations == 1 && launch->cpu == -1);
    for (size_t i = 0; i < GYRE_JUDGE_PAIRS; i++) {
        launch->old_ns[i] = 1;
        launch->new_ns[i] = 2;
    }
    for (size_t i = 0; i < GYRE_JUDGE_PAIRS; i++)
        CHECK(launch->old_ns[i] == 1);
    CHECK(gyre_ab_launch_begin(ab, bench, 1) == launch);
    gyre_ab_destroy(ab);
}

static void words_are_those_of_the_launches(void)
{
    gyre_ab *ab = fake_ab();
    const gyre_ab_bench *bench = fake_bench(ab, "g/a", 4, 0.1, 0.01);
    double said[GYRE_JUDGE_LAUNCHES];

    CHECK(gyre_ab_words(bench, said) == 4);
    for (size_t i = 0; i < 4; i++)
        CHECK(fabs(said[i] - log(1.1) - 0.01 * fake_spread(i)) < 1e-12);
    gyre_ab_destroy(ab);
}

static void every_verdict_is_made(void)
{
    gyre_ab *ab = fake_full_ab();

    CHECK(fake_find(ab, "g/slower")->judgement.verdict == GYRE_AB_SLOWER);
    CHECK(fabs(fake_find(ab, "g/slower")->judgement.change - 0.12) < 1e-9);
    CHECK(fake_find(ab, "g/slower")->judgement.launches == 16);
    CHECK(fake_find(ab, "g/faster")->judgement.verdict == GYRE_AB_FASTER);
    CHECK(fake_find(ab, "g/same")->judgement.verdict == GYRE_AB_EQUIVALENT);
    CHECK(fake_find(ab, "g/wild")->judgement.verdict == GYRE_AB_UNDECIDED);
    CHECK(fake_find(ab, "g/once")->judgement.verdict == GYRE_AB_UNDECIDED);
    CHECK(fake_find(ab, "g/once")->judgement.launches == 1);
    CHECK(fake_find(ab, "g/crashed")->judgement.launches == 0);
    gyre_ab_destroy(ab);
}

/* Alone it is slower with p about 0.005; beside two that failed it is not. */
static void what_failed_counts_in_the_suite(void)
{
    gyre_ab *ab = fake_ab();
    const gyre_ab_bench *bench = fake_bench(ab, "g/a", 8, 0.024, 0.0118);

    REQUIRE(gyre_ab_judge(ab) == GYRE_OK);
    CHECK(bench->judgement.verdict == GYRE_AB_SLOWER);
    CHECK(bench->judgement.p_slower > 0.004 && bench->judgement.p_slower < 0.01);
    fake_failed(ab, "g/b", GYRE_OUTCOME_FAILED, "oh");
    fake_failed(ab, "g/c", GYRE_OUTCOME_FAILED, "oh");
    REQUIRE(gyre_ab_judge(ab) == GYRE_OK);
    CHECK(bench->judgement.verdict == GYRE_AB_UNDECIDED);
    gyre_ab_destroy(ab);
}

static void judging_nothing_is_no_failure(void)
{
    gyre_ab *ab = fake_ab();

    CHECK(gyre_ab_judge(ab) == GYRE_OK);
    gyre_ab_destroy(ab);
}

static void same_judgement_is_the_same_to_the_bit(void)
{
    const gyre_judgement a = {8, 1, 2, 3, 4, 5, 6, 7, 8, 9, GYRE_AB_SLOWER};
    gyre_judgement b = a;
    double *const numbers[] = {&b.change, &b.low,      &b.high,     &b.hodges_lehmann, &b.sd,
                               &b.mde,    &b.p_slower, &b.p_faster, &b.p_equivalent};

    CHECK(gyre_judgement_same(&a, &b));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *numbers[i] = nextafter(*numbers[i], 0);
        CHECK(!gyre_judgement_same(&a, &b));
        b = a;
    }
    b.launches = 9;
    CHECK(!gyre_judgement_same(&a, &b));
    b = a;
    b.verdict = GYRE_AB_FASTER;
    CHECK(!gyre_judgement_same(&a, &b));
}

/* The measurement as text; freed by the caller. */
static char *text_of(const gyre_ab *ab)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        abort();
    gyre_ab_write(ab, stream);
    fclose(stream);
    return text;
}

static gyre_status parse(const char *text, gyre_ab **out_ab)
{
    return gyre_ab_parse(text, strlen(text), "f.json", out_ab);
}

static bool error_says(const char *words_of_it)
{
    const bool says = strstr(gyre_error_last()->text, words_of_it) != NULL;

    if (!says)
        fprintf(stderr, "  the error is: %s\n", gyre_error_last()->text);
    return says;
}

static bool same_launch(const gyre_ab_launch *a, const gyre_ab_launch *b)
{
    return a->seed == b->seed && a->iterations == b->iterations && a->cpu == b->cpu &&
           a->pairs == b->pairs && strcmp(a->order, b->order) == 0 &&
           a->steal_ticks == b->steal_ticks &&
           memcmp(a->old_ns, b->old_ns, a->pairs * sizeof a->old_ns[0]) == 0 &&
           memcmp(a->new_ns, b->new_ns, a->pairs * sizeof a->new_ns[0]) == 0;
}

static bool same_counts(const gyre_ab_bench *a, const gyre_ab_bench *b)
{
    for (int i = 0; i < GYRE_AB_COUNTS; i++)
        if (a->counts[i].known != b->counts[i].known ||
            a->counts[i].old_value != b->counts[i].old_value ||
            a->counts[i].new_value != b->counts[i].new_value)
            return false;
    return true;
}

static bool same_bench(const gyre_ab_bench *a, const gyre_ab_bench *b)
{
    bool same = strcmp(a->id, b->id) == 0 && strcmp(a->clock, b->clock) == 0 &&
                a->threads == b->threads && a->outcome == b->outcome &&
                strcmp(a->reason, b->reason) == 0 && strcmp(a->last_words, b->last_words) == 0 &&
                a->launch_count == b->launch_count && a->spent_s == b->spent_s &&
                a->warning_count == b->warning_count && same_counts(a, b) &&
                gyre_judgement_same(&a->judgement, &b->judgement);

    for (size_t i = 0; same && i < a->launch_count; i++)
        same = same_launch(&a->launches[i], &b->launches[i]);
    return same;
}

static bool same_side(const gyre_ab_side *a, const gyre_ab_side *b)
{
    return strcmp(a->command, b->command) == 0 && strcmp(a->path, b->path) == 0 &&
           a->program_bytes == b->program_bytes && a->program_hash == b->program_hash;
}

static void file_holds_every_bit(void)
{
    gyre_ab *ab = fake_full_ab(), *back;
    char *first = text_of(ab), *second;

    REQUIRE(parse(first, &back) == GYRE_OK);
    second = text_of(back);
    CHECK(strcmp(first, second) == 0);
    CHECK(back->count == ab->count);
    for (size_t i = 0; i < ab->count && i < back->count; i++)
        CHECK(same_bench(&ab->benches[i], &back->benches[i]));
    CHECK(same_side(&ab->sides[0], &back->sides[0]) && same_side(&ab->sides[1], &back->sides[1]));
    CHECK(back->lock_step && !back->again && back->seed == ab->seed);
    CHECK(back->rule.margin == ab->rule.margin && back->rule.alpha == ab->rule.alpha);
    CHECK(back->only_old_count == 1 && strcmp(back->only_old[0], "g/gone") == 0);
    CHECK(back->only_new_count == 2 && strcmp(back->only_new[0], "g/added") == 0);
    CHECK(back->head->machine.cpus == 8 && back->head->interrupted);
    CHECK(strcmp(back->head->command[1], "bench") == 0 && back->head->started == 1234567890);
    free(first);
    free(second);
    gyre_ab_destroy(back);
    gyre_ab_destroy(ab);
}

/* From the launches of the file alone. */
static void judgements_of_a_file_can_be_made_again(void)
{
    gyre_ab *ab = fake_full_ab(), *back;
    char *text = text_of(ab);

    REQUIRE(parse(text, &back) == GYRE_OK);
    for (size_t i = 0; i < back->count; i++)
        back->benches[i].judgement = (gyre_judgement){0};
    REQUIRE(gyre_ab_judge(back) == GYRE_OK);
    for (size_t i = 0; i < back->count; i++)
        CHECK(gyre_judgement_same(&ab->benches[i].judgement, &back->benches[i].judgement));
    free(text);
    gyre_ab_destroy(back);
    gyre_ab_destroy(ab);
}

static void saved_file_is_read(void)
{
    char path[] = "/tmp/gyre_ab_test_XXXXXX";
    const int file = mkstemp(path);
    gyre_ab *ab = fake_full_ab(), *back;

    REQUIRE(file >= 0);
    close(file);
    REQUIRE(gyre_ab_save(ab, path) == GYRE_OK);
    REQUIRE(gyre_ab_read(path, &back) == GYRE_OK);
    CHECK(back->count == ab->count);
    gyre_ab_destroy(back);
    gyre_ab_destroy(ab);
    unlink(path);
    CHECK(gyre_ab_read(path, &back) == GYRE_NOT_FOUND && !back && error_says("there is no file"));
    CHECK(gyre_ab_read("/", &back) == GYRE_IO && !back);
}

/* The text with the first `what` replaced; freed by the caller. */
static char *with(const char *text, const char *what, const char *by)
{
    const char *at = strstr(text, what);
    char *changed = malloc(strlen(text) + strlen(by) + 1);

    if (!at || !changed)
        abort();
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, by, at + strlen(what));
    return changed;
}

static void what_cannot_be_is_refused(void)
{
    static const struct {
        const char *what, *by, *says;
    } wrong[] = {
        {"gyre.ab/1", "gyre.ab/2", "'f.json' was written by a newer Gyre (gyre.ab/2)"},
        {"gyre.ab/1", "gyre.run/1", "'f.json' is not a measurement of two versions (gyre.ab/1)"},
        {"\"old\": {", "\"old\": 1, \"x\": {", "old is not an object"},
        {"\"hash\": \"1", "\"hash\": \"", "old.hash is not 16 hexadecimal digits"},
        {"\"hash\": \"1", "\"hash\": \"X", "old.hash is not 16 hexadecimal digits"},
        {"\"lock_step\": true", "\"lock_step\": 1", "lock_step is neither true nor false"},
        {"\"margin\": 0.01", "\"margin\": 0", "rule.margin cannot be 0"},
        {"\"alpha\": 0.01", "\"alpha\": 0.6", "rule.alpha cannot be 0.6"},
        {"\"g/faster\"", "\"g/same\"", "the id 'g/same' is there twice"},
        {"\"g/gone\"", "\"g/same\"", "the id 'g/same' is there twice"},
        {"\"g/gone\"", "\"g/added\"", "the id 'g/added' is there twice"},
        {"\"g/gone\"", "7", "only_old[0] is not a string"},
        {"\"g/gone\"", "null", "only_old[0] is not a string"},
        {"\"id\": \"g/slower\"", "\"id\": 7", "benchmarks[0].id is not a string"},
        {"\"id\": \"g/slower\"", "\"i\": 7", "benchmarks[0].id is missing"},
        {"\"measured\"", "\"checked\"", "benchmarks[0].outcome has no place here"},
        {"\"measured\"", "\"great\"", "benchmarks[0].outcome is not one of"},
        {"\"slower\"", "\"slow\"", "benchmarks[0].judgement.verdict is not one of"},
        {"\"p_slower\": ", "\"p_slower\": -", "judgement.p_slower cannot be -"},
        {"\"launches\": 16", "\"launches\": 49", "judgement.launches cannot be 49"},
        {"\"ABBAAB\"", "\"ABBAA\"", "launches[0].order has 5 letters, not two a pair"},
        {"\"ABBAAB\"", "\"ABBAABAB\"", "launches[0].order has 8 letters, not two a pair"},
        {"\"ABBAAB\"", "\"ABBABB\"", "launches[0].order has something other than AB and BA"},
        {"\"ABBAAB\"", "\"ABBAAC\"", "launches[0].order has something other than AB and BA"},
        {"\"old_ns\": [1000,", "\"old_ns\": [0,", "launches[0].old_ns[0] cannot be 0"},
        {"\"old_ns\": [1000,", "\"old_ns\": [-1,", "launches[0].old_ns[0] cannot be -1"},
        {"\"old_ns\": [1000,", "\"old_ns\": [1e19,", "launches[0].old_ns[0] cannot be 1e+19"},
        {"\"old_ns\": [1000,", "\"old_ns\": [null,", "launches[0].old_ns[0] is not a number"},
        {"\"old_ns\": [1000,", "\"old_ns\": [", "launches[0].new_ns has 3 elements, not 2"},
        {"\"old_ns\": [", "\"old_ns\": [], \"x\": [", "launches[0].old_ns is empty"},
        {"\"iterations\": 10", "\"iterations\": 0", "launches[0].iterations cannot be 0"},
        {"\"cpu\": 0", "\"cpu\": -1", "launches[0].cpu cannot be -1"},
        {"\"seed\": \"0", "\"seed\": \"", "launches[0].seed is not 16 hexadecimal digits"},
        {"\"peak_rss_bytes\": [1048576, ", "\"peak_rss_bytes\": [",
         "counts.peak_rss_bytes is not what was counted on both sides"},
        {"\"launches\": [", "\"launches\": [], \"x\": [",
         "benchmarks[0].launches is empty, but it was measured"},
        {"\"launches\": [", "\"launches\": [7, ", "benchmarks[0].launches[0] is not an object"},
        {"\"benchmarks\": [", "\"benchmarks\": [7, ", "benchmarks[0] is not an object"},
        {"\"benchmarks\"", "\"x\"", "benchmarks is missing"},
    };
    gyre_ab *ab = fake_full_ab(), *back;
    char *text = text_of(ab);

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char *changed = with(text, wrong[i].what, wrong[i].by);

        CHECK(parse(changed, &back) != GYRE_OK && !back && error_says(wrong[i].says));
        CHECK(error_says("'f.json'"));
        free(changed);
    }
    free(text);
    gyre_ab_destroy(ab);
}

static void too_many_launches_are_refused(void)
{
    gyre_ab *ab = fake_ab(), *back;
    char *text, *end;

    fake_bench(ab, "g/a", GYRE_JUDGE_LAUNCHES, 0, 0);
    REQUIRE(gyre_ab_judge(ab) == GYRE_OK);
    text = text_of(ab);
    REQUIRE(parse(text, &back) == GYRE_OK);
    CHECK(back->benches[0].launch_count == GYRE_JUDGE_LAUNCHES);
    gyre_ab_destroy(back);
    end = with(text, "\"launches\": [", "\"launches\": [{},");
    CHECK(parse(end, &back) == GYRE_CORRUPT && error_says("launches has more than 48 elements"));
    free(end);
    free(text);
    gyre_ab_destroy(ab);
}

/* An interval from one launch has no end, which JSON does not have. */
static void endless_interval_survives_the_file(void)
{
    gyre_ab *ab = fake_full_ab(), *back;
    char *text = text_of(ab);

    CHECK(!strstr(text, "null"));
    REQUIRE(parse(text, &back) == GYRE_OK);
    CHECK(isinf(fake_find(back, "g/once")->judgement.high));
    CHECK(isinf(fake_find(back, "g/once")->judgement.mde));
    gyre_ab_destroy(back);
    free(text);
    gyre_ab_destroy(ab);
}

static const test_case cases[] = {
    TEST(fresh_one_knows_machine_and_moment),
    TEST(added_ones_are_found_by_id),
    TEST(begun_launch_is_not_counted_in),
    TEST(words_are_those_of_the_launches),
    TEST(every_verdict_is_made),
    TEST(what_failed_counts_in_the_suite),
    TEST(file_holds_every_bit),
    TEST(judgements_of_a_file_can_be_made_again),
    TEST(saved_file_is_read),
    TEST(what_cannot_be_is_refused),
    TEST(too_many_launches_are_refused),
    TEST(endless_interval_survives_the_file),
    TEST(judging_nothing_is_no_failure),
    TEST(same_judgement_is_the_same_to_the_bit),
};
TEST_MAIN(cases)
