/* What a mail program of this host adds: the user, the full name, the domain of bare names. */
#include "php/capture/local_mail.h"

#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/ascii.h"

#define MAILNAME        "/etc/mailname" /* Debian: the domain of local addresses */
#define HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"

/* ---- user and host ---- */

void mq_local_user_read(struct mq_local_user *out)
{
    char scratch[4096];
    struct passwd entry;
    struct passwd *found = NULL;
    bool known = getpwuid_r(geteuid(), &entry, scratch, sizeof scratch, &found) == 0 && found;
    const char *comments = known && found->pw_gecos ? found->pw_gecos : "";
    snprintf(out->name, sizeof out->name, "%s", known ? found->pw_name : "nobody");
    snprintf(out->full_name, sizeof out->full_name, "%.*s", (int)strcspn(comments, ","), comments);
}

static bool is_host(const char *name)
{
    return *name && *name != '.' && *name != '-' && name[strspn(name, HOST_CHARACTERS)] == '\0';
}

static void read_mailname(char out[MQ_LOCAL_NAME_MAX])
{
    FILE *file = fopen(MAILNAME, "re");
    *out = '\0';
    if (file == NULL) {
        return;
    }
    if (fgets(out, MQ_LOCAL_NAME_MAX, file)) {
        out[strcspn(out, " \t\r\n")] = '\0';
    } else {
        *out = '\0';
    }
    fclose(file);
}

/* In full, as `hostname -f` says it; usually /etc/hosts has it. */
static void full_host_name(char out[MQ_LOCAL_NAME_MAX])
{
    struct addrinfo hints = {.ai_flags = AI_CANONNAME};
    struct addrinfo *info = NULL;
    if (gethostname(out, MQ_LOCAL_NAME_MAX) != 0) {
        *out = '\0';
    }
    out[MQ_LOCAL_NAME_MAX - 1] = '\0';
    if (*out && !strchr(out, '.') && getaddrinfo(out, NULL, &hints, &info) == 0) {
        if (info->ai_canonname && is_host(info->ai_canonname)) {
            snprintf(out, MQ_LOCAL_NAME_MAX, "%s", info->ai_canonname);
        }
        freeaddrinfo(info);
    }
}

static void find_host(char out[MQ_LOCAL_NAME_MAX])
{
    read_mailname(out);
    if (!is_host(out)) {
        full_host_name(out);
    }
    if (!is_host(out)) { /* a container's name may have "_" */
        snprintf(out, MQ_LOCAL_NAME_MAX, "localhost");
    }
}

/* ---- addresses without a domain ---- */

/* Length of the quoted string or comment that `s` begins with; 1 for any other character. */
static size_t step(struct mq_str s)
{
    char close = s.data[0] == '"' ? '"' : s.data[0] == '(' ? ')' : '\0';
    if (close == '\0') {
        return 1;
    }
    for (size_t i = 1; i < s.len; i++) {
        if (s.data[i] == '\\') {
            i++;
        } else if (s.data[i] == close) {
            return i + 1;
        }
    }
    return s.len;
}

/* RFC 5322, 3.2.3, and the dot. */
static bool is_user_character(char c)
{
    return mq_is_alnum(c) || (c != '\0' && strchr("!#$%&'*+-/=?^_`{|}~.", c) != NULL);
}

static size_t skip_space(struct mq_str s, size_t at)
{
    while (at < s.len && strchr(" \t\r\n", s.data[at]) != NULL && s.data[at] != '\0') {
        at++;
    }
    return at;
}

/* Where the user's name ends in one mailbox, with nothing but ">" and a comment behind it; 0 where
 * this is no user. `open` is where "<" is, or the mailbox's length. */
static size_t user_end(struct mq_str mailbox, size_t open)
{
    size_t start = skip_space(mailbox, open < mailbox.len ? open + 1 : 0);
    size_t end = start;
    while (end < mailbox.len && is_user_character(mailbox.data[end])) {
        end++;
    }
    size_t rest = skip_space(mailbox, end);
    if (open < mailbox.len && rest < mailbox.len && mailbox.data[rest] == '>') {
        rest = skip_space(mailbox, rest + 1);
    }
    if (rest < mailbox.len && mailbox.data[rest] == '(') {
        rest += step((struct mq_str){mailbox.data + rest, mailbox.len - rest});
        rest = skip_space(mailbox, rest);
    }
    return end > start && rest == mailbox.len ? end : 0;
}

void mq_local_qualify(struct mq_str list, smart_str *out)
{
    char host[MQ_LOCAL_NAME_MAX] = "";
    while (list.len > 0) {
        size_t len = 0, open = list.len;
        while (len < list.len && list.data[len] != ',') {
            open = list.data[len] == '<' && open == list.len ? len : open;
            len += step((struct mq_str){list.data + len, list.len - len});
        }
        struct mq_str mailbox = {list.data, len};
        bool named = memchr(mailbox.data, '@', len) != NULL;
        size_t end = named ? 0 : user_end(mailbox, open < len ? open : len);
        smart_str_appendl(out, mailbox.data, end);
        if (end > 0) {
            if (*host == '\0') {
                find_host(host);
            }
            smart_str_appendc(out, '@');
            smart_str_appends(out, host);
        }
        len += len < list.len; /* the comma */
        smart_str_appendl(out, list.data + end, len - end);
        list.data += len;
        list.len -= len;
    }
}
