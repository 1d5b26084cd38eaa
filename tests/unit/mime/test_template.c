/* Templates: what they write in text, HTML, headers and URIs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "template_fixture.h"

#define ANN                                                                                \
    "{\"name\":\"Ann\",\"empty\":\"\",\"none\":null,\"zero\":0,\"yes\":true,\"no\":false," \
    "\"n\":12.50,\"address\":{\"city\":\"Köln\",\"geo\":{\"lat\":50.9}},\"list\":[],"     \
    "\"items\":[{\"what\":\"Tea\",\"price\":3},{\"what\":\"Cake & more\",\"price\":4.5}]," \
    "\"tags\":[\"a\",\"b\"]}"

static void assert_renders(const char *source, const char *json, const char *expected)
{
    render(source, json);
    if (!mq_str_equal(text, mq_str_of(expected))) {
        fail_msg("%s: \"%.*s\", not \"%s\"", source, (int)text.len, text.data, expected);
    }
}

static void test_values(void **state)
{
    (void)state;
    assert_renders("Hello {{name}}!", ANN, "Hello Ann!");
    assert_renders("{{ name }}{{\tname\n}}", ANN, "AnnAnn");
    assert_renders("{{n}} {{yes}} {{no}} {{zero}} [{{empty}}]", ANN, "12.50 true false 0 []");
    assert_renders("{{address.city}} {{address.geo.lat}}", ANN, "Köln 50.9");
    assert_renders("{{größe}}", "{\"größe\":\"XL\"}", "XL");
    assert_renders("{{a-b_9}}", "{\"a-b_9\":1}", "1");
    assert_renders("", ANN, "");
    assert_renders("{ {name} } }} { {{name}} }", ANN, "{ {name} } }} { Ann }");
    assert_renders("{{\"{{\"}}{{'\"'}}", ANN, "{{\"");
    assert_renders("a{{! a comment }}b{{!-- with }} in it --}}c", ANN, "abc");
}

static void test_defaults(void **state)
{
    (void)state;
    assert_renders("{{x|default(\"friend\")}}", ANN, "friend");
    assert_renders("{{ x | default( 'it\"s' ) }}", ANN, "it\"s");
    assert_renders("{{none|default(\"a\")}}{{empty|default(\"b\")}}", ANN, "ab");
    assert_renders("{{zero|default(\"a\")}}{{no|default(\"b\")}}", ANN, "0false");
    assert_renders("{{name|default(\"a\")}}", ANN, "Ann");
    assert_renders("[{{x|default(\"\")}}]", ANN, "[]");
    assert_renders("{{x.y.z|default(\"a\")}}{{name.y|default(\"b\")}}", ANN, "ab");
    assert_renders("{{x|default(\"a b\")|url}}{{x|url|default(\"c d\")}}", ANN, "a%20bc%20d");
}

static void test_if(void **state)
{
    (void)state;
    assert_renders("{{#if name}}yes{{else}}no{{/if}}", ANN, "yes");
    assert_renders("{{#if x}}yes{{else}}no{{/if}}", ANN, "no");
    assert_renders("{{#if x}}yes{{/if}}.", ANN, ".");
    assert_renders("{{#if name}}{{name}}{{else}}{{x}}{{/if}}", ANN, "Ann");
    assert_renders("{{#if none}}1{{/if}}{{#if empty}}2{{/if}}{{#if zero}}3{{/if}}"
                   "{{#if no}}4{{/if}}{{#if list}}5{{/if}}{{#if x.y}}6{{/if}}",
                   ANN, "");
    assert_renders("{{#if yes}}1{{/if}}{{#if n}}2{{/if}}{{#if items}}3{{/if}}"
                   "{{#if address}}4{{/if}}{{#if address.city}}5{{/if}}",
                   ANN, "12345");
    assert_renders("{{#if a}}1{{/if}}{{#if b}}2{{/if}}{{#if c}}3{{/if}}{{#if d}}4{{/if}}",
                   "{\"a\":-0.0,\"b\":0e5,\"c\":1e0,\"d\":0.01}", "34");
    assert_renders("{{#if a}}1{{/if}}{{#if b}}2{{/if}}{{#if c}}3{{/if}}",
                   "{\"a\":\"0\",\"b\":\"00\",\"c\":\" 0\"}", "23");
    assert_renders("{{#if x}}1{{else}}{{#if name}}2{{else}}3{{/if}}4{{/if}}5", ANN, "245");
}

static void test_each(void **state)
{
    (void)state;
    assert_renders("{{#each items}}{{what}}: {{price}}; {{/each}}", ANN,
                   "Tea: 3; Cake & more: 4.5; ");
    assert_renders("{{#each tags}}<{{this}}>{{/each}}", ANN, "<a><b>");
    assert_renders("{{#each items}}{{this.what}}-{{../name}},{{/each}}", ANN,
                   "Tea-Ann,Cake & more-Ann,");
    assert_renders("{{#each list}}x{{else}}none{{/each}}", ANN, "none");
    assert_renders("{{#each x}}x{{else}}none for {{name}}{{/each}}", ANN, "none for Ann");
    assert_renders("[{{#each list}}x{{/each}}]", ANN, "[]");
    assert_renders("{{#each tags}}{{#if this}}+{{/if}}{{else}}none{{/each}}.", ANN, "++.");
    assert_renders("{{#if this}}{{this.name}}{{/if}}", ANN, "Ann");
}

static void test_each_in_each(void **state)
{
    static const char json[] = "{\"who\":\"Ann\",\"orders\":[{\"no\":1,\"lines\":[{\"t\":\"a\"},"
                               "{\"t\":\"b\"}]},{\"no\":2,\"lines\":[]},{\"no\":3,\"lines\":[{"
                               "\"t\":\"c\"}]}],\"grid\":[[1,2],[3]]}";
    (void)state;
    assert_renders("{{#each orders}}{{no}}({{#each lines}}{{../../who}}{{../no}}{{t}} {{else}}-"
                   "{{/each}}){{/each}}",
                   json, "1(Ann1a Ann1b )2(-)3(Ann3c )");
    assert_renders("{{#each grid}}{{#each this}}{{this}}{{/each}};{{/each}}", json, "12;3;");
    assert_renders("{{#each grid}}{{#each ../orders}}{{no}}{{/each}};{{/each}}", json, "123;123;");
}

/* A tag that writes nothing and has a line for itself leaves no empty line. */
static void test_lines(void **state)
{
    (void)state;
    assert_renders("a\n{{#if name}}\nb\n{{else}}\nc\n{{/if}}\nd\n", ANN, "a\nb\nd\n");
    assert_renders("a\r\n  {{#each tags}}\t\r\n- {{this}}\r\n  {{/each}}\r\nz", ANN,
                   "a\r\n- a\r\n- b\r\nz");
    assert_renders("a\n{{! comment }}\nb\n  {{!-- another --}}", ANN, "a\nb\n");
    assert_renders("{{#if name}}\na\n{{/if}}", ANN, "a\n");
    assert_renders("a {{#if name}}\nb{{/if}} \nc", ANN, "a \nb \nc");
    assert_renders("{{#if name}} {{#if yes}}\na{{/if}}{{/if}}\n", ANN, " \na\n");
    assert_renders("a\n{{name}}\nb", ANN, "a\nAnn\nb");
}

