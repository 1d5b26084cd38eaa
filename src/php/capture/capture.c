/* mail() and mb_send_mail(), replaced while the module is loaded: they enqueue where the ini
 * setting says so, and otherwise call PHP's own functions. */
#include "php/capture/capture.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "zend_exceptions.h"

#include "mime/wire/message.h"
#include "php/capture/command_line.h"
#include "php/capture/header_text.h"
#include "php/capture/mb_send_mail.h"
#include "php/capture/recipients_of.h"
#include "php/class/classes.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/message/mail.h"
#include "php_mailqueue.h"
#include "queue/queue.h"

ZEND_INI_MH(mq_php_ini_capture_failure)
{
    const char *value = new_value ? ZSTR_VAL(new_value) : "";
    if (strcasecmp(value, "fail") != 0 && strcasecmp(value, "send") != 0) {
        zend_error(E_WARNING, "mailqueue.capture_failure must be \"fail\" or \"send\"");
        return FAILURE;
    }
    return OnUpdateString(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);
}

static bool sends_what_failed(void)
{
    return strcasecmp(MAILQUEUE_G(capture_failure), "send") == 0;
}

/* ---- storing ---- */

/* The exception that is pending, as an error; MQ_OK where there is none. exit() stays pending. */
static enum mq_status take_exception(struct mq_error *err)
{
    char text[MQ_ERROR_TEXT_MAX];
    if (!EG(exception)) {
        return MQ_OK;
    }
    if (mq_php_exiting()) {
        return MQ_THROWN;
    }
    mq_php_exception_text(text, sizeof text);
    zend_clear_exception();
    return mq_error_set(err, MQ_CONFIG, "mailqueue.database", "%s", text);
}

static void drop_queue(zval *object)
{
    zval dropped;
    ZVAL_COPY_VALUE(&dropped, object);
    ZVAL_UNDEF(object);
    zval_ptr_dtor(&dropped);
}

/* MailQueue::default(), kept for the rest of the request: in a loop of mails, closing the last
 * connection of a database in WAL mode would cost more than all the rest. Within a mail it is that
 * mail's alone: one that a signal handler sends meanwhile opens another. */
static void take_queue(zval *object)
{
    ZVAL_COPY_VALUE(object, &MAILQUEUE_G(capture_queue));
    ZVAL_UNDEF(&MAILQUEUE_G(capture_queue));
}

static void keep_queue(zval *object)
{
    if (Z_ISUNDEF(MAILQUEUE_G(capture_queue))) {
        ZVAL_COPY_VALUE(&MAILQUEUE_G(capture_queue), object);
    } else {
        drop_queue(object);
    }
}

/* Opens it where `object` is undefined. */
static enum mq_status use_queue(zval *object, struct mq_queue **out, struct mq_error *err)
{
    if (Z_ISUNDEF_P(object)) {
        zend_function *open =
            zend_hash_str_find_ptr(&mq_ce_queue->function_table, ZEND_STRL("default"));
        zend_call_known_function(open, NULL, mq_ce_queue, object, 0, NULL, NULL);
    }
    *out = EG(exception) ? NULL : mq_php_queue_use(object);
    return take_exception(err);
}

/* A mail on its way, in request memory. */
struct outgoing {
    struct mq_capture_command command;
    struct mq_capture_sender sender;
    struct mq_php_arguments args; /* the message; no envelope yet */
    zend_string *text;
};

/* Asks for no request memory and runs no PHP code. */
static enum mq_status enqueue(struct mq_queue *queue, const struct outgoing *out,
                              struct mq_error *err)
{
    struct mq_php_mail mail;
    struct mq_envelope envelope;
    int64_t id = 0;
    const struct mq_clock *clock = mq_queue_clock(queue);
    struct mq_str text = {ZSTR_VAL(out->text), ZSTR_LEN(out->text)};
    mq_envelope_init(&envelope);
    mq_php_mail_init(&mail);
    enum mq_status status = mq_capture_envelope(text, &out->command, &out->sender, &envelope, err);
    if (status == MQ_OK) {
        mail.envelope_from = envelope.from;
        mail.recipients = envelope.recipients;
        mq_envelope_init(&envelope);
        status = mq_php_mail_prepare(&mail, &out->args, clock->now_s(clock->context), err);
    }
    if (status == MQ_OK) {
        status = mq_queue_enqueue(queue, &mail.job, &id, err);
    }
    mq_php_mail_clear(&mail);
    mq_envelope_clear(&envelope);
    return status;
}

