// The vector of a sentence: drawn, listed, copied, saved.

/** Bars of the values, above and below a line in the middle. */
function drawVector(vector) {
    const most = vector.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-9);
    const [width, half] = [768 / vector.length, 66];
    const bars = sign => vector.map((x, i) => {
        const height = (Math.max(0, x * sign) / most) * (half - 2);
        const top = sign > 0 ? half - height : half;
        return `M${i * width} ${top}h${width * 0.78}v${height}h${-width * 0.78}z`;
    }).join('');
    byId('bars-up').setAttribute('d', bars(1));
    byId('bars-down').setAttribute('d', bars(-1));
}

function startEmbed(engine) {
    const field = byId('sentence');
    let now = null;
    const show = () => {
        now = engine.embed(field.value);
        const { counts, vector } = now;
        note('embed-note', warning('The sentence', counts));
        drawVector(vector);
        const [low, high] = [Math.min(...vector), Math.max(...vector)];
        const length = Math.hypot(...vector);
        const about = `${vector.length} values from ${fixed(low, 3)} to ${fixed(high, 3)}, length ${fixed(length, 3)}`;
        byId('plot').setAttribute('aria-label', about);
        byId('plot-caption').textContent = `${about}; ${counts.known} of ${count(counts.tokens, 'token')} known`;
        byId('values').textContent = vector.join(', ');
        byId('copied').textContent = '';
    };
    const json = () => JSON.stringify({ sentence: field.value, vector: now.vector });
    byId('copy').onclick = async () => {
        try {
            await navigator.clipboard.writeText(json());
            byId('copied').textContent = 'Copied.';
        } catch {
            byId('copied').textContent = 'The browser does not allow it here; save the JSON instead.';
        }
    };
    byId('save-json').onclick = () => save('vector.json', [json() + '\n']);
    byId('save-csv').onclick = () => save('vector.csv', [now.vector.join(',') + '\n']);
    byId('save-npy').onclick = () => save('vector.npy', [npyHeader(1, now.vector.length), Float32Array.from(now.vector)]);
    field.oninput = show;
    show();
}
