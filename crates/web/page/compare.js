// Two sentences beside each other: the cosine, and the words that carry it.

/** A share below this is pale even where no word has a larger one. */
const STRONG = 0.15;

const EXAMPLES = [
    ['Paraphrase', 'He bought a new car.', 'He purchased an automobile.'],
    ['Question', 'How can I change my password?', 'Where do I choose a new password?'],
    ['Unrelated', 'The soup needs more salt.', 'The parliament voted on the budget.'],
    ['Word order', 'The dog bites the man.', 'The man bites the dog.'],
    ['Negation', 'I like this film.', 'I do not like this film.'],
    ['Unknown words', 'Zyzzogeton wrote to Qwfpgj.', 'A letter from Zyzzogeton.'],
];

function showCosine(cosine) {
    const place = byId('cosine');
    const needle = byId('needle');
    if (cosine === null) {
        place.textContent = '–';
        needle.style.width = '0';
        return;
    }
    const text = fixed(cosine, 4);
    place.textContent = text.slice(0, -2);
    place.append(element('small', '', text.slice(-2)));
    needle.style.left = `${50 + 50 * Math.min(cosine, 0)}%`;
    needle.style.width = `${50 * Math.abs(cosine)}%`;
    needle.classList.toggle('below', cosine < 0);
}

function wordItem(text, share, strongest, className) {
    const item = element('li', className, '');
    const figure = fixed(share, 2);
    item.append(element('span', '', text), element('small', '', share > 0 && figure !== '0.00' ? `+${figure}` : figure));
    item.style.setProperty('--tint', `var(--${share < 0 ? 'minus' : 'plus'})`);
    item.style.setProperty('--strength', Math.abs(share) / strongest);
    return item;
}

function showWords(id, { words, n_more, more }, order, strongest) {
    const items = words.map(({ text, known, share }) => {
        const item = wordItem(text, share, strongest, known ? '' : 'unknown');
        if (!known) {
            item.title = 'unknown word: its vector is random, decided by its spelling';
        }
        return item;
    });
    if (order !== null) {
        const item = wordItem('order and negation', order, strongest, 'rest');
        item.title = 'what the order of the words and their negation add, in both sentences together';
        items.push(item);
    }
    if (n_more > 0) {
        items.push(wordItem(`and ${count(n_more, 'more word')}`, more, strongest, 'rest'));
    }
    byId(id).replaceChildren(...items);
}

function startCompare(engine) {
    const [first, second] = [byId('first'), byId('second')];
    const show = () => {
        const { cosine, order, sides } = engine.compare(first.value, second.value);
        const isEmpty = sides.some(side => side.counts.tokens === 0);
        const bothEmpty = sides.every(side => side.counts.tokens === 0);
        showCosine(bothEmpty ? null : cosine);
        const names = ['The first sentence', 'The second sentence'];
        const warnings = sides.map((side, i) => warning(names[i], side.counts)).filter(text => text !== '');
        note('compare-note', bothEmpty ? 'Write a sentence into both fields.' : warnings.join(' '));
        byId('words').hidden = isEmpty;
        const shares = sides.flatMap(side => side.words.map(word => Math.abs(word.share))).concat(Math.abs(order ?? 0));
        const strongest = shares.reduce((most, share) => Math.max(most, share), STRONG);
        sides.forEach((side, i) => showWords(['first-words', 'second-words'][i], side, order, strongest));
    };
    for (const [name, a, b] of EXAMPLES) {
        const button = element('button', '', name);
        button.type = 'button';
        button.onclick = () => {
            [first.value, second.value] = [a, b];
            show();
        };
        byId('examples').append(button);
    }
    first.oninput = second.oninput = show;
    show();
}
