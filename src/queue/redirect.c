/* Who a job goes to this time: the test redirect, equal addresses once, as far as tokens reach. */
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

/* Local parts may differ by case, domains do not (RFC 5321, section 2.4). */
static bool same_address(struct mq_str a, struct mq_str b)
{
    struct mq_str domain = domain_of(a);
    size_t local = a.len - domain.len;
    return a.len == b.len && domain_of(b).len == domain.len && memcmp(a.data, b.data, local) == 0 &&
           mq_str_equal_nocase(domain, domain_of(b));
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

/* The place of `target` among the targets; added while there are fewer than `most`. -1: no room.
 * -2: no memory. */
static int place(struct mq_strings *targets, struct mq_str target, int64_t most)
{
    for (size_t i = 0; i < targets->count; i++) {
        if (same_address(mq_str_of(targets->items[i]), target)) {
            return (int)i;
        }
    }
    if ((int64_t)targets->count >= most) {
        return -1;
    }
    return mq_strings_add(targets, target) ? (int)targets->count - 1 : -2;
}

static void note_original(struct mq_buffer *out, const char *recipient)
{
    mq_buffer_cstr(out, out->len ? ", " : "");
    mq_buffer_cstr(out, recipient);
}

/* Fills targets and target_of; false without memory. */
static bool choose(struct mq_job *job, const char *redirect_to, int64_t most,
                   struct mq_buffer *original)
{
    struct mq_buffer room;
    bool ok = true;
    mq_buffer_init(&room);
    for (size_t i = 0; i < job->recipients.count && ok; i++) {
        const char *recipient = job->recipients.items[i];
        job->target_of[i] = -1;
        if (i >= MQ_JOB_RECIPIENTS_MAX) {
            continue;
        }
        struct mq_str target = target_for(recipient, redirect_to, &room);
        job->target_of[i] = place(&job->targets, target, most);
        ok = job->target_of[i] != -2 && !room.failed;
        if (redirect_to && job->target_of[i] >= 0) {
            note_original(original, recipient);
        }
    }
    mq_buffer_clear(&room);
    return ok;
}

enum mq_status mq_job_set_targets(struct mq_job *job, const struct mq_settings *settings,
                                  int64_t tokens, struct mq_error *err)
{
    mq_strings_clear(&job->targets);
    free(job->target_of);
    free(job->original_to);
    job->target_of = NULL;
    job->original_to = NULL;
    if (job->recipients.count == 0) {
        return MQ_OK;
    }
    job->target_of = calloc(job->recipients.count, sizeof(*job->target_of));
    if (!job->target_of) {
        return mq_error_nomem(err);
    }
    struct mq_buffer original;
    mq_buffer_init(&original);
    const char *to = redirected(job, settings) ? settings->redirect_to : NULL;
    bool ok = choose(job, to, tokens, &original) && !original.failed;
    job->original_to = mq_buffer_take(&original);
    mq_buffer_clear(&original);
    return ok ? MQ_OK : mq_error_nomem(err);
}
