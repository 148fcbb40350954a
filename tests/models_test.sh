#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The models of lock-free protocols hold, and their broken variants do not.
. "$(dirname "$0")/sh.sh"

command -v spin >/dev/null || { skip models 'spin is not installed'; finish; }

verify() # MODEL FLAGS...: prints spin's verdict line
{
    model=$1
    shift
    (cd "$work" && rm -f pan* && spin "$@" -a "$root/tests/models/$model.pml" &&
        ${CC:-cc} -O1 -DSAFETY -DNOREDUCE -w -o pan pan.c && ./pan -m100000 | tee pan.log | grep 'errors:')
}
holds() { verify "$1" | grep 'errors: 0' && ! grep -q 'max search depth' "$work/pan.log"; }
refused() { verify "$@" | grep -q 'errors: [1-9]'; }

claim park_loses_no_wake holds park
claim park_needs_the_count_before_the_question refused park -DFORGET_COUNT
claim park_needs_the_epoch refused park -DFORGET_EPOCH
claim baton_is_held_by_one_and_always_passed_on holds baton
claim baton_needs_the_compare refused baton -DFORGET_COMPARE
claim baton_must_not_forget_the_end refused baton -DFORGET_OVER
claim mpmc_slots_have_one_owner_and_no_item_is_lost holds mpmc
claim mpmc_needs_the_lap refused mpmc -DFORGET_LAP
claim mpmc_needs_the_compare refused mpmc -DFORGET_TURN
claim mpmc_must_not_hand_over_before_the_copy refused mpmc -DHAND_OVER_FIRST
claim mpmc_must_not_free_before_the_copy refused mpmc -DFREE_FIRST
finish
