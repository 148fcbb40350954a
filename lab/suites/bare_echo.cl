/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_echo: the least that a resident kernel of OpenCL can do with stamped pieces in the host's
 * memory: one work-item that writes a request back as the reply. It ends when it sees the stamp
 * that is all ones. bare_block adds up the words of a payload first, and answers with the sum.
 *
 * A request is a line of four quarters, where the kernel is compiled for a processor that moves 16
 * bytes at once, or else 12 words, each with four bytes of it in its lower half and the stamp in
 * its upper. The kernel tells the host which, behind the reply, when it begins.
 */
enum { FORM_AT = 528, QUIT = -1 }; /* suites/bare_line.h */

#if defined(__x86_64__)
enum { PIECES = 4, LAST_STAMP = 15, FORM = 2 };
typedef uint4 piece;

static piece load(const volatile __global piece *from)
{
    piece p;

    __asm__ volatile("movdqa %1, %0" : "=x"(p) : "m"(*from));
    return p;
}

static void store(volatile __global piece *to, piece p)
{
    __asm__ volatile("movdqa %1, %0" : "=m"(*to) : "x"(p));
}

static uint stamp_of(piece p)
{
    return p.w;
}

static void put_front(piece *pieces, uint value, uint stamp)
{
    pieces[0] = (uint4)(value, 0, 0, stamp);
}
#else
enum { PIECES = 12, LAST_STAMP = 23, FORM = 1 };
typedef ulong piece;

static piece load(const volatile __global piece *from)
{
    return *from;
}

static void store(volatile __global piece *to, piece p)
{
    *to = p;
}

static uint stamp_of(piece p)
{
    return (uint)(p >> 32);
}

static void put_front(piece *pieces, uint value, uint stamp)
{
    pieces[0] = (ulong)stamp << 32 | value;
    pieces[1] = (ulong)stamp << 32;
}
#endif

static void begin(volatile __global piece *reply)
{
    ((volatile __global uint *)reply)[FORM_AT] = FORM;
}

/* Until request `number` is there; false when the host has none any more. */
static bool receive(const volatile __global piece *request, uint number, piece *pieces)
{
    for (;;) {
        uint differ = 0, last;

        mem_fence(CLK_GLOBAL_MEM_FENCE);
        last = ((const volatile __global uint *)request)[LAST_STAMP];
        if (last == (uint)QUIT)
            return false;
        if (last != number)
            continue;
        for (int i = 0; i < PIECES; i++) {
            pieces[i] = load(&request[i]);
            differ |= stamp_of(pieces[i]) ^ number;
        }
        if (!differ)
            return true;
    }
}

static void reply_with(volatile __global piece *reply, const piece *pieces)
{
    for (int i = 0; i < PIECES; i++)
        store(&reply[i], pieces[i]);
}

__kernel void bare_echo(__global volatile piece *request, __global volatile piece *reply)
{
    piece pieces[PIECES];

    begin(reply);
    for (uint number = 1; receive(request, number, pieces); number++)
        reply_with(reply, pieces);
}

__kernel void bare_block(__global volatile piece *request, __global volatile piece *reply,
                         __global volatile uint *payload, uint words, uint readers)
{
    piece pieces[PIECES];

    begin(reply);
    for (uint number = 1; receive(request, number, pieces); number++) {
        uint sum = 0;

        mem_fence(CLK_GLOBAL_MEM_FENCE);
        for (uint i = 0; i < words; i++)
            sum += payload[i];
        if (words)
            put_front(pieces, sum, number);
        reply_with(reply, pieces);
    }
}
