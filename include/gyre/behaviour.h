/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour: what an actor does with a message, written once for processors and GPUs.
 *
 * A behaviour file includes this header and nothing else, declares its state and what its messages
 * carry, and handles one message:
 *
 *     #include "gyre/behaviour.h"
 *
 *     typedef struct tally { gyre_abi_u32 total; } tally;
 *     typedef struct add { gyre_abi_u32 amount; } add;
 *
 *     GYRE_BEHAVIOUR(counter, tally, GYRE_WIDTH_QUAD)
 *     {
 *         const gyre_abi_u32 amount = GYRE_REQUEST(add)->amount;
 *
 *         if (self->lane == 0)
 *             GYRE_ANSWER(tally)->total = gyre_atomic_add(&state->total, amount) + amount;
 *     }
 *
 * The C or C++ compiler makes a function of it for the CPU, and `counter`, a gyre_behaviour that
 * gyre_actor_create takes. It holds the text of the file as well, which NVRTC or the driver of
 * OpenCL compiles for other devices; a complaint of theirs names this file and its own lines.
 * Whatever is meant for the host alone stands between #ifdef GYRE_HOST and #endif.
 *
 * The language is what C, C++, CUDA C and OpenCL C 1.2 have in common: every pointer names its
 * address space (GYRE_GLOBAL: state and payloads; GYRE_OWN: variables; GYRE_LITERAL: strings),
 * types are those of gyre/abi.h, and there is no double, long, recursion, function pointer or
 * variable of the file.
 *
 * Lanes    A message is handled by self->lanes lanes at once, which is 1 on the CPU: code that goes
 *          `for (i = self->lane; i < n; i += self->lanes)` is right everywhere. All lanes run the
 *          same code; who writes what others read puts gyre_self_barrier between, reached by all.
 *          The answer is the one that lane 0 wrote.
 * State    One for all messages, zero at first. GYRE_WIDTH_BLOCK handles one message after another.
 *          The narrower widths handle many at once, in any order, and so do several blocks: then
 *          state is changed by atomic operations, or nobody else touches that part of it.
 * Sums     Integers come out equal everywhere; floats too where contraction is off, which is how
 *          Gyre compiles for devices, and lanes add in the same order.
 *
 * Threads   see above.
 * Owns      nothing.
 * Not here  gyre_self, barriers and atomic operations (gyre/self.h, which this includes); creating
 *           and calling actors (gyre/actor.h).
 */
#ifndef GYRE_BEHAVIOUR_H
#define GYRE_BEHAVIOUR_H

#ifndef GYRE_ACTOR_ABI_H
#include "gyre/actor_abi.h"
#endif
#ifndef GYRE_SELF_H
#include "gyre/self.h"
#endif

/* How many lanes handle one message. */
enum {
    GYRE_WIDTH_QUAD = 4,  /* 4 lanes: hundreds of messages at once; the fastest calls and rates */
    GYRE_WIDTH_WARP = 32, /* a warp */
    GYRE_WIDTH_BLOCK = 1, /* all lanes of a block, one message at a time, in order: for payloads
                           * that keep hundreds of lanes busy, or a state without atomics */
};

/* Any other is no program at all. */
#define GYRE_IS_WIDTH_(width_)                                                                     \
    ((width_) == GYRE_WIDTH_QUAD || (width_) == GYRE_WIDTH_WARP || (width_) == GYRE_WIDTH_BLOCK)

/* What the message carries, as a `const type *`: at most 40 bytes. */
#define GYRE_REQUEST(type_)                                                                        \
    ((const GYRE_OWN type_ *)(const GYRE_OWN void *)((brief)->body.bytes + GYRE_FITS_(type_)))

/* Answers, if that was asked for: a `type *` to fill in, at most 40 bytes. Twice is the same
 * answer. What a call gets that is not answered is flagged GYRE_BRIEF_EMPTY. */
#define GYRE_ANSWER(type_)                                                                         \
    ((self)->answered = 1u,                                                                        \
     (GYRE_OWN type_ *)(GYRE_OWN void *)((self)->answer.body.bytes + GYRE_FITS_(type_)))

/* What a message with GYRE_BRIEF_REFERS refers to, as a `type *`, and how many bytes there are.
 * Read by plain loads: on CUDA __ldg, or a pointer that is const and __restrict__, goes through a
 * cache for data that never changes, and this kernel stays while others write: it would see old
 * bytes. */
