/* microsoftgraph+https (Microsoft Graph's sendMail with a MIME message in base64) and gmail+https
 * (Gmail's users.messages.send, by its upload address, which takes the message as it is): APIs of
 * an account's mailbox, which send to the addresses in the message's headers. The envelope's other
 * recipients go in a Bcc of the request, which the API removes. A mail whose headers name somebody
 * that it does not go to, such as a redirected one, cannot be sent by such an API, and is refused.
 */
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "mime/mailbox.h"
#include "mime/wire/message.h"
#include "send/dsn_text.h"
#include "send/http/api.h"
#include "send/transfer.h"

#define RECIPIENTS_MAX 500 /* neither takes more */

/* ---- who gets it ---- */

/* Appends the addresses that the fields of a message name as recipients; false with a text, or
 * without one if there was no memory. */
static bool read_fields(struct mq_str message, struct mq_strings *named,
                        char out[MQ_HTTP_REASON_MAX])
{
    struct mq_message_fields fields;
    struct mq_error err = {.text = ""};
    mq_message_fields_init(&fields, message);
    while (mq_message_fields_next(&fields)) {
        enum mq_status status = MQ_OK;
        if (mq_str_word(fields.name, "to cc bcc", mq_str_equal_nocase) >= 0) {
            status = mq_addresses_of_header(fields.value, "", named, &err);
        }
        if (status == MQ_NOMEM) {
            return false;
        }
        if (status != MQ_OK) {
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

/* Says why the mail, which its headers address to somebody, does not go there. */
static void say_why(const struct mq_http_mail *mail, const char *address,
                    char out[MQ_HTTP_REASON_MAX])
{
    struct mq_strings refused = {0}; /* an address, and why it gets no mail, and so on */
    const char *why = NULL;
    bool reads = mq_json_read(mq_str_of(mail->transfer->refused), '{', &refused) == MQ_OK;
    for (size_t i = 0; reads && i + 1 < refused.count; i += 2) {
        bool is = mq_str_equal_nocase(mq_str_of(refused.items[i]), mq_str_of(address));
        why = is ? refused.items[i + 1] : why;
    }
    if (why != NULL) {
        snprintf(out, MQ_HTTP_REASON_MAX,
                 "recipients: %.70s gets no mail (%.74s), and this API would send there as well, "
                 "as the headers name it; send it over SMTP",
                 address, why);
    } else {
        snprintf(out, MQ_HTTP_REASON_MAX,
                 "recipients: this API sends to the addresses in the headers, and they name "
                 "%.70s, to whom this mail does not go (it is redirected, suppressed, or was sent "
                 "there already); send it over SMTP",
                 address);
    }
    mq_strings_clear(&refused);
}

static bool reaches_others(const struct mq_http_mail *mail, const struct mq_strings *named,
                           char out[MQ_HTTP_REASON_MAX])
{
    size_t i = 0;
    while (i < named->count && goes_to(mail, named->items[i])) {
        i++;
    }
    if (i < named->count) {
        say_why(mail, named->items[i], out);
    }
    return i < named->count;
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

/* ---- both ---- */

static enum mq_status check(const struct mq_dsn *dsn, struct mq_error *err)
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

/* Calls that only read need another right than to send. */
static void put_path(struct mq_buffer *out, bool probe, const char *before, const char *user,
                     const char *behind)
{
    if (!probe) {
        mq_buffer_cstr(out, before);
        mq_dsn_encode(out, mq_str_of(user), "");
        mq_buffer_cstr(out, behind);
    }
}

static bool write_mail(const struct mq_http_mail *mail, struct mq_http_request *request,
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

/* ---- Microsoft Graph ---- */

static void graph_host(const struct mq_dsn *dsn, struct mq_buffer *out)
{
    (void)dsn;
    mq_buffer_cstr(out, "graph.microsoft.com");
}

static void graph_path(const struct mq_dsn *dsn, bool probe, struct mq_buffer *out)
{
    put_path(out, probe, dsn->user ? "/v1.0/users/" : "/v1.0/me", dsn->user, "/sendMail");
}

static bool graph_fields(const struct mq_dsn *dsn, struct mq_http_request *request)
{
    (void)dsn;
    return mq_strings_add(&request->headers, MQ_STR("Content-Type: text/plain"));
}

static bool graph_write(const struct mq_http_mail *mail, struct mq_http_request *request,
                        char out[MQ_HTTP_REASON_MAX])
{
    request->body.base64 = true;
    return write_mail(mail, request, out);
}

static void graph_read(const struct mq_http_result *result, struct mq_http_answer *answer)
{
    answer->is_receipt = result->status == 202; /* it has no body */
    mq_http_json_text(result->body, "code", answer->code, sizeof answer->code);
    mq_http_json_text(result->body, "message", answer->text, sizeof answer->text);
}

const struct mq_http_api mq_http_graph = {.scheme = "microsoftgraph+https",
                                          .service = MQ_HTTP_GRAPH,
                                          .auth = MQ_HTTP_BEARER,
                                          .recipients_max = RECIPIENTS_MAX,
                                          .whole = true,
                                          .check = check,
                                          .host = graph_host,
                                          .path = graph_path,
                                          .fields = graph_fields,
                                          .write = graph_write,
                                          .read = graph_read};

/* ---- Gmail ---- */

static void gmail_host(const struct mq_dsn *dsn, struct mq_buffer *out)
{
    (void)dsn;
    mq_buffer_cstr(out, "gmail.googleapis.com");
}

static void gmail_path(const struct mq_dsn *dsn, bool probe, struct mq_buffer *out)
{
    put_path(out, probe, "/upload/gmail/v1/users/", dsn->user ? dsn->user : "me",
             "/messages/send?uploadType=media");
}

static bool gmail_fields(const struct mq_dsn *dsn, struct mq_http_request *request)
{
    (void)dsn;
    return mq_strings_add(&request->headers, MQ_STR("Content-Type: message/rfc822"));
}

static void gmail_read(const struct mq_http_result *result, struct mq_http_answer *answer)
{
    mq_http_json_text(result->body, "id", answer->text, sizeof answer->text);
    answer->is_receipt = answer->text[0] != '\0';
    if (!answer->is_receipt) {
        mq_http_json_text(result->body, "reason", answer->code, sizeof answer->code);
        mq_http_json_text(result->body, "message", answer->text, sizeof answer->text);
    }
}

const struct mq_http_api mq_http_gmail = {.scheme = "gmail+https",
                                          .service = MQ_HTTP_GMAIL,
                                          .auth = MQ_HTTP_BEARER,
                                          .recipients_max = RECIPIENTS_MAX,
                                          .whole = true,
                                          .check = check,
                                          .host = gmail_host,
                                          .path = gmail_path,
                                          .fields = gmail_fields,
                                          .write = write_mail,
                                          .read = gmail_read};
