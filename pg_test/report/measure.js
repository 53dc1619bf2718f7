// Runs inside a copy of a report and tells the page around it what a browser makes of it: a line for each fact.
(() => {
    const lines = [];
    const say = (name, value) => lines.push(`${name}: ${value}`);
    const all = selector => [...document.querySelectorAll(selector)];
    const box = element => element.getBoundingClientRect();
    const root = document.documentElement;
    say('overflows', root.scrollWidth - root.clientWidth);
    say('scripts', all('script:not([data-ours])').length);
    say('foreign', all('img, iframe, object, embed, link, base, form, [onclick], [onerror], [onload]').length);
    say('hacked', String(window.hacked));
    const ids = all('[id]').map(element => element.id);
    say('double ids', ids.length - new Set(ids).size);
    say('lost links', all('a[href^="#"]').filter(a => !document.getElementById(a.getAttribute('href').slice(1))).length);
    say('protocols', [...new Set(all('a[rel]').map(a => a.protocol))].sort().join(' '));
    say('sections', all('main > section').map(section => section.id).join(' '));
    // Letters of the pictures are as large as they were meant at any width, and the pictures as wide as their card.
    for (const chart of all('.nd-chart')) {
        const card = box(chart.closest('.nd-card'));
        const labels = [...chart.querySelectorAll('text')].filter(text => getComputedStyle(text).display !== 'none');
        const below = labels.map(box).filter(label => label.top >= box(chart).bottom);
        // Of letters, the boxes have some room above and below them.
        const boxes = labels.map(box);
        const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom - 2 && b.top + 2 < a.bottom - 2;
        const crowded = boxes.filter((label, n) => boxes.slice(0, n).some(other => meet(label, other))).length;
        const outside = labels.map(box).filter(label => label.left < card.left || label.right > card.right).length;
        const sizes = [...new Set(labels.map(label => getComputedStyle(label).fontSize))].join(' ');
        say('chart', `wide ${box(chart).width / card.width > 0.7} labels ${sizes} crowded ${crowded} outside ${outside} below ${below.length > 3}`);
    }
    say('cut columns', all('.nd-numbers').filter(table => box(table).right > box(table.parentElement).right + 1).length);
    const color = (element, what) => getComputedStyle(element)[what];
    const light = text => {
        const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
        return a === 0 ? 'none' : (r * 299 + g * 587 + b * 114) / 1000 > 128 ? 'light' : 'dark';
    };
    say('page', light(color(document.body, 'backgroundColor')));
    say('letters', light(color(document.body, 'color')));
    const compared = document.querySelector('.nd-compare[open]');
    const marked = [...compared.querySelectorAll('del, ins')];
    say('differences', marked.map(element => element.textContent).join(' '));
    say('marked', marked.every(element => light(color(element, 'backgroundColor')) !== 'none'));
    const passage = compared.querySelector('.nd-p0');
    const before = light(color(passage, 'backgroundColor'));
    compared.querySelector('.nd-switch').click();
    say('switch', `${before} to ${light(color(passage, 'backgroundColor')) === 'none' ? 'none' : 'a shade'}`);
    compared.querySelector('.nd-switch').click();
    const sides = [...compared.querySelectorAll('.nd-diff > div')].map(box);
    say('sides', sides[0].top === sides[1].top ? 'beside' : 'below');
    say('directions', [...new Set(all('.nd-text[dir], bdi').map(element => color(element, 'direction')))].sort().join(' '));
    const seen = [['facts', '.nd-facts'], ['histogram', '#similarity .nd-plotted'], ['curve', '#thresholds .nd-plotted'], ['pair', '.nd-compare[open]']];
    for (const [name, selector] of seen) {
        const { left, top, width, height } = box(document.querySelector(selector));
        say('box', JSON.stringify([name, left, top + scrollY, width, height]));
    }
    all('details').forEach(details => { details.open = true; });
    say('overflows when open', root.scrollWidth - root.clientWidth);
    parent.postMessage(lines.join('\n'), '*');
})();
