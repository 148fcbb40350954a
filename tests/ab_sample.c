/* SPDX-License-Identifier: Apache-2.0
 *
 * ab_sample: writes a measurement of two versions that nobody made (gyre.ab/1), for script tests.
 *
 * Each word is a benchmark: "ID LAUNCHES CHANGE SPREAD" in one argument, "ID !REASON" for one that
 * failed, "ID -" and "ID +" for one that only the old or the new version has, and "ID rss OLD NEW"
 * for memory that was counted of the benchmark before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/ab_fake.h"

static void add(gyre_ab *ab, const char *word, const char **only_old, const char **only_new)
{
    char id[64];
    double change, spread, old_value, new_value;
    size_t launches;

    if (sscanf(word, "%63s %zu %lf %lf", id, &launches, &change, &spread) == 4)
        fake_bench(ab, id, launches, change, spread);
    else if (sscanf(word, "%63s rss %lf %lf", id, &old_value, &new_value) == 3 && ab->count > 0)
        fake_count(&ab->benches[ab->count - 1], GYRE_AB_PEAK_RSS, old_value, new_value);
    else if (sscanf(word, "%63s", id) == 1 && strstr(word, " !"))
        fake_failed(ab, id, GYRE_OUTCOME_FAILED, strstr(word, " !") + 2);
    else if (strstr(word, " -"))
        only_old[ab->only_old_count++] = gyre_arena_text(&ab->arena, id);
    else if (strstr(word, " +"))
        only_new[ab->only_new_count++] = gyre_arena_text(&ab->arena, id);
    else
        abort();
}

int main(int argc, char **argv)
{
    const char *only_old[FAKE_BENCHES], *only_new[FAKE_BENCHES];
    gyre_ab *ab = fake_ab();

    ab->only_old = only_old;
    ab->only_new = only_new;
    ab->head->interrupted = false;
    for (int i = 1; i < argc && i < FAKE_BENCHES; i++)
        add(ab, argv[i], only_old, only_new);
    if (gyre_ab_judge(ab) != GYRE_OK)
        return 1;
    gyre_ab_write(ab, stdout);
    gyre_ab_destroy(ab);
    return fflush(stdout) == 0 ? 0 : 1;
}
