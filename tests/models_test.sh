#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The models of lock-free protocols hold, and their broken variants do not.
. "$(dirname "$0")/sh.sh"

[ -z "${SANITIZED:-}" ] || { skip models 'they test no code that a sanitizer could watch'; finish; }
command -v spin >/dev/null || { skip models 'spin is not installed'; finish; }

verify() # COMPILER OPTION MODEL FLAGS...: prints spin's verdict line
{
    compiler=$1 option=$2 model=$3
    shift 3
    (cd "$work" && rm -f pan* && spin "$@" -a "$root/tests/models/$model.pml" &&
        "$compiler" "$option" -DSAFETY -DNOREDUCE -w -o pan pan.c && ./pan -m100000 -w"$table" | tee pan.log | grep 'errors:')
}
holds() { table=24 && verify "${CC:-cc}" -O1 "$@" | grep 'errors: 0' && ! grep -q 'max search depth' "$work/pan.log"; }
# what is refused is refused soon: to compile it takes most of the time, and clang half as long as gcc
quick=$(command -v clang || echo "${CC:-cc}")
refused() { table=18 && verify "$quick" -O0 "$@" | grep -q 'errors: [1-9]'; }

claim park_loses_no_wake holds park
claim park_needs_the_count_before_the_question refused park -DFORGET_COUNT
claim park_needs_the_epoch refused park -DFORGET_EPOCH
claim baton_is_held_by_one_and_always_passed_on holds baton
claim baton_needs_the_compare refused baton -DFORGET_COMPARE
claim baton_must_not_forget_the_end refused baton -DFORGET_OVER
claim latch_is_held_by_one_and_what_is_left_to_him_is_done holds latch
claim latch_must_look_at_what_was_left refused latch -DPLAIN_GIVE
claim latch_must_not_be_left_to_who_has_given_it refused latch -DPLAIN_LEAVE
claim latch_must_not_be_left_to_nobody refused latch -DFORGET_FREE
claim latch_must_be_pressed_until_it_is_left refused latch -DCOUNT_FIRST
claim latch_must_not_be_pressed_any_longer refused latch -DCOUNT_LAST
claim channel_leaves_nobody_asleep_without_reason holds channel_sleep
claim channel_needs_the_mark_before_the_question refused channel_sleep -DMARK_LATE
claim channel_needs_leavers_to_think_of_others refused channel_sleep -DFORGET_OTHERS
claim channel_needs_leavers_to_look refused channel_sleep -DFORGET_LOOK
claim channel_must_ask_what_is_claimed refused channel_sleep -DASK_STAMP
claim channel_must_not_wake_before_the_claim refused channel_sleep -DWAKE_EARLY
claim close_frees_everybody_and_loses_nothing holds channel_close
claim close_needs_its_bit_in_the_tail_word refused channel_close -DCLOSED_APART
claim close_must_wake_all refused channel_close -DWAKE_ONE
claim broadcast_reads_nothing_that_is_overwritten holds broadcast
claim broadcast_must_announce_before_it_looks refused broadcast -DLOOK_FIRST
claim broadcast_must_erase_before_it_waits refused broadcast -DWAIT_FIRST
claim broadcast_must_say_what_is_erased refused broadcast -DFORGET_ERASED
claim broadcast_must_wait_for_readers refused broadcast -DFORGET_READER
claim broadcast_must_not_go_beyond_what_is_erased refused broadcast -DFAR_LIMIT
claim broadcast_must_look_at_the_tail_last refused broadcast -DTAIL_FIRST
claim reply_reaches_its_own_call_or_nobody holds reply
claim reply_must_not_free_while_answering refused reply -DFREE_WHILE_ANSWERING
claim reply_needs_the_swap refused reply -DPLAIN_ANSWER
claim reply_needs_the_wake refused reply -DFORGET_WAKE
claim buffer_is_written_by_one_and_calls_in_who_waits holds buffers
claim buffer_needs_the_last_reader_to_look refused buffers -DFORGET_CALL
claim buffer_needs_the_compare refused buffers -DFORGET_COMPARE
claim buffer_must_wake_all refused buffers -DWAKE_ONE
claim turn_is_moved_by_one_at_a_time_and_no_mark_is_missed holds turn
claim turn_needs_the_heavy_barrier refused turn -DFORGET_BARRIER
claim turn_must_wait_for_a_busy_holder refused turn -DFORGET_BUSY
claim turn_must_say_busy_before_it_looks refused turn -DLOOK_FIRST
claim turn_needs_a_place_for_each_thread refused turn -DONE_FLAG
claim cpu_stream_is_served_by_one_and_leaves_nothing holds cpu_stream
claim cpu_stream_must_leave_before_it_looks refused cpu_stream -DLOOK_FIRST
claim cpu_stream_needs_the_swap refused cpu_stream -DPLAIN_RETURN
claim cpu_stream_must_look_how_far_it_is refused cpu_stream -DOLD_POSITION
claim mpmc_slots_have_one_owner_and_no_item_is_lost holds mpmc
claim mpmc_needs_the_lap refused mpmc -DFORGET_LAP
claim mpmc_needs_the_compare refused mpmc -DFORGET_TURN
claim mpmc_must_not_hand_over_before_the_copy refused mpmc -DHAND_OVER_FIRST
claim mpmc_must_not_free_before_the_copy refused mpmc -DFREE_FIRST
claim mailbox_handles_each_once_whole_and_in_order holds mailbox
claim mailbox_may_be_handled_out_of_order holds mailbox -DTWO
claim mailbox_must_look_at_every_stamp refused mailbox -DONE_STAMP
claim mailbox_needs_stamps_that_tell_laps_apart refused mailbox -DFORGET_LAP
claim mailbox_must_not_give_back_before_it_has_read refused mailbox -DCREDIT_FIRST
claim mailbox_must_publish_when_idle refused mailbox -DFORGET_IDLE
claim mailbox_must_think_of_those_without_answer refused mailbox -DTWO -DFORGET_ONE_WAY
claim mailbox_must_not_write_over_an_answer refused mailbox -DREUSE_ANSWER
claim mailbox_bell_is_heard_once holds mailbox_bell
claim mailbox_bell_may_be_answered_in_place holds mailbox_bell -DIN_PLACE
claim mailbox_bell_must_not_be_rung_again refused mailbox_bell -DRING_AGAIN -DBELLS=2
claim mailbox_bell_must_not_be_rung_again_in_place refused mailbox_bell -DIN_PLACE -DRING_AGAIN -DBELLS=2
claim mailbox_lives_do_not_mix holds mailbox_restart
claim mailbox_salts_tell_two_lives_apart holds mailbox_restart -DKEEP_SLOTS -DLIVES=2
claim mailbox_must_be_zeroed refused mailbox_restart -DKEEP_SLOTS
claim mailbox_needs_another_salt_or_zeros refused mailbox_restart -DKEEP_ALL
claim mailbox_needs_the_top_bit_in_salts refused mailbox_restart -DFORGET_TOP
claim mailbox_must_not_begin_at_the_salt refused mailbox_restart -DFIRST_AT_SALT
claim mailbox_orders_are_carried_out_while_messages_come holds mailbox_order
claim mailbox_needs_the_gate_before_the_order refused mailbox_order -DORDER_FIRST
claim mailbox_must_not_say_done_before_the_gate refused mailbox_order -DACK_EARLY
claim mailbox_must_know_that_it_is_beyond_the_gate refused mailbox_order -DEXACT_GATE
claim mailbox_must_look_for_orders_when_full refused mailbox_order -DEMPTY_ONLY
claim mailbox_must_ask_what_made_a_seat_end refused mailbox_order -DEND_UNSEEN
claim mailbox_must_look_for_the_answer_after_the_end refused mailbox_order -DLOOK_ONCE
claim mailbox_must_free_who_waits_for_room refused mailbox_order -DFORGET_CLOSE
claim mailbox_may_be_left_and_loses_nothing holds mailbox_away
claim mailbox_must_be_looked_at_while_its_actor_is_away refused mailbox_away -DFORGET_SLIPPED
claim mailbox_must_be_looked_at_more_than_once refused mailbox_away -DLOOK_ONCE
claim mailbox_must_be_left_before_one_is_away refused mailbox_away -DAWAY_EARLY
claim mailbox_must_be_open_for_who_comes_back refused mailbox_away -DFORGET_ORDER
claim mailbox_front_leaves_no_gap_and_is_quiet_when_paused holds mailbox_front
claim mailbox_front_needs_the_gate_to_be_raised refused mailbox_front -DFORGET_RAISE
claim mailbox_front_must_look_at_the_gate_again refused mailbox_front -DLOOK_ONCE
claim mailbox_front_must_not_take_half_a_chunk_for_passed refused mailbox_front -DPASS_HALF
claim mailbox_front_must_not_be_moved_ahead_while_gated refused mailbox_front -DSCOUT_GATED
claim mailbox_front_must_not_give_one_too_many refused mailbox_front -DCREDIT_MORE
claim mailbox_front_must_not_say_all_unreleased refused mailbox_front -DCREDIT_ALL
claim mailbox_front_must_not_tell_before_it_is_done refused mailbox_front -DTELL_FIRST
claim mailbox_front_must_begin_within_a_chunk refused mailbox_front -DBEGIN_WHOLE
claim mailbox_hand_handles_each_once_and_answers holds mailbox_hand
claim mailbox_hand_may_be_short_of_places holds mailbox_hand -DSTAGE=4 -DORDERS=0
claim mailbox_hand_must_look_for_answers_of_what_is_sure refused mailbox_hand -DSETTLED_ONLY
claim mailbox_stage_must_not_be_used_again_while_in_hand refused mailbox_hand -DREUSE_TAKEN
claim mailbox_stage_needs_batches refused mailbox_hand -DCOUNT_FINISHED
claim mailbox_hand_must_not_be_used_again_before_the_answer refused mailbox_hand -DHAND_FINISHED -DSTAGE=4 -DORDERS=0
claim mailbox_hand_must_not_take_finished_for_sure refused mailbox_hand -DSURE_FINISHED
claim mailbox_hand_needs_its_warps_to_meet refused mailbox_hand -DFORGET_MEET
claim mailbox_hand_must_send_answers_before_it_ends refused mailbox_hand -DQUIT_NOW
claim mailbox_hand_must_look_at_the_gate_again refused mailbox_hand -DLOOK_ONCE
claim mailbox_hand_needs_the_gate_to_be_raised refused mailbox_hand -DFORGET_TAKEN
claim mailbox_hand_takes_each_bell_once holds mailbox_hand_bell
claim mailbox_hand_bell_must_wait_for_its_place refused mailbox_hand_bell -DFORGET_WAIT
claim mailbox_hand_bell_must_wait_also_at_the_end refused mailbox_hand_bell -DQUIT_WAITING
claim mailbox_hand_bell_must_be_on_the_stage_first refused mailbox_hand_bell -DENTRY_FIRST
claim mailbox_hand_bell_needs_the_compare refused mailbox_hand_bell -DPLAIN_CLAIM
claim mailbox_hand_bell_must_be_given_back refused mailbox_hand_bell -DKEEP_CLAIM
claim mailbox_hand_bell_must_look_at_the_gate_again refused mailbox_hand_bell -DLOOK_ONCE
claim mailbox_hand_must_be_waited_for_when_a_bell_is_claimed refused mailbox_hand_bell -DFORGET_CLAIMED
claim mailbox_hand_must_not_be_dealt_beyond_its_room refused mailbox_hand_bell -DPLAIN_DEAL
finish
