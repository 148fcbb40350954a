/* SPDX-License-Identifier: Apache-2.0
 *
 * tty: the terminal while a verb has all of it: another screen, single keys, and everything as it
 * was afterwards.
 *
 * Between open and close the signals that end, stop or resize are kept back and come as events, so
 * that no way out leaves a terminal without its cursor or its echo. A process that is stopped
 * (Ctrl-Z) gives the terminal back until it goes on.
 *
 * Threads   the main thread; one at a time.
 * Owns      the modes of the terminal and the handlers of those signals, until close.
 * Not here  what is drawn (screen.h).
 */
#ifndef GYRE_TTY_H
#define GYRE_TTY_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

enum { TTY_SIGNALS = 6 };

/* What has happened, unless it is a key, which is itself. */
enum { TTY_TICK = -1, TTY_RESIZED = -2, TTY_INTERRUPTED = -3, TTY_GONE = -4 };

typedef struct tty {
    bool keys; /* stdin is a terminal: its modes are changed, and keys are read */
    struct termios before;
    sigset_t mask;
    struct sigaction actions[TTY_SIGNALS];
} tty;

/* Takes the terminal over: stdout must be one. */
void tty_open(tty *t);

/* Rows and columns; 24 and 80 when it does not tell. */
void tty_size(int *out_rows, int *out_columns);

/* Writes all of it; false when the terminal is gone. */
bool tty_write(const char *text, size_t length);

/* Waits for a key or one of the events, TTY_TICK after `seconds`. */
int tty_wait(tty *t, double seconds);

/* Gives it back as it was. */
void tty_close(tty *t);

#endif
