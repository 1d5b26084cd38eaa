--TEST--
Array messages: the ways to write addresses
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/mime.inc';
$queue = new MailQueue(database());
final class Text
{
    public function __construct(private string $text) {}
    public function __toString(): string { return $this->text; }
}
$ann = 'ann@example.net';
foreach ([
    'one' => $ann,
    'with a name' => "Ann <$ann>",
    'several with commas' => '"Doe, Bob" <bob@example.com>, Ann <ann@example.net>,carl@example.net',
    'a list' => [$ann, 'Bob <bob@example.com>', 'carl@example.net, Dora <dora@example.net>'],
    'a map' => [$ann => 'Ann', 'bob@example.com' => 'Doe, Bob', 'carl@example.net' => null, 'dora@example.net' => ''],
    'a list and a map' => [$ann => 'Ann', 'Bob <bob@example.com>'],
    'entries' => [['address' => $ann, 'name' => 'Änn'], ['name' => 'Bob', 'address' => 'bob@example.com'], ['address' => 'carl@example.net'], ['address' => 'dora@example.net', 'name' => null]],
    'one entry' => ['address' => $ann, 'name' => 'Ann'],
    'Stringables' => [new Text("Ann <$ann>"), 'bob@example.com' => new Text('Bob'), ['address' => new Text('carl@example.net'), 'name' => new Text('Carl')]],
    'one Stringable' => new Text($ann),
    'by reference' => (function () use ($ann) { $x = ['address' => $ann]; $list = [&$x]; $x['name'] = 'Ann'; return $list; })(),
    'other keys' => [7 => $ann, 9 => 'bob@example.com'],
    'equal ones' => [$ann, 'Ann <ann@EXAMPLE.net>', $ann => 'Ann once more'],
    'an IDN' => ['jörg@bücher.example' => 'Jörg', 'büro@bücher.example'],
] as $what => $to) {
    $job = $queue->job($queue->enqueue(['to' => $to] + mail_fields()));
    echo "$what: ", implode(' ', $job->recipients), "\n    ", header_of($job->message, 'To'), "\n";
}

echo "from, cc, bcc, reply_to:\n";
foreach ([
    ['from' => ['club@example.org' => 'Club']],
    ['from' => [['address' => 'club@example.org', 'name' => 'Der Klub']]],
    ['from' => ['Club <club@example.org>'], 'to' => null, 'bcc' => [$ann, 'bob@example.com' => 'Bob']],
    ['to' => [], 'cc' => "$ann, bob@example.com", 'reply_to' => ['answers@example.org' => 'Antworten', 'more@example.org']],
    ['cc' => [], 'bcc' => null, 'reply_to' => []],
] as $fields) {
    $job = $queue->job($queue->enqueue($fields + mail_fields()));
    echo '  ', $job->envelopeFrom, ' → ', implode(' ', $job->recipients);
    foreach (['From', 'To', 'Cc', 'Bcc', 'Reply-To'] as $name) {
        echo header_of($job->message, $name) === null ? '' : " | $name: " . header_of($job->message, $name);
    }
    echo ' | ', strstr($job->messageId, '@'), "\n";
}

