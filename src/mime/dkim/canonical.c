/* The canonical forms of RFC 6376, section 3.4: a signature is made over these bytes. */
#include "mime/dkim/canonical.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"

#define CHUNK 8192

/* ---- the fields of a mail ---- */

static bool add_field(struct mq_dkim_fields *fields, struct mq_str field)
{
    if (fields->count == fields->capacity) {
        size_t capacity = fields->capacity ? fields->capacity * 2 : 32;
        struct mq_str *items = realloc(fields->items, capacity * sizeof *items);
        if (items == NULL) {
            return false;
        }
        fields->items = items;
        fields->capacity = capacity;
    }
    fields->items[fields->count++] = field;
    return true;
}

/* Reads fields up to the empty line or the end; *rest is what follows it. */
static bool add_fields(struct mq_dkim_fields *fields, struct mq_str text, struct mq_str *rest)
{
    size_t first = fields->count;
    *rest = (struct mq_str){NULL, 0};
    while (text.len > 0) {
        const char *lf = memchr(text.data, '\n', text.len);
        size_t len = lf ? (size_t)(lf - text.data) + 1 : text.len;
        bool empty = lf && (len == 1 || (len == 2 && text.data[0] == '\r'));
        struct mq_str line = {text.data, len};
        text.data += len;
        text.len -= len;
        if (empty) {
            *rest = text;
            return true;
        }
        if (mq_is_blank(line.data[0]) && fields->count > first) {
            fields->items[fields->count - 1].len += len;
        } else if (!add_field(fields, line)) {
            return false;
        }
    }
    return true;
}

bool mq_dkim_fields_read(struct mq_str prefix, struct mq_str message, struct mq_dkim_fields *out)
{
    struct mq_dkim_fields fields = {0};
    struct mq_str nothing;
    if (!add_fields(&fields, prefix, &nothing) || !add_fields(&fields, message, &fields.body)) {
        free(fields.items);
        return false;
    }
    *out = fields;
    return true;
}

/* Splits a field at its colon; without one all of it is the name, which none of ours is. */
static void split(struct mq_str field, struct mq_str *name, struct mq_str *value)
{
    const char *colon = memchr(field.data, ':', field.len);
    size_t n = colon ? (size_t)(colon - field.data) : field.len;
    size_t after = colon ? n + 1 : n;
    *name = mq_str_trim((struct mq_str){field.data, n});
    *value = (struct mq_str){field.data + after, field.len - after};
}

static bool has_name(struct mq_str field, const char *name)
{
    struct mq_str own, value;
    split(field, &own, &value);
    return mq_str_equal_nocase(own, mq_str_of(name));
}

bool mq_dkim_fields_find(const struct mq_dkim_fields *fields, const char *name,
                         struct mq_str *value)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (has_name(fields->items[i], name)) {
            struct mq_str own;
            split(fields->items[i], &own, value);
            return true;
        }
    }
    return false;
}

/* ---- the choice ---- */

enum once_more {
    NEVER,      /* forwarders and lists put theirs before ours */
    IF_PRESENT, /* lists add it where it is missing */
    ALWAYS
};

static const struct {
    const char *name;
    enum once_more once_more;
} signed_fields[] = {
    {"From", ALWAYS},
    {"To", ALWAYS},
    {"Cc", ALWAYS},
    {"Subject", ALWAYS},
    {"Date", ALWAYS},
    {"Message-ID", ALWAYS},
    {"Reply-To", ALWAYS},
    {"Sender", ALWAYS},
    {"MIME-Version", ALWAYS},
    {"Content-Type", ALWAYS},
    {"Content-Transfer-Encoding", ALWAYS},
    {"Content-Disposition", IF_PRESENT},
    {"Content-ID", IF_PRESENT},
    {"In-Reply-To", IF_PRESENT},
    {"References", IF_PRESENT},
    {"List-Unsubscribe", IF_PRESENT},
    {"List-Unsubscribe-Post", IF_PRESENT},
    {"List-Id", NEVER},
    {"List-Help", NEVER},
    {"List-Subscribe", NEVER},
    {"List-Post", NEVER},
    {"List-Owner", NEVER},
    {"List-Archive", NEVER},
    {"Resent-Date", NEVER},
    {"Resent-From", NEVER},
    {"Resent-Sender", NEVER},
    {"Resent-To", NEVER},
    {"Resent-Cc", NEVER},
    {"Resent-Message-ID", NEVER},
};

