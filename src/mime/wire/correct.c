/* Corrects an address in a stored message, which becomes a new one. */
#include "mime/wire/correct.h"

#include <string.h>

#include "core/clock.h"
#include "mime/mailbox.h"
#include "mime/wire/repair.h"

bool mq_message_is_signed(struct mq_str wire)
{
    struct mq_str value;
    return mq_message_header(wire, "DKIM-Signature", &value);
}

bool mq_message_has_token(struct mq_str wire)
{
    struct mq_str uris;
    return mq_message_header(wire, "List-Unsubscribe", &uris) &&
           (memmem(uris.data, uris.len, "?t=", 3) || memmem(uris.data, uris.len, "&t=", 3));
}

char *mq_message_new_id(const char *address)
{
    char random[33];
    struct mq_buffer id = {0};
    const char *at = address ? strrchr(address, '@') : NULL;
    mq_random_hex(random, 16);
    mq_buffer_printf(&id, "<%s@%s>", random, at ? at + 1 : "localhost");
    return mq_buffer_take(&id);
}

static bool is_one_of(struct mq_str name, const char *words)
{
    return mq_str_word(name, words, mq_str_equal_nocase) >= 0;
}

/* Appends a field, which contains `value`, with the address replaced. */
static void put_addresses(struct mq_buffer *out, struct mq_str field, struct mq_str value,
                          const struct mq_correction *correction)
{
    struct mq_address_reader reader = {.rest = value};
    struct mq_str address;
    const char *rest = field.data;
    while (mq_address_next(&reader, &address)) {
        if (mq_str_equal_nocase(address, correction->wrong)) {
            mq_buffer_append(out, rest, (size_t)(address.data - rest));
            mq_buffer_str(out, correction->right);
            rest = address.data + address.len;
        }
    }
    mq_buffer_append(out, rest, (size_t)(field.data + field.len - rest));
}

/* Without its Message-ID and Date, for which mq_repair_accept() puts the new ones. */
static void put_message(struct mq_buffer *out, struct mq_str wire,
                        const struct mq_correction *correction)
{
    struct mq_message_fields fields = {.rest = wire, .end = '\n'};
    struct mq_str field = wire;
    while (mq_message_fields_next(&fields)) {
        field.len -= fields.rest.len;
        if (correction->wrong.data && is_one_of(fields.name, "To Cc Resent-To Resent-Cc")) {
            put_addresses(out, field, fields.value, correction);
        } else if (!is_one_of(fields.name, "Message-ID Date")) {
            mq_buffer_str(out, field);
        }
        field = fields.rest;
    }
    mq_buffer_str(out, fields.rest);
}

enum mq_status mq_message_correct(struct mq_str wire, const struct mq_correction *correction,
                                  struct mq_buffer *out, struct mq_error *err)
{
    const struct mq_message_options options = {.message_id = correction->message_id,
                                               .date_s = correction->date_s};
    struct mq_message_info info;
    struct mq_buffer raw = {0};
    put_message(&raw, wire, correction);
    enum mq_status status = raw.failed
                                ? mq_error_nomem(err)
                                : mq_repair_accept(mq_buffer_view(&raw), &options, out, &info, err);
    mq_buffer_clear(&raw);
    return status;
}
