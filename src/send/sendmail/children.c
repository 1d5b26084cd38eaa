/* The programs that are running, and their timeouts. */
#include "send/sendmail/children.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "send/sendmail/command.h"
#include "send/sendmail/exit_code.h"

#define TERM_WAIT_MS  5000 /* from SIGTERM, when a program's time is over, to SIGKILL */
#define ABORT_WAIT_MS 1000 /* the same when sending is stopped */
#define KILL_WAIT_MS  500  /* what SIGKILL does not end is left alone */
#define LOOK_EVERY_MS 20   /* at programs whose end causes no event */

int64_t mq_sendmail_real_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t boot_ms(const struct mq_sendmail_pool *pool)
{
    return pool->transport.clock.boot_ms(pool->transport.clock.context);
}

static int64_t now_us(const struct mq_sendmail_pool *pool)
{
    return pool->transport.clock.now_us(pool->transport.clock.context);
}

static void note_trouble(struct mq_sendmail_pool *pool, const char *reason)
{
    char text[MQ_TARGET_REPLY_MAX];
    snprintf(text, sizeof text, "%.60s: %.190s", pool->words.items[0], reason);
    mq_transport_in_trouble(&pool->transport, text, 0);
    mq_transport_return_pending(&pool->transport);
}

/* ---- the start of one ---- */

/* Lines end with LF, as programs of the host expect. malloc'ed. */
static char *input_of(const struct mq_transfer *transfer, size_t *len)
{
    const struct mq_str parts[] = {transfer->prefix, transfer->message};
    char *out = malloc(transfer->prefix.len + transfer->message.len + 1);
    size_t n = 0;
    for (size_t part = 0; out != NULL && part < 2; part++) {
        if (parts[part].len == 0) {
            continue;
        }
        const char *at = parts[part].data;
        const char *end = at + parts[part].len;
        while (at < end) {
            const char *cr = memchr(at, '\r', (size_t)(end - at));
            const char *stop = cr ? cr : end;
            memcpy(out + n, at, (size_t)(stop - at));
            n += (size_t)(stop - at);
            at = stop;
            if (cr != NULL && cr + 1 < end && cr[1] == '\n') {
                at++;
            } else if (cr != NULL) {
                out[n++] = *at++;
            }
        }
    }
    *len = n;
    return out;
}

static int prepare(struct mq_sendmail_slot *slot, const struct mq_transfer *transfer)
{
    size_t len;
    char *input = input_of(transfer, &len);
    if (input == NULL) {
        return ENOMEM;
    }
    int error = mq_process_prepare(&slot->process, (struct mq_str){input, len});
    free(input);
    return error;
}

