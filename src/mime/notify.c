/* Delivery status notifications (RFC 3461): checks them, stores them, writes them for MAIL and
 * RCPT. */
#include "mime/notify.h"

#include <stdio.h>
#include <string.h>

#include "core/ascii.h"
#include "core/json.h"

#define KEY   "dsn"
#define FIELD "dsn"

/* By the number of the bit. */
static const char *const words[] = {"NEVER", "SUCCESS", "FAILURE", "DELAY"};

#define WORDS (sizeof words / sizeof *words)

bool mq_notify_asks(const struct mq_notify *notify)
{
    return notify->when != 0 || notify->ret != MQ_NOTIFY_RET_UNSAID || notify->envid[0] != '\0';
}

enum mq_status mq_notify_add_when(struct mq_notify *notify, struct mq_str word,
                                  struct mq_error *err)
{
    unsigned bit = 0;
    for (size_t i = 0; i < WORDS; i++) {
        bit |= mq_str_equal_nocase(word, mq_str_of(words[i])) ? 1u << i : 0;
    }
    if (bit == 0) {
        return mq_error_set(err, MQ_INVALID, FIELD,
                            "dsn[notify]: must be \"never\", or any of \"success\", \"failure\" "
                            "and \"delay\"");
    }
    unsigned when = notify->when | bit;
    if ((when & MQ_NOTIFY_NEVER) != 0 && when != MQ_NOTIFY_NEVER) {
        return mq_error_set(err, MQ_INVALID, FIELD,
                            "dsn[notify]: \"never\" excludes the others; write it alone");
    }
    notify->when = when;
    return MQ_OK;
}

enum mq_status mq_notify_set_when(struct mq_notify *notify, struct mq_str list,
                                  struct mq_error *err)
{
    struct mq_notify found = {0};
    while (list.len > 0) {
        MQ_TRY(mq_notify_add_when(&found, mq_str_cut_at(&list, ','), err));
    }
    notify->when = found.when;
    return MQ_OK;
}

enum mq_status mq_notify_set_ret(struct mq_notify *notify, struct mq_str word, struct mq_error *err)
{
    int ret = mq_str_word(word, "FULL HDRS", mq_str_equal_nocase);
    if (ret < 0) {
        return mq_error_set(err, MQ_INVALID, FIELD, "dsn[ret]: must be \"full\" or \"hdrs\"");
    }
    notify->ret = ret == 0 ? MQ_NOTIFY_RET_FULL : MQ_NOTIFY_RET_HDRS;
    return MQ_OK;
}

/* Whether xtext has an octet as it is, not as "+XX" (section 4). */
static bool is_xchar(char c)
{
    return c > 32 && c < 127 && c != '+' && c != '=';
}

enum mq_status mq_notify_set_envid(struct mq_notify *notify, struct mq_str envid,
                                   struct mq_error *err)
{
    size_t written = 0;
    for (size_t i = 0; i < envid.len; i++) {
        char c = envid.data[i];
        if (c <= 32 || c >= 127) {
            return mq_error_set(err, MQ_INVALID, FIELD,
                                "dsn[envid]: octet %zu is a space, a control character or not "
                                "ASCII; use letters, digits and marks",
                                i + 1);
        }
        written += is_xchar(c) ? 1 : 3;
    }
    if (written == 0 || written > MQ_NOTIFY_ENVID_MAX) {
        return mq_error_set(err, MQ_INVALID, FIELD,
                            "dsn[envid]: must have 1 to %d octets, not %zu (\"+\" and \"=\" count "
                            "for three)",
                            MQ_NOTIFY_ENVID_MAX, written);
    }
    memcpy(notify->envid, envid.data, envid.len);
    notify->envid[envid.len] = '\0';
    return MQ_OK;
}

static const char *const ret_params[] = {"", " RET=FULL", " RET=HDRS"};

void mq_notify_mail_params(const struct mq_notify *notify, char out[MQ_NOTIFY_PARAMS_ROOM])
{
    size_t n = (size_t)snprintf(out, MQ_NOTIFY_PARAMS_ROOM, "%s%s", ret_params[notify->ret],
                                notify->envid[0] != '\0' ? " ENVID=" : "");
    for (const char *c = notify->envid; *c != '\0'; c++) {
        n +=
            (size_t)snprintf(out + n, MQ_NOTIFY_PARAMS_ROOM - n, is_xchar(*c) ? "%c" : "+%02X", *c);
    }
}

void mq_notify_rcpt_params(const struct mq_notify *notify, char out[MQ_NOTIFY_PARAMS_ROOM])
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < WORDS; i++) {
        if ((notify->when & 1u << i) != 0) {
            n += (size_t)snprintf(out + n, MQ_NOTIFY_PARAMS_ROOM - n, "%s%s",
                                  n == 0 ? " NOTIFY=" : ",", words[i]);
        }
    }
}

/* ---- the column `fields` ---- */

/* Stores the parameters as they are sent, but the envelope's id as given, not in xtext. */
void mq_notify_write(const struct mq_notify *notify, struct mq_buffer *out)
{
    char text[MQ_NOTIFY_PARAMS_ROOM + sizeof notify->envid + 20];
    mq_notify_rcpt_params(notify, text);
    size_t n = strlen(text);
    snprintf(text + n, sizeof text - n, "%s%s%s", ret_params[notify->ret],
             notify->envid[0] != '\0' ? " ENVID=" : "", notify->envid);
    mq_buffer_cstr(out, "{\"" KEY "\":");
    mq_json_string(out, mq_str_trim(mq_str_of(text)));
    mq_buffer_char(out, '}');
}

static enum mq_status read_param(struct mq_notify *notify, struct mq_str value)
{
    struct mq_str name = mq_str_cut_at(&value, '=');
    if (mq_str_equal(name, MQ_STR("RET"))) {
        return mq_notify_set_ret(notify, value, NULL);
    }
    if (mq_str_equal(name, MQ_STR("ENVID"))) {
        return mq_notify_set_envid(notify, value, NULL);
    }
    return mq_str_equal(name, MQ_STR("NOTIFY")) ? mq_notify_set_when(notify, value, NULL)
                                                : MQ_INVALID;
}

static struct mq_notify read_params(struct mq_str params)
{
    struct mq_notify notify = {0};
    enum mq_status status = MQ_OK;
    while (status == MQ_OK && params.len > 0) {
        status = read_param(&notify, mq_str_cut_at(&params, ' '));
    }
    return status == MQ_OK ? notify : (struct mq_notify){0};
}

enum mq_status mq_notify_read(struct mq_str json, struct mq_notify *out, struct mq_error *err)
{
    struct mq_strings pairs = {0};
    struct mq_notify found = {0};
    enum mq_status status = mq_json_read(json, '{', &pairs);
    for (size_t i = 0; i < pairs.count; i += 2) {
        if (strcmp(pairs.items[i], KEY) == 0) {
            found = read_params(mq_str_of(pairs.items[i + 1]));
        }
    }
    mq_strings_clear(&pairs);
    if (status == MQ_NOMEM) {
        return mq_error_nomem(err);
    }
    *out = found;
    return MQ_OK;
}
