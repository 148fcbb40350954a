/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup: finds the control groups this process is in and takes the tightest limits.
 *
 * A limit holds for everything below it, so the walk goes from the process's own group up to the
 * mount point; groups above that (the container's parents, outside its namespace) cannot be seen.
 * Both versions are asked: a hybrid machine mounts version 2 without controllers beside version 1.
 * The cpuset is taken from the innermost group that has one: it is a subset of those above.
 *
 * Threads   pure functions on the caller's data.
 * Owns      nothing.
 * Not here  what to do about a limit (topology.c).
 */
#include "base/cgroup.h"

#include <stdio.h>
#include <string.h>

enum { GROUP_BYTES = 2 * GYRE_CGROUP_PATH_BYTES }; /* a mount point and a path below it */

#define NO_LIMIT_BYTES (UINT64_C(1) << 62) /* version 1 says "none" by a number near 2^63 */

static bool at_line_end(const char *at)
{
    return *at == '\0' || *at == '\n';
}

/* The next run of characters that are no space; false at the end of the line. */
static bool take_field(const char **cursor, const char **out_field, size_t *out_length)
{
    const char *at = *cursor + strspn(*cursor, " ");

    *out_field = at;
    *out_length = strcspn(at, " \n");
    *cursor = at + *out_length;
    return *out_length > 0;
}

/* Whether `word` is an element of a comma-separated list; "" is in an empty list only. */
static bool list_has(const char *list, size_t length, const char *word)
{
    const size_t word_length = strlen(word);
    const char *end = list + length;

    if (word_length == 0)
        return length == 0;
    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        const size_t element = (size_t)((comma ? comma : end) - list);

        if (element == word_length && memcmp(list, word, word_length) == 0)
            return true;
        list += element + 1;
    }
    return false;
}

/* Copies a path of mountinfo, where a space is \040. False when it does not fit. */
static bool copy_unescaped(const char *from, size_t length, char out[GYRE_CGROUP_PATH_BYTES])
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        unsigned code = (unsigned char)from[i];

        if (from[i] == '\\' && length - i > 3 && strspn(from + i + 1, "01234567") >= 3) {
            code = (unsigned)(from[i + 1] - '0') << 6 | (unsigned)(from[i + 2] - '0') << 3 |
                   (unsigned)(from[i + 3] - '0');
            i += 3;
        }
        if (used + 1 == GYRE_CGROUP_PATH_BYTES)
            return false;
        out[used++] = (char)code;
    }
    out[used] = '\0';
    return true;
}

/* id parent device ROOT POINT options [tags...] - TYPE source SUPER-OPTIONS */
static bool parse_mount_line(const char *line, const char *controller, gyre_cgroup_mount *mount)
{
    const char *field, *root = NULL, *point = NULL;
    size_t length, root_length = 0, point_length = 0;

    for (int i = 0; i < 6; i++) {
        if (!take_field(&line, &field, &length))
            return false;
        if (i == 3) {
            root = field;
            root_length = length;
        } else if (i == 4) {
            point = field;
            point_length = length;
        }
    }
    do {
        if (!take_field(&line, &field, &length))
            return false;
    } while (length != 1 || *field != '-');

    if (!take_field(&line, &field, &length))
        return false;
    if (*controller == '\0') {
        if (length != 7 || memcmp(field, "cgroup2", 7) != 0)
            return false;
    } else if (length != 6 || memcmp(field, "cgroup", 6) != 0 ||
               !take_field(&line, &field, &length) || !take_field(&line, &field, &length) ||
               !list_has(field, length, controller)) {
        return false;
    }
    return copy_unescaped(root, root_length, mount->root) &&
           copy_unescaped(point, point_length, mount->point);
}

bool gyre_cgroup_parse_mount(const char *text, const char *controller, gyre_cgroup_mount *out_mount)
{
    for (const char *line = text; *line; line += *line == '\n') {
        if (parse_mount_line(line, controller, out_mount))
            return true;
        line += strcspn(line, "\n");
    }
    return false;
}

static bool climbs(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")); at += 2) {
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return false;
}

bool gyre_cgroup_parse_path(const char *text, const char *controller,
                            char out_path[GYRE_CGROUP_PATH_BYTES])
{
    for (const char *line = text; *line; line += *line == '\n') {
        const char *list = line + strcspn(line, ":\n");
        const char *path;
        size_t length;

        line += strcspn(line, "\n");
        if (*list++ != ':')
            continue;
        path = list + strcspn(list, ":\n");
        if (*path++ != ':' || !list_has(list, (size_t)(path - list - 1), controller))
            continue;
        length = (size_t)(line - path);
        if (*path != '/' || length >= GYRE_CGROUP_PATH_BYTES)
            return false;
        memcpy(out_path, path, length);
        out_path[length] = '\0';
        return !climbs(out_path);
    }
    return false;
}

bool gyre_cgroup_parse_cpu_max(const char *text, double *out_cpus)
{
    char quota[24], period[24];
    const char *field, *at = text;
    uint64_t quota_us, period_us;
    size_t length;

    *out_cpus = 0;
    if (!take_field(&at, &field, &length) || length >= sizeof quota)
        return false;
    memcpy(quota, field, length);
    quota[length] = '\0';
    if (!take_field(&at, &field, &length) || length >= sizeof period || !at_line_end(at))
        return false;
    memcpy(period, field, length);
    period[length] = '\0';
    if (!gyre_parse_u64(period, &period_us) || period_us == 0)
        return false;
    if (strcmp(quota, "max") == 0)
        return true;
    if (!gyre_parse_u64(quota, &quota_us) || quota_us == 0)
        return false;
    *out_cpus = (double)quota_us / (double)period_us;
    return true;
}

