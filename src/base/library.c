/* SPDX-License-Identifier: Apache-2.0
 *
 * library: see gyre/library.h. The build names itself through GYRE_BUILD_TYPE and GYRE_SANITIZED.
 */
#include "gyre/library.h"

#include "base/process.h"
#include "gyre/clock.h"
#include "gyre/settings.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *gyre_version(void)
{
    return TEXT(GYRE_VERSION_MAJOR) "." TEXT(GYRE_VERSION_MINOR) "." TEXT(GYRE_VERSION_PATCH);
}

const char *gyre_build(void)
{
    return COMPILER ", " GYRE_BUILD_TYPE ", sanitizers " GYRE_SANITIZED;
}

gyre_status gyre_prepare(void)
{
    gyre_status status = gyre_process_use();

    if (status == GYRE_OK)
        status = gyre_settings_check();
    (void)gyre_clock_now_ns();
    return status;
}
