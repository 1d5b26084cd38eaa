/* The HTML parser's events as calls of the writer. */
#include "mime/text/html.h"

#ifdef MQ_HAVE_LIBXML2

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>

#include "mime/text/attribute.h"
#include "mime/text/link.h"
#include "mime/text/source.h"
#include "mime/text/writer.h"

/* libxml2 compares each end tag with all open elements: without a limit it would be quadratic. */
#define DEPTH_MAX 256
#define NAME_SIZE 16 /* of elements */

enum role {
    INLINE, /* also elements that are not in the table */
    BLOCK,
    SKIPPED,
    LINE_BREAK,
    RULE,
    IMAGE,
    LINK,
    LIST,
    NUMBERED_LIST,
    ITEM,
    INDENTED,
    QUOTE,
    PREFORMATTED,
    CELL
};

struct kind {
    const char *name;
    enum role role;
    unsigned breaks; /* line ends before and behind; 2: an empty line */
};

/* By name. */
static const struct kind kinds[] = {
    {"a", LINK, 0},           {"address", BLOCK, 1},    {"article", BLOCK, 1},
    {"aside", BLOCK, 1},      {"blockquote", QUOTE, 2}, {"body", BLOCK, 1},
    {"br", LINE_BREAK, 0},    {"caption", BLOCK, 1},    {"center", BLOCK, 1},
    {"dd", INDENTED, 1},      {"details", BLOCK, 1},    {"dialog", BLOCK, 1},
    {"dir", LIST, 2},         {"div", BLOCK, 1},        {"dl", BLOCK, 2},
    {"dt", BLOCK, 1},         {"fieldset", BLOCK, 1},   {"figcaption", BLOCK, 1},
    {"figure", BLOCK, 2},     {"footer", BLOCK, 1},     {"form", BLOCK, 1},
    {"h1", BLOCK, 2},         {"h2", BLOCK, 2},         {"h3", BLOCK, 2},
    {"h4", BLOCK, 2},         {"h5", BLOCK, 2},         {"h6", BLOCK, 2},
    {"head", BLOCK, 1},       {"header", BLOCK, 1},     {"hgroup", BLOCK, 1},
    {"hr", RULE, 0},          {"html", BLOCK, 1},       {"img", IMAGE, 0},
    {"legend", BLOCK, 1},     {"li", ITEM, 1},          {"listing", PREFORMATTED, 2},
    {"main", BLOCK, 1},       {"menu", LIST, 2},        {"nav", BLOCK, 1},
    {"ol", NUMBERED_LIST, 2}, {"option", BLOCK, 1},     {"p", BLOCK, 2},
    {"pre", PREFORMATTED, 2}, {"script", SKIPPED, 0},   {"search", BLOCK, 1},
    {"section", BLOCK, 1},    {"style", SKIPPED, 0},    {"summary", BLOCK, 1},
    {"svg", SKIPPED, 0},      {"table", BLOCK, 2},      {"tbody", BLOCK, 1},
    {"td", CELL, 0},          {"template", SKIPPED, 0}, {"tfoot", BLOCK, 1},
    {"th", CELL, 0},          {"thead", BLOCK, 1},      {"title", SKIPPED, 0},
    {"tr", BLOCK, 1},         {"ul", LIST, 2},          {"xmp", PREFORMATTED, 2},
};

static const struct kind unknown = {"", INLINE, 0};

/* An open element. */
struct element {
    char name[NAME_SIZE];
    const struct kind *kind;
    size_t indent;   /* before it */
    unsigned breaks; /* behind it */
    int number;      /* of the list's next item */
};

struct reader {
    htmlParserCtxtPtr parser;
    struct mq_html_source source;
    struct mq_text_writer writer;
    struct element stack[DEPTH_MAX];
    size_t depth;
    size_t hidden; /* depth from which on nothing shows; 0: all does */
    size_t preformatted;
    size_t lists; /* open ones */
    struct mq_text_link link;
    bool stopped;    /* too deep: to go on with a new parser … */
    long stopped_at; /* … there */
};

bool mq_html_text_available(void)
{
    return true;
}

/* ---- elements ---- */

static int compare_kind(const void *name, const void *kind)
{
    return strcmp(name, ((const struct kind *)kind)->name);
}

static const struct kind *kind_of(const char *name)
{
    const struct kind *kind =
        bsearch(name, kinds, sizeof kinds / sizeof *kinds, sizeof *kinds, compare_kind);
    return kind ? kind : &unknown;
}

static void put_text(struct reader *reader, struct mq_str text)
{
    mq_text_link_add(&reader->link, text);
    if (reader->preformatted > 0) {
        mq_text_put_lines(&reader->writer, text);
    } else {
        mq_text_put(&reader->writer, text);
    }
}

