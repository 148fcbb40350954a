/* SPDX-License-Identifier: Apache-2.0
 *
 * judge: see judge.h.
 */
#include "peers/runner/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEW = 3 }; /* samples of a peer that is only mentioned */

static const double TAIL_LIMIT = 3, FLAT_LIMIT = 1.05;
static const double FLAT_FLOOR = 1 / 1.05;

typedef struct bench {
    const peers_result *results;
    size_t count;
} bench;

/* What a rule is about, in one class. */
typedef struct matter {
    const peers_rule *rule;
    const peers_result *gyre, *other, *floor; /* NULL: there is none */
    peers_class class_;
} matter;

static bool is_of(const peers_result *result, const char *work, peers_kind kind)
{
    return strcmp(result->work->id, work) == 0 && result->library->kind == kind &&
           !result->way->aside && !result->problem[0];
}

/* Gyre's figure is that of its first way, whatever became of it. */
static const peers_result *find_gyre(const bench *b, const char *work)
{
    for (size_t i = 0; i < b->count; i++) {
        const peers_result *result = &b->results[i];

        if (strcmp(result->work->id, work) == 0 && result->library->kind == PEERS_GYRE &&
            !result->way->aside)
            return result;
    }
    return NULL;
}

static const peers_result *find_floor(const bench *b, const char *work)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_of(&b->results[i], work, PEERS_FLOOR))
            return &b->results[i];
    return NULL;
}

/* The fastest peer that the rule allows, or of all of them, and that keeps its items as Gyre does.
 */
static const peers_result *find_best(const bench *b, const matter *m, bool any)
{
    const peers_result *best = NULL;

    for (size_t i = 0; i < b->count; i++) {
        const peers_result *result = &b->results[i];
        const peers_series *series = &result->series[m->class_];

        if (!is_of(result, peers_rule_work(m->rule), PEERS_PEER) ||
            !(any || peers_rule_allows(m->rule, result->library->name, result->way->name)) ||
            result->way->lossless != m->gyre->way->lossless || series->count == 0)
            continue;
        if (!best || peers_series_median(series) < peers_series_median(&best->series[m->class_]))
            best = result;
    }
    return best;
}

static double median_of(const peers_result *result, peers_class class_)
{
    return result && result->series[class_].count > 0 ? peers_series_median(&result->series[class_])
                                                      : (double)NAN;
}

static size_t count_of(const peers_result *result, peers_class class_)
{
    return result ? result->series[class_].count : 0;
}

static void print_name(const peers_result *result, char name[PEERS_NAME])
{
    snprintf(name, PEERS_NAME, "%s%s%s %s", result->library->name,
             result->library->version[0] ? " " : "", result->library->version, result->way->name);
}

static void print_conditions(const peers_way *way, char text[PEERS_NAME])
{
    snprintf(text, PEERS_NAME, "%s, %s, %s", way->capacity, way->policy, way->in_flight);
}

/* A rule that names its peer does not hide a better one. */
static void put_faster(const bench *b, const matter *m, peers_row *row)
{
    const peers_result *best = find_best(b, m, true);

    row->faster_peer_ns = (double)NAN;
    if (m->rule->against != PEERS_AGAINST_BEST || !best || best == m->other ||
        count_of(best, m->class_) < FEW)
        return;
    print_name(best, row->faster_peer);
    row->faster_peer_ns = median_of(best, m->class_);
}

/* What the row's figures are, and how many samples stand behind them. */
static void put_figures(const matter *m, peers_row *row)
{
    const peers_series *gyre = &m->gyre->series[m->class_];
    const bool beside = m->rule->against == PEERS_AGAINST_PINGPONG;

    snprintf(row->work, sizeof row->work, "%s", m->rule->id);
    peers_rule_print_limit(m->rule, row->limit_text, sizeof row->limit_text);
    print_conditions(m->gyre->way, row->conditions);
    row->class_ = m->class_;
    row->gyre_ns = median_of(m->gyre, m->class_);
    row->floor_ns = median_of(m->floor, m->class_);
    row->loss = m->gyre->sent > 0 ? (double)m->gyre->lost / (double)m->gyre->sent : 0;
    row->samples = gyre->count;
    if (!m->floor && m->gyre->work->roles > 1 && gyre->count > 0)
        row->floor_ns = peers_series_pingpong(gyre);
    if (beside) {
        snprintf(row->best_peer, sizeof row->best_peer, "bare ping-pong");
        row->best_peer_ns = row->floor_ns;
    } else {
        row->best_peer_ns = median_of(m->other, m->class_);
        if (m->other) {
            print_name(m->other, row->best_peer);
            print_conditions(m->other->way, row->best_peer_conditions);
        }
        if (count_of(m->other, m->class_) < row->samples)
            row->samples = count_of(m->other, m->class_);
    }
    row->ratio = row->gyre_ns / row->best_peer_ns;
    row->limit = m->rule->form == PEERS_LIMIT_NONE ? (double)NAN
                                                   : peers_rule_limit(m->rule, row->best_peer_ns);
}

