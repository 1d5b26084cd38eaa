/* For applications that write their mails in HTML only: makes the text part that plain readers and
 * spam filters want. libxml2 knows which tags can be missing and what broken HTML means. */
#include "mime/text/html.h"

#ifdef MQ_HAVE_LIBXML2

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XML_DEPRECATED_MEMBER /* maxatts is deprecated from 2.14 on */
#include <libxml/HTMLparser.h>

#include "core/ascii.h"
#include "mime/text/writer.h"

#define MARK_MAX       256 /* octets of a mark that mark_length() finds */
#define ATTRIBUTES_MAX 1000
#define LINK_TEXT_MAX  2048 /* octets; only this much of a link's text is compared with its URL */
#define NUMBER_MAX     99999999

enum role {
    BLOCK,
    SKIPPED,
    LINE_BREAK,
    RULE,
    IMAGE,
    LINK,
    LIST,
    NUMBERED_LIST,
    ITEM,
    QUOTE,
    PREFORMATTED,
    CELL
};

static const struct kind {
    enum role role;
    unsigned breaks; /* line ends before and after; 2 make an empty line */
    const char *names;
} kinds[] = {
    {SKIPPED, 0, "script style svg template title"},
    {LINE_BREAK, 0, "br"},
    {RULE, 0, "hr"},
    {IMAGE, 0, "img"},
    {LINK, 0, "a"},
    {BLOCK, 1,
     "address article aside body caption center dd details dialog div dt fieldset figcaption "
     "footer form head header hgroup html legend main nav option search section summary tbody "
     "tfoot thead tr"},
    {BLOCK, 2, "dl figure h1 h2 h3 h4 h5 h6 p table"},
    {LIST, 2, "dir menu ul"},
    {NUMBERED_LIST, 2, "ol"},
    {ITEM, 1, "li"},
    {QUOTE, 2, "blockquote"},
    {PREFORMATTED, 2, "listing pre xmp"},
    {CELL, 0, "td th"},
};

struct reader {
    struct mq_text_writer writer;
    int *number; /* number of the next item; NULL: the open list has no numbers */
    int lists;   /* lists that are open */
    int preformatted;
    struct mq_buffer url;       /* of the open link; empty: none is open, or it has no usable URL */
    struct mq_buffer link_text; /* without its white space */
};

