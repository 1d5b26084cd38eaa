/* The owner's side of the intent record: a memory-mapped file that survives SIGKILL. */
#include "send/intent/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buffer.h"
#include "core/hash.h"

struct mq_intent {
    int fd;
    pid_t pid; /* a forked child must not unlink its parent's file */
    char *path;
    size_t size;
    struct mq_intent_header *header; /* start of the mapping */
    struct mq_intent_entry *slots;
    size_t slot_count;
    size_t next; /* where the search for a free slot begins */
};

static enum mq_status file_error(struct mq_error *err, const char *what, const char *path)
{
    int reason = errno;
    return mq_error_set(err, mq_status_of_errno(reason), "run_dir",
                        "cannot %s the worker's intent file %s: %s; the run directory needs space "
                        "and must be writable for the worker",
                        what, path, strerror(reason));
}

void mq_intent_describe_host(struct mq_intent_header *header)
{
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    header->host = mq_hash(MQ_HASH_BEGIN, mq_str_of(name));
    memset(header->boot, 0, sizeof header->boot);
    /* An unknown boot matches no record: a dead run's mails are then uncertain, which is safe. */
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, header->boot, sizeof header->boot - 1) > 0) {
        header->boot[strcspn(header->boot, "\n")] = '\0';
    }
    if (fd >= 0) {
        close(fd);
    }
}

char *mq_intent_path(const char *directory, const char *token, const char *suffix)
{
    struct mq_buffer path = {0};
    mq_buffer_printf(&path, "%s/%s%s", directory, token, suffix);
    return mq_buffer_take(&path);
}

/* Creates the file with all its blocks. Otherwise a store into the mapping could raise SIGBUS on a
 * full disk. */
static enum mq_status create_file(struct mq_intent *intent, const char *path, struct mq_error *err)
{
    intent->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (intent->fd < 0) {
        return file_error(err, "create", path);
    }
    int failed = posix_fallocate(intent->fd, 0, (off_t)intent->size);
    if (failed) {
        errno = failed;
        return file_error(err, "allocate", path);
    }
    if (flock(intent->fd, LOCK_EX | LOCK_NB) != 0) {
        return file_error(err, "lock", path);
    }
    void *map = mmap(NULL, intent->size, PROT_READ | PROT_WRITE, MAP_SHARED, intent->fd, 0);
    if (map == MAP_FAILED) {
        return file_error(err, "map", path);
    }
    intent->header = map;
    intent->slots = (struct mq_intent_entry *)(intent->header + 1);
    return MQ_OK;
}

static void write_header(struct mq_intent *intent)
{
    struct mq_intent_header *header = intent->header;
    memcpy(header->magic, MQ_INTENT_MAGIC, sizeof header->magic);
    header->version = MQ_INTENT_VERSION;
    header->slot_count = (uint32_t)intent->slot_count;
    header->pid = (int64_t)getpid();
    mq_intent_describe_host(header);
}

void mq_intent_abandon(struct mq_intent *intent)
{
    if (intent == NULL) {
        return;
    }
    if (intent->header != NULL) {
        munmap(intent->header, intent->size);
    }
    if (intent->fd >= 0) {
        close(intent->fd);
    }
    free(intent->path);
    free(intent);
}

void mq_intent_close(struct mq_intent *intent)
{
    if (intent != NULL && intent->pid == getpid()) {
        unlink(intent->path);
    }
    mq_intent_abandon(intent);
}

/* Locks and completes the file before it gets its name. So a process that finds it unlocked knows
 * that the owner is dead. */
static enum mq_status put_in_place(struct mq_intent *intent, const char *temporary,
                                   struct mq_error *err)
{
    enum mq_status status = create_file(intent, temporary, err);
    if (status == MQ_OK) {
        write_header(intent);
        status =
            rename(temporary, intent->path) == 0 ? MQ_OK : file_error(err, "rename", temporary);
    }
    if (status != MQ_OK && intent->fd >= 0) {
        unlink(temporary);
    }
    return status;
}

enum mq_status mq_intent_create(const char *directory, const char *token, size_t slots,
                                struct mq_intent **out, struct mq_error *err)
{
    struct mq_intent *intent = calloc(1, sizeof *intent);
    char *temporary = mq_intent_path(directory, token, MQ_INTENT_SUFFIX MQ_INTENT_TEMPORARY);
    char *path = mq_intent_path(directory, token, MQ_INTENT_SUFFIX);
    if (intent == NULL || temporary == NULL || path == NULL) {
        free(intent);
        free(temporary);
        free(path);
        return mq_error_nomem(err);
    }
    *intent = (struct mq_intent){.fd = -1,
                                 .pid = getpid(),
                                 .path = path,
                                 .size = sizeof *intent->header + slots * sizeof *intent->slots,
                                 .slot_count = slots};
    enum mq_status status = put_in_place(intent, temporary, err);
    if (status == MQ_OK) {
        *out = intent;
    } else {
        mq_intent_abandon(intent);
    }
    free(temporary);
    return status;
}

void mq_intent_write(struct mq_intent *intent, int slot, const struct mq_intent_entry *entry)
{
    struct mq_intent_entry *at = &intent->slots[slot];
    const size_t behind = sizeof at->phase;
    memcpy((char *)at + behind, (const char *)entry + behind, sizeof *at - behind);
    __atomic_store_n(&at->phase, entry->phase, __ATOMIC_RELEASE);
    /* The owner reads the clock after this store, never before it. Otherwise another worker that
     * finds the lease over could read the old phase and send the mail too. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

int mq_intent_begin(struct mq_intent *intent, int64_t job_id)
{
    const struct mq_intent_entry entry = {.phase = MQ_INTENT_BEGUN, .job_id = job_id};
    for (size_t i = 0; i < intent->slot_count; i++) {
        size_t slot = (intent->next + i) % intent->slot_count;
        if (intent->slots[slot].phase == MQ_INTENT_FREE) {
            mq_intent_write(intent, (int)slot, &entry);
            intent->next = slot + 1;
            return (int)slot;
        }
    }
    return -1;
}

void mq_intent_release(struct mq_intent *intent, int slot)
{
    __atomic_store_n(&intent->slots[slot].phase, MQ_INTENT_FREE, __ATOMIC_RELEASE);
}
