/* What a mail program of this host adds: the user, the full name, the domain of bare names. */
#include "php/capture/local_mail.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/ascii.h"

#define MAILNAME        "/etc/mailname" /* Debian: the domain of local addresses */
#define HOSTS           "/etc/hosts"
#define HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"

/* ---- user and host ---- */

/* The first of the comments in passwd(5), where "&" is the user's name with a capital. */
static void expand_full_name(const char *comments, const char *name, char out[MQ_LOCAL_NAME_MAX])
{
    size_t used = 0;
    for (const char *p = comments; *p && *p != ',' && used + 1 < MQ_LOCAL_NAME_MAX; p++) {
        if (*p != '&') {
            out[used++] = *p;
            continue;
        }
        for (const char *q = name; *q && used + 1 < MQ_LOCAL_NAME_MAX; q++) {
            out[used++] = q == name ? (char)toupper((unsigned char)*q) : *q;
        }
    }
    out[used] = '\0';
}

void mq_local_user_read(struct mq_local_user *out)
{
    char scratch[4096];
    struct passwd entry;
    struct passwd *found = NULL;
    memset(out, 0, sizeof *out);
    if (getpwuid_r(geteuid(), &entry, scratch, sizeof scratch, &found) != 0 || found == NULL) {
        snprintf(out->name, sizeof out->name, "nobody");
        return;
    }
    snprintf(out->name, sizeof out->name, "%s", found->pw_name);
    expand_full_name(found->pw_gecos ? found->pw_gecos : "", out->name, out->full_name);
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

/* The first name in a line of /etc/hosts that goes on where the host's name ends, if the line has
 * that too. */
static bool find_long_name(char *line, const char *host, char out[MQ_LOCAL_NAME_MAX])
{
    const char *found = NULL;
    bool named = false;
    size_t len = strlen(host);
    char *state = NULL;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, " \t\r\n", &state); word;
         word = strtok_r(NULL, " \t\r\n", &state)) {
        named = named || strcmp(word, host) == 0;
        if (found == NULL && strncasecmp(word, host, len) == 0 && word[len] == '.') {
            found = word;
        }
    }
    if (!named || found == NULL || strlen(found) >= MQ_LOCAL_NAME_MAX || !is_host(found)) {
        return false;
    }
    snprintf(out, MQ_LOCAL_NAME_MAX, "%s", found);
    return true;
}

/* Asking the DNS could take its time. */
static void lengthen(char host[MQ_LOCAL_NAME_MAX])
{
    char line[1024];
    FILE *file = strchr(host, '.') ? NULL : fopen(HOSTS, "re");
    if (file == NULL) {
        return;
    }
    while (fgets(line, sizeof line, file) && !find_long_name(line, host, host)) {
    }
    fclose(file);
}

static void find_host(char out[MQ_LOCAL_NAME_MAX])
{
    read_mailname(out);
    if (is_host(out)) {
        return;
    }
    if (gethostname(out, MQ_LOCAL_NAME_MAX) != 0) {
        *out = '\0';
    }
    out[MQ_LOCAL_NAME_MAX - 1] = '\0';
    lengthen(out);
    /* A container's name may have "_". */
    if (!is_host(out)) {
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

void mq_local_qualify(struct mq_str list, struct mq_buffer *out)
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
        mq_buffer_append(out, mailbox.data, end);
        if (end > 0) {
            if (*host == '\0') {
                find_host(host);
            }
            mq_buffer_char(out, '@');
            mq_buffer_cstr(out, host);
        }
        len += len < list.len; /* the comma */
        mq_buffer_append(out, list.data + end, len - end);
        list.data += len;
        list.len -= len;
    }
}
