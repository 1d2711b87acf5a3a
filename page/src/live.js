// live.js: pages of results that are still being written load themselves again; who looked at the end goes on looking at the end.

const key = () => `carom ${location.pathname}`;

function recall() {
    try { return JSON.parse(sessionStorage.getItem(key())); } catch { return null; } // a browser may keep nothing for files
}

export function live(going, player, data, scene, { tab, choose }) {
    const before = recall();
    if (before) {
        if (before.look) {
            scene.look = before.look;
            scene.moved = true;
        }
        player.seek(before.atEnd ? data.end : before.t);
        choose(before.tab);
    } else if (going) {
        player.seek(data.end);
    }
    if (going || before) player.pause();
    try { sessionStorage.removeItem(key()); } catch { /* nothing is kept */ }
    if (!going) return;
    setTimeout(() => {
        try { sessionStorage.setItem(key(), JSON.stringify({ t: player.t, atEnd: player.t >= data.end - 1e-12 * Math.abs(data.end), tab: tab(), look: scene.moved ? scene.look : null })); } catch { /* nothing is kept */ }
        location.reload();
    }, Math.max(2000, 3 * performance.now())); // a page that takes long to load is shown for longer
}
