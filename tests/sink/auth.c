/* AUTH PLAIN, LOGIN and XOAUTH2 (RFC 4954, RFC 4616). */
#include <string.h>

#include "conn.h"

static int base64_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* Decodes, and appends a NUL; returns the length, or -1 if it is too long or not base64. */
static int base64_decode(const char *text, char *out, size_t size)
{
    size_t length = strlen(text), used = 0;
    unsigned bits = 0;
    int have = 0;
    if (length % 4 != 0) {
        return -1;
    }
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        int value = base64_value(text[i]);
        if (value < 0 || used + 1 >= size) {
            return -1;
        }
        bits = bits << 6 | (unsigned)value;
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[used++] = (char)(bits >> have & 0xff);
        }
    }
    out[used] = '\0';
    return (int)used;
}

static void verdict(struct conn *c, bool right)
{
    c->phase = PHASE_COMMAND;
    int code = right ? reply_play(c, STAGE_AUTH, c->auth_user, "235 2.7.0 authenticated")
                     : reply_play(c, STAGE_AUTH, c->auth_user, "535 5.7.8 credentials invalid");
    c->authenticated = code == 235;
}

static bool credentials_match(const struct conn *c, const char *user, const char *password)
{
    const struct options *o = &c->sink->options;
    return strcmp(user, o->auth_user) == 0 && strcmp(password, o->auth_password) == 0;
}

static void keep_user(struct conn *c, const char *user)
{
    snprintf(c->auth_user, sizeof c->auth_user, "%s", user);
}

/* authzid NUL authcid NUL password */
static void plain(struct conn *c, const char *decoded, int length)
{
    const char *end = decoded + length;
    const char *user = decoded + strlen(decoded) + 1;
    const char *password = user < end ? user + strlen(user) + 1 : end + 1;
    if (password > end) {
        verdict(c, false);
        return;
    }
    keep_user(c, user);
    verdict(c, credentials_match(c, user, password));
}

static void xoauth2(struct conn *c, char *decoded)
{
    char *user = strstr(decoded, "user="), *token = strstr(decoded, "auth=Bearer ");
    if (user == NULL || token == NULL) {
        verdict(c, false);
        return;
    }
    user += strlen("user=");
    token += strlen("auth=Bearer ");
    user[strcspn(user, "\001")] = '\0';
    token[strcspn(token, "\001")] = '\0';
    keep_user(c, user);
    verdict(c, credentials_match(c, user, token));
}

void auth_line(struct conn *c, char *line)
{
    char decoded[1024];
    int length = strcmp(line, "=") == 0 ? 0 : base64_decode(line, decoded, sizeof decoded);
    if (length == 0) {
        decoded[0] = '\0';
    }
    if (strcmp(line, "*") == 0 || length < 0) {
        c->phase = PHASE_COMMAND;
        reply_plain(c, "501 5.5.2 %s", length < 0 ? "cannot decode" : "cancelled");
        return;
    }
    switch (c->auth_step) {
    case AUTH_PLAIN:
        plain(c, decoded, length);
        break;
    case AUTH_LOGIN_USER:
        keep_user(c, decoded);
        c->auth_step = AUTH_LOGIN_PASSWORD;
        reply_plain(c, "334 UGFzc3dvcmQ6");
        break;
    case AUTH_LOGIN_PASSWORD:
        verdict(c, credentials_match(c, c->auth_user, decoded));
        break;
    case AUTH_XOAUTH2:
        xoauth2(c, decoded);
        break;
    }
}

static bool offered(const struct conn *c, const char *mechanism)
{
    size_t length = strlen(mechanism);
    for (const char *p = c->sink->options.auth_mechanisms; *p != '\0'; p += *p == ' ') {
        size_t word = strcspn(p, " ");
        if (word == length && strncasecmp(p, mechanism, word) == 0) {
            return true;
        }
        p += word;
    }
    return false;
}

void auth_begin(struct conn *c, char *argument)
{
    static const struct {
        const char *name;
        enum auth_step step;
        const char *challenge;
    } mechanisms[] = {
        {"PLAIN", AUTH_PLAIN, ""},
        {"LOGIN", AUTH_LOGIN_USER, "VXNlcm5hbWU6"},
        {"XOAUTH2", AUTH_XOAUTH2, ""},
    };
    char *initial = argument + strcspn(argument, " ");
    if (*initial != '\0') {
        *initial++ = '\0';
    }
    for (size_t i = 0; i < sizeof mechanisms / sizeof mechanisms[0]; i++) {
        if (strcasecmp(argument, mechanisms[i].name) != 0 || !offered(c, argument)) {
            continue;
        }
        c->auth_step = mechanisms[i].step;
        c->auth_user[0] = '\0';
        c->phase = PHASE_AUTH;
        if (*initial != '\0') {
            struct event event = {.stage = STAGE_AUTHCMD, .argument = argument};
            if (reply_fault(c, &event)) {
                c->phase = PHASE_COMMAND;
            } else {
                auth_line(c, initial);
            }
        } else if (reply_play(c, STAGE_AUTHCMD, argument, "334 %s", mechanisms[i].challenge) !=
                   334) {
            c->phase = PHASE_COMMAND;
        }
        return;
    }
    reply_plain(c, "504 5.5.4 unknown mechanism");
}
