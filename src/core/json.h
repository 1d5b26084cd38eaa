/* JSON (RFC 8259) as far as the queue's own columns and log need it: a writer, and a reader of
 * flat arrays and objects of strings and numbers. */
#ifndef MQ_CORE_JSON_H
#define MQ_CORE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

/* Appends s as a JSON string; invalid UTF-8 becomes U+FFFD, controls become escapes. */
void mq_json_string(struct mq_buffer *out, struct mq_str s);
/* Appends ["a","b"]. */
void mq_json_strings(struct mq_buffer *out, const struct mq_strings *list);

/* Reads an array of strings into an initialised, empty list. MQ_INVALID on anything else. */
enum mq_status mq_json_read_strings(struct mq_str text, struct mq_strings *out,
                                    struct mq_error *err);

/* Reads an object whose values are strings (numbers, true, false and null come as their text):
 * keys and values at equal places of two lists. MQ_INVALID on anything else. */
enum mq_status mq_json_read_object(struct mq_str text, struct mq_strings *keys,
                                   struct mq_strings *values, struct mq_error *err);

#endif
