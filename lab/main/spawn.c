/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn: see spawn.h.
 *
 * This program is started again by the words that started us, read back from the kernel, because a
 * main() may have changed those it passed on. Between fork and exec only calls that a signal
 * handler may make are made.
 */
#include "main/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/settings.h"
#include "bench/method.h"
#include "stat/random.h"

enum {
    MOST_WORDS = 4096, /* of a command line */
    CHUNK_BYTES = 65536,
    ORDER_BYTES = 192,
    PAD_BYTES = 4096, /* how far the environment moves the stack of a process that takes turns */
};

extern char **environ;

/* Command line and environment of the process to be; one allocation. */
typedef struct launch {
    char *text; /* our own command line, as the kernel has it */
    size_t text_size, text_used;
    char **argv;
    char **envp;
    size_t envp_size;
    char order[ORDER_BYTES + PAD_BYTES], preload[PATH_MAX], path[PATH_MAX];
} launch;

static void launch_fini(launch *l)
{
    gyre_free(NULL, l->text, 1, l->text_size);
    gyre_free(NULL, l->argv, MOST_WORDS, sizeof l->argv[0]);
    gyre_free(NULL, l->envp, l->envp_size, sizeof l->envp[0]);
}

/* Reads the whole of /proc/self/cmdline. */
static gyre_status read_command_line(launch *l)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    gyre_status status = GYRE_OK;
    size_t got;
    void *block;

    if (!file)
        return gyre_fail_native(GYRE_IO, errno, "cannot read /proc/self/cmdline: %s",
                                strerror(errno));
    for (l->text_size = CHUNK_BYTES;; l->text_size *= 2) {
        status = gyre_alloc(NULL, 1, l->text_size, &block);
        if (status != GYRE_OK)
            break;
        l->text = block;
        rewind(file);
        l->text_used = 0;
        while ((got = fread(l->text + l->text_used, 1, l->text_size - 1 - l->text_used, file)) > 0)
            l->text_used += got;
        if (l->text_used < l->text_size - 1)
            break;
        gyre_free(NULL, l->text, 1, l->text_size);
        l->text = NULL;
    }
    fclose(file);
    return status;
}

/* The words in front, then the program's; whoever is started by another is so by its path. */
static gyre_status arrange_words(launch *l, const gyre_worker_start *start)
{
    size_t count = 0, own;

    for (; start->in_front && start->in_front[count]; count++)
        memcpy(&l->argv[count], &start->in_front[count], sizeof l->argv[count]); /* not written */
    own = count;
    if (start->program) {
        for (size_t i = 0; i < start->program->count && count + 1 < MOST_WORDS; i++)
            l->argv[count++] = start->program->words[i];
    } else {
        char *word = l->text;

        for (; word < l->text + l->text_used && count + 1 < MOST_WORDS; word += strlen(word) + 1)
            l->argv[count++] = word;
    }
    if (count + 1 >= MOST_WORDS)
        return gyre_fail(GYRE_INVALID, "the command line has more than %d words", MOST_WORDS);
    if (start->in_front && own < count)
        l->argv[own] = l->path;
    return GYRE_OK;
}

static const char preload_name[] = "LD_PRELOAD=";

/* The order as a setting. A process that takes turns gets some blanks behind it, by the seed: the
 * environment lies above the stack and moves it. */
static void write_order(launch *l, const gyre_worker_order *order)
{
    const int used = snprintf(
        l->order, ORDER_BYTES, "%s=%d %d %u %" PRIu64 " %" PRIx64 " %zu %zu %d %d",
        gyre_settings_at(GYRE_SETTING_WORKER)->name, order->fd, order->parent, order->purpose,
        order->seed, order->ids_hash, order->first, order->count, order->baton_fd, order->side);
    gyre_stat_random random;
    size_t pad = 0;

    gyre_stat_random_seed(&random, order->seed);
    if (order->purpose == GYRE_PURPOSE_TURNS)
        pad = (size_t)(gyre_stat_random_next(&random) % PAD_BYTES);
    memset(l->order + used, ' ', pad);
    l->order[(size_t)used + pad] = '\0';
}

static gyre_status make_environment(launch *l, const gyre_worker_order *order, int preload_fd)
{
    const char *theirs = NULL; /* LD_PRELOAD of whoever started us: it stays, behind ours */
    size_t count = 0, kept = 0;
    gyre_status status;
    void *block;

    for (size_t i = 0; environ[i]; i++)
        if (strncmp(environ[i], preload_name, sizeof preload_name - 1) == 0)
            theirs = environ[i] + sizeof preload_name - 1;
    snprintf(l->preload, sizeof l->preload, "LD_PRELOAD=/proc/self/fd/%d%s%s", preload_fd,
             theirs ? ":" : "", theirs ? theirs : "");
    while (environ[count])
        count++;
    l->envp_size = count + 3;
    status = gyre_alloc(NULL, l->envp_size, sizeof l->envp[0], &block);
    if (status != GYRE_OK)
        return status;
    l->envp = block;
    for (size_t i = 0; i < count; i++)
        if (preload_fd == 0 || strncmp(environ[i], preload_name, sizeof preload_name - 1) != 0)
            l->envp[kept++] = environ[i];
    if (order)
        l->envp[kept++] = l->order;
    if (preload_fd > 0)
        l->envp[kept++] = l->preload;
    return GYRE_OK;
}

