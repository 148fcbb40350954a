/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox: the rings between a port and a seat (src/flow/ring_abi.h, src/actor/port.c,
 * src/actor/loop_single.h), for spin.
 *
 * A slot has two pieces, each with a stamp. Pieces that were written are on their way, and arrive
 * one by one in any order, those of two slots too; a reader takes one piece after the other, in any
 * order. Sequences count modulo WRAP and stamps modulo less, so that both come round. The port
 * sends, asks, receives and gives up whenever it can; at last it waits for the head that says that
 * all is handled, as gyre_port_flush does.
 *
 * Ring there: the port writes a slot again when it has learnt that it was read, from the heads that
 * the seat publishes, or from answers if no message without one is on its way. Ring back: the
 * answer to call n is in slot n, which is written again only when the port is done with n.
 *
 * With -DTWO the seat has two handlers that take slots in turn, so that answers overtake each
 * other; one of them publishes how far both have come.
 *
 * Verified: every message is handled once, whole and in its order; every call gets its own answer;
 * nobody waits for ever: a full ring, a full book and the last wait are left again.
 *
 * -DONE_STAMP       a slot counts as there when its first piece is.
 * -DFORGET_LAP      stamps tell slots apart, not laps.
 * -DCREDIT_FIRST    a slot is given back when it is seen, before it is read.
 * -DFORGET_IDLE     heads are published only when a whole ring is due.
 * -DFORGET_ONE_WAY  answers give back slots although a message without one is on its way.
 * -DREUSE_ANSWER    a call is made although the slot of its answer holds one that is not taken.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define CAPACITY 2
#define WRAP 16
#define FIRST 13 /* what sequences begin with */
#define SALT 3
#define MESSAGES 5 /* more than there are stamps, and beyond the wrap */

#ifdef TWO
#define HANDLERS 2
#else
#define HANDLERS 1
#endif

#ifdef FORGET_LAP
#define STAMP(n) (((n) % CAPACITY) ^ SALT)
#else
#define STAMP(n) (((n) % (2 * CAPACITY)) ^ SALT)
#endif

/* By distance, as sequences come round. */
#define FROM(a, b) (((b) + WRAP - (a)) % WRAP)
#define NOT_BEHIND(a, b) (FROM(b, a) < WRAP / 2)

/* What a message says: its sequence, and if it is a call, that and the call's number. */
#define SENT(n) (n)
#define ASKED_AS(n, number) (128 + 16 * ((number) % 8) + (n))
#define IS_CALL(value) ((value) >= 128)
#define SEQUENCE(value) ((value) % WRAP)
#define NUMBER(value) (((value) / WRAP) % 8)

typedef slot {
    byte stamp[2], value[2];
    bit coming[2]; /* the piece is on its way */
    byte coming_stamp, coming_value
};
slot requests[CAPACITY], replies[CAPACITY];
byte heads = FIRST;  /* published */
byte next[HANDLERS]; /* to be handled by each */
byte handled = 0;

inline write(s, n, what)
{
    atomic { /* stores to the same place keep their order */
        !s.coming[0] && !s.coming[1] ->
        s.coming_stamp = STAMP(n);
        s.coming_value = what;
        s.coming[0] = 1;
        s.coming[1] = 1
    }
}

inline arrive(s, q)
{
    d_step {
        s.coming[q] ->
        s.stamp[q] = s.coming_stamp;
        s.value[q] = s.coming_value;
        s.coming[q] = 0;
        if
        :: !s.coming[1 - q] -> s.coming_stamp = 0; s.coming_value = 0
        :: else -> skip
        fi
    }
}

active proctype memory()
{
end:
    do
    :: arrive(requests[0], 0)
    :: arrive(requests[0], 1)
    :: arrive(requests[1], 0)
    :: arrive(requests[1], 1)
    :: arrive(replies[0], 0)
    :: arrive(replies[0], 1)
    :: arrive(replies[1], 0)
    :: arrive(replies[1], 1)
    od
}

#define HAS(s, q, n) (s.stamp[q] == STAMP(n))
#define HAS_ALL(s, n) (HAS(s, 0, n) && HAS(s, 1, n))

/* The second piece of a slot whose first is in `value`; `found` is whether it belongs to it. */
inline read_rest(s, n)
{
    atomic {
        found = HAS(s, rest, n);
#ifdef ONE_STAMP
        found = true;
#endif
        if
        :: found -> assert(s.value[rest] == value)
        :: else -> value = 0
        fi;
        rest = 0
    }
}

/* What all handlers have left behind. */
#ifdef TWO
#define HEAD (NOT_BEHIND(next[0], next[1]) -> next[1] : next[0])
#else
#define HEAD next[0]
#endif

