/* Domains in A-labels, by libidn2. Without it, domains must be ASCII. */
#include "mime/idn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/address.h"

#ifdef MQ_HAVE_LIBIDN2
#include <idn2.h>
#endif

bool mq_idn_available(void)
{
#ifdef MQ_HAVE_LIBIDN2
    return true;
#else
    return false;
#endif
}

#ifdef MQ_HAVE_LIBIDN2

/* A domain of 255 octets in A-labels has fewer than 255 characters, each of at most 4 octets in
 * UTF-8. The limit is needed because Punycode takes quadratic time. */
#define DOMAIN_MAX 1020

/* Appends "local@xn--…" to `out`; `at` is the index of the "@". */
static enum mq_status to_ascii(struct mq_str address, size_t at, const char *field,
                               struct mq_buffer *out, struct mq_error *err)
{
    /* Not IDN2_USE_STD3_ASCII_RULES, which removes "_" and fullwidth forms of "@" or "/" and goes
     * on with a different domain. Without it they stay, and the check of the result refuses
     * them. */
    const int flags = IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL;
    struct mq_str domain = {address.data + at + 1, address.len - at - 1};
    char text[DOMAIN_MAX + 1];
    if (domain.len > DOMAIN_MAX) {
        return mq_address_bad(address, field,
                              "has a domain of more than 255 octets; SMTP allows no more", err);
    }
    if (memchr(domain.data, '\0', domain.len) != NULL) {
        return mq_address_bad(address, field, "has a NUL in its domain; remove it", err);
    }
    if (!mq_utf8_valid(domain)) {
        return mq_address_bad(address, field, "is not valid UTF-8; convert it", err);
    }
    memcpy(text, domain.data, domain.len);
    text[domain.len] = '\0';
    uint8_t *ascii = NULL;
    int code = idn2_lookup_u8((const uint8_t *)text, &ascii, flags);
    if (code == IDN2_MALLOC) {
        return mq_error_nomem(err);
    }
    if (code != IDN2_OK) {
        char what[160];
        snprintf(what, sizeof what,
                 "has a domain that is not an internationalised domain name (%s); correct it",
                 idn2_strerror_name(code));
        return mq_address_bad(address, field, what, err);
    }
    mq_buffer_append(out, address.data, at + 1);
    mq_buffer_cstr(out, (const char *)ascii);
    bool literal = ascii[0] == '[';
    idn2_free(ascii);
    if (literal) {
        return mq_address_bad(address, field,
                              "has an address literal with non-ASCII characters; write "
                              "[192.0.2.1] or [IPv6:2001:db8::1]",
                              err);
    }
    return out->failed ? mq_error_nomem(err) : MQ_OK;
}

#endif

enum mq_status mq_idn_address(struct mq_str address, const char *field, char **out,
                              struct mq_error *err)
{
    struct mq_buffer converted = {0};
    struct mq_str result = address;
    char *copy = NULL;
    enum mq_status status = MQ_OK;
#ifdef MQ_HAVE_LIBIDN2
    const char *at = address.len > 0 ? memchr(address.data, '@', address.len) : NULL;
    size_t local = at != NULL ? (size_t)(at - address.data) : 0;
    if (at != NULL && !mq_str_ascii(mq_str_skip(address, local))) {
        status = to_ascii(address, local, field, &converted, err);
        result = mq_buffer_view(&converted);
    }
#endif
    if (status == MQ_OK) {
        status = mq_address_check(result, field, err);
    }
    if (status == MQ_OK && (copy = mq_str_dup(result)) == NULL) {
        status = mq_error_nomem(err);
    }
    if (status == MQ_OK) {
        *out = copy;
    }
    mq_buffer_clear(&converted);
    return status;
}
