/* SPDX-License-Identifier: Apache-2.0
 *
 * message_fake: tables for tests: every kind of field, parts in parts, and three versions of one
 * message.
 */
#ifndef GYRE_MSG_MESSAGE_FAKE_H
#define GYRE_MSG_MESSAGE_FAKE_H

#if !defined(__OPENCL_VERSION__) &&                                                                \
    !defined(__CUDACC_RTC__) /* they get gyre/message_abi.h before this */
#include "gyre/message.h"
#endif

#define POINT_FIELDS(F, M)                                                                         \
    F(M, SCALAR, f64, x, 1, )                                                                      \
    F(M, SCALAR, f64, y, 1, )                                                                      \
    F(M, OPTIONAL, u16, weight, 1, 1)                                                              \
    F(M, TEXT, char, label, 1, )
GYRE_MESSAGE(point, 5, 1, POINT_FIELDS);

#define PATH_FIELDS(F, M)                                                                          \
    F(M, LIST, i16, steps, 1, )                                                                    \
    F(M, PART, point, from, 1, )                                                                   \
    F(M, PART, point, to, 1, )                                                                     \
    F(M, SCALAR, u8, closed, 1, )
GYRE_MESSAGE(path, 6, 1, PATH_FIELDS);

#define SAMPLE_FIELDS(F, M)                                                                        \
    F(M, SCALAR, u8, small, 1, )                                                                   \
    F(M, SCALAR, i64, large, 1, )                                                                  \
    F(M, LIST, u8, raw, 1, )                                                                       \
    F(M, ARRAY, u32, corner, 1, 3)                                                                 \
    F(M, OPTIONAL, f32, ratio, 1, -1)                                                              \
    F(M, TEXT, char, title, 1, )                                                                   \
    F(M, PART, path, path, 1, )                                                                    \
    F(M, LIST, f64, reals, 1, )                                                                    \
    F(M, PART, point, centre, 1, )                                                                 \
    F(M, TEXT, char, note, 1, )                                                                    \
    F(M, SCALAR, i8, last, 1, )
GYRE_MESSAGE(sample, 7, 1, SAMPLE_FIELDS); /* NOLINT: set_corner looks at `failure` first */

#define VECTOR_ADD_FIELDS(F, M)                                                                    \
    F(M, LIST, f32, a, 1, )                                                                        \
    F(M, LIST, f32, b, 1, )
GYRE_MESSAGE(vector_add, 8, 1, VECTOR_ADD_FIELDS);

#define NOTHING_FIELDS(F, M)
GYRE_MESSAGE(nothing, 9, 1, NOTHING_FIELDS);

/* One message as it grew: programs would have one of these, called `order`. The second version's
 * first field stands in what was padding of the first. */
#define ORDER1_FIELDS(F, M)                                                                        \
    F(M, SCALAR, u64, number, 1, )                                                                 \
    F(M, TEXT, char, customer, 1, )                                                                \
    F(M, SCALAR, u8, urgent, 1, )
GYRE_MESSAGE(order1, 10, 1, ORDER1_FIELDS);

#define ORDER2_FIELDS(F, M)                                                                        \
    ORDER1_FIELDS(F, M)                                                                            \
    F(M, SCALAR, i16, discount, 2, -5)                                                             \
    F(M, LIST, u32, items, 2, )                                                                    \
    F(M, OPTIONAL, f32, weight, 2, 2.5f)
GYRE_MESSAGE(order2, 10, 2, ORDER2_FIELDS);

#define ORDER3_FIELDS(F, M)                                                                        \
    ORDER2_FIELDS(F, M)                                                                            \
    F(M, PART, point, place, 3, )                                                                  \
    F(M, TEXT, char, remark, 3, )                                                                  \
    F(M, ARRAY, u16, colour, 3, 3)
GYRE_MESSAGE(order3, 10, 3, ORDER3_FIELDS);

/* One message around another that grew. */
#define BATCH1_FIELDS(F, M)                                                                        \
    F(M, PART, order1, first, 1, )                                                                 \
    F(M, LIST, u16, codes, 1, )
GYRE_MESSAGE(batch1, 11, 1, BATCH1_FIELDS);

#define BATCH3_FIELDS(F, M)                                                                        \
    F(M, PART, order3, first, 1, )                                                                 \
    F(M, LIST, u16, codes, 1, )
GYRE_MESSAGE(batch3, 11, 1, BATCH3_FIELDS);

#endif
