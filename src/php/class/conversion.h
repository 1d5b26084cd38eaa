/* Converts values from and to PHP. A text or a number that is missing is null. */
#ifndef MQ_PHP_CLASS_CONVERSION_H
#define MQ_PHP_CLASS_CONVERSION_H

#include "php.h"

#include "core/buffer.h"
#include "core/error.h"

/* A view of the string; NULL gives one without data. */
static inline struct mq_str mq_php_str(const zend_string *s)
{
    return s ? (struct mq_str){ZSTR_VAL(s), ZSTR_LEN(s)} : (struct mq_str){NULL, 0};
}

void mq_php_set_text(zval *value, const char *text);
void mq_php_set_int(zval *value, bool given, int64_t number);
void mq_php_set_list(zval *value, const struct mq_strings *list);
void mq_php_add_text(zval *array, const char *key, const char *text);
void mq_php_add_int(zval *array, const char *key, bool given, int64_t number);

/* Copies a list<int> to ids, freed with efree(); NULL with an exception that names the argument. */
int64_t *mq_php_ids_read(uint32_t arg, HashTable *list);

/* Sets *out to the UTC seconds of a DateTimeInterface or an int; *given is false for null.
 * MQ_MESSAGE and MQ_INVALID name the field. MQ_THROWN: PHP code threw. */
enum mq_status mq_php_time_of(zval *value, const char *field, int64_t *out, bool *given,
                              struct mq_error *err);

/* Hands a copy of each value of an array or a Traversable to take(), which may run PHP code, until
 * that returns false or an exception is pending. A generator advances only when that is needed. */
void mq_php_each(zval *iterable, bool (*take)(void *context, zval *value), void *context);

#endif
