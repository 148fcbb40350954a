/* SPDX-License-Identifier: Apache-2.0 */
#include "record/read.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/moment.h"
#include "record/run_fake.h"
#include "test.h"

/* A run of one benchmark, with all that can go wrong in a small space. */
static const char small[] =
    "{\"schema\": \"gyre.run/1\", \"started\": \"2026-11-15T05:54:52Z\", \"interrupted\": false,\n"
    "\"command\": [\"gyre\"], \"options\": {\"confidence\": 0.9, \"resamples\": 50},\n"
    "\"settings\": {\"A\": \"b\"}, \"machine\": {\"cpus\": 2, \"clock\": {\"cost_ns\": 1}},\n"
    "\"benchmarks\": [{\"id\": \"a\", \"suite\": \"s\", \"axes\": {\"n\": 1}, \"t0\": \"\",\n"
    "\"t1\": \"\", \"observer\": \"\", \"outcome\": \"measured\", \"counters\": {\"x\": 1},\n"
    "\"sample\": {\"mode\": \"flat\", \"iterations\": 10, \"times_ns\": [10, 11, 12, 10],\n"
    "\"switches\": [0, 0, 1, 0]}}]}\n";

static gyre_status parse(const char *text)
{
    gyre_run *run;
    const gyre_status status = gyre_run_parse(text, strlen(text), "f.json", &run);

    CHECK((status == GYRE_OK) == (run != NULL));
    gyre_run_destroy(run);
    return status;
}

static bool error_says(const char *text)
{
    if (strstr(gyre_error_last()->text, text))
        return true;
    fprintf(stderr, "the error is: %s\n", gyre_error_last()->text);
    return false;
}

/* The text with the first `old` replaced; freed by the caller. */
static char *replaced(const char *whole, const char *old, const char *new)
{
    const char *place = strstr(whole, old);
    char *text = malloc(strlen(whole) + strlen(new) + 1);

    if (!place || !text)
        abort();
    sprintf(text, "%.*s%s%s", (int)(place - whole), whole, new, place + strlen(old));
    return text;
}

static char *with(const char *old, const char *new)
{
    return replaced(small, old, new);
}

/* Written, read and written again. */
static bool comes_back(const gyre_run *run, size_t most_samples)
{
    char *first = fake_text(run, most_samples), *second = NULL;
    gyre_run *again;
    bool same = false;

    if (gyre_run_parse(first, strlen(first), "f.json", &again) == GYRE_OK) {
        second = fake_text(again, 0);
        same = strcmp(first, second) == 0;
    } else {
        fprintf(stderr, "%s\n", gyre_error_last()->text);
    }
    gyre_run_destroy(again);
    free(first);
    free(second);
    return same;
}

static void run_comes_back_byte_by_byte(void)
{
    gyre_run *run = fake_full_run();

    CHECK(comes_back(run, 0));
    CHECK(comes_back(run, 7));
    CHECK(comes_back(run, 1));
    gyre_run_destroy(run);
    run = fake_run();
    CHECK(comes_back(run, 0)); /* an empty one */
    gyre_run_destroy(run);
}

static void every_word_of_a_choice_comes_back(void)
{
    for (int i = 0; i < 5; i++) {
        gyre_run *run = fake_run();

        fake_add(run, i == 0 ? fake_full("g/f") : fake_result("g/f", (gyre_outcome)i));
        run->method.sampling = (gyre_sampling)(i % 3);
        run->isolate = (gyre_isolation)(i % 3);
        run->order = (gyre_order)(i % 3);
        run->results[0].tags = 1U << i % 3;
        run->results[0].change = (gyre_comparison){.baseline = "b", .verdict = i % 4};
        CHECK(comes_back(run, 0));
        gyre_run_destroy(run);
    }
}

static void result_comes_back_through_a_pipe(void)
{
    gyre_result result = fake_full("g/f"), again;
    gyre_json json = {0};
    char *text, *second;
    size_t size;

    fake_facts(&result);
    json.stream = open_memstream(&text, &size);
    gyre_result_write(&json, &result, 0);
    fclose(json.stream);
    REQUIRE(gyre_result_parse(text, size, &again) == GYRE_OK);
    json = (gyre_json){.stream = open_memstream(&second, &size)};
    gyre_result_write(&json, &again, 0);
    fclose(json.stream);
    CHECK(strcmp(text, second) == 0);
    CHECK(again.facts.owner == &again && again.outliers.fences.high_mild > 0);
    gyre_result_fini(&again);
    CHECK(gyre_result_parse(text, size / 2, &again) == GYRE_CORRUPT && error_says("line "));
    CHECK(again.id == NULL);
    CHECK(gyre_result_parse("{}", 2, &again) == GYRE_CORRUPT && error_says("id is missing"));
    CHECK(gyre_result_parse("[]", 2, &again) == GYRE_CORRUPT && error_says("it is not an object"));
    gyre_result_fini(&result);
    free(text);
    free(second);
}

