/* ses+https: Amazon SES, version 2 of its API: SendEmail with Content.Raw. The envelope's
 * recipients go in Destination, so the headers decide nothing; bounces go to the envelope's sender.
 */
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "send/dsn_text.h"
#include "send/http/api.h"
#include "send/transfer.h"

#define RECIPIENTS_MAX 50 /* SES takes no more in one request */

static enum mq_status check(const struct mq_dsn *dsn, struct mq_error *err)
{
    struct mq_buffer hash = {0};
    struct mq_http_body none = {0};
    bool hashes = mq_http_body_hash(&none, &hash);
    mq_buffer_clear(&hash);
    if (dsn->password == NULL) {
        return mq_dsn_bad(err, "ses+https:// needs an access key; write "
                               "ses+https://KEY:SECRET@default?region=eu-west-1, with / in SECRET "
                               "as %2F");
    }
    if (dsn->region == NULL) {
        return mq_dsn_bad(err, "ses+https:// needs the region of your SES account; add "
                               "?region=eu-west-1 or another");
    }
    if (!mq_http_can_sign()) {
        return mq_dsn_bad(err, "ses+https:// needs libcurl 7.87 or later; update it");
    }
    return hashes ? MQ_OK
                  : mq_dsn_bad(err, "ses+https:// needs OpenSSL, and mailqueue was built without "
                                    "it; build it with libssl-dev installed");
}

static void host(const struct mq_dsn *dsn, struct mq_buffer *out)
{
    bool china = strncmp(dsn->region, "cn-", 3) == 0;
    mq_buffer_printf(out, "email.%s.amazonaws.com%s", dsn->region, china ? ".cn" : "");
}

static void path(const struct mq_dsn *dsn, bool probe, struct mq_buffer *out)
{
    (void)dsn;
    mq_buffer_cstr(out, probe ? "/v2/email/account" : "/v2/email/outbound-emails");
}

static void login(const struct mq_dsn *dsn, struct mq_http_request *request,
                  struct mq_buffer *scope)
{
    mq_buffer_printf(scope, "aws:amz:%s:ses", dsn->region);
    request->user = dsn->user;
    request->secret = dsn->password;
    request->scope = scope->data;
}

static bool fields(const struct mq_dsn *dsn, struct mq_http_request *request)
{
    struct mq_buffer token = {0};
    bool ok = mq_strings_add(&request->headers, MQ_STR("Content-Type: application/json"));
    if (dsn->session_token != NULL) {
        request->token = dsn->session_token;
        mq_buffer_printf(&token, "X-Amz-Security-Token: %s", dsn->session_token);
        ok = ok && !token.failed && mq_strings_add(&request->headers, mq_buffer_view(&token));
        mq_dsn_wipe(mq_buffer_take(&token));
    }
    return ok;
}

static bool write_body(const struct mq_http_mail *mail, struct mq_http_request *request,
                       char out[MQ_HTTP_REASON_MAX])
{
    const struct mq_transfer *transfer = mail->transfer;
    struct mq_http_body *body = &request->body;
    (void)out;
    mq_buffer_cstr(&body->head, "{\"Destination\":{\"ToAddresses\":[");
    for (size_t i = 0; i < mail->count; i++) {
        mq_buffer_cstr(&body->head, i > 0 ? "," : "");
        mq_json_string(&body->head, mq_str_of(transfer->targets[mail->first + i].address));
    }
    mq_buffer_cstr(&body->head, "]},");
    if (transfer->from[0] != '\0') {
        mq_buffer_cstr(&body->head, "\"FeedbackForwardingEmailAddress\":");
        mq_json_string(&body->head, mq_str_of(transfer->from));
        mq_buffer_char(&body->head, ',');
    }
    mq_buffer_cstr(&body->head, "\"Content\":{\"Raw\":{\"Data\":\"");
    mq_buffer_cstr(&body->tail, "\"}}}");
    body->mail[0] = transfer->prefix;
    body->mail[1] = transfer->message;
    body->base64 = true;
    return true;
}

/* The code is in a field ("MessageRejected:http://…"), or in the body as "__type" or "type". */
static void read_answer(const struct mq_http_result *result, struct mq_http_answer *answer)
{
    char id[128];
    mq_http_json_text(result->body, "MessageId", id, sizeof id);
    answer->is_receipt = id[0] != '\0';
    if (answer->is_receipt) {
        snprintf(answer->text, sizeof answer->text, "MessageId %s", id);
        return;
    }
    mq_http_json_text(result->body, "message", answer->text, sizeof answer->text);
    if (answer->text[0] == '\0') {
        mq_http_json_text(result->body, "Message", answer->text, sizeof answer->text);
    }
    snprintf(answer->code, sizeof answer->code, "%.*s", (int)strcspn(result->error_type, ":"),
             result->error_type);
    for (int i = 0; i < 2 && answer->code[0] == '\0'; i++) {
        mq_http_json_text(result->body, i == 0 ? "__type" : "type", answer->code,
                          sizeof answer->code);
    }
}

const struct mq_http_api mq_http_ses = {.scheme = "ses+https",
                                        .service = MQ_HTTP_SES,
                                        .auth = MQ_HTTP_SIGV4,
                                        .recipients_max = RECIPIENTS_MAX,
                                        .check = check,
                                        .host = host,
                                        .path = path,
                                        .login = login,
                                        .fields = fields,
                                        .write = write_body,
                                        .read = read_answer};
