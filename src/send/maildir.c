/* file://: delivers into a Maildir. A mail counts as accepted once file and directory are synced.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "send/dsn.h"
#include "send/factory.h"

/* The most transfers that wait here; each is synced by itself. */
#define CAPACITY 20
#define HOST_MAX 100 /* leaves room for the rest of a file's name */

struct maildir {
    struct mq_transport transport; /* first */
    char *path;                    /* absolute */
    char host[HOST_MAX + 1];       /* as file names contain it */
    uint64_t written;              /* transfers so far, for file names */
};

static struct maildir *self_of(struct mq_transport *transport)
{
    return (struct maildir *)transport;
}

/* ---- one file ---- */

struct file {
    char temporary[PATH_MAX];
    char final[PATH_MAX];
    const char *failed; /* the step that failed */
};

/* The name as in cr.yp.to/proto/maildir.html: time, a part that is unique on this host, the host.
 * The random number is for hosts that share a name and a directory. Both paths have room:
 * make_directories() has refused a longer directory. */
static void name_file(struct maildir *self, struct file *file)
{
    char chance[17];
    char base[NAME_MAX + 1];
    int64_t us = mq_transport_now_us(&self->transport);
    mq_random_hex(chance, 8);
    snprintf(base, sizeof base, "%" PRId64 ".M%" PRId64 "P%ldQ%" PRIu64 "R%s.%s", us / 1000000,
             us % 1000000, (long)getpid(), ++self->written, chance, self->host);
    snprintf(file->temporary, sizeof file->temporary, "%s/tmp/%s", self->path, base);
    snprintf(file->final, sizeof file->final, "%s/new/%s", self->path, base);
}

/* Replaces control characters: an address should have none, and a header must not have any. */
static void put_address(struct mq_buffer *out, const char *name, const char *address,
                        const char *end)
{
    mq_buffer_cstr(out, name);
    for (const char *p = address; *p != '\0'; p++) {
        mq_buffer_char(out, (unsigned char)*p < 0x20 || *p == 0x7F ? '?' : *p);
    }
    mq_buffer_cstr(out, end);
}

static int write_message(int fd, const struct mq_transfer *transfer)
{
    struct mq_buffer heading = {0};
    put_address(&heading, "Return-Path: <", transfer->from, ">\n");
    for (size_t i = 0; i < transfer->target_count; i++) {
        put_address(&heading, "X-Envelope-To: ", transfer->targets[i].address, "\n");
    }
    int error = heading.failed ? ENOMEM : mq_transfer_write(transfer, heading.data, fd);
    mq_buffer_clear(&heading);
    return error != 0 ? error : fsync(fd) == 0 ? 0 : errno;
}

/* Returns 0 or an errno value; on an error no file is left. */
static int write_temporary(struct file *file, const struct mq_transfer *transfer)
{
    int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    file->failed = "cannot create a file";
    if (fd < 0) {
        return errno;
    }
    file->failed = "cannot write";
    int error = write_message(fd, transfer);
    if (close(fd) != 0 && error == 0) {
        error = errno;
    }
    if (error != 0) {
        unlink(file->temporary);
    }
    return error;
}

static int sync_directory(const char *directory, const char *below)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s%s", directory, below);
    if (n < 0 || (size_t)n >= sizeof path) {
        return ENAMETOOLONG;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int error = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    /* Some file systems cannot sync directories; nothing more can be done for a new name there. */
    return error == EINVAL || error == ENOTSUP ? 0 : error;
}

/* ---- one transfer ---- */

/* Gives back a transfer that has no file in `new`. */
static void failed(struct maildir *self, struct mq_transfer *transfer, const char *what, int error)
{
    char reason[MQ_TARGET_REPLY_MAX];
    snprintf(reason, sizeof reason, "%.150s: %s: %.60s", self->path, what, strerror(error));
    if (error == EFBIG) { /* the file is too big; smaller mails can go on */
        mq_transport_set_results(&self->transport, transfer, MQ_OUTCOME_DENIED, 0, reason);
        transfer->enter(transfer, MQ_PHASE_REFUSED);
        mq_transport_give_back(&self->transport, transfer, MQ_TRANSFER_DONE);
        return;
    }
    mq_transport_give_back(&self->transport, transfer, MQ_TRANSFER_UNTOUCHED);
    mq_transport_in_trouble(&self->transport, reason, 0);
    mq_transport_return_pending(&self->transport);
}

static void uncertain(struct maildir *self, struct mq_transfer *transfer, const char *what,
                      int error)
{
    char reply[MQ_TARGET_REPLY_MAX];
    snprintf(reply, sizeof reply, "%s: %.100s", what, strerror(error));
    mq_transport_set_results(&self->transport, transfer, MQ_OUTCOME_UNCERTAIN, 0, reply);
}

