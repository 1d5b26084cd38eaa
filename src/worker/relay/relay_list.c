/* Opens the relays that a run can use, each once, and makes routes of them; finds the route of a
 * mail. */
#include "worker/relay/relay_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "queue/claim.h"
#include "queue/config/known_relays.h"
#include "send/dsn_text.h"
#include "send/transport.h"
#include "worker/deliveries.h"
#include "worker/relay/route.h"
#include "worker/run.h"

#define UNKNOWN_S 3600 /* for how long mail is put back whose relay cannot be found */

static void free_lane(struct mq_lane *lane)
{
    if (!lane->borrowed && lane->transport) {
        mq_transport_free(lane->transport);
    }
    mq_dsn_wipe(lane->dsn);
    free(lane->own_name);
    free(lane);
}

static struct mq_lane *find_lane(const struct mq_relays *relays, struct mq_str dsn)
{
    for (size_t i = 0; i < relays->lane_count; i++) {
        if (mq_str_equal(mq_str_of(relays->lanes[i]->dsn), dsn)) {
            return relays->lanes[i];
        }
    }
    return NULL;
}

/* Gives a lane a name of its own: pauses and logs tell relays apart by their names, which lack the
 * DSN's options. */
static enum mq_status name_lane(const struct mq_relays *relays, struct mq_lane *lane,
                                struct mq_error *err)
{
    size_t same = 0;
    struct mq_buffer name = {0};
    lane->name = lane->transport->name;
    for (size_t i = 0; i < relays->lane_count; i++) {
        same += strcmp(relays->lanes[i]->transport->name, lane->name) == 0;
    }
    if (same == 0) {
        return MQ_OK;
    }
    mq_buffer_printf(&name, "%s#%zu", lane->name, same + 1);
    lane->name = lane->own_name = mq_buffer_take(&name);
    return lane->name ? MQ_OK : mq_error_nomem(err);
}

static void begin_lane(struct mq_run *run, struct mq_lane *lane)
{
    lane->run = run;
    lane->connections = lane->connections > 0 ? lane->connections : run->options->connections;
}

/* Adds the lane; frees it if that fails. */
static enum mq_status add_lane(struct mq_relays *relays, struct mq_lane *lane, struct mq_str dsn,
                               struct mq_error *err)
{
    if (relays->lane_count == MQ_LANES_MAX) {
        free_lane(lane);
        return mq_error_set(err, MQ_CONFIG, "transport",
                            "transport: there are more than %d relays; name fewer", MQ_LANES_MAX);
    }
    lane->doubts.pauses = -1;
    lane->dsn = mq_str_dup(dsn);
    struct mq_lane **lanes = realloc(relays->lanes, (relays->lane_count + 1) * sizeof(*lanes));
    relays->lanes = lanes ? lanes : relays->lanes;
    enum mq_status status = lane->dsn && lanes ? name_lane(relays, lane, err) : mq_error_nomem(err);
    if (status != MQ_OK) {
        free_lane(lane);
        return status;
    }
    lane->number = relays->lane_count++;
    relays->lanes[lane->number] = lane;
    return MQ_OK;
}

enum mq_status mq_relays_add_transport(struct mq_relays *relays, const char *dsn,
                                       struct mq_transport *transport, int connections,
                                       struct mq_error *err)
{
    struct mq_lane *lane = calloc(1, sizeof(*lane));
    if (!lane) {
        return mq_error_nomem(err);
    }
    *lane = (struct mq_lane){.transport = transport, .borrowed = true, .connections = connections};
    return add_lane(relays, lane, mq_str_of(dsn), err);
}

static enum mq_status open_lane(struct mq_relays *relays, struct mq_str dsn, struct mq_lane **out,
                                struct mq_error *err)
{
    struct mq_lane *lane = calloc(1, sizeof(*lane));
    *out = lane;
    if (!lane) {
        return mq_error_nomem(err);
    }
    enum mq_status status =
        relays->open(relays->context, dsn, &lane->transport, &lane->connections, err);
    if (status != MQ_OK) {
        free(lane);
        return status;
    }
    MQ_TRY(add_lane(relays, lane, dsn, err));
    if (relays->run) {
        begin_lane(relays->run, lane);
        mq_lane_remember(lane);
        mq_lane_close_if_paused(lane);
    }
    return MQ_OK;
}

