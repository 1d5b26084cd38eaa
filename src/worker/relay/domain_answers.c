/* A table of the domains that mail went to lately. A run without failures only adds to it: nothing
 * is stored until a recipient fails, or while a domain is slowed down. */
#include "worker/relay/domain_answers.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "core/hash.h"
#include "policy/reply.h"
#include "queue/config/slow.h"
#include "worker/deliveries.h"
#include "worker/run.h"

#define ENTRIES  512
#define PROBES   8
#define PERIOD_S 600 /* after so long, a domain's counts begin at 0 */
#define EVERY_MS 5000
#define SOON_MS  200 /* if a domain fails that often: */
#define MANY     10
#define AFTER_MS 60000 /* a transaction that failed */
#define AT_ONCE  32    /* domains in a transaction */
#define OTHERS   3     /* so many other domains show that it is not this one's fault */

struct domain {
    uint64_t hash;
    char *name;  /* NULL: none of its recipients has failed */
    char *reply; /* to the last one that did; NULL: stored already */
    int64_t since_s;
    int64_t good, bad;
    int64_t good_kept, bad_kept; /* which the queue has counted */
    bool slow;
};

struct mq_domains {
    struct domain entries[ENTRIES];
    bool news;
    bool urgent;     /* a domain has many failures that are not counted */
    int64_t next_ms; /* CLOCK_BOOTTIME, as the next one */
    int64_t soon_ms; /* not before then, however urgent */
};

/* ---- the table ---- */

/* The address from its last @ on; empty if it has none. */
static struct mq_str domain_of(const char *address)
{
    const char *at = strrchr(address, '@');
    return mq_str_of(at ? at : "");
}

static void forget(struct domain *domain)
{
    free(domain->name);
    free(domain->reply);
    *domain = (struct domain){0};
}

/* Finds a domain's entry, or makes one. NULL: too many others fail. */
static struct domain *find(struct mq_domains *all, struct mq_str name, int64_t now_s)
{
    uint64_t hash = mq_hash_lower(name);
    struct domain *entry = NULL;
    for (size_t i = 0; i < PROBES; i++) {
        struct domain *one = &all->entries[(hash + i) % ENTRIES];
        bool old = now_s - one->since_s >= PERIOD_S || now_s < one->since_s;
        if (old) {
            one->good = one->bad = one->good_kept = one->bad_kept = 0;
            one->since_s = now_s;
        }
        if (one->hash == hash) {
            return one;
        }
        bool needed = one->name && (one->slow || !old);
        entry = !entry && !needed ? one : entry;
    }
    if (entry) {
        forget(entry);
        entry->hash = hash;
        entry->since_s = now_s;
    }
    return entry;
}

static bool name_it(struct domain *domain, struct mq_str name)
{
    if (!domain->name) {
        domain->name = mq_str_dup(name);
        for (char *c = domain->name; c && *c; c++) {
            *c = mq_ascii_lower(*c);
        }
    }
    return domain->name != NULL;
}

static struct mq_domains *table_of(struct mq_run *run)
{
    if (!run->domains) {
        run->domains = calloc(1, sizeof(*run->domains));
        if (run->domains) { /* the first failure is counted with what went well */
            run->domains->next_ms = mq_run_now_ms(run) + EVERY_MS;
        }
    }
    return run->domains;
}

void mq_domains_free(struct mq_domains *domains)
{
    for (size_t i = 0; domains && i < ENTRIES; i++) {
        forget(&domains->entries[i]);
    }
    free(domains);
}

/* ---- what is noted ---- */

/* Whether this was decided about the recipients or their mail: not before it was asked, and not
 * about the sender alone. */
static bool is_about_recipients(const char *phase)
{
    return phase && mq_str_word(mq_str_of(phase), "rcpt data dot handover", mq_str_equal) >= 0;
}

static void note(struct mq_run *run, const char *address, bool bad, const char *reply)
{
    struct mq_domains *all = table_of(run);
    struct mq_str name = domain_of(address);
    struct domain *domain = all && name.len ? find(all, name, mq_run_now_s(run)) : NULL;
    if (!domain || (bad && !name_it(domain, name))) {
        return;
    }
    domain->good += !bad;
    domain->bad += bad;
    all->news = all->news || bad || domain->slow;
    all->urgent = all->urgent || domain->bad - domain->bad_kept >= MANY;
    if (bad && reply) {
        free(domain->reply);
        domain->reply = mq_str_dup(mq_str_of(reply));
        if (domain->reply) {
            mq_reply_hide_addresses(domain->reply);
        }
    }
}

