/* Signs a message with each matching key (RFC 6376). The canonical form comes from canonical.c. */
#include "mime/dkim/sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/dkim/canonical.h"
#include "mime/dkim/key.h"
#include "mime/mailbox.h"

#define LABEL_OCTETS_MAX 63 /* RFC 1035, 2.3.4 */
#define NAME_OCTETS_MAX  253
#define LINE_COLUMNS     76

struct entry {
    char *domain; /* lower case */
    char *selector;
    struct mq_dkim_key *key;
};

struct mq_dkim {
    struct entry *items;
    size_t count;
    size_t capacity;
    bool (*allows)(const char *path);
};

enum mq_status mq_dkim_new(struct mq_dkim **out, bool (*allows)(const char *path),
                           struct mq_error *err)
{
    struct mq_dkim *dkim = calloc(1, sizeof *dkim);
    if (!dkim) {
        return mq_error_nomem(err);
    }
    dkim->allows = allows;
    *out = dkim;
    return MQ_OK;
}

static void clear_entry(struct entry *entry)
{
    free(entry->domain);
    free(entry->selector);
    mq_dkim_key_free(entry->key);
}

void mq_dkim_free(struct mq_dkim *dkim)
{
    if (dkim) {
        for (size_t i = 0; i < dkim->count; i++) {
            clear_entry(&dkim->items[i]);
        }
        free(dkim->items);
        free(dkim);
    }
}

/* ---- keys ---- */

static bool same_name(const char *a, const char *b)
{
    return mq_str_equal_nocase(mq_str_of(a), mq_str_of(b));
}

static bool is_label_char(char c)
{
    return mq_is_alnum(c) || c == '-' || c == '_';
}

/* A name in the DNS: labels with dots between. */
static bool is_name(const char *name)
{
    size_t label = 0;
    const char *p = name;
    for (; *p; p++) {
        if (*p == '.' ? label == 0 || p[-1] == '-' : !is_label_char(*p)) {
            return false;
        }
        if (*p == '-' && label == 0) {
            return false;
        }
        label = *p == '.' ? 0 : label + 1;
        if (label > LABEL_OCTETS_MAX) {
            return false;
        }
    }
    return label > 0 && p[-1] != '-';
}

static enum mq_status check_names(const struct mq_dkim *dkim, const char *domain,
                                  const char *selector, struct mq_error *err)
{
    if (!is_name(domain)) {
        return mq_error_set(err, MQ_CONFIG, "dkim",
                            "dkim: \"%s\" is no domain; write it as example.org, one with other "
                            "letters than a to z in A-labels (xn--…)",
                            domain);
    }
    if (!is_name(selector) ||
        strlen(domain) + strlen(selector) + sizeof "._domainkey." - 1 > NAME_OCTETS_MAX) {
        return mq_error_set(err, MQ_CONFIG, "dkim",
                            "dkim: \"%s\" is no selector; it is the name before ._domainkey.%s in "
                            "the DNS",
                            selector, domain);
    }
    for (size_t i = 0; i < dkim->count; i++) {
        if (same_name(dkim->items[i].domain, domain) &&
            same_name(dkim->items[i].selector, selector)) {
            return mq_error_set(err, MQ_CONFIG, "dkim",
                                "dkim: %s has the selector %s twice; each key needs its own",
                                domain, selector);
        }
    }
    return MQ_OK;
}

static bool reserve(struct mq_dkim *dkim)
{
    if (dkim->count < dkim->capacity) {
        return true;
    }
    size_t capacity = dkim->capacity ? dkim->capacity * 2 : 4;
    struct entry *items = realloc(dkim->items, capacity * sizeof *items);
    if (items) {
        dkim->items = items;
        dkim->capacity = capacity;
    }
    return items != NULL;
}

static void lower(char *s)
{
    for (; *s; s++) {
        *s = mq_ascii_lower(*s);
    }
}