static const struct kind *kind_of(const xmlNode *node)
{
    static const struct kind other = {BLOCK, 0, ""};
    struct mq_str name = mq_str_of((const char *)node->name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (mq_str_word(name, kinds[i].names, mq_str_equal) >= 0) {
            return &kinds[i];
        }
    }
    return &other;
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

/* Returns an attribute, its entities decoded. data is NULL if the element does not have it. */
static struct mq_str attribute(const xmlNode *node, const char *name)
{
    const xmlAttr *found = xmlHasProp(node, (const xmlChar *)name);
    if (found == NULL) {
        return (struct mq_str){NULL, 0};
    }
    bool empty = found->children == NULL || found->children->content == NULL;
    return empty ? MQ_STR("") : mq_str_of((const char *)found->children->content);
}

static int number_of(const xmlNode *node, const char *name, int otherwise)
{
    struct mq_str value = mq_str_trim(attribute(node, name));
    char *end = NULL;
    long n = value.len > 0 ? strtol(value.data, &end, 10) : -1;
    return n >= 0 && n <= NUMBER_MAX && end == value.data + value.len ? (int)n : otherwise;
}

/* Whether a style begins with the declaration, white space ignored. */
static bool declares(const char *style, const char *declaration)
{
    for (; *style && *declaration; style++) {
        if ((unsigned char)*style > ' ' && mq_ascii_lower(*style) != *declaration++) {
            return false;
        }
    }
    return !*declaration;
}

/* Whether the attribute "hidden" or the style hides the element. */
static bool is_hidden(const xmlNode *node)
{
    for (const char *style = attribute(node, "style").data; style; style = strchr(style, ';')) {
        style += *style == ';';
        if (declares(style, "display:none") || declares(style, "visibility:hidden")) {
            return true;
        }
    }
    return attribute(node, "hidden").data != NULL;
}

/* ---- links ---- */

/* Takes a prefix off, whether in upper or lower case. False if the text does not begin with it. */
static bool cut(struct mq_str *text, const char *prefix)
{
    bool begins = mq_str_begins_nocase(*text, prefix);
    *text = mq_str_skip(*text, begins ? strlen(prefix) : 0);
    return begins;
}

/* Appends a URL without what browsers drop, and with space, "<", ">" and quotes escaped. */
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

/* Returns a URL as people say it: without http(s):// and without "/" at its end. */
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

/* Writes the URL of the link, if it has one and the link's text is not the URL itself. */
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

static void open_link(struct reader *reader, const xmlNode *node)
{
    static const char *const nowhere[] = {
        "#", "javascript:", "vbscript:", "data:", "cid:", "about:"};
    struct mq_str text = mq_str_trim(attribute(node, "href"));
    close_link(reader);          /* a link in a link ends the outer one, as in browsers */
    if (cut(&text, "mailto:")) { /* the URI's query is omitted */
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

/* ---- elements ---- */

static void open_item(struct reader *reader, const xmlNode *node)
{
    static const char spaces[] = "            ";
    char mark[sizeof spaces] = "- ";
    if (reader->number) {
        *reader->number = number_of(node, "value", *reader->number);
        snprintf(mark, sizeof mark, "%d. ", (*reader->number)++);
    }
    mq_text_indent(&reader->writer, mark, spaces + sizeof spaces - 1 - strlen(mark));
}

/* Writes what an element begins with, except for line ends. */
static void begin(struct reader *reader, enum role role, const xmlNode *node)
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
        put_text(reader, attribute(node, "alt"));
        break;
    case LINK:
        open_link(reader, node);
        break;
    case ITEM:
        open_item(reader, node);
        break;
    case QUOTE:
        mq_text_indent(writer, "> ", "> ");
        break;
    case CELL:
        mq_text_bar(writer);
        break;
    default:
        break;
    }
}

static void read_nodes(struct reader *reader, const xmlNode *node);

static void read_element(struct reader *reader, const xmlNode *node)
{
    const struct kind *kind = kind_of(node);
    if (kind->role == SKIPPED || is_hidden(node)) {
        return;
    }
    bool is_list = kind->role == LIST || kind->role == NUMBERED_LIST;
    unsigned breaks = is_list && reader->lists > 0 ? 1 : kind->breaks;
    size_t indent = reader->writer.prefix.len;
    int *outer = reader->number;
    int number = number_of(node, "start", 1);
    mq_text_break(&reader->writer, breaks);
    begin(reader, kind->role, node);
    if (is_list) {
        reader->number = kind->role == NUMBERED_LIST ? &number : NULL;
    }
    reader->lists += is_list;
    reader->preformatted += kind->role == PREFORMATTED;
    read_nodes(reader, node->children);
    reader->preformatted -= kind->role == PREFORMATTED;
    reader->lists -= is_list;
    reader->number = outer;
    if (kind->role == LINK) {
        close_link(reader);
    }
    mq_text_break(&reader->writer, breaks);
    mq_text_unindent(&reader->writer, indent);
}

/* Returns the length of the mark <![if …]> or <![endif]> that the text begins with, 0 if there is
 * none. Mail programs write these for Outlook. libxml2 before 2.14 treats them as text, and at the
 * beginning of a text drops their "<". */
static size_t mark_length(struct mq_str text)
{
    struct mq_str name = mq_str_skip(text, text.len > 0 && text.data[0] == '<');
    bool mark = mq_str_begins_nocase(name, "![if") || mq_str_begins_nocase(name, "![endif");
    const char *end =
        mark ? memchr(text.data, '>', text.len < MARK_MAX ? text.len : MARK_MAX) : NULL;
    return end ? (size_t)(end - text.data) + 1 : 0;
}

static void read_text(struct reader *reader, struct mq_str text)
{
    const char *at;
    text = mq_str_skip(text, mark_length(text));
    while (text.len > 0 && (at = memmem(text.data, text.len, "<![", 3)) != NULL) {
        size_t before = (size_t)(at - text.data);
        size_t mark = mark_length(mq_str_skip(text, before));
        put_text(reader, (struct mq_str){text.data, before + (mark ? 0 : 3)});
        text = mq_str_skip(text, before + (mark ? mark : 3));
    }
    put_text(reader, text);
}

/* Recursive: libxml2 limits the depth. */
static void read_nodes(struct reader *reader, const xmlNode *node)
{
    for (; node; node = node->next) {
        if (node->type == XML_ELEMENT_NODE) {
            read_element(reader, node);
        } else if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE) {
            read_text(reader, mq_str_of((const char *)node->content));
        }
    }
}

