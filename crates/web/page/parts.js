// What several parts of the page use: elements, numbers, pauses, files to save.

const byId = id => document.getElementById(id);

/** A new element of a class that holds a text. */
function element(name, className, text) {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
}

/** Shows a note, or hides it where there is nothing to say. */
function note(id, text) {
    const place = byId(id);
    place.textContent = text;
    place.hidden = text === '';
}

/** So many of a thing, with commas: "2,557 lines". */
function count(n, thing) {
    return `${n.toLocaleString('en')} ${thing}${n === 1 ? '' : 's'}`;
}

/** A number with so many digits behind the point and a true minus sign. */
function fixed(x, digits) {
    const text = x.toFixed(digits);
    // What rounds to zero has no sign.
    return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}

/** What to know about a text before its vector is believed; empty if there is nothing. */
function warning(what, { tokens, known }) {
    if (tokens === 0) {
        return `${what} has no word: its vector is zero, and its cosine with anything is 0.`;
    }
    if (known === 0) {
        return `No word of ${what.toLowerCase()} is known: its vector is random, decided by the spelling of the words.`;
    }
    return '';
}

/** Longest time in milliseconds for which the page does not answer. */
const SLICE = 12;
const { port1: paused, port2: wake } = new MessageChannel();
const waiting = [];
paused.onmessage = () => waiting.shift()();

/** Repeats a step until it returns true, with pauses in which the page lives on; returns the time spent in the steps. */
async function inSlices(step) {
    for (let spent = 0; ;) {
        const start = performance.now();
        let now = start;
        let done = false;
        while (!done && now < start + SLICE) {
            done = step();
            now = performance.now();
        }
        spent += now - start;
        if (done) {
            return spent;
        }
        await new Promise(go => {
            waiting.push(go);
            wake.postMessage(0);
        });
    }
}

/** Has the browser save parts of a file. */
function save(name, parts) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob(parts));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The header of a .npy file of f32 rows, version 1.0: a multiple of 64 bytes. */
function npyHeader(rows, dim) {
    const about = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${dim}), }`;
    const length = Math.ceil((10 + about.length + 1) / 64) * 64 - 10;
    const text = `\x93NUMPY\x01\x00${String.fromCharCode(length & 255, length >> 8)}${about.padEnd(length - 1)}\n`;
    return Uint8Array.from(text, c => c.charCodeAt(0));
}
