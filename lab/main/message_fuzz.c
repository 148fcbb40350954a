/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes from a worker, in pieces: read or refused, never beyond what was fed. Results go on to
 * the reader of JSON, as they do in life; so do orders, which come from the environment.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "main/message.h"
#include "main/worker.h"
#include "record/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_order(const uint8_t *data, size_t size)
{
    gyre_worker_order order;
    char text[256];

    if (size >= sizeof text)
        return;
    memcpy(text, data, size);
    text[size] = '\0';
    (void)!gyre_worker_order_parse(text, &order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t piece = size ? 1 + data[0] % 64 : 1;
    gyre_message_reader reader = {0};

    for (size_t at = 0; at < size; at += piece) {
        const size_t now = size - at < piece ? size - at : piece;
        gyre_message message;
        gyre_status status;

        if (gyre_message_feed(&reader, (const char *)data + at, now) != GYRE_OK)
            break;
        while ((status = gyre_message_next(&reader, &message)) == GYRE_OK) {
            gyre_result result;

            if (message.length > size)
                abort();
            if (message.kind == GYRE_MESSAGE_RESULT &&
                gyre_result_parse(message.text, message.length, &result) == GYRE_OK)
                gyre_result_fini(&result);
        }
        if (status != GYRE_AGAIN)
            break;
    }
    gyre_message_reader_fini(&reader);
    read_order(data, size);
    return 0;
}