enum mq_status mq_dkim_add(struct mq_dkim *dkim, const char *domain, const char *selector,
                           const char *key_file, struct mq_error *err)
{
    struct entry entry = {0};
    enum mq_status status = check_names(dkim, domain, selector, err);
    if (status == MQ_OK && dkim->allows && !dkim->allows(key_file)) {
        return mq_error_set(err, MQ_CONFIG, "dkim",
                            "dkim: open_basedir does not allow the key file %s", key_file);
    }
    if (status == MQ_OK) {
        status = mq_dkim_key_open(key_file, &entry.key, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    entry.domain = strdup(domain);
    entry.selector = strdup(selector);
    if (!entry.domain || !entry.selector || !reserve(dkim)) {
        clear_entry(&entry);
        return mq_error_nomem(err);
    }
    lower(entry.domain);
    dkim->items[dkim->count++] = entry;
    return MQ_OK;
}

/* Cuts "domain:selector:/path" in place. */
static enum mq_status add_item(struct mq_dkim *dkim, char *item, struct mq_error *err)
{
    char *selector = strchr(item, ':');
    char *file = selector ? strchr(selector + 1, ':') : NULL;
    if (!file || !file[1]) {
        return mq_error_set(err, MQ_CONFIG, "dkim",
                            "dkim: \"%s\" is no key; write domain:selector:/path/to/key.pem", item);
    }
    *selector = *file = '\0';
    return mq_dkim_add(dkim, item, selector + 1, file + 1, err);
}

enum mq_status mq_dkim_add_list(struct mq_dkim *dkim, struct mq_str text, struct mq_error *err)
{
    char *rest = NULL;
    char *list = mq_str_dup(text);
    if (!list) {
        return mq_error_nomem(err);
    }
    enum mq_status status = MQ_OK;
    for (char *item = strtok_r(list, ", \t\r\n", &rest); item && status == MQ_OK;
         item = strtok_r(NULL, ", \t\r\n", &rest)) {
        status = add_item(dkim, item, err);
    }
    free(list);
    return status;
}

/* ---- whose mail it is ---- */

/* Whether the text has the name of a domain with keys in it. */
static bool mentions_domain(const struct mq_dkim *dkim, struct mq_str text)
{
    for (size_t i = 0; i < dkim->count; i++) {
        struct mq_str domain = mq_str_of(dkim->items[i].domain);
        for (size_t at = 0; at + domain.len <= text.len; at++) {
            if (mq_str_equal_nocase((struct mq_str){text.data + at, domain.len}, domain)) {
                return true;
            }
        }
    }
    return false;
}

static bool has_keys(const struct mq_dkim *dkim, const char *domain)
{
    for (size_t i = 0; i < dkim->count; i++) {
        if (same_name(dkim->items[i].domain, domain)) {
            return true;
        }
    }
    return false;
}

/* *domain (malloc'ed) is that of the first From, or its nearest parent that has keys; it stays NULL
 * when there is none. */
static enum mq_status find_domain(const struct mq_dkim *dkim, const struct mq_dkim_fields *fields,
                                  char **domain, struct mq_error *err)
{
    struct mq_strings addresses;
    struct mq_str from;
    if (!mq_dkim_fields_find(fields, "From", &from)) {
        return MQ_OK;
    }
    mq_strings_init(&addresses);
    enum mq_status status = mq_addresses_of_header(from, "from", &addresses, err);
    /* Another signer's field, which breaks the rules: left alone. */
    if (status == MQ_MESSAGE && !mentions_domain(dkim, from)) {
        status = MQ_OK;
    }
    const char *at = addresses.count > 0 ? strrchr(addresses.items[0], '@') : NULL;
    const char *name = status == MQ_OK && at ? at + 1 : NULL;
    while (name && !has_keys(dkim, name)) {
        const char *dot = strchr(name, '.');
        name = dot ? dot + 1 : NULL;
    }
    if (name) {
        *domain = strdup(name);
        status = *domain ? MQ_OK : mq_error_nomem(err);
    }
    mq_strings_clear(&addresses);
    return status;
}

/* ---- the field ---- */

/* What all signatures of one mail share. */
struct common {
    struct mq_buffer text;  /* signed fields in canonical form; a signature's own behind them */
    struct mq_buffer names; /* of them: the tag h= */
    struct mq_buffer hash;  /* of the body, base64 */
    int64_t now_s;
};

/* A field being written: column is the length of its last line. */
struct writer {
    struct mq_buffer *out;
    size_t column;
};

static void fold(struct writer *writer)
{
    mq_buffer_cstr(writer->out, "\r\n ");
    writer->column = 1;
}

/* Appends behind a space, or on a line of its own. */
static void put_tag(struct writer *writer, const char *tag, const char *value)
{
    size_t len = strlen(tag) + strlen(value) + 1;
    if (writer->column + 1 + len > LINE_COLUMNS) {
        fold(writer);
    } else {
        mq_buffer_char(writer->out, ' ');
        writer->column++;
    }
    mq_buffer_cstr(writer->out, tag);
    mq_buffer_cstr(writer->out, value);
    mq_buffer_char(writer->out, ';');
    writer->column += len;
}

/* The tag h=, folded behind colons. */
static void put_names(struct writer *writer, struct mq_str names)
{
    fold(writer);
    mq_buffer_cstr(writer->out, "h=");
    writer->column += 2;
    while (names.len > 0) {
        const char *colon = memchr(names.data, ':', names.len);
        size_t len = colon ? (size_t)(colon - names.data) + 1 : names.len;
        if (writer->column + len + 1 > LINE_COLUMNS) {
            fold(writer);
        }
        mq_buffer_append(writer->out, names.data, len);
        writer->column += len;
        names.data += len;
        names.len -= len;
    }
    mq_buffer_char(writer->out, ';');
    writer->column++;
}

static void put_folded(struct writer *writer, struct mq_str text)
{
    while (text.len > 0) {
        if (writer->column >= LINE_COLUMNS) {
            fold(writer);
        }
        size_t room = LINE_COLUMNS - writer->column;
        size_t len = text.len < room ? text.len : room;
        mq_buffer_append(writer->out, text.data, len);
        writer->column += len;
        text.data += len;
        text.len -= len;
    }
}

/* All of it up to the value of b=, which is signed as an empty one (RFC 6376, 3.5). */
static void put_tags(struct writer *writer, const struct entry *entry, const struct common *common)
{
    char time[24];
    snprintf(time, sizeof time, "%lld", (long long)common->now_s);
    mq_buffer_cstr(writer->out, "DKIM-Signature:");
    writer->column = sizeof "DKIM-Signature:" - 1;
    put_tag(writer, "v=", "1");
    put_tag(writer, "a=", mq_dkim_key_algorithm(entry->key));
    put_tag(writer, "c=", "relaxed/relaxed");
    put_tag(writer, "d=", entry->domain);
    put_tag(writer, "s=", entry->selector);
    put_tag(writer, "t=", time);
    put_names(writer, mq_buffer_view(&common->names));
    put_tag(writer, "bh=", common->hash.data);
    fold(writer);
    mq_buffer_cstr(writer->out, "b=");
    writer->column += 2;
}

static enum mq_status append_signature(const struct entry *entry, struct common *common,
                                       struct mq_buffer *out, struct mq_error *err)
{
    struct writer writer = {.out = out};
    struct mq_buffer signature;
    size_t field_at = out->len;
    size_t text_len = common->text.len;

    mq_buffer_init(&signature);
    put_tags(&writer, entry, common);
    if (!out->failed) {
        mq_dkim_relax_header(&common->text,
                             (struct mq_str){out->data + field_at, out->len - field_at});
    }
    enum mq_status status = out->failed || common->text.failed ? mq_error_nomem(err) : MQ_OK;
    if (status == MQ_OK) {
        /* Without the last CRLF (RFC 6376, 3.7). */
        struct mq_str text = {common->text.data, common->text.len - 2};
        status = mq_dkim_key_sign(entry->key, text, &signature, err);
        common->text.len = text_len;
    }
    if (status == MQ_OK) {
        put_folded(&writer, mq_buffer_view(&signature));
        mq_buffer_append(out, "\r\n", 2);
        status = out->failed ? mq_error_nomem(err) : MQ_OK;
    }
    mq_buffer_clear(&signature);
    return status;
}

/* One field for each key of the domain. */
static enum mq_status append_signatures(const struct mq_dkim *dkim, const char *domain,
                                        struct common *common, struct mq_buffer *out,
                                        struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    for (size_t i = 0; i < dkim->count && status == MQ_OK; i++) {
        if (same_name(dkim->items[i].domain, domain)) {
            status = append_signature(&dkim->items[i], common, out, err);
        }
    }
    return status;
}

static enum mq_status sign_fields(const struct mq_dkim *dkim, const struct mq_dkim_fields *fields,
                                  int64_t now_s, struct mq_buffer *out, struct mq_error *err)
{
    struct common common = {.now_s = now_s};
    char *domain = NULL;
    enum mq_status status = find_domain(dkim, fields, &domain, err);
    if (status != MQ_OK || !domain) {
        return status;
    }
    mq_buffer_init(&common.text);
    mq_buffer_init(&common.names);
    mq_buffer_init(&common.hash);
    mq_dkim_select(fields, &common.text, &common.names);
    status = mq_dkim_hash_body(fields->body, &common.hash, err);
    if (status == MQ_OK) {
        status = common.text.failed || common.names.failed
                     ? mq_error_nomem(err)
                     : append_signatures(dkim, domain, &common, out, err);
    }
    mq_buffer_clear(&common.text);
    mq_buffer_clear(&common.names);
    mq_buffer_clear(&common.hash);
    free(domain);
    return status;
}

enum mq_status mq_dkim_sign(const struct mq_dkim *dkim, const struct mq_dkim_mail *mail,
                            struct mq_buffer *out, struct mq_error *err)
{
    struct mq_dkim_fields fields;
    size_t len = out->len;
    if (dkim->count == 0) {
        return MQ_OK;
    }
    if (!mq_dkim_fields_read(mail->prefix, mail->message, &fields)) {
        return mq_error_nomem(err);
    }
    enum mq_status status = sign_fields(dkim, &fields, mail->now_s, out, err);
    if (status != MQ_OK && out->data) {
        out->len = len;
        out->data[len] = '\0';
    }
    free(fields.items);
    return status;
}
