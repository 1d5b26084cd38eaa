/* The fields of an array message, taken out of it: what array.c, address_fields.c and attachments.c
 * share. */
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
    struct mq_compose_address *addresses[5]; /* by the address fields in their order */
    zend_string *message_id;                 /* with its brackets; NULL: not given */
    int64_t date_s;
    bool date_given;
    /* What the views and names above point into: PHP code may change the array meanwhile. */
    zend_string **kept;
    size_t kept_count, kept_capacity;
};

/* What is being read, as errors name it: "to", "to[3]". */
struct mq_php_path {
    struct mq_php_fields *fields;
    const char *field;
};

/* "<field>: must be <wanted>, int given" */
enum mq_status mq_php_wrong_type(const char *field, const char *wanted, const zval *value,
                                 struct mq_error *err);

/* Takes over a reference to a string. */
struct mq_str mq_php_fields_keep(struct mq_php_fields *fields, zend_string *s);
/* The element with this key of what is at `place`: "to[3]", "inline[logo]". */
struct mq_php_path mq_php_path_of(struct mq_php_path place, zend_ulong index, zend_string *key);

/* Room for one more of `size` bytes, zeroed, in *items, which has `count` of them. */
void *mq_php_fields_grow(void *items, size_t count, size_t size);

static inline bool mq_php_key_is(const zend_string *key, const char *name)
{
    return mq_str_equal((struct mq_str){ZSTR_VAL(key), ZSTR_LEN(key)}, mq_str_of(name));
}

bool mq_php_is_text(const zval *value); /* a string or a Stringable */
/* The text of a string or Stringable; MQ_THROWN, or MQ_MESSAGE. `value` is dereferenced, and its
 * owner holds it meanwhile. */
enum mq_status mq_php_read_text(struct mq_php_path place, const zval *value, struct mq_str *out,
                                struct mq_error *err);
/* The same of an element's `key`, for errors in its type: "attachments[2][name]". */
enum mq_status mq_php_read_member(struct mq_php_path place, const zval *value, const char *key,
                                  struct mq_str *out, struct mq_error *err);
/* A copy of array[key] behind its reference; undefined where it is missing or null. */
void mq_php_fields_find(HashTable *array, const char *key, zval *copy);

/* MQ_MESSAGE for a key that is none of `known`: with `field`, or with the key when it is NULL. */
enum mq_status mq_php_fields_unknown_key(const char *field, zend_string *key,
                                         const char *const *known, size_t count,
                                         struct mq_error *err);

/* address_fields.c: a string, or an array of them and of names. *items is request memory. */
enum mq_status mq_php_read_addresses(struct mq_php_path place, const zval *value,
                                     struct mq_compose_address **items, size_t *count,
                                     struct mq_error *err);

/* media_type.c: the type of an attachment with this name and content, of which `content` may be
 * only the beginning. A new string. */
zend_string *mq_php_media_type(struct mq_str name, struct mq_str content, bool whole);

/* attachments.c: "attachments" or, with `shown`, "inline". */
enum mq_status mq_php_read_parts(struct mq_php_path place, bool shown, const zval *value,
                                 struct mq_error *err);

#endif
