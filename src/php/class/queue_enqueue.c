/* MailQueue::enqueue(), enqueueMany() and envelope(). */
#include "stubs/mailqueue_methods.h"

#include "ext/date/php_date.h"

#include "core/clock.h"
#include "mime/wire/envelope.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/message/given_message.h"
#include "php/message/holder.h"
#include "php/message/mail.h"
#include "php/stale.h"
#include "php_mailqueue.h"
#include "queue/queue.h"

/* enqueueMany() stores up to CHUNK mails in a transaction, or fewer if they reach CHUNK_OCTETS
 * octets. */
#define CHUNK        100
#define CHUNK_OCTETS (16 * 1024 * 1024)

enum argument { ARG_MESSAGE = 1, ARG_SEND_AT = 5, ARG_EXPIRES_AT = 6 };

/* Reads a message. Like PHP for arguments, it turns numbers into strings. Errors name `types`. */
static bool read_message(zval *value, const char *types, zval *out)
{
    struct mq_error err;
    zend_string *text = NULL;
    zval converted;
    if (Z_TYPE_P(value) == IS_ARRAY || mq_php_is_message_object(value)) {
        return mq_php_ok(mq_php_message_read(value, out, &err), &err);
    }
    if (Z_TYPE_P(value) == IS_OBJECT || !zend_parse_arg_str(value, &text, false, ARG_MESSAGE)) {
        if (!EG(exception)) {
            zend_argument_type_error(ARG_MESSAGE, "must be %s, %s given", types,
                                     zend_zval_type_name(value));
        }
        return false;
    }
    ZVAL_STR(&converted, text);
    return mq_php_ok(mq_php_message_read(&converted, out, &err), &err);
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
    mq_php_set_int(&value, !time->is_null, time->seconds);
    if (time->object) {
        ZVAL_OBJ(&value, time->object);
    }
    return mq_php_ok(mq_php_time_of(&value, name, out, given, &err), &err);
}

/* Stores a mail and returns its id, or null if its reference and type are queued already. */
static void store(zval *object, const struct mq_php_arguments *args, zval *return_value)
{
    struct mq_error err;
    int64_t id = 0;
    struct mq_queue *queue = mq_php_is_leaving() ? NULL : mq_php_queue_opened(object);
    if (queue == NULL) {
        return;
    }
    enum mq_status status = mq_php_mail_store(queue, args, &id, &err);
    if (mq_php_queue_ok(object, status, &err)) {
        mq_php_stale_look(object, queue);
        if (id != 0) {
            RETVAL_LONG((zend_long)id);
        }
    }
}

/* Arguments that are not converted yet; NULL: not given. */
struct parameters {
    zval *message, *recipients, *dsn;
    struct time_argument send_at, expires_at;
};

/* Completes `args`: takes references to its strings and converts the rest. False with an
 * exception. */
static bool convert(const struct parameters *given, struct mq_php_arguments *args)
{
    struct mq_error err;
    bool is_set;
    zend_string *const texts[] = {args->reference, args->type, args->envelope_from, args->relay,
                                  args->list};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i]) {
            zend_string_addref(texts[i]);
        }
    }
    return (given->message == NULL || Z_TYPE_P(given->message) == IS_NULL ||
            read_message(given->message, MQ_PHP_MESSAGE_TYPES, &args->message)) &&
           (given->recipients == NULL ||
            mq_php_ok(mq_php_arguments_recipients(args, given->recipients, &err), &err)) &&
           (given->dsn == NULL || mq_php_ok(mq_php_arguments_dsn(args, given->dsn, &err), &err)) &&
           parse_time(&given->send_at, "sendAt", &args->send_at, &is_set) &&
           parse_time(&given->expires_at, "expiresAt", &args->expires_at, &args->expires);
}

