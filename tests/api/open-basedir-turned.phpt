--TEST--
open_basedir: a link that is changed between the check and the opening does not lead outside
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$inside = temp_directory();
$outside = temp_directory();
foreach ([$inside, $outside] as $dir) {
    new MailQueue("$dir/mail.db", journal: 'truncate');
}
symlink("$inside/mail.db", "$inside/link.db");
/* PHP remembers for two minutes where the link led when it checks it: so the link is changed
 * "between" check and opening. */
$opener = new Other(<<<'PHP'
    [, $inside, $outside] = $argv;
    ini_set('open_basedir', $inside);
    $open = function () use ($inside, $outside): void {
        try {
            echo (new MailQueue("$inside/link.db"))->diagnostics()['database'] === "$inside/mail.db" ? 'inside' : 'outside', "\n";
        } catch (MailQueue\DatabaseException $e) {
            echo str_replace([$inside, $outside], ['IN', 'OUT'], $e->getMessage()), "\n";
        }
    };
    $open();
    fgets(STDIN);
    $open();
    PHP, $inside, $outside);
echo $opener->line(), "\n";
symlink("$outside/mail.db", "$inside/next");
rename("$inside/next", "$inside/link.db");
$opener->tell('turned');
echo $opener->end()[0];
?>
--EXPECT--
inside
OUT/mail.db: open_basedir does not allow this file and its directory; add the directory to open_basedir or move the database
