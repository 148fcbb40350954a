/* SPDX-License-Identifier: Apache-2.0
 *
 * legacy_queue: see legacy_queue.h.
 */
#include "suites/legacy_queue.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 128 };

typedef struct item {
    size_t size;
    gyre_command command;
} item;

struct gyre_legacy_queue {
    pthread_mutex_t lock;
    item *ring;  /* under the lock, as all that follows; NULL before the first push */
    size_t room; /* a power of two */
    size_t head, count;
    size_t limit; /* SIZE_MAX: grows for ever */
};

gyre_legacy_queue *gyre_legacy_create(size_t limit)
{
    gyre_legacy_queue *queue = calloc(1, sizeof *queue);

    if (queue) {
        queue->limit = limit ? limit : SIZE_MAX;
        pthread_mutex_init(&queue->lock, NULL);
    }
    return queue;
}

static bool grow(gyre_legacy_queue *queue)
{
    const size_t room = queue->room ? 2 * queue->room : FIRST_ROOM;
    item *ring = malloc(room * sizeof *ring);

    if (!ring)
        return false;
    for (size_t i = 0; i < queue->count; i++)
        ring[i] = queue->ring[(queue->head + i) & (queue->room - 1)];
    free(queue->ring);
    queue->ring = ring;
    queue->room = room;
    queue->head = 0;
    return true;
}

bool gyre_legacy_push(gyre_legacy_queue *queue, const gyre_command *command, size_t size)
{
    bool fits;

    pthread_mutex_lock(&queue->lock);
    fits = queue->count < queue->limit && (queue->count < queue->room || grow(queue));
    if (fits) {
        item *const into = &queue->ring[(queue->head + queue->count) & (queue->room - 1)];

        into->size = size;
        memcpy(&into->command, command, size);
        queue->count++;
    }
    pthread_mutex_unlock(&queue->lock);
    return fits;
}

bool gyre_legacy_pop(gyre_legacy_queue *queue, gyre_command *out_command, size_t *out_size)
{
    bool found;

    pthread_mutex_lock(&queue->lock);
    found = queue->count > 0;
    if (found) {
        const item *const from = &queue->ring[queue->head];

        *out_size = from->size;
        memcpy(out_command, &from->command, from->size);
        queue->head = (queue->head + 1) & (queue->room - 1);
        queue->count--;
    }
    pthread_mutex_unlock(&queue->lock);
    return found;
}

void gyre_legacy_destroy(gyre_legacy_queue *queue)
{
    gyre_command command;
    size_t size;

    if (!queue)
        return;
    while (gyre_legacy_pop(queue, &command, &size))
        gyre_command_drop(NULL, &command, size);
    free(queue->ring);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}
