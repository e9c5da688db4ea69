// A text, line by line, and the lines nearest to a query. Reading and searching go on in slices of time.

/** Neighbours that are shown. */
const K = 10;

class Search {
    #engine;
    #lines = 0;
    /** Counts the texts, and the queries: work for an earlier one stops. */
    #text = 0;
    #query = 0;

    constructor(engine) {
        this.#engine = engine;
    }

    /** Reads and embeds a text, then searches it. */
    async open(name, bytes) {
        const text = ++this.#text;
        this.#query++;
        byId('hits').replaceChildren();
        byId('save-lines').disabled = true;
        byId('search-status').textContent = '';
        try {
            this.#engine.openText(bytes);
            await this.#read(text, name, bytes.length);
        } catch (error) {
            if (text === this.#text) {
                byId('text-status').textContent = `${name}: ${error.message}`;
            }
        }
        if (text === this.#text) {
            byId('search-status').textContent = '';
            byId('progress').hidden = true;
            byId('save-lines').disabled = this.#lines === 0;
            await this.ask();
        }
    }

    async #read(text, name, nBytes) {
        const progress = byId('progress');
        this.#lines = 0;
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
            item.append(element('span', 'line', `line ${hit.line.toLocaleString('en')}`));
            item.style.setProperty('--cosine', Math.max(0, hit.cosine));
            return item;
        }));
        const none = counts.tokens === 0 ? '' : 'No line to compare with.';
        byId('search-status').textContent =
            hits.length > 0 ? `${count(compared, 'line')} compared in ${spent < 0.1 ? 'less than 0.1' : fixed(spent, 1)} ms.` : none;
    }

    /** Saves the vectors of the lines, in their order. */
    saveVectors() {
        const blocks = this.#engine.vectors();
        save('vectors.npy', [npyHeader(this.#lines, this.#engine.about.dim), ...blocks]);
    }
}

function startSearch(engine) {
    const search = new Search(engine);
    const encode = text => new TextEncoder().encode(text);
    const openFile = async file => {
        byId('sample-again').hidden = false;
        byId('text-status').textContent = `${file.name}: opening`;
        try {
            await search.open(file.name, new Uint8Array(await file.arrayBuffer()));
        } catch (error) {
            byId('text-status').textContent = `${file.name} cannot be read: ${error.message}`;
        }
    };
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
    return openSample();
}
