/* A client's JWT in place of its secret (RFC 7523), signed by OpenSSL: RS256 or ES256 (RFC 7518).
 */
#include "send/oauth/internal.h"

#ifdef MQ_HAVE_OPENSSL

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "core/clock.h"
#include "core/file_id.h"
#include "core/json.h"
#include "core/key_file.h"
#include "mime/encode.h"

/* How long the assertion is valid: it is used at once, but clocks differ. */
#define LIFE_S        300
#define NUMBER_OCTETS 32 /* each of the two numbers of an ES256 signature */

struct signer {
    EVP_PKEY *key;
    X509 *certificate;
    bool elliptic;
};

static enum mq_status bad_file(struct mq_error *err, const char *file, const char *what)
{
    return mq_error_set(err, MQ_CONFIG, "account", "account: the certificate file %s %s", file,
                        what);
}

/* Call this before ERR_pop_to_mark(), which removes the error. */
static enum mq_status openssl_failed(struct mq_error *err, const char *file)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return mq_error_set(err, MQ_CONFIG, "account",
                        "account: OpenSSL cannot sign with %s: %s; see its configuration "
                        "(openssl.cnf)",
                        file, reason ? reason : "no reason given");
}

/* ---- the file ---- */

/* OpenSSL calls this for a passphrase: none is asked for on a terminal. */
static int no_passphrase(char *buffer, int size, int writing, void *context)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

static bool is_p256(const EVP_PKEY *key)
{
    char group[64] = "";
    return EVP_PKEY_is_a(key, "EC") &&
           EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1 &&
           strcmp(group, "prime256v1") == 0;
}

static enum mq_status read_signer(const char *file, BIO *bio, struct signer *out,
                                  struct mq_error *err)
{
    out->key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    if (BIO_seek(bio, 0) < 0) {
        return openssl_failed(err, file);
    }
    out->certificate = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
    if (!out->key || !out->certificate) {
        return bad_file(err, file,
                        out->key ? "has no certificate; put it into the file beside the key"
                                 : "has no private key in PEM form without a passphrase; put it "
                                   "into the file beside the certificate");
    }
    out->elliptic = is_p256(out->key);
    if (!out->elliptic && !EVP_PKEY_is_a(out->key, "RSA")) {
        return bad_file(err, file, "has a key of another kind; RSA and EC P-256 can be used");
    }
    return X509_check_private_key(out->certificate, out->key) == 1
               ? MQ_OK
               : bad_file(err, file, "has a key that is not the certificate's");
}

static enum mq_status open_signer(const char *file, struct signer *out, struct mq_error *err)
{
    if (mq_file_is_open_database(file)) {
        return bad_file(err, file, "is a database that this process has open");
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return mq_error_set(err, MQ_CONFIG, "account",
                            "account: the certificate file %s cannot be opened: %s; the user who "
                            "sends must be able to read it",
                            file, strerror(errno));
    }
    const char *fault = mq_file_key_fault(fd);
    BIO *bio = fault ? NULL : BIO_new_fd(fd, BIO_CLOSE);
    if (bio == NULL) {
        close(fd);
        return fault ? bad_file(err, file, fault) : mq_error_nomem(err);
    }
    enum mq_status status = read_signer(file, bio, out, err);
    BIO_free(bio);
    return status;
}

/* ---- base64url (RFC 7515, 2) ---- */

static void append_base64url(struct mq_buffer *out, const void *data, size_t len)
{
    size_t from = out->len;
    mq_encode_base64_raw(out, (struct mq_str){data, len});
    for (size_t i = from; i < out->len; i++) {
        char *c = &out->data[i];
        *c = (char)(*c == '+' ? '-' : *c == '/' ? '_' : *c);
        if (*c == '=') {
            *c = '\0';
            out->len = i;
        }
    }
}

static void append_part(struct mq_buffer *out, struct mq_buffer *json)
{
    out->failed = out->failed || json->failed;
    append_base64url(out, json->data, json->len);
    mq_buffer_clear(json);
}

/* ---- the two parts ---- */

static bool append_thumbprint(struct mq_buffer *out, const X509 *certificate, const EVP_MD *digest)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    bool done = X509_digest(certificate, digest, hash, &len) == 1;
    append_base64url(out, hash, done ? len : 0);
    return done;
}

/* Servers find the certificate by one of its two thumbprints (RFC 7515, 4.1.7 and 4.1.8). */
static bool append_header(struct mq_buffer *out, const struct signer *signer)
{
    struct mq_buffer json = {0};
    mq_buffer_printf(&json, "{\"alg\":\"%s\",\"typ\":\"JWT\",\"x5t\":\"",
                     signer->elliptic ? "ES256" : "RS256");
    bool done = append_thumbprint(&json, signer->certificate, EVP_sha1());
    mq_buffer_cstr(&json, "\",\"x5t#S256\":\"");
    done = append_thumbprint(&json, signer->certificate, EVP_sha256()) && done;
    mq_buffer_cstr(&json, "\"}");
    append_part(out, &json);
    return done;
}

