/* SPDX-License-Identifier: Apache-2.0
 *
 * policy_fuzz: any bytes, as a policy.
 *
 * They are refused with a sentence, or every benchmark has a rule whose margins can be kept.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/status.h"
#include "record/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const ids[] = {"", "queue/push/64", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    gyre_policy *policy;

    if (gyre_policy_parse((const char *)data, size, "fuzz", &policy) == GYRE_OK) {
        for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
            const gyre_policy_rule *rule = gyre_policy_find(policy, ids[i]);

            for (int k = 0; k < GYRE_GATED; k++)
                require(rule->margins[k].warn >= 0 &&
                        rule->margins[k].warn <= rule->margins[k].fail);
        }
    } else {
        require(policy == NULL && strstr(gyre_error_last()->text, "'fuzz'") != NULL);
    }
    gyre_policy_destroy(policy);
    return 0;
}
