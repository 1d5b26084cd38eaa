/* What a DKIM-Signature or a signed part forbids to change. */
#include "mime/wire/signed.h"

#include <string.h>

#define ALL_KINDS (~0u)

enum mq_field_kind mq_field_kind_of(struct mq_str name)
{
    static const struct {
        const char *name;
        enum mq_field_kind kind;
    } special[] = {{"Bcc", MQ_FIELD_BLIND},
                   {"Resent-Bcc", MQ_FIELD_BLIND},
                   {"Message-ID", MQ_FIELD_MESSAGE_ID},
                   {"Date", MQ_FIELD_DATE},
                   {"DKIM-Signature", MQ_FIELD_SIGNATURE}};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (mq_str_equal_nocase(name, mq_str_of(special[i].name))) {
            return special[i].kind;
        }
    }
    return MQ_FIELD_ORDINARY;
}

/* Takes what stands before the next `end` off *rest, without the white space around it. */
static struct mq_str cut(struct mq_str *rest, char end)
{
    const char *found = rest->len > 0 ? memchr(rest->data, end, rest->len) : NULL;
    size_t len = found != NULL ? (size_t)(found - rest->data) : rest->len;
    struct mq_str piece = mq_str_trim((struct mq_str){rest->data, len});
    size_t taken = found != NULL ? len + 1 : len;
    rest->data += taken;
    rest->len -= taken;
    return piece;
}

unsigned mq_signed_kinds(struct mq_str value)
{
    unsigned kinds = 0;
    while (value.len > 0) {
        struct mq_str tag = cut(&value, ';');
        struct mq_str name = cut(&tag, '=');
        if (!mq_str_equal_nocase(name, MQ_STR("h"))) {
            continue;
        }
        while (tag.len > 0) {
            kinds |= 1u << mq_field_kind_of(cut(&tag, ':'));
        }
    }
    return kinds != 0 ? kinds : ALL_KINDS;
}

bool mq_signed_parts(struct mq_str wire)
{
    static const struct mq_str field = MQ_STR("Content-Type:");
    static const struct mq_str type = MQ_STR("multipart/signed");
    while (wire.len >= field.len + type.len) {
        if (mq_str_equal_nocase((struct mq_str){wire.data, field.len}, field)) {
            struct mq_str value =
                mq_str_trim((struct mq_str){wire.data + field.len, wire.len - field.len});
            value.len = value.len < type.len ? value.len : type.len;
            if (mq_str_equal_nocase(value, type)) {
                return true;
            }
        }
        const char *end = memchr(wire.data, '\n', wire.len);
        size_t taken = end != NULL ? (size_t)(end - wire.data) + 1 : wire.len;
        wire.data += taken;
        wire.len -= taken;
    }
    return false;
}
