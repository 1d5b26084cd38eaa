/* sendmail:// starts a local program for each mail; several run at once.
 *
 * A transfer goes from pending to a slot, while its program runs, and then to done. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "send/dsn.h"
#include "send/factory.h"
#include "send/sendmail/command.h"
#include "send/sendmail/exit_code.h"
#include "send/sendmail/process.h"

#define TERM_WAIT_MS  5000 /* from SIGTERM, when a program's time is over, to SIGKILL */
#define ABORT_WAIT_MS 1000 /* from SIGTERM to SIGKILL when sending is stopped */
#define KILL_WAIT_MS  500  /* from SIGKILL until a program is left alone */
#define LOOK_EVERY_MS 20   /* how often to look at programs without a pid_fd */
#define RAISE_MS      1000 /* after a shortage, one more program is tried each time */

struct slot {
    struct mq_process process;
    struct mq_transfer *transfer; /* NULL: free */
    int64_t began_us;
    int64_t signal_ms; /* boot time of the next signal: SIGTERM, then SIGKILL */
    int signals;       /* how many were sent */
};

struct pool {
    struct mq_transport transport; /* first */
    struct mq_strings words;       /* the program and its options */
    bool takes_status;             /* the program takes -N, -R and -V */
    int64_t timeout_ms;            /* of one program */
    size_t limit;                  /* programs at once; lowered if the system cannot run so many */
    int64_t raise_ms;              /* boot time when a lowered limit rises next */
    size_t busy;
    struct slot *slots;
    size_t slot_count;
    struct pollfd *polled; /* two per slot */
};

static struct pool *pool_of(struct mq_transport *transport)
{
    return (struct pool *)transport;
}

static void note_trouble(struct pool *pool, const char *reason)
{
    char text[MQ_TARGET_REPLY_MAX];
    snprintf(text, sizeof text, "%.60s: %.190s", pool->words.items[0], reason);
    mq_transport_in_trouble(&pool->transport, text, 0);
    mq_transport_return_pending(&pool->transport);
}

/* The action for SIGCHLD belongs to the process, and threads can have pools at the same time: the
 * last pool restores the old action. */
static struct {
    pthread_mutex_t lock;
    struct sigaction before;
    int pools;
    bool changed;
} children = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Stops ignoring SIGCHLD: while it is ignored, the system discards exit codes. Called at each
 * start, because PHP code of the run may ignore it again between two programs. */
static void keep_exit_codes(void)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    struct sigaction now;
    pthread_mutex_lock(&children.lock);
    sigaction(SIGCHLD, NULL, &now);
    if (now.sa_handler == SIG_IGN || (now.sa_flags & SA_NOCLDWAIT) != 0) {
        children.before = children.changed ? children.before : now;
        children.changed = true;
        sigaction(SIGCHLD, &action, NULL);
    }
    pthread_mutex_unlock(&children.lock);
}

static void count_pools(int change)
{
    pthread_mutex_lock(&children.lock);
    children.pools += change;
    if (children.pools == 0 && children.changed) {
        children.changed = false;
        sigaction(SIGCHLD, &children.before, NULL);
    }
    pthread_mutex_unlock(&children.lock);
}

/* ---- the start of a program ---- */