static bool is_shortage(int error)
{
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

/* The system gives no more processes or descriptors: with those that run, that is their number. If
 * none does, or the program cannot be started at all, no mail can go this way. */
static void cannot_start(struct mq_sendmail_pool *pool, struct mq_transfer *transfer, int error)
{
    char reason[128];
    if (is_shortage(error) && pool->busy > 0) {
        pool->limit = pool->busy;
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

static int run(struct mq_sendmail_pool *pool, struct mq_sendmail_slot *slot,
               const struct mq_transfer *transfer)
{
    char **argv = mq_sendmail_command_argv(&pool->words, transfer, pool->takes_status);
    if (argv == NULL) {
        return ENOMEM;
    }
    int error = mq_process_start(&slot->process, argv, MQ_SENDMAIL_DEPTH);
    free(argv);
    return error;
}

static void begin(struct mq_sendmail_pool *pool, struct mq_sendmail_slot *slot,
                  struct mq_transfer *transfer)
{
    if (!transfer->enter(transfer, MQ_PHASE_ENVELOPE)) {
        mq_transport_give_back(&pool->transport, transfer, MQ_TRANSFER_LEASE_OVER);
        return;
    }
    int error = prepare(slot, transfer);
    if (error != 0) {
        cannot_start(pool, transfer, error);
        return;
    }
    if (!transfer->enter(transfer, MQ_PHASE_BODY)) {
        mq_process_clear(&slot->process);
        mq_transport_give_back(&pool->transport, transfer, MQ_TRANSFER_LEASE_OVER);
        return;
    }
    slot->began_us = now_us(pool);
    error = run(pool, slot, transfer);
    if (error != 0) {
        mq_process_clear(&slot->process);
        transfer->enter(transfer, MQ_PHASE_ENVELOPE); /* nothing ran: the record says so again */
        cannot_start(pool, transfer, error);
        return;
    }
    slot->transfer = transfer;
    slot->signals = 0;
    slot->signal_ms = boot_ms(pool) + pool->timeout_ms;
    pool->busy++;
}

/* SIGCHLD is the process's: of the pools that overlap, as in threads, the first that changes it
 * keeps what was there, and the last one puts that back. */
static pthread_mutex_t child_lock = PTHREAD_MUTEX_INITIALIZER;
static int child_pools;
static struct sigaction child_before;

/* Where SIGCHLD is ignored, the system throws exit codes away. */
static void mind_children(struct mq_sendmail_pool *pool)
{
    struct sigaction now, action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&child_lock);
    bool known = sigaction(SIGCHLD, NULL, &now) == 0;
    bool ignored = !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN;
    bool changed = known && (ignored || (now.sa_flags & SA_NOCLDWAIT)) &&
                   sigaction(SIGCHLD, &action, NULL) == 0;
    if (changed) {
        child_before = now;
    }
    if ((changed || child_pools > 0) && !pool->child_held) {
        pool->child_held = true;
        child_pools++;
    }
    pthread_mutex_unlock(&child_lock);
}

void mq_sendmail_pool_leave_children(struct mq_sendmail_pool *pool)
{
    if (!pool->child_held) {
        return;
    }
    pool->child_held = false;
    pthread_mutex_lock(&child_lock);
    if (--child_pools == 0) {
        sigaction(SIGCHLD, &child_before, NULL);
    }
    pthread_mutex_unlock(&child_lock);
}

void mq_sendmail_pool_begin(struct mq_sendmail_pool *pool)
{
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->busy >= pool->limit || pool->transport.pending.count == 0) {
            return;
        }
        if (pool->slots[i].transfer == NULL) {
            mind_children(pool);
            begin(pool, &pool->slots[i], mq_transfer_take(&pool->transport.pending, NULL));
        }
    }
}

/* ---- the end of one ---- */

static void set_targets(struct mq_transfer *transfer, enum mq_outcome result, const char *reply)
{
    for (size_t i = 0; i < transfer->target_count; i++) {
        transfer->targets[i].result = result;
        transfer->targets[i].code = 0;
        snprintf(transfer->targets[i].reply, sizeof transfer->targets[i].reply, "%s", reply);
    }
}

