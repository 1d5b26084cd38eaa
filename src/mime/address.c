/* Checks addresses before anything is stored or written into an SMTP command. */
#include "mime/address.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"

/* RFC 5321, 4.5.3.1. A path has at most 256 octets, with its "<" and ">". */
#define LOCAL_MAX   64
#define DOMAIN_MAX  255
#define LABEL_MAX   63
#define ADDRESS_MAX 254
#define SHOWN_MAX   80 /* octets of a bad address that an error shows */

enum mq_status mq_address_bad(struct mq_str address, const char *field, const char *what,
                              struct mq_error *err)
{
    char shown[SHOWN_MAX + 4];
    size_t used = mq_str_printable(shown, SHOWN_MAX, 0, address);
    if (address.len >= SHOWN_MAX) {
        mq_str_printable(shown, sizeof shown, used, MQ_STR("..."));
    }
    return mq_error_set(err, MQ_MESSAGE, field, "%s: the address \"%s\" %s", field, shown, what);
}

/* Whether a character over 127 is allowed in a local part. Controls, the no-break space, line
 * separators and marks that change the direction of text are not. */
static bool is_plain_unicode(uint32_t code)
{
    return code > 0xA0 && !(code >= 0x2028 && code <= 0x202E) &&
           !(code >= 0x2066 && code <= 0x2069);
}

/* Returns what is wrong with a local part, or NULL. */
static const char *local_fault(struct mq_str local)
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
        return "has a dot at the beginning or end of its local part, which SMTP allows only in "
               "quotes; use another address";
    }
    for (size_t i = 0; i < local.len;) {
        struct mq_str rest = {local.data + i, local.len - i};
        uint32_t code = 0;
        size_t step = mq_utf8_next(rest, &code);
        if (step == 0) {
            return "is not valid UTF-8; convert it";
        }
        if (code == '.' && local.data[i + 1] == '.') {
            return "has two dots in a row, which SMTP allows only in quotes; use another address";
        }
        if (code < 0x80 ? !mq_is_atext((char)code) && code != '.' : !is_plain_unicode(code)) {
            return "has a character that is not allowed before the \"@\"; write a plain "
                   "name@example.org without quotes, comments or spaces";
        }
        i += step;
    }
    return NULL;
}

/* Checks "[192.0.2.1]" or "[IPv6:2001:db8::1]" (RFC 5321, 4.1.3). */
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

static const char *label_fault(struct mq_str label)
{
    if (label.len == 0) {
        return "has an empty label in its domain; remove the extra dot";
    }
    for (size_t i = 0; i < label.len; i++) {
        char c = label.data[i];
        if ((unsigned char)c >= 0x80) {
            return "has a domain with non-ASCII characters; write it in A-labels (xn--...)";
        }
        if (c != '-' && !mq_is_alnum(c)) {
            return "has a character that is not allowed in a domain; use letters, digits, "
                   "\"-\" and \".\" only";
        }
    }
    if (label.data[0] == '-' || label.data[label.len - 1] == '-') {
        return "has a domain label that begins or ends with \"-\"; correct it";
    }
    return label.len > LABEL_MAX ? "has a domain label of more than 63 octets; DNS allows no more"
                                 : NULL;
}

static const char *domain_fault(struct mq_str domain)
{
    if (domain.len == 0) {
        return "has nothing after the \"@\"; write it as name@example.org";
    }
    if (domain.len > DOMAIN_MAX) {
        return "has a domain of more than 255 octets; SMTP allows no more";
    }
    if (domain.data[0] == '[') {
        return literal_fault(domain);
    }
    for (;;) {
        const char *dot = memchr(domain.data, '.', domain.len);
        struct mq_str label = {domain.data, dot != NULL ? (size_t)(dot - domain.data) : domain.len};
        const char *fault = label_fault(label);
        if (fault != NULL || dot == NULL) {
            return fault;
        }
        domain = mq_str_skip(domain, label.len + 1);
    }
}

enum mq_status mq_address_check(struct mq_str address, const char *field, struct mq_error *err)
{
    if (address.len == 0) {
        return mq_error_set(err, MQ_MESSAGE, field,
                            "%s: the address is empty; write it as name@example.org", field);
    }
    const char *at = memchr(address.data, '@', address.len);
    if (at == NULL) {
        return mq_address_bad(address, field, "has no \"@\"; write it as name@example.org", err);
    }
    struct mq_str local = {address.data, (size_t)(at - address.data)};
    struct mq_str domain = {at + 1, address.len - local.len - 1};
    const char *fault = local_fault(local);
    if (fault == NULL) {
        fault = domain_fault(domain);
    }
    if (fault == NULL && address.len > ADDRESS_MAX) {
        fault = "has more than 254 octets; SMTP allows no more";
    }
    return fault != NULL ? mq_address_bad(address, field, fault, err) : MQ_OK;
}

/* ---- lists ---- */

static int compare_addresses(const char *a, const char *b)
{
    for (bool domain = false;; a++, b++) {
        char x = domain ? mq_ascii_lower(*a) : *a;
        char y = domain ? mq_ascii_lower(*b) : *b;
        if (x != y || x == '\0') {
            return (x > y) - (x < y);
        }
        domain = domain || x == '@';
    }
}

/* For qsort(): orders pointers into a list by their mail addresses, then by position. */
static int compare_places(const void *a, const void *b)
{
    char *const *x = *(char *const *const *)a;
    char *const *y = *(char *const *const *)b;
    int order = compare_addresses(*x, *y);
    return order != 0 ? order : (x > y) - (x < y);
}

bool mq_addresses_once(struct mq_strings *list)
{
    char ***places = calloc(list->count + 1, sizeof *places); /* sorted: lists may have thousands */
    size_t kept = 0;
    if (places == NULL) {
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        places[i] = &list->items[i];
    }
    qsort(places, list->count, sizeof *places, compare_places);
    for (size_t i = list->count; i-- > 1;) {
        if (compare_addresses(*places[i], *places[i - 1]) == 0) {
            free(*places[i]);
            *places[i] = NULL;
        }
    }
    free(places);
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] != NULL) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
    return true;
}