static bool is_shortage(int error)
{
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

/* If the system gives no more processes or descriptors, those that run are the limit for now. If
 * none runs, or the program cannot be started at all, no mail can go this way. */
static void cannot_start(struct pool *pool, struct mq_transfer *transfer, int error)
{
    char reason[128];
    if (is_shortage(error) && pool->busy > 0) {
        pool->limit = pool->busy;
        pool->raise_ms = mq_transport_boot_ms(&pool->transport) + RAISE_MS;
        mq_transfer_prepend(&pool->transport.pending, transfer);
        return;
    }
    mq_transport_give_back(&pool->transport, transfer, MQ_TRANSFER_UNTOUCHED);
    snprintf(reason, sizeof reason, "%s%s", strerror(error),
             error == ENOENT    ? "; install it, or give another transport"
             : error == ENOEXEC ? "; a script needs a first line such as #!/bin/sh"
                                : "");
    note_trouble(pool, reason);
}

/* Writes the mail into a file without a name. For a program, the end of its input is the end of the
 * mail, so the input must not come from a process that may die. */
static int open_input(const struct mq_transfer *transfer, int *input)
{
    *input = memfd_create("mail", MFD_CLOEXEC);
    if (*input < 0) {
        return errno;
    }
    int error = mq_transfer_write(transfer, "", *input);
    if (error == 0 && lseek(*input, 0, SEEK_SET) < 0) {
        error = errno;
    }
    return error;
}

static void start(struct pool *pool, struct slot *slot, struct mq_transfer *transfer, int input)
{
    if (!transfer->enter(transfer, MQ_PHASE_BODY)) {
        mq_transport_give_back(&pool->transport, transfer, MQ_TRANSFER_LEASE_OVER);
        return;
    }
    slot->began_us = mq_transport_now_us(&pool->transport);
    char **argv = mq_sendmail_command_argv(&pool->words, transfer, pool->takes_status);
    keep_exit_codes();
    int error = argv ? mq_process_start(&slot->process, input, argv, MQ_SENDMAIL_DEPTH) : ENOMEM;
    free(argv);
    if (error != 0) {
        transfer->enter(transfer, MQ_PHASE_ENVELOPE); /* back from BODY: nothing ran */
        cannot_start(pool, transfer, error);
        return;
    }
    slot->transfer = transfer;
    slot->signals = 0;
    slot->signal_ms = mq_transport_boot_ms(&pool->transport) + pool->timeout_ms;
    pool->busy++;
}

static void begin(struct pool *pool, struct slot *slot, struct mq_transfer *transfer)
{
    int input = -1;
    if (!transfer->enter(transfer, MQ_PHASE_ENVELOPE)) {
        mq_transport_give_back(&pool->transport, transfer, MQ_TRANSFER_LEASE_OVER);
        return;
    }
    int error = open_input(transfer, &input);
    if (error == 0) {
        start(pool, slot, transfer, input);
    } else {
        cannot_start(pool, transfer, error);
    }
    if (input >= 0) {
        close(input);
    }
}

static void raise_limit(struct pool *pool)
{
    int64_t now_ms = mq_transport_boot_ms(&pool->transport);
    if (pool->limit < pool->slot_count && now_ms >= pool->raise_ms) {
        pool->limit++;
        pool->raise_ms = now_ms + RAISE_MS;
    }
}

static void begin_pending(struct pool *pool)
{
    raise_limit(pool);
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->busy >= pool->limit || pool->transport.pending.count == 0) {
            return;
        }
        if (pool->slots[i].transfer == NULL) {
            begin(pool, &pool->slots[i], mq_transfer_take(&pool->transport.pending, NULL));
        }
    }
}

/* ---- the end of a program ---- */

static void describe(const struct pool *pool, const struct slot *slot, int status,
                     char reply[MQ_TARGET_REPLY_MAX])
{
    struct mq_str printed = {slot->process.tail, slot->process.tail_len};
    if (mq_sendmail_judge(status) == MQ_OUTCOME_DELIVERED) {
        snprintf(reply, MQ_TARGET_REPLY_MAX, "accepted by %.200s", pool->words.items[0]);
    } else if (slot->signals > 0 && pool->transport.stopped) {
        snprintf(reply, MQ_TARGET_REPLY_MAX, "sending was stopped, the program was ended");
    } else if (slot->signals > 0) {
        snprintf(reply, MQ_TARGET_REPLY_MAX, "did not end within %.3g s and was ended",
                 (double)pool->timeout_ms / 1000);
    } else {
        mq_sendmail_describe(status, printed, reply);
    }
}

