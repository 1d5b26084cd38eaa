/* HTML's tags as calls of the writer. Mail programs write broken HTML: only elements that change
 * what is in them are kept on a stack, and a tag that fits nowhere changes nothing. */
#include "mime/text/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/text/token.h"
#include "mime/text/writer.h"

#define DEPTH_MAX     256  /* deeper elements are only text; it bounds the search for a begin tag */
#define NAME_SIZE     16   /* of elements with a role */
#define LINK_TEXT_MAX 2048 /* a longer text is no URL */
#define NUMBER_MAX    99999999

enum role {
    VOID, /* up to IMAGE: without an end tag */
    LINE_BREAK,
    RULE,
    IMAGE,
    INLINE, /* up to LINK: only hidden ones are on the stack. Also what is not in the table. */
    LINK,
    RAW, /* its text has no tags in it */
    SKIPPED,
    BLOCK,
    PARAGRAPH,
    LIST,
    NUMBERED_LIST,
    ITEM,
    QUOTE,
    PREFORMATTED,
    TABLE,
    ROW,
    CELL
};

static const struct kind {
    enum role role;
    unsigned breaks; /* line ends before and behind; 2: an empty line */
    const char *names;
} kinds[] = {
    {VOID, 0, " area base col embed input link meta param source track wbr "},
    {LINE_BREAK, 0, " br "},
    {RULE, 0, " hr "},
    {IMAGE, 0, " img "},
    {LINK, 0, " a "},
    {RAW, 0, " script style title "},
    {SKIPPED, 0, " svg template "},
    {BLOCK, 1,
     " address article aside body caption center dd details dialog div dt fieldset figcaption "
     "footer form head header hgroup html legend main nav option search section summary tbody "
     "tfoot thead "},
    {BLOCK, 2, " dl figure h1 h2 h3 h4 h5 h6 "},
    {PARAGRAPH, 2, " p "},
    {LIST, 2, " dir menu ul "},
    {NUMBERED_LIST, 2, " ol "},
    {ITEM, 1, " li "},
    {QUOTE, 2, " blockquote "},
    {PREFORMATTED, 2, " listing pre xmp "},
    {TABLE, 2, " table "},
    {ROW, 1, " tr "},
    {CELL, 0, " td th "},
};

/* An open element. */
struct element {
    struct mq_str name;
    enum role role;
    size_t indent;   /* before it */
    unsigned breaks; /* behind it */
    int number;      /* of the list's next item */
};

struct reader {
    struct mq_str html; /* what is left of it */
    struct mq_html_token token;
    struct mq_text_writer writer;
    struct element stack[DEPTH_MAX];
    size_t depth;
    size_t hidden;              /* depth from which on nothing shows; 0: all does */
    size_t preformatted, lists; /* open ones */
    struct mq_buffer value;     /* of an attribute, or decoded text */
    struct mq_buffer url;       /* of the open link; empty: none is open, or it leads nowhere */
    struct mq_buffer link_text; /* without its white space */
};

static const struct kind *kind_of(struct mq_str name)
{
    static const struct kind unknown = {INLINE, 0, ""};
    char key[NAME_SIZE + 3] = " ";
    for (size_t i = 0; i < name.len && i < NAME_SIZE; i++) {
        key[i + 1] = mq_ascii_lower(name.data[i]);
        key[i + 2] = ' ';
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && name.len <= NAME_SIZE; i++) {
        if (strstr(kinds[i].names, key) != NULL) {
            return &kinds[i];
        }
    }
    return &unknown;
}

static void put_text(struct reader *reader, struct mq_str text)
{
    bool wanted = reader->url.len > 0;
    for (size_t i = 0; wanted && i < text.len && reader->link_text.len < LINK_TEXT_MAX; i++) {
        if ((unsigned char)text.data[i] > ' ') {
            mq_buffer_char(&reader->link_text, text.data[i]);
        }
    }
    (reader->preformatted > 0 ? mq_text_put_lines : mq_text_put)(&reader->writer, text);
}

/* ---- attributes ---- */

/* The value of the tag's attribute, decoded; data is NULL where it has none. */
static struct mq_str attribute(struct reader *reader, const char *name)
{
    if (!mq_html_attribute(&reader->token, name, &reader->value)) {
        return (struct mq_str){NULL, 0};
    }
    return reader->value.len > 0 ? mq_buffer_view(&reader->value) : MQ_STR("");
}

static int number_of(struct reader *reader, const char *name, int otherwise)
{
    struct mq_str value = mq_str_trim(attribute(reader, name));
    char *end = NULL;
    long n = value.len > 0 ? strtol(value.data, &end, 10) : -1;
    return n >= 0 && n <= NUMBER_MAX && end == value.data + value.len ? (int)n : otherwise;
}

