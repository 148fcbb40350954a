/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox_hand_bell: how bells come among the messages that a whole block handles (gyre_read_bell
 * of src/actor/cuda_reader.h, src/actor/cuda_stage.h, src/actor/cuda_clerk.h,
 * src/actor/cuda_block.h, src/actor/cuda_steward.h), for spin. One port sends messages, another
 * rings; batches, bands and the warps of the block are in mailbox_hand.pml, the slots of a bell in
 * mailbox_bell.pml.
 *
 * Two readers watch a replica each. Who finds the next bell claims it by a compare-and-swap, and
 * looks at the gate once more: where that is shut now the claim is given back. Otherwise the bell
 * goes on the stage and then into the hand by the reader itself: it takes the next number, and
 * waits until the place is free, which is when the clerk has done with what was there. The clerk
 * deals messages where there is room, but not if a number was taken since it looked. What handles
 * them answers a bell at once, so the next may be rung, and even be in hand, before the clerk knows
 * of it. The steward raises the gates to what is taken and claimed, and waits for that. A seat that
 * is told to end at once handles what is in hand, and no bell need be answered then.
 *
 * Verified: every bell and every message is handled once, over pauses and parks, with what the
 * reader has staged; nothing is handled from when a pause or a park is carried out until the next
 * order; no place of the hand is written while somebody needs it; what was handled is answered;
 * nobody waits for ever.
 *
 * -DFORGET_WAIT     a reader does not wait for its place of the hand.
 * -DQUIT_WAITING    it does not wait any more when the seat ends.
 * -DENTRY_FIRST     a bell is in the hand before it is on the stage.
 * -DPLAIN_CLAIM     a claim does not compare.
 * -DKEEP_CLAIM      it is not given back.
 * -DLOOK_ONCE       the reader does not look at the gate again.
 * -DFORGET_CLAIMED  the steward does not wait for bells that are claimed.
 * -DPLAIN_DEAL      the clerk deals, whatever numbers were taken since it looked.
 * All must be refused; tests/models_test.sh checks that they are.
 */
#define EACH 2 /* messages that are dealt, and answers that are sent, at once */
#define ROOM 0 /* messages in hand while the clerk deals, most */
#ifndef HAND
#define HAND (ROOM + EACH + 1) /* and a bell of the port that has some */
#endif
#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef BELLS
#define BELLS 2
#endif
#ifndef ORDERS
#define ORDERS 1 /* to pause, to park or to end */
#endif
#define WARPS 4 /* those below, without the steward */
#define NONE 255
#define BELL 254

/* The ports': messages on the stage, bells that were rung, and those that were answered. */
byte staged = 0, rung = 0, rang = 0;

/* The host's. */
mtype = { GO_ON, PAUSE, PARK, END };
mtype ordered = GO_ON;
byte order = 0, host_gate = 0, host_bell_gate = 0;
bool over = false;

/* The seat's, and what its warps share. Messages that were handled are sure here. */
byte carried_out = 0, handled = 0, bell_done = 0;
bool ended = false;
byte taken, gate, bell, bell_gate, bell_stage;
bool gated, quit;
typedef place { byte number, what };
place hand[HAND];
byte answers[HAND]; /* their numbers */
byte dealt, answered, finished;
bool begins[WARPS];
byte running = 0;

byte begun = 0, bells_begun = 0, replied = 0; /* how many */
bool quiet = false;                           /* nothing may be handled now */

inline launch()
{
    d_step {
        for (i : 0 .. HAND - 1) {
            hand[i].number = NONE;
            hand[i].what = 0;
            answers[i] = NONE
        }
        for (i : 0 .. WARPS - 1) {
            begins[i] = true
        }
        i = 0;
        dealt = 0; answered = 0; finished = 0;
        taken = handled;
        bell = bell_done;
        bell_stage = 0;
        gated = false; gate = 0; bell_gate = 0;
        quit = false; ended = false;
        running = WARPS
    }
}

/* Nobody needs what was there. */
inline put_in_hand(at, what_is_it)
{
    assert(hand[(at) % HAND].number == NONE || hand[(at) % HAND].number < answered);
    hand[(at) % HAND].what = what_is_it;
    hand[(at) % HAND].number = at
}

#ifdef PLAIN_CLAIM
#define WINS true
#else
#define WINS (bell == mine - 1)
#endif
#ifdef LOOK_ONCE
#define IS_SHUT false
#else
#define IS_SHUT (gated && mine > bell_gate)
#endif
#ifdef FORGET_WAIT
#define FITS true
#else
#ifdef QUIT_WAITING
#define FITS (number - answered < HAND || quit)
#else
#define FITS (number - answered < HAND)
#endif
#endif

proctype reader(byte me)
{
    byte mine, number;

end:
    do
    :: atomic { begins[me] -> begins[me] = false }
end_looks:
        do
        :: atomic { !quit && rung > bell && (!gated || bell < bell_gate) -> mine = bell + 1 };
            atomic {
                if
                :: WINS -> bell = mine
                :: else -> mine = 0
                fi
            };
            if
            :: mine == 0
            :: mine && IS_SHUT ->
                atomic {
#ifndef KEEP_CLAIM
                    bell = mine - 1;
#endif
                    mine = 0
                }
            :: atomic { mine && !IS_SHUT ->
#ifndef ENTRY_FIRST
                bell_stage = mine;
#endif
                number = dealt;
                dealt++ };
#ifdef ENTRY_FIRST
                atomic { FITS -> put_in_hand(number, BELL) };
                atomic { bell_stage = mine; mine = 0; number = 0 }
#else
                atomic { FITS -> put_in_hand(number, BELL); mine = 0; number = 0 }
#endif
            fi
        :: atomic { quit -> running--; break }
        od
    od
}