/* Ends the transfer of a slot; `status` is as for mq_sendmail_judge(). */
static void finish(struct pool *pool, struct slot *slot, int status)
{
    struct mq_transfer *transfer = slot->transfer;
    enum mq_outcome result = mq_sendmail_judge(status);
    char reply[MQ_TARGET_REPLY_MAX];
    describe(pool, slot, status, reply);
    mq_process_clear(&slot->process);
    slot->transfer = NULL;
    pool->busy--;
    if (result == MQ_OUTCOME_RELEASED) {
        transfer->enter(transfer, MQ_PHASE_ENVELOPE); /* as if it had never been begun */
        mq_transport_give_back(&pool->transport, transfer, MQ_TRANSFER_UNTOUCHED);
        note_trouble(pool, reply);
        return;
    }
    transfer->ms = (mq_transport_now_us(&pool->transport) - slot->began_us) / 1000;
    mq_transport_set_results(&pool->transport, transfer, result, 0, reply);
    if (result == MQ_OUTCOME_DELIVERED) {
        transfer->enter(transfer, MQ_PHASE_ACCEPTED);
    } else if (result != MQ_OUTCOME_UNCERTAIN) {
        transfer->enter(transfer, MQ_PHASE_REFUSED);
    }
    mq_transport_give_back(&pool->transport, transfer, MQ_TRANSFER_DONE);
}

/* Reads output. If the program has ended, ends the transfer; if its time is over, signals it. */
static void look_at(struct pool *pool, struct slot *slot)
{
    mq_process_read(&slot->process);
    if (mq_process_ended(&slot->process)) {
        finish(pool, slot, slot->process.status);
        return;
    }
    if (mq_transport_boot_ms(&pool->transport) < slot->signal_ms) {
        return;
    }
    if (slot->signals == 2) { /* SIGKILL failed: another user's program, or hung in the kernel */
        finish(pool, slot, -1);
        return;
    }
    mq_process_signal(&slot->process, slot->signals == 0 ? SIGTERM : SIGKILL);
    slot->signal_ms =
        mq_transport_boot_ms(&pool->transport) + (slot->signals == 0 ? TERM_WAIT_MS : KILL_WAIT_MS);
    slot->signals++;
}

static void look(struct pool *pool)
{
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].transfer != NULL) {
            look_at(pool, &pool->slots[i]);
        }
    }
}

/* Waits once until a program prints or ends, or is due for a signal; false: a signal came. */
static bool wait_once(struct pool *pool, int64_t timeout_ms)
{
    nfds_t n = 0;
    for (size_t i = 0; i < pool->slot_count; i++) {
        const struct slot *slot = &pool->slots[i];
        if (slot->transfer == NULL) {
            continue;
        }
        pool->polled[n++] = (struct pollfd){slot->process.pid_fd, POLLIN, 0};
        pool->polled[n++] = (struct pollfd){slot->process.output_fd, POLLIN, 0};
        int64_t left_ms = slot->signal_ms - mq_transport_boot_ms(&pool->transport);
        int64_t most_ms =
            slot->process.pid_fd < 0 && left_ms > LOOK_EVERY_MS ? LOOK_EVERY_MS : left_ms;
        timeout_ms = most_ms < timeout_ms ? most_ms : timeout_ms;
    }
    timeout_ms = timeout_ms < 0 ? 0 : timeout_ms > 60000 ? 60000 : timeout_ms;
    return poll(pool->polled, n, (int)timeout_ms) >= 0 || errno != EINTR;
}

/* Signals all running programs to end, and waits for them at most wait_ms. */
static void end_all(struct pool *pool, int signal_number, int64_t wait_ms)
{
    int64_t until_ms = mq_clock_monotonic_ms() + wait_ms;
    for (size_t i = 0; i < pool->slot_count; i++) {
        struct slot *slot = &pool->slots[i];
        if (slot->transfer != NULL) {
            mq_process_signal(&slot->process, signal_number);
            slot->signals = 1;
            slot->signal_ms = INT64_MAX;
        }
    }
    while (pool->busy > 0 && mq_clock_monotonic_ms() < until_ms) {
        wait_once(pool, until_ms - mq_clock_monotonic_ms());
        look(pool);
    }
}

/* ---- the transport ---- */

static size_t op_capacity(const struct mq_transport *transport, bool just_in_time)
{
    const struct pool *pool = (const struct pool *)transport;
    size_t taken = pool->busy + transport->pending.count;
    (void)just_in_time; /* each begins at once */
    return taken < pool->limit ? pool->limit - taken : 0;
}

