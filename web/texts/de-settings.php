<?php

/* The meanings of the settings in German: a part of de.php. */

declare(strict_types=1);

return [
    'If mailRedirectTo is unset, 1 means @schumbi.de.'
        => 'Ist mailRedirectTo nicht gesetzt, steht 1 für @schumbi.de.',
    '0 stops claims: mail is still accepted into the queue, none is sent.'
        => '0 hält den Versand an: Mails werden weiter angenommen, keine wird gesendet.',
    'Recipients that may be handed to the relay in an hour; 0 sets no limit.'
        => 'So viele Empfänger dürfen dem Relay je Stunde übergeben werden; 0: kein Limit.',
    'Recipients that may be sent at once after a quiet time.'
        => 'So viele Empfänger dürfen nach einer ruhigen Zeit auf einmal bedient werden.',
    "Recipients of each limit that mail of a priority below 0, such as a campaign's, leaves to "
        . 'other mail.' => 'So viele Empfänger jedes Limits lassen Mails mit einer Priorität '
        . 'unter 0, etwa die einer Kampagne, den anderen Mails.',
    'Limits in windows, such as 60/1h, 200/4h, 500/1d: of recipients or mails, for all mail, or '
        . 'behind each limit "per relay", "per sender" or "per recipient domain".'
        => 'Limits in Zeitfenstern, etwa 60/1h, 200/4h, 500/1d: Empfänger oder Mails, insgesamt, '
        . 'oder nach jedem Limit „per relay“ (je Relay), „per sender“ (je Absender) oder „per '
        . 'recipient domain“ (je Domain der Empfänger).',
    'How many mails to a domain of recipients each run sends at a time: 5 to @example.net, 20 per '
        . 'recipient domain.' => 'Wie viele Mails an eine Domain von Empfängern jeder Lauf '
        . 'zugleich schickt: 5 to @example.net, 20 per recipient domain.',
    'average: a token bucket; strict: no rolling hour or window on the relay\'s clock exceeds its '
        . 'limit.' => 'average: im Mittel; strict: In keiner Stunde und keinem Fenster, wann immer '
        . 'sie beginnen, sieht das Relay mehr als das Limit.',
    'Test mode: replaces every envelope recipient; @domain keeps the local part.'
        => 'Testbetrieb: ersetzt jeden Empfänger des Umschlags; @domain behält den lokalen Teil.',
    'The mail types that the test mode redirects, or "every type but" a list of them.'
        => 'Die Arten von Mails, die der Testbetrieb umleitet, oder „every type but“ mit einer '
        . 'Liste.',
    'Limits that grow from day to day, for a new relay or sender.'
        => 'Limits eines neuen Relays oder Absenders, die von Tag zu Tag steigen.',
    'When mail of which types may be sent; types that no rule names always may.'
        => 'Wann Mails welcher Arten verschickt werden dürfen; Arten ohne Regel immer.',
    'From this time on the test mode is off.' => 'Ab dieser Zeit ist der Testbetrieb aus.',
    'From this time on the test mode is on again.'
        => 'Ab dieser Zeit ist der Testbetrieb wieder an.',
    'Slows mail to a domain down if more than so many percent of its recent recipients are '
        . 'deferred or refused; 0: never.' => 'Bremst Mails an eine Domain, wenn mehr als so viel '
        . 'Prozent ihrer letzten Empfänger vertagt oder abgelehnt wurden; 0: nie.',
    'For how many days the worker keeps a row for each attempt; 0: none.'
        => 'So viele Tage hebt der Worker eine Zeile je Versuch auf; 0: keine.',
    'Tokens in the bucket at mailLastRefill.' => 'Das Guthaben zur Zeit mailLastRefill.',
    'When the bucket was last filled up.' => 'Wann das Guthaben zuletzt aufgefüllt wurde.',
    'Relays in trouble: until when, how often, why.'
        => 'Relays mit Störungen: bis wann, wie oft, warum.',
    "What each relay was found to accept: the next mail's commands after a dot, or only one mail's "
        . 'commands as a group.' => 'Was jedes Relay verträgt: die Befehle der nächsten Mail '
        . 'nach dem Punkt oder nur die Befehle einer Mail als Gruppe.',
    'Which relays the last run had, for mail of which job table.'
        => 'Welche Relays der letzte Lauf hatte, für Mails welcher Tabelle.',
    'Domains whose recipients fail: how often, and how much mail to them is slowed down.'
        => 'Domains, deren Empfänger scheitern: wie oft, und wie sehr ihre Mails gebremst werden.',
    'By which mailHours and limits mail of which job table was put back.'
        => 'Nach welchem mailHours und welchen Limits Mails welcher Tabelle zurückgestellt wurden.',
    'When a worker last ran.' => 'Wann zuletzt ein Worker lief.',
    'After so many seconds without a worker while mail is due, enqueue() writes a line into PHP\'s '
        . 'error log, once an hour; 0: never.'
        => 'Nach so vielen Sekunden ohne Worker, während Mails fällig sind, schreibt enqueue() '
        . 'einmal in der Stunde eine Zeile in PHPs Fehlerprotokoll; 0: nie.',
    'How many runs of the worker can go at a time, on all hosts together; --workers of a run can '
        . 'only lower it.'
        => 'Wie viele Läufe des Workers zur gleichen Zeit gehen, auf allen Rechnern zusammen; '
        . '--workers eines Laufs kann das nur senken.',
    'Job tables whose mail is moved to another database, which alone sends it.'
        => 'Tabellen, deren Mails in eine andere Datenbank umziehen; nur die versendet sie.',
    'Job tables whose mail comes from another database; nothing is sent until all of it has '
        . 'arrived.'
        => 'Tabellen, deren Mails aus einer anderen Datenbank kommen; gesendet wird, wenn alle '
        . 'da sind.',
    'The number of the newest suppression; 0: none was ever made.'
        => 'Die Nummer der neuesten Sperre; 0: Es gab noch keine.',
    'The key by which suppressed addresses are found and links to unsubscribe are signed.'
        => 'Der Schlüssel, mit dem gesperrte Adressen gefunden und Links zum Abmelden signiert '
        . 'werden.',
    "The version of the queue's tables." => 'Die Version der Tabellen.',
    'What `mailqueue adopt` did, for `mailqueue adopt --undo`.'
        => 'Was `mailqueue adopt` getan hat, für `mailqueue adopt --undo`.',
];
