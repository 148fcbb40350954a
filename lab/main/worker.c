/* SPDX-License-Identifier: Apache-2.0
 *
 * worker: see worker.h.
 *
 * This program is started again by the words that started us, read back from the kernel, because a
 * main() may have changed those it passed on. Between fork and exec only calls that a signal
 * handler may make are made.
 */
#include "main/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/settings.h"
#include "base/text.h"
#include "gyre/clock.h"
#include "report/quantity.h"
#include "stat/random.h"

enum {
    TICK_MS = 100,
    GRACE_NS = 2000000000, /* from asking it to stop to ending it */
    MOST_WORDS = 4096,     /* of a command line */
    CHUNK_BYTES = 65536,
    MOST_CHUNKS = 64, /* read after its end: pipes hold less */
    MESSAGE_FD = 200, /* where nobody who counts from 3 will stumble over it */
    LAST_WORDS_LINES = 12,
    CANNOT_START = 127, /* exit status, with the reason as the last words */
    ORDER_BYTES = 192,
    PAD_BYTES = 4096, /* how far the environment moves the stack of a process that takes turns */
    MOST_WORKERS = 2, /* to be waited for at once */
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
static void become(const launch *l, const gyre_worker_start *start, int messages, int output,
                   pid_t parent)
{
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    for (size_t i = 0; i < sizeof to_default / sizeof to_default[0]; i++)
        signal(to_default[i], SIG_DFL); /* as a program expects to find them */
    if (started_in[0])
        (void)!chdir(started_in);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (start->cpus) {
        cpu_set_t cpus;

        CPU_ZERO(&cpus);
        for (uint32_t i = 0; i < CPU_SETSIZE && i < GYRE_CPU_LIMIT; i++)
            if (gyre_cpu_set_has(start->cpus, i))
                CPU_SET(i, &cpus);
        sched_setaffinity(0, sizeof cpus, &cpus);
    }
    dup2(null, STDIN_FILENO);
    dup2(start->is_command ? open("/dev/null", O_WRONLY | O_CLOEXEC) : output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    fcntl(messages, F_SETFD, 0);
    if (start->preload_fd > 0)
        fcntl(start->preload_fd, F_SETFD, 0);
    if (start->baton_fd > 0)
        fcntl(start->baton_fd, F_SETFD, 0);
    if (start->in_front)
        execvpe(l->argv[0], l->argv, l->envp);
    else if (start->program)
        execve(l->path, l->argv, l->envp);
    else
        execve("/proc/self/exe", l->argv, l->envp);
    dprintf(STDERR_FILENO, "cannot start '%s': %s\n", start->in_front ? l->argv[0] : l->path,
            strerror(errno));
    _exit(CANNOT_START);
}

/* Gives the descriptor a higher number, where there is one. */
static void move_up(int *fd)
{
    const int high = fcntl(*fd, F_DUPFD_CLOEXEC, MESSAGE_FD);

    if (high >= 0) {
        close(*fd);
        *fd = high;
    }
}

gyre_status gyre_worker_init(gyre_worker *worker, const gyre_worker_order *order,
                             const gyre_worker_start *start)
{
    int messages[2] = {-1, -1}, output[2] = {-1, -1};
    gyre_worker_order given = *order;
    const pid_t parent = getpid();
    launch l = {0};
    gyre_status status;

    *worker = (gyre_worker){.pid = -1, .messages = -1, .output = -1, .end_fd = -1};
    worker->timeout_ns = start->timeout_ns;
    worker->echo = start->echo;
    worker->tick = start->tick;
    worker->user = start->user;
    worker->heard_ns = gyre_clock_now_ns();
    if (pipe2(messages, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) {
        status = gyre_fail_native(GYRE_IO, errno, "cannot make a pipe: %s", strerror(errno));
        goto done;
    }
    move_up(&messages[1]);
    given.fd = messages[1];
    given.parent = parent;
    status = launch_init(&l, &given, start);
    if (status != GYRE_OK)
        goto done;
    fflush(NULL); /* or the child's exit would print it again */
    worker->pid = fork();
    if (worker->pid == 0)
        become(&l, start, messages[1], output[1], parent);
    if (worker->pid < 0) {
        status = gyre_fail_native(GYRE_IO, errno, "cannot start a process: %s", strerror(errno));
        goto done;
    }
    setpgid(worker->pid, worker->pid); /* both do it, so that neither is too late */
    worker->messages = messages[0];
    worker->output = output[0];
    worker->end_fd = (int)syscall(SYS_pidfd_open, worker->pid, 0);
    messages[0] = output[0] = -1;
    fcntl(worker->output, F_SETFL, O_NONBLOCK);
    fcntl(worker->messages, F_SETFL, O_NONBLOCK);
done:
    for (int i = 0; i < 2; i++) {
        if (messages[i] >= 0)
            close(messages[i]);
        if (output[i] >= 0)
            close(output[i]);
    }
    launch_fini(&l);
    return status;
}

/* Reads what there is, for at most a chunk; false when the other side has closed. */
static bool drain(int fd, char *chunk, ssize_t *out_length)
{
    do
        *out_length = read(fd, chunk, CHUNK_BYTES);
    while (*out_length < 0 && errno == EINTR);
    return *out_length > 0 || (*out_length < 0 && errno == EAGAIN);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void listen_to_output(gyre_worker *worker, char *chunk)
{
    ssize_t length;

    if (worker->output < 0)
        return;
    if (!drain(worker->output, chunk, &length))
        close_fd(&worker->output);
    if (length > 0 && worker->echo)
        worker->echo(worker->user, chunk, (size_t)length);
    for (ssize_t i = 0; i < length; i++)
        worker->words[worker->printed_bytes++ % sizeof worker->words] = chunk[i];
}

/* Whether the process has ended; its status is noted and it stays a zombie, so that its group's
 * number is not given to others before the group is ended. */
static bool has_ended(gyre_worker *worker)
{
    siginfo_t info = {0};

    if (worker->ended || worker->pid < 0)
        return true;
    if (waitid(P_PID, (id_t)worker->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return errno == ECHILD; /* somebody else has reaped it */
    return info.si_pid == worker->pid;
}

static void end(gyre_worker *worker)
{
    char chunk[CHUNK_BYTES];

    if (worker->pid < 0 || worker->ended)
        return;
    kill(-worker->pid, SIGKILL); /* the group: what it has started goes too */
    kill(worker->pid, SIGKILL);  /* and itself, should it have left its group */
    while (waitpid(worker->pid, &worker->status, 0) < 0 && errno == EINTR)
        continue;
    worker->ended = true;
    /* what was printed before the end is in the pipe; a stranger may hold it open, so not until it
     * closes */
    for (int i = 0; i < MOST_CHUNKS; i++) {
        const uint64_t before = worker->printed_bytes;

        listen_to_output(worker, chunk);
        if (worker->printed_bytes == before)
            break;
    }
}

/* Ends it when it has been silent for too long, or does not stop when asked to. */
static void lose_patience(gyre_worker *worker, int interrupts)
{
    const uint64_t now_ns = gyre_clock_now_ns();

    if (interrupts > 0 && worker->interrupted_ns == 0) {
        worker->interrupted_ns = now_ns;
        kill(worker->pid, SIGINT);
    }
    if (worker->interrupted_ns > 0 &&
        (interrupts > 1 || now_ns - worker->interrupted_ns > GRACE_NS)) {
        worker->gave_up = true;
        end(worker);
    } else if (worker->timeout_ns > 0 && now_ns - worker->heard_ns > worker->timeout_ns) {
        worker->timed_out = true;
        end(worker);
    }
}

/* Its pipe is silent, and so it will stay: it has ended, or hung up. Whether that was the end. */
static bool see_the_end(gyre_worker *worker, bool over, int interrupts)
{
    worker->hung_up = true;
    if (!over && !has_ended(worker)) { /* it closed the pipe and lives on */
        lose_patience(worker, interrupts);
        if (!worker->ended)
            return false;
    }
    end(worker);
    close_fd(&worker->messages);
    return true;
}

gyre_status gyre_worker_look(gyre_worker *worker, const volatile sig_atomic_t *interrupted,
                             gyre_message *out_message)
{
    char chunk[CHUNK_BYTES];

    for (;;) {
        gyre_status status = gyre_message_next(&worker->reader, out_message);
        bool over, open;
        ssize_t length = 0;

        if (status != GYRE_AGAIN) {
            worker->heard_ns = gyre_clock_now_ns();
            return status;
        }
        if (worker->messages < 0)
            return GYRE_CLOSED;
        over = has_ended(worker); /* asked before reading: then nothing more can come */
        listen_to_output(worker, chunk);
        open = drain(worker->messages, chunk, &length);
        if (length > 0) {
            status = gyre_message_feed(&worker->reader, chunk, (size_t)length);
            if (status != GYRE_OK)
                return status;
        } else if (over || !open) {
            if (!see_the_end(worker, over, *interrupted))
                return GYRE_AGAIN;
        } else {
            lose_patience(worker, *interrupted);
            if (!worker->ended)
                return GYRE_AGAIN;
        }
    }
}

void gyre_worker_wait(const gyre_worker *const *workers, size_t count)
{
    struct pollfd fds[3 * MOST_WORKERS];
    int wait_ms = TICK_MS;
    nfds_t used = 0;

    for (size_t i = 0; i < count && i < MOST_WORKERS; i++) {
        const gyre_worker *worker = workers[i];
        const int watched[] = {worker->hung_up ? -1 : worker->messages, worker->output,
                               worker->end_fd};

        for (size_t j = 0; j < sizeof watched / sizeof watched[0]; j++)
            if (watched[j] >= 0)
                fds[used++] = (struct pollfd){.fd = watched[j], .events = POLLIN};
        if (worker->hung_up && worker->end_fd < 0 && worker->messages >= 0)
            wait_ms = 1; /* only looking will tell when it ends */
    }
    (void)poll(fds, used, wait_ms);
}

gyre_status gyre_worker_next(gyre_worker *worker, const volatile sig_atomic_t *interrupted,
                             gyre_message *out_message)
{
    const gyre_worker *const alone[] = {worker};
    gyre_status status;

    while ((status = gyre_worker_look(worker, interrupted, out_message)) == GYRE_AGAIN) {
        if (worker->tick)
            worker->tick(worker->user);
        gyre_worker_wait(alone, 1);
    }
    return status;
}

void gyre_worker_epitaph(const gyre_worker *worker, char *text, size_t size)
{
    if (worker->timed_out)
        snprintf(text, size, "gave no sign of life for %s and was ended (--timeout)",
                 gyre_quantity_time((double)worker->timeout_ns).text);
    else if (worker->gave_up)
        snprintf(text, size, "did not stop when asked to and was ended");
    else if (WIFEXITED(worker->status) && WEXITSTATUS(worker->status) == CANNOT_START)
        gyre_worker_last_words(worker, text, size);
    else if (WIFSIGNALED(worker->status))
        snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(worker->status),
                 strsignal(WTERMSIG(worker->status)));
    else
        snprintf(text, size, "called exit with status %d", WEXITSTATUS(worker->status));
}

void gyre_worker_last_words(const gyre_worker *worker, char *text, size_t size)
{
    const size_t room = sizeof worker->words;
    const size_t kept = worker->printed_bytes < room ? (size_t)worker->printed_bytes : room;
    size_t used = 0, lines = 0;

    for (uint64_t i = worker->printed_bytes - kept; i < worker->printed_bytes && used + 1 < size;
         i++) {
        const char c = worker->words[i % room];

        if (c == '\n' || c == '\t' || (unsigned char)c >= ' ')
            text[used++] = c;
        else if (c != '\r')
            text[used++] = '?';
    }
    while (used > 0 && text[used - 1] == '\n')
        used--;
    text[used] = '\0';
    for (size_t i = used; i-- > 0;) { /* the last lines only */
        if (text[i] == '\n' && ++lines == LAST_WORDS_LINES) {
            memmove(text, text + i + 1, used - i);
            break;
        }
    }
}

void gyre_worker_fini(gyre_worker *worker)
{
    end(worker);
    close_fd(&worker->messages);
    close_fd(&worker->output);
    close_fd(&worker->end_fd);
    gyre_message_reader_fini(&worker->reader);
    worker->pid = -1;
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
