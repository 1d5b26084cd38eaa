--TEST--
Dots and line ends: the message is stored line by line as it was given
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $envelope = ['envelopeFrom' => 'a@example.org', 'recipients' => ['b@example.org']];

    $pieces = ["\n.\n", "\r.\r", "\r\n.\r\n", "\n.\r\n", "\r\n.\n", "\r.\n", "\n.\r", '.', '..', "\n..\n", "\n.x\n", "\n.\n.\n.\n", "\r\n\r\n.\r\n\r\n"];
    $bodies = [];
    foreach ($pieces as $piece) {
        foreach (['', 'a', 'From here'] as $before) {
            foreach (['', 'b', "MAIL FROM:<x@example.net>\r\n"] as $after) {
                $bodies[] = $before . $piece . $after;
            }
        }
    }
    /* Line ends at every position around the end of a block of 4 KiB and 16 KiB. */
    foreach ([4096, 16384] as $block) {
        for ($i = -6; $i <= 2; $i++) {
            $bodies[] = str_repeat("xxxxxxx\n", intdiv($block + $i, 8)) . str_repeat('y', ($block + $i) % 8) . "\r\n.\r\nafter\n.\n";
        }
    }
    $lines = fn(string $text): array => preg_split('/\r\n|\r|\n/', $text);
    $trim = fn(array $lines): array => end($lines) === '' ? array_slice($lines, 0, -1) : $lines;
    $wrong = 0;
    foreach ($bodies as $body) {
        foreach (['raw', 'fields'] as $way) {
            $id = $way === 'raw' ? $queue->enqueue("Subject: x\r\n\r\n$body", ...$envelope) : $queue->enqueue(mail_fields(text: $body));
            $message = $queue->job($id)->message;
            must(preg_match('/(?<!\r)\n|\r(?!\n)/', $message) === 0, 'every line ends with CRLF');
            [$header, $stored] = explode("\r\n\r\n", $message, 2);
            if (stripos($header, 'quoted-printable') !== false) {
                $stored = quoted_printable_decode($stored);
            } elseif (stripos($header, 'base64') !== false) {
                $stored = base64_decode($stored);
            }
            if ($trim($lines($stored)) !== $trim($lines($body))) {
                $wrong++;
                echo "$way ", json_encode(substr($body, -40)), ' became ', json_encode(substr($stored, -40)), "\n";
            }
        }
    }
    echo count($bodies) * 2, " tried, $wrong wrong\n";
});
?>
--EXPECT--
270 tried, 0 wrong
