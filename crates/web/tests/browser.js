// Uses the page as a person does and compares what it shows with what `senv` answers (`EXPECTED`). `.ci/web` puts this
// beside a frame with the page. A line "ok ..." a check, "FAILED ..." for one that fails, "finished ..." at the end.

let page, view, n_checks = 0;
const inPage = id => page.getElementById(id);
const pause = milliseconds => new Promise(go => setTimeout(go, milliseconds));

function check(holds, what, found) {
    n_checks++;
    if (!holds) {
        console.log(`FAILED ${what}: ${JSON.stringify(found ?? null)?.slice(0, 600)}`);
    }
}

async function until(condition, what) {
    for (let i = 0; i < 2000; i++) {
        if (condition()) {
            return;
        }
        await pause(10);
    }
    throw new Error(`waited in vain for ${what}`);
}

function write(id, text) {
    inPage(id).value = text;
    inPage(id).dispatchEvent(new view.Event('input', { bubbles: true }));
}

/** Every number on the page has a true minus sign. */
const number = text => Number(text.replace('−', '-'));
const shown = id => inPage(id).textContent;
const isPhoneWide = what =>
    check(page.documentElement.scrollWidth <= 360, `no wider than a phone: ${what}`, page.documentElement.scrollWidth);

/** The bytes of the file that a button would have the browser save. */
async function saved(id) {
    let link;
    view.HTMLAnchorElement.prototype.click = function () {
        link = this;
    };
    inPage(id).click();
    return new Uint8Array(await (await view.fetch(link.href)).arrayBuffer());
}

function compare(first, second) {
    write('first', first);
    write('second', second);
    return shown('cosine');
}

async function cosines() {
    for (const { first, second, cosine } of EXPECTED.similarity) {
        const text = compare(first, second);
        check(number(text) === Number(cosine.toFixed(4)), `the cosine of "${first}" and "${second}"`, [text, cosine]);
        for (const id of ['first-words', 'second-words']) {
            const shares = [...inPage(id).querySelectorAll('small')].map(share => number(share.textContent));
            const sum = shares.reduce((sum, share) => sum + share, 0);
            check(Math.abs(sum - cosine) <= 0.006 * shares.length, `words add up to the cosine of "${first}"`, shares);
        }
        const [bar, track] = [inPage('needle'), inPage('needle').parentElement].map(part => part.getBoundingClientRect());
        const [from, to] = [bar.left, bar.right].map(x => (2 * (x - track.left)) / track.width - 1);
        check(Math.abs(from - Math.min(cosine, 0)) < 0.02 && Math.abs(to - Math.max(cosine, 0)) < 0.02, `the bar of "${first}"`, [from, to]);
        isPhoneWide(first);
    }
    console.log(`ok ${EXPECTED.similarity.length} cosines are those of senv similarity`);
}

async function vectors() {
    const values = () => shown('values').split(', ').map(Number).map(Math.fround);
    EXPECTED.similarity.forEach(({ first }, i) => {
        write('sentence', first);
        const expected = EXPECTED.vectors[i].map(Math.fround);
        check(values().length === expected.length && values().every((x, j) => x === expected[j]), `the vector of "${first}"`, values());
    });
    console.log(`ok ${EXPECTED.vectors.length} vectors are those of senv encode, bit for bit`);
    write('sentence', EXPECTED.similarity[0].first);
    const npy = String.fromCharCode(...await saved('save-npy'));
    check(npy === atob(EXPECTED.npy), 'the .npy file', npy.slice(0, 130));
    const json = JSON.parse(new TextDecoder().decode(await saved('save-json')));
    check(json.sentence === EXPECTED.similarity[0].first && json.vector.length === 514, 'the JSON file', json);
    const csv = new TextDecoder().decode(await saved('save-csv'));
    check(csv.trim().split(',').every((x, i) => Math.fround(x) === Math.fround(EXPECTED.vectors[0][i])), 'the CSV file', csv);
    console.log('ok files of a vector');
}

/** The neighbours that are shown; waits for those of `query` among `nLines` lines. */
async function neighbours(query, nLines) {
    inPage('search-status').textContent = '';
    write('query', query);
    await until(() => shown('search-status') !== '', `neighbours of ${query}`);
    check(shown('search-status').startsWith(nLines.toLocaleString('en')), 'all lines are compared', shown('search-status'));
    return [...inPage('hits').children].map(item => [
        number(item.querySelector('.score').textContent), item.querySelector('.text').textContent]);
}

async function searches(expected, nLines, what) {
    for (const { query, neighbours: wanted } of expected) {
        const found = await neighbours(query, nLines);
        check(found.length === wanted.length, `neighbours of "${query}"`, found);
        check(found[0][1] === wanted[0].text, `the nearest line to "${query}"`, [found[0], wanted[0]]);
        found.forEach(([score, text], i) => {
            check(Math.abs(score - wanted[i].cosine) < 0.00006, `cosine ${i} of "${query}"`, [score, wanted[i]]);
            // Lines of equal cosine may change places where the last bit of a cosine differs.
            check(wanted.some(near => near.text === text) || Math.abs(score - wanted.at(-1).cosine) < 0.0001, `neighbour ${i} of "${query}"`, text);
        });
        isPhoneWide(query);
    }
    console.log(`ok ${expected.length} searches in ${what} are those of senv nearest`);
}

