/* A machine that loses its power, for the tests of the SQLite driver: a VFS before SQLite's own
 * that knows what is on the disk.
 *
 * As pessimistic as POSIX: what was written to a file is on the disk with a sync of that file, and
 * a name (or that it is gone) with a sync of the directory. SQLite syncs the directory with the
 * first sync of a journal or WAL that it opened to be created, and with a deletion that asks for
 * it; the sync of a new database does not. Nothing is really synced, so that tests are quick. One
 * process, one thread. */
#ifndef MQ_TESTS_POWER_VFS_H
#define MQ_TESTS_POWER_VFS_H

#include <stdbool.h>
#include <stdint.h>

enum power_kind { POWER_MAIN, POWER_JOURNAL, POWER_WAL, POWER_KINDS };

struct power_counts {
    int syncs[POWER_KINDS];
    int directories;
    int operations; /* writes, truncations, syncs, deletions */
};

/* Makes it the default; false: failed. */
bool power_install(void);
/* To be called while no file is open, like the next two. */
void power_uninstall(void);
/* The present contents are on the disk; counts start again, and the power is on. */
void power_settle(void);
/* Leaves what the disk has when the power comes back. Seed 0: nothing that was not synced;
 * otherwise each write is there, missing or partly there (sectors of 512 bytes), and each name is
 * there or not, by chance. */
void power_restore(uint32_t seed);

/* The power goes off at the n-th operation from now (1: the next one), which has no effect. From
 * then on every operation and every opening fails. */
void power_off_at(int operation);
void power_off(void);
bool power_is_off(void);
/* The next `count` syncs of such files fail. `lost`: later syncs do not write that data either, as
 * on Linux, which marks pages clean when writing them failed; nor later data at the same position,
 * as on ext4 where the file was to grow. */
void power_fail_syncs(enum power_kind kind, int count, bool lost);
/* The n-th operation from now fails with EIO and has no effect; reads and openings count, too. With
 * `lasting` all later ones fail as well, until power_heal(). A sync of a WAL loses its data then,
 * as above. */
void power_fail_at(int operation, bool lasting);
bool power_has_failed(void); /* whether that operation was reached */
void power_heal(void);
/* Called at the beginning of each sync, except syncs within it; NULL: not called any more. */
void power_on_sync(void (*hook)(void *context, enum power_kind kind), void *context);
const struct power_counts *power_counted(void);

#endif
