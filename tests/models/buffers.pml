/* SPDX-License-Identifier: Apache-2.0
 *
 * buffers: the lock of one place of src/mem/buffers.c, for spin. Interleavings only: generation,
 * readers, alone and sought are one word, and every step is one swap of it.
 *
 * Two read, two write, one deallocates, each once, with the same id. Verified: who writes is alone,
 * nobody is inside once it is deallocated, and nobody sleeps for ever.
 *
 * -DFORGET_CALL     the last reader does not look whether somebody is waiting.
 * -DFORGET_COMPARE  who goes to sleep does not look once more at the word.
 * -DWAKE_ONE        only one of those who sleep is woken.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define WAITERS 5

bool live = true;   /* the word: these */
byte readers = 0;
bool alone = false;
bool sought = false;

bool asleep[WAITERS];            /* in the futex */
byte inside = 0, inside_alone = 0; /* who really is */

inline wake()
{
    d_step {
        i = 0;
        do
        :: i == WAITERS -> break
        :: else ->
#ifdef WAKE_ONE
            if
            :: asleep[i] -> asleep[i] = false; i = WAITERS
            :: else -> i++
            fi
#else
            asleep[i] = false;
            i++
#endif
        od;
        i = 0
    }
}

#define EMPTY (readers == 0 && !alone && !sought)

/* Marks the word and sleeps on it, if it is still the same. */
inline sleep()
{
    atomic {
        if
        :: live && (readers > 0 || alone || sought) ->
            sought = true;
            seen_readers = readers;
            seen_alone = alone
        :: else -> goto again
        fi
    }
    atomic { /* FUTEX_WAIT */
        if
#ifdef FORGET_COMPARE
        :: true -> asleep[me] = true
#else
        :: live && sought && readers == seen_readers && alone == seen_alone -> asleep[me] = true
        :: else -> skip
#endif
        fi
    }
    !asleep[me]
}

proctype reader(byte me)
{
    byte i = 0, seen_readers;
    bool seen_alone, called;

again:
    if
    :: atomic { !live -> goto done }
    :: atomic { live && !alone && !sought -> readers++; inside++ }
    :: atomic { live && (alone || sought) -> skip }
        sleep();
        goto again
    fi;
    assert(live && inside_alone == 0);
    atomic {
        inside--;
        readers--;
        called = (readers == 0 && sought)
    }
#ifndef FORGET_CALL
    if
    :: called -> sought = false; wake()
    :: else -> skip
    fi;
#endif
done:
    skip
}

proctype writer(byte me)
{
    byte i = 0, seen_readers;
    bool seen_alone, called;

again:
    if
    :: atomic { !live -> goto done }
    :: atomic { live && EMPTY -> alone = true; inside_alone++ }
    :: atomic { live && !EMPTY -> skip }
        sleep();
        goto again
    fi;
    assert(live && inside == 0 && inside_alone == 1);
    atomic {
        inside_alone--;
        called = sought;
        alone = false;
        sought = false
    }
    if
    :: called -> wake()
    :: else -> skip
    fi;
done:
    skip
}

proctype ender(byte me)
{
    byte i = 0, seen_readers;
    bool seen_alone;

again:
    if
    :: atomic { live && EMPTY -> live = false }
    :: atomic { live && !EMPTY -> skip }
        sleep();
        goto again
    fi;
    assert(inside == 0 && inside_alone == 0)
}

init {
    atomic {
        run reader(0);
        run reader(1);
        run writer(2);
        run writer(3);
        run ender(4)
    }
}
