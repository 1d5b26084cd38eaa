/* The addresses that an attempt sends to: after the test redirect, without repeats, as many as the
 * tokens allow. */
#include "queue/redirect.h"

#include <stdlib.h>
#include <string.h>

#include "queue/config/settings.h"
#include "queue/job.h"

static struct mq_str domain_of(struct mq_str address)
{
    for (size_t i = address.len; i > 0; i--) {
        if (address.data[i - 1] == '@') {
            return (struct mq_str){address.data + i, address.len - i};
        }
    }
    return (struct mq_str){NULL, 0};
}

/* Case matters in local parts, but not in domains (RFC 5321, section 2.4). */
static bool same_address(struct mq_str a, struct mq_str b)
{
    struct mq_str domain = domain_of(a);
    size_t local = a.len - domain.len;
    return a.len == b.len && domain_of(b).len == domain.len && memcmp(a.data, b.data, local) == 0 &&
           mq_str_equal_nocase(domain, domain_of(b));
}

/* Whether the recipient gets its mail although the rest is redirected. */
static bool allowed(const struct mq_settings *settings, const char *recipient)
{
    struct mq_str address = mq_str_of(recipient);
    for (size_t i = 0; i < settings->allow_to.count; i++) {
        struct mq_str one = mq_str_of(settings->allow_to.items[i]);
        bool is_domain = one.data[0] == '@';
        if (is_domain && mq_str_equal_nocase(domain_of(address), domain_of(one))) {
            return true;
        }
        if (!is_domain && same_address(address, one)) {
            return true;
        }
    }
    return false;
}

static bool redirected(const struct mq_job *job, const struct mq_settings *settings)
{
    if (!settings->redirect_to) {
        return false;
    }
    bool listed = mq_strings_contains(&settings->redirect_types, job->mail_type);
    return listed != settings->redirect_all_but;
}

/* The target of one recipient: a view of the recipient, of the setting, or of `room`. */
static struct mq_str target_for(const char *recipient, const char *redirect_to,
                                struct mq_buffer *room)
{
    struct mq_str address = mq_str_of(recipient);
    if (!redirect_to || redirect_to[0] != '@') {
        return redirect_to ? mq_str_of(redirect_to) : address;
    }
    size_t domain = domain_of(address).len;
    size_t local = address.len - domain - (domain ? 1 : 0);
    mq_buffer_reset(room);
    mq_buffer_append(room, recipient, local);
    mq_buffer_cstr(room, redirect_to);
    return mq_buffer_view(room);
}

/* Finds the index of `target` among the targets. Adds it if it is not there and they are fewer than
 * `most`; otherwise *index is -1. Returns false without memory. */
static bool find_target(struct mq_strings *targets, struct mq_str target, int64_t most, int *index)
{
    *index = -1;
    for (size_t i = 0; i < targets->count; i++) {
        if (same_address(mq_str_of(targets->items[i]), target)) {
            *index = (int)i;
            return true;
        }
    }
    if ((int64_t)targets->count >= most) {
        return true;
    }
    *index = (int)targets->count;
    return mq_strings_add(targets, target);
}

enum mq_status mq_job_set_targets(struct mq_job *job, const struct mq_settings *settings,
                                  int64_t tokens, struct mq_error *err)
{
    const char *to = redirected(job, settings) ? settings->redirect_to : NULL;
    struct mq_buffer room = {0};
    struct mq_buffer original = {0};
    size_t count = job->recipients.count;
    mq_strings_clear(&job->targets);
    free(job->target_of);
    free(job->original_to);
    job->original_to = NULL;
    job->target_of = count ? calloc(count, sizeof(*job->target_of)) : NULL;
    bool ok = job->target_of || !count;
    for (size_t i = 0; i < count && ok; i++) {
        const char *recipient = job->recipients.items[i];
        const char *instead = to && !allowed(settings, recipient) ? to : NULL;
        job->target_of[i] = -1;
        if (i < MQ_RECIPIENTS_MAX) {
            struct mq_str target = target_for(recipient, instead, &room);
            ok = find_target(&job->targets, target, tokens, &job->target_of[i]) && !room.failed;
        }
        if (instead && job->target_of[i] >= 0) {
            mq_buffer_cstr(&original, original.len ? ", " : "");
            mq_buffer_cstr(&original, recipient);
        }
    }
    ok = ok && !original.failed;
    job->original_to = mq_buffer_take(&original);
    mq_buffer_clear(&original);
    mq_buffer_clear(&room);
    return ok ? MQ_OK : mq_error_nomem(err);
}

int64_t mq_job_reach(const struct mq_job *job)
{
    size_t count = job->recipients.count;
    return (int64_t)(count < MQ_RECIPIENTS_MAX ? count : MQ_RECIPIENTS_MAX);
}
