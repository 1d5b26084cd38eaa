/* For APIs of an account's mailbox, which send to the addresses in the message's headers: the
 * envelope's other recipients go in a Bcc of the request, which the API removes. A mail whose
 * headers name somebody that it does not go to, such as a redirected one, cannot be sent by such an
 * API, and is refused. */
#include <stdio.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/mailbox.h"
#include "mime/wire/message.h"
#include "send/dsn_text.h"
#include "send/http/api.h"
#include "send/transfer.h"

/* Appends the addresses that the fields of a message name as recipients; false with a text. */
static bool read_fields(struct mq_str message, struct mq_strings *named,
                        char out[MQ_HTTP_REASON_MAX])
{
    struct mq_message_fields fields;
    struct mq_error err = {.text = ""};
    mq_message_fields_init(&fields, message);
    while (mq_message_fields_next(&fields)) {
        if (mq_str_word(fields.name, "to cc bcc", mq_str_equal_nocase) >= 0 &&
            mq_addresses_of_header(fields.value, "", named, &err) != MQ_OK) {
            snprintf(out, MQ_HTTP_REASON_MAX,
                     "message: this API sends to the addresses in the headers, and %.*s cannot be "
                     "read; send this mail over SMTP",
                     (int)fields.name.len, fields.name.data);
            return false;
        }
        if (mq_str_word(fields.name, "resent-to resent-cc resent-bcc", mq_str_equal_nocase) >= 0) {
            snprintf(out, MQ_HTTP_REASON_MAX,
                     "message: this API sends to the addresses in the headers, and does not know "
                     "%.*s; send this mail over SMTP",
                     (int)fields.name.len, fields.name.data);
            return false;
        }
    }
    return true;
}

static bool contains(const struct mq_strings *list, const char *address)
{
    for (size_t i = 0; i < list->count; i++) {
        if (mq_str_equal_nocase(mq_str_of(list->items[i]), mq_str_of(address))) {
            return true;
        }
    }
    return false;
}

static bool goes_to(const struct mq_http_mail *mail, const char *address)
{
    for (size_t i = 0; i < mail->count; i++) {
        const char *target = mail->transfer->targets[mail->first + i].address;
        if (mq_str_equal_nocase(mq_str_of(target), mq_str_of(address))) {
            return true;
        }
    }
    return false;
}

static bool reaches_others(const struct mq_http_mail *mail, const struct mq_strings *named,
                           char out[MQ_HTTP_REASON_MAX])
{
    for (size_t i = 0; i < named->count; i++) {
        if (!goes_to(mail, named->items[i])) {
            snprintf(out, MQ_HTTP_REASON_MAX,
                     "recipients: this API sends to the addresses in the headers, and they name "
                     "%.80s, to whom this mail does not go (it is redirected, or was sent there "
                     "already); send it over SMTP",
                     named->items[i]);
            return true;
        }
    }
    return false;
}

static void write_bcc(const struct mq_http_mail *mail, const struct mq_strings *named,
                      struct mq_buffer *bcc)
{
    for (size_t i = 0; i < mail->count; i++) {
        const char *target = mail->transfer->targets[mail->first + i].address;
        if (!contains(named, target)) {
            mq_buffer_printf(bcc, bcc->len == 0 ? "Bcc: %s" : ",\r\n %s", target);
        }
    }
    if (bcc->len > 0) {
        mq_buffer_cstr(bcc, "\r\n");
    }
}

bool mq_http_write_mail(const struct mq_http_mail *mail, struct mq_http_request *request,
                        char out[MQ_HTTP_REASON_MAX])
{
    struct mq_http_body *body = &request->body;
    struct mq_strings named = {0};
    bool goes = read_fields(mail->transfer->prefix, &named, out) &&
                read_fields(mail->transfer->message, &named, out) &&
                !reaches_others(mail, &named, out);
    mq_buffer_reset(&request->bcc);
    if (goes) {
        write_bcc(mail, &named, &request->bcc);
        body->mail[0] = mq_buffer_view(&request->bcc);
        body->mail[1] = mail->transfer->prefix;
        body->mail[2] = mail->transfer->message;
    }
    mq_strings_clear(&named);
    return goes && !request->bcc.failed;
}

void mq_http_encode(struct mq_buffer *out, const char *text)
{
    for (const char *p = text != NULL ? text : ""; *p != '\0'; p++) {
        if (mq_is_alnum(*p) || strchr("-._~", *p) != NULL) {
            mq_buffer_char(out, *p);
        } else {
            mq_buffer_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
        }
    }
}

enum mq_status mq_http_check_account(const struct mq_dsn *dsn, struct mq_error *err)
{
    if (dsn->account == NULL) {
        return mq_dsn_bad(err, "this API needs an OAuth2 account; write "
                               "microsoftgraph+https://default?account=NAME or "
                               "gmail+https://default?account=NAME, and make the account with "
                               "mailqueue login");
    }
    return dsn->password == NULL
               ? MQ_OK
               : mq_dsn_bad(err, "this API takes an OAuth2 account and no password; remove the "
                                 "password");
}
