/* The methods for suppressions. */
#include "stubs/mailqueue_methods.h"

#include <stdlib.h>
#include <time.h>

#include "db/value.h"
#include "mime/idn.h"
#include "mime/unsubscribe.h"
#include "php/class/classes.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "queue/manage.h"
#include "queue/suppress/suppress.h"

#define LIST_MAX 10000

static void suppress(zval *object, const struct mq_suppression *one, zval *return_value)
{
    int64_t added = 0;
    struct mq_error err;
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue && mq_php_queue_ok(object, mq_queue_suppress(queue, one, 1, &added, &err), &err)) {
        RETVAL_BOOL(added > 0);
    }
}

ZEND_METHOD(MailQueue, suppress)
{
    zend_string *address, *reason = NULL, *scope = NULL, *source = NULL;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "S|SS!S!", &address, &reason, &scope, &source) ==
        FAILURE) {
        RETURN_THROWS();
    }
    const struct mq_suppression one = {.address = mq_php_str(address),
                                       .scope = mq_php_str(scope),
                                       .reason = reason ? mq_php_str(reason) : MQ_STR("manual"),
                                       .source = mq_php_str(source)};
    suppress(ZEND_THIS, &one, return_value);
}

static void unsuppress(zval *object, const struct mq_suppressed *which, zval *return_value)
{
    int64_t removed = 0;
    struct mq_error err;
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue && mq_php_queue_ok(object, mq_queue_unsuppress(queue, which, &removed, &err), &err)) {
        RETVAL_LONG((zend_long)removed);
    }
}

ZEND_METHOD(MailQueue, unsuppress)
{
    zend_string *address, *scope = NULL, *reason = NULL;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "S|S!S!", &address, &scope, &reason) == FAILURE) {
        RETURN_THROWS();
    }
    const struct mq_suppressed which = {
        .address = mq_php_str(address), .scope = mq_php_str(scope), .reason = mq_php_str(reason)};
    unsuppress(ZEND_THIS, &which, return_value);
}

/* ---- lists ---- */

static void add_text(zval *row, const char *key, struct mq_value value)
{
    if (value.type == MQ_NULL) {
        add_assoc_null(row, key);
    } else {
        add_assoc_stringl(row, key, value.s.data, value.s.len);
    }
}

static void add_number(zval *row, const char *key, struct mq_value value)
{
    int64_t number = 0;
    mq_value_int(value, &number);
    add_assoc_long(row, key, (zend_long)number);
}

/* In the order of MQ_SUPPRESSED_COLUMNS. */
static void add_row(void *context, const struct mq_value *values, int count)
{
    zval row;
    (void)count;
    array_init_size(&row, MQ_SUPPRESSED_COLUMNS);
    add_number(&row, "id", values[0]);
    add_text(&row, "address", values[1]);
    add_text(&row, "scope", values[2].s.len ? values[2] : mq_null());
    add_text(&row, "reason", values[3]);
    add_text(&row, "source", values[4]);
    add_number(&row, "createdAt", values[5]);
    zend_hash_next_index_insert(Z_ARRVAL_P((zval *)context), &row);
}

static void list(zval *object, const struct mq_suppressed *which, zval *return_value)
{
    struct mq_error err;
    const struct mq_reader reader = {add_row, return_value};
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue == NULL) {
        return;
    }
    array_init(return_value);
    mq_php_queue_ok(object, mq_queue_suppressions(queue, which, &reader, &err), &err);
}

ZEND_METHOD(MailQueue, suppression)
{
    zend_string *address;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(address)
    ZEND_PARSE_PARAMETERS_END();

    const struct mq_suppressed which = {.address = mq_php_str(address), .limit = LIST_MAX};
    list(ZEND_THIS, &which, return_value);
}

ZEND_METHOD(MailQueue, suppressions)
{
    zend_long limit = 50, after = 0;
    zend_string *scope = NULL, *reason = NULL;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "|llS!S!", &limit, &after, &scope, &reason) ==
        FAILURE) {
        RETURN_THROWS();
    }

    const struct mq_suppressed which = {.scope = mq_php_str(scope),
                                        .reason = mq_php_str(reason),
                                        .after = after,
                                        .limit = (int)limit};
    if (mq_php_check_range(1, limit, 1, LIST_MAX, "")) {
        list(ZEND_THIS, &which, return_value);
    }
}

/* ---- links ---- */

static enum mq_status make_url(struct mq_queue *queue, struct mq_str url,
                               struct mq_unsubscribe *who, struct mq_buffer *out,
                               struct mq_error *err)
{
    char *plain = NULL;
    MQ_TRY(mq_unsubscribe_check(url, "url", err));
    const unsigned char *key = mq_queue_suppression_key(queue, err);
    MQ_TRY(key ? mq_idn_address(who->address, "address", &plain, err) : err->status);
    who->address = mq_str_of(plain);
    mq_unsubscribe_url(key + MQ_SUPPRESSION_KEY - MQ_UNSUBSCRIBE_KEY, url, who, out);
    free(plain);
    return out->failed ? mq_error_nomem(err) : MQ_OK;
}