proctype seat(byte me)
{
    byte value;
    bit rest;
    bool found;

end:
    do
    :: atomic { HAS(requests[next[me] % CAPACITY], 0, next[me]) ->
            value = requests[next[me] % CAPACITY].value[0]; rest = 1 }
        goto take
    :: atomic { HAS(requests[next[me] % CAPACITY], 1, next[me]) ->
            value = requests[next[me] % CAPACITY].value[1]; rest = 0 }
take:
#ifdef CREDIT_FIRST
        heads = (HEAD + 1) % WRAP;
#endif
        read_rest(requests[next[me] % CAPACITY], next[me]);
        if
        :: found ->
            assert(SEQUENCE(value) == next[me]);
            if
            :: IS_CALL(value) -> write(replies[NUMBER(value) % CAPACITY], NUMBER(value), value)
            :: else -> skip
            fi;
            d_step {
                handled++;
                next[me] = (next[me] + HANDLERS) % WRAP;
                value = 0;
                found = false
            }
        :: else -> skip
        fi
#ifdef FORGET_IDLE
    :: me == 0 && FROM(heads, HEAD) >= CAPACITY -> heads = HEAD
#else
    :: me == 0 && FROM(heads, HEAD) > 0 -> heads = HEAD
#endif
    od
}

mtype = { done, asked, abandoned };

/* The port's books. */
byte tail = FIRST, head = FIRST, one_way = FIRST, called = FIRST, oldest = FIRST;
mtype state[CAPACITY] = done;
byte sequence[CAPACITY]; /* of a call's request */

#define ROOM (FROM(head, tail) < CAPACITY)
#ifdef REUSE_ANSWER
#define BOOK true
#else
#define BOOK (FROM(oldest, called) < CAPACITY)
#endif
#define STATE(n) state[(n) % CAPACITY]
#define IS_OVER(n)                                                                                 \
    (STATE(n) == done || STATE(n) == abandoned && HAS_ALL(replies[(n) % CAPACITY], n))
#ifdef FORGET_ONE_WAY
#define BY_ANSWERS true
#else
#define BY_ANSWERS NOT_BEHIND(head, one_way)
#endif
#define ANSWERED (oldest == called -> tail : sequence[oldest % CAPACITY])

/* Something can be learnt. */
#define NEWS                                                                                       \
    (FROM(heads, tail) < FROM(head, tail) || oldest != called && IS_OVER(oldest) ||                \
     BY_ANSWERS && FROM(head, ANSWERED) > 0 && NOT_BEHIND(ANSWERED, head))

inline learn()
{
    do
    :: oldest != called && IS_OVER(oldest) ->
        STATE(oldest) = done;
        sequence[oldest % CAPACITY] = 0;
        oldest = (oldest + 1) % WRAP
    :: else -> break
    od;
    if
    :: FROM(heads, tail) <= FROM(head, tail) -> head = heads
    :: else -> skip
    fi;
    if
    :: BY_ANSWERS && NOT_BEHIND(ANSWERED, head) -> head = ANSWERED
    :: else -> skip
    fi
}

/* The call to be received next: the books have two places. */
#define RECEIVE (STATE(oldest) == asked -> oldest : (oldest + 1) % WRAP)
#define IS_ASKED(n) (FROM(oldest, n) < FROM(oldest, called) && STATE(n) == asked)

active proctype port()
{
    byte sent = 0, value, number;
    bit rest;
    bool found;

    do
    :: d_step { NEWS -> learn() }
    :: sent < MESSAGES && ROOM ->
        write(requests[tail % CAPACITY], tail, SENT(tail));
        d_step { tail = (tail + 1) % WRAP; one_way = tail; sent++ }
    :: sent < MESSAGES && ROOM && BOOK ->
        d_step { STATE(called) = asked; sequence[called % CAPACITY] = tail };
        write(requests[tail % CAPACITY], tail, ASKED_AS(tail, called));
        d_step { called = (called + 1) % WRAP; tail = (tail + 1) % WRAP; sent++ }
    :: atomic { IS_ASKED(RECEIVE) && HAS(replies[RECEIVE % CAPACITY], 0, RECEIVE) ->
            number = RECEIVE; value = replies[number % CAPACITY].value[0]; rest = 1 }
        goto receive
    :: atomic { IS_ASKED(RECEIVE) && HAS(replies[RECEIVE % CAPACITY], 1, RECEIVE) ->
            number = RECEIVE; value = replies[number % CAPACITY].value[1]; rest = 0 }
receive:
        read_rest(replies[number % CAPACITY], number);
        d_step {
            if
            :: found ->
                assert(NUMBER(value) == number % 8);
                assert(SEQUENCE(value) == sequence[number % CAPACITY]);
                STATE(number) = done;
                value = 0;
                found = false
            :: else -> skip
            fi;
            number = 0
        }
    :: d_step { IS_ASKED(RECEIVE) -> STATE(RECEIVE) = abandoned } /* its deadline */
    :: sent == MESSAGES && !IS_ASKED(RECEIVE) && heads == tail -> break
    od;
    assert(handled == MESSAGES)
}

init {
    atomic {
        next[0] = FIRST;
        run seat(0);
#ifdef TWO
        next[1] = FIRST + 1;
        run seat(1)
#endif
    }
}
