/* The file of an OAuth2 account. Replaced as a whole: a process that reads it, or a crash, finds
 * the old tokens or the new ones. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ascii.h"
#include "core/file_id.h"
#include "core/json.h"
#include "send/oauth/internal.h"
#include "send/oauth/token_request.h"

#define NAME_MAX_LENGTH 64
#define FILE_MAX        262144

/* ---- members ---- */

static size_t index_of(const struct mq_strings *members, const char *name)
{
    size_t i = 0;
    while (i + 1 < members->count && strcmp(members->items[i], name) != 0) {
        i += 2;
    }
    return i;
}

const char *mq_oauth_member(const struct mq_strings *members, const char *name)
{
    size_t i = index_of(members, name);
    return i + 1 < members->count && members->items[i + 1][0] != '\0' ? members->items[i + 1]
                                                                      : NULL;
}

int64_t mq_oauth_number(const struct mq_strings *members, const char *name)
{
    const char *text = mq_oauth_member(members, name);
    int64_t number = 0;
    for (; text != NULL && mq_is_digit(*text) && number < INT64_C(100000000000); text++) {
        number = number * 10 + (*text - '0');
    }
    return number;
}

static void wipe(char *text)
{
    explicit_bzero(text, strlen(text));
}

bool mq_oauth_set(struct mq_strings *members, const char *name, struct mq_str value)
{
    size_t i = index_of(members, name);
    if (i + 1 >= members->count) {
        return mq_strings_add(members, mq_str_of(name)) && mq_strings_add(members, value);
    }
    char *copy = mq_str_dup(value);
    if (copy != NULL) {
        wipe(members->items[i + 1]);
        free(members->items[i + 1]);
        members->items[i + 1] = copy;
    }
    return copy != NULL;
}

void mq_oauth_forget(struct mq_strings *members)
{
    for (size_t i = 0; i < members->count; i++) {
        wipe(members->items[i]);
    }
    mq_strings_clear(members);
}

/* ---- names ---- */

static enum mq_status bad(struct mq_error *err, const char *name, const char *what)
{
    return mq_error_set(err, MQ_CONFIG, "account", "account %s: %s", name, what);
}

static bool is_name(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@");
    return len > 0 && len <= NAME_MAX_LENGTH && name[len] == '\0' && name[0] != '.' &&
           name[0] != '-';
}

enum mq_status mq_oauth_paths_of(const char *directory, const char *name,
                                 struct mq_oauth_paths *out, struct mq_error *err)
{
    if (!is_name(name)) {
        return mq_error_set(err, MQ_CONFIG, "account",
                            "account: a name has letters, digits, and - _ . @, at most 64, and "
                            "begins with a letter, a digit, _ or @");
    }
    if (directory == NULL || directory[0] == '\0') {
        return bad(err, name, "no directory for accounts is known; set MAILQUEUE_ACCOUNTS");
    }
    if (asprintf(&out->file, "%s/%s.json", directory, name) < 0) {
        out->file = NULL;
    }
    if (asprintf(&out->lock, "%s/%s.lock", directory, name) < 0) {
        out->lock = NULL;
    }
    return out->file != NULL && out->lock != NULL ? MQ_OK : mq_error_nomem(err);
}

/* ---- reading ---- */

/* O_NONBLOCK: do not wait for the other end of a FIFO. */
static enum mq_status open_file(const struct mq_oauth_paths *paths, const char *name, int *fd,
                                struct mq_error *err)
{
    struct stat st;
    char why[MQ_FILE_WHY];
    *fd = open(paths->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0) {
        bool missing = errno == ENOENT;
        return mq_error_set(err, MQ_CONFIG, "account", "account %s: %s: %s; %s", name, paths->file,
                            errno == ELOOP ? "is a symbolic link" : strerror(errno),
                            missing ? "mailqueue accounts lists those that there are, mailqueue "
                                      "login makes one"
                                    : "the user who sends must be able to read it");
    }
    if (!mq_file_is_own(*fd, why)) {
        return mq_error_set(err, MQ_CONFIG, "account",
                            "account %s: %s %s; chown it to the user who sends, or log in as that "
                            "user",
                            name, paths->file, why);
    }
    if (fstat(*fd, &st) != 0 || (st.st_mode & 077) != 0) {
        return mq_error_set(err, MQ_CONFIG, "account",
                            "account %s: other users can read or write %s (mode %04o); its tokens "
                            "may be known to them: chmod it to 0600, and log in again",
                            name, paths->file, (unsigned)st.st_mode & 07777);
    }
    return MQ_OK;
}

