/* Reads a JSON object (RFC 8259) with all that is in it. A tree keeps its memory from one text to
 * the next, so that reading the fields of many recipients allocates nothing. */
#ifndef MQ_CORE_JSON_TREE_H
#define MQ_CORE_JSON_TREE_H

#include "core/buffer.h"
#include "core/error.h"

#define MQ_JSON_DEPTH  32     /* lists and objects within each other */
#define MQ_JSON_VALUES 100000 /* a value of two bytes takes a hundred times as many in memory */

enum mq_json_kind {
    MQ_JSON_NULL,
    MQ_JSON_FALSE,
    MQ_JSON_TRUE,
    MQ_JSON_NUMBER,
    MQ_JSON_TEXT,
    MQ_JSON_LIST,
    MQ_JSON_OBJECT
};

struct mq_json_value {
    enum mq_json_kind kind;
    struct mq_str key;  /* of a member of an object */
    struct mq_str text; /* of a text: UTF-8 without NUL; of a number, true or false: as written */
    size_t first;       /* of a list or an object: index of the first item, see mq_json_item() */
    size_t count;       /* its items */
};

struct mq_json_values {
    struct mq_json_value *items;
    size_t count, capacity;
};

/* All zero: empty. */
struct mq_json_tree {
    struct mq_json_value root;     /* an object */
    struct mq_json_values values;  /* items of lists that were read to their end */
    struct mq_json_values pending; /* used while reading */
    struct mq_buffer text;         /* texts that had escapes */
};

/* Reads `json`, which has to be an object; empty text is an object without members. The values
 * point into `json`, which the caller keeps, and into the tree. MQ_MESSAGE, with `field`: another
 * text, invalid UTF-8, a NUL, two members of an object with the same name, deeper nesting than
 * MQ_JSON_DEPTH, more values than MQ_JSON_VALUES; the tree is empty then. */
enum mq_status mq_json_tree_read(struct mq_json_tree *tree, struct mq_str json, const char *field,
                                 struct mq_error *err);
void mq_json_tree_clear(struct mq_json_tree *tree);

/* The values in `of`, a list or an object of the tree: `of->count` of them. The members of an
 * object are in the order of their names. */
const struct mq_json_value *mq_json_item(const struct mq_json_tree *tree,
                                         const struct mq_json_value *of, size_t i);
/* The member of an object, or NULL. */
const struct mq_json_value *mq_json_member(const struct mq_json_tree *tree,
                                           const struct mq_json_value *of, struct mq_str key);

#endif
