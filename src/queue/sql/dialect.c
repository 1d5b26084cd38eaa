/* SQLite's dialect, the table of the columns, and how a template becomes a statement. */
#include "queue/sql/dialect.h"

#include <stddef.h>
#include <string.h>

#include "db/db.h"
#include "policy/job_state.h"
#include "queue/config/keys.h"
#include "queue/job.h"
#include "queue/sql/descriptor.h"

/* Whether a row of the orphan check's table has this reference. A column without a type, or of a
 * view, can hold the number 123 for the reference '123'. For SQLite they are not equal, so
 * the mail would count as an orphan and be deleted. */
#define REFERRED(reference)                                     \
    "{o}.{k} IN (" reference ", CASE WHEN CAST(CAST(" reference \
    " AS INTEGER) AS TEXT) = " reference " THEN CAST(" reference " AS INTEGER) END)"

#define DUE "SELECT " MQ_COLS " FROM {t} WHERE " MQ_CLAIMABLE_SQL " AND priority = ?1 AND "

static const char *const sqlite[MQ_SQL_COUNT] = {
    [MQ_SQL_VERSION] = "PRAGMA data_version",
    /* SQLite merges both halves as they come from the index. For a comparison of rows, or with OR,
     * it reads all rows of the place's second. */
    [MQ_SQL_CLAIM_DUE_BEHIND] =
        DUE "next_attempt_at = ?4 AND id > ?5 UNION ALL " DUE
            "next_attempt_at > ?4 AND next_attempt_at <= ?2 ORDER BY next_attempt_at, id LIMIT ?3",
    [MQ_SQL_ORPHAN] = "SELECT 1 FROM {o} WHERE " REFERRED("?1") " LIMIT 1",
    /* LIMIT and a join bound the walk. `id <= ?` would not: if ANALYZE ran while few mails waited,
     * SQLite 3.46 uses it only as a filter, and reads to the end of the table. */
    [MQ_SQL_WALK] =
        "SELECT " MQ_COLS " FROM (SELECT id AS walked FROM {t} WHERE id > ?1 ORDER BY id LIMIT ?2) "
        "AS walk CROSS JOIN {t} ON id = walked WHERE +" MQ_CLAIMABLE_SQL " AND (" MQ_EXPIRED_BY
        "?3 OR ({r} IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM {o} WHERE " REFERRED("{t}.{r}") ")))",
    [MQ_SQL_COLUMNS_OF] = "SELECT name, pk FROM pragma_table_info(?1, 'main')",
};

