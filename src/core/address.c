#include "core/address.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* RFC 5321, 4.5.3.1; the path's 256 octets are 254 and "<>". */
#define LOCAL_MAX   64
#define DOMAIN_MAX  255
#define LABEL_MAX   63
#define ADDRESS_MAX 254
#define SHOWN_MAX   80 /* of a bad address in an error's text */

/* Fills err: "to: the address \"…\" <what>". */
static enum mq_status bad(struct mq_str address, const char *field, const char *what,
                          struct mq_error *err)
{
    char shown[SHOWN_MAX + 4];
    size_t used = mq_str_printable(shown, SHOWN_MAX, 0, address);
    if (address.len >= SHOWN_MAX) {
        mq_str_printable(shown, sizeof shown, used, MQ_STR("..."));
    }
    return mq_error_set(err, MQ_MESSAGE, field, "%s: the address \"%s\" %s", field, shown, what);
}

/* RFC 5322, 3.2.3, without the letters and digits. */
static bool is_atext(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-/=?^_`{|}~", c) != NULL);
}

/* Characters over 127 that may stand in a local part: no controls, no hard space or line
 * separators, no marks that turn the direction of what follows. */
static bool is_plain_unicode(uint32_t code)
{
    return code > 0xA0 && !(code >= 0x2028 && code <= 0x202E) &&
           !(code >= 0x2066 && code <= 0x2069);
}

/* What is wrong with a local part, NULL when nothing is. */
static const char *local_fault(struct mq_str local, bool *utf8)
{
    if (local.len == 0) {
        return "has nothing before the \"@\"; write it as name@example.org";
    }
    if (local.len > LOCAL_MAX) {
        return "has more than 64 octets before the \"@\"; SMTP allows no more";
    }
    if (local.data[0] == '"') {
        return "has a quoted local part, which is not supported; use another address";
    }
    if (local.data[0] == '-') {
        return "begins with \"-\", which programs take for an option; use another address";
    }
    if (local.data[0] == '.' || local.data[local.len - 1] == '.') {
        return "has a dot at the begin or end of its local part; remove it";
    }
    *utf8 = false;
    for (size_t i = 0; i < local.len;) {
        struct mq_str rest = {local.data + i, local.len - i};
        uint32_t code = 0;
        size_t step = mq_utf8_next(rest, &code);
        if (step == 0) {
            return "is not valid UTF-8; convert it";
        }
        if (code == '.' && local.data[i + 1] == '.') {
            return "has two dots in a row; remove one";
        }
        bool ascii = code < 0x80;
        if (ascii ? !is_atext((unsigned char)code) && code != '.' : !is_plain_unicode(code)) {
            return "has a character that is not allowed before the \"@\"; write a plain "
                   "name@example.org without quotes, comments or spaces";
        }
        *utf8 = *utf8 || !ascii;
        i += step;
    }
    return NULL;
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* "[192.0.2.1]" or "[IPv6:2001:db8::1]" (RFC 5321, 4.1.3). */
static const char *literal_fault(struct mq_str domain)
{
    static const char fault[] =
        "has a bad address literal; write [192.0.2.1] or [IPv6:2001:db8::1]";
    char text[64];
    unsigned char binary[sizeof(struct in6_addr)];
    if (domain.len < 3 || domain.len - 2 >= sizeof text || domain.data[domain.len - 1] != ']') {
        return fault;
    }
    struct mq_str inner = {domain.data + 1, domain.len - 2};
    int family = AF_INET;
    if (inner.len > 5 && mq_str_equal_nocase((struct mq_str){inner.data, 5}, MQ_STR("IPv6:"))) {
        family = AF_INET6;
        inner.data += 5;
        inner.len -= 5;
    }
    if (memchr(inner.data, '\0', inner.len) != NULL) {
        return fault;
    }
    memcpy(text, inner.data, inner.len);
    text[inner.len] = '\0';
    return inet_pton(family, text, binary) == 1 ? NULL : fault;
}

static const char *domain_fault(struct mq_str domain)
{
    size_t label = 0; /* octets of the current one so far */
    if (domain.len == 0) {
        return "has nothing behind the \"@\"; write it as name@example.org";
    }
    if (domain.len > DOMAIN_MAX) {
        return "has a domain of more than 255 octets; SMTP allows no more";
    }
    if (domain.data[0] == '[') {
        return literal_fault(domain);
    }
    for (size_t i = 0; i < domain.len; i++) {
        char c = domain.data[i];
        bool last = i + 1 == domain.len || domain.data[i + 1] == '.';
        if ((unsigned char)c >= 0x80) {
            return "has a domain with non-ASCII characters; write it in A-labels (xn--...)";
        }
        if (c == '.' && (label == 0 || i + 1 == domain.len)) {
            return "has an empty label in its domain; remove the extra dot";
        }
        if (c == '-' && (label == 0 || last)) {
            return "has a domain label that begins or ends with \"-\"; correct it";
        }
        if (c != '.' && c != '-' && !is_alnum(c)) {
            return "has a character that is not allowed in a domain; use letters, digits, "
                   "\"-\" and \".\" only";
        }
        label = c == '.' ? 0 : label + 1;
        if (label > LABEL_MAX) {
            return "has a domain label of more than 63 octets; DNS allows no more";
        }
    }
    return NULL;
}

enum mq_status mq_address_check(struct mq_str address, const char *field, bool *utf8,
                                struct mq_error *err)
{
    if (address.len == 0) {
        return mq_error_set(err, MQ_MESSAGE, field,
                            "%s: the address is empty; write it as name@example.org", field);
    }
    const char *at = memchr(address.data, '@', address.len);
    if (at == NULL) {
        return bad(address, field, "has no \"@\"; write it as name@example.org", err);
    }
    struct mq_str local = {address.data, (size_t)(at - address.data)};
    struct mq_str domain = {at + 1, address.len - local.len - 1};
    bool is_utf8 = false;
    const char *fault = local_fault(local, &is_utf8);
    if (fault == NULL) {
        fault = domain_fault(domain);
    }
    if (fault == NULL && address.len > ADDRESS_MAX) {
        fault = "has more than 254 octets; SMTP allows no more";
    }
    if (fault != NULL) {
        return bad(address, field, fault, err);
    }
    *utf8 = is_utf8;
    return MQ_OK;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029;
}

/* No control characters, valid UTF-8: whatever else it is, it cannot end a header line. */
static enum mq_status check_characters(struct mq_str text, const char *field, struct mq_error *err)
{
    for (size_t i = 0; i < text.len;) {
        struct mq_str rest = {text.data + i, text.len - i};
        uint32_t code = 0;
        size_t step = mq_utf8_next(rest, &code);
        if (step == 0) {
            return bad(text, field, "is not valid UTF-8; convert it", err);
        }
        if (is_control(code)) {
            return mq_error_set(err, MQ_MESSAGE, field,
                                "%s: control character U+%04X at byte %zu; remove it (an address "
                                "is one line)",
                                field, (unsigned)code, i + 1);
        }
        i += step;
    }
    return MQ_OK;
}

/* Splits `"Name" <addr>`: text begins with the quote; name gets the unquoted content, *rest what
 * follows. NULL, or what is wrong. */
static const char *split_quoted(struct mq_str text, struct mq_buffer *name, struct mq_str *rest)
{
    size_t i = 1;
    for (; i < text.len && text.data[i] != '"'; i++) {
        if (text.data[i] == '\\' && ++i == text.len) {
            break;
        }
        mq_buffer_char(name, text.data[i]);
    }
    if (i >= text.len) {
        return "has a quoted name without its closing quote; add it";
    }
    *rest = mq_str_trim((struct mq_str){text.data + i + 1, text.len - i - 1});
    if (rest->len == 0 || rest->data[0] != '<') {
        return "has a quoted name that no <address> follows; quoted local parts are not supported";
    }
    return NULL;
}

/* Splits `Name <addr>` or `<addr>`. */
static const char *split_plain(struct mq_str text, struct mq_buffer *name, struct mq_str *rest)
{
    const char *angle = memchr(text.data, '<', text.len);
    size_t before = (size_t)(angle - text.data);
    struct mq_str plain = mq_str_trim((struct mq_str){text.data, before});
    for (size_t i = 0; i < plain.len; i++) {
        if (strchr("()<>[]:;@\\,\"", plain.data[i]) != NULL) {
            return "has a name with one of ()<>[]:;@\\,\" in it; put the name in double quotes "
                   "(lists, groups and comments are not supported)";
        }
    }
    mq_buffer_str(name, plain);
    *rest = (struct mq_str){angle, text.len - before};
    return NULL;
}

/* Takes the address out of text, which may have a name before it. */
static const char *split(struct mq_str text, struct mq_buffer *name, struct mq_str *address)
{
    struct mq_str rest = text;
    const char *fault = NULL;
    if (text.len > 0 && text.data[0] == '"') {
        fault = split_quoted(text, name, &rest);
    } else if (text.len > 0 && memchr(text.data, '<', text.len) != NULL) {
        fault = split_plain(text, name, &rest);
    } else {
        *address = text;
        return NULL;
    }
    if (fault != NULL) {
        return fault;
    }
    const char *end = memchr(rest.data, '>', rest.len);
    if (end == NULL) {
        return "has a \"<\" without \">\"; add it";
    }
    if (end + 1 != rest.data + rest.len) {
        return "is followed by something; give one address at a time, without comments";
    }
    *address = (struct mq_str){rest.data + 1, rest.len - 2};
    return NULL;
}

enum mq_status mq_mailbox_parse(struct mq_str text, const char *field, struct mq_mailbox *out,
                                struct mq_error *err)
{
    struct mq_mailbox found = {0};
    struct mq_buffer name;
    struct mq_str address = {0};
    mq_buffer_init(&name);
    enum mq_status status = check_characters(text, field, err);
    if (status != MQ_OK) {
        goto out;
    }
    text = mq_str_trim(text);
    const char *fault = split(text, &name, &address);
    if (fault != NULL) {
        status = bad(text, field, fault, err);
        goto out;
    }
    status = mq_address_check(address, field, &found.utf8, err);
    if (status != MQ_OK) {
        goto out;
    }
    found.address = mq_str_dup(address);
    bool named = name.len > 0;
    bool failed = name.failed;
    found.name = mq_buffer_take(&name);
    if (found.address == NULL || failed || (named && found.name == NULL)) {
        status = mq_error_nomem(err);
        goto out;
    }
    *out = found;
    found = (struct mq_mailbox){0};
out:
    mq_buffer_clear(&name);
    mq_mailbox_clear(&found);
    return status;
}

void mq_mailbox_clear(struct mq_mailbox *mailbox)
{
    free(mailbox->name);
    free(mailbox->address);
    *mailbox = (struct mq_mailbox){0};
}
