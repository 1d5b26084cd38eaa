/* OAuth2 accounts: which files are taken, and the JWT of a client that has a certificate.
 * tests/oauth has the same with servers. */
/* link: -Wl,--wrap=flock,--wrap=mq_clock_monotonic_ms */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ascii.h"
#include "send/factory.h"
#include "send/oauth/account.h"
#include "send/oauth/internal.h"
#include "send/oauth/token_request.h"
#include "send/smtp/connection.h"

#ifdef MQ_HAVE_OPENSSL
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#endif

#define GOOD                                                                         \
    "{\"grant\":\"refresh_token\",\"token_endpoint\":\"https://id.example/token\","  \
    "\"client_id\":\"me\",\"refresh_token\":\"r3fresh\",\"provider\":\"microsoft\"," \
    "\"client_secret\":\"s3cret\"}"

static char directory[] = "/tmp/mq-oauth-XXXXXX";
static struct mq_error err;
static struct mq_strings members;

static int flock_error; /* 0: flock() works */
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
    errno = flock_error;
    return flock_error ? -1 : __real_flock(fd, operation);
}

static int64_t ahead_ms; /* added to the clock */
int64_t __real_mq_clock_monotonic_ms(void);
int64_t __wrap_mq_clock_monotonic_ms(void);

int64_t __wrap_mq_clock_monotonic_ms(void)
{
    return __real_mq_clock_monotonic_ms() + ahead_ms;
}

static const char *path(const char *name)
{
    static char text[512];
    snprintf(text, sizeof text, "%s/%s", directory, name);
    return text;
}

static void put(const char *name, const char *text, mode_t mode)
{
    int fd = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static int make_directory(void **state)
{
    (void)state;
    strcpy(strrchr(directory, '-'), "-XXXXXX");
    return mkdtemp(directory) == NULL;
}

static int remove_directory(void **state)
{
    DIR *listing = opendir(directory);
    struct dirent *entry;
    (void)state;
    while ((entry = readdir(listing)) != NULL) {
        unlink(path(entry->d_name));
    }
    closedir(listing);
    return rmdir(directory);
}

/* ---- the file ---- */

static void refused(const char *name, const char *why)
{
    struct mq_oauth *account = NULL;
    err.text[0] = '\0';
    assert_int_equal(mq_oauth_open(directory, name, &account, &err), MQ_CONFIG);
    assert_null(account);
    assert_string_equal(err.field, "account");
    if (strstr(err.text, why) == NULL) {
        fail_msg("\"%s\" is not in: %s", why, err.text);
    }
    assert_null(strstr(err.text, "r3fresh"));
    assert_null(strstr(err.text, "s3cret"));
}

static void test_file(void **state)
{
    struct mq_oauth *account = NULL;
    (void)state;
    refused("missing", "mailqueue login makes one");
    refused("", "a name has letters");
    refused("../etc", "a name has letters");
    refused(".hidden", "a name has letters");
    refused("-x", "a name has letters");
    put("a.json", GOOD, 0640);
    refused("a", "mode 0640");
    put("a.json", GOOD, 0604);
    refused("a", "chmod it to 0600");
    put("a.json", GOOD, 0600);
    assert_int_equal(link(path("a.json"), "/tmp/mq-oauth-link"), 0);
    refused("a", "hard link");
    unlink("/tmp/mq-oauth-link");
    assert_int_equal(symlink("a.json", path("link.json")), 0);
    refused("link", "symbolic link");
    assert_int_equal(mkfifo(path("fifo.json"), 0600), 0);
    refused("fifo", "regular file");
    if (geteuid() == 0) {
        put("other.json", GOOD, 0600);
        assert_int_equal(chown(path("other.json"), 33, 33), 0);
        refused("other", "belongs to user 33");
    }
    assert_int_equal(mq_oauth_open(directory, "a", &account, &err), MQ_OK);
    assert_null(mq_oauth_token(account));
    assert_false(mq_oauth_is_busy(account));
    mq_oauth_free(account);
    assert_int_equal(mq_oauth_open(NULL, "a", &account, &err), MQ_CONFIG);
}

static void test_members(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "not a JSON object"},
        {"[]", "not a JSON object"},
        {"{\"grant\":\"refresh_token\"}", "token_endpoint or client_id is missing"},
        {"{\"grant\":\"refresh_token\",\"token_endpoint\":\"https://x\",\"client_id\":\"c\"}",
         "no refresh_token"},
        {"{\"grant\":\"password\",\"token_endpoint\":\"https://x\",\"client_id\":\"c\"}",
         "neither"},
        {"{\"grant\":\"client_credentials\",\"token_endpoint\":\"https://x\",\"client_id\":\"c\"}",
         "neither client_secret nor certificate"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put("b.json", bad[i].text, 0600);
        refused("b", bad[i].why);
    }
}

