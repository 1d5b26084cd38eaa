/* SQLite's spelling, and how a template becomes a statement. */
#include "queue/sql/dialect.h"

#include <stddef.h>
#include <string.h>

#include "db/db.h"
#include "policy/states.h"
#include "queue/config/keys.h"
#include "queue/sql/descriptor.h"

/* Whether the row of the orphan check's table is what `reference` means. A column without a type,
 * or of a view, may hold 123 where the reference is the text '123'; SQLite compares those as
 * unequal, and a mail would be deleted. */
#define REFERRED(reference)                                     \
    "{o}.{k} IN (" reference ", CASE WHEN CAST(CAST(" reference \
    " AS INTEGER) AS TEXT) = " reference " THEN CAST(" reference " AS INTEGER) END)"

static const char *const sqlite[MQ_SQL_COUNT] = {
    /* A 0.5 that another program wrote must not block all other mail. */
    [MQ_SQL_CLAIM_PRIORITY] = "SELECT max(priority) FROM {t} WHERE " MQ_CLAIMABLE_SQL
                              " AND priority < ?1 AND typeof(priority) = 'integer'",
    [MQ_SQL_ORPHAN] = "SELECT 1 FROM {o} WHERE " REFERRED("?1") " LIMIT 1",
    /* Bounded by LIMIT and a join: if ANALYZE ran while little waited, SQLite 3.46 takes `id <= ?`
     * for a mere filter and reads to the table's end. */
    [MQ_SQL_WALK] =
        "SELECT " MQ_COLS " FROM (SELECT id AS walked FROM {t} WHERE id > ?1 ORDER BY id LIMIT ?2) "
        "AS walk CROSS JOIN {t} ON id = walked WHERE +" MQ_CLAIMABLE_SQL
        " AND (expires_at <= ?3 OR ({r} IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM {o} WHERE " REFERRED("{t}.{r}") ")))",
    [MQ_SQL_COLUMNS_OF] = "SELECT name, pk FROM pragma_table_info(?1, 'main')",
};

static const struct mq_sql_dialect sqlite_dialect = {
    .overrides = sqlite,
    /* Not double quotes: SQLite reads a double-quoted name that is no column as a string, and a
     * misspelt reference column would then go unnoticed. */
    .quote = '`',
    /* The application's file, even if its connection has temporary or attached tables of the same
     * name. */
    .schema = "main.",
    .table_max = MQ_NAME_MAX,
    .id = "INTEGER PRIMARY KEY AUTOINCREMENT",
    .integer = "INTEGER",
    .blob = "BLOB",
    .key_text = "TEXT",
    .word = "TEXT",
    .text = "TEXT",
    .claimable = MQ_CLAIMABLE_STATES,
    .options = "",
    .body_options = "",
    .returning = "",
    .now = "?1",
    .lock = "",
    .lock_free = "",
    .no_index = "+",
};

const struct mq_sql_dialect *mq_dialect_of(const struct mq_db *db)
{
    static const struct mq_sql_dialect *const all[MQ_DIALECT_COUNT] = {
        [MQ_SQLITE] = &sqlite_dialect,
        [MQ_PGSQL] = &mq_pgsql_dialect,
        [MQ_MYSQL] = &mq_mysql_dialect,
    };
    return all[db->driver->dialect];
}

/* What a letter in braces stands for: a name, or the dialect's own word. */
static const struct {
    char letter;
    bool is_table; /* of a name: the schema goes before it */
    size_t at;     /* in struct mq_names */
} names_of[] = {
    {'t', true, offsetof(struct mq_names, table)},
    {'b', true, offsetof(struct mq_names, body)},
    {'s', true, offsetof(struct mq_names, spent)},
    {'c', true, offsetof(struct mq_names, config)},
    {'o', true, offsetof(struct mq_names, orphan_table)},
    {'k', false, offsetof(struct mq_names, orphan_column)},
    {'r', false, offsetof(struct mq_names, reference)},
};