static void describe(const struct mq_sendmail_pool *pool, const struct mq_sendmail_slot *slot,
                     int status, char reply[MQ_TARGET_REPLY_MAX])
{
    struct mq_str printed = {slot->process.tail, slot->process.tail_len};
    if (mq_sendmail_judge(status).result == MQ_OUTCOME_DELIVERED) {
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

/* `status` as mq_sendmail_judge() takes it. */
static void finish(struct mq_sendmail_pool *pool, struct mq_sendmail_slot *slot, int status)
{
    struct mq_transfer *transfer = slot->transfer;
    struct mq_sendmail_verdict verdict = mq_sendmail_judge(status);
    char reply[MQ_TARGET_REPLY_MAX];
    describe(pool, slot, status, reply);
    mq_process_clear(&slot->process);
    slot->transfer = NULL;
    pool->busy--;
    if (verdict.trouble) {
        transfer->enter(transfer, MQ_PHASE_ENVELOPE); /* as if it had never been begun */
        mq_transport_give_back(&pool->transport, transfer, MQ_TRANSFER_UNTOUCHED);
        note_trouble(pool, reply);
        return;
    }
    transfer->ms = (now_us(pool) - slot->began_us) / 1000;
    transfer->at_s = pool->transport.clock.now_s(pool->transport.clock.context);
    set_targets(transfer, verdict.result, reply);
    if (verdict.result == MQ_OUTCOME_DELIVERED) {
        transfer->enter(transfer, MQ_PHASE_ACCEPTED);
    } else if (verdict.result != MQ_OUTCOME_UNCERTAIN) {
        transfer->enter(transfer, MQ_PHASE_REFUSED);
    }
    mq_transport_give_back(&pool->transport, transfer, MQ_TRANSFER_DONE);
}

/* Reads what it printed, ends it where its time is over, and takes its end. */
static void look_at(struct mq_sendmail_pool *pool, struct mq_sendmail_slot *slot)
{
    mq_process_read(&slot->process);
    if (mq_process_ended(&slot->process)) {
        finish(pool, slot, slot->process.status);
        return;
    }
    if (boot_ms(pool) < slot->signal_ms) {
        return;
    }
    if (slot->signals == 2) { /* not even SIGKILL: it is another user's, or hangs in the kernel */
        finish(pool, slot, -1);
        return;
    }
    mq_process_signal(&slot->process, slot->signals == 0 ? SIGTERM : SIGKILL);
    slot->signal_ms = boot_ms(pool) + (slot->signals == 0 ? TERM_WAIT_MS : KILL_WAIT_MS);
    slot->signals++;
}

void mq_sendmail_pool_look(struct mq_sendmail_pool *pool)
{
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].transfer != NULL) {
            look_at(pool, &pool->slots[i]);
        }
    }
}

bool mq_sendmail_pool_wait(struct mq_sendmail_pool *pool, int64_t timeout_ms)
{
    nfds_t n = 0;
    for (size_t i = 0; i < pool->slot_count; i++) {
        const struct mq_sendmail_slot *slot = &pool->slots[i];
        if (slot->transfer == NULL) {
            continue;
        }
        pool->polled[n++] = (struct pollfd){slot->process.pid_fd, POLLIN, 0};
        pool->polled[n++] = (struct pollfd){slot->process.output_fd, POLLIN, 0};
        int64_t left_ms = slot->signal_ms - boot_ms(pool);
        int64_t most_ms =
            slot->process.pid_fd < 0 && left_ms > LOOK_EVERY_MS ? LOOK_EVERY_MS : left_ms;
        timeout_ms = most_ms < timeout_ms ? most_ms : timeout_ms;
    }
    timeout_ms = timeout_ms < 0 ? 0 : timeout_ms > 60000 ? 60000 : timeout_ms;
    return poll(pool->polled, n, (int)timeout_ms) >= 0 || errno != EINTR;
}

/* Tells all that run to end, and takes what they still say. */
static void end_all(struct mq_sendmail_pool *pool, int signal_number, int64_t wait_ms)
{
    int64_t until_ms = mq_sendmail_real_ms() + wait_ms;
    for (size_t i = 0; i < pool->slot_count; i++) {
        struct mq_sendmail_slot *slot = &pool->slots[i];
        if (slot->transfer != NULL) {
            mq_process_signal(&slot->process, signal_number);
            slot->signals = 1;
            slot->signal_ms = INT64_MAX;
        }
    }
    while (pool->busy > 0 && mq_sendmail_real_ms() < until_ms) {
        mq_sendmail_pool_wait(pool, until_ms - mq_sendmail_real_ms());
        mq_sendmail_pool_look(pool);
    }
}

void mq_sendmail_pool_end(struct mq_sendmail_pool *pool)
{
    mq_sendmail_pool_look(pool);
    end_all(pool, SIGTERM, ABORT_WAIT_MS);
    end_all(pool, SIGKILL, KILL_WAIT_MS);
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].transfer != NULL) {
            finish(pool, &pool->slots[i], -1);
        }
    }
}