static void test_replace(void **state)
{
    struct mq_oauth_paths paths;
    int lock = -1, second = -1, fd = -1;
    struct stat st;
    (void)state;
    put("c.json", GOOD, 0600);
    put("c.json.new", "left by a process that was killed", 0644);
    assert_int_equal(mq_oauth_paths_of(directory, "c", &paths, &err), MQ_OK);
    assert_int_equal(mq_oauth_file_lock(&paths, &lock, &err), MQ_OK);
    assert_true(lock >= 0);
    assert_int_equal(mq_oauth_file_lock(&paths, &second, &err), MQ_OK);
    assert_int_equal(second, -1);
    flock_error = EINTR; /* as if another had it */
    assert_int_equal(mq_oauth_file_lock(&paths, &second, &err), MQ_OK);
    assert_int_equal(second, -1);
    flock_error = ENOLCK;
    assert_int_equal(mq_oauth_file_lock(&paths, &second, &err), MQ_CONFIG);
    assert_int_equal(second, -1);
    assert_non_null(strstr(err.text, "No locks available"));
    flock_error = 0;
    assert_int_equal(truncate(path("c.json.new"), 4096), 0);
    mq_oauth_file_adopt(&paths, "c");
    assert_int_equal(mq_oauth_file_read(&paths, "c", &members, &err), MQ_OK);
    assert_int_equal(mq_oauth_file_reserve(&paths, &fd, &err), MQ_OK);
    assert_true(mq_oauth_set(&members, "refresh_token", MQ_STR("n\"ew")));
    assert_true(mq_oauth_set(&members, "access_token", MQ_STR("t")));
    assert_int_equal(mq_oauth_file_replace(&paths, fd, &members, &err), MQ_OK);
    mq_oauth_forget(&members);
    assert_int_equal(mq_oauth_file_read(&paths, "c", &members, &err), MQ_OK);
    assert_string_equal(mq_oauth_member(&members, "refresh_token"), "n\"ew");
    assert_string_equal(mq_oauth_member(&members, "provider"), "microsoft");
    assert_int_equal(stat(path("c.json"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(access(path("c.json.new"), F_OK), -1);
    /* No directory to write in: no token is asked for. */
    free(paths.file);
    paths.file = strdup("/nonexistent/c.json");
    assert_int_equal(mq_oauth_file_reserve(&paths, &fd, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "must be able to write"));
    close(lock);
    mq_oauth_forget(&members);
    free(paths.file);
    free(paths.lock);
}

static void put_token(const char *name, const char *token)
{
    char text[512];
    snprintf(text, sizeof text,
             "%.*s,\"access_token\":\"%s\",\"expires_at\":\"99999999999\","
             "\"refresh_at\":\"99999999999\"}",
             (int)strlen(GOOD) - 1, GOOD, token);
    put(name, text, 0600);
}

/* A process was killed while it synced the file with a new token. */
static void test_left(void **state)
{
    struct mq_oauth *account = NULL;
    (void)state;
    put("e.json", GOOD, 0600);
    put_token("e.json.new", "saved");
    assert_int_equal(mq_oauth_open(directory, "e", &account, &err), MQ_OK);
    assert_int_equal(mq_oauth_step(account), MQ_OAUTH_READY);
    assert_string_equal(mq_oauth_token(account), "saved");
    assert_int_equal(access(path("e.json.new"), F_OK), -1);
    mq_oauth_free(account);
}

/* ---- a request under way ---- */

/* Writes an account's file, and listens as its token endpoint. */
static int endpoint_of(const char *name)
{
    char text[512];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    const struct timeval patience = {.tv_sec = 10};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    snprintf(text, sizeof text,
             "{\"grant\":\"refresh_token\",\"client_id\":\"me\",\"refresh_token\":\"r1\","
             "\"token_endpoint\":\"http://127.0.0.1:%d/\"}",
             ntohs(address.sin_port));
    put(name, text, 0600);
    return fd;
}

static void answer_with(int listener, const char *answer)
{
    char text[512];
    int server = accept(listener, NULL, NULL);
    assert_true(read(server, text, sizeof text) > 0);
    assert_int_equal(write(server, answer, strlen(answer)), strlen(answer));
    close(server);
}

/* A server that names a longer time is asked again after a day, not sooner. */
static void test_asked_again(void **state)
{
    struct mq_oauth *account = NULL;
    struct pollfd polled = {.fd = endpoint_of("h.json"), .events = POLLIN};
    (void)state;
    assert_int_equal(mq_oauth_open(directory, "h", &account, &err), MQ_OK);
    mq_oauth_step(account);
    answer_with(polled.fd, "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 172800\r\n"
                           "Content-Length: 0\r\n\r\n");
    assert_int_equal(mq_oauth_wait(account, &err), MQ_TRANSPORT);
    ahead_ms += 3600000;
    assert_int_equal(mq_oauth_step(account), MQ_OAUTH_FAILED);
    assert_int_equal(poll(&polled, 1, 0), 0);
    ahead_ms += 86400000;
    mq_oauth_step(account);
    assert_int_equal(poll(&polled, 1, 1000), 1);
    close(polled.fd); /* ends the request */
    mq_oauth_free(account);
}

/* While the relay is in trouble, no session asks for the token. */
static void test_goes_on(void **state)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 41\r\n\r\n"
                                 "{\"access_token\":\"t\",\"refresh_token\":\"r2\"}";
    struct mq_transport_options options = {.accounts = directory};
    struct mq_connector *connector = NULL;
    struct mq_connect_result none;
    struct mq_dsn dsn;
    (void)state;
    int listener = endpoint_of("g.json");
    const char *relay = "smtp://me@127.0.0.1?auth=oauth2&account=g";
    assert_int_equal(mq_dsn_parse(mq_str_of(relay), &dsn, &err), MQ_OK);
    assert_int_equal(mq_connector_new(&dsn, &options, &connector, &err), MQ_OK);
    assert_false(mq_connector_may_begin(connector, &none));
    answer_with(listener, answer);
    assert_int_equal(mq_connector_shorten(connector, 1000), MQ_OAUTH_STEP_MS);
    for (int i = 0; i < 100 && mq_connector_shorten(connector, 1000) < 1000; i++) {
        poll(NULL, 0, 10);
    }
    struct mq_oauth_paths paths;
    assert_int_equal(mq_oauth_paths_of(directory, "g", &paths, &err), MQ_OK);
    assert_int_equal(mq_oauth_file_read(&paths, "g", &members, &err), MQ_OK);
    assert_string_equal(mq_oauth_member(&members, "refresh_token"), "r2");
    mq_oauth_forget(&members);
    free(paths.file);
    free(paths.lock);
    mq_connector_free(connector);
    mq_dsn_clear(&dsn);
    close(listener);
}

/* ---- a token that is refused ---- */

static void refuse(struct mq_oauth *account, bool again, const char *next)
{
    assert_int_equal(mq_oauth_refused(account, mq_oauth_generation(account)), again);
    assert_null(mq_oauth_token(account));
    put_token("d.json", next); /* by another process */
    assert_int_equal(mq_oauth_step(account), MQ_OAUTH_READY);
    assert_string_equal(mq_oauth_token(account), next);
}

/* A person logs in again after the second refusal, and later a third time. */
static void test_refused(void **state)
{
    struct mq_oauth *account = NULL;
    (void)state;
    put_token("d.json", "first");
    assert_int_equal(mq_oauth_open(directory, "d", &account, &err), MQ_OK);
    assert_int_equal(mq_oauth_step(account), MQ_OAUTH_READY);
    refuse(account, true, "second");
    refuse(account, false, "third");
    refuse(account, false, "fourth");
    mq_oauth_accepted(account, mq_oauth_generation(account));
    refuse(account, true, "fifth");
    mq_oauth_free(account);
}

/* ---- the client's JWT ---- */

#ifdef MQ_HAVE_OPENSSL

static EVP_PKEY *write_certificate(const char *name, EVP_PKEY *key)
{
    X509 *certificate = X509_new();
    assert_non_null(key);
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
    put(name, "", 0600);
    FILE *file = fopen(path(name), "w");
    PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL);
    PEM_write_X509(file, certificate);
    fclose(file);
    X509_free(certificate);
    return key;
}

static enum mq_status assertion(const char *file, struct mq_buffer *out)
{
    mq_oauth_forget(&members);
    assert_true(mq_oauth_set(&members, "certificate", mq_str_of(path(file))));
    assert_true(mq_oauth_set(&members, "client_id", MQ_STR("cl\"ient")));
    assert_true(mq_oauth_set(&members, "token_endpoint", MQ_STR("https://id.example/token")));
    enum mq_status status = mq_oauth_assertion(&members, 1000, out, &err);
    mq_oauth_forget(&members);
    return status;
}

/* Decodes base64url; returns the length. */
static size_t decode(struct mq_str text, unsigned char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned bits = 0, value = 0;
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = strchr(digits, text.data[i]);
        assert_non_null(digit);
        value = value << 6 | (unsigned)(digit - digits);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[n++] = (unsigned char)(value >> bits);
        }
    }
    return n;
}

