/* SPDX-License-Identifier: Apache-2.0
 *
 * layout: tables made of the declarations themselves. See gyre/layout.h.
 *
 * Threads   const data.
 * Owns      nothing.
 */
#include "gyre/layout.h"

#include "flow/ring_abi.h"
#include "gyre/actor_abi.h"
#include "gyre/message_abi.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ROW(struct_type, member, type, writer, what)                                               \
    {#member, #type, writer, what, offsetof(struct_type, member), sizeof(gyre_abi_##type)},

#define HOST_ROW(offset, type, name, what) ROW(gyre_control_block, host.name, type, "host", what)
#define DEVICE_ROW(offset, type, name, what)                                                       \
    ROW(gyre_control_block, device.name, type, "device", what)
#define TELEMETRY_ROW(offset, type, name, what) ROW(gyre_telemetry, name, type, "device", what)

/* clang-format off */
static const gyre_layout_field control_block[] = {
    GYRE_CONTROL_HOST_FIELDS(HOST_ROW)
    GYRE_CONTROL_DEVICE_FIELDS(DEVICE_ROW)
};

static const gyre_layout_field telemetry[] = {
    GYRE_TELEMETRY_FIELDS(TELEMETRY_ROW)
};

#define BRIEF(member, type, what) ROW(gyre_brief, member, type, "sender", what)

/* Those of its own as the words of one that refers to memory: the others lie over them. */
static const gyre_layout_field brief[] = {
    BRIEF(type, u16, "what is asked; 0xff00 and above are the runtime's own")
    BRIEF(flags, u8, "1: call, 2: refers, 4: deadline, 8: failed, 16: empty, 32: reads")
    BRIEF(priority, u8, "higher is sooner, by bands of 64")
    BRIEF(correlation, u32, "which call it is, or answers")
    BRIEF(body.reference.address, u64, "bytes of its own; or, if it refers, where there are more")
    BRIEF(body.reference.size, u64, "bytes of its own; or, if it refers, how many there are")
    BRIEF(body.reference.longs[0], u64, "bytes of its own")
    BRIEF(body.reference.longs[1], u64, "bytes of its own")
    BRIEF(body.reference.deadline_ns, u64, "bytes of its own; or by when, if it has a deadline")
};

#define HEADER(member, type, what) ROW(gyre_message, member, type, "sender", what)

static const gyre_layout_field message[] = {
    HEADER(magic, u32, "\"GYRM\"")
    HEADER(layout, u16, "version of this layout")
    HEADER(priority, u8, "higher is sooner; a channel's band is priority >> 6")
    HEADER(flags, u8, "1: crc32c holds")
    HEADER(type, u32, "number of its table of fields")
    HEADER(crc32c, u32, "of the whole message with 0 here; 0 without the flag")
    HEADER(id, u64, "which message it is")
    HEADER(correlation, u64, "id of the message that it answers; 0: none")
    HEADER(source, u32, "who sent it")
    HEADER(destination, u32, "who is to have it")
    HEADER(deadline_ns, u64, "by the host's clock; 0: none")
    HEADER(time, u64, "hybrid logical; 0: none")
    HEADER(part.size, u32, "bytes from here to the end")
    HEADER(part.fixed, u16, "bytes from there to the end of the last field that its writer had")
    HEADER(part.version, u16, "of the table that its writer had")
};

#define QUARTER(q)                                                                                 \
    ROW(gyre_ring_slot, quarter[q].eight, u64, "sender", "bytes of the message")                   \
    ROW(gyre_ring_slot, quarter[q].four, u32, "sender", "bytes of the message")                    \
    ROW(gyre_ring_slot, quarter[q].stamp, u32, "sender", "which message the quarter belongs to")

static const gyre_layout_field ring_slot[] = {QUARTER(0) QUARTER(1) QUARTER(2) QUARTER(3)};

#define WORD(i)                                                                                    \
    ROW(gyre_ring_wide_slot, word[i], u64, "sender", "four bytes of the message, its stamp above")

static const gyre_layout_field ring_wide_slot[] = {
    WORD(0) WORD(1) WORD(2) WORD(3) WORD(4) WORD(5)
    WORD(6) WORD(7) WORD(8) WORD(9) WORD(10) WORD(11)
};
/* clang-format on */

_Static_assert(sizeof(gyre_abi_address) == sizeof(gyre_abi_u64), "as the table has it");
_Static_assert(COUNT(ring_wide_slot) == GYRE_RING_WORDS, "every word that carries something");

#define LAYOUT(type, fields)                                                                       \
    {                                                                                              \
#type, sizeof(type), _Alignof(type), fields, COUNT(fields)                                 \
    }

static const gyre_layout layouts[] = {
    LAYOUT(gyre_control_block, control_block),
    LAYOUT(gyre_telemetry, telemetry),
    LAYOUT(gyre_brief, brief),
    LAYOUT(gyre_message, message),
    LAYOUT(gyre_ring_slot, ring_slot),
    LAYOUT(gyre_ring_wide_slot, ring_wide_slot),
};

const gyre_layout *gyre_layout_at(size_t index)
{
    return index < COUNT(layouts) ? &layouts[index] : NULL;
}
