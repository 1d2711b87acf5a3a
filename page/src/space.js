// space.js: spatial drawings with three.js.  z points up.  Bundled apart: only pages of spatial models hold it.
import {
    BoxGeometry, BufferAttribute, BufferGeometry, Color, ConeGeometry, CylinderGeometry, DirectionalLight, EdgesGeometry, Group, HemisphereLight,
    InstancedMesh, Line, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, PCFSoftShadowMap, PerspectiveCamera,
    PlaneGeometry, Quaternion, Scene, ShadowMaterial, SphereGeometry, Vector3, WebGLRenderer,
} from 'three';
import { ConvexGeometry } from 'three/examples/jsm/geometries/ConvexGeometry.js';
import { bends, deflected } from './deflect.js';
import { larger, stays } from './extent.js';
import { impostor, square } from './impostor.js';
import { Painter } from './painter.js';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

const CROWD = 80; // more shapes than this are drawn as instances, without edges
const MOST_NAMES = 300, PAINTED = 300;
const SUN = new Vector3(0.5, -0.8, 1.6);
const Z = new Vector3(0, 0, 1), Y = new Vector3(0, 1, 0);
const between = (x, i, s) => s > 0 && i + 1 < x.length ? x[i] + s * (x[i + 1] - x[i]) : x[i];

// Bars and balls along a line of points, as two instanced meshes.
class Tube {
    constructor(n, material) {
        this.bars = new InstancedMesh(new CylinderGeometry(1, 1, 1, 14, 1), material, n - 1);
        this.balls = new InstancedMesh(ball(14, 10), material, n);
        this.group = new Group();
        this.group.add(this.bars, this.balls);
        for (const m of [this.bars, this.balls]) m.castShadow = true, m.frustumCulled = false;
    }

    set(points, r) {
        const m = new Matrix4(), q = new Quaternion(), d = new Vector3(), mid = new Vector3();
        points.forEach((p, k) => {
            this.balls.setMatrixAt(k, m.compose(p, q.identity(), new Vector3(r, r, r)));
            if (k === 0) return;
            d.subVectors(p, points[k - 1]);
            const length = d.length() || 1e-12;
            q.setFromUnitVectors(Y, d.divideScalar(length));
            this.bars.setMatrixAt(k - 1, m.compose(mid.addVectors(p, points[k - 1]).multiplyScalar(0.5), q, new Vector3(r, length, r)));
        });
        this.bars.instanceMatrix.needsUpdate = this.balls.instanceMatrix.needsUpdate = true;
    }
}

// Heights over a grid, two triangles a cell: nx, ny, x, y of the first, the cell, the heights by rows.
function surface([nx, ny, x, y, dx, dy, ...z]) {
    const g = new BufferGeometry(), index = [];
    g.setAttribute('position', new BufferAttribute(new Float32Array(z.flatMap((h, v) => [x + v % nx * dx, y + Math.floor(v / nx) * dy, h])), 3));
    for (let v = 0; v < nx * (ny - 1); ++v) if (v % nx < nx - 1) index.push(v, v + 1, v + nx + 1, v, v + nx + 1, v + nx);
    g.setIndex(index);
    const flat = g.toNonIndexed();
    flat.computeVertexNormals();
    return flat;
}

// One solid of a kind, for instances.  Octants of round ones differ in shade, so that one sees them turn.
function shaded(geometry, round) {
    const p = geometry.attributes.position, shade = new Float32Array(3 * p.count);
    for (let k = 0; k < p.count; ++k) shade.fill(round && p.getX(k) * p.getY(k) * p.getZ(k) < -1e-9 ? 0.72 : 1, 3 * k, 3 * k + 3);
    geometry.setAttribute('color', new BufferAttribute(shade, 3));
    return geometry;
}
const ball = (n, m) => { // a unit sphere, and known to be one
    const g = new SphereGeometry(1, n, m);
    g.userData.round = true;
    return g;
};
const many = {
    sphere: square, ellipsoid: () => shaded(ball(16, 12), true), point: () => shaded(ball(8, 6), false),
    box: () => shaded(new BoxGeometry(1, 1, 1), false), cylinder: () => shaded(new CylinderGeometry(1, 1, 1, 24).rotateX(Math.PI / 2), false),
};

