/* SPDX-License-Identifier: Apache-2.0
 *
 * broadcast: senders that overwrite against a subscriber that reads, under DROP_OLDEST, for spin:
 * the protocol [all-reading] of src/flow/channel_all.c.
 *
 * There are more slots than the capacity. A sender claims positions up to the limit without looking
 * at anybody. At the limit it erases: it says up to where items are erased, which are those that
 * nobody is to see any more; then it waits while an erased position is announced; then it raises the
 * limit so far that what is erased is overwritten and nothing else. The subscriber announces the
 * position that it is going to read, then looks whether that is erased, and then at the tail. One of
 * them sees the other.
 *
 * Who holds the tail moves it with plain stores, which others may see late: `shown` is what they
 * see. Who sees that something is erased also sees the tail that made it so. Everything else here
 * is written and read with seq_cst.
 *
 * Two senders send two items each through a channel for one with two slots, and a subscriber
 * reads. Verified: nothing is read from a slot that is being overwritten, or shared that was
 * released; an item is read at most once and in order; what was not received was missed, and all of
 * it is counted; the tail tells who finds an item erased that it was overtaken.
 *
 * -DLOOK_FIRST      the subscriber looks what is erased before it announces.
 * -DWAIT_FIRST      a sender looks at the announcement before it erases.
 * -DFORGET_ERASED   the subscriber looks at the tail alone.
 * -DFORGET_READER   a sender does not look at the announcement.
 * -DFAR_LIMIT       the limit is one too far.
 * -DTAIL_FIRST      the subscriber looks at the tail before it looks what is erased.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define CAPACITY 1
#define SLOTS 2
#define SENDERS 2
#define ITEMS 2 /* of each */
#define ALL (SENDERS * ITEMS)
#define NOTHING 255

byte tail = 0;          /* positions claimed, */
byte shown = 0;         /* as others than the senders see it */
byte limit = SLOTS;     /* up to which they may be */
byte erased = 0;        /* positions before this one must not be read */
byte stamp[SLOTS];      /* p + 1: the item of position p is there; 0: nothing yet */
byte slot[SLOTS];       /* the position that it holds */
byte reading = NOTHING; /* the position that the subscriber announces */

bool released[ALL];  /* what the item of a position refers to is gone */
byte writers[SLOTS]; /* in the slot */

#define MAY_OVERWRITE(p) (stamp[(p) % SLOTS] == ((p) < SLOTS -> 0 : (p) - SLOTS + 1))
#define FILLED(p) (stamp[(p) % SLOTS] == (p) + 1)
#define WAIT_FOR_READER(end) (reading == NOTHING || reading >= (end))

#ifdef FORGET_ERASED
#define LOOK_WHAT_IS_ERASED gone = 0
#else
#define LOOK_WHAT_IS_ERASED                                                                        \
    atomic {                                                                                       \
        gone = erased;                                                                             \
        if :: gone > 0 && shown < gone + CAPACITY -> shown = gone + CAPACITY :: else -> skip fi    \
    }
#endif

/* What was stored is seen sooner or later. */
active proctype memory()
{
end:
    do
    :: shown != tail -> shown = tail
    od
}

active [SENDERS] proctype sender()
{
    byte items = ITEMS, at, until;

    do
    :: items == 0 -> break
    :: else ->
again:
        at = tail;
        if
        :: at >= limit ->
            until = tail - CAPACITY;
#ifdef WAIT_FIRST
            WAIT_FOR_READER(until);
#endif
            atomic { if :: erased < until -> erased = until :: else -> skip fi }
#if !defined(WAIT_FIRST) && !defined(FORGET_READER)
            WAIT_FOR_READER(until);
#endif
#ifdef FAR_LIMIT
            limit = until + SLOTS + 1; /* which may be less than somebody else has found */
#else
            limit = until + SLOTS;
#endif
            goto again
        :: at < limit -> skip
        fi;
        (MAY_OVERWRITE(at) || tail != at);
        atomic { if :: tail == at -> tail++ :: else -> goto again fi }
        writers[at % SLOTS]++;
        assert(writers[at % SLOTS] == 1);
        if
        :: at >= SLOTS -> released[at - SLOTS] = true
        :: else -> skip
        fi;
        slot[at % SLOTS] = at;
        writers[at % SLOTS]--;
        stamp[at % SLOTS] = at + 1;
        items--
    od
}

active proctype subscriber()
{
    byte cursor = 0, gone, seen, delivered = 0, missed = 0;

    do
    :: cursor == ALL -> break
    :: else ->
        (shown != cursor);
#ifdef LOOK_FIRST
        LOOK_WHAT_IS_ERASED;
        reading = cursor;
        seen = shown;
#else
        reading = cursor;
#ifdef TAIL_FIRST
        seen = shown;
        LOOK_WHAT_IS_ERASED;
#else
        LOOK_WHAT_IS_ERASED;
        seen = shown;
#endif
#endif
        assert(gone <= cursor || seen - cursor > CAPACITY);
        if
        :: gone <= cursor && seen - cursor <= CAPACITY && FILLED(cursor) ->
            assert(writers[cursor % SLOTS] == 0);
            assert(slot[cursor % SLOTS] == cursor);
            assert(!released[cursor]); /* shared; and until it says that it is done: */
            assert(writers[cursor % SLOTS] == 0 && !released[cursor]);
            reading = NOTHING;
            cursor++;
            delivered++
        :: else ->
            reading = NOTHING;
            if
            :: seen - cursor > CAPACITY ->
                missed = missed + seen - CAPACITY - cursor;
                cursor = seen - CAPACITY
            :: else -> (FILLED(cursor) || shown != seen) /* on its way */
            fi
        fi
    od;
    assert(delivered + missed == ALL && delivered > 0)
}
