/* What an account's grant asks of the token endpoint, and what the answers mean (RFC 6749). */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/ascii.h"
#include "core/json.h"
#include "send/oauth/internal.h"
#include "send/oauth/token_request.h"

#define TOKEN_MAX 16384
/* The life of a token whose answer names none, and the shortest that is believed: no answer makes
 * us ask without end. */
#define LIFE_DEFAULT_S 3600
#define LIFE_MIN_S     10
/* A token is refreshed this long before it ends, but after four fifths of its life. */
#define EARLY_S 300
/* A login that ends is told of in the last part of its life. */
#define LOOK_PART 4

#define ASSERTION_TYPE "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/* ---- asking ---- */

static void add_member(struct mq_buffer *fields, const struct mq_strings *members, const char *name)
{
    const char *value = mq_oauth_member(members, name);
    if (value != NULL) {
        mq_token_field(fields, name, mq_str_of(value));
    }
}

static enum mq_status add_assertion(struct mq_buffer *fields, const struct mq_strings *members,
                                    struct mq_error *err)
{
    struct mq_buffer jwt = {0};
    if (mq_oauth_member(members, "certificate") == NULL) {
        return MQ_OK;
    }
    enum mq_status status = mq_oauth_assertion(members, time(NULL), &jwt, err);
    if (status == MQ_OK) {
        mq_token_field(fields, "client_assertion_type", MQ_STR(ASSERTION_TYPE));
        mq_token_field(fields, "client_assertion", mq_buffer_view(&jwt));
    }
    mq_buffer_wipe(&jwt);
    return status;
}

enum mq_status mq_oauth_grant_begin(const struct mq_strings *members, struct mq_token_request **out,
                                    struct mq_error *err)
{
    struct mq_buffer fields = {0};
    struct mq_token_call call = {.endpoint = mq_oauth_member(members, "token_endpoint"),
                                 .cafile = mq_oauth_member(members, "cafile"),
                                 .proxy = mq_oauth_member(members, "proxy")};
    const char *secret = mq_oauth_member(members, "client_secret");
    const char *method = mq_oauth_member(members, "client_auth");
    const char *grant = mq_oauth_member(members, "grant");
    bool basic = secret != NULL && method != NULL && strcmp(method, "basic") == 0;
    mq_token_field(&fields, "grant_type", mq_str_of(grant));
    /* Without a scope, a new token has the rights that were granted at the login, which can be
     * fewer than were asked for (RFC 6749, 6). */
    add_member(&fields, members, strcmp(grant, "refresh_token") == 0 ? "refresh_token" : "scope");
    if (basic) {
        call.client_id = mq_oauth_member(members, "client_id");
        call.client_secret = secret;
    } else {
        add_member(&fields, members, "client_id");
        add_member(&fields, members, "client_secret");
    }
    enum mq_status status = add_assertion(&fields, members, err);
    if (status == MQ_OK && fields.failed) {
        status = mq_error_nomem(err);
    }
    if (status == MQ_OK) {
        call.fields = mq_buffer_view(&fields);
        status = mq_token_request_begin(&call, out, err);
    }
    mq_buffer_wipe(&fields);
    return status;
}

/* ---- what a refusal means ---- */

static void append(char failure[MQ_OAUTH_FAILURE_MAX], const char *text)
{
    mq_str_printable(failure, MQ_OAUTH_FAILURE_MAX, strlen(failure), mq_str_of(text));
}

/* Whether a text of the server repeats one of our secrets. */
static bool tells(const char *text, const struct mq_strings *members)
{
    static const char *const secrets[] = {"client_secret", "refresh_token", "access_token"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        const char *secret = mq_oauth_member(members, secrets[i]);
        if (secret != NULL && strstr(text, secret) != NULL) {
            return true;
        }
    }
    return false;
}

void mq_oauth_append_login(char failure[MQ_OAUTH_FAILURE_MAX], const char *name,
                           const struct mq_strings *members)
{
    const char *provider = mq_oauth_member(members, "provider");
    append(failure, "log in again: mailqueue login ");
    append(failure, provider ? provider : "generic");
    append(failure, " --account ");
    append(failure, name);
}

/* `error` is a code of RFC 6749, 5.2. For a refresh token of another client, servers answer
 * invalid_grant, as it says there, or unauthorized_client. */
static void describe_error(const char *error, const char *name, const struct mq_strings *members,
                           char failure[MQ_OAUTH_FAILURE_MAX])
{
    bool refreshes = mq_oauth_member(members, "refresh_token") != NULL;
    bool grant = strcmp(error, "invalid_grant") == 0;
    bool unauthorized = strcmp(error, "unauthorized_client") == 0;
    if (refreshes && (grant || unauthorized)) {
        mq_oauth_append_login(failure, name, members);
        append(failure, " (the ");
        append(failure, grant ? "refresh token has ended, was revoked or belongs to another client"
                              : "client may not use the refresh token");
    } else if (unauthorized || strcmp(error, "invalid_client") == 0) {
        append(failure, "renew the client secret or the certificate, and ");
        mq_oauth_append_login(failure, name, members);
        append(failure, " (the client is refused");
    } else {
        append(failure, "no token came (the server refuses");
    }
}

