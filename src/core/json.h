/* JSON (RFC 8259) as far as it is needed here: a writer, and readers of flat arrays and objects. */
#ifndef MQ_CORE_JSON_H
#define MQ_CORE_JSON_H

#include "core/buffer.h"
#include "core/error.h"

/* Appends s as a JSON string; invalid UTF-8 becomes U+FFFD, controls become escapes. */
void mq_json_string(struct mq_buffer *out, struct mq_str s);
/* Appends ["a","b"]. */
void mq_json_strings(struct mq_buffer *out, const struct mq_strings *list);

/* Reads an array of strings (`open` is '[') or an object of strings ('{'; each key, then its value)
 * into an initialised, empty list. Returns MQ_INVALID for any other text and for a NUL in a string,
 * or MQ_NOMEM; the list is empty then. */
enum mq_status mq_json_read(struct mq_str text, char open, struct mq_strings *list);
/* Reads an object that others made, in the same way, but leaves out members that are null, an array
 * or an object. Numbers, true and false come as they are written. */
enum mq_status mq_json_members(struct mq_str text, struct mq_strings *list);

#endif
