/* SPDX-License-Identifier: Apache-2.0
 *
 * message: declared by a table, built where it will travel, sent by reference; the receiver checks
 * what it got and reads it in place. Nothing is copied on the way.
 *
 *     cc -O2 message.c $(pkg-config --cflags --libs gyre) -o message && ./message
 */
#include <gyre/bytes.h>
#include <gyre/channel.h>
#include <gyre/message.h>
#include <stdio.h>

#define ORDER_FIELDS(F, M) F(M, TEXT, char, name, 1, ) F(M, LIST, f32, amounts, 1, )
GYRE_MESSAGE(order, 17, 1, ORDER_FIELDS);

int main(void)
{
    const gyre_channel_options options = {.struct_size = sizeof options,
                                          .item_bytes = sizeof(gyre_bytes)};
    gyre_bytes sent = {0}, received = {0};
    gyre_channel *channel = NULL;
    const order *m = NULL;
    order_builder b;
    size_t size;

    if (gyre_channel_create(&options, &channel) == GYRE_OK &&
        gyre_bytes_take(NULL, 4096, &sent) == GYRE_OK && /* or from a pool: gyre_pool_memory */
        order_begin(&b, gyre_bytes_writable(&sent), sent.size) == GYRE_OK) {
        order_copy_name(&b, "apples", 6);
        order_copy_amounts(&b, (const float[]){1, 2, 3.5}, 3);
        if (order_commit(&b, &size) == GYRE_OK && /* says whether all of it went well */
            gyre_channel_try_send(channel, GYRE_PRIORITY_NORMAL, &sent, sizeof sent) == GYRE_OK)
            sent = (gyre_bytes){0}; /* the channel's now, and then the receiver's */
    }
    if (channel && gyre_channel_try_receive(channel, &received, NULL) == GYRE_OK &&
        order_open(received.data, received.size, &m) == GYRE_OK) /* whoever sent it */
        for (uint32_t i = 0; i < order_amounts_count(m); i++)
            printf("%s: %g\n", order_name(m), (double)order_amounts(m)[i]);
    else
        fprintf(stderr, "message: %s\n", gyre_error_last()->text);
    gyre_bytes_release(&sent);
    gyre_bytes_release(&received);
    gyre_channel_destroy(channel);
    return !m;
}
