/* SPDX-License-Identifier: Apache-2.0
 *
 * mailbox_hand: how messages that a whole block handles go from the warps that read them to those
 * that handle them, and their answers back (src/actor/cuda_stage.h, src/actor/cuda_clerk.h,
 * src/actor/cuda_block.h), for spin. Slots and orders are whole here; mailbox.pml and
 * mailbox_order.pml look at their pieces, mailbox_front.pml at how the ring is read,
 * mailbox_hand_bell.pml at bells.
 *
 * Readers put messages on the stage, in any order, each in the slot of one that is handled. The
 * clerk deals what is next, two at most and in either order, because of their bands: it says how
 * far it has taken the ring, and looks at the gate once more before it deals; it writes down how
 * far that was with each such batch. Two warps handle what is in the hand, one after another, and
 * meet once for each; the first of them posts the answer, or that there is none, says that it is
 * finished, and makes things sure when the hand is empty or whenever it likes. The clerk sends
 * answers, two at most, and tells of batches: handled, so that slots may be used again, and sure,
 * which is what the host is told. Hand and answers are rings: a place is used again when the clerk
 * has done with its answer. An order has a gate; the steward raises it to what is taken. At the end
 * the clerk deals no more, and sends what is due. A seat that was parked begins again at its head.
 *
 * Verified: every message is handled once, whole, over pauses and parks; every call gets its
 * answer, and that of one in hand also when the seat ends at once; no place of the hand is written
 * while somebody needs it; when the head says that all is handled, or an order is carried out, what
 * was sent before is done, and for all to see; nothing is handled from when a pause or a park is
 * carried out until the next order; nobody waits for ever.
 *
 * -DSETTLED_ONLY   the clerk looks for answers only while there are batches that are not sure.
 * -DREUSE_TAKEN    a slot of the stage is used again when its message is in hand.
 * -DCOUNT_FINISHED slots are used again by how many are finished, not by batches.
 * -DHAND_FINISHED  a place of the hand is used again when its message is finished.
 * -DSURE_FINISHED  what is finished counts as sure.
 * -DFORGET_MEET    the first warp does not wait for the other.
 * -DQUIT_NOW       the clerk ends with answers that are due.
 * -DLOOK_ONCE      it does not look at the gate again.
 * -DFORGET_TAKEN   the steward does not raise the gate.
 * All must be refused, HAND_FINISHED with -DSTAGE=4; tests/models_test.sh checks that they are.
 */
#ifndef STAGE
#define STAGE 3
#endif
#define HAND 3
#define EACH 2 /* messages of a batch, and answers that are sent at once */
#define BATCHES 2
#define FIRST 1 /* what sequences begin with */
#ifndef LAST
#define LAST 5 /* behind the last message */
#endif
#ifndef ORDERS
#define ORDERS 1 /* to pause, to park or to end */
#endif
#define WARPS 3 /* those below, without readers and the steward */
#define NONE 255
#define IS_CALL(sequence) ((sequence) % 2)

/* The port's: messages in their slots, and what others know of them. */
byte there = FIRST;

/* The host's. */
mtype = { GO_ON, PAUSE, PARK, END };
mtype ordered = GO_ON;
byte order = 0, host_gate = FIRST;
bool over = false;

/* The seat's. */
byte heads = FIRST, carried_out = 0;
bool ended = false;

/* What its warps share. */
byte first; /* where the launch began */
byte stage[STAGE], gate, taken, handled, sure;
bool gated, quit;
typedef place { byte number, sequence };
place hand[HAND], answers[HAND]; /* a sequence of NONE: no answer, or the end */
byte batch[BATCHES], batch_end[BATCHES], dealt, answered, finished, settled;
bool meets; /* the second warp waits at the barrier */
bool begins[WARPS];
byte running = 0;

/* Messages, as bits: handled, and what they did can be seen by others of the seat; answered. What
 * is below `released` can be seen by the host. */
byte begun = 0, done = 0, replied = 0;
byte released = FIRST;
bool quiet = false; /* nothing may be handled now */

#define UP_TO(n) ((1 << (n)) - (1 << FIRST))
#define IS_DONE(n) ((done & UP_TO(n)) == UP_TO(n))
#define CALLS (2 + 8 + 32 + 128)