static const struct mq_sql_dialect sqlite_dialect = {
    .overrides = sqlite,
    .words =
        {
            /* Not double quotes: SQLite reads a double-quoted name that is not a column as a
             * string, and a misspelt reference column would then go unnoticed. */
            ['q'] = "`",
            /* Names the application's file, even if its connection has temporary or attached
             * tables of the same name. */
            ['m'] = "main.",
            ['i'] = "INTEGER PRIMARY KEY AUTOINCREMENT",
            ['I'] = "INTEGER PRIMARY KEY",
            ['W'] = " WITHOUT ROWID",
            ['U'] = MQ_COUNT_UPSERT,
            ['n'] = "INTEGER",
            ['x'] = "BLOB",
            ['z'] = "TEXT",
            ['v'] = "TEXT",
            ['h'] = "TEXT",
            ['l'] = MQ_CLAIMABLE_STATES,
            ['y'] = "?1",
            /* A priority of 0.5, which another program wrote, must not block all other mail. */
            ['#'] = " AND typeof(priority) = 'integer'",
            ['<'] = "?1",
            ['+'] = "+",
            ['A'] = "TEXT",
            ['F'] = "instr",
            ['V'] = "CAST(value AS TEXT)",
            ['Y'] = "status <> 'parked' AND campaign_id",
            ['B'] = "?1 || id || ?2, ?3, ?4, ?5, ?6",
            ['Q'] = " ON CONFLICT DO NOTHING",
            ['N'] = "?2",
        },
    .table_max = MQ_NAME_MAX,
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

/* ---- columns ---- */

#define READ_NOT           MQ_READ_NOT, 0
#define READ_INT(member)   MQ_READ_INT, offsetof(struct mq_job, member)
#define READ_INT64(member) MQ_READ_INT64, offsetof(struct mq_job, member)
#define READ_TEXT(member)  MQ_READ_TEXT, offsetof(struct mq_job, member)

#define ROW(symbol, name, type, read, sql, value) {name, type, read, sql},
const struct mq_column mq_columns[MQ_COL_COUNT] = {MQ_COLUMNS(ROW)};

#define NAME(symbol, name, ...)        ", " name
#define TYPED(symbol, name, type, ...) ", " name " " type
static const char *const column_names = &(MQ_COLUMNS(NAME))[2];
static const char *const column_types = &(MQ_COLUMNS(TYPED))[2];

static void write_new_columns(struct mq_buffer *out)
{
    const char *comma = "";
    for (size_t i = 0; i < MQ_COL_COUNT; i++) {
        if (mq_columns[i].sql) {
            mq_buffer_printf(out, "%s%s", comma, mq_columns[i].name);
            comma = ", ";
        }
    }
}

int mq_columns_write_values(struct mq_buffer *out, int first)
{
    char before = '(';
    for (size_t i = 0; i < MQ_COL_COUNT; i++) {
        const char *sql = mq_columns[i].sql;
        if (!sql) {
            continue;
        }
        const char *mark = strchr(sql, '?');
        mq_buffer_char(out, before);
        mq_buffer_append(out, sql, mark ? (size_t)(mark - sql) : strlen(sql));
        if (mark) {
            mq_buffer_printf(out, "?%d%s", first++, mark + 1);
        }
        before = ',';
    }
    mq_buffer_char(out, ')');
    return first;
}

/* ---- templates ---- */

/* Letters that stand for a name. */
static const struct {
    char letter;
    bool is_table; /* write the schema's name before it */
    size_t at;     /* offset in struct mq_names */
} names_of[] = {
    {'t', true, offsetof(struct mq_names, table)},
    {'b', true, offsetof(struct mq_names, body)},
    {'s', true, offsetof(struct mq_names, spent)},
    {'S', true, offsetof(struct mq_names, window)},
    {'C', true, offsetof(struct mq_names, count)},
    {'H', true, offsetof(struct mq_names, log)},
    {'Z', true, offsetof(struct mq_names, suppression)},
    {'M', true, offsetof(struct mq_names, campaign)},
    {'p', true, offsetof(struct mq_names, recipient)},
    {'!', true, offsetof(struct mq_names, bounce)},
    {'c', true, offsetof(struct mq_names, config)},
    {'o', true, offsetof(struct mq_names, orphan_table)},
    {'k', false, offsetof(struct mq_names, orphan_column)},
    {'r', false, offsetof(struct mq_names, reference)},
};

static void write_name(struct mq_buffer *out, const struct mq_sql_dialect *dialect,
                       const struct mq_names *names, char letter)
{
    for (size_t i = 0; i < sizeof(names_of) / sizeof(names_of[0]); i++) {
        if (names_of[i].letter == letter) {
            const char *schema = names_of[i].is_table ? dialect->words['m'] : NULL;
            mq_buffer_cstr(out, schema ? schema : "");
            mq_buffer_cstr(out, dialect->words['q']);
            mq_buffer_cstr(out, (const char *)names + names_of[i].at);
            mq_buffer_cstr(out, dialect->words['q']);
        }
    }
}

/* The names of the config keys that claims read. */
static void write_keys(struct mq_buffer *out)
{
    const char *comma = "";
    for (int i = 0; i < MQ_KEY_COUNT; i++) {
        if (mq_config_keys[i].in_claims) {
            mq_buffer_printf(out, "%s'%s'", comma, mq_config_keys[i].name);
            comma = ",";
        }
    }
}

static void expand_text(struct mq_buffer *out, const struct mq_sql_dialect *dialect,
                        const struct mq_names *names, const char *text);

/* Expands {f}, {g} or {K}, whose text is built here. */
static void expand_made(struct mq_buffer *out, const struct mq_sql_dialect *dialect,
                        const struct mq_names *names, char what)
{
    struct mq_buffer piece = {0};
    if (what == 'f') {
        write_new_columns(&piece);
    } else if (what == 'g') {
        mq_columns_write_values(&piece, MQ_FIRST_NEW_PARAMETER);
    } else {
        write_keys(&piece);
    }
    expand_text(out, dialect, names, piece.failed ? "" : piece.data);
    out->failed = out->failed || piece.failed;
    mq_buffer_clear(&piece);
}

/* What a letter stands for in all databases; NULL: look further. */
static const char *common_word(char what)
{
    switch (what) {
    case 'j':
        return column_names;
    case '*':
        return column_types;
    case '%':
        return "parked_for IN ('refused','exhausted')";
    case '>':
        return "(status = 'parked' OR (status <> 'sending' AND " MQ_EXPIRED_BY "{y}))";
    default:
        return NULL;
    }
}

static void expand_one(struct mq_buffer *out, const struct mq_sql_dialect *dialect,
                       const struct mq_names *names, char what)
{
    const char *word = common_word(what);
    word = word ? word : dialect->words[what & 127];
    if (word) {
        expand_text(out, dialect, names, word);
    } else if (strchr("fgK", what)) {
        expand_made(out, dialect, names, what);
    } else if (what == 'T') {
        mq_buffer_cstr(out, names->table);
    } else if (what == 'G') {
        mq_buffer_cstr(out, names->count);
    } else if (what == 'E') {
        mq_buffer_cstr(out, names->log);
    } else if (what == 'O') {
        mq_buffer_cstr(out, names->window);
    } else {
        write_name(out, dialect, names, what);
    }
}

static void expand_text(struct mq_buffer *out, const struct mq_sql_dialect *dialect,
                        const struct mq_names *names, const char *text)
{
    for (const char *brace = strchr(text, '{'); brace; brace = strchr(text, '{')) {
        bool is_word = brace[1] && brace[2] == '}'; /* not JSON of a query */
        mq_buffer_append(out, text, (size_t)(brace - text) + !is_word);
        text = brace + 1;
        if (is_word) {
            expand_one(out, dialect, names, brace[1]);
            text = brace + 3;
        }
    }
    mq_buffer_cstr(out, text);
}

char *mq_sql_expand(const struct mq_sql_dialect *dialect, const struct mq_names *names,
                    const char *text)
{
    struct mq_buffer out = {0};
    mq_buffer_reserve(&out, strlen(text) + 128);
    expand_text(&out, dialect, names, text);
    return mq_buffer_take(&out);
}
