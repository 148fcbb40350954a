/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_expressions: what ptx_test.c has computed by C, and ptx_test.cu by CUDA: X(type, expression)
 * for each, of a, b and c, which are of that type. Upper-case names are what the two call
 * differently.
 */
#ifndef GYRE_TESTS_PTX_EXPRESSIONS_H
#define GYRE_TESTS_PTX_EXPRESSIONS_H

/* clang-format off */
#define WHOLE(X, U, S, BITS)                                                                       \
    X(U, a + b) X(U, a - b) X(U, a * b) X(U, a * b + c) X(U, -a)                                   \
    X(U, b ? a / b : c) X(U, b ? a % b : c)                                                        \
    X(U, b && b != (U)-1 ? (U)((S)a / (S)b) : c) X(U, b && b != (U)-1 ? (U)((S)a % (S)b) : c)      \
    X(U, a & b) X(U, a | b) X(U, a ^ b) X(U, ~a) X(U, (a & b) ^ (b | ~c))                          \
    X(U, a << (b % BITS)) X(U, a >> (b % BITS)) X(U, (U)((S)a >> (b % BITS)))                      \
    X(U, a < b) X(U, a <= b) X(U, a == b) X(U, (S)a < (S)b) X(U, (S)a <= (S)b)                     \
    X(U, a < b ? a : b) X(U, a > b ? a : b) X(U, (S)a < (S)b ? a : b) X(U, (S)a > (S)b ? a : b)    \
    X(U, (U)(signed char)a) X(U, (U)(unsigned char)a) X(U, (U)(s16)a) X(U, (U)(u16)a)              \
    X(U, (U)(s32)a) X(U, (U)(u32)a) X(U, (a < b && b < c) || a == c ? a : b)

#define PARTICULAR(X)                                                                              \
    X(u32, (u32)((u64)a * b >> 32)) X(u32, (u32)((u64)((s64)(s32)a * (s32)b) >> 32))               \
    X(u64, (u64)(u32)a * (u32)b) X(u64, (u64)((s64)(s32)a * (s32)b))                               \
    X(u64, (u64)(u32)a * (u32)b + c) X(u64, MULTIPLY_HIGH(a, b))                                   \
    X(u32, ONES(a)) X(u64, ONES64(a)) X(u32, LEADING(a)) X(u64, LEADING64(a)) X(u32, FIRST(a))     \
    X(u32, TURNED(a)) X(u32, PICKED(a, b, c)) X(u32, FUNNEL(a, b, c))                              \
    X(u32, a >> 5 & 0x3ff) X(u32, (a & ~0xff0u) | (b & 0xff) << 4) X(u64, a >> 13 & 0x7ffffff)     \
    X(u32, a / 7) X(u32, a % 1000) X(u64, a / 1000000007) X(u32, (u32)((s32)a / 10))               \
    X(u64, (u64)(s64)(s32)a + b) X(u64, (a << 32 | b >> 32))

#define FLOATING(X, F)                                                                             \
    X(F, a + b) X(F, a - b) X(F, a * b) X(F, a * b + c) X(F, a / b) X(F, -a)                       \
    X(F, a < b) X(F, a <= b) X(F, a == b) X(F, a != b) X(F, !(a < b)) X(F, !(a >= b))              \
    X(F, a < b ? a : c) X(F, (F)(s32)(b > -1e6 && b < 1e6 ? b : 7))                                \
    X(F, (F)(u32)(b > 0 && b < 1e6 ? b : 7)) X(F, (F)(f32)a) X(F, (F)(f64)a * 3)                   \
    X(F, (F)(s64)(b > -1e15 && b < 1e15 ? b : 7))

#define FLOATS(X)                                                                                  \
    FLOATING(X, f32) FLOATING(X, f64)                                                              \
    X(f32, FUSED(a, b, c)) X(f32, ROOT(a)) X(f32, SMALLER(a, b)) X(f32, LARGER(a, b))              \
    X(f32, ABSOLUTE(a))

#define EXPRESSIONS(X)                                                                             \
    WHOLE(X, u16, s16, 16) WHOLE(X, u32, s32, 32) WHOLE(X, u64, s64, 64) PARTICULAR(X)
/* clang-format on */

#endif
