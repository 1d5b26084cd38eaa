/* MailQueue::runAfterResponse(): a run of the worker in the web server's process, after the visitor
 * has the response. */
#include "stubs/mailqueue_methods.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "SAPI.h"
#include "php_main.h"
#include "zend_exceptions.h"

#include "php/class/classes.h"
#include "php/class/exceptions.h"
#include "php/class/queue_object.h"
#include "php/class/queue_run.h"
#include "php/paths.h"
#include "php/worker/relay_arguments.h"
#include "php_mailqueue.h"
#include "worker/files.h"

#define SECONDS_MAX 300
#define MAILS_MAX   1000
#define PAUSE_S     10 /* between two runs of a queue on this host */
#define NAME        "MailQueue::runAfterResponse()"

struct after {
    zval *queue;
    struct mq_php_request_run run;
    bool is_last; /* of afterResponse(): all functions before it were called */
};

/* Whether PHP has the function. One that the application has defined does something else. */
static bool exists(const char *name)
{
    const zend_function *found = zend_hash_str_find_ptr(CG(function_table), name, strlen(name));
    return found && found->type == ZEND_INTERNAL_FUNCTION;
}

/* The caller frees *result. */
static void call_for(zval *result, const char *function, uint32_t count, zval *arguments)
{
    zval name;
    ZVAL_STRING(&name, function);
    ZVAL_UNDEF(result);
    call_user_function(NULL, NULL, &name, result, count, arguments);
    zval_ptr_dtor(&name);
}

static void call(const char *function, uint32_t count, zval *arguments)
{
    zval result;
    call_for(&result, function, count, arguments);
    zval_ptr_dtor(&result);
}

/* FrankenPHP's worker script outlives the requests that it handles in this function: PHP calls no
 * shutdown function at the end of a request. */
static bool is_in_worker_script(void)
{
    for (zend_execute_data *call = EG(current_execute_data); call; call = call->prev_execute_data) {
        const zend_function *f = call->func;
        if (f && !f->common.scope && f->common.function_name &&
            zend_string_equals_literal(f->common.function_name, "frankenphp_handle_request")) {
            return true;
        }
    }
    return false;
}

/* PHP's function that ends the response while the script goes on; NULL: this SAPI has none. */
static const char *find_finisher(void)
{
    static const char *const names[] = {"fastcgi_finish_request", "litespeed_finish_request"};
    return exists(names[0]) ? names[0] : exists(names[1]) ? names[1] : NULL;
}

/* Makes a Closure, or null. At the end of the script PHP would check again who calls a method, and
 * refuse a private one, which the caller of runAfterResponse() may call. */
static void copy_callable(zval *out, struct mq_php_callable *callable)
{
    ZVAL_NULL(out);
    if (ZEND_FCI_INITIALIZED(callable->info)) {
        call_for(out, "Closure::fromCallable", 1, &callable->info.function_name);
    }
}

/* Has PHP call Internal::afterResponse() when the script has ended. */
static void call_at_end(struct after *after, bool is_last)
{
    zval arguments[8];
    ZVAL_STRING(&arguments[0], "MailQueue\\Internal::afterResponse");
    ZVAL_COPY(&arguments[1], after->queue);
    ZVAL_LONG(&arguments[2], after->run.seconds);
    ZVAL_LONG(&arguments[3], after->run.mails);
    copy_callable(&arguments[4], &after->run.compose);
    copy_callable(&arguments[5], &after->run.sign);
    ZVAL_NULL(&arguments[6]);
    if (after->run.relays) {
        ZVAL_COPY(&arguments[6], after->run.relays);
    }
    ZVAL_BOOL(&arguments[7], is_last);
    if (!EG(exception)) {
        call("register_shutdown_function", 8, arguments);
    }
    for (size_t i = 0; i < 8; i++) {
        zval_ptr_dtor(&arguments[i]);
    }
}

/* Once in a process. */
static void tell_no_finisher(void)
{
    if (MAILQUEUE_G(told_no_finisher)) {
        return;
    }
    MAILQUEUE_G(told_no_finisher) = true;
    zend_string *text = zend_strpprintf(
        0,
        NAME
        " does nothing: PHP's \"%s\" cannot end the response before the script ends, or it runs "
        "one script for many requests; "
        "start bin/mailqueue work by cron instead",
        sapi_module.name);
    php_log_err(ZSTR_VAL(text));
    zend_string_release(text);
}

