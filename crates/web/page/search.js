// A text, line by line, or a collection that `senv index --export-web` wrote, and what is nearest to a query. Reading and
// searching go on in slices of time.

/** Neighbours that are shown. */
const K = 10;

/** Larger files are refused before they are read: no array of 32-bit WebAssembly holds them. */
const MOST_BYTES = 2 ** 31 - 2 ** 26;

/** Whether a file is one of senv, a header behind its length in eight bytes, and no text. */
const isCollection = bytes => bytes.length > 9 && bytes[8] === 0x7b && bytes[5] === 0 && bytes[6] === 0 && bytes[7] === 0;

class Search {
    #engine;
    #lines = 0;
    /** What is searched: lines of a text, or sentences of a collection. */
    #thing = 'line';
    /** Counts the texts, and the queries: work for an earlier one stops. */
    #text = 0;
    #query = 0;

    constructor(engine) {
        this.#engine = engine;
    }

    /** Reads and embeds a text, or opens a collection, then searches it. */
    async open(name, bytes) {
        const text = ++this.#text;
        this.#query++;
        byId('hits').replaceChildren();
        byId('save-lines').disabled = true;
        byId('search-status').textContent = '';
        try {
            this.#lines = 0;
            this.#thing = 'line';
            if (isCollection(bytes)) {
                this.#thing = 'sentence';
                await this.#check(text, name, this.#engine.openCollection(bytes));
            } else {
                this.#engine.openText(bytes);
                await this.#read(text, name, bytes.length);
            }
        } catch (error) {
            if (text === this.#text) {
                byId('text-status').textContent = `${name}: ${error.message}`;
            }
        }
        if (text === this.#text) {
            byId('search-status').textContent = '';
            byId('progress').hidden = true;
            byId('save-lines').disabled = this.#lines === 0 || this.#thing !== 'line';
            await this.ask();
        }
    }