static enum mq_status op_step(struct mq_transport *transport, int64_t timeout_ms,
                              struct mq_error *err)
{
    struct pool *pool = pool_of(transport);
    bool troubled = transport->troubled;
    int64_t until_ms = mq_clock_monotonic_ms() + timeout_ms;
    (void)err;
    for (;;) {
        begin_pending(pool);
        look(pool);
        if (transport->done.count > 0 || transport->troubled != troubled) {
            return MQ_OK;
        }
        int64_t left_ms = until_ms - mq_clock_monotonic_ms();
        if (left_ms <= 0 || !wait_once(pool, left_ms)) {
            look(pool);
            return MQ_OK;
        }
    }
}

static void op_abort(struct mq_transport *transport)
{
    struct pool *pool = pool_of(transport);
    look(pool);
    end_all(pool, SIGTERM, ABORT_WAIT_MS);
    end_all(pool, SIGKILL, KILL_WAIT_MS);
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].transfer != NULL) {
            finish(pool, &pool->slots[i], -1);
        }
    }
}

static void op_free(struct mq_transport *transport)
{
    struct pool *pool = pool_of(transport);
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].transfer != NULL) { /* only if abort() was not called */
            mq_process_signal(&pool->slots[i].process, SIGTERM);
            mq_process_clear(&pool->slots[i].process);
        }
    }
    count_pools(-1);
    mq_strings_clear(&pool->words);
    free(pool->slots);
    free(pool->polled);
}

/* Takes the DSN's command, or php.ini's sendmail_path, and checks it. */
static enum mq_status read_command(struct pool *pool, struct mq_dsn *dsn,
                                   const struct mq_transport_options *options, struct mq_error *err)
{
    const char *standard = options->sendmail_path;
    if (dsn->command.count > 0 && options->no_command) {
        return mq_error_set(err, MQ_CONFIG, "transport",
                            "transport: disable_functions in php.ini forbids starting programs "
                            "(proc_open); remove the option command, then sendmail_path is used");
    }
    if (dsn->command.count == 0 && (standard == NULL || standard[0] == '\0')) {
        return mq_error_set(err, MQ_CONFIG, "transport",
                            "transport: sendmail:// has no program: set sendmail_path in php.ini, "
                            "or write sendmail://default?command=/usr/sbin/sendmail%%20-t%%20-i");
    }
    if (dsn->command.count == 0) {
        MQ_TRY(mq_dsn_split_command(mq_str_of(standard), &dsn->command, err));
    }
    pool->transport.name = mq_dsn_redacted(dsn);
    pool->words = dsn->command;
    dsn->command = (struct mq_strings){0};
    MQ_TRY(mq_sendmail_command_parse(&pool->words, err));
    return mq_sendmail_command_check(&pool->words, options->own_program, err);
}

enum mq_status mq_sendmail_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                               struct mq_transport **out, struct mq_error *err)
{
    static const struct mq_transport_ops ops = {
        .capacity = op_capacity, .step = op_step, .abort = op_abort, .free = op_free};
    struct pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return mq_error_nomem(err);
    }
    count_pools(1);
    pool->transport.ops = &ops;
    pool->transport.clock = options->clock;
    pool->timeout_ms = dsn->final_timeout_ms;
    pool->limit = (size_t)options->connections;
    enum mq_status status = read_command(pool, dsn, options, err);
    pool->slots = calloc(pool->limit, sizeof *pool->slots);
    pool->polled = calloc(2 * pool->limit, sizeof *pool->polled);
    if (status == MQ_OK && (!pool->transport.name || !pool->slots || !pool->polled)) {
        status = mq_error_nomem(err);
    }
    if (status != MQ_OK) {
        mq_transport_free(&pool->transport);
        return status;
    }
    pool->takes_status = mq_sendmail_command_takes_status(&pool->words);
    pool->slot_count = pool->limit;
    *out = &pool->transport;
    return MQ_OK;
}
