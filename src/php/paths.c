/* Where the run directory and the log of a queue are, and the OAuth2 accounts. open_basedir must
 * allow all of them. And settings from the environment. */
#include "php/paths.h"

#include <stdlib.h>
#include <string.h>

#include "SAPI.h"

#include "core/buffer.h"
#include "main/php_open_temporary_file.h"
#include "php_mailqueue.h"
#include "queue/queue.h"
#include "worker/files.h"

static bool is_set(const char *s)
{
    return s && *s;
}

const char *mq_php_setting(const char *name, const char *ini)
{
    /* Not sapi_getenv(), which copies into request memory, and the memory limit would then end the
     * script within the core. */
    const char *value = sapi_module.getenv ? sapi_module.getenv(name, strlen(name)) : NULL;
    value = value ? value : getenv(name);
    value = value && *value ? value : ini;
    return value && *value ? value : NULL;
}

bool mq_php_is_allowed(const char *path)
{
    return php_check_open_basedir_ex(path, 0) == 0;
}

/* The directory that holds the run directories. malloc'ed; NULL without memory. */
static char *base_path(void)
{
    const char *configured = MAILQUEUE_G(run_dir);
    return is_set(configured) ? mq_str_dup(mq_str_of(configured))
                              : mq_run_base_path(php_get_temporary_directory());
}

enum mq_status mq_php_accounts_path(char **out, struct mq_error *err)
{
    const char *named = mq_php_setting("MAILQUEUE_ACCOUNTS", MAILQUEUE_G(accounts));
    char *base = named ? NULL : base_path();
    char *path = named  ? mq_str_dup(mq_str_of(named))
                 : base ? mq_file_path(base, "accounts")
                        : NULL;
    free(base);
    if (path == NULL) {
        return mq_error_nomem(err);
    }
    if (!mq_php_is_allowed(path)) {
        mq_error_set(err, MQ_CONFIG, "account",
                     "account: open_basedir does not allow %s; set MAILQUEUE_ACCOUNTS to a "
                     "directory that it allows",
                     path);
        free(path);
        return MQ_CONFIG;
    }
    *out = path;
    return MQ_OK;
}

enum mq_status mq_php_run_dir(struct mq_queue *queue, char **out, struct mq_error *err)
{
    const char *path = mq_queue_path(queue);
    const char *identity = mq_queue_identity(queue, err);
    if (mq_queue_is_shared(queue) && identity == NULL) {
        return err->status;
    }
    char *base = identity ? base_path() : NULL;
    *out = base   ? mq_run_dir_of(base, identity)
           : path ? mq_run_dir_path(MAILQUEUE_G(run_dir), path)
                  : NULL;
    free(base);
    return *out || !(path || identity) ? MQ_OK : mq_error_nomem(err);
}

/* Checks open_basedir, because the path comes from the environment, which PHP code can set. */
static enum mq_status prepare_base(struct mq_error *err)
{
    char *base = base_path();
    enum mq_status status = MQ_OK;
    if (base == NULL) {
        return mq_error_nomem(err);
    }
    if (!mq_php_is_allowed(base)) {
        status = mq_error_set(err, MQ_CONFIG, "run_dir",
                              "open_basedir does not allow %s for the worker's files; set the ini "
                              "setting mailqueue.run_dir",
                              base);
    } else {
        status = mq_run_base_prepare(base, err);
    }
    free(base);
    return status;
}

enum mq_status mq_php_run_dir_prepare(struct mq_queue *queue, const char *run_dir,
                                      struct mq_error *err)
{
    if (!mq_queue_is_shared(queue)) {
        return MQ_OK;
    }
    if (!is_set(MAILQUEUE_G(run_dir))) {
        MQ_TRY(prepare_base(err));
    }
    return mq_run_dir_prepare(run_dir, err);
}

char *mq_php_log_beside(const char *neighbour)
{
    const char *named = mq_php_setting("MAIL_QUEUE_LOG", MAILQUEUE_G(log));
    return named ? mq_str_dup(mq_str_of(named)) : mq_log_default_path(neighbour);
}

/* The log lies beside the database's file. A database server's log lies in the run directory. */
char *mq_php_log_path(struct mq_queue *queue, const char *run_dir)
{
    const char *path = mq_queue_path(queue);
    if (path || run_dir == NULL) {
        return path ? mq_php_log_beside(path) : NULL;
    }
    char *neighbour = mq_file_path(run_dir, "x");
    char *log = neighbour ? mq_php_log_beside(neighbour) : NULL;
    free(neighbour);
    return log;
}
