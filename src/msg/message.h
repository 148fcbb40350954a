/* SPDX-License-Identifier: Apache-2.0
 *
 * message: what the sources of messages share.
 */
#ifndef GYRE_MSG_MESSAGE_H
#define GYRE_MSG_MESSAGE_H

#include "gyre/message.h"

/* The crc32c of a message that is all there, whatever stands in its header for it. */
uint32_t gyre_message_crc(const gyre_message *message);

/* Whether the writer of a part had a field of the reader's table. */
GYRE_INLINE bool gyre_message_had(const gyre_part *part, const gyre_message_field *field)
{
    return part->fixed >= field->offset + field->size;
}

#endif