echo "wrong:\n";
$count = count($queue->jobs(limit: 1000));
function show(array $fields): string
{
    $shown = json_encode($fields);
    return strlen($shown) > 60 ? substr($shown, 0, 30) . '…' : $shown;
}
foreach ([
    ['from' => []], ['from' => null], ['from' => 7],
    ['to' => null], ['to' => []], ['to' => [null]], ['to' => [$ann, 7]], ['to' => 7.5], ['to' => new stdClass()],
    ['to' => [$ann => 7]], ['to' => [$ann => ['name' => 'Ann']]],
    ['to' => [['adress' => $ann]]], ['to' => [['address' => $ann, 'nmae' => 'x']]], ['to' => [['name' => 'Ann']]], ['to' => [[$ann, 'Ann']]], ['to' => [[]]], ['to' => ['address' => null, 'name' => 'x']],
    ['to' => ['address' => 7]], ['to' => ['a' => ['address' => $ann]]], ['to' => [['address' => $ann, 'name' => 7]]],
    ['to' => array_fill(0, 10001, $ann)], ['cc' => implode(',', array_map(fn($i) => "u$i@example.net", range(1, 10000)))],
] as $fields) {
    echo '  ', show($fields), ' ', thrown(fn() => $queue->enqueue($fields + mail_fields())), "\n";
}
echo "wrong addresses:\n";
foreach ([
    ['from' => ''], ['from' => "$ann, bob@example.com"], ['from' => [$ann, 'bob@example.com']],
    ['to' => ''], ['to' => '  '], ['to' => [$ann, 'x' => null]], ['to' => ['Ann' => $ann]], ['to' => [$ann => "An\nn"]],
    ['to' => [['address' => "Ann <$ann>", 'name' => '']]], ['to' => [['address' => "$ann, bob@example.com"]]], ['cc' => ["Ann <$ann>" => 'Ann']], ['bcc' => [3 => 'nobody']],
    ['reply_to' => 'nobody'], ['to' => "$ann,"], ['to' => "$ann,,bob@example.com"], ['to' => 'all: a@example.net;'], ['to' => '"a b"@example.net'], ['to' => 'ann@b_cher.example'],
] as $fields) {
    echo '  ', show($fields), ' ', refused_field(fn() => $queue->enqueue($fields + mail_fields())), "\n";
}
echo count($queue->jobs(limit: 1000)) - $count, " stored\n";
?>
--EXPECT--
one: ann@example.net
    ann@example.net
with a name: ann@example.net
    Ann <ann@example.net>
several with commas: bob@example.com ann@example.net carl@example.net
    "Doe, Bob" <bob@example.com>, Ann <ann@example.net>, carl@example.net
a list: ann@example.net bob@example.com carl@example.net dora@example.net
    ann@example.net, Bob <bob@example.com>, carl@example.net, Dora <dora@example.net>
a map: ann@example.net bob@example.com carl@example.net dora@example.net
    Ann <ann@example.net>, "Doe, Bob" <bob@example.com>, carl@example.net, dora@example.net
a list and a map: ann@example.net bob@example.com
    Ann <ann@example.net>, Bob <bob@example.com>
entries: ann@example.net bob@example.com carl@example.net dora@example.net
    Änn <ann@example.net>, Bob <bob@example.com>, carl@example.net, dora@example.net
one entry: ann@example.net
    Ann <ann@example.net>
Stringables: ann@example.net bob@example.com carl@example.net
    Ann <ann@example.net>, Bob <bob@example.com>, Carl <carl@example.net>
one Stringable: ann@example.net
    ann@example.net
by reference: ann@example.net
    Ann <ann@example.net>
other keys: ann@example.net bob@example.com
    ann@example.net, bob@example.com
equal ones: ann@example.net
    ann@example.net, Ann <ann@EXAMPLE.net>, Ann once more <ann@example.net>
an IDN: jörg@xn--bcher-kva.example büro@xn--bcher-kva.example
    Jörg <jörg@xn--bcher-kva.example>, büro@xn--bcher-kva.example
from, cc, bcc, reply_to:
  club@example.org → ann@example.net | From: Club <club@example.org> | To: ann@example.net | @example.org>
  club@example.org → ann@example.net | From: Der Klub <club@example.org> | To: ann@example.net | @example.org>
  club@example.org → ann@example.net bob@example.com | From: Club <club@example.org> | To: undisclosed-recipients:; | @example.org>
  club@example.org → ann@example.net bob@example.com | From: Club <club@example.org> | Cc: ann@example.net, bob@example.com | Reply-To: Antworten <answers@example.org>, more@example.org | @example.org>
  club@example.org → ann@example.net | From: Club <club@example.org> | To: ann@example.net | @example.org>
