/* The fields of an array message, taken out of it: what array.c and attachments.c share. */
#ifndef MQ_PHP_MESSAGE_FIELDS_H
#define MQ_PHP_MESSAGE_FIELDS_H

#include "php.h"

#include "core/buffer.h"
#include "core/error.h"
#include "mime/compose/composer.h"

#define MQ_PHP_RECIPIENTS_MAX 10000

/* Its memory is the request's, but for descriptors and the contents of streams. */
struct mq_php_fields {
    struct mq_compose_fields compose; /* without message_id, date_s and max_size */
    struct mq_compose_header *headers;
    struct mq_compose_part *parts;
    struct mq_str *unsubscribe;
    struct mq_buffer *contents; /* of streams */
    size_t content_count;
    zend_string *message_id; /* with its brackets; NULL: not given */
    int64_t date_s;
    bool date_given;
    zval given; /* the array, as mq_php_plain() copies it: the views above point into it */
    zval kept;  /* an array of strings: what they point into besides */
};

/* A place in the array. */
struct mq_php_path {
    struct mq_php_fields *fields;
    const char *field;      /* as errors name it: "to", "to[3]" */
    void *target;           /* what is filled */
    const zend_string *key; /* of an element; NULL: it has none */
};
/* Reads what is there. */
typedef enum mq_status mq_php_reader(struct mq_php_path place, const zval *value,
                                     struct mq_error *err);

/* A copy without references, with texts in place of Stringables. PHP code runs here, so that none
 * runs, and nothing changes, while the copy is read. Files (SplFileInfo) and dates stay objects.
 * *out is undefined on failure: MQ_THROWN. */
enum mq_status mq_php_plain(const zval *value, zval *out);

/* "<field>: must be <wanted>, int given" */
enum mq_status mq_php_wrong_type(const char *field, const char *wanted, const zval *value,
                                 struct mq_error *err);

/* Takes over a reference to a string. */
struct mq_str mq_php_fields_keep(struct mq_php_fields *fields, zend_string *s);
/* Zeroed memory that lives as long as the fields. */
void *mq_php_fields_alloc(struct mq_php_fields *fields, size_t count, size_t size);
/* Room for one more of `size` bytes, zeroed, in *items, which has `count` of them. */
void *mq_php_fields_grow(struct mq_php_fields *fields, void *items, size_t count, size_t size);

/* Reads each element of an array: "to[3]", "inline[logo]". */
enum mq_status mq_php_read_each(struct mq_php_path place, const zval *array, mq_php_reader *read,
                                struct mq_error *err);
/* The same, or what is not an array itself. */
enum mq_status mq_php_read_one_or_each(struct mq_php_path place, const zval *value,
                                       mq_php_reader *read, struct mq_error *err);

/* NULL gives an empty view. */
static inline struct mq_str mq_php_view(const zend_string *s)
{
    return s ? (struct mq_str){ZSTR_VAL(s), ZSTR_LEN(s)} : (struct mq_str){NULL, 0};
}

bool mq_php_is_text(const zval *value); /* a string or a Stringable */
/* A string into the struct mq_str that is the target. */
mq_php_reader mq_php_read_text;
/* The string array[key] into *out, which is left alone where it is missing or null; errors in its
 * type name "attachments[2][name]". */
enum mq_status mq_php_read_member(struct mq_php_path place, HashTable *array, const char *key,
                                  struct mq_str *out, struct mq_error *err);
/* array[key]; NULL where it is missing or null. */
zval *mq_php_fields_find(HashTable *array, const char *key);

/* MQ_MESSAGE for a key that is none of `known`, or for a number. `field` is NULL where the keys are
 * fields themselves. */
enum mq_status mq_php_check_keys(const char *field, HashTable *array, const char *const *known,
                                 size_t count, struct mq_error *err);

/* attachments.c */
mq_php_reader mq_php_read_attachments;
mq_php_reader mq_php_read_inline;

#endif
