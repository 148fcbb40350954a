/* SPDX-License-Identifier: Apache-2.0
 *
 * troupe: see troupe.h.
 */
#include "suites/troupe.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/clock.h"

enum {
    CELLS = 64, /* of tally_quad for each sender */
    /* types of tally_block, all whose seats are asked by one call */
    TALLY_BLOCK_BEGIN = 0x100,
    TALLY_BLOCK_READ = 0x101,
};

/* The device that all open troupes share. */
static struct {
    gyre_bench_device device;
    uint32_t holders;
} shared;

static gyre_status hold_device(gyre_troupe *troupe, const gyre_bench_case *c)
{
    const gyre_context_options options = {.struct_size = sizeof options, .workers = 1};
    gyre_status status = GYRE_OK;

    if (shared.holders == 0)
        status = gyre_bench_device_open(&shared.device, c, &options);
    else if (strcmp(shared.device.device->backend, gyre_bench_device_word(c)) != 0)
        status = gyre_bench_refuse(GYRE_INVALID, "%s is in use by the case beside it",
                                   shared.device.device->name);
    if (status != GYRE_OK)
        return status;
    shared.holders++;
    troupe->device = &shared.device;
    return GYRE_OK;
}

void gyre_troupe_close(gyre_troupe *troupe)
{
    for (uint32_t i = 0; i < troupe->count; i++) {
        for (uint32_t p = 0; p < GYRE_TROUPE_PORTS; p++)
            gyre_port_close(troupe->port[i][p]);
        gyre_actor_destroy(troupe->actor[i]);
    }
    if (troupe->device && --shared.holders == 0)
        gyre_bench_device_close(&shared.device);
    gyre_partner_stop(&troupe->cpus);
    memset(troupe, 0, sizeof *troupe);
}

static bool is_cpu(const gyre_troupe *troupe)
{
    return strcmp(troupe->device->device->backend, "cpu") == 0;
}

/* Its own backend, or OpenCL's. */
static bool spins_on_cpus(const gyre_troupe *troupe)
{
    return troupe->device->device->kind == GYRE_DEVICE_CPU;
}

/* So many that the last is refused: a unit has room for one, or for more of which it counts one. */
static uint32_t one_too_many(const gyre_troupe *troupe)
{
    const uint32_t units = troupe->device->device->units;

    return units < GYRE_TROUPE_MOST ? units + 1 : GYRE_TROUPE_MOST;
}

/* Whether there are CPUs for all that spin. One actor may share: two threads that have to wait for
 * each other get on somehow, and gyre_troupe_tell says so. */
static gyre_status count_cpus(const gyre_troupe *troupe, const gyre_troupe_options *options,
                              uint32_t *out_most)
{
    const uint32_t cpus = troupe->cpus.cpu_count;
    uint32_t seats = options->launch.seats ? options->launch.seats : 1;

    *out_most = options->actors ? options->actors : one_too_many(troupe);
    if (!spins_on_cpus(troupe))
        return GYRE_OK;
    if (options->actors == 0)
        *out_most = cpus > 1 ? cpus - 1 : 1;
    seats *= *out_most;
    if (seats > 1 && seats + troupe->threads > cpus)
        return gyre_bench_refuse(GYRE_UNSUPPORTED,
                                 "%u threads of actors and %u of the host spin, on %u CPUs", seats,
                                 troupe->threads, cpus);
    return GYRE_OK;
}

/* A thread runs where the one that starts it may. */
static gyre_status place_next(const gyre_troupe *troupe, uint32_t index)
{
    const uint32_t cpus = troupe->cpus.cpu_count;

    return gyre_thread_pin_self(&troupe->cpus.cpus[cpus - 1 - index % cpus], 1);
}

/* The seats of a crew are started at once. */
static gyre_status place_crew(const gyre_troupe *troupe, uint32_t seats)
{
    const uint32_t cpus = troupe->cpus.cpu_count;

    return gyre_thread_pin_self(&troupe->cpus.cpus[cpus - seats], seats);
}

