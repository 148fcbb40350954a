/* SPDX-License-Identifier: Apache-2.0
 *
 * replay: feeds the files of corpus folders to a fuzz target, where there is no libFuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 20 };

static int replay_file(const char *folder, const char *name)
{
    static uint8_t data[MOST_BYTES];
    char path[4096];
    FILE *file;
    uint8_t *copy;
    size_t size;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    size = fread(data, 1, sizeof data, file);
    fclose(file);
    copy =
        malloc(size ? size : 1); /* exactly as long as the input: a sanitizer sees one byte more */
    if (!copy)
        return 1;
    for (size_t i = 0; i < size; i++)
        copy[i] = data[i];
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return 0;
}

int main(int argc, char **argv)
{
    int count = 0, failed = 0;

    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);

        if (!d) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *e = readdir(d); e; e = readdir(d)) {
            if (e->d_name[0] == '.')
                continue;
            failed += replay_file(argv[i], e->d_name);
            count++;
        }
        closedir(d);
    }
    printf("%d inputs replayed\n", count);
    return failed > 0 || count == 0; /* an empty corpus tests nothing */
}
