--TEST--
The public names, their parameters, types and defaults
--EXTENSIONS--
mailqueue
--FILE--
<?php
$classes = array_filter(
    [...get_declared_classes(), ...get_declared_interfaces()],
    fn($name) => (new ReflectionClass($name))->getExtensionName() === 'mailqueue',
);
sort($classes);
foreach ($classes as $name) {
    $class = new ReflectionClass($name);
    $kind = $class->isEnum() ? 'enum' : ($class->isInterface() ? 'interface' : 'class');
    echo $class->isFinal() ? 'final ' : '', "$kind $name";
    echo $class->getParentClass() ? " extends {$class->getParentClass()->getName()}" : '';
    echo $name === 'MailQueue' ? ' implements ' . implode(', ', $class->getInterfaceNames()) : '', "\n";
    if ($class->isEnum()) {
        foreach ($name::cases() as $case) {
            echo "  $case->name = $case->value\n";
        }
        continue;
    }
    foreach ($class->getProperties(ReflectionProperty::IS_PUBLIC) as $property) {
        if ($property->getDeclaringClass()->getName() === $name) {
            echo '  ', $property->isReadOnly() ? 'readonly ' : '', "{$property->getType()} \${$property->getName()}\n";
        }
    }
    foreach ($class->getMethods() as $method) {
        if ($method->getDeclaringClass()->getName() !== $name) {
            continue;
        }
        $parameters = [];
        foreach ($method->getParameters() as $parameter) {
            $default = '';
            if ($parameter->isDefaultValueAvailable()) {
                $value = $parameter->getDefaultValue();
                $default = ' = ' . ($value instanceof UnitEnum ? $value::class . "::$value->name" : json_encode($value));
            }
            $type = (string) $parameter->getType();
            if (str_contains($type, '|')) {
                $parts = explode('|', $type);
                sort($parts);
                $type = implode('|', $parts);
            }
            $parameters[] = "$type \${$parameter->getName()}$default";
        }
        echo '  ', implode(' ', Reflection::getModifierNames($method->getModifiers())), " {$method->getName()}(",
            implode(', ', $parameters), ')', $method->hasReturnType() ? ": {$method->getReturnType()}" : '', "\n";
    }
}
?>
--EXPECT--
final class MailQueue implements MailQueue\Enqueuer
  public __construct(PDO|string $database, string $table = "mail_queue", string $configTable = "config", string $referenceColumn = "reference", ?string $orphanCheck = null, ?MailQueue\Backoff $backoff = null, ?string $journal = null, string $durability = "full", int $busyTimeout = 5000)
  public static default(): MailQueue
  public enqueue(array|null|object|string $message = null, ?string $reference = null, string $type = "mail", int $priority = 0, DateTimeInterface|int|null $sendAt = null, DateTimeInterface|int|null $expiresAt = null, ?int $maxAttempts = null, ?string $envelopeFrom = null, ?array $recipients = null, ?array $dsn = null, ?string $relay = null, ?string $list = null): ?int
  public enqueueMany(Traversable|array $messages): int
  public static envelope(object|string $message): array
  public claim(int $limit = 1, int $lease = 900): array
  public complete(MailQueue\Job $job): bool
  public release(MailQueue\Job $job): bool
  public renew(MailQueue\Job $job, int $lease = 900): bool
  public fail(MailQueue\Job $job, string $error, bool $permanent = false, ?int $retryAfter = null): bool
  public recoverStuckSending(?int $now = null): int
  public takeTokens(int $wanted): int
  public runWorker(Closure|null|string $transport = null, ?callable $compose = null, int $connections = 10, int $batch = 100, int $lease = 900, ?int $timeLimit = null, ?int $messageLimit = null, int $maxWorkers = 1, int $grace = 30, bool $daemon = false, MailQueue\OnUncertain $onUncertain = MailQueue\OnUncertain::Retry, ?string $log = null, ?callable $onEvent = null, ?string $dkim = null, int $maxBytes = 67108864, bool $verbose = false, ?callable $sign = null, Closure|array|null $relays = null, ?callable $onFinished = null): MailQueue\Report
  public runAfterResponse(int $seconds = 5, int $mails = 20, ?callable $compose = null, ?callable $sign = null, Closure|array|null $relays = null): bool
  public static checkTransport(string $transport, int $lease = 900): string
  public stats(?int $exactUpTo = null): MailQueue\Stats
  public jobs(?MailQueue\Status $status = null, int $limit = 50, int $after = 0, ?string $type = null, ?string $reference = null, ?string $recipient = null, ?string $error = null, ?string $subject = null, ?int $createdBefore = null, bool $uncertain = false, bool $expected = false, ?int $until = null, ?string $campaign = null): array
  public strays(): array
  public job(int $id): ?MailQueue\Job
  public expectedAt(int $id): ?int
  public retryFailed(?array $ids = null, bool $resetAttempts = true): int
  public resend(int $id, ?string $to = null, ?string $instead = null): int
  public countAsSent(array $ids): int
  public hold(array $ids): int
  public delete(array $ids): int
  public suppress(string $address, string $reason = "manual", ?string $scope = null, ?string $source = null): bool
  public unsuppress(string $address, ?string $scope = null, ?string $reason = null): int
  public suppression(string $address): array
  public suppressions(int $limit = 50, int $after = 0, ?string $scope = null, ?string $reason = null): array
  public unsubscribeUrl(string $address, string $list, string $url): string
  public campaign(string $name): MailQueue\Campaign
  public campaigns(int $limit = 50, int $before = 0): array
  public config(string $key): ?string
  public setConfig(string $key, bool|float|int|null|string $value): void
  public migrate(): int
  public diagnostics(): array
  public static configKeys(): array
