/* A compiled template: steps, one after the other, with jumps. */
#ifndef MQ_MIME_TEMPLATE_INTERNAL_H
#define MQ_MIME_TEMPLATE_INTERNAL_H

#include <stdint.h>

#include "mime/template/template.h"

enum mq_step_kind {
    MQ_STEP_TEXT,  /* copies text */
    MQ_STEP_VALUE, /* writes a value, or its default */
    MQ_STEP_IF,    /* goes to `jump` if the value is missing or empty */
    MQ_STEP_EACH,  /* begins with the first item, or goes to `jump` if there is none */
    MQ_STEP_NEXT,  /* goes to `jump` with the next item, or on after the last */
    MQ_STEP_JUMP   /* goes to `jump` */
};

/* A field, as seen from where it is named. No names: the recipient, or the item of {{#each}}. */
struct mq_step_path {
    struct mq_str text;    /* as written, for errors; data NULL: no field, but a text in quotes */
    uint32_t up;           /* "../" */
    uint32_t first, count; /* names */
};

struct mq_step {
    enum mq_step_kind kind;
    bool url;      /* percent-encoded */
    bool has_else; /* EACH: a missing list is an empty one */
    uint32_t jump; /* index of a step */
    struct mq_step_path path;
    struct mq_str text; /* TEXT: the text; VALUE: the default, data NULL: none */
    uint32_t at;        /* byte of the source where the tag begins */
};

struct mq_template {
    enum mq_template_kind kind;
    char part[MQ_ERROR_FIELD_MAX];
    char *source; /* steps and names point into it */
    size_t len;
    struct mq_step *steps;
    size_t count, capacity;
    struct mq_str *names; /* of all paths */
    size_t name_count, name_capacity;
};

/* MQ_MESSAGE with "part: line 3, column 14: …". `at` is a byte of the source. */
enum mq_status mq_template_bad(const struct mq_template *template, size_t at, struct mq_error *err,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Appends a value as the kind of template needs it. */
void mq_template_put(struct mq_buffer *out, enum mq_template_kind kind, struct mq_str value);

#endif
