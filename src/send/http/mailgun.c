/* mailgun+https: Mailgun's messages.mime. The recipients are the fields "to" of a form, so the
 * message's headers decide nothing. Mailgun makes the envelope's sender itself. */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "send/dsn_text.h"
#include "send/http/api.h"
#include "send/transfer.h"

#define RECIPIENTS_MAX 1000 /* Mailgun takes no more in one request */

static enum mq_status check(const struct mq_dsn *dsn, struct mq_error *err)
{
    const char *domain = dsn->password != NULL ? dsn->password : "";
    if (domain[0] == '\0' || domain[strspn(domain, MQ_DSN_NAME_CHARS)] != '\0') {
        return mq_dsn_bad(err, "mailgun+https:// needs a key and a domain; write "
                               "mailgun+https://KEY:DOMAIN@default, with ?region=eu for a domain "
                               "in the EU");
    }
    if (dsn->region != NULL && strcmp(dsn->region, "eu") != 0 && strcmp(dsn->region, "us") != 0) {
        return mq_dsn_bad(err, "the region of mailgun+https:// is us or eu; write one of these, or "
                               "leave it out for us");
    }
    return MQ_OK;
}

static void host(const struct mq_dsn *dsn, struct mq_buffer *out)
{
    bool eu = dsn->region != NULL && strcmp(dsn->region, "eu") == 0;
    mq_buffer_cstr(out, eu ? "api.eu.mailgun.net" : "api.mailgun.net");
}

static void path(const struct mq_dsn *dsn, bool probe, struct mq_buffer *out)
{
    mq_buffer_printf(out, probe ? "/v3/domains/%s" : "/v3/%s/messages.mime", dsn->password);
}

static void login(const struct mq_dsn *dsn, struct mq_http_request *request,
                  struct mq_buffer *scope)
{
    (void)scope;
    request->user = "api";
    request->secret = dsn->user;
}

static bool fields(const struct mq_dsn *dsn, struct mq_http_request *request)
{
    char field[80];
    (void)dsn;
    mq_random_hex(request->boundary, 16);
    snprintf(field, sizeof field, "Content-Type: multipart/form-data; boundary=%s",
             request->boundary);
    return mq_strings_add(&request->headers, mq_str_of(field));
}

/* Addresses have no line end or quote that could end their part: mq_address_check(). */
static bool write_body(const struct mq_http_mail *mail, struct mq_http_request *request,
                       char out[MQ_HTTP_REASON_MAX])
{
    struct mq_http_body *body = &request->body;
    (void)out;
    for (size_t i = 0; i < mail->count; i++) {
        mq_buffer_printf(&body->head,
                         "--%s\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\n%s\r\n",
                         request->boundary, mail->transfer->targets[mail->first + i].address);
    }
    mq_buffer_printf(&body->head,
                     "--%s\r\nContent-Disposition: form-data; name=\"message\"; "
                     "filename=\"message.mime\"\r\nContent-Type: message/rfc822\r\n\r\n",
                     request->boundary);
    mq_buffer_printf(&body->tail, "\r\n--%s--\r\n", request->boundary);
    body->mail[0] = mail->transfer->prefix;
    body->mail[1] = mail->transfer->message;
    return true;
}

static void read_answer(const struct mq_http_result *result, struct mq_http_answer *answer)
{
    mq_http_json_text(result->body, "id", answer->text, sizeof answer->text);
    answer->is_receipt = answer->text[0] != '\0';
    if (!answer->is_receipt) {
        mq_http_json_text(result->body, "message", answer->text, sizeof answer->text);
    }
    if (answer->text[0] == '\0' && result->status == 401) {
        snprintf(answer->text, sizeof answer->text, "the key is not accepted");
    }
}

const struct mq_http_api mq_http_mailgun = {.scheme = "mailgun+https",
                                            .service = MQ_HTTP_MAILGUN,
                                            .auth = MQ_HTTP_BASIC,
                                            .recipients_max = RECIPIENTS_MAX,
                                            .check = check,
                                            .host = host,
                                            .path = path,
                                            .login = login,
                                            .fields = fields,
                                            .write = write_body,
                                            .read = read_answer};
