/* Memory, buffers, files and random numbers for the sink. Any failure ends the process. */
#include "sink.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("mq-sink: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(code);
}

void *memory(void *old, size_t size)
{
    void *new = realloc(old, size);
    if (new == NULL) {
        fail(71, "out of memory");
    }
    return new;
}

char *text_copy(const char *text, size_t length)
{
    char *copy = memory(NULL, length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void buffer_add(struct buffer *buffer, const char *data, size_t length)
{
    if (buffer->length + length > buffer->capacity) {
        size_t capacity = buffer->capacity ? buffer->capacity : 512;
        while (capacity < buffer->length + length) {
            capacity *= 2;
        }
        buffer->data = memory(buffer->data, capacity);
        buffer->capacity = capacity;
    }
    if (length > 0) {
        memcpy(buffer->data + buffer->length, data, length);
    }
    buffer->length += length;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

static bool write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n < 0) {
            return false;
        }
        data += n;
        length -= (size_t)n;
    }
    return true;
}

bool file_replace(const char *path, const char *data, size_t length)
{
    char temporary[4096];
    int size = snprintf(temporary, sizeof temporary, "%s.tmp%ld", path, (long)getpid());
    if (size < 0 || (size_t)size >= sizeof temporary) {
        return false;
    }
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        return false;
    }
    bool written = write_all(fd, data, length);
    if (close(fd) != 0 || !written || rename(temporary, path) != 0) {
        unlink(temporary);
        return false;
    }
    return true;
}

int64_t clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* splitmix64: the same --seed gives the same faults in the same order of events. */
uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

int64_t random_in(uint64_t *state, struct range range)
{
    if (range.to <= range.from) {
        return range.from;
    }
    return range.from + (int64_t)(random_next(state) % (uint64_t)(range.to - range.from + 1));
}
