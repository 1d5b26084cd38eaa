/* Reads private RSA and Ed25519 keys, and signs and hashes with OpenSSL. */
#include "mime/dkim/dkim_key.h"

#include "mime/dkim/sign.h"

#ifdef MQ_HAVE_OPENSSL

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "core/file_id.h"
#include "core/key_file.h"
#include "mime/dkim/canonical.h"
#include "mime/encode.h"

#define RSA_BITS_MIN 1024 /* RFC 8301, 3.2 */
#define HASH_OCTETS  32

bool mq_dkim_available(void)
{
    return true;
}

static enum mq_status bad_file(struct mq_error *err, const char *file, const char *what)
{
    return mq_error_set(err, MQ_CONFIG, "dkim", "dkim: the key file %s %s", file, what);
}

/* ---- the file ---- */

/* The caller frees *out. */
static enum mq_status open_file(const char *file, BIO **out, struct mq_error *err)
{
    if (mq_file_is_open_database(file)) {
        return bad_file(err, file,
                        "is a database that this process has open; give the file of the "
                        "key");
    }
    /* O_NONBLOCK: do not wait for the other end of a FIFO. */
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return mq_error_set(err, MQ_CONFIG, "dkim",
                            "dkim: the key file %s cannot be opened: %s; the user who sends must "
                            "be able to read it",
                            file, strerror(errno));
    }
    const char *fault = mq_file_key_fault(fd);
    BIO *bio = fault ? NULL : BIO_new_fd(fd, BIO_CLOSE);
    if (!bio) {
        close(fd);
        return fault ? bad_file(err, file, fault) : mq_error_nomem(err);
    }
    *out = bio;
    return MQ_OK;
}

/* ---- the key ---- */

/* OpenSSL calls this for a passphrase. Sets *asked, and does not ask for one on a terminal. */
static int no_passphrase(char *buffer, int size, int writing, void *asked)
{
    (void)buffer;
    (void)size;
    (void)writing;
    *(bool *)asked = true;
    return -1;
}

static const char *unfit(const EVP_PKEY *pkey)
{
    if (EVP_PKEY_is_a(pkey, "ED25519")) {
        return NULL;
    }
    if (!EVP_PKEY_is_a(pkey, "RSA")) {
        return "has a key of another kind; DKIM signs with RSA or Ed25519";
    }
    return EVP_PKEY_get_bits(pkey) < RSA_BITS_MIN
               ? "has an RSA key under 1,024 bits, which receivers ignore; make one of 2,048"
               : NULL;
}

static enum mq_status read_key(const char *file, BIO *bio, EVP_PKEY **out, struct mq_error *err)
{
    bool encrypted = false;
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, &encrypted);
    if (!pkey) {
        return bad_file(err, file,
                        encrypted ? "needs a passphrase; take that off: openssl pkey -in … -out …"
                                  : "has no private key in PEM form; make one with: openssl "
                                    "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048");
    }
    const char *fault = unfit(pkey);
    if (fault) {
        EVP_PKEY_free(pkey);
        return bad_file(err, file, fault);
    }
    *out = pkey;
    return MQ_OK;
}

enum mq_status mq_dkim_key_open(const char *file, EVP_PKEY **out, struct mq_error *err)
{
    BIO *bio = NULL;
    /* PHP code reads the thread's queue of OpenSSL errors, so we remove our errors from it. */
    ERR_set_mark();
    enum mq_status status = open_file(file, &bio, err);
    if (status == MQ_OK) {
        status = read_key(file, bio, out, err);
        BIO_free(bio);
    }
    ERR_pop_to_mark();
    return status;
}

void mq_dkim_key_free(EVP_PKEY *key)
{
    EVP_PKEY_free(key); /* wipes the key from memory */
}

static bool is_ed25519(const EVP_PKEY *key)
{
    return EVP_PKEY_is_a(key, "ED25519");
}

const char *mq_dkim_key_algorithm(const EVP_PKEY *key)
{
    return is_ed25519(key) ? "ed25519-sha256" : "rsa-sha256";
}

/* ---- signing ---- */