static gyre_status launch_init(launch *l, const gyre_worker_order *order,
                               const gyre_worker_start *start)
{
    gyre_status status = GYRE_OK;
    void *block;

    if (start->program) {
        snprintf(l->path, sizeof l->path, "%s", start->program->path);
    } else {
        const ssize_t length = readlink("/proc/self/exe", l->path, sizeof l->path - 1);

        if (length < 0)
            return gyre_fail_native(GYRE_IO, errno, "cannot read /proc/self/exe: %s",
                                    strerror(errno));
        l->path[length] = '\0';
    }
    status = gyre_alloc(NULL, MOST_WORDS, sizeof l->argv[0], &block);
    if (status != GYRE_OK)
        return status;
    l->argv = block;
    if (!start->program)
        status = read_command_line(l);
    if (status == GYRE_OK)
        status = arrange_words(l, start);
    if (!start->is_command)
        write_order(l, order);
    return status == GYRE_OK
               ? make_environment(l, start->is_command ? NULL : order, start->preload_fd)
               : status;
}

/* Where the program was started: its main() may have gone elsewhere, and would lose its way. */
static char started_in[PATH_MAX];

__attribute__((constructor)) static void remember_folder(void)
{
    if (!getcwd(started_in, sizeof started_in))
        started_in[0] = '\0';
}

/* What the supervisor has changed for itself. */
static const int to_default[] = {SIGPIPE, SIGCHLD};

/* In the child, up to exec. Does not return. */
static void become(const launch *l, const gyre_worker_order *order, const gyre_worker_start *start,
                   int output)
{
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    for (size_t i = 0; i < sizeof to_default / sizeof to_default[0]; i++)
        signal(to_default[i], SIG_DFL); /* as a program expects to find them */
    if (started_in[0])
        (void)!chdir(started_in);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != order->parent)
        _exit(1);
    if (start->cpus) {
        cpu_set_t cpus;

        CPU_ZERO(&cpus);
        for (uint32_t i = 0; i < CPU_SETSIZE && i < GYRE_CPU_LIMIT; i++)
            if (gyre_cpu_set_has(start->cpus, i))
                CPU_SET(i, &cpus);
        if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
            dprintf(output, "cannot run on these CPUs: %s\n", strerror(errno));
            _exit(GYRE_SPAWN_FAILED);
        }
    }
    dup2(null, STDIN_FILENO);
    dup2(start->is_command ? open("/dev/null", O_WRONLY | O_CLOEXEC) : output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (!start->is_command)
        fcntl(order->fd, F_SETFD, 0);
    if (start->preload_fd > 0)
        fcntl(start->preload_fd, F_SETFD, 0);
    if (order->baton_fd >= 0)
        fcntl(order->baton_fd, F_SETFD, 0);
    if (start->in_front)
        execvpe(l->argv[0], l->argv, l->envp);
    else if (start->program)
        execve(l->path, l->argv, l->envp);
    else
        execve("/proc/self/exe", l->argv, l->envp);
    dprintf(STDERR_FILENO, "cannot start '%s': %s\n", start->in_front ? l->argv[0] : l->path,
            strerror(errno));
    _exit(GYRE_SPAWN_FAILED);
}

gyre_status gyre_spawn(const gyre_worker_order *order, const gyre_worker_start *start, int output,
                       pid_t *out_pid)
{
    launch l = {0};
    gyre_status status = launch_init(&l, order, start);

    *out_pid = -1;
    if (status == GYRE_OK) {
        fflush(NULL); /* or the child's exit would print it again */
        *out_pid = fork();
        if (*out_pid == 0)
            become(&l, order, start, output);
        if (*out_pid < 0)
            status =
                gyre_fail_native(GYRE_IO, errno, "cannot start a process: %s", strerror(errno));
        else
            setpgid(*out_pid, *out_pid); /* both do it, so that neither is too late */
    }
    launch_fini(&l);
    return status;
}

gyre_status gyre_worker_order_parse(const char *text, gyre_worker_order *out_order)
{
    gyre_worker_order order;
    char rest;

    *out_order = (gyre_worker_order){0};
    if (sscanf(text, "%d %d %u %" SCNu64 " %" SCNx64 " %zu %zu %d %d %c", &order.fd, &order.parent,
               &order.purpose, &order.seed, &order.ids_hash, &order.first, &order.count,
               &order.baton_fd, &order.side, &rest) != 9)
        return gyre_fail(GYRE_INVALID, "GYRE_WORKER is set by Gyre, not by people; unset it");
    *out_order = order;
    return GYRE_OK;
}
