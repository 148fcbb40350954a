/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu_stream: who serves a stream of src/backends/cpu, for spin. Interleavings only: the seq_cst
 * operations of the source are what makes an interleaving model fit.
 *
 * One submits operations: the turn when everything is done, otherwise a slot with its stamp; then
 * the tail, then the question whether somebody serves the stream; if not, it makes it ready. Two workers take it when it is ready, do what has
 * come, and leave when there is nothing, or stand in line again behind others. Verified: one worker
 * at a time, each operation once and in order, and no end state in which one is left undone.
 *
 * -DLOOK_FIRST   the worker looks at the tail before it says that it leaves: an operation is left.
 * -DPLAIN_RETURN the worker that comes back after all does not swap: two serve the stream.
 * -DOLD_POSITION the worker that comes back goes on where it was: an operation is done twice.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define OPERATIONS 4

bool stamp[OPERATIONS + 1];
byte tail = 0;
byte turn = 0; /* twice what is done, plus 1 while the next is in the express slot */
bool served = false;
byte ready = 0;
byte inside = 0; /* workers that serve */
byte runs[OPERATIONS + 1];

inline take_back(won)
{
    atomic {
        if
        :: !served -> served = true; won = true
        :: else -> won = false
        fi
    }
}

active proctype submitter()
{
    bool won = false, seen;

    do
    :: tail < OPERATIONS ->
        if
        :: turn == 2 * tail -> turn = 2 * tail + 1
        :: else -> stamp[tail] = true
        fi;
        tail++;
        seen = served;
        if
        :: !seen ->
            take_back(won);
            if
            :: won -> ready++
            :: else -> skip
            fi
        :: else -> skip
        fi
    :: else -> break
    od;
    (turn == 2 * OPERATIONS)
}

active [2] proctype worker()
{
    byte position, seen;
    bool won = false;

end_idle:
    atomic { ready > 0 -> ready--; inside++ }
    assert(inside == 1 && ready == 0);
    position = turn / 2;
serve:
    if
    :: turn == 2 * position + 1 || stamp[position] ->
        assert(runs[position] == 0 && position == turn / 2);
        runs[position]++;
        position++;
        turn = 2 * position;
        if
        :: goto serve
        :: atomic { inside--; ready++ } goto end_idle /* others are ready */
        fi
    :: else -> skip
    fi;
#ifdef LOOK_FIRST
    seen = tail;
#endif
    atomic { inside--; served = false }
#ifndef LOOK_FIRST
    seen = tail;
#endif
    if
    :: seen == position -> goto end_idle
    :: else -> skip
    fi;
#ifdef PLAIN_RETURN
    if
    :: !served -> served = true; won = true
    :: else -> won = false
    fi;
#else
    take_back(won);
#endif
    if
    :: won ->
        inside++;
        assert(inside == 1);
#ifndef OLD_POSITION
        position = turn / 2;
#endif
        goto serve
    :: else -> goto end_idle
    fi
}
