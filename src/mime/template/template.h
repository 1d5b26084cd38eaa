/* Templates: text with placeholders for the fields of a recipient. docs/campaigns.md has the
 * language. A template is compiled once; rendering copies its text and escapes the values.
 *
 *   {{name}} {{address.city}} {{name|default("friend")}} {{code|url}} {{"{{"}} {{! a comment }}
 *   {{#if name}} … {{else}} … {{/if}}
 *   {{#each items}} {{this}} {{price}} {{../name}} … {{else}} there is none … {{/each}} */
#ifndef MQ_MIME_TEMPLATE_TEMPLATE_H
#define MQ_MIME_TEMPLATE_TEMPLATE_H

#include "core/buffer.h"
#include "core/error.h"

/* Where the text goes, and so how values are written. */
enum mq_template_kind {
    MQ_TEMPLATE_TEXT,   /* as they are */
    MQ_TEMPLATE_HTML,   /* escaped for content and for quoted attributes */
    MQ_TEMPLATE_HEADER, /* as they are; control characters are errors, except those that
                           mq_header_text() replaces */
    MQ_TEMPLATE_URI     /* all but the unreserved characters of RFC 3986 percent-encoded, as
                           "|url" does everywhere */
};

#define MQ_TEMPLATE_DEPTH      16 /* blocks within each other */
#define MQ_TEMPLATE_TAGS       4096
#define MQ_TEMPLATE_STEPS      1000000    /* of rendering once */
#define MQ_TEMPLATE_HEADER_MAX 8000       /* octets of a rendered header or URI */
#define MQ_TEMPLATE_MAX        (64 << 20) /* octets of a rendered text or HTML */

struct mq_template;
struct mq_json_tree;
struct mq_json_value;

/* The fields of a recipient, borrowed. */
struct mq_template_values {
    const struct mq_json_tree *fields;
    const struct mq_json_value *extra; /* used where the fields lack that name */
    size_t extra_count;
};

/* Compiles a copy of the source. `part` is copied, too; it names the source in errors, such as
 * "subject". MQ_MESSAGE, field `part`, with line and column: invalid UTF-8, a NUL, an unknown or
 * unfinished tag, a block without its end, an end without its block, blocks deeper than
 * MQ_TEMPLATE_DEPTH, more tags than MQ_TEMPLATE_TAGS. */
enum mq_status mq_template_new(struct mq_str source, enum mq_template_kind kind, const char *part,
                               struct mq_template **out, struct mq_error *err);
void mq_template_free(struct mq_template *template); /* NULL is allowed */

/* Renders into `out` (initialised), which is emptied first. *text is the result; it points into
 * `out`, or into the template if the template has no tags. MQ_MESSAGE, field `part`, with line and
 * column: a field that is missing or null, without a default; a list or an object where a text has
 * to be, and the reverse; a control character in a header; a result over the size, or more steps
 * than MQ_TEMPLATE_STEPS. */
enum mq_status mq_template_render(const struct mq_template *template,
                                  const struct mq_template_values *values, struct mq_buffer *out,
                                  struct mq_str *text, struct mq_error *err);
/* Appends the text of all branches, and for each value its default or "x": for checks of what is
 * around them. */
void mq_template_sample(const struct mq_template *template, struct mq_buffer *out);

#endif
