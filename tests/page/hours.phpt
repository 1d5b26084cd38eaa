--TEST--
The page says which mail waits for its sending hours, in English and German
--EXTENSIONS--
mailqueue
posix
--FILE--
<?php
require __DIR__ . '/page.inc';

$app = temp_directory() . '/app.sqlite';
$queue = new MailQueue($app);
$begin = intdiv(time(), 60) * 60 + 5 * 3600;
$queue->setConfig('mailHours', sprintf('news: %s-%s UTC', gmdate('H:i', $begin), gmdate('H:i', $begin + 60)));
$queue->enqueue(mail_fields(), type: 'news');
$browser = new Browser(serve_page($app, ['HOME' => '/nonexistent']));
$browser->logIn();
$words = static fn(string $element): string => trim(preg_replace('/\s+/', ' ', $browser->text($element)));
foreach (['en', 'de'] as $language) {
    $browser->get("/?language=$language");
    preg_match('/(Waiting for their hours|Warten auf ihre Versandzeit) (news \w+ .+?) Worker/', $words('.facts'), $match);
    echo "$match[1]: ", preg_replace('/[\d.:Z -]{16,}/', ' TIME', $match[2]), "\n";
    $browser->get('/?view=mails');
    echo preg_replace('/\d+/', 'N', implode(preg_match('/in [\w ]+ \(.*?\)/', $words('tbody'), $match) ? $match : [])), "\n";
    $browser->get('/?view=mail&id=1');
    echo implode(preg_match('/(Waits for its sending hours|Wartet auf ihre Versandzeit)/', $words('.facts'), $match) ? [$match[0]] : []), "\n";
}
?>
--EXPECT--
Waiting for their hours: news until TIME
in N h N min (its sending hours)
Waits for its sending hours
Warten auf ihre Versandzeit: news bis TIME
in N h N min (ihre Versandzeit)
Wartet auf ihre Versandzeit
