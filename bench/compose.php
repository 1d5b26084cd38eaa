<?php

// Composing, in C without PHP, and Symfony Mime (Debian package php-symfony-mailer) with the same
// mail.

declare(strict_types=1);

namespace Bench;

use Symfony\Component\Mime\Email;

const MIME = '/usr/share/php/Symfony/Component/Mailer/autoload.php';
const ATTACHMENT = 10 << 20;

/** @return array<string, list<float>> numbers by the first word of each line */
function compose_lines(int $repetitions): array
{
    $program = dirname(__DIR__) . '/.build/bench/compose';
    $key = tempnam(sys_get_temp_dir(), 'mq-bench-');
    $make = "openssl genpkey -algorithm ed25519 -out $key";
    exec("$make && " . escapeshellarg($program) . " $repetitions $key", $lines, $code);
    unlink($key);
    if ($code !== 0) {
        throw new \RuntimeException("$program ended with $code");
    }
    $seen = [];
    foreach ($lines as $line) {
        preg_match_all('/\d+(?:\.\d+)?/', $line, $numbers);
        $seen[strtok($line, ' ')] = array_map(floatval(...), $numbers[0]);
    }
    return $seen;
}

function symfony_mail(): Email
{
    $text = str_repeat("Sehr geehrte Damen und Herren, die Übersicht finden Sie im Anhang.\n", 30);
    $html = str_repeat("<p>Sehr geehrte Damen und Herren, die <b>Übersicht</b>.</p>\n", 33);
    return (new Email())->from('Jörg Müller <jm@example.org>')->to('Ann <ann@example.net>')
        ->subject('Ihre Anmeldung: Übersicht der Spiele')->text($text)->html($html);
}

/** Seconds of CPU for one call, the median of several. */
function cpu_of(int $repetitions, callable $once): float
{
    $seen = [];
    for ($i = 0; $i < $repetitions; $i++) {
        $begun = cpu();
        $once();
        $seen[] = cpu() - $begun;
    }
    return median($seen);
}

function bench_compose(Results $results, bool $quick): void
{
    $ours = compose_lines($quick ? 11 : 51);
    $mail = $ours['mail'][0];
    $results->ratio('composing 2 KB of text and of HTML', $mail, atMost: 30, unit: ' µs');
    [$mail, $check] = $ours['campaign'];
    $results->ratio('the same with placeholders, for a recipient', $mail, atMost: 40, unit: ' µs');
    $results->ratio('    checking a recipient', $check, atMost: 10, unit: ' µs');
    $results->ratio('    and signed with Ed25519', $ours['signed'][0], atMost: 100, unit: ' µs');
    foreach (['memory', 'file'] as $from) {
        [$rate, $memory] = $ours[$from];
        $results->ratio("a 10 MB attachment from $from", $rate, atLeast: 300, unit: ' MB/s');
        $results->ratio('    memory that it takes, in sizes of it', $memory, atMost: 2.2);
    }
    if (!is_file(MIME)) {
        fprintf(STDERR, "Symfony Mime is not there: not measured\n");
        return;
    }
    [$mail, $rate] = run(static function () use ($quick): array {
        require_once MIME;
        $mails = static function (): void {
            for ($i = 0; $i < 100; $i++) {
                symfony_mail()->toString();
            }
        };
        $mails();
        $data = str_repeat(random_bytes(1024), ATTACHMENT >> 10);
        $large = static fn(): string => symfony_mail()->attach($data, 'a.bin')->toString();
        $rounds = $quick ? 3 : 9;
        return [cpu_of($rounds, $mails) / 100 * 1e6, ATTACHMENT / cpu_of($rounds, $large) / 1e6];
    });
    $results->ratio('    Symfony Mime: the same mail', $mail, unit: ' µs');
    $results->ratio('    Symfony Mime: the attachment', $rate, unit: ' MB/s');
}
