// The compiled engine: text in, answers out. What each call does is said in crates/web/src/exports.rs.

class Engine {
    #exports;
    #encoder = new TextEncoder();
    #decoder = new TextDecoder();

    /** Compiles the module in this base64 text and opens its model; `about` says what that is. */
    static async start(base64) {
        const characters = atob(base64);
        const bytes = new Uint8Array(characters.length);
        for (let i = 0; i < bytes.length; i++) {
            bytes[i] = characters.charCodeAt(i);
        }
        const { instance } = await WebAssembly.instantiate(bytes, {});
        const engine = new Engine();
        engine.#exports = instance.exports;
        engine.about = engine.#call('senv_start');
        return engine;
    }

    /** The cosine of two sentences and the share of each word. */
    compare(first, second) {
        const [a, b] = [this.#encoder.encode(first), this.#encoder.encode(second)];
        this.#put(a, b);
        return this.#call('senv_compare', a.length);
    }

    /** The vector of a sentence. */
    embed(sentence) {
        this.#put(this.#encoder.encode(sentence));
        return this.#call('senv_embed');
    }

    /** Takes the bytes of a text, to be read by `readLines`. */
    openText(bytes) {
        // An empty text first: the memory of the one before is free for this one.
        for (const text of [new Uint8Array(), bytes]) {
            this.#put(text);
            this.#call('senv_open_text');
        }
    }

    /** Takes the bytes of a collection, to be checked by `readLines`; says how many sentences it has. */
    openCollection(bytes) {
        this.openText(new Uint8Array());
        this.#put(bytes);
        return this.#call('senv_open_collection');
    }

    readLines(atMost) {
        return this.#call('senv_read_lines', atMost);
    }

    /** Sets the query, to be compared with lines by `search`. */
    ask(query, k) {
        this.#put(this.#encoder.encode(query));
        return this.#call('senv_ask', k);
    }

    search(atMost) {
        return this.#call('senv_search', atMost);
    }

    hits() {
        return this.#call('senv_hits');
    }

    /** Copies of the vectors of the lines, an array of f32 for each block of them. */
    vectors() {
        const blocks = this.#call('senv_vectors');
        return blocks.map(([at, n]) => new Float32Array(this.#exports.memory.buffer, at, n).slice());
    }

    #put(...parts) {
        const n = parts.reduce((sum, part) => sum + part.length, 0);
        let at = this.#run('senv_input', n);
        if (at === 0) {
            throw new Error(`no memory for ${Math.round(n / 1e6)} MB: take a smaller file`);
        }
        for (const part of parts) {
            new Uint8Array(this.#exports.memory.buffer, at, part.length).set(part);
            at += part.length;
        }
    }

    /** Addresses and lengths are unsigned, which JavaScript does not know. */
    #run(name, ...numbers) {
        try {
            return this.#exports[name](...numbers) >>> 0;
        } catch (error) {
            throw new Error(`the engine has stopped, most likely for lack of memory; reload the page (${error.message})`);
        }
    }

    #call(name, ...numbers) {
        const n = this.#run(name, ...numbers);
        const at = this.#run('senv_answer');
        const answer = JSON.parse(this.#decoder.decode(new Uint8Array(this.#exports.memory.buffer, at, n)));
        if (answer?.error) {
            throw new Error(answer.error);
        }
        return answer;
    }
}
