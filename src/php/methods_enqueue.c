/* MailQueue::enqueue() and MailQueue::enqueueMany(). */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/methods.h"

#include "ext/date/php_date.h"
#include "zend_interfaces.h"

#include "php/exceptions.h"
#include "php/iterate.h"
#include "php/mail.h"
#include "php/queue_object.h"

#define CHUNK 100 /* mails in a transaction of enqueueMany() */

enum argument { ARG_MESSAGE = 1, ARG_SEND_AT = 5, ARG_EXPIRES_AT = 6 };

/* array|string|Stringable|null, as PHP itself converts arguments. */
static bool parse_message(zval *value, struct mq_php_mail_args *args)
{
    struct mq_error err;
    zend_string *text = NULL;
    bool stringable =
        Z_TYPE_P(value) == IS_OBJECT && instanceof_function(Z_OBJCE_P(value), zend_ce_stringable);
    if (Z_TYPE_P(value) <= IS_NULL || Z_TYPE_P(value) == IS_ARRAY || stringable) {
        return mq_php_ok(mq_php_mail_set_message(args, value, &err), &err);
    }
    if (Z_TYPE_P(value) == IS_OBJECT || !zend_parse_arg_str(value, &text, false, ARG_MESSAGE)) {
        if (!EG(exception)) {
            zend_argument_type_error(ARG_MESSAGE,
                                     "must be of type Stringable|array|string|null, %s given",
                                     zend_zval_type_name(value));
        }
        return false;
    }
    ZVAL_STR_COPY(&args->message, text);
    return true;
}

/* A parameter of type DateTimeInterface|int|null. */
struct time_argument {
    zend_object *object;
    zend_long seconds;
    bool is_null;
};

static bool parse_time(const struct time_argument *time, const char *name, int64_t *out,
                       bool *given)
{
    struct mq_error err;
    zval value;
    if (time->object) {
        ZVAL_OBJ(&value, time->object);
    } else if (time->is_null) {
        ZVAL_NULL(&value);
    } else {
        ZVAL_LONG(&value, time->seconds);
    }
    return mq_php_ok(mq_php_time_of(&value, name, out, given, &err), &err);
}

/* Null where the pair is queued already. */
static void store(zval *object, const struct mq_php_mail_args *args, zval *return_value)
{
    struct mq_php_mail mail;
    struct mq_error err;
    int64_t id = 0;
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue == NULL) {
        return;
    }
    const struct mq_clock *clock = mq_queue_clock(queue);
    mq_php_mail_init(&mail);
    enum mq_status status = mq_php_mail_prepare(&mail, args, clock->now_s(clock->context), &err);
    if (status == MQ_OK) {
        status = mq_queue_enqueue(queue, &mail.job, &id, &err);
    }
    mq_php_mail_clear(&mail);
    if (mq_php_queue_ok(object, status, &err) && id != 0) {
        RETVAL_LONG((zend_long)id);
    }
}

ZEND_METHOD(MailQueue, enqueue)
{
    struct mq_php_mail_args args;
    struct time_argument send_at = {NULL, 0, true}, expires_at = {NULL, 0, true};
    zval *message = NULL, *recipients = NULL;
    zend_string *reference = NULL, *type = NULL, *envelope_from = NULL;
    zend_long priority = 0, max_attempts = 0;
    bool max_attempts_null = true, send_given;

    ZEND_PARSE_PARAMETERS_START(0, 9)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(message)
        Z_PARAM_STR_OR_NULL(reference)
        Z_PARAM_STR(type)
        Z_PARAM_LONG(priority)
        Z_PARAM_OBJ_OF_CLASS_OR_LONG_OR_NULL(send_at.object, php_date_get_interface_ce(),
                                             send_at.seconds, send_at.is_null)
        Z_PARAM_OBJ_OF_CLASS_OR_LONG_OR_NULL(expires_at.object, php_date_get_interface_ce(),
                                             expires_at.seconds, expires_at.is_null)
        Z_PARAM_LONG_OR_NULL(max_attempts, max_attempts_null)
        Z_PARAM_STR_OR_NULL(envelope_from)
        Z_PARAM_ARRAY_OR_NULL(recipients)
    ZEND_PARSE_PARAMETERS_END();

    mq_php_mail_args_init(&args);
    args.reference = reference ? zend_string_copy(reference) : NULL;
    args.type = type ? zend_string_copy(type) : NULL;
    args.priority = priority;
    args.max_attempts = max_attempts;
    args.max_attempts_given = !max_attempts_null;
    args.envelope_from = envelope_from ? zend_string_copy(envelope_from) : NULL;
    if (recipients) {
        ZVAL_COPY(&args.recipients, recipients);
    }
    if ((message == NULL || parse_message(message, &args)) &&
        parse_time(&send_at, "sendAt", &args.send_at, &send_given) &&
        parse_time(&expires_at, "expiresAt", &args.expires_at, &args.expires)) {
        store(ZEND_THIS, &args, return_value);
    }
    mq_php_mail_args_clear(&args);
}

