/* The notes of a move in the config tables: JSON objects from a job table's name to
 * "ID.RUN moving|moved|copying|copied CURSOR BASE NAME". */
#include "queue/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/json.h"

static const char *const keys[] = {"mailQueueMovedTo", "mailQueueMovedFrom"};
static const char *const words[][2] = {{"moving", "moved"}, {"copying", "copied"}};

struct notes {
    struct mq_strings tables;
    struct mq_strings texts;
};

static void notes_clear(struct notes *notes)
{
    mq_strings_clear(&notes->tables);
    mq_strings_clear(&notes->texts);
}

static enum mq_status notes_read(const char *text, enum mq_move_side side, struct notes *out,
                                 struct mq_error *err)
{
    struct mq_error why;
    mq_strings_init(&out->tables);
    mq_strings_init(&out->texts);
    if (!text || !text[0]) {
        return MQ_OK;
    }
    enum mq_status status = mq_json_read_object(mq_str_of(text), &out->tables, &out->texts, &why);
    if (status == MQ_OK) {
        return MQ_OK;
    }
    notes_clear(out);
    return status == MQ_NOMEM
               ? mq_error_nomem(err)
               : mq_error_set(err, MQ_CONFIG, keys[side],
                              "config key %s cannot be read: restore it, or unset it", keys[side]);
}

static bool parse(const char *text, enum mq_move_side side, struct mq_move_note *out)
{
    char id[sizeof(out->id)];
    char word[8];
    char run[sizeof(out->run)];
    long long cursor;
    long long base;
    int used = 0;
    if (sscanf(text, "%32[0-9a-f].%8[-0-9a-f] %7s %18lld %18lld %n", id, run, word, &cursor, &base,
               &used) < 5 ||
        strlen(id) != MQ_TOKEN_HEX) {
        return false;
    }
    out->done = strcmp(word, words[side][1]) == 0;
    if (!out->done && strcmp(word, words[side][0]) != 0) {
        return false;
    }
    strcpy(out->id, id);
    strcpy(out->run, run);
    out->cursor = cursor;
    out->base = base;
    struct mq_str name = mq_str_of(text + used);
    size_t n = mq_utf8_cut(name, sizeof(out->name) - 1);
    memcpy(out->name, name.data, n);
    out->name[n] = '\0';
    return true;
}

/* Where the table's note is; -1: it has none. */
static int place_of(const struct notes *notes, const char *table)
{
    for (size_t i = 0; i < notes->tables.count; i++) {
        if (strcasecmp(notes->tables.items[i], table) == 0) {
            return (int)i;
        }
    }
    return -1;
}

bool mq_move_blocks(const char *text, enum mq_move_side side, const char *table)
{
    struct notes notes;
    struct mq_move_note note;
    if (notes_read(text, side, &notes, NULL) != MQ_OK) {
        return true; /* without memory as well: rather none is sent than one twice */
    }
    int at = place_of(&notes, table);
    bool blocks = at >= 0 &&
                  (side == MQ_MOVED_TO || !parse(notes.texts.items[at], side, &note) || !note.done);
    notes_clear(&notes);
    return blocks;
}

enum mq_status mq_move_look(struct mq_queue *queue, bool *blocks, struct mq_error *err)
{
    bool row = queue->spelling->shared;
    enum mq_status status = row ? mq_sql_query(queue, MQ_SQL_MOVED, MQ_NO_ARGS, err) : MQ_OK;
    *blocks = false;
    while (status == MQ_OK && row) {
        status = mq_sql_next(queue, &row, err);
        if (status != MQ_OK || !row) {
            break;
        }
        bool to = mq_str_equal_nocase(mq_sql_column_str(queue, 0), mq_str_of(keys[MQ_MOVED_TO]));
        struct mq_str value = mq_str_trim(mq_sql_column_str(queue, 1));
        char *text = value.len ? mq_str_dup(value) : NULL;
        *blocks = *blocks || (value.len && !text) ||
                  mq_move_blocks(text, to ? MQ_MOVED_TO : MQ_MOVED_FROM, queue->names.table);
        free(text);
    }
    return status;
}