static void add_name(struct mq_buffer *names, const char *name)
{
    if (names->len > 0) {
        mq_buffer_char(names, ':');
    }
    mq_buffer_cstr(names, name);
}

void mq_dkim_select(const struct mq_dkim_fields *fields, struct mq_buffer *text,
                    struct mq_buffer *names)
{
    for (size_t i = 0; i < sizeof signed_fields / sizeof *signed_fields; i++) {
        const char *name = signed_fields[i].name;
        bool present = false;
        /* Verifiers take those of one name from the bottom up. */
        for (size_t k = fields->count; k-- > 0;) {
            if (has_name(fields->items[k], name)) {
                mq_dkim_relax_header(text, fields->items[k]);
                add_name(names, name);
                present = true;
            }
        }
        if (signed_fields[i].once_more == ALWAYS ||
            (signed_fields[i].once_more == IF_PRESENT && present)) {
            add_name(names, name);
        }
    }
}

/* ---- canonical forms ---- */

void mq_dkim_relax_header(struct mq_buffer *out, struct mq_str field)
{
    struct mq_str name, value;
    bool gap = false;
    split(field, &name, &value);
    value = mq_str_trim(value);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        mq_buffer_char(out, c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c);
    }
    mq_buffer_char(out, ':');
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        if (c == '\r' || c == '\n') {
            continue;
        }
        if (mq_is_blank(c)) {
            gap = true;
            continue;
        }
        if (gap) {
            mq_buffer_char(out, ' ');
        }
        gap = false;
        mq_buffer_char(out, c);
    }
    mq_buffer_append(out, "\r\n", 2);
}

/* Pieces of any length in, pieces of CHUNK out. */
struct body {
    mq_dkim_take take;
    void *context;
    size_t len;
    char chunk[CHUNK];
};

static void put(struct body *body, const char *data, size_t len)
{
    while (len > 0) {
        size_t room = CHUNK - body->len;
        size_t n = len < room ? len : room;
        memcpy(body->chunk + body->len, data, n);
        body->len += n;
        data += n;
        len -= n;
        if (body->len == CHUNK) {
            body->take(body->context, body->chunk, CHUNK);
            body->len = 0;
        }
    }
}

/* A line without blanks at its end: runs of them become one space. */
static void put_line(struct body *body, struct mq_str line)
{
    size_t at = 0;
    if (!memchr(line.data, '\t', line.len) && !memmem(line.data, line.len, "  ", 2)) {
        put(body, line.data, line.len); /* as nearly all are */
        at = line.len;
    }
    while (at < line.len) {
        size_t word = at;
        while (at < line.len && !mq_is_blank(line.data[at])) {
            at++;
        }
        put(body, line.data + word, at - word);
        if (at < line.len) {
            put(body, " ", 1);
        }
        while (at < line.len && mq_is_blank(line.data[at])) {
            at++;
        }
    }
    put(body, "\r\n", 2);
}

void mq_dkim_relax_body(struct mq_str text, mq_dkim_take take, void *context)
{
    struct body body = {.take = take, .context = context};
    size_t empty_lines = 0; /* not yet put: those at the end do not count */
    while (text.len > 0) {
        const char *lf = memchr(text.data, '\n', text.len);
        struct mq_str line = {text.data, lf ? (size_t)(lf - text.data) : text.len};
        size_t taken = line.len + (lf != NULL);
        text.data += taken;
        text.len -= taken;
        if (lf && line.len > 0 && line.data[line.len - 1] == '\r') {
            line.len--;
        }
        while (line.len > 0 && mq_is_blank(line.data[line.len - 1])) {
            line.len--;
        }
        if (line.len == 0) {
            empty_lines++;
            continue;
        }
        for (; empty_lines > 0; empty_lines--) {
            put(&body, "\r\n", 2);
        }
        put_line(&body, line);
    }
    if (body.len > 0) {
        take(context, body.chunk, body.len);
    }
}
