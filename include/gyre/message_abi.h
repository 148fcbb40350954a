/* SPDX-License-Identifier: Apache-2.0
 *
 * message_abi: how a message lies in memory, and how to read it, on hosts and on devices.
 *
 * A message is declared once, as a table of fields, of which everything else is made:
 *
 *     #define VECTOR_ADD_FIELDS(F, M)   \
 *         F(M, SCALAR, u32, scale, 1, ) \
 *         F(M, LIST, f32, a, 1, )       \
 *         F(M, LIST, f32, b, 1, )       \
 *         F(M, SCALAR, u32, mode, 2, 7)
 *     GYRE_MESSAGE(vector_add, 17, 2, VECTOR_ADD_FIELDS);
 *
 * A row is F(M, kind, type, name, since, extra), and GYRE_MESSAGE gets a name, a number that no
 * other message of the program has (from 1 on), and the version of the table. Fields are only ever
 * appended, with the new version as their `since`.
 *
 *   kind      type                      read with                       extra
 *   SCALAR    u8 ... u64, i8 ... i64,   M_name(m)                       what readers see in a
 *             f32, f64                                                  message without it
 *   OPTIONAL  likewise                  M_has_name(m), M_name(m)        the value without one
 *   ARRAY     likewise                  M_name(m), M_name_count(m)      how many
 *   LIST      likewise                  M_name(m), M_name_count(m)      -
 *   TEXT      char                      M_name(m), M_name_count(m)      -
 *   PART      another message's name    M_name(m)                       -
 *
 * Reading goes through these functions only: a field that the writer's table did not have is not
 * there, and reads as its default, as an empty list or text, as a part, or array, that is NULL.
 * Lists of no elements have an address, at which nothing is to be read; texts end with a zero that
 * is not counted (in OpenCL C, an empty one has none).
 *
 * gyre/message.h adds building and validation on the host. docs/formats/message.md has the layout.
 * Compiles as C11, C++17, CUDA C (nvcc and NVRTC) and OpenCL C 1.2; see gyre/abi.h. Every
 * pointer into a message is to GYRE_MESSAGE_SHARED, which is __global in OpenCL C.
 *
 * Threads   as plain data.
 * Owns      nothing.
 */
#ifndef GYRE_MESSAGE_ABI_H
#define GYRE_MESSAGE_ABI_H

#ifndef GYRE_ABI_H
#include "gyre/abi.h"
#endif

#if defined(__OPENCL_VERSION__)
#define GYRE_MESSAGE_SHARED __global
#define GYRE_MESSAGE_INLINE_ static inline __attribute__((unused))
#define GYRE_MESSAGE_ALIAS_
#else
#define GYRE_MESSAGE_SHARED
#if defined(__CUDACC__)
#define GYRE_MESSAGE_INLINE_ static __host__ __device__ __forceinline__ __attribute__((unused))
#define GYRE_MESSAGE_ALIAS_
#else
#define GYRE_MESSAGE_INLINE_ static inline __attribute__((always_inline, unused))
/* the same bytes are read by tables of two versions, and as the header */
#define GYRE_MESSAGE_ALIAS_ __attribute__((may_alias))
#endif
#endif

enum {
    GYRE_MESSAGE_MAGIC = 0x4d525947, /* "GYRM" */
    GYRE_MESSAGE_LAYOUT = 1,         /* version of what is told here */
    GYRE_MESSAGE_ENVELOPE = 56,      /* bytes before the first part */
    GYRE_MESSAGE_ALIGNMENT = 16,     /* of a message, and of what is in it; */
    GYRE_MESSAGE_LARGE = 256,        /* lists and texts from so many bytes on */
    GYRE_MESSAGE_LINE = 64,          /* begin at a multiple of this */
    GYRE_MESSAGE_CRC = 1,            /* flag: crc32c holds */
    GYRE_MESSAGE_NORMAL = 96,        /* priority, as GYRE_PRIORITY_NORMAL */
};

/* What a part begins with: the root's in the header, others' where they are. */
typedef struct GYRE_MESSAGE_ALIAS_ gyre_part {
    gyre_abi_u32 size;    /* bytes from here to the part's end */
    gyre_abi_u16 fixed;   /* bytes from here to the end of the last field the writer had */
    gyre_abi_u16 version; /* of the table it had */
} gyre_part;

/* Where a list, a text or a part is. */
typedef struct GYRE_MESSAGE_ALIAS_ gyre_span {
    gyre_abi_u32 offset; /* from its part's beginning; 0 for nothing */
    gyre_abi_u32 count;  /* elements; bytes of a text without its zero; 1 for a part */
} gyre_span;

