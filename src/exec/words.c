/* SPDX-License-Identifier: Apache-2.0
 *
 * words: what streams write and wait for, word by word. See gyre/stream.h.
 *
 * Threads   any.
 * Owns      nothing.
 */
#include "base/fail.h"
#include "exec/stream.h"

_Static_assert((int)GYRE_WORDS_MOST == (int)GYRE_DEV_WORDS_MOST, "they are handed on");

gyre_status gyre_stream_words(gyre_stream *stream, const gyre_word *words, size_t count)
{
    gyre_dev_word ready[GYRE_DEV_WORDS_MOST];
    const char *what = "words";
    gyre_status status;

    if (count < 1 || count > GYRE_WORDS_MOST)
        return gyre_fail(GYRE_INVALID, "%zu words at once; from 1 to %d", count, GYRE_WORDS_MOST);
    for (size_t i = 0; i < count; i++) {
        if (!words[i].at || (uintptr_t)words[i].at % sizeof *words[i].at != 0)
            return gyre_fail(GYRE_INVALID, "a word at %p, which is not aligned to 4",
                             (void *)words[i].at);
        if (words[i].act != GYRE_WORD_WRITE && words[i].act != GYRE_WORD_WAIT)
            return gyre_fail(GYRE_INVALID, "a word with which %d is done", (int)words[i].act);
        if (words[i].act == GYRE_WORD_WAIT)
            what = "a wait for a word";
        ready[i] = (gyre_dev_word){.kind = words[i].act == GYRE_WORD_WAIT ? GYRE_DEV_WORD_WAIT
                                                                          : GYRE_DEV_WORD_WRITE,
                                   .value = words[i].value,
                                   .at = words[i].at};
    }
    status = gyre_stream_begin(stream, what);
    if (status != GYRE_OK)
        return status;
    status = stream->context->backend->words(stream->native, ready, (uint32_t)count);
    return gyre_stream_commit(stream, status, &(gyre_submission){.what = what});
}
