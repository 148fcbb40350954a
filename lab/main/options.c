/* SPDX-License-Identifier: Apache-2.0
 *
 * options: see options.h.
 */
#include "main/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/settings.h"
#include "base/text.h"
#include "main/given.h"

enum {
    LIST,
    LIST_FORMAT,
    EXACT,
    SKIP,
    SUITE,
    AXIS,
    TEST,
    QUICK,
    PROFILE_TIME,
    SAMPLE_SIZE,
    WARM_UP_TIME,
    MEASUREMENT_TIME,
    SAMPLING,
    PRECISION,
    NRESAMPLES,
    CONFIDENCE_LEVEL,
    SIGNIFICANCE_LEVEL,
    NOISE_THRESHOLD,
    SEED,
    LATENCY,
    RATE,
    MEMORY,
    INSTRUCTIONS,
    TARGETS,
    TRACE,
    ISOLATE,
    ORDER,
    TIMEOUT,
    COOLDOWN,
    PIN,
    SKIP_WHEN,
    SAVE_BASELINE,
    BASELINE,
    BASELINE_LENIENT,
    LOAD_BASELINE,
    DISCARD_BASELINE,
    OUTPUT_FORMAT,
    JSON,
    EXPORT_CRITERION,
    BRIEF,
    VERBOSE,
    QUIET,
    NOPLOT,
    OUT,
    NO_SAVE,
    BEHAVIOUR,
    TYPE,
    BODY,
    PAYLOAD,
    SHARED,
    SEATS,
    THREADS,
};

static const double NO_THRESHOLD = 1e-300; /* as 0 is the default */

