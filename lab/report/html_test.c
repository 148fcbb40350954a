/* SPDX-License-Identifier: Apache-2.0
 *
 * What the browser makes of the page is tests/web/report_test.sh's affair; here it is bytes.
 */
#include "report/html.h"

#include <stdbool.h>
#include <stdlib.h>

#include "test.h"

static char *page; /* the page that was written last */
static size_t page_bytes;

static void write_text(FILE *stream, const void *text)
{
    fputs(text, stream);
}

/* As small writes as there can be. */
static void write_bytewise(FILE *stream, const void *text)
{
    setvbuf(stream, NULL, _IONBF, 0);
    for (const char *c = text; *c; c++)
        fputc(*c, stream);
}

static void write_page(void (*write)(FILE *stream, const void *arg), const void *arg)
{
    FILE *stream;

    free(page);
    stream = open_memstream(&page, &page_bytes);
    gyre_html_write(stream, write, arg);
    fclose(stream);
}

static size_t occurrences(const char *what)
{
    size_t count = 0;

    for (const char *at = page; (at = strstr(at, what)); at += strlen(what))
        count++;
    return count;
}

static const char opening[] = "<script type=\"application/json\" id=\"gyre-data\">\n";

/* Whether exactly this stands in the element of the data. */
static bool data_is(const char *expected)
{
    const char *start = strstr(page, opening), *end = start ? strstr(start, "\n</script>") : NULL;

    if (!end)
        return false;
    start += strlen(opening);
    if ((size_t)(end - start) == strlen(expected) && strncmp(start, expected, end - start) == 0)
        return true;
    fprintf(stderr, "the data is: %.*s\n", (int)(end - start), start);
    return false;
}

static void data_stands_in_its_element(void)
{
    write_page(write_text, "{\"run\": {\"schema\": \"gyre.run/1\", \"n\": [1, -2.5e3, null]}}");
    CHECK(data_is("{\"run\": {\"schema\": \"gyre.run/1\", \"n\": [1, -2.5e3, null]}}"));
}

static void markup_in_data_is_escaped(void)
{
    write_page(write_text, "[\"</script><script>alert(1)</script>\", \"<!-- &amp; -->\"]");
    CHECK(data_is("[\"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)\\u003c/script\\u003e\", "
                  "\"\\u003c!-- \\u0026amp; --\\u003e\"]"));
}

static void quotes_and_backslashes_are_left_alone(void)
{
    write_page(write_text, "[\"a \\\"quoted\\\" \\\\ 'word'\", \"`\"]");
    CHECK(data_is("[\"a \\\"quoted\\\" \\\\ 'word'\", \"`\"]"));
}

static void line_separators_are_escaped(void)
{
    write_page(write_text, "[\"\xe2\x80\xa8\xe2\x80\xa9\"]");
    CHECK(data_is("[\"\\u2028\\u2029\"]"));
}

/* what begins as a separator does, and is none: a dash, a euro, halves of it, the start twice */
static void other_letters_pass(void)
{
    write_page(write_text,
               "[\"\xe2\x80\x93 \xe2\x82\xac \xc3\xa4 \xe2\x80\xe2\x80\xe2 \xe2\xe2\x80\xa8\"]");
    CHECK(data_is("[\"\xe2\x80\x93 \xe2\x82\xac \xc3\xa4 \xe2\x80\xe2\x80\xe2 \xe2\\u2028\"]"));
}

static void markup_after_half_a_letter_is_escaped(void)
{
    write_page(write_text, "[\"\xe2<\xe2\x80<\"]");
    CHECK(data_is("[\"\xe2\\u003c\xe2\x80\\u003c\"]"));
}

static void half_a_letter_at_the_end_is_kept(void)
{
    write_page(write_text, "\"\xe2\x80");
    CHECK(data_is("\"\xe2\x80"));
}

static void small_writes_are_one_document(void)
{
    write_page(write_bytewise, "[\"\xe2\x80\xa8 </script> \xe2\x80\x93\"]");
    CHECK(data_is("[\"\\u2028 \\u003c/script\\u003e \xe2\x80\x93\"]"));
}

static void every_part_is_there_once(void)
{
    write_page(write_text, "null");
    CHECK(page_bytes == strlen(page));
    CHECK(strncmp(page, "<!DOCTYPE html>\n", 16) == 0);
    CHECK(occurrences("Content-Security-Policy") == 1);
    CHECK(occurrences(opening) == 1);
    CHECK(occurrences("prefers-color-scheme: dark") == 1);
    CHECK(occurrences("const Data = (() => {") == 1);
    CHECK(occurrences("const Plot = (() => {") == 1);
    CHECK(occurrences("const Charts = (() => {") == 1);
    CHECK(occurrences("const Groups = (() => {") == 1);
    CHECK(occurrences("const Trend = (() => {") == 1);
    CHECK(occurrences("const Detail = (() => {") == 1);
    CHECK(occurrences("const Page = (() => {") == 1);
    CHECK(occurrences("\n@") == occurrences("\n@media")); /* no line stands for a part still */
    CHECK(strcmp(page + page_bytes - 8, "</html>\n") == 0);
}

/* A script ends at the first </script, whatever the script meant by it. */
static void parts_do_not_end_their_elements(void)
{
    write_page(write_text, "null");
    CHECK(occurrences("<script") == 8);
    CHECK(occurrences("</script") == 8);
    CHECK(occurrences("<style") == 1);
    CHECK(occurrences("</style") == 1);
    CHECK(occurrences("<!--") == 0);
}

static void page_loads_nothing_and_parses_no_markup(void)
{
    write_page(write_text, "null");
    CHECK(occurrences("innerHTML") == 0);
    CHECK(occurrences("insertAdjacentHTML") == 0);
    CHECK(occurrences("eval(") == 0);
    CHECK(occurrences("src=") == 0);
    CHECK(occurrences("<link") == 0);
    CHECK(occurrences("url(") == 0);
    CHECK(occurrences("https://") == 0);
    CHECK(occurrences("http://") == 1); /* the name of SVG */
}

static const test_case cases[] = {
    TEST(data_stands_in_its_element),
    TEST(markup_in_data_is_escaped),
    TEST(quotes_and_backslashes_are_left_alone),
    TEST(line_separators_are_escaped),
    TEST(other_letters_pass),
    TEST(markup_after_half_a_letter_is_escaped),
    TEST(half_a_letter_at_the_end_is_kept),
    TEST(small_writes_are_one_document),
    TEST(every_part_is_there_once),
    TEST(parts_do_not_end_their_elements),
    TEST(page_loads_nothing_and_parses_no_markup),
};
TEST_MAIN(cases)