static size_t to_der(const unsigned char *pair, unsigned char *der)
{
    ECDSA_SIG *signature = ECDSA_SIG_new();
    ECDSA_SIG_set0(signature, BN_bin2bn(pair, 32, NULL), BN_bin2bn(pair + 32, 32, NULL));
    int len = i2d_ECDSA_SIG(signature, &der);
    ECDSA_SIG_free(signature);
    return (size_t)len;
}

static void check_assertion(EVP_PKEY *key, const char *algorithm)
{
    struct mq_buffer jwt = {0};
    unsigned char json[4096], signature[1024], der[1024];
    write_certificate("pair.pem", key);
    assert_int_equal(assertion("pair.pem", &jwt), MQ_OK);
    struct mq_str rest = mq_buffer_view(&jwt);
    struct mq_str header = mq_str_cut_at(&rest, '.');
    struct mq_str claims = mq_str_cut_at(&rest, '.');
    size_t signed_len = header.len + 1 + claims.len;
    json[decode(header, json)] = '\0';
    assert_non_null(strstr((char *)json, algorithm));
    assert_non_null(strstr((char *)json, "\"x5t#S256\":\""));
    json[decode(claims, json)] = '\0';
    assert_non_null(strstr((char *)json, "{\"iss\":\"cl\\\"ient\",\"sub\":\"cl\\\"ient\",\"aud\":"
                                         "\"https://id.example/token\",\"jti\":\""));
    assert_non_null(strstr((char *)json, "\"iat\":1000,\"nbf\":1000,\"exp\":1300}"));
    size_t len = decode(rest, signature);
    bool elliptic = EVP_PKEY_is_a(key, "EC");
    assert_int_equal(len, elliptic ? 64 : 256);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key);
    assert_int_equal(EVP_DigestVerify(context, elliptic ? der : signature,
                                      elliptic ? to_der(signature, der) : len,
                                      (unsigned char *)jwt.data, signed_len),
                     1);
    EVP_MD_CTX_free(context);
    mq_buffer_clear(&jwt);
    EVP_PKEY_free(key);
}