const gyre_option gyre_bench_options[] = {
    [LIST] = {"--list", 0, NULL, "print the ids and measure nothing"},
    [LIST_FORMAT] = {"--format", 0, "pretty|terse", "of the list: terse has no last line"},
    [EXACT] = {"--exact", 0, NULL, "filters are whole ids, not regular expressions"},
    [SKIP] = {"--skip", 0, "FILTER", "not those that match; may be given several times"},
    [SUITE] = {"--suite", 0, "NAME", "only the benchmarks of this suite"},
    [AXIS] = {"--axis", 0, "NAME=VALUES",
              "other values for an axis: [a,b], [start:stop:stride], NAME[pow2]=[4:10]"},
    [TEST] = {"--test", 0, NULL, "run each benchmark once and check its answer"},
    [QUICK] = {"--quick", 0, NULL,
               "30 samples in 0.3 s after 0.1 s of warm-up; without a filter, none tagged slow"},
    [PROFILE_TIME] = {"--profile-time", 0, "TIME",
                      "run each for that long, in this process, without analysis"},
    [SAMPLE_SIZE] = {"--sample-size", 0, "N", "samples, 10 or more (default 100)"},
    [WARM_UP_TIME] = {"--warm-up-time", 0, "TIME",
                      "before sampling, for example 500ms (default 1s)"},
    [MEASUREMENT_TIME] = {"--measurement-time", 0, "TIME",
                          "for all samples together (default 3s, less when there are many)"},
    [SAMPLING] = {"--sampling", 0, "auto|linear|flat",
                  "iterations of the samples: growing, alike, or as fits (default auto)"},
    [PRECISION] = {"--precision", 0, "P%",
                   "sample on until the interval is within P % of the median either side"},
    [NRESAMPLES] = {"--nresamples", 0, "N", "resamples of the bootstrap (default 10000)"},
    [CONFIDENCE_LEVEL] = {"--confidence-level", 0, "P", "of the intervals (default 0.95)"},
    [SIGNIFICANCE_LEVEL] = {"--significance-level", 0, "P", "of a change (default 0.05)"},
    [NOISE_THRESHOLD] = {"--noise-threshold", 0, "X", "changes below it are noise (default 0.01)"},
    [SEED] = {"--seed", 0, "N", "of resampling and random order (default another each time)"},
    [LATENCY] = {"--latency", 0, NULL, "time single calls too: p50, p90, p99, p99.9, max"},
    [RATE] = {"--rate", 0, "HZ", "calls due at this rate, timed from when they were due"},
    [MEMORY] = {"--memory", 0, NULL, "peak memory and allocations too"},
    [INSTRUCTIONS] = {"--instructions", 0, NULL,
                      "instructions too, by the processor's counters or by callgrind"},
    [TARGETS] =
        {"--targets", 0, "FILE",
         "a table of targets, met or not; gyre bench knows 'seeds', 'actors' and 'interactive'"},
    [TRACE] = {"--trace", 0, "FILE",
               "record what goes on and write it there, for Perfetto; figures may be slower"},
    [ISOLATE] = {"--isolate", 0, "group|bench|none",
                 "what has a process of its own (default group)"},
    [ORDER] = {"--order", 0, "declared|light|random", "of the groups (default declared)"},
    [TIMEOUT] = {"--timeout", 0, "TIME",
                 "end what gives no sign of life for that long (default 60s and a quarter of the "
                 "measurement time; 0 never)"},
    [COOLDOWN] = {"--cooldown", 0, "TIME", "pause between groups (default none)"},
    [PIN] = {"--pin", 0, "CPUS", "run on these CPUs only, for example 2 or 0-3,8"},
    [SKIP_WHEN] = {"--skip-when", 0, "warning|critical",
                   "skip when a suite's guard says so (default critical)"},
    [SAVE_BASELINE] = {"--save-baseline", 's', "NAME",
                       "compare with this baseline, then replace it (default base)"},
    [BASELINE] = {"--baseline", 'b', "NAME", "compare with this baseline and keep it"},
    [BASELINE_LENIENT] = {"--baseline-lenient", 0, "NAME",
                          "the same, and benchmarks that it lacks are no error"},
    [LOAD_BASELINE] = {"--load-baseline", 0, "NAME",
                       "measure nothing: compare this baseline with that of --baseline"},
    [DISCARD_BASELINE] = {"--discard-baseline", 0, NULL, "replace no baseline"},
    [OUTPUT_FORMAT] = {"--output-format", 0, "criterion|bencher|json|csv|google|html",
                       "what is printed to stdout (default criterion)"},
    [JSON] = {"--json", 0, NULL, "the same as --output-format json; with --list, the list"},
    [EXPORT_CRITERION] = {"--export-criterion", 0, "DIR",
                          "write the results there in Criterion's layout, too"},
    [BRIEF] = {"--brief", 0, NULL, "leave out when the clock started and stopped, and outliers"},
    [VERBOSE] = {"--verbose", 'v', NULL, "the other estimates, too"},
    [QUIET] = {"--quiet", 0, NULL, "results only: no progress, no summary"},
    [NOPLOT] = {"--noplot", 'n', NULL, "write no HTML report"},
    [OUT] = {"--out", 0, "DIR", "folder for results (default GYRE_OUT, gyre-out)"},
    [NO_SAVE] = {"--no-save", 0, NULL, "write no file"},
    [BEHAVIOUR] =
        {"--behaviour", 0, "FILE",
         "measure the behaviour in this C file as an actor, beside an echo, and only that"},
    [TYPE] = {"--type", 0, "N", "of the messages to it (default 1)"},
    [BODY] = {"--body", 0, "HEX",
              "what they carry, at most 40 bytes, two digits each (default none)"},
    [PAYLOAD] =
        {"--payload", 0, "BYTES",
         "that they refer to, words that count from 0; --body is behind that (default none)"},
    [SHARED] = {"--shared", 0, "BYTES", "of a block, for self->shared (default none)"},
    [SEATS] = {"--seats", 0, "N", "that it has, blocks or threads (default 1)"},
    [THREADS] = {"--threads", 0, "N", "of a seat on a GPU (default by its width)"},
    {NULL, 0, NULL, NULL},
};

