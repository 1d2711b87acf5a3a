// painter.js: a scene of three.js on a canvas without WebGL: what is far is painted first.  Spheres are discs, everything else triangles.
import { Color, InstancedMesh, Matrix4, Vector3, Vector4 } from 'three';

const NEAR = 1e-6, SPRITE = 64, FLOOR = 1e9;
const sun = new Vector3(0.5, -0.8, 1.6).normalize();

// Pixels of spheres, with their depths.
class Layer {
    constructor() {
        this.canvas = document.createElement('canvas');
        this.ctx = this.canvas.getContext('2d', { willReadFrequently: true });
        // Of places on a sphere, SPRITE to a diameter: how far it comes towards the eye (0: beside it), and how light it is, in parts of 256.
        this.height = new Float32Array(SPRITE * SPRITE), this.light = new Uint16Array(SPRITE * SPRITE);
        for (let k = 0; k < SPRITE * SPRITE; ++k) {
            const x = 2 * (k % SPRITE + 0.5) / SPRITE - 1, y = 2 * (Math.floor(k / SPRITE) + 0.5) / SPRITE - 1, z = Math.sqrt(Math.max(0, 1 - x * x - y * y));
            this.height[k] = z;
            this.light[k] = Math.round(256 * (0.5 + 0.2 * z + 0.4 * Math.max(0, -0.4 * x - 0.6 * y + 0.69 * z)));
        }
    }

    clear(w, h) {
        if (this.canvas.width !== w || this.canvas.height !== h || !this.image) {
            Object.assign(this.canvas, { width: w, height: h });
            this.image = this.ctx.createImageData(w, h);
            this.pixels = new Uint32Array(this.image.data.buffer);
            this.depth = new Float32Array(w * h);
        }
        this.pixels.fill(0);
        this.depth.fill(Infinity);
    }

    ball(x, y, r, far, radius, tone) {
        const { width: w, height: h } = this.canvas, { pixels, depth, height, light } = this, scale = SPRITE / (2 * r), red = tone >> 16, green = tone >> 8 & 255, blue = tone & 255;
        const left = Math.max(0, Math.ceil(x - r - 0.5)), right = Math.min(w - 1, Math.floor(x + r - 0.5)), top = Math.max(0, Math.ceil(y - r - 0.5)), bottom = Math.min(h - 1, Math.floor(y + r - 0.5));
        for (let py = top; py <= bottom; ++py) {
            const row = SPRITE * Math.min(SPRITE - 1, Math.floor((py + 0.5 - y + r) * scale));
            for (let px = left, at = w * py + left; px <= right; ++px, ++at) {
                const k = row + Math.min(SPRITE - 1, Math.floor((px + 0.5 - x + r) * scale)), up = height[k], z = far - radius * up;
                if (up === 0 || z >= depth[at]) continue;
                const l = light[k];
                depth[at] = z;
                pixels[at] = 0xff000000 | Math.min(255, blue * l >> 8) << 16 | Math.min(255, green * l >> 8) << 8 | Math.min(255, red * l >> 8); // as bytes lie on machines of today
            }
        }
    }

    done() {
        this.ctx.putImageData(this.image, 0, 0);
        return this.canvas;
    }
}

export class Painter {
    constructor() {
        this.domElement = document.createElement('canvas');
        this.ctx = this.domElement.getContext('2d');
        this.shadowMap = {};
        this.info = { render: { calls: 0 } };
        this.ratio = 1;
        this.sprites = new Map();
        this.tones = new Map();
    }

    setPixelRatio(ratio) { this.ratio = ratio; }

    setSize(w, h) {
        this.domElement.width = Math.max(1, Math.round(w * this.ratio));
        this.domElement.height = Math.max(1, Math.round(h * this.ratio));
    }

    render(scene, camera) {
        const { ctx, domElement: { width: w, height: h } } = this;
        scene.updateMatrixWorld();
        camera.updateMatrixWorld();
        this.see = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
        this.eye = new Vector3().setFromMatrixPosition(camera.matrixWorld);
        this.focal = 0.5 * h * camera.projectionMatrix.elements[5];
        Object.assign(this, { w, h, items: [] });
        ctx.setTransform(1, 0, 0, 1, 0, 0);
        ctx.globalAlpha = 1;
        ctx.fillStyle = `#${scene.background.getHexString()}`;
        ctx.fillRect(0, 0, w, h);
        ctx.lineJoin = ctx.lineCap = 'round';
        scene.traverseVisible(o => {
            if (o.isMesh && !o.material.isShadowMaterial) this.mesh(o);
            else if (o.isLine) this.line(o);
        });
        this.items.sort((a, b) => b.far - a.far);
        for (const item of this.items) this.paint(item);
        this.info.render.calls = this.items.length;
    }

