/* SPDX-License-Identifier: Apache-2.0
 *
 * cache: the compiled kernels that are kept on disk: what is there, whether it is sound, and away
 * with it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/settings.h"
#include "base/text.h"
#include "gyre/cache.h"
#include "record/moment.h"
#include "report/quantity.h"
#include "report/terminal.h"
#include "verb.h"

enum { JSON, FIX };
enum { PROGRAM_WIDTH = 18, DEVICE_WIDTH = 14, COMPILER_WIDTH = 14, BYTES_WIDTH = 10, MINUTES = 16 };

static const gyre_option options[] = {
    [JSON] = {"--json", 0, NULL, "print JSON instead of text (gyre.cache/1)"},
    [FIX] = {"--fix", 0, NULL, "of verify: remove the entries that are not sound"},
    {NULL, 0, NULL, NULL},
};

typedef struct request {
    bool as_json, fix;
    gyre_json json;
    gyre_cache_statistics about; /* folder and limit */
    uint64_t count, unsound, bytes;
} request;

static void json_entry(gyre_json *json, const gyre_cache_entry *entry)
{
    char used[GYRE_MOMENT_BYTES];

    gyre_moment_print(entry->used, used);
    gyre_json_begin_object(json, NULL);
    gyre_json_string(json, "key", entry->key);
    gyre_json_string(json, "program", entry->program);
    gyre_json_string(json, "device", entry->device);
    gyre_json_string(json, "compiler", entry->compiler);
    gyre_json_unsigned(json, "size_bytes", entry->size_bytes);
    gyre_json_string(json, "used", used);
    gyre_json_bool(json, "sound", entry->sound);
    gyre_json_string(json, "why", entry->sound ? NULL : entry->why);
    gyre_json_end(json);
}

/* Padded to `width`, and cut there, but not within a character. */
static void print_cell(const char *text, int width)
{
    int letters = (int)strnlen(text, (size_t)width);

    if (text[letters])
        while (letters > 0 && ((unsigned char)text[letters] & 0xC0) == 0x80)
            letters--;
    printf("%-*.*s  ", width, letters, text[0] ? text : "-");
}

static void count_entry(request *r, const gyre_cache_entry *entry)
{
    r->count++;
    r->bytes += entry->size_bytes;
    r->unsound += !entry->sound;
}

static bool list_entry(void *user, const gyre_cache_entry *entry)
{
    char used[GYRE_MOMENT_BYTES];
    request *r = user;

    if (r->as_json)
        json_entry(&r->json, entry);
    else if (r->count == 0)
        printf("%s%-*s  %-*s  %-*s  %*s  %s%s\n", gyre_terminal_ink(stdout, GYRE_INK_BOLD),
               PROGRAM_WIDTH, "program", DEVICE_WIDTH, "device", COMPILER_WIDTH, "compiler",
               BYTES_WIDTH, "size", "used (UTC)", gyre_terminal_ink(stdout, GYRE_INK_PLAIN));
    count_entry(r, entry);
    if (r->as_json)
        return true;
    gyre_moment_print(entry->used, used);
    used[10] = ' ';
    print_cell(entry->program, PROGRAM_WIDTH);
    print_cell(entry->device, DEVICE_WIDTH);
    print_cell(entry->compiler, COMPILER_WIDTH);
    printf("%*s  %.*s\n", BYTES_WIDTH, gyre_quantity_bytes(entry->size_bytes).text, MINUTES, used);
    if (!entry->sound)
        printf("  %s%s is not used: %s%s\n", gyre_terminal_ink(stdout, GYRE_INK_WARN), entry->key,
               entry->why, gyre_terminal_ink(stdout, GYRE_INK_PLAIN));
    return true;
}

static bool verify_entry(void *user, const gyre_cache_entry *entry)
{
    request *r = user;

    count_entry(r, entry);
    if (r->as_json)
        json_entry(&r->json, entry);
    else if (!entry->sound)
        printf("%s%s: %s%s\n", gyre_terminal_ink(stdout, GYRE_INK_BAD), entry->key, entry->why,
               gyre_terminal_ink(stdout, GYRE_INK_PLAIN));
    return true;
}

/* The JSON is whole even when the folder cannot be read. A folder that is not there is empty. */
static gyre_status visit(request *r, bool verify, bool (*each)(void *, const gyre_cache_entry *))
{
    gyre_status status;

    if (r->as_json) {
        gyre_json_begin_object(&r->json, NULL);
        gyre_json_string(&r->json, "schema", "gyre.cache/1");
        gyre_json_string(&r->json, "folder", r->about.folder);
        gyre_json_unsigned(&r->json, "limit_bytes", r->about.limit_bytes);
        gyre_json_begin_array(&r->json, "entries");
    }
    status = gyre_cache_visit(verify, each, r);
    if (r->as_json) {
        gyre_json_end(&r->json);
        gyre_json_unsigned(&r->json, "total_bytes", r->bytes);
        gyre_json_unsigned(&r->json, "unsound", r->unsound);
    }
    return status == GYRE_NOT_FOUND ? GYRE_OK : status;
}

