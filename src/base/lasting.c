/* SPDX-License-Identifier: Apache-2.0
 *
 * lasting: see lasting.h. Buckets of lists; there are as many texts as a program has names.
 */
#include "base/lasting.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { BUCKETS = 256 };

typedef struct entry {
    struct entry *next;
    char text[];
} entry;

static entry *buckets[BUCKETS]; /* under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const char *gyre_lasting(const char *text)
{
    const size_t size = strlen(text) + 1;
    entry **const bucket = &buckets[gyre_hash64(text, size, 0) % BUCKETS];
    entry *found;

    pthread_mutex_lock(&lock);
    for (found = *bucket; found; found = found->next)
        if (strcmp(found->text, text) == 0)
            break;
    if (!found && (found = malloc(sizeof *found + size))) {
        memcpy(found->text, text, size);
        found->next = *bucket;
        *bucket = found;
    }
    pthread_mutex_unlock(&lock);
    return found ? found->text : "?";
}