final class MailQueue\Backoff
  readonly string $policy
  readonly int $maxAttempts
  private __construct()
  public static steps(int $maxAttempts = 10): MailQueue\Backoff
  public static exponential(int $base = 30, int $max = 3600, float $jitter = 0.2, int $maxAttempts = 5): MailQueue\Backoff
  public static fixed(int $delay = 15, int $maxAttempts = 50): MailQueue\Backoff
final class MailQueue\Campaign
  private __construct()
  public setMessage(array $message, string $type = "campaign", int $priority = -10, ?int $maxAttempts = null, ?string $envelopeFrom = null, ?string $relay = null, DateTimeInterface|int|null $expiresAt = null, ?array $dsn = null, ?string $list = null): void
  public add(Traversable|array $recipients, ?callable $onRefused = null): int
  public start(DateTimeInterface|int|null $at = null): void
  public pause(): void
  public resume(): void
  public cancel(): void
  public progress(): array
  public failures(int $limit = 50, int $after = 0): array
  public retryFailed(): int
  public preview(string $address): string
  public test(array $addresses, ?string $as = null): array
class MailQueue\DatabaseException extends MailQueue\Exception
  readonly string $reason
  public __construct(string $message = "", int $code = 0, ?Throwable $previous = null, string $reason = "database")
interface MailQueue\Enqueuer
  abstract public enqueue(array|null|object|string $message = null, ?string $reference = null, string $type = "mail", int $priority = 0, DateTimeInterface|int|null $sendAt = null, DateTimeInterface|int|null $expiresAt = null, ?int $maxAttempts = null, ?string $envelopeFrom = null, ?array $recipients = null, ?array $dsn = null, ?string $relay = null, ?string $list = null): ?int
  abstract public enqueueMany(Traversable|array $messages): int
