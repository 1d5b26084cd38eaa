/* Reads and writes mailboxes. The same reader, which goes over the text once, reads what
 * applications give and header fields of complete messages. */
#include "mime/mailbox.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/address.h"
#include "mime/header.h"
#include "mime/idn.h"

void mq_mailboxes_clear(struct mq_mailboxes *list)
{
    mq_strings_clear(&list->addresses);
    mq_strings_clear(&list->names);
}

/* Appends a mailbox whose name was checked. */
static enum mq_status add(struct mq_str name, struct mq_str address, const char *field,
                          struct mq_mailboxes *list, struct mq_error *err)
{
    char *plain = NULL;
    MQ_TRY(mq_idn_address(address, field, &plain, err));
    bool added =
        mq_strings_add(&list->names, name) && mq_strings_add(&list->addresses, mq_str_of(plain));
    free(plain);
    return added ? MQ_OK : mq_error_nomem(err);
}

enum mq_status mq_mailboxes_add(struct mq_str name, struct mq_str address, const char *field,
                                struct mq_mailboxes *list, struct mq_error *err)
{
    struct mq_buffer spaced = {0};
    enum mq_status status = mq_header_text(&name, field, &spaced, err);
    if (status == MQ_OK) {
        status = add(name, address, field, list, err);
    }
    mq_buffer_clear(&spaced);
    return status;
}

/* ---- reading ---- */

/* A run of words: up to one of "),:;<>" or the end. */
struct phrase {
    size_t words;
    struct mq_str text; /* from the first word to the last, with all between */
    bool at;            /* a word has an "@" outside quotes */
};

static const char bad_name[] =
    "has a name with one of ()<>[]:;@\\,\" in it; put the name in double quotes (groups and "
    "comments are not supported)";

static void skip(struct mq_address_reader *r, size_t n)
{
    r->rest = mq_str_skip(r->rest, n);
}

static char peek(const struct mq_address_reader *r)
{
    return r->rest.len > 0 ? r->rest.data[0] : '\0';
}

/* Skips a comment (RFC 5322, 3.2.2), which begins with "(". */
static bool skip_comment(struct mq_address_reader *r)
{
    size_t length = mq_enclosed_length(r->rest);
    if (r->strict) {
        r->fault = bad_name;
    } else if (length == 0) {
        r->fault = "has a comment without its \")\"; add it";
    } else {
        skip(r, length);
    }
    return r->fault == NULL;
}

/* Skips white space and comments. */
static bool skip_blank(struct mq_address_reader *r)
{
    while (mq_is_space(peek(r)) || peek(r) == '(') {
        if (peek(r) != '(') {
            skip(r, 1);
        } else if (!skip_comment(r)) {
            return false;
        }
    }
    return true;
}

/* Returns the length of the next piece of a word: a quoted string, an encoded word, a literal in
 * brackets, or one character. Returns 0 and sets r->fault if its end is missing. */
static size_t piece_length(struct mq_address_reader *r, struct phrase *phrase)
{
    size_t n;
    switch (peek(r)) {
    case '"':
        n = mq_enclosed_length(r->rest);
        r->fault = n == 0 ? "has a quoted name without its closing quote; add it" : NULL;
        return n;
    case '[':
        n = mq_enclosed_length(r->rest);
        r->fault = n == 0 ? "has a \"[\" without \"]\"; add it" : NULL;
        return n;
    case '@':
        phrase->at = true;
        return 1;
    case '=':
        n = mq_encoded_word_length(r->rest);
        return n > 0 ? n : 1;
    default:
        return 1;
    }
}

/* Takes a word: up to white space or one of "(),:;<>". */
static bool take_word(struct mq_address_reader *r, struct phrase *phrase)
{
    if (phrase->words++ == 0) {
        phrase->text.data = r->rest.data;
    }
    while (r->rest.len > 0 && !mq_is_space(peek(r)) && memchr("(),:;<>", peek(r), 7) == NULL) {
        size_t n = piece_length(r, phrase);
        if (n == 0) {
            return false;
        }
        skip(r, n);
    }
    phrase->text.len = (size_t)(r->rest.data - phrase->text.data);
    return true;
}

static bool take_phrase(struct mq_address_reader *r, struct phrase *phrase)
{
    while (skip_blank(r) && r->rest.len > 0 && memchr("),:;<>", peek(r), 6) == NULL) {
        if (!take_word(r, phrase)) {
            break;
        }
    }
    return r->fault == NULL;
}

/* Whether a name with an "@" in it only repeats the address, perhaps in single quotes, as many
 * programs write it. If the name is another address, a comma may be missing between the two. */
