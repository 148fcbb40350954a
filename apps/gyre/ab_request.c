/* SPDX-License-Identifier: Apache-2.0
 *
 * ab_request: see ab_request.h.
 */
#include "ab_request.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/settings.h"
#include "main/given.h"
#include "main/manners.h"
#include "record/file.h"

gyre_status ab_request_read(const gyre_option *options, const gyre_args *args,
                            ab_request *out_request)
{
    const gyre_given given = {options, args};
    ab_request *r = out_request;
    gyre_status status;
    bool pinned;

    *r = (ab_request){0};
    if (args->operand_count < 2)
        return gyre_fail(GYRE_INVALID, "say which two: OLD and NEW, each a program or a command in "
                                       "quotes");
    r->asked.commands[0] = args->operands[0];
    r->asked.commands[1] = args->operands[1];
    r->asked.patterns = args->operands + 2;
    r->asked.pattern_count = args->operand_count - 2;
    r->asked.skip = r->skip;
    r->asked.skip_count = gyre_args_values(args, AB_SKIP, r->skip, GYRE_FILTER_PATTERNS);
    r->asked.exact = gyre_args_given(args, AB_EXACT);
    r->asked.plain_commands = gyre_args_given(args, AB_COMMANDS);
    r->asked.memory = gyre_args_given(args, AB_MEMORY);
    r->asked.instructions = gyre_args_given(args, AB_INSTRUCTIONS);
    r->asked.progress = gyre_args_given(args, AB_QUIET) ? NULL : stderr;
    r->asked.interrupted = &gyre_interrupted;
    r->folder =
        gyre_args_given(args, AB_OUT) ? args->value[AB_OUT] : gyre_settings_text(GYRE_SETTING_OUT);
    status = gyre_given_time(&given, AB_LIMIT, false, &r->asked.limit_ns);
    if (status == GYRE_OK)
        status = gyre_given_time(&given, AB_TIMEOUT, false, &r->asked.timeout_ns);
    if (status == GYRE_OK)
        status = gyre_given_count(&given, AB_SEED, (gyre_range){1, 9.3e18, "a number from 1 on"},
                                  &r->asked.seed);
    if (status == GYRE_OK)
        status = gyre_given_cpus(&given, AB_PIN, &r->cpus, &pinned);
    if (status == GYRE_OK && pinned)
        r->asked.cpus = &r->cpus;
    return status;
}

gyre_status ab_request_try(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    struct stat file;

    if (stat(path, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode))
        return GYRE_OK; /* a device or a pipe is written to as it is */
    if (!slash)
        return gyre_folder_open(".");
    if ((size_t)snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path),
                         path) >= sizeof folder)
        return gyre_fail(GYRE_IO, "the path of the file is too long");
    return gyre_folder_open(folder);
}
