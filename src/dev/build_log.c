/* SPDX-License-Identifier: Apache-2.0
 *
 * build_log: keeps what a compiler said for the thread that asked it.
 *
 * Compilers repeat themselves: a log that is too long loses its middle, since the first error and
 * the closing count are what people look for.
 *
 * Threads   each has its own log; a key's destructor frees it when the thread ends.
 * Owns      one block for each thread that compiled something.
 * Not here  the public name (exec/kernel.c).
 */
#include "dev/build_log.h"

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_BYTES = 64 * 1024, NOTE_BYTES = 80 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;
static _Thread_local char *mine;     /* NULL: nothing */
static _Thread_local bool no_memory; /* there was something to keep, and no room */

static void end_of_thread(void *block)
{
    free(block);
    mine = NULL;
    no_memory = false;
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, end_of_thread) == 0;
}

static void forget(void)
{
    if (mine)
        (void)pthread_setspecific(key, NULL);
    free(mine);
    mine = NULL;
    no_memory = false;
}

/* Both ends with a line between them that says how much is missing. */
static void keep_ends(char *into, const char *text, size_t length)
{
    const size_t end = (KEPT_BYTES - NOTE_BYTES) / 2;
    size_t used = end;

    memcpy(into, text, end);
    used += (size_t)snprintf(into + used, NOTE_BYTES, "\n[... %zu bytes are left out ...]\n",
                             length - 2 * end);
    memcpy(into + used, text + length - end, end);
    into[used + end] = '\0';
}

void gyre_build_log_set(const char *text, size_t size)
{
    size_t length = text ? strnlen(text, size) : 0;
    char *block;

    forget();
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    if (length == 0)
        return;
    pthread_once(&once, make_key);
    block = malloc(length < KEPT_BYTES ? length + 1 : KEPT_BYTES + 1);
    /* without the destructor nobody would free it */
    if (!block || !has_key || pthread_setspecific(key, block) != 0) {
        free(block);
        no_memory = true;
        return;
    }
    mine = block;
    if (length > KEPT_BYTES) {
        keep_ends(block, text, length);
    } else {
        memcpy(block, text, length);
        block[length] = '\0';
    }
}

const char *gyre_build_log(void)
{
    if (no_memory)
        return "there was no memory to keep what the compiler said";
    return mine ? mine : "";
}