class MailQueue\Exception extends Exception
final class MailQueue\Internal
  public static describe(string $database): array
  public static tables(string $database, string $table = "mail_queue", string $configTable = "config"): array
  public static connect(string $database): PDO
  public static columns(?MailQueue $queue): array
  public static workers(MailQueue $queue): int
  public static select(MailQueue $queue, string $sql, array $parameters = []): array
  public static jobIds(MailQueue $queue, ?MailQueue\Status $status = null, int $limit = 50, int $after = 0, ?string $type = null, ?string $reference = null, ?string $recipient = null, ?string $error = null, ?string $subject = null, ?int $createdBefore = null, bool $uncertain = false, bool $expected = false, ?int $until = null, ?string $campaign = null): array
  public static campaigns(MailQueue $queue, int $limit, int $before, int $parkedMost): array
  public static eraseHistory(MailQueue $queue, array $ids): void
  public static eraseRecipients(MailQueue $queue, array $ids): void
  public static suppressMany(MailQueue $queue, array $rows, bool $dry = false): int
  public static forgetSuppressed(MailQueue $queue, string $address): int
  public static addressHash(MailQueue $queue, string $address): int
  public static bounce(MailQueue $queue, ?string $address, int $hash, int $event, string $kind, int $least, string $reason, ?string $scope, ?string $source, int $at): string
  public static probe(string $transport): string
  public static oauthRequest(string $endpoint, string $fields, ?string $clientId = null, ?string $clientSecret = null, ?string $cafile = null, ?string $proxy = null): array
  public static fetch(string $url, int $timeoutMs, ?string $cafile = null, ?string $proxy = null): array
  public static accounts(): string
  public static oauthToken(string $account, ?string $refused = null): void
  public static hasSecret(string $transport): bool
  public static helo(string $transport): string
  public static trace(bool $on): string
  public static verdict(string $reply, string $at, string $relay): array
  public static verdictRows(): array
  public static verdictRules(): int
  public static limits(): array
  public static afterResponse(MailQueue $queue, int $seconds, int $mails, ?callable $compose, ?callable $sign, Closure|array|null $relays, bool $isLast): void
  public static hasAcl(string $path): bool
final class MailQueue\Job
  readonly int $id
  readonly ?string $reference
  readonly string $type
  readonly MailQueue\Status $status
  readonly int $priority
  readonly int $attempts
  readonly ?int $maxAttempts
  readonly int $uncertain
  readonly array $uncertainTo
  readonly int $nextAttemptAt
  readonly ?int $expiresAt
  readonly ?int $lockedUntil
  readonly ?string $lockedBy
  readonly ?int $lastAttemptAt
  readonly ?string $lastError
  readonly ?string $parkedFor
  readonly int $createdAt
  readonly ?int $resentOf
  readonly ?int $expectedAt
  readonly ?string $waitsFor
  readonly string $messageId
  readonly ?string $subject
  readonly ?string $envelopeFrom
  readonly ?array $recipients
  readonly array $refused
  readonly ?string $relay
  readonly ?string $message
  private __construct()
class MailQueue\MessageException extends MailQueue\Exception
  readonly string $field
  public __construct(string $message = "", int $code = 0, ?Throwable $previous = null, string $field = "message")
enum MailQueue\OnUncertain
  Retry = retry
  Hold = hold
class MailQueue\RefusedException extends MailQueue\Exception
final class MailQueue\Report
  readonly string $end
  readonly ?string $reason
  readonly ?int $resumeAt
  readonly int $claimed
  readonly int $sent
  readonly int $recipients
  readonly int $tryLater
  readonly int $refused
  readonly int $parked
  readonly int $uncertain
  readonly int $expired
  readonly int $orphans
  readonly int $suppressed
  readonly int $stale
  readonly int $released
  readonly int $recovered
  readonly int $cutOff
  readonly float $seconds
  private __construct()
final class MailQueue\Stats
  readonly int $pending
  readonly int $sending
  readonly int $failed
  readonly int $parked
  readonly int $held
  readonly int $due
  readonly array $estimated
  readonly ?int $oldestWaitingSince
  readonly ?int $nextDueAt
  readonly bool $enabled
  readonly int $limit
  readonly int $burst
  readonly int $reserve
  readonly string $rateMode
  readonly ?float $tokens
  readonly ?int $nextTokenAt
  readonly array $limits
  readonly ?int $emptyIn
  readonly ?int $lastRunAt
  readonly ?int $pausedUntil
  readonly ?string $pauseReason
  readonly ?string $pausedRelay
  readonly ?string $redirectTo
  readonly array $closed
  private __construct()
enum MailQueue\Status
  Pending = pending
  Sending = sending
  Failed = failed
  Parked = parked
  Held = held
class MailQueue\TransportException extends MailQueue\Exception