async function open(name, parts) {
    const files = new view.DataTransfer();
    files.items.add(new view.File(parts, name));
    inPage('file').files = files.files;
    inPage('file').dispatchEvent(new view.Event('change'));
    await until(() => shown('text-status').startsWith(`${name}:`) && !/(reading|opening)$/.test(shown('text-status'))
        && inPage('progress').hidden, `reading ${name}`);
    return shown('text-status');
}

async function paste(text) {
    inPage('pasted').value = text;
    inPage('text-status').textContent = '';
    inPage('search-pasted').click();
    await until(() => shown('text-status').endsWith('.') && inPage('progress').hidden, 'pasted text');
    return shown('text-status');
}

async function texts() {
    await searches(EXPECTED.nearest, 2557, 'the sample');
    const long = document.getElementById('long').textContent;
    check((await open('long.txt', [long])).startsWith('long.txt: 20,000 lines'), '20,000 lines are read', shown('text-status'));
    await searches(EXPECTED.nearestLong, 20000, '20,000 lines of a file');
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await saved('save-lines')));
    const hex = [...hash].map(byte => byte.toString(16).padStart(2, '0')).join('');
    check(hex === EXPECTED.longNpy, 'the vectors of all lines are the file of senv encode', hex);
    // How long the page does not answer while it reads 200,000 lines: reported, not judged.
    let longest = 0, last = performance.now(), reading = true;
    const tick = () => {
        const now = performance.now();
        [longest, last] = [Math.max(longest, now - last), now];
        if (reading) {
            setTimeout(tick);
        }
    };
    tick();
    const status = await open('longer.txt', Array(10).fill(long));
    reading = false;
    await neighbours('The bank asks for high interest on a loan.', 200000);
    console.log(`seen ${status} Longest wait ${longest.toFixed(0)} ms. ${shown('search-status')}`);
}

/** A collection of `senv index --export-web`; damaged ones, and one of the other model. */
async function collections() {
    const bytes = base64 => Uint8Array.from(atob(base64), character => character.charCodeAt(0));
    const file = bytes(EXPECTED.web);
    const status = await open('c.web', [file]);
    check(/^c\.web: 2,5\d\d sentences, 2,5\d\d of them distinct, checked in/.test(status), 'sentences of a collection', status);
    const nDistinct = Number(status.match(/([\d,]+) of them/)?.[1].replace(',', ''));
    for (const { query, neighbours: wanted } of EXPECTED.search) {
        const found = await neighbours(query, nDistinct);
        check(found.length === wanted.length && found[0][1] === wanted[0].text, `the nearest sentence to "${query}"`, [found[0], wanted[0]]);
        found.forEach(([score], i) =>
            check(Math.abs(score - wanted[i].cosine) < 0.01, `cosine ${i} of "${query}" in a collection`, [score, wanted[i]]));
        const places = [...inPage('hits').querySelectorAll('.line')].map(place => place.textContent);
        check(places[0].startsWith(`id ${wanted[0].id}, line ${wanted[0].line.toLocaleString('en')}`), 'id and line', [places[0], wanted[0]]);
        check(wanted[0].count < 2 || places[0].endsWith(`${wanted[0].count} times`), 'how many are equal', places[0]);
        isPhoneWide(`${query} in a collection`);
    }
    check(EXPECTED.search.some(({ neighbours: [first] }) => first.count === 3), 'equal sentences among the hits');
    check(inPage('save-lines').disabled, 'vectors of a collection are not saved');
    const changed = file.slice();
    changed[changed.length - 1000] ^= 1;
    const odd = [['changed.web', changed, 'checksum'], ['cut.web', file.slice(0, -1), 'safetensors']];
    for (const [name, content, says] of odd) {
        check((await open(name, [content])).includes(says), name, shown('text-status'));
        await until(() => inPage('hits').childElementCount === 0, `no hits in ${name}`);
        isPhoneWide(name);
    }
    console.log(`ok ${EXPECTED.search.length} searches in a collection are those of senv search`);
    console.log(`seen ${status} ${shown('text-status')}`);
}