static gyre_status read_method(const gyre_args *args, gyre_request *r)
{
    const gyre_given given = {gyre_bench_options, args};
    gyre_method *m = &r->method;
    gyre_status status = GYRE_OK;
    size_t seed = 0;

#define TRY(call) (status = status == GYRE_OK ? (call) : status)
    TRY(gyre_given_count(
        &given, SAMPLE_SIZE,
        (gyre_range){GYRE_LEAST_SAMPLES, GYRE_MOST_SAMPLES, "a number from 10 to 100000"},
        &m->sample_count));
    TRY(gyre_given_time(&given, WARM_UP_TIME, false, &m->warm_up_ns));
    TRY(gyre_given_time(&given, MEASUREMENT_TIME, false, &m->measurement_ns));
    TRY(gyre_given_time(&given, PROFILE_TIME, false, &m->profile_ns));
    TRY(gyre_given_number(&given, PRECISION, (gyre_range){0.0001, 0.5, "a share from 0.01% to 50%"},
                          &m->precision));
    TRY(gyre_given_count(&given, NRESAMPLES,
                         (gyre_range){10, 10000000, "a number from 10 to 10000000"},
                         &m->resamples));
    TRY(gyre_given_number(&given, CONFIDENCE_LEVEL,
                          (gyre_range){0.5, 0.9999, "a number from 0.5 to 0.9999"},
                          &m->confidence));
    TRY(gyre_given_number(&given, SIGNIFICANCE_LEVEL,
                          (gyre_range){0.0001, 0.5, "a number from 0.0001 to 0.5"},
                          &m->significance));
    TRY(gyre_given_number(&given, NOISE_THRESHOLD, (gyre_range){0, 10, "a number from 0 to 10"},
                          &m->noise_threshold));
    TRY(gyre_given_number(&given, RATE, (gyre_range){0.01, 1e9, "calls a second, from 0.01 to 1e9"},
                          &m->rate_hz));
    TRY(gyre_given_count(&given, SEED, (gyre_range){0, 9.3e18, "a whole number"}, &seed));
#undef TRY
    if (gyre_args_given(args, NOISE_THRESHOLD) && m->noise_threshold == 0)
        m->noise_threshold = NO_THRESHOLD;
    m->sampling = (gyre_sampling)gyre_given_choice(&given, SAMPLING);
    m->latency = gyre_args_given(args, LATENCY) || m->rate_hz > 0;
    m->seed = gyre_args_given(args, SEED) ? seed : (uint64_t)time(NULL);
    if (gyre_args_given(args, SKIP_WHEN))
        m->skip_when =
            gyre_given_choice(&given, SKIP_WHEN) == 0 ? GYRE_HEALTH_WARNING : GYRE_HEALTH_CRITICAL;
    m->purpose = gyre_args_given(args, TEST)           ? GYRE_PURPOSE_CHECK
                 : gyre_args_given(args, PROFILE_TIME) ? GYRE_PURPOSE_PROFILE
                                                       : GYRE_PURPOSE_TIME;
    return status;
}

static gyre_status read_running(const gyre_args *args, gyre_request *r)
{
    const gyre_given given = {gyre_bench_options, args};
    gyre_status status;

    r->order = (gyre_order)gyre_given_choice(&given, ORDER);
    r->isolation = (gyre_isolation)gyre_given_choice(&given, ISOLATE);
    if (r->method.purpose == GYRE_PURPOSE_PROFILE) /* a profiler looks at this process */
        r->isolation = GYRE_ISOLATE_NONE;
    r->memory = gyre_args_given(args, MEMORY);
    r->instructions = gyre_args_given(args, INSTRUCTIONS);
    if ((r->memory || r->instructions) && r->isolation == GYRE_ISOLATE_NONE)
        return gyre_fail(GYRE_INVALID, "--memory and --instructions count in processes of their "
                                       "own: not with --isolate none or --profile-time");
    if (gyre_args_given(args, TIMEOUT) && r->isolation == GYRE_ISOLATE_NONE)
        return gyre_fail(GYRE_INVALID, "--timeout ends processes: not with --isolate none or "
                                       "--profile-time, which have none to end");
    if ((r->memory || r->instructions || r->method.latency) &&
        r->method.purpose == GYRE_PURPOSE_CHECK)
        return gyre_fail(GYRE_INVALID, "--test measures nothing: not with --memory, "
                                       "--instructions, --latency or --rate");
    r->timeout_ns = 60000000000 + r->method.measurement_ns / 4; /* a sample may be as long */
    status = gyre_given_time(&given, TIMEOUT, true, &r->timeout_ns);
    if (status == GYRE_OK)
        status = gyre_given_time(&given, COOLDOWN, true, &r->cooldown_ns);
    return status == GYRE_OK ? gyre_given_cpus(&given, PIN, &r->cpus, &r->pinned) : status;
}