static void append_claims(struct mq_buffer *out, const struct mq_strings *members, int64_t now_s)
{
    const char *client_id = mq_oauth_member(members, "client_id");
    const char *audience = mq_oauth_member(members, "token_endpoint");
    struct mq_buffer json = {0};
    char id[33];
    mq_random_hex(id, 16);
    mq_buffer_cstr(&json, "{\"iss\":");
    mq_json_string(&json, mq_str_of(client_id));
    mq_buffer_cstr(&json, ",\"sub\":");
    mq_json_string(&json, mq_str_of(client_id));
    mq_buffer_cstr(&json, ",\"aud\":");
    mq_json_string(&json, mq_str_of(audience));
    mq_buffer_printf(&json, ",\"jti\":\"%s\",\"iat\":%lld,\"nbf\":%lld,\"exp\":%lld}", id,
                     (long long)now_s, (long long)now_s, (long long)(now_s + LIFE_S));
    append_part(out, &json);
}

/* ---- signing ---- */

/* OpenSSL makes DER of the two numbers; a JWT has them side by side (RFC 7518, 3.4). */
static bool from_der(const unsigned char *der, size_t len, unsigned char out[2 * NUMBER_OCTETS])
{
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)len);
    bool done =
        pair != NULL && BN_bn2binpad(ECDSA_SIG_get0_r(pair), out, NUMBER_OCTETS) == NUMBER_OCTETS &&
        BN_bn2binpad(ECDSA_SIG_get0_s(pair), out + NUMBER_OCTETS, NUMBER_OCTETS) == NUMBER_OCTETS;
    ECDSA_SIG_free(pair);
    return done;
}

static bool sign(const struct signer *signer, struct mq_str text, struct mq_buffer *out)
{
    size_t len = (size_t)EVP_PKEY_get_size(signer->key);
    unsigned char *signature = malloc(len);
    unsigned char pair[2 * NUMBER_OCTETS];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool done =
        signature && context &&
        EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, signer->key) == 1 &&
        EVP_DigestSign(context, signature, &len, (const unsigned char *)text.data, text.len) == 1;
    if (done && signer->elliptic) {
        done = from_der(signature, len, pair);
    }
    if (done) {
        append_base64url(out, signer->elliptic ? pair : signature,
                         signer->elliptic ? sizeof pair : len);
    }
    EVP_MD_CTX_free(context);
    free(signature);
    return done;
}

static enum mq_status append_jwt(const struct signer *signer, const char *file,
                                 struct mq_buffer *jwt, struct mq_error *err)
{
    struct mq_buffer signature = {0};
    if (!sign(signer, mq_buffer_view(jwt), &signature)) {
        mq_buffer_clear(&signature);
        return openssl_failed(err, file);
    }
    mq_buffer_char(jwt, '.');
    mq_buffer_str(jwt, mq_buffer_view(&signature));
    jwt->failed = jwt->failed || signature.failed;
    mq_buffer_clear(&signature);
    return jwt->failed ? mq_error_nomem(err) : MQ_OK;
}

enum mq_status mq_oauth_assertion(const struct mq_strings *members, int64_t now_s,
                                  struct mq_buffer *out, struct mq_error *err)
{
    const char *file = mq_oauth_member(members, "certificate");
    struct signer signer = {0};
    /* PHP code reads the thread's queue of OpenSSL errors, so we remove our errors from it. */
    ERR_set_mark();
    enum mq_status status = open_signer(file, &signer, err);
    if (status == MQ_OK) {
        bool done = append_header(out, &signer);
        mq_buffer_char(out, '.');
        append_claims(out, members, now_s);
        status = done ? append_jwt(&signer, file, out, err) : openssl_failed(err, file);
    }
    ERR_pop_to_mark();
    EVP_PKEY_free(signer.key);
    X509_free(signer.certificate);
    return status;
}

#else

enum mq_status mq_oauth_assertion(const struct mq_strings *members, int64_t now_s,
                                  struct mq_buffer *out, struct mq_error *err)
{
    (void)now_s;
    (void)out;
    return mq_error_set(err, MQ_CONFIG, "account",
                        "account: this build cannot sign with %s; build the extension where "
                        "OpenSSL 3 and its headers are (Debian package: libssl-dev)",
                        mq_oauth_member(members, "certificate"));
}

#endif