    // -- what there is --------------------------------------------------------------------------------------

    mesh(o) {
        const { color, opacity } = o.material;
        if (!(o instanceof InstancedMesh)) { this.solid(o.geometry, o.matrixWorld, color, opacity, o.userData); return; }
        if (o.userData.spheres) { this.spheres(o); return; }
        const m = new Matrix4(), tone = new Color();
        for (let k = 0; k < o.count; ++k) {
            o.getMatrixAt(k, m);
            if (o.instanceColor) tone.fromArray(o.instanceColor.array, 3 * k);
            this.solid(o.geometry, m.premultiply(o.matrixWorld), o.instanceColor ? tone : color, opacity, {});
        }
    }

    // Thousands of them, on a layer of their own, pixel by pixel: what is nearer stays.  Nothing moves the mesh itself.
    spheres(o) {
        const m = o.instanceMatrix.array, e = this.see.elements, { w, h, focal } = this, { instanceColor } = o, layer = this.layer ||= new Layer();
        if (o.userData.version !== instanceColor.version) {
            const tone = new Color();
            o.userData.version = instanceColor.version;
            o.userData.tones = Uint32Array.from({ length: o.count }, (_, k) => tone.fromArray(instanceColor.array, 3 * k).getHex());
        }
        layer.clear(w, h);
        let sum = 0, seen = 0;
        for (let k = 0, a = 0; k < o.count; ++k, a += 16) {
            const x = m[a + 12], y = m[a + 13], z = m[a + 14], far = e[3] * x + e[7] * y + e[11] * z + e[15], r = Math.sqrt(m[a] * m[a] + m[a + 1] * m[a + 1] + m[a + 2] * m[a + 2]);
            if (!(far > NEAR) || !(r > 0)) continue;
            layer.ball((0.5 + 0.5 * (e[0] * x + e[4] * y + e[8] * z + e[12]) / far) * w, (0.5 - 0.5 * (e[1] * x + e[5] * y + e[9] * z + e[13]) / far) * h, r * focal / far, far, r, o.userData.tones[k]);
            sum += far;
            ++seen;
        }
        if (seen) this.items.push({ far: sum / seen, layer: layer.done(), opacity: 1 });
    }

    solid(geometry, m, color, opacity, about) {
        const e = m.elements, r = Math.hypot(e[0], e[1], e[2]);
        if (!(r > 0)) return;
        const even = Math.abs(Math.hypot(e[4], e[5], e[6]) - r) < 1e-6 * r && Math.abs(Math.hypot(e[8], e[9], e[10]) - r) < 1e-6 * r;
        if (geometry.userData.round && even) {
            const c = this.project(e[12], e[13], e[14]);
            if (c.w > NEAR) this.items.push({ far: c.w, x: this.X(c), y: this.Y(c), r: r * this.focal / c.w, tone: this.tone(color), opacity });
            return;
        }
        this.triangles(geometry, m, color, opacity, about);
    }

    // Floors are painted before what stands on them, also where a part of them is nearer.
    triangles(geometry, m, color, opacity, { endless, fixed }) {
        const p = geometry.attributes.position, index = geometry.index, n = index ? index.count : p.count, corner = [new Vector3(), new Vector3(), new Vector3()];
        const u = new Vector3(), v = new Vector3(), to = new Vector3();
        for (let k = 0; k + 2 < n; k += 3) {
            corner.forEach((c, j) => c.fromBufferAttribute(p, index ? index.getX(k + j) : k + j).applyMatrix4(m));
            u.subVectors(corner[1], corner[0]), v.subVectors(corner[2], corner[0]).crossVectors(u, v);
            if (m.determinant() < 0) v.negate();
            to.subVectors(this.eye, corner[0]);
            if (!(v.dot(to) > 0)) continue; // seen from behind
            v.normalize();
            const shape = this.clip(corner.map(c => this.project(c.x, c.y, c.z)));
            if (shape.length < 3) continue;
            const light = Math.min(1.15, 0.62 + 0.14 * v.z + 0.42 * Math.max(0, v.dot(sun)));
            this.items.push({ far: endless ? Number.MAX_VALUE : shape.reduce((sum, c) => sum + c.w, 0) / shape.length + (fixed && v.z > 0.7 ? FLOOR : 0), shape: shape.map(c => [this.X(c), this.Y(c)]), tone: this.tone(color, light), opacity });
        }
    }

