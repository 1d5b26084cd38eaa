/* At most so many deliveries to a domain of recipients under way in a run (config key
 * mailDomainSessions). The others are held apart from their route's list (run->kept), so that mail
 * to other domains goes on; if many of one domain are held, or of all, they go back. */
#ifndef MQ_WORKER_RELAY_KEPT_H
#define MQ_WORKER_RELAY_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct mq_claim;
struct mq_delivery;
struct mq_domain_sessions;
struct mq_run;

/* A domain that has a rule and deliveries. */
struct mq_domain_use {
    uint64_t hash;
    char *name;      /* with the @ before it */
    size_t most;     /* 0: any number */
    size_t count;    /* of deliveries that wait in their route's list or are under way */
    size_t held;     /* of those that are held */
    int64_t line_ms; /* CLOCK_BOOTTIME; when those that went back have their turn */
};

/* Takes over the rules that a claim has read. */
enum mq_status mq_run_take_sessions(struct mq_run *run, const struct mq_claim *claim,
                                    struct mq_error *err);
/* Whether the delivery can go into its route's list. If not, it is held, or *back_s says in how
 * many seconds it is to be tried again; 0: it is held. */
bool mq_delivery_enters(struct mq_delivery *delivery, int64_t *back_s);
/* A held delivery whose domains have room again, which counts for them now; NULL: none. */
struct mq_delivery *mq_run_next_held(struct mq_run *run);
void mq_domain_sessions_free(struct mq_domain_sessions *sessions);

#endif