static void test_html(void **state)
{
    (void)state;
    kind = MQ_TEMPLATE_HTML;
    assert_renders("<b title=\"{{a}}\">{{a}}</b>",
                   "{\"a\":\"<script>alert('x')</script>\\\" & \\u0027\"}",
                   "<b title=\"&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot; &amp; &#39;\">"
                   "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot; &amp; &#39;</b>");
    assert_renders("{{a}}", "{\"a\":\"&amp;\"}", "&amp;amp;");
    assert_renders("{{a}}", "{\"a\":\"</script>\"}", "&lt;/script&gt;");
    assert_renders("{{x|default(\"A & B\")}}{{'<'}}", "", "A &amp; B&lt;");
    assert_renders("<a href=\"https://example.org/?q={{q|url}}&amp;x=1\">",
                   "{\"q\":\"ä&b=\\\"c\\\" '/\\u0001+%~-._\"}",
                   "<a href=\"https://example.org/?q=%C3%A4%26b%3D%22c%22%20%27%2F%01%2B%25~-._&"
                   "amp;x=1\">");
    assert_renders("{{a}}", "{\"a\":\"zwei\\r\\nZeilen äöü 😀\"}", "zwei\r\nZeilen äöü 😀");
    kind = MQ_TEMPLATE_TEXT;
    assert_renders("{{a}}", "{\"a\":\"<b>'&\\\"\"}", "<b>'&\"");
}

