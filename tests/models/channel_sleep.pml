/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_sleep: how receivers sleep on an empty ring and senders on a full one, for spin (see
 * src/flow/channel_wait.c). Interleavings only: the words are read and swapped with seq_cst.
 *
 * A sender claims a position by swapping the tail word, writes, and publishes by the slot's stamp; a
 * receiver does the same with the head word. Whoever wants to sleep leaves its mark in the word that
 * the other side must swap: the swap clears the mark, and who cleared it wakes one sleeper. The
 * question whether to sleep is asked of what that word claims, never of what is published: an item
 * that is claimed and not yet published is waited for awake. A sleeper that leaves, for whatever
 * reason, sets the mark again for those who stay, and wakes one of them if there is something.
 *
 * The place to sleep is that of park.pml. Verified: when nothing moves any more, no receiver sleeps
 * while there is an item, no sender sleeps while there is room, and nobody else waits for anything.
 *
 * -DMARK_LATE      the mark is set after the question: a claim in between wakes nobody.
 * -DFORGET_OTHERS  a leaver does not set the mark again: the next item wakes nobody.
 * -DFORGET_LOOK    a leaver sets it, and does not look: what came before its mark wakes nobody.
 * -DASK_PUBLISHED  the question is asked of the stamp: who claimed before the mark wakes nobody.
 * -DWAKE_EARLY     the wake comes before the claim: the woken one finds nothing and sleeps again.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define ROOM 1 /* slots of the ring */
#define RECEIVERS 0
#define SENDERS 1

byte tail = 0;                /* the tail word: positions claimed by senders, */
bool receivers_want = false;  /* and the mark of sleeping receivers */
byte head = 0;                /* the head word, */
bool senders_want = false;    /* and the mark of sleeping senders */
byte stamp[ROOM];             /* 2p: free for position p; 2p + 1: its item is published */

byte epoch[2], sleepers[2];   /* two gyre_parks */
byte asleep[2], wakes[2];     /* threads in the futex, and wakes that the kernel has to deliver */

#define PUBLISHED(p) (stamp[(p) % ROOM] == 2 * (p) + 1)
#define RELEASED(p) (stamp[(p) % ROOM] == 2 * (p))

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

#if defined(ASK_PUBLISHED)
#define SOMETHING PUBLISHED(head)
#define SPACE RELEASED(tail)
#else
#define SOMETHING (word != head)
#define SPACE (tail - word < ROOM)
#endif

proctype receiver(bool patient)
{
    byte at, word, seen;
    bool mark, slept, gone = false;

take:
    at = head;
    if
    :: PUBLISHED(at) ->
#ifdef WAKE_EARLY
        if :: senders_want -> wake_one(SENDERS) :: else -> skip fi;
#endif
        atomic {
            if
            :: head == at -> head++; mark = senders_want; senders_want = false
            :: else -> goto take
            fi
        }
        stamp[at % ROOM] = 2 * (at + ROOM);
#ifndef WAKE_EARLY
        if :: mark -> wake_one(SENDERS) :: else -> skip fi;
#endif
        goto out
    :: else -> skip
    fi;

    sleepers[RECEIVERS]++;
look:
    seen = epoch[RECEIVERS];
#ifdef MARK_LATE
    word = tail;
#else
    atomic { word = tail; receivers_want = true } /* one fetch-or */
#endif
    if
    :: SOMETHING -> skip
    :: !(SOMETHING) ->
#ifdef MARK_LATE
        receivers_want = true;
#endif
        if
        :: !patient -> gone = true
        :: futex_wait(RECEIVERS); goto look
        fi
    fi;
    sleepers[RECEIVERS]--;
#ifndef FORGET_OTHERS
    if
    :: sleepers[RECEIVERS] > 0 ->
        atomic { word = tail; receivers_want = true }
#ifndef FORGET_LOOK
        if :: word != head -> wake_one(RECEIVERS) :: else -> skip fi
#endif
    :: else -> skip
    fi;
#endif
    if
    :: gone -> goto out
    :: else -> skip
    fi;
    at = head; /* awake: until it is published, or another has taken it */
    (PUBLISHED(at) || head != at || tail == at);
    goto take;
out:
    skip
}

proctype sender(bool patient)
{
    byte at, word, seen;
    bool mark, slept, gone = false;

put:
    at = tail;
    if
    :: RELEASED(at) ->
#ifdef WAKE_EARLY
        if :: receivers_want -> wake_one(RECEIVERS) :: else -> skip fi;
#endif
        atomic {
            if
            :: tail == at -> tail++; mark = receivers_want; receivers_want = false
            :: else -> goto put
            fi
        }
        stamp[at % ROOM] = 2 * at + 1;
#ifndef WAKE_EARLY
        if :: mark -> wake_one(RECEIVERS) :: else -> skip fi;
#endif
        goto out
    :: else -> skip
    fi;

    sleepers[SENDERS]++;
look:
    seen = epoch[SENDERS];
#ifdef MARK_LATE
    word = head;
#else
    atomic { word = head; senders_want = true }
#endif
    if
    :: SPACE -> skip
    :: !(SPACE) ->
#ifdef MARK_LATE
        senders_want = true;
#endif
        if
        :: !patient -> gone = true
        :: futex_wait(SENDERS); goto look
        fi
    fi;
    sleepers[SENDERS]--;
#ifndef FORGET_OTHERS
    if
    :: sleepers[SENDERS] > 0 ->
        atomic { word = head; senders_want = true }
#ifndef FORGET_LOOK
        if :: tail - word < ROOM -> wake_one(SENDERS) :: else -> skip fi
#endif
    :: else -> skip
    fi;
#endif
    if
    :: gone -> goto out
    :: else -> skip
    fi;
    at = tail;
    (RELEASED(at) || tail != at || tail - head == ROOM);
    goto put;
out:
    skip
}

init {
    atomic {
        if /* empty, or full already, so that both senders may have to sleep */
        :: skip
        :: tail = 1; stamp[0] = 1
        fi;
        run receiver(true);
        run receiver(false);
        run sender(true);
        run sender(false)
    }
    timeout; /* nothing moves any more */
    assert(asleep[RECEIVERS] == 0 || tail == head);
    assert(asleep[SENDERS] == 0 || tail - head == ROOM)
}
