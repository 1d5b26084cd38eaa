/* Opens and closes a queue: checks the names of its tables, then has the schema opened. */
#include "queue/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/ascii.h"
#include "db/db.h"
#include "queue/config/kept_hours.h"
#include "queue/config/keys.h"
#include "queue/handle.h"
#include "queue/sql/schema.h"
#include "queue/suppress/suppress.h"

void mq_queue_options_init(struct mq_queue_options *options)
{
    memset(options, 0, sizeof(*options));
    options->table = "mail_queue";
    options->config_table = "config";
    options->reference_column = "reference";
    options->backoff = mq_backoffs[MQ_BACKOFF_STEPS];
    options->clock = mq_clock_system();
    options->random = mq_random_system();
}

bool mq_queue_is_name(const char *name)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return n > 0 && n <= MQ_NAME_MAX && name[n] == '\0' && !mq_is_digit(name[0]);
}

/* Copies a checked identifier; `out` has room for MQ_NAME_MAX and the NUL. */
static enum mq_status take_name(const char *field, const char *name, char *out,
                                struct mq_error *err)
{
    if (!name || !mq_queue_is_name(name) || mq_text_begins(name, "sqlite_")) {
        return mq_error_set(err, MQ_INVALID, field,
                            "%s must be a name of letters, digits and underscores that does not "
                            "begin with a digit, at most %d of them",
                            field, MQ_NAME_MAX);
    }
    strcpy(out, name);
    return MQ_OK;
}

static enum mq_status take_names(const struct mq_queue_options *options, struct mq_names *names,
                                 struct mq_error *err)
{
    MQ_TRY(take_name("table", options->table, names->table, err));
    if (strcasecmp(names->table, "mail") == 0) {
        return mq_error_set(err, MQ_INVALID, "table",
                            "table \"%s\": its other tables (mail_body and more) would be those of "
                            "mail_queue; choose another name",
                            names->table);
    }
    MQ_TRY(take_name("configTable", options->config_table, names->config, err));
    MQ_TRY(take_name("referenceColumn", options->reference_column, names->reference, err));
    if (options->orphan_table) {
        MQ_TRY(take_name("orphanCheck", options->orphan_table, names->orphan_table, err));
        MQ_TRY(take_name("orphanCheck", options->orphan_column, names->orphan_column, err));
    }
    return mq_schema_has_column(names->reference)
               ? mq_error_set(err, MQ_INVALID, "referenceColumn",
                              "referenceColumn \"%s\" is another column of the queue",
                              names->reference)
               : MQ_OK;
}

static void derive_names(struct mq_names *names)
{
    bool usual = strcasecmp(names->table, "mail_queue") == 0;
    const char *begin = usual ? "mail" : names->table;
    snprintf(names->body, sizeof(names->body), "%s_body", begin);
    snprintf(names->spent, sizeof(names->spent), "%s_spent", begin);
    snprintf(names->window, sizeof(names->window), "%s_window", begin);
    snprintf(names->count, sizeof(names->count), "%s_count", begin);
    snprintf(names->log, sizeof(names->log), "%s_log", begin);
    snprintf(names->suppression, sizeof(names->suppression), "%.*s_suppression", MQ_NAME_MAX - 12,
             begin); /* of a long name its beginning: servers cut longer names */
    snprintf(names->campaign, sizeof(names->campaign), "%.*s_campaign", MQ_NAME_MAX - 11, begin);
    snprintf(names->recipient, sizeof(names->recipient), "%.*s_recipient", MQ_NAME_MAX - 11, begin);
    snprintf(names->bounce, sizeof(names->bounce), "%s_bounce", begin);
    snprintf(names->version_key, sizeof(names->version_key), "%s%s%s",
             mq_config_keys[MQ_KEY_SCHEMA_VERSION].name, usual ? "" : ":",
             usual ? "" : names->table);
}

static enum mq_status prepare(struct mq_queue *queue, const struct mq_queue_options *options,
                              struct mq_error *err)
{
    size_t max = queue->dialect->table_max;
    MQ_TRY(take_names(options, &queue->names, err));
    derive_names(&queue->names);
    if (strlen(queue->names.table) > max) {
        /* The database would cut the names that are made by appending to this one. */
        return mq_error_set(err, MQ_INVALID, "table",
                            "table must have at most %zu octets in this database", max);
    }
    return mq_schema_open(queue, err);
}

enum mq_status mq_queue_open(struct mq_db *db, const struct mq_queue_options *options,
                             struct mq_queue **out, struct mq_error *err)
{
    struct mq_queue *queue = calloc(1, sizeof(*queue));
    if (!queue) {
        db->driver->close(db);
        return mq_error_nomem(err);
    }
    queue->db = db;
    queue->dialect = mq_dialect_of(db);
    queue->redirect_to = options->redirect_to;
    queue->allow_to = options->allow_to;
    queue->backoff = options->backoff;
    mq_queue_set_clock(queue, &options->clock);
    queue->random = options->random;
    queue->zones = options->zones;
    enum mq_status status = prepare(queue, options, err);
    if (status != MQ_OK) {
        mq_queue_close(queue);
        return status;
    }
    *out = queue;
    return MQ_OK;
}

void mq_queue_close(struct mq_queue *queue)
{
    if (!queue) {
        return;
    }
    queue->db->driver->close(queue->db);
    for (int i = 0; i < MQ_SQL_COUNT; i++) {
        free(queue->sql[i]);
    }
    free(queue->identity);
    mq_hours_free(queue->hours);
    mq_suppress_free(queue);
    free(queue);
}

struct mq_db *mq_queue_db(struct mq_queue *queue)
{
    return queue->db;
}

enum mq_status mq_queue_reopen(struct mq_queue *queue, struct mq_error *err)
{
    queue->listens = false;
    queue->ready = false; /* the file can be another one now, with older tables */
    mq_suppress_free(queue);
    return queue->db->driver->reopen(queue->db, err);
}

void mq_queue_maintain(struct mq_queue *queue)
{
    if (queue->db->driver->maintain) {
        queue->db->driver->maintain(queue->db, NULL);
    }
}

const char *mq_queue_path(const struct mq_queue *queue)
{
    return queue->db->driver->path(queue->db);
}

bool mq_queue_is_shared(const struct mq_queue *queue)
{
    return queue->dialect->shared;
}
