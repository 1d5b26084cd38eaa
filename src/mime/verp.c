/* A token is, in base32 (RFC 4648, section 6) in lower case, because some servers change the case
 * of a local part: the version (1), the day (2 octets, since 1970), the hash (8 octets), and a MAC
 * of 9 octets. The MAC is HMAC-SHA256 over 'b', which keeps it apart from that of other tokens, and
 * the octets before it. */
#include "mime/verp.h"

#include <string.h>

#include "core/clock.h"
#include "core/hmac.h"

#define VERSION     1
#define TEXT_OCTETS 11 /* version, day, hash */
#define MAC_OCTETS  9
#define PURPOSE     'b'
#define LOCAL_MAX   64

_Static_assert((TEXT_OCTETS + MAC_OCTETS) * 8 == MQ_VERP_TOKEN * 5, "a token needs no padding");

/* Returns the part before the *; data NULL: no * stands before the @. */
static struct mq_str before_star(struct mq_str sender)
{
    size_t at = sender.len;
    while (at > 0 && sender.data[at - 1] != '@') {
        at--;
    }
    bool has = at >= 2 && sender.data[at - 2] == '*';
    return has ? (struct mq_str){sender.data, at - 2} : (struct mq_str){NULL, 0};
}

bool mq_verp_asks(struct mq_str sender)
{
    struct mq_str begin = before_star(sender);
    return begin.data && begin.len <= LOCAL_MAX - MQ_VERP_TOKEN;
}

enum mq_status mq_verp_check(struct mq_str sender, const char *field, struct mq_error *err)
{
    return !before_star(sender).data || mq_verp_asks(sender)
               ? MQ_OK
               : mq_error_set(
                     err, MQ_MESSAGE, field,
                     "%s: a token of %d octets takes the place of the *, so at most %d can "
                     "be before it; write a shorter name, as bounces+*@example.org",
                     field, MQ_VERP_TOKEN, LOCAL_MAX - MQ_VERP_TOKEN);
}

static void write_base32(const unsigned char *octets, size_t count, struct mq_buffer *out)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned bits = 0;
    int have = 0;
    for (size_t i = 0; i < count; i++) {
        bits = bits << 8 | octets[i];
        for (have += 8; have >= 5; have -= 5) {
            mq_buffer_char(out, digits[bits >> (have - 5) & 31]);
        }
    }
}

static void write_token(const unsigned char *key, const struct mq_verp *to, struct mq_buffer *out)
{
    unsigned char text[1 + TEXT_OCTETS + MAC_OCTETS] = {PURPOSE, VERSION}, mac[MQ_HMAC_OCTETS];
    int64_t day = to->at_s / MQ_DAY_S;
    text[2] = (unsigned char)(day >> 8);
    text[3] = (unsigned char)day;
    for (int i = 0; i < 8; i++) {
        text[4 + i] = (unsigned char)(to->hash >> (56 - 8 * i));
    }
    mq_hmac_sha256((struct mq_str){(const char *)key, MQ_VERP_KEY},
                   (struct mq_str){(const char *)text, 1 + TEXT_OCTETS}, mac);
    memcpy(text + 1 + TEXT_OCTETS, mac, MAC_OCTETS);
    write_base32(text + 1, TEXT_OCTETS + MAC_OCTETS, out);
}

void mq_verp_write(const unsigned char key[MQ_VERP_KEY], struct mq_str sender,
                   const struct mq_verp *to, struct mq_buffer *out)
{
    struct mq_str begin = before_star(sender);
    mq_buffer_str(out, begin);
    if (to) {
        write_token(key, to, out);
    } else {
        mq_buffer_cstr(out, "many");
    }
    mq_buffer_append(out, begin.data + begin.len + 1, sender.len - begin.len - 1);
}