enum mq_status mq_move_find(struct mq_queue *queue, enum mq_move_side side,
                            struct mq_move_note *out, bool *found, struct mq_error *err)
{
    char *text = NULL;
    struct notes notes;
    enum mq_status status = mq_queue_config(queue, keys[side], &text, err);
    if (status == MQ_OK) {
        status = notes_read(text, side, &notes, err);
    }
    free(text);
    if (status != MQ_OK) {
        return status;
    }
    int at = place_of(&notes, queue->names.table);
    *found = at >= 0;
    if (*found && !parse(notes.texts.items[at], side, out)) {
        status = mq_error_set(err, MQ_CONFIG, keys[side],
                              "config key %s cannot be read: restore it, or unset it", keys[side]);
    }
    notes_clear(&notes);
    return status;
}

/* Others wait, or are waited for; without a row there is nothing to hold. */
static enum mq_status hold(struct mq_queue *queue, enum mq_move_side side, struct mq_error *err)
{
    int64_t there = 0;
    return mq_sql_has(queue, MQ_SQL_CONFIG_LOCK)
               ? mq_sql_int(queue, MQ_SQL_CONFIG_LOCK, MQ_ARGS(mq_cstr(keys[side])), &there, err)
               : MQ_OK;
}

enum mq_status mq_move_hold(struct mq_queue *queue, enum mq_move_side side,
                            struct mq_move_note *out, bool *found, struct mq_error *err)
{
    enum mq_status status = hold(queue, side, err);
    return status == MQ_OK ? mq_move_find(queue, side, out, found, err) : status;
}

static void append(struct mq_buffer *out, const char *table, struct mq_str text)
{
    mq_buffer_char(out, out->len ? ',' : '{');
    mq_json_string(out, mq_str_of(table));
    mq_buffer_char(out, ':');
    mq_json_string(out, text);
}

static void append_note(struct mq_buffer *out, const char *table, enum mq_move_side side,
                        const struct mq_move_note *note)
{
    struct mq_buffer text;
    mq_buffer_init(&text);
    mq_buffer_printf(&text, "%s.%s %s %lld %lld ", note->id, note->run[0] ? note->run : "-",
                     words[side][note->done], (long long)note->cursor, (long long)note->base);
    mq_buffer_printable(&text, mq_str_of(note->name));
    append(out, table, mq_buffer_view(&text));
    out->failed = out->failed || text.failed;
    mq_buffer_clear(&text);
}

enum mq_status mq_move_put(struct mq_queue *queue, enum mq_move_side side,
                           const struct mq_move_note *note, struct mq_error *err)
{
    char *text = NULL;
    struct notes notes;
    struct mq_buffer out;
    enum mq_status status = hold(queue, side, err);
    if (status == MQ_OK) {
        status = mq_queue_config(queue, keys[side], &text, err);
    }
    if (status == MQ_OK) {
        status = notes_read(text, side, &notes, err);
    }
    free(text);
    if (status != MQ_OK) {
        return status;
    }
    mq_buffer_init(&out);
    int own = place_of(&notes, queue->names.table);
    for (size_t i = 0; i < notes.tables.count; i++) {
        if ((int)i != own) {
            append(&out, notes.tables.items[i], mq_str_of(notes.texts.items[i]));
        }
    }
    if (note) {
        append_note(&out, queue->names.table, side, note);
    }
    if (out.len) {
        mq_buffer_char(&out, '}');
    }
    status = out.failed ? mq_error_nomem(err)
                        : mq_config_put(queue, keys[side], out.len ? out.data : NULL, err);
    mq_buffer_clear(&out);
    notes_clear(&notes);
    return status;
}
