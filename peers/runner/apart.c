/* SPDX-License-Identifier: Apache-2.0
 *
 * apart: see apart.h.
 *
 * Lines: `way INDEX COUNT STOLEN UNSTEADY SENT LOST`, `sample INDEX CLASS NS PINGPONG`,
 * `problem INDEX TEXT`, `spin SETTING`, `rounds COUNT`.
 */
#include "peers/runner/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/settings.h"

volatile pid_t peers_apart_child;
const char peers_apart_word[] = "--apart";

void peers_apart_send(FILE *stream, const peers_result *results, size_t count, size_t rounds)
{
    for (size_t i = 0; i < count; i++) {
        const peers_result *result = &results[i];

        fprintf(stream, "way %zu %" PRIu64 " %zu %zu %" PRIu64 " %" PRIu64 "\n", i, result->count,
                result->stolen, result->unsteady, result->sent, result->lost);
        if (result->problem[0])
            fprintf(stream, "problem %zu %s\n", i, result->problem);
        for (int c = 0; c < PEERS_CLASSES; c++)
            for (size_t k = 0; k < result->series[c].count; k++)
                fprintf(stream, "sample %zu %d %.17g %.17g\n", i, c, result->series[c].ns[k],
                        result->series[c].pingpong_ns[k]);
    }
    fprintf(stream, "spin %s\nrounds %zu\n", gyre_settings_text(GYRE_SETTING_SPIN), rounds);
}

static bool take_way(const char *line, peers_result *results, size_t count)
{
    size_t index, stolen, unsteady;
    uint64_t items, sent, lost;

    if (sscanf(line, "way %zu %" SCNu64 " %zu %zu %" SCNu64 " %" SCNu64, &index, &items, &stolen,
               &unsteady, &sent, &lost) != 6 ||
        index >= count)
        return false;
    results[index].count = items;
    results[index].stolen = stolen;
    results[index].unsteady = unsteady;
    results[index].sent = sent;
    results[index].lost = lost;
    return true;
}

static bool take_sample(const char *line, peers_result *results, size_t count)
{
    size_t index, class_;
    double ns, pingpong_ns;
    peers_series *series;

    if (sscanf(line, "sample %zu %zu %lf %lf", &index, &class_, &ns, &pingpong_ns) != 4 ||
        index >= count || class_ >= PEERS_CLASSES)
        return false;
    series = &results[index].series[class_];
    if (series->count == PEERS_SAMPLES)
        return false;
    series->ns[series->count] = ns;
    series->pingpong_ns[series->count++] = pingpong_ns;
    return true;
}

bool peers_apart_take(const char *line, peers_result *results, size_t count, peers_apart_news *news)
{
    size_t index;
    int at = 0;

    if (strncmp(line, "way ", 4) == 0)
        return take_way(line, results, count);
    if (strncmp(line, "sample ", 7) == 0)
        return take_sample(line, results, count);
    if (strncmp(line, "rounds ", 7) == 0)
        return sscanf(line, "rounds %zu", &news->rounds) == 1;
    if (strncmp(line, "spin ", 5) == 0) {
        news->sleeps = strcmp(line, "spin 0\n") == 0;
        return true;
    }
    if (sscanf(line, "problem %zu %n", &index, &at) != 1 || at == 0 || index >= count)
        return false;
    snprintf(results[index].problem, sizeof results[index].problem, "%.*s",
             (int)strcspn(line + at, "\n"), line + at);
    return true;
}

static gyre_status start(const peers_measuring *how, uint32_t group, int *out_read, pid_t *out_pid)
{
    const char *mode = how->once ? "once" : how->quick ? "quick" : "full";
    posix_spawn_file_actions_t actions;
    char seed[24], number[16];
    gyre_stat_random random = how->random;
    int ends[2], error;

    snprintf(seed, sizeof seed, "%" PRIu64, gyre_stat_random_next(&random));
    snprintf(number, sizeof number, "%" PRIu32, group);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return gyre_fail_native(GYRE_IO, errno, "cannot make a pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    {
        char word[16], own[16], *argv[] = {own, word, seed, NULL, number, NULL};
        char text[8];

        snprintf(own, sizeof own, "peers");
        snprintf(word, sizeof word, "%s", peers_apart_word);
        snprintf(text, sizeof text, "%s", mode);
        argv[3] = text;
        error = posix_spawn(out_pid, "/proc/self/exe", &actions, NULL, argv, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        return gyre_fail_native(GYRE_IO, error, "cannot start this program again: %s",
                                strerror(error));
    }
    *out_read = ends[0];
    return GYRE_OK;
}

gyre_status peers_apart_measure(const peers_measuring *how, peers_result *results, size_t count,
                                size_t *out_rounds)
{
    char line[512];
    peers_apart_news news = {0};
    bool sense = true;
    gyre_status status;
    int from = -1, code = 0;
    FILE *stream;
    pid_t pid = 0;

    *out_rounds = 0;
    status = start(how, results[0].work->group, &from, &pid);
    if (status != GYRE_OK)
        return status;
    peers_apart_child = pid;
    stream = fdopen(from, "r");
    while (stream && fgets(line, sizeof line, stream))
        sense = peers_apart_take(line, results, count, &news) && sense;
    if (stream)
        fclose(stream);
    else
        close(from);
    while (waitpid(pid, &code, 0) < 0 && errno == EINTR)
        ;
    peers_apart_child = 0;
    *out_rounds = news.rounds;
    if (*how->interrupted || (sense && news.sleeps && WIFEXITED(code) && WEXITSTATUS(code) == 0))
        return GYRE_OK;
    return gyre_fail(GYRE_IO, "the process that measures %s ended with status %d",
                     results[0].work->id, WIFEXITED(code) ? WEXITSTATUS(code) : 128);
}