/* Whether the attribute hidden, or a declaration of the style, says that nothing shows. */
static bool is_hidden(struct reader *reader)
{
    struct mq_str style = attribute(reader, "style");
    struct mq_buffer *value = &reader->value;
    size_t n = 0;
    for (size_t i = 0; i < style.len; i++) {
        char c = style.data[i];
        if ((unsigned char)c > ' ') {
            value->data[n++] = mq_ascii_lower(c);
        }
    }
    static const char *const hiding[] = {"display:none", "visibility:hidden"};
    for (size_t i = 0; style.len > 0 && i < sizeof hiding / sizeof *hiding; i++) {
        const char *at = memmem(value->data, n, hiding[i], strlen(hiding[i]));
        if (at != NULL && (at == value->data || at[-1] == ';')) {
            return true;
        }
    }
    return attribute(reader, "hidden").data != NULL;
}

/* ---- links ---- */

/* Takes a prefix off, whatever its case. */
static bool cut(struct mq_str *text, const char *prefix)
{
    bool begins = mq_str_begins_nocase(*text, prefix);
    *text = mq_str_skip(*text, begins ? strlen(prefix) : 0);
    return begins;
}

/* Without what browsers leave out, and nothing in it that ends "<url>". */
static void put_url(struct mq_buffer *out, struct mq_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == ' ' || c == '<' || c == '>' || c == '"') {
            mq_buffer_printf(out, "%%%02X", (unsigned)c);
        } else if ((unsigned char)c > ' ' && c != 0x7f) {
            mq_buffer_char(out, c);
        }
    }
}

static void open_link(struct reader *reader)
{
    static const char *const nowhere[] = {
        "#", "javascript:", "vbscript:", "data:", "cid:", "about:"};
    struct mq_str text = mq_str_trim(attribute(reader, "href"));
    if (cut(&text, "mailto:")) { /* other fields of the URI are left out */
        const char *end = text.len > 0 ? memchr(text.data, '?', text.len) : NULL;
        text.len = end != NULL ? (size_t)(end - text.data) : text.len;
    }
    put_url(&reader->url, text);
    struct mq_str url = mq_buffer_view(&reader->url);
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        if (cut(&url, nowhere[i])) {
            reader->url.len = 0;
        }
    }
}

/* Without what is not said of a URL. */
static struct mq_str spoken(struct mq_str url)
{
    if (!cut(&url, "https://")) {
        cut(&url, "http://");
    }
    while (url.len > 0 && url.data[url.len - 1] == '/') {
        url.len--;
    }
    return url;
}

/* Writes the URL, unless the text said it. */
static void close_link(struct reader *reader)
{
    struct mq_str url = mq_buffer_view(&reader->url);
    if (!mq_str_equal_nocase(spoken(url), spoken(mq_buffer_view(&reader->link_text)))) {
        mq_text_put(&reader->writer, MQ_STR(" <"));
        mq_text_put(&reader->writer, url);
        mq_text_put(&reader->writer, MQ_STR(">"));
    }
    reader->url.len = reader->link_text.len = 0;
}

/* ---- elements ---- */

static bool is_list(enum role role)
{
    return role == LIST || role == NUMBERED_LIST;
}

static void pop_to(struct reader *reader, size_t depth)
{
    while (reader->depth > depth) {
        const struct element *element = &reader->stack[--reader->depth];
        if (reader->hidden == 0) {
            reader->lists -= is_list(element->role);
            reader->preformatted -= element->role == PREFORMATTED;
            mq_text_break(&reader->writer, element->breaks);
            mq_text_unindent(&reader->writer, element->indent);
        } else if (reader->hidden == reader->depth + 1) {
            reader->hidden = 0;
        }
    }
}

/* Where an open element is in which one of the role ends, whatever its tags say. */
static bool bounds(enum role outer, enum role role)
{
    switch (role) {
    case ITEM:
        return is_list(outer) || outer == CELL;
    case ROW:
    case CELL:
        return outer == TABLE;
    case PARAGRAPH:
        return outer != INLINE;
    case TABLE:
        return false;
    default:
        return outer == CELL || (role == INLINE && outer != INLINE);
    }
}

/* An item, a paragraph, a row or a cell ends where the next one begins. */
static void close_implied(struct reader *reader, enum role role)
{
    for (size_t depth = reader->depth; depth > 0; depth--) {
        enum role open = reader->stack[depth - 1].role;
        if (open == role) {
            pop_to(reader, depth - 1);
            return;
        }
        if (bounds(open, role)) {
            return;
        }
    }
}

