/* SPDX-License-Identifier: Apache-2.0
 *
 * park: the handshake of src/base/park.c, for spin. Interleavings only: the seq_cst operations of the
 * source are what makes an interleaving model fit.
 *
 * Two sleepers wait for a condition; a waker makes it true, once for each, and wakes. Verified: no
 * end state in which a sleeper still sleeps (spin's "invalid end state"), and nobody stays counted.
 *
 * -DFORGET_COUNT   the sleeper asks before it counts itself: a wake is lost.
 * -DFORGET_EPOCH   the futex does not compare: a wake between question and sleep is lost.
 * Both must be refused; tests/models_test.sh checks that they are.
 */
#define SLEEPERS 2

byte epoch = 0;     /* gyre_park.epoch; wraps, as it does in life */
byte sleepers = 0;  /* gyre_park.sleepers */
byte tokens = 0;    /* the condition: something to take */
byte asleep = 0;    /* threads inside the futex */
byte wakes = 0;     /* wakes the kernel has to deliver */
byte ended = 0;     /* sleepers that got their token */

/* FUTEX_WAIT: atomically compares and goes to sleep. */
inline futex_wait(seen)
{
    atomic {
        if
#ifndef FORGET_EPOCH
        :: epoch != seen -> skip
#endif
        :: else -> asleep++; slept = true
        fi
    }
    if
    :: slept -> atomic { wakes > 0 -> wakes--; asleep--; slept = false }
    :: else -> skip
    fi
}

active [SLEEPERS] proctype sleeper()
{
    byte seen;
    bool slept = false, ready = false;

#ifdef FORGET_COUNT
    atomic { if :: tokens > 0 -> tokens--; ready = true :: else -> skip fi }
    if
    :: ready -> goto done
    :: else -> skip
    fi;
    sleepers++;
    seen = epoch;
    futex_wait(seen);
    goto asked;
#endif
    sleepers++; /* counted before the condition is asked */
again:
    seen = epoch;
asked:
    atomic { if :: tokens > 0 -> tokens--; ready = true :: else -> skip fi }
    if
    :: ready -> skip
    :: else ->
        futex_wait(seen);
        goto again
    fi;
    sleepers--;
done:
    ended++
}

active proctype waker()
{
    byte given = 0;

    do
    :: given < SLEEPERS ->
        tokens++; /* the change, before the question whether anyone sleeps */
        given++;
        if
        :: sleepers > 0 ->
            epoch++;
            atomic { if :: asleep > wakes -> wakes++ :: else -> skip fi } /* FUTEX_WAKE, 1 */
        :: else -> skip
        fi
    :: else -> break
    od;
    (ended == SLEEPERS);
    assert(sleepers == 0 && asleep == 0)
}