static gyre_status place_host(const gyre_troupe *troupe, uint32_t seats)
{
    const uint32_t cpus = troupe->cpus.cpu_count;

    if (troupe->threads == 1 || cpus <= seats)
        return gyre_thread_pin_self(troupe->cpus.cpus, 1);
    return gyre_thread_pin_self(troupe->cpus.cpus, cpus - seats);
}

/* All of them before the first is resident: a kernel is loaded when none is, and loading one later
 * would park the others each time. */
static gyre_status create_all(gyre_troupe *troupe, const gyre_behaviour *behaviour, uint32_t most)
{
    gyre_status status = GYRE_OK;

    while (status == GYRE_OK && troupe->count < most) {
        status = gyre_actor_create(troupe->device->context, behaviour, NULL,
                                   &troupe->actor[troupe->count]);
        troupe->count += status == GYRE_OK;
    }
    return status;
}

static gyre_status launch_one(gyre_troupe *troupe, const gyre_troupe_options *options,
                              uint32_t index)
{
    gyre_actor_launch_options launch = options->launch;
    gyre_status status;

    launch.struct_size = sizeof launch;
    launch.ports = troupe->threads;
    status = gyre_actor_launch(troupe->actor[index], &launch);
    for (uint32_t p = 0; status == GYRE_OK && p < troupe->threads; p++)
        status = gyre_port_open(troupe->actor[index], NULL, &troupe->port[index][p]);
    return status;
}

/* Those from `index` on did not fit. */
static void drop_from(gyre_troupe *troupe, uint32_t index)
{
    while (troupe->count > index) {
        gyre_actor_destroy(troupe->actor[--troupe->count]);
        troupe->actor[troupe->count] = NULL;
    }
}

static gyre_status launch_all(gyre_troupe *troupe, const gyre_troupe_options *options)
{
    const bool placed = is_cpu(troupe) && !options->unplaced;
    const uint32_t seats = options->launch.seats ? options->launch.seats : 1;
    gyre_status status = GYRE_OK;
    uint32_t launched = 0;

    while (status == GYRE_OK && launched < troupe->count) {
        if (placed)
            status = seats > 1 ? place_crew(troupe, seats) : place_next(troupe, launched);
        if (status == GYRE_OK)
            status = launch_one(troupe, options, launched);
        launched += status == GYRE_OK;
    }
    if (status == GYRE_NO_MEMORY && options->actors == 0 && launched > 0) {
        drop_from(troupe, launched);
        status = GYRE_OK;
    }
    if (status == GYRE_NO_MEMORY) {
        const gyre_error why = *gyre_error_last(); /* which the refusal replaces */

        return gyre_bench_refuse(GYRE_UNSUPPORTED, "%s", why.text);
    }
    if (status == GYRE_OK && spins_on_cpus(troupe) && !options->unplaced)
        status = place_host(troupe, seats * troupe->count);
    return status;
}

gyre_status gyre_troupe_open(gyre_troupe *troupe, const gyre_bench_case *c,
                             const gyre_troupe_options *options)
{
    uint32_t most = 0;
    gyre_status status;

    memset(troupe, 0, sizeof *troupe);
    troupe->threads = options->threads ? options->threads : 1;
    if (troupe->threads > GYRE_TROUPE_PORTS || options->actors > GYRE_TROUPE_MOST)
        return gyre_bench_refuse(GYRE_INVALID, "%u threads and %u actors: at most %d and %d",
                                 troupe->threads, options->actors, GYRE_TROUPE_PORTS,
                                 GYRE_TROUPE_MOST);
    status = gyre_partner_find_cpus(&troupe->cpus);
    if (status == GYRE_OK)
        status = hold_device(troupe, c);
    if (status == GYRE_OK)
        status = count_cpus(troupe, options, &most);
    if (status == GYRE_OK)
        status = create_all(troupe, options->behaviour, most);
    if (status == GYRE_OK)
        status = launch_all(troupe, options);
    if (status != GYRE_OK)
        gyre_troupe_close(troupe); /* accepts a half-built one */
    return status;
}