static void put_in_place(struct maildir *self, struct mq_transfer *transfer, struct file *file)
{
    if (rename(file->temporary, file->final) != 0) {
        int error = errno;
        if (unlink(file->temporary) != 0) { /* on NFS the reply may be lost, not the rename */
            uncertain(self, transfer, "the file may be in new", error);
            mq_transport_give_back(&self->transport, transfer, MQ_TRANSFER_DONE);
            return;
        }
        transfer->enter(transfer, MQ_PHASE_ENVELOPE); /* back to ENVELOPE: not delivered */
        failed(self, transfer, "cannot move a file into new", error);
        return;
    }
    int error = sync_directory(self->path, "/new");
    if (error == 0) {
        mq_transport_set_results(&self->transport, transfer, MQ_OUTCOME_DELIVERED, 0,
                                 "accepted into a file");
        transfer->enter(transfer, MQ_PHASE_ACCEPTED);
    } else { /* the file exists, but a power failure may undo it */
        uncertain(self, transfer, "the directory could not be synced", error);
    }
    mq_transport_give_back(&self->transport, transfer, MQ_TRANSFER_DONE);
}

static void deliver(struct maildir *self, struct mq_transfer *transfer)
{
    struct file file = {.failed = NULL};
    int64_t began_us = mq_transport_now_us(&self->transport);
    if (!transfer->enter(transfer, MQ_PHASE_ENVELOPE)) {
        mq_transport_give_back(&self->transport, transfer, MQ_TRANSFER_LEASE_OVER);
        return;
    }
    name_file(self, &file);
    int error = write_temporary(&file, transfer);
    if (error != 0) {
        failed(self, transfer, file.failed, error);
        return;
    }
    if (!transfer->enter(transfer, MQ_PHASE_BODY)) {
        unlink(file.temporary);
        mq_transport_give_back(&self->transport, transfer, MQ_TRANSFER_LEASE_OVER);
        return;
    }
    put_in_place(self, transfer, &file);
    transfer->ms = (mq_transport_now_us(&self->transport) - began_us) / 1000;
}

/* ---- the transport ---- */

static size_t maildir_capacity(const struct mq_transport *transport, bool just_in_time)
{
    size_t taken = transport->pending.count + transport->done.count;
    size_t most = just_in_time ? 1 : CAPACITY;
    return taken < most ? most - taken : 0;
}

static enum mq_status maildir_step(struct mq_transport *transport, int64_t timeout_ms,
                                   struct mq_error *err)
{
    struct mq_transfer *transfer = mq_transfer_take(&transport->pending, NULL);
    (void)timeout_ms; /* disk writes have no timeout */
    (void)err;
    if (transfer != NULL) {
        deliver(self_of(transport), transfer);
    }
    return MQ_OK;
}

static void maildir_free(struct mq_transport *transport)
{
    free(self_of(transport)->path);
}

/* Replaces '/' and ':', which a Maildir's file names cannot have: ':' begins the flags. */
static void name_host(struct maildir *self)
{
    if (gethostname(self->host, sizeof self->host - 1) != 0 || self->host[0] == '\0') {
        memcpy(self->host, "localhost", sizeof "localhost");
    }
    for (char *p = self->host; *p != '\0'; p++) {
        *p = *p == '/' || *p == ':' ? '_' : *p;
    }
}

static enum mq_status bad_directory(const char *path, int error, struct mq_error *err)
{
    return mq_error_set(err, MQ_CONFIG, "transport",
                        "transport: file://%.300s cannot be used: %s; give a directory that this "
                        "user may write to, or one that can be created in such a directory",
                        path, strerror(error));
}

/* Syncs the parent directory, so that the new directory's name survives a power cut. */
static int sync_parent(const char *path)
{
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", path);
    *strrchr(parent, '/') = '\0';
    int error = sync_directory(parent, "/");
    return error == EACCES ? 0 : error; /* writable but not readable: cannot be opened for a sync */
}

/* Creates the directory unless it exists; returns 0 or an errno value. */
static int make_directory(const char *path)
{
    struct stat info;
    if (mkdir(path, 0700) == 0) {
        return sync_parent(path);
    }
    if (errno != EEXIST || stat(path, &info) != 0) {
        return errno;
    }
    if (!S_ISDIR(info.st_mode)) {
        return ENOTDIR;
    }
    return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static enum mq_status make_directories(const char *path, struct mq_error *err)
{
    static const char *const parts[] = {"", "/tmp", "/new", "/cur"};
    char full[PATH_MAX];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int n = snprintf(full, sizeof full, "%s%s", path, parts[i]);
        int error = n < PATH_MAX - NAME_MAX - 2 ? make_directory(full) : ENAMETOOLONG;
        if (error != 0) {
            return bad_directory(full, error, err);
        }
    }
    return MQ_OK;
}

enum mq_status mq_maildir_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                              struct mq_transport **out, struct mq_error *err)
{
    static const struct mq_transport_ops ops = {
        .capacity = maildir_capacity, .step = maildir_step, .free = maildir_free};
    struct maildir *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return mq_error_nomem(err);
    }
    self->transport.ops = &ops;
    self->transport.clock = options->clock;
    self->transport.name = mq_dsn_redacted(dsn);
    self->path = dsn->path;
    dsn->path = NULL;
    enum mq_status status =
        self->transport.name ? make_directories(self->path, err) : mq_error_nomem(err);
    if (status != MQ_OK) {
        mq_transport_free(&self->transport);
        return status;
    }
    name_host(self);
    *out = &self->transport;
    return MQ_OK;
}