inline launch()
{
    d_step {
        first = heads;
        taken = heads;
        handled = heads;
        sure = heads;
        for (i : 0 .. STAGE - 1) {
            stage[i] = NONE
        }
        for (i : 0 .. HAND - 1) {
            hand[i].number = NONE;
            hand[i].sequence = 0;
            answers[i].number = NONE;
            answers[i].sequence = 0
        }
        for (i : 0 .. BATCHES - 1) {
            batch[i] = 0;
            batch_end[i] = 0
        }
        i = 0;
        dealt = 0;
        answered = 0;
        finished = 0;
        settled = 0;
        gated = false;
        gate = 0;
        quit = false;
        ended = false;
        begins[0] = true; begins[1] = true; begins[2] = true;
        running = WARPS
    }
}

#ifdef REUSE_TAKEN
#define FREE_FROM taken
#else
#define FREE_FROM handled
#endif
#define TO_STAGE(ahead)                                                                            \
    (running == WARPS && !quit && FREE_FROM + (ahead) < there &&                                   \
     FREE_FROM + (ahead) >= taken && stage[(FREE_FROM + (ahead)) % STAGE] != FREE_FROM + (ahead))

inline put_on_stage(ahead)
{
    stage[(FREE_FROM + (ahead)) % STAGE] = FREE_FROM + (ahead)
}

active proctype readers()
{
end:
    do
    :: atomic { TO_STAGE(0) -> put_on_stage(0) }
    :: atomic { TO_STAGE(1) -> put_on_stage(1) }
    :: atomic { TO_STAGE(2) -> put_on_stage(2) }
#if STAGE > 3
    :: atomic { TO_STAGE(3) -> put_on_stage(3) }
#endif
    od
}

/* Nobody needs what was there. */
inline put_in_hand(at, what)
{
    assert(hand[(at) % HAND].number == NONE || hand[(at) % HAND].number < answered);
    hand[(at) % HAND].sequence = what;
    hand[(at) % HAND].number = at
}

#define IS_STAGED(sequence, open) (stage[(sequence) % STAGE] == (sequence) && (sequence) < (open))
#ifdef HAND_FINISHED
#define IN_HAND (dealt - finished)
#else
#define IN_HAND (dealt - answered)
#endif
#ifdef SETTLED_ONLY
#define LOOKS (told_sure != batches)
#else
#define LOOKS (told_sure != batches || answered != finished)
#endif
#ifdef SURE_FINISHED
#define SETTLED finished
#else
#define SETTLED settled
#endif
#define IS_CLOSED(closed, messages)                                                                \
    ((closed) != batches && batch_end[(closed) % BATCHES] <= (messages))
#define IS_ANSWER(up_to) (answered < (up_to) && answers[answered % HAND].number == answered)
#define HAS_NEWS                                                                                   \
    (IS_ANSWER(finished) || IS_CLOSED(told, finished) || IS_CLOSED(told_sure, SETTLED))

/* To the port that the hand says. */
inline send_answer(up_to)
{
    if
    :: IS_ANSWER(up_to) ->
        if
        :: answers[answered % HAND].sequence != NONE ->
            assert(hand[answered % HAND].number == answered);
            assert(!(replied & (1 << answers[answered % HAND].sequence)));
            replied = replied | (1 << answers[answered % HAND].sequence)
        :: else -> skip
        fi;
        answered++
    :: else -> skip
    fi
}

inline close_batches(closed, messages, head)
{
    do
    :: IS_CLOSED(closed, messages) -> head = batch[closed % BATCHES]; closed++
    :: else -> break
    od
}

#ifdef LOOK_ONCE
#define DEALS true
#else
#define DEALS (open != NONE || !gated)
#endif

proctype clerk()
{
    byte batches, told, told_sure, seen, open, came;

end:
    do
    :: atomic { begins[0] -> begins[0] = false }
end_looks:
        do
        :: atomic { LOOKS && HAS_NEWS -> seen = finished }
            d_step {
                send_answer(seen);
                send_answer(seen);
#ifdef COUNT_FINISHED
                handled = first + seen;
#else
                close_batches(told, seen, handled);
#endif
                close_batches(told_sure, SETTLED, sure);
                seen = 0
            }
        :: atomic {
            !quit && batches - told_sure < BATCHES && IN_HAND <= HAND - EACH &&
            IS_STAGED(taken, (gated -> gate : NONE)) ->
            open = (gated -> gate : NONE);
            came = (IS_STAGED(taken + 1, open) -> 2 : 1)
        }
            taken = taken + came;
            if
            :: !DEALS -> atomic { taken = taken - came; open = 0; came = 0 }
            :: DEALS ->
                atomic {
                    if
                    :: came == 1 -> put_in_hand(dealt, taken - 1)
                    :: came == 2 -> put_in_hand(dealt, taken - 2);
                        put_in_hand(dealt + 1, taken - 1)
                    :: came == 2 -> put_in_hand(dealt, taken - 1);
                        put_in_hand(dealt + 1, taken - 2)
                    fi;
                    dealt = dealt + came;
                    batch[batches % BATCHES] = taken;
                    batch_end[batches % BATCHES] = dealt;
                    batches++;
                    open = 0; came = 0
                }
            fi
#ifdef QUIT_NOW
        :: quit -> break
#else
        :: quit && answered == dealt -> break
#endif
        od;
        atomic { put_in_hand(dealt, NONE) };
        do
        :: atomic { told_sure != batches && IS_CLOSED(told_sure, settled) ->
            close_batches(told_sure, settled, sure) }
        :: told_sure == batches -> break
        od;
        atomic {
            batches = 0; told = 0; told_sure = 0;
            running--
        }
    od
}

