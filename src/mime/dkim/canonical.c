/* The canonical forms of RFC 6376, section 3.4, and the choice of the header fields to sign. */
#include "mime/dkim/canonical.h"

#include <string.h>

#include "core/ascii.h"
#include "mime/wire/message.h"

/* ---- the choice ---- */

enum once_more {
    ALWAYS,
    IF_PRESENT, /* mailing lists and submission servers add a missing one */
    NEVER       /* forwarders and mailing lists add another one above ours */
};

#define NAMES_MAX 12

/* The fields to sign, in h= order, grouped by whether h= names one more than the message has. */
static const char *const signed_fields[][NAMES_MAX] = {
    [ALWAYS] = {"From", "To", "Cc", "Subject", "Date", "Message-ID", "Reply-To", "MIME-Version",
                "Content-Type", "Content-Transfer-Encoding"},
    [IF_PRESENT] = {"Sender", "Content-Disposition", "Content-ID", "In-Reply-To", "References",
                    "List-Unsubscribe", "List-Unsubscribe-Post"},
    [NEVER] = {"List-Id", "List-Help", "List-Subscribe", "List-Post", "List-Owner", "List-Archive",
               "Resent-Date", "Resent-From", "Resent-Sender", "Resent-To", "Resent-Cc",
               "Resent-Message-ID"},
};

struct field {
    struct mq_str name, value;
};

/* Appends the fields of a header section to an array of struct field in a buffer. */
static void add_fields(struct mq_buffer *array, struct mq_str head)
{
    struct mq_message_fields fields = {.rest = head, .end = '\n'};
    while (mq_message_fields_next(&fields)) {
        struct field field = {fields.name, fields.value};
        mq_buffer_append(array, &field, sizeof field);
    }
}

struct selection {
    struct mq_buffer *text, *names;
    struct field *fields;
    size_t count;
};

static void add_name(struct mq_buffer *names, const char *name)
{
    mq_buffer_append(names, ":", names->len > 0);
    mq_buffer_cstr(names, name);
}

static void select_field(struct selection *to, const char *name, enum once_more once_more)
{
    bool present = false;
    struct mq_str wanted = mq_str_of(name);
    /* Of several fields of one name, verifiers take the lowest first. */
    for (size_t i = to->count; i-- > 0;) {
        if (mq_str_equal_nocase(to->fields[i].name, wanted)) {
            mq_dkim_relax_header(to->text, to->fields[i].name, to->fields[i].value);
            add_name(to->names, name);
            present = true;
        }
    }
    if (once_more == ALWAYS || (once_more == IF_PRESENT && present)) {
        add_name(to->names, name);
    }
}

void mq_dkim_select(struct mq_str prefix, struct mq_str message, struct mq_buffer *text,
                    struct mq_buffer *names)
{
    struct mq_buffer array = {0};
    add_fields(&array, prefix);
    add_fields(&array, message);
    struct selection to = {.text = text,
                           .names = names,
                           .fields = (struct field *)(void *)array.data,
                           .count = array.len / sizeof(struct field)};
    for (enum once_more once_more = ALWAYS; once_more <= NEVER; once_more++) {
        for (size_t i = 0; i < NAMES_MAX && signed_fields[once_more][i] != NULL; i++) {
            select_field(&to, signed_fields[once_more][i], once_more);
        }
    }
    text->failed = text->failed || array.failed;
    mq_buffer_clear(&array);
}

/* ---- canonical forms ---- */

void mq_dkim_relax_header(struct mq_buffer *out, struct mq_str name, struct mq_str value)
{
    for (size_t i = 0; i < name.len; i++) {
        mq_buffer_char(out, mq_ascii_lower(name.data[i]));
    }
    mq_buffer_char(out, ':');
    for (value = mq_str_trim(value); value.len > 0; value = mq_str_trim(value)) {
        size_t word = 0;
        while (word < value.len && !mq_is_space(value.data[word])) {
            word++;
        }
        mq_buffer_append(out, value.data, word);
        mq_buffer_append(out, " ", word < value.len);
        value = mq_str_skip(value, word);
    }
    mq_buffer_append(out, "\r\n", 2);
}

/* Returns how many bytes at the beginning of text are canonical already: all before a tab, before
 * several blanks, or before blanks at a line's end. The text does not end with white space. */
static size_t relaxed_length(struct mq_str text)
{
    size_t n = 0;
    while (n < text.len && text.data[n] != '\t' &&
           (text.data[n] != ' ' || !mq_is_space(text.data[n + 1]))) {
        n++;
    }
    return n;
}

void mq_dkim_relax_body(struct mq_str body, mq_dkim_take take, void *context)
{
    while (body.len > 0 && mq_is_space(body.data[body.len - 1])) { /* skips empty last lines */
        body.len--;
    }
    if (body.len == 0) {
        return;
    }
    while (body.len > 0) {
        size_t n = relaxed_length(body);
        take(context, body.data, n);
        bool blank = n < body.len;
        while (n < body.len && mq_is_blank(body.data[n])) {
            n++;
        }
        if (blank && body.data[n] != '\r') {
            take(context, " ", 1);
        }
        body = mq_str_skip(body, n);
    }
    take(context, "\r\n", 2);
}
