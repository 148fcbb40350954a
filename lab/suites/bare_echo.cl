/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_echo: the least that a resident kernel of OpenCL can do with stamped words in the host's
 * memory: one work-item that writes a request back as the reply. A request is 12 words, each with
 * four bytes of it in its lower half and the stamp in its upper. It ends when it sees the stamp
 * that is all ones. bare_block adds up the words of a payload first, and answers with the sum.
 */
__kernel void bare_echo(__global volatile ulong *request, __global volatile ulong *reply)
{
    uint number = 1;

    for (;;) {
        ulong word[12];
        uint stamp, differ = 0;

        mem_fence(CLK_GLOBAL_MEM_FENCE);
        word[11] = request[11];
        stamp = (uint)(word[11] >> 32);
        if (stamp == 0xffffffffu)
            return;
        if (stamp != number)
            continue;
        for (int i = 0; i < 11; i++) {
            word[i] = request[i];
            differ |= (uint)(word[i] >> 32) ^ number;
        }
        if (differ)
            continue;
        for (int i = 0; i < 12; i++)
            reply[i] = word[i];
        number++;
    }
}

__kernel void bare_block(__global volatile ulong *request, __global volatile ulong *reply,
                         __global volatile uint *payload, uint words, uint readers)
{
    uint number = 1;

    for (;;) {
        ulong word[12];
        uint stamp, differ = 0, sum = 0;

        mem_fence(CLK_GLOBAL_MEM_FENCE);
        word[11] = request[11];
        stamp = (uint)(word[11] >> 32);
        if (stamp == 0xffffffffu)
            return;
        if (stamp != number)
            continue;
        for (int i = 0; i < 11; i++) {
            word[i] = request[i];
            differ |= (uint)(word[i] >> 32) ^ number;
        }
        if (differ)
            continue;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        for (uint i = 0; i < words; i++)
            sum += payload[i];
        if (words) {
            word[0] = (ulong)number << 32 | sum;
            word[1] = (ulong)number << 32;
        }
        for (int i = 0; i < 12; i++)
            reply[i] = word[i];
        number++;
    }
}