#define IS_DEALT (hand[number % HAND].number == number)
#define DEALT hand[number % HAND].sequence

/* What is on the stage is what was dealt: nobody has used the slot again. */
inline unstage()
{
    assert(stage[DEALT % STAGE] == DEALT)
}

#ifdef FORGET_MEET
#define MEETS false
#else
#define MEETS true
#endif

inline settle(up_to)
{
    done = begun;
    settled = up_to
}

proctype first_warp()
{
    byte number, sequence;

end:
    do
    :: atomic { begins[1] -> begins[1] = false }
end_looks:
        do
        :: atomic { IS_DEALT && DEALT != NONE -> unstage(); sequence = DEALT }
            atomic {
                meets == MEETS ->
                meets = false;
                assert(!quiet && !(begun & (1 << sequence)));
                begun = begun | (1 << sequence);
                answers[number % HAND].sequence = (IS_CALL(sequence) -> sequence : NONE);
                answers[number % HAND].number = number;
                sequence = 0
            };
            atomic { finished = number + 1; number++ }
        :: settled != number -> settle(number)
        :: atomic { IS_DEALT && DEALT == NONE -> break }
        od;
        settle(number);
        atomic { number = 0; running-- }
    od
}

proctype second_warp()
{
    byte number;

end:
    do
    :: atomic { begins[2] -> begins[2] = false }
end_looks:
        do
        :: atomic { !meets && IS_DEALT && DEALT != NONE -> unstage(); meets = MEETS; number++ }
        :: atomic { !meets && IS_DEALT && DEALT == NONE -> break }
        od;
        atomic { number = 0; running-- }
    od
}

inline publish()
{
    heads = sure;
    released = sure
}

#define RUNS (running == WARPS && !quit)
#ifdef FORGET_TAKEN
#define TAKEN 0
#else
#define TAKEN taken
#endif

active proctype steward()
{
    byte seen = 0;
    bool obeyed = true;
    mtype told;

end:
    do
    :: d_step { RUNS && sure != heads -> publish() }
    :: atomic {
        RUNS && order != seen ->
        seen = order;
        told = ordered;
        obeyed = false;
        gate = host_gate
    };
        gated = told != GO_ON
    :: d_step {
        RUNS && !obeyed && gated && told != END && (sure >= gate || TAKEN > gate) ->
        gate = (TAKEN > gate -> TAKEN : gate)
    };
        atomic {
            publish();
            if
            :: heads < gate
            :: heads >= gate && told == PAUSE -> obeyed = true; carried_out = seen
            :: heads >= gate && told == PARK -> obeyed = true; quit = true
            fi
        }
    :: atomic { RUNS && !obeyed && !gated -> obeyed = true; carried_out = seen }
    :: atomic { RUNS && !obeyed && gated && told == END -> obeyed = true; quit = true }
    :: d_step { running == 0 && quit && !ended -> publish(); carried_out = seen; ended = true }
    od
}

inline give_order(what)
{
    atomic {
        quiet = false;
        host_gate = (what == GO_ON -> host_gate : there);
        ordered = what;
        order++;
        orders = orders + (what == GO_ON -> 0 : 1)
    }
}

#define IS_OBEYED (IS_DONE(host_gate) && released >= host_gate)

active proctype host()
{
    byte i, orders = 0;

    atomic {
        run clerk();
        run first_warp();
        run second_warp()
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
        atomic { ended -> assert(!(begun & CALLS & ~replied)); over = true };
        break
    :: break
    od
}

active proctype port()
{
    do
    :: there < LAST && !over -> there++
    :: atomic { heads == there -> assert(IS_DONE(there) && released >= there) };
        if
        :: there == LAST -> break
        :: else -> skip
        fi
    :: over -> break
    od;
    ((replied & UP_TO(LAST)) == (CALLS & UP_TO(LAST)) || over)
}