static void print_total(const request *r)
{
    printf("%" PRIu64 " kernel%s, %s of %s, in ", r->count, r->count == 1 ? "" : "s",
           gyre_quantity_bytes(r->bytes).text, gyre_quantity_bytes(r->about.limit_bytes).text);
    gyre_text_print(stdout, r->about.folder);
    fputc('\n', stdout);
}

static gyre_status list(request *r, int *out_exit)
{
    const gyre_status status = visit(r, false, list_entry);

    (void)out_exit;
    if (r->as_json)
        gyre_json_end(&r->json);
    else if (status == GYRE_OK)
        print_total(r);
    return status;
}

static gyre_status verify(request *r, int *out_exit)
{
    uint64_t gone = 0, bytes;
    gyre_status status = visit(r, true, verify_entry);

    if (status == GYRE_OK && r->fix && r->unsound > 0)
        status = gyre_cache_clear(true, &gone, &bytes);
    if (r->as_json) {
        gyre_json_unsigned(&r->json, "removed", gone);
        gyre_json_end(&r->json);
    } else if (status == GYRE_OK) {
        print_total(r);
        if (r->unsound == 0)
            puts("all of them are sound");
        else if (r->fix)
            printf("%" PRIu64 " not sound, %" PRIu64 " removed\n", r->unsound, gone);
        else
            printf("%" PRIu64 " not sound: they are compiled again when they are wanted, and "
                   "--fix removes them\n",
                   r->unsound);
    }
    if (r->unsound > gone)
        *out_exit = GYRE_EXIT_FAILED;
    return status;
}

static gyre_status clear(request *r, int *out_exit)
{
    uint64_t count, bytes;
    gyre_status status = gyre_cache_clear(false, &count, &bytes);

    (void)out_exit;
    if (status == GYRE_NOT_FOUND)
        status = GYRE_OK;
    if (r->as_json) {
        gyre_json_begin_object(&r->json, NULL);
        gyre_json_string(&r->json, "schema", "gyre.cache/1");
        gyre_json_string(&r->json, "folder", r->about.folder);
        gyre_json_unsigned(&r->json, "removed", count);
        gyre_json_unsigned(&r->json, "removed_bytes", bytes);
        gyre_json_end(&r->json);
    } else {
        printf("%" PRIu64 " kernel%s removed, %s, from ", count, count == 1 ? "" : "s",
               gyre_quantity_bytes(bytes).text);
        gyre_text_print(stdout, r->about.folder);
        fputc('\n', stdout);
    }
    return status;
}

static const char *const names[] = {"list", "clear", "verify", NULL};
static gyre_status (*const parts[])(request *r, int *out_exit) = {list, clear, verify};
enum { VERIFY = 2 };

static gyre_status find_cache(request *r)
{
    const gyre_status status = gyre_cache_describe(&r->about);

    if (status != GYRE_OK || r->about.folder[0])
        return status;
    if (!gyre_settings_text(GYRE_SETTING_CACHE)[0])
        return gyre_fail(GYRE_UNAVAILABLE,
                         "the kernel cache has no folder: neither HOME nor XDG_CACHE_HOME is one; "
                         "set one of them, or GYRE_CACHE");
    return gyre_fail(GYRE_UNAVAILABLE, "the kernel cache is off: 'gyre env' shows GYRE_CACHE");
}

static int run_cache(const gyre_args *args, int argc, char **argv)
{
    request r = {
        .as_json = gyre_args_given(args, JSON),
        .fix = gyre_args_given(args, FIX),
        .json = {.stream = stdout},
        .about = {.struct_size = sizeof r.about},
    };
    int exit_status = GYRE_EXIT_DONE;
    size_t part = 0;
    gyre_status status = GYRE_OK;

    (void)argc, (void)argv;
    if (args->operand_count > 0)
        status = verb_part(&verb_cache, names, args->operands[0], &part);
    if (status == GYRE_OK && r.fix && part != VERIFY)
        status = gyre_fail(GYRE_INVALID, "--fix is for verify");
    if (status == GYRE_OK)
        status = find_cache(&r);
    if (status == GYRE_OK)
        status = parts[part](&r, &exit_status);
    if (status == GYRE_OK)
        return exit_status;
    fflush(stdout);
    fprintf(stderr, "gyre cache: %s\n", gyre_error_last()->text);
    return status == GYRE_INVALID ? GYRE_EXIT_USAGE : GYRE_EXIT_ENVIRONMENT;
}

const gyre_verb verb_cache = {
    .name = "cache",
    .operands = "[list|clear|verify]",
    .most_operands = 1,
    .summary = "list, verify and clear the compiled kernels that are kept on disk",
    .description =
        "Kernels that were compiled from source are kept in a folder, GYRE_CACHE, so that the next "
        "process need not compile them. 'list', which is what happens without a word, shows them, "
        "the last used first; 'clear' removes them all, and costs no more than compiling again. "
        "'verify' reads every byte and exits with 1 when an entry is not sound; such an entry is "
        "never used, and replaced when its program is compiled; --fix removes it now. Entries that "
        "were not used for longest go by themselves when all together are beyond GYRE_CACHE_MIB.",
    .options = options,
    .run = run_cache,
};