/* The database may have been replaced since the request's first mail: then once more in the one
 * that is there now. */
static enum mq_status enqueue_in(zval *object, const struct outgoing *out, struct mq_error *err)
{
    struct mq_queue *queue = NULL;
    enum mq_status status = use_queue(object, &queue, err);
    if (status == MQ_OK) {
        status = enqueue(queue, out, err);
    }
    if (status == MQ_REPLACED) {
        drop_queue(object);
        status = use_queue(object, &queue, err);
        status = status == MQ_OK ? enqueue(queue, out, err) : status;
    }
    return status;
}

/* After a failure the next mail opens one: the connection may be lost. */
static enum mq_status enqueue_in_default(const struct outgoing *out, struct mq_error *err)
{
    zval object;
    take_queue(&object);
    enum mq_status status = enqueue_in(&object, out, err);
    if (status == MQ_OK) {
        keep_queue(&object);
    } else {
        drop_queue(&object);
    }
    return status;
}

static enum mq_status make_text(const struct mq_capture *mail, struct outgoing *out,
                                struct mq_error *err)
{
    char from[MQ_CAPTURE_FROM_MAX];
    struct mq_str value;
    out->text = mq_capture_message(mail, "");
    if (mq_message_header((struct mq_str){ZSTR_VAL(out->text), ZSTR_LEN(out->text)}, "From",
                          &value)) {
        return MQ_OK;
    }
    enum mq_status status = mq_capture_from(&out->command, &out->sender, from, err);
    if (status == MQ_OK) {
        zend_string_release(out->text);
        out->text = mq_capture_message(mail, from);
    }
    return status;
}

/* Durable when it returns MQ_OK. Throws nothing. */
static enum mq_status store(const struct mq_capture *mail, struct mq_error *err)
{
    struct outgoing out = {0};
    mq_capture_command_read(mail->parameters, &out.command);
    enum mq_status status = mq_capture_sender_read(&out.command, &out.sender, err);
    if (status == MQ_OK) {
        status = make_text(mail, &out, err);
    }
    if (status == MQ_OK) {
        zval message;
        ZVAL_STR(&message, out.text); /* borrowed */
        status = mq_php_arguments_message(&out.args, &message, err);
    }
    if (status == MQ_OK) {
        status = enqueue_in_default(&out, err);
    }
    mq_php_arguments_clear(&out.args);
    mq_capture_command_clear(&out.command);
    if (out.text) {
        zend_string_release(out.text);
    }
    return status;
}

/* ---- the functions ---- */

enum captured { MAIL, MB_SEND_MAIL, CAPTURED_COUNT };

/* PHP's own handlers; NULL: not replaced. */
static zif_handler originals[CAPTURED_COUNT];

/* As PHP's functions take them, with the same errors: then `mail` stays as it is. Subject and
 * message are as given. */
static void parse(zend_execute_data *execute_data, enum captured which, struct mq_capture *mail)
{
    zend_string *to, *subject, *message, *headers = NULL, *parameters = NULL;
    HashTable *header_array = NULL;

    ZEND_PARSE_PARAMETERS_START(3, 5)
        Z_PARAM_PATH_STR(to)
        Z_PARAM_PATH_STR(subject)
        Z_PARAM_PATH_STR(message)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT_OR_STR(header_array, headers)
        Z_PARAM_PATH_STR_EX(parameters, which == MB_SEND_MAIL, 0)
    ZEND_PARSE_PARAMETERS_END();

    if (!mq_capture_headers(header_array, headers, &mail->headers)) {
        return;
    }
    mail->to = mq_capture_one_line(to);
    mail->subject = which == MAIL ? mq_capture_one_line(subject) : zend_string_copy(subject);
    mail->message = zend_string_copy(message);
    mail->parameters = parameters;
}

/* MQ_THROWN: the function returns false, as PHP's would. mail.log is written first, unless PHP's
 * function may still have to run, which writes it too. */
static enum mq_status take(struct mq_capture *mail, bool log_first, struct mq_error *err)
{
    mq_capture_add_script(mail);
    bool malformed = mq_capture_malformed(mail);
    if (malformed || log_first) {
        mq_capture_log(mail);
        if (EG(exception)) {
            return MQ_THROWN;
        }
    }
    if (malformed) {
        php_error_docref(NULL, E_WARNING,
                         "Multiple or malformed newlines found in additional_header");
        return MQ_THROWN;
    }
    enum mq_status status = store(mail, err);
    if (status == MQ_OK && !log_first) {
        mq_capture_log(mail);
    }
    return status;
}