// Is there WebGL?  A scene without it is painted, and so is a large one where a program does the work of the graphics card; #webgl asks for it all the same.
function graphics(shapes) {
    try {
        const gl = document.createElement('canvas').getContext('webgl2');
        if (!gl || shapes <= PAINTED || /[#&]webgl\b/.test(location.hash)) return !!gl;
        const about = gl.getExtension('WEBGL_debug_renderer_info'), name = gl.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
        gl.getExtension('WEBGL_lose_context')?.loseContext();
        return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
    } catch {
        return false;
    }
}

const corners = x => Array.from({ length: x.length / 3 }, (_, k) => new Vector3(x[3 * k], x[3 * k + 1], x[3 * k + 2]));

class Arrow {
    constructor(scene) {
        this.material = new MeshBasicMaterial({ transparent: true });
        this.shaft = new Mesh(new CylinderGeometry(1, 1, 1, 12), this.material);
        this.head = new Mesh(new ConeGeometry(1, 1, 16), this.material);
        this.group = new Group();
        this.group.add(this.shaft, this.head);
        scene.add(this.group);
    }

    set(at, vector, thick, colour, opacity = 1) {
        const length = vector.length();
        this.group.visible = length > 2 * thick;
        if (!this.group.visible) return;
        const head = Math.min(6 * thick, 0.6 * length), shaft = length - head;
        this.group.position.copy(at);
        this.group.quaternion.setFromUnitVectors(Y, vector.clone().divideScalar(length));
        this.shaft.scale.set(thick, shaft, thick);
        this.shaft.position.set(0, shaft / 2, 0);
        this.head.scale.set(2.6 * thick, head, 2.6 * thick);
        this.head.position.set(0, shaft + head / 2, 0);
        this.material.color.set(colour);
        this.material.opacity = opacity;
    }
}

// A shape of the page with its channels, which are read when they are asked for: a world has many.
class Shape {
    constructor(data, s) { Object.assign(this, s); Object.defineProperty(this, 'data', { value: data }); }

    get size() { return Array.from({ length: this.sizes }, (_, k) => this.data.channel(this.at + k)); }
    get point() { return Array.from({ length: this.points }, (_, k) => [0, 1, 2].map(j => this.data.channel(this.at + this.sizes + 3 * k + j))); }
    get turnBy() { return Array.from({ length: this.turn }, (_, k) => this.data.channel(this.at + this.sizes + 3 * this.points + k)); }
}

class Space {
    constructor(holder, data, contacts, colours) {
        Object.assign(this, { holder, data, contacts, colours, options: { forces: true, names: false, axes: false }, deflection: 1, follow: -1 });
        this.scratch = { q: new Quaternion(), next: new Quaternion() }; // of every frame
        const drawn = data.page.shapes.filter(s => s.figure !== 'contact');
        this.painted = !graphics(drawn.length);
        this.renderer = this.painted ? new Painter() : new WebGLRenderer({ antialias: true });
        if (this.painted) this.note = 'no graphics card: a simpler drawing';
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = PCFSoftShadowMap;
        this.canvas = this.renderer.domElement;
        this.canvas.className = 'scene';
        holder.append(this.canvas);
        this.scene = new Scene();
        this.camera = new PerspectiveCamera(35, 1, 0.01, 1000);
        this.camera.up.copy(Z);
        this.controls = new OrbitControls(this.camera, this.canvas);
        this.controls.addEventListener('change', () => { if (!this.drawing) this.changed?.(); });
        this.controls.addEventListener('start', () => { this.moved = true; });
        this.canvas.addEventListener('dblclick', () => { this.fit(); this.changed?.(); });
        const deal = colours.dealer();
        this.crowd = drawn.length > CROWD;
        this.shapes = drawn.map(s => this.prepare(s, deal(s)));
        this.gather();
        this.reach();
        this.lights();
        this.touch = contacts.list.map(c => ({ c, arrow: new Arrow(this.scene), dot: this.ball(0.5) }));
        this.flash = Array.from({ length: 16 }, () => ({ ball: this.ball(1), arrow: new Arrow(this.scene) }));
        this.fit();
        this.restyle();
    }

    ball(opacity) {
        const m = new Mesh(ball(24, 16), new MeshBasicMaterial({ transparent: true, opacity, depthWrite: false }));
        this.scene.add(m);
        return m;
    }

    // -- shapes ---------------------------------------------------------------------------------------------

    prepare(s, dealt) {
        const { data } = this, shape = new Shape(data, s);
        const plain = () => s.colour ? this.colours.colour(s.colour) : dealt === null ? this.colours.colour('grey') : this.colours.nth(dealt);
        shape.paint = s.endless && (!s.colour || s.colour === 'grey') ? () => this.colours.mix(plain(), this.colours.ground(), this.colours.theme.dark ? 0.75 : 0.5) : plain; // what fills the picture stays behind
        if (this.crowd && !s.trace && !s.endless && s.figure in many) { shape.many = true; return shape; }
        const material = shape.material = new MeshLambertMaterial(), { point } = shape;
        if (s.figure === 'segment' || s.figure === 'line') shape.tube = new Tube(s.points, material);
        else if (s.figure === 'spring') shape.tube = new Tube(121, material);
        else shape.mesh = this.solid(s.figure, material, shape);
        if (s.trace) {
            const g = new BufferGeometry(), x = new Float32Array(3 * data.rows), p = point[point.length - 1];
            for (let i = 0; i < data.rows; ++i) for (let j = 0; j < 3; ++j) x[3 * i + j] = p[j][i];
            g.setAttribute('position', new BufferAttribute(x, 3));
            shape.path = new Line(g, new LineBasicMaterial());
            shape.path.frustumCulled = false;
            this.scene.add(shape.path);
        }
        this.scene.add(shape.tube ? shape.tube.group : shape.mesh);
        return shape;
    }

    // Shapes of one kind in one call: a matrix and a colour each.  pose: of every row and shape place and turn (a quaternion, on the side of that of the row before).
    gather() {
        this.groups = Object.keys(many).map(figure => {
            const list = this.shapes.filter(s => s.many && s.figure === figure), n = list.length;
            if (!n) return null;
            const ray = figure === 'sphere' && !this.painted, geometry = figure === 'sphere' && !ray ? ball(16, 12) : many[figure]();
            const mesh = new InstancedMesh(geometry, new MeshLambertMaterial({ vertexColors: !ray && figure !== 'sphere' }), n);
            mesh.castShadow = mesh.receiveShadow = true;
            mesh.frustumCulled = false;
            if (ray) impostor(mesh, SUN);
            mesh.userData.spheres = figure === 'sphere';
            this.scene.add(mesh);
            const pose = new Float32Array(7 * n * this.data.rows), size = new Float32Array(3 * n);
            list.forEach((s, k) => this.pose(s, k, n, pose, size));
            return { list, mesh, pose, size, steady: list.every(s => Array.from({ length: s.sizes }).every((_, k) => this.data.constant(s.at + k))) };
        }).filter(Boolean);
    }

    pose(s, k, n, x, size) {
        const { data } = this, { q } = this.scratch, at = 7 * k, step = 7 * n, first = s.at + s.sizes;
        for (let j = 0; j < 3; ++j) data.spread(first + j, x, at + j, step);
        if (s.turn === 4) [6, 3, 4, 5].forEach((to, j) => data.spread(first + 3 + j, x, at + to, step)); // w x y z
        for (let i = 0, a = at; i < data.rows; ++i, a += step) {
            if (s.turn === 3) this.turn(s, i, 0, q).toArray(x, a + 3);
            else if (s.turn !== 4) x[a + 6] = 1;
            const b = a - step, side = i && x[a + 3] * x[b + 3] + x[a + 4] * x[b + 4] + x[a + 5] * x[b + 5] + x[a + 6] * x[b + 6] < 0 ? -1 : 1;
            for (let j = 3; j < 7; ++j) x[a + j] *= side;
        }
        this.sizeOf(s, 0, 0, size, 3 * k);
    }

    sizeOf(s, i, f, x, at) {
        const of = k => { const c = s.at + k, v = this.data.value(c, i); return f > 0 && i + 1 < this.data.rows ? v + f * (this.data.value(c, i + 1) - v) : v; };
        const a = s.sizes > 0 ? of(0) : 0;
        if (s.figure === 'box' || s.figure === 'ellipsoid') x[at] = a, x[at + 1] = of(1), x[at + 2] = of(2);
        else if (s.figure === 'cylinder') x[at] = x[at + 1] = a, x[at + 2] = of(1);
        else x.fill(s.figure === 'point' ? (s.sizes ? a / 2 : NaN) : a, at, at + 3);
    }

    placeMany(i, f) {
        const least = 0.011 * this.size; // of points that say nothing of their size
        for (const { list, mesh, pose, size, steady } of this.groups) {
            const n = list.length, m = mesh.instanceMatrix.array, next = i + 1 < this.data.rows ? 7 * n : 0;
            for (let k = 0, a = 7 * n * i, o = 0; k < n; ++k, a += 7, o += 16) {
                const b = a + next, g = 1 - f;
                if (!steady) this.sizeOf(list[k], i, f, size, 3 * k);
                let x = g * pose[a + 3] + f * pose[b + 3], y = g * pose[a + 4] + f * pose[b + 4], z = g * pose[a + 5] + f * pose[b + 5], w = g * pose[a + 6] + f * pose[b + 6];
                const l = 1 / (Math.sqrt(x * x + y * y + z * z + w * w) || 1), point = list[k].figure === 'point';
                x *= l, y *= l, z *= l, w *= l;
                const sx = size[3 * k] || (point ? least : 0), sy = size[3 * k + 1] || (point ? least : 0), sz = size[3 * k + 2] || (point ? least : 0);
                m[o] = sx * (1 - 2 * (y * y + z * z)), m[o + 1] = sx * 2 * (x * y + w * z), m[o + 2] = sx * 2 * (x * z - w * y);
                m[o + 4] = sy * 2 * (x * y - w * z), m[o + 5] = sy * (1 - 2 * (x * x + z * z)), m[o + 6] = sy * 2 * (y * z + w * x);
                m[o + 8] = sz * 2 * (x * z + w * y), m[o + 9] = sz * 2 * (y * z - w * x), m[o + 10] = sz * (1 - 2 * (x * x + y * y));
                m[o + 12] = g * pose[a] + f * pose[b], m[o + 13] = g * pose[a + 1] + f * pose[b + 1], m[o + 14] = g * pose[a + 2] + f * pose[b + 2];
                if (!Number.isFinite(m[o] + m[o + 5] + m[o + 10] + m[o + 12] + m[o + 13] + m[o + 14])) m.fill(0, o, o + 15);
                m[o + 15] = 1;
            }
            mesh.instanceMatrix.needsUpdate = true;
        }
    }

    // Floors and walls without an end reach as far as what moves, and a bit more.
    widen() {
        const corner = new Vector3(), { low, high } = this.all || this;
        for (const s of this.shapes.filter(s => s.endless)) {
            const c = new Vector3(...s.point[0].map(x => x[0]));
            s.wide = 0;
            for (let k = 0; k < 8; ++k) {
                corner.set(k & 1 ? low.x : high.x, k & 2 ? low.y : high.y, k & 4 ? low.z : high.z);
                s.wide = Math.max(s.wide, 2.1 * corner.distanceTo(c));
            }
        }
    }

    solid(figure, material, shape) {
        const geometry = figure === 'hull' ? new ConvexGeometry(corners(shape.fixed)) : figure === 'surface' ? surface(shape.fixed) : figure === 'box' ? new BoxGeometry(1, 1, 1) : figure === 'cylinder' ? new CylinderGeometry(1, 1, 1, 40).rotateX(Math.PI / 2) : ball(40, 28);
        const mesh = new Mesh(geometry, material);
        mesh.castShadow = mesh.receiveShadow = true;
        mesh.userData.endless = shape.endless;
        mesh.userData.fixed = Array.from({ length: shape.sizes + 3 * shape.points + shape.turn }).every((_, k) => this.data.constant(shape.at + k));
        if (figure === 'point') return mesh;
        shape.lines = new LineBasicMaterial();
        if (figure === 'sphere' || figure === 'ellipsoid') { // two circles, so that one sees it turn
            const ring = axis => {
                const x = new Float32Array(3 * 97);
                for (let k = 0; k <= 96; ++k) {
                    const a = k / 48 * Math.PI, p = [Math.cos(a), Math.sin(a), 0];
                    for (let j = 0; j < 3; ++j) x[3 * k + j] = 1.004 * p[(j + axis) % 3];
                }
                const g = new BufferGeometry();
                g.setAttribute('position', new BufferAttribute(x, 3));
                return new Line(g, shape.lines);
            };
            mesh.add(ring(0), ring(1));
        } else {
            mesh.add(new LineSegments(new EdgesGeometry(geometry, figure === 'surface' || figure === 'hull' ? 5 : 30), shape.lines));
            if (figure === 'cylinder') {
                const g = new BufferGeometry();
                g.setAttribute('position', new BufferAttribute(new Float32Array([0, 0, 0.501, 1, 0, 0.501, 0, 0, -0.501, 1, 0, -0.501]), 3));
                mesh.add(new LineSegments(g, shape.lines));
            }
        }
        return mesh;
    }

    half([nx, ny, x, y, dx, dy, ...z]) {
        return [nx * dx / 2, ny * dy / 2, z.reduce((most, h) => Math.max(most, Math.abs(h)), 0)];
    }

    // Half the box around a turned box.
    turned(s, i) {
        const m = new Matrix4().makeRotationFromQuaternion(this.turn(s, i, 0, new Quaternion())).elements, a = s.size.map(x => x[i] / 2);
        return [0, 1, 2].map(k => Math.abs(m[k]) * a[0] + Math.abs(m[4 + k]) * a[1] + Math.abs(m[8 + k]) * a[2]);
    }

    // Half of the box around a shape that does not turn, or of one that may turn anyhow.
    halves(s, size) {
        const r = s.figure === 'box' ? Math.hypot(...size) / 2 : s.figure === 'sphere' ? size[0] : s.figure === 'ellipsoid' ? Math.max(...size) : s.figure === 'cylinder' ? Math.hypot(size[0], size[1] / 2) : 0;
        if (s.fixed) s.radius = s.figure === 'hull' ? Math.max(...corners(s.fixed).map(c => c.length())) : 0;
        return s.figure === 'hull' ? [s.radius, s.radius, s.radius] : s.figure === 'surface' ? this.half(s.fixed) : s.figure === 'box' && !s.turn ? size.map(x => x / 2) : [r, r, r];
    }

    // The box around what is to be seen, low to high: everything at all times, but for bodies that left the rest; with them it is `all`, where there are such.
    reach() {
        const { data } = this, step = Math.max(1, Math.floor(data.rows / 500)), movers = [];
        const empty = () => ({ low: new Vector3(Infinity, Infinity, Infinity), high: new Vector3(-Infinity, -Infinity, -Infinity) }), all = empty(), rest = empty();
        const grow = (box, x, y, z, h) => {
            if (!Number.isFinite(x + y + z)) return;
            const { low, high } = box;
            low.x = Math.min(low.x, x - h[0]), low.y = Math.min(low.y, y - h[1]), low.z = Math.min(low.z, z - h[2]);
            high.x = Math.max(high.x, x + h[0]), high.y = Math.max(high.y, y + h[1]), high.z = Math.max(high.z, z + h[2]);
        };
        const of = (at, h) => { for (let i = 0; i < data.rows; i += step) grow(all, at(i, 0), at(i, 1), at(i, 2), h(i)); movers.push({ at, r: Math.max(...h(0)) }); };
        for (const s of this.shapes) {
            if (s.endless || s.many) continue;
            const flat = this.halves(s, s.size.map(x => x[0])), h = i => s.figure === 'box' && s.turn ? this.turned(s, i) : flat;
            s.point.forEach((p, k) => {
                const first = s.at + s.sizes + 3 * k;
                if (!s.of && [0, 1, 2].every(j => data.constant(first + j))) grow(all, p[0][0], p[1][0], p[2][0], h(0)), grow(rest, p[0][0], p[1][0], p[2][0], h(0));
                else of((i, j) => p[j][i], h);
            });
        }
        for (const { list, pose } of this.groups) {
            const n = list.length;
            list.forEach((s, k) => {
                const size = Array.from({ length: s.sizes }, (_, j) => data.value(s.at + j, 0)), first = s.at + s.sizes, h = this.halves(s, size), at = (i, j) => pose[7 * (n * i + k) + j];
                if (s.of || ![0, 1, 2].every(j => data.constant(first + j))) { of(at, () => h); return; }
                const still = s.figure === 'box' && s.turn ? this.turned(s, 0) : h;
                grow(all, at(0, 0), at(0, 1), at(0, 2), still), grow(rest, at(0, 0), at(0, 1), at(0, 2), still);
            });
        }
        if (!(all.high.x >= all.low.x)) all.low.set(-1, -1, -1), all.high.set(1, 1, 1);
        const near = stays(data.rows, movers.length, 3, (i, b, j) => movers[b].at(i, j), b => movers[b].r);
        if (near) rest.low.min(new Vector3(...near.low)), rest.high.max(new Vector3(...near.high));
        const hides = near && larger({ low: all.low.toArray(), high: all.high.toArray() }, { low: rest.low.toArray(), high: rest.high.toArray() }), box = hides ? rest : all;
        this.all = hides ? all : null;
        const { low, high } = box;
        for (const s of this.shapes.filter(s => s.endless)) { // the nearest point of each is seen
            const c = new Vector3(...s.point[0].map(x => x[0])), mid = low.clone().add(high).multiplyScalar(0.5), n = Z.clone().applyQuaternion(this.turn(s, 0, 0, new Quaternion()));
            const foot = mid.clone().addScaledVector(n, -mid.clone().sub(c).dot(n));
            low.min(foot), high.max(foot);
        }
        Object.assign(this, { low, high, size: high.clone().sub(low).length() || 1 });
        this.widen();
    }

    lights() {
        const { low, high, size } = this, mid = low.clone().add(high).multiplyScalar(0.5), sun = new DirectionalLight(0xffffff, 2.1);
        sun.position.copy(mid).addScaledVector(SUN, size);
        sun.target.position.copy(mid);
        sun.castShadow = true;
        sun.shadow.mapSize.set(1024, 1024);
        Object.assign(sun.shadow.camera, { left: -0.7 * size, right: 0.7 * size, top: 0.7 * size, bottom: -0.7 * size, near: 0.1 * size, far: 4 * size });
        sun.shadow.normalBias = 0.004 * size;
        const sky = new HemisphereLight(0xffffff, 0x8a8f98, 1.5);
        sky.position.set(0, 0, 1);
        this.scene.add(sun, sun.target, sky);
        const floor = new Mesh(new PlaneGeometry(6 * size, 6 * size), new ShadowMaterial({ opacity: 0.16 }));
        floor.position.set(mid.x, mid.y, low.z - 0.001 * size);
        floor.receiveShadow = true;
        this.scene.add(floor);
        const step = 10 ** Math.round(Math.log10(size / 8)), n = Math.ceil(1.2 * size / step), x = [];
        const cx = Math.round(mid.x / step) * step, cy = Math.round(mid.y / step) * step;
        for (let k = -n; k <= n; ++k) {
            x.push(cx + k * step, cy - n * step, low.z, cx + k * step, cy + n * step, low.z);
            x.push(cx - n * step, cy + k * step, low.z, cx + n * step, cy + k * step, low.z);
        }
        const g = new BufferGeometry();
        g.setAttribute('position', new BufferAttribute(new Float32Array(x), 3));
        this.grid = new LineSegments(g, new LineBasicMaterial());
        this.grid.position.z = -0.002 * size;
        this.scene.add(this.grid);
    }

    // Seen from `from`, how far away must the camera be so that a box is in the picture?
    distance(from, aspect, { low, high }) {
        const right = Z.clone().cross(from).normalize(), up = from.clone().cross(right), half = high.clone().sub(low).multiplyScalar(0.5);
        const tall = Math.tan(Math.PI / 360 * this.camera.fov), wide = tall * aspect;
        const along = v => Math.abs(v.x) * half.x + Math.abs(v.y) * half.y + Math.abs(v.z) * half.z; // of the corner that is farthest that way
        return along(from) + Math.max(along(right) / wide, along(up) / tall);
    }

    fit(everything = false) {
        const box = everything && this.all || this, { camera, controls } = this, size = box.high.clone().sub(box.low).length() || 1;
        const mid = box.low.clone().add(box.high).multiplyScalar(0.5), from = new Vector3(0.55, -1.15, 0.6).normalize();
        const aspect = (this.holder.clientWidth || 1) / (this.holder.clientHeight || 1);
        camera.position.copy(mid).addScaledVector(from, Math.max(this.crowd ? 0 : 1.45 * size / Math.min(1, aspect), 1.05 * this.distance(from, aspect, box)));
        Object.assign(camera, { near: 0.01 * this.size, far: Math.max(20 * this.size, this.all ? 6 * this.all.high.distanceTo(this.all.low) : 0) });
        camera.updateProjectionMatrix();
        controls.target.copy(mid);
        this.followed = null;
        this.moved = false;
        this.everything = everything;
        this.drawing = true;
        controls.update();
        this.drawing = false;
    }

    /** From where one looks, to be kept while the page loads itself again. */
    get look() { return { position: this.camera.position.toArray(), target: this.controls.target.toArray() }; }
    set look({ position, target }) {
        this.camera.position.fromArray(position);
        this.controls.target.fromArray(target);
        this.drawing = true;
        this.controls.update();
        this.drawing = false;
    }

    restyle() {
        const { ground, faint, mix, ink } = this.colours;
        this.scene.background = new Color(ground());
        this.grid.material.color.set(faint());
        const tone = new Color();
        for (const { list, mesh } of this.groups) {
            list.forEach((s, k) => mesh.setColorAt(k, tone.set(s.paint())));
            mesh.instanceColor.needsUpdate = true;
        }
        for (const s of this.shapes) {
            if (s.many) continue;
            s.material.color.set(s.paint());
            s.lines?.color.set(mix(s.paint(), ink(), 0.55));
            s.path?.material.color.set(mix(s.paint(), ground(), 0.35));
        }
    }

    // -- a picture ------------------------------------------------------------------------------------------

    turn(s, i, f, q) {
        if (s.turn === 4) { // between two rows the short way round
            const [w, x, y, z] = s.turnBy, k = Math.min(i + 1, this.data.rows - 1);
            q.set(x[i], y[i], z[i], w[i]).normalize();
            return q.slerp(this.scratch.next.set(x[k], y[k], z[k], w[k]).normalize(), f);
        }
        if (s.turn !== 3) return q.identity();
        const v = new Vector3(...s.turnBy.map(x => between(x, i, f))), angle = v.length();
        return q.setFromAxisAngle(angle > 0 ? v.divideScalar(angle) : Z, angle);
    }

    place(s, i, f) {
        let now = s.point.map(c => c.map(x => between(x, i, f)));
        if (this.deflection !== 1 && bends(s)) now = deflected(now, s.point.map(c => c.map(x => x[0])), this.deflection);
        const p = now.map(x => new Vector3(...x)), size = s.size.map(x => between(x, i, f));
        const known = p.every(v => Number.isFinite(v.x + v.y + v.z)) && size.every(Number.isFinite);
        (s.tube ? s.tube.group : s.mesh).visible = known;
        if (s.path) s.path.geometry.setDrawRange(0, i + 1);
        if (!known) return;
        if (s.figure === 'segment' || s.figure === 'line') return s.tube.set(p, size.length ? size[0] / 2 : 0.008 * this.size);
        if (s.figure === 'spring') return this.coil(s, p, size);
        const r = s.figure === 'point' ? (size.length ? size[0] / 2 : 0.011 * this.size) : size[0];
        s.mesh.position.copy(p[0]);
        this.turn(s, i, f, s.mesh.quaternion);
        if (s.fixed) return;
        if (s.endless) s.mesh.scale.set(s.wide, s.wide, size[2]);
        else if (s.figure === 'box' || s.figure === 'ellipsoid') s.mesh.scale.set(size[0], size[1], size[2]);
        else if (s.figure === 'cylinder') s.mesh.scale.set(r, r, size[1]);
        else s.mesh.scale.setScalar(r);
    }

    coil(s, [a, b], size) {
        const d = b.clone().sub(a), length = d.length() || 1e-12, e = d.clone().divideScalar(length), r = (size.length ? size[0] : 0.05 * this.size) / 2;
        const u = new Vector3().crossVectors(e, Math.abs(e.z) < 0.9 ? Z : Y).normalize(), v = new Vector3().crossVectors(e, u), points = [];
        for (let k = 0; k <= 120; ++k) {
            const x = k / 120, w = Math.min(1, x / 0.08, (1 - x) / 0.08), angle = 16 * Math.PI * x;
            points.push(a.clone().addScaledVector(d, x).addScaledVector(u, w * r * Math.cos(angle)).addScaledVector(v, w * r * Math.sin(angle)));
        }
        s.tube.set(points, 0.003 * this.size);
    }

    draw(t, speed) {
        const { data, contacts, renderer, camera, size } = this, [i, f] = data.place(t);
        const w = this.holder.clientWidth, h = this.holder.clientHeight, ratio = Math.min(window.devicePixelRatio || 1, 2);
        if (w !== this.w || h !== this.h || ratio !== this.ratio) {
            Object.assign(this, { w, h, ratio });
            renderer.setPixelRatio(ratio);
            renderer.setSize(w, h, false);
            camera.aspect = w / Math.max(h, 1);
            camera.updateProjectionMatrix();
            if (!this.moved && !this.followed) this.fit(this.everything);
        }
        this.chase(i, f);
        for (const s of this.shapes) if (!s.many) this.place(s, i, f);
        this.placeMany(i, f);
        this.axes();
        const hit = this.colours.hit(), thick = 0.0045 * size;
        for (const { c, arrow, dot } of this.touch) {
            const force = contacts.size(c, i, f), closed = force > contacts.threshold, at = new Vector3(...contacts.point(c, i, f));
            const v = new Vector3(...contacts.force(c, i, f)), l = v.length(), r = l / contacts.typical;
            const tone = c.colour ? this.colours.colour(c.colour) : c.bilateral ? this.colours.colour('sky') : hit;
            arrow.group.visible = false;
            if (closed && l > 0 && this.options.forces) arrow.set(at, v.multiplyScalar(0.14 * size * (r < 1 ? r : 1 + 0.35 * Math.log(r)) / l), thick, tone);
            dot.visible = !c.bilateral;
            dot.position.copy(at);
            dot.scale.setScalar((closed ? 0.012 : 0.006) * size);
            dot.material.color.set(closed ? tone : this.colours.muted());
            dot.material.opacity = closed ? 0.95 : 0.5;
        }
        const flashes = contacts.flashes(t, speed);
        this.flash.forEach(({ ball, arrow }, k) => {
            const x = flashes[k];
            ball.visible = arrow.group.visible = false;
            if (!x) return;
            const [j, g] = data.place(x.time), at = new Vector3(...contacts.point(x.contact, j, g)), fade = (1 - x.age) ** 2;
            ball.visible = true;
            ball.position.copy(at);
            ball.scale.setScalar((0.008 + 0.05 * x.strength) * (0.3 + x.age) * size);
            ball.material.color.set(hit);
            ball.material.opacity = 0.65 * fade;
            if (!this.options.forces) return;
            const d = new Vector3(...contacts.direction(x.contact, 0, j, g)).normalize();
            arrow.set(at, d.multiplyScalar((Math.sign(x.impulse) || 1) * 0.18 * size * x.strength ** 2), 1.3 * thick, hit, 0.75 * fade);
        });
        renderer.render(this.scene, camera);
        this.names(i, f);
    }

    // The camera moves with the middle of a shape.
    chase(i, f) {
        const s = this.shapes[this.follow];
        if (!s) { this.followed = null; return; }
        const at = new Vector3(...[0, 1, 2].map(j => s.point.reduce((sum, p) => sum + between(p[j], i, f), 0) / s.point.length));
        if (!Number.isFinite(at.x + at.y + at.z)) return;
        if (this.followed) {
            const d = at.clone().sub(this.followed);
            this.camera.position.add(d);
            this.controls.target.add(d);
        }
        this.followed = at;
    }

    axes() {
        this.cross ||= ['red', 'green', 'blue'].map((c, k) => ({ c, arrow: new Arrow(this.scene), way: new Vector3(...[0, 1, 2].map(j => +(j === k))) }));
        for (const { c, arrow, way } of this.cross) {
            arrow.group.visible = false;
            if (this.options.axes) arrow.set(new Vector3(), way.clone().multiplyScalar(0.2 * this.size), 0.004 * this.size, this.colours.colour(c));
        }
    }

    names(i, f) {
        this.labels ||= [];
        for (const l of this.labels) l.remove();
        this.labels = [];
        if (!this.options.names && !this.options.axes) return;
        const put = (text, p) => {
            const x = new Vector3(...p).project(this.camera), e = document.createElement('span');
            if (x.z > 1) return;
            e.className = 'tag';
            e.textContent = text;
            e.style.transform = `translate(${(0.5 + 0.5 * x.x) * this.w + 6}px, ${(0.5 - 0.5 * x.y) * this.h - 18}px)`;
            this.holder.append(e);
            this.labels.push(e);
        };
        if (this.options.axes) ['x', 'y', 'z'].forEach((text, k) => put(this.data.lengthUnit ? `${text} (${this.data.lengthUnit})` : text, [0, 1, 2].map(j => (j === k ? 0.22 * this.size : 0))));
        if (!this.options.names) return;
        for (const s of this.shapes.slice(0, MOST_NAMES)) put(s.name, [0, 1, 2].map(j => s.point.reduce((sum, p) => sum + between(p[j], i, f), 0) / s.point.length));
        for (const { c } of this.touch) put(c.name, this.contacts.point(c, i, f));
    }
}

window.caromSpace = (holder, data, contacts, colours) => new Space(holder, data, contacts, colours);
