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
    struct mq_intent_slot *slots;
    int *free_slots; /* a stack */
    size_t free_count;
};

static enum mq_status file_error(struct mq_error *err, const char *what, const char *path)
{
    int reason = errno;
    enum mq_status status = MQ_CANTOPEN;
    if (reason == EACCES || reason == EPERM || reason == EROFS) {
        status = MQ_READONLY;
    } else if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) {
        status = MQ_FULL;
    } else if (reason == EIO) {
        status = MQ_IO;
    }
    return mq_error_set(err, status, "run_dir",
                        "cannot %s the worker's intent file %s: %s; the run directory needs space "
                        "and must be writable for the worker",
                        what, path, strerror(reason));
}

static uint64_t hash_host_name(void)
{
    char name[256] = "";
    if (gethostname(name, sizeof(name) - 1) != 0) {
        return 0;
    }
    return mq_hash(MQ_HASH_BEGIN, mq_str_of(name));
}

void mq_intent_describe_host(struct mq_intent_header *header)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    header->host = hash_host_name();
    memset(header->boot, 0, sizeof(header->boot));
    if (fd < 0) {
        return; /* an unknown boot matches none: every lease is then uncertain, never wrong */
    }
    ssize_t n = read(fd, header->boot, sizeof(header->boot) - 1);
    close(fd);
    if (n <= 0) {
        n = 0;
    }
    header->boot[n] = '\0';
    header->boot[strcspn(header->boot, "\n")] = '\0';
}

char *mq_intent_path(const char *directory, const char *token, const char *suffix)
{
    struct mq_buffer path;
    mq_buffer_init(&path);
    mq_buffer_cstr(&path, directory);
    mq_buffer_char(&path, '/');
    mq_buffer_cstr(&path, token);
    mq_buffer_cstr(&path, suffix);
    char *result = mq_buffer_take(&path);
    mq_buffer_clear(&path);
    return result;
}

/* Creates the file under its temporary name with all its blocks: a store into the mapping must
 * never meet a full disk, which would be a SIGBUS. */
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
    intent->slots = (struct mq_intent_slot *)(intent->header + 1);
    return MQ_OK;
}

static void fill(struct mq_intent *intent, size_t slots)
{
    struct mq_intent_header *header = intent->header;
    memcpy(header->magic, MQ_INTENT_MAGIC, sizeof(header->magic));
    header->version = MQ_INTENT_VERSION;
    header->slot_count = (uint32_t)slots;
    header->pid = (int64_t)getpid();
    mq_intent_describe_host(header);
    for (size_t i = 0; i < slots; i++) {
        intent->free_slots[i] = (int)(slots - 1 - i);
    }
    intent->free_count = slots;
}

static void release_all(struct mq_intent *intent)
{
    if (!intent) {
        return;
    }
    if (intent->header) {
        munmap(intent->header, intent->size);
    }
    if (intent->fd >= 0) {
        close(intent->fd);
    }
    free(intent->free_slots);
    free(intent->path);
    free(intent);
}

static struct mq_intent *allocate(const char *directory, const char *token, size_t slots)
{
    struct mq_intent *intent = calloc(1, sizeof(*intent));
    if (!intent) {
        return NULL;
    }
    intent->fd = -1;
    intent->pid = getpid();
    intent->size = sizeof(struct mq_intent_header) + slots * sizeof(struct mq_intent_slot);
    intent->free_slots = calloc(slots, sizeof(*intent->free_slots));
    intent->path = mq_intent_path(directory, token, MQ_INTENT_SUFFIX);
    if (!intent->free_slots || !intent->path) {
        release_all(intent);
        return NULL;
    }
    return intent;
}

enum mq_status mq_intent_create(const char *directory, const char *token, size_t slots,
                                struct mq_intent **out, struct mq_error *err)
{
    char *temporary = NULL;
    bool renamed = false;
    enum mq_status status = MQ_OK;

    if (slots < 1 || slots > MQ_INTENT_SLOTS_MAX) {
        return mq_error_set(err, MQ_INVALID, "slots", "an intent file has 1 to %d slots",
                            MQ_INTENT_SLOTS_MAX);
    }
    struct mq_intent *intent = allocate(directory, token, slots);
    if (!intent) {
        return mq_error_nomem(err);
    }
    temporary = mq_intent_path(directory, token, MQ_INTENT_SUFFIX MQ_INTENT_TEMPORARY);
    if (!temporary) {
        status = mq_error_nomem(err);
        goto out;
    }
    status = create_file(intent, temporary, err);
    if (status != MQ_OK) {
        goto out;
    }
    fill(intent, slots);
    /* Locked and complete before it has its name: a process that finds it unlocked knows that the
     * owner is dead. */
    if (rename(temporary, intent->path) != 0) {
        status = file_error(err, "rename", temporary);
        goto out;
    }
    renamed = true;
    *out = intent;
out:
    if (status != MQ_OK) {
        if (intent->fd >= 0 && !renamed) {
            unlink(temporary);
        }
        release_all(intent);
    }
    free(temporary);
    return status;
}

int mq_intent_begin(struct mq_intent *intent, int64_t job_id)
{
    if (intent->free_count == 0) {
        return -1;
    }
    int index = intent->free_slots[--intent->free_count];
    struct mq_intent_slot *slot = &intent->slots[index];
    slot->job_id = job_id;
    slot->code = 0;
    slot->at_s = 0;
    slot->handed_over = 0;
    memset(slot->results, 0, sizeof(slot->results));
    atomic_store_explicit(&slot->phase, MQ_INTENT_BEGUN, memory_order_release);
    return index;
}

void mq_intent_write(struct mq_intent *intent, int slot, const struct mq_intent_entry *entry)
{
    struct mq_intent_slot *s = &intent->slots[slot];
    s->code = (int32_t)entry->code;
    s->at_s = entry->at_s;
    s->handed_over = (int32_t)entry->handed_over;
    memcpy(s->results, entry->results, sizeof(s->results));
    atomic_store_explicit(&s->phase, (uint32_t)entry->phase, memory_order_release);
    /* The owner looks at the clock next: its look must not overtake this store, or one who finds
     * the lease over and reads the phase before could send the mail too. */
    atomic_thread_fence(memory_order_seq_cst);
}

void mq_intent_release(struct mq_intent *intent, int slot)
{
    atomic_store_explicit(&intent->slots[slot].phase, MQ_INTENT_FREE, memory_order_release);
    intent->free_slots[intent->free_count++] = slot;
}

void mq_intent_close(struct mq_intent *intent)
{
    if (intent && intent->pid == getpid()) {
        unlink(intent->path);
    }
    release_all(intent);
}

void mq_intent_abandon(struct mq_intent *intent)
{
    release_all(intent);
}