#define GYRE_PAYLOAD(type_) ((GYRE_GLOBAL type_ *)(brief)->body.reference.address)
#define GYRE_PAYLOAD_BYTES ((brief)->body.reference.size)

/* 0, or no program at all, and then what the compiler says has the name in it. */
#if defined(__cplusplus)
extern "C++" { /* wherever it is included */
template <bool holds> struct gyre_message_carries_40_bytes_at_most;
template <> struct gyre_message_carries_40_bytes_at_most<true> {
    char is;
};
template <bool holds> struct gyre_text_has_31_characters_at_most;
template <> struct gyre_text_has_31_characters_at_most<true> {
    char is;
};
}
#define GYRE_HOLDS_(name_, holds_) (sizeof(name_<(holds_)>) - 1)
#else
#define GYRE_HOLDS_(name_, holds_) (sizeof(struct { char name_[(holds_) ? 1 : -1]; }) - 1)
#endif

#define GYRE_FITS_(type_) GYRE_HOLDS_(gyre_message_carries_40_bytes_at_most, sizeof(type_) <= 40)

/* Prints a text of at most 31 characters, a literal, and a whole number of up to 64 bits; or a
 * float, by the second. The host logs it, topic "device" and level info, or hands it to the
 * function in gyre_actor_options, when somebody waits for the actor, changes its life or asks how
 * it is. By lane 0; what others say is not heard. Never waits: when the host has not read the last
 * ones, as many as the launch option `prints` says, it is lost, and counted. */
#define gyre_self_print(self_, text_, value_)                                                      \
    gyre_self_say((self_), GYRE_TEXT_(text_), GYRE_PRINT_WHOLE, (gyre_abi_u64)((value_) | 0))
#define gyre_self_print_f32(self_, text_, value_)                                                  \
    gyre_self_say((self_), GYRE_TEXT_(text_), GYRE_PRINT_F32, gyre_f32_bits(value_))

/* What the value is. Values are frozen. */
enum {
    GYRE_PRINT_WHOLE = 0,
    GYRE_PRINT_F32 = 1, /* its bits */
};

/* A literal and its length; no program at all when that is more than 31. */
#define GYRE_TEXT_(text_)                                                                          \
    "" text_,                                                                                      \
        (gyre_abi_u32)(sizeof("" text_) - 1 -                                                      \
                       GYRE_HOLDS_(gyre_text_has_31_characters_at_most, sizeof("" text_) <= 32))

/* The time in nanoseconds, gyre_self_now(self), which does not go back: for how long something
 * takes, and for giving up. It is the clock by which a behaviour sees its message's deadline. On
 * the CPU it is the host's (gyre/clock.h). On CUDA it is the GPU's, which begins elsewhere and may
 * go in steps of a microsecond; each lane asks for itself. OpenCL has none: there it is the host's
 * as it was last told, which is at an order, with a message that has a deadline, and from time to
 * time while a port waits that has sent such; it may stand still, so never wait for it. */
#if defined(__OPENCL_VERSION__) /* the loop behind this text has it */
GYRE_FUNCTION gyre_abi_u64 gyre_self_now(GYRE_OWN gyre_self *self);
#endif

#ifndef GYRE_HOST /* the loop behind this text has it */
GYRE_FUNCTION void gyre_self_say(GYRE_OWN gyre_self *self, const GYRE_LITERAL char *text,
                                 gyre_abi_u32 length, gyre_abi_u32 kind, gyre_abi_u64 value);
#endif

#ifdef GYRE_HOST

#include <stddef.h>
#include <stdint.h>

#include "gyre/common.h"
#include "gyre/program.h"

GYRE_BEGIN_DECLS

/* What gyre_self_print calls: `length` characters, of which more than 31 are left off. Never
 * blocks. */
GYRE_API void gyre_self_say(gyre_self *self, const char *text, uint32_t length, uint32_t kind,
                            uint64_t value);

/* See above. Never blocks. */
GYRE_API uint64_t gyre_self_now(gyre_self *self);

/* Handles one message on the CPU. */
typedef void (*gyre_handler)(gyre_self *self, void *state, const gyre_brief *brief);

