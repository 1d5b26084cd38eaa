--TEST--
The tables in docs/settings.md match the code
--EXTENSIONS--
mailqueue
--FILE--
<?php
$page = file_get_contents(__DIR__ . '/../../docs/settings.md');
preg_match_all('/^\| `([^`]+)`(?:, `[^`]+`)* \| (.*) \|$/m', $page, $found, PREG_SET_ORDER);
$rows = array_column($found, 2, 1);

$code = [];
foreach (MailQueue::configKeys() as $key => $about) {
    $code[$key] = implode(' | ', [$about['type'], str_replace('|', '\|', $about['range']), $about['default'],
        $about['meaning'] . ($about['internal'] ? ' Kept by the queue.' : '')]);
}
foreach ($code as $key => $row) {
    if (($rows[$key] ?? null) !== $row) {
        echo "docs/settings.md, $key:\n  has  ", $rows[$key] ?? 'nothing', "\n  code $row\n";
    }
}
$ini = array_keys(ini_get_all('mailqueue', false));
preg_match_all('/`(mailqueue\.\w+)`/', $page, $named);
echo 'php.ini: ', implode(', ', array_merge(array_diff($ini, $named[1]), array_diff($named[1], $ini))) ?: 'the same', "\n";
preg_match('/`mailqueue.max_message_size` \| bytes \| (\d+)/', $page, $size);
var_dump($size[1] === ini_get('mailqueue.max_message_size'));

// Names of environment variables: the command line's, the log's and the DSNs'.
$files = array_map(static fn(string $name): string => __DIR__ . "/../../$name", ['cli', 'src/php/paths.c', 'src/php/class/queue_construct.c', 'src/php/pdo/server.c', 'web/Options.php']);
$files = [...glob("$files[0]/*.php"), ...glob("$files[0]/*/*.php"), ...array_slice($files, 1)];
$used = implode(array_map(file_get_contents(...), $files));
preg_match_all('/\b(MAILQUEUE_(?!LOADING|PROCESS\b|PAGE_OPTIONS|G\b)[A-Z_]+|MAIL_QUEUE_LOG|DISPATCH_[A-Z]+(?:_[A-Z]+)*|NO_COLOR)\b/', $used, $inCode);
preg_match_all('/`(MAILQUEUE_[A-Z_]+|MAIL_QUEUE_LOG|DISPATCH_[A-Z_]+|NO_COLOR)`/', $page, $inPage);
$difference = array_merge(array_diff(array_unique($inCode[1]), $inPage[1]), array_diff(array_unique($inPage[1]), $inCode[1]));
echo 'environment: ', implode(', ', $difference) ?: 'the same', "\n";
echo 'unknown to the code: ', implode(', ', array_diff(preg_grep('/^mail[A-Z]/', array_keys($rows)), array_keys($code))) ?: 'none', "\n";
?>
--EXPECT--
php.ini: the same
bool(true)
environment: the same
unknown to the code: none