/* The client's members with the new ones of the answer would mix secrets, so both are searched. */
static void describe(const struct mq_token_answer *answer, const struct mq_strings *said,
                     const char *name, const struct mq_strings *members,
                     char failure[MQ_OAUTH_FAILURE_MAX])
{
    const char *error = mq_oauth_member(said, "error");
    const char *text = mq_oauth_member(said, "error_description");
    char code[64];
    snprintf(failure, MQ_OAUTH_FAILURE_MAX, "account %s: ", name);
    if (answer->code == 0) {
        append(failure, "no token came: ");
        append(failure, answer->failure);
    } else if (error == NULL) {
        snprintf(code, sizeof code, "HTTP %d", answer->code);
        append(failure, "no token came: the token endpoint answers ");
        append(failure, code);
        append(failure, answer->code == 200 ? " without a token that can be used" : "");
    } else {
        describe_error(error, name, members, failure);
        snprintf(code, sizeof code, ": %.40s", error);
        append(failure, tells(error, members) ? "" : code);
        if (text != NULL && !tells(text, members)) {
            append(failure, ": ");
            append(failure, text);
        }
        append(failure, ")");
    }
}

/* ---- taking ---- */

/* Whether a token can be sent: visible ASCII only, so that none ends a login's field. */
static bool is_sendable(const char *token)
{
    size_t len = 0;
    while (token[len] > ' ' && token[len] < 0x7F) {
        len++;
    }
    return len > 0 && token[len] == '\0' && len <= TOKEN_MAX;
}

static bool has_token(const struct mq_strings *said)
{
    const char *token = mq_oauth_member(said, "access_token");
    const char *type = mq_oauth_member(said, "token_type");
    const char *refresh = mq_oauth_member(said, "refresh_token");
    bool bearer = type == NULL || mq_str_equal_nocase(mq_str_of(type), MQ_STR("Bearer"));
    return token != NULL && is_sendable(token) && bearer &&
           (refresh == NULL || is_sendable(refresh));
}

static bool set_number(struct mq_strings *members, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return mq_oauth_set(members, name, mq_str_of(text));
}

/* Takes over when the login ends, in the words of Google or of Keycloak. A new refresh token of
 * which this is not told ends at an unknown time. */
static bool take_end(const struct mq_strings *said, int64_t now_s, struct mq_strings *members)
{
    int64_t life_s = mq_oauth_number(said, "refresh_token_expires_in");
    life_s = life_s > 0 ? life_s : mq_oauth_number(said, "refresh_expires_in");
    if (life_s > 0) {
        return set_number(members, "login_ends_at", now_s + life_s) &&
               set_number(members, "login_look_at", now_s + life_s - life_s / LOOK_PART);
    }
    return mq_oauth_member(said, "refresh_token") == NULL ||
           mq_oauth_member(members, "login_ends_at") == NULL ||
           set_number(members, "login_ends_at", 0);
}

static bool take(const struct mq_strings *said, struct mq_strings *members)
{
    const char *refresh = mq_oauth_member(said, "refresh_token");
    const char *given = mq_oauth_member(said, "expires_in");
    int64_t now_s = time(NULL);
    int64_t life_s = given ? mq_oauth_number(said, "expires_in") : LIFE_DEFAULT_S;
    life_s = life_s > LIFE_MIN_S ? life_s : LIFE_MIN_S;
    int64_t early_s = life_s / 5 < EARLY_S ? life_s / 5 : EARLY_S;
    bool is_grant = strcmp(mq_oauth_member(members, "grant"), "refresh_token") == 0;
    return mq_oauth_set(members, "access_token",
                        mq_str_of(mq_oauth_member(said, "access_token"))) &&
           (refresh == NULL || !is_grant ||
            mq_oauth_set(members, "refresh_token", mq_str_of(refresh))) &&
           (!is_grant || take_end(said, now_s, members)) &&
           set_number(members, "expires_at", now_s + life_s) &&
           set_number(members, "refresh_at", now_s + life_s - early_s);
}

enum mq_status mq_oauth_grant_take(const struct mq_token_answer *answer, const char *name,
                                   struct mq_strings *members, char failure[MQ_OAUTH_FAILURE_MAX])
{
    struct mq_strings said = {0};
    enum mq_status status = MQ_OK;
    if (answer->code != 0 && mq_json_members(answer->body, &said) == MQ_NOMEM) {
        status = MQ_NOMEM;
    } else if (answer->code != 200 || !has_token(&said)) {
        describe(answer, &said, name, members, failure);
        status = MQ_TRANSPORT;
    } else if (!take(&said, members)) {
        status = MQ_NOMEM;
    }
    if (status == MQ_NOMEM) {
        snprintf(failure, MQ_OAUTH_FAILURE_MAX, "account %s: out of memory", name);
    }
    mq_oauth_forget(&said);
    return status;
}
