/* Counts what runs have seen of domains, and writes it to mailSlowDomains. */
#include <stdio.h>
#include <string.h>

#include "queue/config/keys.h"
#include "queue/config/slow.h"
#include "queue/sql/transaction.h"

/* The domain's entry, or room for one: where there is none, that of a domain that fails less often
 * and is not slowed down. NULL: none. */
static struct mq_slow_domain *entry_for(struct mq_slow_domains *all,
                                        const struct mq_domain_seen *seen)
{
    struct mq_slow_domain *least = NULL;
    for (size_t i = 0; i < all->count; i++) {
        struct mq_slow_domain *one = &all->items[i];
        if (strcmp(one->domain, seen->domain) == 0) {
            return one;
        }
        if (one->slow.pause_s == 0 && one->slow.bad < seen->seen.bad &&
            (!least || one->slow.bad < least->slow.bad)) {
            least = one;
        }
    }
    if (seen->seen.bad > 0 && all->count < MQ_SLOW_MAX) {
        least = &all->items[all->count++];
    }
    if (least) {
        *least = (struct mq_slow_domain){.slow = {0}};
        snprintf(least->domain, sizeof(least->domain), "%s", seen->domain);
    }
    return least;
}

static void count_one(struct mq_slow_domains *all, struct mq_domain_seen *seen, int64_t percent,
                      int64_t now_s)
{
    struct mq_slow_domain *entry = entry_for(all, seen);
    seen->pause_s = 0;
    if (!entry) {
        return;
    }
    mq_slowdown_count(&entry->slow, &seen->seen, percent, now_s);
    seen->pause_s = entry->slow.pause_s;
    if (seen->reply) {
        mq_str_printable(entry->reply, sizeof(entry->reply), 0, mq_str_of(seen->reply));
    }
}

static enum mq_status store(struct mq_tx *tx, const struct mq_slow_domains *all,
                            struct mq_error *err)
{
    struct mq_buffer out = {0};
    mq_slow_write(all, tx->now_s, &out);
    bool same = mq_str_equal(mq_buffer_view(&out), mq_str_of(tx->settings.slow_domains));
    enum mq_status status = out.failed ? mq_error_nomem(err) : MQ_OK;
    if (status == MQ_OK && !same) {
        status = mq_config_put(tx->queue, mq_config_keys[MQ_KEY_SLOW_DOMAINS].name, out.data, err);
    }
    mq_buffer_clear(&out);
    return status;
}

static enum mq_status count_all(struct mq_tx *tx, struct mq_domain_seen *domains, size_t count,
                                struct mq_error *err)
{
    struct mq_slow_domains all;
    MQ_TRY(mq_tx_settings(tx, err));
    if (tx->config != MQ_OK) {
        return MQ_OK;
    }
    MQ_TRY(mq_slow_read(tx->settings.slow_domains, &all, err));
    for (size_t i = 0; i < count; i++) {
        count_one(&all, &domains[i], tx->settings.slowdown, tx->now_s);
    }
    return store(tx, &all, err);
}

enum mq_status mq_queue_count_domains(struct mq_queue *queue, struct mq_domain_seen *domains,
                                      size_t count, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = count_all(&tx, domains, count, err);
    }
    return status;
}
