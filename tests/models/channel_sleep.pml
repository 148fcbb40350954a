/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_sleep: how receivers sleep on an empty ring and senders on a full one, for spin: the
 * protocol of src/flow/channel_one.c. Interleavings only: what matters is read and swapped with
 * seq_cst.
 *
 * A sender claims a position by swapping the tail word, writes, and hands the slot over by its
 * stamp; a receiver does the same with the head word. Whoever wants to sleep sets its mark, by a
 * swap too, in the word that the other side must swap, while that word says there is nothing. The
 * claim clears the mark, and who cleared it wakes one sleeper. What is claimed and not handed over
 * is waited for awake. A sleeper that leaves, for whatever reason, sets the mark again for those who
 * stay, and wakes one of them if there is something.
 *
 * The place to sleep is that of park.pml. Verified: when nothing moves any more, no receiver sleeps
 * while there is an item, no sender sleeps while there is room, and nobody else waits for anything.
 *
 * -DMARK_LATE      the mark is set after the question, whatever has come since: it is seen too late.
 * -DFORGET_OTHERS  a leaver does not set the mark again: the next item wakes nobody.
 * -DFORGET_LOOK    a leaver sets it, and does not look: what came before its mark wakes nobody.
 * -DASK_STAMP      the question is whether something was handed over: who claimed before the mark
 *                  wakes nobody.
 * -DWAKE_EARLY     the wake comes before the claim: the woken one finds nothing and sleeps again.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define ROOM 1 /* slots of the ring */
#define RECEIVERS 0
#define SENDERS 1

byte tail = 0;               /* the tail word: positions claimed by senders, */
bool receivers_want = false; /* and the mark of sleeping receivers */
byte head = 0;               /* the head word, */
bool senders_want = false;   /* and the mark of sleeping senders */
byte stamp[ROOM];            /* 2p: free for position p; 2p + 1: its item is there */

byte epoch[2], sleepers[2];  /* two gyre_parks */
byte asleep[2], wakes[2];    /* threads in the futex, and wakes that the kernel has to deliver */

#define FILLED(p) (stamp[(p) % ROOM] == 2 * (p) + 1)
#define FREE(p) (stamp[(p) % ROOM] == 2 * (p))

inline wake_one(side)
{
    if
    :: sleepers[side] > 0 ->
        epoch[side]++;
        atomic { if :: asleep[side] > wakes[side] -> wakes[side]++ :: else -> skip fi }
    :: else -> skip
    fi
}

/* FUTEX_WAIT: until woken or, unless one is patient, until the deadline. */
inline futex_wait(side)
{
    atomic {
        if
        :: epoch[side] == seen -> asleep[side]++; slept = true
        :: else -> slept = false
        fi
    }
    if
    :: slept ->
end_asleep:
        if
        :: atomic { wakes[side] > 0 -> wakes[side]--; asleep[side]-- }
        :: atomic { !patient && asleep[side] > wakes[side] -> asleep[side]-- }
        fi
    :: !slept
    fi
}

/* Moves one item out, or in; `got` says whether. */
inline move(counter, ready, mark, other, after)
{
    got = false;
    do
    :: true ->
        at = counter;
        if
        :: ready ->
#ifdef WAKE_EARLY
            if :: mark -> wake_one(other) :: else -> skip fi;
#endif
            atomic {
                if
                :: counter == at -> counter++; marked = mark; mark = false; got = true
                :: else -> skip
                fi
            }
            if
            :: got ->
                stamp[at % ROOM] = after;
#ifndef WAKE_EARLY
                if :: marked -> wake_one(other) :: else -> skip fi;
#endif
                break
            :: else -> skip /* another was faster */
            fi
        :: else -> break
        fi
    od
}
#define TAKE move(head, FILLED(at), senders_want, SENDERS, 2 * (at + ROOM))
#define PUT move(tail, FREE(at), receivers_want, RECEIVERS, 2 * at + 1)

/* Sets the mark while `counter` still is what was asked. */
inline set_mark(counter, mark)
{
#if defined(MARK_LATE) || defined(ASK_STAMP)
    mark = true;
    marked = true
#else
    atomic { marked = (counter == word); if :: marked -> mark = true :: else -> skip fi }
#endif
}

inline leave(side, mark, something)
{
    sleepers[side]--;
#ifndef FORGET_OTHERS
    if
    :: sleepers[side] > 0 ->
        mark = true;
#ifndef FORGET_LOOK
        if :: something -> wake_one(side) :: else -> skip fi
#endif
    :: else -> skip
    fi
#endif
}

/* Receives so many items, or gives up. */
proctype receiver(bool patient; byte items)
{
    byte at, word, seen;
    bool got, marked, slept;

next:
    sleepers[RECEIVERS]++;
look:
    seen = epoch[RECEIVERS];
again:
    TAKE;
    if
    :: got -> skip
    :: else ->
        at = head;
        word = tail;
        if
#ifndef ASK_STAMP
        :: at != word -> (FILLED(at) || head != at); goto again /* on its way */
#endif
        :: else ->
            set_mark(tail, receivers_want);
            if
            :: !marked -> goto again
            :: marked && !patient -> skip /* the deadline */
            :: marked -> futex_wait(RECEIVERS); goto look
            fi
        fi
    fi;
    leave(RECEIVERS, receivers_want, tail != head);
    items--;
    if
    :: items > 0 -> goto next
    :: else -> skip
    fi
}

/* Sends so many items, or gives up. */
proctype sender(bool patient; byte items)
{
    byte at, word, seen;
    bool got, marked, slept;

next:
    sleepers[SENDERS]++;
look:
    seen = epoch[SENDERS];
again:
    PUT;
    if
    :: got -> skip
    :: else ->
        at = tail;
        word = head;
        if
#ifndef ASK_STAMP
        :: at - word != ROOM -> (FREE(at) || tail != at); goto again /* being read */
#endif
        :: else ->
            set_mark(head, senders_want);
            if
            :: !marked -> goto again
            :: marked && !patient -> skip
            :: marked -> futex_wait(SENDERS); goto look
            fi
        fi
    fi;
    leave(SENDERS, senders_want, tail - head < ROOM);
    items--;
    if
    :: items > 0 -> goto next
    :: else -> skip
    fi
}

/* Two items each, without sleeping. */
proctype taker()
{
    byte at, items = 2;
    bool got, marked;

    do
    :: items == 0 -> break
    :: else -> FILLED(head); TAKE; items = items - got
    od
}

proctype putter()
{
    byte at, items = 2;
    bool got, marked;

    do
    :: items == 0 -> break
    :: else -> FREE(tail); PUT; items = items - got
    od
}

init {
    atomic {
        if
        :: run receiver(true, 1); run receiver(false, 1); run putter()
        :: tail = 1; stamp[0] = 1; /* full */
            run sender(true, 1); run sender(false, 1); run taker()
        :: run receiver(true, 2); run sender(true, 2)
        fi
    }
    timeout; /* nothing moves any more */
    assert(asleep[RECEIVERS] == 0 || tail == head);
    assert(asleep[SENDERS] == 0 || tail - head == ROOM)
}