static bool is_own_name(const struct phrase *phrase, struct mq_str address)
{
    struct mq_str name = phrase->text;
    if (name.len > 2 && name.data[0] == '\'' && name.data[name.len - 1] == '\'') {
        name.data++;
        name.len -= 2;
    }
    return phrase->words == 1 && mq_str_equal_nocase(name, address);
}

/* Takes "<addr>". */
static struct mq_str take_angle(struct mq_address_reader *r, const struct phrase *phrase)
{
    struct mq_str none = {0};
    const char *end = memchr(r->rest.data, '>', r->rest.len);
    if (end == NULL) {
        r->fault = "has a \"<\" without \">\"; add it";
        return none;
    }
    struct mq_str inner = {r->rest.data + 1, (size_t)(end - r->rest.data) - 1};
    struct mq_str address = r->strict ? inner : mq_str_trim(inner);
    skip(r, inner.len + 2);
    if (address.len == 0) {
        r->fault = "is empty (\"<>\"); write <name@example.org>";
    } else if (address.data[0] == '@') {
        r->fault = "has a source route; remove all up to the \":\"";
    } else if (phrase->at && !is_own_name(phrase, address)) {
        r->fault = "has a name with an \"@\" in it; put the name in double quotes, or a comma "
                   "between two addresses";
    }
    return address;
}

static const char *fault_of_stop(char c)
{
    switch (c) {
    case ')':
        return "has a \")\" without \"(\"; remove it";
    case '>':
        return "has a \">\" without \"<\"; remove it";
    case ':':
        return "has a \":\" where no group can begin; groups are written \"name: a@b, c@d;\"";
    case ';':
        return "has a \";\" that ends no group; put commas between addresses";
    default:
        return "is followed by something; put a comma between two addresses";
    }
}

/* Takes what follows an address or a group: a comma, the group's end, or the end of the field. */
static void take_separator(struct mq_address_reader *r)
{
    if (skip_blank(r) && peek(r) == ';' && r->in_group) {
        r->in_group = false;
        skip(r, 1);
        skip_blank(r);
    }
    if (r->fault != NULL) {
        return;
    }
    if (r->rest.len > 0 && peek(r) != ',') {
        r->fault = fault_of_stop(peek(r));
    }
    r->more = peek(r) == ',';
    skip(r, r->more);
}

static bool begins_group(const struct mq_address_reader *r, const struct phrase *phrase)
{
    return peek(r) == ':' && phrase->words > 0 && !phrase->at && !r->in_group && !r->strict;
}

/* Takes one element of the list. *address is empty if the element has no address. */
static void take_element(struct mq_address_reader *r, struct phrase *phrase, struct mq_str *address)
{
    if (!take_phrase(r, phrase)) {
        return;
    }
    if (begins_group(r, phrase)) {
        r->in_group = true;
        skip(r, 1);
        return;
    }
    if (peek(r) == '<') {
        *address = take_angle(r, phrase);
    } else if (phrase->words == 1 && (phrase->at || !r->strict)) {
        *address = phrase->text;
    } else if (phrase->words == 1) {
        r->fault = peek(r) == ':' ? bad_name
                                  : "has no \"@\"; write it as name@example.org, and a name that "
                                    "has a comma in double quotes";
    } else if (phrase->words > 1) {
        r->fault = "has several words and no <address>; write Name <name@example.org>, or a comma "
                   "between two addresses";
    }
    if (r->fault == NULL) {
        take_separator(r);
    }
}

/* ---- mailboxes as applications give them ---- */

/* Appends the name without its quotes. Returns NULL, or what is wrong. */
static const char *read_name(struct mq_str text, struct mq_buffer *name)
{
    bool quoted = text.len > 0 && text.data[0] == '"';
    if (quoted && mq_enclosed_length(text) != text.len) {
        return bad_name;
    }
    for (size_t i = quoted; i + quoted < text.len; i++) {
        i += quoted && text.data[i] == '\\';
        if (!quoted && strchr("()<>[]:;@\\,\"", text.data[i]) != NULL) {
            return bad_name;
        }
        mq_buffer_char(name, text.data[i]);
    }
    return NULL;
}

static enum mq_status read_mailbox(struct mq_address_reader *r, const char *field,
                                   struct mq_mailboxes *list, struct mq_error *err)
{
    struct mq_str start = mq_str_trim(r->rest);
    struct phrase phrase = {0};
    struct mq_str address = {0};
    struct mq_buffer name = {0};
    enum mq_status status;
    take_element(r, &phrase, &address);
    if (r->fault == NULL && phrase.text.data != address.data) {
        r->fault = read_name(phrase.text, &name);
    }
    if (r->fault != NULL) {
        status = mq_address_bad(start, field, r->fault, err);
    } else if (name.failed) {
        status = mq_error_nomem(err);
    } else {
        status = add(mq_buffer_view(&name), address, field, list, err);
    }
    mq_buffer_clear(&name);
    return status;
}

