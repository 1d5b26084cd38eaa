--TEST--
WordPress: the plugin's zip is installed, activated and set up under Settings
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
mbstring
intl
mysqlnd
mysqli
--SKIPIF--
<?php
require __DIR__ . '/bridge.inc';
require __DIR__ . '/wordpress.inc';
echo MailQueueTest\wordpress_missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';
require __DIR__ . '/wordpress.inc';

$site = new WordPress();
$site->page('install');
$site->unpackPlugin();
$database = bridge_database();
$other = bridge_database();
$shown = static fn(string $page): string
    => str_replace([$database, $other, 'loaded, ' . phpversion('mailqueue')], ['DATABASE', 'OTHER', 'loaded, VERSION'], $page) . "\n";

echo $site->page('activate'), "\n";
echo "-- not set up\n", $shown($site->page('admin'));
echo preg_replace('/: set it.*/', '', $site->page('simple')), "\n";
echo "-- wrong paths\n";
foreach (['mail.sqlite', "$site->root/mail.sqlite", "$site->root/wp-content/../mail.sqlite",
    '/nowhere/at/all.sqlite'] as $path) {
    echo $shown($site->page('save', ['form' => ['database' => $path]]));
}
echo "-- WordPress in a directory of the web root\n", $shown($site->page('save', ['form' => ['database' => $database],
    'document_root' => dirname($database)]));
echo "-- a good one\n", $shown($site->page('save', ['form' => ['database' => " $database "]]));
echo $site->page('simple'), "\n";
check('one more waits', waiting($database) === 1);
echo $shown($site->page('admin'));
echo "-- the queue's page\n", $site->page('queue'), "\n";
echo "-- wp-config.php comes first\n";
echo $shown($site->page('admin', ['options' => ['database' => $other]]));
echo preg_replace('/Queue: .*/', 'Queue: …', $shown($site->page('admin', ['options' => ['database' => 'pgsql:host=127.0.0.1;port=1;user=u;password=secret']])));
echo "-- without the extension\n", $shown($site->page('admin', ['extension' => false]));
echo "-- deleted\n", $site->page('uninstall'), "\n";
check('the mail is still there', waiting($database) === 1);
?>
--EXPECT--
mailqueue of this version, needs WordPress 5.7, PHP 8.1
active
-- not set up
Settings: http://www.example.org/wp-admin/options-general.php?page=mailqueue
Database: [] The absolute path of an SQLite file outside of the web root. Empty: the ini setting mailqueue.database.
Extension: loaded, VERSION
Queue: The ini setting mailqueue.database is empty: set it to the path of the SQLite file, or to a server's DSN, in php.ini, or use new MailQueue($path)
can be saved
failed: The ini setting mailqueue.database is empty
false
-- wrong paths
Database: give the absolute path of a file on this server.
[]
Database: this path is below the web root, where anybody could fetch the file.
[]
Database: this path is below the web root, where anybody could fetch the file.
[]
Database: cannot open /nowhere/at/all.sqlite: its directory /nowhere/at: No such file or directory: create it, correct the path, or change its owner or mode
[]
-- WordPress in a directory of the web root
Database: this path is below the web root, where anybody could fetch the file.
[]
-- a good one
{"database":"DATABASE"}
succeeded: ann@example.net
true
ok   one more waits
Settings: http://www.example.org/wp-admin/options-general.php?page=mailqueue
Database: [DATABASE] The absolute path of an SQLite file outside of the web root. Empty: the ini setting mailqueue.database.
Extension: loaded, VERSION
Waiting: 1
Parked: 0
Last run: never: add the cron line of the documentation
can be saved
-- the queue's page
Mails, with its links, without slashes, for admin
-- wp-config.php comes first
Settings: http://www.example.org/wp-admin/options-general.php?page=mailqueue
Database: [OTHER] Set by MAILQUEUE_OPTIONS in wp-config.php.
Extension: loaded, VERSION
Waiting: 0
Parked: 0
Last run: never: add the cron line of the documentation
only shows
Settings: http://www.example.org/wp-admin/options-general.php?page=mailqueue
Database: [pgsql:…] Set by MAILQUEUE_OPTIONS in wp-config.php.
Extension: loaded, VERSION
Queue: …
only shows
-- without the extension
Settings: http://www.example.org/wp-admin/options-general.php?page=mailqueue
Database: [DATABASE] The absolute path of an SQLite file outside of the web root. Empty: the ini setting mailqueue.database.
Extension: not loaded by this PHP: mail is sent directly
can be saved
-- deleted
false
ok   the mail is still there