static enum mq_status read_all(int fd, struct mq_buffer *out, struct mq_error *err)
{
    ssize_t n = 1;
    mq_buffer_reserve(out, FILE_MAX);
    while (n > 0 && !out->failed && out->len < FILE_MAX) {
        n = read(fd, out->data + out->len, FILE_MAX - out->len);
        out->len += n > 0 ? (size_t)n : 0;
    }
    return out->failed ? mq_error_nomem(err)
           : n < 0     ? mq_error_set(err, MQ_CONFIG, "account", "cannot read the account: %s",
                                      strerror(errno))
                       : MQ_OK;
}

/* What the file lacks, or NULL. */
static const char *fault_of(const struct mq_strings *members)
{
    const char *grant = mq_oauth_member(members, "grant");
    const char *endpoint = mq_oauth_member(members, "token_endpoint");
    if (grant == NULL || endpoint == NULL || mq_oauth_member(members, "client_id") == NULL) {
        return "grant, token_endpoint or client_id is missing in its file";
    }
    if (strcmp(grant, "refresh_token") == 0) {
        return mq_oauth_member(members, "refresh_token") ? NULL : "its file has no refresh_token";
    }
    if (strcmp(grant, "client_credentials") != 0) {
        return "the grant in its file is neither refresh_token nor client_credentials";
    }
    return mq_oauth_member(members, "client_secret") || mq_oauth_member(members, "certificate")
               ? NULL
               : "its file has neither client_secret nor certificate";
}

static enum mq_status check_members(const struct mq_strings *members, const char *name,
                                    struct mq_error *err)
{
    const char *fault = fault_of(members);
    if (fault != NULL) {
        return mq_error_set(err, MQ_CONFIG, "account",
                            "account %s: %s; log in again with mailqueue login", name, fault);
    }
    const char *endpoint = mq_oauth_member(members, "token_endpoint");
    fault = mq_token_endpoint_fault(endpoint);
    return fault ? mq_error_set(err, MQ_CONFIG, "account", "account %s: the endpoint %.200s %s",
                                name, endpoint, fault)
                 : MQ_OK;
}

enum mq_status mq_oauth_file_read(const struct mq_oauth_paths *paths, const char *name,
                                  struct mq_strings *out, struct mq_error *err)
{
    struct mq_buffer text = {0};
    int fd = -1;
    if (mq_file_is_open_database(paths->file)) {
        return bad(err, name, "its file is a database that this process has open");
    }
    enum mq_status status = open_file(paths, name, &fd, err);
    if (status == MQ_OK) {
        status = read_all(fd, &text, err);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (status == MQ_OK && mq_json_members(mq_buffer_view(&text), out) != MQ_OK) {
        status = bad(err, name, "its file is not a JSON object; log in again");
    }
    if (status == MQ_OK) {
        status = check_members(out, name, err);
    }
    mq_buffer_wipe(&text);
    return status;
}

/* ---- writing ---- */

static enum mq_status cannot_write(struct mq_error *err, const char *path)
{
    return mq_error_set(err, MQ_CONFIG, "account",
                        "cannot write %s: %s; the user who sends must be able to write in that "
                        "directory, where tokens are stored",
                        path, strerror(errno));
}

enum mq_status mq_oauth_file_lock(const struct mq_oauth_paths *paths, int *fd, struct mq_error *err)
{
    *fd = open(paths->lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0) {
        return cannot_write(err, paths->lock);
    }
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0) {
        return MQ_OK;
    }
    enum mq_status status = errno == EWOULDBLOCK || errno == EINTR
                                ? MQ_OK
                                : mq_error_set(err, MQ_CONFIG, "account",
                                               "cannot lock %s: %s; keep accounts on a local disk",
                                               paths->lock, strerror(errno));
    close(*fd);
    *fd = -1;
    return status;
}

