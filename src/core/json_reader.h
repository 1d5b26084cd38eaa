/* Steps of a reader of JSON texts (RFC 8259): json.c reads flat lists with them, json_tree.c reads
 * objects with all that is in them. */
#ifndef MQ_CORE_JSON_READER_H
#define MQ_CORE_JSON_READER_H

#include "core/buffer.h"

struct mq_json_reader {
    struct mq_str rest;    /* of the JSON, not read yet */
    struct mq_buffer text; /* strings are appended here, without escapes */
};

/* Takes c, after white space, if it is next. */
bool mq_json_take(struct mq_json_reader *in, char c);
/* Takes a string and appends its text. False: there is no string, or it has invalid UTF-8, a bad
 * escape or a NUL. */
bool mq_json_take_string(struct mq_json_reader *in);
/* Takes letters, digits, "+", "-" and ".": a number, true, false or null, if it is valid. */
struct mq_str mq_json_take_word(struct mq_json_reader *in);

#endif