static void open_item(struct reader *reader)
{
    static const char spaces[] = "            ";
    char mark[sizeof spaces] = "- ";
    struct element *list = reader->depth > 0 ? &reader->stack[reader->depth - 1] : NULL;
    if (list != NULL && list->role == NUMBERED_LIST) {
        list->number = number_of(reader, "value", list->number);
        snprintf(mark, sizeof mark, "%d. ", list->number++);
    }
    mq_text_indent(&reader->writer, mark, spaces + sizeof spaces - 1 - strlen(mark));
}

/* What an element does where it begins, but for its line ends. */
static void begin(struct reader *reader, enum role role)
{
    struct mq_text_writer *writer = &reader->writer;
    switch (role) {
    case LINE_BREAK:
        reader->preformatted > 0 ? mq_text_put_lines(writer, MQ_STR("\n"))
                                 : mq_text_newline(writer);
        break;
    case RULE:
        mq_text_rule(writer);
        break;
    case IMAGE:
        put_text(reader, attribute(reader, "alt"));
        break;
    case LINK:
        open_link(reader);
        break;
    case LIST:
    case NUMBERED_LIST:
        reader->lists++;
        break;
    case ITEM:
        open_item(reader);
        break;
    case QUOTE:
        mq_text_indent(writer, "> ", "> ");
        break;
    case PREFORMATTED:
        reader->preformatted++;
        break;
    case CELL:
        mq_text_bar(writer);
        break;
    default:
        break;
    }
}

/* What ends where this element begins. */
static void end_others(struct reader *reader, const struct kind *kind)
{
    if (kind->breaks > 0) {
        close_implied(reader, PARAGRAPH);
    }
    if (kind->role == ITEM || kind->role == ROW || kind->role == CELL) {
        close_implied(reader, kind->role);
    }
    if (reader->depth == DEPTH_MAX) {
        pop_to(reader, 0);
    }
}

static void on_open(struct reader *reader)
{
    const struct kind *kind = kind_of(reader->token.name);
    struct element element = {.name = reader->token.name, .role = kind->role};
    if (kind->role == RAW) {
        mq_html_skip_raw(&reader->html, element.name);
        return;
    }
    end_others(reader, kind);
    bool hides = reader->hidden == 0 && (kind->role == SKIPPED || is_hidden(reader));
    bool shows = reader->hidden == 0 && !hides;
    if (shows) {
        bool inner_list = is_list(kind->role) && reader->lists > 0;
        element.indent = reader->writer.prefix.len;
        element.breaks = inner_list ? 1 : kind->breaks; /* no empty lines around it */
        element.number = is_list(kind->role) ? number_of(reader, "start", 1) : 0;
        mq_text_break(&reader->writer, element.breaks);
        begin(reader, kind->role);
    }
    if (kind->role > (shows ? LINK : IMAGE)) {
        reader->stack[reader->depth++] = element;
        reader->hidden = hides ? reader->depth : reader->hidden;
    }
}

static void on_close(struct reader *reader)
{
    struct mq_str name = reader->token.name;
    enum role role = kind_of(name)->role;
    if (role == LINK && reader->hidden == 0) {
        close_link(reader);
        return;
    }
    for (size_t depth = reader->depth; depth > 0; depth--) {
        const struct element *open = &reader->stack[depth - 1];
        if (mq_str_equal_nocase(open->name, name)) {
            pop_to(reader, depth - 1);
            return;
        }
        if (bounds(open->role, role)) {
            return;
        }
    }
}

static void read_all(struct reader *reader)
{
    while (mq_html_take(&reader->html, &reader->token)) {
        if (reader->token.kind == MQ_HTML_OPEN) {
            on_open(reader);
        } else if (reader->token.kind == MQ_HTML_CLOSE) {
            on_close(reader);
        } else if (reader->hidden == 0) {
            reader->value.len = 0;
            mq_html_decode(&reader->value, reader->token.body);
            put_text(reader, mq_buffer_view(&reader->value));
        }
    }
    close_link(reader);
    pop_to(reader, 0);
}

enum mq_status mq_html_to_text(struct mq_str html, struct mq_buffer *out, struct mq_error *err)
{
    size_t before = out->len;
    if (!mq_utf8_valid(html)) {
        return mq_error_set(err, MQ_MESSAGE, "html",
                            "html: it is not UTF-8; convert it (mb_convert_encoding)");
    }
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        return mq_error_nomem(err);
    }
    reader->html = html;
    mq_text_writer_init(&reader->writer, out);
    read_all(reader);
    bool done = mq_text_writer_finish(&reader->writer) && !reader->value.failed &&
                !reader->url.failed && !reader->link_text.failed;
    mq_buffer_clear(&reader->value);
    mq_buffer_clear(&reader->url);
    mq_buffer_clear(&reader->link_text);
    free(reader);
    if (!done && out->data != NULL) {
        out->len = before;
        out->data[before] = '\0';
    }
    return done ? MQ_OK : mq_error_nomem(err);
}