/* A message's first 64 bytes. It is ENVELOPE + part.size bytes in all. */
typedef struct GYRE_MESSAGE_ALIAS_ gyre_message {
    gyre_abi_u32 magic;
    gyre_abi_u16 layout;
    gyre_abi_u8 priority; /* higher is sooner; a channel's band is priority >> 6 */
    gyre_abi_u8 flags;    /* GYRE_MESSAGE_CRC */
    gyre_abi_u32 type;    /* the number given to GYRE_MESSAGE */
    gyre_abi_u32 crc32c;  /* of the whole message with 0 here; 0 without the flag */
    gyre_abi_u64 id;
    gyre_abi_u64 correlation; /* id of the message that this one answers; 0: none */
    gyre_abi_u32 source;
    gyre_abi_u32 destination;
    gyre_abi_u64 deadline_ns; /* by gyre_clock_now_ns; 0: none */
    gyre_abi_u64 time;        /* hybrid logical, by gyre/hlc.h; 0: none */
    gyre_part part;
} gyre_message;

#define GYRE_MESSAGE_OFFSET_(type, field) ((int)GYRE_ABI_OFFSET(type, field))
#define GYRE_MESSAGE_AT_(field, offset)                                                            \
    GYRE_ABI_ASSERT(message_##field##_at, GYRE_MESSAGE_OFFSET_(gyre_message, field) == (offset))

GYRE_MESSAGE_AT_(magic, 0);
GYRE_MESSAGE_AT_(layout, 4);
GYRE_MESSAGE_AT_(priority, 6);
GYRE_MESSAGE_AT_(flags, 7);
GYRE_MESSAGE_AT_(type, 8);
GYRE_MESSAGE_AT_(crc32c, 12);
GYRE_MESSAGE_AT_(id, 16);
GYRE_MESSAGE_AT_(correlation, 24);
GYRE_MESSAGE_AT_(source, 32);
GYRE_MESSAGE_AT_(destination, 36);
GYRE_MESSAGE_AT_(deadline_ns, 40);
GYRE_MESSAGE_AT_(time, 48);
GYRE_MESSAGE_AT_(part, 56);
GYRE_ABI_ASSERT(message_size,
                sizeof(gyre_message) == 64 && sizeof(gyre_part) == 8 && sizeof(gyre_span) == 8);

/* Whether its deadline has passed at `now_ns`. */
GYRE_MESSAGE_INLINE_ int gyre_message_expired(const GYRE_MESSAGE_SHARED gyre_message *message,
                                              gyre_abi_u64 now_ns)
{
    return message->deadline_ns != 0 && now_ns >= message->deadline_ns;
}

/* What GYRE_MESSAGE makes of a table, besides what is promised above: `struct M` of the fixed part;
 * M_TYPE and M_VERSION; M_ROOM, the bytes of a message whose lists, texts and parts are empty; and
 *   const M *M_trust(const void *bytes)    the fields of a message that is known to be a valid M;
 *   const gyre_message *M_message(m)       back to the header; not for an M that is a part.
 * A message is no larger than M_ROOM and GYRE_MESSAGE_ROOM(bytes) for each list, each text with its
 * zero, and T_ROOM with what is in it for each part of message T. */
#define GYRE_MESSAGE(M, type_number, table_version, FIELDS)                                        \
    typedef struct GYRE_MESSAGE_ALIAS_ M {                                                         \
        gyre_part part;                                                                            \
        FIELDS(GYRE_MESSAGE_MEMBER_, M)                                                            \
        gyre_abi_u8 gyre_end_; /* not sizeof: a later field may stand in today's padding */        \
    } M;                                                                                           \
    enum {                                                                                         \
        M##_TYPE = (type_number),                                                                  \
        M##_VERSION = (table_version),                                                             \
        M##_FIXED_ = GYRE_MESSAGE_OFFSET_(M, gyre_end_),                                           \
        M##_ROOM = 64 + GYRE_MESSAGE_UP_(M##_FIXED_ - 8), /* bit d: a part lies d deep */          \
        M##_DEPTHS_ = 1 FIELDS(GYRE_MESSAGE_DEPTH_, M)                                             \
    };                                                                                             \
    enum { M##_NO_SINCE_ = 0, FIELDS(GYRE_MESSAGE_SINCE_, M) M##_LAST_SINCE_ };                    \
    enum { FIELDS(GYRE_MESSAGE_INDEX_, M) M##_COUNT_ };                                            \
    GYRE_ABI_ASSERT(M##_type_is_a_number_from_1_on, M##_TYPE > 0);                                 \
    GYRE_ABI_ASSERT(M##_version_is_that_of_the_newest_field,                                       \
                    (int)M##_VERSION >= (int)M##_LAST_SINCE_ - 1 && M##_VERSION >= 1 &&            \
                        M##_VERSION <= 0xffff);                                                    \
    GYRE_ABI_ASSERT(M##_fixed_part_is_small, M##_FIXED_ <= 0xffff);                                \
    GYRE_ABI_ASSERT(M##_nests_at_most_16_deep, M##_DEPTHS_ < 0x10000);                             \
    FIELDS(GYRE_MESSAGE_CHECK_SINCE_, M)                                                           \
    GYRE_MESSAGE_INLINE_ const GYRE_MESSAGE_SHARED M *M##_trust(                                   \
        const GYRE_MESSAGE_SHARED void *bytes)                                                     \
    {                                                                                              \
        return (const GYRE_MESSAGE_SHARED M *)((const GYRE_MESSAGE_SHARED char *)bytes +           \
                                               GYRE_MESSAGE_ENVELOPE);                             \
    }                                                                                              \
    GYRE_MESSAGE_INLINE_ const GYRE_MESSAGE_SHARED gyre_message *M##_message(                      \
        const GYRE_MESSAGE_SHARED M *m)                                                            \
    {                                                                                              \
        return (const GYRE_MESSAGE_SHARED gyre_message *)((const GYRE_MESSAGE_SHARED char *)m -    \
                                                          GYRE_MESSAGE_ENVELOPE);                  \
    }                                                                                              \
    FIELDS(GYRE_MESSAGE_READ_, M)                                                                  \
    GYRE_MESSAGE_HOST_(M, FIELDS)                                                                  \
    typedef M M##_ends_with_a_semicolon_

#define GYRE_MESSAGE_ROOM(bytes) (GYRE_MESSAGE_UP_(bytes) + ((bytes) < 256 ? 0 : 48))
#define GYRE_MESSAGE_UP_(bytes) (((bytes) + 15) / 16 * 16)
#define GYRE_MESSAGE_HOST_(M, FIELDS) /* gyre/message.h has more */

/* Members of the struct. */
#define GYRE_MESSAGE_MEMBER_(M, kind, type, name, since, extra)                                    \
    GYRE_MESSAGE_MEMBER_##kind##_(type, name, extra)
#define GYRE_MESSAGE_MEMBER_SCALAR_(type, name, extra) gyre_abi_##type name##_;
#define GYRE_MESSAGE_MEMBER_OPTIONAL_(type, name, extra)                                           \
    gyre_abi_##type name##_;                                                                       \
    gyre_abi_u8 has_##name##_;
#define GYRE_MESSAGE_MEMBER_ARRAY_(type, name, extra) gyre_abi_##type name##_[extra];
#define GYRE_MESSAGE_MEMBER_LIST_(type, name, extra) gyre_span name##_;
#define GYRE_MESSAGE_MEMBER_TEXT_(type, name, extra) gyre_span name##_;
#define GYRE_MESSAGE_MEMBER_PART_(type, name, extra) gyre_span name##_;

/* Enumerators: rows in order, versions never going back, how deep parts lie. */
#define GYRE_MESSAGE_INDEX_(M, kind, type, name, since, extra) M##_##name##_index_,
#define GYRE_MESSAGE_SINCE_(M, kind, type, name, since, extra)                                     \
    M##_##name##_before_, /* one more than the row before has */                                   \
        M##_##name##_since_ = (since),
#define GYRE_MESSAGE_CHECK_SINCE_(M, kind, type, name, since, extra)                               \
    GYRE_ABI_ASSERT(M##_##name##_is_not_older_than_the_row_before,                                 \
                    (since) >= 1 && (since) >= M##_##name##_before_ - 1);
#define GYRE_MESSAGE_DEPTH_(M, kind, type, name, since, extra) GYRE_MESSAGE_DEPTH_##kind##_(type)
#define GYRE_MESSAGE_DEPTH_SCALAR_(type)
#define GYRE_MESSAGE_DEPTH_OPTIONAL_(type)
#define GYRE_MESSAGE_DEPTH_ARRAY_(type)
#define GYRE_MESSAGE_DEPTH_LIST_(type)
#define GYRE_MESSAGE_DEPTH_TEXT_(type)
#define GYRE_MESSAGE_DEPTH_PART_(type) | type##_DEPTHS_ << 1

/* Whether the writer had the field: a constant for those of the first version. */
#define GYRE_MESSAGE_END_(M, member)                                                               \
    (GYRE_MESSAGE_OFFSET_(M, member) + (int)sizeof(((M *)0)->member))
#define GYRE_MESSAGE_HAD_(M, member, since)                                                        \
    ((since) == 1 || m->part.fixed >= GYRE_MESSAGE_END_(M, member))

/* Readers. An empty `extra` makes "+ 0". */
#define GYRE_MESSAGE_READ_(M, kind, type, name, since, extra)                                      \
    GYRE_MESSAGE_READ_##kind##_(M, type, name, since, extra)
#define GYRE_MESSAGE_READ_SCALAR_(M, type, name, since, extra)                                     \
    GYRE_MESSAGE_INLINE_ gyre_abi_##type M##_##name(const GYRE_MESSAGE_SHARED M *m)                \
    {                                                                                              \
        return GYRE_MESSAGE_HAD_(M, name##_, since) ? m->name##_ : (gyre_abi_##type)(extra + 0);   \
    }
#define GYRE_MESSAGE_READ_OPTIONAL_(M, type, name, since, extra)                                   \
    GYRE_MESSAGE_INLINE_ int M##_has_##name(const GYRE_MESSAGE_SHARED M *m)                        \
    {                                                                                              \
        return GYRE_MESSAGE_HAD_(M, has_##name##_, since) && m->has_##name##_ != 0;                \
    }                                                                                              \
    GYRE_MESSAGE_INLINE_ gyre_abi_##type M##_##name(const GYRE_MESSAGE_SHARED M *m)                \
    {                                                                                              \
        return M##_has_##name(m) ? m->name##_ : (gyre_abi_##type)(extra + 0);                      \
    }
#define GYRE_MESSAGE_READ_ARRAY_(M, type, name, since, extra)                                      \
    GYRE_MESSAGE_INLINE_ gyre_abi_u32 M##_##name##_count(const GYRE_MESSAGE_SHARED M *m)           \
    {                                                                                              \
        (void)m;                                                                                   \
        return GYRE_MESSAGE_HAD_(M, name##_, since) ? (extra) : 0;                                 \
    }                                                                                              \
    GYRE_MESSAGE_INLINE_ const GYRE_MESSAGE_SHARED gyre_abi_##type *M##_##name(                    \
        const GYRE_MESSAGE_SHARED M *m)                                                            \
    {                                                                                              \
        return GYRE_MESSAGE_HAD_(M, name##_, since) ? m->name##_ : 0;                              \
    }
#define GYRE_MESSAGE_READ_COUNT_(M, name, since)                                                   \
    GYRE_MESSAGE_INLINE_ gyre_abi_u32 M##_##name##_count(const GYRE_MESSAGE_SHARED M *m)           \
    {                                                                                              \
        return GYRE_MESSAGE_HAD_(M, name##_, since) ? m->name##_.count : 0;                        \
    }
#define GYRE_MESSAGE_PLACE_(type, M, name, since)                                                  \
    ((const GYRE_MESSAGE_SHARED type *)((const GYRE_MESSAGE_SHARED char *)m +                      \
                                        (GYRE_MESSAGE_HAD_(M, name##_, since) ? m->name##_.offset  \
                                                                              : 0)))
#define GYRE_MESSAGE_READ_LIST_(M, type, name, since, extra)                                       \
    GYRE_MESSAGE_READ_COUNT_(M, name, since)                                                       \
    GYRE_MESSAGE_INLINE_ const GYRE_MESSAGE_SHARED gyre_abi_##type *M##_##name(                    \
        const GYRE_MESSAGE_SHARED M *m)                                                            \
    {                                                                                              \
        return GYRE_MESSAGE_PLACE_(gyre_abi_##type, M, name, since);                               \
    }
#if defined(__OPENCL_VERSION__) /* whose literals are in another address space */
#define GYRE_MESSAGE_OR_EMPTY_(count, text) (text)
#else
#define GYRE_MESSAGE_OR_EMPTY_(count, text) ((count) ? (text) : "")
#endif
#define GYRE_MESSAGE_READ_TEXT_(M, type, name, since, extra)                                       \
    GYRE_MESSAGE_READ_COUNT_(M, name, since)                                                       \
    GYRE_MESSAGE_INLINE_ const GYRE_MESSAGE_SHARED char *M##_##name(                               \
        const GYRE_MESSAGE_SHARED M *m)                                                            \
    {                                                                                              \
        return GYRE_MESSAGE_OR_EMPTY_(M##_##name##_count(m),                                       \
                                      GYRE_MESSAGE_PLACE_(char, M, name, since));                  \
    }
#define GYRE_MESSAGE_READ_PART_(M, type, name, since, extra)                                       \
    GYRE_MESSAGE_INLINE_ const GYRE_MESSAGE_SHARED type *M##_##name(                               \
        const GYRE_MESSAGE_SHARED M *m)                                                            \
    {                                                                                              \
        return GYRE_MESSAGE_HAD_(M, name##_, since) && m->name##_.count                            \
                   ? GYRE_MESSAGE_PLACE_(type, M, name, 1)                                         \
                   : 0;                                                                            \
    }

#endif