/* What GYRE_BEHAVIOUR defines. One may as well be filled in by hand: with `text` in CUDA C only,
 * which may call any __device__ function, and no handler. */
typedef struct gyre_behaviour {
    size_t struct_size; /* sizeof(gyre_behaviour): lets the struct grow */
    const char *name;
    uint32_t width; /* GYRE_WIDTH_... */
    uint32_t reserved;
    size_t state_bytes;
    gyre_handler handler; /* for the CPU; NULL: not there */
    const char *file;     /* what compilers call the text */
    const char *text;     /* the file's, for devices; NULL: not there */
    const gyre_include
        *includes;              /* of the text, 15 at most, up to one without a name; NULL: none */
    const char *const *defines; /* for the text, "NAME" or "NAME=VALUE", up to a NULL */
    const char *const *options; /* more words for CUDA's compiler, up to a NULL */
    const char *const *cl_options; /* likewise for OpenCL's */
    const void *image;             /* what nvcc made of gyre_behaviour_text: a cubin, fatbin or PTX;
                                    * CUDA takes it and compiles nothing; NULL: there is none */
    size_t image_bytes;            /* its size */
} gyre_behaviour;

GYRE_END_DECLS

/* Where the assembler finds the file that is being compiled. It does not where __FILE__ is not what
 * the file is called (-ffile-prefix-map, -fmacro-prefix-map), or has a quote or a backslash in it:
 * "file not found". Then the compiler is told by -DGYRE_BEHAVIOUR_FILE='"/path/of/this.c"', and the
 * gyre_behaviour(FILE) of the CMake package does that. */
#ifndef GYRE_BEHAVIOUR_FILE
#define GYRE_BEHAVIOUR_FILE __FILE__
#endif

#define GYRE_BEHAVIOUR(name_, state_, width_)                                                      \
    GYRE_ABI_ASSERT(name_##_has_width_quad_warp_or_block, GYRE_IS_WIDTH_(width_));                 \
    static void gyre_handle_##name_(gyre_self *self, state_ *state, const gyre_brief *brief);      \
    static void gyre_handle_any_##name_(gyre_self *self, void *state, const gyre_brief *brief)     \
    {                                                                                              \
        gyre_handle_##name_(self, (state_ *)state, brief);                                         \
    }                                                                                              \
    __asm__(".pushsection .rodata\n"                                                               \
            ".hidden gyre_behaviour_text_" #name_ "\n"                                             \
            ".globl gyre_behaviour_text_" #name_ "\n"                                              \
            "gyre_behaviour_text_" #name_ ":\n"                                                    \
            ".incbin \"" GYRE_BEHAVIOUR_FILE "\"\n"                                                \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    GYRE_BEGIN_DECLS                                                                               \
    extern const char gyre_behaviour_text_##name_[] __attribute__((visibility("hidden")));         \
    extern const gyre_behaviour name_;                                                             \
    const gyre_behaviour name_ = {sizeof(gyre_behaviour),                                          \
                                  #name_,                                                          \
                                  width_,                                                          \
                                  0,                                                               \
                                  sizeof(state_),                                                  \
                                  gyre_handle_any_##name_,                                         \
                                  __FILE__,                                                        \
                                  gyre_behaviour_text_##name_,                                     \
                                  NULL,                                                            \
                                  NULL,                                                            \
                                  NULL,                                                            \
                                  NULL,                                                            \
                                  NULL,                                                            \
                                  0};                                                              \
    GYRE_END_DECLS                                                                                 \
    static void gyre_handle_##name_(gyre_self *self __attribute__((unused)),                       \
                                    state_ *state __attribute__((unused)),                         \
                                    const gyre_brief *brief __attribute__((unused)))

#else

/* One to a file, and by names that the loop around it knows. */
#define GYRE_BEHAVIOUR(name_, state_, width_)                                                      \
    GYRE_ABI_ASSERT(name_##_has_width_quad_warp_or_block, GYRE_IS_WIDTH_(width_));                 \
    enum { GYRE_BEHAVIOUR_WIDTH = (width_) };                                                      \
    typedef state_ gyre_behaviour_state;                                                           \
    GYRE_FUNCTION void gyre_behaviour_handle(GYRE_OWN gyre_self *self, GYRE_GLOBAL state_ *state,  \
                                             const GYRE_OWN gyre_brief *brief)

#endif

#endif
