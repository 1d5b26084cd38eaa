/* Which route a mail takes: the one that the application, the mail itself or its sender says. */
#include <stdio.h>

#include "queue/claim.h"
#include "send/dsn_text.h"
#include "worker/deliveries.h"
#include "worker/relay/route.h"
#include "worker/relay/routes.h"
#include "worker/run.h"

#define UNKNOWN_S 3600 /* for how long mail is put back whose relay cannot be found */

/* Asks the application where the job goes; NULL: the mail has gone back. */
static struct mq_route *chosen(struct mq_delivery *delivery)
{
    struct mq_run *run = delivery->run;
    struct mq_relays *relays = run->relays;
    struct mq_route *route = relays->standard;
    struct mq_error error = {0};
    char *dsn = NULL;
    enum mq_status status = relays->choose(relays->context, &delivery->job, &dsn, &error);
    if (status == MQ_OK && dsn && *dsn) {
        status = mq_relays_add(relays, mq_str_of(dsn), &route, &error);
    }
    mq_dsn_wipe(dsn);
    if (status == MQ_THROWN || status == MQ_BAILOUT) {
        mq_run_fail(run, status, &error);
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
    } else if (status != MQ_OK) {
        mq_delivery_put_back(delivery, UNKNOWN_S, error.text);
    }
    return status == MQ_OK ? route : NULL;
}

bool mq_run_lacks_relay(const struct mq_run *run, const struct mq_job *job, char *why)
{
    char shown[80];
    if (run->relays->choose || !job->relay || mq_relays_find(run->relays, mq_str_of(job->relay))) {
        return false;
    }
    mq_str_printable(shown, sizeof(shown), 0, mq_str_of(job->relay));
    snprintf(why, MQ_CLAIM_WHY_MAX,
             "the mail names the relay \"%s\", which the map of relays does not have; add it there "
             "(mailqueue work --relays)",
             shown);
    return true;
}

/* The route that the job names; NULL: the mail has gone back. */
static struct mq_route *named(struct mq_delivery *delivery)
{
    char why[MQ_CLAIM_WHY_MAX];
    if (mq_run_lacks_relay(delivery->run, &delivery->job, why)) { /* composing has named it */
        mq_delivery_put_back(delivery, UNKNOWN_S, why);
        return NULL;
    }
    return mq_relays_find(delivery->run->relays, mq_str_of(delivery->job.relay));
}

struct mq_route *mq_run_route_of(const struct mq_run *run, const struct mq_job *job)
{
    const struct mq_relays *relays = run->relays;
    if (relays->choose || (!job->envelope_from && !job->relay && relays->key_count > 0)) {
        return NULL;
    }
    return job->relay ? mq_relays_find(relays, mq_str_of(job->relay))
                      : mq_relays_of_sender(relays, job->envelope_from);
}

struct mq_route *mq_delivery_find_route(struct mq_delivery *delivery)
{
    struct mq_relays *relays = delivery->run->relays;
    return relays->choose        ? chosen(delivery)
           : delivery->job.relay ? named(delivery)
                                 : mq_relays_of_sender(relays, delivery->job.envelope_from);
}
