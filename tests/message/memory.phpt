--TEST--
Messages: a large file needs no request memory; a script that ends in between leaks no memory and no descriptor
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') die("skip without PHP's allocator there is no memory_limit");
if (!is_readable('/proc/self/status')) die('skip needs /proc');
?>
--FILE--
<?php
require __DIR__ . '/../lib/servers.inc';
require __DIR__ . '/../lib/queue.inc';

const MIB = 1 << 20;
$path = database();
$large = dirname($path) . '/large.bin';
for ($i = 0; $i < 18; $i++) {
    file_put_contents($large, random_bytes(MIB), FILE_APPEND);
}

/* The peak memory in multiples of the file's size. The limit leaves no room for a copy in PHP's
 * memory. */
$other = new Other(<<<'PHP'
    [, $path, $large] = $argv;
    ini_set('memory_limit', '8M');
    $peak = fn(): int => preg_match('/^VmHWM:\s+(\d+)/m', file_get_contents('/proc/self/status'), $m) ? $m[1] * 1024 : -1;
    $queue = new MailQueue($path);
    $queue->enqueue(['attachments' => ['/etc/passwd']] + mail_fields());
    $before = $peak();
    $mail = ['attachments' => [$large]] + mail_fields();
    echo thrown(fn() => $queue->enqueue($mail, type: str_repeat('x', 65))), "\n"; // composed, but not stored
    echo 'composing: ', ($times = ($peak() - $before) / filesize($large)) < 2.2 ? 'ok' : $times, "\n";
    $queue->enqueue($mail);
    echo 'with storing: ', ($times = ($peak() - $before) / filesize($large)) < 3.2 ? 'ok' : $times, "\n"; // SQLite makes a copy
    echo 'in PHP: ', memory_get_peak_usage(true) <= 4 << 20 ? 'ok' : memory_get_peak_usage(true), "\n";
    PHP, $path, $large);
echo $other->end()[0];

$script = dirname($path) . '/index.php';
file_put_contents($script, '<?php
    require ' . var_export(__DIR__ . '/../lib/queue.inc', true) . ';
    function stop(): string
    {
        return $_GET["how"] === "memory" ? str_repeat("x", 1 << 26) : eval("function same() {} function same() {}");
    }
    final class Ending { public function __toString(): string { return stop(); } }
    final class Stream
    {
        public $context;
        private int $at = 0;
        public function stream_open(): bool { return true; }
        public function stream_eof(): bool { return false; }
        public function stream_stat(): array|false { return false; }
        public function stream_read(int $count): string { return $this->at++ < 500 ? str_repeat("x", $count) : stop(); }
    }
    stream_wrapper_register("mine", "Stream");
    $queue = new MailQueue(' . var_export($path, true) . ', durability: "normal");
    ini_set("memory_limit", "24M");
    $files = array_fill(0, 20, __FILE__);
    $text = str_repeat(str_repeat("x", 63) . "\n", 8192);
    match ($_GET["call"]) {
        "fields" => $queue->enqueue(["attachments" => [...$files, new Ending()]] + mail_fields()),
        "stream" => $queue->enqueue(["attachments" => [...$files, fopen("mine://x", "r")]] + mail_fields()),
        "many" => $queue->enqueueMany((function () use ($text) {
            for ($i = 0; $i < 25; $i++) {
                yield ["message" => mail_fields(text: $text)];
            }
            yield ["message" => ["html" => new Ending()] + mail_fields()];
        })()),
        "envelope" => (function (): array {
            $text = "To: " . implode(",", array_map(fn($i) => "$i@e.org", range(1, 120000))) . "\n\n";
            ini_set("memory_limit", (string) (memory_get_usage(true) + (2 << 20)));
            return MailQueue::envelope($text);
        })(),
    };
    echo "not reached";');
[$address, $pid] = MailQueueTest\web_server(php_command('-d', 'log_errors=0'), [$script], ['PATH' => MailQueueTest\PATH]);
$process = "/proc/$pid";
function request(string $call, string $how): string
{
    global $address;
    $body = file_get_contents("http://$address/?call=$call&how=$how", false, stream_context_create(['http' => ['ignore_errors' => true]]));
    return preg_match('/Allowed memory size|Cannot redeclare/', $body, $m) ? $m[0] : $body;
}
foreach (['fields memory', 'fields code', 'stream memory', 'stream code', 'many memory', 'many code', 'envelope memory'] as $what) {
    $said = [];
    for ($i = 0; $i < 13; $i++) {
        if ($i === 3) {
            $descriptors = count(scandir("$process/fd"));
            preg_match('/^VmRSS:\s+(\d+)/m', file_get_contents("$process/status"), $before);
        }
        $said[request(...explode(' ', $what))] = true;
    }
    preg_match('/^VmRSS:\s+(\d+)/m', file_get_contents("$process/status"), $after);
    $grown = intdiv($after[1] - $before[1], 1024);
    echo "$what: ", implode(', ', array_keys($said)), $grown < 30 ? '' : ", grown by $grown MiB",
        count(scandir("$process/fd")) - $descriptors <= 1 ? '' : ', descriptors left', "\n";
}
$queue = new MailQueue($path);
echo count($queue->jobs()), " stored\n";
?>
--EXPECT--
ValueError: type must have 1 to 64 octets, not 65
composing: ok
with storing: ok
in PHP: ok
fields memory: Allowed memory size
fields code: Cannot redeclare
stream memory: Allowed memory size
stream code: Cannot redeclare
many memory: Allowed memory size
many code: Cannot redeclare
envelope memory: Allowed memory size
2 stored
