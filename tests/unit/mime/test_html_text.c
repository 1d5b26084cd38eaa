/* Plain text from HTML. */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#ifdef MQ_HAVE_LIBXML2
#include <libxml/xmlerror.h>
#include <libxml/xmlversion.h>
#endif

/* From 2.14 on, libxml2 parses as HTML 5 prescribes. */
#if defined(MQ_HAVE_LIBXML2) && LIBXML_VERSION >= 21400
#define HTML5(now, before) now
#else
#define HTML5(now, before) before
#endif

#include "failing_malloc.h"
#include "mime/text/html.h"

/* ---- failing memory ---- */

/* ---- helpers ---- */

static struct mq_buffer out;

static int setup(void **state)
{
    (void)state;
    out = (struct mq_buffer){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mq_buffer_clear(&out);
    return 0;
}

/* The text; `html` in a block of its own size, for the sanitizer. */
static const char *text_of(struct mq_str html)
{
    char *copy = malloc(html.len ? html.len : 1);
    memcpy(copy, html.data, html.len);
    mq_buffer_reset(&out);
    mq_buffer_cstr(&out, "|"); /* it appends */
    mq_html_to_text((struct mq_str){copy, html.len}, &out);
    free(copy);
    assert_false(out.failed);
    assert_int_equal(out.data[0], '|');
    assert_int_equal(strlen(out.data), out.len);
    return out.data + 1;
}

static void assert_text(const char *html, const char *expected)
{
    const char *text = text_of(mq_str_of(html));
    if (strcmp(text, expected) != 0) {
        fail_msg("%s\ngives\n%s\nnot\n%s", html, text, expected);
    }
}

/* ---- text ---- */

static void test_blanks(void **state)
{
    (void)state;
    assert_text("", "");
    assert_text(" \r\n\t ", "");
    assert_text("a", "a\n");
    assert_text(" a\r\n\t b <b> c</b> d<i>e</i> f ", "a b c de f\n");
    assert_text("<p>a</p> \n <p> b", "a\n\nb\n");
    assert_text("a&nbsp;&nbsp;b &nbsp; c&nbsp;", "a  b c\n");
    assert_text("<p>a<p>&nbsp;</p><p>&nbsp; &nbsp;</p><p>b", "a\n\nb\n");
    assert_text("so\xc2\xad"
                "ft&shy; &#8203;z&#8203;w &zwnj;&nbsp;&#847; x",
                "soft zw x\n");
    assert_text("a\x01\x1b[0m&#1;b&#155;", HTML5("a[0mb›\n", "a[0mb\n"));
    assert_text("&lt;b&gt; &amp;amp; &euro; &#x1F389; &unknown; &", "<b> &amp; € 🎉 &unknown; &\n");
    assert_text("\xef\xbb\xbf"
                "a",
                "a\n");
}

/* Valid UTF-8 is kept, whatever charset the document declares. */
static void test_charset(void **state)
{
    (void)state;
    assert_text("<html><head><meta charset=iso-8859-1><meta http-equiv=Content-Type "
                "content='text/html; charset=windows-1252'></head><body>Grüße 漢字 ёж",
                "Grüße 漢字 ёж\n");
    assert_text("<?xml version='1.0' encoding='latin1'?><p>ü", "ü\n");
}

static void test_nul(void **state)
{
    (void)state;
    assert_string_equal(text_of(MQ_STR("a\0b<p>c\0</p>d")),
                        HTML5("ab\n\nc\n\nd\n", "a b\n\nc\n\nd\n"));
}

static void test_hidden(void **state)
{
    (void)state;
    assert_text("<html><head><title>T</title><style>p {}</style></head><body>a"
                "<script>if (x < 1) document.write('<p>no</p>')</script><!-- no --><style>b</style>"
                "<template>no</template><svg><title>no</title><text>no</text></svg>b",
                "ab\n");
    assert_text("<div style='max-height:0; DISPLAY :\tnone !important'>no <b>no</b><br></div>a",
                "a\n");
    assert_text("<p style='visibility:hidden'>no</p><p hidden>no</p><p style='x:y;'>a", "a\n");
    assert_text("<p style='mso-display:none;display:block'>a</p>", "a\n");
    assert_text("<span style=display:none>no<a href=http://x/>no</a></span>a <b>b</b>", "a b\n");
    assert_text("<!--[if mso]><p>no</p><![endif]-->a<!--[if !mso]><!--> b<!--<![endif]-->"
                "<![if !mso]> c<![endif]> <![x]>",
                HTML5("a b c\n", "a b c <![x]>\n"));
    assert_text("<![if !mso]>a<![endif]>", "a\n");
    struct mq_buffer html = {0};
    mq_buffer_printf(&html, "a<![if %0300d]>", 0); /* longer than a mark */
    assert_int_equal(strlen(text_of(mq_buffer_view(&html))), HTML5(2, 310));
    mq_buffer_clear(&html);
    assert_text(" <!DOCTYPE html><![if !mso]><![if x]><p>a![x", "a![x\n");
}

static void test_blocks(void **state)
{
    (void)state;
    assert_text("<div>a<div>b</div></div><div><div>c</div></div><span>d</span>e", "a\nb\nc\nde\n");
    assert_text("<h1>A</h1><h2>B</h2>c<section>d</section>", "A\n\nB\n\nc\nd\n");
    assert_text("<div>a<br>b<br><br>c<br><br><br><br>d<br></div><div>e</div>",
                "a\nb\n\nc\n\nd\ne\n");
    assert_text("<p></p><p> </p><div></div><p>a<p></p><p></p><div></div>", "a\n");
    assert_text("<p>a<hr>b", "a\n\n"
                             "------------------------------------"
                             "------------------------------------\n\nb\n");
    assert_text("<dl><dt>T<dd>D<dd>E</dl>x", "T\nD\nE\n\nx\n");
    assert_text("<img src=x alt=' a  picture '><img src=y><img src=z alt=''>b", "a picture b\n");
}

static void test_quotes(void **state)
{
    (void)state;
    assert_text("a<blockquote><p>b<p>c<br>d<blockquote>e</blockquote></blockquote>f",
                "a\n\n> b\n>\n> c\n> d\n>\n> > e\n\nf\n");
    assert_text("<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n> b\n");
    assert_text("<blockquote>one two three four five six seven eight nine ten eleven twelve "
                "thirteen</blockquote>",
                "> one two three four five six seven eight nine ten eleven twelve\n"
                "> thirteen\n");
}

static void test_preformatted(void **state)
{
    (void)state;
    assert_text("a<pre>\n  b\tc\r\n\n\n d   <b>e</b>\n</pre>f", "a\n\n  b\tc\n\n\n d   e\n\nf\n");
    assert_text("<pre>a<br> b\n\n\n</pre><pre>c</pre>", "a\n b\n\n\nc\n");
    assert_text("<blockquote><pre>a\n\n b</pre></blockquote>", "> a\n>\n>  b\n");
    assert_text("<pre>1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 "
                "1234567890</pre>",
                "1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 "
                "1234567890\n");
}

static void test_lists(void **state)
{
    (void)state;
    assert_text("a<ul><li>b<li>c</ul>d", "a\n\n- b\n- c\n\nd\n");
    assert_text("<ul><li>a<ul><li>b<li>c</ul><li>d</ul>", "- a\n  - b\n  - c\n- d\n");
    assert_text("<ol start=9><li>a<li>b<li value=3>c<ul><li>d</ul><li>e</ol>",
                "9. a\n10. b\n3. c\n   - d\n4. e\n");
    assert_text("<ol start=-1><li value=x>a</ol>", "1. a\n");
    assert_text("<ul><li><p>a</p><p>b</p></li><li></li><li>c</ul>", "- a\n\n  b\n\n- c\n");
    assert_text("<ul><li><ul><li>a</ul></ul>", "- - a\n");
    assert_text("<li>a", "- a\n");
    assert_text("<ul><li>one two three four five six seven eight nine ten eleven twelve thirteen",
                "- one two three four five six seven eight nine ten eleven twelve\n  thirteen\n");
    assert_text("<ul><li>a<blockquote>b<br>c</blockquote></ul>", "- a\n\n  > b\n  > c\n");
}

/* ---- links ---- */

static void test_links(void **state)
{
    (void)state;
    assert_text("See <a href='https://e.org/x?a=1&amp;b=2'>this  page</a>.",
                "See this page <https://e.org/x?a=1&b=2>.\n");
    assert_text("<a href='https://e.org/'>https://e.org</a>, <a href='http://E.org'>e.org/</a>",
                "https://e.org, e.org/\n");
    assert_text("<a href='https://e.org/'>e.org.evil.example</a>",
                "e.org.evil.example <https://e.org/>\n");
    assert_text("<a href='mailto:a@b.org?subject=x'>a@b.org</a> <a href='MAILTO:c@d.org'>write</a>",
                "a@b.org write <c@d.org>\n");
    assert_text(
        "<a href='#x'>a</a> <a href=' java\tscript:alert(1)'>b</a> <a>c</a> <a href=''>d</a>"
        " <a href='cid:x'>e</a> <a href='data:text/html,x'>f</a>",
        "a b c d e f\n");
    assert_text("<a href=' https://e.org/a b<\"\n c>'>x</a>",
                "x <https://e.org/a%20b%3C%22%20c%3E>\n");
    assert_text("<a href=https://e.org/><img src=x alt=Logo></a>", "Logo <https://e.org/>\n");
    assert_text("a<a href=https://e.org/><img src=x></a>", "a <https://e.org/>\n");
    assert_text("<a href=https://e.org/><div>a</div><div>b</div></a><div>c</div>",
                "a\nb\n<https://e.org/>\nc\n");
    assert_text("<p><a href=https://e.org/>a<p>b</a>", "a\n\nb\n\n<https://e.org/>\n");
    assert_text("<a href=/relative>a</a> <a href=tel:+49>b</a>", "a </relative> b <tel:+49>\n");
    assert_text("<a href=http://a.org>x<span><a href=http://b.org>y</a></span></a>",
                "x <http://a.org>y <http://b.org>\n");
}

static void test_wrapping(void **state)
{
    (void)state;
    assert_text("<p>123456789 123456789 123456789 123456789 123456789 123456789 123456789 12",
                "123456789 123456789 123456789 123456789 123456789 123456789 123456789 12\n");
    assert_text("<p>123456789 123456789 123456789 123456789 123456789 123456789 123456789 123",
                "123456789 123456789 123456789 123456789 123456789 123456789 123456789\n123\n");
    /* No-break spaces keep their words together. */
    assert_text("<p>123456789 123456789 123456789 123456789 123456789 123456789 123456789&nbsp;123",
                "123456789 123456789 123456789 123456789 123456789 123456789\n123456789 123\n");
    assert_text(
        "<a href='https://e.org/a-very-long-path/that-is-longer-than-any-line/may-be/when-it-"
        "is/wrapped'>words</a>, and more",
        "words\n<https://e.org/a-very-long-path/that-is-longer-than-any-line/may-be/when-it-"
        "is/wrapped>,\nand more\n");
}

/* ---- tables ---- */

static void test_tables(void **state)
{
    (void)state;
    assert_text("a<table><tr><td>b</td><td> c </td></tr><tr><td>d<td>e</table>f",
                "a\n\nb | c\nd | e\n\nf\n");
    assert_text("<table border=1><caption>C</caption><tr><td>a<br>b</td><td>c</td></tr></table>",
                "C\na\nb | c\n");
    /* Empty cells are spacers, and cells with paragraphs stand below each other: most tables in
     * mail only arrange. */
    assert_text(
        "<table><tr><td width=9>&nbsp;</td><td>a</td><td></td><td>b</td><td></td></tr></table>",
        "a | b\n");
    assert_text("<table><tr><td><table><tr><td><h1>a</h1></td></tr></table></td><td><p>b</p></td>"
                "</tr></table>",
                "a\n\nb\n");
    assert_text("<table><tr><td>a<table><tr><td>b</td><td>c</td></tr></table></td><td>d</td></tr>"
                "</table>",
                "a\n\nb | c\n\nd\n");
    assert_text("<td>a</td><td>b</td>", "a | b\n");
    assert_text("<table><tr><td><ul><li>a</ul></td></tr></table>", "- a\n");
    assert_text("<table border=1><tr><td>a</td><td><a href=https://e.org/>b</a></td></tr></table>",
                "a | b <https://e.org/>\n");
}

/* ---- hostile HTML ---- */

static struct mq_buffer repeated(const char *what, int times, const char *tail)
{
    struct mq_buffer html;
    html = (struct mq_buffer){0};
    for (int i = 0; i < times; i++) {
        mq_buffer_printf(&html, what, i);
    }
    mq_buffer_cstr(&html, tail);
    return html;
}

/* A document that the parser does not finish gives no text: half of it would mislead. */
static void test_depth(void **state)
{
    static const char *const nested[] = {"<div title='>/'>w%d", "<ul><li>w%d", "<blockquote>w%d",
                                         "<table><tr><td>w%d"};
    (void)state;
    for (size_t n = 0; n < sizeof nested / sizeof *nested; n++) {
        struct mq_buffer html = repeated(nested[n], 60, "</b></div></p>end");
        const char *at = strstr(text_of(mq_buffer_view(&html)), "w59");
        assert_non_null(at);
        assert_non_null(strstr(at, "end"));
        mq_buffer_clear(&html);
        html = repeated(nested[n], 10000, "end");
        assert_string_equal(text_of(mq_buffer_view(&html)), "");
        mq_buffer_clear(&html);
    }
    struct mq_buffer html = repeated("<b></i>", 20000, "x");
    assert_string_equal(text_of(mq_buffer_view(&html)), "");
    mq_buffer_clear(&html);
}

/* The parser's time grows with the square of a tag's attributes. */
static void test_attributes(void **state)
{
    static const char *const begins[] = {"<p ", "<p title='a > b' ", "<!-- <a b=\" --><p ",
                                         "<script>a<b c='</script><p "};
    static const char *const attributes[] = {" a%d", " a%d='<>'", "a%d=''"};
    (void)state;
    for (int n = 0; n < 4 * 3 * 2; n++) {
        bool many = n % 2;
        struct mq_buffer html = {0};
        mq_buffer_cstr(&html, begins[n / 6]);
        for (int i = 0; i < (many ? 10000 : 999); i++) {
            mq_buffer_printf(&html, attributes[n / 2 % 3], i);
        }
        mq_buffer_cstr(&html, ">b");
        assert_string_equal(text_of(mq_buffer_view(&html)), many ? "" : "b\n");
        mq_buffer_clear(&html);
    }
    struct mq_buffer html = repeated("word <br> word \"word <b title='%d'>b</b>", 3000, "end");
    assert_non_null(strstr(text_of(mq_buffer_view(&html)), "end"));
    mq_buffer_clear(&html);
}

static void test_broken(void **state)
{
    (void)state;
    assert_text("</p></div><b>a</i></b></table>b<", "ab<\n");
    assert_text("<html><body>a</body></html>b</html><p>c</body>d</p></html>e",
                HTML5("a\nb\n\ncd\n\ne\n", "a\n\nb\n\ncd\n\ne\n"));
    assert_text("<p title='a>b'>c<p title=\"d", "c\n");
    assert_text("a<!-- b", "a\n");
    assert_text("a<b c", "a\n");
    assert_text("<x-very-long-name-of-an-element>b</x-very-long-name-of-an-element>c", "bc\n");
    assert_text("<svg>no</svg>a</svg><script>no</script></script>b", "ab\n");
}

#ifdef MQ_HAVE_LIBXML2

static int heard;

static void on_generic(void *context, const char *message, ...)
{
    (void)context;
    (void)message;
    heard++;
}

#if LIBXML_VERSION >= 21200
static void on_structured(void *context, const xmlError *error)
#else
static void on_structured(void *context, xmlErrorPtr error)
#endif
{
    (void)context;
    (void)error;
    heard++;
}

/* The application has set PHP's handlers for the process: libxml_get_errors() must show none of our
 * errors. */
static void test_errors_stay_here(void **state)
{
    (void)state;
    xmlSetGenericErrorFunc(NULL, on_generic);
    assert_text("<b><x></i>&y; <p a=1 a=1 <>", "&y;\n");
    xmlSetStructuredErrorFunc(NULL, on_structured);
    assert_text("<b><x></i>&y; <p a=1 a=1 <>", "&y;\n");
    assert_int_equal(heard, 0);
    assert_ptr_equal(xmlStructuredError, on_structured);
    assert_ptr_equal(xmlGenericError, on_generic);
    xmlSetStructuredErrorFunc(NULL, NULL);
    xmlSetGenericErrorFunc(NULL, NULL);
}

#endif

static void test_without_memory(void **state)
{
    int n = 0;
    (void)state;
    for (bool missing = true; missing; n++) {
        mq_buffer_clear(&out);
        mq_buffer_cstr(&out, "|");
        left = n;
        mq_html_to_text(
            MQ_STR("<ul><li><blockquote>a <a href=https://e.org/>b</a><pre>c\n d</pre><ol><li>"
                   "a longer text, so that the buffer must grow once more to take all of it"),
            &out);
        left = -1;
        missing = out.failed;
        assert_int_equal(out.data[0], '|');
    }
    assert_non_null(strstr(out.data, " of it\n"));
    assert_true(n > 5);
}

static void test_unavailable(void **state)
{
    (void)state;
    assert_string_equal(text_of(MQ_STR("a")), "");
}

int main(void)
{
    const struct CMUnitTest without[] = {
        cmocka_unit_test_setup_teardown(test_unavailable, setup, teardown),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_blanks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_charset, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nul, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hidden, setup, teardown),
        cmocka_unit_test_setup_teardown(test_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_quotes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_preformatted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists, setup, teardown),
        cmocka_unit_test_setup_teardown(test_links, setup, teardown),
        cmocka_unit_test_setup_teardown(test_attributes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrapping, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(test_depth, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken, setup, teardown),
#ifdef MQ_HAVE_LIBXML2
        cmocka_unit_test_setup_teardown(test_errors_stay_here, setup, teardown),
#endif
        cmocka_unit_test_setup_teardown(test_without_memory, setup, teardown),
    };
    return mq_html_text_available() ? cmocka_run_group_tests(tests, NULL, NULL)
                                    : cmocka_run_group_tests(without, NULL, NULL);
}