/* ---- enqueueMany() ---- */

/* In request memory, but for the mails while they are stored: no PHP code runs meanwhile. */
struct chunk {
    size_t first; /* number of its first mail, from 0 */
    size_t count;
    struct mq_php_mail_args args[CHUNK];
    struct mq_php_mail mails[CHUNK];
    struct mq_new_job jobs[CHUNK];
};

/* Says which of the messages it is about. */
static enum mq_status number_error(enum mq_status status, size_t number, struct mq_error *err)
{
    if (status == MQ_MESSAGE || status == MQ_INVALID) {
        mq_error_set(err, status, err->field, "message %zu: %s", number, err->text);
    }
    return status;
}

static enum mq_status pull_one(struct chunk *chunk, zval *item, struct mq_error *err)
{
    struct mq_php_mail_args *args = &chunk->args[chunk->count];
    enum mq_status status;
    mq_php_mail_args_init(args);
    if (Z_TYPE_P(item) == IS_ARRAY) {
        status = mq_php_mail_from_array(args, Z_ARRVAL_P(item), err);
    } else {
        status = mq_error_set(err, MQ_MESSAGE, "messages",
                              "must be an array keyed by the names of enqueue()'s parameters, "
                              "%s given",
                              zend_zval_type_name(item));
    }
    chunk->count++;
    return number_error(status, chunk->first + chunk->count - 1, err);
}

static enum mq_status pull(struct chunk *chunk, struct mq_php_iterator *messages,
                           struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    while (status == MQ_OK && chunk->count < CHUNK) {
        zval item;
        bool more = false;
        status = mq_php_iterator_next(messages, &item, &more);
        if (status != MQ_OK || !more) {
            break;
        }
        status = pull_one(chunk, &item, err);
        zval_ptr_dtor(&item);
    }
    return status;
}

static enum mq_status store_chunk(zval *object, struct chunk *chunk, int64_t *stored,
                                  struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    int64_t added = 0;
    size_t prepared = 0;
    struct mq_queue *queue = mq_php_queue_use(object);
    if (queue == NULL) {
        return MQ_THROWN;
    }
    const struct mq_clock *clock = mq_queue_clock(queue);
    int64_t now_s = clock->now_s(clock->context);
    while (status == MQ_OK && prepared < chunk->count) {
        struct mq_php_mail *mail = &chunk->mails[prepared];
        mq_php_mail_init(mail);
        status = number_error(mq_php_mail_prepare(mail, &chunk->args[prepared], now_s, err),
                              chunk->first + prepared, err);
        chunk->jobs[prepared] = mail->job;
        prepared++;
    }
    if (status == MQ_OK) {
        status = mq_queue_enqueue_many(queue, chunk->jobs, chunk->count, &added, err);
    }
    for (size_t i = 0; i < prepared; i++) {
        mq_php_mail_clear(&chunk->mails[i]);
    }
    *stored += added;
    return status;
}

static void clear_chunk(struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i++) {
        mq_php_mail_args_clear(&chunk->args[i]);
    }
    chunk->first += chunk->count;
    chunk->count = 0;
}

ZEND_METHOD(MailQueue, enqueueMany)
{
    zval *messages;
    struct mq_php_iterator iterator;
    struct mq_error err;
    int64_t stored = 0;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ITERABLE(messages)
    ZEND_PARSE_PARAMETERS_END();

    if (!mq_php_iterator_begin(&iterator, messages)) {
        RETURN_THROWS();
    }
    struct chunk *chunk = emalloc(sizeof *chunk);
    enum mq_status status;
    bool more;
    chunk->first = 0;
    chunk->count = 0;
    do {
        status = pull(chunk, &iterator, &err);
        more = chunk->count == CHUNK;
        if (status == MQ_OK && chunk->count > 0) {
            status = store_chunk(ZEND_THIS, chunk, &stored, &err);
        }
        clear_chunk(chunk);
    } while (status == MQ_OK && more && !EG(exception));
    efree(chunk);
    mq_php_iterator_end(&iterator);
    if (mq_php_queue_ok(ZEND_THIS, status, &err)) {
        RETVAL_LONG((zend_long)stored);
    }
}
