// SPDX-License-Identifier: Apache-2.0
#include <gyre/cpu.h>
#include <gyre/library.h>
#include <gyre/thread.h>

#include <cstdio>

int main()
{
    gyre_thread *thread = nullptr;
    int ran = 0;

    if (gyre_thread_start([](void *arg) { ++*static_cast<int *>(arg); }, &ran, nullptr, &thread) !=
        GYRE_OK) {
        std::fprintf(stderr, "%s\n", gyre_error_last()->text);
        return 1;
    }
    gyre_thread_stop(thread);
    std::printf("gyre %s, %d thread ran\n", gyre_version(), ran);
    return ran == 1 ? 0 : 1;
}