static void tighten_quota(gyre_cgroup_limits *limits, double cpus)
{
    if (cpus > 0 && (limits->cpu_quota == 0 || cpus < limits->cpu_quota))
        limits->cpu_quota = cpus;
}

/* The text is a number of bytes, or "max". */
static void tighten_memory(gyre_cgroup_limits *limits, const char *text)
{
    uint64_t bytes;

    if (gyre_parse_u64(text, &bytes) && bytes > 0 && bytes < NO_LIMIT_BYTES &&
        (limits->memory_bytes == 0 || bytes < limits->memory_bytes))
        limits->memory_bytes = bytes;
}

static void visit_v2(gyre_sysfile *file, const char *group, gyre_cgroup_limits *limits)
{
    double cpus;

    if (gyre_sysfile_read(file, "%s/cpu.max", group) &&
        gyre_cgroup_parse_cpu_max(file->text, &cpus))
        tighten_quota(limits, cpus);
    if (gyre_sysfile_read(file, "%s/memory.max", group))
        tighten_memory(limits, file->text);
    if (gyre_cpu_set_count(&limits->cpuset) == 0 &&
        gyre_sysfile_read(file, "%s/cpuset.cpus.effective", group))
        (void)gyre_parse_cpu_list(file->text, &limits->cpuset);
}

static void visit_v1_cpu(gyre_sysfile *file, const char *group, gyre_cgroup_limits *limits)
{
    uint64_t quota_us, period_us;

    /* no limit is -1, which is no u64 */
    if (gyre_sysfile_read(file, "%s/cpu.cfs_quota_us", group) &&
        gyre_parse_u64(file->text, &quota_us) &&
        gyre_sysfile_read(file, "%s/cpu.cfs_period_us", group) &&
        gyre_parse_u64(file->text, &period_us) && period_us > 0)
        tighten_quota(limits, (double)quota_us / (double)period_us);
}

static void visit_v1_memory(gyre_sysfile *file, const char *group, gyre_cgroup_limits *limits)
{
    if (gyre_sysfile_read(file, "%s/memory.limit_in_bytes", group))
        tighten_memory(limits, file->text);
}

static void visit_v1_cpuset(gyre_sysfile *file, const char *group, gyre_cgroup_limits *limits)
{
    if (gyre_cpu_set_count(&limits->cpuset) == 0 &&
        (gyre_sysfile_read(file, "%s/cpuset.effective_cpus", group) ||
         gyre_sysfile_read(file, "%s/cpuset.cpus", group)))
        (void)gyre_parse_cpu_list(file->text, &limits->cpuset);
}

static const struct hierarchy {
    const char *controller;
    uint32_t version;
    void (*visit)(gyre_sysfile *file, const char *group, gyre_cgroup_limits *limits);
} hierarchies[] = {
    {"", 2, visit_v2},
    {"cpu", 1, visit_v1_cpu},
    {"cpuset", 1, visit_v1_cpuset},
    {"memory", 1, visit_v1_memory},
};

/* The directory of the process's own group, and how much of it is the mount point. False when the
 * hierarchy is not mounted. */
static bool find_group(gyre_sysfile *file, const char *controller, char out_group[GROUP_BYTES],
                       size_t *out_mount_length)
{
    char path[GYRE_CGROUP_PATH_BYTES];
    const char *below = "";
    gyre_cgroup_mount mount;
    size_t root_length;

    if (!gyre_sysfile_read(file, "/proc/self/mountinfo") ||
        !gyre_cgroup_parse_mount(file->text, controller, &mount))
        return false;
    root_length = strcmp(mount.root, "/") == 0 ? 0 : strlen(mount.root);
    /* A path outside the mounted part is seen from another namespace: then the mount point itself
     * is the innermost group we can read. */
    if (gyre_sysfile_read(file, "/proc/self/cgroup") &&
        gyre_cgroup_parse_path(file->text, controller, path) &&
        strncmp(path, mount.root, root_length) == 0 &&
        (path[root_length] == '/' || path[root_length] == '\0'))
        below = path + root_length;
    *out_mount_length = strlen(mount.point);
    snprintf(out_group, GROUP_BYTES, "%s%s", mount.point, below);
    return true;
}

void gyre_cgroup_read(gyre_sysfile *file, gyre_cgroup_limits *out_limits)
{
    char group[GROUP_BYTES];
    size_t mount_length;

    memset(out_limits, 0, sizeof *out_limits);
    for (size_t i = 0; i < sizeof hierarchies / sizeof hierarchies[0]; i++) {
        if (!find_group(file, hierarchies[i].controller, group, &mount_length))
            continue;
        out_limits->version = hierarchies[i].version;
        for (;;) {
            char *slash;

            hierarchies[i].visit(file, group, out_limits);
            slash = strrchr(group + mount_length, '/');
            if (!slash)
                break;
            *slash = '\0';
        }
    }
}
