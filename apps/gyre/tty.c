/* SPDX-License-Identifier: Apache-2.0
 *
 * tty: see tty.h.
 *
 * The signals are blocked but for the time of ppoll, so none is lost between looking at the flags
 * and sleeping. A driver's own thread may take one instead: then the flag is seen after the tick.
 */
#include "tty.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const int numbers[TTY_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};

static volatile sig_atomic_t ended, resized, stopped;

static void on_signal(int number)
{
    if (number == SIGWINCH)
        resized = 1;
    else if (number == SIGTSTP)
        stopped = 1;
    else
        ended = 1;
}

bool tty_write(const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(STDOUT_FILENO, text, length);

        if (written < 0 && errno == EAGAIN) {
            struct pollfd room = {.fd = STDOUT_FILENO, .events = POLLOUT};

            (void)poll(&room, 1, 100);
        } else if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        }
    }
    return true;
}

/* The other screen, without a cursor and without lines that wrap. */
static void enter(const tty *t)
{
    static const char sequence[] = "\033[?1049h\033[?25l\033[?7l\033[H\033[2J";
    struct termios raw = t->before;

    if (t->keys) {
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    }
    (void)tty_write(sequence, sizeof sequence - 1);
}

static void leave(const tty *t)
{
    static const char sequence[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

    (void)tty_write(sequence, sizeof sequence - 1);
    if (t->keys) /* and forget keys that were not read: a shell would take them for its own */
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &t->before);
}

void tty_open(tty *t)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t kept;

    memset(t, 0, sizeof *t);
    ended = resized = stopped = 0;
    t->keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &t->before) == 0;
    sigemptyset(&kept);
    for (size_t i = 0; i < TTY_SIGNALS; i++)
        sigaddset(&kept, numbers[i]);
    sigprocmask(SIG_BLOCK, &kept, &t->mask);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < TTY_SIGNALS; i++)
        sigaction(numbers[i], &action, &t->actions[i]);
    enter(t);
}

void tty_size(int *out_rows, int *out_columns)
{
    struct winsize size;

    *out_rows = 24;
    *out_columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        *out_rows = size.ws_row;
        *out_columns = size.ws_col;
    }
}

/* Gives the terminal back while the process is stopped. */
static void rest(const tty *t)
{
    stopped = 0;
    leave(t);
    raise(SIGSTOP);
    enter(t);
}

int tty_wait(tty *t, double seconds)
{
    const struct timespec timeout = {(time_t)seconds,
                                     (long)((seconds - (double)(time_t)seconds) * 1e9)};
    struct pollfd input = {.fd = t->keys ? STDIN_FILENO : -1, .events = POLLIN};
    unsigned char key;
    int ready;

    if (!ended && !resized && !stopped) {
        sigset_t open = t->mask;

        for (size_t i = 0; i < TTY_SIGNALS; i++)
            sigdelset(&open, numbers[i]);
        ready = ppoll(&input, 1, &timeout, &open);
        if (ready > 0 && !ended) {
            if (read(STDIN_FILENO, &key, 1) == 1)
                return key;
            return TTY_GONE; /* a terminal that ends has been closed */
        }
    }
    if (ended)
        return TTY_INTERRUPTED;
    if (stopped) {
        rest(t);
        return TTY_RESIZED; /* it may have another size now, and is empty */
    }
    if (resized) {
        resized = 0;
        return TTY_RESIZED;
    }
    return TTY_TICK;
}

void tty_close(tty *t)
{
    leave(t);
    for (size_t i = 0; i < TTY_SIGNALS; i++)
        sigaction(numbers[i], &t->actions[i], NULL);
    sigprocmask(SIG_SETMASK, &t->mask, NULL);
}
