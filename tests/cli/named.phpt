--TEST--
How the name of a database is printed, and whether a password is in it
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../../cli/Named.php';

use MailQueue\Cli\Named;

foreach (['pgsql:host=db;user=u', 'PGSQL:host=db;password =s3cr;dbname=a', 'pgsql:host=db;password=', ' pgsql:host=db;password=s3cr',
    'PGSQL://u:s3cr@h/db', 'mysql:host=db;pwd=s3cr', 'mysql:host=db;s3cr', 'Postgres://u:s3cr@h/db', 'postgres://h/db', 'odbc:DSN=x;PWD=s3cr',
    '/srv/x.sqlite', 'sqlite:a://b', 'dir:password/x.db', 'pgsq:host=db;password = s3cr', 'x;PWD=s3cr', 'password='] as $text) {
    $named = new Named($text);
    echo "$text -> $named->shown ", json_encode([$named->hasPassword, $named->isServer, $named->path]), "\n";
}
?>
--EXPECT--
pgsql:host=db;user=u -> pgsql:host=db [false,true,null]
PGSQL:host=db;password =s3cr;dbname=a -> pgsql:host=db;dbname=a [true,true,null]
pgsql:host=db;password= -> pgsql:host=db [false,true,null]
 pgsql:host=db;password=s3cr -> pgsql:host=db [true,false," pgsql:host=db;password=s3cr"]
PGSQL://u:s3cr@h/db -> PGSQL: [true,true,null]
mysql:host=db;pwd=s3cr -> mysql: [true,true,null]
mysql:host=db;s3cr -> mysql: [false,true,null]
Postgres://u:s3cr@h/db -> Postgres: [true,false,null]
postgres://h/db -> postgres: [false,false,null]
odbc:DSN=x;PWD=s3cr -> odbc: [true,false,null]
/srv/x.sqlite -> /srv/x.sqlite [false,false,"\/srv\/x.sqlite"]
sqlite:a://b -> sqlite:a://b [false,false,"a:\/\/b"]
dir:password/x.db -> dir:password/x.db [false,false,"dir:password\/x.db"]
pgsq:host=db;password = s3cr -> pgsq:host=db;password =*** [true,false,"pgsq:host=db;password = s3cr"]
x;PWD=s3cr -> x;PWD=*** [true,false,"x;PWD=s3cr"]
password= -> password= [false,false,"password="]
