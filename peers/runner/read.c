/* SPDX-License-Identifier: Apache-2.0
 *
 * read: the rows of a file that somebody kept. What is wrong in it is said, never believed.
 *
 * Threads   one.
 * Owns      nothing.
 */
#include <math.h>
#include <string.h>

#include "peers/runner/run.h"
#include "record/document.h"

static const gyre_document_kind kind = {
    .family = "gyre.peers/",
    .what = "a run of the peers",
};

static const double MOST_NS = 1e18;

static double number_of(const gyre_value *object, const char *key)
{
    const gyre_value value = gyre_value_get(object, key);

    return value.json && !json_is_null(value.json) ? gyre_value_number(value, 0, MOST_NS)
                                                   : (double)NAN;
}

static void text_of(const gyre_value *object, const char *key, char *into, size_t size)
{
    const gyre_value value = gyre_value_get(object, key);
    const char *text;

    into[0] = '\0';
    if (!value.json || json_is_null(value.json))
        return;
    text = json_string_value(value.json);
    if (!text || strlen(text) >= size)
        gyre_value_refuse(&value, "is no text of at most %zu bytes", size - 1);
    else
        memcpy(into, text, strlen(text) + 1);
}

static void take_row(const gyre_value *object, peers_row *row)
{
    const gyre_value also = gyre_value_object(gyre_value_get(object, "also"));

    *row = (peers_row){0};
    text_of(object, "work", row->work, sizeof row->work);
    row->gyre_ns = number_of(object, "gyre_ns");
    text_of(object, "best_peer", row->best_peer, sizeof row->best_peer);
    row->best_peer_ns = number_of(object, "best_peer_ns");
    row->ratio = number_of(object, "ratio");
    row->limit = number_of(object, "limit");
    row->floor_ns = number_of(object, "floor_ns");
    row->class_ =
        (peers_class)gyre_value_choice(gyre_value_need(object, "class"), "single|near|far");
    row->loss = gyre_value_number(gyre_value_need(object, "loss"), 0, 1);
    row->samples = (size_t)gyre_value_count(object, "samples");
    row->verdict = (peers_verdict)gyre_value_choice(gyre_value_need(object, "verdict"),
                                                    "met|missed|undecided|not judged");
    text_of(object, "limit_text", row->limit_text, sizeof row->limit_text);
    text_of(object, "conditions", row->conditions, sizeof row->conditions);
    text_of(object, "best_peer_conditions", row->best_peer_conditions,
            sizeof row->best_peer_conditions);
    text_of(object, "reason", row->reason, sizeof row->reason);
    text_of(object, "faster_peer", row->faster_peer, sizeof row->faster_peer);
    row->faster_peer_ns = number_of(object, "faster_peer_ns");
    text_of(&also, "what", row->also, sizeof row->also);
    row->also_value = number_of(&also, "value");
    row->also_limit = number_of(&also, "limit");
}

gyre_status peers_rows_read(const char *path, peers_row rows[PEERS_ROWS], size_t *out_count)
{
    gyre_complaint complaint = {{0}};
    gyre_value root = {.complaint = &complaint}, array;
    gyre_status status;

    *out_count = 0;
    status = gyre_document_read(&kind, path, &root.json);
    if (status != GYRE_OK)
        return status;
    array = gyre_value_array(gyre_value_need(&root, "rows"), PEERS_ROWS);
    for (size_t i = 0; i < gyre_value_size(&array); i++) {
        const gyre_value object = gyre_value_object(gyre_value_at(&array, i));

        take_row(&object, &rows[i]);
        ++*out_count;
    }
    json_decref(root.json);
    if (!complaint.text[0])
        return GYRE_OK;
    *out_count = 0;
    return gyre_document_damaged(&kind, path, complaint.text);
}
