/* sendmail://: hands mails to a local program, one process for each. */
#include "send/sendmail/sendmail.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "send/sendmail/children.h"
#include "send/sendmail/command.h"

static struct mq_sendmail_pool *pool_of(struct mq_transport *transport)
{
    return (struct mq_sendmail_pool *)transport;
}

static const struct mq_sendmail_pool *const_pool_of(const struct mq_transport *transport)
{
    return (const struct mq_sendmail_pool *)transport;
}

static size_t op_capacity(const struct mq_transport *transport, bool just_in_time)
{
    const struct mq_sendmail_pool *pool = const_pool_of(transport);
    size_t taken = pool->busy + transport->pending.count;
    (void)just_in_time; /* each begins at once */
    return taken < pool->limit ? pool->limit - taken : 0;
}

static enum mq_status op_step(struct mq_transport *transport, int64_t timeout_ms,
                              struct mq_error *err)
{
    struct mq_sendmail_pool *pool = pool_of(transport);
    bool troubled = transport->troubled;
    int64_t until_ms = mq_sendmail_real_ms() + timeout_ms;
    (void)err;
    for (;;) {
        mq_sendmail_pool_begin(pool);
        mq_sendmail_pool_look(pool);
        if (transport->done.count > 0 || transport->troubled != troubled) {
            return MQ_OK;
        }
        int64_t left_ms = until_ms - mq_sendmail_real_ms();
        if (left_ms <= 0 || !mq_sendmail_pool_wait(pool, left_ms)) {
            mq_sendmail_pool_look(pool);
            return MQ_OK;
        }
    }
}

static void op_abort(struct mq_transport *transport)
{
    mq_sendmail_pool_end(pool_of(transport));
}

static void op_free(struct mq_transport *transport)
{
    struct mq_sendmail_pool *pool = pool_of(transport);
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].transfer != NULL) { /* after an unwinding only */
            mq_process_signal(&pool->slots[i].process, SIGTERM);
            mq_process_clear(&pool->slots[i].process);
        }
    }
    mq_sendmail_pool_leave_children(pool);
    mq_strings_clear(&pool->words);
    free(pool->slots);
    free(pool->polled);
}

static enum mq_status command_of(const struct mq_dsn *dsn, const char *default_command,
                                 const char **out, struct mq_error *err)
{
    *out = dsn->command ? dsn->command : default_command;
    if (*out == NULL || **out == '\0') {
        return mq_error_set(err, MQ_CONFIG, "transport",
                            "transport: sendmail:// has no program: set sendmail_path in php.ini, "
                            "or write sendmail://default?command=/usr/sbin/sendmail%%20-t%%20-i");
    }
    return MQ_OK;
}

enum mq_status mq_sendmail_program(const char *command, char **out, struct mq_error *err)
{
    struct mq_strings words;
    mq_strings_init(&words);
    enum mq_status status = mq_sendmail_command_parse(command, &words, err);
    if (status == MQ_OK) {
        char *program = mq_str_dup(mq_str_of(words.items[0]));
        status = program ? MQ_OK : mq_error_nomem(err);
        *out = program ? program : *out;
    }
    mq_strings_clear(&words);
    return status;
}

/* The program, not its options: they may have a password. */
static char *name_of(char *command)
{
    static char scheme[] = "sendmail", host[] = "default";
    const struct mq_dsn shown = {.scheme = scheme, .host = host, .command = command};
    return mq_dsn_redacted(&shown);
}

enum mq_status mq_sendmail_new(const struct mq_dsn *dsn, const struct mq_sendmail_options *options,
                               struct mq_transport **out, struct mq_error *err)
{
    static const struct mq_transport_ops ops = {
        .capacity = op_capacity, .step = op_step, .abort = op_abort, .free = op_free};
    const char *command;
    char *copy = NULL;
    if (options->processes < 1) {
        return mq_error_set(err, MQ_INVALID, "processes", "processes must be at least 1");
    }
    struct mq_sendmail_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return mq_error_nomem(err);
    }
    pool->transport.ops = &ops;
    pool->transport.clock = options->clock;
    pool->timeout_ms = dsn->final_timeout_ms;
    pool->limit = (size_t)options->processes;
    mq_strings_init(&pool->words);
    enum mq_status status = command_of(dsn, options->default_command, &command, err);
    if (status == MQ_OK) {
        status = mq_sendmail_command_parse(command, &pool->words, err);
    }
    if (status == MQ_OK) {
        status = mq_sendmail_command_check(&pool->words, options->own_program, err);
    }
    if (status != MQ_OK) {
        goto out;
    }
    pool->takes_status = mq_sendmail_command_takes_status(&pool->words);
    copy = mq_str_dup(mq_str_of(command));
    pool->transport.name = copy ? name_of(copy) : NULL;
    pool->slots = calloc(pool->limit, sizeof *pool->slots);
    pool->polled = calloc(2 * pool->limit, sizeof *pool->polled);
    if (pool->transport.name == NULL || pool->slots == NULL || pool->polled == NULL) {
        status = mq_error_nomem(err);
        goto out;
    }
    pool->slot_count = pool->limit;
out:
    free(copy);
    if (status != MQ_OK) {
        mq_transport_free(&pool->transport);
        return status;
    }
    *out = &pool->transport;
    return MQ_OK;
}