/* Opens the relays of a group that are not open yet. `retry_s`: of the group around; 0: none. */
static enum mq_status open_group(struct mq_relays *relays, struct mq_group *group, int64_t retry_s,
                                 int *number, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    for (size_t i = 0; i < group->count && status == MQ_OK; i++) {
        status = open_group(relays, &group->members[i], group->retry_s, number, err);
    }
    if (group->kind != MQ_GROUP_RELAY) {
        return status;
    }
    ++*number;
    struct mq_lane *lane = find_lane(relays, group->dsn);
    status = lane ? MQ_OK : open_lane(relays, group->dsn, &lane, err);
    if (status != MQ_OK) {
        return retry_s > 0 ? mq_group_blame(*number, status, err) : status;
    }
    if (retry_s > 0 && (lane->retry_s == 0 || retry_s < lane->retry_s)) {
        lane->retry_s = retry_s;
    }
    group->relay = lane;
    return MQ_OK;
}

static void free_route(struct mq_route *route)
{
    mq_group_clear(&route->group);
    mq_dsn_wipe(route->text);
    free(route);
}

enum mq_status mq_relays_add(struct mq_relays *relays, struct mq_str text, struct mq_route **out,
                             struct mq_error *err)
{
    for (size_t i = 0; i < relays->route_count; i++) {
        if (mq_str_equal(mq_str_of(relays->routes[i]->text), text)) {
            *out = relays->routes[i];
            return MQ_OK;
        }
    }
    struct mq_route *route = calloc(1, sizeof(*route));
    if (!route) {
        return mq_error_nomem(err);
    }
    route->text = mq_str_dup(text);
    struct mq_route **routes = realloc(relays->routes, (relays->route_count + 1) * sizeof(*routes));
    relays->routes = routes ? routes : relays->routes;
    enum mq_status status =
        route->text && routes
            ? mq_group_parse((struct mq_str){route->text, text.len}, &route->group, err)
            : mq_error_nomem(err);
    size_t lanes = relays->lane_count;
    int number = 0;
    if (status == MQ_OK) {
        status = open_group(relays, &route->group, 0, &number, err);
    }
    if (status != MQ_OK) {
        while (relays->lane_count > lanes) {
            free_lane(relays->lanes[--relays->lane_count]);
        }
        free_route(route);
        return status;
    }
    relays->routes[relays->route_count++] = *out = route;
    relays->standard = relays->standard ? relays->standard : route;
    return MQ_OK;
}

/* ---- the map ---- */

/* Where the key is, or is to be. */
static size_t key_at(const struct mq_relays *relays, struct mq_str key, bool *found)
{
    size_t low = 0, high = relays->key_count;
    *found = false;
    while (low < high && !*found) {
        size_t at = (low + high) / 2;
        struct mq_str there = mq_str_of(relays->keys[at].key);
        size_t least = there.len < key.len ? there.len : key.len;
        int order = strncasecmp(there.data, key.data, least);
        order = order ? order : (there.len > key.len) - (there.len < key.len);
        *found = order == 0;
        low = order < 0 ? at + 1 : low;
        high = order < 0 ? high : at;
    }
    return high;
}

static enum mq_status add_key(struct mq_relays *relays, struct mq_str key, struct mq_route *route,
                              struct mq_error *err)
{
    bool found;
    size_t at = key_at(relays, key, &found);
    size_t after = relays->key_count - at;
    if (found || key.len == 0) {
        return mq_error_set(err, MQ_CONFIG, "relays",
                            found ? "the key is there twice, in upper and lower case"
                                  : "the key is empty");
    }
    struct mq_relay_key one = {mq_str_dup(key), route};
    struct mq_relay_key *keys = realloc(relays->keys, (relays->key_count + 1) * sizeof(*keys));
    relays->keys = keys ? keys : relays->keys;
    if (!keys || !one.key) {
        free(one.key);
        return mq_error_nomem(err);
    }
    memmove(&keys[at + 1], &keys[at], after * sizeof(*keys));
    keys[at] = one;
    relays->key_count++;
    return MQ_OK;
}

enum mq_status mq_relays_map(struct mq_relays *relays, struct mq_str key, struct mq_str dsn,
                             struct mq_error *err)
{
    struct mq_route *route;
    struct mq_error why = {0};
    char name[80];
    enum mq_status status = mq_relays_add(relays, dsn, &route, &why);
    if (status == MQ_OK) {
        status = add_key(relays, key, route, &why);
    }
    if (status == MQ_CONFIG) {
        mq_str_printable(name, sizeof(name), 0, key);
        return mq_error_set(err, status, "relays", "relays: \"%s\": %s", name, why.text);
    }
    *err = why;
    if (status == MQ_OK && mq_str_equal_nocase(key, MQ_STR("default"))) {
        relays->standard = route;
    }
    return status;
}