#define IS_STAGED(message, open) ((message) < staged && (message) < (open))
#define IS_ANSWER (answered < finished && answers[answered % HAND] == answered)

/* To the port that the hand says. What is not answered is passed over. */
inline send_answer()
{
    if
    :: IS_ANSWER ->
        assert(hand[answered % HAND].number == answered);
        replied = replied + (hand[answered % HAND].what == BELL -> 0 : 1);
        answered++
    :: else -> skip
    fi
}

#ifdef PLAIN_DEAL
#define HAS_ROOM true
#else
#define HAS_ROOM (dealt == number)
#endif
#define DEALS ((open != NONE || !gated) && HAS_ROOM)

proctype clerk()
{
    byte open, came, number;

end:
    do
    :: atomic { begins[2] -> begins[2] = false }
end_looks:
        do
        :: d_step { IS_ANSWER -> send_answer(); send_answer() }
        :: atomic {
            !quit && dealt - answered <= ROOM && IS_STAGED(taken, (gated -> gate : NONE)) ->
            open = (gated -> gate : NONE);
            came = (IS_STAGED(taken + 1, open) -> 2 : 1);
            number = dealt
        };
            taken = taken + came;
            if
            :: !DEALS -> atomic { taken = taken - came; open = 0; came = 0; number = 0 }
            :: atomic { DEALS -> number = dealt; dealt = dealt + came };
                atomic {
                    put_in_hand(number, taken - came);
                    if
                    :: came == 2 -> put_in_hand(number + 1, taken - 1)
                    :: else -> skip
                    fi;
                    open = 0; came = 0; number = 0
                }
            fi
        :: quit && answered == dealt -> break
        od;
        atomic { number = dealt; dealt++ };
        atomic { put_in_hand(number, NONE); number = 0; running-- }
    od
}

#define IS_DEALT (hand[finished % HAND].number == finished)
#define DEALT hand[finished % HAND].what

proctype handler()
{
end:
    do
    :: atomic { begins[3] -> begins[3] = false }
end_looks:
        do
        :: atomic {
            IS_DEALT && DEALT < BELL ->
            assert(!quiet && DEALT == begun);
            begun++;
            answers[finished % HAND] = finished
        };
            atomic { handled++; finished++ }
        :: atomic {
            IS_DEALT && DEALT == BELL ->
            assert(!quiet && bell_stage == rung && bells_begun + 1 == rung);
            bells_begun++;
            rang = rung
        };
            atomic { answers[finished % HAND] = finished; bell_done++ };
            finished++
        :: atomic { IS_DEALT && DEALT == NONE -> running--; break }
        od
    od
}

#define IS_REACHED (handled >= gate && bell_done >= bell_gate)
#define RUNS (running == WARPS && !quit)
#ifdef FORGET_CLAIMED
#define CLAIMED 0
#else
#define CLAIMED bell
#endif

inline raise_gates()
{
    d_step {
        gate = (taken > gate -> taken : gate);
        bell_gate = (CLAIMED > bell_gate -> CLAIMED : bell_gate)
    }
}

active proctype steward()
{
    byte seen = 0;
    bool obeyed = true;
    mtype told;

end:
    do
    :: atomic {
        RUNS && order != seen ->
        seen = order;
        told = ordered;
        obeyed = false;
        gate = host_gate;
        bell_gate = host_bell_gate
    };
        gated = told != GO_ON
    :: RUNS && !obeyed && gated && told != END &&
        (IS_REACHED || taken > gate || CLAIMED > bell_gate) ->
        raise_gates();
        atomic {
            if
            :: !IS_REACHED
            :: IS_REACHED && told == PAUSE -> obeyed = true; carried_out = seen
            :: IS_REACHED && told == PARK -> obeyed = true; quit = true
            fi
        }
    :: atomic { RUNS && !obeyed && !gated -> obeyed = true; carried_out = seen }
    :: atomic { RUNS && !obeyed && gated && told == END -> obeyed = true; quit = true }
    :: d_step { running == 0 && quit && !ended -> carried_out = seen; ended = true }
    od
}

inline give_order(what)
{
    atomic {
        quiet = false;
        if
        :: what != GO_ON -> host_gate = staged; host_bell_gate = rung
        :: else -> skip
        fi;
        ordered = what;
        order++;
        orders = orders + (what != GO_ON -> 1 : 0)
    }
}

#define IS_OBEYED (handled >= host_gate && bell_done >= host_bell_gate)

active proctype host()
{
    byte i, orders = 0;

    atomic {
        run reader(0);
        run reader(1);
        run clerk();
        run handler()
    }
    launch();
    do
    :: orders < ORDERS ->
        give_order(PAUSE);
        atomic { carried_out == order -> assert(IS_OBEYED); quiet = true };
        give_order(GO_ON)
    :: orders < ORDERS ->
        give_order(PARK);
        atomic { ended -> assert(IS_OBEYED); quiet = true };
        give_order(GO_ON);
        launch()
    :: orders < ORDERS ->
        give_order(END);
        atomic { ended -> assert(replied == begun); over = true };
        break
    :: break
    od
}

active proctype ports()
{
    do
    :: staged < MESSAGES && !over -> staged++
    :: rung < BELLS && rang == rung && !over -> rung++
    :: replied == MESSAGES && rang == BELLS -> break
    :: over -> break
    od
}