/* ---- the parser ---- */

/* A parser without its own handler passes errors to the handler of the process, which is PHP's. */
#if LIBXML_VERSION >= 21200
static void on_error(void *context, const xmlError *error)
#else
static void on_error(void *context, xmlErrorPtr error)
#endif
{
    (void)context;
    (void)error;
}

struct source {
    struct mq_str rest;
    htmlParserCtxtPtr parser;
    bool stopped;
};

/* libxml2 compares each attribute of a tag with all before it, so the HTML ends at a tag that has
 * too many. maxatts is the size of the parser's array of names and values, which grows by
 * doubling. */
static int read_source(void *context, char *buffer, int size)
{
    struct source *source = context;
    source->stopped = source->parser->maxatts > 4 * ATTRIBUTES_MAX;
    size_t len = source->rest.len < (size_t)size ? source->rest.len : (size_t)size;
    struct mq_str piece = mq_str_cut(&source->rest, source->stopped ? 0 : len);
    memcpy(buffer, piece.data, piece.len);
    return (int)piece.len;
}

/* Returns NULL if memory is missing, or if the HTML was not read to its end (*whole is false). */
static xmlDocPtr parse(struct mq_str html, bool *whole)
{
    const int options = HTML_PARSE_RECOVER | HTML_PARSE_NONET | HTML_PARSE_COMPACT;
    htmlParserCtxtPtr parser = htmlNewParserCtxt();
    *whole = true;
    if (!parser) {
        return NULL;
    }
    parser->sax->initialized = XML_SAX2_MAGIC; /* else serror is ignored */
    parser->sax->serror = on_error;
    struct source source = {.rest = html, .parser = parser};
    xmlDocPtr tree = htmlCtxtReadIO(parser, read_source, NULL, &source, NULL, "UTF-8", options);
    const xmlError *error = xmlCtxtGetLastError(parser);
    *whole = !source.stopped && (!error || error->level != XML_ERR_FATAL);
    if (tree && !*whole) {
        xmlFreeDoc(tree);
        tree = NULL;
    }
    htmlFreeParserCtxt(parser);
    return tree;
}

bool mq_html_text_available(void)
{
    return true;
}

void mq_html_to_text(struct mq_str html, struct mq_buffer *out)
{
    struct reader reader = {.number = NULL};
    bool whole = true;
    if (html.len == 0 || html.len > INT_MAX) {
        return;
    }
    xmlDocPtr tree = parse(html, &whole);
    if (!tree) {
        out->failed = out->failed || whole;
        return;
    }
    mq_text_writer_init(&reader.writer, out);
    read_nodes(&reader, tree->children);
    mq_text_writer_finish(&reader.writer);
    out->failed = out->failed || reader.url.failed || reader.link_text.failed;
    mq_buffer_clear(&reader.url);
    mq_buffer_clear(&reader.link_text);
    xmlFreeDoc(tree);
}

#else

bool mq_html_text_available(void)
{
    return false;
}

void mq_html_to_text(struct mq_str html, struct mq_buffer *out)
{
    (void)html;
    (void)out;
}

#endif
