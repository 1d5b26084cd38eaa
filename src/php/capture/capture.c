/* Replaces mail() and mb_send_mail() while the module is loaded. The replacements enqueue the mail
 * if the ini setting mailqueue.capture_mail says so, and otherwise call PHP's own functions. */
#include "php/capture/capture.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "zend_exceptions.h"

#include "php/capture/internal.h"
#include "php/class/classes.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/message/mail.h"
#include "php/stale.h"
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

/* ---- storing ---- */

/* Turns a pending exception into an error; MQ_OK if there is none. exit() stays pending. */
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

/* Stores the mail in MailQueue::default(); opens that if `object` is undefined. */
static enum mq_status store_in(zval *object, const struct mq_php_arguments *args,
                               struct mq_error *err)
{
    int64_t id;
    if (Z_ISUNDEF_P(object)) {
        zend_function *open =
            zend_hash_str_find_ptr(&mq_ce_queue->function_table, ZEND_STRL("default"));
        zend_call_known_function(open, NULL, mq_ce_queue, object, 0, NULL, NULL);
    }
    struct mq_queue *queue = EG(exception) ? NULL : mq_php_queue_opened(object);
    MQ_TRY(take_exception(err));
    MQ_TRY(mq_php_mail_store(queue, args, &id, err));
    mq_php_stale_look(object, queue);
    return MQ_OK;
}

/* Keeps the queue open for the rest of the request: in a loop of mails, closing the last connection
 * to a database in WAL mode would cost more than everything else. While one mail uses the queue, no
 * other can: if a signal handler sends a mail meanwhile, that opens another queue. After a failure
 * the connection may be lost, so the next mail opens a new one. */
static enum mq_status enqueue(const struct mq_php_arguments *args, struct mq_error *err)
{
    zval object;
    ZVAL_COPY_VALUE(&object, &MAILQUEUE_G(capture_queue));
    ZVAL_UNDEF(&MAILQUEUE_G(capture_queue));
    enum mq_status status = store_in(&object, args, err);
    if (status == MQ_REPLACED) { /* the file was replaced since the first mail: use the new one */
        zval_ptr_dtor(&object);
        ZVAL_UNDEF(&object);
        status = store_in(&object, args, err);
    }
    if (status == MQ_OK && Z_ISUNDEF(MAILQUEUE_G(capture_queue))) {
        ZVAL_COPY_VALUE(&MAILQUEUE_G(capture_queue), &object);
    } else {
        zval_ptr_dtor(&object);
    }
    return status;
}

/* Enqueues the mail, durably on MQ_OK. Leaves no exception pending, except that of exit(). */
static enum mq_status store(const struct mq_capture *mail, struct mq_error *err)
{
    struct mq_php_arguments args = {0};
    enum mq_status status = mq_capture_arguments(mail, &args, err);
    if (status == MQ_OK) {
        status = enqueue(&args, err);
    }
    mq_php_arguments_clear(&args);
    return status;
}

/* ---- the functions ---- */

enum captured { MAIL, MB_SEND_MAIL, CAPTURED_COUNT };

static const char *const names[CAPTURED_COUNT] = {"mail", "mb_send_mail"};
static zif_handler originals[CAPTURED_COUNT]; /* PHP's own functions; NULL: not replaced */

/* Parses the arguments as PHP's own functions do, with the same errors; on an error `mail` stays
 * empty. For mb_send_mail(), the subject is not yet made one line. */
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

/* The mail is stored, or may be: an error handler's exception must not look like a failure. */
static void log_stored(const struct mq_capture *mail)
{
    mq_capture_log(mail);
    if (EG(exception) && !mq_php_exiting()) {
        zend_clear_exception();
    }
}

/* Enqueues the mail. On MQ_THROWN, mail() returns false, as PHP's own would. Writes mail.log first;
 * but if PHP's function, which writes it too, may have to run afterwards, only once it will not. */
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
    if (!log_first && (status == MQ_OK || err->in_doubt)) {
        log_stored(mail);
    }
    return status;
}