static void capture(INTERNAL_FUNCTION_PARAMETERS, enum captured which)
{
    struct mq_capture mail = {0};
    struct mq_error err;
    enum mq_status status = MQ_OK;
    bool send = sends_what_failed();
    parse(execute_data, which, &mail);
    if (mail.to == NULL) {
        RETURN_THROWS();
    }
    if (which == MB_SEND_MAIL) {
        status = mq_capture_mb_convert(&mail, &err);
    }
    if (status == MQ_OK) {
        status = take(&mail, !send, &err);
    } else if (!send) {
        mq_capture_log(&mail);
    }
    mq_capture_clear(&mail);
    if (status == MQ_BAILOUT) {
        zend_bailout();
    }
    if (status == MQ_OK || status == MQ_THROWN) {
        RETURN_BOOL(status == MQ_OK);
    }
    if (!send) {
        php_error_docref(NULL, E_WARNING, "The mail was not queued: %s", err.text);
        RETURN_FALSE;
    }
    /* Before it leaves: where a handler makes exceptions of notices, mail() must not throw for a
     * mail that was sent. */
    php_error_docref(NULL, E_NOTICE, "The mail was not queued but is handed to sendmail_path: %s",
                     err.text);
    if (EG(exception)) {
        RETURN_THROWS();
    }
    originals[which](INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

/* Mail that the queue itself has sent by PHP's mail(), from a closure or from a program that it
 * started, would come back to it for ever. */
static bool is_sent_by_worker(void)
{
    if (getenv("MAILQUEUE_TRANSPORT_DEPTH")) {
        return true;
    }
    for (zend_execute_data *call = EG(current_execute_data); call; call = call->prev_execute_data) {
        if (call->func && call->func->common.scope == mq_ce_queue &&
            zend_string_equals_literal(call->func->common.function_name, "runWorker")) {
            return true;
        }
    }
    return false;
}

static void capture_or_pass(INTERNAL_FUNCTION_PARAMETERS, enum captured which)
{
    if (MAILQUEUE_G(capture_mail) && !is_sent_by_worker()) {
        capture(INTERNAL_FUNCTION_PARAM_PASSTHRU, which);
    } else {
        originals[which](INTERNAL_FUNCTION_PARAM_PASSTHRU);
    }
}

static ZEND_NAMED_FUNCTION(captured_mail)
{
    capture_or_pass(INTERNAL_FUNCTION_PARAM_PASSTHRU, MAIL);
}

static ZEND_NAMED_FUNCTION(captured_mb_send_mail)
{
    capture_or_pass(INTERNAL_FUNCTION_PARAM_PASSTHRU, MB_SEND_MAIL);
}

/* ---- in their place ---- */

static const struct {
    const char *name;
    zif_handler handler;
} replacements[CAPTURED_COUNT] = {
    [MAIL] = {"mail", captured_mail},
    [MB_SEND_MAIL] = {"mb_send_mail", captured_mb_send_mail},
};

/* NULL where it does not exist. */
static zend_internal_function *find_function(const char *name)
{
    zend_function *function = zend_hash_str_find_ptr(CG(function_table), name, strlen(name));
    bool internal = function && function->type == ZEND_INTERNAL_FUNCTION;
    return internal ? &function->internal_function : NULL;
}

/* All modules' functions are there before the first MINIT; disable_functions takes away the ones it
 * names later, and threads copy the table of those that are left. */
void mq_php_capture_startup(void)
{
    for (size_t i = 0; i < CAPTURED_COUNT; i++) {
        zend_internal_function *function = find_function(replacements[i].name);
        if (function && function->handler != replacements[i].handler) {
            originals[i] = function->handler;
            function->handler = replacements[i].handler;
        }
    }
}

void mq_php_capture_shutdown(void)
{
    for (size_t i = 0; i < CAPTURED_COUNT; i++) {
        zend_internal_function *function = find_function(replacements[i].name);
        if (function && function->handler == replacements[i].handler) {
            function->handler = originals[i];
        }
    }
}

/* What a request left that sent mail after its end, as a session's handler may, is gone already. */
void mq_php_capture_request_begins(void)
{
    ZVAL_UNDEF(&MAILQUEUE_G(capture_queue));
}

void mq_php_capture_request_ends(void)
{
    drop_queue(&MAILQUEUE_G(capture_queue));
}
