/* SPDX-License-Identifier: Apache-2.0
 *
 * program: see program.h.
 */
#include "main/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/settings.h"
#include "base/text.h"

enum { CHUNK_BYTES = 65536 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static bool is_file(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

/* Copies one word without its quotes; false when one does not end. */
static bool take_word(const char **cursor, char **out)
{
    const char *at = *cursor;
    char *to = *out, quote = '\0';

    for (; *at && (quote || !is_blank(*at)); at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"') {
            quote = quote ? '\0' : *at;
        } else if (*at == '\\' && quote != '\'') {
            if (*++at == '\0')
                return false;
            *to++ = *at;
        } else {
            *to++ = *at;
        }
    }
    *to++ = '\0';
    *cursor = at;
    *out = to;
    return quote == '\0';
}

static gyre_status split(gyre_program *program)
{
    const char *at = program->command;
    char *to = program->text;

    if (is_file(at)) { /* whatever blanks are in its name */
        memcpy(to, at, strlen(at) + 1);
        program->words[program->count++] = to;
        return GYRE_OK;
    }
    for (;;) {
        while (is_blank(*at))
            at++;
        if (*at == '\0')
            break;
        if (program->count == GYRE_PROGRAM_WORDS)
            return gyre_fail(GYRE_INVALID, "a command of more than %d words", GYRE_PROGRAM_WORDS);
        program->words[program->count++] = to;
        if (!take_word(&at, &to))
            return gyre_fail(GYRE_INVALID, "a quote does not end in the command '%.*s'",
                             gyre_text_cut(strlen(program->command)), program->command);
    }
    if (program->count == 0 || program->words[0][0] == '\0')
        return gyre_fail(GYRE_INVALID, "a command is empty: name a program");
    return GYRE_OK;
}

gyre_status gyre_program_split(gyre_program *program, const char *command)
{
    gyre_status status;
    void *block;

    *program = (gyre_program){.command = command, .text_size = strlen(command) + 1};
    status = gyre_alloc(NULL, 1, program->text_size, &block);
    if (status != GYRE_OK)
        return status;
    program->text = block;
    status = split(program);
    if (status != GYRE_OK)
        gyre_program_fini(program);
    return status;
}

static bool is_program(const char *path)
{
    return is_file(path) && access(path, X_OK) == 0;
}

/* Where a shell would find it. */
static gyre_status find(gyre_program *program)
{
    const char *name = program->words[0], *folders = gyre_settings_system("PATH");
    const size_t size = sizeof program->path;

    if (strchr(name, '/')) {
        if (is_program(name) && (size_t)snprintf(program->path, size, "%s", name) < size)
            return GYRE_OK;
    } else {
        for (const char *at = folders[0] ? folders : "/bin:/usr/bin"; *at;) {
            const size_t length = strcspn(at, ":");

            if ((size_t)snprintf(program->path, size, "%.*s/%s", (int)(length ? length : 1),
                                 length ? at : ".", name) < size &&
                is_program(program->path))
                return GYRE_OK;
            at += length + (at[length] == ':');
        }
    }
    if (is_file(name))
        return gyre_fail(GYRE_NOT_FOUND, "'%.*s' is no program that may be run%s",
                         gyre_text_cut(strlen(name)), name,
                         strchr(name, '/') ? "" : "; one in this folder is called with ./");
    return gyre_fail(GYRE_NOT_FOUND, "there is no program '%.*s'", gyre_text_cut(strlen(name)),
                     name);
}

static gyre_status read_all(gyre_program *program)
{
    const int fd = open(program->path, O_RDONLY | O_CLOEXEC);
    static char chunk[CHUNK_BYTES];
    ssize_t length = fd < 0 ? -1 : 1;

    while (length > 0) {
        length = read(fd, chunk, sizeof chunk);
        if (length < 0 && errno == EINTR) {
            length = 1;
        } else if (length > 0) {
            program->hash = gyre_hash64(chunk, (size_t)length, program->hash);
            program->bytes += (uint64_t)length;
        }
    }
    if (fd >= 0)
        close(fd);
    if (length == 0)
        return GYRE_OK;
    if (errno == EACCES) /* it may be run, but not read: then it has no hash */
        return GYRE_OK;
    return gyre_fail_native(GYRE_IO, errno, "cannot read '%s': %s", program->path, strerror(errno));
}

gyre_status gyre_program_init(gyre_program *program, const char *command)
{
    gyre_status status = gyre_program_split(program, command);

    if (status != GYRE_OK)
        return status;
    status = find(program);
    if (status == GYRE_OK)
        status = read_all(program);
    if (status != GYRE_OK)
        gyre_program_fini(program);
    return status;
}

void gyre_program_fini(gyre_program *program)
{
    gyre_free(NULL, program->text, 1, program->text_size);
    *program = (gyre_program){0};
}