static void test_assertion(void **state)
{
    (void)state;
    check_assertion(EVP_RSA_gen(2048), "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"x5t\":\"");
    for (int i = 0; i < 300; i++) { /* numbers that are shorter than 32 bytes come, too */
        check_assertion(EVP_EC_gen("P-256"), "{\"alg\":\"ES256\",\"typ\":\"JWT\",\"x5t\":\"");
    }
}

static void no_assertion(const char *name, const char *why)
{
    struct mq_buffer jwt = {0};
    assert_int_equal(assertion(name, &jwt), MQ_CONFIG);
    if (strstr(err.text, why) == NULL) {
        fail_msg("\"%s\" is not in: %s", why, err.text);
    }
    mq_buffer_clear(&jwt);
}

static void test_certificates(void **state)
{
    (void)state;
    no_assertion("none.pem", "cannot be opened");
    EVP_PKEY_free(write_certificate("pair.pem", EVP_EC_gen("P-256")));
    chmod(path("pair.pem"), 0644);
    no_assertion("pair.pem", "can be read by all users");
    put("text.pem", "hello\n", 0600);
    no_assertion("text.pem", "no private key");
    EVP_PKEY *key = write_certificate("pair.pem", EVP_EC_gen("P-384"));
    no_assertion("pair.pem", "RSA and EC P-256");
    FILE *file = fopen(path("pair.pem"), "w");
    PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL);
    fclose(file);
    no_assertion("pair.pem", "has no certificate");
    EVP_PKEY_free(key);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_file, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_members, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_replace, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_left, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_goes_on, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_asked_again, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_refused, make_directory, remove_directory),
#ifdef MQ_HAVE_OPENSSL
        cmocka_unit_test_setup_teardown(test_assertion, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_certificates, make_directory, remove_directory),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