static void older_file_gets_its_estimates(void)
{
    gyre_run *run;

    REQUIRE(gyre_run_read(GYRE_GOLDEN "/run_without_estimates.json", &run) == GYRE_OK);
    CHECK(run->count > 10 && run->method.resamples == 10000);
    CHECK(strcmp(run->results[0].id, "clock/now_ns") == 0);
    for (size_t k = 0; k < run->count; k++) {
        const gyre_result *r = &run->results[k];

        if (r->outcome != GYRE_OUTCOME_MEASURED)
            continue;
        CHECK(r->started == run->started);
        CHECK(r->time.ns.low > 0 && r->time.ns.low <= r->time.median_ns);
        CHECK(r->time.ns.high >= r->time.median_ns && r->time.ns.coverage == 0.95);
        CHECK(!r->time.samples.steal_ticks && !r->time.samples.switches);
        CHECK(r->mean.point > 0 && r->std_dev.high > 0 && r->block > 0);
    }
    CHECK(fabs(run->results[0].time.median_ns - 20.551960693187922) < 1e-9);
    gyre_run_destroy(run);
}

static void truncated_file_is_refused_at_every_byte(void)
{
    const size_t whole = sizeof small - 2; /* without its newline */

    CHECK(parse(small) == GYRE_OK);
    for (size_t length = 0; length < whole; length++) {
        gyre_run *run;

        CHECK(gyre_run_parse(small, length, "f.json", &run) == GYRE_CORRUPT);
        CHECK(run == NULL && error_says("'f.json': line ") && error_says("it is damaged: remove"));
    }
}

static void wrong_members_are_named(void)
{
    static const struct {
        const char *old, *new, *says;
    } rows[] = {
        {"[10, 11, 12, 10]", "7", "benchmarks[0].sample.times_ns is not an array"},
        {"[10, 11, 12, 10]", "[]", "benchmarks[0].sample.times_ns is empty"},
        {", 11", ", -11", "benchmarks[0].sample.times_ns[1] cannot be -11"},
        {", 11", ", 1e19", "benchmarks[0].sample.times_ns[1] cannot be 1e+19"},
        {", 11", ", null", "benchmarks[0].sample.times_ns[1] is not a number"},
        {", 11", ", \"NaN\"", "benchmarks[0].sample.times_ns[1] is not a number"},
        {", 11", ", NaN", "line 6"},
        {", 11", ", 1e999", "line 6"},
        {"[10, 11, 12, 10]", "[10, 11]", "sample.switches has 4 elements, not 2"},
        {"[0, 0, 1, 0]", "[0, 0, 1, -1]", "sample.switches[3] cannot be -1"},
        {"[0, 0, 1, 0]", "[0, 0, 1.5, 1]", "sample.switches[2] is not a whole number"},
        {"\"iterations\": 10", "\"iterations\": 0", "sample.iterations cannot be 0"},
        {"\"iterations\": 10", "\"iterations\": [1, 2, 3, 0]", "sample.iterations[3] cannot be 0"},
        {"\"iterations\": 10", "\"iterations\": [1]", "sample.iterations has 1 elements, not 4"},
        {"\"iterations\": 10", "\"iterations\": 1.5", "sample.iterations is not an array"},
        {"\"iterations\": 10", "\"i\": 1", "benchmarks[0].sample.iterations is missing"},
        {"\"flat\"", "\"round\"", "sample.mode is not one of flat|linear"},
        {"\"sample\": {", "\"sample\": [], \"x\": {", "benchmarks[0].sample is not an object"},
        {"\"sample\"", "\"simple\"", "benchmarks[0].sample is missing"},
        {"\"measured\"", "\"great\"", "benchmarks[0].outcome is not one of measured|"},
        {"\"id\": \"a\"", "\"id\": 7", "benchmarks[0].id is not a string"},
        {"\"id\": \"a\"", "\"id\": null", "benchmarks[0].id is missing"},
        {"\"n\": 1", "\"n\": 1.5", "benchmarks[0].axes.n is not a whole number"},
        {"\"n\": 1", "\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1", "axes has more than 4 members"},
        {"\"x\": 1", "\"x\": true", "benchmarks[0].counters.x is not a number"},
        {"\"x\": 1", "\"x\": 1, \"x\": 2", "duplicate"},
        {"[{\"id\"", "[7, {\"id\"", "benchmarks[0] is not an object"},
        {"\"cpus\": 2", "\"cpus\": -2", "machine.cpus cannot be -2"},
        {"\"cost_ns\": 1", "\"cost_ns\": {}", "machine.clock.cost_ns is not a number"},
        {"\"confidence\": 0.9", "\"confidence\": 2", "options.confidence cannot be 2"},
        {"false", "0", "interrupted is neither true nor false"},
        {"[\"gyre\"]", "[\"gyre\", 1]", "command[1] is not a string"},
        {"2026-11-15T", "2026-11-31T", "started is not like 2026-"},
        {"\"A\": \"b\"", "\"A\": 1", "settings.A is not a string"},
        {"\"benchmarks\"", "\"b\"", "benchmarks is missing"},
        {"\"mode\": \"flat\"", "\"mode\": \"fl\\u0000at\"", "line 6"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = with(rows[i].old, rows[i].new);

        CHECK(parse(text) == GYRE_CORRUPT);
        CHECK(error_says(rows[i].says));
        CHECK(error_says("'f.json': ") && error_says("; it is damaged: remove it or choose"));
        free(text);
    }
}

static void wrong_estimates_are_named(void)
{
    static const struct {
        const char *old, *new, *says;
    } rows[] = {
        {"\"low\": 15.15", "\"low\": 16", "benchmarks[0].time_ns has its low above its high"},
        {"\"low\": 1.5", "\"low\": 9", "estimates.median has its low above its high"},
        {"\"low\": 1.5,", "", "estimates.median.low is missing"},
        {"\"slope\"", "\"slap\"", "benchmarks[0].estimates.slope is missing"},
        {"\"coverage\": 0.95", "\"coverage\": 95", "time_ns.coverage cannot be 95"},
        {"\"p\": 0.5,", "\"p\": 1.5,", "latency.quantiles[0].p cannot be 1.5"},
        {"\"low\": 1.25", "\"low\": 2", "beside.ratio has its low above its high"},
        {"\"low\": -6.5", "\"low\": -1e30", "benchmarks[0].beside.more_ns.low cannot be"},
        {"\"id\": \"g/bare\"", "\"di\": 1", "benchmarks[0].beside.id is missing"},
        {"\"rate_hz\": 1000.5", "\"rate_hz\": 0", "benchmarks[0].latency.rate_hz cannot be 0"},
        {"\"calls_ns\": [3", "\"calls_ns\": [-3", "latency.calls_ns[0] cannot be -3"},
        {"\"peak_rss_bytes\": 4096", "\"peak_rss_bytes\": -1", "memory.peak_rss_bytes cannot be"},
        {"\"verdict\": \"regressed\"", "\"verdict\": \"bad\"", "change.verdict is not one of"},
        {"\"id\": \"g/failed\"", "\"id\": \"g/full\"", "the id 'g/full' is there twice"},
    };
    gyre_run *run = fake_full_run();
    char *whole = fake_text(run, 0);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = replaced(whole, rows[i].old, rows[i].new);

        CHECK(parse(text) == GYRE_CORRUPT);
        CHECK(error_says(rows[i].says));
        free(text);
    }
    free(whole);
    gyre_run_destroy(run);
}

