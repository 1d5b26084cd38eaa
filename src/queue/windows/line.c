/* When mail is tried again that a full window keeps. Each mail gets a slot of its own, as far
 * behind the one before it as the limit lets them go. So ten thousand mails of one mailbox are put
 * back once each, and not all of them whenever the window has room for one.
 *
 * Each priority has its line, because an urgent mail must not wait behind the others. If another
 * mail took the room of a slot, its mail does not go to the line's end again, but to the next
 * seconds in which there can be room. */
#include <stdio.h>
#include <stdlib.h>

#include "queue/enqueue.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/sql/statements.h"
#include "queue/windows/internal.h"

#define PATIENCE_S  10 /* the longest time between two tries while leases fill the window */
#define PATIENCE_OF 360
/* Mail of a domain that is slowed down comes again within this time, because the domain may work
 * again by then. */
#define SLOW_MS INT64_C(600000)

static void line_name(const struct mq_tx *tx, const struct mq_line *line,
                      char out[MQ_REFERENCE_MAX + 1])
{
    snprintf(out, MQ_REFERENCE_MAX + 1, "line %d %s", line->priority,
             tx->windows->items[line->window].scope);
}

/* Reads where the line ends. If its last mail no longer waits, the line counts as empty. */
static enum mq_status read_line(struct mq_tx *tx, struct mq_line *line, struct mq_error *err)
{
    char name[MQ_REFERENCE_MAX + 1];
    int64_t next_s = 0, id = 0, waits = 0;
    line_name(tx, line, name);
    MQ_TRY(mq_window_get(tx, name, &next_s, &id, err));
    if (id) {
        MQ_TRY(mq_sql_int(tx->queue, MQ_SQL_LINE_END, MQ_ARGS(mq_int(id)), &waits, err));
    }
    line->next_ms = waits ? next_s * 1000 : 0;
    return MQ_OK;
}

static enum mq_status find_line(struct mq_tx *tx, size_t window, int priority, struct mq_line **out,
                                struct mq_error *err)
{
    struct mq_windows *all = tx->windows;
    for (size_t i = 0; i < all->line_count; i++) {
        if (all->lines[i].window == window && all->lines[i].priority == priority) {
            *out = &all->lines[i];
            return MQ_OK;
        }
    }
    if (all->line_count == all->line_room) {
        size_t room = all->line_room ? 2 * all->line_room : 16;
        struct mq_line *lines = realloc(all->lines, room * sizeof(*lines));
        if (!lines) {
            return mq_error_nomem(err);
        }
        all->lines = lines;
        all->line_room = room;
    }
    *out = &all->lines[all->line_count++];
    **out = (struct mq_line){.window = window, .priority = priority};
    return read_line(tx, *out, err);
}

/* How long the limit needs to let this mail go. */
static int64_t share_ms(const struct mq_window *w, const struct mq_job *job)
{
    const struct mq_limit *limit = w->limit;
    int64_t n = limit->mails || job->recipients.count == 0 ? 1 : (int64_t)job->recipients.count;
    n = limit->scope == MQ_SCOPE_TO ? mq_recipients_count(w, &job->recipients) : n;
    n = n < limit->n ? n : limit->n; /* the rest goes with another claim */
    return n * limit->length_s * 1000 / limit->n;
}

/* When the window can have room, at the earliest. */
static int64_t from_ms(const struct mq_tx *tx, const struct mq_room *room)
{
    int64_t patience_s = room->full->length_s / PATIENCE_OF + 1;
    int64_t again_s = tx->now_s + (patience_s < PATIENCE_S ? patience_s : PATIENCE_S);
    return (room->free_s > again_s ? room->free_s : again_s) * 1000;
}

/* Brings a slot near enough. The mails for which the line is too long are spread, so that they do
 * not all come at once. */
static int64_t soon_ms(const struct mq_tx *tx, const struct mq_room *room, const struct mq_job *job,
                       int64_t slot_ms)
{
    int64_t most_ms = tx->now_s * 1000 + SLOW_MS;
    if (!room->full->slow || slot_ms <= most_ms) {
        return slot_ms;
    }
    return most_ms - job->id * 1000 % (SLOW_MS / 2);
}