void gyre_troupe_tell(const gyre_troupe *troupe, gyre_bench_facts *facts)
{
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};

    gyre_bench_device_tell(troupe->device, facts);
    gyre_bench_count(facts, "actors", troupe->count);
    gyre_bench_count(facts, "host_threads", troupe->threads);
    if (gyre_actor_describe(troupe->actor[0], &statistics) != GYRE_OK)
        return;
    gyre_bench_count(facts, "seats", statistics.seats);
    gyre_bench_count(facts, "replicas", statistics.replicas);
    if (statistics.scheme)
        gyre_bench_note(facts, "scheme", statistics.scheme);
    if (spins_on_cpus(troupe) &&
        statistics.seats * troupe->count + troupe->threads > troupe->cpus.cpu_count)
        gyre_bench_note(facts, "threads", "more that spin than CPUs: the scheduler is measured");
}

gyre_status gyre_troupe_replicas(const gyre_bench_case *c, const gyre_behaviour *behaviour,
                                 uint32_t *out_replicas)
{
    const gyre_troupe_options options = {
        .behaviour = behaviour, .actors = 1, .launch = {.bells = GYRE_ACTOR_BELLS_INSIDE}};
    gyre_actor_statistics statistics = {.struct_size = sizeof statistics};
    gyre_troupe troupe;
    gyre_status status = gyre_troupe_open(&troupe, c, &options);

    *out_replicas = 0;
    if (status != GYRE_OK)
        return status;
    status = gyre_actor_describe(troupe.actor[0], &statistics);
    *out_replicas = statistics.replicas;
    gyre_troupe_close(&troupe);
    return status;
}

uint32_t gyre_troupe_threads(const gyre_bench_case *c)
{
    const int64_t threads = gyre_bench_axis(c, "threads");

    return threads > 0 && threads <= GYRE_TROUPE_PORTS ? (uint32_t)threads : 1;
}

static void add_up(gyre_tally *tally, const uint32_t *words)
{
    tally->count += words[0];
    tally->sum += words[1];
    tally->mix ^= (uint64_t)words[3] << 32 | words[2];
}

gyre_status gyre_tally_read(gyre_actor *actor, uint32_t sender, gyre_tally *out_tally)
{
    uint32_t cell[GYRE_TROUPE_PORTS][CELLS][4];
    const gyre_status status = gyre_actor_read_state(actor, cell, sizeof cell);

    *out_tally = (gyre_tally){0};
    for (int i = 0; status == GYRE_OK && i < CELLS; i++)
        add_up(out_tally, cell[sender][i]);
    return status;
}

/* Has each seat of tally_block do the same, and adds up what they have. */
static gyre_status ask_blocks(gyre_port *port, uint16_t type, uint32_t seats, gyre_tally *out_tally)
{
    gyre_brief messages[GYRE_TALLY_SEATS], answers[GYRE_TALLY_SEATS];
    uint64_t heard = 0;
    gyre_status status;

    *out_tally = (gyre_tally){0};
    for (uint32_t i = 0; i < seats; i++)
        messages[i] = (gyre_brief){.type = type};
    status = gyre_port_call_many(port, messages, answers, seats,
                                 gyre_clock_after_ns(GYRE_TROUPE_PATIENCE_NS));
    for (uint32_t i = 0; status == GYRE_OK && i < seats; i++) {
        const uint32_t *const words = answers[i].body.words;

        add_up(out_tally, words);
        out_tally->early += words[5];
        heard |= UINT64_C(1) << (words[6] % GYRE_TALLY_SEATS);
    }
    if (status == GYRE_OK && __builtin_popcountll(heard) != (int)seats)
        status = gyre_bench_refuse(GYRE_CORRUPT, "%d of %u seats told what they have",
                                   __builtin_popcountll(heard), seats);
    return status;
}

gyre_status gyre_tally_begin_block(gyre_port *port, uint32_t seats)
{
    gyre_tally none;

    return ask_blocks(port, TALLY_BLOCK_BEGIN, seats, &none);
}

gyre_status gyre_tally_read_block(gyre_port *port, uint32_t seats, gyre_tally *out_tally)
{
    return ask_blocks(port, TALLY_BLOCK_READ, seats, out_tally);
}

bool gyre_tally_is(const gyre_tally *tally, const gyre_sent *sent)
{
    return tally->count == sent->count && tally->sum == (uint32_t)sent->sum &&
           tally->mix == sent->mix && tally->early == 0;
}
