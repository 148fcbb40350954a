/* SPDX-License-Identifier: Apache-2.0
 *
 * json_query: reads one JSON text from stdin, strictly, and prints the value at a path of keys and
 * indices ("findings 0 id"). A tool of the script tests. Exit 0 found, 1 absent, 2 not JSON.
 * Objects and arrays print their size.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *root = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error), *at = root;

    if (!root) {
        fprintf(stderr, "%d:%d: %s\n", error.line, error.column, error.text);
        return 2;
    }
    for (int i = 1; i < argc && at; i++)
        at = json_is_array(at) ? json_array_get(at, strtoul(argv[i], NULL, 10))
                               : json_object_get(at, argv[i]);
    if (!at)
        return 1;
    if (json_is_string(at))
        puts(json_string_value(at));
    else if (json_is_array(at))
        printf("%zu\n", json_array_size(at));
    else if (json_is_object(at))
        printf("%zu\n", json_object_size(at));
    else
        json_dumpf(at, stdout, JSON_ENCODE_ANY), putchar('\n');
    json_decref(root);
    return 0;
}
