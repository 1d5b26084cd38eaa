/*
 * Drives the page in headless Chromium: `tools/test page`. Prints "ok NAME" or "FAILED NAME: why"
 * for each check. Environment: MQ_ROOT, MQ_BUILD, MAILQUEUE_SO, CHROMIUM.
 */
import {createRequire} from 'node:module';
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {setTimeout as sleep} from 'node:timers/promises';

const {MQ_ROOT, MQ_BUILD, MAILQUEUE_SO, CHROMIUM} = process.env;
const require = createRequire(`${MQ_BUILD}/page/`);
const {chromium} = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const here = dirname(fileURLToPath(import.meta.url));
const shots = `${MQ_BUILD}/page/screenshots`;
const work = mkdtempSync(join(tmpdir(), 'mailqueue-page-'));
const PHP = ['-d', `extension=${MAILQUEUE_SO}`, '-d', 'display_errors=stderr'];
const PASSWORD = 'correct horse';
const VIEWS = ['overview', 'mails', 'mail&id=1', 'uncertain', 'campaigns', 'relays', 'suppressions', 'settings'];

/* ---- checks ---- */

let failures = 0;
const equal = (found, wanted) => {
    if (found !== wanted) {
        throw new Error(`found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);
    }
};
const check = async (name, test) => {
    try {
        await test();
        console.log(`ok ${name}`);
    } catch (error) {
        failures++;
        console.log(`FAILED ${name}: ${error.message.split('\n').slice(0, 3).join(' ')}`);
    }
};
const until = async (what, test, seconds = 15) => {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(100)) {
        if (await test()) {
            return;
        }
    }
    throw new Error(`waited ${seconds} s for ${what}`);
};

/* ---- servers ---- */

const php = (...words) => execFileSync('php', [...PHP, ...words], {encoding: 'utf8'}).trim();
const mailqueue = (database, ...words) => {
    const options = ['--database', database];
    try {
        return php(`${MQ_ROOT}/bin/mailqueue`, ...words, ...options);
    } catch (error) {
        return `${error.stdout}${error.stderr}`.trim();
    }
};
const children = [];
const hash = php('-r', `echo password_hash('${PASSWORD}', PASSWORD_BCRYPT, ['cost' => 4]);`);
/** Serves a script by PHP's own web server; returns its origin. */
const serve = async (name, script) => {
    const file = `${work}/${name}.php`;
    writeFileSync(file, script);
    mkdirSync(`${work}/${name}`);
    const child = spawn('php', [...PHP, '-S', '127.0.0.1:0', file], {
        env: {...process.env, TMPDIR: `${work}/${name}`, MAILQUEUE_PAGE_HASH: hash, MAILQUEUE_PAGE_BODIES: '1',
            HOME: '/nonexistent', PHP_CLI_SERVER_WORKERS: '2'},
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true, // a group of its own, with the server's workers
    });
    children.push(child);
    let said = '';
    child.stderr.on('data', (data) => { said += data; });
    await until('the web server', () => /\(http:\/\/\S+\) started/.test(said));
    return said.match(/\((http:\/\/\S+)\) started/)[1];
};
/** Another site: it counts who comes, and has pages that attack. */
const canary = {hits: [], connections: 0, pages: {}};
const canaryServer = http.createServer((request, response) => {
    canary.hits.push(request.url);
    response.setHeader('Content-Type', 'text/html');
    response.end(canary.pages[request.url] ?? 'canary');
});
canaryServer.on('connection', () => { canary.connections++; });
await new Promise((ready) => { canaryServer.listen(0, '127.0.0.1', ready); });
canary.origin = `http://127.0.0.1:${canaryServer.address().port}`;

/* ---- the browser ---- */

const browser = await chromium.launch({executablePath: CHROMIUM, args: ['--no-sandbox']});
const open = async (origin, options = {}) => {
    const context = await browser.newContext({viewport: {width: 1280, height: 900}, locale: 'en-GB', ...options});
    const page = await context.newPage();
    page.problems = [];
    page.on('pageerror', (error) => page.problems.push(error.message));
    await page.goto(`${origin}/`);
    return page;
};
const logIn = async (page, password = PASSWORD) => {
    await page.fill('#password', password);
    await page.click('main button');
};
const heading = (page) => page.textContent('h1');
const count = async (page, status) => (await page.textContent(`#count-${status}`)).trim();
const view = (page, origin, name) => page.goto(`${origin}/?view=${name}`);

/** What a person does, with and without JavaScript. */
const flows = async (mode, javaScriptEnabled) => {
    const database = `${work}/${mode}.sqlite`;
    const hostile = php(`${here}/seed.php`, database, 'all', canary.origin);
    const origin = await serve(mode, php(`${MQ_ROOT}/bin/mailqueue`, 'page', '--database', database));
    const page = await open(origin, {javaScriptEnabled});
    const name = (what) => `${mode}/${what}`;
    /** Without JavaScript a person reloads. */
    const shows = (what, status, wanted) => until(what, async () => {
        javaScriptEnabled || await view(page, origin, 'overview');
        return await count(page, status) === wanted;
    });
    const pending = () => JSON.parse(mailqueue(database, 'status', '--json')).pending;

    await check(name('login'), async () => {
        equal(await heading(page), 'Log in');
        await logIn(page, 'wrong password');
        equal(await page.textContent('.alarm'), 'This is not the password.');
        await logIn(page);
        equal(await heading(page), 'Overview');
    });
    await check(name('a mail goes from pending to gone'), async () => {
        const before = Number(await count(page, 'pending'));
        javaScriptEnabled && await page.evaluate(() => { window.isSame = true; });
        php(`${here}/seed.php`, database, 'one');
        await shows('the new mail', 'pending', String(before + 1));
        mailqueue(database, 'work', '--transport', 'null://null');
        await shows('it to be gone', 'pending', String(before));
        equal(javaScriptEnabled ? await page.evaluate(() => window.isSame) : true, true);
    });
    javaScriptEnabled && await check(name('a hidden tab does not ask'), async () => {
        let asked = 0;
        page.on('request', (request) => { asked += request.url().includes('part=now'); });
        const hide = (hidden) => page.evaluate((hidden) => {
            Object.defineProperty(document, 'hidden', {configurable: true, get: () => hidden});
            document.dispatchEvent(new Event('visibilitychange'));
        }, hidden);
        await hide(true);
        await page.waitForTimeout(600); // for one that is under way
        asked = 0;
        await page.waitForTimeout(6000);
        equal(asked, 0);
        await hide(false);
        await until('it asks again', () => asked > 0);
    });
    await check(name('filter'), async () => {
        await page.click('nav >> text=Mails');
        equal(await page.locator('#list-type option[value=news]').count(), 1);
        await page.fill('#f-recipient', 'member3@');
        await page.click('text="Filter"');
        equal(await page.locator('tbody tr').count(), 1);
        equal((await page.textContent('tbody .recipient')).trim(), 'member3@example.net');
        await page.click('text="Clear"');
        equal(await page.locator('tbody tr').count(), 13);
    });
    await check(name('bring 3 failed mails back'), async () => {
        php(`${here}/seed.php`, database, 'failed');
        await view(page, origin, 'overview');
        equal(await count(page, 'parked'), '3');
        await page.click('text="Bring all failed mail back"');
        equal(await page.textContent('.done'), '3 mails brought back.');
        equal(await count(page, 'parked'), '0');
    });
    javaScriptEnabled && await check(name('a reload does not say again what was done'), async () => {
        await page.reload();
        equal(await heading(page), 'Overview');
        equal(await page.locator('.done').count(), 0);
    });
    await check(name('many at once'), async () => {
        await view(page, origin, 'mails&type=invoice');
        for (const box of await page.locator('tbody input').all()) {
            await box.check();
        }
        await page.click('text="Park"');
        equal(await heading(page), 'Park 3 mails?');
        await page.click('text="Yes"');
        equal(await page.textContent('.done'), '3 mails parked.');
        await view(page, origin, 'mails&type=invoice');
        await page.selectOption('#which', 'all');
        await page.click('text="Delete"');
        equal(await heading(page), 'Delete 3 mails? They are not sent.');
        await page.click('text="Yes"');
        equal(await page.textContent('.done'), '3 mails deleted.');
    });
    await check(name('an address is corrected'), async () => {
        php(`${here}/seed.php`, database, 'failed');
        await view(page, origin, 'mails&status=parked&recipient=failed1');
        await page.click('tbody a');
        equal(await page.inputValue('#to'), 'failed1@example.net');
        await page.fill('#to', 'right1@example.net');
        await page.click('text="Send again as a new mail"');
        equal(await page.textContent('.done'), 'Sent again as this new mail.');
        const facts = await page.textContent('.facts');
        equal(facts.includes('right1@example.net') && !facts.includes('failed1@'), true);
        await page.click('text=/This mail takes the place of/ >> a');
        equal((await page.textContent('.state')).trim(), 'This mail has left the queue.');
        mailqueue(database, 'delete', '--type', 'invoice', '--yes');
    });
    await check(name('uncertain, many at once'), async () => {
        php(`${here}/seed.php`, database, 'uncertain');
        await view(page, origin, 'uncertain');
        equal(await page.locator('tbody tr').count(), 4);
        await page.click('text="Count as sent"');
        equal((await page.textContent('.lead')).startsWith('No mail is marked.'), true);
        await view(page, origin, 'uncertain');
        for (const box of (await page.locator('tbody input').all()).slice(0, 2)) {
            await box.check();
        }
        await page.click('text="Count as sent"');
        equal(await heading(page), 'Count 2 mails as sent? Recipients that cannot have it yet still get it.');
        await page.click('text="Yes"');
        equal(await page.textContent('.done'), '2 mails counted as sent.');
        equal(await page.locator('tbody tr').count(), 2);
        await page.selectOption('#which', 'all');
        await page.click('text="Send again"');
        equal(await heading(page), 'Send 2 mails again? Recipients may get them twice.');
        await page.click('text="Yes"');
        equal(await page.textContent('.done'), '2 mails brought back.');
        equal(await page.locator('tbody tr').count(), 0);
        mailqueue(database, 'delete', '--type', 'invoice', '--yes');
    });
    await check(name('switch off, and the worker stops'), async () => {
        await view(page, origin, 'overview');
        const before = pending();
        const worker = spawn('php', [...PHP, `${MQ_ROOT}/bin/mailqueue`, 'work', '--daemon', '--database', database,
            '--transport', 'null://null'], {stdio: 'ignore', detached: true});
        children.push(worker);
        php(`${here}/seed.php`, database, 'one');
        await until('the worker to send', () => pending() === before);
        await page.click('text="Switch off"');
        await page.waitForSelector('text="Sending is switched off."');
        php(`${here}/seed.php`, database, 'one');
        await shows('the mail to wait', 'pending', String(before + 1));
        await sleep(3000);
        equal(pending(), before + 1);
        await page.click('.switches >> text="Switch on" >> nth=0');
        await shows('the mail to go', 'pending', String(before));
        process.kill(worker.pid);
    });
    await check(name('a limit that cannot be'), async () => {
        await view(page, origin, 'overview');
        await page.fill('#limit', '0');
        await page.click('form:has(#limit) button');
        equal((await page.textContent('.lead')).startsWith('The limit must be a whole number'), true);
        equal(mailqueue(database, 'config', 'mailMaxPerHour'), '');
        await view(page, origin, 'overview');
        await page.fill('#limit', '1200');
        await page.click('form:has(#limit) button');
        equal(mailqueue(database, 'config', 'mailMaxPerHour'), '1200');
    });
    await check(name('a hostile mail'), async () => {
        canary.hits = [];
        canary.connections = 0;
        for (const url of [`mail&id=${hostile}`, `preview&id=${hostile}`]) {
            await view(page, origin, url);
            const frame = url.startsWith('mail') ? page.frameLocator('iframe') : page;
            equal(await frame.locator('#hello').textContent(), 'Hello from the mail');
            equal(await frame.locator('x-script').first().isVisible(), false);
            await frame.locator('#send').click();
            await sleep(1500);
            equal((await page.title()).includes('hacked'), false);
            equal(canary.hits.join(' '), '');
            for (const link of ['#js', '#away', '#here']) {
                await frame.locator(link).press('Enter'); // other elements lie over it
                await sleep(300);
            }
            equal((await page.title()).includes('hacked'), false);
        }
        equal(canary.hits.join(' '), '');
        equal(canary.connections, 0);
    });
    await check(name('suppressions'), async () => {
        await view(page, origin, 'overview');
        equal(await page.locator('nav >> text=Suppressions').count(), 0); // there are none
        await view(page, origin, 'suppressions');
        await page.fill('#address', 'Ann@example.net');
        await page.selectOption('#reason', 'hard_bounce');
        await page.click('text="Add"');
        equal(await page.textContent('.done'), 'The address is suppressed.');
        mailqueue(database, 'suppress', 'add', 'bea@example.net', '--reason', 'unsubscribe', '--scope', 'list:news');
        await page.click('nav >> text=Suppressions');
        equal(await page.locator('tbody tr').count(), 2);
        await page.fill('#wanted', 'ann@');
        await page.click('text="Search"');
        equal((await page.textContent('tbody .address')).trim(), 'ann@example.net');
        await page.click('tbody >> text="Remove"');
        equal(await page.textContent('.done'), 'The suppression is removed.');
        equal(await page.locator('tbody tr').count(), 1);
        equal(mailqueue(database, 'suppress', 'list', '--json').includes('ann@'), false);
        await page.fill('#address', 'a..b@example.net');
        await page.click('text="Add"');
        equal((await page.textContent('.lead')).startsWith('The address "a..b@example.net" has two dots'), true);
    });
    await check(name('campaigns'), async () => {
        await view(page, origin, 'overview');
        equal(await page.locator('nav >> text=Campaigns').count(), 0); // there are none
        php(`${here}/seed.php`, database, 'campaign');
        await view(page, origin, 'overview');
        await page.click('nav >> text=Campaigns');
        equal(await page.locator('tbody tr').count(), 2);
        const cell = async (column) => (await page.textContent(`tbody tr:first-child .${column}`)).trim();
        equal(await cell('progress'), '0 of 40');
        const act = async (word, question, done) => {
            await page.click(`tbody tr:first-child >> text="${word}"`);
            equal(await heading(page), question);
            await page.click('text="Yes"');
            equal(await page.textContent('.done'), done);
        };
        await page.click('tbody tr:first-child >> text="Start"');
        await page.click('text="No, go back"');
        equal(await cell('status'), 'draft');
        await act('Start', 'Start "spring" (40 mails to send)?', 'The campaign is started.');
        const shows = (column, wanted) => until(`${column}: ${wanted}`, async () => {
            javaScriptEnabled || await view(page, origin, 'campaigns');
            return await cell(column) === wanted;
        });
        mailqueue(database, 'work', '--transport', 'null://null', '--message-limit', '10');
        await shows('progress', '10 of 40');
        await act('Pause', 'Pause "spring" (30 mails left)?', 'The campaign is paused.');
        mailqueue(database, 'work', '--transport', 'null://null');
        await shows('progress', '10 of 40');
        await act('Resume', 'Resume "spring" (30 mails left)?', 'The campaign goes on.');
        php(`${here}/seed.php`, database, 'refuse');
        await shows('failed', '2');
        await act('Retry failed', 'Try the failed mails of "spring" again (2 mails)?', '2 mails brought back.');
        php(`${here}/seed.php`, database, 'refuse');
        await shows('failed', '2');
        await page.click('tbody tr:first-child .failed a');
        equal(await heading(page), 'Mails');
        equal(await page.locator('tbody tr').count(), 2);
        await view(page, origin, 'campaigns');
        await act('Cancel', 'Cancel "spring" for good (28 mails will never be sent)?', 'The campaign is cancelled.');
        equal(JSON.parse(mailqueue(database, 'campaign', 'status', 'spring', '--json')).state, 'cancelled');
        mailqueue(database, 'delete', '--campaign', 'spring', '--yes');
    });
    await check(name('German'), async () => {
        await view(page, origin, 'overview');
        await page.click('footer >> text=Deutsch');
        equal(await heading(page), 'Übersicht');
        await page.click('footer >> text=English');
        equal(await heading(page), 'Overview');
    });
    javaScriptEnabled && await check(name('no script failed'), async () => equal(page.problems.join(' '), ''));
    await check(name('log out'), async () => {
        await page.click('text="Log out"');
        await view(page, origin, 'mails');
        equal(await heading(page), 'Log in');
    });
    await page.context().close();
    return {origin, database, hostile};
};

/** The application's login ends while the overview is open. */
const loggedOut = async ({database}) => {
    const form = '<h1>Login of the application</h1>';
    const answers = {redirect: "header('Location: /login')", 401: `http_response_code(401) && print('${form}')`};
    for (const [what, answer] of Object.entries(answers)) {
        const origin = await serve(`login-${what}`, `<?php if ($_SERVER['REQUEST_URI'] === '/login') { exit('${form}'); }
            if (!isset($_COOKIE['app'])) { ${answer}; exit; }
            require '${MQ_ROOT}/web/autoload.php';
            (new MailQueue\\Web\\Page(new MailQueue('${database}'), access: fn () => 'viewer'))->handle();`);
        const context = await browser.newContext({locale: 'en-GB'});
        await context.addCookies([{name: 'app', value: '1', url: origin}]);
        const page = await context.newPage();
        await check(`logged out by the application/${what}`, async () => {
            await page.goto(origin);
            equal(await heading(page), 'Overview');
            await context.clearCookies();
            await until("the application's login", async () => await heading(page) === 'Login of the application');
            equal(await page.locator('.live').count(), 0);
        });
        await context.close();
    }
};

/** The application refuses the live part only: the page reloads once, not in a circle. */
const refusedPart = async ({database}) => {
    const origin = await serve('refused-part', `<?php if (isset($_GET['part'])) { http_response_code(403); exit; }
        require '${MQ_ROOT}/web/autoload.php';
        (new MailQueue\\Web\\Page(new MailQueue('${database}'), access: fn () => 'viewer'))->handle();`);
    const context = await browser.newContext({locale: 'en-GB'});
    const page = await context.newPage();
    let loads = 0;
    page.on('load', () => loads++);
    await check('a refused part reloads the page once', async () => {
        await page.goto(origin);
        await until('an old part', () => page.locator('[data-every].old').count());
        equal(loads, 2);
    });
    await context.close();
};

/** A recipient leaves a list: by the button, and by the one click of a mail program. */
const leaves = async ({database}) => {
    const link = (address) => php('-r', `echo (new MailQueue('${database}'))->unsubscribeUrl('${address}', 'news', 'https://example.org/');`)
        .replace('https://example.org/', '');
    const origin = await serve('leave', `<?php require '${MQ_ROOT}/web/autoload.php'; (new MailQueue\\Web\\Unsubscribe(`
        + `new MailQueue('${database}'), ['news' => 'Club news']))->handle();`);
    const isOut = (address) => mailqueue(database, 'suppress', 'list', '--json', address).includes('"unsubscribe"');
    for (const javaScriptEnabled of [true, false]) {
        const context = await browser.newContext({locale: 'en-GB', javaScriptEnabled});
        const page = await context.newPage();
        const address = `leaver${javaScriptEnabled}@example.net`;
        await check(`unsubscribe/the button, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
            await page.goto(origin + '/' + link(address));
            equal(await heading(page), 'Unsubscribe from Club news');
            equal(isOut(address), false); // to look is not to leave
            await page.click('text="Unsubscribe"');
            equal(await heading(page), 'You are unsubscribed');
            equal(isOut(address), true);
            equal((await context.cookies()).length, 0);
        });
        await context.close();
    }
    const context = await browser.newContext({locale: 'de-DE'});
    const page = await context.newPage();
    await check('unsubscribe/one click', async () => {
        const url = origin + '/' + link('one@example.net');
        equal((await page.request.get(url)).status(), 200);
        equal(isOut('one@example.net'), false);
        equal((await page.request.post(url, {form: {'List-Unsubscribe': 'One-Click'}})).status(), 200);
        equal(isOut('one@example.net'), true);
    });
    await check('unsubscribe/German, forged', async () => {
        const url = origin + '/' + link('other@example.net');
        await page.goto(url);
        equal(await heading(page), 'Club news abbestellen');
        await page.goto(url.slice(0, -3) + 'xyz');
        equal(await heading(page), 'Das ging nicht');
        equal((await page.request.post(url.slice(0, -3) + 'xyz', {form: {'List-Unsubscribe': 'One-Click'}})).status(), 400);
        equal(isOut('other@example.net'), false);
    });
    await context.close();
};

/** What others try. */
const attacks = async ({origin, database}) => {
    const page = await open(origin);
    await logIn(page);
    const enabled = () => mailqueue(database, 'config', 'mailQueueEnabled');
    const before = enabled();
    await check('attack/a form of another site', async () => {
        canary.pages['/forged'] = `<form method="post" action="${origin}/?view=overview"><input name="action" value="switch">`
            + '<input name="to" value="off"></form><script>document.forms[0].submit()</script>';
        await page.goto(`${canary.origin}/forged`);
        await page.waitForSelector('h1');
        equal((await page.textContent('.lead')).includes('not of this page'), true);
        equal(enabled(), before);
    });
    await check('attack/a foreign Origin with the right token', async () => {
        await view(page, origin, 'overview');
        const token = await page.inputValue('input[name=token] >> nth=0');
        const response = await page.request.post(`${origin}/?view=overview`,
            {form: {action: 'switch', to: 'off', token}, headers: {Origin: 'https://evil.example'}});
        equal(response.status(), 403);
        equal(enabled(), before);
        const own = await page.request.post(`${origin}/?view=overview`, {form: {action: 'switch', to: 'on', token}, headers: {Origin: origin}});
        equal(own.status(), 200);
    });
    await check('attack/a link and a form of another site log nobody out', async () => {
        const elsewhere = canary.origin.replace('127.0.0.1', 'localhost'); // to a browser another port is the same site
        canary.pages['/link'] = `<a href="${origin}/?view=mails&type=invoice">mails</a>`;
        const other = await page.context().newPage();
        const switched = enabled();
        await view(page, origin, 'settings');
        await other.goto(`${elsewhere}/link`);
        await other.click('a');
        await other.waitForSelector('h1 >> text="Mails"');
        equal(other.url(), `${origin}/?view=mails&type=invoice`);
        await other.reload();
        equal(await heading(other), 'Mails');
        await other.goBack();
        equal(other.url(), `${elsewhere}/link`); // one step
        await other.goto(`${elsewhere}/forged`);
        await other.waitForSelector('.lead');
        equal((await other.textContent('.lead')).includes('not of this page'), true);
        equal(enabled(), switched);
        await view(other, origin, 'overview');
        equal(await heading(other), 'Overview');
        await other.close();
        await page.click('form:has(input[name=key][value=mailBurst]) button'); // of before the link
        equal(await page.textContent('.done'), 'Saved.');
    });
    await check('attack/the page in a frame', async () => {
        canary.pages['/framing'] = `<iframe src="${origin}/?view=overview"></iframe>`;
        await page.goto(`${canary.origin}/framing`);
        await sleep(500);
        equal(page.frames()[1].url(), 'chrome-error://chromewebdata/');
    });
    const classes = `${MQ_ROOT}/web/autoload.php`;
    const viewer = await serve('viewer', `<?php require '${classes}'; (new MailQueue\\Web\\Page(new MailQueue('${database}'), `
        + "access: fn () => 'viewer', bodies: true))->handle();");
    const other = await open(viewer);
    await check('attack/a viewer', async () => {
        equal(await heading(other), 'Overview');
        equal(await other.locator('.switches, form[method=post]').count(), 0);
        await view(other, viewer, 'mail&id=1');
        equal(await other.locator('iframe, pre').count(), 0);
        equal(await other.textContent('.note >> nth=-1'), 'Messages are hidden from viewers.');
        for (const body of ['preview', 'text', 'source']) {
            equal((await other.request.get(`${viewer}/?view=${body}&id=1`)).status(), 403);
        }
    });
    await check('attack/paths', async () => {
        await view(page, origin, 'overview');
        for (const id of ['..%2f..%2fetc%2fpasswd', '1%2f..%2f2', '1%00', '-1', '1e9', '0x1', "1'--", '%ff']) {
            for (const name of ['mail', 'preview', 'text', 'source']) {
                equal((await page.request.get(`${origin}/?view=${name}&id=${id}`)).status(), 400);
            }
        }
    });
    await other.context().close();
    await page.context().close();
};

/** axe-core on each view, and the pictures. */
const looks = async ({origin, hostile, database}) => {
    mkdirSync(shots, {recursive: true});
    mailqueue(database, 'campaign', 'start', 'winter');
    mailqueue(database, 'work', '--transport', 'null://null', '--message-limit', '1');
    mailqueue(database, 'campaign', 'pause', 'winter');
    for (const [width, colorScheme] of [[1280, 'light'], [1280, 'dark'], [390, 'light'], [390, 'dark']]) {
        const page = await open(origin, {viewport: {width, height: 900}, colorScheme, bypassCSP: true});
        const look = async (name, go) => {
            const short = `${name}-${width}-${colorScheme}`;
            await check(`looks/${short}`, async () => {
                await go();
                await page.evaluate(axe);
                const {violations} = await page.evaluate(() => axe.run());
                const serious = violations.filter(({impact}) => ['serious', 'critical'].includes(impact));
                equal(serious.map(({id, nodes}) => `${id} ${nodes[0].html}`).join('; '), '');
                equal(await page.evaluate(() => document.documentElement.scrollWidth) <= width, true);
            });
            await page.screenshot({path: `${shots}/${short}.png`, fullPage: true});
            short === 'overview-1280-light' && await page.screenshot({path: `${shots}/readme.png`});
        };
        await look('login', () => {});
        await logIn(page);
        for (const name of VIEWS) {
            await look(name.split('&')[0], () => view(page, origin, name));
        }
        await look('hostile', () => view(page, origin, `mail&id=${hostile}`));
        await look('failed', async () => {
            await view(page, origin, 'mails&status=parked');
            await page.click('tbody a');
        });
        await look('question', () => page.click('text="Bring back"'));
        await look('error', () => view(page, origin, 'mail&id=x'));
        await look('German', () => view(page, origin, 'overview&language=de'));
        await check(`looks/keyboard-${width}-${colorScheme}`, async () => {
            await view(page, origin, 'overview&language=en');
            await page.keyboard.press('Tab');
            equal(await page.evaluate(() => document.activeElement.className), 'skip');
            await page.keyboard.press('Enter');
            equal(await page.evaluate(() => document.activeElement.id), 'main');
        });
        await page.context().close();
    }
};

try {
    const site = await flows('script', true);
    await flows('no-script', false);
    php(`${here}/seed.php`, site.database, 'failed');
    php(`${here}/seed.php`, site.database, 'uncertain');
    await loggedOut(site);
    await refusedPart(site);
    await leaves(site);
    await attacks(site);
    await looks(site);
} finally {
    await browser.close();
    for (const child of children) {
        try {
            process.kill(-child.pid);
        } catch {
            // it has ended
        }
    }
    canaryServer.closeAllConnections();
    canaryServer.close();
    rmSync(work, {recursive: true, force: true, maxRetries: 20, retryDelay: 100});
}
process.exitCode = failures > 0 ? 2 : 0; // 1 is how node says that it broke off
