/* SPDX-License-Identifier: Apache-2.0
 *
 * ab_write: a measurement of two versions as JSON, member by member in the order of
 * docs/formats/ab.md.
 *
 * What is written is what record/ab_read.c reads, to the last bit: no null, no whole number of
 * 2^63 or more, and what has no end (an interval from one launch) is left out.
 *
 * Threads   one.
 * Owns      nothing.
 * Not here  the head (record/head.h), replacing a file (record/file.h).
 */

#include "record/ab.h"
#include "record/file.h"
#include "record/head.h"
#include "record/member.h"

static void write_side(gyre_json *json, const char *key, const gyre_ab_side *side)
{
    gyre_json_begin_object(json, key);
    gyre_member_text(json, "command", side->command);
    gyre_member_text(json, "path", side->path);
    gyre_member_count(json, "bytes", side->program_bytes);
    gyre_member_bits(json, "hash", side->program_hash);
    gyre_json_end(json);
}

static void write_texts(gyre_json *json, const char *key, const char *const *texts, size_t count)
{
    gyre_json_begin_array(json, key);
    for (size_t i = 0; i < count; i++)
        gyre_member_text(json, NULL, texts[i]);
    gyre_json_end(json);
}

static void write_times(gyre_json *json, const char *key, const double *times_ns, size_t count)
{
    gyre_json_begin_array(json, key);
    for (size_t i = 0; i < count; i++)
        gyre_json_double(json, NULL, times_ns[i]);
    gyre_json_end(json);
}

static void write_launch(gyre_json *json, const gyre_ab_launch *launch)
{
    gyre_json_begin_object(json, NULL);
    gyre_member_bits(json, "seed", launch->seed);
    gyre_member_count(json, "iterations", launch->iterations);
    if (launch->cpu >= 0)
        gyre_member_count(json, "cpu", (uint64_t)launch->cpu);
    if (launch->steal_ticks > 0)
        gyre_member_count(json, "steal_ticks", launch->steal_ticks);
    gyre_member_text(json, "order", launch->order);
    write_times(json, "old_ns", launch->old_ns, launch->pairs);
    write_times(json, "new_ns", launch->new_ns, launch->pairs);
    gyre_json_end(json);
}

static void write_counts(gyre_json *json, const gyre_ab_bench *bench)
{
    bool some = false;

    for (int i = 0; i < GYRE_AB_COUNTS; i++)
        some |= bench->counts[i].known;
    if (!some)
        return;
    gyre_json_begin_object(json, "counts");
    for (int i = 0; i < GYRE_AB_COUNTS; i++) {
        const double both[] = {bench->counts[i].old_value, bench->counts[i].new_value};

        if (bench->counts[i].known)
            write_times(json, gyre_ab_counted_name((gyre_ab_counted)i), both, 2);
    }
    gyre_json_end(json);
}

static void write_judgement(gyre_json *json, const gyre_judgement *judgement)
{
    gyre_json_begin_object(json, "judgement");
    gyre_json_string(json, "verdict", gyre_ab_verdict_name(judgement->verdict));
    gyre_member_count(json, "launches", judgement->launches);
    gyre_json_double(json, "change", judgement->change);
    gyre_json_double(json, "low", judgement->low);
    gyre_member_finite(json, "high", judgement->high);
    gyre_json_double(json, "hodges_lehmann", judgement->hodges_lehmann);
    gyre_json_double(json, "sd", judgement->sd);
    gyre_member_finite(json, "mde", judgement->mde);
    gyre_json_double(json, "p_slower", judgement->p_slower);
    gyre_json_double(json, "p_faster", judgement->p_faster);
    gyre_json_double(json, "p_equivalent", judgement->p_equivalent);
    gyre_json_end(json);
}

static void write_bench(gyre_json *json, const gyre_ab_bench *bench)
{
    gyre_json_begin_object(json, NULL);
    gyre_member_text(json, "id", bench->id);
    gyre_member_text(json, "clock", bench->clock);
    gyre_member_count(json, "threads", bench->threads);
    gyre_json_string(json, "outcome", gyre_outcome_name(bench->outcome));
    if (bench->side >= 0)
        gyre_json_string(json, "side", bench->side == 0 ? "old" : "new");
    gyre_member_some(json, "reason", bench->reason);
    gyre_member_some(json, "last_words", bench->last_words);
    if (bench->warning_count > 0)
        write_texts(json, "warnings", bench->warnings, bench->warning_count);
    gyre_json_double(json, "spent_s", bench->spent_s);
    write_counts(json, bench);
    if (bench->outcome == GYRE_OUTCOME_MEASURED)
        write_judgement(json, &bench->judgement);
    gyre_json_begin_array(json, "launches");
    for (size_t i = 0; i < bench->launch_count; i++)
        write_launch(json, &bench->launches[i]);
    gyre_json_end(json);
    gyre_json_end(json);
}

void gyre_ab_write(const gyre_ab *ab, FILE *stream)
{
    gyre_json json = {.stream = stream};

    gyre_json_begin_object(&json, NULL);
    gyre_json_string(&json, "schema", "gyre.ab/1");
    gyre_head_write_start(&json, ab->head);
    gyre_head_write_place(&json, ab->head);
    write_side(&json, "old", &ab->sides[0]);
    write_side(&json, "new", &ab->sides[1]);
    gyre_json_bool(&json, "lock_step", ab->lock_step);
    gyre_json_bool(&json, "again", ab->again);
    gyre_member_bits(&json, "seed", ab->seed);
    gyre_json_begin_object(&json, "rule");
    gyre_json_double(&json, "margin", ab->rule.margin);
    gyre_json_double(&json, "alpha", ab->rule.alpha);
    gyre_json_end(&json);
    gyre_json_begin_array(&json, "benchmarks");
    for (size_t i = 0; i < ab->count; i++)
        write_bench(&json, &ab->benches[i]);
    gyre_json_end(&json);
    write_texts(&json, "only_old", ab->only_old, ab->only_old_count);
    write_texts(&json, "only_new", ab->only_new, ab->only_new_count);
    gyre_json_end(&json);
}

static void write_to(FILE *stream, const void *ab)
{
    gyre_ab_write(ab, stream);
}

gyre_status gyre_ab_save(const gyre_ab *ab, const char *path)
{
    return gyre_file_replace(path, write_to, ab);
}