void mq_run_note_domains(struct mq_run *run, const struct mq_delivery *delivery)
{
    const struct mq_strings *recipients = &delivery->job.recipients;
    for (size_t i = 0; delivery->by_recipient && i < recipients->count; i++) {
        enum mq_outcome result = delivery->results[i];
        bool bad = (result == MQ_OUTCOME_DEFERRED || result == MQ_OUTCOME_REFUSED) &&
                   is_about_recipients(delivery->phases[i]);
        if (bad || result == MQ_OUTCOME_DELIVERED) {
            note(run, recipients->items[i], bad, delivery->replies[i]);
        }
    }
}

void mq_run_take_slow(struct mq_run *run, const struct mq_claim *claim)
{
    struct mq_str rest = mq_str_of(claim->slow);
    struct mq_domains *all = rest.len > 0 ? table_of(run) : NULL;
    while (all && rest.len > 0) {
        struct mq_str name = mq_str_cut_at(&rest, ' ');
        struct domain *domain = find(all, name, mq_run_now_s(run));
        if (domain && name_it(domain, name)) {
            domain->slow = true;
        }
    }
}

/* ---- what the queue counts ---- */

/* Whether most of the other domains fail, as if it were the relay's fault, or ours. */
static bool is_general(const struct mq_domains *all, const struct domain *but, int64_t now_s)
{
    int others = 0, failing = 0;
    for (size_t i = 0; i < ENTRIES; i++) {
        const struct domain *one = &all->entries[i];
        if (one != but && one->good + one->bad > 0 && now_s - one->since_s < PERIOD_S) {
            others++;
            failing += 4 * one->bad > one->good + one->bad;
        }
    }
    return others >= OTHERS && 2 * failing > others;
}

static bool has_news(const struct domain *domain)
{
    return domain->bad > domain->bad_kept || (domain->slow && domain->good > domain->good_kept);
}

static void counted(struct domain *domain, const struct mq_domain_seen *seen)
{
    domain->good_kept = domain->good;
    domain->bad_kept = domain->bad;
    domain->slow = seen->pause_s > 0;
    free(domain->reply);
    domain->reply = NULL;
}

/* Counts those with news, as many as one transaction takes; *more: there are others. */
static enum mq_status count_some(struct mq_run *run, bool *more)
{
    struct mq_domains *all = run->domains;
    struct domain *domains[AT_ONCE];
    struct mq_domain_seen seen[AT_ONCE];
    size_t count = 0;
    *more = false;
    for (size_t i = 0; i < ENTRIES && !*more; i++) {
        struct domain *one = &all->entries[i];
        *more = has_news(one) && count == AT_ONCE;
        if (has_news(one) && !*more) {
            domains[count] = one;
            seen[count++] = (struct mq_domain_seen){
                .domain = one->name,
                .seen = {one->good - one->good_kept, one->bad - one->bad_kept,
                         is_general(all, one, mq_run_now_s(run))},
                .reply = one->reply,
            };
        }
    }
    enum mq_status status =
        count > 0 ? mq_queue_count_domains(run->queue, seen, count, NULL) : MQ_OK;
    for (size_t i = 0; status == MQ_OK && i < count; i++) {
        counted(domains[i], &seen[i]);
    }
    return status;
}

void mq_run_count_domains(struct mq_run *run, bool ends)
{
    struct mq_domains *all = run->domains;
    int64_t now_ms = mq_run_now_ms(run);
    bool due = all && (ends || now_ms >= (all->urgent ? all->soon_ms : all->next_ms));
    if (!due || !all->news || mq_run_database_fails(run)) {
        return;
    }
    /* A failure is ignored: it is counted with the next ones. */
    bool done = count_some(run, &all->news) == MQ_OK;
    all->urgent = all->news;
    all->news = all->news || !done;
    all->next_ms = now_ms + (done ? EVERY_MS : AFTER_MS);
    all->soon_ms = now_ms + (done ? SOON_MS : AFTER_MS);
}