/* Call this before ERR_pop_to_mark(), which removes the error. */
static enum mq_status openssl_failed(struct mq_error *err, const char *doing)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return mq_error_set(err, MQ_CONFIG, "dkim",
                        "dkim: OpenSSL failed at %s: %s; see its configuration (openssl.cnf)",
                        doing, reason ? reason : "no reason given");
}

static enum mq_status append_base64(struct mq_buffer *out, const unsigned char *data, size_t len,
                                    struct mq_error *err)
{
    mq_encode_base64_raw(out, (struct mq_str){(const char *)data, len});
    return out->failed ? mq_error_nomem(err) : MQ_OK;
}

/* RFC 6376, 3.3.1; RFC 8463, 3: Ed25519 signs the hash. */
static bool sign(EVP_PKEY *key, struct mq_str text, unsigned char *signature, size_t *len)
{
    unsigned char hash[HASH_OCTETS];
    const unsigned char *data = (const unsigned char *)text.data;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool done = context != NULL;
    if (done && is_ed25519(key)) {
        done = EVP_Digest(data, text.len, hash, NULL, EVP_sha256(), NULL) == 1 &&
               EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
               EVP_DigestSign(context, signature, len, hash, sizeof hash) == 1;
    } else if (done) {
        done = EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
               EVP_DigestSign(context, signature, len, data, text.len) == 1;
    }
    EVP_MD_CTX_free(context);
    return done;
}

enum mq_status mq_dkim_key_sign(EVP_PKEY *key, struct mq_str text, struct mq_buffer *out,
                                struct mq_error *err)
{
    size_t len = (size_t)EVP_PKEY_get_size(key);
    unsigned char *signature = malloc(len);
    if (!signature) {
        return mq_error_nomem(err);
    }
    ERR_set_mark();
    enum mq_status status = sign(key, text, signature, &len)
                                ? append_base64(out, signature, len, err)
                                : openssl_failed(err, "signing");
    ERR_pop_to_mark();
    free(signature);
    return status;
}

struct hashing {
    EVP_MD_CTX *context;
    bool failed;
};

static void hash_piece(void *context, const void *data, size_t len)
{
    struct hashing *hashing = context;
    hashing->failed = hashing->failed || EVP_DigestUpdate(hashing->context, data, len) != 1;
}

enum mq_status mq_dkim_hash_body(struct mq_str body, struct mq_buffer *out, struct mq_error *err)
{
    unsigned char hash[HASH_OCTETS];
    struct hashing hashing = {.context = EVP_MD_CTX_new()};
    if (!hashing.context) {
        return mq_error_nomem(err);
    }
    ERR_set_mark();
    hashing.failed = EVP_DigestInit_ex(hashing.context, EVP_sha256(), NULL) != 1;
    mq_dkim_relax_body(body, hash_piece, &hashing);
    bool done = !hashing.failed && EVP_DigestFinal_ex(hashing.context, hash, NULL) == 1;
    enum mq_status status =
        done ? append_base64(out, hash, sizeof hash, err) : openssl_failed(err, "SHA-256");
    ERR_pop_to_mark();
    EVP_MD_CTX_free(hashing.context);
    return status;
}

#else

#pragma GCC diagnostic ignored "-Wunused-parameter"

bool mq_dkim_available(void)
{
    return false;
}

static enum mq_status cannot(struct mq_error *err)
{
    return mq_error_set(err, MQ_CONFIG, "dkim",
                        "dkim: this build cannot sign; build the extension where OpenSSL 3 and its "
                        "headers are (Debian package: libssl-dev)");
}

enum mq_status mq_dkim_key_open(const char *file, struct evp_pkey_st **out, struct mq_error *err)
{
    return cannot(err);
}

void mq_dkim_key_free(struct evp_pkey_st *key) {}

const char *mq_dkim_key_algorithm(const struct evp_pkey_st *key)
{
    return "";
}

enum mq_status mq_dkim_key_sign(struct evp_pkey_st *key, struct mq_str text, struct mq_buffer *out,
                                struct mq_error *err)
{
    return cannot(err);
}

enum mq_status mq_dkim_hash_body(struct mq_str body, struct mq_buffer *out, struct mq_error *err)
{
    return cannot(err);
}

#endif