ZEND_METHOD(MailQueue, enqueue)
{
    struct mq_php_arguments args = {0};
    struct parameters given = {.send_at.is_null = true, .expires_at.is_null = true};
    bool no_maximum = true;

    ZEND_PARSE_PARAMETERS_START(0, 12)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(given.message)
        Z_PARAM_STR_OR_NULL(args.reference)
        Z_PARAM_STR(args.type)
        Z_PARAM_LONG(args.priority)
        Z_PARAM_OBJ_OF_CLASS_OR_LONG_OR_NULL(given.send_at.object, php_date_get_interface_ce(),
                                             given.send_at.seconds, given.send_at.is_null)
        Z_PARAM_OBJ_OF_CLASS_OR_LONG_OR_NULL(given.expires_at.object, php_date_get_interface_ce(),
                                             given.expires_at.seconds, given.expires_at.is_null)
        Z_PARAM_LONG_OR_NULL(args.max_attempts, no_maximum)
        Z_PARAM_STR_OR_NULL(args.envelope_from)
        Z_PARAM_ARRAY_OR_NULL(given.recipients)
        Z_PARAM_ARRAY_OR_NULL(given.dsn)
        Z_PARAM_STR_OR_NULL(args.relay)
        Z_PARAM_STR_OR_NULL(args.list)
    ZEND_PARSE_PARAMETERS_END();

    args.max_attempts_given = !no_maximum;
    if (convert(&given, &args)) {
        store(ZEND_THIS, &args, return_value);
    }
    mq_php_arguments_clear(&args);
}

/* ---- enqueueMany() ---- */

/* The mails of one transaction. A holder frees them if PHP code ends the request between mails. */
struct chunk {
    zval *object;
    size_t before;  /* mails of earlier chunks, all of them stored */
    int64_t stored; /* how many of them were new */
    enum mq_status status;
    struct mq_error err;
    size_t count;
    size_t octets;
    struct mq_php_arguments args[CHUNK];
    struct mq_php_mail mails[CHUNK];
    struct mq_new_job jobs[CHUNK];
};

static void clear_chunk(void *data)
{
    struct chunk *chunk = data;
    for (size_t i = 0; i < chunk->count; i++) {
        mq_php_mail_clear(&chunk->mails[i]);
        mq_php_arguments_clear(&chunk->args[i]);
    }
    chunk->count = chunk->octets = 0;
}

/* Composes the mail before the next one is read, so that only one message has its files open. */
static enum mq_status add_mail(struct chunk *chunk, zval *item)
{
    struct mq_php_arguments *args = &chunk->args[chunk->count];
    struct mq_php_mail *mail = &chunk->mails[chunk->count];
    struct mq_clock clock = mq_clock_system();
    chunk->count++;
    if (Z_TYPE_P(item) != IS_ARRAY) {
        return mq_error_set(&chunk->err, MQ_MESSAGE, "messages",
                            "must be an array keyed by the names of enqueue()'s parameters, "
                            "%s given",
                            zend_zval_type_name(item));
    }
    MQ_TRY(mq_php_arguments_read(args, Z_ARRVAL_P(item), &chunk->err));
    if (mq_php_arguments_name_list(args)) {
        struct mq_queue *queue = mq_php_queue_opened(chunk->object);
        MQ_TRY(queue ? mq_php_mail_key(mail, args, queue, &chunk->err) : MQ_THROWN);
    }
    MQ_TRY(mq_php_mail_prepare(mail, args, mq_clock_now_s(&clock), &chunk->err));
    chunk->jobs[chunk->count - 1] = mail->job;
    chunk->octets += mail->body.len;
    mq_php_arguments_drop_message(args);
    return MQ_OK;
}

static bool store_chunk(struct chunk *chunk)
{
    int64_t ids[CHUNK];
    struct mq_queue *queue = mq_php_queue_opened(chunk->object);
    chunk->status =
        queue ? mq_queue_enqueue(queue, chunk->jobs, chunk->count, ids, &chunk->err) : MQ_THROWN;
    for (size_t i = 0; i < chunk->count && chunk->status == MQ_OK; i++) {
        chunk->stored += ids[i] > 0;
    }
    if (chunk->status == MQ_OK) {
        chunk->before += chunk->count;
        mq_php_stale_look(chunk->object, queue);
    }
    clear_chunk(chunk);
    return chunk->status == MQ_OK;
}

