/* The fields that are read from an array message; array.c and attachments.c share this. */
#ifndef MQ_PHP_MESSAGE_FIELDS_H
#define MQ_PHP_MESSAGE_FIELDS_H

#include "php.h"

#include "core/buffer.h"
#include "core/error.h"
#include "mime/compose/composer.h"

#define MQ_PHP_RECIPIENTS_MAX 10000

/* All in request memory, except descriptors and the contents of streams. */
struct mq_php_fields {
    struct mq_compose_fields compose; /* without message_id, date_s and max_size */
    struct mq_compose_header *headers;
    struct mq_compose_part *parts;
    struct mq_str *unsubscribe;
    struct mq_str list, list_url; /* unsubscribe as a map; data NULL: not given */
    struct mq_buffer *contents;   /* the contents of streams */
    size_t content_count;
    zend_string *message_id; /* in angle brackets; NULL: not given */
    int64_t date_s;
    bool date_given;
    zval given; /* the copy that mq_php_plain() made; the views above point into it */
    zval kept;  /* an array of strings that the views can point into, too */
};

/* A position in the array, and where its value goes. */
struct mq_php_path {
    struct mq_php_fields *fields;
    const char *field;      /* as errors name it: "to", "to[3]" */
    void *target;           /* the reader writes the value there */
    const zend_string *key; /* the element's key; NULL: a number, or not an element */
};
/* Reads the value at this position into path.target. */
typedef enum mq_status mq_php_reader(struct mq_php_path path, const zval *value,
                                     struct mq_error *err);

/* Makes a copy without references, with strings in place of Stringables. All PHP code of the values
 * runs here, so reading the copy runs none, and nothing changes meanwhile. Files (SplFileInfo) and
 * dates stay objects. *out is undefined on failure: MQ_THROWN. */
enum mq_status mq_php_plain(const zval *value, zval *out);

/* Sets the error "<field>: must be <wanted>, int given" and returns MQ_MESSAGE. */
enum mq_status mq_php_wrong_type(const char *field, const char *wanted, const zval *value,
                                 struct mq_error *err);

/* Keeps a string as long as the fields live, and takes over its reference; returns a view of it. */
struct mq_str mq_php_fields_keep(struct mq_php_fields *fields, zend_string *s);
/* Zeroed memory that lives as long as the fields. */
void *mq_php_fields_alloc(struct mq_php_fields *fields, size_t count, size_t size);
/* Returns `items` (`count` of `size` bytes), perhaps moved, with one more, zeroed. */
void *mq_php_fields_grow(struct mq_php_fields *fields, void *items, size_t count, size_t size);

/* Reads each element of an array: "to[3]", "inline[logo]". */
enum mq_status mq_php_read_each(struct mq_php_path path, const zval *array, mq_php_reader *read,
                                struct mq_error *err);
/* Like mq_php_read_each(), but a value that is not an array is read as one element. */
enum mq_status mq_php_read_one_or_each(struct mq_php_path path, const zval *value,
                                       mq_php_reader *read, struct mq_error *err);

/* MQ_MESSAGE if a mail has more than MQ_PHP_RECIPIENTS_MAX addresses. `where` follows their number
 * in the error's text. */
enum mq_status mq_php_check_count(const char *field, size_t count, const char *where,
                                  struct mq_error *err);

bool mq_php_is_text(const zval *value); /* a string or a Stringable */
/* Reads a string; the target is a struct mq_str. */
mq_php_reader mq_php_read_text;
/* Reads the string array[key] into *out. If it is missing or null, *out is unchanged. An error
 * names the field like "attachments[2][name]". */
enum mq_status mq_php_read_member(struct mq_php_path path, HashTable *array, const char *key,
                                  struct mq_str *out, struct mq_error *err);
/* Copies an array with string keys, and replaces each reference by its value. So PHP code that runs
 * while the copy is read cannot change it. */
void mq_php_copy_values(HashTable *array, zval *out);
/* Returns array[key], or NULL if it is missing or null. */
zval *mq_php_fields_find(HashTable *array, const char *key);

/* MQ_MESSAGE if a key is a number or not in `known`. `field`: NULL if the keys are field names. */
enum mq_status mq_php_check_keys(const char *field, HashTable *array, const char *const *known,
                                 size_t count, struct mq_error *err);

/* attachments.c */
mq_php_reader mq_php_read_attachments;
mq_php_reader mq_php_read_inline;

#endif
