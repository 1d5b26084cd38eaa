/* SQLite's spelling, and how a template becomes a statement. */
#include "queue/sql/dialect.h"

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
    /* A 0.5 by another program's hand must not be what all others wait behind. */
    [MQ_SQL_CLAIM_PRIORITY] = "SELECT max(priority) FROM {t} WHERE " MQ_CLAIMABLE_SQL
                              " AND priority < ?1 AND typeof(priority) = 'integer'",
    [MQ_SQL_ORPHAN] = "SELECT 1 FROM {o} WHERE " REFERRED("?1") " LIMIT 1",
    /* Bounded by LIMIT and join: `id <= ?` is but a filter to SQLite 3.46, which then reads on to
     * the table's end, where ANALYZE ran while little waited. */
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
    /* The application's file, whatever tables of the same name its connection has attached or
     * temporary. */
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

static void quoted(struct mq_buffer *out, char quote, const char *name)
{
    mq_buffer_char(out, quote);
    mq_buffer_cstr(out, name);
    mq_buffer_char(out, quote);
}

/* The name that `what` stands for; NULL: none. */
static const char *name_of(const struct mq_names *names, char what)
{
    switch (what) {
    case 't':
        return names->table;
    case 'b':
        return names->body;
    case 's':
        return names->spent;
    case 'c':
        return names->config;
    case 'r':
        return names->reference;
    case 'o':
        return names->orphan_table;
    case 'k':
        return names->orphan_column;
    default:
        return NULL;
    }
}

static bool is_table(char what)
{
    return strchr("tbsco", what) != NULL;
}

static const char *word_of(const struct mq_sql_dialect *dialect, char what)
{
    switch (what) {
    case 'm':
        return dialect->schema;
    case 'i':
        return dialect->id;
    case 'n':
        return dialect->integer;
    case 'x':
        return dialect->blob;
    case 'v':
        return dialect->key_text;
    case 'h':
        return dialect->word;
    case 'z':
        return dialect->text;
    case 'l':
        return dialect->claimable;
    case 'a':
        return dialect->options;
    case 'e':
        return dialect->body_options;
    case 'd':
        return dialect->returning;
    case 'y':
        return dialect->now;
    case 'u':
        return dialect->lock;
    case 'w':
        return dialect->lock_free;
    default:
        return dialect->no_index;
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
        mq_columns_write_names(out);
        return true;
    case '*':
        mq_columns_write_types(out);
        return true;
    case 'f':
        mq_columns_write_new_names(out);
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
    const char *name = name_of(names, what);
    struct mq_buffer piece;
    mq_buffer_init(&piece);
    if (write_piece(&piece, what)) {
        expand_text(out, dialect, names, piece.failed ? "" : piece.data);
        out->failed = out->failed || piece.failed;
    } else if (name) {
        mq_buffer_cstr(out, is_table(what) ? dialect->schema : "");
        quoted(out, dialect->quote, name);
    } else if (what == 'T') {
        mq_buffer_cstr(out, names->table);
    } else if (what == 'q') {
        mq_buffer_char(out, dialect->quote);
    } else {
        mq_buffer_cstr(out, word_of(dialect, what));
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