static gyre_status read_keeping(const gyre_args *args, gyre_request *r)
{
    const bool strict = gyre_args_given(args, BASELINE);
    const bool lenient = gyre_args_given(args, BASELINE_LENIENT);

    r->folder =
        gyre_args_given(args, OUT) ? args->value[OUT] : gyre_settings_text(GYRE_SETTING_OUT);
    r->keep = r->method.purpose == GYRE_PURPOSE_TIME && !gyre_args_given(args, NO_SAVE);
    r->load = args->value[LOAD_BASELINE];
    if (strict + lenient + gyre_args_given(args, SAVE_BASELINE) > 1)
        return gyre_fail(GYRE_INVALID,
                         "--save-baseline, --baseline and --baseline-lenient name one "
                         "baseline each: give one of them");
    if (r->load && !strict && !lenient)
        return gyre_fail(GYRE_INVALID, "--load-baseline needs --baseline, which it is compared to");
    if (gyre_args_given(args, SAVE_BASELINE) &&
        (gyre_args_given(args, DISCARD_BASELINE) || gyre_args_given(args, NO_SAVE)))
        return gyre_fail(GYRE_INVALID, "--save-baseline and %s exclude each other",
                         gyre_args_given(args, NO_SAVE) ? "--no-save" : "--discard-baseline");
    r->compare_with = strict    ? args->value[BASELINE]
                      : lenient ? args->value[BASELINE_LENIENT]
                                : args->value[SAVE_BASELINE];
    r->lenient = !strict;
    if (r->method.purpose != GYRE_PURPOSE_TIME) {
        r->compare_with = NULL;
    } else if (!strict && !lenient && r->keep) {
        r->compare_with = r->compare_with ? r->compare_with : "base";
        if (!gyre_args_given(args, DISCARD_BASELINE))
            r->save = r->compare_with;
    }
    r->export_folder = args->value[EXPORT_CRITERION];
    r->targets = args->value[TARGETS];
    r->trace = args->value[TRACE];
    if (r->trace && (r->load || gyre_args_given(args, LIST)))
        return gyre_fail(GYRE_INVALID, "--trace records what is measured: not with %s",
                         r->load ? "--load-baseline" : "--list");
    return GYRE_OK;
}

