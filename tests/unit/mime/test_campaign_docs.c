/* The examples of docs/campaigns.md: each template of its tables gives what the table says, and the
 * long template gives the text below it, for the recipient of the page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/ascii.h"
#include "template_fixture.h"

#define PAGE "docs/campaigns.md"

static struct mq_buffer page;

static int read_page(void **state)
{
    const char *root = getenv("MQ_ROOT"); /* set by tools/test */
    char path[4096];
    char block[4096];
    (void)state;
    snprintf(path, sizeof path, "%s/" PAGE, root != NULL ? root : "../..");
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return -1;
    }
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) {
        mq_buffer_append(&page, block, n);
    }
    fclose(file);
    return page.failed ? -1 : 0;
}

static int free_page(void **state)
{
    mq_buffer_clear(&page);
    return teardown(state);
}

/* The n-th block of code about templates. */
static struct mq_str block(size_t n)
{
    const char *about = memmem(page.data, page.len, "## Templates", 12);
    assert_non_null(about);
    struct mq_str rest = mq_str_skip(mq_buffer_view(&page), (size_t)(about - page.data));
    for (size_t i = 0; rest.len > 0; i++) {
        const char *begin = memmem(rest.data, rest.len, "```", 3);
        if (begin == NULL) {
            break;
        }
        rest = mq_str_skip(rest, (size_t)(begin - rest.data));
        mq_str_cut_at(&rest, '\n');
        const char *end = memmem(rest.data, rest.len, "```\n", 4);
        assert_non_null(end);
        size_t len = (size_t)(end - rest.data);
        if (i == n) {
            return (struct mq_str){rest.data, len};
        }
        rest = mq_str_skip(rest, len + 4);
    }
    fail_msg("%s has no block %zu", PAGE, n);
    return (struct mq_str){NULL, 0};
}

/* Takes the next `code` off a row of a table; a "|" in it has a backslash. */
static bool take_code(struct mq_str *row, struct mq_buffer *code)
{
    mq_buffer_reset(code);
    mq_buffer_cstr(code, "");
    mq_str_cut_at(row, '`');
    bool found = row->len > 0;
    struct mq_str inner = mq_str_cut_at(row, '`');
    for (size_t i = 0; i < inner.len; i++) {
        i += mq_str_begins(mq_str_skip(inner, i), "\\|");
        mq_buffer_char(code, inner.data[i]);
    }
    return found;
}

static void assert_writes(enum mq_template_kind in, const struct mq_buffer *source,
                          struct mq_str expected)
{
    kind = in;
    enum mq_status status = try_render(mq_buffer_view(source), block(0));
    struct mq_str got = status == MQ_OK ? text : mq_str_of(err.text);
    if (!mq_str_equal(got, expected)) {
        fail_msg("%s gives \"%.*s\", and not \"%.*s\"", source->data, (int)got.len, got.data,
                 (int)expected.len, expected.data);
    }
}

/* A row has a template and what it writes in text and in HTML, or its error. */
static void test_tables(void **state)
{
    struct mq_buffer source = {0};
    struct mq_buffer expected = {0};
    size_t rows = 0;
    size_t errors = 0;
    (void)state;
    for (struct mq_str rest = mq_buffer_view(&page); rest.len > 0;) {
        struct mq_str row = mq_str_cut_at(&rest, '\n');
        if (!mq_str_begins(row, "| `") || !take_code(&row, &source)) {
            continue;
        }
        assert_true(take_code(&row, &expected));
        assert_writes(MQ_TEMPLATE_TEXT, &source, mq_buffer_view(&expected));
        if (take_code(&row, &expected)) {
            assert_writes(MQ_TEMPLATE_HTML, &source, mq_buffer_view(&expected));
            rows++;
        } else {
            errors++;
        }
    }
    assert_int_equal(rows, 13);
    assert_int_equal(errors, 4);
    mq_buffer_clear(&source);
    mq_buffer_clear(&expected);
}

static void test_blocks(void **state)
{
    struct mq_buffer source = {0};
    (void)state;
    mq_buffer_str(&source, block(1));
    assert_writes(MQ_TEMPLATE_TEXT, &source, block(2));
    mq_buffer_clear(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, read_page, free_page);
}
