--TEST--
mailqueue campaign add: a quote without an end puts no line into another person's mail; numbers stay as they are written
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$app = database();
$queue = new MailQueue($app);
$environment = ['MAILQUEUE_DATABASE' => $app, 'MAIL_QUEUE_LOG' => '/dev/null'];
$import = function (string $content, string ...$command) use ($environment): void {
    $file = temp_directory() . '/list';
    file_put_contents($file, $content);
    [$code, $out, $errors] = cli([...$command, $file], $environment);
    echo "exit $code $out$errors";
};
$add = function (string $name, string $content) use ($queue, $app, $import): void {
    $campaign = $queue->campaign($name);
    $campaign->setMessage(['from' => 'news@example.org', 'subject' => 'x',
        'text' => '{{note|default("-")}}{{#if price}} {{price}}{{/if}}{{#each prices}} {{this}}{{else}}{{/each}}']);
    echo "-- $name\n";
    $import($content, 'campaign', 'add', $name);
    foreach ((new PDO("sqlite:$app"))->query("SELECT address FROM mail_recipient WHERE campaign_id = {$campaign->progress()['id']} ORDER BY id") as [$address]) {
        [$address] = json_decode($address);
        $mail = preg_split('/\R\R/', $campaign->preview($address), 2);
        echo "$address: ", json_encode(rtrim(quoted_printable_decode($mail[1])), JSON_PRESERVE_ZERO_FRACTION), "\n";
    }
};
$head = "address,note\nann@example.net,Ann\n";
$add('a quote up to the end', "{$head}bea@example.net,\"Bea\ncy@example.net,Cy\ndi@example.net,Di\n");
$add('a quote up to the end, without an address', "{$head}bea@example.net,\"Bea\nsecret\n");
$add('a quote up to the next one', "{$head}bea@example.net,\"Bea\ncy@example.net,\"Cy\"\ndi@example.net,Di\n");
$add('several lines', "{$head}bea@example.net,\"two\nlines\"\ncy@example.net,\"two\nlines\"");
$add('a comma without quotes', "{$head}bea@example.net,Muster, Bea\ncy@example.net,Cy,,\n");
$add('a column twice', "address;note;Address\nann@example.net;Ann;Street 1\n");

echo "-- suppress\n";
$import("address,source\nann@example.net,Ann\nbea@example.net,\"Bea\ncy@example.net,Cy\n", 'suppress', 'import');
echo json_encode(array_column($queue->suppressions(), 'source', 'address')), "\n";

$line = fn(string $address, string $fields): string => '{"address": "' . $address . '@example.net", "fields": ' . $fields . "}\n";
$add('numbers', $line('ann', '{"note": 3.00, "price": 12.50}') . $line('bea', '{"note": 1e3, "price": 0.00}') . $line('cy', '{"note": 12345678901234567890123, "prices": [1.10, -0.0, "2.0"]}')
    . '{"fields": {"fields": {"note": 1}, "note": "\\"fields\\": {}}", "price": 7.0}, "name": "\\"fields\\": {\\"price\\": 1}", "address": "di@example.net"}' . "\n"
    . $line('ed', '{"note": 1.}') . $line('fay', '{"note": 01}') . $line('gus', '"text"') . $line('hal', '[1.0]') . $line('ida', '{}') . $line('jo', '{"note": 1, "note": 2}'));

echo "-- values that are references\n";
$person = ['address' => ' eve@example.net ', 'name' => null, 'fields' => ['note' => 'Eve']];
foreach ($person as &$value) {
    $value = is_string($value) ? trim($value) : $value;
}
unset($value);
$referenced = $queue->campaign('numbers');
echo $referenced->add([$person]), ' ', preg_split('/\R\R/', $referenced->preview('eve@example.net'))[1], "\n";

echo "-- the message was set after the recipients\n";
$late = $queue->campaign('late');
$fields = fn(string $text): array => ['from' => 'news@example.org', 'subject' => 'x', 'text' => $text];
$late->setMessage($fields('Hello {{first}}'));
$late->add([['address' => 'ann@example.net', 'fields' => ['first' => 'Ann']]]);
$late->setMessage($fields('Hello {{frist}}'));
echo thrown(fn() => $late->start()), ' ', $late->progress()['state'], "\n";
$late->setMessage($fields('Hi {{first}}'));
$late->start();
echo $late->progress()['state'], "\n";
?>
--EXPECT--
-- a quote up to the end
exit 1 1 added.
Line 3: a quote in it has no end, so the lines after it are a part of it.
ann@example.net: "Ann"
-- a quote up to the end, without an address
exit 1 1 added.
Line 3: a quote in it has no end, so the lines after it are a part of it.
ann@example.net: "Ann"
-- a quote up to the next one
exit 1 2 added.
Line 3: a quote in it has no end, so the lines after it are a part of it.
ann@example.net: "Ann"
di@example.net: "Di"
-- several lines
exit 0 3 added.
ann@example.net: "Ann"
bea@example.net: "two\r\nlines"
cy@example.net: "two\r\nlines"
-- a comma without quotes
exit 1 2 added.
Line 3: it has more cells than the first line: a cell with a comma or a semicolon in it needs quotes.
ann@example.net: "Ann"
cy@example.net: "Cy"
-- a column twice
exit 65 mailqueue: The first line names the column "address" twice: name one of them in another way.
-- suppress
exit 1 1 added.
Line 3: a quote in it has no end, so the lines after it are a part of it.
{"ann@example.net":"Ann"}
-- numbers
exit 1 5 added.
Line 5: this is not a JSON object.
Line 6: this is not a JSON object.
Line 7: fields: byte 1, at "": not a JSON object of UTF-8 text without NUL; correct the value.
Line 8: fields: byte 1, at "": not a JSON object of UTF-8 text without NUL; correct the value.
Line 10: fields: byte 23, at "note": two members have the same name; give it once.
ann@example.net: "3.00 12.50"
bea@example.net: "1e3"
cy@example.net: "12345678901234567890123 1.10 -0.0 2.0"
di@example.net: "\"fields\": {}} 7.0"
ida@example.net: "-"
-- values that are references
1 Eve

-- the message was set after the recipients
MailQueue\MessageException [text]: text: line 1, column 7: the field "frist" is missing; give it, or write {{frist|default("…")}} draft
running