static void capture(INTERNAL_FUNCTION_PARAMETERS, enum captured which)
{
    struct mq_capture mail = {0};
    struct mq_error err = {0};
    enum mq_status status = MQ_OK;
    bool send = strcasecmp(MAILQUEUE_G(capture_failure), "send") == 0;
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
    if (err.in_doubt) { /* sending it could make a second copy: the caller decides */
        php_error_docref(NULL, E_WARNING, "Perhaps the mail was not queued: %s", err.text);
        RETURN_FALSE;
    }
    if (!send) {
        php_error_docref(NULL, E_WARNING, "The mail was not queued: %s", err.text);
        RETURN_FALSE;
    }
    /* Raise the notice before the mail is sent: an error handler may turn notices into exceptions,
     * and mail() must not throw for a mail that was sent. */
    php_error_docref(NULL, E_NOTICE, "The mail was not queued but is handed to sendmail_path: %s",
                     err.text);
    if (EG(exception)) {
        RETURN_THROWS();
    }
    originals[which](INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

/* Whether the function is runWorker(), or what runAfterResponse() has PHP call in the end. */
static bool is_run(const zend_function *function)
{
    const zend_class_entry *scope = function->common.scope;
    const zend_string *name = function->common.function_name;
    return scope == mq_ce_queue
               ? zend_string_equals_literal(name, "runWorker")
               : scope && name && zend_string_equals_literal(name, "afterResponse") &&
                     zend_string_equals_literal(scope->name, "MailQueue\\Internal");
}

/* Whether the queue itself is sending this mail, through a closure or a program that calls mail().
 * Capturing it would put it back into the queue for ever. */
static bool is_sent_by_worker(void)
{
    if (getenv("MAILQUEUE_TRANSPORT_DEPTH")) {
        return true;
    }
    for (zend_execute_data *call = EG(current_execute_data); call; call = call->prev_execute_data) {
        if (call->func && is_run(call->func)) {
            return true;
        }
    }
    return false;
}

static ZEND_NAMED_FUNCTION(capture_or_pass)
{
    const zend_string *name = execute_data->func->common.function_name;
    enum captured which = zend_string_equals_literal(name, "mail") ? MAIL : MB_SEND_MAIL;
    if (MAILQUEUE_G(capture_mail) && !is_sent_by_worker()) {
        capture(INTERNAL_FUNCTION_PARAM_PASSTHRU, which);
    } else {
        originals[which](INTERNAL_FUNCTION_PARAM_PASSTHRU);
    }
}

/* ---- replacing the functions ---- */

/* MINIT is late enough: all modules registered their functions before the first MINIT. It is early
 * enough: disable_functions removes functions later, and threads copy the table after that. */
void mq_php_capture_startup(void)
{
    for (size_t i = 0; i < CAPTURED_COUNT; i++) {
        zend_internal_function *function =
            zend_hash_str_find_ptr(CG(function_table), names[i], strlen(names[i]));
        if (function && function->handler != capture_or_pass) {
            originals[i] = function->handler;
            function->handler = capture_or_pass;
        }
    }
}

void mq_php_capture_shutdown(void)
{
    for (size_t i = 0; i < CAPTURED_COUNT; i++) {
        zend_internal_function *function =
            zend_hash_str_find_ptr(CG(function_table), names[i], strlen(names[i]));
        if (function && function->handler == capture_or_pass) {
            function->handler = originals[i];
        }
    }
}

/* If a request sent mail after its RSHUTDOWN, as a session handler can, it left a queue here. PHP
 * has freed that already. */
void mq_php_capture_request_begins(void)
{
    ZVAL_UNDEF(&MAILQUEUE_G(capture_queue));
}

void mq_php_capture_request_ends(void)
{
    zval dropped; /* closing the queue can run PHP code that sends mail */
    ZVAL_COPY_VALUE(&dropped, &MAILQUEUE_G(capture_queue));
    ZVAL_UNDEF(&MAILQUEUE_G(capture_queue));
    zval_ptr_dtor(&dropped);
}
