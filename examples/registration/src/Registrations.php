<?php

declare(strict_types=1);

/** The site's own data: people who registered, in SQLite. The queue lives in the same file. */
final class Registrations
{
    private readonly PDO $pdo;

    /** @param array{database: string, mails: list<string>} $settings */
    public function __construct(private readonly array $settings)
    {
        $this->pdo = new PDO('sqlite:' . $settings['database'], null, null, [
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
            PDO::ATTR_TIMEOUT => 5,
        ]);
        $this->pdo->exec('CREATE TABLE IF NOT EXISTS registrations (
            number TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL,
            cancel_key TEXT NOT NULL, created_at INTEGER NOT NULL,
            queued INTEGER NOT NULL DEFAULT 0)');
        // Which job is the one that sends a kind of mail; see mayCompose().
        $this->pdo->exec('CREATE TABLE IF NOT EXISTS registration_mails (
            number TEXT NOT NULL, type TEXT NOT NULL, job INTEGER NOT NULL,
            PRIMARY KEY (number, type))');
    }

    /** The queue in the same file; mail of a registration that is gone is deleted. */
    public function queue(): MailQueue
    {
        return new MailQueue($this->settings['database'], orphanCheck: 'registrations.number');
    }

    /** @return array{number: string, cancel_key: string} */
    public function register(string $name, string $email): array
    {
        $number = date('Y') . '-' . bin2hex(random_bytes(4));
        $key = bin2hex(random_bytes(16));
        $insert = $this->pdo->prepare('INSERT INTO registrations
            (number, name, email, cancel_key, created_at) VALUES (?, ?, ?, ?, ?)');
        $insert->execute([$number, $name, $email, $key, time()]);
        $this->tryToQueue($number);
        return ['number' => $number, 'cancel_key' => $key];
    }

    /**
     * Queues what a failing queue left out. Called by the cron job's bootstrap. A request that is
     * under way at this moment does so itself: only what is older than a minute is looked at.
     */
    public function queueMissing(): void
    {
        $missing = $this->pdo->prepare(
            'SELECT number FROM registrations WHERE queued = 0 AND created_at < ?');
        $missing->execute([time() - 60]);
        foreach ($missing->fetchAll(PDO::FETCH_COLUMN) as $number) {
            $this->tryToQueue((string) $number);
        }
    }

    private function tryToQueue(string $number): void
    {
        try {
            $this->queueMails($number);
        } catch (Throwable $e) {
            // The registration stands; the next cron run queues its mails (queueMissing).
            error_log("registration $number: mails not queued yet: " . $e->getMessage());
        }
    }

    /**
     * One job for each kind of mail. When this stops half-way, queueMissing() does all of it again:
     * a pair (reference, type) that waits is not queued twice, and of one that has been sent the
     * second job is dropped by mayCompose().
     */
    private function queueMails(string $number): void
    {
        $queue = $this->queue();
        foreach (array_diff($this->settings['mails'], $this->begun($number)) as $type) {
            $queue->enqueue(reference: $number, type: $type, priority: $type === 'user' ? 10 : 0);
        }
        $update = $this->pdo->prepare('UPDATE registrations SET queued = 1 WHERE number = ?');
        $update->execute([$number]);
    }

    /** @return list<string> the kinds of mail that a job has begun to send */
    private function begun(string $number): array
    {
        $select = $this->pdo->prepare('SELECT type FROM registration_mails WHERE number = ?');
        $select->execute([$number]);
        return $select->fetchAll(PDO::FETCH_COLUMN);
    }

    /**
     * Notes, before a mail is sent, which job sends it. The first job is the only one, however
     * often the same kind of mail is queued; ids of jobs are never used again.
     */
    public function mayCompose(string $number, string $type, int $job): bool
    {
        $this->pdo->prepare('INSERT INTO registration_mails (number, type, job) VALUES (?, ?, ?)
            ON CONFLICT DO NOTHING')->execute([$number, $type, $job]);
        $select = $this->pdo->prepare(
            'SELECT job FROM registration_mails WHERE number = ? AND type = ?');
        $select->execute([$number, $type]);
        return (int) $select->fetchColumn() === $job;
    }

    /** @return array{number: string, name: string, email: string, cancel_key: string}|null */
    public function find(string $number): ?array
    {
        $statement = $this->pdo->prepare('SELECT * FROM registrations WHERE number = ?');
        $statement->execute([$number]);
        return $statement->fetch() ?: null;
    }

    /** The same for somebody who has the link from the mail. */
    public function findWithKey(string $number, string $key): ?array
    {
        $registration = $this->find($number);
        $fits = $registration !== null && hash_equals($registration['cancel_key'], $key);
        return $fits ? $registration : null;
    }

    /** Deletes a registration. Its waiting mails go with the next run of the worker. */
    public function cancel(string $number): void
    {
        $this->pdo->beginTransaction();
        $this->pdo->prepare('DELETE FROM registrations WHERE number = ?')->execute([$number]);
        $this->pdo->prepare('DELETE FROM registration_mails WHERE number = ?')->execute([$number]);
        $this->pdo->commit();
    }
}