static const struct {
    char letter;
    size_t at; /* in struct mq_sql_dialect */
} words[] = {
    {'m', offsetof(struct mq_sql_dialect, schema)},
    {'i', offsetof(struct mq_sql_dialect, id)},
    {'n', offsetof(struct mq_sql_dialect, integer)},
    {'x', offsetof(struct mq_sql_dialect, blob)},
    {'v', offsetof(struct mq_sql_dialect, key_text)},
    {'h', offsetof(struct mq_sql_dialect, word)},
    {'z', offsetof(struct mq_sql_dialect, text)},
    {'l', offsetof(struct mq_sql_dialect, claimable)},
    {'a', offsetof(struct mq_sql_dialect, options)},
    {'e', offsetof(struct mq_sql_dialect, body_options)},
    {'d', offsetof(struct mq_sql_dialect, returning)},
    {'y', offsetof(struct mq_sql_dialect, now)},
    {'u', offsetof(struct mq_sql_dialect, lock)},
    {'w', offsetof(struct mq_sql_dialect, lock_free)},
    {'+', offsetof(struct mq_sql_dialect, no_index)},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool write_name(struct mq_buffer *out, const struct mq_sql_dialect *dialect,
                       const struct mq_names *names, char letter)
{
    for (size_t i = 0; i < COUNT(names_of); i++) {
        if (names_of[i].letter == letter) {
            mq_buffer_cstr(out, names_of[i].is_table ? dialect->schema : "");
            mq_buffer_char(out, dialect->quote);
            mq_buffer_cstr(out, (const char *)names + names_of[i].at);
            mq_buffer_char(out, dialect->quote);
            return true;
        }
    }
    return false;
}

static void write_word(struct mq_buffer *out, const struct mq_sql_dialect *dialect, char letter)
{
    for (size_t i = 0; i < COUNT(words); i++) {
        if (words[i].letter == letter) {
            const void *word = (const char *)dialect + words[i].at;
            mq_buffer_cstr(out, *(const char *const *)word);
        }
    }
}

/* The names of the config keys from `first` to `last` that claims read. */
static void write_keys(struct mq_buffer *out, enum mq_config_id first, enum mq_config_id last)
{
    const char *comma = "";
    for (int i = first; i <= (int)last; i++) {
        if (mq_config_keys[i].in_claims) {
            mq_buffer_printf(out, "%s'%s'", comma, mq_config_keys[i].name);
            comma = ",";
        }
    }
}

/* Pieces that the columns and the config keys make; false: `what` is none. */
static bool write_piece(struct mq_buffer *out, char what)
{
    switch (what) {
    case 'j':
        mq_columns_write(out, false, false);
        return true;
    case '*':
        mq_columns_write(out, true, false);
        return true;
    case 'f':
        mq_columns_write(out, false, true);
        return true;
    case 'g':
        mq_columns_write_values(out, MQ_FIRST_NEW_PARAMETER);
        return true;
    case 'K':
        write_keys(out, 0, MQ_KEY_COUNT - 1);
        return true;
    case 'M':
        write_keys(out, MQ_KEY_MOVED_TO, MQ_KEY_MOVED_FROM);
        return true;
    default:
        return false;
    }
}

static void expand_text(struct mq_buffer *out, const struct mq_sql_dialect *dialect,
                        const struct mq_names *names, const char *text);

static void expand_one(struct mq_buffer *out, const struct mq_sql_dialect *dialect,
                       const struct mq_names *names, char what)
{
    struct mq_buffer piece = {0};
    if (write_piece(&piece, what)) {
        expand_text(out, dialect, names, piece.failed ? "" : piece.data);
        out->failed = out->failed || piece.failed;
    } else if (what == 'T') {
        mq_buffer_cstr(out, names->table);
    } else if (what == 'q') {
        mq_buffer_char(out, dialect->quote);
    } else if (!write_name(out, dialect, names, what)) {
        write_word(out, dialect, what);
    }
    mq_buffer_clear(&piece);
}

static void expand_text(struct mq_buffer *out, const struct mq_sql_dialect *dialect,
                        const struct mq_names *names, const char *text)
{
    for (const char *brace = strchr(text, '{'); brace; brace = strchr(text, '{')) {
        mq_buffer_append(out, text, (size_t)(brace - text));
        expand_one(out, dialect, names, brace[1]);
        text = brace + 3;
    }
    mq_buffer_cstr(out, text);
}

char *mq_sql_expand(const struct mq_sql_dialect *dialect, const struct mq_names *names,
                    const char *text)
{
    struct mq_buffer out;
    mq_buffer_init(&out);
    mq_buffer_reserve(&out, strlen(text) + 128);
    expand_text(&out, dialect, names, text);
    return mq_buffer_take(&out);
}
