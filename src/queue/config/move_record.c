/* Where mail was moved to by `mailqueue migrate-store` (cli/Move/): this reads whether the queue
 * may still send. The records are in the config table, JSON objects from a job table's name to
 * "ID.RUN moving|moved|copying|copied CURSOR BASE NAME"; cli/Move/Record.php writes them. */
#include "queue/config/move_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/json.h"
#include "queue/config/keys.h"
#include "queue/handle.h"
#include "queue/job.h"

/* Whether all mail has arrived here. */
static bool is_copied(const char *text)
{
    char id[MQ_TOKEN_HEX + 1];
    int used = 0; /* stays 0 unless all of it is there */
    sscanf(text, "%32[0-9a-f].%*8[-0-9a-f] copied %*18[0-9] %*18[0-9] %n", id, &used);
    return used > 0 && strlen(id) == MQ_TOKEN_HEX;
}

static bool blocks(const struct mq_strings *tables, const struct mq_strings *texts,
                   enum mq_move_side side, const char *table)
{
    for (size_t i = 0; i < tables->count; i++) {
        if (strcasecmp(tables->items[i], table) == 0) {
            return side == MQ_MOVED_TO || !is_copied(texts->items[i]);
        }
    }
    return false;
}

bool mq_move_blocks(const char *text, enum mq_move_side side, const char *table)
{
    struct mq_strings tables;
    struct mq_strings texts;
    if (!text || !text[0]) {
        return false;
    }
    mq_strings_init(&tables);
    mq_strings_init(&texts);
    /* Unreadable, or no memory: not sending is safer than sending twice. */
    bool result = mq_json_read_object(mq_str_of(text), &tables, &texts, NULL) != MQ_OK ||
                  blocks(&tables, &texts, side, table);
    mq_strings_clear(&tables);
    mq_strings_clear(&texts);
    return result;
}

enum mq_status mq_move_look(struct mq_queue *queue, bool *blocks, struct mq_error *err)
{
    *blocks = false;
    if (!queue->dialect->shared) {
        return MQ_OK;
    }
    enum mq_status status = mq_sql_query(queue, MQ_SQL_MOVED, MQ_NO_ARGS, err);
    while (mq_sql_next(queue, &status, err)) {
        bool to = mq_str_equal_nocase(mq_sql_column_str(queue, 0),
                                      mq_str_of(mq_config_keys[MQ_KEY_MOVED_TO].name));
        struct mq_str value = mq_str_trim(mq_sql_column_str(queue, 1));
        char *text = value.len ? mq_str_dup(value) : NULL;
        *blocks = *blocks || (value.len && !text) ||
                  mq_move_blocks(text, to ? MQ_MOVED_TO : MQ_MOVED_FROM, queue->names.table);
        free(text);
    }
    return status;
}
