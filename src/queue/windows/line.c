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
static int64_t share_ms(const struct mq_limit *limit, const struct mq_job *job)
{
    int64_t n = limit->mails || job->recipients.count == 0 ? 1 : (int64_t)job->recipients.count;
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

/* The time at which the job is tried again. */
static enum mq_status find_slot(struct mq_tx *tx, const struct mq_room *room,
                                const struct mq_job *job, int64_t *slot_s, struct mq_error *err)
{
    struct mq_window *w = NULL;
    struct mq_line *line = NULL;
    int64_t slot_ms = from_ms(tx, room);
    MQ_TRY(mq_window_find(tx, room->full, &room->party, &w, err));
    MQ_TRY(find_line(tx, (size_t)(w - tx->windows->items), job->priority, &line, err));
    if (mq_str_equal(mq_str_of(job->put_back), room->full->text)) {
        slot_ms += line->again_ms;
        line->again_ms += share_ms(room->full, job);
    } else {
        slot_ms = line->next_ms > slot_ms ? line->next_ms : slot_ms;
        line->next_ms = slot_ms + share_ms(room->full, job);
        line->last_id = job->id;
    }
    *slot_s = (slot_ms + 999) / 1000;
    return MQ_OK;
}

enum mq_status mq_windows_put_back(struct mq_tx *tx, const struct mq_room *room,
                                   const struct mq_job *job, struct mq_error *err)
{
    int64_t slot_s = 0;
    MQ_TRY(find_slot(tx, room, job, &slot_s, err));
    struct mq_args args = MQ_ARGS(mq_int(slot_s), mq_text(room->full->text), mq_int(job->id));
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
