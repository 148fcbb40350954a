/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_close: close against senders blocked on a full ring and receivers blocked on an empty one,
 * for spin (see src/flow/channel.c). Interleavings only: the words are read and swapped with seq_cst.
 *
 * CLOSED is a bit of the tail word, which a sender must swap to claim a position: a claim is before
 * the close or fails. Receivers end when that word says closed and that nothing is claimed beyond
 * the head. The marks of channel_sleep.pml are left out: whoever changes something wakes one
 * sleeper of the other side, and close wakes all of both.
 *
 * Verified: everybody ends; every item that was accepted is received; none is accepted once close
 * has returned.
 *
 * -DCLOSED_APART  the bit is a word of its own, read before the swap: an item goes in after the end.
 * -DWAKE_ONE      close wakes one of each side: the others sleep for ever.
 * Both must be refused; tests/models_test.sh checks that they are.
 */
#define ROOM 1
#define RECEIVERS 0
#define SENDERS 1

byte tail = 0;       /* the tail word: positions claimed, */
bool closed = false; /* and CLOSED */
byte head = 0;
byte stamp[ROOM];    /* 2p: free for position p; 2p + 1: its item is published */

byte epoch[2], sleepers[2], asleep[2], wakes[2]; /* as in channel_sleep.pml */

byte accepted = 0, received = 0, ended = 0;
bool close_returned = false;

#define PUBLISHED(p) (stamp[(p) % ROOM] == 2 * (p) + 1)
#define RELEASED(p) (stamp[(p) % ROOM] == 2 * (p))

inline wake(side, all)
{
    if
    :: sleepers[side] > 0 ->
        epoch[side]++;
        atomic {
            if
            :: all -> wakes[side] = asleep[side]
            :: !all && asleep[side] > wakes[side] -> wakes[side]++
            :: else -> skip
            fi
        }
    :: else -> skip
    fi
}

inline futex_wait(side)
{
    atomic { if :: epoch[side] == seen -> asleep[side]++; slept = true :: else -> slept = false fi }
    if
    :: slept -> atomic { wakes[side] > 0 -> wakes[side]--; asleep[side]-- }
    :: !slept
    fi
}

/* Receives until the channel is closed and empty. */
proctype receiver()
{
    byte at, word, seen;
    bool slept, over;

take:
    at = head;
    atomic { word = tail; over = closed }
    if
    :: at != word ->
        (PUBLISHED(at) || head != at); /* awake: it is claimed and will be published */
        atomic { if :: head == at -> head++; received++ :: else -> goto take fi }
        stamp[at % ROOM] = 2 * (at + ROOM);
        wake(SENDERS, false);
        goto take
    :: at == word && over -> goto out
    :: else -> skip
    fi;
    sleepers[RECEIVERS]++;
look:
    seen = epoch[RECEIVERS];
    atomic { word = tail; over = closed }
    if
    :: word == head && !over -> futex_wait(RECEIVERS); goto look
    :: else -> skip
    fi;
    sleepers[RECEIVERS]--;
    goto take;
out:
    ended++
}

/* Sends one item, unless the channel is closed first. */
proctype sender()
{
    byte at, seen;
    bool slept, over;

put:
    atomic { at = tail; over = closed }
    if
    :: over -> goto out
    :: !over && RELEASED(at) ->
        atomic {
            if
#ifdef CLOSED_APART
            :: tail == at -> tail++
#else
            :: tail == at && !closed -> tail++
#endif
            :: else -> goto put
            fi;
            accepted++;
            assert(!close_returned)
        }
        stamp[at % ROOM] = 2 * at + 1;
        wake(RECEIVERS, false);
        goto out
    :: else -> skip
    fi;
    sleepers[SENDERS]++;
look:
    seen = epoch[SENDERS];
    atomic { at = tail; over = closed }
    if
    :: at - head == ROOM && !over -> futex_wait(SENDERS); goto look
    :: else -> skip
    fi;
    sleepers[SENDERS]--;
    goto put;
out:
    ended++
}

proctype closer()
{
    closed = true; /* one fetch-or on the tail word */
#ifdef WAKE_ONE
    wake(RECEIVERS, false);
    wake(SENDERS, false);
#else
    wake(RECEIVERS, true);
    wake(SENDERS, true);
#endif
    close_returned = true
}

init {
    byte threads;
    bool drain = false;

    atomic {
        run closer();
        if
        :: run receiver(); run receiver(); run sender(); threads = 3
        :: tail = 1; accepted = 1; stamp[0] = 1; /* full */
            run sender(); run receiver(); threads = 2
        :: tail = 1; accepted = 1; stamp[0] = 1; /* full, and nobody receives until it is closed */
            run sender(); run sender(); threads = 2; drain = true
        fi
    }
    (ended == threads && close_returned);
    if
    :: drain -> run receiver(); (ended == threads + 1)
    :: else -> skip
    fi;
    assert(received == accepted);
    assert(asleep[RECEIVERS] == 0 && asleep[SENDERS] == 0)
}
