/* The simulated disk: what each file and name would be after a loss of power. */
#include "power_disk.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTOR = 512 };

struct content {
    unsigned char *bytes;
    size_t len;
};

struct change {
    size_t offset; /* of a truncation: the new length */
    size_t len;
    unsigned char *bytes; /* NULL: a truncation */
};

struct inode {
    struct content durable;
    struct change *changes; /* since the last sync */
    size_t count;
    size_t spoilt_from, spoilt_to; /* nothing that is written here reaches the disk */
    struct inode *next;
};

/* A name: [0] is the file that it has on the disk, the last is its file now; NULL: none. */
struct name {
    char *path;
    struct inode **states;
    size_t count;
    struct name *next;
};

static struct {
    struct inode *inodes;
    struct name *names;
} disk;

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void resize(struct content *content, size_t len)
{
    content->bytes = must(realloc(content->bytes, len + 1));
    if (len > content->len)
        memset(content->bytes + content->len, 0, len - content->len);
    content->len = len;
}

static void put(struct content *content, const struct change *change, size_t from, size_t to)
{
    if (change->offset + to > content->len)
        resize(content, change->offset + to);
    memcpy(content->bytes + change->offset + from, change->bytes + from, to - from);
}

static void apply(struct content *content, const struct change *change)
{
    if (change->bytes)
        put(content, change, 0, change->len);
    else if (change->offset < content->len)
        resize(content, change->offset);
}

void disk_lose(struct inode *inode)
{
    for (size_t i = 0; i < inode->count; i++)
        free(inode->changes[i].bytes);
    free(inode->changes);
    inode->changes = NULL;
    inode->count = 0;
}

void disk_spoil(struct inode *inode)
{
    for (size_t i = 0; i < inode->count; i++)
        if (inode->changes[i].bytes &&
            inode->changes[i].offset + inode->changes[i].len > inode->spoilt_to)
            inode->spoilt_to = inode->changes[i].offset + inode->changes[i].len;
    if (inode->spoilt_from == 0)
        inode->spoilt_from = inode->durable.len;
    disk_lose(inode);
}

static void note(struct inode *inode, size_t offset, const void *bytes, size_t len)
{
    struct change *change;

    inode->changes = must(realloc(inode->changes, (inode->count + 1) * sizeof(*change)));
    change = &inode->changes[inode->count++];
    *change = (struct change){.offset = offset, .len = len};
    if (bytes) {
        change->bytes = must(malloc(len + 1));
        memcpy(change->bytes, bytes, len);
    }
}

static struct inode *new_inode(void)
{
    struct inode *inode = must(calloc(1, sizeof(*inode)));

    inode->next = disk.inodes;
    disk.inodes = inode;
    return inode;
}

static void push(struct name *name, struct inode *inode)
{
    name->states = must(realloc(name->states, (name->count + 1) * sizeof(*name->states)));
    name->states[name->count++] = inode;
}

struct inode *disk_inode(const struct name *name)
{
    return name->states[name->count - 1];
}

struct inode *disk_create(struct name *name)
{
    push(name, new_inode());
    return disk_inode(name);
}

void disk_delete(struct name *name)
{
    push(name, NULL);
}

void disk_write(struct inode *inode, size_t offset, const void *bytes, size_t len)
{
    const char *from = bytes;
    size_t before = offset < inode->spoilt_from ? inode->spoilt_from - offset : 0;
    size_t behind = inode->spoilt_to > offset ? inode->spoilt_to - offset : 0;

    if (inode->spoilt_to <= inode->spoilt_from || before >= len || behind == 0) {
        note(inode, offset, bytes, len);
        return;
    }
    if (before > 0)
        note(inode, offset, from, before);
    if (behind < len)
        note(inode, offset + behind, from + behind, len - behind);
}

void disk_truncate(struct inode *inode, size_t len)
{
    if (len <= inode->spoilt_from)
        inode->spoilt_from = inode->spoilt_to = 0;
    note(inode, len, NULL, 0);
}

void disk_sync(struct inode *inode)
{
    for (size_t i = 0; i < inode->count; i++)
        apply(&inode->durable, &inode->changes[i]);
    disk_lose(inode);
}

struct name *disk_name(const char *path)
{
    struct name *name = disk.names;
    FILE *file;

    while (name && strcmp(name->path, path) != 0)
        name = name->next;
    if (name)
        return name;
    name = must(calloc(1, sizeof(*name)));
    name->path = must(strdup(path));
    name->next = disk.names;
    disk.names = name;
    push(name, NULL);
    file = fopen(path, "rb");
    if (file) {
        struct inode *inode = name->states[0] = new_inode();
        struct stat info;

        if (fstat(fileno(file), &info) != 0)
            abort();
        resize(&inode->durable, (size_t)info.st_size);
        if (fread(inode->durable.bytes, 1, inode->durable.len, file) != inode->durable.len)
            abort();
        fclose(file);
    }
    return name;
}

void disk_sync_directory(const char *path)
{
    size_t len = (size_t)(strrchr(path, '/') - path) + 1;

    for (struct name *name = disk.names; name; name = name->next) {
        if (strncmp(name->path, path, len) == 0 && !strchr(name->path + len, '/')) {
            name->states[0] = disk_inode(name);
            name->count = 1;
        }
    }
}

void disk_forget(void)
{
    while (disk.inodes) {
        struct inode *inode = disk.inodes;

        disk.inodes = inode->next;
        disk_lose(inode);
        free(inode->durable.bytes);
        free(inode);
    }
    while (disk.names) {
        struct name *name = disk.names;

        disk.names = name->next;
        free(name->path);
        free(name->states);
        free(name);
    }
}

static uint32_t chance(uint32_t *seed, uint32_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return (*seed >> 4) % below;
}

/* A file may be longer than the data that reached it: the rest is zeros. */
static void apply_torn(struct content *content, const struct change *change, uint32_t *seed)
{
    size_t from = 0;

    if (chance(seed, 2) && change->offset + change->len > content->len)
        resize(content, change->offset + change->len);
    while (from < change->len) {
        size_t to = from + SECTOR - (change->offset + from) % SECTOR;

        if (to > change->len)
            to = change->len;
        if (chance(seed, 2))
            put(content, change, from, to);
        from = to;
    }
}

static void reappear(const char *path, struct inode *inode, uint32_t *seed)
{
    uint32_t kept = *seed ? chance(seed, 101) : 0; /* per cent; the rest is half lost, half torn */
    FILE *file;

    for (size_t i = 0; i < inode->count && *seed; i++) {
        struct change *change = &inode->changes[i];

        if (chance(seed, 100) < kept)
            apply(&inode->durable, change);
        else if (change->bytes && chance(seed, 2))
            apply_torn(&inode->durable, change, seed);
    }
    resize(&inode->durable, inode->durable.len);
    file = must(fopen(path, "wb"));
    if (fwrite(inode->durable.bytes, 1, inode->durable.len, file) != inode->durable.len)
        abort();
    fclose(file);
}

void disk_restore(uint32_t seed)
{
    for (struct name *name = disk.names; name; name = name->next) {
        struct inode *inode = name->states[seed ? chance(&seed, (uint32_t)name->count) : 0];
        char index[4096];

        snprintf(index, sizeof(index), "%s-shm", name->path);
        unlink(index);
        if (inode)
            reappear(name->path, inode, &seed);
        else
            unlink(name->path);
    }
    disk_forget();
}
