/* microsoftgraph+https: Microsoft Graph's sendMail with a MIME message in base64. It reads the
 * recipients from the headers (mailbox_api.c). */

#include "send/dsn.h"
#include "send/http/api.h"

#define RECIPIENTS_MAX 500 /* Exchange Online takes no more */

static void host(const struct mq_dsn *dsn, struct mq_buffer *out)
{
    (void)dsn;
    mq_buffer_cstr(out, "graph.microsoft.com");
}

static void path(const struct mq_dsn *dsn, bool probe, struct mq_buffer *out)
{
    if (probe) {
        return; /* what reads needs another permission than Mail.Send */
    }
    mq_buffer_cstr(out, dsn->user != NULL ? "/v1.0/users/" : "/v1.0/me");
    mq_http_encode(out, dsn->user);
    mq_buffer_cstr(out, "/sendMail");
}

static bool fields(const struct mq_dsn *dsn, struct mq_http_request *request)
{
    (void)dsn;
    return mq_strings_add(&request->headers, MQ_STR("Content-Type: text/plain"));
}

static bool write_body(const struct mq_http_mail *mail, struct mq_http_request *request,
                       char out[MQ_HTTP_REASON_MAX])
{
    request->body.base64 = true;
    return mq_http_write_mail(mail, request, out);
}

static void read_answer(const struct mq_http_result *result, struct mq_http_answer *answer)
{
    answer->is_receipt = result->status == 202; /* it has no body */
    mq_http_json_text(result->body, "code", answer->code, sizeof answer->code);
    mq_http_json_text(result->body, "message", answer->text, sizeof answer->text);
}

const struct mq_http_api mq_http_graph = {.scheme = "microsoftgraph+https",
                                          .service = MQ_HTTP_GRAPH,
                                          .auth = MQ_HTTP_BEARER,
                                          .recipients_max = RECIPIENTS_MAX,
                                          .check = mq_http_check_account,
                                          .host = host,
                                          .path = path,
                                          .login = NULL,
                                          .fields = fields,
                                          .write = write_body,
                                          .read = read_answer};