static void show_url(zval *object, struct mq_str url, struct mq_unsubscribe *who,
                     zval *return_value)
{
    struct mq_buffer out = {0};
    struct mq_error err;
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue && mq_php_queue_ok(object, make_url(queue, url, who, &out, &err), &err)) {
        RETVAL_STRINGL(out.data, out.len);
    }
    mq_buffer_clear(&out);
}

ZEND_METHOD(MailQueue, unsubscribeUrl)
{
    zend_string *address, *list_name, *url;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "SPS", &address, &list_name, &url) == FAILURE) {
        RETURN_THROWS();
    }
    zend_string *scope = strpprintf(0, MQ_SCOPE_OF_LIST "%s", ZSTR_VAL(list_name));
    struct mq_unsubscribe who = {mq_php_str(scope), mq_php_str(address), time(NULL)};
    show_url(ZEND_THIS, mq_php_str(url), &who, return_value);
    zend_string_release(scope);
}

/* ---- for the command line ---- */

/* Reads [address, reason, ?scope, ?source, created_at]. */
static bool read_row(zval *row, struct mq_suppression *out)
{
    zval *cell[5];
    for (uint32_t i = 0; i < 5; i++) {
        cell[i] = Z_TYPE_P(row) == IS_ARRAY ? zend_hash_index_find(Z_ARRVAL_P(row), i) : NULL;
        if (cell[i] == NULL) {
            return false;
        }
        ZVAL_DEREF(cell[i]);
    }
    bool ok = Z_TYPE_P(cell[0]) == IS_STRING && Z_TYPE_P(cell[1]) == IS_STRING &&
              Z_TYPE_P(cell[4]) == IS_LONG;
    if (ok) {
        *out = (struct mq_suppression){.address = mq_php_str(Z_STR_P(cell[0])),
                                       .reason = mq_php_str(Z_STR_P(cell[1])),
                                       .created_at = Z_LVAL_P(cell[4])};
        out->scope = Z_TYPE_P(cell[2]) == IS_STRING ? mq_php_str(Z_STR_P(cell[2])) : out->scope;
        out->source = Z_TYPE_P(cell[3]) == IS_STRING ? mq_php_str(Z_STR_P(cell[3])) : out->source;
    }
    return ok;
}

/* Reads all rows. False with an exception. */
static bool read_rows(HashTable *rows, struct mq_suppression *out)
{
    zval *row;
    ZEND_HASH_FOREACH_VAL (rows, row) {
        ZVAL_DEREF(row);
        *out = (struct mq_suppression){.created_at = 0};
        if (!read_row(row, out++)) {
            zend_argument_type_error(2, "must be a list of rows");
            return false;
        }
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

static void suppress_rows(zval *object, HashTable *rows, bool dry, zval *return_value)
{
    size_t count = zend_hash_num_elements(rows);
    int64_t added = 0;
    struct mq_error err;
    struct mq_suppression *items = safe_emalloc(count + 1, sizeof *items, 0);
    struct mq_queue *queue = read_rows(rows, items) ? mq_php_queue_use(object) : NULL;
    if (queue) {
        enum mq_status status = dry ? mq_queue_would_suppress(queue, items, count, &added, &err)
                                    : mq_queue_suppress(queue, items, count, &added, &err);
        if (mq_php_queue_ok(object, status, &err)) {
            RETVAL_LONG((zend_long)added);
        }
    }
    efree(items);
}

ZEND_METHOD(MailQueue_Internal, suppressMany)
{
    zval *object;
    HashTable *rows;
    bool dry = false;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "Oh|b", &object, mq_ce_queue, &rows, &dry) ==
        FAILURE) {
        RETURN_THROWS();
    }
    suppress_rows(object, rows, dry, return_value);
}

static void forget(zval *object, struct mq_str address, zval *return_value)
{
    int64_t forgotten = 0;
    struct mq_error err;
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue) {
        enum mq_status status = mq_queue_forget_suppressed(queue, address, &forgotten, &err);
        if (mq_php_queue_ok(object, status, &err)) {
            RETVAL_LONG((zend_long)forgotten);
        }
    }
}

ZEND_METHOD(MailQueue_Internal, forgetSuppressed)
{
    zval *object;
    zend_string *address;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "OS", &object, mq_ce_queue, &address) == FAILURE) {
        RETURN_THROWS();
    }
    forget(object, mq_php_str(address), return_value);
}
