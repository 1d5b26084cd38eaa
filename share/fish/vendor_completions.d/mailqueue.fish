# Completion of mailqueue for fish. tools/share writes this file.
set -l commands work status health stats metrics list show log retry resend uncertain hold delete forget suppress campaign bounce bounces config page send sendmail mailq login logout accounts migrate adopt migrate-store verdict doctor
complete -c mailqueue -f
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a work -d 'Send what is due'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a status -d 'Show how many mails have each status'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a health -d 'Print one line for a monitoring program'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a stats -d 'Show what happened to mail by hour'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a metrics -d 'Print the queue\'s figures in Prometheus\' text format'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a list -d 'List mails in the order of their ids'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a show -d 'Show one mail'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a log -d 'Show what the workers logged about mail'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a retry -d 'Bring failed mail back'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a resend -d 'Send a mail again as a new one'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a uncertain -d 'List mail that may have arrived'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a hold -d 'Park waiting mail'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a delete -d 'Delete mail that is not being sent'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a forget -d 'Erase what the queue knows of an address'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a suppress -d 'Addresses that get no mail'
complete -c mailqueue -n '__fish_seen_subcommand_from suppress' -f -a 'add remove list import export'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a campaign -d 'One message for many recipients'
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -f -a 'create add start pause resume cancel status failures retry preview test'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a bounce -d 'Read a bounce or a complaint from standard input'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a bounces -d 'Read bounces and complaints from a mailbox'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a config -d 'Show the settings in the database'
complete -c mailqueue -n '__fish_seen_subcommand_from config' -f -a 'mailQueueEnabled mailMaxPerHour mailBurst mailReserve mailLimits mailDomainSessions mailRateMode mailRedirectTo mailRedirectToSchumbi mailRedirectTypes mailLiveFrom mailLiveUntil mailWarmup mailHours mailSlowdown mailHistoryDays mailStaleAfter mailMaxWorkers mailTokens mailLastRefill mailRelayPause mailRelayPipelining mailRelayRoutes mailSlowDomains mailHoursKept mailLastRun mailSuppressed mailSuppressionKey mailCampaigns mailQueueMovedTo mailQueueMovedFrom mailSchemaVersion mailQueueAdopted'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a page -d 'Print the PHP file that shows the queue in a browser'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a send -d 'Send one mail now'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a sendmail -d 'Queue the message on standard input'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a mailq -d 'List the queue in the form of mailq'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a login -d 'Log in to a provider of mail'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a logout -d 'Forget an account'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a accounts -d 'List the OAuth2 accounts'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a migrate -d 'Create the database where it is missing'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a adopt -d 'Make another program\'s mail table the queue\'s'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a migrate-store -d 'Move the queue into another database'
complete -c mailqueue -n '__fish_seen_subcommand_from migrate-store' -F
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a verdict -d 'Say what a relay\'s reply means'
complete -c mailqueue -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'Find what could go wrong'
complete -c mailqueue -l database -d 'the SQLite file' -r -F
complete -c mailqueue -l table -d 'the queue\'s table' -r -f
complete -c mailqueue -l config-table -d 'the key/value table for settings' -r -f
complete -c mailqueue -l reference-column -d 'the column for references' -r -f
complete -c mailqueue -l orphan-check -d 'delete waiting mail whose reference is not found there' -r -f
complete -c mailqueue -l backoff -d 'when failed mail is tried again' -r -f -a 'steps fixed exponential'
complete -c mailqueue -l bootstrap -d 'a PHP file' -r -F
complete -c mailqueue -l json -d 'print JSON'
complete -c mailqueue -l help -d 'print this'
complete -c mailqueue -l version -d 'print the version'
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l transport -d 'where mail goes' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l relays -d 'a PHP file that returns which relay gets a mail' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l dkim -d 'sign with this private key' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l verdicts -d 'a file with rules for what replies of relays mean' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l accounts -d 'the directory of OAuth2 accounts' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l time-limit -d 'claim nothing more after this long' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l message-limit -d 'send at most N mails' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l connections -d 'at most N sessions' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l batch -d 'mails per claim' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l max-bytes -d 'bytes of messages in memory' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l lease -d 'how long a claim holds before it can be taken back' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l workers -d 'how many may run at a time' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l processes -d 'run N workers side by side' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l grace -d 'how long mails that are being sent have after SIGTERM' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l on-uncertain -d 'if nobody knows whether the relay took it' -r -f -a 'retry hold'
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l verbose -d 'log what is sent with its subject'
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l log -d 'the JSON-lines log' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l daemon -d 'wait for more mail instead of ending'
complete -c mailqueue -n '__fish_seen_subcommand_from work' -l quiet -d 'for cron'
complete -c mailqueue -n '__fish_seen_subcommand_from health' -l max-age -d 'how long mail may be due' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from health' -l max-silence -d 'how long no worker may have run while mail is due' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from health' -l max-parked -d 'how many mails may be parked' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from stats' -l by -d 'what a line is about' -r -f -a 'hour day type relay'
complete -c mailqueue -n '__fish_seen_subcommand_from stats' -l since -d 'how far to look back' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from list' -l status -d 'only mail that is pending' -r -f -a 'pending sending failed parked held'
complete -c mailqueue -n '__fish_seen_subcommand_from list' -l type -d 'only mail of this type' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from list' -l reference -d 'only mail with this reference' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from list' -l recipient -d 'only mail to an address with this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from list' -l error -d 'only mail whose last error has this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from list' -l subject -d 'only mail whose subject has this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from list' -l campaign -d 'only mail of this campaign' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from list' -l older -d 'only mail that was enqueued before 90m' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from list' -l limit -d 'at most N' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from list' -l after -d 'only higher ids' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from show' -l message -d 'with the message itself'
complete -c mailqueue -n '__fish_seen_subcommand_from log' -l reference -d 'only about mail with this reference' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from log' -l id -d 'only about this mail' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from log' -l since -d 'only since then' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from log' -l limit -d 'show the last N lines' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from log' -l log -d 'the log' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l status -d 'only mail that is pending' -r -f -a 'pending sending failed parked held'
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l type -d 'only mail of this type' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l reference -d 'only mail with this reference' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l recipient -d 'only mail to an address with this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l error -d 'only mail whose last error has this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l subject -d 'only mail whose subject has this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l campaign -d 'only mail of this campaign' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l older -d 'only mail that was enqueued before 90m' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l yes -d 'do not ask'
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l all -d 'without ids: also mail that was put on hold'
complete -c mailqueue -n '__fish_seen_subcommand_from retry' -l once -d 'one more attempt only'
complete -c mailqueue -n '__fish_seen_subcommand_from resend' -l to -d 'the right address' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from resend' -l instead -d 'the recipient that it replaces' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l send-again -d 'send them again'
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l sent -d 'count them as sent'
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l status -d 'only mail that is pending' -r -f -a 'pending sending failed parked held'
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l type -d 'only mail of this type' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l reference -d 'only mail with this reference' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l recipient -d 'only mail to an address with this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l error -d 'only mail whose last error has this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l subject -d 'only mail whose subject has this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l campaign -d 'only mail of this campaign' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l older -d 'only mail that was enqueued before 90m' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from uncertain' -l yes -d 'change what the filter finds without asking'
complete -c mailqueue -n '__fish_seen_subcommand_from hold' -l status -d 'only mail that is pending' -r -f -a 'pending sending failed parked held'
complete -c mailqueue -n '__fish_seen_subcommand_from hold' -l type -d 'only mail of this type' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from hold' -l reference -d 'only mail with this reference' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from hold' -l recipient -d 'only mail to an address with this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from hold' -l error -d 'only mail whose last error has this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from hold' -l subject -d 'only mail whose subject has this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from hold' -l campaign -d 'only mail of this campaign' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from hold' -l older -d 'only mail that was enqueued before 90m' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from hold' -l yes -d 'change what the filter finds without asking'
complete -c mailqueue -n '__fish_seen_subcommand_from delete' -l status -d 'only mail that is pending' -r -f -a 'pending sending failed parked held'
complete -c mailqueue -n '__fish_seen_subcommand_from delete' -l type -d 'only mail of this type' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from delete' -l reference -d 'only mail with this reference' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from delete' -l recipient -d 'only mail to an address with this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from delete' -l error -d 'only mail whose last error has this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from delete' -l subject -d 'only mail whose subject has this text in it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from delete' -l campaign -d 'only mail of this campaign' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from delete' -l older -d 'only mail that was enqueued before 90m' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from delete' -l yes -d 'change what the filter finds without asking'
complete -c mailqueue -n '__fish_seen_subcommand_from forget' -l dry-run -d 'say what would be erased'
complete -c mailqueue -n '__fish_seen_subcommand_from forget' -l yes -d 'erase without asking'
complete -c mailqueue -n '__fish_seen_subcommand_from forget' -l timeout -d 'how long to wait for a mail that is being sent' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from suppress' -l reason -d 'unsubscribe' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from suppress' -l scope -d 'the list' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from suppress' -l source -d 'who or what says so' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from suppress' -l dry-run -d 'say what would be done'
complete -c mailqueue -n '__fish_seen_subcommand_from suppress' -l limit -d 'list: how many' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from suppress' -l after -d 'list: only later ones' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l type -d 'create: the type of its mails' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l priority -d 'create: -100 to 100' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l max-attempts -d 'create: how often a mail is tried' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l envelope-from -d 'create: where bounces go' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l relay -d 'create: a key of the map of relays' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l expires -d 'create: recipients not sent to by then get no mail' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l at -d 'start: when' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l watch -d 'status: show it again every two seconds'
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l as -d 'test: whose mail' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l limit -d 'status, failures: how many' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l after -d 'failures: only higher ids' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from campaign' -l yes -d 'cancel without asking'
complete -c mailqueue -n '__fish_seen_subcommand_from bounce' -l dry-run -d 'say what the report is'
complete -c mailqueue -n '__fish_seen_subcommand_from bounces' -l keep -d 'leave what was recorded'
complete -c mailqueue -n '__fish_seen_subcommand_from bounces' -l delete -d 'delete what was recorded'
complete -c mailqueue -n '__fish_seen_subcommand_from bounces' -l move -d 'move what was recorded there' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from bounces' -l limit -d 'look at no more than the N newest messages' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from bounces' -l account -d 'log in with an access token of this OAuth2 account' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from bounces' -l accounts -d 'OAuth2 accounts' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from config' -l unset -d 'remove KEY'
complete -c mailqueue -n '__fish_seen_subcommand_from page' -l password -d 'read a password'
complete -c mailqueue -n '__fish_seen_subcommand_from page' -l serve -d 'show the page on this machine' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from send' -l test -d 'where the mail goes' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from send' -l from -d 'its sender' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from send' -l transport -d 'where mail goes' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from send' -l relays -d 'a PHP file that returns which relay gets a mail' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from send' -l dkim -d 'sign with this private key' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from send' -l verdicts -d 'a file with rules for what replies of relays mean' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from send' -l accounts -d 'the directory of OAuth2 accounts' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from sendmail' -l timeout -d 'for -bs' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l account -d 'what the transport calls it' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l client-id -d 'of the application that is registered with the provider' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l secret -d 'ask for its client secret'
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l tenant -d 'Microsoft\'s' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l scope -d 'what is asked for' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l browser -d 'do not ask for a code to enter'
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l port -d 'listen there' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l client-credentials -d 'no person logs in'
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l certificate -d 'for --client-credentials' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l token-endpoint -d 'for generic: where tokens are asked for' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l authorization-endpoint -d 'for generic: the page of the login' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l device-endpoint -d 'for generic: where codes to enter are asked for' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l revocation-endpoint -d 'for generic: where logout revokes tokens' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l client-auth -d 'for generic: how the secret is sent' -r -f -a 'basic post'
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l cafile -d 'PEM file of certificates that are trusted instead of the system\'s' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l proxy -d 'ask through this proxy' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from login' -l accounts -d 'the directory of OAuth2 accounts' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from logout' -l yes -d 'without asking'
complete -c mailqueue -n '__fish_seen_subcommand_from logout' -l accounts -d 'the directory of OAuth2 accounts' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from accounts' -l accounts -d 'the directory of OAuth2 accounts' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from adopt' -l dry-run -d 'say what would be done'
complete -c mailqueue -n '__fish_seen_subcommand_from adopt' -l drop-them -d 'drop views and foreign keys that do not work with the queue\'s table'
complete -c mailqueue -n '__fish_seen_subcommand_from adopt' -l undo -d 'give the old table back'
complete -c mailqueue -n '__fish_seen_subcommand_from migrate-store' -l timeout -d 'how long to wait for mail that is being sent' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from migrate-store' -l delete -d 'at the end'
complete -c mailqueue -n '__fish_seen_subcommand_from migrate-store' -l dry-run -d 'say what would be moved'
complete -c mailqueue -n '__fish_seen_subcommand_from migrate-store' -l abort -d 'cancel an unfinished move'
complete -c mailqueue -n '__fish_seen_subcommand_from verdict' -l at -d 'what it answers' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from verdict' -l relay -d 'the relay\'s host' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from verdict' -l transport -d 'where mail goes' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from verdict' -l verdicts -d 'a file with rules for what replies of relays mean' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from doctor' -l relay -d 'instead'
complete -c mailqueue -n '__fish_seen_subcommand_from doctor' -l dns -d 'instead'
complete -c mailqueue -n '__fish_seen_subcommand_from doctor' -l from -d 'for --dns' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from doctor' -l selector -d 'for --dns' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from doctor' -l transport -d 'where mail goes' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from doctor' -l relays -d 'which relay gets a mail' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from doctor' -l dkim -d 'the keys' -r -f
complete -c mailqueue -n '__fish_seen_subcommand_from doctor' -l verdicts -d 'a file with rules for what replies of relays mean' -r -F
complete -c mailqueue -n '__fish_seen_subcommand_from doctor' -l accounts -d 'OAuth2 accounts' -r -f