static bool take_mail(void *context, zval *item)
{
    struct chunk *chunk = context;
    struct mq_error *err = &chunk->err;
    size_t number = chunk->before + chunk->count;
    chunk->status = add_mail(chunk, item);
    if (chunk->status == MQ_MESSAGE || chunk->status == MQ_INVALID) {
        mq_error_set(err, chunk->status, err->field, "message %zu: %s", number, err->text);
    }
    bool is_full = chunk->count == CHUNK || chunk->octets >= CHUNK_OCTETS;
    return chunk->status == MQ_OK && !mq_php_is_leaving() && (!is_full || store_chunk(chunk)) &&
           !mq_php_is_leaving();
}

/* The error, with the number of mails that are stored all the same: in the application's
 * transaction, if it has begun one. */
static struct mq_error error_of(const struct chunk *chunk)
{
    struct mq_error err = chunk->err;
    bool kept = chunk->before > 0 && !MAILQUEUE_G(pdo_undone); /* else they are gone, too */
    if (chunk->status != MQ_OK && chunk->status != MQ_THROWN && kept) {
        mq_error_set(&err, chunk->status, err.field,
                     "%.560s; the first %zu mails were stored before", err.text, chunk->before);
    }
    return err;
}

ZEND_METHOD(MailQueue, enqueueMany)
{
    zval *messages, holder;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ITERABLE(messages)
    ZEND_PARSE_PARAMETERS_END();

    struct chunk *chunk = mq_php_holder_new(&holder, sizeof *chunk, clear_chunk);
    chunk->object = ZEND_THIS;
    mq_php_each(messages, take_mail, chunk);
    if (chunk->status == MQ_OK && chunk->count > 0 && !mq_php_is_leaving()) {
        store_chunk(chunk);
    }
    const struct mq_error err = error_of(chunk);
    enum mq_status status = chunk->status;
    int64_t stored = chunk->stored;
    zval_ptr_dtor(&holder);
    if (mq_php_queue_ok(ZEND_THIS, status, &err) && !EG(exception)) {
        RETVAL_LONG((zend_long)stored);
    }
}

/* ---- envelope() ---- */

static void clear_envelope(void *envelope)
{
    mq_envelope_clear(envelope);
}

static void show_envelope(const struct mq_envelope *envelope, zval *out)
{
    zval list;
    array_init_size(out, 2);
    mq_php_add_text(out, "from", envelope->from);
    mq_php_set_list(&list, &envelope->recipients);
    add_assoc_zval(out, "recipients", &list);
}

static enum mq_status find_envelope(const struct mq_php_message *message, struct mq_envelope *out,
                                    struct mq_error *err)
{
    MQ_TRY(mq_php_message_sender(message, &out->from, err));
    return mq_php_message_recipients(message, &out->recipients, err);
}

ZEND_METHOD(MailQueue, envelope)
{
    zval *argument, message, holder;
    struct mq_error err;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(argument)
    ZEND_PARSE_PARAMETERS_END();

    /* Refuses an array, whose fields give the envelope. */
    const char *types = "a string or an object with toString() or __toString()";
    if (Z_TYPE_P(argument) == IS_ARRAY) {
        zend_argument_type_error(ARG_MESSAGE, "must be %s, array given", types);
        RETURN_THROWS();
    }
    if (!read_message(argument, types, &message)) {
        return; /* not RETURN_THROWS(): at the memory limit there may be no exception */
    }
    struct mq_envelope *found = mq_php_holder_new(&holder, sizeof *found, clear_envelope);
    if (mq_php_ok(find_envelope(mq_php_message_of(&message), found, &err), &err)) {
        show_envelope(found, return_value);
    }
    zval_ptr_dtor(&holder);
    zval_ptr_dtor(&message);
}