ZEND_METHOD(MailQueue, runAfterResponse)
{
    struct after after = {.queue = ZEND_THIS, .run = {.seconds = 5, .mails = 20}};
    struct mq_php_request_run *run = &after.run;
    ZEND_PARSE_PARAMETERS_START(0, 5)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(run->seconds)
        Z_PARAM_LONG(run->mails)
        Z_PARAM_FUNC_OR_NULL(run->compose.info, run->compose.cache)
        Z_PARAM_FUNC_OR_NULL(run->sign.info, run->sign.cache)
        Z_PARAM_ZVAL(run->relays)
    ZEND_PARSE_PARAMETERS_END();

    if (!mq_php_check_range(1, run->seconds, 1, SECONDS_MAX, " (seconds)") ||
        !mq_php_check_range(2, run->mails, 1, MAILS_MAX, "") ||
        !mq_php_relays_are(5, run->relays)) {
        RETURN_THROWS();
    }
    if (find_finisher() && !is_in_worker_script() && exists("register_shutdown_function")) {
        call_at_end(&after, false);
        RETURN_BOOL(!EG(exception));
    }
    tell_no_finisher();
    RETURN_FALSE;
}

/* ---- after the response ---- */

/* The directory of the file that limits the runs on this host. NULL: a database in memory. */
static enum mq_status find_directory(const struct after *after, char **out, struct mq_error *err)
{
    struct mq_queue *queue = mq_php_queue_opened(after->queue);
    if (queue == NULL) {
        return MQ_THROWN;
    }
    MQ_TRY(mq_php_run_dir(queue, out, err));
    MQ_TRY(mq_php_run_dir_prepare(queue, *out, err));
    return *out ? mq_run_dir_prepare(*out, err) : MQ_OK;
}

/* The time of the last run is the file's. */
static bool is_early(int fd)
{
    struct stat about;
    time_t now = time(NULL);
    return fstat(fd, &about) != 0 ||
           (about.st_size > 0 && about.st_mtime <= now && now - about.st_mtime < PAUSE_S);
}

/* Returns a descriptor whose lock keeps other processes out; -1: not now. */
static int enter(const char *directory)
{
    char *path = mq_file_path(directory, "after-response.lock");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600) : -1;
    free(path);
    if (fd >= 0 &&
        (flock(fd, LOCK_EX | LOCK_NB) != 0 || is_early(fd) || pwrite(fd, "\n", 1, 0) != 1)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void send_due(void *context)
{
    const struct after *after = context;
    mq_php_run_in_request(after->queue, &after->run);
}

static void run(struct after *after)
{
    struct mq_error err;
    char *directory = NULL;
    enum mq_status status = find_directory(after, &directory, &err);
    int fd = status == MQ_OK && directory ? enter(directory) : -1;
    free(directory);
    if (fd >= 0) {
        zend_unset_timeout(); /* max_execution_time is the script's */
        bool survives = mq_php_survives(send_due, after);
        close(fd); /* the process goes on, and would keep the lock */
        if (!survives) {
            zend_bailout();
        }
    } else {
        mq_php_ok(status, &err);
    }
}

/* Nobody sees an exception any more, and the application's handlers expect none of ours. */
static void log_exception(void)
{
    char text[MQ_ERROR_TEXT_MAX + sizeof NAME];
    memcpy(text, NAME ": ", sizeof NAME + 1);
    mq_php_exception_text(text + sizeof NAME + 1, sizeof text - sizeof NAME - 1);
    zend_clear_exception();
    php_log_err(text);
}

static void finish_and_run(struct after *after)
{
    const char *finisher = find_finisher();
    if (exists("session_write_close")) { /* the visitor's next request waits for the session */
        call("session_write_close", 0, NULL);
    }
    if (finisher && !EG(exception)) {
        call(finisher, 0, NULL);
    }
    if (finisher && !EG(exception)) {
        run(after);
        if (EG(exception) && !mq_php_exiting()) {
            log_exception();
        }
    }
}

ZEND_METHOD(MailQueue_Internal, afterResponse)
{
    struct after after = {0};

    (void)return_value;
    struct mq_php_request_run *run = &after.run;
    if (zend_parse_parameters(ZEND_NUM_ARGS(), "Ollf!f!zb", &after.queue, mq_ce_queue,
                              &run->seconds, &run->mails, &run->compose.info, &run->compose.cache,
                              &run->sign.info, &run->sign.cache, &run->relays,
                              &after.is_last) == FAILURE) {
        RETURN_THROWS();
    }
    if (after.is_last) {
        finish_and_run(&after);
        return;
    }
    call_at_end(&after, true); /* the application's functions, which may print, come first */
}