static bool is_list(const struct element *element)
{
    return element->kind->role == LIST || element->kind->role == NUMBERED_LIST;
}

/* A list within a list has no empty lines around it. */
static unsigned breaks_of(const struct reader *reader, const struct element *element)
{
    unsigned breaks = element->kind->breaks;
    return is_list(element) && reader->lists > 0 && breaks > 1 ? 1 : breaks;
}

static void open_item(struct reader *reader, struct element *element, const xmlChar **attributes)
{
    static const char spaces[] = "                ";
    char mark[sizeof spaces] = "- ";
    struct element *list = element > reader->stack ? element - 1 : NULL;
    if (list && list->kind->role == NUMBERED_LIST) {
        list->number = mq_html_number(mq_html_attribute(attributes, "value"), list->number);
        snprintf(mark, sizeof mark, "%d. ", list->number++);
    }
    mq_text_indent(&reader->writer, mark, spaces + sizeof spaces - 1 - strlen(mark));
}

/* libxml2 takes one behind another, not closed, for one inside it. */
static void open_indented(struct reader *reader, const struct element *element)
{
    if (element == reader->stack || element[-1].kind->role != INDENTED) {
        mq_text_indent(&reader->writer, "    ", "    ");
    }
}

static void open_line_break(struct reader *reader)
{
    if (reader->preformatted > 0) {
        mq_text_put_lines(&reader->writer, MQ_STR("\n"));
    } else {
        mq_text_newline(&reader->writer);
    }
}

static void open_image(struct reader *reader, const xmlChar **attributes)
{
    put_text(reader, mq_html_attribute(attributes, "alt"));
}

static void open_link(struct reader *reader, const xmlChar **attributes)
{
    mq_text_link_close(&reader->link, &reader->writer);
    mq_text_link_open(&reader->link, mq_html_attribute(attributes, "href"));
}

static void open_list(struct reader *reader, struct element *element, const xmlChar **attributes)
{
    element->number = mq_html_number(mq_html_attribute(attributes, "start"), 1);
    reader->lists++;
}

