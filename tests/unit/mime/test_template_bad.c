/* What templates refuse, and how they say it: part, line, column, cause and cure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "template_fixture.h"

static void assert_refused(struct mq_str source, const char *json, const char *begin,
                           const char *part)
{
    enum mq_status status = try_render(source, mq_str_of(json));
    if (status == MQ_OK) {
        fail_msg("%.*s: rendered as \"%.*s\"", (int)source.len, source.data, (int)text.len,
                 text.data);
    }
    assert_int_equal(status, MQ_MESSAGE);
    assert_string_equal(err.field, "text");
    if (strncmp(err.text, begin, strlen(begin)) != 0 || strstr(err.text, part) == NULL) {
        fail_msg("\"%s\": not \"%s … %s\"", err.text, begin, part);
    }
}

static void assert_bad(const char *source, const char *begin, const char *part)
{
    assert_refused(mq_str_of(source), "{\"a\":\"x\",\"l\":[1]}", begin, part);
}

static void test_syntax(void **state)
{
    (void)state;
    assert_bad("a {{", "text: line 1, column 5: the template ends within a tag; write ", "name");
    assert_bad("{{a", "text: line 1, column 4: the template ends within a tag; write ", "}}");
    assert_bad("{{a}", "text: line 1, column 4: \"}\" cannot be here", "}}");
    assert_bad("{{}}", "text: line 1, column 3: \"}}\" cannot be here", "{{name}}");
    assert_bad("{{a b}}", "text: line 1, column 5: \"b}}\" cannot be here", "}}");
    assert_bad("{{{a}}}", "text: line 1, column 3: \"{a}}}\" cannot be here", "{{name}}");
    assert_bad("ä\n€😀 {{&a}}", "text: line 2, column 6: \"&a}}\" cannot", "name");
    assert_bad("1\r\n2\r3\n{{", "text: line 4, column 3: ", "name");
    assert_bad("{{a.}}", "text: line 1, column 5: ", "name");
    assert_bad("{{.a}}", "text: line 1, column 3: ", "name");
    assert_bad("{{a|upper}}", "text: line 1, column 10: ", "|url or |default(\"…\")");
    assert_bad("{{a|url|url}}", "text: line 1, column 12: ", "each once");
    assert_bad("{{a|default}}", "text: line 1, column 12: ", "|default(\"…\")");
    assert_bad("{{a|default(x)}}", "text: line 1, column 13: \"x)}}\" cannot", "in quotes");
    assert_bad("{{a|default(\"x)}}", "text: line 1, column 13: ", "in quotes");
    assert_bad("{{a|default('x'}}", "text: line 1, column 16: ", "\")\"");
    assert_bad("{{a|default(&quot;x&quot;)}}", "text: line 1, column 13: \"&quot;x&quot\"",
               "quotes");
    assert_bad("{{\"a}}", "text: line 1, column 3: ", "in quotes");
    assert_bad("{{ \xC2\xA0name }}", "text: line 1, column 4: ", "name");
    assert_bad("{{../a}}", "text: line 1, column 1: \"../\" leads out", "{{#each}}");
    assert_bad("{{! never ends }", "text: line 1, column 1: a comment", "\"}}\"");
    assert_bad("{{!-- a }} b", "text: line 1, column 1: a comment", "\"--}}\"");
}

static void test_blocks(void **state)
{
    (void)state;
    assert_bad("x\n {{#if a}}b", "text: line 2, column 2: {{#if}} has no {{/if}}", "add it");
    assert_bad("{{#each l}}b", "text: line 1, column 1: {{#each}} has no {{/each}}", "add it");
    assert_bad("{{#if a}}{{#each l}}{{/if}}{{/each}}", "text: line 1, column 10: {{#each}} has no",
               "before another block ends");
    assert_bad("a{{/if}}", "text: line 1, column 2: ", "remove it");
    assert_bad("{{else}}", "text: line 1, column 1: {{else}} outside", "remove it");
    assert_bad("{{#if a}}{{else}}{{else}}{{/if}}", "text: line 1, column 18: a second", "remove");
    assert_bad("{{#unless a}}{{/unless}}", "text: line 1, column 1: an unknown block", "#each");
    assert_bad("{{#if}}{{/if}}", "text: line 1, column 6: ", "name");
    assert_bad("{{#if a|default(\"x\")}}{{/if}}", "text: line 1, column 8: ", "}}");
    assert_bad("{{#if a}}{{else if b}}{{/if}}", "text: line 1, column 17: ", "}}");
    assert_bad("{{#each l}}{{../../a}}{{/each}}", "text: line 1, column 12: \"../\" leads out", "");
    assert_bad("{{#each l}}{{else}}{{../a}}{{/each}}", "text: line 1, column 20: \"../\"", "");
}

static void test_bytes(void **state)
{
    (void)state;
    assert_refused((struct mq_str){"ab\n\0", 4}, "", "text: line 2, column 1: a NUL", "remove");
    assert_bad("a\xFFz", "text: line 1, column 2: not valid UTF-8", "convert");
    assert_bad("{{a\xC3}}", "text: line 1, column 4: not valid UTF-8", "convert");
}

static void repeat(struct mq_buffer *buffer, const char *part, int times)
{
    for (int i = 0; i < times; i++) {
        mq_buffer_cstr(buffer, part);
    }
}

static void test_limits(void **state)
{
    struct mq_buffer source = {0};
    (void)state;
    repeat(&source, "{{#if a}}", MQ_TEMPLATE_DEPTH);
    repeat(&source, "{{/if}}", MQ_TEMPLATE_DEPTH);
    render(source.data, "");
    mq_buffer_reset(&source);
    repeat(&source, "{{#if a}}", MQ_TEMPLATE_DEPTH + 1);
    assert_bad(source.data, "text: line 1, column 145: more than 16 blocks", "fewer");
    mq_buffer_reset(&source);
    repeat(&source, "{{a}}", MQ_TEMPLATE_TAGS);
    render(source.data, "{\"a\":1}");
    mq_buffer_cstr(&source, "{{a}}");
    assert_bad(source.data, "text: line 1, column 20481: more than 4096 tags", "fewer");
    mq_buffer_clear(&source);
}

/* Loops over a short list within each other end at the limit of steps, even if nothing is written,
 * and at the limit of the size. */