wrong:
  {"from":[]} MailQueue\MessageException [from]: from: missing; give the sender, such as "Name <a@example.org>"
  {"from":null} MailQueue\MessageException [from]: from: missing; give the sender, such as "Name <a@example.org>"
  {"from":7} MailQueue\MessageException [from]: from: must be a string or an array, int given
  {"to":null} MailQueue\MessageException [to]: to: missing; give a recipient, such as "Name <a@example.org>", or a list of them (or cc, or bcc)
  {"to":[]} MailQueue\MessageException [to]: to: missing; give a recipient, such as "Name <a@example.org>", or a list of them (or cc, or bcc)
  {"to":[null]} MailQueue\MessageException [to[0]]: to[0]: must be a string or an array of address and name, null given
  {"to":["ann@example.net",7]} MailQueue\MessageException [to[1]]: to[1]: must be a string or an array of address and name, int given
  {"to":7.5} MailQueue\MessageException [to]: to: must be a string or an array, float given
  {"to":{}} MailQueue\MessageException [to]: to: must be a string or an array, stdClass given
  {"to":{"ann@example.net":7}} MailQueue\MessageException [to[ann@example.net]]: to[ann@example.net]: must be a string, int given
  {"to":{"ann@example.net":{"name":"Ann"}}} MailQueue\MessageException [to[ann@example.net]]: to[ann@example.net]: must be a string, array given
  {"to":[{"adress":"ann@example.net"}]} MailQueue\MessageException [to[0]]: to[0]: unknown key "adress"; known are address and name
  {"to":[{"address":"ann@example.net","nmae":"x"}]} MailQueue\MessageException [to[0]]: to[0]: unknown key "nmae"; known are address and name
  {"to":[{"name":"Ann"}]} MailQueue\MessageException [to[0]]: to[0]: the address is missing; write ['address' => 'a@example.org', 'name' => 'Name']
  {"to":[["ann@example.net","Ann"]]} MailQueue\MessageException [to[0]]: to[0]: unknown key "0"; known are address and name
  {"to":[[]]} MailQueue\MessageException [to[0]]: to[0]: the address is missing; write ['address' => 'a@example.org', 'name' => 'Name']
  {"to":{"address":null,"name":"x"}} MailQueue\MessageException [to]: to: the address is missing; write ['address' => 'a@example.org', 'name' => 'Name']
  {"to":{"address":7}} MailQueue\MessageException [to[address]]: to[address]: must be a string, int given
  {"to":{"a":{"address":"ann@example.net"}}} MailQueue\MessageException [to[a]]: to[a]: must be a string, array given
  {"to":[{"address":"ann@example.net","name":7}]} MailQueue\MessageException [to[0][name]]: to[0][name]: must be a string, int given
  {"to":["ann@example.net","ann@… MailQueue\MessageException [to]: to: 10001 addresses; give at most 10000
  {"cc":"u1@example.net,u2@examp… MailQueue\MessageException [to]: to: 10001 addresses in to, cc and bcc; give at most 10000
wrong addresses:
  {"from":""} from
  {"from":"ann@example.net, bob@example.com"} from
  {"from":["ann@example.net","bob@example.com"]} from
  {"to":""} to
  {"to":"  "} to
  {"to":{"0":"ann@example.net","x":null}} to[x]
  {"to":{"Ann":"ann@example.net"}} to[Ann]
  {"to":{"ann@example.net":"An\nn"}} to[ann@example.net]
  {"to":[{"address":"Ann <ann@example.net>","name":""}]} to[0]
  {"to":[{"address":"ann@example.net, bob@example.com"}]} to[0]
  {"cc":{"Ann <ann@example.net>":"Ann"}} cc[Ann <ann@example.net>]
  {"bcc":{"3":"nobody"}} bcc[3]
  {"reply_to":"nobody"} reply_to
  {"to":"ann@example.net,"} to
  {"to":"ann@example.net,,bob@example.com"} to
  {"to":"all: a@example.net;"} to
  {"to":"\"a b\"@example.net"} to
  {"to":"ann@b_cher.example"} to
0 stored
