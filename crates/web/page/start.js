// Starts the engine, then the parts of the page.

async function start() {
    const status = byId('status');
    const begun = performance.now();
    let engine;
    try {
        engine = await Engine.start(byId('engine').textContent);
    } catch (error) {
        status.textContent = 'This browser cannot run the page: it needs WebAssembly with vector instructions '
            + `(Chrome 91, Firefox 89, Safari 16.4 or later). It says: ${error.message}`;
        return;
    }
    const { dim, words } = engine.about;
    status.textContent = `The model: ${words.toLocaleString('en')} words, ${dim} values a vector; ready in ${fixed(performance.now() - begun, 0)} ms.`;
    const fail = error => {
        showCosine(null);
        status.textContent = `Something went wrong: ${error?.message ?? error}`;
    };
    window.addEventListener('error', event => fail(event.error));
    window.addEventListener('unhandledrejection', event => fail(event.reason));
    startCompare(engine);
    startEmbed(engine);
    await startSearch(engine);
}

start();
