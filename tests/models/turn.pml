/* SPDX-License-Identifier: Apache-2.0
 *
 * turn: how a word is held by one thread and taken back by others, for spin: the protocol of
 * src/flow/turn.h, on processors whose stores wait in a buffer while their loads go ahead.
 *
 * Two movers move the word: one position at a time, each of which must have one owner. A mover that
 * holds the word does so with plain stores, otherwise with a swap, which empties its buffer. Either
 * may come to hold it whenever nobody does. A marker sets a mark in the word, which no later move
 * may miss, recalling the word first. The heavy barrier empties everybody's buffer.
 *
 * A mover's buffer is first in, first out, and holds at most a few stores; loads see their own.
 * Verified: no position is moved past twice, and the mark, once set, is seen by the next move.
 *
 * -DFORGET_BARRIER  who recalls has no heavy barrier: it does not see that the holder is busy.
 * -DFORGET_BUSY     who recalls does not wait for the holder.
 * -DLOOK_FIRST      the holder looks whether it is the holder before it says that it is busy.
 * -DONE_FLAG        the threads share one place to say that they are busy: one that is late says so
 *                   for another.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define MOVERS 2
#define MOVES 2      /* by each */
#define LAST 8       /* more positions than moves */
#define NOBODY 254
#define CHANGING 255

byte position = 0;   /* the word: where it is, */
bool held = false;   /* and its marks */
bool marked = false;
bool mark_was_set = false, mark_was_seen = false;
byte holder = NOBODY;
bool busy[MOVERS];
byte owners[LAST];   /* of each position */

/* What waits to be stored, oldest first: positions of the word, then that one is not busy; or that
 * one is. There is never more than this under way. */
typedef buffer { byte count; byte what[4]; byte value[4] };
#define STORE_BUSY 0
#define STORE_WORD 1
buffer buffers[MOVERS];

#ifdef ONE_FLAG
#define PLACE(who) 0
#else
#define PLACE(who) (who)
#endif

inline put(who, kind, with)
{
    d_step {
        buffers[who].what[buffers[who].count] = kind;
        buffers[who].value[buffers[who].count] = with;
        buffers[who].count++
    }
}

inline store_oldest(who)
{
    if
    :: buffers[who].what[0] == STORE_BUSY -> busy[PLACE(who)] = buffers[who].value[0]
    :: else -> position = buffers[who].value[0]
    fi;
    buffers[who].what[0] = buffers[who].what[1];
    buffers[who].value[0] = buffers[who].value[1];
    buffers[who].what[1] = buffers[who].what[2];
    buffers[who].value[1] = buffers[who].value[2];
    buffers[who].what[2] = buffers[who].what[3];
    buffers[who].value[2] = buffers[who].value[3];
    buffers[who].count--
}

inline drain(who)
{
    do
    :: buffers[who].count > 0 -> store_oldest(who)
    :: else -> break
    od
}

/* What `who` sees of the word: its own latest store, if one is under way. */
inline load_position(who, into)
{
    into = position;
    if :: buffers[who].count > 0 && buffers[who].what[0] == STORE_WORD -> into = buffers[who].value[0] :: else -> skip fi;
    if :: buffers[who].count > 1 && buffers[who].what[1] == STORE_WORD -> into = buffers[who].value[1] :: else -> skip fi;
    if :: buffers[who].count > 2 && buffers[who].what[2] == STORE_WORD -> into = buffers[who].value[2] :: else -> skip fi;
    if :: buffers[who].count > 3 && buffers[who].what[3] == STORE_WORD -> into = buffers[who].value[3] :: else -> skip fi
}

/* The buffers empty themselves, sooner or later. */
active [MOVERS] proctype memory()
{
    byte who = _pid % MOVERS;

end:
    do
    :: atomic { buffers[who].count > 0 -> store_oldest(who) }
    od
}

inline own(what, who)
{
    assert(owners[what] == 0);
    owners[what] = who + 1;
    assert(!mark_was_set || mark_was_seen)
}

/* By anybody; `mine` is a local. The swap of holder empties the recaller's own buffer. */
inline recall(who)
{
    do
    :: atomic { holder != NOBODY && holder != CHANGING -> was = holder; if :: who < MOVERS -> drain(who) :: else -> skip fi; holder = CHANGING };
        break
    :: atomic { !held -> goto recalled }
    od;
#ifndef FORGET_BARRIER
    atomic { drain(0); drain(1) }
#endif
#ifndef FORGET_BUSY
    busy[PLACE(was)] == 0;
#endif
    atomic { if :: who < MOVERS -> drain(who) :: else -> skip fi; held = false };
    holder = NOBODY;
recalled:
    skip
}

proctype mover(byte who)
{
    byte at, was, moves = 0;
    bool mine;

    do
    :: moves == MOVES -> break
    :: else ->
        /* it may have moved the word often enough to hold it */
        if
        :: atomic {
            holder == NOBODY && !held && !marked ->
            drain(who);
            held = true;
            holder = who
        }
        :: skip
        fi;
        /* enter */
        mine = false;
        if
        :: holder == who ->
#ifdef LOOK_FIRST
            if :: holder == who -> mine = true :: else -> skip fi;
            (buffers[who].count < 4); put(who, STORE_BUSY, 1);
#else
            (buffers[who].count < 4); put(who, STORE_BUSY, 1);
            if :: holder == who -> mine = true :: else -> skip fi;
#endif
            if
            :: mine ->
                d_step { load_position(who, at) };
                (buffers[who].count < 4);
                atomic { put(who, STORE_WORD, at + 1); own(at, who) };
                moves++
            :: else -> skip
            fi;
            (buffers[who].count < 4); put(who, STORE_BUSY, 0)
        :: else -> skip
        fi;
        if
        :: mine -> skip
        :: else ->
            /* by a swap, which sees and clears the marks */
            if
            :: atomic {
                !held ->
                drain(who);
                at = position;
                if :: marked -> mark_was_seen = true; marked = false :: else -> skip fi;
                position = at + 1;
                own(at, who);
                moves++
            }
            :: held -> recall(who)
            fi
        fi
    od
}

proctype marker()
{
    byte was;

    do
    :: held -> recall(MOVERS)
    :: atomic { !held -> marked = true; mark_was_set = true; break }
    od
}

init {
    atomic { run mover(0); run mover(1); run marker() }
}