    async #read(text, name, nBytes) {
        const progress = byId('progress');
        progress.hidden = false;
        progress.removeAttribute('value');
        byId('text-status').textContent = `${name}: reading`;
        const spent = await inSlices(() => {
            if (text !== this.#text) {
                return true;
            }
            const { lines, done } = this.#engine.readLines(64);
            this.#lines = lines;
            // Not in the status, which screen readers would read out each time.
            byId('search-status').textContent = `${count(lines, 'line')} so far`;
            return done;
        });
        if (text === this.#text) {
            const rate = this.#lines > 0 && spent > 0 ? Math.round(this.#lines / spent) * 1000 : 0;
            const speed = rate > 0 ? `, embedded in ${fixed(spent, 0)} ms (${rate.toLocaleString('en')} a second)` : '';
            const empty = nBytes > 0 ? 'no line with a text' : 'it is empty';
            byId('text-status').textContent = `${name}: ${this.#lines > 0 ? count(this.#lines, 'line') + speed : empty}.`;
        }
    }

    /** Compares a collection with its checksums. */
    async #check(text, name, { sentences, distinct }) {
        const progress = byId('progress');
        progress.hidden = false;
        progress.removeAttribute('value');
        byId('text-status').textContent = `${name}: reading`;
        const spent = await inSlices(() => text !== this.#text || this.#engine.readLines(64).done);
        if (text === this.#text) {
            this.#lines = distinct;
            const among = distinct < sentences ? `, ${distinct.toLocaleString('en')} of them distinct` : '';
            const about = sentences > 0 ? `${count(sentences, 'sentence')}${among}, checked in ${fixed(spent, 0)} ms` : 'no sentence in it';
            byId('text-status').textContent = `${name}: ${about}.`;
        }
    }

    /** Finds the lines nearest to what stands in the field. */
    async ask() {
        const query = ++this.#query;
        const counts = this.#engine.ask(byId('query').value, K);
        note('search-note', counts.tokens === 0 ? '' : warning('The query', counts));
        let compared = 0;
        const spent = await inSlices(() => {
            if (query !== this.#query) {
                return true;
            }
            const searching = this.#engine.search(4096);
            compared = searching.compared;
            return searching.done;
        });
        if (query !== this.#query) {
            return;
        }
        const hits = this.#engine.hits();
        byId('hits').replaceChildren(...hits.map(hit => {
            const item = element('li', '', '');
            item.append(element('span', 'score', fixed(hit.cosine, 4)), element('span', 'text', hit.text));
            item.append(element('span', 'line', place(hit)));
            item.style.setProperty('--cosine', Math.max(0, hit.cosine));
            return item;
        }));
        const none = counts.tokens === 0 ? '' : `No ${this.#thing} to compare with.`;
        byId('search-status').textContent =
            hits.length > 0 ? `${count(compared, this.#thing)} compared in ${spent < 0.1 ? 'less than 0.1' : fixed(spent, 1)} ms.` : none;
    }

    /** Saves the vectors of the lines, in their order. */
    saveVectors() {
        const blocks = this.#engine.vectors();
        save('vectors.npy', [npyHeader(this.#lines, this.#engine.about.line_dim), ...blocks]);
    }
}

/** Where a hit stands, and how often: "line 12", "id 7, line 12, 3 times". */
function place({ line, id, count: times }) {
    const parts = [id === null ? '' : `id ${id}`, line > 0 ? `line ${line.toLocaleString('en')}` : ''];
    return [...parts, times > 1 ? `${times.toLocaleString('en')} times` : ''].filter(part => part !== '').join(', ');
}

/** The bytes of a file beside the page, of the same server alone. */
async function fetched(address) {
    const url = new URL(address, location.href);
    if (!location.protocol.startsWith('http')) {
        throw new Error('a page that was opened from the disk loads nothing; open the file with the button below');
    }
    if (url.origin !== location.origin) {
        throw new Error('it lies on another server than the page, which loads nothing from elsewhere');
    }
    const response = await fetch(url);
    if (!response.ok) {
        throw new Error(`the server says ${response.status} ${response.statusText}`);
    }
    checkSize(Number(response.headers.get('Content-Length')));
    return new Uint8Array(await response.arrayBuffer());
}

function checkSize(nBytes) {
    if (nBytes > MOST_BYTES) {
        throw new Error(`it has ${Math.round(nBytes / 1e6).toLocaleString('en')} MB, and the page holds ${Math.round(MOST_BYTES / 1e6).toLocaleString('en')}; take a smaller file`);
    }
}

function startSearch(engine) {
    const search = new Search(engine);
    const encode = text => new TextEncoder().encode(text);
    const openBytes = async (name, read) => {
        byId('sample-again').hidden = false;
        byId('text-status').textContent = `${name}: opening`;
        try {
            await search.open(name, await read());
        } catch (error) {
            byId('text-status').textContent = `${name} cannot be read: ${error.message}`;
        }
    };
    const openFile = file => openBytes(file.name, async () => {
        checkSize(file.size);
        return new Uint8Array(await file.arrayBuffer());
    });
    const openSample = () => search.open('Sample text', encode(byId('sample').textContent));
    byId('query').oninput = () => search.ask();
    byId('file').onchange = event => {
        const [file] = event.target.files;
        if (file) {
            openFile(file);
        }
    };
    const drop = byId('drop');
    drop.ondragover = event => {
        event.preventDefault();
        drop.classList.add('over');
    };
    drop.ondragleave = () => drop.classList.remove('over');
    drop.ondrop = event => {
        event.preventDefault();
        drop.classList.remove('over');
        const [file] = event.dataTransfer.files;
        if (file) {
            openFile(file);
        }
    };
    byId('search-pasted').onclick = () => {
        byId('sample-again').hidden = false;
        search.open('Pasted text', encode(byId('pasted').value));
    };
    byId('sample-again').onclick = () => {
        byId('sample-again').hidden = true;
        openSample();
    };
    byId('save-lines').onclick = () => search.saveVectors();
    // A collection beside the page: page.html?collection=my.web
    const address = new URLSearchParams(location.search).get('collection');
    return address ? openBytes(address, () => fetched(address)) : openSample();
}
