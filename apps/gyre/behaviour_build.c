/* SPDX-License-Identifier: Apache-2.0
 *
 * behaviour_build: see behaviour_build.h.
 *
 * The compiler is in a process group of its own, so that all of it can be ended; a terminal's
 * Ctrl-C does not reach it, but is seen pending here.
 */
#include "behaviour_build.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/settings.h"
#include "base/text.h"
#include "gyre/clock.h"
#include "main/program.h"

enum { MORE_WORDS = 24, LOOK_NS = 2000000 };

static const uint64_t PATIENCE_NS = 60000000000;
static const int held[] = {SIGINT, SIGTERM, SIGHUP};

extern char **environ;

typedef struct job {
    const behaviour_file *file;
    gyre_program compiler;
    char folder[PATH_MAX], library[PATH_MAX + 8], source[PATH_MAX + 2];
    char map[PATH_MAX + 8], exports[PATH_MAX + 64]; /* the file with what is kept, and its option */
    char found[PATH_MAX + 8];                       /* the file with what is found when loaded */
    char headers[PATH_MAX + 64],
        embedded[4 * PATH_MAX + 64]; /* for which there is an option each */
    sigset_t before;                 /* signals that were held back when we came */
} job;

/* GYRE_HEADERS is where the headers are, from the folder of this command: built or installed. */
static void find_headers(job *j)
{
    char self[PATH_MAX], probe[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    j->headers[0] = '\0';
    if (length < 0)
        return;
    self[length] = '\0';
    slash = strrchr(self, '/');
    if (!slash)
        return;
    *slash = '\0';
    if (snprintf(probe, sizeof probe, "%s/%s/gyre/behaviour.h", self, GYRE_HEADERS) <
            (int)sizeof probe &&
        access(probe, R_OK) == 0)
        snprintf(j->headers, sizeof j->headers, "-I%s/%s", self, GYRE_HEADERS);
}

/* Where the assembler finds the file, which it would not by __FILE__ with a quote or a backslash:
 * it reads a string of its own inside of the one that C reads. */
static void name_file(job *j)
{
    char *to = j->embedded + snprintf(j->embedded, sizeof j->embedded, "-DGYRE_BEHAVIOUR_FILE=\"");

    snprintf(j->source, sizeof j->source, "%s%s", j->file->path[0] == '-' ? "./" : "",
             j->file->path);
    for (const char *from = j->source; *from; from++) {
        if (*from == '"' || *from == '\\')
            to = stpcpy(to, "\\\\\\"); /* of one for the assembler, and of the letter itself */
        *to++ = *from;
    }
    stpcpy(to, "\"");
}

/* What a compiler knows by its ending; another file it would give to the linker. */
static bool has_language(const char *path)
{
    static const char *const endings[] = {".c", ".cc", ".cpp", ".cxx", ".c++", ".C"};
    const char *const dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static gyre_status make_folder(job *j)
{
    const char *const named = gyre_settings_system("TMPDIR");
    const char *const temporary = named[0] ? named : "/tmp";
    struct statvfs about;

    if (statvfs(temporary, &about) == 0 && (about.f_flag & ST_NOEXEC))
        return gyre_fail(GYRE_IO,
                         "nothing in '%.*s' can be run, since it is mounted noexec; set TMPDIR to "
                         "another folder",
                         gyre_text_cut(strlen(temporary)), temporary);
    snprintf(j->folder, sizeof j->folder, "%s/gyre-XXXXXX", temporary);
    if (!mkdtemp(j->folder))
        return gyre_fail_native(GYRE_IO, errno, "cannot make a folder in '%.*s': %s",
                                gyre_text_cut(strlen(temporary)), temporary, strerror(errno));
    snprintf(j->library, sizeof j->library, "%s/b.so", j->folder);
    snprintf(j->map, sizeof j->map, "%s/b.map", j->folder);
    snprintf(j->found, sizeof j->found, "%s/b.h", j->folder);
    snprintf(j->exports, sizeof j->exports, "-Wl,--version-script=%s", j->map);
    return GYRE_OK;
}

static gyre_status write_file(const char *path, const char *text)
{
    FILE *const stream = fopen(path, "wxe");
    bool written;

    if (!stream)
        return gyre_fail_native(GYRE_IO, errno, "cannot write '%s': %s", path, strerror(errno));
    written = fputs(text, stream) >= 0;
    if (fclose(stream) == 0 && written)
        return GYRE_OK;
    return gyre_fail_native(GYRE_IO, errno, "cannot write '%s': %s", path, strerror(errno));
}

/* What the behaviour is to be found by, and what it finds in this command: that is weak, so that
 * the linker does without a definition of these and of nothing else. */
static gyre_status write_files(const job *j)
{
    char map[BEHAVIOUR_NAME_BYTES + 64];
    gyre_status status;

    snprintf(map, sizeof map, "{ global: %s; local: *; };\n", j->file->name);
    status = write_file(j->map, map);
    if (status == GYRE_OK)
        status = write_file(j->found, "#pragma weak gyre_self_say\n#pragma weak gyre_self_now\n");
    return status;
}

static void remove_folder(const job *j)
{
    (void)unlink(j->library);
    (void)unlink(j->map);
    (void)unlink(j->found);
    (void)rmdir(j->folder);
}

/* What is between a compiler's words and its end. All but the behaviour and what it uses is left
 * out, so that a file that is a whole program may call what this command does not have, while the
 * linker names what the behaviour lacks. Without contraction, as on devices. */
static gyre_status start(job *j, pid_t *out_pid)
{
    static char fixed[][20] = {"-shared",
                               "-fPIC",
                               "-O2",
                               "-g",
                               "-ffp-contract=off",
                               "-ffunction-sections",
                               "-fdata-sections",
                               "-Wl,--gc-sections",
                               "-Wl,-z,defs",
                               "-o"};
    static char mathematics[] = "-lm", include[] = "-include";
    static char language[][4] = {"-x", "c"};
    char *words[GYRE_PROGRAM_WORDS + MORE_WORDS];
    posix_spawnattr_t attributes;
    size_t count = 0;
    int error;

    for (; count < j->compiler.count; count++)
        words[count] = j->compiler.words[count];
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        words[count++] = fixed[i];
    words[count++] = j->library;
    if (j->headers[0])
        words[count++] = j->headers;
    words[count++] = j->embedded;
    words[count++] = j->exports;
    words[count++] = include;
    words[count++] = j->found;
    if (!has_language(j->source)) {
        words[count++] = language[0];
        words[count++] = language[1];
    }
    words[count++] = j->source;
    words[count++] = mathematics;
    words[count] = NULL;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &j->before);
    error = posix_spawn(out_pid, j->compiler.path, NULL, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return gyre_fail_native(GYRE_IO, error, "cannot start '%s': %s", j->compiler.path,
                                strerror(error));
    return GYRE_OK;
}

static bool is_interrupted(void)
{
    sigset_t pending;

    if (sigpending(&pending) != 0)
        return false;
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        if (sigismember(&pending, held[i]) == 1)
            return true;
    return false;
}

/* Waits for the compiler, or ends it. */
static gyre_status wait_for(const job *j, pid_t pid)
{
    const uint64_t deadline_ns = gyre_clock_after_ns(PATIENCE_NS);
    const struct timespec look = {.tv_nsec = LOOK_NS};
    gyre_status ended = GYRE_OK;
    pid_t seen;
    int status = 0;

    while ((seen = waitpid(pid, &status, WNOHANG)) == 0 || (seen < 0 && errno == EINTR)) {
        if (ended == GYRE_OK && is_interrupted())
            ended = gyre_fail(GYRE_CANCELLED, "interrupted while compiling");
        else if (ended == GYRE_OK && gyre_clock_now_ns() >= deadline_ns)
            ended = gyre_fail(GYRE_IO, "the compiler did not end within a minute");
        else
            nanosleep(&look, NULL);
        if (ended != GYRE_OK)
            (void)kill(-pid, SIGKILL);
    }
    if (ended != GYRE_OK)
        return ended;
    if (seen == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return GYRE_OK;
    return gyre_fail(GYRE_BUILD, "'%.*s' does not compile with '%s': what it said is above",
                     gyre_text_cut(strlen(j->file->path)), j->file->path, j->compiler.command);
}

static gyre_status compile(job *j, int *out_fd)
{
    pid_t pid = 0;
    gyre_status status = write_files(j);

    if (status == GYRE_OK)
        status = start(j, &pid);
    if (status == GYRE_OK)
        status = wait_for(j, pid);
    if (status != GYRE_OK)
        return status;
    *out_fd = open(j->library, O_RDONLY); /* NOLINT(android-cloexec-open): for who is started */
    if (*out_fd < 0)
        return gyre_fail_native(GYRE_IO, errno, "cannot open what '%s' made: %s",
                                j->compiler.command, strerror(errno));
    return GYRE_OK;
}

gyre_status behaviour_build(const behaviour_file *file, int *out_fd)
{
    const char *const named = gyre_settings_system("CC");
    const struct timespec now = {0};
    static job j;
    sigset_t hold;
    gyre_status status = gyre_program_init(&j.compiler, named[0] ? named : "cc");

    *out_fd = -1;
    if (status == GYRE_NOT_FOUND)
        return gyre_fail(GYRE_UNAVAILABLE, "there is no program '%.*s'; %s CC to a C compiler",
                         gyre_text_cut(strlen(named[0] ? named : "cc")), named[0] ? named : "cc",
                         named[0] ? "correct" : "set");
    if (status != GYRE_OK)
        return status;
    j.file = file;
    find_headers(&j);
    name_file(&j);
    sigemptyset(&hold);
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        sigaddset(&hold, held[i]);
    sigprocmask(SIG_BLOCK, &hold, &j.before);
    status = make_folder(&j);
    if (status == GYRE_OK) {
        status = compile(&j, out_fd);
        remove_folder(&j);
    }
    gyre_program_fini(&j.compiler);
    while (status == GYRE_CANCELLED && sigtimedwait(&hold, NULL, &now) > 0)
        ; /* it has been heard */
    sigprocmask(SIG_SETMASK, &j.before, NULL);
    return status;
}