static void put_also(const bench *b, const matter *m, peers_row *row)
{
    const peers_series *gyre = &m->gyre->series[m->class_];

    row->also_value = row->also_limit = (double)NAN;
    if (m->rule->also == PEERS_ALSO_TAIL) {
        snprintf(row->also, sizeof row->also, "95th percentile over median");
        row->also_limit = TAIL_LIMIT;
        if (gyre->count > 0)
            row->also_value = peers_series_quantile(gyre, 0.95) / row->gyre_ns;
    } else if (m->rule->also == PEERS_ALSO_FLAT) {
        snprintf(row->also, sizeof row->also, "over %s", m->rule->flat_with);
        row->also_limit = FLAT_LIMIT;
        row->also_value = row->gyre_ns / median_of(find_gyre(b, m->rule->flat_with), m->class_);
    }
}

/* Why there is no verdict; "" when there is one. */
static void put_doubt(const matter *m, peers_row *row)
{
    const size_t gyre = count_of(m->gyre, m->class_), other = count_of(m->other, m->class_);
    const bool alone = m->rule->against == PEERS_AGAINST_PINGPONG;
    const size_t needed = m->rule->also == PEERS_ALSO_TAIL ? PEERS_TAIL : PEERS_ENOUGH;

    if (m->gyre->problem[0])
        snprintf(row->reason, sizeof row->reason, "Gyre: %.140s", m->gyre->problem);
    else if (!alone && !m->other)
        snprintf(row->reason, sizeof row->reason, "there is no peer to compare with");
    else if (gyre < needed)
        snprintf(row->reason, sizeof row->reason,
                 "%zu of %zu good samples of Gyre; left out: %zu with steal, %zu unsteady", gyre,
                 needed, m->gyre->stolen, m->gyre->unsteady);
    else if (!alone && other < PEERS_ENOUGH)
        snprintf(row->reason, sizeof row->reason,
                 "%zu of %d good samples of the peer; left out: %zu with steal, %zu unsteady",
                 other, PEERS_ENOUGH, m->other->stolen, m->other->unsteady);
    else if (m->rule->also == PEERS_ALSO_FLAT && isnan(row->also_value))
        snprintf(row->reason, sizeof row->reason, "%s was not measured", m->rule->flat_with);
}

static void put_verdict(const matter *m, peers_row *row)
{
    bool also = true;

    put_doubt(m, row);
    if (m->rule->also == PEERS_ALSO_TAIL)
        also = row->also_value <= TAIL_LIMIT;
    if (m->rule->also == PEERS_ALSO_FLAT)
        also = row->also_value <= FLAT_LIMIT && row->also_value >= FLAT_FLOOR;
    if (row->reason[0]) {
        row->verdict = PEERS_UNDECIDED;
        return;
    }
    if (m->rule->form == PEERS_LIMIT_NONE) {
        row->verdict = PEERS_NOT_JUDGED;
        return;
    }
    row->verdict = row->ratio <= row->limit && also ? PEERS_MET : PEERS_MISSED;
    if (!also)
        snprintf(row->reason, sizeof row->reason, "%s is %.3g", row->also, row->also_value);
}

static void make_row(const bench *b, const peers_rule *rule, peers_class class_, peers_row *row)
{
    matter m = {.rule = rule, .class_ = class_};

    *row = (peers_row){0};
    m.gyre = find_gyre(b, peers_rule_work(rule));
    m.floor = find_floor(b, peers_rule_work(rule));
    m.other = rule->against == PEERS_AGAINST_BEST ? find_best(b, &m, false) : m.floor;
    put_figures(&m, row);
    put_faster(b, &m, row);
    put_also(b, &m, row);
    put_verdict(&m, row);
}

/* Rows of a rule that holds in either class: of each in which it can be decided, else of the one
 * with more samples. */
static size_t make_rows(const bench *b, const peers_rule *rule, peers_row *rows)
{
    const peers_result *gyre = find_gyre(b, peers_rule_work(rule));
    peers_row near, far;
    size_t count = 0;

    if (gyre->work->roles == 1 || rule->class_ != PEERS_ANY_CLASS) {
        make_row(b, rule,
                 rule->class_ == PEERS_ANY_CLASS ? PEERS_SINGLE : (peers_class)rule->class_,
                 &rows[0]);
        return 1;
    }
    make_row(b, rule, PEERS_NEAR, &near);
    make_row(b, rule, PEERS_FAR, &far);
    if (far.verdict != PEERS_UNDECIDED)
        rows[count++] = far;
    if (near.verdict != PEERS_UNDECIDED)
        rows[count++] = near;
    if (count == 0)
        rows[count++] = near.samples > far.samples ? near : far;
    return count;
}

size_t peers_judge(const peers_result *results, size_t count, peers_row rows[PEERS_ROWS])
{
    const bench b = {results, count};
    size_t made = 0;

    for (size_t i = 0; peers_rule_at(i) && made + 2 <= PEERS_ROWS; i++)
        if (find_gyre(&b, peers_rule_work(peers_rule_at(i))))
            made += make_rows(&b, peers_rule_at(i), &rows[made]);
    return made;
}
