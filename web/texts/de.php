<?php

/* The page in German: English text → German. tests/page/texts.phpt compares it with the code. */

declare(strict_types=1);

return [
    // The frame
    'To the content' => 'Zum Inhalt',
    'Views' => 'Ansichten',
    'Overview' => 'Übersicht',
    'Mails' => 'Mails',
    'Uncertain' => 'Ungewiss',
    'Relays' => 'Relays',
    'Suppressions' => 'Sperren',
    'Campaigns' => 'Kampagnen',
    'Settings' => 'Einstellungen',
    'Log in' => 'Anmelden',
    'Log out' => 'Abmelden',
    'Password' => 'Passwort',
    'This is not the password.' => 'Das ist nicht das Passwort.',
    'Too many attempts. Try again in %s.' => 'Zu viele Versuche. Der nächste ist in %s möglich.',
    'That did not work' => 'Das ging nicht',
    '%s brought back.' => '%s zurückgeholt.',
    '%s parked.' => '%s geparkt.',
    '%s deleted.' => '%s gelöscht.',
    '%s counted as sent.' => '%s als gesendet gezählt.',
    'Saved.' => 'Gespeichert.',
    'The address is suppressed.' => 'Die Adresse ist gesperrt.',
    'The suppression is removed.' => 'Die Sperre ist aufgehoben.',
    'The campaign is started.' => 'Die Kampagne ist gestartet.',
    'The campaign is paused.' => 'Die Kampagne ist angehalten.',
    'The campaign goes on.' => 'Die Kampagne geht weiter.',
    'The campaign is cancelled.' => 'Die Kampagne ist abgebrochen.',
    'Sending is on.' => 'Der Versand ist eingeschaltet.',
    'Sending is off. Mail that is under way is still finished.'
        => 'Der Versand ist ausgeschaltet. Was schon unterwegs ist, wird noch zu Ende gebracht.',

    // Numbers and times
    'about %s' => 'etwa %s', 'about %s million' => 'etwa %s Millionen', '1 mail' => '1 Mail',
    '%s mails' => '%s Mails', '%s s' => '%s s', '%s min' => '%s min',
    '%s h %s min' => '%s h %s min', '%s days' => '%s Tage', '%s ago' => 'vor %s',
    'in %s' => 'in %s', 'now' => 'jetzt', 'never' => 'noch nie', 'none' => 'keins',
    'unknown' => 'unbekannt', 'not set' => 'nicht gesetzt',

    // Statuses, events, reasons
    'all' => 'alle', 'pending' => 'wartet', 'sending' => 'im Versand', 'failed' => 'fehlgeschlagen',
    'parked' => 'geparkt', 'held' => 'angehalten', 'sent' => 'gesendet',
    'try_later' => 'später noch einmal', 'refused' => 'abgelehnt', 'uncertain' => 'ungewiss',
    'expired' => 'abgelaufen', 'orphan' => 'ohne Bezug', 'resent' => 'noch einmal gesendet',
    'released' => 'zurückgegeben', 'stale' => 'überholt', 'exhausted' => 'Versuche aufgebraucht',
    'hold' => 'von Hand', 'unreadable' => 'unlesbar', 'suppressed' => 'gesperrt',
    'unsubscribe' => 'abgemeldet', 'hard_bounce' => 'unzustellbar', 'complaint' => 'Beschwerde',
    'manual' => 'von Hand gesperrt',

    // Campaigns
    'Campaign' => 'Kampagne', 'Progress' => 'Fortschritt', 'An hour' => 'Pro Stunde',
    'expires in %s, before all is sent' => 'läuft in %s ab, bevor alles gesendet ist',
    'Expected end' => 'Voraussichtlich fertig', 'Failed' => 'Fehlgeschlagen',
    'draft' => 'Entwurf', 'running' => 'läuft', 'paused' => 'angehalten',
    'cancelled' => 'abgebrochen', 'finished' => 'fertig', 'gone' => 'gelöscht',
    'Start' => 'Starten', 'Pause' => 'Anhalten', 'Resume' => 'Fortsetzen',
    'Cancel' => 'Abbrechen', 'Retry failed' => 'Fehlgeschlagene erneut versuchen',
    'Progress of %s' => 'Fortschritt von %s', 'starts at %s' => 'beginnt um %s',
    'Older ones' => 'Ältere',
    'There is no campaign. "mailqueue campaign create" makes one.'
        => 'Es gibt keine Kampagne. „mailqueue campaign create“ legt eine an.',
    'Start "%s" (%s to send)?' => '„%s“ starten (%s zu senden)?',
    'Pause "%s" (%s left)?' => '„%s“ anhalten (%s übrig)?',
    'Resume "%s" (%s left)?' => '„%s“ fortsetzen (%s übrig)?',
    'Cancel "%s" for good (%s will never be sent)?'
        => '„%s“ endgültig abbrechen (%s werden nie gesendet)?',
    'Try the failed mails of "%s" again (%s)?'
        => 'Die fehlgeschlagenen Mails von „%s“ erneut versuchen (%s)?',
    '%s. Nothing was changed.' => '%s. Nichts wurde geändert.',

    // Suppressions
    'No mail is sent to these addresses, or none of a list. An unsubscription stops only mail to '
        . 'lists.' => 'An diese Adressen geht keine Mail, oder keine einer Liste. Eine Abmeldung '
        . 'hält nur Mails an Listen auf.',
    'No address is found.' => 'Keine Adresse gefunden.',
    'Looked only at the newest addresses; the rest would take too long. A whole address is found '
        . 'at once.' => 'Nur die neuesten Adressen sind durchsucht; der Rest würde zu lange '
        . 'dauern. Eine ganze Adresse wird sofort gefunden.',
    'These are the newest %s. "mailqueue suppress export" writes all.'
        => 'Das sind die neuesten %s. „mailqueue suppress export“ gibt alle aus.',
    'Address' => 'Adresse', 'Reason' => 'Grund', 'Of what' => 'Wovon', 'Since' => 'Seit',
    'Where from' => 'Woher', 'Action' => 'Aktion', '(forgotten)' => '(vergessen)',
    'all mail' => 'alle Mails', 'Remove' => 'Aufheben', 'Search' => 'Suchen', 'Add' => 'Sperren',
    'Address, or a part of it' => 'Adresse oder ein Teil davon',
    'Suppress an address' => 'Eine Adresse sperren',
    'List (empty: all mail)' => 'Liste (leer: alle Mails)',
    'Give an address. Nothing was changed.' => 'Es fehlt die Adresse. Nichts wurde geändert.',

    // Unsubscribing
    'You are not unsubscribed: the database does not answer. Try again in a few minutes.'
        => 'Die Abmeldung ging nicht: Die Datenbank antwortet nicht. Bitte in ein paar Minuten '
        . 'noch einmal versuchen.',
    'This link is not complete, or too old. You are not unsubscribed. Use the link of a newer mail.'
        => 'Dieser Link ist unvollständig oder zu alt. Sie sind nicht abgemeldet. Bitte den Link '
        . 'einer neueren Mail verwenden.',
    'Unsubscribe from %s' => '%s abbestellen',
    '%s gets no more mail of this list then.' => '%s bekommt dann keine Mails dieser Liste mehr.',
    'Unsubscribe' => 'Abmelden',
    'You are unsubscribed' => 'Sie sind abgemeldet',
    '%s gets no more mail of the list %s.' => '%s bekommt keine Mails der Liste %s mehr.',

    // Overview
    'All is well.' => 'Alles in Ordnung.',
    'Sending is switched off.' => 'Der Versand ist ausgeschaltet.',
    'Mail is accepted and waits. Switch sending on below.'
        => 'Mails werden angenommen und warten. Unten lässt er sich einschalten.',
    'This queue is being moved here from %s: nothing is sent until all of it has arrived.'
        => 'Diese Queue zieht gerade von %s hierher um: Gesendet wird erst, wenn alles da ist.',
    'This queue was moved to %s: nothing is sent from here.'
        => 'Diese Queue ist nach %s umgezogen: Von hier wird nichts gesendet.',
    'This queue is being moved to %s: nothing is sent from here.'
        => 'Diese Queue zieht gerade nach %s um: Von hier wird nichts gesendet.',
    '"mailqueue doctor" says how to finish the move, or to cancel it.'
        => '„mailqueue doctor“ sagt, wie der Umzug zu beenden oder abzubrechen ist.',
    'No worker has run yet.' => 'Bisher ist kein Worker gelaufen.',
    'No worker has run for %s.' => 'Seit %s ist kein Worker gelaufen.',
    'Mail is due. Start "mailqueue work", or look at cron; "mailqueue doctor" finds out why.'
        => 'Mails sind fällig. „mailqueue work“ starten oder in cron nachsehen; „mailqueue doctor“ '
        . 'findet die Ursache.',
    'Waiting for a decision: %s.' => 'Auf eine Entscheidung warten: %s.',
    'See the parked mails.' => 'Die geparkten Mails ansehen.',
    'The relay %s is paused until %s: %s' => 'Das Relay %s pausiert bis %s: %s',
    'Due now' => 'Jetzt fällig',
    'Longest wait' => 'Wartet am längsten',
    'nothing waits' => 'nichts wartet',
    'Limit' => 'Limit',
    '%s an hour' => '%s je Stunde',
    'Tokens' => 'Guthaben',
    '%s of %s' => '%s von %s',
    'Empty in' => 'Leer in',
    'one run' => 'einem Lauf',
    'Waiting for their hours' => 'Warten auf ihre Versandzeit',
    '%s to %s' => '%s bis %s',
    '%s until %s' => '%s bis %s',
    'its sending hours' => 'ihre Versandzeit',
    'the end of a pause' => 'das Ende einer Pause',
    'the limit %s' => 'das Limit %s',
    'Waiting for a limit' => 'Warten auf ein Limit',
    '%s or more' => '%s oder mehr',
    'the first until %s' => 'die erste bis %s',
    'the next one in %s' => 'das nächste in %s',
    'kept for mail of priority 0 and above' => 'für Mails ab Priorität 0 aufgehoben',
    'Workers' => 'Worker',
    'Last run' => 'Letzter Lauf',
    'Failed in seven days: %s' => 'In sieben Tagen fehlgeschlagen: %s',
    'Sent' => 'Gesendet',
    'Last hour, by minute' => 'Letzte Stunde, je Minute',
    'Last 24 hours' => 'Letzte 24 Stunden',
    '%s: %s recipients, at most %s at a time' => '%s: %s Empfänger, höchstens %s auf einmal',
    'The chart of the last hour needs the history: set mailHistoryDays in the settings.'
        => 'Das Diagramm der letzten Stunde braucht die Historie: mailHistoryDays in den '
        . 'Einstellungen setzen.',
    'Registrations in total: %s' => 'Anmeldungen insgesamt: %s',
    'Test mode of this machine: all mail goes to %s, not to its recipients (%s).'
        => 'Testbetrieb dieses Rechners: Alle Mails gehen an %s, nicht an ihre Empfänger (%s).',
    'Only these still get theirs: %s.' => 'Nur diese bekommen ihre trotzdem: %s.',
    'Test mode: mail of these types goes to %s, not to its recipients: %s (%s).'
        => 'Testbetrieb: Mails dieser Arten gehen an %s, nicht an ihre Empfänger: %s (%s).',

    // Switches
    'Switches' => 'Schalter',
    'Sending' => 'Versand',
    'Mail is sent.' => 'Mails werden verschickt.',
    'Mail is accepted and waits.' => 'Mails werden angenommen und warten.',
    'Switch on' => 'Einschalten',
    'Switch off' => 'Ausschalten',
    'Limits' => 'Limits',
    '%s left' => 'noch %s',
    'full until %s' => 'voll bis %s',
    'Failed mail' => 'Fehlgeschlagene Mails',
    '%s failed or parked. Mail that a person parked, and mail that was parked as uncertain, stays.'
        => '%s fehlgeschlagen oder geparkt. Von Hand geparkte und als ungewiss geparkte Mails '
        . 'bleiben, wo sie sind.',
    'Bring all failed mail back?' => 'Alle fehlgeschlagenen zurückholen?',
    'Bring all failed mail back' => 'Alle fehlgeschlagenen zurückholen',
    'No limit is set.' => 'Es ist kein Limit gesetzt.',
    '%s recipients an hour.' => '%s Empfänger je Stunde.',
    '1 to 60 an hour' => '1 bis 60 je Stunde',
    'Another number' => 'Andere Zahl',
    'Set' => 'Setzen',
    'Remove the limit' => 'Limit aufheben',
    'Batch size' => 'Stapelgröße',
    'Recipients that may be sent at once after a quiet time. It only counts where there is a limit.'
        => 'So viele Empfänger dürfen nach einer ruhigen Zeit auf einmal bedient werden. Zählt nur '
        . 'mit einem Limit.',
    'Recipients' => 'Empfänger',
    'Test mode' => 'Testbetrieb',
    'Mail goes to its recipients. With an address here, mail of these types would go to it '
        . 'instead, '
        . 'also mail that waits already: %s.' => 'Mails gehen an ihre Empfänger. Mit einer Adresse '
        . 'hier gingen Mails dieser Arten stattdessen dorthin, auch die schon wartenden: %s.',
    'Mail of these types goes to %s, not to its recipients: %s.'
        => 'Mails dieser Arten gehen an %s, nicht an ihre Empfänger: %s.',
    'Mail goes to its recipients at this time, by mailLiveFrom and mailLiveUntil.'
        => 'Mails gehen zur Zeit an ihre Empfänger, wegen mailLiveFrom und mailLiveUntil.',
    'This machine decides: MAILQUEUE_REDIRECT_TO is set, so a test mode of the database does not '
        . 'count.' => 'Dieser Rechner bestimmt: MAILQUEUE_REDIRECT_TO ist gesetzt, ein Testbetrieb '
        . 'der Datenbank zählt nicht.',
    'The test mode needs an address, or @domain. Nothing was changed.'
        => 'Der Testbetrieb braucht eine Adresse oder @domain. Nichts wurde geändert.',
    'Waiting now: %s.' => 'Jetzt warten: %s.',
    'Address, or @domain' => 'Adresse oder @domain',
    'Switch test mode off' => 'Testbetrieb ausschalten',

    // Mails
    'Type' => 'Art',
    'Reference' => 'Bezug',
    'Recipient' => 'Empfänger',
    'Error' => 'Fehler',
    'Subject' => 'Betreff',
    'Older than' => 'Älter als',
    'Status' => 'Status',
    'Id' => 'Nr.',
    'Next' => 'Nächster Versuch',
    'Mark' => 'Auswahl',
    'Mark mail %s' => 'Mail %s auswählen',
    'Filter' => 'Filtern',
    'Clear' => 'Zurücksetzen',
    'No mail.' => 'Keine Mails.',
    'Next page' => 'Nächste Seite',
    'Looked at the mails up to %s; the rest would take too long at once. With a status or a '
        . 'reference it looks at fewer.' => 'Die Mails bis %s sind durchsucht; der Rest würde auf '
        . 'einmal zu lange dauern. Mit einem Status oder Bezug sind es weniger.',
    'Go on looking' => 'Weitersuchen',
    'Of these mails' => 'Von diesen Mails',
    'those that are marked' => 'die ausgewählten',
    'all that the filter finds' => 'alle, die der Filter findet',
    'Bring back' => 'Zurückholen',
    'Park' => 'Parken',
    'Delete' => 'Löschen',
    'Bring %s back?' => '%s zurückholen?',
    '%s may arrive twice.' => 'Davon kommen vielleicht doppelt an: %s.',
    'Park %s?' => '%s parken?',
    'Delete %s? They are not sent.' => '%s löschen? Sie werden dann nicht verschickt.',
    'Send %s again? Recipients may get them twice.'
        => '%s noch einmal senden? Vielleicht kommen sie doppelt an.',
    'Count %s as sent? Recipients that cannot have it yet still get it.'
        => '%s als gesendet zählen? Empfänger, die sie noch nicht haben können, bekommen sie noch.',
    'Mail %s was not sent again: %s. Nothing was changed.'
        => 'Mail %s wurde nicht noch einmal gesendet: %s. Nichts wurde geändert.',
    'Sent again as this new mail.' => 'Noch einmal gesendet. Dies ist die neue Mail.',
    'This mail takes the place of' => 'Diese Mail ersetzt',
    'It was sent again as' => 'Sie wurde noch einmal gesendet als',
    'Looked at mails that are %s, up to %s; the rest would take too long at once. "mailqueue '
        . 'uncertain" looks at all.' => 'Durchsucht sind Mails im Status „%s“ bis %s; der Rest '
        . 'würde auf einmal zu lange dauern. „mailqueue uncertain“ durchsucht alle.',
    'This PHP has not loaded the extension mailqueue. Enable it for this server (on Debian: '
        . 'phpenmod mailqueue), then start the server again.'
        => 'Dieses PHP hat die Erweiterung mailqueue nicht geladen. Sie für diesen Server '
        . 'einschalten (unter Debian: phpenmod mailqueue) und ihn neu starten.',
    'Corrected address' => 'Berichtigte Adresse',
    'in place of' => 'anstelle von',
    'Send again as a new mail' => 'Als neue Mail noch einmal senden',
    'Yes' => 'Ja',
    'No, go back' => 'Nein, zurück',

    // A mail
    'Mail %s' => 'Mail %s',
    'This mail has left the queue.' => 'Diese Mail hat die Warteschlange verlassen.',
    'Expected' => 'Voraussichtlich',
    'Waits for' => 'Wartet auf',
    'From' => 'Absender',
    'Attempts' => 'Versuche',
    'attempt %s' => 'Versuch %s',
    'Queued' => 'Eingereiht',
    'Expires' => 'Verfällt',
    'None yet, or the history is off (mailHistoryDays).'
        => 'Noch keine, oder die Historie ist ausgeschaltet (mailHistoryDays).',
    'There are older attempts. The newest %s:' => 'Es gibt ältere Versuche. Die neuesten %s:',
    'Message' => 'Nachricht',
    'Headers' => 'Kopfzeilen',
    'Text' => 'Text',
    'Source' => 'Quelltext',
    'Preview' => 'Vorschau',
    'Messages are hidden: one that resets a password is worth an account. MAILQUEUE_PAGE_BODIES=1 '
        . 'shows them to admins.' => 'Nachrichten sind verborgen: Eine, die ein Passwort '
        . 'zurücksetzt, '
        . 'ist so viel wert wie das Konto. MAILQUEUE_PAGE_BODIES=1 zeigt sie Administratoren.',
    'Messages are hidden from viewers.' => 'Für Betrachter sind Nachrichten verborgen.',

    // Uncertain, relays, settings
    'The connection ended before the relay had answered: these mails may have arrived. Look into '
        . 'the log of the relay, or ask a recipient. Sent again, they may arrive twice.'
        => 'Die Verbindung endete vor der Antwort des Relays: Diese Mails können angekommen sein. '
        . 'Das Log des Relays oder ein Empfänger weiß mehr. Noch einmal gesendet, kommen sie '
        . 'vielleicht doppelt an.',
    'all that are uncertain' => 'alle, die ungewiss sind',
    'No mail is uncertain.' => 'Keine Mail ist ungewiss.',
    'No other mail is uncertain.' => 'Keine weitere Mail ist ungewiss.',
    'Last attempt' => 'Letzter Versuch',
    'Send again' => 'Noch einmal senden',
    'Count as sent' => 'Gilt als gesendet',
    'No relay is known yet. With the history (mailHistoryDays), relays appear here once they were '
        . 'used.' => 'Noch ist kein Relay bekannt. Mit der Historie (mailHistoryDays) erscheinen '
        . 'hier die Relays, die benutzt wurden.',
    'In use.' => 'In Betrieb.',
    'Paused until %s, trial %s.' => 'Pausiert bis %s, Anlauf %s.',
    'Of the last 10,000 attempts' => 'Von den letzten 10.000 Versuchen',
    'It failed when a mail was started before it had answered the previous one. Until %s each mail '
        . 'waits for that answer.' => 'Es scheiterte, als eine Mail vor der Antwort auf die vorige '
        . 'begann. Bis %s wartet jede Mail diese Antwort ab.',
    'Mail to %s' => 'Mails an %s',
    'Slowed down to one mail in %s s: %s %% of its recent recipients were deferred or refused.'
        => 'Gebremst auf eine Mail in %s s: %s %% der letzten Empfänger wurden vertagt oder '
        . 'abgelehnt.',
    'It goes faster again when more of it is accepted. The setting mailSlowdown says how many may '
        . 'fail.' => 'Es geht wieder schneller, wenn mehr angenommen wird. Die Einstellung '
        . 'mailSlowdown sagt, wie viele scheitern dürfen.',
    'Save' => 'Speichern',
    'Kept by the queue' => 'Von der Warteschlange geführt',
    'Allowed: %s. Default: %s.' => 'Erlaubt: %s. Vorgabe: %s.',

    // What a reply means
    'The relay does not accept the login.' => 'Das Relay nimmt die Anmeldung nicht an.',
    'Check user and password of the transport (MAILQUEUE_TRANSPORT).'
        => 'Benutzer und Passwort des Transports prüfen (MAILQUEUE_TRANSPORT).',
    'The relay does not send for this login or sender.'
        => 'Das Relay sendet nicht für diese Anmeldung oder diesen Absender.',
    'Check the transport\'s login, and whether the relay may send for the sender\'s domain.'
        => 'Die Anmeldung des Transports prüfen, und ob das Relay für die Domain des Absenders '
        . 'senden darf.',
    'The relay does not accept the sender.' => 'Das Relay nimmt den Absender nicht an.',
    'Check the address in From, and its domain.' => 'Die Adresse in From und ihre Domain prüfen.',
    'The encrypted connection failed.' => 'Eine verschlüsselte Verbindung kam nicht zustande.',
    'Check the name in the transport, and the certificate of the relay.'
        => 'Den Namen im Transport und das Zertifikat des Relays prüfen.',
    "The relay's name was not found." => 'Der Name des Relays wurde nicht gefunden.',
    'Check the host in the transport, and the DNS of this machine.'
        => 'Den Host im Transport und das DNS dieses Rechners prüfen.',
    'The relay could not be reached.' => 'Das Relay war nicht zu erreichen.',
    'Check host and port of the transport, and the firewall. Mail waits until then.'
        => 'Host und Port des Transports und die Firewall prüfen. Bis dahin warten die Mails.',
    'The relay has accepted the mail.' => 'Das Relay hat die Mail angenommen.',
    'Nothing. Delivering it is now its task.' => 'Nichts zu tun. Die Zustellung ist jetzt seine '
        . 'Sache.',
    'There is no such mailbox.' => 'Dieses Postfach gibt es nicht.',
    'Ask for the right address, then correct it and send again.'
        => 'Die richtige Adresse erfragen, berichtigen und noch einmal senden.',
    'The mailbox is full.' => 'Das Postfach ist voll.',
    'Try again later, or reach the recipient in another way.'
        => 'Später noch einmal versuchen oder den Empfänger anders erreichen.',
    'The mailbox is switched off.' => 'Das Postfach ist abgeschaltet.',
    'Ask the recipient for another address.' => 'Den Empfänger nach einer anderen Adresse fragen.',
    'The mail is too large.' => 'Die Mail ist zu groß.',
    'Send it with smaller attachments, or with a link.'
        => 'Mit kleineren Anhängen oder mit einem Link senden.',
    "The recipient's server asks to try again later."
        => 'Der Server des Empfängers bittet, es später noch einmal zu versuchen.',
    'Nothing. The queue tries again by itself.'
        => 'Nichts zu tun. Die Warteschlange versucht es von selbst noch einmal.',
    'The worker has no access token that the relay accepts.'
        => 'Der Worker hat kein Zugriffstoken, das das Relay annimmt.',
    'Do what the text says. "mailqueue doctor --relay" tries it at once.'
        => 'Tun, was der Text sagt. „mailqueue doctor --relay“ probiert es sofort.',
    'The relay wants fewer mails or connections.' => 'Das Relay will weniger Mails oder '
        . 'Verbindungen.',
    'Nothing now. If it comes often, lower the hourly limit.'
        => 'Jetzt nichts. Kommt es öfter vor, das Stundenlimit senken.',
    'The mail was refused by a rule, often against spam.'
        => 'Eine Regel hat die Mail abgelehnt, oft eine gegen Spam.',
    "Check SPF, DKIM and DMARC of the sender's domain, and the text of the mail."
        => 'SPF, DKIM und DMARC der Absenderdomain und den Text der Mail prüfen.',
    'The relay refused the mail for good.' => 'Das Relay hat die Mail endgültig abgelehnt.',
    'Read its reply. Correct what it names, then bring the mail back.'
        => 'Seine Antwort lesen, das Genannte berichtigen und die Mail dann zurückholen.',
    'The relay could not take the mail now.' => 'Das Relay konnte die Mail gerade nicht annehmen.',
    'The attempt did not succeed.' => 'Der Versuch ist nicht gelungen.',
    'Read the text beside this; "mailqueue doctor" looks at the surroundings.'
        => 'Der Text daneben sagt mehr; „mailqueue doctor“ untersucht die Umgebung.',

    // Refusals
    'This page is closed. Give it a password: "mailqueue page --password" makes a hash for '
        . 'MAILQUEUE_PAGE_HASH. Or pass "access" to the page, behind your own login.'
        => 'Diese Seite ist geschlossen. Sie braucht ein Passwort: „mailqueue page --password“ '
        . 'macht '
        . 'den Hash für MAILQUEUE_PAGE_HASH. Oder „access“ übergeben, hinter der eigenen '
        . 'Anmeldung.',
    'This page is closed: MAILQUEUE_PAGE_HASH is not a hash of a password. "mailqueue page '
        . '--password" makes one; a shell needs single quotes around its "$".'
        => 'Diese Seite ist geschlossen: MAILQUEUE_PAGE_HASH ist kein Hash eines Passworts. '
        . '„mailqueue page --password“ macht einen; in einer Shell gehört er in einfache '
        . 'Anführungszeichen.',
    'This page is only shown over HTTPS. Open it with https://, or on this machine as '
        . 'http://127.0.0.1.' => 'Diese Seite gibt es nur über HTTPS. Mit https:// öffnen, oder '
        . 'auf '
        . 'diesem Rechner als http://127.0.0.1.',
    'This request came through a proxy (%s) that is not known. Name its address in '
        . 'MAILQUEUE_PAGE_PROXIES, or in mailqueue.page_proxies in php.ini.'
        => 'Diese Anfrage kam über einen unbekannten Proxy (%s). Seine Adresse gehört in '
        . 'MAILQUEUE_PAGE_PROXIES oder in mailqueue.page_proxies in der php.ini.',
    'This page only knows GET and POST.' => 'Diese Seite kennt nur GET und POST.',
    'This form is not of this page, or it is too old. Nothing was changed. Go back, reload the '
        . 'page '
        . 'and try again.' => 'Dieses Formular ist nicht von dieser Seite oder zu alt. Nichts '
        . 'wurde '
        . 'geändert. Bitte zurückgehen, die Seite neu laden und noch einmal versuchen.',
    'You come from another site' => 'Sie kommen von einer anderen Website',
    'Go on to the page' => 'Weiter zur Seite',
    'You may not see this page. Log in first.' => 'Diese Seite ist erst nach der Anmeldung zu '
        . 'sehen.',
    'You may look, but not change anything. Nothing was changed.'
        => 'Ansehen ist erlaubt, ändern nicht. Nichts wurde geändert.',
    "An error that the page does not know. PHP's error log says more."
        => 'Ein Fehler, den die Seite nicht kennt. Das Fehlerlog von PHP sagt mehr.',
    '"%s" must be one line of text. Nothing was changed.'
        => '„%s“ muss eine Zeile Text sein. Nichts wurde geändert.',
    '%s must be a directory of the user of this PHP, with mode 0700. %s'
        => '%s muss ein Verzeichnis des Benutzers sein, als der dieses PHP läuft, mit den Rechten '
        . '0700. %s',
    '%s cannot be written. Is the disk full, or its directory read-only? %s'
        => '%s lässt sich nicht schreiben. Ist die Platte voll oder das Verzeichnis nur lesbar? '
        . '%s',
    '%s cannot be read: the user of this PHP must own it, with mode 0600. %s'
        => '%s lässt sich nicht lesen: Die Datei muss dem Benutzer gehören, als der dieses PHP '
        . 'läuft, mit den Rechten 0600. %s',
    'Without it nobody can log in.' => 'Ohne sie kann sich niemand anmelden.',
    'Without it nobody is let in, because it says who has logged out.'
        => 'Ohne sie kommt niemand hinein, denn sie sagt, wer sich abgemeldet hat.',
    'This browser is logged out. But a copy of its cookie stays valid for up to 12 hours, or until '
        . 'the password is another one.' => 'Dieser Browser ist abgemeldet. Aber eine Kopie seines '
        . 'Cookies gilt noch bis zu 12 Stunden, oder bis das Passwort ein anderes ist.',
    'There is no view "%s". The overview leads to all views.'
        => 'Die Ansicht „%s“ gibt es nicht. Die Übersicht führt zu allen.',
    'There is no action "%s". Nothing was changed.'
        => 'Die Aktion „%s“ gibt es nicht. Nichts wurde geändert.',
    '"%s" is not the id of a mail. The list shows the ids.'
        => '„%s“ ist nicht die Nummer einer Mail. Die Liste zeigt die Nummern.',
    'There is no mail with the id %s any more. Mail that was sent leaves the queue; "mailqueue '
        . 'log" '
        . 'says what became of it.' => 'Eine Mail mit der Nummer %s gibt es nicht mehr. Gesendete '
        . 'Mails verlassen die Warteschlange; „mailqueue log“ sagt, was aus ihr wurde.',
    'The mail %s has no message here: it was sent, was deleted, or is composed when it is sent.'
        => 'Die Mail %s hat hier keine Nachricht: Sie wurde gesendet oder gelöscht, oder sie '
        . 'entsteht '
        . 'erst beim Senden.',
    'No mail is marked. Mark some in the list, then choose what to do with them. Nothing was '
        . 'changed.'
        => 'Keine Mail ist ausgewählt. Erst in der Liste auswählen, dann entscheiden, was '
        . 'geschehen soll. Nichts wurde geändert.',
    'None of these mails can be changed so: they are gone, are being sent, belong to a campaign '
        . 'that is paused, or are where you want them. Nothing was changed.'
        => 'Keine dieser Mails lässt sich so ändern: Sie sind weg, werden gerade gesendet, gehören '
        . 'zu einer angehaltenen Kampagne oder sind schon dort. Nichts wurde geändert.',
    'Changed %s of %s, then this happened: %s'
        => 'Geändert wurden %s von %s, dann geschah dies: %s',
    'Sending can be "on" or "off". Nothing was changed.'
        => 'Der Versand kann „on“ oder „off“ sein. Nichts wurde geändert.',
    'The limit must be a whole number from 1 to %s, not "%s". To send without one, remove the '
        . 'limit. Nothing was changed.' => 'Das Limit muss eine ganze Zahl von 1 bis %s sein, '
        . 'nicht „%s“. Ohne Limit sendet, wer es aufhebt. Nichts wurde geändert.',
    'There is no setting "%s" that can be changed here. Nothing was changed.'
        => 'Eine Einstellung „%s“, die hier zu ändern wäre, gibt es nicht. Nichts wurde geändert.',
] + require __DIR__ . '/de-settings.php';
