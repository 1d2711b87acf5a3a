// live.js: pages of results that are still being written load themselves again; who looked at the end goes on looking at the end.

const key = () => `carom ${location.pathname}`;

function recall() {
    try { return JSON.parse(sessionStorage.getItem(key())); } catch { return null; } // a browser may keep nothing for files
}

export function live(going, player, data, { tab, choose }) {
    const before = recall();
    if (before) {
        player.seek(before.atEnd ? data.end : before.t);
        choose(before.tab);
    } else if (going) {
        player.seek(data.end);
    }
    if (going || before) player.pause();
    try { sessionStorage.removeItem(key()); } catch { /* nothing is kept */ }
    if (!going) return;
    setTimeout(() => {
        try { sessionStorage.setItem(key(), JSON.stringify({ t: player.t, atEnd: player.t >= data.end - 1e-12 * Math.abs(data.end), tab: tab() })); } catch { /* nothing is kept */ }
        location.reload();
    }, 2000);
}