static void what_is_unknown_or_null_is_ignored(void)
{
    char *text = with("\"interrupted\": false", "\"interrupted\": null, \"later\": [{\"x\": 1}]");

    CHECK(parse(text) == GYRE_OK);
    free(text);
    text = with("\"counters\": {\"x\": 1}", "\"counters\": null, \"tags\": [\"cpu\", \"quantum\"]");
    CHECK(parse(text) == GYRE_OK);
    free(text);
}

static void other_files_are_told_apart(void)
{
    char *newer = with("gyre.run/1", "gyre.run/2"), *other = with("gyre.run/1", "gyre.doctor/1");
    char *odd = with("gyre.run/1", "gyre.run/1x");

    CHECK(parse(newer) == GYRE_UNSUPPORTED);
    CHECK(error_says("'f.json' was written by a newer Gyre (gyre.run/2)"));
    CHECK(parse(other) == GYRE_CORRUPT && error_says("'f.json' is not a run file"));
    CHECK(parse(odd) == GYRE_CORRUPT && error_says("'f.json' is not a run file"));
    CHECK(parse("[1]") == GYRE_CORRUPT && error_says("'f.json' is not a run file"));
    CHECK(parse("{\"schema\": 1}") == GYRE_CORRUPT && error_says("is not a run file"));
    CHECK(parse("") == GYRE_CORRUPT && error_says("it is damaged"));
    CHECK(parse("\x7f"
                "ELF") == GYRE_CORRUPT &&
          error_says("line 1"));
    free(newer);
    free(other);
    free(odd);
}

