/* SPDX-License-Identifier: Apache-2.0
 *
 * facts: named values in sections, printed as text or as JSON by the same calls.
 *
 * Threads   one.
 * Owns      nothing.
 */
#ifndef GYRE_FACTS_H
#define GYRE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "gyre/common.h"

typedef struct facts {
    bool as_json;
    gyre_json json; /* its stream is used for text too */
} facts;

void facts_begin(facts *f);
void facts_end(facts *f);

/* A section is an object in JSON and a heading in text; sections do not nest. */
void facts_section(facts *f, const char *name);
void facts_section_end(facts *f);

/* The key names the unit where there is one: "memory_bytes". Text shows it with blanks. */
void facts_text(facts *f, const char *key, const char *value); /* "" reads "none" in text */
void facts_count(facts *f, const char *key, uint64_t value);
void facts_known(facts *f, const char *key, uint64_t value); /* 0: null, "unknown" */
void facts_bytes(facts *f, const char *key, uint64_t bytes); /* 0 reads "unknown" in text */
void facts_real(facts *f, const char *key, double value);    /* NAN: null, "none" */
void facts_bool(facts *f, const char *key, bool value);

#endif
