/* Looks whether a worker runs. A file's time says when the next look is due, so that processes that
 * live for one request only do not ask the database each time. */
#include "php/stale.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "SAPI.h"
#include "main/php_open_temporary_file.h"
#include "zend_exceptions.h"

#include "core/hash.h"
#include "php/class/exceptions.h"
#include "php/class/queue_options.h"
#include "php_mailqueue.h"
#include "queue/manage.h"
#include "worker/files.h"

#define LOOK_S 300
#define SAID_S 3600
#define FILES  1024

/* The name of a server's database is not known without asking. Behind the application's PDO, its
 * script stands for it. */
static uint64_t hash_of(const struct mq_php_queue *self)
{
    const char *database = self->file.path ? self->file.path
                           : self->dsn     ? self->dsn
                                           : SG(request_info).path_translated;
    uint64_t hash = mq_hash(MQ_HASH_BEGIN, mq_str_of(database));
    return mq_hash(hash, mq_str_of(self->options.table));
}

/* The directory of this user's files, and the file of a queue in it. */
struct mark {
    char directory[MAXPATHLEN];
    char file[MAXPATHLEN + 16];
};

/* At most FILES files, however many databases come and go. Two queues that share one share its
 * looks, too. */
static void find_mark(uint64_t hash, struct mark *out)
{
    snprintf(out->directory, sizeof out->directory, "%s/mailqueue-%ld",
             php_get_temporary_directory(), (long)geteuid());
    snprintf(out->file, sizeof out->file, "%s/stale-%03x", out->directory,
             (unsigned)(hash % FILES));
}

/* A time that is far ahead is from before the clock was set back. */
static bool is_early(const struct stat *about, time_t now_s)
{
    return about->st_mtime > now_s && about->st_mtime <= now_s + SAID_S;
}

static void set_next(const struct mark *mark, time_t next_s)
{
    const struct timespec both[] = {{.tv_sec = next_s}, {.tv_sec = next_s}};
    utimensat(AT_FDCWD, mark->file, both, AT_SYMLINK_NOFOLLOW);
}

/* Whether a look is due, for this process only: the lock lets one set the time of the next. */
static bool enter(const struct mark *mark, time_t now_s)
{
    struct stat about;
    if (php_check_open_basedir_ex(mark->file, 0) != 0 ||
        mq_run_dir_prepare(mark->directory, NULL) != MQ_OK) {
        return false;
    }
    int fd = open(mark->file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    bool due = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &about) == 0 &&
               !is_early(&about, now_s);
    bool first = due && about.st_size == 0 && write(fd, "\n", 1) == 1;
    if (due) {
        set_next(mark, now_s + LOOK_S);
    }
    if (fd >= 0) {
        close(fd);
    }
    return due && !first;
}

static void say(int64_t last_run_s)
{
    char since[64] = "no worker has run yet";
    time_t last = (time_t)last_run_s;
    struct tm utc;
    if (last_run_s != 0 && gmtime_r(&last, &utc)) {
        strftime(since, sizeof since, "no worker has run since %F %T UTC", &utc);
    }
    zend_string *text =
        zend_strpprintf(0,
                        "mailqueue: mail is due, but %s: start bin/mailqueue work by cron; "
                        "`mailqueue doctor` names the cause (mailStaleAfter 0 turns this line off)",
                        since);
    php_log_err(ZSTR_VAL(text));
    zend_string_release(text);
}

/* The mail is stored, so nothing that fails here may look like a failure of enqueue(). */
static bool ask(struct mq_queue *queue, int64_t *last_run_s)
{
    struct mq_error err;
    bool stale = false;
    enum mq_status status = mq_queue_is_stale(queue, &stale, last_run_s, &err);
    if (status == MQ_BAILOUT) {
        zend_bailout();
    }
    if (EG(exception) && !mq_php_exiting()) {
        zend_clear_exception();
    }
    return status == MQ_OK && stale && !EG(exception);
}

void mq_php_stale_look(zval *object, struct mq_queue *queue)
{
    time_t now_s = time(NULL);
    uint64_t hash = hash_of(mq_php_queue_from(Z_OBJ_P(object)));
    struct mark mark;
    struct stat about;
    int64_t last_run_s = 0;
    if ((hash == MAILQUEUE_G(stale_hash) && now_s < MAILQUEUE_G(stale_next_s)) ||
        !(mq_queue_is_shared(queue) || mq_queue_path(queue))) { /* in memory: no worker can run */
        return;
    }
    MAILQUEUE_G(stale_hash) = hash;
    MAILQUEUE_G(stale_next_s) = now_s + LOOK_S / 5;
    find_mark(hash, &mark);
    bool early = stat(mark.file, &about) == 0 && is_early(&about, now_s);
    if (!early && enter(&mark, now_s) && ask(queue, &last_run_s)) {
        set_next(&mark, now_s + SAID_S);
        say(last_run_s);
    }
}
