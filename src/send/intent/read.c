/* Reads the intent files of other runs. It never maps them: if someone truncated a mapped file, the
 * reader would die of SIGBUS. */
#include "send/intent/format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file_id.h"

#define KEEP_UNKNOWN_S  (7 * 86400) /* longer than any lease */
#define KEEP_STARTING_S 3600

/* The whole file. */
struct mq_intent_contents {
    struct mq_intent_header header;
    struct mq_intent_entry slots[];
};

static bool header_is_ours(const struct mq_intent_header *header)
{
    struct mq_intent_header here = {.version = MQ_INTENT_VERSION};
    mq_intent_describe_host(&here);
    return memcmp(header->magic, MQ_INTENT_MAGIC, sizeof header->magic) == 0 &&
           header->version == here.version && here.boot[0] != '\0' && header->host == here.host &&
           memcmp(header->boot, here.boot, sizeof here.boot) == 0;
}

/* Whether all values are known. One unknown byte makes the whole record worthless. */
static bool slots_are_sound(const struct mq_intent_entry *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool sound = slots[i].phase <= MQ_INTENT_REFUSED;
        for (size_t j = 0; j < MQ_RECIPIENTS_MAX; j++) {
            sound = sound && slots[i].results[j] < MQ_OUTCOME_RECIPIENTS;
        }
        if (!sound) {
            return false;
        }
    }
    return true;
}

/* Whether only this user can have written the file. With a forged record, mails would be deleted
 * that were never sent. */
static bool is_trusted(int fd, struct stat *st)
{
    char why[MQ_FILE_WHY];
    return mq_file_is_own(fd, why) && fstat(fd, st) == 0 &&
           (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Returns MQ_OK even if the contents cannot be used: the record then proves nothing. */
static enum mq_status read_contents(struct mq_intent_record *record, struct mq_error *err)
{
    struct stat st;
    if (!is_trusted(record->fd, &st)) {
        return MQ_OK;
    }
    size_t size = (size_t)st.st_size;
    size_t count = size > sizeof(struct mq_intent_contents)
                       ? (size - sizeof(struct mq_intent_contents)) / sizeof(struct mq_intent_entry)
                       : 0;
    bool locked = flock(record->fd, LOCK_EX | LOCK_NB) == 0;
    if ((!locked && errno != EWOULDBLOCK) || count < 1 || count > MQ_INTENT_SLOTS_MAX ||
        size != sizeof(struct mq_intent_contents) + count * sizeof(struct mq_intent_entry)) {
        return MQ_OK;
    }
    struct mq_intent_contents *contents = record->contents = malloc(size);
    if (contents == NULL) {
        return mq_error_nomem(err);
    }
    if (pread(record->fd, contents, size, 0) == (ssize_t)size &&
        contents->header.slot_count == count && header_is_ours(&contents->header) &&
        slots_are_sound(contents->slots, count)) {
        record->slot_count = count;
        record->owner = locked ? MQ_INTENT_DEAD : MQ_INTENT_ALIVE;
    }
    return MQ_OK;
}

enum mq_status mq_intent_open(const char *directory, const char *token,
                              struct mq_intent_record **out, struct mq_error *err)
{
    struct mq_intent_record *record = calloc(1, sizeof *record);
    *out = NULL;
    if (record == NULL) {
        return mq_error_nomem(err);
    }
    record->owner = MQ_INTENT_OTHER;
    snprintf(record->token, sizeof record->token, "%s", token);
    record->path = mq_intent_path(directory, token, MQ_INTENT_SUFFIX);
    if (record->path == NULL) {
        free(record);
        return mq_error_nomem(err);
    }
    /* O_NONBLOCK: open() must not wait, even if that name is a FIFO. */
    record->fd = open(record->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool missing = record->fd < 0 && errno == ENOENT;
    enum mq_status status = record->fd >= 0 ? read_contents(record, err) : MQ_OK;
    if (status != MQ_OK || missing) {
        mq_intent_record_close(record, false);
    } else {
        *out = record;
    }
    return status;
}

bool mq_intent_find(const struct mq_intent_record *record, int64_t job_id,
                    struct mq_intent_entry *out)
{
    bool found = false;
    for (size_t i = 0; i < record->slot_count; i++) {
        const struct mq_intent_entry *slot = &record->contents->slots[i];
        /* A job never has two slots. If it had, the one with the later phase would count. */
        if (slot->phase != MQ_INTENT_FREE && slot->job_id == job_id &&
            (!found || slot->phase > out->phase)) {
            found = true;
            *out = *slot;
        }
    }
    return found;
}

void mq_intent_record_close(struct mq_intent_record *record, bool remove)
{
    if (!record) {
        return;
    }
    if (remove) {
        unlink(record->path); /* while locked, so that no other run recovers the same mails */
    }
    if (record->fd >= 0) {
        close(record->fd);
    }
    free(record->contents);
    free(record->path);
    free(record);
}

/* Whether `name` is a token with `suffix`. */
static bool is_named(const char *name, const char *suffix)
{
    return strspn(name, "0123456789abcdef") == MQ_TOKEN_HEX &&
           strcmp(name + MQ_TOKEN_HEX, suffix) == 0;
}

/* Removes a file that is unchanged for age_s seconds, unless a process holds its lock. */
static void remove_old(int directory, const char *name, int64_t age_s)
{
    struct stat st;
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return;
    }
    if (is_trusted(fd, &st) && st.st_mtime < time(NULL) - age_s &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
        unlinkat(directory, name, 0);
    }
    close(fd);
}

/* Whether the file is removed by now: its owner ended normally, or another run recovered it. */
static bool is_unlinked(const struct mq_intent_record *record)
{
    struct stat st;
    return record->fd >= 0 && fstat(record->fd, &st) == 0 && st.st_nlink == 0;
}

/* Opens the record of that name; *out is NULL if it is gone. */
static enum mq_status open_listed(DIR *dir, const char *directory, const char *name,
                                  struct mq_intent_record **out, struct mq_error *err)
{
    char token[MQ_TOKEN_HEX + 1] = "";
    memcpy(token, name, MQ_TOKEN_HEX);
    MQ_TRY(mq_intent_open(directory, token, out, err));
    struct mq_intent_record *record = *out;
    if (record != NULL && is_unlinked(record)) {
        mq_intent_record_close(record, false);
        *out = NULL;
    } else if (record != NULL && record->owner == MQ_INTENT_OTHER) {
        if (record->fd >= 0) {
            close(record->fd); /* this fd may hold the lock that remove_old() needs */
        }
        record->fd = -1;
        remove_old(dirfd(dir), name, KEEP_UNKNOWN_S);
    }
    return MQ_OK;
}

enum mq_status mq_intent_scan(const char *directory, const char *own,
                              void (*each)(void *context, struct mq_intent_record *record),
                              void *context, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    struct dirent *entry;
    DIR *dir = opendir(directory);
    if (!dir) {
        return mq_error_set(err, MQ_CANTOPEN, "run_dir", "cannot read the run directory %s: %s",
                            directory, strerror(errno));
    }
    while (status == MQ_OK && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        struct mq_intent_record *record = NULL;
        if (is_named(name, MQ_INTENT_SUFFIX MQ_INTENT_TEMPORARY)) {
            remove_old(dirfd(dir), name, KEEP_STARTING_S);
        } else if (is_named(name, MQ_INTENT_SUFFIX) &&
                   (!own || strncmp(own, name, MQ_TOKEN_HEX) != 0)) {
            status = open_listed(dir, directory, name, &record, err);
        }
        if (record != NULL) {
            each(context, record);
        }
    }
    closedir(dir);
    return status;
}
