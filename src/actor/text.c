/* SPDX-License-Identifier: Apache-2.0
 *
 * text: see text.h.
 */
#include "actor/text.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* The bytes of a file, with a 0 behind them. The assembler finds it by the root of the tree. */
#define EMBED(name, file)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            ".hidden gyre_actor_" #name "\n"                                                       \
            ".globl gyre_actor_" #name "\n"                                                        \
            "gyre_actor_" #name ":\n"                                                              \
            ".incbin \"" file "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char gyre_actor_##name[] __attribute__((visibility("hidden")))

EMBED(abi, "include/gyre/abi.h");
EMBED(actor_abi, "include/gyre/actor_abi.h");
EMBED(self, "include/gyre/self.h");
EMBED(behaviour, "include/gyre/behaviour.h");
EMBED(ring_abi, "src/flow/ring_abi.h");
EMBED(mailbox_abi, "src/actor/mailbox_abi.h");
EMBED(mailbox_words, "src/actor/mailbox_words.h");
EMBED(annex_abi, "src/actor/annex_abi.h");
EMBED(stage_abi, "src/actor/stage_abi.h");
EMBED(slot, "src/actor/slot.h");
EMBED(slot_opencl, "src/actor/slot_opencl.h");
EMBED(pace, "src/actor/pace.h");
EMBED(print_single, "src/actor/print_single.h");
EMBED(seat_single, "src/actor/seat_single.h");
EMBED(loop_single, "src/actor/loop_single.h");
EMBED(loop_opencl, "src/actor/loop_opencl.h");
EMBED(loop_cuda, "src/actor/loop_cuda.h");
EMBED(cuda_seat, "src/actor/cuda_seat.h");
EMBED(cuda_slot, "src/actor/cuda_slot.h");
EMBED(cuda_annex, "src/actor/cuda_annex.h");
EMBED(cuda_handle, "src/actor/cuda_handle.h");
EMBED(cuda_narrow, "src/actor/cuda_narrow.h");
EMBED(cuda_stage, "src/actor/cuda_stage.h");
EMBED(cuda_chunk, "src/actor/cuda_chunk.h");
EMBED(cuda_reader, "src/actor/cuda_reader.h");
EMBED(cuda_clerk, "src/actor/cuda_clerk.h");
EMBED(cuda_block, "src/actor/cuda_block.h");
EMBED(cuda_tell, "src/actor/cuda_tell.h");
EMBED(cuda_steward, "src/actor/cuda_steward.h");

const gyre_include gyre_actor_texts[] = {
    {"gyre/abi.h", gyre_actor_abi},
    {"gyre/actor_abi.h", gyre_actor_actor_abi},
    {"gyre/self.h", gyre_actor_self},
    {"gyre/behaviour.h", gyre_actor_behaviour},
    {"flow/ring_abi.h", gyre_actor_ring_abi},
    {"actor/mailbox_abi.h", gyre_actor_mailbox_abi},
    {"actor/mailbox_words.h", gyre_actor_mailbox_words},
    {"actor/annex_abi.h", gyre_actor_annex_abi},
    {"actor/stage_abi.h", gyre_actor_stage_abi},
    {"actor/slot.h", gyre_actor_slot},
    {"actor/slot_opencl.h", gyre_actor_slot_opencl},
    {"actor/pace.h", gyre_actor_pace},
    {"actor/print_single.h", gyre_actor_print_single},
    {"actor/seat_single.h", gyre_actor_seat_single},
    {"actor/loop_single.h", gyre_actor_loop_single},
    {"actor/loop_opencl.h", gyre_actor_loop_opencl},
    {"actor/loop_cuda.h", gyre_actor_loop_cuda},
    {"actor/cuda_seat.h", gyre_actor_cuda_seat},
    {"actor/cuda_slot.h", gyre_actor_cuda_slot},
    {"actor/cuda_annex.h", gyre_actor_cuda_annex},
    {"actor/cuda_handle.h", gyre_actor_cuda_handle},
    {"actor/cuda_narrow.h", gyre_actor_cuda_narrow},
    {"actor/cuda_stage.h", gyre_actor_cuda_stage},
    {"actor/cuda_chunk.h", gyre_actor_cuda_chunk},
    {"actor/cuda_reader.h", gyre_actor_cuda_reader},
    {"actor/cuda_clerk.h", gyre_actor_cuda_clerk},
    {"actor/cuda_block.h", gyre_actor_cuda_block},
    {"actor/cuda_tell.h", gyre_actor_cuda_tell},
    {"actor/cuda_steward.h", gyre_actor_cuda_steward},
    {NULL, NULL},
};
_Static_assert(sizeof gyre_actor_texts / sizeof gyre_actor_texts[0] <= GYRE_ACTOR_TEXTS_MOST + 1,
               "text.h says how many there may be");

const char *gyre_actor_text_before(bool cuda)
{
    /* contraction off, so that floats come out as on the host; CUDA has an option for it */
    return cuda ? "#define GYRE_BEHAVIOUR_CUDA 1\n" : "#pragma OPENCL FP_CONTRACT OFF\n";
}

char gyre_actor_text_letter(char letter)
{
    if (letter == '"' || letter == '\\' || letter == '\n')
        return '_';
    return letter;
}

/* What the compiler is to call the file, which is a string in the text. */
static void name_the_text(char *text, const char *file)
{
    char *const name = strchr(text, '"');

    for (size_t i = 0; name && file[i] != '\0'; i++)
        name[1 + i] = gyre_actor_text_letter(file[i]);
}

gyre_status gyre_actor_text(const gyre_behaviour *behaviour, bool cuda, char **out_text,
                            size_t *out_room)
{
    const size_t room = strlen(behaviour->text) + strlen(behaviour->file) + 512;
    const size_t bytes = behaviour->state_bytes;
    void *text = NULL;
    const gyre_status status = gyre_alloc(NULL, room, 1, &text);

    *out_text = text;
    *out_room = room;
    if (status == GYRE_OK) {
        /* an empty state has no bytes in C, and one in C++ */
        snprintf(
            text, room,
            "%s#line 1 \"%s\"\n%s\n#line 1 \"gyre\"\n"
            "GYRE_ABI_ASSERT(the_text_has_width_%u_and_a_state_of_%zu_bytes,\n"
            "GYRE_BEHAVIOUR_WIDTH == %u && (sizeof(gyre_behaviour_state) == %zu || %zu < 2));\n"
            "#include \"actor/loop_%s.h\"\n",
            gyre_actor_text_before(cuda), behaviour->file, behaviour->text, behaviour->width, bytes,
            behaviour->width, bytes, bytes, cuda ? "cuda" : "opencl");
        name_the_text(text, behaviour->file);
    }
    return status;
}