static void files_that_cannot_be_read_are_named(void)
{
    char path[] = "/tmp/gyre-read-test-XXXXXX", below[64];
    const int fd = mkstemp(path);
    gyre_run *run;

    REQUIRE(fd >= 0);
    CHECK(gyre_run_read("/nowhere/f.json", &run) == GYRE_NOT_FOUND && !run);
    CHECK(error_says("there is no file '/nowhere/f.json'"));
    snprintf(below, sizeof below, "%s/f", path);
    CHECK(gyre_run_read(below, &run) == GYRE_NOT_FOUND && !run);
    CHECK(gyre_run_read("/tmp", &run) == GYRE_IO && !run);
    CHECK(gyre_error_last()->native == EISDIR && error_says("cannot read '/tmp'"));
    CHECK(gyre_run_read(path, &run) == GYRE_CORRUPT && !run && error_says(path)); /* empty */
    REQUIRE(ftruncate(fd, ((off_t)1 << 30) + 1) == 0);                            /* sparse */
    CHECK(gyre_run_read(path, &run) == GYRE_UNSUPPORTED && error_says("larger than 1 GiB"));
    close(fd);
    unlink(path);
}

static void long_names_keep_their_end(void)
{
    char name[600];
    gyre_run *run;

    memset(name, 'x', sizeof name);
    snprintf(name + 580, 20, "/latest.json");
    CHECK(gyre_run_parse("[", 1, name, &run) == GYRE_CORRUPT);
    CHECK(error_says("xx/latest.json': line 1") && error_says("remove it or choose another"));
}

/* A run with `count` benchmarks, or one benchmark with `count` samples. */
static char *many(size_t count, bool samples)
{
    char *text = malloc(count * 100 + 1000), *end = text;

    if (!text)
        abort();
    end +=
        sprintf(end, "{\"schema\":\"gyre.run/1\",\"options\":{\"resamples\":1},\"benchmarks\":[");
    for (size_t i = 0; i < (samples ? 1 : count); i++)
        end += sprintf(end,
                       "%s{\"id\":\"%zu\",\"suite\":\"\",\"axes\":{},\"t0\":\"\",\"t1\":\"\","
                       "\"observer\":\"\",\"outcome\":\"%s\"",
                       i ? "}," : "", i, samples ? "measured" : "skipped");
    if (samples) {
        end += sprintf(end, ",\"sample\":{\"mode\":\"flat\",\"iterations\":1,\"times_ns\":[1");
        for (size_t i = 1; i < count; i++)
            end += sprintf(end, ",1");
        end += sprintf(end, "]}");
    }
    sprintf(end, "}]}");
    return text;
}

static void limits_are_kept(void)
{
    static const struct {
        size_t count;
        bool samples;
        const char *says;
    } rows[] = {
        {10000, false, NULL},
        {10001, false, "benchmarks has more than 10000 elements"},
        {100000, true, NULL},
        {100001, true, "benchmarks[0].sample.times_ns has more than 100000 elements"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = many(rows[i].count, rows[i].samples);

        CHECK(parse(text) == (rows[i].says ? GYRE_CORRUPT : GYRE_OK));
        CHECK(!rows[i].says || error_says(rows[i].says));
        free(text);
    }
}

static void moments_are_read_strictly(void)
{
    static const char *const wrong[] = {
        "",
        "2026-11-15",
        "2026-11-15T05:54:52",
        "2026-11-15T05:54:52Z ",
        "2026-02-30T05:54:52Z",
        "2026-11-15T24:00:00Z",
        "2026-11-15T05:54:61Z",
        "+026-11-15T05:54:52Z",
        "2026-1 -15T05:54:52Z",
    };
    char text[GYRE_MOMENT_BYTES];
    time_t moment;

    CHECK(gyre_moment_parse("2009-02-13T23:31:30Z", &moment) && moment == 1234567890);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(!gyre_moment_parse(wrong[i], &moment) && moment == 0);
    gyre_moment_print(253402300799, text);
    CHECK(strcmp(text, "9999-12-31T23:59:59Z") == 0);
    gyre_moment_print(253402300800, text);
    CHECK(strcmp(text, "1970-01-01T00:00:00Z") == 0);
    gyre_moment_print((time_t)1 << 60, text);
    CHECK(strcmp(text, "1970-01-01T00:00:00Z") == 0);
}

static const test_case cases[] = {
    TEST(run_comes_back_byte_by_byte),
    TEST(every_word_of_a_choice_comes_back),
    TEST(result_comes_back_through_a_pipe),
    TEST(older_file_gets_its_estimates),
    TEST(truncated_file_is_refused_at_every_byte),
    TEST(wrong_members_are_named),
    TEST(wrong_estimates_are_named),
    TEST(what_is_unknown_or_null_is_ignored),
    TEST(other_files_are_told_apart),
    TEST(files_that_cannot_be_read_are_named),
    TEST(long_names_keep_their_end),
    TEST(limits_are_kept),
    TEST(moments_are_read_strictly),
};
TEST_MAIN(cases)
