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
    }

    /**
     * The queue over the site's own connection: what is enqueued within a transaction of the site
     * is committed with it. Mail of a registration that is gone is deleted.
     */
    public function queue(): MailQueue
    {
        return new MailQueue($this->pdo, orphanCheck: 'registrations.number');
    }

    /**
     * The registration and its mails are committed together. Without the queue it stands alone.
     *
     * @return array{number: string, cancel_key: string}
     */
    public function register(string $name, string $email): array
    {
        $number = date('Y') . '-' . bin2hex(random_bytes(4));
        $key = bin2hex(random_bytes(16));
        $queue = $this->queueIfAny(); // not within the transaction: it may have to make its tables
        $this->pdo->beginTransaction();
        $insert = $this->pdo->prepare('INSERT INTO registrations
            (number, name, email, cancel_key, created_at) VALUES (?, ?, ?, ?, ?)');
        $insert->execute([$number, $name, $email, $key, time()]);
        $this->tryToQueue($queue, $number);
        $this->pdo->commit();
        return ['number' => $number, 'cancel_key' => $key];
    }

    /** Enqueues the mail that the queue could not take. Called by the cron job's bootstrap. */
    public function queueMissing(): void
    {
        $missing = $this->pdo->prepare('SELECT number FROM registrations WHERE queued = 0');
        $missing->execute();
        $queue = $this->queueIfAny();
        foreach ($missing->fetchAll(PDO::FETCH_COLUMN) as $number) {
            $this->pdo->beginTransaction();
            $this->tryToQueue($queue, (string) $number);
            $this->pdo->commit();
        }
    }

    private function queueIfAny(): ?MailQueue
    {
        try {
            return $this->queue();
        } catch (Throwable $e) {
            error_log('no mail queue: ' . $e->getMessage());
            return null;
        }
    }

    /** Within a transaction, which an error leaves as it was. */
    private function tryToQueue(?MailQueue $queue, string $number): void
    {
        try {
            if ($queue !== null && $this->noteQueued($number, true)) {
                $queue->enqueueMany(array_map(static fn (string $type): array => [
                    'reference' => $number, 'type' => $type,
                    'priority' => $type === 'user' ? 10 : 0,
                ], $this->settings['mails']));
            }
        } catch (Throwable $e) {
            if ($this->find($number) === null) {
                throw $e; // a full disk: SQLite has undone the whole transaction
            }
            // The registration stands; the next cron run queues its mails (queueMissing).
            $this->noteQueued($number, false);
            error_log("registration $number: mails not queued yet: " . $e->getMessage());
        }
    }

    /** Whether that changed anything: another process may have been faster. */
    private function noteQueued(string $number, bool $queued): bool
    {
        $update = $this->pdo->prepare(
            'UPDATE registrations SET queued = ? WHERE number = ? AND queued <> ?'
        );
        $update->execute([(int) $queued, $number, (int) $queued]);
        return $update->rowCount() > 0;
    }

    /** @return array{number: string, name: string, email: string, cancel_key: string}|null */
    public function find(string $number): ?array
    {
        $statement = $this->pdo->prepare('SELECT * FROM registrations WHERE number = ?');
        $statement->execute([$number]);
        return $statement->fetch() ?: null;
    }

    /**
     * The same for somebody who has the link from the mail.
     *
     * @return array<string, mixed>|null
     */
    public function findWithKey(string $number, string $key): ?array
    {
        $registration = $this->find($number);
        $fits = $registration !== null && hash_equals($registration['cancel_key'], $key);
        return $fits ? $registration : null;
    }

    /** Deletes a registration. Its waiting mails go with the next run of the worker. */
    public function cancel(string $number): void
    {
        $this->pdo->prepare('DELETE FROM registrations WHERE number = ?')->execute([$number]);
    }
}
