/* Reads an API's answer: its words in JSON, whose nesting differs between APIs, without our
 * secrets. */
#include <stdio.h>
#include <string.h>

#include "core/ascii.h"
#include "core/json.h"
#include "send/http/api.h"

#define SECRET_MIN 4 /* shorter texts are in other words, too */

/* Takes a string with its quotes off *rest, which begins with one; empty: its end is missing. */
static struct mq_str take_string(struct mq_str *rest)
{
    size_t n = 1;
    while (n < rest->len && rest->data[n] != '"') {
        n += rest->data[n] == '\\' ? 2 : 1;
    }
    return mq_str_cut(rest, n < rest->len ? n + 1 : 0);
}

/* Takes the value after a member's name, if it is a text. */
static struct mq_str take_value(struct mq_str *rest)
{
    struct mq_str at = mq_str_trim(*rest);
    if (at.len > 0 && at.data[0] == ':') {
        at = mq_str_trim(mq_str_skip(at, 1));
        if (at.len > 0 && at.data[0] == '"') {
            *rest = at;
            return take_string(rest);
        }
    }
    return (struct mq_str){0};
}

static void decode(struct mq_str quoted, char *out, size_t size)
{
    struct mq_buffer list = {0};
    struct mq_strings one = {0};
    mq_buffer_char(&list, '[');
    mq_buffer_str(&list, quoted);
    mq_buffer_char(&list, ']');
    if (!list.failed && mq_json_read(mq_buffer_view(&list), '[', &one) == MQ_OK && one.count == 1) {
        mq_str_printable(out, size, 0, mq_str_of(one.items[0]));
    }
    mq_strings_clear(&one);
    mq_buffer_clear(&list);
}

void mq_http_json_text(struct mq_str json, const char *name, char *out, size_t size)
{
    size_t len = strlen(name);
    out[0] = '\0';
    for (;;) {
        json = mq_str_skip(json, mq_str_find(json, '"'));
        struct mq_str found = json.len > 0 ? take_string(&json) : json;
        if (found.len == 0) {
            return;
        }
        if (found.len == len + 2 && memcmp(found.data + 1, name, len) == 0) {
            struct mq_str value = take_value(&json);
            if (value.len > 0) {
                decode(value, out, size);
                return;
            }
        }
    }
}

/* Blanks a secret in a text, and a piece of it at the end of a text that was cut. */
static void hide(char *text, const char *secret)
{
    size_t len = secret != NULL ? strlen(secret) : 0;
    for (char *at = text; len >= SECRET_MIN && *at != '\0'; at++) {
        size_t same = 0;
        while (same < len && at[same] == secret[same]) {
            same++;
        }
        if (same == len || (same >= SECRET_MIN && at[same] == '\0')) {
            memset(at, '*', same);
        }
    }
}

void mq_http_answer(const struct mq_http_api *api, const struct mq_http_request *request,
                    const struct mq_http_result *result, struct mq_http_answer *answer)
{
    *answer = (struct mq_http_answer){.status = result->status, .whole = result->whole};
    if (result->status == 0) {
        snprintf(answer->text, sizeof answer->text, "%s", result->reason);
    } else {
        api->read(result, answer);
        answer->is_receipt = answer->is_receipt && !result->early;
    }
    if (result->status >= 300 && result->status <= 399) {
        snprintf(answer->text, sizeof answer->text,
                 "it sends us to another address, where no key goes: check the transport's host");
    }
    const char *secrets[] = {request->user, request->secret, request->token};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        hide(answer->text, secrets[i]);
        hide(answer->code, secrets[i]);
    }
}

void mq_http_format(const struct mq_http_answer *answer, char out[MQ_HTTP_REASON_MAX])
{
    char status[16] = "";
    bool says = answer->code[0] != '\0' || answer->text[0] != '\0';
    if (answer->status != 0) {
        snprintf(status, sizeof status, says ? "%d " : "%d", answer->status);
    }
    const char *parts[] = {status, answer->code, answer->code[0] && answer->text[0] ? ": " : "",
                           answer->text};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        used = mq_str_printable(out, MQ_HTTP_REASON_MAX, used, mq_str_of(parts[i]));
    }
}