static void open_element(struct reader *reader, struct element *element, const xmlChar **attributes)
{
    struct mq_text_writer *writer = &reader->writer;
    element->indent = writer->prefix.len;
    element->breaks = breaks_of(reader, element);
    if (element->breaks > 0) {
        mq_text_break(writer, element->breaks);
    }
    switch (element->kind->role) {
    case LINE_BREAK:
        open_line_break(reader);
        break;
    case RULE:
        mq_text_rule(writer);
        break;
    case IMAGE:
        open_image(reader, attributes);
        break;
    case LINK:
        open_link(reader, attributes);
        break;
    case LIST:
    case NUMBERED_LIST:
        open_list(reader, element, attributes);
        break;
    case ITEM:
        open_item(reader, element, attributes);
        break;
    case INDENTED:
        open_indented(reader, element);
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

static void close_element(struct reader *reader, const struct element *element)
{
    struct mq_text_writer *writer = &reader->writer;

    switch (element->kind->role) {
    case LINK:
        mq_text_link_close(&reader->link, writer);
        break;
    case LIST:
    case NUMBERED_LIST:
        reader->lists--;
        break;
    case PREFORMATTED:
        reader->preformatted--;
        break;
    default:
        break;
    }
    if (element->breaks > 0) {
        mq_text_break(writer, element->breaks);
    }
    mq_text_unindent(writer, element->indent);
}

static void pop(struct reader *reader)
{
    if (reader->hidden == 0) {
        close_element(reader, &reader->stack[reader->depth - 1]);
    } else if (reader->hidden == reader->depth) {
        reader->hidden = 0;
    }
    reader->depth--;
}

/* ---- what the parser calls ---- */

/* Cut where it is longer than names of interest. */
static void copy_name(char *out, const xmlChar *name)
{
    size_t len = strnlen((const char *)name, NAME_SIZE - 1);
    memcpy(out, name, len);
    out[len] = '\0';
}

static void on_start(void *context, const xmlChar *name, const xmlChar **attributes)
{
    struct reader *reader = context;
    if (reader->stopped) {
        return;
    }
    if (reader->depth == DEPTH_MAX) {
        reader->stopped = true;
        reader->stopped_at = xmlByteConsumed(reader->parser);
        xmlStopParser(reader->parser);
        return;
    }
    struct element *element = &reader->stack[reader->depth++];
    *element = (struct element){.kind = kind_of((const char *)name)};
    copy_name(element->name, name);
    if (reader->hidden > 0) {
        return;
    }
    if (element->kind->role == SKIPPED || mq_html_hidden(attributes)) {
        reader->hidden = reader->depth;
        return;
    }
    open_element(reader, element, attributes);
}

static void on_end(void *context, const xmlChar *name)
{
    struct reader *reader = context;
    char wanted[NAME_SIZE];
    size_t depth = reader->depth;
    copy_name(wanted, name);
    while (depth > 0 && strcmp(reader->stack[depth - 1].name, wanted) != 0) {
        depth--;
    }
    while (depth > 0 && reader->depth >= depth && !reader->stopped) {
        pop(reader);
    }
}

static void on_text(void *context, const xmlChar *text, int len)
{
    struct reader *reader = context;
    if (reader->hidden == 0 && !reader->stopped) {
        put_text(reader, (struct mq_str){(const char *)text, (size_t)len});
    }
}

/* Without one the errors would go to the process's own handler, which is PHP's; HTML_PARSE_NOERROR
 * takes it away since libxml2 2.14. */
#if LIBXML_VERSION >= 21200
static void on_error(void *context, const xmlError *error)
#else
static void on_error(void *context, xmlErrorPtr error)
#endif
{
    (void)context;
    (void)error;
}

/* ---- the parser ---- */

static htmlParserCtxtPtr new_parser(struct reader *reader)
{
    htmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC,
                              .startElement = on_start,
                              .endElement = on_end,
                              .characters = on_text,
                              .ignorableWhitespace = on_text,
                              .cdataBlock = on_text,
                              .serror = on_error};
#if LIBXML_VERSION >= 21100
    return htmlNewSAXParserCtxt(&handler, reader);
#else
    htmlParserCtxtPtr parser = htmlNewParserCtxt();
    if (parser) {
        memcpy(parser->sax, &handler, sizeof handler);
        parser->userData = reader;
    }
    return parser;
#endif
}

/* Reads up to the end, or to where it was stopped. */
static bool parse(struct reader *reader, struct mq_str html)
{
    htmlParserCtxtPtr parser = new_parser(reader);
    if (!parser) {
        return false;
    }
    reader->parser = parser;
    reader->stopped = false;
    reader->source = (struct mq_html_source){.rest = html};
    htmlDocPtr document = htmlCtxtReadIO(parser, mq_html_source_read, NULL, &reader->source, NULL,
                                         "UTF-8", HTML_PARSE_RECOVER | HTML_PARSE_NONET);
    if (document) {
        xmlFreeDoc(document);
    }
    bool memory = parser->errNo != XML_ERR_NO_MEMORY;
    htmlFreeParserCtxt(parser);
    while (reader->depth > 0) {
        pop(reader);
    }
    return memory && !mq_text_writer_failed(&reader->writer) && !mq_text_link_failed(&reader->link);
}

/* What is too deep goes on at depth 0. */
static bool parse_all(struct reader *reader, struct mq_str html)
{
    bool done = parse(reader, html);
    while (done && reader->stopped && reader->stopped_at > 0 &&
           (size_t)reader->stopped_at < html.len) {
        html.data += reader->stopped_at;
        html.len -= (size_t)reader->stopped_at;
        while (html.len > 0 && (html.data[0] == '/' || html.data[0] == '>')) {
            html.data++;
            html.len--;
        }
        done = parse(reader, html);
    }
    return done;
}

enum mq_status mq_html_to_text(struct mq_str html, struct mq_buffer *out, struct mq_error *err)
{
    size_t before = out->len;
    if (html.len >= 3 && memcmp(html.data, "\xef\xbb\xbf", 3) == 0) {
        html.data += 3;
        html.len -= 3;
    }
    if (!mq_utf8_valid(html)) {
        return mq_error_set(err, MQ_MESSAGE, "html",
                            "html: it is not UTF-8; convert it (mb_convert_encoding)");
    }
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        return mq_error_nomem(err);
    }
    xmlInitParser(); /* once in a process; never cleaned up, for PHP uses it too */
    mq_text_writer_init(&reader->writer, out);
    mq_text_link_init(&reader->link);
    bool done = parse_all(reader, html);
    mq_text_writer_finish(&reader->writer);
    done = done && !out->failed;
    mq_text_link_clear(&reader->link);
    free(reader);
    if (!done && out->data) {
        out->len = before;
        out->data[before] = '\0';
    }
    return done ? MQ_OK : mq_error_nomem(err);
}

#else

bool mq_html_text_available(void)
{
    return false;
}

enum mq_status mq_html_to_text(struct mq_str html, struct mq_buffer *out, struct mq_error *err)
{
    (void)html;
    (void)out;
    return mq_error_set(err, MQ_CONFIG, "html",
                        "html: this build makes no text of HTML; give text too, or build the "
                        "extension where libxml2 and its headers are (Debian package: "
                        "libxml2-dev)");
}

#endif
