/* The second process, and the commands that it reads from a socket. */
#include "sqlite_peer.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int first_column(void *context, int count, char **values, char **names)
{
    (void)names;
    snprintf(context, 500, "%s", count > 0 && values[0] ? values[0] : "");
    return 0;
}

static void lock_exclusively(const char *path)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000002, .l_len = 510};
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd < 0 || fcntl(fd, F_SETLK, &lock) != 0)
        _exit(3);
}

static void obey(sqlite3 **handle, char *path, const char *command, char *reply)
{
    reply[0] = '\0';
    if (strncmp(command, "open ", 5) == 0) {
        strcpy(path, command + 5);
        if (sqlite3_open(path, handle) != SQLITE_OK)
            snprintf(reply, 500, "%s", sqlite3_errmsg(*handle));
        sqlite3_busy_timeout(*handle, 2000);
    } else if (strcmp(command, "close") == 0) {
        sqlite3_close(*handle);
        *handle = NULL;
    } else if (strncmp(command, "hold ", 5) == 0) {
        usleep((useconds_t)atoi(command + 5) * 1000);
        sqlite3_exec(*handle, "COMMIT", NULL, NULL, NULL);
    } else if (strcmp(command, "lock") == 0) {
        lock_exclusively(path);
    } else if (strcmp(command, "exit") == 0) {
        _exit(0);
    } else if (sqlite3_exec(*handle, command, first_column, reply, NULL) != SQLITE_OK) {
        snprintf(reply, 500, "%s", sqlite3_errmsg(*handle));
    }
}

static void serve(int fd)
{
    sqlite3 *handle = NULL;
    char path[1024] = "";
    char command[1024];
    char reply[512];

    for (;;) {
        ssize_t got = recv(fd, command, sizeof(command) - 1, 0);

        if (got <= 0)
            _exit(0);
        command[got] = '\0';
        obey(&handle, path, command, reply);
        if (send(fd, reply, strlen(reply) + 1, 0) < 0)
            _exit(0);
    }
}

static void peer_start(struct peer *peer)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    peer->pid = fork();
    assert_true(peer->pid >= 0);
    if (peer->pid == 0) {
        close(fds[0]);
        alarm(600); /* hundreds of syncs, and a disk may take 50 ms for each */
        serve(fds[1]);
    }
    close(fds[1]);
    peer->fd = fds[0];
}

const char *peer_wait(struct peer *peer)
{
    ssize_t got = recv(peer->fd, peer->reply, sizeof(peer->reply) - 1, 0);

    peer->reply[got > 0 ? got : 0] = '\0';
    return peer->reply;
}

static void tell(struct peer *peer, const char *format, va_list arguments)
{
    char command[1024];

    vsnprintf(command, sizeof(command), format, arguments);
    assert_true(send(peer->fd, command, strlen(command), MSG_NOSIGNAL) > 0);
}

void peer_tell(struct peer *peer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(peer, format, arguments);
    va_end(arguments);
}

const char *peer_ask(struct peer *peer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(peer, format, arguments);
    va_end(arguments);
    return peer_wait(peer);
}

const char *peer_see(struct scene *scene, const char *sql)
{
    static char seen[512];

    peer_ask(&scene->peer, "open %s", scene->path);
    snprintf(seen, sizeof(seen), "%s", peer_ask(&scene->peer, "%s", sql));
    peer_ask(&scene->peer, "close");
    return seen;
}

int scene_setup(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    if (!scene)
        return -1;
    strcpy(scene->directory, "/tmp/mq-sqlite-XXXXXX");
    if (!mkdtemp(scene->directory))
        return -1;
    snprintf(scene->path, sizeof(scene->path), "%s/queue.sqlite", scene->directory);
    peer_start(&scene->peer);
    *state = scene;
    return 0;
}

int scene_teardown(void **state)
{
    struct scene *scene = *state;
    char command[128];

    if (scene->db)
        scene->db->driver->close(scene->db);
    close(scene->peer.fd);
    waitpid(scene->peer.pid, NULL, 0);
    snprintf(command, sizeof(command), "rm -rf '%s'", scene->directory);
    if (system(command) != 0)
        return -1;
    free(scene);
    return 0;
}

enum mq_status run_sql(struct mq_db *db, const char *sql, struct mq_error *err)
{
    return mq_db_exec(db, &(struct mq_query){.slot = -1, .sql = sql}, err);
}

void scene_open(struct scene *scene, const char *journal)
{
    struct mq_sqlite_options options = {
        .path = scene->path, .journal = journal, .busy_timeout_ms = 300};

    assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_OK);
    assert_string_equal(mq_sqlite_journal(scene->db), journal);
    assert_int_equal(mq_db_script(scene->db, "CREATE TABLE IF NOT EXISTS t (a TEXT)", &scene->err),
                     MQ_OK);
}

enum mq_status scene_store(struct scene *scene, const char *value)
{
    struct mq_value param = mq_text(mq_str_of(value));
    enum mq_status status = scene->db->driver->begin(scene->db, &scene->err);

    if (status != MQ_OK)
        return status;
    status = mq_db_exec(
        scene->db,
        &(struct mq_query){
            .slot = 0, .sql = "INSERT INTO t VALUES (?1)", .params = &param, .param_count = 1},
        &scene->err);
    if (status == MQ_OK)
        status = scene->db->driver->commit(scene->db, &scene->err);
    if (status != MQ_OK)
        scene->db->driver->rollback(scene->db);
    return status;
}

const char *value_of(struct mq_db *db, const char *sql)
{
    static char text[256];
    struct mq_value value = mq_null();
    struct mq_error err;
    struct mq_row row = {&value, 1, false};
    enum mq_status status = mq_db_row(db, &(struct mq_query){.slot = -1, .sql = sql}, &row, &err);

    if (status != MQ_OK)
        snprintf(text, sizeof(text), "%s: %.200s", mq_status_name(status), err.text);
    else if (value.type == MQ_INT)
        snprintf(text, sizeof(text), "%lld", (long long)value.i);
    else
        snprintf(text, sizeof(text), "%.*s", (int)value.s.len, value.s.len ? value.s.data : "");
    mq_db_finish(db);
    return text;
}

void read_whole(const char *path)
{
    char bytes[4096];
    int fd;

    /* From 3.51 on, SQLite notices that it has lost its locks, and handles that itself. */
    if (sqlite3_libversion_number() >= 3051000)
        skip();
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    while (read(fd, bytes, sizeof(bytes)) > 0)
        continue;
    close(fd);
}

void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    ssize_t got;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(in >= 0 && out >= 0);
    while ((got = read(in, bytes, sizeof(bytes))) > 0)
        assert_int_equal(write(out, bytes, (size_t)got), got);
    close(in);
    close(out);
}

bool exists(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0;
}
