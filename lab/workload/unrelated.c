/* SPDX-License-Identifier: Apache-2.0
 *
 * unrelated: a function that nobody calls. Linked in front of a program, it moves all of its code
 * and changes nothing else.
 */
#include <stdint.h>
#include <stdlib.h>

uint64_t unrelated(const uint64_t *words, size_t count);

#define ROUND(k)                                                                                   \
    mixed = (mixed ^ words[(k) % count]) * (UINT64_C(2) * (k) + 0x9e3779b97f4a7c15) >> 1

__attribute__((used)) uint64_t unrelated(const uint64_t *words, size_t count)
{
    uint64_t mixed = count;

    if (count == 0)
        return 0;
    ROUND(1), ROUND(2), ROUND(3), ROUND(4), ROUND(5), ROUND(6), ROUND(7), ROUND(8), ROUND(9);
    ROUND(10), ROUND(11), ROUND(12), ROUND(13), ROUND(14), ROUND(15), ROUND(16), ROUND(17);
    return mixed;
}
