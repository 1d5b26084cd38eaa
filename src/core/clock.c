/* The system's clocks and random numbers. */
#include "core/clock.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/hash.h"

#define RANDOM_MAX 128 /* bytes at a time; getentropy() gives up to 256 */

static int64_t read_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t system_now_us(void *context)
{
    (void)context;
    return read_us(CLOCK_REALTIME);
}

static int64_t system_boot_ms(void *context)
{
    (void)context;
#ifdef CLOCK_BOOTTIME
    return read_us(CLOCK_BOOTTIME) / 1000;
#else
    return read_us(CLOCK_MONOTONIC) / 1000; /* other systems count suspended time here */
#endif
}

int64_t mq_clock_monotonic_ms(void)
{
    return read_us(CLOCK_MONOTONIC) / 1000;
}

struct mq_clock mq_clock_system(void)
{
    return (struct mq_clock){system_now_us, system_boot_ms, NULL};
}

/* Replaces getentropy() where a jail or a kernel lacks it. Its bytes are unique to this process and
 * moment, which is enough for tokens and Message-IDs. */
static void from_surroundings(unsigned char *out, size_t n)
{
    static uint64_t counter;
    uint64_t seed = (uint64_t)system_now_us(NULL) ^ (uint64_t)system_boot_ms(NULL) << 40 ^
                    (uint64_t)getpid() << 20 ^ (uint64_t)(uintptr_t)&seed;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = seed + __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED) * 0x9E3779B97F4A7C15;
        out[i] = (unsigned char)(mq_hash_spread(x) >> 56);
    }
}

static void random_bytes(unsigned char *out, size_t n)
{
    if (getentropy(out, n) != 0) {
        from_surroundings(out, n);
    }
}

static double system_unit(void *context)
{
    (void)context;
    uint64_t bits = 0;
    random_bytes((unsigned char *)&bits, sizeof bits);
    return (double)(bits >> 11) * 0x1p-53; /* 53 bits: as many as a double holds */
}

struct mq_random mq_random_system(void)
{
    return (struct mq_random){system_unit, NULL};
}

void mq_random_hex(char *out, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[RANDOM_MAX];
    random_bytes(bytes, n);
    for (size_t i = 0; i < n; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}
