/* Internal::takeSlot(): if many runs start at once, those that find no worker slot end before they
 * wait for the database. */
#include "php/worker/take_slot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "php/class/exceptions.h"
#include "php/class/value_objects.h"
#include "php/paths.h"
#include "php_mailqueue.h"
#include "stubs/mailqueue_methods.h"
#include "worker/files.h"
#include "worker/lock.h"
#include "worker/worker.h"

static void give_back(void)
{
    if (MAILQUEUE_G(slot_dir)) {
        close(MAILQUEUE_G(slot_fd));
    }
    free(MAILQUEUE_G(slot_dir));
    MAILQUEUE_G(slot_dir) = NULL;
}

void mq_php_slot_request_ends(void)
{
    give_back();
}

static bool is_held(const char *run_dir)
{
    return MAILQUEUE_G(slot_dir) && strcmp(MAILQUEUE_G(slot_dir), run_dir) == 0;
}

int mq_php_slot_hand_over(const char *run_dir)
{
    if (!is_held(run_dir)) {
        give_back();
        return -1;
    }
    free(MAILQUEUE_G(slot_dir));
    MAILQUEUE_G(slot_dir) = NULL;
    return MAILQUEUE_G(slot_fd);
}

static enum mq_status log_event(void *log, const struct mq_event *event, struct mq_error *err)
{
    (void)err;
    mq_log_add(log, event);
    return MQ_OK;
}

/* The report of a run that found all slots taken. If only another user can repair its log, the run
 * that goes on says so. */
static void tell_locked(const zend_string *given_log, const struct mq_php_log_path *place,
                        zval *return_value)
{
    struct mq_report report;
    struct mq_error err;
    char *path = NULL;
    struct mq_log *log = NULL;

    mq_php_log_open(given_log, place, &path, &log, &err);
    struct mq_worker_hooks hooks = {.event = log ? log_event : NULL, .context = log};
    mq_worker_tell_locked(&hooks, &report);
    if (log) {
        mq_log_close(log);
    }
    free(path);
    mq_php_report_new(return_value, &report);
}

/* Takes a slot, or makes the report of a run that finds none. Other problems are left to the
 * run. */
static void take(const struct mq_php_log_path *place, zend_long max_workers, const zend_string *log,
                 zval *out)
{
    const char *run_dir = place->run_dir;
    int fd = -1;
    struct mq_error err;
    /* Does not create the directory: what was named may not be a database. */
    if (is_held(run_dir) || access(run_dir, F_OK) != 0 ||
        mq_run_dir_prepare(run_dir, &err) != MQ_OK ||
        mq_worker_lock(run_dir, (int)max_workers, &fd, &err) != MQ_OK) {
        return;
    }
    if (fd < 0) {
        tell_locked(log, place, out);
        return;
    }
    give_back();
    MAILQUEUE_G(slot_fd) = fd;
    MAILQUEUE_G(slot_dir) = strdup(run_dir);
    if (MAILQUEUE_G(slot_dir) == NULL) {
        close(fd);
    }
}

ZEND_METHOD(MailQueue_Internal, takeSlot)
{
    zend_string *database;
    zend_long max_workers;
    zend_string *log = NULL;

    ZEND_PARSE_PARAMETERS_START(2, 3)
        Z_PARAM_PATH_STR(database)
        Z_PARAM_LONG(max_workers)
        Z_PARAM_OPTIONAL
        Z_PARAM_PATH_STR_OR_NULL(log)
    ZEND_PARSE_PARAMETERS_END();

    if (!mq_php_check_range(2, max_workers, 1, 64, "")) {
        RETURN_THROWS();
    }
    const char *configured = MAILQUEUE_G(run_dir);
    char *real = realpath(ZSTR_VAL(database), NULL); /* as SQLite names the file */
    if (real && php_check_open_basedir_ex(real, 0) == 0) {
        char *run_dir = mq_run_dir_path(configured && *configured ? configured : NULL, real);
        struct mq_php_log_path place = {real, run_dir};
        if (run_dir) {
            take(&place, max_workers, log, return_value);
        }
        free(run_dir);
    }
    free(real);
}
