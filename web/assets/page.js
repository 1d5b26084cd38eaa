/* Live parts of the page. Everything else works without this file. */
'use strict';

/* A part can be refused although the page is not: reloads would then follow each other. */
const mayReload = () => performance.getEntriesByType('navigation')[0]?.type !== 'reload'
    || performance.now() > 60_000;

/* Asks for a part again every few seconds, but not while the tab is hidden. */
for (const part of document.querySelectorAll('[data-every]')) {
    let last = Date.now();
    const refresh = async () => {
        last = Date.now();
        try {
            const response = await fetch(part.dataset.from,
                {headers: {Accept: 'text/html'}, redirect: 'manual'});
            // Logged out: the application may redirect to its own login.
            const isOut = response.type === 'opaqueredirect'
                || [401, 403].includes(response.status);
            if (isOut && mayReload()) {
                location.reload();
            } else {
                part.classList.toggle('old', !response.ok);
            }
            if (response.ok) {
                const html = await response.text();
                if (!part.contains(document.activeElement) && part.innerHTML !== html) {
                    part.innerHTML = html;
                }
            }
        } catch {
            part.classList.add('old');
        }
    };
    const due = () => Date.now() - last >= part.dataset.every * 1000;
    setInterval(() => document.hidden || !due() || refresh(), 500);
    document.addEventListener('visibilitychange', () => document.hidden || !due() || refresh());
}

/* Shows the slider's number while it moves. */
for (const output of document.querySelectorAll('output[for]')) {
    const slider = document.getElementById(output.htmlFor.value);
    output.hidden = false; // without this script it would show a number that is not the slider's
    slider?.addEventListener('input', () => { output.value = slider.value; });
}

/* A reload does not say again what an action did. */
const here = new URL(location);
if (here.searchParams.has('done')) {
    here.searchParams.delete('done');
    here.searchParams.delete('count');
    history.replaceState(history.state, '', here);
}