static gyre_status read_printing(const gyre_args *args, gyre_request *r)
{
    const gyre_given given = {gyre_bench_options, args};

    r->list = gyre_args_given(args, LIST);
    r->terse = gyre_given_choice(&given, LIST_FORMAT) == 1;
    r->format = (gyre_format)gyre_given_choice(&given, OUTPUT_FORMAT);
    if (gyre_args_given(args, JSON)) {
        if (gyre_args_given(args, OUTPUT_FORMAT) && r->format != GYRE_FORMAT_JSON)
            return gyre_fail(GYRE_INVALID, "--json and --output-format %s exclude each other",
                             args->value[OUTPUT_FORMAT]);
        r->format = GYRE_FORMAT_JSON;
    }
    r->quiet = gyre_args_given(args, QUIET);
    r->detail = gyre_args_given(args, VERBOSE)             ? GYRE_DETAIL_VERBOSE
                : r->quiet || gyre_args_given(args, BRIEF) ? GYRE_DETAIL_BRIEF
                                                           : GYRE_DETAIL_USUAL;
    r->plots = r->keep && !gyre_args_given(args, NOPLOT);
    return GYRE_OK;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static gyre_status read_body(const char *text, gyre_behaviour_request *b)
{
    const size_t length = strlen(text);
    const size_t most = sizeof b->body - (b->payload_bytes ? 16 : 0);

    for (size_t i = 0; i < length && i < 2 * sizeof b->body; i++)
        if (digit(text[i]) < 0)
            return gyre_fail(GYRE_INVALID, "option '--body' takes hexadecimal digits, not '%.*s'",
                             gyre_text_cut(length), text);
    if (length % 2 != 0 || length > 2 * most)
        return gyre_fail(GYRE_INVALID,
                         "option '--body' takes two digits a byte, up to %zu bytes%s, and %zu "
                         "digits were given",
                         most, b->payload_bytes ? " behind a payload's address and size" : "",
                         length);
    for (size_t i = 0; i < length / 2; i++)
        b->body[i] = (unsigned char)(16 * digit(text[2 * i]) + digit(text[2 * i + 1]));
    b->body_bytes = length / 2;
    return GYRE_OK;
}

/* Calls of a behaviour are worth their percentiles, asked for or not. */
static gyre_status read_behaviour(const gyre_args *args, gyre_request *r)
{
    const gyre_given given = {gyre_bench_options, args};
    gyre_behaviour_request *b = &r->behaviour;
    size_t type = 1, seats = 0, threads = 0, shared = 0;
    const char *files[2];
    gyre_status status;

    b->file = args->value[BEHAVIOUR];
    if (gyre_args_values(args, BEHAVIOUR, files, 2) > 1)
        return gyre_fail(GYRE_INVALID, "--behaviour takes one file; measure one after the other");
    for (size_t row = TYPE; row <= THREADS; row++)
        if (!b->file && gyre_args_given(args, row))
            return gyre_fail(GYRE_INVALID, "%s goes with --behaviour",
                             gyre_bench_options[row].name);
    status =
        gyre_given_count(&given, TYPE, (gyre_range){0, 65279, "a number from 0 to 65279"}, &type);
    if (status == GYRE_OK)
        status = gyre_given_count(&given, SEATS, (gyre_range){1, 4096, "a number from 1 to 4096"},
                                  &seats);
    if (status == GYRE_OK)
        status = gyre_given_count(
            &given, THREADS, (gyre_range){32, 1024, "a multiple of 32 from 32 to 1024"}, &threads);
    if (status == GYRE_OK && threads % 32 != 0)
        status = gyre_fail(GYRE_INVALID,
                           "option '--threads' takes a multiple of 32 from 32 to 1024, not '%zu'",
                           threads);
    if (status == GYRE_OK)
        status = gyre_given_count(&given, PAYLOAD,
                                  (gyre_range){4, 1 << 28, "bytes, from 4 to 268435456"},
                                  &b->payload_bytes);
    if (status == GYRE_OK)
        status = gyre_given_count(&given, SHARED,
                                  (gyre_range){1, 1 << 20, "bytes, from 1 to 1048576"}, &shared);
    if (status == GYRE_OK && gyre_args_given(args, BODY))
        status = read_body(args->value[BODY], b);
    b->type = (uint16_t)type;
    b->shared_bytes = (uint32_t)shared;
    b->seats = (uint32_t)seats;
    b->threads = (uint32_t)threads;
    if (b->file && r->method.purpose == GYRE_PURPOSE_TIME)
        r->method.latency = true;
    return status;
}

gyre_status gyre_request_read(const gyre_args *args, gyre_request *out_request)
{
    gyre_request *r = out_request;
    gyre_status status;

    memset(r, 0, sizeof *r);
    r->quick = gyre_args_given(args, QUICK);
    if (r->quick) {
        r->method.sample_count = 30;
        r->method.warm_up_ns = 100000000;
        r->method.measurement_ns = 300000000;
    }
    r->own_times = gyre_args_given(args, WARM_UP_TIME) || gyre_args_given(args, MEASUREMENT_TIME);
    r->choice = (gyre_case_choice){
        .patterns = args->operands,
        .pattern_count = args->operand_count,
        .skip = r->skip,
        .skip_count = gyre_args_values(args, SKIP, r->skip, GYRE_FILTER_PATTERNS),
        .axes = r->axes,
        .axis_count = gyre_args_values(args, AXIS, r->axes, GYRE_FILTER_PATTERNS),
        .suite = args->value[SUITE],
        .exact = gyre_args_given(args, EXACT),
    };
    if (r->quick && r->choice.pattern_count == 0 && r->choice.skip_count < GYRE_FILTER_PATTERNS)
        r->skip[r->choice.skip_count++] = "tag:slow"; /* whoever names one wants it */
    status = read_method(args, r);
    if (status == GYRE_OK)
        status = read_running(args, r);
    if (status == GYRE_OK)
        status = read_keeping(args, r);
    if (status == GYRE_OK)
        status = read_printing(args, r);
    if (status == GYRE_OK)
        status = read_behaviour(args, r);
    r->method = gyre_method_defaults(&r->method);
    return status;
}

bool gyre_request_fit(gyre_request *request, size_t cases)
{
    /* what a case costs besides: its process, set-up, analysis */
    const double besides_ns = 5e7, budget_ns = request->quick ? 100e9 : 800e9;
    gyre_method *m = &request->method;
    const double each_ns = (double)m->warm_up_ns + (m->latency ? 2 : 1) * (double)m->measurement_ns;
    const double share_ns = fmax(budget_ns / (double)cases - besides_ns, 2e7);

    if (request->own_times || m->purpose != GYRE_PURPOSE_TIME || each_ns <= share_ns)
        return false;
    m->warm_up_ns = (uint64_t)((double)m->warm_up_ns * share_ns / each_ns);
    m->measurement_ns = (uint64_t)((double)m->measurement_ns * share_ns / each_ns);
    return true;
}
