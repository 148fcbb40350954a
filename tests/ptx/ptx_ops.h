/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_ops: what the instructions of PTX compute, a row for each, as an expression of a, b and c.
 *
 * A name has '_' for PTX's '.'. Registers hold 64 bits; what is narrower lies in the lower ones,
 * and the others are zero. What is rounded is rounded to nearest, or not at all.
 */
#ifndef GYRE_TESTS_PTX_OPS_H
#define GYRE_TESTS_PTX_OPS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float ptx_f32(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof value);
    return value;
}

static inline uint64_t ptx_bits32(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double ptx_f64(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t ptx_bits64(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Floats become whole numbers of `bits` bits: what does not fit is the nearest that does. */
static inline uint64_t ptx_whole(double value, int bits, int is_signed)
{
    const double limit = ldexp(1.0, bits - (is_signed ? 1 : 0));
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

    if (isnan(value))
        return is_signed && bits == 64 ? UINT64_C(1) << 63 : 0;
    if (value >= limit)
        return is_signed ? mask >> 1 : mask;
    if (is_signed)
        return value < -limit ? ~(mask >> 1) & mask : (uint64_t)(int64_t)value & mask;
    return value < 0 ? 0 : (uint64_t)value;
}

static inline uint64_t ptx_reversed(uint32_t value)
{
    uint32_t turned = 0;

    for (int i = 0; i < 32; i++)
        turned |= (value >> i & 1) << (31 - i);
    return turned;
}

static inline uint64_t ptx_leading(uint64_t value, int bits)
{
    return value ? (uint64_t)(__builtin_clzll(value) - (64 - bits)) : (uint64_t)bits;
}

/* Four of the eight bytes of a and b. */
static inline uint64_t ptx_permuted(uint64_t a, uint64_t b, uint64_t choice)
{
    const uint64_t both = a | b << 32;
    uint64_t made = 0;

    for (int i = 0; i < 4; i++) {
        const uint64_t one = choice >> (4 * i) & 15, byte = both >> (8 * (one & 7)) & 255;

        made |= (one & 8 ? (byte & 128 ? UINT64_C(255) : 0) : byte) << (8 * i);
    }
    return made;
}

/* A function of three bits for each bit, as a table of eight. */
static inline uint64_t ptx_looked_up(uint64_t a, uint64_t b, uint64_t c, uint64_t table)
{
    uint64_t made = 0;

    for (int i = 0; i < 8; i++)
        if (table >> i & 1)
            made |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return made & UINT32_MAX;
}

/* `count` ones from bit `at` on, in a word of `bits`. */
static inline uint64_t ptx_ones(uint64_t at, uint64_t count, uint64_t bits)
{
    const uint64_t all = UINT64_MAX >> (64 - bits);

    at &= 255, count &= 255;
    return at >= bits ? 0 : (count >= 64 ? all : (UINT64_C(1) << count) - 1) << at & all;
}

static inline uint64_t ptx_field(uint64_t a, uint64_t at, uint64_t count, uint64_t bits)
{
    return (at & 255) >= bits ? 0 : (a & ptx_ones(at, count, bits)) >> (at & 255);
}

static inline uint64_t ptx_inserted(uint64_t field, uint64_t into, uint64_t at, uint64_t count,
                                    uint64_t bits)
{
    const uint64_t mask = ptx_ones(at, count, bits);

    return (into & ~mask) | (mask ? field << (at & 255) & mask : 0);
}

/* U and S are the types of a kind of whole number; t is how its signed and v how its unsigned
 * instructions end. Results are cut to U by who stores them. */
#define PTX_WHOLE_ROWS(X, t, v, U, S)                                                              \
    X(add_##t, U, a + b)                                                                           \
    X(add_##v, U, a + b)                                                                           \
    X(sub_##t, U, a - b)                                                                           \
    X(sub_##v, U, a - b)                                                                           \
    X(mul_lo_##t, U, a *b)                                                                         \
    X(mul_lo_##v, U, a *b)                                                                         \
    X(mad_lo_##t, U, a *b + c)                                                                     \
    X(mad_lo_##v, U, a *b + c)                                                                     \
    X(div_##t, U, (S)b == 0 ? UINT64_MAX : (S)b == -1 ? 0 - a : (uint64_t)((S)a / (S)b))           \
    X(div_##v, U, (U)b == 0 ? UINT64_MAX : (U)a / (U)b)                                            \
    X(rem_##t, U, (S)b == 0 ? a : (S)b == -1 ? 0 : (uint64_t)((S)a % (S)b))                        \
    X(rem_##v, U, (U)b == 0 ? a : (U)a % (U)b)                                                     \
    X(min_##t, U, (S)a < (S)b ? a : b)                                                             \
    X(min_##v, U, (U)a < (U)b ? a : b)                                                             \
    X(max_##t, U, (S)a > (S)b ? a : b)                                                             \
    X(max_##v, U, (U)a > (U)b ? a : b)                                                             \
    X(neg_##t, U, 0 - a)                                                                           \
    X(abs_##t, U, (S)a < 0 ? 0 - a : a)                                                            \
    X(shr_##t, U, (uint64_t)((S)a >> (b < sizeof(U) * 8 ? b : sizeof(U) * 8 - 1)))                 \
    X(shr_##v, U, b < sizeof(U) * 8 ? (U)a >> b : 0)

#define PTX_BIT_ROWS(X, t, U)                                                                      \
    X(and_##t, U, a &b)                                                                            \
    X(or_##t, U, a | b)                                                                            \
    X(xor_##t, U, a ^ b)                                                                           \
    X(not_##t, U, ~a)                                                                              \
    X(shl_##t, U, b < sizeof(U) * 8 ? a << b : 0)                                                  \
    X(shr_##t, U, b < sizeof(U) * 8 ? (U)a >> b : 0)

#define PTX_FLOAT_ROWS(X, t, U, of, bits)                                                          \
    X(add_##t, U, bits(of(a) + of(b)))                                                             \
    X(sub_##t, U, bits(of(a) - of(b)))                                                             \
    X(mul_##t, U, bits(of(a) * of(b)))                                                             \
    X(div_##t, U, bits(of(a) / of(b)))                                                             \
    X(rcp_##t, U, bits(1 / of(a)))                                                                 \
    X(neg_##t, U, bits(-of(a)))                                                                    \
    X(min_##t, U, of(a) == of(b) ? a | b : of(a) < of(b) || isnan(of(b)) ? a : b) /* zeros */      \
    X(max_##t, U, of(a) == of(b) ? a & b : of(a) > of(b) || isnan(of(b)) ? a : b)

/* From whole numbers to whole numbers; what is signed is extended by its sign. */
#define PTX_CONVERT_ROWS(X, t, U)                                                                  \
    X(cvt_##t##_u8, U, (uint8_t)a)                                                                 \
    X(cvt_##t##_s8, U, (uint64_t)(int8_t)a)                                                        \
    X(cvt_##t##_u16, U, (uint16_t)a)                                                               \
    X(cvt_##t##_s16, U, (uint64_t)(int16_t)a)                                                      \
    X(cvt_##t##_u32, U, (uint32_t)a)                                                               \
    X(cvt_##t##_s32, U, (uint64_t)(int32_t)a)                                                      \
    X(cvt_##t##_u64, U, a)                                                                         \
    X(cvt_##t##_s64, U, a)

/* X(name, type of the result, expression) */
/* clang-format off */
#define PTX_ROWS(X)                                                                                \
    PTX_WHOLE_ROWS(X, s16, u16, uint16_t, int16_t)                                                 \
    PTX_WHOLE_ROWS(X, s32, u32, uint32_t, int32_t)                                                 \
    PTX_WHOLE_ROWS(X, s64, u64, uint64_t, int64_t)                                                 \
    PTX_BIT_ROWS(X, b16, uint16_t)                                                                 \
    PTX_BIT_ROWS(X, b32, uint32_t)                                                                 \
    PTX_BIT_ROWS(X, b64, uint64_t)                                                                 \
    PTX_FLOAT_ROWS(X, f32, uint32_t, ptx_f32, ptx_bits32)                                          \
    PTX_FLOAT_ROWS(X, f64, uint64_t, ptx_f64, ptx_bits64)                                          \
    PTX_CONVERT_ROWS(X, u8, uint8_t) PTX_CONVERT_ROWS(X, s8, uint8_t)                              \
    PTX_CONVERT_ROWS(X, u16, uint16_t) PTX_CONVERT_ROWS(X, s16, uint16_t)                          \
    PTX_CONVERT_ROWS(X, u32, uint32_t) PTX_CONVERT_ROWS(X, s32, uint32_t)                          \
    PTX_CONVERT_ROWS(X, u64, uint64_t) PTX_CONVERT_ROWS(X, s64, uint64_t)                          \
    X(mul_wide_u16, uint32_t, a * b)                                                               \
    X(mul_wide_s16, uint32_t, (uint64_t)((int16_t)a * (int16_t)b))                                 \
    X(mul_wide_u32, uint64_t, a * b)                                                               \
    X(mul_wide_s32, uint64_t, (uint64_t)((int64_t)(int32_t)a * (int32_t)b))                        \
    X(mad_wide_u32, uint64_t, a * b + c)                                                           \
    X(mad_wide_s32, uint64_t, (uint64_t)((int64_t)(int32_t)a * (int32_t)b) + c)                    \
    X(mul_hi_u32, uint32_t, a * b >> 32)                                                           \
    X(mul_hi_s32, uint32_t, (uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32)                    \
    X(mul_hi_u64, uint64_t, (uint64_t)((__uint128_t)a * b >> 64))                                  \
    X(popc_b32, uint32_t, (uint64_t)__builtin_popcountll(a))                                       \
    X(popc_b64, uint32_t, (uint64_t)__builtin_popcountll(a))                                       \
    X(clz_b32, uint32_t, ptx_leading(a, 32))                                                       \
    X(clz_b64, uint32_t, ptx_leading(a, 64))                                                       \
    X(brev_b32, uint32_t, ptx_reversed((uint32_t)a))                                               \
    X(bfind_u32, uint32_t, a ? 31 - ptx_leading(a, 32) : UINT32_MAX)                               \
    X(bfind_shiftamt_u32, uint32_t, a ? ptx_leading(a, 32) : UINT32_MAX)                           \
    X(bfe_u32, uint32_t, ptx_field(a, b, c, 32))                                                   \
    X(bfe_u64, uint64_t, ptx_field(a, b, c, 64))                                                   \
    X(bfi_b32, uint32_t, ptx_inserted(a, b, c, d, 32))                                             \
    X(bfi_b64, uint64_t, ptx_inserted(a, b, c, d, 64))                                             \
    X(prmt_b32, uint32_t, ptx_permuted(a, b, c))                                                   \
    X(lop3_b32, uint32_t, ptx_looked_up(a, b, c, d))                                               \
    X(shf_l_wrap_b32, uint32_t, (b << 32 | a) << (c & 31) >> 32)                                   \
    X(shf_r_wrap_b32, uint32_t, (b << 32 | a) >> (c & 31))                                         \
    X(fma_rn_f32, uint32_t, ptx_bits32(fmaf(ptx_f32(a), ptx_f32(b), ptx_f32(c))))                  \
    X(fma_rn_f64, uint64_t, ptx_bits64(fma(ptx_f64(a), ptx_f64(b), ptx_f64(c))))                   \
    X(abs_f32, uint32_t, a & 0x7fffffffu)                                                          \
    X(abs_f64, uint64_t, a & ~(UINT64_C(1) << 63))                                                 \
    X(sqrt_f32, uint32_t, ptx_bits32(sqrtf(ptx_f32(a))))                                           \
    X(cvt_rn_f32_u32, uint32_t, ptx_bits32((float)(uint32_t)a))                                    \
    X(cvt_rn_f32_s32, uint32_t, ptx_bits32((float)(int32_t)a))                                     \
    X(cvt_rn_f32_u64, uint32_t, ptx_bits32((float)a))                                              \
    X(cvt_rn_f32_s64, uint32_t, ptx_bits32((float)(int64_t)a))                                     \
    X(cvt_rn_f32_f64, uint32_t, ptx_bits32((float)ptx_f64(a)))                                     \
    X(cvt_f64_f32, uint64_t, ptx_bits64((double)ptx_f32(a)))                                       \
    X(cvt_rn_f64_u32, uint64_t, ptx_bits64((double)(uint32_t)a))                                   \
    X(cvt_rn_f64_s32, uint64_t, ptx_bits64((double)(int32_t)a))                                    \
    X(cvt_rn_f64_u64, uint64_t, ptx_bits64((double)a))                                             \
    X(cvt_rn_f64_s64, uint64_t, ptx_bits64((double)(int64_t)a))                                    \
    X(cvt_rzi_u32_f32, uint32_t, ptx_whole(trunc((double)ptx_f32(a)), 32, 0))                      \
    X(cvt_rzi_s32_f32, uint32_t, ptx_whole(trunc((double)ptx_f32(a)), 32, 1))                      \
    X(cvt_rzi_u64_f32, uint64_t, ptx_whole(trunc((double)ptx_f32(a)), 64, 0))                      \
    X(cvt_rzi_s64_f32, uint64_t, ptx_whole(trunc((double)ptx_f32(a)), 64, 1))                      \
    X(cvt_rzi_u32_f64, uint32_t, ptx_whole(trunc(ptx_f64(a)), 32, 0))                              \
    X(cvt_rzi_s32_f64, uint32_t, ptx_whole(trunc(ptx_f64(a)), 32, 1))                              \
    X(cvt_rzi_u64_f64, uint64_t, ptx_whole(trunc(ptx_f64(a)), 64, 0))                              \
    X(cvt_rzi_s64_f64, uint64_t, ptx_whole(trunc(ptx_f64(a)), 64, 1))
/* clang-format on */

/* Comparisons, which make a predicate. */
#define PTX_ORDER_ROWS(X, t, v, U, S)                                                              \
    X(setp_eq_##t, (U)a == (U)b)                                                                   \
    X(setp_ne_##t, (U)a != (U)b)                                                                   \
    X(setp_lt_##t, (S)a < (S)b)                                                                    \
    X(setp_le_##t, (S)a <= (S)b)                                                                   \
    X(setp_gt_##t, (S)a > (S)b)                                                                    \
    X(setp_ge_##t, (S)a >= (S)b)                                                                   \
    X(setp_eq_##v, (U)a == (U)b)                                                                   \
    X(setp_ne_##v, (U)a != (U)b)                                                                   \
    X(setp_lt_##v, (U)a < (U)b)                                                                    \
    X(setp_le_##v, (U)a <= (U)b)                                                                   \
    X(setp_gt_##v, (U)a > (U)b)                                                                    \
    X(setp_ge_##v, (U)a >= (U)b)

#define PTX_EQUAL_ROWS(X, t, U)                                                                    \
    X(setp_eq_##t, (U)a == (U)b)                                                                   \
    X(setp_ne_##t, (U)a != (U)b)

/* Those that end in u hold for what is no number too. */
#define PTX_FLOAT_ORDER_ROWS(X, t, of)                                                             \
    X(setp_eq_##t, of(a) == of(b))                                                                 \
    X(setp_ne_##t, of(a) < of(b) || of(a) > of(b))                                                 \
    X(setp_lt_##t, of(a) < of(b))                                                                  \
    X(setp_le_##t, of(a) <= of(b))                                                                 \
    X(setp_gt_##t, of(a) > of(b))                                                                  \
    X(setp_ge_##t, of(a) >= of(b))                                                                 \
    X(setp_equ_##t, !(of(a) < of(b) || of(a) > of(b)))                                             \
    X(setp_neu_##t, of(a) != of(b))                                                                \
    X(setp_ltu_##t, !(of(a) >= of(b)))                                                             \
    X(setp_leu_##t, !(of(a) > of(b)))                                                              \
    X(setp_gtu_##t, !(of(a) <= of(b)))                                                             \
    X(setp_geu_##t, !(of(a) < of(b)))                                                              \
    X(setp_nan_##t, isnan(of(a)) || isnan(of(b)))                                                  \
    X(setp_num_##t, !isnan(of(a)) && !isnan(of(b)))

/* clang-format off */
#define PTX_COMPARE_ROWS(X)                                                                        \
    PTX_ORDER_ROWS(X, s16, u16, uint16_t, int16_t)                                                 \
    PTX_ORDER_ROWS(X, s32, u32, uint32_t, int32_t)                                                 \
    PTX_ORDER_ROWS(X, s64, u64, uint64_t, int64_t)                                                 \
    PTX_EQUAL_ROWS(X, b16, uint16_t)                                                               \
    PTX_EQUAL_ROWS(X, b32, uint32_t)                                                               \
    PTX_EQUAL_ROWS(X, b64, uint64_t)                                                               \
    PTX_FLOAT_ORDER_ROWS(X, f32, ptx_f32)                                                          \
    PTX_FLOAT_ORDER_ROWS(X, f64, ptx_f64)

/* Of predicates: masks of lanes. */
#define PTX_PREDICATE_ROWS(X)                                                                      \
    X(and_pred, a & b)                                                                             \
    X(or_pred, a | b)                                                                              \
    X(xor_pred, a ^ b)                                                                             \
    X(not_pred, ~a)                                                                                \
    X(mov_pred, a)

/* The others, which ptx_step.c does one by one. */
#define PTX_OTHERS(X)                                                                              \
    X(move) X(move_wide) X(pack) X(pack_wide) X(unpack) X(unpack_wide) X(read_special) X(select)   \
    X(load) X(store) X(atomic) X(to_generic) X(from_generic) X(branch) X(call) X(result) X(ret)    \
    X(exit) X(trap) X(fence) X(nap) X(active)                                           \
    X(shuffle) X(vote) X(reduce) X(match) X(warp_barrier)                                          \
    X(barrier) X(barrier_reduce) X(barrier_arrive)
/* clang-format on */

enum {
#define ROW(name, type, expression) PTX_OP_##name,
    PTX_ROWS(ROW)
#undef ROW
#define ROW(name, expression) PTX_OP_##name,
        PTX_COMPARE_ROWS(ROW) PTX_PREDICATE_ROWS(ROW)
#undef ROW
#define ROW(name) PTX_OP_##name,
            PTX_OTHERS(ROW)
#undef ROW
                PTX_OPS
};

enum { PTX_SHUFFLE_UP, PTX_SHUFFLE_DOWN, PTX_SHUFFLE_BFLY, PTX_SHUFFLE_IDX };
enum { PTX_VOTE_ALL, PTX_VOTE_ANY, PTX_VOTE_UNI, PTX_VOTE_BALLOT };
enum {
    PTX_ATOM_ADD,
    PTX_ATOM_MIN,
    PTX_ATOM_MAX,
    PTX_ATOM_AND,
    PTX_ATOM_OR,
    PTX_ATOM_XOR,
    PTX_ATOM_EXCH,
    PTX_ATOM_CAS,
    PTX_ATOM_INC,
    PTX_ATOM_DEC,
};

#endif