    // Lines on a body: those that face the eye; others as they are.
    line(o) {
        const p = o.geometry.attributes.position, body = o.parent?.isMesh, step = o.isLineSegments ? 2 : 1, end = Math.min(p.count, o.geometry.drawRange.start + o.geometry.drawRange.count);
        const eye = this.eye.clone().applyMatrix4(new Matrix4().copy(o.matrixWorld).invert()), a = new Vector3(), b = new Vector3(), mid = new Vector3(), path = [];
        let far = 0;
        for (let k = 0; k + 1 < end; k += step) {
            a.fromBufferAttribute(p, k), b.fromBufferAttribute(p, k + 1);
            mid.addVectors(a, b).multiplyScalar(0.5);
            if (body && mid.dot(eye) < mid.lengthSq()) continue;
            const ends = [a, b].map(x => x.applyMatrix4(o.matrixWorld)).map(x => this.project(x.x, x.y, x.z));
            if (!ends.every(c => c.w > NEAR)) continue;
            far += (ends[0].w + ends[1].w) / 2;
            path.push(ends.map(c => [this.X(c), this.Y(c)]));
        }
        if (!path.length) return;
        const centre = body ? this.project(...new Vector3().setFromMatrixPosition(o.matrixWorld)).w : 0;
        this.items.push({ far: !body && o.isLineSegments ? Infinity : body ? Math.min(centre, far / path.length) - 1e-9 : far / path.length, path, tone: this.tone(o.material.color) });
    }

    // -- places and colours -----------------------------------------------------------------------------------

    project(x, y, z) { return new Vector4(x, y, z, 1).applyMatrix4(this.see); }
    X(c) { return (0.5 + 0.5 * c.x / c.w) * this.w; }
    Y(c) { return (0.5 - 0.5 * c.y / c.w) * this.h; }

    clip(list) { // what is before the eye
        if (list.every(c => c.w > NEAR)) return list;
        return list.flatMap((a, k) => {
            const b = list[(k + 1) % list.length], cut = (a.w > NEAR) !== (b.w > NEAR) ? [a.clone().lerp(b, (2 * NEAR - a.w) / (b.w - a.w))] : [];
            return a.w > NEAR ? [a, ...cut] : cut;
        });
    }

    tone(color, light = 1) {
        const hex = color.getHex(), step = Math.round(light * 64), key = hex * 128 + step;
        if (!this.tones.has(key)) {
            const c = [hex >> 16, hex >> 8 & 255, hex & 255].map(x => Math.min(255, Math.round(x * step / 64)));
            this.tones.set(key, `rgb(${c})`);
        }
        return this.tones.get(key);
    }

    // -- on the canvas ----------------------------------------------------------------------------------------

    paint({ x, y, r, shape, path, layer, tone, opacity = 1 }) {
        const { ctx } = this;
        if (ctx.globalAlpha !== opacity) ctx.globalAlpha = opacity;
        if (layer) {
            ctx.drawImage(layer, 0, 0);
        } else if (shape) {
            ctx.fillStyle = ctx.strokeStyle = tone;
            ctx.lineWidth = 0.7;
            ctx.beginPath();
            shape.forEach(([a, b], k) => k ? ctx.lineTo(a, b) : ctx.moveTo(a, b));
            ctx.closePath();
            ctx.fill();
            if (opacity === 1) ctx.stroke();
        } else if (path) {
            ctx.strokeStyle = tone;
            ctx.lineWidth = this.ratio;
            ctx.beginPath();
            for (const [a, b] of path) ctx.moveTo(...a), ctx.lineTo(...b);
            ctx.stroke();
        } else {
            ctx.drawImage(this.sprite(tone), x - r, y - r, 2 * r, 2 * r);
        }
    }

    sprite(tone) {
        if (!this.sprites.has(tone)) {
            const c = Object.assign(document.createElement('canvas'), { width: SPRITE, height: SPRITE }), x = c.getContext('2d'), r = SPRITE / 2;
            const g = x.createRadialGradient(0.75 * r, 0.6 * r, 0.1 * r, r, r, r), [red, green, blue] = tone.match(/\d+/g).map(Number);
            const at = s => `rgb(${[red, green, blue].map(v => Math.min(255, Math.round(v * s)))})`;
            g.addColorStop(0, at(1.12));
            g.addColorStop(0.6, at(0.86));
            g.addColorStop(1, at(0.55));
            x.fillStyle = g;
            x.beginPath();
            x.arc(r, r, r - 0.5, 0, 2 * Math.PI);
            x.fill();
            this.sprites.set(tone, c);
        }
        return this.sprites.get(tone);
    }
}
