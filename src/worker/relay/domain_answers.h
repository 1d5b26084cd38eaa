/* What the domains of recipients answer, so that the mail of those that fail is slowed down
 * (queue/config/slow.h). */
#ifndef MQ_WORKER_RELAY_DOMAIN_ANSWERS_H
#define MQ_WORKER_RELAY_DOMAIN_ANSWERS_H

#include <stdbool.h>

struct mq_claim;
struct mq_delivery;
struct mq_domains;
struct mq_run;

/* Notes what became of a delivery's recipients. */
void mq_run_note_domains(struct mq_run *run, const struct mq_delivery *delivery);
/* Notes which domains are slowed down: whether they work again is then worth a transaction. */
void mq_run_take_slow(struct mq_run *run, const struct mq_claim *claim);
/* Has the queue count what was noted, every few seconds or at the run's end. */
void mq_run_count_domains(struct mq_run *run, bool ends);
/* Writes "*" for the local part of each address, where `forget` does not look for addresses. */
void mq_hide_local_parts(char *reply);
void mq_domains_free(struct mq_domains *domains);

#endif