static void test_header_and_uri(void **state)
{
    (void)state;
    kind = MQ_TEMPLATE_HEADER;
    assert_renders("Für {{a}}", "{\"a\":\"Jörg & <Ann>\"}", "Für Jörg & <Ann>");
    assert_renders("{{a}}{{a|url}}", "{\"a\":\"x\\ty\\u2028z\"}", "x y zx%20y%20z");
    kind = MQ_TEMPLATE_URI;
    assert_renders("https://example.org/u?t={{a}}&x={{a|url}}", "{\"a\":\"a/b&<ä>\\n\"}",
                   "https://example.org/u?t=a%2Fb%26%3C%C3%A4%3E%0A&x=a%2Fb%26%3C%C3%A4%3E%0A");
    kind = MQ_TEMPLATE_TEXT;
}

static void test_extra(void **state)
{
    const struct mq_json_value extra[] = {
        {.kind = MQ_JSON_TEXT, .key = MQ_STR("name"), .text = MQ_STR("extra")}};
    (void)state;
    values.extra = extra;
    values.extra_count = 1;
    assert_renders("{{name}}{{#if name}}+{{/if}}", "", "extra+");
    assert_renders("{{name}}", "{\"name\":\"own\"}", "own");
    assert_renders("{{#each l}}{{name|default(\"-\")}}{{../name}}{{/each}}", "{\"l\":[{}]}",
                   "-extra");
    values.extra_count = 0;
}

/* What is written for a megabyte, and for ten thousand items. */
static void test_large(void **state)
{
    enum { SIZE = 1 << 20, ITEMS = 10000 };
    struct mq_buffer json = {0};
    (void)state;
    mq_buffer_cstr(&json, "{\"big\":\"");
    for (int i = 0; i < SIZE; i++) {
        mq_buffer_char(&json, '&');
    }
    mq_buffer_cstr(&json, "\",\"items\":[");
    for (int i = 0; i < ITEMS; i++) {
        mq_buffer_printf(&json, "%s{\"n\":%d}", i > 0 ? "," : "", i);
    }
    mq_buffer_cstr(&json, "]}");
    kind = MQ_TEMPLATE_HTML;
    render("{{big}}", json.data);
    assert_int_equal(text.len, 5 * SIZE);
    assert_memory_equal(text.data + text.len - 5, "&amp;", 5);
    kind = MQ_TEMPLATE_TEXT;
    render("{{#each items}}{{n}},{{/each}}", json.data);
    assert_int_equal(text.len, 10 * 2 + 90 * 3 + 900 * 4 + 9000 * 5);
    assert_memory_equal(text.data + text.len - 10, "9998,9999,", 10);
    mq_buffer_clear(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_values, teardown),
        cmocka_unit_test_teardown(test_defaults, teardown),
        cmocka_unit_test_teardown(test_if, teardown),
        cmocka_unit_test_teardown(test_each, teardown),
        cmocka_unit_test_teardown(test_each_in_each, teardown),
        cmocka_unit_test_teardown(test_lines, teardown),
        cmocka_unit_test_teardown(test_html, teardown),
        cmocka_unit_test_teardown(test_header_and_uri, teardown),
        cmocka_unit_test_teardown(test_extra, teardown),
        cmocka_unit_test_teardown(test_large, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
