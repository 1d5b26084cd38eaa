#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/paths.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "php_mailqueue.h"
#include "worker/lock.h"
#include "worker/log.h"

static bool is_set(const char *s)
{
    return s && *s;
}

char *mq_php_run_dir(const char *database_path)
{
    const char *configured = MAILQUEUE_G(run_dir);
    if (database_path == NULL) {
        return NULL;
    }
    return mq_run_dir_path(is_set(configured) ? configured : NULL, database_path);
}

char *mq_php_log_path(const char *database_path)
{
    const char *configured = MAILQUEUE_G(log);
    if (!is_set(getenv("MAIL_QUEUE_LOG")) && is_set(configured)) {
        return mq_str_dup(mq_str_of(configured));
    }
    if (database_path == NULL) {
        return NULL;
    }
    return mq_log_default_path(database_path);
}