static void test_run_away(void **state)
{
    struct mq_buffer json = {0};
    struct mq_buffer source = {0};
    (void)state;
    mq_buffer_cstr(&json, "{\"l\":[0");
    repeat(&json, ",0", 99);
    mq_buffer_cstr(&json, "],\"big\":\"");
    repeat(&json, "x", 1 << 20);
    mq_buffer_cstr(&json, "\"}");
    mq_buffer_cstr(&source, "{{#each l}}{{#each ../l}}{{#each ../../l}}{{#each ../../../l}}"
                            "{{/each}}{{/each}}{{/each}}{{/each}}");
    assert_refused(mq_buffer_view(&source), json.data, "text: line 1, column ",
                   "more than 1000000 steps; give shorter lists");
    assert_refused(MQ_STR("{{#each l}}{{../big}}{{/each}}"), json.data,
                   "text: line 1, column 12: more than 67108864 bytes", "shorter");
    kind = MQ_TEMPLATE_HEADER;
    assert_refused(MQ_STR("{{big}}"), json.data, "text: line 1, column 1: more than 8000 bytes",
                   "shorter");
    mq_buffer_clear(&json);
    mq_buffer_clear(&source);
}

static void test_missing(void **state)
{
    (void)state;
    assert_bad("Hi\n {{name}}", "text: line 2, column 2: the field \"name\" is missing; give it",
               "{{name|default(\"…\")}}");
    assert_bad("{{a.b.c}}", "text: line 1, column 1: the field \"a.b.c\" is missing", "give it");
    assert_bad("{{name|url}}", "text: line 1, column 1: the field \"name\" is missing", "give it");
    assert_refused(MQ_STR("{{a}}"), "{\"a\":null}",
                   "text: line 1, column 1: the field \"a\" is "
                   "missing",
                   "give it");
    assert_bad("{{#each x}}{{/each}}", "text: line 1, column 1: the list \"x\" is missing",
               "{{else}}");
    assert_refused(MQ_STR("{{#each l}}{{p}}{{/each}}"), "{\"p\":1,\"l\":[{\"p\":1},{},{\"p\":2}]}",
                   "text: line 1, column 12: the field \"p\" is missing in item 2 of the list",
                   "{{p|default(\"…\")}}");
    assert_refused(MQ_STR("{{#each l}}{{../p}}{{/each}}"), "{\"l\":[{\"p\":1}]}",
                   "text: line 1, column 12: the field \"../p\" is missing; give it", "{{../p|");
    assert_refused(MQ_STR("{{#each l}}{{#each k}}{{p}}{{/each}}{{/each}}"),
                   "{\"l\":[{\"k\":[{\"p\":1}]},{\"k\":[{\"p\":1},{\"q\":2}]}]}",
                   "text: line 1, column 23: the field \"p\" is missing in item 2", "give it");
}

static void test_kinds(void **state)
{
    (void)state;
    assert_bad("{{l}}", "text: line 1, column 1: the field \"l\" is a list", "give a text");
    assert_refused(MQ_STR("{{o}}"), "{\"o\":{}}", "text: line 1, column 1: the field \"o\" is an",
                   "object");
    assert_refused(MQ_STR("{{o|default(\"x\")}}"), "{\"o\":[]}",
                   "text: line 1, column 1: ", "list");
    assert_bad("{{#each a}}{{/each}}", "text: line 1, column 1: the field \"a\" is not a list", "");
    assert_bad("{{#each a}}{{else}}{{/each}}", "text: line 1, column 1: the field \"a\" is",
               "not a list");
    assert_bad("{{this}}", "text: line 1, column 1: the field \"this\" is an object", "");
}

/* A value cannot begin a header of its own. */
static void test_headers(void **state)
{
    (void)state;
    kind = MQ_TEMPLATE_HEADER;
    assert_refused(MQ_STR("Hi {{a}}"), "{\"a\":\"x\\r\\nBcc: v@example.org\"}",
                   "text: line 1, column 4: a: control character U+000D at byte 2", "remove it");
    assert_refused(MQ_STR("Hi {{a.b}}"), "{\"a\":{\"b\":\"\\n\"}}",
                   "text: line 1, column 4: a.b: control character U+000A", "remove it");
    assert_refused(MQ_STR("{{a}}"), "{\"a\":\"\\u0080\"}", "text: line 1, column 1: a: ", "U+0080");
    assert_refused(MQ_STR("{{a}}"), "{\"a\":\"\\u007f\"}", "text: line 1, column 1: a: ", "U+007F");
    assert_refused(MQ_STR("{{x|default(\"\n\")}}"), "", "text: line 1, column 1: x: ", "U+000A");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_syntax, teardown),
        cmocka_unit_test_teardown(test_blocks, teardown),
        cmocka_unit_test_teardown(test_bytes, teardown),
        cmocka_unit_test_teardown(test_limits, teardown),
        cmocka_unit_test_teardown(test_run_away, teardown),
        cmocka_unit_test_teardown(test_missing, teardown),
        cmocka_unit_test_teardown(test_kinds, teardown),
        cmocka_unit_test_teardown(test_headers, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