enum mq_status mq_mailboxes_parse(struct mq_str text, const char *field, struct mq_mailboxes *list,
                                  struct mq_error *err)
{
    size_t before = list->addresses.count;
    struct mq_buffer spaced = {0};
    enum mq_status status = mq_header_text(&text, field, &spaced, err);
    struct mq_address_reader reader = {.rest = mq_str_trim(text), .strict = true, .more = true};
    while (status == MQ_OK && reader.more) {
        status = read_mailbox(&reader, field, list, err);
    }
    if (status != MQ_OK) {
        mq_strings_cut(&list->addresses, before);
        mq_strings_cut(&list->names, before);
    }
    mq_buffer_clear(&spaced);
    return status;
}

/* ---- header fields ---- */

bool mq_address_next(struct mq_address_reader *r, struct mq_str *address)
{
    struct phrase phrase = {0};
    *address = (struct mq_str){NULL, 0};
    if (r->rest.len == 0) {
        return false;
    }
    take_element(r, &phrase, address);
    return r->fault == NULL;
}

/* Whether the character at i is text or folding. A line end without white space after it would end
 * the field. */
static bool is_in_field(struct mq_str value, size_t i)
{
    unsigned char c = (unsigned char)value.data[i];
    char next = i + 1 < value.len ? value.data[i + 1] : ' ';
    bool folds = mq_is_blank(next);
    if (c == '\r' || c == '\n') {
        return folds || (c == '\r' && next == '\n');
    }
    return c == '\t' || (c >= 0x20 && c != 0x7F);
}

static enum mq_status check_characters(struct mq_str value, const char *field, struct mq_error *err)
{
    for (size_t i = 0; i < value.len; i++) {
        if (!is_in_field(value, i)) {
            return mq_error_set(err, MQ_MESSAGE, field,
                                "%s: control character U+%04X at byte %zu; remove it", field,
                                (unsigned char)value.data[i], i + 1);
        }
    }
    return MQ_OK;
}

/* Takes the next element of the list and appends its address, if it has one. */
static enum mq_status read_next(struct mq_address_reader *r, const char *field,
                                struct mq_strings *list, struct mq_error *err)
{
    struct mq_str start = mq_str_trim(r->rest);
    struct mq_str address;
    char *plain = NULL;
    if (!mq_address_next(r, &address)) {
        return mq_address_bad(start, field, r->fault, err);
    }
    if (address.len == 0) {
        return MQ_OK;
    }
    enum mq_status status = mq_idn_address(address, field, &plain, err);
    if (status == MQ_OK && !mq_strings_add(list, mq_str_of(plain))) {
        status = mq_error_nomem(err);
    }
    free(plain);
    return status;
}

enum mq_status mq_addresses_of_header(struct mq_str value, const char *field,
                                      struct mq_strings *list, struct mq_error *err)
{
    size_t before = list->count;
    struct mq_address_reader reader = {.rest = mq_str_trim(value)};
    enum mq_status status = check_characters(reader.rest, field, err);
    while (status == MQ_OK && reader.rest.len > 0) {
        status = read_next(&reader, field, list, err);
    }
    if (status == MQ_OK && reader.in_group) {
        status =
            mq_address_bad(mq_str_trim(value), field, "has a group without its \";\"; add it", err);
    }
    if (status != MQ_OK) {
        mq_strings_cut(list, before);
    }
    return status;
}

/* ---- writing ---- */

/* Writes " Name <address>" or " address", and a comma if another follows. */
static void put_mailbox(struct mq_buffer *out, size_t *column, struct mq_str name,
                        struct mq_str address, bool last)
{
    size_t len = address.len + !last;
    if (name.len > 0) {
        mq_encode_phrase(out, column, name);
        len += 2;
    }
    mq_encode_break(out, column, len);
    *column += len;
    mq_buffer_append(out, "<", name.len > 0);
    mq_buffer_str(out, address);
    mq_buffer_append(out, ">", name.len > 0);
    mq_buffer_append(out, ",", !last);
}

void mq_mailboxes_write(struct mq_buffer *out, const char *name, const struct mq_mailboxes *list)
{
    size_t column = strlen(name) + 1;
    size_t count = list->addresses.count;
    if (count == 0) {
        return;
    }
    mq_buffer_cstr(out, name);
    mq_buffer_char(out, ':');
    for (size_t i = 0; i < count; i++) {
        put_mailbox(out, &column, mq_str_of(list->names.items[i]),
                    mq_str_of(list->addresses.items[i]), i + 1 == count);
    }
    mq_buffer_append(out, "\r\n", 2);
}