/* The name of the new file, malloc'ed. Only the holder of the lock uses it. */
static char *new_name(const struct mq_oauth_paths *paths)
{
    char *name;
    return asprintf(&name, "%s.new", paths->file) < 0 ? NULL : name;
}

/* A file that was not written completely is not valid JSON, so it is not taken. */
void mq_oauth_file_adopt(const struct mq_oauth_paths *paths, const char *name)
{
    const struct mq_oauth_paths left = {.file = new_name(paths)};
    struct mq_strings members = {0};
    if (left.file != NULL && mq_oauth_file_read(&left, name, &members, NULL) == MQ_OK) {
        rename(left.file, paths->file);
    }
    mq_oauth_forget(&members);
    free(left.file);
}

enum mq_status mq_oauth_file_reserve(const struct mq_oauth_paths *paths, int *fd,
                                     struct mq_error *err)
{
    char *name = new_name(paths);
    if (name == NULL) {
        return mq_error_nomem(err);
    }
    enum mq_status status = MQ_OK;
    unlink(name); /* a killed process may have left a piece */
    *fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    errno = *fd < 0 ? errno : posix_fallocate(*fd, 0, FILE_MAX);
    if (*fd < 0 || (errno != 0 && errno != EOPNOTSUPP && errno != EINVAL)) {
        status = cannot_write(err, name);
        if (*fd >= 0) {
            close(*fd);
            unlink(name);
            *fd = -1;
        }
    }
    free(name);
    return status;
}

void mq_oauth_file_discard(const struct mq_oauth_paths *paths, int fd)
{
    char *name = new_name(paths);
    close(fd);
    if (name != NULL) {
        unlink(name);
    }
    free(name);
}

static void write_members(struct mq_buffer *out, const struct mq_strings *members)
{
    for (size_t i = 0; i + 1 < members->count; i += 2) {
        mq_buffer_cstr(out, i == 0 ? "{\n    " : ",\n    ");
        mq_json_string(out, mq_str_of(members->items[i]));
        mq_buffer_cstr(out, ": ");
        mq_json_string(out, mq_str_of(members->items[i + 1]));
    }
    mq_buffer_cstr(out, "\n}\n");
}

static bool write_all(int fd, struct mq_str text)
{
    while (text.len > 0) {
        ssize_t n = write(fd, text.data, text.len);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        text = mq_str_skip(text, n > 0 ? (size_t)n : 0);
    }
    return true;
}

/* Writes the entry of the directory to the disk, too. */
static bool sync_directory(const char *path)
{
    char *directory = strdup(path);
    char *slash = directory ? strrchr(directory, '/') : NULL;
    if (slash != NULL) {
        *slash = '\0';
    }
    int fd = slash != NULL ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool done = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    free(directory);
    return done;
}

enum mq_status mq_oauth_file_replace(const struct mq_oauth_paths *paths, int fd,
                                     const struct mq_strings *members, struct mq_error *err)
{
    struct mq_buffer text = {0};
    char *name = new_name(paths);
    write_members(&text, members);
    if (name == NULL || text.failed) {
        free(name);
        mq_buffer_clear(&text);
        mq_oauth_file_discard(paths, fd);
        return mq_error_nomem(err);
    }
    bool done = ftruncate(fd, (off_t)text.len) == 0 && write_all(fd, mq_buffer_view(&text)) &&
                fsync(fd) == 0 && rename(name, paths->file) == 0;
    enum mq_status status =
        done && sync_directory(paths->file) ? MQ_OK : cannot_write(err, paths->file);
    mq_buffer_wipe(&text);
    free(name);
    if (done) {
        close(fd);
    } else {
        mq_oauth_file_discard(paths, fd);
    }
    return status;
}
