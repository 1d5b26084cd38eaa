/* Signs a message with each matching key (RFC 6376). The canonical form comes from canonical.c. */
#include "mime/dkim/sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/dkim/canonical.h"
#include "mime/dkim/dkim_key.h"
#include "mime/mailbox.h"
#include "mime/wire/message.h"

#define FIELD            "DKIM-Signature"
#define LABEL_OCTETS_MAX 63 /* RFC 1035, 2.3.4 */
#define NAME_OCTETS_MAX  253
#define LINE_COLUMNS     76

struct entry {
    char *domain; /* lower case */
    char *selector;
    struct evp_pkey_st *key;
};

struct mq_dkim {
    struct entry *items;
    size_t count;
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

/* Whether a name is one of the DNS: labels with dots between. */
static bool is_name(const char *name)
{
    for (;; name++) {
        size_t len =
            strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
        if (len == 0 || len > LABEL_OCTETS_MAX || name[0] == '-' || name[len - 1] == '-') {
            return false;
        }
        name += len;
        if (*name != '.') {
            return *name == '\0';
        }
    }
}

static enum mq_status check_names(const struct mq_dkim *dkim, const char *domain,
                                  const char *selector, struct mq_error *err)
{
    if (!is_name(domain)) {
        return mq_error_set(err, MQ_CONFIG, "dkim",
                            "dkim: \"%s\" is not a domain; write it as example.org, one with other "
                            "letters than a to z in A-labels (xn--…)",
                            domain);
    }
    if (!is_name(selector) ||
        strlen(domain) + strlen(selector) + sizeof "._domainkey." - 1 > NAME_OCTETS_MAX) {
        return mq_error_set(err, MQ_CONFIG, "dkim",
                            "dkim: \"%s\" is not a selector; it is the name before "
                            "._domainkey.%s in the DNS",
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

enum mq_status mq_dkim_add(struct mq_dkim *dkim, const char *domain, const char *selector,
                           const char *key_file, struct mq_error *err)
{
    struct entry entry = {0};
    MQ_TRY(check_names(dkim, domain, selector, err));
    if (dkim->allows && !dkim->allows(key_file)) {
        return mq_error_set(err, MQ_CONFIG, "dkim",
                            "dkim: open_basedir does not allow the key file %s", key_file);
    }
    MQ_TRY(mq_dkim_key_open(key_file, &entry.key, err));
    struct entry *items = realloc(dkim->items, (dkim->count + 1) * sizeof *items);
    dkim->items = items ? items : dkim->items;
    entry.domain = strdup(domain);
    entry.selector = strdup(selector);
    if (!items || !entry.domain || !entry.selector) {
        clear_entry(&entry);
        return mq_error_nomem(err);
    }
    for (char *c = entry.domain; *c; c++) {
        *c = mq_ascii_lower(*c);
    }
    dkim->items[dkim->count++] = entry;
    return MQ_OK;
}

/* Adds the key of "domain:selector:/path"; cuts that string in place. */
static enum mq_status add_item(struct mq_dkim *dkim, char *item, struct mq_error *err)
{
    char *selector = strchr(item, ':');
    char *file = selector ? strchr(selector + 1, ':') : NULL;
    if (!file || !file[1]) {
        return mq_error_set(err, MQ_CONFIG, "dkim",
                            "dkim: \"%s\" is not a key; write domain:selector:/path/to/key.pem",
                            item);
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

/* Whether the text contains the name of a domain with keys. */
static bool mentions_domain(const struct mq_dkim *dkim, struct mq_str text)
{
    for (size_t i = 0; i < dkim->count; i++) {
        struct mq_str domain = mq_str_of(dkim->items[i].domain);
        for (struct mq_str rest = text; rest.len >= domain.len; rest = mq_str_skip(rest, 1)) {
            if (mq_str_equal_nocase((struct mq_str){rest.data, domain.len}, domain)) {
                return true;
            }
        }
    }
    return false;
}

/* Returns the nearest domain with a key, from the name itself upwards; NULL if there is none. */
static const char *with_key(const struct mq_dkim *dkim, const char *name)
{
    while (name) {
        for (size_t i = 0; i < dkim->count; i++) {
            if (same_name(dkim->items[i].domain, name)) {
                return dkim->items[i].domain;
            }
        }
        const char *dot = strchr(name, '.');
        name = dot ? dot + 1 : NULL;
    }
    return NULL;
}

/* Sets *domain for a From that cannot be read, by what looks like a name behind its last "@". */
static enum mq_status guess_domain(const struct mq_dkim *dkim, struct mq_str from,
                                   const char **domain, struct mq_error *err)
{
    struct mq_str name = {from.data + from.len, 0};
    while (name.data > from.data && name.data[-1] != '@') {
        name.data--;
    }
    if (name.data == from.data) { /* no "@" */
        return MQ_OK;
    }
    const char *end = from.data + from.len;
    while (name.data + name.len < end &&
           (mq_is_alnum(name.data[name.len]) || memchr("-._", name.data[name.len], 3))) {
        name.len++;
    }
    char *copy = mq_str_dup(name);
    *domain = copy ? with_key(dkim, copy) : NULL;
    free(copy);
    return copy ? MQ_OK : mq_error_nomem(err);
}

/* Sets *domain to that of the first From, or to its nearest parent that has keys. If there is none,
 * *domain stays NULL. */
static enum mq_status find_domain(const struct mq_dkim *dkim, const struct mq_dkim_mail *mail,
                                  const char **domain, struct mq_error *err)
{
    struct mq_strings addresses = {0};
    struct mq_str from;
    if (!mq_message_header(mail->prefix, "From", &from) &&
        !mq_message_header(mail->message, "From", &from)) {
        return MQ_OK;
    }
    enum mq_status status = mq_addresses_of_header(from, "from", &addresses, err);
    if (status == MQ_OK && addresses.count > 0) {
        *domain = with_key(dkim, strrchr(addresses.items[0], '@') + 1);
    }
    mq_strings_clear(&addresses);
    if (status == MQ_MESSAGE) {
        MQ_TRY(guess_domain(dkim, from, domain, err));
        status = *domain ? MQ_OK : status;
    }
    /* A malformed From of another domain is not an error: that mail is not ours to sign. */
    return status == MQ_MESSAGE && !mentions_domain(dkim, from) ? MQ_OK : status;
}

/* ---- the field ---- */

/* What all signatures of one mail share. */
struct common {
    struct mq_buffer text;  /* signed fields, canonical; while signing, also the signature's own */
    struct mq_buffer names; /* their names: the tag h= */
    struct mq_buffer hash;  /* of the body, base64 */
    int64_t now_s;
};

/* Appends "tag=value;" after a space, on a new line if it does not fit. */
static void put_tag(struct mq_buffer *out, size_t *column, const char *tag, const char *value)
{
    size_t len = strlen(tag) + strlen(value) + 2;
    bool folds = *column + 1 + len > LINE_COLUMNS;
    mq_buffer_printf(out, "%s %s=%s;", folds ? "\r\n" : "", tag, value);
    *column = (folds ? 0 : *column) + 1 + len;
}

/* Appends the tag h=, folded after colons. */
static void put_names(struct mq_buffer *out, size_t *column, struct mq_str names)
{
    mq_buffer_cstr(out, "\r\n h=");
    *column = sizeof " h=" - 1;
    while (names.len > 0) {
        const char *colon = memchr(names.data, ':', names.len);
        size_t len = colon ? (size_t)(colon - names.data) + 1 : names.len;
        bool folds = *column + len + 1 > LINE_COLUMNS;
        mq_buffer_cstr(out, folds ? "\r\n " : "");
        mq_buffer_append(out, names.data, len);
        *column = (folds ? 1 : *column) + len;
        names = mq_str_skip(names, len);
    }
    mq_buffer_char(out, ';');
    ++*column;
}

static void put_folded(struct mq_buffer *out, size_t column, struct mq_str text)
{
    while (text.len > 0) {
        size_t room = LINE_COLUMNS - column;
        size_t len = text.len < room ? text.len : room;
        mq_buffer_append(out, text.data, len);
        text = mq_str_skip(text, len);
        mq_buffer_cstr(out, text.len > 0 ? "\r\n " : "");
        column = 1;
    }
}

/* Appends the field up to the value of b=, which is signed as empty (RFC 6376, 3.5). */
static void put_tags(struct mq_buffer *out, const struct entry *entry, const struct common *common)
{
    char time[24];
    size_t column = sizeof FIELD ":" - 1;
    snprintf(time, sizeof time, "%lld", (long long)common->now_s);
    mq_buffer_cstr(out, FIELD ":");
    put_tag(out, &column, "v", "1");
    put_tag(out, &column, "a", mq_dkim_key_algorithm(entry->key));
    put_tag(out, &column, "c", "relaxed/relaxed");
    put_tag(out, &column, "d", entry->domain);
    put_tag(out, &column, "s", entry->selector);
    put_tag(out, &column, "t", time);
    put_names(out, &column, mq_buffer_view(&common->names));
    put_tag(out, &column, "bh", common->hash.data);
    mq_buffer_cstr(out, "\r\n b=");
}

static enum mq_status append_signature(const struct entry *entry, struct common *common,
                                       struct mq_buffer *out, struct mq_error *err)
{
    struct mq_buffer signature = {0};
    size_t value_at = out->len + sizeof FIELD ":" - 1;
    size_t text_len = common->text.len;
    put_tags(out, entry, common);
    if (!out->failed) {
        mq_dkim_relax_header(&common->text, MQ_STR(FIELD),
                             (struct mq_str){out->data + value_at, out->len - value_at});
    }
    enum mq_status status = out->failed || common->text.failed ? mq_error_nomem(err) : MQ_OK;
    if (status == MQ_OK) {
        /* The last CRLF is not signed (RFC 6376, 3.7). */
        struct mq_str text = {common->text.data, common->text.len - 2};
        status = mq_dkim_key_sign(entry->key, text, &signature, err);
        common->text.len = text_len;
    }
    if (status == MQ_OK) {
        put_folded(out, sizeof " b=" - 1, mq_buffer_view(&signature));
        mq_buffer_append(out, "\r\n", 2);
        status = out->failed ? mq_error_nomem(err) : MQ_OK;
    }
    mq_buffer_clear(&signature);
    return status;
}

/* Appends one field for each key of the domain. */
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

enum mq_status mq_dkim_sign(const struct mq_dkim *dkim, const struct mq_dkim_mail *mail,
                            struct mq_buffer *out, struct mq_error *err)
{
    struct common common = {.now_s = mail->now_s};
    struct mq_str body;
    const char *domain = NULL;
    size_t len = out->len;
    enum mq_status status = dkim->count > 0 ? find_domain(dkim, mail, &domain, err) : MQ_OK;
    if (status != MQ_OK || !domain) {
        return status;
    }
    mq_message_head(mail->message, &body);
    mq_dkim_select(mail->prefix, mail->message, &common.text, &common.names);
    status = mq_dkim_hash_body(body, &common.hash, err);
    if (status == MQ_OK) {
        status = common.text.failed || common.names.failed
                     ? mq_error_nomem(err)
                     : append_signatures(dkim, domain, &common, out, err);
    }
    if (status != MQ_OK && out->data) {
        out->len = len;
        out->data[len] = '\0';
    }
    mq_buffer_clear(&common.text);
    mq_buffer_clear(&common.names);
    mq_buffer_clear(&common.hash);
    return status;
}