async function oddTexts() {
    check((await paste('')).includes('empty'), 'an empty text', shown('text-status'));
    check(shown('search-status') === 'No line to compare with.', 'nothing to search', shown('search-status'));
    check(inPage('save-lines').disabled, 'nothing to save');
    check((await paste('\n \n\n')).includes('no line'), 'blank lines', shown('text-status'));
    check((await paste('A nul\0byte.\r\n\r\n😀 A cat. 👩‍👩‍👧‍👦\nThe bank.')).startsWith('Pasted text: 3 lines'), 'odd lines', shown('text-status'));
    const [nearest] = await neighbours('a cat 😀', 3);
    check(nearest[1] === '😀 A cat. 👩‍👩‍👧‍👦', 'the line with emoji', nearest);
    write('query', '');
    await until(() => inPage('hits').childElementCount === 0, 'an empty query to have no neighbours');
    check(inPage('search-note').hidden && shown('search-status') === '', 'an empty query is no error', shown('search-status'));
    await neighbours('qzxjk wvvbz', 3);
    check(shown('search-note').startsWith('No word of the query is known'), 'unknown query', shown('search-note'));
    const line = 'the cat sat on a zyzzogeton '.repeat(370_000);
    check((await open('one-line.txt', [line])).startsWith('one-line.txt: 1 line'), '10 MB in one line', shown('text-status'));
    const [only] = await neighbours('a cat', 1);
    check(only[1].endsWith('…') && only[1].length < 700, 'the beginning of a long line', only[1].length);
    isPhoneWide('10 MB in one line');
    check((await open('bytes.bin', [new Uint8Array([250, 251, 0, 1, 10, 65, 10])])).includes('2 lines'), 'bytes that are no text', shown('text-status'));
    check((await open('text.gz', [new Uint8Array([31, 139, 8, 0, 0, 0, 0, 0])])).includes('gzip'), 'a compressed file', shown('text-status'));
    console.log(`seen ${shown('text-status')}`);
    inPage('sample-again').click();
    await until(() => shown('text-status').startsWith('Sample text: 2,557 lines'), 'the sample text');
    console.log('ok odd texts');
}

async function oddSentences() {
    check(compare('', '') === '–' && shown('compare-note').startsWith('Write'), 'two empty fields', shown('compare-note'));
    check(compare('A cat.', '\0 ') === '0.0000' && inPage('words').hidden, 'a sentence and NUL', shown('cosine'));
    check(shown('compare-note').startsWith('The second sentence has no word'), 'one empty field', shown('compare-note'));
    compare('qzxjk wvvbz', 'A cat.');
    check(shown('compare-note').startsWith('No word of the first sentence is known'), 'unknown words only', shown('compare-note'));
    check(inPage('first-words').querySelectorAll('.unknown').length === 2, 'unknown words are marked');
    compare('A cat.', 'A dog.');
    check(inPage('compare-note').hidden, 'no note where all is well', shown('compare-note'));
    check(Number.isFinite(number(compare('x'.repeat(10_000_000), 'A cat.'))), 'a word of 10 MB', shown('cosine'));
    isPhoneWide('a word of 10 MB');
    // "sat the" is in one of them alone: order tells them apart, and does not outweigh the words.
    check(number(compare('the cat sat '.repeat(900_000), 'The cat sat')) > 0.8, '10 MB', shown('cosine'));
    check(inPage('first-words').lastChild.textContent.startsWith('and 2,699,700 more words'), 'the rest of 10 MB', inPage('first-words').lastChild.textContent);
    check(compare('\ud800 half 😀', '\ud800 half 😀') === '1.0000', 'half a character', shown('cosine'));
    check(compare('<b>cat</b><script>', 'a cat') !== '–' && !inPage('words').querySelector('b,script'), 'markup is text');
    compare('He bought a new car.', 'He purchased an automobile.');
    write('sentence', '');
    check(shown('embed-note').startsWith('The sentence has no word'), 'no sentence to embed', shown('embed-note'));
    isPhoneWide('no sentence');
    console.log('ok odd sentences');
}

function access() {
    const unnamed = [...page.querySelectorAll('button,input,textarea,summary,output,progress,ol,svg,pre')].filter(element =>
        !(element.getAttribute('aria-label') || element.textContent.trim() || element.labels?.[0]?.textContent.trim()));
    check(unnamed.length === 0, 'everything has a name for screen readers', unnamed.map(element => element.id));
    const unreachable = [...page.querySelectorAll('button,input,textarea,summary')].filter(element => element.tabIndex < 0);
    check(unreachable.length === 0, 'everything can be reached by keyboard', unreachable.map(element => element.id));
    const ids = [...page.querySelectorAll('[id]')].map(element => element.id);
    check(new Set(ids).size === ids.length, 'ids are unique', ids);
    page.querySelectorAll('details').forEach(details => { details.open = true; });
    isPhoneWide('everything open');
    check(page.querySelectorAll('.sources li').length > 15, 'the sources of the model');
    console.log('ok names, keyboard, width');
}

const frame = document.getElementById('frame');
frame.onload = async () => {
    [page, view] = [frame.contentDocument, frame.contentWindow];
    view.addEventListener('error', event => console.log(`FAILED ${event.message}`));
    view.addEventListener('unhandledrejection', event => console.log(`FAILED ${event.reason}`));
    try {
        await until(() => shown('text-status').startsWith('Sample text: 2,557 lines') && shown('search-status') !== '', 'the sample');
        console.log(`seen ${shown('status')} ${shown('text-status')} ${shown('search-status')}`);
        for (const part of [cosines, vectors, texts, collections, oddTexts, oddSentences, access]) {
            await part();
        }
    } catch (error) {
        console.log(`FAILED ${error.message}`);
    }
    console.log(`finished ${n_checks} checks`);
};
frame.src = 'page.html';