void mq_room_text(const struct mq_room *room, char out[MQ_WAITS_FOR_MAX])
{
    const struct mq_limit *limit = room->full;
    bool each = limit->scope == MQ_SCOPE_RELAY && limit->only.len == 0;
    size_t len = mq_str_printable(out, MQ_WAITS_FOR_MAX / 2, 0, limit->text);
    if (each) {
        out[len] = ' ';
        mq_str_printable(out, MQ_WAITS_FOR_MAX, len + 1, mq_str_of(room->party.relay));
    }
}

/* A time at which the job can be tried again. */
struct slot {
    const struct mq_room *room;
    size_t window; /* its index */
    size_t line;   /* the line's index */
    bool again;    /* the job has waited in that line already */
    int64_t at_ms;
};

static enum mq_status find_slot(struct mq_tx *tx, const struct mq_room *room,
                                const struct mq_job *job, struct slot *out, struct mq_error *err)
{
    struct mq_window *w = NULL;
    struct mq_line *line = NULL;
    char text[MQ_WAITS_FOR_MAX];
    int64_t first_ms = from_ms(tx, room);
    MQ_TRY(mq_window_find(tx, room->full, &room->party, &w, err));
    MQ_TRY(find_line(tx, (size_t)(w - tx->windows->items), job->priority, &line, err));
    mq_room_text(room, text);
    bool again = mq_str_equal(mq_str_of(job->put_back), mq_str_of(text));
    int64_t at_ms = again                      ? first_ms + line->again_ms
                    : line->next_ms > first_ms ? line->next_ms
                                               : first_ms;
    *out = (struct slot){room, (size_t)(w - tx->windows->items),
                         (size_t)(line - tx->windows->lines), again, soon_ms(tx, room, job, at_ms)};
    return MQ_OK;
}

static void take_slot(struct mq_tx *tx, const struct slot *slot, const struct mq_job *job)
{
    struct mq_line *line = &tx->windows->lines[slot->line];
    int64_t share = share_ms(&tx->windows->items[slot->window], job);
    if (slot->again) {
        line->again_ms += share;
    } else {
        line->next_ms = soon_ms(tx, slot->room, job, slot->at_ms + share);
        line->last_id = job->id;
    }
}

enum mq_status mq_windows_put_back(struct mq_tx *tx, const struct mq_kept *kept,
                                   const struct mq_job *job, struct mq_error *err)
{
    struct slot first = {.at_ms = INT64_MAX}, slot;
    char text[MQ_WAITS_FOR_MAX];
    for (size_t i = 0; i < kept->count; i++) {
        MQ_TRY(find_slot(tx, &kept->rooms[i], job, &slot, err));
        first = slot.at_ms < first.at_ms ? slot : first;
    }
    int64_t at_s = (first.at_ms + 999) / 1000;
    if (at_s <= kept->most_s) {
        take_slot(tx, &first, job);
    } else {
        at_s = kept->most_s > tx->now_s ? kept->most_s : tx->now_s + 1;
    }
    mq_room_text(first.room, text);
    struct mq_args args = MQ_ARGS(mq_int(at_s), mq_cstr(text), mq_int(job->id));
    return mq_sql_exec(tx->queue, MQ_SQL_PUT_BACK, args, err);
}

enum mq_status mq_lines_forget(struct mq_tx *tx, struct mq_error *err)
{
    return mq_sql_exec_text(tx->queue, "DELETE FROM {S} WHERE scope LIKE 'line %'", MQ_NO_ARGS,
                            err);
}

enum mq_status mq_lines_store(struct mq_tx *tx, struct mq_error *err)
{
    char name[MQ_REFERENCE_MAX + 1];
    for (size_t i = 0; tx->windows && i < tx->windows->line_count; i++) {
        const struct mq_line *line = &tx->windows->lines[i];
        if (line->last_id) {
            line_name(tx, line, name);
            MQ_TRY(mq_window_put(tx, name, line->next_ms / 1000, line->last_id, err));
        }
    }
    return MQ_OK;
}
