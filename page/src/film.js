// film.js: #film=FROM,TO,COUNT,FPS,WIDTH,HEIGHT: the drawing alone, COUNT pictures of it left in the document, a line of base64 each, for `carom film` and `carom view --png`.

export function film(app, scene, digits) {
    const asked = /[#&]film=([-+.\de]+),([-+.\de]+),(\d+),([-+.\de]+),(\d+),(\d+)/i.exec(location.hash);
    if (!asked) return false;
    const [from, to, count, fps, w, h] = asked.slice(1).map(Number), dt = count > 1 ? (to - from) / (count - 1) : 0;
    app.classList.add('film');
    Object.assign(app.style, { position: 'fixed', left: 0, top: 0, width: `${w}px`, height: `${h}px` }); // whatever the window has
    scene.fit();
    const unit = scene.data.unit('t') ? ` ${scene.data.unit('t')}` : '';
    const frame = Object.assign(document.createElement('canvas'), { width: w, height: h }), ctx = frame.getContext('2d'), lines = [];
    for (let k = 0; k < count; ++k) {
        const t = from + k * dt;
        scene.draw(t, count > 1 ? dt * fps : (scene.data.end - scene.data.start) / 10);
        ctx.drawImage(scene.canvas, 0, 0, w, h);
        ctx.font = '600 15px system-ui, sans-serif';
        ctx.fillStyle = getComputedStyle(app).color;
        ctx.fillText(`t = ${t.toFixed(digits)}${unit}`, 16, 28);
        lines.push(`frame:${frame.toDataURL('image/png').split(',')[1]}`);
    }
    const pre = document.createElement('pre');
    pre.textContent = `\n${lines.join('\n')}\n`;
    document.body.replaceChildren(pre);
    return true;
}