/* Finds the route of a key. Returns NULL if the map does not have the key. */
static struct mq_route *find(const struct mq_relays *relays, struct mq_str key)
{
    bool found;
    size_t at = key_at(relays, key, &found);
    return found ? relays->keys[at].route : NULL;
}

/* Finds the route by the sender's address or domain, or else the standard one. `sender` is NULL if
 * it is not known. */
static struct mq_route *of_sender(const struct mq_relays *relays, const char *sender)
{
    const char *at = sender ? strrchr(sender, '@') : NULL;
    struct mq_route *route = NULL;
    if (at && relays->key_count > 0) {
        route = find(relays, mq_str_of(sender));
        route = route ? route : find(relays, mq_str_of(at));
    }
    return route ? route : relays->standard;
}

/* ---- the route of a mail ---- */

void mq_delivery_put_back(struct mq_delivery *delivery, int64_t seconds, const char *why)
{
    delivery->back_after_s = seconds;
    delivery->run->claim.total--;
    mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, why);
}

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
    if (run->relays->choose || !job->relay || find(run->relays, mq_str_of(job->relay))) {
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
    return find(delivery->run->relays, mq_str_of(delivery->job.relay));
}

struct mq_route *mq_run_route_of(const struct mq_run *run, const struct mq_job *job)
{
    const struct mq_relays *relays = run->relays;
    if (relays->choose || (!job->envelope_from && !job->relay && relays->key_count > 0)) {
        return NULL;
    }
    return job->relay ? find(relays, mq_str_of(job->relay)) : of_sender(relays, job->envelope_from);
}

struct mq_route *mq_delivery_find_route(struct mq_delivery *delivery)
{
    struct mq_relays *relays = delivery->run->relays;
    return relays->choose        ? chosen(delivery)
           : delivery->job.relay ? named(delivery)
                                 : of_sender(relays, delivery->job.envelope_from);
}

/* ---- all of them ---- */

void mq_relays_clear(struct mq_relays *relays)
{
    for (size_t i = 0; i < relays->route_count; i++) {
        free_route(relays->routes[i]);
    }
    for (size_t i = 0; i < relays->lane_count; i++) {
        free_lane(relays->lanes[i]);
    }
    for (size_t i = 0; i < relays->key_count; i++) {
        free(relays->keys[i].key);
    }
    free(relays->turns);
    free(relays->keys);
    free(relays->routes);
    free(relays->lanes);
    *relays = (struct mq_relays){0};
}

void mq_relays_begin(struct mq_run *run)
{
    free(run->relays->turns);
    run->relays->turns = NULL;
    run->relays->run = run;
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        begin_lane(run, run->relays->lanes[i]);
    }
}

static void append_names(const struct mq_group *group, struct mq_buffer *out)
{
    if (group->kind == MQ_GROUP_RELAY) {
        mq_buffer_cstr(out, out->len ? " " : "");
        mq_buffer_cstr(out, ((const struct mq_lane *)group->relay)->name);
    }
    for (size_t i = 0; i < group->count; i++) {
        append_names(&group->members[i], out);
    }
}

static bool add_names(struct mq_strings *out, const char *key, const struct mq_route *route)
{
    struct mq_buffer names = {0};
    append_names(&route->group, &names);
    bool added = !names.failed && mq_strings_add(out, mq_str_of(key)) &&
                 mq_strings_add(out, mq_buffer_view(&names));
    mq_buffer_clear(&names);
    return added;
}

/* A failure is ignored: the next run tries again. */
void mq_relays_note(struct mq_run *run)
{
    const struct mq_relays *relays = run->relays;
    struct mq_strings routes = {0};
    bool added = true;
    if (!relays->choose) {
        added = add_names(&routes, "", relays->standard);
        for (size_t i = 0; i < relays->key_count && added; i++) {
            added = add_names(&routes, relays->keys[i].key, relays->keys[i].route);
        }
    }
    if (added) {
        mq_queue_note_routes(run->queue, &routes, NULL);
    }
    mq_strings_clear(&routes);
}

int mq_relays_connections(const struct mq_relays *relays)
{
    int sum = 0;
    for (size_t i = 0; i < relays->lane_count; i++) {
        sum += relays->lanes[i]->connections;
    }
    return sum;
}
