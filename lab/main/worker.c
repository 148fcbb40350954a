/* SPDX-License-Identifier: Apache-2.0
 *
 * worker: see worker.h.
 */
#include "main/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "gyre/clock.h"
#include "report/quantity.h"

enum {
    TICK_MS = 100,
    GRACE_NS = 2000000000, /* from asking it to stop to ending it */
    CHUNK_BYTES = 65536,
    MOST_CHUNKS = 64, /* read after its end: pipes hold less */
    MESSAGE_FD = 200, /* where nobody who counts from 3 will stumble over it */
    LAST_WORDS_LINES = 12,
    MOST_WORKERS = 2, /* to be waited for at once */
};

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
    given.parent = getpid();
    status = gyre_spawn(&given, start, output[1], &worker->pid);
    if (status != GYRE_OK)
        goto done;
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
    siginfo_t info = {0};

    if (worker->pid < 0 || worker->ended)
        return;
    kill(-worker->pid, SIGKILL); /* the group: what it has started goes too */
    kill(worker->pid, SIGKILL);  /* and itself, should it have left its group */
    /* it stays a zombie until gyre_worker_fini, so that its number is nobody else's before */
    while (waitid(P_PID, (id_t)worker->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        continue;
    worker->status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
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
            if (*interrupted) /* however much it has to say */
                lose_patience(worker, *interrupted);
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
    else if (WIFEXITED(worker->status) && WEXITSTATUS(worker->status) == GYRE_SPAWN_FAILED &&
             worker->printed_bytes > 0)
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
    while (worker->pid > 0 && waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    close_fd(&worker->messages);
    close_fd(&worker->output);
    close_fd(&worker->end_fd);
    gyre_message_reader_fini(&worker->reader);
    worker->pid = -1;
}
