/* SPDX-License-Identifier: Apache-2.0
 *
 * message: two lists of numbers, built where they will travel and sent by reference; the receiver
 * checks what it got and reads it in place. Nothing is copied on the way.
 *
 *     cc -O2 message.c $(pkg-config --cflags --libs gyre) -o message && ./message
 */
#include <gyre/bytes.h>
#include <gyre/channel.h>
#include <gyre/message.h>
#include <stdio.h>

#define VECTOR_ADD_FIELDS(F, M)                                                                    \
    F(M, LIST, f32, a, 1, )                                                                        \
    F(M, LIST, f32, b, 1, )
GYRE_MESSAGE(vector_add, 1, 1, VECTOR_ADD_FIELDS);

static gyre_status build(gyre_bytes *bytes, uint32_t count, size_t *out_size)
{
    vector_add_builder b;
    gyre_status status = vector_add_begin(&b, gyre_bytes_writable(bytes), bytes->size);
    float *to_a, *to_b;

    *out_size = 0;
    if (status != GYRE_OK)
        return status;
    b.header.id = gyre_message_id_next();
    to_a = vector_add_add_a(&b, count); /* NULL without room, which commit reports */
    to_b = vector_add_add_b(&b, count);
    for (uint32_t i = 0; to_a && to_b && i < count; i++)
        to_a[i] = to_b[i] = (float)i;
    return vector_add_commit(&b, out_size);
}

static gyre_status send(gyre_channel *channel, uint32_t count)
{
    const size_t room = vector_add_ROOM + 2 * GYRE_MESSAGE_ROOM(count * sizeof(float));
    gyre_bytes bytes = {0};
    size_t size;
    gyre_status status = gyre_bytes_take(NULL, room, &bytes);

    if (status == GYRE_OK)
        status = build(&bytes, count, &size);
    if (status == GYRE_OK)
        status = gyre_channel_try_send(channel, GYRE_PRIORITY_NORMAL, &bytes, sizeof bytes);
    if (status != GYRE_OK)
        gyre_bytes_release(&bytes); /* it was not handed over */
    return status;
}

static gyre_status receive(gyre_channel *channel)
{
    gyre_bytes bytes = {0};
    const vector_add *m;
    gyre_status status = gyre_channel_try_receive(channel, &bytes, NULL);

    if (status == GYRE_OK)
        status = vector_add_open(bytes.data, bytes.size, &m);
    if (status == GYRE_OK && vector_add_a_count(m) == vector_add_b_count(m)) {
        const uint32_t count = vector_add_a_count(m);
        float sum = 0;

        for (uint32_t i = 0; i < count; i++)
            sum = vector_add_a(m)[i] + vector_add_b(m)[i];
        printf("%u sums, the last is %g\n", count, (double)sum);
    }
    gyre_bytes_release(&bytes);
    return status;
}

int main(void)
{
    const gyre_channel_options options = {
        .struct_size = sizeof options, .name = "vectors", .item_bytes = sizeof(gyre_bytes)};
    gyre_channel *channel = NULL;
    const int failed = gyre_channel_create(&options, &channel) != GYRE_OK ||
                       send(channel, 1000) != GYRE_OK || receive(channel) != GYRE_OK;

    if (failed)
        fprintf(stderr, "message: %s\n", gyre_error_last()->text);
    gyre_channel_destroy(channel);
    return failed;
}
